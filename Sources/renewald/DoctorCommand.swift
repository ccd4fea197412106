import Explain
import ArgumentParser
import Daemon
import Sockets

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks whether all is well, and says what to do where it is not.",
        discussion: """
            Reads the configuration, the credentials, the database and the unit files, compares \
            the clocks, and makes a live call for each app. Changes nothing. Each line is ok, \
            note, wrong or skipped. Ends with 78 when something is to be mended (a refused \
            credential too), 69 when the database is not there, 75 when a store cannot be asked \
            now, and 0 when nothing is wrong.

            Example: renewald doctor --config /etc/renewald/renewald.toml
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "Where to look for the unit files, for an image that is not running.")
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
                    try Console.say(lines: finding.lines(isColoured: Console.isColoured))
                } catch {
                    loss = error
                }
            }
            if let loss { throw loss }
            if json {
                try Console.say(DoctorJSON(report).line())
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
