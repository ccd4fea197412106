package import Ledger
package import Renewal

/// `renewald once --json`: what a pass came to.
package struct OnceJSON: JSONObject {
    private let checked: Int
    private let events: Int
    private let unjudged: Int
    private let shardsLeftToOthers: Int

    package init(checked: Int, events: Int, unjudged: Int, shardsLeftToOthers: Int) {
        self.checked = checked
        self.events = events
        self.unjudged = unjudged
        self.shardsLeftToOthers = shardsLeftToOthers
    }

    package func write(to row: inout JSONRow) {
        row.checked = checked
        row.events = events
        row.unjudged = unjudged
        row.shardsLeftToOthers = shardsLeftToOthers
    }
}

/// `renewald migrate --json`.
package struct MigrateJSON: JSONObject {
    private let version: Int
    private let applied: [Int]

    /// The versions that were applied, and the one that the schema has now.
    package init(version: Int, applied: [Int]) {
        self.version = version
        self.applied = applied
    }

    package func write(to row: inout JSONRow) {
        row.version = version
        row.applied = applied
    }
}

/// `renewald doctor --json`.
package struct DoctorJSON: JSONObject {
    private let exit: Int32
    private let checks: [Check]

    package init(exit: Int32, checks: [Check]) {
        self.exit = exit
        self.checks = checks
    }

    package func write(to row: inout JSONRow) {
        row.exit = exit
        row.checks = checks
    }

    /// What one check has found, and what to do.
    package struct Check: JSONObject {
        private let level: String
        private let subject: String
        private let sentence: String
        private let advice: String?

        package init(level: String, subject: String, sentence: String, advice: String?) {
            self.level = level
            self.subject = subject
            self.sentence = sentence
            self.advice = advice
        }

        package func write(to row: inout JSONRow) {
            row.level = level
            row.subject = subject
            row.sentence = sentence
            row.advice = advice
        }
    }
}

/// `renewald pause --json` and `renewald resume --json`.
package struct PauseJSON: JSONObject {
    private let app: AppKey
    private let pausedAt: Timestamp?

    package init(app: AppKey, pausedAt: Timestamp?) {
        self.app = app
        self.pausedAt = pausedAt
    }

    package func write(to row: inout JSONRow) {
        row.store = app.store.rawValue
        row.app = app.id
        row.pausedAt = pausedAt
    }
}

/// `renewald release --json`: rows of `renewald.held`.
package struct ReleaseJSON: JSONObject {
    private let released: Int
    private let dropped: Int

    package init(released: Int, dropped: Int) {
        self.released = released
        self.dropped = dropped
    }

    package func write(to row: inout JSONRow) {
        row.released = released
        row.dropped = dropped
    }
}

/// `renewald import --json`: lines of the file.
package struct ImportJSON: JSONObject {
    private let read: Int64
    private let submitted: Int64
    private let known: Int64
    private let bad: Int64

    package init(read: Int64, submitted: Int64, known: Int64, bad: Int64) {
        self.read = read
        self.submitted = submitted
        self.known = known
        self.bad = bad
    }

    package func write(to row: inout JSONRow) {
        row.read = read
        row.submitted = submitted
        row.known = known
        row.bad = bad
    }
}

/// A line of `renewald export --all`, which `import` reads.
extension ExportedPurchase: JSONObject {
    package func write(to row: inout JSONRow) {
        row.userId = userID
        row.store = app.store
        row.app = app.id
        row.product = product
        row.token = token.text
        row.storeUserId = storeUserID
    }
}
