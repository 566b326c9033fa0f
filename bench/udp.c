/*
 * Two ends that send datagrams of 4 bytes to each other: what `loom bench udp` counts of a stack
 * that Loom made. In: its C, compiled as udp_stack. Out: with `count`, how many datagrams went,
 * each by two steps:
 *
 *   down_bench_step   the sender sends, and is asked for the frame; the receiver gives a buffer for
 *                     it; the sender has its frame back when it has left
 *   up_bench_step     the receiver takes the frame, is asked what it delivers, reads it, and has
 *                     its buffer back
 *
 * With -DCALLS port and link call functions of their hosts, as those of `called` in udp.loom: what
 * the sender sends calls udp_stack_leaves with the frame; the receiver takes that where it stands,
 * which calls udp_stack_arrived, which reads it.
 *
 * With -DASKS both also ask udp_stack_next until that has nothing, as the contract demands.
 *
 * Between the two stands the wire, a copy of the frame, which is not counted (bench_wire). With
 * `down` fewer datagrams go, and none arrives: `loom bench layers` tells the two ways apart so.
 */
#include "udp_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 1000, BUFFERS = 64, UNHEARD = BUFFERS / 2 };

struct ends {
    struct udp_stack *sender;
    struct udp_stack *receiver;
    uint32_t session;             /* of the sender */
    uint32_t number;              /* what is sent */
    struct udp_stack_frame frame; /* the frame that arrives */
    uint32_t sum;                 /* of what was delivered */
    uint8_t memory[64];           /* where frames arrive that need no buffer */
};

void bench_wire(struct ends *ends, const uint8_t *data, size_t length);
void down_bench_step(struct ends *ends);
void up_bench_step(struct ends *ends);

#ifdef CALLS
/* What the stacks call. */
void udp_stack_leaves(void *user, struct udp_stack *stack, const uint8_t *data, size_t length,
                      uint64_t now_ns) {
    (void)stack, (void)now_ns;
    bench_wire(user, data, length);
}

void udp_stack_arrived(void *user, struct udp_stack *stack, uint32_t session,
                       const struct udp_stack_datagrams_attributes *with, const uint8_t *data,
                       size_t length, uint64_t now_ns) {
    struct ends *const ends = user;
    uint32_t number;
    (void)stack, (void)session, (void)with, (void)length, (void)now_ns;
    memcpy(&number, data, sizeof number);
    ends->sum += number;
}

void udp_stack_arrived_mtu(void *user, struct udp_stack *stack, uint32_t session, uint32_t bytes,
                           uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)bytes, (void)now_ns;
}

void udp_stack_arrived_lost(void *user, struct udp_stack *stack, uint32_t session, uint8_t cause,
                            uint32_t peer, uint16_t port, uint16_t peer_port, uint32_t bytes,
                            uint32_t number, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)cause, (void)peer, (void)port;
    (void)peer_port, (void)bytes, (void)number, (void)now_ns;
}

void udp_stack_arrived_failed(void *user, struct udp_stack *stack, uint32_t session,
                              uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)now_ns;
}
#endif

__attribute__((noinline, noclone)) void bench_wire(struct ends *ends, const uint8_t *data,
                                                   size_t length) {
    memcpy(ends->frame.data, data, length);
    ends->frame.length = length;
}

#if defined CALLS && defined ASKS
static inline void asks(struct udp_stack *stack) {
    struct udp_stack_output output;
    while (udp_stack_next(stack, &output) != UDP_STACK_IDLE) {
        udp_stack_done(stack, &output);
    }
}
#else
static inline void asks(struct udp_stack *stack) {
    (void)stack;
}
#endif

__attribute__((noinline, noclone)) void down_bench_step(struct ends *ends) {
    const uint8_t *const number = (const uint8_t *)&ends->number;
    udp_stack_datagrams_send(ends->sender, ends->session, NULL, number, 4, 1);
    asks(ends->sender);
#ifndef CALLS
    struct udp_stack_output output;
    if (udp_stack_next(ends->sender, &output) == UDP_STACK_FRAME) {
        size_t room;
        ends->frame.data = udp_stack_buffer(ends->receiver, &room);
        bench_wire(ends, output.data, output.length);
        udp_stack_done(ends->sender, &output);
    }
#endif
}

__attribute__((noinline, noclone)) void up_bench_step(struct ends *ends) {
    udp_stack_input(ends->receiver, 0, &ends->frame, 1, 1);
    asks(ends->receiver);
#ifndef CALLS
    struct udp_stack_output output;
    uint32_t number;
    if (udp_stack_next(ends->receiver, &output) == UDP_STACK_DELIVER) {
        memcpy(&number, output.data, sizeof number);
        ends->sum += number;
        udp_stack_done(ends->receiver, &output);
    }
#endif
}

static struct udp_stack *started(uint32_t address, struct ends *ends) {
    struct udp_stack_config config;
    udp_stack_config_default(&config);
    config.address = address;
    config.buffers = BUFFERS;
#ifdef CALLS
    config.user = ends;
#else
    (void)ends;
#endif
    const size_t size = udp_stack_size(&config);
    struct udp_stack *const stack = udp_stack_start(malloc(size), size, &config, 0);
    if (stack == NULL) {
        exit(2);
    }
    return stack;
}

/* What is told when a stack starts or a session opens is of no interest. */
static void hear(struct udp_stack *stack) {
    struct udp_stack_output output;
    while (udp_stack_next(stack, &output) != UDP_STACK_IDLE) {
        udp_stack_done(stack, &output);
    }
}

int main(int count, char **words) {
    const bool down = count == 2 && strcmp(words[1], "down") == 0;
    if (!down && (count != 2 || strcmp(words[1], "count") != 0)) {
        fprintf(stderr, "usage: %s count|down\n", words[0]);
        return 2;
    }
    struct ends ends = {.frame.data = ends.memory};
    ends.sender = started(0x0a000001, &ends);
    ends.receiver = started(0x0a000002, &ends);
    const struct udp_stack_datagrams_keys from = {.has_port = true,
                                                  .port = 40000,
                                                  .has_peer = true,
                                                  .peer = 0x0a000002,
                                                  .has_peer_port = true,
                                                  .peer_port = 7};
    const struct udp_stack_datagrams_keys to = {.has_port = true, .port = 7};
    hear(ends.sender);
    hear(ends.receiver);
    ends.session = udp_stack_datagrams_open(ends.sender, &from, 0);
    udp_stack_datagrams_open(ends.receiver, &to, 0);
    hear(ends.sender);
    hear(ends.receiver);
    if (down) {
        for (uint32_t number = 1; number <= UNHEARD; number += 1) {
            down_bench_step(&ends);
        }
        printf("messages %d\n", UNHEARD);
        return 0;
    }
    for (uint32_t number = 1; number <= MESSAGES; number += 1) {
        ends.number = number;
        down_bench_step(&ends);
        up_bench_step(&ends);
    }
    if (ends.sum != MESSAGES * (MESSAGES + 1) / 2) {
        fprintf(stderr, "not all arrived\n");
        return 1;
    }
    printf("messages %d\n", MESSAGES);
    return 0;
}
