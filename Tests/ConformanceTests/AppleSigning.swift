import StoreFixtures

/// What may be wrong with a signature, by the word that a cell has for it.
enum AppleSigning {
    typealias Signer = @Sendable ([UInt8]) throws -> String

    static let faults: [String: Signer] = [
        "forged": { try foreign.get().sign($0) },
        "unsigned": { try trusted.sign($0, algorithm: "none") },
        "hs256": { try trusted.sign($0, algorithm: "HS256") },
        "der": { try trusted.sign($0, usesDER: true) },
        "other_key": { try trusted.sign($0, chain: foreign.get().chain) },
        "two_certificates": { try trusted.sign($0, chain: [trusted.leaf, trusted.intermediate]) },
        "four_certificates": { try trusted.sign($0, chain: trusted.chain + [trusted.root]) },
        "reversed": { try trusted.sign($0, chain: trusted.chain.reversed()) },
        "no_certificates": { try trusted.sign($0, chain: []) },
        "other_root_named": {
            try trusted.sign(
                $0, chain: [trusted.leaf, trusted.intermediate, foreign.get().root])
        },
        "leaf_over": { try variant { $0.leafNotAfter = "2025-12-01T00:00:00Z" }.sign($0) },
        "leaf_early": { try variant { $0.leafNotBefore = "2027-01-01T00:00:00Z" }.sign($0) },
        "leaf_purpose": {
            try variant { $0.leafPurpose = AppleAuthority.Variant.otherLeafPurpose }.sign($0)
        },
        "intermediate_purpose": {
            try variant {
                $0.intermediatePurpose = AppleAuthority.Variant.otherIntermediatePurpose
            }.sign($0)
        },
        "no_authority": { try variant { $0.intermediateIsAuthority = false }.sign($0) },
    ]

    private static var trusted: AppleAuthority {
        get throws { try AppleAuthority.trusted.get() }
    }

    /// Its root has the name of the trusted one, and is another.
    private static let foreign = Result { try AppleAuthority() }

    /// Under the trusted root.
    private static func variant(
        _ change: (inout AppleAuthority.Variant) -> Void
    ) throws -> AppleAuthority {
        var variant = AppleAuthority.Variant()
        change(&variant)
        return try AppleAuthority(variant, under: trusted)
    }
}

extension AppleAuthority {
    fileprivate var chain: [[UInt8]] { [leaf, intermediate, root] }
}
