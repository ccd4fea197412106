import Logging
import Renewal

extension RunContext {
    /// A store that asks for fewer calls speaks to all workers, not to this one alone.
    func shareRetryAfter(_ answer: Answer, of app: AppKey) async {
        guard case .failure(.throttled(let retryAfter?)) = answer else { return }
        do {
            try await ledger.block(BucketID(of: app), for: retryAfter)
        } catch {
            faults.met(error, by: .quota(app))
            log.debug("\(app.title): other workers cannot be told to wait: \(error.sentence)")
        }
    }
}
