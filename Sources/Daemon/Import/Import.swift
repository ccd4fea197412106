import Configuration
import Explain
package import Ledger
package import Renewal
package import Sockets

/// `renewald import`: takes the purchases of a file in, batch by batch, and notes with each how far
/// it has come.
package struct Import: Sendable {
    package struct Options: Sendable {
        package var path: String
        package var columns: ImportColumns
        /// Purchases of others wait.
        package var configuredApps: [AppKey] = []
        package var isBaseline = false
        package var goesOn = false
        package var isDryRun = false
        /// The file of bad lines.
        package var rejects: String?

        package init(_ path: String, _ columns: ImportColumns) {
            self.path = path
            self.columns = columns
        }
    }

    /// What the lines came to: all that were read are one of these.
    package struct Totals: Hashable, Sendable {
        package var submitted: Int64 = 0
        package var known: Int64 = 0
        package var bad: Int64 = 0

        package init() {}

        package var read: Int64 { submitted + known + bad }
        /// Lines were read, and none was of use.
        package var isInVain: Bool { read > 0 && bad == read }
    }

    /// What a person hears while it runs.
    package enum News: Sendable {
        case badLine(number: Int, reason: String)
        /// The first purchase of an app that is not configured, with the one that may be meant.
        case unknownApp(AppKey, nearest: AppKey?)
        /// `byte` of the `size` of the file, which a pipe does not have.
        case advanced(Totals, byte: Int64, size: Int64?)
    }

    /// Why it cannot be done.
    package enum Stop: Error, Hashable, Sendable {
        case usage(String)
        case unreadable(String)
        case useless(String)
        case rejects(WriteFailure)
        /// Another run imports the same file.
        case overtaken
    }

    private let ledger: PostgresLedger
    private let options: Options
    private let tell: @Sendable (News) -> Void

    package init(
        _ ledger: PostgresLedger, _ options: Options, tell: @escaping @Sendable (News) -> Void
    ) {
        self.ledger = ledger
        self.options = options
        self.tell = tell
    }

    /// - Throws: `Stop`, and `LedgerError` where the database is in the way: what was taken in by
    ///   then stays, and `goesOn` goes on behind it.
    package func run() async throws -> Totals {
        do {
            let input = try InputBytes(options.path)
            defer { input.close() }
            return try await run(input)
        } catch let failure as ReadFailure {
            throw Stop.unreadable(failure.reason)
        } catch let fault as ImportFault {
            throw Stop.useless(fault.reason)
        } catch let failure as WriteFailure {
            throw Stop.rejects(failure)
        } catch is ImportOvertaken {
            throw Stop.overtaken
        }
    }

    private func run(_ input: InputBytes) async throws -> Totals {
        guard !options.goesOn || input.size != nil else {
            throw Stop.usage("--resume needs a file: what a pipe brings cannot be read again")
        }
        let digest =
            input.size == nil || options.isDryRun ? nil : try ImportFile.digest(of: input)
        var file = try ImportFile(input, options.columns)
        let place = try await place(of: digest)
        if place.byte > 0 {
            try file.go(input, to: FileLine.Place(byte: place.byte, line: place.line))
        }
        let path = options.isDryRun ? nil : options.rejects
        let rejects = try path.map { path throws(WriteFailure) in
            try RejectsFile(
                path, from: options.goesOn ? place.rejected : nil, of: input, header: file.header)
        }
        var batch = ImportLines(place, rejects)
        var seen: Set<Int64> = []
        var apps = Set(options.configuredApps)
        while let line = try file.reader.next() {
            batch.add(line, file.line)
            guard batch.isFull else { continue }
            name(batch.purchases.apps, besides: &apps)
            try await take(&batch, digest, &seen, input.size)
            try Task.checkCancellation()
        }
        name(batch.purchases.apps, besides: &apps)
        try await take(&batch, digest, &seen, input.size)
        try rejects?.close()
        return batch.place.totals
    }

    /// Names each of them once, but no more than a person can read.
    private func name(_ apps: Set<AppKey>, besides known: inout Set<AppKey>) {
        for app in apps.subtracting(known).sorted(on: \.name) {
            guard known.count < options.configuredApps.count + UnknownApp.namedLimit else { return }
            known.insert(app)
            tell(.unknownApp(app, nearest: Nearest.app(app, among: options.configuredApps)))
        }
    }

    /// Where to begin.
    private func place(of digest: [UInt8]?) async throws -> ImportPlace {
        let reading = options.columns.text + (options.isBaseline ? " baseline" : "")
        let start = ImportPlace(reading: reading)
        guard let digest else { return start }
        if options.goesOn, let known = try await ledger.importPlace(of: digest) {
            guard known.reading == reading else {
                throw Stop.usage(
                    "this file was begun in another way: go on with the --baseline, --map, --set "
                        + "and --preset of then, or begin anew without --resume")
            }
            return known
        }
        try await ledger.beginImport(of: digest, reading: reading)
        return start
    }

    /// Takes in what was read, and begins the next batch.
    private func take(
        _ batch: inout ImportLines, _ digest: [UInt8]?, _ seen: inout Set<Int64>, _ size: Int64?
    ) async throws {
        guard !batch.isEmpty else { return }
        let lines = batch
        let taken: TakenBatch
        let place: ImportPlace
        if options.isDryRun {
            taken = Self.taken(try await ledger.preview(lines.purchases), &seen)
            place = try lines.settle(taken)
        } else {
            (taken, place) = try await ledger.takeIn(
                lines.purchases, isBaseline: options.isBaseline,
                from: digest.map { ImportSource(digest: $0, place: lines.place) }
            ) { try lines.settle($0) }
        }
        for fault in lines.faults(with: taken) {
            tell(.badLine(number: fault.line, reason: fault.reason))
        }
        batch = lines.next(from: place)
        tell(.advanced(place.totals, byte: place.byte, size: size))
    }

    /// What would become of them. The same purchase twice in a file is known the second time.
    private static func taken(
        _ previews: [ImportPreview], _ seen: inout Set<Int64>
    ) -> TakenBatch {
        var (submitted, known): (Int64, Int64) = (0, 0)
        var faults: [TakenBatch.Fault] = []
        for (index, preview) in previews.enumerated() {
            if let reason = preview.fault {
                faults.append(TakenBatch.Fault(index: index, reason: reason))
            } else if !preview.isKnown, seen.insert(preview.key).inserted {
                submitted += 1
            } else {
                known += 1
            }
        }
        return TakenBatch(submitted: submitted, known: known, faults: faults)
    }
}

extension ImportPlace {
    var totals: Import.Totals {
        var totals = Import.Totals()
        (totals.submitted, totals.known, totals.bad) = (submitted, known, bad)
        return totals
    }
}
