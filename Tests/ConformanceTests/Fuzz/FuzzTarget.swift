import Curl
import Foundation
import Renewal
import StoreFixtures
import TestSupport

@testable import Stores

/// A decoder, what it is fed with, and what must hold whatever it makes of it.
struct FuzzTarget: Sendable {
    let name: String
    let seeds: [[UInt8]]
    /// Takes an input and the good one that it was made of. Returns whether it came to something;
    /// throws when it came to what must not be.
    let feed: @Sendable ([UInt8], [UInt8]) async throws -> Bool

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }
}

// The whole way, from the bytes to the user's book.
extension FuzzTarget {
    /// All answers of a table's cases that `body` can build.
    static func seeds(
        _ table: CaseTable, _ isMeant: (ConformanceCase) -> Bool = { _ in true },
        body: (String, Timestamp) throws -> String?
    ) -> [[UInt8]] {
        var texts: Set<String> = []
        var seeds: [[UInt8]] = []
        for item in table.cases where isMeant(item) {
            let heard = item.known + item.steps.map { ($0.day, $0.wire) }
            for (day, wire) in heard {
                let cell = wire.hasPrefix("B: ") ? String(wire.dropFirst(3)) : wire
                guard let at = try? TestCalendar.time(day), let text = try? body(cell, at),
                    texts.insert(cell).inserted
                else { continue }
                seeds.append(Array(text.utf8))
            }
        }
        return seeds
    }

    /// Bytes that are answered about a purchase that is in force. Without a verdict nothing of it
    /// may change but when it is asked next. `mayEndAccess` tells whether a verdict made of these
    /// bytes may end access, as it may where nothing in them is signed.
    static func purchase(
        _ name: String, head: String, known: String, seeds: [[UInt8]],
        mayEndAccess: @escaping @Sendable ([UInt8], [UInt8]) -> Bool = { _, _ in true }
    ) async throws -> FuzzTarget {
        let (known, before) = try await stage(String(name.prefix { $0 != " " }), head, known)
        return FuzzTarget(name: name, seeds: seeds) { input, seed in
            var stage = known
            let heard = try await stage.hear(body: input, on: "10")
            var after = heard.outcome.facts
            switch heard.answer {
            case .failure(let failure):
                // That it came from another environment is told once, and noted.
                if failure == .mismatch(what: "environment") { after.signals = before.signals }
                guard after == before else { throw Broken(description: "changed by a failure") }
                return false
            case .contested, .doubt:
                guard after.access == before.access, after.state == before.state else {
                    throw Broken(description: "changed by one doubt")
                }
                return false
            case .verdict:
                guard after.access == before.access || mayEndAccess(input, seed) else {
                    throw Broken(description: "access was taken by what nobody has signed")
                }
                return true
            }
        }
    }

    /// A stage on which `known` was heard, and what is known since.
    static func stage(
        _ table: String, _ head: String, _ known: String
    ) async throws -> (Stage, Facts) {
        var stage = try Stage(ConformanceCase(table: table, head: Substring(head)))
        _ = try await stage.hear(known, on: "1")
        guard let facts = stage.book.purchases.values.first?.purchase.facts, facts.state != .new
        else { throw Broken(description: "nothing is known") }
        return (stage, facts)
    }

    /// The status is not signed: whether the input leaves each as it was.
    static func changesStatus(_ input: [UInt8], _ seed: [UInt8]) -> Bool {
        func statuses(_ bytes: [UInt8]) -> [Int]? {
            (try? AppleStatusResponse(bytes))?.entries.map(\.status)
        }
        return Set(statuses(input) ?? []) != Set(statuses(seed) ?? [])
    }
}
