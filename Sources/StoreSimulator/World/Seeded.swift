/// SplitMix64: the same seed gives the same numbers, for ever and on every machine.
struct Seeded: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: UInt64) -> UInt64 { next() % bound }

    /// A number from 0 up to, but not including, 1.
    mutating func fraction() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    mutating func text(_ count: Int, of alphabet: [UInt8]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<count {
            bytes.append(alphabet[Int(below(UInt64(alphabet.count)))])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// The shapes in which the stores name things.
extension Seeded {
    private static let digits = Array("0123456789".utf8)
    private static let hexadecimal = Array("0123456789abcdef".utf8)
    private static let upper = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    private static let aToP = Array("abcdefghijklmnop".utf8)
    private static let base64URL = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// 24 letters from a to p, a dot, `AO-J1O` and 120 characters of base64url.
    mutating func googleToken() -> String {
        text(24, of: Self.aToP) + ".AO-J1O" + text(120, of: Self.base64URL)
    }

    /// `GPA.1234-5678-9012-34567`.
    mutating func googleOrder() -> String {
        "GPA.33" + text(2, of: Self.digits) + "-" + text(4, of: Self.digits) + "-"
            + text(4, of: Self.digits) + "-" + text(5, of: Self.digits)
    }

    /// As production has them, `…=:3:11`; the Cloud Sandbox has long ones without colons.
    mutating func amazonReceipt(sandbox: Bool) -> String {
        sandbox ? text(160, of: Self.base64URL) : text(43, of: Self.base64URL) + "=:3:11"
    }

    mutating func amazonUser() -> String { text(43, of: Self.base64URL) + "=" }

    mutating func amazonSecret() -> String {
        "2:" + text(64, of: Self.base64URL) + ":" + text(22, of: Self.base64URL) + "=="
    }

    mutating func awsSecret() -> String { text(40, of: Self.base64URL) }

    mutating func uuid() -> String {
        text(8, of: Self.hexadecimal) + "-" + text(4, of: Self.hexadecimal) + "-4"
            + text(3, of: Self.hexadecimal) + "-8" + text(3, of: Self.hexadecimal) + "-"
            + text(12, of: Self.hexadecimal)
    }

    mutating func appleKeyID() -> String { text(10, of: Self.upper) }

    /// An app-specific shared secret: 32 hexadecimal digits.
    mutating func appleSecret() -> String { text(32, of: Self.hexadecimal) }

    mutating func bearerToken() -> String { "ya29.c." + text(120, of: Self.base64URL) }
}
