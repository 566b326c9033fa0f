#include "gates.h"

#include <stdio.h>
#include <stdlib.h>

/* Where a frame is to stand: in a buffer of the stack, or elsewhere; NULL if it gives none. */
static uint8_t *place(struct gates *stack) {
#ifdef ELSEWHERE
    static uint8_t own[3];
    (void)stack;
    return own;
#else
    size_t room;
    return gates_buffer(stack, &room);
#endif
}

/* Feeds a frame for each word: its kind. */
int main(int count, char **words) {
    struct gates_config config;
    gates_config_default(&config);
    config.buffers = 16;
    const size_t size = gates_size(&config);
    void *const memory = malloc(size);
    struct gates *const stack = gates_start(memory, size, &config, 0);
    for (int at = 1; at < count && stack != NULL; at += 1) {
        struct gates_frame frame = {.data = place(stack), .length = 3};
        if (frame.data == NULL) {
            continue;
        }
        frame.data[0] = (uint8_t)atoi(words[at]);
        gates_input(stack, 0, &frame, 1, 0);
        struct gates_output output;
        while (gates_next(stack, &output) != GATES_IDLE) {
            printf("%zu bytes\n", output.length);
            gates_done(stack, &output);
        }
    }
    uint64_t values[GATES_COUNTERS];
    gates_counters(stack, values, GATES_COUNTERS);
    for (size_t at = 0; at < GATES_COUNTERS; at += 1) {
        if (values[at] != 0) {
            printf("%s %llu\n", gates_counter_name[at], (unsigned long long)values[at]);
        }
    }
    free(memory);
    return 0;
}
