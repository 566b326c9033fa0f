/*
 * Gives a stack the frames that its arguments say, one by one: the number of a link, a colon, or an
 * `@` for a frame in memory of the host, and the bytes in hexadecimal. Then prints the counters of
 * fast paths, and how many frames there were.
 */
#include "STACK.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
    struct STACK_config config;
    STACK_config_default(&config);
    const size_t size = STACK_size(&config);
    void *const memory = malloc(size);
    struct STACK *const stack = STACK_start(memory, size, &config, 0);
    for (int at = 1; at < count; at += 1) {
        char *text;
        const unsigned link = (unsigned)strtoul(words[at], &text, 10);
        size_t room;
        uint8_t own[64];
        struct STACK_frame frame = {.data = own, .length = 0};
        if (*text == ':') {
            frame.data = STACK_buffer(stack, &room);
        }
        unsigned byte;
        for (text += 1; sscanf(text, "%2x", &byte) == 1; text += 2) {
            frame.data[frame.length] = (uint8_t)byte;
            frame.length += 1;
        }
        if (STACK_input(stack, link, &frame, 1, 0) != 1) {
            return 1;
        }
        struct STACK_output output;
        while (STACK_next(stack, &output) != UPPER_IDLE) {
            STACK_done(stack, &output);
        }
    }
    uint64_t went[UPPER_PATHS];
    uint64_t counted[UPPER_COUNTERS];
    if (STACK_paths(stack, went, UPPER_PATHS) != UPPER_PATHS || STACK_path_name[UPPER_PATHS]) {
        return 1;
    }
    for (size_t at = 0; at < UPPER_PATHS; at += 1) {
        printf("%s: %llu\n", STACK_path_name[at], (unsigned long long)went[at]);
    }
    /* As many as there is room for. */
    uint64_t few[2] = {77, 77};
    if (STACK_paths(stack, few, 1) != UPPER_PATHS || few[0] != went[0] || few[1] != 77) {
        return 1;
    }
    STACK_counters(stack, counted, UPPER_COUNTERS);
    printf("%s: %llu\n", STACK_counter_name[0], (unsigned long long)counted[0]);
    free(memory);
    return 0;
}
