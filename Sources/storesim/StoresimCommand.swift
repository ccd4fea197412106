import ArgumentParser

@main
struct StoresimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storesim",
        abstract: "Plays Apple's, Google's and Amazon's subscription APIs on loopback.",
        discussion: """
            Example: storesim serve --directory /tmp/stores --clock 2026-01-01T00:00:00Z

            All other commands talk to a running simulator, found by its folder, and print JSON.
            """,
        subcommands: [
            ServeCommand.self, ClockCommand.self, PurchaseCommand.self, ActCommand.self,
            FaultCommand.self, TruthCommand.self, ShowCommand.self, CallsCommand.self,
            QuitCommand.self,
        ])
}
