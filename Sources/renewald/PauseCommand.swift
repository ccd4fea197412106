import ArgumentParser
import Configuration
import Daemon
import Explain
import Ledger
import Renewal

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stops all calls to an app's store until it is resumed.",
        discussion: """
            No worker and no command asks the store about the app's purchases, reads its news or \
            answers its questions about refunds. Everybody keeps the access that they have, and \
            nothing counts as asked in vain. What is due waits. Checks under way are finished. \
            Pub/Sub keeps news for a week by default, and Apple its history for 180 days.

            Example: renewald pause google/com.example.reader
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The app, as STORE/APP.", transform: AppKey.argument)
    var app: AppKey
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let (common, app, json) = (self.common, self.app, self.json)
        try await app.setPaused(true, common, json) { since, hasChanged in
            hasChanged
                ? "\(app.name) is paused: nobody asks its store until renewald resume \(app.name)"
                : "\(app.name) was paused already, since \(since?.text ?? "now")"
        }
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets an app's store be asked again.",
        discussion: """
            What has become due meanwhile is asked about at once, within the quota.

            Example: renewald resume google/com.example.reader
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The app, as STORE/APP.", transform: AppKey.argument)
    var app: AppKey
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let (common, app, json) = (self.common, self.app, self.json)
        try await app.setPaused(false, common, json) { _, hasChanged in
            hasChanged ? "\(app.name) is asked about again" : "\(app.name) was not paused"
        }
    }
}

extension AppKey {
    fileprivate static let argument: @Sendable (String) throws -> AppKey = { text in
        guard let app = AppKey(named: text) else {
            throw ValidationError("an app is STORE/APP, such as google/com.example.reader")
        }
        return app
    }

    /// An app that nobody has configured or submitted for is a slip of the pen.
    ///
    /// - Throws: `ValidationError` with the nearest one that is known.
    func requireKnown(to services: Services) async throws {
        let known = Set(
            try await services.ledger.allLanes().map(\.app)
                + services.configuration.apps.map(\.key))
        guard known.contains(self) else {
            let nearest = Nearest.word(to: name, among: known.map(\.name).sorted())
            throw ValidationError(
                "there is no app \(name)" + (nearest.map { "; the nearest is \($0)" } ?? ""))
        }
    }

    fileprivate func setPaused(
        _ isPaused: Bool, _ common: CommonOptions, _ json: Bool,
        _ sentence: @escaping @Sendable (Timestamp?, Bool) -> String
    ) async throws {
        try await common.withServices(
            asksStores: false, writes: true, readsTokens: false
        ) { services in
            try await requireKnown(to: services)
            let (since, hasChanged) = try await services.ledger.pause(self, isPaused)
            if json {
                try Console.say(json: PauseJSON(app: self, pausedAt: since).line())
            } else {
                try Console.say(sentence(since, hasChanged))
            }
        }
    }
}
