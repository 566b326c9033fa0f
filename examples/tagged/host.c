/* Two ends and somebody between them: what host one is given on its input goes to host two, each
 * line twice, and once more with a bit turned over. Host two prints what comes up. */
#include "tagged.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tagged *started(const uint8_t key[16]) {
    struct tagged_config config;
    tagged_config_default(&config);
    memcpy(config.key.at, key, 16);
    const size_t size = tagged_size(&config);
    struct tagged *const stack = tagged_start(malloc(size), size, &config, 0);
    if (stack == NULL) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return stack;
}

/* Gives a frame to a stack, and prints what comes up of it. */
static void receive(struct tagged *stack, const uint8_t *data, size_t length) {
    size_t room;
    struct tagged_frame frame = {tagged_buffer(stack, &room), length};
    if (frame.data == NULL || room < length) {
        return; /* lost, as frames may be */
    }
    memcpy(frame.data, data, length);
    tagged_input(stack, 0, &frame, 1, 0);
    struct tagged_output output;
    while (tagged_next(stack, &output) != TAGGED_IDLE) {
        printf("%.*s\n", (int)output.length, (const char *)output.data);
        tagged_done(stack, &output);
    }
}

/* Who is between the two hears all, changes it, and says it again. */
static void carry(struct tagged *to, const uint8_t *data, size_t length) {
    uint8_t changed[1024];
    memcpy(changed, data, length);
    changed[length - 1] ^= 1;
    receive(to, changed, length);
    receive(to, data, length);
    receive(to, data, length);
}

int main(void) {
    const uint8_t key[16] = "known to both";
    struct tagged *const one = started(key);
    struct tagged *const two = started(key);
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        tagged_messages_send(one, 0, NULL, (const uint8_t *)line, strcspn(line, "\n"), 0);
        struct tagged_output output;
        while (tagged_next(one, &output) != TAGGED_IDLE) {
            carry(two, output.data, output.length);
            tagged_done(one, &output);
        }
    }
    uint64_t values[TAGGED_COUNTERS];
    tagged_counters(two, values, TAGGED_COUNTERS);
    for (size_t at = 0; at < TAGGED_COUNTERS; at += 1) {
        if (values[at] != 0) {
            printf("%s %llu\n", tagged_counter_name[at], (unsigned long long)values[at]);
        }
    }
    return 0;
}
