import Crypto
import Renewal

extension NewsID {
    /// A name for what has none of its own: the same text has the same, and does not show in it.
    init(unnamed text: String) {
        self.init("~" + SHA256.hash(data: Array(text.utf8)).prefix(8).hexDigits)
    }
}
