/// The Swift packages whose code is in this program, as `name/version`. `LinkedTests` compare it
/// with what the linker was given.
package enum LinkedPackages {
    package static let all = [
        "TOMLKit/0.6.0", "swift-argument-parser/1.8.2", "swift-asn1/1.7.4",
        "swift-async-algorithms/1.1.4", "swift-atomics/1.3.0", "swift-certificates/1.21.1",
        "swift-collections/1.6.0", "swift-crypto/4.5.2", "swift-log/1.16.2",
        "swift-metrics/2.13.0", "swift-nio/2.101.2", "swift-service-lifecycle/2.13.0",
    ]
}
