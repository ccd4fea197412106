#pragma once

#include <stdint.h>

// What `scripts/stamp` has said of the source when the program was built. Numbers, so that no
// pointer comes out; 0 where it was built without it.

/// The first twelve hexadecimal digits of the commit.
uint64_t renewald_commit(void);
/// 1 where the source was not as committed.
int32_t renewald_is_changed(void);
/// The Swift that built it: 60301 is 6.3.1.
int32_t renewald_swift(void);
