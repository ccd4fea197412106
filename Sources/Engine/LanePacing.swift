import Logging
import Renewal

/// How a lane keeps to the rate.
extension LaneRunner {
    func paceLoop() async {
        while isInSession {
            let startable = self.startable
            if startable + callers.count == 0 {
                await paceBell.wait(upTo: settings.poll)
            } else if callers.isEmpty, !circuit.wouldAdmit(at: engineTime) {
                let pause = (circuit.opensUntil ?? engineTime) - engineTime
                await paceBell.wait(upTo: pause.clamped(.milliseconds(10), settings.poll))
            } else if permits?.wouldTake(at: .now) == false {
                await waitForPermit(wanted: startable + callers.count)
            } else if callers.isEmpty {
                await paceBell.wait(upTo: settings.poll)
            }
            serveCallers()
            supply()
        }
    }

    /// Waits until the next place in the row, reserving more where there is none.
    private func waitForPermit(wanted: Int) async {
        let now = ContinuousClock.now
        if let opensAt = permits?.opensAt(now) {
            if opensAt > now { try? await Task.sleep(until: opensAt) }
            return
        }
        let count = PermitRow.slice(wanted: wanted, interval: interval)
        do {
            guard let stretch = permits?.stretch(count) else { return }
            let sent = ContinuousClock.now
            let reservation = try await ports.reserve(lane.app, count, stretch)
            faults.ended(.quota(lane.app))
            switch reservation {
            case .granted(let wait):
                permits?.reserve(count, in: wait, sent: sent, answered: .now)
            case .askAgain(let wait):
                try? await Task.sleep(for: wait.clamped(.milliseconds(5), settings.poll))
            }
        } catch {
            log.debug("\(lane.title): cannot reserve calls: \(error.sentence)")
            if faults.met(error, by: .quota(lane.app)), mode != .forever { return stop() }
            try? await Task.sleep(for: settings.poll)
        }
    }
}
