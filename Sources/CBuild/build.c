#include "build.h"

#ifndef RENEWALD_COMMIT
#define RENEWALD_COMMIT 0
#endif
#ifndef RENEWALD_CHANGED
#define RENEWALD_CHANGED 0
#endif
#ifndef RENEWALD_SWIFT
#define RENEWALD_SWIFT 0
#endif

uint64_t renewald_commit(void) { return RENEWALD_COMMIT; }
int32_t renewald_is_changed(void) { return RENEWALD_CHANGED; }
int32_t renewald_swift(void) { return RENEWALD_SWIFT; }
