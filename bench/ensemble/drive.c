/*
 * Two members of one view: what `loom bench ensemble` counts of a stack of ensemble.loom. In: its
 * C, compiled as ensemble_stack; the bytes of a message, `all` or `one` for casts or for messages
 * to one member, and a mode. Out: how many messages went, each by two steps:
 *
 *   down_bench_step   the member of rank 0 sends, and its link is called with the frame
 *   up_bench_step     the other member takes the frame, and its application is called
 *
 * The mode `down` counts the first step, `up` the second, `count` both; the other is then taken by
 * a function of another name. The frame stands in a buffer of the stack that takes it. The copies
 * that stand for the wire are not counted (bench_wire), nor are timers and acknowledgements between
 * the steps.
 *
 * With -DHAND both steps call the bypass of hand.c.
 */
#include "ensemble_stack.h"
#include "hand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 1000, BUFFERS = 128, LONGEST = 1506, WIRE = 16, ROUND_NS = 25000000 };

struct member {
    struct ensemble_stack *stack;
    struct member *other;
    /* Puts a frame on the wire: bench_wire within a step that is counted. */
    void (*wire)(struct member *member, const uint8_t *data, size_t length);
    size_t count;                  /* frames on the wire */
    size_t lengths[WIRE];          /* their lengths */
    uint8_t frames[WIRE][LONGEST]; /* and bytes */
    uint64_t delivered;            /* messages */
    uint64_t sum;                  /* of their first bytes */
};

struct round {
    struct member *from;
    struct member *to;
    const struct ensemble_stack_group_attributes *with;
    const uint8_t *data;
    size_t length;
    struct ensemble_stack_frame frame; /* the frame, where it arrives */
    uint64_t now_ns;
};

void bench_wire(struct member *member, const uint8_t *data, size_t length);
void wire(struct member *member, const uint8_t *data, size_t length);
void down_bench_step(const struct round *round);
void up_bench_step(const struct round *round);
void down_uncounted(const struct round *round);
void up_uncounted(const struct round *round);

static inline void put(struct member *member, const uint8_t *data, size_t length) {
    if (member->count == WIRE || length > LONGEST) {
        fprintf(stderr, "too many frames leave at once\n");
        exit(1);
    }
    memcpy(member->frames[member->count], data, length);
    member->lengths[member->count] = length;
    member->count += 1;
}

__attribute__((noinline, noclone)) void bench_wire(struct member *member, const uint8_t *data,
                                                   size_t length) {
    put(member, data, length);
}

__attribute__((noinline, noclone)) void wire(struct member *member, const uint8_t *data,
                                             size_t length) {
    put(member, data, length);
}

void ensemble_stack_leaves(void *user, struct ensemble_stack *stack, const uint8_t *data,
                           size_t length, uint64_t now_ns) {
    struct member *const member = user;
    (void)stack, (void)now_ns;
    member->wire(member, data, length);
}

void ensemble_stack_arrived(void *user, struct ensemble_stack *stack, uint32_t session,
                            const struct ensemble_stack_group_attributes *with, const uint8_t *data,
                            size_t length, uint64_t now_ns) {
    struct member *const member = user;
    (void)stack, (void)session, (void)with, (void)length, (void)now_ns;
    member->delivered += 1;
    member->sum += data[0];
}

void ensemble_stack_arrived_lost(void *user, struct ensemble_stack *stack, uint32_t session,
                                 uint8_t rank, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)rank, (void)now_ns;
}

void ensemble_stack_arrived_suspect(void *user, struct ensemble_stack *stack, uint32_t session,
                                    uint8_t rank, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)rank, (void)now_ns;
}

void ensemble_stack_arrived_has_failed(void *user, struct ensemble_stack *stack, uint32_t session,
                                       uint8_t rank, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)rank, (void)now_ns;
}

void ensemble_stack_arrived_elected(void *user, struct ensemble_stack *stack, uint32_t session,
                                    uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)now_ns;
}

void ensemble_stack_arrived_block_ok(void *user, struct ensemble_stack *stack, uint32_t session,
                                     uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)now_ns;
}

static inline void down(const struct round *round) {
    hand_send(round->from->stack, round->with, round->data, round->length, round->now_ns);
}

