/// The last observation of a purchase, as it is kept beside its facts (design rule 14): what was
/// judged, and is judged again when the configuration changes. It counts for the version of the
/// purchase that it was kept with; facts that anything else has changed do not stand by it.
package struct KeptObservation: Hashable, Sendable {
    /// Without the token of the link that the purchase continues.
    package let observation: Observation
    /// Kept apart, as its digest. A secret.
    package let predecessorToken: StoreToken?

    package init(_ heard: Observation) {
        var standing = heard.standing
        predecessorToken = standing.predecessorToken
        standing.predecessorToken = nil
        observation = standing
    }

    /// As it was heard, as far as it is kept.
    package var heard: Observation {
        var heard = observation
        heard.predecessorToken = predecessorToken
        return heard
    }
}

/// Why bytes are none of ours.
package enum KeptFault: Error, Hashable, Sendable {
    /// Of a later program.
    case unknownFormat(Int)
    case damaged
}

extension KeptObservation {
    private static let format: UInt8 = 1

    package var bytes: [UInt8] {
        var archive = Archive()
        archive.write(Self.format)
        observation.write(to: &archive)
        return archive.bytes
    }

    /// What tells whether another was kept, or for other facts: nobody reads the one that is kept
    /// to know whether it is still true.
    package static func mark(_ bytes: [UInt8], ofVersion version: Int64) -> Int64 {
        Archive.mark(bytes, version)
    }

    package init(_ bytes: [UInt8], predecessorToken: StoreToken?) throws(KeptFault) {
        var archive = Archive(reading: bytes)
        let format = archive.byte()
        guard format == Self.format else { throw .unknownFormat(Int(format)) }
        observation = archive.value()
        self.predecessorToken = predecessorToken
        guard archive.isComplete else { throw .damaged }
    }
}
