// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: warnings stop the build, imports are internal, a name comes only from a
/// module that the file itself imports.
let house: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Above the C wrappers, where a C pointer would need the word `unsafe`; `TidyTests` bans the word.
let safeHouse: [SwiftSetting] = house + [.strictMemorySafety()]

/// What `scripts/stamp` says of the source; a build without it says "commit unknown".
let stamp = ["RENEWALD_COMMIT", "RENEWALD_CHANGED", "RENEWALD_SWIFT"].compactMap { name in
    Context.environment[name].map { CSetting.define(name, to: $0) }
}

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(
    name: "UnixSignals", package: "swift-service-lifecycle")
let lifecycleTestKit = Target.Dependency.product(
    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

let package = Package(
    name: "renewald",
    products: [
        .executable(name: "renewald", targets: ["renewald"]),
        .executable(name: "storesim", targets: ["storesim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
        // What the others bring along: named here for its version alone.
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        // C, and the wrappers that are the only ones to meet a C pointer.
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSockets"),
        .target(name: "CBuild", cSettings: stamp),
        .target(name: "Sockets", dependencies: ["CSockets"], swiftSettings: house),
        .target(name: "Curl", dependencies: ["CCurl"], swiftSettings: house),
        .target(name: "Postgres", dependencies: ["CPostgres"], swiftSettings: house),

        // The pure core.
        .target(name: "Renewal", swiftSettings: safeHouse),

        // The two sides of the world, and what carries a claim between them.
        .target(
            name: "Stores", dependencies: ["Renewal", "Curl", crypto, cryptoExtras, x509, asn1],
            swiftSettings: safeHouse),
        .target(
            name: "Ledger", dependencies: ["Renewal", "Postgres"],
            resources: [.embedInCode("Queries"), .embedInCode("Migrations")],
            swiftSettings: safeHouse),
        .target(
            name: "Engine", dependencies: ["Renewal", logging, serviceLifecycle],
            swiftSettings: safeHouse),

        // What an operator writes, and what support reads.
        .target(name: "Configuration", dependencies: ["Renewal", toml], swiftSettings: safeHouse),
        .target(name: "Explain", dependencies: ["Ledger", "Renewal"], swiftSettings: safeHouse),

        // The composition root and the executables.
        .target(
            name: "Daemon",
            dependencies: [
                "Configuration", "Curl", "Engine", "Explain", "Ledger", "Postgres", "Renewal",
                "Sockets", "Stores", coreMetrics, crypto, logging, nioCore, nioHTTP1, nioPosix,
                serviceLifecycle, unixSignals,
            ], swiftSettings: safeHouse),
        .executableTarget(
            name: "renewald",
            dependencies: [
                "CBuild", "Configuration", "Daemon", "Engine", "Explain", "Ledger", "Renewal",
                "Sockets", logging, argumentParser,
            ], swiftSettings: safeHouse),
        .target(
            name: "StoreSimulator",
            dependencies: [
                crypto, cryptoExtras, x509, asn1, nioCore, nioHTTP1, nioPosix,
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], swiftSettings: house),
        .executableTarget(
            name: "storesim", dependencies: ["StoreSimulator", argumentParser],
            swiftSettings: safeHouse),

        // One test target for each room.
        .target(
            name: "TestSupport", dependencies: ["Ledger", "Postgres", "Renewal"],
            path: "Tests/TestSupport", swiftSettings: house),
        .target(
            name: "StoreFixtures", dependencies: [crypto, x509, asn1],
            path: "Tests/StoreFixtures", swiftSettings: house),
        // A world of its own for the engine: a seed draws the order of everything, the clock leaps.
        .target(name: "CScheduler", path: "Tests/CScheduler"),
        .target(
            name: "LedgerModel", dependencies: ["Engine", "Renewal"], path: "Tests/LedgerModel",
            swiftSettings: house),
        .target(
            name: "Simulation",
            dependencies: [
                "CScheduler", "Curl", "Engine", "LedgerModel", "Renewal", "Stores", "TestSupport",
                cryptoExtras, lifecycleTestKit, logging,
            ], path: "Tests/Simulation", swiftSettings: house),
        .executableTarget(
            name: "soak", dependencies: ["Simulation"], path: "Tests/Soak", swiftSettings: house),
        .testTarget(
            name: "CurlTests", dependencies: ["Curl"], swiftSettings: house),
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "TestSupport"],
            swiftSettings: house),
        .testTarget(
            name: "RenewalTests", dependencies: ["Renewal", "TestSupport"],
            swiftSettings: safeHouse),
        .testTarget(
            name: "StoresTests",
            dependencies: [
                "Stores", "Curl", "Renewal", "StoreFixtures", "TestSupport", crypto, cryptoExtras,
                x509, asn1,
            ], swiftSettings: house),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "Stores", "Configuration", "Curl", "Daemon", "Ledger", "Postgres", "Renewal",
                "StoreFixtures", "TestSupport", crypto, cryptoExtras,
            ], exclude: ["Tables"], swiftSettings: house),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "Ledger", "LedgerModel", "Postgres", "Renewal", "TestSupport", crypto,
            ], exclude: ["Statements"], swiftSettings: house),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Daemon", "Engine", "Ledger", "Postgres", "Renewal", "TestSupport", logging,
                lifecycleTestKit,
            ], swiftSettings: house),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: ["Configuration", "Renewal", "TestSupport"], swiftSettings: house),
        .testTarget(
            name: "ExplainTests",
            dependencies: ["Explain", "Ledger", "Renewal", "TestSupport", crypto],
            swiftSettings: house),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "Configuration", "Daemon", "Curl", "Engine", "Explain", "Ledger", "Postgres",
                "Renewal", "Sockets", "StoreFixtures", "Stores", "TestSupport", coreMetrics,
                crypto, cryptoExtras, logging,
            ], swiftSettings: house),
        .testTarget(
            name: "StoreSimulatorTests",
            dependencies: [
                "StoreSimulator", "TestSupport", crypto, cryptoExtras, x509, asn1, nioCore,
            ], swiftSettings: house),
        .testTarget(
            name: "EndToEndTests", dependencies: ["Curl", "Postgres", "TestSupport"],
            swiftSettings: house),
        .testTarget(
            name: "SystemdTests",
            dependencies: [
                "Curl", "Daemon", "Engine", "Postgres", "Renewal", "Sockets", "TestSupport",
                logging,
            ], swiftSettings: house),
        .testTarget(
            name: "SimulationTests", dependencies: ["TestSupport"], swiftSettings: house),
        .testTarget(name: "TidyTests", swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)
