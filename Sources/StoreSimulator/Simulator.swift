import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The three stores on loopback: one process, one clock, two ports (the second is what the
/// sandboxes listen on).
package struct Simulator: Sendable {
    /// How a simulator is started.
    package struct Options: Sendable {
        /// The folder that gets everything a client needs; it is made when missing.
        package var directory: String
        /// The production port; 0 for one that is free.
        package var port = 0
        /// Where the clock begins; nil for the machine's time.
        package var clock: Instant?
        /// Simulated seconds in a second; 0 stands still.
        package var speed = 1.0
        /// A file that gets a line of JSON for each answer of a store; nil for none.
        package var answers: String?
        /// A file for libfaketime, rewritten at every move of the clock.
        package var clockFile: String?
        /// http instead of https.
        package var isPlain = false
        /// The same seed gives the same ids, tokens, orders and choices of faults.
        package var seed: UInt64 = 1
        package var app = "com.example.reader"
        /// Event loops.
        package var threads = 1
        /// How old, in milliseconds, a signed answer may be while the state is the same.
        package var signingWindow: Int64 = 1000
        /// Such as `apple=50/PT1S`: so many calls of each app in any such span are answered.
        package var quotas: [String] = []

        /// A file that keeps the RSA keys from one start to the next; nil makes new ones.
        package var rsaKeys: String?

        /// A purchase in each store, and files for `curl -K` to ask about them.
        package var isDemonstration = false

        package init(directory: String) {
            self.directory = directory
        }

        /// Is `text` a quota such as `google=3000/PT1M`?
        package static func isQuota(_ text: String) -> Bool { Quota(text: text) != nil }
    }

    /// `https://127.0.0.1:PORT`, and the same of the sandboxes.
    package let origin: String
    package let sandboxOrigin: String
    /// Where everything is, for any client.
    package let welcome: Welcome
    let credentials: Credentials

    let responder: Responder
    private let group: MultiThreadedEventLoopGroup
    private let channels: [any Channel]
    private let quitting: AsyncStream<Never>
    private let quitter: AsyncStream<Never>.Continuation

    /// Starts to listen and writes the client's files. When it returns, both ports answer.
    ///
    /// - Throws: when a port is taken or the folder cannot be written.
    package static func start(_ options: Options) async throws -> Simulator {
        let credentials = try Credentials(
            seed: options.seed, rsa: try options.rsaKeys.map(RSAKeys.init(file:)) ?? RSAKeys())
        let machine = SimulatedClock.machineNow
        var clock = SimulatedClock(machine: machine, wholeSeconds: options.clockFile != nil)
        if let instant = options.clock { clock.set(instant, machine: machine) }
        if options.speed != 1 { clock.run(at: options.speed, machine: machine) }
        var world = World(clock: clock, seed: options.seed, apps: [options.app])
        for quota in options.quotas.compactMap({ Quota(text: $0) }) {
            _ = world.quotas.add(quota)
        }
        let (quitting, quitter) = AsyncStream.makeStream(of: Never.self)
        let responder = Responder(
            world: world, credentials: credentials, clockFile: options.clockFile,
            signingWindow: options.signingWindow,
            answers: try options.answers.map { try AnswerLog(path: $0) },
            quit: { quitter.finish() })
        try ClientFiles.makeFolder(options.directory)
        try responder.clock.writeFile(clock)
        let tls = options.isPlain ? nil : try NIOSSLContext.server(credentials)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: options.threads)
        let server = Server(group: group, responder: responder, tls: tls)
        do {
            let production = try await server.listen(port: options.port, as: .production)
            let sandbox = try await server.listen(port: 0, as: .sandbox)
            let place = Place(
                origin: Self.origin(production, options),
                sandboxOrigin: Self.origin(sandbox, options),
                authority: options.isPlain ? nil : options.directory + "/ca.pem")
            responder.clients.place.withLock { $0 = place }
            let files = ClientFiles(
                credentials: credentials, directory: options.directory, app: options.app,
                origin: place.origin, sandboxOrigin: place.sandboxOrigin,
                usesTLS: !options.isPlain)
            try files.write()
            let welcome = Welcome(
                place, credentials, options, configuration: files.configurationText)
            let simulator = Simulator(
                origin: place.origin, sandboxOrigin: place.sandboxOrigin, welcome: welcome,
                credentials: credentials,
                responder: responder, group: group, channels: [production, sandbox],
                quitting: quitting, quitter: quitter)
            if options.isDemonstration { try simulator.demonstrate(options) }
            return simulator
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    /// Does something again and again until the simulator ends.
    func repeats(everyMinutes minutes: Int64, _ body: @escaping @Sendable () -> Void) {
        group.next().scheduleRepeatedTask(
            initialDelay: .minutes(minutes), delay: .minutes(minutes)
        ) { _ in body() }
    }

    private static func origin(_ channel: any Channel, _ options: Options) -> String {
        let port = channel.localAddress?.port ?? 0
        return "\(options.isPlain ? "http" : "https")://127.0.0.1:\(port)"
    }

    /// Asks it to end, as `POST /control/quit` does.
    package func quit() { quitter.finish() }

    /// Waits until it was asked to end, and ends it.
    package func run() async throws {
        for await _ in quitting {}
        for channel in channels { try await channel.close() }
        try await group.shutdownGracefully()
    }
}
