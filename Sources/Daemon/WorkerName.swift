import FoundationEssentials

/// What a worker is called in `renewald status`: the host and the process.
var workerName: String {
    let process = ProcessInfo.processInfo
    return "\(process.hostName):\(process.processIdentifier)"
}
