import Configuration
import Foundation
import Ledger
import Testing

@testable import Daemon

/// What may stand in `[encryption] keys`, and what is said of all else.
@Suite struct EncryptionKeyTests {
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()
    private static let other = Data(repeating: 8, count: 32).base64EncodedString()

    private func cipher(_ lines: String, _ environment: [String: String]) throws -> Cipher? {
        let settings = try Settings.parse(
            text: "[encryption]\n" + lines, file: "f.toml", environment: environment)
        return try AtRestKeys.cipher(settings.encryption, environment: environment)
    }

    private func faults(_ lines: String, _ environment: [String: String] = [:]) -> [String] {
        do {
            _ = try cipher(lines, environment)
            return []
        } catch let error as ConfigurationFaults {
            return error.faults.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func nothingIsEncryptedWithoutAKey() throws {
        #expect(try cipher("", [:]) == nil)
    }

    @Test func theNewestEncryptsUnlessAllIsDecrypted() throws {
        let environment = ["ONE": Self.key, "TWO": Self.other]
        let keys = #"keys = ["env:TWO", "env:ONE"]"#
        let cipher = try #require(try cipher(keys, environment))
        #expect(cipher.keys.count == 2)
        #expect(cipher.newest?.id == cipher.keys.first?.id)
        let off = try #require(try self.cipher(keys + "\nmode = \"decrypt\"", environment))
        #expect(off.newest == nil && off.keys.map(\.id) == cipher.keys.map(\.id))
    }

    @Test func everyFaultIsToldByItsPlaceAndNoneTellsTheKey() {
        let environment = [
            "ONE": Self.key, "SAME": Self.key, "SHORT": "c2hvcnQ=", "TEXT": "no base64 at all!",
        ]
        let place = "f.toml:2: encryption.keys: "
        let told = faults(
            #"keys = ["env:ONE", "env:SAME", "env:SHORT", "env:TEXT", "env:GONE"]"#, environment)
        #expect(
            told == [
                place + "two of the keys are the same",
                place
                    + "the key has 5 bytes, and needs 32: make one with `openssl rand -base64 32`",
                place + "the key is not base64: make one with `openssl rand -base64 32`",
                place + "the environment variable GONE is not set",
            ])
        for fault in told {
            for value in environment.values { #expect(!fault.contains(value)) }
        }
    }

    @Test(arguments: [
        (#"keys = "env:ONE""#, "must be a list of strings, is a string"),
        (#"keys = ["env:ONE", 1]"#, "must be a list of strings, has a whole number in it"),
        (#"keys = []"#, "must not be empty"),
        (#"keys = ["c2VjcmV0"]"#, "has an entry that must be"),
        (#"keys = ["env:ONE", "env:ONE"]"#, "names an entry twice"),
        (#"mode = "off""#, #"must be "encrypt" or "decrypt""#),
        (#"key = "env:ONE""#, "is not known"),
    ])
    func aWrongFormIsTold(_ lines: String, _ what: String) {
        let told = faults(lines, ["ONE": Self.key])
        #expect(told.count == 1 && told[0].contains(what), "\(told)")
    }

    @Test func aKeyIsKnownByAnIDThatIsAlwaysTheSame() {
        let id = AtRestKeys.sealingKey(Array(repeating: 7, count: 32)).id
        #expect("\(id)".count == 16)
        #expect(id == AtRestKeys.sealingKey(Array(repeating: 7, count: 32)).id)
        #expect(id != AtRestKeys.sealingKey(Array(repeating: 8, count: 32)).id)
    }
}
