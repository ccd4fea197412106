import Renewal
import Synchronization

/// Most checks of one pass, over all lanes.
final class PassLimit: Sendable {
    private let left: Mutex<Int?>

    init(_ mode: RunMode) {
        let limit: Int? = if case .onePass(let limit) = mode { limit } else { nil }
        left = Mutex(limit)
    }

    var isSpent: Bool { left.withLock { $0 == 0 } }

    /// As many of the claims as may still be checked.
    func take(_ claims: [Claim]) -> [Claim] {
        left.withLock { left in
            guard let count = left else { return claims }
            left = count - min(count, claims.count)
            return Array(claims.prefix(count))
        }
    }
}
