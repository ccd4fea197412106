import Curl
import Renewal

enum GoogleRequest {
    /// Google Play Developer API, *purchases.subscriptionsv2.get*.
    static func subscription(
        _ token: PathSegment, of package: PathSegment, at host: StoreHost, accessToken: String
    ) -> HTTPRequest {
        host.request(
            path: "/androidpublisher/v3/applications/" + package.text
                + "/purchases/subscriptionsv2/tokens/" + token.text,
            headers: [HTTPHeader("Authorization", "Bearer " + accessToken)])
    }
}
