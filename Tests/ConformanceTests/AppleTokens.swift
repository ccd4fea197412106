import Foundation
import Renewal
import StoreFixtures
import TestSupport

/// What may be in the token column of an Apple purchase, by the name that a case gives it.
enum AppleTokens {
    static func token(_ name: String) throws -> String {
        let sandbox = AppleReceiptFixture.app(type: "ProductionSandbox")
        switch name {
        case "receipt": return AppleReceiptFixture.base64(AppleReceiptFixture.app())
        case "sandbox_receipt": return AppleReceiptFixture.base64(sandbox)
        case "empty_receipt": return AppleReceiptFixture.base64(AppleReceiptFixture.app([]))
        case "foreign_receipt":
            return AppleReceiptFixture.base64(AppleReceiptFixture.app(bundle: "com.example.other"))
        case "xcode_receipt":
            let items = [AppleReceiptFixture.Item(transaction: "0", original: "0")]
            return AppleReceiptFixture.base64(AppleReceiptFixture.xcode(items))
        case "ios6": return AppleReceiptFixture.transaction()
        case "ios6_sandbox": return AppleReceiptFixture.transaction(sandbox: true)
        case "twice":
            return AppleReceiptFixture.base64(Array(try token("receipt").utf8))
        case "broken_lines":
            let text = try token("receipt")
            return text.prefix(64) + "\r\n" + text.dropFirst(64) + "\n"
        case "wrapped": return #"{"receipt-data":"\#(try token("receipt"))"}"#
        case "jws", "forged_jws", "lifetime_jws", "foreign_jws":
            let cell =
                switch name {
                case "jws": "1:30"
                case "forged_jws": "1:30 forged"
                case "lifetime_jws": "lifetime"
                default: "1:30 app=com.example.other"
                }
            return try AppleEntry(cell, in: "Production", at: TestCalendar.start)
                .signedTransaction()
        case "xcode_id": return "0"
        case "nonsense": return "GPA.3301-7742"
        default: throw UnreadableCell(cell: "token=\(name)")
        }
    }
}
