#ifndef RENEWALD_CSOCKETS_SHIM_H
#define RENEWALD_CSOCKETS_SHIM_H

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// memfd_create(2) is hidden from Swift by a feature macro, and syscall(2) is variadic.
///
/// A file in memory that can be sealed and that no child inherits (MFD_CLOEXEC | MFD_ALLOW_SEALING);
/// -1 with errno when there is none.
static inline int renewald_memory_file(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 3U);
}

/// prctl(2) is variadic.
///
/// From now on the kernel writes no core of this process, neither to a file nor to a program that collects them,
/// and lets no other process of the same user look into its memory; 0, or -1 with errno.
static inline int renewald_close_memory(void) {
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}

/// mallopt(3) is in no module of Swift's.
///
/// Lets all threads allocate from two heaps: what one of them frees serves the others, and two of
/// them seldom wait for each other. To be called before there is a second thread; false where
/// glibc refuses.
static inline int renewald_share_heaps(void) { return mallopt(M_ARENA_MAX, 2); }

/// malloc_trim(3) is in no module of Swift's.
///
/// Gives what is free in the heap back to the system, as far as it fills pages.
static inline void renewald_return_memory(void) { (void)malloc_trim(0); }

#endif
