import Curl
import Postgres

/// The version of this program, as `--version` and the `User-Agent` say it.
package enum Version {
    package static let text = "0.2.0-dev"

    /// What is linked at run time, as each says it of itself: `libcurl/7.88.1 OpenSSL/3.0.17 …`.
    package static var libraries: [String] {
        [CurlLibrary.version, PostgresLibrary.version]
    }
}
