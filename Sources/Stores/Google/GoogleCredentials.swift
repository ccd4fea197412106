import Crypto
package import Renewal
import CryptoExtras

/// What Google knows an app and its backend by.
///
/// <https://developers.google.com/android-publisher/getting_started>
package struct GoogleCredentials: Sendable {
    package let packageName: AppID
    /// Its `token_uri` is asked for access tokens.
    package let account: GoogleServiceAccount
    /// A PEM file of the only authorities to trust at the token endpoint; nil is the system's.
    package let certificateAuthorityFile: String?

    package init(
        packageName: AppID, account: GoogleServiceAccount, certificateAuthorityFile: String? = nil
    ) {
        self.packageName = packageName
        self.account = account
        self.certificateAuthorityFile = certificateAuthorityFile
    }
}

/// A service account's key file, read and checked. One may serve many apps.
package struct GoogleServiceAccount: Sendable {
    /// Its `client_email`.
    package let email: String
    let project: String?
    let keyID: String?
    let key: _RSA.Signing.PrivateKey
    let tokenURL: String

    /// <https://google.aip.dev/auth/4112>
    private struct File: Decodable {
        let type: String
        let project_id: String?
        let private_key_id: String?
        let private_key: String
        let client_email: String
        let token_uri: String?
    }

    /// - Throws: when it is not a service account's key file.
    package init(json: Secret) throws(CredentialFault) {
        let file: File
        do throws(StoreFailure) {
            file = try JSON.decode(File.self, from: json.text.utf8, calling: "service_account")
        } catch {
            throw Self.fault(of: error)
        }
        guard file.type == "service_account" else {
            throw CredentialFault(field: "type", sentence: "is not service_account")
        }
        guard !file.client_email.isEmpty else {
            throw CredentialFault(field: "client_email", sentence: "is empty")
        }
        let tokenURL = file.token_uri ?? Self.defaultTokenURL
        guard URLText.authority(of: tokenURL) != nil else {
            throw CredentialFault(field: "token_uri", sentence: "is not an https URL")
        }
        do {
            key = try _RSA.Signing.PrivateKey(pemRepresentation: file.private_key)
        } catch {
            throw CredentialFault(
                field: "private_key", sentence: "is not an RSA key of 2048 bits or more in PEM")
        }
        email = file.client_email
        project = file.project_id
        keyID = file.private_key_id
        self.tokenURL = tokenURL
    }

    private static func fault(of failure: StoreFailure) -> CredentialFault {
        guard case .malformed(let field) = failure, field != "service_account" else {
            return CredentialFault(field: "service_account", sentence: "is not JSON")
        }
        return CredentialFault(field: field, sentence: "is missing or of the wrong type")
    }

    private static let defaultTokenURL = "https://oauth2.googleapis.com/token"
}
