import Foundation
import TestSupport

/// A headless browser, which says what it makes of a page.
struct Browser {
    private let program: String

    /// Nil, and a printed line that says so, where there is none.
    init?() {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let names = ["chromium", "chromium-browser", "google-chrome"]
        let found = folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else {
            print("skipped: there is no chromium here")
            return nil
        }
        program = found
    }

    /// What it has measured of a drawing that is shown, in pixels of the window.
    struct Measured: Decodable {
        struct Text: Decodable {
            let text: String
            let box: [Double]
        }
        let window: Double
        /// More than the window's when the page has to be moved sideways.
        let pageWidth: Double
        let svg: [Double]
        let checks: [[Double]]
        let events: [[Double]]
        let bars: [[Double]]
        let texts: [Text]
        /// Marks without a tooltip.
        let untold: Int
        let paper: String
        let ink: String
    }

    /// Loads a copy of the page that may run a script of ours, and measures its drawings.
    func measure(_ html: String, width: Int, isDark: Bool = false) async throws -> [Measured] {
        let policy = try Regex(#"<meta http-equiv="Content-Security-Policy"[^>]*>"#)
        let copy = html.replacing(policy, with: "")
            .replacing("</body>", with: "<script>\(Self.script)</script></body>")
        let output = try await run(copy, width: width, isDark: isDark, ["--dump-dom"])
        let measured = try #"<pre id="measured">([^<]*)</pre>"#.firstGroup(
            in: output.standardOutput)
        return try JSONDecoder().decode([Measured].self, from: Data(measured.utf8))
    }

    /// Loads the page as it is; what the browser complains about.
    func complaints(about html: String) async throws -> [String] {
        try await run(html, width: 1000, ["--dump-dom", "--enable-logging=stderr"]).standardError
            .split(separator: "\n").map(String.init).filter { $0.contains("CONSOLE") }
    }

    /// The page as a picture, in PNG.
    func picture(of html: String, width: Int) async throws -> Data {
        try await inFolder { folder in
            let file = "\(folder)/page.png"
            _ = try await run(html, width: width, ["--screenshot=\(file)"])
            return try Data(contentsOf: URL(fileURLWithPath: file))
        }
    }

    private func run(
        _ html: String, width: Int, isDark: Bool = false, _ more: [String]
    ) async throws -> ChildProcess.Output {
        try await inFolder { folder in
            let file = "\(folder)/page.html"
            try html.write(toFile: file, atomically: true, encoding: .utf8)
            let colours = isDark ? ["--blink-settings=preferredColorScheme=0"] : []
            return try await ChildProcess.run(
                program,
                [
                    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--user-data-dir=\(folder)/profile", "--window-size=\(width),1200",
                ] + colours + more + ["file://\(file)"], within: .seconds(120))
        }
    }

    private func inFolder<Result>(_ work: (String) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.path + "/rw-page-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await work(folder)
    }

    private static let script = """
        const box = part => {
          const edges = part.getBoundingClientRect();
          return [edges.left, edges.top, edges.right, edges.bottom];
        };
        const measure = drawn => {
          const boxes = name => [...drawn.querySelectorAll(name)].map(box);
          return {
            window: innerWidth, pageWidth: document.documentElement.scrollWidth,
            svg: box(drawn), checks: boxes('.check'), events: boxes('.event'),
            bars: boxes('.bar'), texts: [...drawn.querySelectorAll('text')].map(text =>
              ({text: text.textContent.replace(/[<>&]/g, ''), box: box(text)})),
            untold: [...drawn.querySelectorAll('.check, .event, .bar')]
              .filter(mark => !mark.querySelector('title')?.textContent).length,
            paper: getComputedStyle(document.body).backgroundColor,
            ink: getComputedStyle(document.body).color,
          };
        };
        const measured = document.createElement('pre');
        measured.id = 'measured';
        measured.textContent = JSON.stringify(
          [...document.querySelectorAll('svg[role=img]')]
            .filter(svg => getComputedStyle(svg).display !== 'none').map(measure));
        document.body.append(measured);
        """
}

extension String {
    /// What the parentheses of the pattern match.
    fileprivate func firstGroup(in text: String) throws -> String {
        guard let match = try Regex(self).firstMatch(in: text), match.count > 1 else {
            throw BrowserFailure(description: "the page has no measures")
        }
        return match[1].substring.map(String.init) ?? ""
    }
}

struct BrowserFailure: Error, CustomStringConvertible {
    let description: String
}
