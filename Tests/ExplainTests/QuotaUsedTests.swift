import Renewal
import Testing

@testable import Explain
@testable import Ledger

/// What two looks at a row of calls tell of the quota.
@Suite struct QuotaUsedTests {
    private static let app = AppKey(store: .google, id: "a")

    /// Calls are reserved for some seconds ahead: no window ever holds more than the quota.
    @Test(arguments: [
        // before: free at; after: free at; the share, in percent
        (0, 0, 0), (0, 500, 50), (0, 1000, 100), (0, 1750, 100), (-500, -500, 0), (-500, 200, 20),
        // Given before, to calls between the two looks.
        (400, 900, 90), (400, 1200, 100), (400, 400, 40), (1750, 1750, 100), (1750, 3750, 100),
        // Given back.
        (900, 400, 40),
    ])
    func isNeverMoreThanAll(before: Int64, after: Int64, percent: Double) {
        var status = QueueStatus()
        status.buckets = [Self.bucket(readAt: 1000, freeAt: after)]
        let report = StatusReport(
            status, configured: [Self.app], earlier: [Self.bucket(readAt: 0, freeAt: before)],
            nearest: { _ in nil }, quota: { _ in 50 })

        #expect(report.quotaUsed(by: Self.app) == percent / 100)
    }

    /// Milliseconds.
    private static func bucket(readAt: Int64, freeAt: Int64) -> QueueStatus.Bucket {
        QueueStatus.Bucket(
            name: BucketID(of: app), aheadSeconds: 0, readAt: Sample.start + .milliseconds(readAt),
            freeAt: Sample.start + .milliseconds(freeAt), blockedUntil: nil, pausedAt: nil)
    }
}
