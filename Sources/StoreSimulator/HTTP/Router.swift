/// Who answers a request: a method and a path, and what they lead to.
struct Route: Sendable {
    typealias Handler = @Sendable (Request) -> Reply

    /// Nil for any method.
    let method: String?
    /// Such as `/inApps/v1/subscriptions/{transaction}`. A named part stands for one segment, and
    /// may have an ending: `/orders/{order}:refund`.
    let path: String
    let endpoint: Endpoint
    let handler: Handler

    init(
        _ method: String?, _ path: String, _ endpoint: Endpoint = .other,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.endpoint = endpoint
        self.handler = handler
    }
}

/// Finds the route of a request. Of two that fit, a literal segment goes before a named one with an
/// ending, and that before any other named one.
struct Router: Sendable {
    enum Match {
        /// The named parts of the path come percent-decoded.
        case found(Route, parameters: [Parameter])
        /// The path is known, and the method is not.
        case otherMethod(Endpoint)
        case nothing
    }

    typealias Parameter = (name: String, value: String)

    private var root = Node()

    init(_ routes: [Route]) {
        for route in routes { root.add(route, Self.segments(route.path[...].utf8)[...]) }
    }

    func match(_ request: Request) -> Match {
        var node = root
        var parameters: [Parameter] = []
        for segment in request.segments {
            guard let next = node.step(segment, &parameters) else { return .nothing }
            node = next
        }
        if let route = node.routes.first(where: { ($0.method ?? request.method) == request.method })
        {
            return .found(route, parameters: parameters)
        }
        return node.routes.first.map { .otherMethod($0.endpoint) } ?? .nothing
    }

    /// The segments of a path, still percent-encoded, without empty ones.
    static func segments(_ path: Substring.UTF8View) -> [Substring] {
        path.split(separator: UInt8(ascii: "/")).map { Substring($0) }
    }
}

extension Router {
    /// What may follow after the same segments.
    private struct Node: Sendable {
        var routes: [Route] = []
        private var literals: [Substring: Node] = [:]
        private var named: [Named] = []

        /// A segment `{name}` with an ending, which is often empty.
        private struct Named: Sendable {
            var name: String
            var ending: String
            var node: Node
        }

        mutating func add(_ route: Route, _ path: ArraySlice<Substring>) {
            guard let segment = path.first else { return routes.append(route) }
            let rest = path.dropFirst()
            guard segment.first == "{", let end = segment.firstIndex(of: "}") else {
                return literals[segment, default: Node()].add(route, rest)
            }
            let name = String(segment[segment.index(after: segment.startIndex)..<end])
            let ending = String(segment[segment.index(after: end)...])
            let known = named.firstIndex { $0.name == name && $0.ending == ending }
            if known == nil {
                named.append(Named(name: name, ending: ending, node: Node()))
                named.sort { $0.ending.utf8.count > $1.ending.utf8.count }
            }
            for place in named.indices
            where named[place].name == name && named[place].ending == ending {
                named[place].node.add(route, rest)
            }
        }

        func step(_ segment: Substring, _ parameters: inout [Parameter]) -> Node? {
            if let node = literals[segment] { return node }
            // What is no percent-encoding stays as it was sent.
            let text = PercentCoding.decode(segment) ?? String(segment)
            for part in named where text.hasSuffix(part.ending) {
                parameters.append((part.name, String(text.dropLast(part.ending.count))))
                return part.node
            }
            return nil
        }
    }
}
