import Testing

@testable import Renewal

/// How the calls that nothing due needs are spent.
struct SweepTests {
    private static let now = Timestamp(microsecondsSinceEpoch: 1_800_000_000_000_000)

    private func row(
        _ id: Int64 = 1, shard: Int16 = 0, state: PurchaseState = .active,
        access: Access = .granted, kind: ProductKind? = .autoRenewable, autoRenew: Bool? = true,
        isFree: Bool = false, age: Duration = .days(100), asked: Duration? = .days(6),
        dueIn: Duration = .days(1),
        ended: Duration? = nil, isTroubled: Bool = false
    ) -> SweepRow {
        SweepRow(
            Place(shard: shard, dueAt: Self.now + dueIn, id: id),
            checkedAt: asked.map { Self.now - $0 }, state: state, access: access, kind: kind,
            autoRenew: autoRenew, isFree: isFree, createdAt: Self.now - age,
            end: ended.map { Self.now - $0 } ?? Self.now + .days(20), isTroubled: isTroubled)
    }

    private func weight(_ row: SweepRow, news: NewsScope? = nil) -> Int? {
        row.weight(at: Self.now, news: news)?.number
    }

    // MARK: Weights

    @Test func theFirstDaysOfAPurchaseComeFirst() {
        #expect(weight(row(age: .days(3))) == 1)
        #expect(weight(row()) == 2)
    }

    @Test func whoHasTurnedRenewalOffChangesLess() {
        #expect(weight(row(autoRenew: false)) == 4)
        #expect(weight(row(autoRenew: nil)) == 2)
    }

    /// Nobody can be given back what they have not paid.
    @Test func aFreeTrialWaitsLongerThanWhatIsPaid() {
        #expect(weight(row(isFree: true, age: .days(3))) == 4)
        #expect(weight(row(autoRenew: false, isFree: true, age: .days(3))) == 8)
    }

    /// They are without access until it is known.
    @Test(arguments: [(PurchaseState.hold, 1), (.pending, 1), (.paused, 2)])
    func whoeverMayHavePaidComesFirst(_ state: PurchaseState, _ expected: Int) {
        let row = row(state: state, access: .none, age: .days(3), ended: .days(3))
        #expect(weight(row) == expected)
    }

    @Test func whoHasNotPaidForLongHardlyWill() {
        #expect(weight(row(state: .hold, access: .none, ended: .days(70))) == 8)
        #expect(weight(row(state: .pending, access: .none, age: .days(20))) == 8)
    }

    @Test func inGraceNobodyWaits() {
        #expect(weight(row(state: .grace)) == 4)
    }

    @Test func whatWasSoldOnceIsLeftAloneAfterTwoMonths() {
        #expect(weight(row(kind: .nonConsumable, age: .days(30))) == 4)
        #expect(weight(row(kind: .nonConsumable, age: .days(300))) == 16)
    }

    @Test func whatHasEndedMayComeBack() {
        #expect(weight(row(state: .expired, access: .none, ended: .days(5))) == 8)
        #expect(weight(row(state: .refunded, access: .none, ended: .days(300))) == 32)
    }

    @Test func whatNewsTellsIsAskedAboutAQuarterAsOften() {
        #expect(weight(row(), news: .everything) == 8)
        #expect(weight(row(state: .hold, access: .none), news: .everything) == 4)
    }

    /// Google's voided purchases are told without being set up, and nothing else of Google's is.
    @Test func newsOfRefundsDoesNotTellOfPayments() {
        #expect(weight(row(), news: .refunds) == 8)
        #expect(weight(row(state: .hold, access: .none), news: .refunds) == 1)
        #expect(weight(row(state: .expired, access: .none, ended: .days(3)), news: .refunds) == 8)
    }

    @Test(arguments: [PurchaseState.new, .superseded, .invalid])
    func whatHasARhythmOfItsOwnKeepsIt(_ state: PurchaseState) {
        #expect(weight(row(state: state)) == nil)
    }

    @Test func whatIsInTroubleKeepsItsRhythm() {
        #expect(weight(row(isTroubled: true)) == nil)
        #expect(weight(SweepRow(unreadableAt: .start(of: 0))) == nil)
    }

    // MARK: What a step takes

    private func choice(
        _ rows: [SweepRow], limit: Int = 100, perShard: Int = 4, interval: Duration = .zero,
        walked: Duration = .zero, shards: [Int16] = [0]
    ) -> SweepChoice {
        let request = SweepRequest(
            Lane(number: 1, app: AppKey(store: .google, id: "a")),
            SweepWalk.Step(
                places: shards.map(Place.start), perShard: perShard, limit: limit,
                interval: interval, walked: walked), sources: [:], patience: .seconds(5))
        return SweepChoice(of: rows, for: request, heard: [], at: Self.now)
    }

    @Test func takesWhatWasNotAskedForLongEnough() {
        let fresh = row(1, asked: .minutes(119))
        let old = row(2, asked: .minutes(121))
        #expect(choice([fresh, old]).chosen == [old.place])
        // With a walk of ten hours one and a half of it.
        let (younger, older) = (row(3, asked: .hours(14)), row(4, asked: .hours(16)))
        #expect(choice([younger, older], interval: .hours(10)).chosen == [older.place])
    }

    @Test func takesWhatWasCheckedBeforeTheClockWasSetBack() {
        let (future, now) = (row(1, asked: .zero - .hours(1)), row(2, asked: .zero - .seconds(1)))
        #expect(choice([future, now]).chosen == [future.place])
    }

    @Test func leavesWhatIsDueSoonInAnyCase() {
        let soon = row(1, dueIn: .minutes(20))
        let later = row(2, dueIn: .minutes(40))
        #expect(choice([soon, later]).chosen == [later.place])
    }

    /// What has been asked about moves to the end of its shard, where the walk comes by again.
    @Test func takesNothingTwiceOnOneWalk() {
        let (passed, new) = (row(1, asked: .hours(9)), row(2, asked: .hours(11)))
        #expect(choice([passed, new], walked: .hours(10)).chosen == [new.place])
    }

    @Test func leavesWhatWasNeverAnswered() {
        #expect(choice([row(asked: nil)]).chosen.isEmpty)
    }

    @Test func goesOnWhereItsCallsCameToAnEnd() {
        let rows = (1...3).map { row($0, dueIn: .days(1) + .seconds($0)) }
        let choice = choice(rows, limit: 2)
        #expect(choice.chosen == rows.prefix(2).map(\.place))
        #expect(choice.reached == [rows[1].place])
        #expect(choice.ended.isEmpty)
    }

    @Test func aShardEndsWhereItGaveLessThanAsked() {
        let rows = (1...4).map { row($0, dueIn: .days(1) + .seconds($0)) }
        #expect(choice(rows, perShard: 4).reached == [rows[3].place])
        #expect(choice(rows, perShard: 5).ended == [0])
        #expect(choice([], shards: [3]).ended == [3])
    }
}
