/*
 * wheel.h: a timing wheel of connections. An entry stands no later than the first timer of its
 * connection; a timer that is stopped, or restarted for later, does not move it. A tick is 8.4 ms.
 */
#ifndef FLOOR_WHEEL_H
#define FLOOR_WHEEL_H

#include "stack.h"
#include "words.h"

enum { TICK = 23 }; /* bits of a time that are below a tick */

static const uint64_t NEVER = UINT64_MAX;
static const uint32_t NONE = UINT32_MAX;

INLINE uint32_t index_of(const struct floor *own, const struct floor_connection *c) {
    return (uint32_t)(c - own->connections);
}

static void leave_wheel(struct floor *own, struct floor_connection *c) {
    if (c->due == NEVER) { return; }
    if (c->wheel_before & 0x80000000) {
        own->slots[c->wheel_before & 0x7fffffff] = c->wheel_next;
    } else {
        own->connections[c->wheel_before].wheel_next = c->wheel_next;
    }
    if (c->wheel_next != NONE) { own->connections[c->wheel_next].wheel_before = c->wheel_before; }
    c->due = NEVER;
}

static __attribute__((noinline)) void enter_wheel(struct floor *own, struct floor_connection *c,
                                                  uint64_t at) {
    leave_wheel(own, c);
    const uint64_t tick =
        min64(max64((at >> TICK) + 1, own->tick + 1), own->tick + FLOOR_SLOTS - 1);
    const uint32_t slot = tick % FLOOR_SLOTS, n = index_of(own, c), head = own->slots[slot];
    c->due = at;
    c->wheel_next = head;
    c->wheel_before = slot | 0x80000000;
    if (head != NONE) { own->connections[head].wheel_before = n; }
    own->slots[slot] = n;
}

INLINE void start_timer(struct floor *own, struct floor_connection *c, uint64_t *timer,
                        uint64_t at) {
    *timer = at;
    if (UNLIKELY(at < c->due)) { enter_wheel(own, c, at); }
}

#endif
