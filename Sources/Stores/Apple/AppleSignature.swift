import Crypto
import FoundationEssentials
import Renewal
import SwiftASN1
import Synchronization
@_spi(FixedExpiryValidationTime) import X509

/// Checks data signed by Apple: the signature, and the chain of certificates from its key to a
/// pinned root. Nothing is believed of a certificate that was sent but what the root vouches for.
/// It keeps the chains that hold, and all apps may share one.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader>
package final class AppleVerifier: Sendable {
    private let roots: CertificateStore
    private let chains = Mutex<[TrustedChain]>([])
    private let reads = Atomic(0)

    /// - Parameter roots: the trusted certificates in DER.
    /// - Throws: when there is none, or one cannot be read.
    package init(roots: [[UInt8]] = [AppleRoots.g3]) throws(CredentialFault) {
        guard !roots.isEmpty else {
            throw CredentialFault(field: "root_certificate", sentence: "is empty")
        }
        do {
            self.roots = CertificateStore(try roots.map { try Certificate(derEncoded: $0) })
        } catch {
            throw CredentialFault(
                field: "root_certificate", sentence: "is not an X.509 certificate in DER")
        }
    }

    /// Verifies a signed text and reads its payload. `what` is the member it came in; `now` stands
    /// in for a missing `signedDate`, as it does in Apple's libraries.
    ///
    /// Fails with `.signature` for all that does not hold, and with `.malformed` for a field of a
    /// payload whose signature holds.
    func read<Payload: AppleSignedPayload>(
        _ type: Payload.Type, from text: String, calling what: String, at now: Timestamp
    ) async throws(StoreFailure) -> Payload {
        reads.add(1, ordering: .relaxed)
        guard let jws = CompactJWS(text) else { throw Self.fault(what, "not three parts") }
        let header = Array(jws.header)
        let known = chains.withLock { chains in chains.first { $0.header == header } }
        let chain: OfferedChain
        if let known {
            chain = known.chain
        } else {
            chain = try OfferedChain(header: header, calling: what)
        }
        guard let signature = jws.signature, let payload = jws.payload,
            let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            chain.key.isValidSignature(parsed, for: jws.signed)
        else { throw Self.fault(what, "not signed by its certificate") }
        let value = try Payload(JSONObject(payload, calling: what))
        let instant = try Self.instant(of: value, field: what, now: now)
        if let known, known.validity.contains(instant) { return value }
        let validity = try await validity(of: chain, at: instant, calling: what)
        remember(TrustedChain(header: header, chain: chain, validity: validity))
        return value
    }

    /// The time at which the certificates must have been valid: a leaf lives for two years, so
    /// the present would refuse all that was signed with the one before.
    private static func instant(
        of payload: some AppleSignedPayload, field: String, now: Timestamp
    ) throws(StoreFailure) -> Timestamp {
        let date = try DateWindow(now: now).date(
            milliseconds: payload.signedDate, field: "\(field).signedDate")
        return date ?? now
    }

    private func validity(
        of chain: OfferedChain, at instant: Timestamp, calling what: String
    ) async throws(StoreFailure) -> ClosedRange<Timestamp> {
        let seconds = Double(instant.microsecondsSinceEpoch) / 1_000_000
        var verifier = Verifier(rootCertificates: roots) {
            RFC5280Policy(fixedExpiryValidationTime: Date(timeIntervalSince1970: seconds))
            AppleChainPolicy()
        }
        let result = await verifier.validate(
            leaf: chain.leaf, intermediates: CertificateStore([chain.intermediate]))
        guard case .validCertificate(let certificates) = result else {
            throw Self.fault(what, "no chain to a trusted root that was valid when it was signed")
        }
        let first = certificates.map(\.notValidBefore.timestamp).max() ?? instant
        let last = certificates.map(\.notValidAfter.timestamp).min() ?? instant
        return min(first, instant)...max(last, instant)
    }

    /// Only chains that hold are kept, the latest few of them.
    private func remember(_ chain: TrustedChain) {
        chains.withLock { chains in
            chains.removeAll { $0.header == chain.header }
            if chains.count >= Self.chainLimit { chains.removeFirst() }
            chains.append(chain)
        }
    }

    private static let chainLimit = 32

    var knownChainCount: Int { chains.withLock { $0.count } }
    /// Signed texts that were to be verified so far.
    var readCount: Int { reads.load(ordering: .relaxed) }

    fileprivate static func fault(_ what: String, _ reason: String) -> StoreFailure {
        .signature(reason: "\(what): \(reason)")
    }
}

/// A chain that leads to a pinned root, kept under the encoded header that brought it: an equal
/// header has equal certificates and the same algorithm, and need not even be decoded.
private struct TrustedChain: Sendable {
    let header: [UInt8]
    let chain: OfferedChain
    /// When all its certificates are valid.
    let validity: ClosedRange<Timestamp>
}

/// The certificates of a header, not yet believed.
private struct OfferedChain: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    let key: P256.Signing.PublicKey

    private struct Header: Decodable {
        let alg: String
        let x5c: [String]
    }

    init(header: [UInt8], calling what: String) throws(StoreFailure) {
        guard let bytes = Base64.decodeURLSafe(header),
            let header = try? JSON.decode(Header.self, from: bytes)
        else { throw AppleVerifier.fault(what, "no header with certificates") }
        guard header.alg == "ES256" else { throw AppleVerifier.fault(what, "alg is not ES256") }
        // The third is only counted: what is trusted is the root that is pinned.
        guard header.x5c.count == 3 else {
            throw AppleVerifier.fault(what, "not three certificates")
        }
        guard let leaf = Self.certificate(header.x5c[0]),
            let intermediate = Self.certificate(header.x5c[1]),
            let key = P256.Signing.PublicKey(leaf.publicKey)
        else { throw AppleVerifier.fault(what, "a certificate that cannot be read") }
        self.leaf = leaf
        self.intermediate = intermediate
        self.key = key
    }

    private static func certificate(_ text: String) -> Certificate? {
        Base64.decodeStandard(text.utf8).flatMap { try? Certificate(derEncoded: $0) }
    }
}

/// Three certificates, of which the leaf may sign store data and the intermediate may sign such
/// leaves.
///
/// <https://images.apple.com/certificateauthority/pdf/Apple_WWDR_CPS_v1.31.pdf>
private struct AppleChainPolicy: VerifierPolicy {
    private static let leafPurpose: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    private static let intermediatePurpose: ASN1ObjectIdentifier = [
        1, 2, 840, 113635, 100, 6, 2, 1,
    ]

    let verifyingCriticalExtensions = [Self.leafPurpose, Self.intermediatePurpose]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        guard chain.count == 3 else { return .failsToMeetPolicy(reason: "length") }
        guard chain[0].extensions[oid: Self.leafPurpose] != nil,
            chain[1].extensions[oid: Self.intermediatePurpose] != nil
        else { return .failsToMeetPolicy(reason: "purpose") }
        return .meetsPolicy
    }
}

extension Date {
    fileprivate var timestamp: Timestamp {
        Timestamp(microsecondsSinceEpoch: Int64(timeIntervalSince1970) * 1_000_000)
    }
}
