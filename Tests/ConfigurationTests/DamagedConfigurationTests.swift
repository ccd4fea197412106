import Configuration
import TestSupport
import Testing

/// Whatever is in the file, it is refused or read, and the program goes on.
@Suite struct DamagedConfigurationTests {
    private static let roundLimit = 400

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func survivesDamage(_ seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let whole = Array(ConfigurationTests.example.utf8)
        let marks = Array("[]{}\"'#=.,\n\r\\ \u{0}é".utf8)
        for _ in 0..<Self.roundLimit {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &chance) {
                let place = Int.random(in: 0..<bytes.count, using: &chance)
                switch Int.random(in: 0..<4, using: &chance) {
                case 0: bytes.remove(at: place)
                case 1:
                    bytes.insert(marks[Int.random(in: marks.indices, using: &chance)], at: place)
                case 2: bytes.removeSubrange(place...)
                default: bytes[place] = UInt8.random(in: 0...255, using: &chance)
                }
                if bytes.isEmpty { bytes = whole }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            do {
                _ = try Settings.parse(text: text, file: "f.toml", environment: [:])
            } catch {
                let lineCount = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
                #expect(!error.faults.isEmpty)
                #expect(error.faults.allSatisfy { 1...lineCount ~= $0.line ?? 1 }, "seed \(seed)")
            }
        }
    }

    @Test func survivesDepth() {
        let text = "a = " + String(repeating: "[", count: 100_000)
        #expect(throws: ConfigurationFaults.self) {
            try Settings.parse(text: text, file: "f.toml", environment: [:])
        }
    }
}
