import ArgumentParser
import Foundation
import StoreSimulator

struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario", abstract: "Plays scenarios: lives of purchases, as lines of text.",
        discussion:
            "Example: storesim scenario run --directory /tmp/stores cancels-and-changes-mind",
        subcommands: [List.self, Show.self, Run.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the scenarios that come with the simulator.",
            discussion: "Example: storesim scenario list")

        @Flag(help: "A JSON array of names.")
        var json = false

        func run() {
            if json {
                let names = ScenarioLibrary.names.map { "\"\($0)\"" }
                return print("[\(names.joined(separator: ","))]")
            }
            for name in ScenarioLibrary.names { print(name) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a scenario of the library, to read or to change.",
            discussion: "Example: storesim scenario show pauses-and-resumes")

        @Argument(help: "The scenario's name.")
        var name: String

        func run() throws {
            guard let text = ScenarioLibrary.texts[name] else {
                throw ValidationError("there is no such scenario; see storesim scenario list")
            }
            print(text)
        }
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Schedules a scenario: its steps happen as the clock advances.",
            discussion: """
                Example: storesim scenario run --directory /tmp/stores pauses-and-resumes

                Exits with 1 when an expectation of the scenario will not be met.
                """)

        @OptionGroup var simulated: Simulated

        @Argument(help: "A name of the library, or a file.")
        var scenario: String

        @Option(help: "One of the scenario's stores; default is each of them.")
        var store: String?

        @Option(help: "Day 0, such as 2026-01-01T00:00:00Z; default is now.")
        var start: String?

        @Option(help: "Bundle id or package name.")
        var app: String?

        @Option(help: "The account that the app set.")
        var user: String?

        @Option(help: "How many times, in each store.")
        var count: Int?

        func run() async throws {
            var members: [String: ControlClient.Value?] = [
                "store": store.member, "start": start.member, "app": app.member,
                "user": user.member, "count": count.member,
            ]
            if ScenarioLibrary.texts[scenario] == nil {
                let file = URL(fileURLWithPath: scenario)
                guard let text = try? String(contentsOf: file, encoding: .utf8) else {
                    throw ValidationError("\(scenario) is neither in the library nor a file")
                }
                members["text"] = .text(text)
            } else {
                members["name"] = .text(scenario)
            }
            let reply = try await simulated.reply("POST", "/scenarios", members)
            simulated.show(reply)
            if reply.contains("\"met\":false") { throw ExitCode(1) }
        }
    }
}

struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Makes many purchases at random, with their lives.",
        discussion: "Example: storesim fleet --directory /tmp/stores --count 10000 --seed 7")

    @OptionGroup var simulated: Simulated

    @Option(help: "How many.")
    var count = 1000

    @Option(help: "The same seed gives the same lives.")
    var seed = 1

    @Option(help: "The first day; three in five purchases are older. Default is now.")
    var start: String?

    @Option(help: "For how many days lives are told.")
    var days = 365

    @Option(help: "Bundle id or package name.")
    var app: String?

    func run() async throws {
        try await simulated.send(
            "POST", "/fleet",
            [
                "count": .whole(count), "seed": .whole(seed), "days": .whole(days),
                "start": start.member, "app": app.member,
            ])
    }
}

struct CurlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl", abstract: "Prints what curl needs to ask about a purchase.",
        discussion: "Example: storesim curl --directory /tmp/stores 1 | curl -K -")

    @OptionGroup var simulated: Simulated

    @Argument(help: "The purchase's number.")
    var purchase: Int

    func run() async throws {
        print(try await simulated.reply("GET", "/curl/\(purchase)"), terminator: "")
    }
}
