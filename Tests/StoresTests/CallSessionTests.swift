import Curl
import Renewal
import Testing

@testable import Stores

@Suite struct CallSessionTests {
    private static func asked(
        _ transport: StoreTransport, _ names: [String?]
    ) async -> AnsweredCall {
        let session = CallSession()
        var transport = transport
        transport.session = session
        for name in names {
            let request = HTTPRequest(
                method: .get, url: "https://store.test/", headers: [], body: nil,
                deadline: .seconds(1), bodyLimitBytes: 100, certificateAuthorityFile: nil,
                allowsPlainHTTP: false)
            _ = try? await transport.response(to: request, calling: name)
        }
        return session.answered(.doubt(.gone))
    }

    @Test func namesTheCallsOfACheckInTheirOrder() async {
        let world = FakeWorld(clock: Timestamp(microsecondsSinceEpoch: 0)) {
            _ throws(CurlError) in .json("{}", status: 410)
        }
        let answered = await Self.asked(world.transport, ["one", "two"])
        #expect(answered.answer == .doubt(.gone))
        #expect(
            answered.calls == [
                StoreCall("one", status: 410, body: Array("{}".utf8)),
                StoreCall("two", status: 410, body: Array("{}".utf8)),
            ])
    }

    @Test func aCallWithoutAReplyIsNotedToo() async {
        let world = FakeWorld(clock: Timestamp(microsecondsSinceEpoch: 0)) {
            _ throws(CurlError) in throw .unreachable(reason: "time-out")
        }
        let answered = await Self.asked(world.transport, ["one"])
        #expect(answered.calls == [StoreCall("one", status: nil, body: [])])
    }

    @Test func aCallWithoutANameIsNotNoted() async {
        let world = FakeWorld(clock: Timestamp(microsecondsSinceEpoch: 0)) {
            _ throws(CurlError) in .json(#"{"access_token": "secret"}"#)
        }
        let answered = await Self.asked(world.transport, [nil])
        #expect(answered.calls.isEmpty)
    }

    @Test func checksAtOnceNoteTheirOwnCalls() async {
        let world = FakeWorld(clock: Timestamp(microsecondsSinceEpoch: 0)) {
            _ throws(CurlError) in .json("{}")
        }
        let transport = world.transport
        await withTaskGroup(of: (Int, AnsweredCall).self) { tasks in
            for number in 0..<50 {
                tasks.addTask {
                    let answered = await Self.asked(transport, ["\(number)", "\(number)"])
                    return (number, answered)
                }
            }
            for await (number, answered) in tasks {
                #expect(answered.calls.map(\.name) == ["\(number)", "\(number)"])
            }
        }
    }
}
