import FoundationEssentials

/// The transaction receipt of iOS 6: one transaction as an old-style property list inside
/// another, with its own signature.
enum TransactionReceipt {
    static let deviceID = "5d2f0a9c8b7e6d5c4b3a29181706f5e4d3c2b1a0"
    static let vendorID = "7A0C1E52-3B4D-4F5A-9C6B-8D7E6F5A4B3C"
    static let itemID = "1599555001"

    /// The bytes of a receipt; a client keeps their base64.
    static func encode(
        _ purchase: Purchase, _ charge: Charge, signer: ReceiptSigner
    ) throws -> [UInt8] {
        let info = Array(list(pairs(purchase, charge)).utf8)
        let signature = try signer.transactionSignature(of: info)
        var outer = [("signature", base64(signature)), ("purchase-info", base64(info))]
        if purchase.environment == .sandbox { outer.append(("environment", "Sandbox")) }
        outer += [
            ("pod", purchase.environment == .sandbox ? "100" : "42"), ("signing-status", "0"),
        ]
        return Array(list(outer).utf8)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.padded(bytes), as: UTF8.self)
    }

    private static func list(_ pairs: [(String, String)]) -> String {
        "{\n" + pairs.map { "\t\"\($0.0)\" = \"\($0.1)\";\n" }.joined() + "}\n"
    }

    /// The members of purchase-info; answers have the same with underscores.
    static func pairs(_ purchase: Purchase, _ charge: Charge) -> [(String, String)] {
        var pairs: [(String, String)] = []
        for (name, instant) in [
            ("original-purchase-date", purchase.timeline.start), ("purchase-date", charge.start),
        ] {
            pairs.append((name, instant.greenwichText))
            pairs.append((name + "-ms", String(instant.milliseconds)))
            pairs.append((name + "-pst", instant.losAngelesText))
        }
        if purchase.timeline.terms.kind == .autoRenewable {
            let lineItem = AppleNumbers.lineItem(purchase, charge: charge.number)
            pairs.append(("expires-date", String(charge.end.milliseconds)))
            pairs.append(("expires-date-formatted", charge.end.greenwichText))
            pairs.append(("expires-date-formatted-pst", charge.end.losAngelesText))
            pairs.append(("web-order-line-item-id", String(lineItem)))
        }
        pairs += [
            ("unique-identifier", deviceID), ("unique-vendor-identifier", vendorID),
            ("original-transaction-id", purchase.token),
            (
                "transaction-id",
                String(AppleNumbers.transaction(purchase, charge: charge.number))
            ), ("quantity", String(charge.quantity)), ("product-id", charge.product),
            ("item-id", itemID), ("bid", purchase.app), ("bvrs", AppReceipt.appVersion),
        ]
        if purchase.environment == .production {
            pairs.append(("app-item-id", String(Apple.appID)))
            pairs.append(("version-external-identifier", String(AppReceipt.versionID)))
        }
        return pairs
    }

    /// What a receipt refers to and whether `signer` signed it; nil when it is none.
    static func open(
        _ bytes: [UInt8], signer: ReceiptSigner
    ) -> (reference: ReceiptReference, isAuthentic: Bool)? {
        guard let outer = PropertyList.read(bytes), let infoText = outer["purchase-info"],
            let info = Data(base64Encoded: infoText).map(Array.init),
            let inner = PropertyList.read(info), let id = inner["transaction-id"],
            let bundle = inner["bid"]
        else { return nil }
        let blob = outer["signature"].flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? []
        let bought = inner["purchase-date-ms"].flatMap { Int64($0) } ?? 0
        let reference = ReceiptReference(
            transaction: id, bundle: bundle,
            outer["environment"] == "Sandbox" ? .sandbox : .production,
            Instant(milliseconds: bought))
        return (reference, signer.isTransactionSignature(blob, of: info))
    }
}

/// Reads a flat old-style property list: `{ "key" = "value"; … }`, with backslash escapes.
private enum PropertyList {
    /// Nil when the text is anything else.
    static func read(_ bytes: [UInt8]) -> [String: String]? {
        var rest = bytes[...]
        var pairs: [String: String] = [:]
        guard take(UInt8(ascii: "{"), from: &rest) else { return nil }
        while !take(UInt8(ascii: "}"), from: &rest) {
            guard let key = quoted(&rest), take(UInt8(ascii: "="), from: &rest),
                let value = quoted(&rest), take(UInt8(ascii: ";"), from: &rest)
            else { return nil }
            pairs[key] = value
        }
        return pairs
    }

    /// Takes one byte behind any white space.
    private static func take(_ byte: UInt8, from rest: inout ArraySlice<UInt8>) -> Bool {
        rest = rest.drop { $0 == 32 || (9...13).contains($0) }
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard take(UInt8(ascii: "\""), from: &rest) else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }
}
