import Crypto
import CryptoExtras
import FoundationEssentials
import SwiftASN1
import X509

/// The keys of a simulator and its clients. Certificates and all keys but those of `rsa` are new at
/// each start; the names that go with them follow the seed.
struct Credentials: Sendable {
    let issuerID: String
    let keyID: String
    let amazonSecret: String
    /// Signs for the queue of Amazon's notifications.
    let awsKey: AWSKey
    /// Apple's app-specific shared secret, which `verifyReceipt` wants.
    let appleSecret: String
    let serviceAccount = "renewald@storesim.iam.gserviceaccount.example"

    let appleKey: P256.Signing.PrivateKey
    let googleKey: _RSA.Signing.PrivateKey
    let googleKeyID: String
    let signer: AppleSigner
    let receipts: ReceiptSigner
    let serverCertificates: [[UInt8]]
    let serverKey: P256.Signing.PrivateKey
    let authorityPEM: String

    init(seed: UInt64, rsa: RSAKeys) throws {
        var names = Seeded(seed: seed ^ 0x6372_6564)
        issuerID = names.uuid()
        keyID = names.appleKeyID()
        amazonSecret = names.amazonSecret()
        googleKeyID = names.uuid().filter { $0 != "-" }
        appleSecret = names.appleSecret()
        awsKey = AWSKey(secret: names.awsSecret())
        appleKey = P256.Signing.PrivateKey()
        googleKey = rsa.google
        signer = try AppleSigner()
        receipts = try ReceiptSigner(rsa)
        serverKey = P256.Signing.PrivateKey()
        let authority = try Authority(
            name: try DistinguishedName {
                CommonName("storesim CA")
                OrganizationName("storesim")
            }, key: Certificate.PrivateKey(P384.Signing.PrivateKey()))
        let server = try authority.server(publicKey: Certificate.PublicKey(serverKey.publicKey))
        serverCertificates = [try server.derBytes()]
        authorityPEM = try authority.certificate.serializeAsPEM().pemString
    }
}

/// What a client needs, written into a folder.
struct ClientFiles {
    let credentials: Credentials
    let directory: String
    let app: String
    let origin: String
    let sandboxOrigin: String
    let usesTLS: Bool

    static func makeFolder(_ directory: String) throws {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: directory), withIntermediateDirectories: true)
    }

    /// Writes all files.
    ///
    /// - Throws: when the folder cannot be written.
    func write() throws {
        let folder = URL(fileURLWithPath: directory)
        let signer = credentials.signer
        try put(credentials.authorityPEM, "ca.pem")
        try put(signer.rootPEM, "apple-root.pem")
        try Data(signer.rootDER).write(to: folder.appendingPathComponent("apple-root.der"))
        try putSecret(credentials.appleKey.pemRepresentation, "apple.p8")
        try putSecret(credentials.appleSecret, "apple.secret")
        try put(credentials.receipts.rootPEM, "apple-receipt-root.pem")
        try putSecret(serviceAccountText, "google.json")
        try putSecret(credentials.amazonSecret, "amazon.secret")
        try putSecret(credentials.awsKey.secret, "amazon-sqs.key")
        try put(app, "apple", "google", "amazon")
        try put(origin, "url")
        try put(sandboxOrigin, "sandbox-url")
        try put(configurationText, "renewald.toml")
    }

    private func put(_ text: String, _ names: String...) throws {
        for name in names {
            let file = URL(fileURLWithPath: directory).appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
        }
    }

    /// A secret is for its owner alone, as a client with care expects of its key files.
    private func putSecret(_ text: String, _ name: String) throws {
        try Self.putSecret(text, name, in: directory)
    }

    static func putSecret(_ text: String, _ name: String, in directory: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory).appendingPathComponent(name))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: "\(directory)/\(name)")
    }

    private var serviceAccountText: String {
        let account = JSON.object(capacity: 3000) { json in
            json.member("type", "service_account")
            json.member("project_id", "storesim")
            json.member("private_key_id", credentials.googleKeyID)
            json.member("private_key", credentials.googleKey.pkcs8PEMRepresentation + "\n")
            json.member("client_email", credentials.serviceAccount)
            json.member("client_id", "100200300400500600700")
            json.member("token_uri", origin + "/token")
            json.member("universe_domain", "googleapis.com")
        }
        return account.text
    }

    /// A configuration of renewald, as a fragment.
    var configurationText: String {
        let authority = usesTLS ? "\ntls_ca = \"file:\(directory)/ca.pem\"" : ""
        return """
            # Points renewald at the simulator. Credentials are those that it generated.

            [[app]]
            store = "apple"
            id = "\(app)"
            issuer_id = "\(credentials.issuerID)"
            key_id = "\(credentials.keyID)"
            private_key = "file:\(directory)/apple.p8"
            shared_secret = "file:\(directory)/apple.secret"

            [[app]]
            store = "google"
            id = "\(app)"
            service_account = "file:\(directory)/google.json"

            [[app]]
            store = "amazon"
            id = "\(app)"
            shared_secret = "file:\(directory)/amazon.secret"

            [store.apple]
            base_url = "\(origin)"
            sandbox_url = "\(sandboxOrigin)"
            verify_receipt_url = "\(origin)/verifyReceipt"
            sandbox_verify_receipt_url = "\(sandboxOrigin)/verifyReceipt"
            root_certificate = "file:\(directory)/apple-root.pem"\(authority)

            [store.google]
            base_url = "\(origin)"
            pubsub_url = "\(origin)"\(authority)

            [store.amazon]
            base_url = "\(origin)"
            sandbox_url = "\(sandboxOrigin)"\(authority)

            """
    }
}
