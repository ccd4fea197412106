/// One call of a store that a check has made.
package struct StoreCall: Hashable, Sendable {
    /// What was asked, in the store's own terms, such as `Get All Subscription Statuses,
    /// production`. Holds no token, receipt, name or address.
    package let name: String
    /// The HTTP status; nil when there was no reply.
    package let status: Int?
    /// The body as it came. May hold secrets.
    package let body: [UInt8]

    package init(_ name: String, status: Int?, body: [UInt8]) {
        self.name = name
        self.status = status
        self.body = body
    }
}

/// An answer, and the calls that it was made from, in their order.
package struct AnsweredCall: Hashable, Sendable {
    package let answer: Answer
    package let calls: [StoreCall]
    /// What the store has said of the time with its answer; nil where it has said nothing.
    package let storeNow: Timestamp?

    package init(_ answer: Answer, calls: [StoreCall] = [], storeNow: Timestamp? = nil) {
        self.answer = answer
        self.calls = calls
        self.storeNow = storeNow
    }
}

/// What is kept of a check, for those who have to explain it later.
package struct Evidence: Hashable, Sendable {
    /// What the check came to: whether a store told the state, told bad news that one answer does
    /// not prove, or told nothing.
    package enum Kind: String, Hashable, Sendable {
        case verdict, doubt, failure
    }

    /// One call, without what must not be kept.
    package struct Call: Hashable, Sendable {
        package let name: String
        package let status: Int?
        package let bytes: Int
        /// SHA-256 of the body in hexadecimal digits, so that a capture of it can be recognised;
        /// nil when there was no reply.
        package let digest: String?
        /// The body itself, where the configuration wants it kept.
        package let raw: String?

        package init(name: String, status: Int?, bytes: Int, digest: String?, raw: String? = nil) {
            self.name = name
            self.status = status
            self.bytes = bytes
            self.digest = digest
            self.raw = raw
        }
    }

    package let kind: Kind
    /// What the store said, in its own words where it told a state. Holds no token, receipt, name
    /// or address.
    package let heard: String
    package let calls: [Call]
    /// The decision, to be made again. Nil where what was decided is not stored.
    package var record: DecisionRecord?

    package init(_ kind: Kind, heard: String, calls: [Call]) {
        self.kind = kind
        self.heard = heard
        self.calls = calls
    }
}

extension Answer {
    package var kind: Evidence.Kind {
        switch self {
        case .verdict: .verdict
        case .doubt, .contested: .doubt
        case .failure: .failure
        }
    }

    /// In the store's own words where it told a state, else in ours.
    package var words: String {
        switch self {
        case .verdict(let observation): observation.words
        case .contested(let contested):
            contested.observation.words + ", but another part of the answer contradicts it"
        case .doubt(.unproven): "bad news, perhaps about another purchase"
        case .doubt(let doubt): "does not know it (\(doubt.rawValue))"
        case .failure(let failure): failure.problem.sentence
        }
    }
}

extension Claim {
    /// What was wrong with the last check.
    package var problemCode: Problem.Code? {
        problem.flatMap { Problem.Code(rawValue: String($0.prefix { $0 != ":" })) }
    }
}
