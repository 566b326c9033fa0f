/* Drives a stack: reads a step from each line, and writes what a host sees behind it. The words in
 * capitals are put in for each program. */
#include "STACK.c"

#include <stdio.h>
#include <stdlib.h>

static struct STACK *stack;
static struct STACK_frame lent[4096]; /* buffers of the stack that wait for a frame */
static size_t lent_count;
static uint8_t data[1 << 16];

static uint64_t number(void) {
    unsigned long long value;
    if (scanf("%llu", &value) != 1) {
        abort();
    }
    return value;
}

/* Reads bytes; the answer is how many. */
static size_t bytes(uint8_t *to, size_t room) {
    static char digits[1 << 18];
    size_t length = 0;
    unsigned byte;
    if (scanf("%262143s", digits) != 1) {
        abort();
    }
    for (const char *at = digits + 1; sscanf(at, "%2x", &byte) == 1 && length < room; at += 2) {
        to[length] = (uint8_t)byte;
        length += 1;
    }
    return length;
}

static void show(uint64_t value) {
    printf(" %llu", (unsigned long long)value);
}

static uint64_t input(uint64_t now_ns) {
    unsigned link;
    struct STACK_frame frames[256];
    size_t count, copied = 0;
    if (scanf("%u %zu", &link, &count) != 2) {
        abort();
    }
    for (size_t at = 0; at < count; at += 1) {
        size_t length = bytes(data, sizeof data), room;
        if (copied < at) {
            continue;
        }
        if (copied == lent_count) {
            lent[copied].data = STACK_buffer(stack, &room);
            if (lent[copied].data == NULL) {
                continue;
            }
            lent_count += 1;
        }
        frames[copied] = lent[copied];
        frames[copied].length = length;
        memcpy(frames[copied].data, data, length);
        copied += 1;
    }
    const size_t taken = STACK_input(stack, link, frames, copied, now_ns);
    memmove(lent, lent + taken, (lent_count - taken) * sizeof *lent);
    lent_count -= taken;
    return taken;
}

static void show_output(enum STACK_next next, struct STACK_output output) {
    if (next == UPPER_FRAME) {
        printf("f %u x", output.place);
    } else if (next == UPPER_DELIVER) {
        printf("d %u %u x", output.place, output.session);
    }
    if (next == UPPER_FRAME || next == UPPER_DELIVER) {
        for (size_t at = 0; at < output.length; at += 1) {
            printf("%02x", output.data[at]);
        }
    }
    if (next == UPPER_DELIVER) {
        DELIVERED
    }
    TOLD
    printf("\n");
}

static void step(uint64_t now_ns, char what) {
    unsigned place = 0, which = 0;
    uint64_t returned = UINT64_MAX, opened = UINT32_MAX;
    (void)which;
    switch (what) {
    case 'i':
        returned = input(now_ns);
        break;
    case 's':
        if (scanf("%u", &place) != 1) {
            abort();
        }
        SENDS
        break;
    case 'o':
        if (scanf("%u", &place) != 1) {
            abort();
        }
        OPENS
        if (opened != UINT32_MAX) {
            returned = opened;
        }
        break;
    case 'n':
        if (scanf("%u.%u", &place, &which) != 2) {
            abort();
        }
        NOTICES
        break;
    default:
        STACK_expire(stack, now_ns);
        break;
    }
    if (returned == UINT64_MAX) {
        printf("r -\n");
    } else {
        printf("r %llu\n", (unsigned long long)returned);
    }
}

int main(void) {
    static uint64_t values[4096];
    struct STACK_config config;
    STACK_config_default(&config);
    const uint64_t start_ns = number();
    config.buffers = (uint32_t)number();
    config.budget = (uint32_t)number();
    CONFIGURE
    const size_t size = STACK_size(&config);
    stack = STACK_start(malloc(size), size, &config, start_ns);
    if (stack == NULL) {
        abort();
    }
    const size_t count = STACK_counters(stack, values, 0);
    for (size_t at = 0; at < count; at += 1) {
        printf(at == 0 ? "%s" : "|%s", STACK_counter_name[at]);
    }
    printf("\n");
    unsigned long long now_ns;
    unsigned takes;
    char what;
    while (scanf("%llu %u %c", &now_ns, &takes, &what) == 3) {
        step(now_ns, what);
        struct STACK_output output;
        for (enum STACK_next next = UPPER_IDLE;
             takes != 0 && (next = STACK_next(stack, &output)) != UPPER_IDLE;) {
            show_output(next, output);
            STACK_done(stack, &output);
        }
        if (STACK_deadline(stack) == UINT64_MAX) {
            printf("t -\n");
        } else {
            printf("t %llu\n", (unsigned long long)STACK_deadline(stack));
        }
        STACK_counters(stack, values, count);
        printf("c");
        for (size_t at = 0; at < count; at += 1) {
            show(values[at]);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
