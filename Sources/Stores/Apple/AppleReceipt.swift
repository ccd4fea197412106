import Renewal
import SwiftASN1

/// What a stored receipt says of itself. Nobody vouches for it: it only tells what to ask about.
struct AppleReceipt: Hashable, Sendable {
    var bundleID: AppID?
    /// Such as `Production`, `ProductionSandbox`, `Sandbox` or `Xcode`.
    var environmentName: String?
    var purchases: [Purchase] = []

    struct Purchase: Hashable, Sendable {
        var product: ProductID?
        var transactionID: OrderID?
        var originalID: OrderID?
        var purchasedAt: Timestamp?
        /// Whether it was taken back before the receipt was written.
        var isCancelled = false
        /// As far as Apple's undocumented attribute tells.
        var kind: ProductKind?

        /// What to ask about.
        var id: OrderID? {
            [originalID, transactionID].compactMap { $0 }.first(where: AppleIdentifier.isUsable)
        }
    }

    /// - Throws: `.rejected` when it cannot be read.
    init(_ file: AppleReceiptFile) throws(StoreFailure) {
        switch file.format {
        case .app:
            do {
                try self.init(signedData: file.content)
            } catch {
                throw .rejected(reason: "the app receipt cannot be read")
            }
        case .transaction:
            try self.init(transactionReceipt: file.content)
        }
    }

    /// The newest purchase of a product that has an id: a cancelled one only where there is no
    /// other.
    func newest(of product: ProductID) -> Purchase? {
        newest { $0.product == product }
    }

    var newest: Purchase? { newest { _ in true } }

    private func newest(_ isMeant: (Purchase) -> Bool) -> Purchase? {
        purchases.filter { $0.id != nil && isMeant($0) }
            .max { one, other in
                guard one.isCancelled == other.isCancelled else { return one.isCancelled }
                return (one.purchasedAt ?? Self.early) < (other.purchasedAt ?? Self.early)
            }
    }

    /// Where it claims to come from; nil when it does not tell.
    var environment: StoreEnvironment? {
        guard let name = environmentName else { return nil }
        if name.hasPrefix("Production"), !name.hasSuffix("Sandbox") { return .production }
        return name.hasSuffix("Sandbox") ? .sandbox : nil
    }

    /// The ids of all its transactions.
    var transactionIDs: Set<OrderID> { Set(purchases.compactMap(\.transactionID)) }

    private static let early = Timestamp(microsecondsSinceEpoch: 0)
}

// iOS 6: one transaction.
extension AppleReceipt {
    private init(transactionReceipt bytes: [UInt8]) throws(StoreFailure) {
        // Copies of the inner text come with line breaks.
        guard let outer = ApplePropertyList(bytes), let inner = outer["purchase-info"],
            let decoded = Base64.decodeStandard(inner.utf8.filter { $0 > 0x20 }),
            let info = ApplePropertyList(decoded)
        else { throw .rejected(reason: "the transaction receipt cannot be read") }
        bundleID = info["bid"].map(AppID.init)
        environmentName = outer["environment"] ?? "Production"
        purchases = [
            Purchase(
                product: info["product-id"].map(ProductID.init),
                transactionID: info["transaction-id"].map(OrderID.init),
                originalID: info["original-transaction-id"].map(OrderID.init),
                purchasedAt: info["purchase-date-ms"].flatMap { Int64($0) }
                    .flatMap { Timestamp(millisecondsSinceEpoch: $0) },
                kind: info["expires-date"] == nil ? nil : .autoRenewable)
        ]
    }
}

// iOS 7 and later: the attributes inside PKCS #7.
extension AppleReceipt {
    /// App Store Receipts, *Validating receipts on the device* and *Receipt fields*.
    private init(signedData bytes: [UInt8]) throws {
        self.init()
        for attribute in try Self.attributes(Self.payload(of: bytes)) {
            switch attribute.type {
            case 0: environmentName = attribute.text
            case 2: bundleID = attribute.text.map(AppID.init)
            case 17: purchases.append(try Purchase(Self.attributes(attribute.value)))
            default: break
            }
        }
    }

