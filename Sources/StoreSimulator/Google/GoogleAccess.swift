/// The checks that all calls of the Play Developer API begin with, in its order.
enum GoogleAccess {
    /// The package in the path, once the caller may see it.
    static func package(
        of request: Request, _ call: Call, _ world: inout World
    ) throws(Refusal) -> String {
        guard let bearer = world.bearer(of: request, at: call.now) else {
            throw Refusal(Failures.unauthorized(.google))
        }
        guard bearer.scopes.contains(Bearer.publisherScope) else {
            throw Refusal(
                Google.refusal(
                    403, "insufficientPermissions",
                    "Request had insufficient authentication scopes.", domain: "global",
                    status: "PERMISSION_DENIED"))
        }
        let package = request["package"]
        guard world.apps.contains(package) else {
            throw Refusal(
                Google.refusal(
                    404, "applicationNotFound",
                    "No application was found for the given package name."))
        }
        return package
    }
}

extension World {
    /// The access token of a request; nil when it is none or has ended.
    func bearer(of request: Request, at now: Instant) -> Bearer? {
        guard let token = request.bearer, let bearer = bearers[token], bearer.end > now else {
            return nil
        }
        return bearer
    }
}
