import CryptoExtras
import Foundation
import Testing

@testable import StoreSimulator

struct RSAKeysTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/rw-keys-\(UUID())"

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    @Test
    func theSecondStartHasTheKeysOfTheFirst() throws {
        defer { remove() }
        let file = folder + "/keys.pem"
        let (first, second) = (try RSAKeys(file: file), try RSAKeys(file: file))
        #expect(first.google.pkcs8PEMRepresentation == second.google.pkcs8PEMRepresentation)
        #expect(
            first.receiptLeaf.pkcs8PEMRepresentation == second.receiptLeaf.pkcs8PEMRepresentation)
        #expect(first.receiptLeaf.pkcs8PEMRepresentation != first.google.pkcs8PEMRepresentation)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["keys.pem"])
    }

    @Test
    func allThatStartAtOnceHaveTheSame() async throws {
        defer { remove() }
        let file = folder + "/keys.pem"
        let keys = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 {
                group.addTask { try RSAKeys(file: file).receiptRoot.pkcs8PEMRepresentation }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }

    @Test(arguments: [
        "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ])
    func aFileOfSomethingElseIsNamed(_ text: String) throws {
        defer { remove() }
        let file = folder + "/keys.pem"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let error = try #require(throws: RSAKeysError.self) { try RSAKeys(file: file) }
        #expect("\(error)".hasPrefix("\(file) does not hold"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(text.utf8))
    }
}
