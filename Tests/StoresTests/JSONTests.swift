import Foundation
import Renewal
import Testing

@testable import Stores

/// The reader of answers that are read at each check.
struct JSONTests {
    @Test(arguments: [
        "", " ", "{", "{}}", "{} x", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
        #"{a:1}"#, "'a'", "nul", "tru", "True", "NaN", "-", "01", "1.", ".5", "1e", "+1",
        #""a"#, "\"\n\"", #""\x""#, #""\u12g4""#, #""\"#, #""\u1"#, "{}\u{FEFF}", "[1 2]",
        "[[[[[[[[[[", #"{"a":"b" "c":1}"#,
    ])
    func refusesWhatIsNoJSON(text: String) {
        #expect(throws: StoreFailure.malformed(field: "body")) {
            try JSONTree(Array(text.utf8))
        }
    }

    @Test func refusesWhatIsNoUTF8() {
        for bytes: [UInt8] in [
            [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80],
        ] {
            #expect(throws: StoreFailure.self) {
                try JSONTree(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8))
            }
        }
    }

    @Test func refusesDeepNesting() throws {
        let nested = { (depth: Int) in
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try JSONTree(nested(64))
        #expect(throws: StoreFailure.malformed(field: "body")) { try JSONTree(nested(65)) }
        #expect(throws: StoreFailure.malformed(field: "body")) { try JSONTree(nested(100_000)) }
    }

    @Test(arguments: [
        "plain", "", #"a\"b\\c\/d\b\f\n\r\t"#, #"\u00e4\u20AC\ud83d\ude00"#, "äöü 😀", #"\u0000"#,
    ])
    func readsTextsAsFoundationDoes(text: String) throws {
        let body = #" { "other" : [ -1.5e+3 , null , true , { } ] , "a" : "\#(text)" } "#
        let expected = try JSONDecoder().decode(
            [String: String].self,
            from: Data(
                #"{"a":"\#(text)"}"#.utf8))
        let json = try JSONObject(Array(body.utf8))
        #expect(try json.text("a") == expected["a"])
    }

    @Test(arguments: [
        (#"{"a":"\ud800"}"#, "a"), (#"{"a":"\ud800x"}"#, "a"), (#"{"a":"\udc00"}"#, "a"),
        (#"{"a":1}"#, "a"), (#"{"a":{}}"#, "a"), (#"{"a":"1","a":"2"}"#, "a"), ("[]", "body"),
        ("null", "body"),
    ])
    func namesWhatIsWrong(body: String, field: String) throws {
        #expect(throws: StoreFailure.malformed(field: field)) {
            _ = try JSONObject(Array(body.utf8)).text("a")
        }
    }

    @Test func findsWhatIsThere() throws {
        let body =
            #"{"n":null,"y":true,"no":false,"o":{"p":{"q":"deep"}},"l":[{"x":"1"},{}],"e":[]}"#
        let json = try JSONObject(Array(body.utf8))
        #expect(try json.text("missing") == nil)
        #expect(try json.text("n") == nil)
        #expect(try !json.has("n") && json.has("e"))
        #expect(try json.flag("y") == true)
        #expect(try json.flag("no") == false)
        #expect(try json.object("o")?.object("p")?.text("q") == "deep")
        #expect(try json.text("q") == nil)
        #expect(try json.objects("l")?.map { try $0.text("x") } == ["1", nil])
        #expect(try json.objects("e")?.isEmpty == true)
        #expect(throws: StoreFailure.malformed(field: "o.p.q")) {
            _ = try json.object("o")?.object("p")?.flag("q")
        }
        #expect(throws: StoreFailure.malformed(field: "l.[0].x")) {
            _ = try json.objects("l")?.first?.object("x")
        }
        #expect(throws: StoreFailure.malformed(field: "o")) { _ = try json.objects("o") }
    }

    /// A date of a refund is one however its name is written.
    @Test func findsNamesThatAreWrittenWithEscapes() throws {
        let json = try JSONObject(Array(#"{"revoc\u0061tionDate":7,"\ud800":1,"b\/c":2}"#.utf8))
        #expect(try json.integer("revocationDate") == 7)
        #expect(try json.integer("b/c") == 2)
        #expect(throws: StoreFailure.malformed(field: "a")) {
            _ = try JSONObject(Array(#"{"a":null,"\u0061":1}"#.utf8)).integer("a")
        }
    }

    @Test func passesOverAByteOrderMark() throws {
        #expect(try JSONObject(Array("\u{FEFF}{\"a\":\"x\"}".utf8)).text("a") == "x")
    }

    @Test(
        arguments: [
            ("17", 17), (#""17""#, 17), ("-17", -17), ("1.7e1", 17), ("17.0", 17), ("null", nil),
            ("1788000000000", 1_788_000_000_000), ("1.788e12", 1_788_000_000_000),
        ] as [(String, Int64?)])
    func readsWholeNumbers(text: String, expected: Int64?) throws {
        #expect(try JSONObject(Array(#"{"a":\#(text)}"#.utf8)).integer("a") == expected)
    }

    @Test(arguments: [
        "1.5", #""1.5""#, #""""#, "true", "{}", "[1]", "9223372036854775808", "1e400", #""x""#,
    ])
    func refusesWhatIsNoWholeNumber(text: String) {
        #expect(throws: StoreFailure.malformed(field: "a")) {
            _ = try JSONObject(Array(#"{"a":\#(text)}"#.utf8)).integer("a")
        }
    }

    @Test func readsFlagsInQuotesWhereTheyAreSent() throws {
        let json = try JSONObject(Array(#"{"a":"true","b":false,"c":"yes","d":1,"e":null}"#.utf8))
        #expect(try json.lenientFlag("a") == true)
        #expect(try json.lenientFlag("b") == false)
        #expect(try json.lenientFlag("e") == nil)
        #expect(try json.names("e") && !json.names("f"))
        for name in ["c", "d"] {
            #expect(throws: StoreFailure.malformed(field: name)) { _ = try json.lenientFlag(name) }
        }
        #expect(throws: StoreFailure.malformed(field: "a")) { _ = try json.flag("a") }
    }
}
