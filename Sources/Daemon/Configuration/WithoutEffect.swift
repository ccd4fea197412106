import Renewal

extension Configuration {
    /// Settings that differ from their default and that this version does not act upon yet: an
    /// operator must not rely on them in silence.
    package var withoutEffect: [String] { [] }
}
