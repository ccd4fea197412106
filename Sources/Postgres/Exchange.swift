import CPostgres
import Dispatch

/// One question and its answers: keeps writing while it reads, so that two full buffers cannot
/// block each other, and lets a cancellation through.
struct Exchange {
    /// After a cancellation the server gets this long to answer.
    static let cancelLimit: Duration = .seconds(5)

    let session: Session
    let link: Link
    private var deadline: ContinuousClock.Instant
    private var cancelRequest: DispatchGroup?

    init(session: Session, link: Link) {
        self.session = session
        self.link = link
        deadline = session.deadline
    }

    /// Whether the server was asked to cancel.
    var cancelWasAsked: Bool { cancelRequest != nil }

    /// The next result; nil between the results of two statements and at the end.
    mutating func next() throws(WaitFailure) -> ResultTable? {
        while true {
            let unsent = PQflush(link.handle)
            if PQisBusy(link.handle) == 0 {
                if let result = PQgetResult(link.handle) { return ResultTable(owning: result) }
                guard PQstatus(link.handle) == CONNECTION_OK else { throw .lost }
                return nil
            }
            // After a failed write the server's last words may still be there to be read.
            try wait(writing: unsent == 1)
        }
    }

    /// Waits for room to write; what arrives meanwhile is read.
    mutating func wait(writing: Bool) throws(WaitFailure) {
        do throws(WaitFailure) {
            let heedsCancel = session.heedsCancel && !cancelWasAsked
            let isReadable = try link.wait(
                reading: true, writing: writing, until: deadline, heedsCancel: heedsCancel)
            // A failure shows as the next result.
            if isReadable { _ = PQconsumeInput(link.handle) }
        } catch .cancelled {
            session.wakeUp.forget(.cancel)
            cancelRequest = link.requestCancel()
            deadline = min(deadline, .now + Self.cancelLimit)
        }
    }

    /// Ends the exchange: a cancel request that is still on its way would hit the next statement.
    func settle() {
        guard let cancelRequest else { return }
        if cancelRequest.wait(timeout: .now() + .seconds(2)) == .timedOut { session.drop() }
    }

    /// The error of a wait that failed.
    func error(_ failure: WaitFailure, mayHaveCommitted: Bool) -> PostgresError {
        if mayHaveCommitted { return session.lose(.commitUnknown) }
        switch failure {
        case .lost: return session.lose(.unreachable(reason: "the connection was lost"))
        case .timedOut:
            return session.lose(.unreachable(reason: "no answer within the time limit"))
        case .closed, .cancelled: return session.lose(.cancelled)
        }
    }
}

/// The results of a text in the simple protocol, and COPY.
struct SimpleExchange {
    let session: Session
    let link: Link
    /// Whether a loss leaves it unknown what was committed.
    let writes: Bool

    /// Sends `sql` and reads to the end.
    ///
    /// - Parameters:
    ///   - sql: one or more statements.
    ///   - copying: sends the data when the server asks for it.
    /// - Returns: the rows that the last statement touched.
    /// - Throws: the first error.
    func run(
        _ sql: String, copying: (inout Exchange) throws(WaitFailure) -> Void = { _ in }
    ) throws(PostgresError) -> Int {
        guard !sql.utf8.contains(0) else { throw EncodingFault.nulInStatement.error(statement: 0) }
        guard PQsendQuery(link.handle, sql) == 1 else {
            throw session.lose(.unreachable(reason: "the connection was lost"))
        }
        var exchange = Exchange(session: session, link: link)
        defer { exchange.settle() }
        var report: ServerReport?
        var rows = 0
        let mayHaveCommitted = writes && !session.isInBlock
        do throws(WaitFailure) {
            while let result = try exchange.next() {
                switch result.status {
                case PGRES_COPY_IN: try copying(&exchange)
                // Nothing here reads a COPY TO; the connection is of no use in the middle of one.
                case PGRES_COPY_OUT, PGRES_COPY_BOTH: throw .lost
                case PGRES_FATAL_ERROR: report = report ?? result.report
                default: rows = result.affectedRows
                }
            }
        } catch {
            throw exchange.error(error, mayHaveCommitted: mayHaveCommitted)
        }
        guard let report else { return rows }
        if report.isLoss {
            throw mayHaveCommitted && !report.isFromServer
                ? session.lose(.commitUnknown) : session.lose(report.error(statement: 0))
        }
        throw report.error(statement: 0, cancelWasAsked: exchange.cancelWasAsked)
    }
}

extension Exchange {
    /// Sends the rows of a COPY. On an error of the server the rest is not sent.
    mutating func send(_ rows: some Sequence<[UInt8]>) throws(WaitFailure) {
        for row in rows {
            while true {
                let sent = row.withUnsafeBytes { bytes in
                    PQputCopyData(
                        link.handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(clamping: bytes.count))
                }
                if sent == 1 { break }
                guard sent == 0 else { throw .lost }
                try wait(writing: true)
            }
            // A cancelled COPY ends with an error, which takes back the rows sent so far.
            if cancelWasAsked { break }
        }
        while true {
            let ended = PQputCopyEnd(link.handle, nil)
            if ended == 1 { return }
            guard ended == 0 else { throw .lost }
            try wait(writing: true)
        }
    }
}
