package import Configuration
import Postgres

extension Settings {
    /// Reads the configuration, and looks at the address of the database as libpq will: one that
    /// can never be right is no database that is away, which would be waited for.
    ///
    /// - Throws: every fault of the file, else that of the address.
    package static func loadWhole(
        file: String, environment: [String: String]
    ) throws(ConfigurationFaults) -> Settings {
        let settings = try load(file: file, environment: environment)
        if let sentence = PostgresSettings.fault(of: settings.database.url) {
            throw ConfigurationFaults([
                ConfigurationFault(file: file, key: "database.url", sentence: sentence)
            ])
        }
        return settings
    }
}

extension Services {
    /// Why the address of a database can never be right; nil where it can be tried.
    package static func fault(ofAddress conninfo: String) -> String? {
        PostgresSettings.fault(of: conninfo)
    }
}
