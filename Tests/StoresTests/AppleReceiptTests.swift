import Foundation
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// What sits in the token column, and what a receipt says of itself.
struct AppleIdentifierTests {
    private static let app = AppleReceiptFixture.base64(AppleReceiptFixture.app())
    private static let old = AppleReceiptFixture.transaction()
    private static let signed = "eyJhbGciOiJFUzI1NiJ9.eyJ9.AA"

    /// A form of the text, and what it is.
    static let forms: [(String, String)] = [
        ("420001010101001", "transaction"), (" 420001010101001\r\n", "transaction"),
        ("4", "transaction"), ("1234567890123456789", "transaction"),
        ("12345678901234567890", "rejected"), ("0", "rejected"), ("000", "rejected"),
        ("", "rejected"), (" \n", "rejected"),
        (signed, "signed"), (signed + "\n", "signed"), ("eyJ.b", "rejected"),
        ("eyJ.a.b.c", "rejected"), ("a.b.c", "rejected"),
        (app, "app"), (broken(app), "app"), (urlSafe(app), "app"),
        (app.replacing("=", with: ""), "app"), (app.replacing("+", with: " "), "app"),
        (twice(app), "app"), (twice(broken(app)), "app"), (twice(twice(app)), "app"),
        (twice(twice(twice(twice(app)))), "rejected"),
        (#"{"receipt-data":"\#(app)","password":"x"}"#, "app"),
        (#"{"transactionReceipt":"\#(old)","transactionId":1}"#, "transaction receipt"),
        (#"{"originalTransactionId":"420001010101001"}"#, "transaction"),
        (twice(#"{"jwsRepresentation":"\#(signed)"}"#), "signed"),
        (old, "transaction receipt"), (broken(old), "transaction receipt"),
        (twice(old), "transaction receipt"),
        (
            String(decoding: Data(base64Encoded: old) ?? Data(), as: UTF8.self),
            "transaction receipt"
        ),
        ("{\"a\":1}", "rejected"), ("{", "rejected"), ("[]", "rejected"),
        ("../../x", "rejected"), ("a'b\";--", "rejected"), ("AAAA", "rejected"),
        ("ewogICJhIjoxfQ==", "rejected"), (String(repeating: "A", count: 5 << 20), "rejected"),
    ]

    @Test(arguments: forms)
    func recognisesATokenByItsShape(text: String, kind: String) {
        #expect(Self.kind(of: text) == kind)
    }

    private static func kind(of text: String) -> String {
        do throws(StoreFailure) {
            switch try AppleIdentifier(token: StoreToken(text)) {
            case .transaction: return "transaction"
            case .signed: return "signed"
            case .receipt(let file):
                return file.format == .app ? "app" : "transaction receipt"
            }
        } catch {
            return summary(error)
        }
    }

    /// However it was stored, it is sent in one form.
    @Test func sendsAReceiptInOneForm() throws {
        for (text, kind) in Self.forms where kind == "app" {
            guard case .receipt(let file) = try AppleIdentifier(token: StoreToken(text)) else {
                Issue.record("\(kind)")
                continue
            }
            #expect(file.base64 == Self.app)
        }
    }

    private static func broken(_ text: String) -> String {
        stride(from: 0, to: text.count, by: 64).map { place in
            String(text.dropFirst(place).prefix(64))
        }.joined(separator: "\r\n")
    }

    private static func urlSafe(_ text: String) -> String {
        text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func twice(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}

struct AppleReceiptTests {
    private typealias Item = AppleReceiptFixture.Item

    private func read(_ bytes: [UInt8]) throws -> AppleReceipt {
        try AppleReceipt(AppleReceiptFile(.app, bytes))
    }

    @Test func readsAnAppReceipt() throws {
        let many = (0..<40).map {
            Item(product: "p\($0)", transaction: "9\($0)", original: "8\($0)")
        }
        let receipt = try read(AppleReceiptFixture.app(many))
        #expect(receipt.bundleID == "com.example.reader")
        #expect(receipt.environment == .production)
        #expect(receipt.purchases.count == 40)
        #expect(receipt.newest(of: "p7")?.id == "87")
        #expect(receipt.newest(of: "p7")?.kind == .autoRenewable)
        #expect(try receipt.newest(of: "p7")?.purchasedAt == time("2026-03-17T09:15:00Z"))
        #expect(receipt.newest(of: "other") == nil)
    }

    @Test func takesTheNewestWhateverTheOrder() throws {
        let receipt = try read(
            AppleReceiptFixture.app([
                Item(transaction: "3", original: "2", purchased: "2026-02-01T00:00:00Z"),
                Item(transaction: "5", original: "4", purchased: "2026-03-01T00:00:00Z"),
                Item(transaction: "7", original: "6", purchased: "2026-01-01T00:00:00Z"),
                Item(product: "max", transaction: "9", original: "8", purchased: "nonsense"),
                Item(transaction: "0", original: "0", purchased: "2026-04-01T00:00:00Z"),
            ]))
        #expect(receipt.newest(of: "plus")?.id == "4")
        #expect(receipt.newest?.id == "4")
        #expect(receipt.newest(of: "max")?.id == "8")
    }

    @Test func takesACancelledOneOnlyWhereThereIsNoOther() throws {
        let paid = Item(
            product: "season", transaction: "3", original: "3", purchased: "2026-01-01T00:00:00Z")
        var newer = Item(
            product: "season", transaction: "5", original: "5", purchased: "2026-02-01T00:00:00Z")
        newer.cancelled = "2026-02-03T00:00:00Z"
        let both = try read(AppleReceiptFixture.app([newer, paid]))
        #expect(both.newest(of: "season")?.id == "3")
        let alone = try read(AppleReceiptFixture.app([newer]))
        #expect(alone.newest(of: "season")?.id == "5")
    }

    @Test func readsWhatXcodeWritesAndFindsNoIdInIt() throws {
        let receipt = try read(
            AppleReceiptFixture.xcode([Item(transaction: "0", original: "0")]))
        #expect(receipt.environmentName == "Xcode")
        #expect(receipt.environment == nil)
        #expect(receipt.purchases.count == 1)
        #expect(receipt.newest == nil)
    }

    @Test(arguments: [
        ("Production", StoreEnvironment.production), ("ProductionVPP", .production),
        ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Xcode", nil),
    ])
    func saysWhereItComesFrom(name: String, environment: StoreEnvironment?) throws {
        let receipt = try read(AppleReceiptFixture.app(type: name))
        #expect(receipt.environment == environment)
    }

    @Test func readsATransactionReceipt() throws {
        for sandbox in [false, true] {
            let text = AppleReceiptFixture.transaction(sandbox: sandbox)
            guard case .receipt(let file) = try AppleIdentifier(token: StoreToken(text)) else {
                return
            }
            let receipt = try AppleReceipt(file)
            #expect(receipt.bundleID == "com.example.reader")
            #expect(receipt.environment == (sandbox ? .sandbox : .production))
            #expect(receipt.newest(of: "plus")?.id == "420001010101001")
        }
    }

    /// A real one of 2015, as its slides have it: line breaks inside the inner text.
    @Test func readsAReceiptOfItsTime() throws {
        guard
            case .receipt(let file) = try AppleIdentifier(
                token: StoreToken(AppleReceiptSample.text))
        else {
            Issue.record("not recognised")
            return
        }
        let receipt = try AppleReceipt(file)
        #expect(file.format == .transaction)
        #expect(receipt.environment == .sandbox)
        #expect(receipt.purchases.count == 1)
        #expect(receipt.bundleID?.text == AppleReceiptSample.bundleID)
        #expect(receipt.newest?.product?.text == AppleReceiptSample.product)
        #expect(receipt.newest?.id?.text == AppleReceiptSample.originalID)
    }

    @Test func refusesWhatCannotBeRead() {
        let good = AppleReceiptFixture.app()
        let bad: [[UInt8]] = [
            [], [0x30], [0x30, 0x80], [0x30, 0], Array(good.dropLast()), good + [0],
            Array(good.dropFirst()), [UInt8](repeating: 0x30, count: 5000),
        ]
        for bytes in bad {
            #expect(throws: StoreFailure.rejected(reason: "the app receipt cannot be read")) {
                try read(bytes)
            }
        }
    }

    /// A list, and the members that it has.
    @Test(arguments: [
        (#"{"a"="b";}"#, ["a": "b"]), ("{ \"a\"\t= \"b\" ;\n c = d }\n", ["a": "b", "c": "d"]),
        (#"{"a" = "x\"y\\z;}";}"#, ["a": #"x"y\z;}"#]), ("{}", [:]), (#"{"a" = "";}"#, ["a": ""]),
    ])
    func readsAnOldPropertyList(text: String, members: [String: String]) throws {
        let list = try #require(ApplePropertyList(text.utf8))
        for (key, value) in members { #expect(list[key] == value) }
    }

    @Test(arguments: [
        "", "{", "}", #"{"a"}"#, #"{"a"=}"#, #"{"a"="b""#, #"{"a"="b"; "c"}"#, #"{"a":"b"}"#,
        #"{"a"="b";} x"#, "{\"a\"=\"\\", "{a=b c=d}",
    ])
    func refusesAnotherText(text: String) {
        #expect(ApplePropertyList(text.utf8) == nil)
    }
}
