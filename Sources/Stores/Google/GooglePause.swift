import Renewal

extension GoogleStore {
    /// Adds that a pause is scheduled, after news that the schedule of a pause has changed. Version
    /// 2 of the interface shows a pause only when it runs, version 1 as soon as the user asks for
    /// it. One call, and only after such news; while Google does not answer, again at the next
    /// check.
    ///
    /// <https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptions>
    func notePause(
        of purchase: Purchase, asking question: GoogleQuestion, in observation: inout Observation,
        at now: Timestamp
    ) async {
        let heard = purchase.clues.filter { clue in
            if case .pause = clue { true } else { false }
        }
        guard !heard.isEmpty else { return }
        if question == .subscription, observation.isInForce {
            let asked = GoogleQuestion.legacySubscription
            await client.transport.beforeExtraCall()
            do throws(StoreFailure) {
                let body = try await client.get(
                    try paths.purchase(asked, purchase), calling: asked.callName, at: now
                ).wholeAppBody()
                let snapshot = try JSON.decode(GoogleLegacySubscription.self, from: body)
                    .snapshot(of: purchase.facts, at: now)
                if let resumes = snapshot.resumesAt, resumes > now {
                    observation.signals.insert(.pauseScheduled)
                }
            } catch .unreachable, .throttled {
                return
            } catch {
                // It would not be told next time either.
            }
        }
        observation.settledClues.formUnion(heard)
    }
}
