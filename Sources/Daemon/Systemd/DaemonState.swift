package import Engine

/// What the daemon is doing, as one line for `systemctl status`.
package struct DaemonState: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        case starting
        /// Nothing can be done before the database is there; with what is wrong.
        case waiting(String)
        case working
        case stopping
    }

    package var phase = Phase.starting
    package var apps = 0
    package var report = RunReport()
    package var inFlight = 0
    /// Faults of the configuration that the last reload refused.
    package var refusedFaults = 0
    /// Settings that were changed and wait for a restart.
    package var waitingForRestart: [String] = []
    /// What does not advance.
    package var stuck: [String] = []

    package init() {}

    package var sentence: String {
        ([work] + remarks).joined(separator: " ")
    }

    private var work: String {
        switch phase {
        case .starting: "Starting."
        case .waiting(let reason): "Waiting for the database: \(Self.end(reason))"
        case .stopping where inFlight == 0: "Stopping: no check is in flight."
        case .stopping: "Stopping: finishing \(Self.count(inFlight, "check")) in flight."
        case .working:
            "Serving \(Self.count(apps, "app")): "
                + "\(Self.count(report.checked, "purchase")) checked, "
                + "\(Self.count(report.events, "event")) written, \(inFlight) in flight."
        }
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if !stuck.isEmpty { remarks.append("Stuck: \(stuck.joined(separator: ", ")).") }
        if refusedFaults > 0 {
            remarks.append(
                "The changed configuration has \(Self.count(refusedFaults, "fault")); "
                    + "the old one stays in force.")
        }
        if !waitingForRestart.isEmpty {
            remarks.append("A restart is needed for \(waitingForRestart.joined(separator: ", ")).")
        }
        return remarks
    }

    private static func end(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? sentence : sentence + "."
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
