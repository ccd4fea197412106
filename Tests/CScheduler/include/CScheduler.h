/// A world in which one thread runs everything, in an order that a seed draws, by a clock that leaps
/// to the next thing to do. While it lasts, on its thread, Swift's global executor, the monotonic
/// clocks and `getrandom` are its own; other threads notice nothing.
#ifndef CSCHEDULER_H
#define CSCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

/// Takes the calling thread. The clock starts at one day.
void renewald_world_begin(uint64_t seed);

/// Runs one job. False when nothing is left to do.
bool renewald_world_step(void);

/// Gives the thread back; forgets what was not run.
void renewald_world_end(void);

/// Nanoseconds of the virtual clock.
int64_t renewald_world_now(void);

/// Jobs that were run.
uint64_t renewald_world_steps(void);

/// What was run, in which order and when: the same for the same seed.
uint64_t renewald_world_digest(void);

/// Adds something that was seen to the digest.
void renewald_world_note(uint64_t value);

#endif
