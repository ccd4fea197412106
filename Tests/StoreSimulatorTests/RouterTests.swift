import Testing

@testable import StoreSimulator

@Suite("The router")
struct RouterTests {
    /// What each route is named after, with what its path's parts were.
    private static let router = Router(
        [
            ("GET", "/orders/{order}"), ("POST", "/orders/{order}:refund"),
            ("GET", "/orders:batchGet"), ("GET", "/things/{id}"), ("GET", "/things/all"),
            ("POST", "/things/{id}/{action}"), ("GET", "/things/{id}/receipt"),
            (nil, "/any/{one}/of/{two}"),
        ].map { method, path in
            Route(method, path, .orders) { request in
                Reply(200, text: path)
            }
        })

    private func look(_ method: String, _ target: String) -> String {
        let request = Request(method: method, target: target)
        switch Self.router.match(request) {
        case .found(let route, let parameters):
            let parts = parameters.map { " \($0.name)=\($0.value)" }.joined()
            return route.path + parts
        case .otherMethod(let endpoint): return "other method of \(endpoint)"
        case .nothing: return "nothing"
        }
    }

    @Test(
        "finds who answers a path, and its named parts",
        arguments: rows(
            """
            method  target               found
            GET     /orders/GPA.1        /orders/{order} order=GPA.1
            GET     //orders//GPA.1/     /orders/{order} order=GPA.1
            GET     /orders/a%2Fb%20c?x  /orders/{order} order=a/b c
            GET     /orders/a%2          /orders/{order} order=a%2
            POST    /orders/1:2:refund   /orders/{order}:refund order=1:2
            POST    /orders/1%3Arefund   /orders/{order}:refund order=1
            GET     /orders/1:refund     other method of orders
            GET     /orders/1:nothing    /orders/{order} order=1:nothing
            POST    /orders/1            other method of orders
            GET     /orders:batchGet     /orders:batchGet
            GET     /orders              nothing
            GET     /orders/1/2          nothing
            GET     /                    nothing
            GET     /things/all          /things/all
            GET     /things/4            /things/{id} id=4
            GET     /things/4/receipt    /things/{id}/receipt id=4
            POST    /things/4/receipt    other method of orders
            POST    /things/4/cancel     /things/{id}/{action} id=4 action=cancel
            PATCH   /any/1/of/2          /any/{one}/of/{two} one=1 two=2
            GET     /any/1/off/2         nothing
            """))
    func finds(_ row: [String]) {
        #expect(look(row[0], row[1]) == row[2])
    }
}
