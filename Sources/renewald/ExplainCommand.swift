import Explain
import Configuration
import ArgumentParser
import Daemon
import FoundationEssentials
import Ledger
import Renewal
import Logging
import Sockets

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows why a user has access or not: each answer, rule and event.",
        discussion: """
            Takes a user id, or an order id from a customer's mail: a Google order id (also that \
            of a renewal), an Apple order, transaction or web order line item id, an Amazon \
            receipt id. It reads the database only, and changes nothing; it asks a store only to \
            find the purchase of an order that the database does not know.

            Example: renewald explain GPA.3301-7742-9918-40211..5 --html ada.html
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The user id, as your backend gave it to renewald.submit, or an order id.")
    var id: String
    @Flag(help: "Never ask a store.")
    var offline = false
    @Flag(help: "Exit with 66 when nothing is found.")
    var require = false
    @Flag(help: "Print JSON.")
    var json = false
    @Option(
        help: ArgumentHelp(
            "Write an HTML page with a timeline to this file; - is standard output.",
            valueName: "file"))
    var html: String?

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("the id is empty") }
        guard html != "" else { throw ValidationError("--html names no file") }
        if json, html == "-" {
            throw ValidationError("--html - and --json both write to standard output")
        }
    }

    mutating func run() async throws {
        let (id, json, html, require) = (self.id, self.json, self.html, self.require)
        let stores = offline ? nil : askingStores
        try await common.withServices(asksStores: false) { services in
            let ledger = services.ledger
            let explanation = try await Explainer(
                history: { user throws(LedgerError) in try await ledger.history(ofUser: user) },
                owners: { order throws(LedgerError) in try await ledger.users(ofOrder: order) },
                stores: stores
            ).explain(id)
            if let html {
                let page = ExplanationPage(explanation, version: Version.text)
                try PageFile.write(page.html, to: html)
            }
            if json {
                try Console.say(json: explanation.line())
            } else if html == nil {
                try Self.say(ExplanationText(explanation, question: id))
            }
            guard explanation.users.isEmpty, require else { return }
            throw explanation.finding == .unknown ? ExitReason.temporary : .noInput
        }
    }

    /// With every credential, which are read only when a store has to be asked.
    private var askingStores: Explainer.Stores {
        let (config, environment) = (common.config, common.environment)
        let log = common.logger(.warning)
        return { store, order, now in
            let services: Services
            do throws(ConfigurationFaults) {
                services = try Services(
                    configurationFile: config, environment: environment, log: log)
            } catch {
                return .failed(error.faults.map(\.description).joined(separator: "; "))
            }
            let answer = await services.lookUp(order: order, in: store, at: now)
            await services.close()
            return answer
        }
    }

    /// Columns that fit most windows, also beside a chat.
    private static let width = 100

    private static func say(_ text: ExplanationText) throws(WriteFailure) {
        for line in text.lines {
            for part in line.printed(width: width, isColoured: Console.isColoured) {
                try Console.say(painted: part)
            }
        }
    }
}
