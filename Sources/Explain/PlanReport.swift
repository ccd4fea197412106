package import Renewal

/// What `renewald plan` has found out.
package struct PlanReport: Sendable {
    /// In the order of the configuration.
    package var apps: [AppPlan] = []
    /// Those that have purchases and are not configured.
    package var unknownApps: [UnknownApp] = []

    package init() {}
}

/// The forecast of an app.
package struct AppPlan: Sendable {
    package let app: AppKey
    package let forecast: Forecast
    /// With so many purchases more; nil where that was not asked for.
    package var more: Forecast?
    /// What would help, as sentences.
    package var advice: [String] = []
    /// Nothing is known of the fleet but its size.
    package var isAssumed = false

    package init(_ app: AppKey, _ forecast: Forecast) {
        self.app = app
        self.forecast = forecast
    }
}
