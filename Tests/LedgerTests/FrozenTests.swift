import Crypto
import Foundation
import Testing

@testable import Ledger

/// Databases in the field have run these files: what is changed in them later reaches nobody.
@Suite struct FrozenTests {
    /// The SHA-256 of each migration that has left the house, in hexadecimal.
    private static let frozen = [
        "v0001_create_renewald.sql":
            "1f40c79ca898426ef0c7b012d734687121b43ef87ce00ea75af9dbf08b748b66",
        "v0002_share_and_correct.sql":
            "3c4c52fd39f6a3f8f52f6a206f350d47dd7107ec8072f0b9a6aa864965db7332",
        "v0003_note_vain_questions.sql":
            "96256c4ade38f778ad5040be89c8ef09ed3f50ae26317935ae58aa967f8a655f",
        "v0004_let_apps_be_unknown.sql":
            "73d1814d94303cc402e8d7e9c064d6e8fbf4e240e716cea95f5ef455e0e863c8",
        "v0005_let_people_go_first.sql":
            "9bf62ed7081ea4c20ff46729514594eee1b13f9cc90b7b75fb6ed9b891146178",
        "v0006_name_what_fails.sql":
            "b9b248162e496cf72133a014ac2a3cb34d52a40e58584149c5daa5cbdb9da469",
        "v0007_keep_what_buyers_owe.sql":
            "45599ab899272c5e379bb28fbb7dbcdf75f9d2fe7506f83d636131969fcfa1f6",
        "v0008_keep_what_stores_say.sql":
            "fc1b6269196da1a0620d630981404ad0a3a3d064fb7b54d140ca0520c01357b9",
        "v0009_ask_about_refunds.sql":
            "b151bce3782b1256488c38f031a92eb0ee77812a8987c180328c2df1d4ac5218",
        "v0010_tell_of_lost_events.sql":
            "8da85eec4e7d67d32cd300cc5065316c6c4a0246b948ea56646982cdd7dd0a07",
        "v0011_hold_revocations.sql":
            "a55617300cf2c83dce0133fe3acc1ad00c86783a9b350b93f25e13eb9b3c7da0",
        "v0012_grant_less.sql":
            "5d78831a7e3efc19214e2035b7c233fba07b33c138944f103a412f4488375bfb",
        "v0013_keep_observations.sql":
            "65fe5acb966ae581c3df9b13836105ef192d47906e3e8609e801e5d39ed702e1",
        "v0014_pause_apps.sql":
            "2c5ea9c137c9e0368bc9b236880345b7789b2ba0eda9d1c54237a6a8e0a30fd6",
        "v0015_move_fleets_in.sql":
            "8ee9353cbf2145994d3ea77fe16664dcb390c0b02be5bc6e16602f2f6b7b82db",
        "v0016_compare_beliefs.sql":
            "edf06bf669590c3ff81a94ce099ac5a65b05df2c567537b0835d1967017bbe20",
        "v0017_encrypt_at_rest.sql":
            "52fe03f3d6aba0882c74931e26f52f3cc004f8273a318a44640c1b104e249f81",
        "v0018_explain_the_contract.sql":
            "8b582a3e547d03c81435caa511117bfdea0d371b72465bcb1386dbb894a94fd8",
        "v0019_mend_submissions.sql":
            "cf86b36dd5a973408c379b29660396a5c5f668f2d57a30106672c92efb9a96c3",
        "v0020_obey_citus.sql":
            "ab1c6bb88eaa5669b1c7771207bd1f5d4b5d14ff1e695284195bf90e874f20e6",
        "v0021_find_suspects.sql":
            "c20f07f58a3db610a6f76ddc1e31e6f76bcf70bd20eea0b76f094ddd0b8cfe39",
        "v0022_let_news_wait.sql":
            "ad7e7716939c95616cadfeb6d38a0861bb22f19414c18ae5273c66a37a39d4f7",
        "v0023_read_views_only.sql":
            "42dbe12eb6a5df48def100954a09315fecdf2f72f9c22b4a5f4bc71968e1be9c",
        "v0024_keep_what_was_heard.sql":
            "529c05c577a0377962f804a1c627e931223912c83691316dd050f43de610cafc",
        "v0025_keep_what_is_claimed.sql":
            "e867da1d4fe0bbb456cc415ab022e4e6978939f7ecdedad3c98c6bcebe7da571",
        "v0026_keep_who_came_last.sql":
            "c55b27b2e2fb572470dd7ea815998f56d9d60598353bd6a1a905734a2187beb8",
        "v0027_send_consumers_back.sql":
            "8bd0b13ce9f1c3b9f149227502a5abf8519f60a7dfd63cf5b346699f5b0daee7",
    ]

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Ledger/Migrations")

    @Test(arguments: frozen.keys.sorted())
    func aMigrationIsNotChanged(_ name: String) throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: name))
        let digest = SHA256.hash(data: bytes).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        #expect(
            digest == Self.frozen[name],
            "\(name) is frozen: take the change back, and add a migration with a new number")
    }

    @Test func eachFileIsOneStepInItsPlace() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(names.count == Migrator.version)
        for (index, name) in names.enumerated() {
            let number = String(index + 1)
            let padded = String(repeating: "0", count: 4 - number.count) + number
            #expect(name.hasPrefix("v\(padded)_") && name.hasSuffix(".sql"), "\(name)")
        }
    }
}
