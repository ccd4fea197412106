/// The SHA-256 of each unit file of this version, in hexadecimal.
enum UnitDigests {
    static let all: [String: String] = [
        "renewald-alert@.service":
            "5e0cac6cac0cb723a221d4f806ec34cc229624044280b455ca4a8a7d12a59d04",
        "renewald-check@.service":
            "5464afed3aec4d49c035906ef4ec7eb392f35fc463a20571f450afebcd950cb6",
        "renewald-once.service":
            "059ce4f7d2f80e30a921d08520837fde08cec2eab146b429aee6eeb0e6a429f6",
        "renewald-once.timer":
            "521f714895ec4747bb2acc44de98f9990a18ce18c97bef1012c12bce2d4e064e",
        "renewald.service":
            "8bcff1d8f95b2df2c209ff69eda43eea231f66805b35d75db96faa0eaa441f9a",
    ]
}
