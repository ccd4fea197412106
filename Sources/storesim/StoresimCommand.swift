import ArgumentParser

@main
struct StoresimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storesim",
        abstract: "Simulates Apple's, Google's and Amazon's subscription APIs on loopback.",
        discussion: """
            Example: storesim serve --directory /tmp/stores --demo

            All other commands talk to a running simulator, found by its folder.
            """,
        subcommands: [
            ServeCommand.self, ScenarioCommand.self, FleetCommand.self, ClockCommand.self,
            PurchaseCommand.self, ActCommand.self,
            FaultCommand.self, TruthCommand.self, ShowCommand.self, CurlCommand.self,
            CallsCommand.self, QuitCommand.self,
        ])
}
