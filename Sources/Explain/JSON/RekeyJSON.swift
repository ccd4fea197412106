package import Ledger

/// `renewald rekey --json`.
package struct RekeyJSON: JSONObject {
    private let report: RekeyReport
    private let key: KeyID?

    /// What it came to, and the key that encrypts; nil where all is in clear.
    package init(_ report: RekeyReport, key: KeyID?) {
        self.report = report
        self.key = key
    }

    package func write(to row: inout JSONRow) {
        row.key = key?.description
        row.credentials = report.credentials
        row.answers = report.answers
        row.unreadable = report.unreadable
        row.left = report.left
        row.dataKeysDropped = report.droppedDataKeys
    }
}
