import Foundation

/// Receipts as apps store them. Nobody has signed them: nothing that is read of them decides.
package enum AppleReceiptFixture {
    /// What a receipt says of one purchase.
    package struct Item: Sendable {
        package var product = "plus"
        package var transaction = "420001066677889"
        package var original = "420001010101001"
        package var purchased = "2026-03-17T09:15:00Z"
        package var type: UInt8? = 3
        /// Empty where it was not.
        package var cancelled = ""

        package init(
            product: String = "plus", transaction: String = "420001066677889",
            original: String = "420001010101001", purchased: String = "2026-03-17T09:15:00Z",
            type: UInt8? = 3
        ) {
            self.product = product
            self.transaction = transaction
            self.original = original
            self.purchased = purchased
            self.type = type
        }
    }

    /// An app receipt of iOS 7 and later, in DER.
    package static func app(
        _ items: [Item] = [Item()], bundle: String = "com.example.reader",
        type: String = "Production"
    ) -> [UInt8] {
        signedData(node(0x04, payload(items, bundle: bundle, type: type)))
    }

    /// As Xcode writes it: indefinite lengths, a content in pieces, and one wrapping more.
    package static func xcode(_ items: [Item]) -> [UInt8] {
        let wrapped = node(
            0x04, payload(items, bundle: "com.example.reader", type: "Xcode"))
        let pieces = [wrapped[..<7], wrapped[7...]].flatMap { node(0x04, Array($0)) }
        return signedData([0x24, 0x80] + pieces + [0, 0], indefinite: true)
    }

    package static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// A transaction receipt of iOS 6.
    package static func transaction(_ item: Item = Item(), sandbox: Bool = false) -> String {
        let info = """
            {
            \t"original-transaction-id" = "\(item.original)";
            \t"expires-date" = "1776417300000";
            \t"transaction-id" = "\(item.transaction)";
            \t"product-id" = "\(item.product)";
            \t"bid" = "com.example.reader";
            }
            """
        let environment = sandbox ? "\n\t\"environment\" = \"Sandbox\";" : ""
        return base64(
            Array(
                """
                {
                \t"signature" = "AAAA";
                \t"purchase-info" = "\(base64(Array(info.utf8)))";\(environment)
                \t"pod" = "42";
                \t"signing-status" = "0";
                }
                """.utf8))
    }

    private static func payload(_ items: [Item], bundle: String, type: String) -> [UInt8] {
        var attributes = [
            attribute(0, text(0x0c, type)), attribute(2, text(0x0c, bundle)),
            attribute(4, [1, 2, 3]), attribute(9999, []),
        ]
        attributes += items.map { item in
            var inner = [
                attribute(1701, node(0x02, [1])), attribute(1702, text(0x0c, item.product)),
                attribute(1703, text(0x0c, item.transaction)),
                attribute(1704, text(0x16, item.purchased)),
                attribute(1705, text(0x0c, item.original)),
                attribute(1712, text(0x16, item.cancelled)),
            ]
            if let type = item.type { inner.append(attribute(1707, node(0x02, [type]))) }
            return attribute(17, node(0x31, inner.flatMap { $0 }))
        }
        return node(0x31, attributes.flatMap { $0 })
    }

    private static func signedData(_ content: [UInt8], indefinite: Bool = false) -> [UInt8] {
        let data: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1]
        let signed: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2]
        func wrap(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            indefinite ? [tag, 0x80] + content + [0, 0] : node(tag, content)
        }
        let encapsulated = wrap(0x30, data + wrap(0xa0, content))
        let body = [0x02, 1, 1] + node(0x31, []) + encapsulated + node(0x31, [])
        return wrap(0x30, signed + wrap(0xa0, wrap(0x30, body)))
    }

    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        let number: [UInt8] =
            type < 128 ? [UInt8(type)] : [UInt8(type >> 8), UInt8(type & 255)]
        return node(0x30, node(0x02, number) + node(0x02, [1]) + node(0x04, value))
    }

    private static func text(_ tag: UInt8, _ text: String) -> [UInt8] {
        node(tag, Array(text.utf8))
    }

    private static func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        switch count {
        case 0..<128: return [tag, UInt8(count)] + content
        case 128..<256: return [tag, 0x81, UInt8(count)] + content
        default: return [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content
        }
    }
}
