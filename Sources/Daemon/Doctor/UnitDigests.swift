/// The SHA-256 of each unit file of this version, in hexadecimal.
enum UnitDigests {
    static let all: [String: String] = [
        "renewald-alert@.service":
            "321d94bdb720ee37e7880b7a0edcb76c8aef6e1e15cd45e0aa306c08ae1d65b5",
        "renewald-check@.service":
            "62b0bb04658803c90a5239c4088125ca8e4022c54074e60de26d011c2cc64505",
        "renewald-once.service":
            "a61d447201cd76a3c02f1f1cbf1b2276479c88ad9cb092b168fe34436177c6e0",
        "renewald-once.timer":
            "e449845833da103eb2f4fabbd59cdfd0d5b5afa0c80a28931f04ddedc128fc57",
        "renewald.service":
            "5d32bf97a079117a15c211e42901593073547d478fda87084f6300c5a6d150f5",
    ]
}
