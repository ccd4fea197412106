import Testing

@testable import Daemon

@Suite struct NewsIntervalTests {
    /// What a store asks is told within a minute: it rests for less between two looks.
    @Test func questionsAreLookedForMoreThanOnceAMinute() {
        #expect(AppleStoreApp.historyInterval < .seconds(60))
        #expect(GoogleStoreApp.notificationInterval < .seconds(60))
    }
}
