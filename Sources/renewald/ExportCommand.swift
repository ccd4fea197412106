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
            has the tokens can ask the stores about them: the file is for its owner alone. What \
            cannot be decrypted is named and left out; then it exits with 65.

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
                let written = try await Self.export(services.ledger) { text throws(WriteFailure) in
                    try StandardStream.output.write(text)
                }
                return try written.tell(in: "the output")
            }
            do {
                let output = try OutputFile(file).open(isPrivate: true)
                let written: ExportedLines
                do {
                    written = try await Self.export(services.ledger, to: output.add)
                } catch {
                    output.abandon()
                    throw error
                }
                try output.finish()
                try written.tell(in: file)
            } catch WriteFailure.failed(let reason) {
                Console.complain("\(file): cannot be written: \(reason)")
                throw ExitReason.cannotCreate
            }
        }
    }

    private static func export(
        _ ledger: PostgresLedger, to write: (String) throws(WriteFailure) -> Void
    ) async throws -> ExportedLines {
        var (written, last) = (ExportedLines(), Int64(0))
        while let page = try await ledger.export(after: last) {
            var text = ""
            for purchase in page.purchases { text += try purchase.line() + "\n" }
            try write(text)
            written.add(page)
            last = page.last
        }
        return written
    }
}

/// What was written, and what could not be.
private struct ExportedLines {
    private var lines = 0
    private var leftOut = 0

    private static let namedLimit = 10

    /// Names what is left out: the first ones.
    mutating func add(_ page: ExportedPage) {
        lines += page.purchases.count
        for purchase in page.undecipherable.prefix(max(0, Self.namedLimit - leftOut)) {
            Console.complain("purchase \(purchase.purchaseID): \(purchase.reason)")
        }
        leftOut += page.undecipherable.count
    }

    /// - Throws: `.dataError` where something is left out.
    func tell(in file: String) throws(ExitReason) {
        Console.complain(
            "\(count(lines, "purchase")) with their tokens are in \(file): keep them secret")
        guard leftOut > 0 else { return }
        Console.complain(
            "\(count(leftOut, "purchase")) left out: what cannot be decrypted "
                + Undecipherable.remedy)
        throw .dataError
    }
}
