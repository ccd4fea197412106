import Testing

@testable import Daemon

/// Which column is what, and what a preset makes of it.
@Suite struct ImportColumnsTests {
    private func row(
        _ columns: ImportColumns, _ header: [String], _ values: [String]
    ) throws(ImportFault) -> [String?] {
        let line = ImportLine(
            columns: columns, places: try columns.places(in: header), width: header.count)
        let purchase = try line.purchase(.fields(values.map { Array($0.utf8) }), [])
        return ImportField.allCases.map { purchase[$0] }
    }

    @Test func takesTheColumnsInAnyOrder() throws {
        let found = try row(
            ImportColumns(), ["Token", " store ", "app", "more", "user_id", "product"],
            ["t", "google", "a", "?", "u", "p"])
        #expect(found == ["u", "google", "a", "p", "t", nil])
    }

    @Test func takesColumnsOfOtherNamesAndWhatNoColumnHas() throws {
        var columns = ImportColumns()
        columns.name(.userID, "customer")
        columns.name(.token, "purchase_token")
        columns.set(.store, to: "google")
        columns.set(.app, to: "a")
        let found = try row(
            columns, ["customer", "purchase_token", "product", "token"], ["u", "t", "p", "no"])
        #expect(found == ["u", "google", "a", "p", "t", nil])
    }

