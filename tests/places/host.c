/*
 * Hands frames to a stack that stand where they may, and where they may not. Exits with the line of
 * the first answer that is wrong. With CALLS the port of the stack calls its application; WANTED
 * is the sum of what is to be delivered of the first frames.
 */
#include "STACK.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 16 };

static uint8_t sum; /* of all that was delivered */

static void add(const uint8_t *data, size_t length) {
    for (size_t at = 0; at < length; at += 1) {
        sum = (uint8_t)(sum + data[at]);
    }
}

#ifdef CALLS
void STACK_arrived(void *user, struct STACK *own, uint32_t session, const uint8_t *data,
                   size_t length, uint64_t now_ns) {
    (void)user, (void)own, (void)session, (void)now_ns;
    add(data, length);
}

void STACK_arrived_grant_sends(void *user, struct STACK *own, uint32_t session, uint32_t messages,
                               uint64_t now_ns) {
    (void)user, (void)own, (void)session, (void)messages, (void)now_ns;
}
#endif

static struct STACK *stack;

static void is(bool right, int line) {
    if (!right) {
        fprintf(stderr, "places/host.c:%d is wrong\n", line);
        exit(1);
    }
}

static size_t frames_in(void) {
    uint64_t counted[UPPER_COUNTERS];
    STACK_counters(stack, counted, UPPER_COUNTERS);
    return (size_t)counted[0];
}

/* How many frames of these are taken; their outputs are done. */
static size_t taken(const struct STACK_frame *frames, size_t count) {
    const size_t taken = STACK_input(stack, 0, frames, count, 0);
    struct STACK_output output;
    for (enum STACK_next next; (next = STACK_next(stack, &output)) != UPPER_IDLE;) {
        if (next == UPPER_DELIVER) {
            add(output.data, output.length);
        }
        STACK_done(stack, &output);
    }
    return taken;
}

/* The same of one that stands in memory of just its size, which is gone then. */
static size_t taken_elsewhere(const uint8_t *bytes, size_t length) {
    uint8_t *const data = malloc(length);
    memcpy(data, bytes, length);
    const struct STACK_frame frame = {data, length};
    const size_t count = taken(&frame, 1);
    free(data);
    return count;
}

static const uint8_t path[] = {0x41, 0x00, 0x00, 0x64, 0xaa}, left[] = {0x41, 0x00};

/* Takes all buffers that there are for the host, and writes a frame into each; how many. */
static size_t lend(uint8_t **lent) {
    size_t room, count = 0;
    while ((lent[count] = STACK_buffer(stack, &room)) != NULL) {
        memset(lent[count], 0, room);
        memcpy(lent[count], path, sizeof path);
        count += 1;
        is(count < BUFFERS, __LINE__);
    }
    is(count > 2, __LINE__);
    return count;
}

int main(void) {
    static uint8_t longest[1 << 17];
    struct STACK_config config;
    STACK_config_default(&config);
    config.buffers = BUFFERS;
    const size_t size = STACK_size(&config);
    void *const memory = malloc(size);
    stack = STACK_start(memory, size, &config, 0);

    /* Elsewhere: on the fast path, and where it is left. */
    is(taken_elsewhere(path, sizeof path) == 1, __LINE__);
    is(taken_elsewhere(left, sizeof left) == 1, __LINE__);
    is(taken_elsewhere(path, sizeof path) == 1, __LINE__);
    is(frames_in() == 3, __LINE__);
    is(sum == WANTED, __LINE__);

    /* Nowhere, and longer than a buffer. */
    struct STACK_frame frame = {NULL, 0};
    is(taken(&frame, 1) == 0, __LINE__);
    uint8_t *lent[BUFFERS];
    const size_t count = lend(lent);
    is(taken(&(struct STACK_frame){longest, sizeof longest}, 1) == 0, __LINE__);

    /* In a buffer, but not where that begins. */
    for (size_t at = 0; at < count; at += 1) {
        for (size_t odd = 1; odd < 1024; odd += odd) {
            is(taken(&(struct STACK_frame){lent[at] + odd, 5}, 1) == 0, __LINE__);
        }
        is(taken(&(struct STACK_frame){lent[at] - 1, 5}, 1) == 0, __LINE__);
    }

    /* All are lent: what would have to stay is not taken, and not counted. */
    is(taken_elsewhere(left, sizeof left) == 0, __LINE__);
#ifdef CALLS
    is(taken_elsewhere(path, sizeof path) == 1, __LINE__);
    is(frames_in() == 4, __LINE__);
#else
    is(taken_elsewhere(path, sizeof path) == 0, __LINE__);
    is(frames_in() == 3, __LINE__);
#endif

    /* A buffer is handed over once, and two frames may be of two kinds. */
    const size_t before = frames_in();
    frame = (struct STACK_frame){lent[0], sizeof path};
    is(taken(&frame, 1) == 1, __LINE__);
    is(taken(&frame, 1) == 0, __LINE__);
    memcpy(longest, left, sizeof left);
    const struct STACK_frame both[] = {{longest, sizeof left}, {lent[1], sizeof path}};
    is(taken(both, 2) == 2, __LINE__);
    is(frames_in() == before + 3, __LINE__);

    /* No buffer is lost. */
    for (size_t at = 2; at < count; at += 1) {
        is(taken(&(struct STACK_frame){lent[at], sizeof path}, 1) == 1, __LINE__);
    }
    is(lend(lent) == count, __LINE__);
    free(memory);
    return 0;
}
