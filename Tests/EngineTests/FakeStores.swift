import Engine
import Renewal

/// The stores as closures.
struct FakeStores: EngineStores {
    var configured: @Sendable () -> [AppKey]
    var answer: @Sendable (Claim, CallPermit) async -> AnsweredCall
    var hintSources: [HintSource] = []
    var acknowledges: @Sendable (Claim) async -> Bool = { _ in true }

    var replies: @Sendable (RefundReply) async -> RefundSending = { _ in .taken }

    var apps: [AppKey] { configured() }
    func ask(_ claim: Claim, _ permit: CallPermit) async -> AnsweredCall {
        await answer(claim, permit)
    }
    func acknowledge(_ claim: Claim, _ permit: CallPermit) async -> Bool {
        await acknowledges(claim)
    }
    func answer(
        _ reply: RefundReply, at now: Timestamp, _ permit: CallPermit
    ) async -> RefundSending {
        await replies(reply)
    }
    func evidence(of answered: AnsweredCall) -> Evidence? { nil }
}

extension EngineServices {
    /// Changes stores that are fake.
    mutating func changeStores(_ change: (inout FakeStores) -> Void) {
        guard var fake = stores as? FakeStores else { return }
        change(&fake)
        stores = fake
    }
}
