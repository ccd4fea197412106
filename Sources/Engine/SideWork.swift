import Renewal

/// Who works beside the queues: reads what the stores tell, answers what they ask, makes due what
/// is not. Nil is who has nothing to do.
struct SideWork: Sendable {
    let hints: HintSupervisor?
    let refunds: RefundResponder?
    let sweeper: Sweeper?

    /// Asks nothing about these apps until it is told of others.
    func pause(_ apps: Set<AppKey>) {
        hints?.pause(apps)
        refunds?.pause(apps)
    }

    /// Works until `stop`.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await hints?.run() }
            group.addTask { await refunds?.run() }
            group.addTask { await sweeper?.run() }
        }
    }

    func stop() {
        hints?.stop()
        refunds?.stop()
        sweeper?.stop()
    }
}
