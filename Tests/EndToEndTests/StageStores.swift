import Curl
import Foundation
import TestSupport

/// The simulated stores of a stage: what is bought there, and what happens to it.
extension Stage {
    /// A purchase that the simulator has made.
    struct Made: Decodable, Sendable {
        let id: Int
        let token: String
        let store_user_id: String?
        let product: String
    }

    private struct Reply: Decodable {
        let purchases: [Made]
    }

    /// Makes purchases in a store, for users named after `user`.
    func buy(
        _ store: String, product: String = "monthly", terms: String = "", count: Int = 1
    ) async throws -> [Made] {
        let body =
            #"{"store":"\#(store)","app":"\#(Self.app)","product":"\#(product)","#
            + #""period":"P1M","count":\#(count)\#(terms.isEmpty ? "" : ",")\#(terms)}"#
        let made = try JSONDecoder().decode(Reply.self, from: await control("purchases", body))
        plant(made.purchases.filter { _ in store != "apple" }.map(\.token))
        return made.purchases
    }

    private struct Receipt: Decodable {
        let receipt: String
    }

    /// A legacy receipt of Apple's, in base64, as it was made at that instant.
    func receipt(of purchase: Made, style: String, at instant: String? = nil) async throws -> String
    {
        let time = instant.map { "&at=\($0)" } ?? ""
        let reply = try await control("purchases/\(purchase.id)/receipt?style=\(style)\(time)", nil)
        let receipt = try JSONDecoder().decode(Receipt.self, from: reply).receipt
        plant([receipt])
        return receipt
    }

    /// Lets the daemon pull Google's notifications; the simulator has one subscription.
    func subscribe(to name: String = "play") throws {
        try editConfiguration {
            $0.replacingOccurrences(
                of: "store = \"google\"\n",
                with: "store = \"google\"\npubsub_subscription = \"\(name)\"\n")
        }
    }

    /// Lets the daemon read the queue of Amazon's notifications.
    func readQueue(_ name: String = "renewald") throws {
        let stores = "\(folder)/stores"
        try editConfiguration {
            $0.replacingOccurrences(
                of: "\(stores)/amazon.secret\"\n",
                with: """
                    \(stores)/amazon.secret"
                    sqs_queue = "\(origin)/000000000000/\(name)"
                    sqs_region = "eu-west-1"
                    sqs_access_key_id = "AKIASTORESIMEXAMPLE0"
                    sqs_secret_access_key = "file:\(stores)/amazon-sqs.key"

                    """)
        }
    }

    /// Does something to a purchase, such as `fail_payment`.
    func act(_ purchase: Made, _ action: String, _ body: String = "{}") async throws {
        _ = try await control("purchases/\(purchase.id)/\(action)", body)
    }

    func fault(_ body: String) async throws { _ = try await control("faults", body) }

    func clearFaults() async throws { _ = try await control("faults", nil, method: "DELETE") }

    private struct Calls: Decodable {
        struct Count: Decodable {
            let calls: Int
        }
        let apple: Count
        let google: Count
        let amazon: Count
        /// Purchases that were asked about, and how often again.
        let purchases: Int
        let duplicates: Int
    }

    /// How often stores have been asked about a purchase; reading their news is not counted.
    func questions() async throws -> Int {
        let calls = try JSONDecoder().decode(Calls.self, from: await control("calls", nil))
        return calls.purchases + calls.duplicates
    }

    /// How often a store has been called, for news as well.
    func calls(_ store: String) async throws -> Int {
        let calls = try JSONDecoder().decode(Calls.self, from: await control("calls", nil))
        return switch store {
        case "apple": calls.apple.calls
        case "google": calls.google.calls
        default: calls.amazon.calls
        }
    }

    /// How often an endpoint has answered, by its name in the log of answers.
    func answers(of endpoint: String) throws -> Int {
        try String(contentsOfFile: "\(folder)/answers", encoding: .utf8)
            .split(separator: "\n").count { $0.contains("\"endpoint\":\"\(endpoint)\"") }
    }

    /// A control call; the reply's JSON.
    @discardableResult
    func control(_ path: String, _ body: String?, method: String = "POST") async throws -> Data {
        if method == "DELETE" {
            // The client knows only what the daemon needs.
            let output = try await ChildProcess.run(
                "curl",
                ["-sf", "-X", "DELETE", "--cacert", trust, "\(origin)/control/\(path)"])
            return Data(output.standardOutput.utf8)
        }
        let response = try await client.send(
            HTTPRequest(
                method: body == nil ? .get : .post, url: "\(origin)/control/\(path)",
                body: body.map { Array($0.utf8) }, bodyLimitBytes: 64 << 20,
                certificateAuthorityFile: trust))
        guard response.status == 200 else {
            throw StageFailure(
                "\(path): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return Data(response.body)
    }

    private var trust: String { "\(folder)/stores/ca.pem" }
}
