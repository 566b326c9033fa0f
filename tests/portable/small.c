/*
 * Two stacks of `loom new beep` with as little memory as works, which talk to each other. Exits
 * with 1 behind the line of the first wrong result; prints the same on every machine.
 */
#include "beep.h"

#include <stdio.h>
#include <stdlib.h>

/* Reserved when this is compiled, for two buffers, two outputs and two events each. */
static uint8_t left_memory[BEEP_MEMORY_FOR(2, 2, 2)];
static uint8_t right_memory[BEEP_MEMORY_FOR(2, 2, 2)];

static void is(bool right, int line) {
    if (!right) {
        printf("small.c:%d is wrong\n", line);
        exit(1);
    }
}

#define IS(condition) is(condition, __LINE__)

static struct beep_config with(uint32_t buffers, uint32_t reserve, uint32_t outputs) {
    struct beep_config config;
    beep_config_default(&config);
    config.buffers = buffers;
    config.reserve = reserve;
    config.outputs = outputs;
    config.events = 2;
    return config;
}

/* Carries a frame from one stack to the other, which delivers it; returns the message's length. */
static size_t carried(struct beep *from, struct beep *to, uint64_t now_ns) {
    struct beep_output frame;
    struct beep_output message;
    IS(beep_next(from, &frame) == BEEP_FRAME && frame.place == BEEP_LINK_WIRE);
    size_t room;
    uint8_t *const buffer = beep_buffer(to, &room);
    IS(buffer != NULL && room >= frame.length);
    for (size_t at = 0; at < frame.length; at += 1) {
        buffer[at] = frame.data[at];
    }
    const struct beep_frame arrived = {buffer, frame.length};
    beep_done(from, &frame);
    IS(beep_input(to, BEEP_LINK_WIRE, &arrived, 1, now_ns) == 1);
    IS(beep_next(to, &message) == BEEP_DELIVER && message.place == BEEP_PORT_MESSAGES);
    const size_t length = message.length;
    for (size_t at = 0; at < length; at += 1) {
        IS(message.data[at] == (uint8_t)(length + at));
    }
    beep_done(to, &message);
    IS(beep_next(to, &message) == BEEP_IDLE && beep_next(from, &frame) == BEEP_IDLE);
    return length;
}

static void send(struct beep *stack, size_t length, enum beep_send result, uint64_t now_ns) {
    uint8_t data[100];
    for (size_t at = 0; at < length; at += 1) {
        data[at] = (uint8_t)(length + at);
    }
    IS(beep_messages_send(stack, 0, NULL, data, length, now_ns) == result);
}

/* Messages of all lengths pass between two stacks that have two buffers each. */
static void talk(void) {
    struct beep_config config = with(2, 1, 2);
    IS(beep_size(&config) <= sizeof left_memory);
    struct beep *const left = beep_start(left_memory, sizeof left_memory, &config, 0);
    struct beep *const right = beep_start(right_memory, sizeof right_memory, &config, 0);
    IS(left != NULL && right != NULL);
    for (uint64_t now_ns = 1; now_ns <= 1000; now_ns += 1) {
        const size_t length = (size_t)(now_ns % 61);
        const bool is_first = now_ns % 3 != 0;
        send(is_first ? left : right, length, BEEP_SENT, now_ns);
        IS(carried(is_first ? left : right, is_first ? right : left, now_ns) == length);
    }
    /* A longer message does not fit a frame of the link. */
    send(left, 61, BEEP_REFUSED, 1001);
    uint64_t counted[BEEP_COUNTERS];
    IS(beep_counters(left, counted, BEEP_COUNTERS) == BEEP_COUNTERS);
    IS(counted[BEEP_COUNTER_FRAMES_OUT] == 667 && counted[BEEP_COUNTER_DELIVERED] == 333);
    IS(counted[BEEP_UNSENT_STACK_TOO_LONG] == 1);
    IS(beep_counters(right, counted, BEEP_COUNTERS) == BEEP_COUNTERS);
    IS(counted[BEEP_COUNTER_FRAMES_IN] == 667 && counted[BEEP_COUNTER_DELIVERED] == 667);
    for (size_t at = 0; at < BEEP_COUNTERS; at += 1) {
        printf("%s %lu\n", beep_counter_name[at], (unsigned long)counted[at]);
    }
}

/* A configuration is refused with its reason, or a message passes. */
static void start(uint32_t buffers, uint32_t reserve, uint32_t outputs) {
    const struct beep_config config = with(buffers, reserve, outputs);
    const size_t size = beep_size(&config);
    uint8_t *const one = malloc(size + 1);
    uint8_t *const other = malloc(size + 1);
    IS(one != NULL && other != NULL);
    enum beep_refusal wanted = BEEP_FITS;
    if (buffers <= reserve) {
        wanted = BEEP_FEW_BUFFERS;
    } else if (outputs == 0) {
        wanted = BEEP_FEW_OUTPUTS;
    }
    IS(beep_check(&config, size) == wanted);
    /* At any alignment. */
    struct beep *const left = beep_start(one + 1, size, &config, 0);
    struct beep *const right = beep_start(other, size, &config, 0);
    IS((left != NULL) == (wanted == BEEP_FITS) && (right != NULL) == (wanted == BEEP_FITS));
    if (left != NULL) {
        IS(beep_check(&config, size - 1) == BEEP_LITTLE_MEMORY);
        send(left, 5, BEEP_SENT, 1);
        IS(carried(left, right, 1) == 5);
    }
    free(one);
    free(other);
}

int main(void) {
    talk();
    for (uint32_t buffers = 0; buffers <= 12; buffers += 1) {
        for (uint32_t reserve = 0; reserve <= 2; reserve += 1) {
            for (uint32_t outputs = 0; outputs <= 3; outputs += 1) {
                start(buffers, reserve, outputs);
            }
        }
    }
    struct beep_config config = with(2, 1, 2);
    config.events = 0;
    IS(beep_check(&config, SIZE_MAX - 1) == BEEP_FEW_EVENTS);
    config.events = 2;
    config.budget = 0;
    IS(beep_check(&config, SIZE_MAX - 1) == BEEP_NO_BUDGET);
    printf("all is right\n");
    return 0;
}
