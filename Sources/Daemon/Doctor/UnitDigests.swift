/// The SHA-256 of each unit file of this version, in hexadecimal.
enum UnitDigests {
    static let all: [String: String] = [
        "renewald-alert@.service":
            "90b60100e8da9ea197d4b4173ff764eaa200cb6eb7ed470286571e76077e7d73",
        "renewald-check@.service":
            "fd2effa8ce9980069df1a9ae0af8f47100f428f87ad2bdd2764f2589b9d77f6c",
        "renewald-once.service":
            "a22dc30c16bb494171666714bee5a74fab13c98f4b5eff56e462f0109cfada40",
        "renewald-once.timer":
            "bbc10e2471f3b9c4fff64fae934f85631a71daa8f9dfeef3847adf9169cde022",
        "renewald.service":
            "1604cf5aeca6ddf08977a1f9e97d21541196424922d8eef7ddb32c44be45b0f0",
    ]
}
