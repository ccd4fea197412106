internal import CPostgres

/// The libpq that is linked.
package enum PostgresLibrary {
    /// Such as `libpq/15.14`.
    ///
    /// <https://www.postgresql.org/docs/current/libpq-misc.html#LIBPQ-PQLIBVERSION>
    package static var version: String {
        let number = PQlibVersion()
        return "libpq/\(number / 10_000).\(number % 10_000)"
    }
}
