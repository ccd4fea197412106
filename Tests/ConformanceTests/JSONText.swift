import Foundation
import Renewal
import TestSupport

/// JSON of the vendor's shape, built member by member.
struct JSONText {
    private(set) var members: [String: Any] = [:]

    init() {}

    /// Begins with the members of an object that is written out.
    init(_ text: String) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        guard let members = value as? [String: Any] else { throw UnreadableCell(cell: text) }
        self.members = members
    }

    /// Nil leaves the member out.
    subscript(_ name: String) -> Any? {
        get { members[name] }
        set { members[name] = newValue }
    }

    var bytes: [UInt8] {
        get throws {
            Array(try JSONSerialization.data(withJSONObject: members, options: [.sortedKeys]))
        }
    }

    var text: String {
        get throws { String(decoding: try bytes, as: UTF8.self) }
    }
}

extension Timestamp {
    var milliseconds: Int64 { microsecondsSinceEpoch / 1000 }

    /// RFC 3339, as Google writes it.
    var rfc3339: String {
        Date(timeIntervalSince1970: Double(microsecondsSinceEpoch) / 1_000_000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
