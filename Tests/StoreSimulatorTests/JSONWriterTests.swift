import Testing

@testable import StoreSimulator

@Suite("Written JSON")
struct JSONWriterTests {
    @Test("has its commas, in objects and arrays and after empty ones")
    func knowsItsCommas() {
        let json = JSON.object { json in
            json.object("a") { _ in }
            json.array("b") { _ in }
            json.member("left out", nil as Int?)
            json.member("c", orNull: nil as String?)
            json.array("d") { json in
                json.element(1)
                json.object { $0.member("e", true) }
                json.object { _ in }
                json.element("f")
            }
            json.objects("g", [1, 2]) { $0.member("h", $1) }
            json.member("i", quoted: -3)
            json.array("j", plain: [[65], []])
            json.null("k")
            json.member("l", Instant(milliseconds: 1))
            json.member("m", JSON.emptyObject)
        }
        #expect(
            json.text
                == #"{"a":{},"b":[],"c":null,"d":[1,{"e":true},{},"f"],"g":[{"h":1},{"h":2}],"#
                + #""i":"-3","j":["A",""],"k":null,"l":"1970-01-01T00:00:00.001Z","m":{}}"#)
    }

    @Test("reads back as what was written, whatever the text")
    func escapes() throws {
        let all = String(decoding: (0..<128).map { UInt8($0) }, as: UTF8.self) + "é€😀\u{2028}"
        for text in ["", "plain", "say \"\\\"", "\n\t\u{0}\u{1f}", all] {
            #expect(JSON.object { $0.member("t", text) }.object["t"] as? String == text)
        }
        #expect(JSON.object { $0.member("t", "\n\u{1f}\"") }.text == #"{"t":"\u000a\u001f\""}"#)
    }
}
