import Renewal
import Testing

@Suite struct TimestampTests {
    @Test func staysAtTheEndsOfTimeInsteadOfOverflowing() {
        let last = Timestamp(microsecondsSinceEpoch: .max)
        let first = Timestamp(microsecondsSinceEpoch: .min)
        #expect(last + .seconds(1) == last)
        #expect(first - .seconds(1) == first)
        #expect(first + .seconds(Int64.min) == first)
        #expect(last - first == .microseconds(Int64.max))
        #expect(first - last == .microseconds(Int64.min))
    }

    @Test func refusesMillisecondsThatDoNotFit() {
        #expect(Timestamp(millisecondsSinceEpoch: .max) == nil)
        #expect(
            Timestamp(millisecondsSinceEpoch: -1) == Timestamp(microsecondsSinceEpoch: -1000))
    }

    @Test func clampsDurations() {
        #expect(Duration.seconds(Int64.max).microseconds == .max)
        #expect(Duration.seconds(Int64.min).microseconds == .min)
        #expect(Duration.milliseconds(-1).microseconds == -1000)
        #expect(Duration.days(2).clamped(.hours(1), .hours(3)) == .hours(3))
        #expect(Duration.zero.clamped(.hours(1), .hours(3)) == .hours(1))
    }
}
