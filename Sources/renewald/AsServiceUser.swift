import ArgumentParser
import Daemon
import Sockets

extension CommonOptions {
    /// Where root has started the command on a packaged host, runs it again as the daemon's user,
    /// with the daemon's credentials, and ends with its exit code. Does nothing elsewhere: with a
    /// configuration of another name, and where the service manager has started it.
    func runAsServiceUser() throws {
        guard config == Self.usualConfig, environment["CREDENTIALS_DIRECTORY"] == nil else {
            return
        }
        let code: Int32?
        do throws(ServiceUser.Failure) {
            code = try ServiceUser.run(
                as: "renewald", credentials: "/etc/renewald/credentials",
                arguments: Array(CommandLine.arguments.dropFirst()))
        } catch {
            Console.complain("cannot run as the user renewald: \(error)")
            throw ExitReason.permission.code
        }
        if let code { throw ExitCode(code) }
    }
}
