import Configuration
import ArgumentParser
import Daemon

/// The words of a command line, put so that the parser takes them: options that every command has
/// may stand before the command.
struct CommandWords {
    let inOrder: [String]

    /// Options with a value, and without, that all commands take.
    private static let valued = ["-c", "--config"]
    private static let plain = ["--verbose", "--json"]

    /// - Throws: that there is no such command, with the nearest one.
    init(_ words: some Sequence<String>, of root: CommandConfiguration) throws {
        var rest = Array(words)[...]
        var common: [String] = []
        while let word = rest.first, let length = Self.length(of: word) {
            common += rest.prefix(length)
            rest = rest.dropFirst(length)
        }
        guard let command = rest.first else {
            inOrder = common
            return
        }
        let known = root.subcommands.compactMap { $0.configuration.commandName }
        try Self.require(command, among: known + ["help"])
        if command == "help", let subject = rest.dropFirst().first {
            try Self.require(subject, among: known)
        }
        inOrder = [command] + common + rest.dropFirst()
    }

    /// How many words an option that may stand first takes; nil for all other words.
    private static func length(of word: String) -> Int? {
        if valued.contains(word) { return 2 }
        return plain.contains(word) || word.hasPrefix("--config=") ? 1 : nil
    }

    private static func require(_ word: String, among known: [String]) throws {
        guard !word.hasPrefix("-"), !known.contains(word) else { return }
        let nearest = Nearest.word(to: word, among: known)
        throw ValidationError(
            "there is no command \"\(word)\"" + (nearest.map { "; the nearest is \($0)" } ?? ""))
    }
}
