import Ledger
import Renewal
import Sockets

/// The lines of a batch: those that have a purchase, and those of which it is known already that
/// they have none.
struct ImportLines: Sendable {
    /// Before these lines; what was counted up to them.
    private(set) var place: ImportPlace
    private(set) var purchases = ImportBatch()
    private let rejects: RejectsFile?
    private var lines: [Line] = []
    /// Of each purchase, its line.
    private var origins: [Int] = []
    private var end: FileLine.Place?
    private var byteCount = 0

    private struct Line {
        let number: Int
        /// What is wrong with it, before anything is asked of the database.
        var fault: String?
        /// As it stands, where it is kept. Of one that is too long there are several.
        var bytes: [UInt8]
        /// A further piece of the line before.
        var isMore = false
    }

    private static let countLimit = 2000
    private static let byteLimit = 1 << 20

    init(_ place: ImportPlace, _ rejects: RejectsFile?) {
        self.place = place
        self.rejects = rejects
    }

    var isEmpty: Bool { lines.isEmpty }
    var isFull: Bool { lines.count >= Self.countLimit || byteCount >= Self.byteLimit }

    mutating func add(_ line: FileLine, _ form: ImportLine) {
        end = line.end
        byteCount += line.bytes.count
        var kept = Line(number: line.number, bytes: rejects == nil ? [] : line.bytes)
        if line.content == .more {
            kept.isMore = true
        } else if line.content == .json, line.bytes.allSatisfy(\.isBlank) {
            return
        } else {
            do throws(ImportFault) {
                let purchase = try form.purchase(line.content, line.bytes)
                purchases.add(
                    userID: purchase.userID.map(UserID.init), store: purchase.store,
                    app: purchase.app.map(AppID.init),
                    product: purchase.product.map(ProductID.init),
                    token: purchase.token.map(StoreToken.init),
                    storeUserID: purchase.storeUserID.map(StoreUserID.init))
                origins.append(lines.count)
            } catch {
                kept.fault = error.reason
            }
        }
        lines.append(kept)
    }

    /// All that is wrong, in the order of the file.
    func faults(with taken: TakenBatch) -> [(line: Int, reason: String)] {
        marked(with: taken).compactMap { line in line.fault.map { (line.number, $0) } }
    }

    private func marked(with taken: TakenBatch) -> [Line] {
        var lines = lines
        for fault in taken.faults { lines[origins[fault.index]].fault = fault.reason }
        return lines
    }

    /// Writes the bad lines to their file, over what an attempt before has written there.
    ///
    /// - Returns: the place after these lines.
    func settle(_ taken: TakenBatch) throws(WriteFailure) -> ImportPlace {
        let lines = marked(with: taken)
        var place = place
        place.submitted += taken.submitted
        place.known += taken.known
        place.bad += Int64(lines.count { $0.fault != nil })
        if let end { (place.byte, place.line) = (end.byte, end.line) }
        if let rejects {
            // A piece of a line that is too long belongs to the line, also where that was of the
            // batch before: no other line has pieces.
            let bad = lines.filter { $0.fault != nil || $0.isMore }.map(\.bytes)
            place.rejected = try rejects.add(bad, after: place.rejected)
        }
        return place
    }

    /// An empty batch behind this one.
    func next(from place: ImportPlace) -> ImportLines { ImportLines(place, rejects) }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0d }
}
