import Renewal

@testable import Configuration
@testable import Daemon
@testable import Postgres

// What an operator writes, what the database gives back, and what goes to others of the machine.
extension FuzzTargets {
    static func records() -> [FuzzTarget] {
        [configuration(), cells(), observations(), decisions(), journal(), metrics()]
    }

    private static func configuration() -> FuzzTarget {
        let seeds = [
            """
            [database]
            url = "postgresql:///renewald"
            [policy]
            grace = "keep"
            leniency = "12h"
            [[app]]
            store = "google"
            id = "com.example.reader"
            service_account = "/etc/renewald/google.json"
            products.plus = ["plus", 'pro']
            [[app]]
            store = "apple"
            id = "com.example.reader"
            issuer_id = "i"
            key_id = "k"
            """,
            """
            # é
            "a b".'c' = { x = 1.5e3, y = [ 0x1F, 1_000, inf, nan ], z = true }
            when = 2026-02-15T10:20:28.9+02:00
            text = '''
            of
              lines'''
            """,
        ].map { Array($0.utf8) }
        return FuzzTarget(name: "configuration", seeds: seeds) { input, _ in
            guard let text = String(validating: input, as: UTF8.self) else { return false }
            let lineCount = 1 + input.count { $0 == 0x0a }
            do throws(ConfigurationFaults) {
                _ = try Settings.parse(text: text, file: "f.toml", environment: [:])
                return true
            } catch {
                guard !error.faults.isEmpty,
                    error.faults.allSatisfy({ 1...lineCount ~= $0.line ?? 1 })
                else { throw FuzzTarget.Broken(description: "faults of no line: \(error)") }
                return !error.faults.contains { $0.sentence.contains("not valid TOML") }
            }
        }
    }

