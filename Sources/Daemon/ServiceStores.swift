import Engine
import Renewal

/// The configured stores as the engine needs them: measured, and with what is kept of their
/// answers.
struct ServiceStores: EngineStores {
    let clients: StoreClients
    let metrics: DaemonMetrics
    /// Nil when nothing shall be kept.
    let keeper: EvidenceKeeper?

    var apps: [AppKey] { clients.apps }
    var hintSources: [HintSource] { clients.hintSources }

    func ask(_ claim: Claim, _ permit: CallPermit) async -> AnsweredCall {
        await metrics.asking(claim.purchase.app) { await clients.ask(claim, permit) }
    }

    func acknowledge(_ claim: Claim, _ permit: CallPermit) async -> Bool {
        await clients.acknowledge(claim, permit)
    }

    func answer(
        _ reply: RefundReply, at now: Timestamp, _ permit: CallPermit
    ) async -> RefundSending {
        await clients.answer(reply, at: now, permit)
    }

    func evidence(of answered: AnsweredCall) -> Evidence? { keeper?.evidence(of: answered) }
}
