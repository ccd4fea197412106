/// A wide value behind one pointer. What holds it is cheap to copy and to hand on, and a call that
/// waits for its store keeps a pointer and not the value; to change it is to copy it.
@propertyWrapper
package indirect enum Boxed<Value> {
    case boxed(Value)

    package init(wrappedValue: Value) {
        self = .boxed(wrappedValue)
    }

    package var wrappedValue: Value {
        get {
            switch self {
            case .boxed(let value): value
            }
        }
        set { self = .boxed(newValue) }
    }
}

extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
extension Boxed: Sendable where Value: Sendable {}
