import ArgumentParser
import Dispatch
import Foundation
import StoreSimulator

/// `storesim serve`: runs until SIGTERM, SIGINT or `POST /control/quit`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs the three stores and writes what a client needs into a folder.",
        discussion: """
            Example: storesim serve --directory /tmp/stores --demo

            When it is ready it prints "storesim: listening on ORIGIN", the settings for a client \
            and a configuration for renewald. With --demo, `curl -K /tmp/stores/apple.curl` gets \
            a first signed answer.
            """)

    @Option(help: "The folder for certificates, keys and renewald.toml.")
    var directory: String

    @Option(help: "The port at 127.0.0.1; 0 takes one that is free.")
    var port = 0

    @Option(help: "When the clock begins, such as 2026-01-01T00:00:00Z; default is now.")
    var clock: String?

    @Option(help: "Simulated seconds in a second; 0 stands still until the clock is moved.")
    var speed = 1.0

    @Option(help: "A file that gets a line of JSON for each answer of a store.")
    var answers: String?

    @Option(help: "A file for libfaketime (FAKETIME_TIMESTAMP_FILE), kept up to date.")
    var clockFile: String?

    @Flag(help: "A purchase in each store, and apple.curl, google.curl, amazon.curl for curl -K.")
    var demo = false

    @Flag(help: "Prints the settings for a client as one line of JSON.")
    var json = false

    @Flag(help: "http instead of https.")
    var plain = false

    @Option(help: "The same seed gives the same tokens, orders and faults.")
    var seed: UInt64 = 1

    @Option(help: "The app's bundle id or package name.")
    var app = "com.example.reader"

    @Option(help: "Event loops.")
    var threads = 1

    @Option(help: "A file that keeps RSA keys, which take long to make; it is made when missing.")
    var rsaKeys: String?

    @Option(help: "How old a signed answer may be, in milliseconds.")
    var signingWindow: Int64 = 1000

    @Option(
        help: """
            How many calls of one app a store takes, such as apple=50/PT1S; may be repeated. Spans \
            of an hour and more go by the simulated clock.
            """)
    var quota: [String] = []

    mutating func run() async throws {
        let folder = URL(fileURLWithPath: directory).standardizedFileURL.path
        var options = Simulator.Options(directory: folder)
        if let clock {
            guard let instant = Instant(text: clock) else {
                throw ValidationError("--clock is not a time such as 2026-01-01T00:00:00Z.")
            }
            options.clock = instant
        }
        guard (0...1_000_000).contains(speed), speed == 1 || clockFile == nil else {
            throw ValidationError(
                "--speed is not between 0 and 1000000, or is given with --clock-file.")
        }
        if let wrong = quota.first(where: { !Simulator.Options.isQuota($0) }) {
            throw ValidationError("--quota \(wrong) is not such as google=3000/PT1M.")
        }
        options.quotas = quota
        options.speed = speed
        options.answers = answers
        options.isDemonstration = demo
        options.port = port
        options.clockFile = clockFile
        options.isPlain = plain
        options.seed = seed
        options.app = app
        options.rsaKeys = rsaKeys
        options.threads = max(1, threads)
        options.signingWindow = signingWindow
        let simulator = try await Simulator.start(options)
        let sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { simulator.quit() }
            source.resume()
            return source
        }
        FileHandle.standardOutput.write(
            Data("storesim: listening on \(simulator.origin)\n".utf8))
        let welcome = json ? simulator.welcome.json : "\n" + simulator.welcome.text
        FileHandle.standardOutput.write(Data((welcome + "\n").utf8))
        try await simulator.run()
        sources.forEach { $0.cancel() }
    }
}
