import Glibc

/// For whom this process runs.
package enum ProcessOwner {
    package static var isRoot: Bool { geteuid() == 0 }
}