    private init() {}

    /// ContentInfo, SignedData and EncapsulatedContentInfo of RFC 5652. BER: Xcode writes
    /// indefinite lengths.
    private static func payload(of bytes: [UInt8]) throws -> ArraySlice<UInt8> {
        let content = try BER.sequence(BER.parse(bytes), identifier: .sequence) { nodes in
            _ = try ASN1ObjectIdentifier(berEncoded: &nodes)
            return try BER.explicitlyTagged(
                &nodes, tagNumber: 0, tagClass: .contextSpecific, signedContent)
        }
        // Xcode wraps it once more.
        guard content.first == octetStringTag else { return content }
        return try ASN1OctetString(berEncoded: BER.parse(content)).bytes
    }

    private static func signedContent(_ node: ASN1Node) throws -> ArraySlice<UInt8> {
        try BER.sequence(node, identifier: .sequence) { nodes in
            _ = nodes.next()
            _ = nodes.next()
            guard let encapsulated = nodes.next() else { throw Unreadable() }
            while nodes.next() != nil {}
            return try BER.sequence(encapsulated, identifier: .sequence) { nodes in
                _ = try ASN1ObjectIdentifier(berEncoded: &nodes)
                return try BER.explicitlyTagged(
                    &nodes, tagNumber: 0, tagClass: .contextSpecific
                ) { try ASN1OctetString(berEncoded: $0).bytes }
            }
        }
    }

    /// SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }, in any order.
    private static func attributes(_ bytes: ArraySlice<UInt8>) throws -> [Attribute] {
        let set = try BER.parse(bytes)
        guard set.identifier == .set, case .constructed(let nodes) = set.content else {
            throw Unreadable()
        }
        return try nodes.map { node in
            try BER.sequence(node, identifier: .sequence) { nodes in
                let type = try Int64(berEncoded: &nodes)
                _ = nodes.next()
                let value = try ASN1OctetString(berEncoded: &nodes).bytes
                return Attribute(type: type, value: value)
            }
        }
    }

    private static let octetStringTag: UInt8 = 0x04

    private struct Unreadable: Error {}

    fileprivate struct Attribute {
        let type: Int64
        let value: ArraySlice<UInt8>

        private var content: (ASN1Identifier, ArraySlice<UInt8>)? {
            guard let node = try? BER.parse(value), case .primitive(let bytes) = node.content
            else { return nil }
            return (node.identifier, bytes)
        }

        var text: String? {
            guard let (tag, bytes) = content,
                [.utf8String, .ia5String, .printableString].contains(tag), !bytes.isEmpty
            else { return nil }
            return String(validating: bytes, as: UTF8.self)
        }

        var number: Int64? {
            (try? BER.parse(value)).flatMap { try? Int64(berEncoded: $0) }
        }
    }
}

extension AppleReceipt.Purchase {
    fileprivate init(_ attributes: [AppleReceipt.Attribute]) {
        for attribute in attributes {
            switch attribute.type {
            case 1702: product = attribute.text.map(ProductID.init)
            case 1703: transactionID = attribute.text.map(OrderID.init)
            case 1704:
                purchasedAt = attribute.text.flatMap(CalendarTime.timestamp(rfc3339:))
            case 1705: originalID = attribute.text.map(OrderID.init)
            case 1707: kind = Self.kind(attribute.number)
            // Empty where it was not.
            case 1712: isCancelled = attribute.text != nil
            default: break
            }
        }
    }

    /// Zero stands for a non-consumable and has been seen where nothing was told.
    private static func kind(_ number: Int64?) -> ProductKind? {
        switch number {
        case 1: .consumable
        case 2: .nonRenewing
        case 3: .autoRenewable
        default: nil
        }
    }
}
