import ArgumentParser
import Daemon
import Explain
import Ledger
import Sockets

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes what import reads: all purchases, with their tokens.",
        discussion: """
            A JSON object a line, with user_id, store, app, product, token and store_user_id. Who \
            has the tokens can ask the stores about them: the file is for its owner alone.

            Example: renewald export --all --output fleet.jsonl
            """)

    @OptionGroup var common: CommonOptions
    @Flag(help: "All purchases.")
    var all = false
    @Option(help: ArgumentHelp("Write to this file, not to standard output.", valueName: "file"))
    var output: String?

    func validate() throws {
        guard all else { throw ValidationError("--all is missing: it exports all purchases") }
    }

    mutating func run() async throws {
        let file = output
        try await common.withServices(asksStores: false) { services in
            guard let file, file != "-" else {
                let lines = try await Self.export(services.ledger) { (text) throws(WriteFailure) in
                    try StandardStream.output.write(text)
                }
                return Self.say(lines, in: "the output")
            }
            do {
                let output = try OutputFile(file).open(isPrivate: true)
                let lines: Int
                do {
                    lines = try await Self.export(services.ledger, to: output.add)
                } catch {
                    output.abandon()
                    throw error
                }
                try output.finish()
                Self.say(lines, in: file)
            } catch WriteFailure.failed(let reason) {
                Console.complain("\(file): cannot be written: \(reason)")
                throw ExitReason.cannotCreate
            }
        }
    }

    private static func say(_ lines: Int, in file: String) {
        Console.complain(
            "\(count(lines, "purchase")) with their tokens are in \(file): keep them secret")
    }

    /// - Returns: the number of lines.
    private static func export(
        _ ledger: PostgresLedger, to write: (String) throws(WriteFailure) -> Void
    ) async throws -> Int {
        var (lines, last) = (0, Int64(0))
        while let page = try await ledger.export(after: last) {
            var text = ""
            for purchase in page.purchases { text += try purchase.line() + "\n" }
            try write(text)
            lines += page.purchases.count
            last = page.last
        }
        return lines
    }
}