    /// The first byte is the number of the type.
    private static func cells() -> FuzzTarget {
        func array(_ type: UInt8, _ values: [[UInt8]?]) -> [UInt8] {
            var bytes: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, type]
            bytes += [0, 0, 0, UInt8(values.count), 0, 0, 0, 1]
            for value in values {
                bytes += value.map { [0, 0, 0, UInt8($0.count)] + $0 } ?? [255, 255, 255, 255]
            }
            return bytes
        }
        let seeds: [[UInt8]] = [
            [20, 0, 0, 0, 0, 0, 0, 0, 7], [23, 0, 0, 0, 7], [25, 0x61, 0x62], [16, 1],
            [20] + array(20, [[0, 0, 0, 0, 0, 0, 0, 1], nil]), [25] + array(25, [[0x61], []]),
        ]
        return FuzzTarget(name: "cells of PostgreSQL", seeds: seeds) { input, _ in
            let types: [UInt32] = [
                UInt32(input.first ?? 0), TypeOID.float4, TypeOID.float8, TypeOID.timestamptz,
                TypeOID.uuid, TypeOID.jsonb, TypeOID.firstUserDefined,
            ]
            return Array(input.dropFirst()).withUnsafeBytes { bytes in
                var isRead = false
                for type in types {
                    isRead = CellDecoding.integer(type, bytes) != nil || isRead
                    _ = CellDecoding.bool(type, bytes)
                    _ = CellDecoding.float64(type, bytes)
                    _ = CellDecoding.timestamp(type, bytes)
                    _ = CellDecoding.text(type, bytes)
                    _ = CellDecoding.uuid(type, bytes)
                }
                let numbers = CellDecoding.array(bytes, of: CellDecoding.integer)
                let texts = CellDecoding.array(bytes, of: CellDecoding.text)
                return isRead || numbers != nil || texts != nil
            }
        }
    }

    /// Bytes that are read are written the same way from then on.
    private static func observations() -> FuzzTarget {
        let seeds = heard.map { KeptObservation($0).bytes }
        return FuzzTarget(name: "kept observations", seeds: seeds) { input, _ in
            guard let read = try? KeptObservation(input, predecessorToken: nil) else {
                return false
            }
            let again = try? KeptObservation(read.bytes, predecessorToken: nil)
            guard again == read, again?.bytes == read.bytes else {
                throw FuzzTarget.Broken(description: "written again it is another")
            }
            return true
        }
    }

    private static func decisions() -> FuzzTarget {
        let purchase = Purchase(
            id: 1, userID: "ada", app: AppKey(store: .google, id: Shop.bundle), token: "token-A",
            createdAt: day - .days(9), facts: Facts(product: "plus"))
        let claim = Claim(
            purchase: purchase, shard: 0, lane: 0, dueAt: day, version: 1, attempts: 0, crashes: 0,
            checkedAt: nil, claimedAt: day)
        let moment = Moment(now: day, jitter: 0.5)
        let rules = Rules(policy: Policy(), catalog: Shop.catalog)
        let answers =
            heard.map { Answer.verdict($0) } + [.failure(.throttled(retryAfter: .seconds(9)))]
        let seeds = answers.map { answer in
            let outcome = decide(claim, hearing: answer, at: moment, under: rules)
            return DecisionRecord(
                of: outcome, hearing: answer, at: moment, isReleasing: false
            ).bytes
        }
        return FuzzTarget(name: "kept decisions", seeds: seeds) { input, _ in
            guard let read = try? DecisionRecord(input, ofPurchase: 1) else { return false }
            let again = try? DecisionRecord(read.bytes, ofPurchase: 1)
            guard again == read, again?.bytes == read.bytes else {
                throw FuzzTarget.Broken(description: "written again it is another")
            }
            _ = read.decidedAgain(under: rules).differences(from: read.decided)
            return true
        }
    }

    private static var heard: [Observation] {
        var plain = Observation(
            environment: .production, status: .active, items: [], orderID: "GPA.1",
            paidThrough: day + .days(30), expiresAt: day + .days(30), willRenew: true)
        plain.signals = [.pauseScheduled]
        var full = Observation(
            environment: .sandbox, status: .ended(.allCases[0], at: day), items: [])
        full.pastRefunds = ["GPA.1..0"]
        full.settledClues = [.refund(of: "GPA.1..0")]
        full.commitment = .until(day, renewsNext: true)
        return [plain, full]
    }

    /// The first line is the name of a field, the rest its value.
    private static func journal() -> FuzzTarget {
        let seeds = ["user_id\nann", "_X-9\na\nPRIORITY=0", "MESSAGE\n"].map { Array($0.utf8) }
        return FuzzTarget(name: "entries of the journal", seeds: seeds) { input, _ in
            let parts = input.split(separator: 0x0a, maxSplits: 1, omittingEmptySubsequences: false)
            let value = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
            var entry = JournalEntry()
            entry.add(String(decoding: parts[0], as: UTF8.self), value)
            entry.add("PRIORITY", "6")
            let tail = Array("PRIORITY=6\n".utf8)
            guard entry.bytes.count > tail.count else { return false }
            var field = entry.bytes[...].dropLast(tail.count)
            let name = field.prefix { $0 != 0x3d && $0 != 0x0a }
            field = field.dropFirst(name.count)
            let text = Array(value.utf8)
            let isBinary = text.contains(0x0a)
            let length = (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
            guard Array(field) == (isBinary ? [0x0a] + length : [0x3d]) + text + [0x0a],
                1...64 ~= name.count
            else { throw FuzzTarget.Broken(description: "a value became other fields") }
            return true
        }
    }

    /// A request line, and what the client would like to read.
    private static func metrics() -> FuzzTarget {
        let pages = MetricsPages(registry: MetricRegistry(), health: Health())
        let seeds = ["GET /metrics?x=1 application/openmetrics-text", "HEAD /readyz *", "PUT / a"]
        return FuzzTarget(name: "requests for metrics", seeds: seeds.map { Array($0.utf8) }) {
            input, _ in
            let words = String(decoding: input, as: UTF8.self)
                .split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 3 else { return false }
            let reply = pages.reply(method: words[0], target: words[1], accept: words[2])
            guard [200, 404, 405, 503].contains(reply.status) else {
                throw FuzzTarget.Broken(description: "status \(reply.status)")
            }
            return reply.status == 200 || reply.status == 503
        }
    }
}
