import CSockets

/// The memory of this process, which holds keys, tokens and receipts.
package enum ProcessMemory {
    /// Keeps it from core files and from other processes of the same user: to be called before
    /// anything secret is read. It cannot be taken back.
    ///
    /// - Returns: false where the kernel refuses.
    @discardableResult
    package static func close() -> Bool { renewald_close_memory() == 0 }

    /// Lets all threads allocate from two heaps, so that what one of them frees serves the others.
    /// With a single one they wait for its lock: a tenth of the CPU of a check. With eight for each
    /// core, which is glibc's default, memory lies idle in most of them. To be called before there
    /// is a second thread.
    /// <https://man7.org/linux/man-pages/man3/mallopt.3.html>
    package static func shareHeaps() { _ = renewald_share_heaps() }

    /// Gives the memory of a burst back to the system, which glibc keeps otherwise.
    /// <https://man7.org/linux/man-pages/man3/malloc_trim.3.html>
    package static func giveBack() { renewald_return_memory() }
}
