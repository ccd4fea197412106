import Renewal
import Testing

@testable import Stores

/// What an answer of Google was read as, with what a row says was known before:
///
/// - `known` the end of the paid time, `until` that of access, `period` the latest paid order, `original` the base order,
///   `product`, `was` the state, `signals` what was told; `access: yes` when it was given;
/// - `now` the time, `usual` if there is none: noon of 20 February 2026.
struct GoogleRead {
    let answer: Answer
    /// What the summary leaves out, as the column `more` has it.
    let more: String

    typealias Reader =
        (Facts, Timestamp) throws(StoreFailure) -> (observation: Observation, proof: GoogleProof)

    init(
        _ row: Case, at usual: String = "2026-02-20T12:00:00Z", _ reader: Reader
    ) throws {
        let now = try time(row["now"] ?? usual)
        let facts = try Self.facts(row)
        do throws(StoreFailure) {
            let (observation, proof) = try reader(facts, now)
            answer = .verdict(observation)
            more = Self.more(observation, proof)
        } catch {
            answer = .failure(error)
            more = ""
        }
    }

    private static func facts(_ row: Case) throws -> Facts {
        var facts = Facts(
            storedProduct: ProductID(row["product"] ?? "plus"),
            state: try row["was"].map { try #require(PurchaseState(rawValue: $0)) } ?? .new,
            access: row["access"] == "yes" ? .granted : .none)
        facts.paidThrough = try row["known"].map(time)
        facts.expiresAt = try row["until"].map(time)
        facts.period = row["period"].map(OrderID.init)
        facts.orderID = row["period"].map(OrderID.init)
        facts.originalID = row["original"].map(OrderID.init)
        facts.signals = Set(
            (row["signals"] ?? "").split(separator: " ").compactMap {
                Signal(rawValue: String($0))
            })
        return facts
    }

    private static func more(_ observation: Observation, _ proof: GoogleProof) -> String {
        var words: [String] = []
        if observation.usedIntroductory == true { words.append("offer used") }
        if observation.isRefundedInPart { words.append("refunded in part") }
        if observation.awaitsAcknowledgement { words.append("awaits") }
        if let again = observation.askAgainBy {
            words.append("again " + String(again.text.dropFirst(2).prefix(14)))
        }
        switch proof {
        case .given, .unless: break
        case .by(let order): words.append("foreign \(order)")
        case .none: words.append("without an order")
        }
        return words.joined(separator: ", ")
    }
}

/// `base` with the members of `change` put over it; nothing when one of them is no JSON.
func merged(orEmpty base: String, _ change: String?) -> [UInt8] {
    (try? merged(base, change)) ?? []
}
