import Ledger
import Renewal

/// Users whose purchases may go from one to another, as they have handed in the same. What a
/// decision gives and takes of one of them hangs on what it makes of the others: those of a circle
/// are looked at together.
struct SharedCircles: Sendable {
    typealias User = (shard: Int16, userID: UserID)

    private var users: [User] = []
    /// Where each user is in the list.
    private var places: [UserID: Int] = [:]
    /// The place of another one of the same circle, nearer to its first; of the first its own.
    private var nearer: [Int] = []

    init(_ pairs: [SharedPair]) {
        for pair in pairs {
            let (owner, claimant) = (enter(pair.owner), enter(pair.claimant))
            let (one, other) = (first(from: owner), first(from: claimant))
            nearer[max(one, other)] = min(one, other)
        }
    }

    func contains(_ user: UserID) -> Bool { places[user] != nil }

    /// All of them: whole circles, as many together as the limit lets.
    func batches(of limit: Int) -> [[User]] {
        let circles = Dictionary(grouping: users.indices, by: first(from:))
        var batches: [[User]] = []
        for (_, places) in circles.sorted(by: { $0.key < $1.key }) {
            let circle = places.map { users[$0] }
            if let last = batches.last, last.count + circle.count <= limit {
                batches[batches.count - 1] += circle
            } else {
                batches.append(circle)
            }
        }
        return batches
    }

    private mutating func enter(_ user: User) -> Int {
        if let place = places[user.userID] { return place }
        users.append(user)
        nearer.append(users.count - 1)
        places[user.userID] = users.count - 1
        return users.count - 1
    }

    private func first(from place: Int) -> Int {
        var place = place
        while nearer[place] != place { place = nearer[place] }
        return place
    }
}
