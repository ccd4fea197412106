import Logging
import Sockets
import Synchronization

/// Hands entries to the journal and never waits for it: what it does not take at once is kept, up
/// to a limit, and tried again; what is beyond that is dropped and counted.
final class JournalWriter: Sendable {
    /// Why an entry must be told in another way.
    enum Outcome: Hashable, Sendable {
        case handedOver
        /// Kept for later, or dropped because too much is kept already.
        case waiting
        case nobodyThere
    }

    private struct State {
        var waiting: [[UInt8]] = []
        var waitingBytes = 0
        var dropped = 0
        var retries = false
    }

    private let sender: DatagramSender
    private let state = Mutex(State())
    private let alarm = DelayedCall(label: "renewald.journal")

    /// Kept at most while the journal is busy.
    static let waitingLimitBytes = 1 << 20
    private static let pause = Duration.milliseconds(50)

    /// - Parameter path: of the journal's socket.
    init?(path: String) {
        guard let sender = DatagramSender(path: path) else { return nil }
        self.sender = sender
    }

    @discardableResult
    func write(_ entry: JournalEntry) -> Outcome {
        state.withLock { state in
            let isClear = drain(&state)
            let outcome = isClear ? send(entry.bytes) : .full
            switch outcome {
            case .sent: return .handedOver
            case .gone, .tooLong: return .nobodyThere
            case .full: break
            }
            if state.waitingBytes + entry.bytes.count <= Self.waitingLimitBytes {
                state.waiting.append(entry.bytes)
                state.waitingBytes += entry.bytes.count
            } else {
                state.dropped += 1
            }
            retryLater(&state)
            return .waiting
        }
    }

    /// Sends what waits. Where nobody is there any more, it is lost.
    ///
    /// - Returns: whether nothing waits now.
    private func drain(_ state: inout State) -> Bool {
        var sent = 0
        defer {
            state.waitingBytes -= state.waiting.prefix(sent).reduce(0) { $0 + $1.count }
            state.waiting.removeFirst(sent)
        }
        while sent < state.waiting.count {
            if send(state.waiting[sent]) == .full { return false }
            sent += 1
        }
        if state.dropped > 0 {
            guard send(Self.note(ofDropped: state.dropped).bytes) != .full else { return false }
            state.dropped = 0
        }
        return true
    }

    private func send(_ bytes: [UInt8]) -> DatagramSender.Outcome {
        let outcome = sender.send(bytes)
        return outcome == .tooLong ? sender.sendAsFile(bytes) : outcome
    }

    private func retryLater(_ state: inout State) {
        guard !state.retries else { return }
        state.retries = true
        alarm.call(after: Self.pause) { [weak self] in self?.retry() }
    }

    private func retry() {
        state.withLock { state in
            state.retries = false
            if !drain(&state) { retryLater(&state) }
        }
    }

    private static func note(ofDropped count: Int) -> JournalEntry {
        var entry = JournalEntry()
        entry.add("MESSAGE", Logger.Message.journalLinesDropped(count).description)
        entry.add("PRIORITY", "4")
        entry.add("SYSLOG_IDENTIFIER", "renewald")
        if let id = CatalogEntry.id(of: DaemonTopic.journalLinesDropped.rawValue) {
            entry.add("MESSAGE_ID", id)
        }
        return entry
    }
}
