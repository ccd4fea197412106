import Testing

@testable import Configuration

/// Where the news of a store is pulled from is each app's own: who asks first has it.
@Suite struct NewsSourceTests {
    @Test func eachAppHasItsOwnSubscription() {
        let text = """
            [[app]]
            store = "google"
            id = "com.example.one"
            service_account = "env:G"
            pubsub_subscription = "projects/shop/subscriptions/play"
            [[app]]
            store = "google"
            id = "com.example.two"
            service_account = "env:G"
            pubsub_subscription = "projects/shop/subscriptions/play"
            [[app]]
            store = "google"
            id = "com.example.three"
            service_account = "env:G"
            pubsub_subscription = "play"
            [[app]]
            store = "google"
            id = "com.example.four"
            service_account = "env:H"
            pubsub_subscription = "play"
            [[app]]
            store = "google"
            id = "com.example.five"
            service_account = "env:H"
            pubsub_subscription = "play"
            """
        #expect(
            Settings.faults(of: text) == [
                "f.toml:10: app.pubsub_subscription: is that of com.example.one already: each app "
                    + "needs its own",
                "f.toml:25: app.pubsub_subscription: is that of com.example.four already: each app "
                    + "needs its own",
            ])
    }

    @Test func eachAppHasItsOwnQueue() {
        let text = """
            [[app]]
            store = "amazon"
            id = "com.example.one"
            shared_secret = "env:A"
            sqs_queue = "https://sqs.eu-west-1.amazonaws.com/1/play"
            sqs_access_key_id = "A"
            sqs_secret_access_key = "env:B"
            [[app]]
            store = "amazon"
            id = "com.example.two"
            shared_secret = "env:A"
            sqs_queue = "https://sqs.eu-west-1.amazonaws.com/1/play"
            sqs_access_key_id = "A"
            sqs_secret_access_key = "env:B"
            """
        #expect(
            Settings.faults(of: text) == [
                "f.toml:12: app.sqs_queue: is that of com.example.one already: each app needs its "
                    + "own"
            ])
    }
}
