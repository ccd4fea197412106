import Renewal

/// A signed text of three parts: header, payload and signature (RFC 7515, section 7.1).
struct CompactJWS: Sendable {
    /// The header as it was sent, still encoded.
    let header: ArraySlice<UInt8>
    private let payloadText: ArraySlice<UInt8>
    private let signatureText: ArraySlice<UInt8>
    /// What the signature is over: header, point, payload.
    let signed: ArraySlice<UInt8>

    /// - Returns: nil when there are not exactly three parts.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let points = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        guard points.count == 2 else { return nil }
        header = bytes[..<points[0]]
        payloadText = bytes[(points[0] + 1)..<points[1]]
        signatureText = bytes[(points[1] + 1)...]
        signed = bytes[..<points[1]]
    }

    var payload: [UInt8]? { Base64.decodeURLSafe(payloadText) }
    var signature: [UInt8]? { Base64.decodeURLSafe(signatureText) }

    /// The payload as it claims to be, from whoever has written it: enough to know what need not be
    /// verified, and to read what something verified has vouched for.
    func unverified(calling what: String) throws(StoreFailure) -> JSONObject {
        guard let payload else { throw .malformed(field: what) }
        return try JSONObject(payload, calling: what)
    }

    /// Writes one. `sign` makes the raw signature of the bytes it is given.
    static func text(
        header: some Encodable, claims: some Encodable,
        sign: ([UInt8]) throws -> some Sequence<UInt8>
    ) rethrows -> String {
        let signed = [header as any Encodable, claims].map(encodedPart).joined(separator: ".")
        return signed + "." + Base64.encodeURLSafe(try sign(Array(signed.utf8)))
    }

    private static func encodedPart(_ part: any Encodable) -> String {
        Base64.encodeURLSafe(JSON.encode(part))
    }
}
