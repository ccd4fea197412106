import FoundationEssentials
import Glibc
import Testing

@testable import Configuration

/// Secrets are read from real files in a folder of their own.
@Suite final class SecretTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/renewald-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func write(_ name: String, _ bytes: [UInt8], mode: UInt = 0o600) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func source(_ form: SecretSource.Form) -> SecretSource {
        SecretSource(
            form: form, place: ConfigurationPlace(file: "f.toml", line: 7, key: "app.private_key"))
    }

    private func fault(
        _ form: SecretSource.Form, _ environment: [String: String] = [:]
    ) -> String? {
        do {
            _ = try source(form).read(environment: environment)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func readsACredentialAFileAndAVariable() throws {
        let path = try write("key", Array("fhunter2\r\n\n".utf8))
        let environment = ["CREDENTIALS_DIRECTORY": folder, "KEY": "fhunter2"]
        for form in [
            SecretSource.Form.credential(name: "key"), .file(path: path), .environment(name: "KEY"),
        ] {
            #expect(try source(form).read(environment: environment).text == "fhunter2")
        }
    }

    @Test func followsALink() throws {
        let path = try write("key", Array("fhunter2".utf8))
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/link", withDestinationPath: path)
        let form = SecretSource.Form.file(path: "\(folder)/link")
        #expect(try source(form).read(environment: [:]).text == "fhunter2")
    }

    @Test func saysWhyASecretCannotBeRead() throws {
        let empty = try write("empty", [])
        let blank = try write("blank", Array("\n\n".utf8))
        let huge = try write("huge", [UInt8](repeating: 65, count: SecretSource.sizeLimitBytes + 1))
        let missing = "\(folder)/missing"
        let place = "f.toml:7: app.private_key: "
        #expect(fault(.file(path: missing)) == place + "\(missing) does not exist")
        #expect(fault(.file(path: folder)) == place + "\(folder) is not a plain file")
        #expect(fault(.file(path: empty)) == place + "\(empty) is empty")
        #expect(fault(.file(path: blank)) == place + "the secret is empty")
        #expect(fault(.file(path: huge)) == place + "\(huge) is larger than 1048576 bytes")
        #expect(
            fault(.environment(name: "KEY"), ["KEY": ""]) == place + "the secret is empty")
        #expect(
            fault(.credential(name: "x"), ["CREDENTIALS_DIRECTORY": folder])
                == place + "\(folder)/x does not exist")
    }

    /// Without a unit root reads what the unit would be given, if nobody else can have put it there.
    @Test func rootReadsTheFolderOfTheUnits() throws {
        guard ProcessOwner.isRoot else { return }
        chmod(folder, 0o700)
        let path = try write("key", Array("fhunter2".utf8), mode: 0o600)
        let place = ConfigurationPlace(file: "f.toml", line: 7, key: "app.private_key")
        func read(isRoot: Bool = true) -> String {
            do throws(ConfigurationFault) {
                let bytes = try SecretSource.readAsRoot(
                    "key", at: place, from: folder, isRoot: isRoot)
                return String(decoding: bytes, as: UTF8.self)
            } catch {
                return error.sentence
            }
        }
        #expect(read() == "fhunter2")
        #expect(read(isRoot: false).contains("or run it as root, who reads \(folder)"))
        chmod(path, 0o620)
        #expect(read().contains("\(path) can be changed by others than root"))
        chmod(path, 0o600)
        chown(path, 65_534, 65_534)
        #expect(read().contains("\(path) can be changed by others than root"))
        chown(path, 0, 0)
        chmod(folder, 0o777)
        #expect(read().contains("\(folder) can be changed by others than root"))
        chmod(folder, 0o700)
        unlink(path)
        #expect(read().hasSuffix(", and \(path) does not exist"))
    }

    @Test func inspectsEverySecretAndFileAtOnce() throws {
        let open = try write("open", Array("fhunter2".utf8), mode: 0o644)
        let closed = try write("closed", Array("fhunter2".utf8), mode: 0o640)
        let text = """
            [[app]]
            store = "google"
            id = "a"
            service_account = "file:\(open)"
            [[app]]
            store = "google"
            id = "b"
            service_account = "file:\(closed)"
            [[app]]
            store = "amazon"
            id = "c"
            shared_secret = "file:\(folder)/missing"
            """
        let configuration = try Settings.parse(text: text, file: "f.toml", environment: [:])
        let secrets = configuration.apps.flatMap(\.secrets)
        #expect(secrets.compactMap { $0.fault(environment: [:])?.line } == [12])
        #expect(
            secrets.compactMap { $0.warning()?.description } == [
                "f.toml:4: app.service_account: every user of this machine can read \(open): "
                    + "run chmod o-r \(open)"
            ])
    }
}
