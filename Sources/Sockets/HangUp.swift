import Glibc

/// SIGHUP, which a terminal sends when it is closed.
package enum HangUp {
    /// Whether the program was started so that it lives on, as by `nohup`.
    package static var isIgnored: Bool {
        var action = sigaction()
        guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
        return address(of: action.__sigaction_handler.sa_handler) == address(of: SIG_IGN)
    }

    private static func address(of handler: __sighandler_t?) -> Int {
        unsafeBitCast(handler, to: Int.self)
    }
}
