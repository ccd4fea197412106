/// One thing that is wrong with the configuration, said so that it can be mended at once.
///
/// Prints `/etc/renewald/renewald.toml:12: engine.in_flight: must be between 1 and 10000, is 0`.
/// Values of secrets, URLs and unknown text are never part of it.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path as it was given.
    package let file: String
    /// Counted from 1; nil where the fault is about the file as a whole.
    package let line: Int?
    /// Such as `engine.in_flight`; empty where the fault is about the file as a whole.
    package let key: String
    /// What must be, and what is.
    package let sentence: String

    package init(file: String, line: Int? = nil, key: String = "", sentence: String) {
        self.file = file
        self.line = line
        self.key = key
        self.sentence = sentence
    }

    package var description: String {
        let place = line.map { "\(file):\($0): " } ?? "\(file): "
        return place + (key.isEmpty ? "" : "\(key): ") + sentence
    }
}

/// Every fault of one configuration, in the order of the file: exit code 78.
package struct ConfigurationFaults: Error, Hashable, Sendable, CustomStringConvertible {
    package let faults: [ConfigurationFault]

    /// Sorts: the file as a whole first, then by line.
    package init(_ faults: [ConfigurationFault]) {
        self.faults = faults.enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
            .map(\.element)
    }

    /// One line for each fault.
    package var description: String {
        faults.map(\.description).joined(separator: "\n")
    }
}

/// Where something was written, to report a fault that shows only later.
package struct ConfigurationPlace: Hashable, Sendable {
    package let file: String
    package let line: Int?
    package let key: String

    package init(file: String, line: Int?, key: String) {
        self.file = file
        self.line = line
        self.key = key
    }

    package func fault(_ sentence: String) -> ConfigurationFault {
        ConfigurationFault(file: file, line: line, key: key, sentence: sentence)
    }
}
