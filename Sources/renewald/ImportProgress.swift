import Daemon
import Renewal
import Synchronization

/// What a person sees of an import while it runs: on a terminal a line that moves, elsewhere a line
/// a minute. Bad lines are named as they come.
final class ImportProgress: Sendable {
    private struct State {
        let startedAt = ContinuousClock.now
        var saidAt = ContinuousClock.now
        /// Of this run: what was taken in before is not its merit.
        var first: (read: Int64, byte: Int64)?
    }

    private let isTerminal: Bool
    private let state = Mutex(State())

    init(isTerminal: Bool) { self.isTerminal = isTerminal }

    func hear(_ news: Import.News) {
        switch news {
        case .badLine(let number, let reason):
            end()
            Console.complain("line \(number): \(reason)")
        case .unknownApp(let app, let nearest):
            end()
            let meant = nearest.map {
                "; the nearest configured app is \($0.store.rawValue) \($0.id)"
            }
            Console.complain(
                "\(app.store.rawValue) \(app.id) is not configured: its purchases wait"
                    + (meant ?? ""))
        case .advanced(let totals, let byte, let size):
            guard let line = line(totals, byte, size) else { return }
            if isTerminal { Console.progress(line) } else { Console.complain(line) }
        }
    }

    /// Takes the line that moves away.
    func end() {
        if isTerminal { Console.progress("") }
    }

    /// Nil before it is time for the next one.
    private func line(_ totals: Import.Totals, _ byte: Int64, _ size: Int64?) -> String? {
        state.withLock { state in
            let first = state.first ?? (totals.read, byte)
            state.first = first
            let pause: Duration = isTerminal ? .milliseconds(200) : .seconds(60)
            guard ContinuousClock.now - state.saidAt >= pause else { return nil }
            state.saidAt = .now
            let seconds = max((.now - state.startedAt) / Duration.seconds(1), 0.001)
            let perSecond = Double(totals.read - first.read) / seconds
            var line = "\(totals.read) lines, \(Int(perSecond))/s, \(totals.bad) bad"
            if let size, size > 0 {
                line += ", \(byte * 100 / size) %"
                let pace = Double(byte - first.byte) / seconds
                if pace > 0 { line += ", \(Int(Double(size - byte) / pace)) s left" }
            }
            return line
        }
    }
}
