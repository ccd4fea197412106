#define _GNU_SOURCE
#include "CScheduler.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#define SWIFTCALL __attribute__((swiftcall))

// Swift's runtime: what it calls instead of its own executor, and how a job is run. Two words name
// the executor to run on; zeros are the global one.
typedef SWIFTCALL void (*enqueue_original)(void *job);
typedef SWIFTCALL void (*delay_original)(unsigned long long nanoseconds, void *job);
typedef SWIFTCALL void (*deadline_original)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job);
extern SWIFTCALL void (*swift_task_enqueueGlobal_hook)(void *job, enqueue_original);
extern SWIFTCALL void (*swift_task_enqueueGlobalWithDelay_hook)(
    unsigned long long nanoseconds, void *job, delay_original);
extern SWIFTCALL void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job,
    deadline_original);
extern SWIFTCALL void swift_job_run(void *job, void *identity, uintptr_t implementation);

// Of Swift's own jobs `run` is NULL.
typedef struct {
    void (*run)(void *);
    void *job;
} Work;

typedef struct {
    int64_t due;
    uint64_t number;
    Work work;
} Timer;

static __thread bool is_ours;
static struct {
    int64_t now;
    uint64_t chance, order, digest, steps, timers_made;
    Work *bag;
    size_t count, capacity;
    Timer *timers;
    size_t timer_count, timer_capacity;
} world;

// SplitMix64.
static uint64_t draw(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

static void *grown(void *items, size_t *capacity, size_t size) {
    *capacity = *capacity ? *capacity * 2 : 256;
    items = realloc(items, *capacity * size);
    if (!items) abort();
    return items;
}

static void put(Work work) {
    if (world.count == world.capacity)
        world.bag = grown(world.bag, &world.capacity, sizeof *world.bag);
    world.bag[world.count++] = work;
}

static bool is_before(Timer left, Timer right) {
    return left.due != right.due ? left.due < right.due : left.number < right.number;
}

// A heap, the earliest first.
static void put_timer(int64_t due, Work work) {
    if (world.timer_count == world.timer_capacity)
        world.timers = grown(world.timers, &world.timer_capacity, sizeof *world.timers);
    Timer timer = {due > world.now ? due : world.now, world.timers_made++, work};
    size_t place = world.timer_count++;
    while (place > 0 && is_before(timer, world.timers[(place - 1) / 2])) {
        world.timers[place] = world.timers[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    world.timers[place] = timer;
}

static Work take_timer(void) {
    Work work = world.timers[0].work;
    Timer last = world.timers[--world.timer_count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= world.timer_count) break;
        if (child + 1 < world.timer_count
            && is_before(world.timers[child + 1], world.timers[child])) child++;
        if (!is_before(world.timers[child], last)) break;
        world.timers[place] = world.timers[child];
        place = child;
    }
    world.timers[place] = last;
    return work;
}

static SWIFTCALL void enqueue(void *job, enqueue_original original) {
    if (is_ours) put((Work){NULL, job});
    else original(job);
}

static SWIFTCALL void enqueue_later(
    unsigned long long nanoseconds, void *job, delay_original original) {
    if (is_ours) put_timer(world.now + (int64_t)nanoseconds, (Work){NULL, job});
    else original(nanoseconds, job);
}

static SWIFTCALL void enqueue_at(
    long long sec, long long nsec, long long tsec, long long tnsec, int clock, void *job,
    deadline_original original) {
    if (!is_ours) {
        original(sec, nsec, tsec, tnsec, clock, job);
        return;
    }
    const int64_t furthest = INT64_MAX / 4;
    int64_t due = sec >= furthest / 1000000000 ? furthest : sec * 1000000000 + nsec;
    put_timer(due, (Work){NULL, job});
}

void renewald_world_begin(uint64_t seed) {
    memset(&world, 0, sizeof world);
    world.now = INT64_C(86400) * 1000000000;
    world.order = seed;
    world.chance = ~seed;
    world.digest = 0xcbf29ce484222325u;
    swift_task_enqueueGlobal_hook = enqueue;
    swift_task_enqueueGlobalWithDelay_hook = enqueue_later;
    swift_task_enqueueGlobalWithDeadline_hook = enqueue_at;
    is_ours = true;
}

bool renewald_world_step(void) {
    if (world.count == 0) {
        if (world.timer_count == 0) return false;
        if (world.timers[0].due > world.now) world.now = world.timers[0].due;
        while (world.timer_count > 0 && world.timers[0].due <= world.now) put(take_timer());
    }
    size_t place = draw(&world.order) % world.count;
    Work work = world.bag[place];
    renewald_world_note((uint64_t)world.now);
    renewald_world_note(world.count);
    world.bag[place] = world.bag[--world.count];
    world.steps++;
    if (work.run) work.run(work.job);
    else swift_job_run(work.job, NULL, 0);
    return true;
}

void renewald_world_end(void) {
    is_ours = false;
    free(world.bag);
    free(world.timers);
    world.bag = NULL;
    world.timers = NULL;
    world.count = world.capacity = world.timer_count = world.timer_capacity = 0;
}

int64_t renewald_world_now(void) { return world.now; }

uint64_t renewald_world_steps(void) { return world.steps; }

uint64_t renewald_world_digest(void) { return world.digest; }

void renewald_world_note(uint64_t value) {
    world.digest = (world.digest ^ value) * 0x100000001b3u;
    world.digest ^= world.digest >> 29;
}

// Since Swift 6.2 a sleep by a clock asks no hook: the runtime calls libdispatch. The two highest bits
// of the time name the clock, the others are its nanoseconds.
void dispatch_after_f(uint64_t when, void *queue, void *context, void (*run)(void *)) {
    if (is_ours) {
        put_timer((int64_t)(when << 2 >> 2), (Work){run, context});
        return;
    }
    static void (*real)(uint64_t, void *, void *, void (*)(void *));
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "dispatch_after_f");
    real(when, queue, context, run);
}

// What the runtime asks the system for goes through these, as the program's own names come first.

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (is_ours && (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME)) {
        time->tv_sec = world.now / 1000000000;
        time->tv_nsec = world.now % 1000000000;
        return 0;
    }
    static int (*real)(clockid_t, struct timespec *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, time);
}

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long words[6];
    for (int place = 0; place < 6; place++) words[place] = va_arg(list, long);
    va_end(list);
    if (is_ours && number == SYS_getrandom) {
        unsigned char *bytes = (unsigned char *)words[0];
        for (long place = 0; place < words[1]; place++)
            bytes[place] = (unsigned char)(draw(&world.chance) >> 32);
        return words[1];
    }
    static long (*real)(long, ...);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