static inline void up(const struct round *round) {
    hand_input(round->to->stack, round->frame.data, round->frame.length, round->now_ns);
}

__attribute__((noinline, noclone)) void down_bench_step(const struct round *round) {
    down(round);
}

__attribute__((noinline, noclone)) void up_bench_step(const struct round *round) {
    up(round);
}

__attribute__((noinline, noclone)) void down_uncounted(const struct round *round) {
    down(round);
}

__attribute__((noinline, noclone)) void up_uncounted(const struct round *round) {
    up(round);
}

static void start(struct member *member, struct member *other, uint8_t rank) {
    struct ensemble_stack_config config;
    ensemble_stack_config_default(&config);
    config.rank = rank;
    config.size = 2;
    config.buffers = BUFFERS;
    config.user = member;
    const size_t size = ensemble_stack_size(&config);
    member->other = other;
    member->wire = wire;
    member->stack = ensemble_stack_start(malloc(size), size, &config, 0);
    if (member->stack == NULL) {
        fprintf(stderr, "the stack does not start\n");
        exit(2);
    }
}

/* The oldest frame of a member, in a buffer of the other. */
static struct ensemble_stack_frame arriving(struct member *from) {
    size_t room;
    struct ensemble_stack_frame frame = {.data = ensemble_stack_buffer(from->other->stack, &room),
                                         .length = from->lengths[0]};
    if (frame.data == NULL || frame.length > room || from->count == 0) {
        fprintf(stderr, "no frame left, or there is no buffer for it\n");
        exit(1);
    }
    memcpy(frame.data, from->frames[0], frame.length);
    from->count -= 1;
    memmove(from->lengths, from->lengths + 1, from->count * sizeof from->lengths[0]);
    memmove(from->frames, from->frames + 1, from->count * sizeof from->frames[0]);
    return frame;
}

/* Timers of both members expire, and what they send arrives, until nothing is on the wire. */
static void settle(struct member *members, uint64_t now_ns) {
    ensemble_stack_expire(members[0].stack, now_ns);
    ensemble_stack_expire(members[1].stack, now_ns);
    while (members[0].count != 0 || members[1].count != 0) {
        struct member *const from = &members[members[0].count == 0];
        const struct ensemble_stack_frame frame = arriving(from);
        ensemble_stack_input(from->other->stack, 0, &frame, 1, now_ns);
    }
}

int main(int count, char **words) {
    static struct member members[2];
    static uint8_t data[LONGEST];
    const size_t length = count == 4 ? strtoul(words[1], NULL, 10) : 0;
    if (length == 0 || length > 1400) {
        fprintf(stderr, "usage: %s BYTES all|one count|down|up\n", words[0]);
        return 2;
    }
    const bool is_to_one = words[2][0] == 'o';
    const bool counts_down = words[3][0] != 'u';
    const bool counts_up = words[3][0] != 'd';
    start(&members[0], &members[1], 0);
    start(&members[1], &members[0], 1);
    const struct ensemble_stack_group_attributes to_one = {.has_rank = true, .rank = 1};
    struct round round = {.from = &members[0],
                          .to = &members[1],
                          .with = is_to_one ? &to_one : NULL,
                          .data = data,
                          .length = length,
                          .now_ns = 1};
    uint64_t sum = 0;
    members[0].count = members[1].count = 0;
    for (uint32_t number = 0; number < MESSAGES; number += 1) {
        data[0] = (uint8_t)number;
        sum += data[0];
        round.from->wire = counts_down ? bench_wire : wire;
        (counts_down ? down_bench_step : down_uncounted)(&round);
        round.from->wire = wire;
        round.frame = arriving(round.from);
        (counts_up ? up_bench_step : up_uncounted)(&round);
        if (is_to_one) {
            round.now_ns += ROUND_NS;
            settle(members, round.now_ns);
        } else {
            ensemble_stack_group_stable(round.from->stack, 0, 0, number + 1, round.now_ns);
        }
    }
    if (round.to->delivered != MESSAGES || round.to->sum != sum) {
        fprintf(stderr, "%d messages were sent, %d arrived\n", MESSAGES, (int)round.to->delivered);
        return 1;
    }
    printf("messages %d\n", MESSAGES);
    return 0;
}
