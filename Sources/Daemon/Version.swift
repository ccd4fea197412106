/// The version of this program, as `--version` and the `User-Agent` say it.
package enum Version {
    package static let text = "0.1.0"
}
