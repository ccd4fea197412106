import SwiftASN1

/// The app receipt of iOS 7 and later: what all of a customer's purchases in an app were when it
/// was made. Its text is base64 of PKCS #7 around a set of numbered attributes.
///
/// https://developer.apple.com/documentation/appstorereceipts
struct AppReceipt {
    /// One in-app purchase by reference, with what the receipt itself says of it.
    struct Item {
        var purchase: Purchase
        var charge: Charge
    }

    static let appVersion = "412"
    static let originalVersion = "398"
    static let downloadID: Int64 = 503_817_264_910_375
    static let versionID: Int64 = 861_204_417

    var bundle: String
    var environment: Purchase.Environment
    var created: Instant
    var items: [Item]

    /// When the customer got the app: a day before the first purchase.
    static func installed(_ purchases: [Purchase]) -> Instant {
        let first = purchases.map(\.timeline.start).min() ?? Instant(milliseconds: 0)
        return first + -Instant.day
    }

    /// The app receipt of a customer: everything that they have bought and not used up.
    static func signed(
        _ entries: [ReceiptAnswer.Entry], at now: Instant, by signer: ReceiptSigner
    ) throws -> [UInt8] {
        guard let first = entries.first?.purchase else { return [] }
        let items = entries.filter { !$0.life.isConsumed }.flatMap { entry in
            entry.life.charges.map { Item(purchase: entry.purchase, charge: $0) }
        }
        let receipt = AppReceipt(
            bundle: first.app, environment: first.environment,
            created: Instant(milliseconds: now.seconds * 1000), items: items)
        return try signer.sealed(receipt.payload())
    }

    var typeName: String { environment == .production ? "Production" : "ProductionSandbox" }

    /// The attributes as DER, to be signed.
    func payload() throws -> [UInt8] {
        let isSandbox = environment == .sandbox
        let installed = Self.installed(items.map(\.purchase))
        var set = AttributeSet()
        try set.add(0, utf8: typeName)
        try set.add(1, integer: isSandbox ? 0 : Apple.appID)
        try set.add(2, utf8: bundle)
        try set.add(3, utf8: Self.appVersion)
        set.add(4, bytes: (0..<16).map { UInt8($0 * 7) })
        set.add(5, bytes: (0..<20).map { UInt8($0 * 11) })
        try set.add(12, date: created)
        try set.add(15, integer: isSandbox ? 0 : Self.downloadID)
        try set.add(16, integer: isSandbox ? 0 : Self.versionID)
        for item in items { try set.add(17, bytes: Self.attributes(of: item)) }
        try set.add(18, date: isSandbox ? Instant(milliseconds: 1_375_340_400_000) : installed)
        try set.add(19, utf8: isSandbox ? "1.0" : Self.originalVersion)
        try set.add(21, date: nil)
        return try set.encoded()
    }

    private static func attributes(of item: Item) throws -> [UInt8] {
        let (purchase, charge) = (item.purchase, item.charge)
        let kind = purchase.timeline.terms.kind
        let isRenewable = kind == .autoRenewable
        var set = AttributeSet()
        try set.add(1701, integer: Int64(charge.quantity))
        try set.add(1702, utf8: charge.product)
        try set.add(1703, utf8: "\(AppleNumbers.transaction(purchase, charge: charge.number))")
        try set.add(1704, date: charge.start)
        try set.add(1705, utf8: purchase.token)
        try set.add(1706, date: purchase.timeline.start)
        try set.add(1707, integer: typeNumber(kind))
        try set.add(1708, date: isRenewable ? charge.end : nil)
        if isRenewable {
            try set.add(1711, integer: AppleNumbers.lineItem(purchase, charge: charge.number))
        }
        try set.add(1712, date: charge.givenBack?.at)
        try set.add(1713, integer: charge.isTrial ? 1 : 0)
        try set.add(1719, integer: charge.isIntroductory ? 1 : 0)
        return try set.encoded()
    }

    private static func typeNumber(_ kind: Terms.Kind) -> Int64 {
        switch kind {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewing: 2
        case .autoRenewable: 3
        }
    }
}

/// A SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }.
private struct AttributeSet {
    private var attributes: [(type: Int64, value: [UInt8])] = []

    mutating func add(_ type: Int64, bytes: [UInt8]) {
        attributes.append((type, bytes))
    }

    mutating func add(_ type: Int64, utf8 text: String) throws {
        try add(type) { try $0.serialize(ASN1UTF8String(text)) }
    }

    mutating func add(_ type: Int64, integer: Int64) throws {
        try add(type) { try $0.serialize(integer) }
    }

    /// Dates are texts of whole seconds; an absent one is an empty text.
    mutating func add(_ type: Int64, date: Instant?) throws {
        let text = date.map { Instant(milliseconds: $0.seconds * 1000).text } ?? ""
        try add(type) { try $0.serialize(ASN1IA5String(text)) }
    }

    private mutating func add(
        _ type: Int64, _ write: (inout DER.Serializer) throws -> Void
    ) throws {
        var serializer = DER.Serializer()
        try write(&serializer)
        add(type, bytes: serializer.serializedBytes)
    }

    func encoded() throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .set) { set in
            for attribute in attributes {
                try set.appendConstructedNode(identifier: .sequence) { sequence in
                    try sequence.serialize(attribute.type)
                    try sequence.serialize(1)
                    try sequence.serialize(ASN1OctetString(contentBytes: attribute.value[...]))
                }
            }
        }
        return serializer.serializedBytes
    }
}

/// What a receipt sent by a client refers to. The rest of an answer comes from the timelines.
struct ReceiptReference: Hashable {
    enum Style: Hashable {
        /// iOS 7: all purchases of the app.
        case app
        /// iOS 6: one transaction.
        case transaction
    }

    var style: Style
    var bundle: String
    var environment: Purchase.Environment
    var created: Instant
    /// Transaction ids, in the receipt's own order.
    var transactions: [String]

    /// Reads the attributes of an app receipt; nil when they do not make one.
    init?(payload: [UInt8]) {
        guard let attributes = Self.attributes(payload) else { return nil }
        let text = { (type: Int64) in
            attributes.first { $0.type == type }.map { Self.text($0.value) }
        }
        guard let bundle = text(2) ?? nil, let type = text(0) ?? nil,
            let created = (text(12) ?? nil).flatMap({ Instant(text: $0) })
        else { return nil }
        style = .app
        self.bundle = bundle
        self.created = created
        environment = type.hasSuffix("Sandbox") ? .sandbox : .production
        transactions = attributes.filter { $0.type == 17 }.compactMap { item in
            Self.attributes(item.value)?.first { $0.type == 1703 }.flatMap { Self.text($0.value) }
        }
    }

    init(transaction: String, bundle: String, _ environment: Purchase.Environment, _ at: Instant) {
        style = .transaction
        self.bundle = bundle
        self.environment = environment
        created = at
        transactions = [transaction]
    }

    private static func attributes(_ bytes: [UInt8]) -> [(type: Int64, value: [UInt8])]? {
        guard let nodes = (try? DER.parse(bytes))?.children else { return nil }
        return nodes.compactMap { node in
            guard let parts = node.children, parts.count == 3, let value = parts[2].primitive,
                let type = try? Int64(derEncoded: parts[0])
            else { return nil }
            return (type, value)
        }
    }

    /// The content of a text in DER.
    private static func text(_ value: [UInt8]) -> String? {
        (try? DER.parse(value))?.primitive.map { String(decoding: $0, as: UTF8.self) }
    }
}
