import Curl
import Renewal
import StoreFixtures
import Testing

@testable import Stores

/// Mutated answers: an error or an observation, never a crash. A run is repeated by its seed.
struct FuzzTests {
    static let seed: UInt64 = 20_260_320
    static let inputs = 2000

    @Test func survivesMutatedAnswersOfGoogle() {
        let now = Timestamp(microsecondsSinceEpoch: 1_771_588_800_000_000)
        var mutator = Mutator(seed: Self.seed, of: GoogleObservationTests.base)
        for _ in 0..<Self.inputs {
            let body = mutator.next()
            guard let wire = try? GoogleSubscription(body, at: now),
                let read = try? GoogleObservation(
                    wire.snapshot, facts: Facts(product: "plus"), at: now)
            else { continue }
            #expect(read.observation.originalID != nil || !read.observation.words.isEmpty)
        }
    }

    @Test func survivesMutatedAnswersOfAmazon() {
        let now = Timestamp(microsecondsSinceEpoch: 1_768_910_400_000_000)
        var mutator = Mutator(seed: Self.seed, of: AmazonObservationTests.base)
        for _ in 0..<Self.inputs {
            let body = mutator.next()
            guard let receipt = try? JSON.decode(AmazonReceipt.self, from: body),
                let read = try? AmazonObservation(
                    receipt, asked: "Zk3v=:3:11", from: .production, facts: Facts(product: "plus"),
                    at: now)
            else { continue }
            #expect(read.observation.originalID == "Zk3v=:3:11")
        }
    }

    /// Inputs with another status are left out: that alone is not signed.
    @Test func neverBelievesAMutatedAnswerOfApple() async throws {
        let verifier = try AppleFixture.verifier()
        let body = try AppleFixture.active()
        var mutator = Mutator(seed: Self.seed, of: body)
        var refused = 0
        for _ in 0..<Self.inputs {
            let bytes = mutator.next()
            let response = try? JSON.decode(AppleStatusResponse.self, from: bytes)
            let statuses = response?.data.flatMap { $0.lastTransactions ?? [] }.map(\.status)
            guard statuses == nil || statuses == [1] else { continue }
            let mutated = String(decoding: bytes, as: UTF8.self)
            switch try await AppleFixture.read(mutated, with: verifier) {
            case .verdict(let observation):
                #expect(!Self.endsAccess(observation.standing))
                #expect(observation.items.map(\.names) == [["plus"]])
            case .contested, .doubt, .failure:
                refused += 1
            }
        }
        #expect(refused > Self.inputs / 2)
    }

    /// The payload says that it was refunded, but nobody has signed that.
    @Test func neverBelievesAMutatedPayloadOfApple() async throws {
        let verifier = try AppleFixture.verifier()
        let parts = try AppleAuthority.trusted.get().sign(
            Array(AppleObservationTests.transaction.utf8)
        ).split(separator: ".").map(String.init)
        let renewal = try AppleAuthority.trusted.get().sign(
            Array(AppleObservationTests.renewal.utf8))
        var mutator = Mutator(seed: Self.seed, of: AppleObservationTests.transaction)
        for number in 0..<Self.inputs {
            let payload =
                number == 0
                ? try merged(
                    AppleObservationTests.transaction, #"{"revocationDate":1774000000000}"#)
                : mutator.next()
            guard payload != Array(AppleObservationTests.transaction.utf8) else { continue }
            let signed = [parts[0], Base64.encodeURLSafe(payload), parts[2]]
            let entry = AppleFixture.entry(
                5, signed: signed.joined(separator: "."), renewal: renewal)
            let answer = try await AppleFixture.read(
                AppleFixture.answer([entry]), with: verifier)
            #expect(summary(answer) == "signature", "seed \(Self.seed), input \(number)")
        }
    }

    private static func endsAccess(_ standing: Standing) -> Bool {
        switch standing {
        case .pending, .active, .grace: false
        case .hold, .paused, .ended, .refunded, .removedFromFamily, .replaced: true
        }
    }

    @Test func survivesMutatedTexts() {
        let texts = [
            "2026-02-15T10:20:28.912Z", "Fri, 20 Mar 2026 12:00:30 GMT", "1774008030000",
            "GPA.3301-7742..0", "https://api.example.com:443", "eyJhbGciOiJub25lIn0.e30.",
        ]
        for text in texts {
            var mutator = Mutator(seed: Self.seed, of: text)
            for _ in 0..<Self.inputs {
                let mutated = String(decoding: mutator.next(), as: UTF8.self)
                _ = CalendarTime.timestamp(rfc3339: mutated).map(\.text)
                _ = CalendarTime.timestamp(httpDate: mutated)
                _ = RetryAfter.delay(mutated, at: Timestamp(microsecondsSinceEpoch: 0))
                _ = GoogleOrderID.base(of: OrderID(mutated))
                _ = StoreHost(baseURL: mutated)
                _ = CompactJWS(mutated)?.payload
                _ = try? PathSegment(mutated, what: "token")
                _ = try? AppleIdentifier(token: StoreToken(mutated))
            }
        }
    }
}

/// Flips, cuts, repeats and replaces pieces of a text; the same seed gives the same texts.
struct Mutator {
    private let original: [UInt8]
    private var state: UInt64

    init(seed: UInt64, of text: String) {
        self.init(seed: seed, of: Array(text.utf8))
    }

    init(seed: UInt64, of bytes: [UInt8]) {
        original = bytes
        state = seed
    }

    mutating func next() -> [UInt8] {
        var bytes = original
        for _ in 0...number(below: 3) where !bytes.isEmpty { mutate(&bytes) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let place = number(below: bytes.count)
        let length = min(1 + number(below: 24), bytes.count - place)
        switch number(below: 7) {
        case 0: bytes[place] ^= 1 << UInt8(number(below: 8))
        case 1: bytes[place] = UInt8(number(below: 256))
        case 2: bytes.removeSubrange(place..<(place + length))
        case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
        case 4: bytes.removeSubrange(place...)
        case 5: bytes.replaceSubrange(place..<(place + length), with: piece())
        default: bytes.insert(contentsOf: piece(), at: place)
        }
    }

    private mutating func piece() -> [UInt8] {
        let pieces = [
            "null", "true", "{}", "[]", "\"\"", "-1", "0", "1e400", "9223372036854775808",
            "\"\\u0000\"", "\\ud800", "[[[[", "}", "1.5", ",", "\u{0}", "é",
        ]
        return Array(pieces[number(below: pieces.count)].utf8)
    }

    /// SplitMix64.
    private mutating func number(below bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
