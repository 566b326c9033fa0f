/*
 * Three members of one view on a bus that loses, repeats, reorders, cuts and corrupts frames. In:
 * the C of a stack of bench/ensemble, compiled as ensemble_stack; a seed and a number of seeds.
 * Out: all that the members send, deliver and are told, and their counters, for each seed. Two
 * forms of a stack print the same.
 *
 * With -DHAND casts and frames go by the bypass of hand.c.
 */
#include "../../bench/ensemble/hand.h"
#include "ensemble_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, STEPS = 400, LONGEST = 1506, WAITING = 512, NS_PER_MS = 1000000 };

struct frame {
    size_t length;
    uint8_t bytes[LONGEST];
};

struct member {
    struct ensemble_stack *stack;
    void *memory;
    unsigned rank;
    size_t waiting;              /* frames on their way to it */
    struct frame frames[WAITING];
};

static struct member members[MEMBERS];
static uint64_t now_ns;
static uint64_t state;

/* The next random number (SplitMix64). */
static uint64_t next(void) {
    state += 0x9e3779b97f4a7c15u;
    uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static size_t below(size_t limit) {
    return (size_t)(next() % limit);
}

static void show(const char *what, unsigned rank, const uint8_t *data, size_t length) {
    printf("%s %u:", what, rank);
    for (size_t at = 0; at < length; at += 1) {
        printf("%02x", data[at]);
    }
    printf("\n");
}

static void put(struct member *to, const uint8_t *data, size_t length) {
    if (to->waiting < WAITING) {
        memcpy(to->frames[to->waiting].bytes, data, length);
        to->frames[to->waiting].length = length;
        to->waiting += 1;
    }
}

void ensemble_stack_leaves(void *user, struct ensemble_stack *stack, const uint8_t *data,
                           size_t length, uint64_t at_ns) {
    struct member *const from = user;
    (void)stack, (void)at_ns;
    show("frame of", from->rank, data, length);
    for (unsigned to = 0; to < MEMBERS; to += 1) {
        if (to != from->rank) {
            put(&members[to], data, length);
        }
    }
}

static void sends(struct member *from, const struct ensemble_stack_group_attributes *with,
                  const uint8_t *data, size_t length) {
    const enum ensemble_stack_send became = hand_send(from->stack, with, data, length, now_ns);
    printf("%u sends %zu bytes: %d\n", from->rank, length, (int)became);
}

/* Some messages are answered within the callback; answers are not. */
void ensemble_stack_arrived(void *user, struct ensemble_stack *stack, uint32_t session,
                            const struct ensemble_stack_group_attributes *with, const uint8_t *data,
                            size_t length, uint64_t at_ns) {
    struct member *const member = user;
    (void)stack, (void)session, (void)at_ns;
    printf("origin %u alone %d ", with->origin, with->alone);
    show("delivered to", member->rank, data, length);
    if (length > 3 && data[0] % 16 == 0) {
        const uint8_t answer[3] = {1, data[1], data[2]};
        sends(member, NULL, answer, sizeof answer);
    }
}

static void told(const struct member *member, const char *what, unsigned rank) {
    printf("%u is told %s %u\n", member->rank, what, rank);
}

void ensemble_stack_arrived_lost(void *user, struct ensemble_stack *stack, uint32_t session,
                                 uint8_t rank, uint64_t at_ns) {
    (void)stack, (void)session, (void)at_ns;
    told(user, "lost", rank);
}

void ensemble_stack_arrived_suspect(void *user, struct ensemble_stack *stack, uint32_t session,
                                    uint8_t rank, uint64_t at_ns) {
    (void)stack, (void)session, (void)at_ns;
    told(user, "suspect", rank);
}

void ensemble_stack_arrived_has_failed(void *user, struct ensemble_stack *stack, uint32_t session,
                                       uint8_t rank, uint64_t at_ns) {
    (void)stack, (void)session, (void)at_ns;
    told(user, "has_failed", rank);
}

void ensemble_stack_arrived_elected(void *user, struct ensemble_stack *stack, uint32_t session,
                                    uint64_t at_ns) {
    (void)stack, (void)session, (void)at_ns;
    told(user, "elected", 0);
}

void ensemble_stack_arrived_block_ok(void *user, struct ensemble_stack *stack, uint32_t session,
                                     uint64_t at_ns) {
    (void)stack, (void)session, (void)at_ns;
    told(user, "block_ok", 0);
}

static void start(struct member *member, unsigned rank) {
    struct ensemble_stack_config config;
    ensemble_stack_config_default(&config);
    config.rank = (uint8_t)rank;
    config.size = MEMBERS;
    config.user = member;
    const size_t size = ensemble_stack_size(&config);
    member->rank = rank;
    member->waiting = 0;
    member->memory = malloc(size);
    member->stack = ensemble_stack_start(member->memory, size, &config, now_ns);
    if (member->stack == NULL) {
        fprintf(stderr, "the stack does not start\n");
        exit(2);
    }
}

/* A frame arrives, or is lost. */
static void arrive(struct member *to) {
    if (to->waiting == 0) {
        return;
    }
    const size_t at = below(10) == 0 ? below(to->waiting) : 0;
    struct frame frame = to->frames[at];
    to->waiting -= 1;
    memmove(to->frames + at, to->frames + at + 1, (to->waiting - at) * sizeof frame);
    const size_t fate = below(100);
    if (fate < 5) {
        return;
    }
    if (fate < 9) {
        put(to, frame.bytes, frame.length);
    }
    if (fate == 9 && frame.length > 0) {
        frame.bytes[below(frame.length < 45 ? frame.length : 45)] ^= (uint8_t)(1 << below(8));
    }
    if (fate == 10) {
        frame.length = below(frame.length + 1);
    }
    size_t room;
    uint8_t *const data = ensemble_stack_buffer(to->stack, &room);
    if (data == NULL) {
        printf("%u has no buffer\n", to->rank);
        return;
    }
    memcpy(data, frame.bytes, frame.length);
    hand_input(to->stack, data, frame.length, now_ns);
}

static void send_one(struct member *from) {
    static const size_t sizes[] = {1, 4, 4, 24, 60, 1400};
    uint8_t data[1400];
    const size_t length = sizes[below(sizeof sizes / sizeof *sizes)];
    for (size_t at = 0; at < length; at += 1) {
        data[at] = (uint8_t)next();
    }
    const struct ensemble_stack_group_attributes to_one = {.has_rank = true,
                                                           .rank = (uint8_t)below(MEMBERS)};
    sends(from, below(5) == 0 ? &to_one : NULL, data, length);
}

static void notice(struct member *member) {
    switch (below(8)) {
    case 0:
        ensemble_stack_group_failed(member->stack, 0, (uint8_t)below(MEMBERS), now_ns);
        break;
    case 1:
        ensemble_stack_group_block(member->stack, 0, now_ns);
        break;
    case 2:
        ensemble_stack_group_install(member->stack, 0, (uint32_t)below(3), now_ns);
        break;
    default:
        ensemble_stack_group_stable(member->stack, 0, (uint8_t)member->rank,
                                    (uint32_t)below(60), now_ns);
        break;
    }
}

static void step(void) {
    struct member *const member = &members[below(MEMBERS)];
    const size_t what = below(100);
    if (what < 30) {
        send_one(member);
    } else if (what < 88) {
        arrive(member);
    } else if (what < 98) {
        now_ns += below(60 * NS_PER_MS);
        for (unsigned rank = 0; rank < MEMBERS; rank += 1) {
            ensemble_stack_expire(members[rank].stack, now_ns);
        }
    } else {
        notice(member);
    }
}

static void finish(struct member *member) {
    uint64_t values[512];
    const size_t count = ensemble_stack_counters(member->stack, values, 512);
    for (size_t at = 0; at < count && at < 512; at += 1) {
        if (values[at] != 0) {
            printf("%u %s %llu\n", member->rank, ensemble_stack_counter_name[at],
                   (unsigned long long)values[at]);
        }
    }
    size_t room;
    size_t buffers = 0;
    while (ensemble_stack_buffer(member->stack, &room) != NULL) {
        buffers += 1;
    }
    printf("%u has %zu buffers\n", member->rank, buffers);
    free(member->memory);
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: %s SEED COUNT\n", words[0]);
        return 2;
    }
    const uint64_t first = strtoull(words[1], NULL, 10);
    const uint64_t seeds = strtoull(words[2], NULL, 10);
    for (uint64_t seed = first; seed < first + seeds; seed += 1) {
        printf("seed %llu\n", (unsigned long long)seed);
        state = seed;
        now_ns = 0;
        for (unsigned rank = 0; rank < MEMBERS; rank += 1) {
            start(&members[rank], rank);
        }
        for (unsigned at = 0; at < STEPS; at += 1) {
            step();
        }
        for (unsigned rank = 0; rank < MEMBERS; rank += 1) {
            finish(&members[rank]);
        }
    }
    return 0;
}
