import Foundation
import TestSupport
import Testing

/// `renewald doctor` on the sources of the stores' news: it looks, and takes nothing from them.
@Suite(.serialized)
struct DoctorNewsTests {
    @Test func looksAtTheSubscriptionWithoutPulling() async throws {
        try await onStage { stage in
            try stage.subscribe()
            // Who may only pull may not look.
            try await stage.fault(
                #"{"endpoint":"pubsub","kind":"status","status":403,"count":1}"#)
            let subscriber = try await stage.renewald("doctor")
            subscriber.expect("ok", "google", "the key may pull notifications")
            try await stage.fault(#"{"endpoint":"pubsub","kind":"status","status":403}"#)
            let nobody = try await stage.renewald("doctor")
            nobody.expect("note", "google", "whether the key may pull notifications is not known")
            try await stage.clearFaults()
            try stage.editConfiguration { $0.replacing("\"play\"", with: "\"nonsense\"") }
            let missing = try await stage.renewald("doctor")
            #expect(missing.exit == .code(78))
            missing.expect("wrong", "google", "there is no such subscription")
        }
    }

    /// A subscription that nobody sends anything to is read without an error.
    @Test func saysThatASourceIsSilentUntilItIsHeard() async throws {
        try await onStage { stage in
            try stage.subscribe()
            // Nobody has bought it: the store has nothing to tell of it.
            _ = try await stage.value(
                "SELECT renewald.submit('uma', 'google', '\(Stage.app)', 'pro', 'not sold')")
            #expect(try await stage.renewald("once").exit == .code(75))
            let young = try await stage.renewald("doctor")
            young.expect("ok", "news", "every source was read within the last")
            try await stage.script(
                "UPDATE renewald.app SET counted_since = now() - interval '8 days'")
            let silent = try await stage.renewald("doctor")
            silent.expect("note", "news", "nothing has come from google")
            #expect(silent.standardOutput.contains("send a test notification"))
            let made = try await stage.buy("google")[0]
            try await stage.submit(made, "google", for: "uma")
            _ = try await stage.renewald("once")
            let heard = try await stage.renewald("doctor")
            heard.expect("ok", "news", "every source was read within the last")
        }
    }

    @Test func looksAtTheQueueWithoutPulling() async throws {
        try await onStage { stage in
            try stage.readQueue()
            let allowed = try await stage.renewald("doctor")
            allowed.expect("ok", "credentials", "the key of an AWS user")
            allowed.expect("ok", "amazon", "the queue of notifications can be looked at")
            try "wrong".write(
                toFile: "\(stage.folder)/stores/amazon-sqs.key", atomically: true, encoding: .utf8)
            let refused = try await stage.renewald("doctor")
            #expect(refused.exit == .code(78))
            refused.expect("wrong", "amazon", "SignatureDoesNotMatch")
            #expect(refused.standardOutput.contains("sqs:ReceiveMessage"))
        }
        try await onStage { stage in
            try stage.readQueue("nonsense")
            let missing = try await stage.renewald("doctor")
            #expect(missing.exit == .code(78))
            missing.expect("wrong", "amazon", "QueueDoesNotExist")
        }
    }
}
