/// The SHA-256 of each unit file of this version, in hexadecimal.
enum UnitDigests {
    static let all: [String: String] = [
        "renewald-alert@.service":
            "711c58622b548468f0389050df0b5e3ed3a64ab760e4230e2a5fe979c05b88c5",
        "renewald-check@.service":
            "1a2d48b4c8a8976ef16c2b533016fed233a107a736fa40d97ff1ea4f1fcbb47c",
        "renewald-once.service":
            "ee3b6624162f388ad21a88fb4eed4d3a38f722cb3a8736f48e7c2a987ff04cc1",
        "renewald-once.timer":
            "bbc10e2471f3b9c4fff64fae934f85631a71daa8f9dfeef3847adf9169cde022",
        "renewald.service":
            "4782e18ecaf9443d73666ab5ab2812550e90ce90b320e1d9f3f8e093ad04d150",
    ]
}
