import Explain
import ArgumentParser
import Daemon
import Sockets

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Tests the setup, and says what to do about each fault.",
        discussion: """
            Checks the configuration, the credentials, the database, the clocks and the unit \
            files, and makes live calls for each app. Changes nothing. Each line is ok, note, \
            wrong or skipped. Exits with 78 when a person has to fix something (a refused \
            credential too), 69 when the database is not available, 75 when a store does not \
            answer now, and 0 when nothing is wrong.

            Example: renewald doctor --config /etc/renewald/renewald.toml
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The root folder to look for unit files in, for an image that is not running.")
    var root = ""
    @Flag(help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let (common, root, json) = (self.common, self.root, self.json)
        try common.runAsServiceUser()
        try await common.reporting {
            let doctor = Doctor(
                configurationFile: common.config, environment: common.environment, root: root)
            var loss: WriteFailure?
            let report = await doctor.run { finding in
                guard !json, loss == nil else { return }
                do throws(WriteFailure) {
                    for line in finding.lines(isColoured: Console.isColoured) {
                        try Console.say(painted: line)
                    }
                } catch {
                    loss = error
                }
            }
            if let loss { throw loss }
            if json {
                try Console.say(json: DoctorJSON(report).line())
            } else {
                try Console.say(report.summary)
            }
            if report.exitReason != .done { throw report.exitReason }
        }
    }
}

extension DoctorJSON {
    fileprivate init(_ report: DoctorReport) {
        self.init(
            exit: report.exitReason.rawValue,
            checks: report.findings.map { finding in
                Check(
                    level: finding.level.rawValue, subject: finding.subject,
                    sentence: finding.sentence, advice: finding.advice)
            })
    }
}
