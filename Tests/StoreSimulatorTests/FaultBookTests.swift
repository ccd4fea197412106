import Testing

@testable import StoreSimulator

@Suite("Whom faults meet")
struct FaultBookTests {
    /// What is asked for, whom the fault is for, and whether it is met.
    static let table = rows(
        """
        asked                      fault                                               met
        apple statuses a 1         {"kind":"status"}                                   yes
        google token - -           {"kind":"status"}                                   no
        google token - -           {"kind":"status","endpoint":"token"}                yes
        google subscription a 1    {"kind":"status","endpoint":"token"}                no
        google subscription a 1    {"kind":"token_down"}                               no
        google token - -           {"kind":"token_down"}                               yes
        google voided a -          {"kind":"status","app":"a"}                         yes
        google voided b -          {"kind":"status","app":"a"}                         no
        apple history a 1          {"kind":"status","endpoint":"history"}              yes
        apple statuses a 1         {"kind":"status","endpoint":"history"}              no
        apple verify_receipt a 1   {"kind":"receipt_status","status":21005}            yes
        apple statuses a 1         {"kind":"receipt_status","status":21005}            no
        amazon receipt a 1         {"kind":"wrong_signature"}                          no
        apple statuses a 1         {"kind":"status","at":"2026-01-03T00:00:00Z"}       no
        apple statuses a 1         {"kind":"status","at":"2026-01-01T00:00:00Z"}       yes
        apple statuses a 1         {"kind":"status","at":"2025-12-30","for":"P1D"}     no
        apple statuses a 1         {"kind":"status","at":"2025-12-31","for":"P2D"}     yes
        apple statuses a 1         {"kind":"status","share":0}                         no
        apple statuses a 1         {"kind":"status","purchase":2}                      no
        """)

    @Test("is as the table says", arguments: table)
    func meets(_ row: [String]) throws {
        let words = row[0].split(separator: " ").map(String.init)
        let target = FaultTarget(
            store: try #require(StoreName(rawValue: words[0])),
            endpoint: try #require(Endpoint(rawValue: words[1])),
            app: words[2] == "-" ? nil : words[2], purchase: Int(words[3]))
        let request = try ControlReader.read(FaultRequest.self, Array(row[1].utf8))
        var book = FaultBook(seed: 1)
        _ = book.add(try ControlReader.fault(request, at: Days.start))
        #expect((book.pick(target, at: Days.start).fault != nil) == (row[2] == "yes"))
    }

    @Test("does not depend on the order in which purchases are asked about")
    func isFreeOfOrder() throws {
        let targets = (1...20).map {
            FaultTarget(store: .apple, endpoint: .statuses, app: "a", purchase: $0)
        }
        let runs = [targets, targets.reversed()].map { order in
            var book = FaultBook(seed: 5)
            var fault = Fault(kind: .status)
            fault.share = 0.5
            fault.latency = .uniform(0, 1000)
            _ = book.add(fault)
            var delays: [Int: Int64] = [:]
            for target in order {
                let met = book.pick(target, at: Days.start)
                delays[target.purchase ?? 0] = met.fault.map { _ in met.delayMilliseconds }
            }
            return delays
        }
        #expect(runs[0] == runs[1])
        #expect((3...17).contains(runs[0].count))
    }

    @Test("slowness adds to another fault, and every latency keeps to its distribution")
    func isSlow() throws {
        var book = FaultBook(seed: 5)
        var slow = Fault(kind: .slow)
        slow.latency = .fixed(70)
        _ = book.add(slow)
        _ = book.add(Fault(kind: .status))
        let target = FaultTarget(store: .google, endpoint: .subscription, app: nil, purchase: 1)
        let met = book.pick(target, at: Days.start)
        #expect(met.fault?.kind == .status && met.delayMilliseconds == 70 && met.ids == [1, 2])
        var chance = Seeded(seed: 1)
        let draw = { (text: String) in
            let latency = try #require(Latency(text: text))
            #expect(latency.text == text)
            return (0..<2000).map { _ in latency.draw(&chance) }.sorted()
        }
        #expect(try draw("fixed 80") == Array(repeating: 80, count: 2000))
        let even = try draw("uniform 50 200")
        #expect(even[0] >= 50 && even[1999] <= 200 && (110...140).contains(even[1000]))
        let bell = try draw("normal 100 20")
        #expect((97...103).contains(bell[1000]) && (113...127).contains(bell[1682]))
        let real = try draw("lognormal 80 2000")
        #expect((70...92).contains(real[1000]) && (1200...3200).contains(real[1980]))
    }

    @Test(
        "is refused when it is not understood",
        arguments: [
            #"{"kind":"status","endpoint":"nowhere"}"#, #"{"kind":"status","share":2}"#,
            #"{"kind":"receipt_status"}"#, #"{"kind":"receipt_status","status":500}"#,
            #"{"kind":"token_down","store":"apple"}"#, #"{"kind":"slow","latency":"soon"}"#,
            #"{"kind":"slow","latency":"uniform 9 1"}"#, #"{"kind":"slow","latency_ms":-1}"#,
            #"{"kind":"throttle","retry_after_text":"a\r\nb"}"#, #"{"kind":"status","count":-1}"#,
        ])
    func refuses(_ body: String) throws {
        #expect(try Stage().control("POST", "/faults", body).status == 400)
    }
}
