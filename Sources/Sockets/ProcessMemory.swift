import CSockets

/// The memory of this process, which holds keys, tokens and receipts.
package enum ProcessMemory {
    /// Keeps it from core files and from other processes of the same user: to be called before
    /// anything secret is read. It cannot be taken back.
    ///
    /// - Returns: false where the kernel refuses.
    @discardableResult
    package static func close() -> Bool { renewald_close_memory() == 0 }

    /// Lets all threads allocate from one heap, so that what one of them frees serves the others:
    /// to be called before there is a second thread.
    /// <https://man7.org/linux/man-pages/man3/mallopt.3.html>
    package static func shareHeap() { _ = renewald_share_heap() }

    /// Gives the memory of a burst back to the system, which glibc keeps otherwise.
    /// <https://man7.org/linux/man-pages/man3/malloc_trim.3.html>
    package static func giveBack() { renewald_return_memory() }
}
