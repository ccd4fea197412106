import CPostgres

extension Session {
    /// - Throws: `.rejected` with 0A000 behind a pooler, which would leave the LISTEN to others.
    func listen(_ channels: [String]) throws(PostgresError) {
        guard try !connected().isPooled else {
            throw .rejected(
                sqlState: .featureNotSupported,
                message: "LISTEN does not work behind a connection pooler", statement: 0)
        }
        let new = channels.filter { !self.channels.contains($0) }
        _ = try pipeline(Self.listening(new))
        self.channels += new
    }

    /// The next notification, or nil when none came within `timeout`.
    ///
    /// - Throws: `.unreachable` when the connection is lost: notifications may have been missed.
    func nextNotification(timeout: Duration) throws(PostgresError) -> PostgresNotification? {
        let link = try connected()
        let deadline = ContinuousClock.now + timeout
        while true {
            if let notification = PQnotifies(link.handle) {
                defer { PQfreemem(notification) }
                return PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra),
                    backendPID: notification.pointee.be_pid)
            }
            do throws(WaitFailure) {
                try link.wait(reading: true, writing: false, until: deadline)
                guard PQconsumeInput(link.handle) == 1 else { throw .lost }
            } catch {
                switch error {
                case .timedOut: return nil
                case .cancelled: throw .cancelled
                case .closed: throw lose(.cancelled)
                case .lost: throw lose(.unreachable(reason: "the connection was lost"))
                }
            }
        }
    }
}
