/// Whether a further call may be made. It goes down to whoever calls a store: each call beyond the
/// first of one piece of work, such as a check, waits for its place in the app's row of calls.
package struct CallPermit: Sendable {
    private let turn: @Sendable () async -> Void

    /// `turn` waits for a place. Without one what was begun gets done all the same.
    package init(_ turn: @escaping @Sendable () async -> Void) { self.turn = turn }

    package func wait() async { await turn() }

    /// Where nobody counts the calls.
    package static let free = CallPermit {}
}
