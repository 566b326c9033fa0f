/* Does what it reads to a stack, and prints what a host sees: as `driver.rs` says. */
#include "NAME.c"

#include <stdio.h>
#include <stdlib.h>

static char line[1 << 20];
static const char *back; /* a word that is read once more */

static const char *next_word(void) {
    if (back != NULL) {
        const char *const word = back;
        back = NULL;
        return word;
    }
    const char *const word = strtok(NULL, " \n");
    return word == NULL ? "" : word;
}

static uint8_t digits(const char *at) {
    const char pair[3] = {at[0], at[1], 0};
    return (uint8_t)strtoul(pair, NULL, 16);
}

static void hex(const uint8_t *bytes, size_t length) {
    putchar('x');
    for (size_t at = 0; at < length; at++) {
        printf("%02x", bytes[at]);
    }
}

/* The frame as host would receive it: in a buffer, exactly as long as it is. */
static size_t input(struct NAME *stack, unsigned link, const char *word, uint64_t now) {
    NAME_input(stack, link, NULL, 0, now);
    if (stack->waiting != 0) {
        return 0;
    }
    size_t room;
    uint8_t *const buffer = NAME_buffer(stack, &room);
    if (buffer == NULL) {
        return 0;
    }
    const struct NAME_frame frame = {buffer, strlen(word + 1) / 2};
    for (size_t at = 0; at < frame.length; at++) {
        buffer[at] = digits(word + 1 + 2 * at);
    }
    const size_t taken = NAME_input(stack, link, &frame, 1, now);
    if (taken == 0) {
        const uint32_t index = sl_buffers_index(&stack->buffers, buffer, HEADROOM);
        sl_buffers_give(&stack->buffers, index);
    }
    return taken;
}

static void show(struct NAME *stack) {
    struct NAME_output output;
    enum NAME_next what = NAME_next(stack, &output);
    for (; what != UPPER_IDLE; what = NAME_next(stack, &output)) {
        if (what == UPPER_FRAME) {
            printf("f %u ", output.place);
            hex(output.data, output.length);
        } else if (what == UPPER_DELIVER) {
            printf("d %u %u ", output.place, (unsigned)output.session);
            hex(output.data, output.length);
            /* DELIVER */
        } else {
            /* NOTICE */
        }
        putchar('\n');
        NAME_done(stack, &output);
    }
    printf("w %llu\nc", (unsigned long long)NAME_deadline(stack));
    uint64_t values[4096];
    const size_t count = NAME_counters(stack, values, 4096);
    for (size_t at = 0; at < count; at++) {
        printf(" %llu", (unsigned long long)values[at]);
    }
    putchar('\n');
}

static unsigned long long do_call(struct NAME *stack, char kind) {
    unsigned long long returned = 0;
    if (kind == 'e') {
        NAME_expire(stack, strtoull(next_word(), NULL, 10));
        return 0;
    }
    const unsigned port = (unsigned)strtoul(next_word(), NULL, 10);
    if (kind == 'i') {
        const uint64_t now = strtoull(next_word(), NULL, 10);
        for (const char *word = next_word(); *word != 0; word = next_word()) {
            const size_t taken = input(stack, port, word, now);
            returned += taken;
            if (taken == 0) {
                break;
            }
        }
        return returned;
    }
    uint32_t session = 0;
    if (kind != 'o') {
        session = (uint32_t)strtoul(next_word(), NULL, 10);
    }
    unsigned notice = 0;
    if (kind == 'n') {
        notice = (unsigned)strtoul(next_word(), NULL, 10);
    }
    const uint64_t now = strtoull(next_word(), NULL, 10);
    const char *word = NULL;
    (void)word, (void)notice, (void)port;
    if (kind == 's') {
        word = next_word();
        const size_t length = strlen(word + 1) / 2;
        uint8_t *const bytes = malloc(length + 1);
        for (size_t at = 0; at < length; at++) {
            bytes[at] = digits(word + 1 + 2 * at);
        }
        /* SEND */
        free(bytes);
    } else if (kind == 'o') {
        /* OPEN */
    } else {
        /* TELL */
    }
    return returned;
}

int main(void) {
    struct NAME_config config;
    NAME_config_default(&config);
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 1;
    }
    const uint64_t start = strtoull(strtok(line, " \n"), NULL, 10);
    config.buffers = (uint32_t)strtoul(next_word(), NULL, 10);
    const char *word = NULL;
    (void)word;
    /* CONFIG */
    const size_t size = NAME_size(&config);
    char *const memory = malloc(size + 1);
    memset(memory, 0xa5, size + 1);
    struct NAME *const stack = NAME_start(memory + 1, size, &config, start);
    if (stack == NULL) {
        return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char kind = strtok(line, " \n")[0];
        printf("r %llu\n", do_call(stack, kind));
        show(stack);
    }
    free(memory);
    return 0;
}
