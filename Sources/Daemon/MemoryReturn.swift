import Sockets

/// Gives the memory of a burst back to the system.
enum MemoryReturn {
    private static let pause = Duration.seconds(60)

    /// Every minute until it is cancelled.
    static func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            ProcessMemory.giveBack()
        }
    }
}
