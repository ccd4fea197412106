/// The chances of a forecast: the same at each run, so that the same fleet has the same forecast.
struct ForecastChance {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    /// From 0 to 1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ mixed >> 31) >> 11) / 9_007_199_254_740_992
    }

    /// From 0 to 1, as evenly spread as can be over numbers that follow each other.
    static func spread(_ number: UInt64) -> Double {
        let golden = Double(number) * 0.618_033_988_749_894_9
        return golden - golden.rounded(.down)
    }

    mutating func chance(_ share: Habits.Share) -> Bool { next() < share.probability }

    mutating func within(_ range: Range<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound) * next()
    }
}

/// Values with weights: of many alike one was looked at.
struct WeightedSamples {
    private var samples: [(value: Double, weight: Double)] = []
    private(set) var weight = 0.0

    mutating func add(_ value: Double, weight: Double) {
        samples.append((value, weight))
        self.weight += weight
    }

    var greatest: Double? { samples.map(\.value).max() }

    /// The least value that so large a share of the weight does not exceed; nil without any.
    func quantile(_ share: Double) -> Double? {
        var sum = 0.0
        let sorted = samples.sorted { $0.value < $1.value }
        for sample in sorted {
            sum += sample.weight
            if sum >= share * weight { return sample.value }
        }
        return sorted.last?.value
    }
}
