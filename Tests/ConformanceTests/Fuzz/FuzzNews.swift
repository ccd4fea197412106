import Curl
import Foundation
import Renewal
import StoreFixtures
import TestSupport

@testable import Stores

// What is heard beside the answers about purchases: queues, orders of customers, certificates.
extension FuzzTargets {
    static func news() throws -> [FuzzTarget] {
        try [queue(), appleOrders(), signedTexts(), certificates()]
    }

    private static func queue() throws -> FuzzTarget {
        let wire = Wire()
        let queue = try AmazonQueue(
            at: "https://sqs.eu-west-1.amazonaws.com/123456789012/renewald",
            certificateAuthorityFile: nil,
            credentials: AWSCredentials(
                accessKeyID: "AKIDEXAMPLE", secretAccessKey: Secret("plutonium"),
                region: "eu-west-1"),
            of: Shop.bundle, transport: wire.transport)
        let notification = """
            {"appPackageName":"\(Shop.bundle)","notificationType":"SUBSCRIPTION_MODIFIED_IMMEDIATE",
            "receiptId":"q1:3:11","appUserId":"u","relatedReceipts":{"cancelledReceiptId":"q0:3:11"},
            "timestamp":1769943671000,"betaProductTransaction":false}
            """
        let envelope = """
            {"Type":"Notification","MessageId":"n1","TopicArn":"arn:aws:sns:x",
            "Message":\(quoted(notification)),"SignatureVersion":"1"}
            """
        let answers = [envelope, notification].map { text in
            #"{"Messages":[{"MessageId":"m1","ReceiptHandle":"r1","Body":\#(quoted(text))}]}"#
        }
        // Texts within texts: what is inside is fed alone, too, and wrapped afterwards.
        let inner = [envelope, notification].map { Array($0.utf8) }
        let seeds = answers.map { Array($0.utf8) } + inner
        return FuzzTarget(name: "amazon SQS", seeds: seeds) { input, seed in
            var body = input
            if inner.contains(seed) {
                let text = quoted(String(decoding: input, as: UTF8.self))
                body = Array(#"{"Messages":[{"MessageId":"m1","Body":\#(text)}]}"#.utf8)
            }
            let answer = body
            wire.answer(at: day) { _ throws(CurlError) in .json(answer) }
            guard let page = try? await queue.pull(at: day) else { return false }
            for hint in page.hints {
                guard case .token(let token) = hint.subject, !token.text.utf8.contains(0) else {
                    throw FuzzTarget.Broken(description: "a hint of no receipt")
                }
            }
            return !page.hints.isEmpty
        }
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSON.encode(text), as: UTF8.self)
    }

    private static func appleOrders() throws -> FuzzTarget {
        let scene = try AppleScene(Words(""))
        let signed = try AppleEntry("1:30", in: "Production", at: day).signedTransaction()
        let seeds = [
            #"{"status":0,"signedTransactions":["\#(signed)"]}"#,
            #"{"status":1,"signedTransactions":[]}"#,
        ]
        return FuzzTarget(
            name: "apple orders", seeds: seeds.map { Array($0.utf8) }
        ) { input, _ in
            scene.prepare(body: input, at: day)
            let items = try? await scene.store.lookUp(orderID: "MK5TTTVWJH", at: day)
            guard items?.allSatisfy({ $0.originalID == "420001010101001" }) ?? true else {
                throw FuzzTarget.Broken(description: "an order that nobody has signed")
            }
            return items?.isEmpty == false
        }
    }

    /// The whole compact form: nothing else than what was signed is ever believed.
    private static func signedTexts() throws -> FuzzTarget {
        let verifier = try AppleVerifier(roots: [AppleAuthority.trusted.get().root])
        let signed = try AppleEntry("5:30 revoked=9", in: "Production", at: day)
            .signedTransaction()
        return FuzzTarget(name: "apple JWS", seeds: [Array(signed.utf8)]) { input, _ in
            let text = String(decoding: input, as: UTF8.self)
            let read = try? await verifier.read(
                AppleTransaction.self, from: text, calling: "it", at: day)
            guard read == nil || read?.originalTransactionId == "420001010101001" else {
                throw FuzzTarget.Broken(description: "a payload was believed that nobody signed")
            }
            return read != nil
        }
    }

    private static func certificates() throws -> FuzzTarget {
        let authority = try AppleAuthority.trusted.get()
        let pem = [authority.root, authority.leaf].map { der in
            let text = Data(der).base64EncodedString(options: .lineLength64Characters)
            return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
        }
        let seeds = [authority.root, authority.intermediate, Array(pem.joined().utf8)]
        return FuzzTarget(name: "certificates", seeds: seeds) { input, _ in
            let ends = try? CertificateFile(input).ends
            guard ends?.isEmpty != true else {
                throw FuzzTarget.Broken(description: "a file of no certificate")
            }
            return ends != nil
        }
    }
}