    @Test func takesTheOnlyAppOfAStore() throws {
        var columns = ImportColumns()
        columns.apps = ["google": "a"]
        let header = ["user_id", "store", "product", "token"]
        #expect(
            try row(columns, header, ["u", "google", "p", "t"])
                == ["u", "google", "a", "p", "t", nil])
        #expect(
            try row(columns, header, ["u", "apple", "p", "t"]) == [
                "u", "apple", nil, "p", "t", nil,
            ]
        )
    }

    @Test(arguments: [
        (["user_id", "store", "app", "product"], "there is no column token; there are"),
        (["user_id", "store", "app", "product", "token", "token"], "two columns have the name"),
        (["user_id", "store", "product", "token"], "there is no column app"),
    ]) func saysWhatIsWrongWithAHeader(_ header: [String], _ reason: String) {
        do {
            _ = try ImportColumns().places(in: header)
            Issue.record("not refused")
        } catch {
            #expect(error.reason.hasPrefix(reason), "\(error.reason)")
        }
    }

    /// A spreadsheet with a column for everything, and one long word.
    @Test func listsTheFirstOfManyColumns() {
        let header = (1...300).map { "column\($0)" } + [String(repeating: "x", count: 5000)]
        do {
            _ = try ImportColumns().places(in: header)
            Issue.record("not refused")
        } catch {
            #expect(error.reason.contains("column20 and 281 more. Name the one"))
        }
        #expect(ImportColumns.listed([String(repeating: "x", count: 5000)]).count == 41)
    }

    /// An archive, an executable, an encrypted file: nothing of it is printed.
    @Test func saysThatAFileIsNoText() {
        for head in ["PK\u{3}\u{4}rows\n", "a,b\u{0}c\n", "\u{1b}[2Ja,b"] {
            do {
                try ImportFile.requireText(Array(head.utf8)[...])
                Issue.record("not refused")
            } catch {
                #expect(error.reason == "it is no text: its first line has control characters")
            }
        }
        #expect(throws: Never.self) {
            try ImportFile.requireText(Array("a,b\tc\r\n\u{1},2\n".utf8)[...])
        }
    }

    @Test(arguments: [
        ([UInt8](), "it has 1 field, and the header has 2"),
        ([0xff], "user_id is not UTF-8"), ([0x61, 0x00], "user_id has a NUL"),
    ]) func saysWhatIsWrongWithALine(_ bytes: [UInt8], _ reason: String) throws {
        var columns = ImportColumns()
        for field in [ImportField.store, .app, .product] { columns.set(field, to: "x") }
        let line = ImportLine(
            columns: columns, places: try columns.places(in: ["user_id", "token"]), width: 2)
        let fields = bytes.isEmpty ? [bytes] : [bytes, [0x61]]
        do {
            _ = try line.purchase(.fields(fields), [])
            Issue.record("not refused")
        } catch {
            #expect(error.reason == reason)
        }
    }

    @Test(arguments: [
        (#"{"user_id": 17, "store": "google", "token": "t", "more": {}}"#, ["17", "google", "t"]),
        (#"{"User_ID": "ann", "store": null, "token": ""}"#, ["ann", nil, nil]),
    ]) func readsAnObject(_ json: String, _ expected: [String?]) throws {
        let line = ImportLine(columns: ImportColumns())
        let purchase = try line.purchase(.json, Array(json.utf8))
        #expect([purchase.userID, purchase.store, purchase.token] == expected)
    }

    @Test(arguments: [
        ("{", "it is no JSON object"), ("[]", "it is no JSON object"),
        (#"{"token": 5}"#, "token is no text"), (#"{"user_id": {}}"#, "user_id is no text"),
        (#"{"token": "a\u0000"}"#, "token has a NUL"),
        (#"{"user_id": "ann", "User_ID": "bob"}"#, "two members have the name user_id"),
    ]) func saysWhatIsWrongWithAnObject(_ json: String, _ reason: String) {
        do {
            _ = try ImportLine(columns: ImportColumns()).purchase(.json, Array(json.utf8))
            Issue.record("not refused")
        } catch {
            #expect(error.reason == reason)
        }
    }

    // MARK: Presets

    private static let revenueCat = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "product_identifier", "store",
        "store_transaction_id", "original_store_transaction_id", "is_sandbox",
    ]

    @Test(
        arguments: [
            (
                ["$RCAnonymousID:1", "u-17", "p", "app_store", "2", "1", "false"],
                ["u-17", "apple", "a", "p", "1", nil]
            ),
            (
                ["u-17", "$RCAnonymousID:1", "p", "mac_app_store", "2", "1", "false"],
                ["u-17", "apple", "a", "p", "1", nil]
            ),
            (
                ["$RCAnonymousID:1", "$RCAnonymousID:2", "p", "app_store", "2", "", "false"],
                ["$RCAnonymousID:2", "apple", "a", "p", "2", nil]
            ),
            (["u", "u", "p", "stripe", "2", "1", "false"], ["u", "stripe", nil, "p", "1", nil]),
        ] as [([String], [String?])]) func readsAnExportOfRevenueCat(
            _ values: [String], _ expected: [String?]
        ) throws
    {
        var columns = ImportColumns(.revenuecat)
        columns.apps = ["apple": "a", "google": "b"]
        #expect(try row(columns, Self.revenueCat, values) == expected)
    }

    /// Its export names Google's orders, by which the store is not asked.
    @Test func takesNoOrderIDForAToken() throws {
        var columns = ImportColumns(.revenuecat)
        columns.apps = ["google": "b"]
        let values = ["u", "u", "p", "play_store", "GPA.1-2", "GPA.1", "false"]
        #expect(throws: ImportFault.self) { try row(columns, Self.revenueCat, values) }
        columns.name(.token, "purchase_token")
        #expect(
            try row(columns, Self.revenueCat + ["purchase_token"], values + ["t"])
                == ["u", "google", "b", "p", "t", nil])
        // The other stores' tokens are where they were, in the same file.
        columns.apps["apple"] = "b"
        let apple = ["u", "u", "p", "app_store", "17", "18", "false"]
        let feed = Self.revenueCat + ["purchase_token"]
        #expect(
            try row(columns, feed, apple + [""])[4] == row(columns, Self.revenueCat, apple)[4])
        #expect(throws: ImportFault.self) { try row(columns, feed, values + [""]) }
    }

    /// Amazon is asked about a receipt by its id and the Amazon user's.
    @Test func asksForTheUsersOfAmazon() throws {
        var columns = ImportColumns(.revenuecat)
        columns.apps = ["amazon": "b"]
        let values = ["u", "u", "p", "amazon", "2", "r:1:11", "false"]
        #expect(throws: ImportFault.self) { try row(columns, Self.revenueCat, values) }
        columns.name(.storeUserID, "amazon_user_id")
        let feed = Self.revenueCat + ["amazon_user_id"]
        #expect(
            try row(columns, feed, values + ["l3"]) == ["u", "amazon", "b", "p", "r:1:11", "l3"])
        #expect(throws: ImportFault.self) { try row(columns, feed, values + [""]) }
        #expect(throws: ImportFault.self) {
            try row(
                ImportColumns(.osmand), ["orderid", "sku", "purchasetoken", "valid"],
                ["r", "net.osmand.amazon.pro", "r", "true"])
        }
    }

    @Test(arguments: [
        (
            ["GPA.1", "osm_live", "abc.AO-J1", "true"],
            ["GPA.1", "google", "g", "osm_live", "abc.AO-J1"]
        ),
        (
            ["1000", "net.osmand.maps.subscription.pro", "1000", "false"],
            ["1000", "apple", "i", "net.osmand.maps.subscription.pro", "1000"]
        ),
        (
            ["1000", "net.osmand.maps.subscription.pro", "", ""],
            ["1000", "apple", "i", "net.osmand.maps.subscription.pro", "1000"]
        ),
    ]) func readsATableOfOsmAnd(_ values: [String], _ expected: [String]) throws {
        var columns = ImportColumns(.osmand)
        columns.apps = ["apple": "i", "google": "g"]
        let found = try row(columns, ["orderid", "sku", "purchasetoken", "valid"], values)
        #expect(found == expected + [nil])
    }
}
