/// The SHA-256 of each unit file of this version, in hexadecimal.
enum UnitDigests {
    static let all: [String: String] = [
        "renewald-alert@.service":
            "76ac7159ceda0aeae816e90876489d551aecc1e2ba382c06aba09e9c697f489d",
        "renewald-check@.service":
            "10b178aa092439cb62c5e111426e035197779ff4973922b20360483e8590759f",
        "renewald-once.service":
            "932d1ab4f6f230907ba9f487a7bb5de4e20127f5520f26df900c2c65570f9789",
        "renewald-once.timer":
            "bbc10e2471f3b9c4fff64fae934f85631a71daa8f9dfeef3847adf9169cde022",
        "renewald.service":
            "e726a5ed1567147af459984f405dd0e63c3f8d3d8e45aa0c72f2f73e3c9c95fc",
    ]
}
