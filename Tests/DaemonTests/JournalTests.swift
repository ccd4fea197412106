import Engine
import Foundation
import Logging
import Renewal
import Testing

@testable import Daemon

/// What goes into the journal, against a socket of the test's own.
@Suite struct JournalTests {
    @Test func writesAFieldOnALine() {
        var entry = JournalEntry()
        entry.add("MESSAGE", "all is well")
        entry.add("RENEWALD_USER", "u-1")
        #expect(
            String(decoding: entry.bytes, as: UTF8.self)
                == "MESSAGE=all is well\nRENEWALD_USER=u-1\n")
    }

    @Test func writesTheLengthBeforeAValueOfSeveralLines() {
        var entry = JournalEntry()
        entry.add("MESSAGE", "a\nb")
        #expect(
            entry.bytes
                == Array("MESSAGE\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("a\nb\n".utf8))
    }

    /// The journal drops other names without a word.
    @Test(arguments: [
        ("renewald_user", "RENEWALD_USER"), ("_secret", "SECRET"), ("9lives", "LIVES"),
        ("a-b.c", "A_B_C"), ("ümlaut", "MLAUT"),
        (String(repeating: "x", count: 80), String(repeating: "X", count: 64)),
    ])
    func makesNamesThatTheJournalTakes(_ name: String, _ expected: String) {
        var entry = JournalEntry()
        entry.add(name, "1")
        #expect(String(decoding: entry.bytes, as: UTF8.self) == "\(expected)=1\n")
    }

    @Test func leavesOutAFieldWithoutAName() {
        var entry = JournalEntry()
        entry.add("__", "1")
        #expect(entry.bytes.isEmpty)
    }

    @Test func sendsFieldsAndTheStableId() throws {
        let journal = try FakeJournal()
        let log = journal.logger(identity: "8:15", stream: "8:15")
        log.info(
            "grant",
            metadata: [
                LogField.topic: "grant_purchased", "user": "ann\nPRIORITY=0", "store": "apple",
            ])
        let fields = try journal.receive()
        #expect(fields["MESSAGE"] == "grant")
        #expect(fields["PRIORITY"] == "6")
        #expect(fields["SYSLOG_IDENTIFIER"] == "renewald")
        #expect(fields["MESSAGE_ID"] == CatalogEntry.id(of: "grant_purchased"))
        #expect(fields["RENEWALD_USER"] == "ann\nPRIORITY=0")
        #expect(fields["RENEWALD_STORE"] == "apple")
    }

    /// Longer than any datagram: it comes as a sealed file.
    @Test func sendsWhatIsTooLongAsAFile() throws {
        let journal = try FakeJournal()
        let long = String(repeating: "0123456789", count: 1_000_000)
        journal.logger(identity: "8:15", stream: "8:15").info("long", metadata: ["text": "\(long)"])
        #expect(try journal.receive()["RENEWALD_TEXT"] == long)
    }

    @Test(arguments: [("8:15", nil), ("8:15", "8:16"), (nil, "8:15")] as [(String?, String?)])
    func isNotUsedWhereStandardErrorIsSomethingElse(_ identity: String?, _ stream: String?) throws {
        let journal = try FakeJournal()
        journal.logger(identity: identity, stream: stream, level: .critical).critical("a test line")
        #expect(journal.isEmpty)
    }

    /// The queue of the socket is full, because nobody reads: the writer keeps a part and drops the
    /// rest, at once; what is kept comes later, with the number of those that were dropped.
    @Test func neverWaitsForAFullJournal() throws {
        let journal = try FakeJournal()
        let writer = try #require(JournalWriter(path: journal.path))
        var entry = JournalEntry()
        entry.add("MESSAGE", String(repeating: "m", count: 1000))
        var outcomes: [JournalWriter.Outcome] = []
        for _ in 0..<3000 { outcomes.append(writer.write(entry)) }
        #expect(outcomes.first == .handedOver)
        #expect(outcomes.last == .waiting)
        #expect(!outcomes.contains(.nobodyThere))
        var received = 0
        var note: String?
        while note == nil {
            let message = try journal.receive()["MESSAGE"] ?? ""
            if message.hasPrefix("m") { received += 1 } else { note = message }
        }
        #expect(note?.hasPrefix("\(3000 - received) lines were dropped") == true)
        #expect(received > JournalWriter.waitingLimitBytes / 1100)
    }

    @Test func tellsWhereNobodyListensAnyMore() throws {
        let journal = try FakeJournal()
        let writer = try #require(JournalWriter(path: journal.path))
        var entry = JournalEntry()
        entry.add("MESSAGE", "1")
        #expect(writer.write(entry) == .handedOver)
        journal.close()
        #expect(writer.write(entry) == .nobodyThere)
        let again = try FakeJournal(path: journal.path)
        #expect(writer.write(entry) == .handedOver)
        #expect(try again.receive()["MESSAGE"] == "1")
    }
}
