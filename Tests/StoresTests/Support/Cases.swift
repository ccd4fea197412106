import Foundation
import Renewal
import Testing

@testable import Stores

/// One case of a text table: paragraphs of `key: value` lines, of which
/// longer ones go on in indented ones.
struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    private let cells: [String: String]

    subscript(_ key: String) -> String? { cells[key] }

    var testDescription: String { name }

    static func all(_ text: String) -> [Case] {
        text.split(separator: "\n\n").map { paragraph in
            var cells: [String: String] = [:]
            var key = ""
            for line in paragraph.split(separator: "\n") {
                guard !line.hasPrefix("    ") else {
                    cells[key, default: ""] += " " + line.trimmingCharacters(in: .whitespaces)
                    continue
                }
                guard let colon = line.firstIndex(of: ":") else { continue }
                key = String(line[..<colon])
                let value = line[line.index(after: colon)...]
                cells[key] = value.trimmingCharacters(in: .whitespaces)
            }
            return Case(name: cells["case"] ?? "", cells: cells)
        }
    }
}

/// `base` with the members of `change` put over it; a null takes a member away.
func merged(_ base: String, _ change: String?) throws -> [UInt8] {
    var result = try members(of: base)
    for (key, value) in try members(of: change ?? "{}") {
        result[key] = value is NSNull ? nil : value
    }
    return Array(try JSONSerialization.data(withJSONObject: result, options: [.sortedKeys]))
}

private func members(of text: String) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(value as? [String: Any])
}

/// A day and time of the test calendar, such as `2026-02-15T10:20:28Z`.
func time(_ text: String) throws -> Timestamp {
    try #require(CalendarTime.timestamp(rfc3339: text))
}

/// A purchase about which `facts` are known.
func purchase(
    _ store: Store, token: String, user: String? = nil, product: ProductID = "plus",
    environment: StoreEnvironment? = nil, paidThrough: Timestamp? = nil,
    state: PurchaseState = .new, access: Access = .none, holdings: [Holding] = [],
    knowing: (inout Facts) -> Void = { _ in }
) -> Purchase {
    var facts = Facts(
        storedProduct: product, state: state, access: access, lossReason: nil, holdings: holdings)
    facts.environment = environment
    facts.paidThrough = paidThrough
    knowing(&facts)
    return Purchase(
        id: 7, userID: "ada", app: AppKey(store: store, id: "com.example.reader"),
        token: StoreToken(token), storeUserID: user.map(StoreUserID.init),
        createdAt: Timestamp(microsecondsSinceEpoch: 0), facts: facts)
}

/// An answer in one line, with all that a test may look at.
func summary(_ answer: Answer) -> String {
    switch answer {
    case .verdict(let observation): summary(observation)
    case .contested(let contested): "contested " + summary(contested.observation)
    case .doubt(let doubt): "doubt \(doubt.rawValue)"
    case .failure(let failure): summary(failure)
    }
}

func summary(_ failure: StoreFailure) -> String {
    switch failure {
    case .unreachable: "unreachable"
    case .throttled(let delay): "throttled \(delay.map { "\($0.components.seconds)" } ?? "-")"
    case .refused: "refused"
    case .malformed(let field): "malformed \(field)"
    case .signature: "signature"
    case .mismatch(let what): "mismatch \(what)"
    case .rejected: "rejected"
    case .unsupported: "unsupported"
    }
}

private func summary(_ observation: Observation) -> String {
    var words = [summary(observation.status), observation.environment.rawValue]
    words += observation.items.map { item in
        item.names.map(\.text).joined(separator: "/") + " " + day(item.expiresAt)
    }
    words.append("paid " + day(observation.paidThrough))
    words.append("until " + day(observation.expiresAt))
    words.append("renews " + (observation.willRenew.map { $0 ? "yes" : "no" } ?? "-"))
    words.append(observation.phase?.rawValue ?? "-")
    if observation.kind != .autoRenewable { words.append(observation.kind.rawValue) }
    words += observation.signals.map(\.rawValue).sorted()
    if let token = observation.predecessorToken { words.append("after \(token.text)") }
    return words.joined(separator: ", ")
}

private func summary(_ status: SubscriptionStatus) -> String {
    switch status {
    case .pending: "pending"
    case .active: "active"
    case .grace(let moved): moved ? "grace, moved unpaid" : "grace"
    case .hold: "hold"
    case .paused(let until): "paused \(day(until))"
    case .ended(let cause, let at): "ended \(cause) \(day(at))"
    case .refunded(let at): "refunded \(day(at))"
    case .removedFromFamily(let at): "removedFromFamily \(day(at))"
    case .replaced(let at): "replaced \(day(at))"
    }
}

/// Month, day and hour.
private func day(_ instant: Timestamp?) -> String {
    instant.map { String($0.text.dropFirst(2).prefix(11)) } ?? "-"
}
