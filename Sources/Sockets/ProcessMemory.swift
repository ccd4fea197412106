import CSockets

/// The memory of this process, which holds keys, tokens and receipts.
package enum ProcessMemory {
    /// Keeps it from core files and from other processes of the same user: to be called before
    /// anything secret is read. It cannot be taken back.
    ///
    /// - Returns: false where the kernel refuses.
    @discardableResult
    package static func close() -> Bool { renewald_close_memory() == 0 }
}
