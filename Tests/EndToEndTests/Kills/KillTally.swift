/// What kills have cost.
struct KillTally: CustomStringConvertible {
    /// Processes and servers that were ended while they were at work.
    var kills = 0
    /// Events, answers and news that should be there and are not.
    private(set) var lost = 0
    /// Those that are there more often than they should.
    private(set) var doubled = 0
    /// What is lost or doubled, for people.
    private(set) var faults: [String] = []

    var description: String { "kills \(kills), lost \(lost), doubled \(doubled)" }

    static func += (sum: inout Self, other: Self) {
        sum.kills += other.kills
        sum.lost += other.lost
        sum.doubled += other.doubled
        sum.faults += other.faults
    }

    /// Notes how often something is there, and how often it should be.
    mutating func note(_ what: String, found: Int, expected: Int) {
        guard found != expected else { return }
        lost += max(0, expected - found)
        doubled += max(0, found - expected)
        faults.append("\(what): \(found) of \(expected)")
    }

    /// Notes what is in one list and not in the other.
    mutating func compare(_ user: String, told: [String], expected: [String]) {
        for line in Set(told).union(expected).sorted() {
            note(
                "\(line) of \(user)", found: told.count { $0 == line },
                expected: expected.count { $0 == line })
        }
    }
}
