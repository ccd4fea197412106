import Renewal
import Testing

@testable import Daemon

@Suite struct EvidenceKeeperTests {
    private static let call = AnsweredCall(
        .failure(.unreachable(reason: "status 503")),
        calls: [
            StoreCall("orders.get", status: 503, body: Array("a\0bc".utf8)),
            StoreCall("orders.get", status: nil, body: []),
        ])

    @Test func keepsWhatRecognisesABodyAndNotTheBody() {
        let evidence = EvidenceKeeper(keepsRaw: false).evidence(
            of: AnsweredCall(
                Self.call.answer,
                calls: [StoreCall("get", status: 200, body: Array("abc".utf8))]))
        #expect(evidence.kind == .failure)
        #expect(evidence.heard == "the store gave no usable reply (status 503)")
        #expect(
            evidence.calls == [
                Evidence.Call(
                    name: "get", status: 200, bytes: 3,
                    // FIPS 180-4, the first example of SHA-256.
                    digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
            ])
    }

    @Test func keepsBodiesWholeWhereThatIsWanted() {
        let evidence = EvidenceKeeper(keepsRaw: true).evidence(of: Self.call)
        #expect(evidence.calls.map(\.raw) == ["abc", nil], "no zero byte, and none of no reply")
        #expect(evidence.calls.map(\.bytes) == [4, 0], "as many as came")
        #expect(evidence.calls[1].status == nil && evidence.calls[1].digest == nil)
    }
}
