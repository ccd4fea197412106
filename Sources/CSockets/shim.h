#ifndef RENEWALD_CSOCKETS_SHIM_H
#define RENEWALD_CSOCKETS_SHIM_H

#include <sys/syscall.h>
#include <unistd.h>

/// memfd_create(2) is hidden from Swift by a feature macro, and syscall(2) is variadic.
///
/// A file in memory that can be sealed and that no child inherits (MFD_CLOEXEC | MFD_ALLOW_SEALING);
/// -1 with errno when there is none.
static inline int renewald_memory_file(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 3U);
}

#endif
