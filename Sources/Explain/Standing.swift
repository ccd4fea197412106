package import Renewal

/// What `renewald.purchases` says of a purchase after a check.
package struct Standing: Hashable, Sendable {
    /// Nil is never.
    package let nextCheckAt: Timestamp?
    package let problem: String?
    /// What the next check waits for beside its time; nil is nothing.
    package var waitsFor: String?
}

extension Outcome {
    /// Nothing is committed of what nobody may ask about: it stays as it was.
    package func standing(after answer: Answer) -> Standing {
        switch answer {
        case .failure(.paused):
            Standing(
                nextCheckAt: claim.dueAt == .never ? nil : claim.dueAt, problem: claim.problem,
                waitsFor: "once the app is resumed")
        case .failure(.notConfigured):
            Standing(
                nextCheckAt: nil, problem: schedule.problem?.description,
                waitsFor: "once the app is configured")
        case .failure, .doubt, .contested, .verdict:
            Standing(
                nextCheckAt: schedule.shownNextCheckAt, problem: schedule.problem?.description)
        }
    }
}
