/* Drives a stack by its public interface: reads traces, and writes what a host sees. The words in
 * capitals are put in for each program. */
#include "STACK.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct STACK *stack;
static void *memory;
static uint8_t *lent[4096]; /* buffers of the stack that wait for a frame */
static size_t lent_count;
static bool has_many; /* whether there are more buffers than frames will need */
static bool gives_none; /* whether the host is given none of them */

/* The next word; false at the end. */
static bool word(char **start, size_t *length) {
    static char text[1 << 18];
    int next = getchar();
    while (next == ' ' || next == '\n') {
        next = getchar();
    }
    *start = text;
    *length = 0;
    while (next != ' ' && next != '\n' && next != EOF && *length + 1 < sizeof text) {
        text[*length] = (char)next;
        *length += 1;
        next = getchar();
    }
    text[*length] = 0;
    return *length != 0;
}

static uint64_t number(void) {
    char *start;
    size_t length;
    if (!word(&start, &length)) {
        abort();
    }
    return strtoull(start, NULL, 10);
}

/* Bytes in memory of just their size, so that whoever reads further is caught. */
static uint8_t *bytes(size_t *length) {
    char *start;
    size_t digits;
    if (!word(&start, &digits)) {
        abort();
    }
    *length = digits / 2;
    uint8_t *const all = malloc(*length);
    for (size_t at = 0; at < *length; at += 1) {
        const char pair[3] = {start[1 + 2 * at], start[2 + 2 * at], 0};
        all[at] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return all;
}

static inline void read_bytes(uint8_t *to, size_t expected) {
    size_t length;
    uint8_t *const from = bytes(&length);
    if (length != expected) {
        abort();
    }
    memcpy(to, from, length);
    free(from);
}

static inline size_t read_bounded(uint8_t *to, size_t most) {
    size_t length;
    uint8_t *const from = bytes(&length);
    if (length > most) {
        abort();
    }
    memcpy(to, from, length);
    memset(to + length, 0xa5, most - length); /* what stands there is nobody's */
    free(from);
    return length;
}

static void show(uint64_t value) {
    printf(" %" PRIu64, value);
}

static void show_bytes(const uint8_t *from, size_t length) {
    printf(" x");
    for (size_t at = 0; at < length; at += 1) {
        printf("%02x", from[at]);
    }
}

/* Takes buffers until there are so many, as far as there are any. */
static size_t lend(size_t count) {
    size_t room;
    while (lent_count < count && lent_count < sizeof lent / sizeof *lent &&
           (lent[lent_count] = STACK_buffer(stack, &room)) != NULL) {
        lent_count += 1;
    }
    return lent_count < count ? lent_count : count;
}

/* No function of the interface. */
bool STACK_has_buffer(struct STACK *);

/* How many are left for the host. Where it is given none, they are still there. */
static size_t left(void) {
    const size_t most = sizeof lent / sizeof *lent;
    if (!gives_none) {
        lend(most);
        return lent_count;
    }
    size_t count = 0;
    STACK_has_buffer(stack);
    const struct STACK_buffer *one = ((const struct STACK_shared *)(const void *)stack)->free;
    for (; one != NULL && count < most; one = one->next) {
        count += 1;
    }
    return count;
}

/* Frames of one call in turn stand in buffers and elsewhere, where these are many: just so long as
 * the call takes. */
static uint64_t input(uint64_t now_ns) {
    static uint32_t turns;
    const unsigned link = (unsigned)number();
    const size_t count = number();
    const size_t copied = gives_none ? count : lend(count);
    struct STACK_frame *const frames = malloc((copied + 1) * sizeof *frames);
    bool *const elsewhere = calloc(copied + 1, sizeof *elsewhere);
    size_t filled = 0;
    for (size_t at = 0; at < count; at += 1) {
        size_t length;
        uint8_t *const from = bytes(&length);
        turns += 1;
        if (gives_none || (at < copied && has_many && turns % 3 != 0 && length <= ROOM)) {
            elsewhere[at] = true;
            frames[at] = (struct STACK_frame){.data = from, .length = length};
            continue;
        }
        if (at < copied) {
            frames[at] = (struct STACK_frame){.data = lent[filled], .length = length};
            memset(lent[filled], 0xa5, ROOM);
            memcpy(lent[filled], from, length < ROOM ? length : ROOM);
            filled += 1;
        }
        free(from);
    }
    const size_t taken = STACK_input(stack, link, frames, copied, now_ns);
    size_t gone = 0;
    for (size_t at = 0; at < copied; at += 1) {
        gone += at < taken && !elsewhere[at];
        if (elsewhere[at]) {
            free(frames[at].data);
        }
    }
    free(elsewhere);
    free(frames);
    memmove(lent, lent + gone, (lent_count - gone) * sizeof *lent);
    lent_count -= gone;
    return taken;
}

static uint64_t port_send(unsigned place, uint32_t session, uint64_t now_ns) {
    size_t length;
    uint8_t *const data = bytes(&length);
    const bool given = number() != 0;
    uint64_t returned = 0;
    switch (place) {
SENDS
    default:
        abort();
    }
    free(data);
    return returned;
}

static uint32_t port_open(unsigned place, uint64_t now_ns) {
    switch (place) {
OPENS
    default:
        return UINT32_MAX;
    }
}

static uint32_t port_listen(unsigned place, unsigned backlog, uint64_t now_ns) {
    (void)backlog;
    (void)now_ns;
    switch (place) {
LISTENS
    default:
        return UINT32_MAX;
    }
}

static void port_unlisten(unsigned place, uint32_t listener, uint64_t now_ns) {
    (void)listener;
    (void)now_ns;
    switch (place) {
UNLISTENING
    default:
        break;
    }
}

static void port_notice(unsigned place, unsigned which, uint32_t session, uint64_t now_ns) {
    (void)session;
    (void)now_ns;
    switch (place << 16 | which) {
NOTICES
    default:
        abort();
    }
}

static void show_output(enum STACK_next next, const struct STACK_output *output) {
    if (next == UPPER_FRAME) {
        printf("f %u", output->place);
        show_bytes(output->data, output->length);
BODY
    } else if (next == UPPER_DELIVER) {
        printf("d %u %" PRIu32, output->place, output->session);
        show_bytes(output->data, output->length);
        switch (output->place) {
DELIVERED
        default:
            break;
        }
    }
TOLD
    printf("\n");
}

static void step(char what, uint64_t now_ns) {
    uint64_t returned = UINT64_MAX; /* nothing */
    if (what == 'i') {
        returned = input(now_ns);
    } else if (what == 's') {
        const unsigned place = (unsigned)number();
        const uint32_t session = (uint32_t)number();
        returned = port_send(place, session, now_ns);
    } else if (what == 'o') {
        const uint32_t opened = port_open((unsigned)number(), now_ns);
        returned = opened != UINT32_MAX ? opened : UINT64_MAX;
    } else if (what == 'l') {
        const unsigned place = (unsigned)number();
        const uint32_t listener = port_listen(place, (unsigned)number(), now_ns);
        returned = listener != UINT32_MAX ? listener : UINT64_MAX;
    } else if (what == 'u') {
        const unsigned place = (unsigned)number();
        port_unlisten(place, (uint32_t)number(), now_ns);
    } else if (what == 'n') {
        const unsigned place = (unsigned)number();
        const unsigned which = (unsigned)number();
        port_notice(place, which, (uint32_t)number(), now_ns);
    } else if (what == 'c') {
        const unsigned link = (unsigned)number();
        const bool up = number() != 0;
        LINKS(void)link, (void)up;
    } else {
        STACK_expire(stack, now_ns);
    }
    printf("r");
    if (returned != UINT64_MAX) {
        show(returned);
    }
    printf("\n");
}

EXTERNS
/* Starts a stack in memory of just its size, at an odd place; NULL if its settings are refused. */
static void start(void) {
    struct STACK_config config;
    STACK_config_default(&config);
    const uint64_t start_ns = number();
    config.buffers = (uint32_t)number();
    config.reserve = (uint32_t)number();
    config.outputs = (uint32_t)number();
    config.events = (uint32_t)number();
    config.budget = (uint32_t)number();
    config.hash_seed = number();
    has_many = config.buffers >= 1024;
CONFIGURE
    const size_t size = STACK_size(&config);
    free(memory);
    memory = malloc(size + 1);
    memset(memory, 0x5a, size + 1);
    lent_count = 0;
    stack = STACK_start((char *)memory + 1, size, &config, start_ns);
}

/* Stacks without fast paths have no counters of them. */
size_t STACK_paths(const struct STACK *one, uint64_t *values, size_t capacity)
    __attribute__((weak));
extern const char *const STACK_path_name[] __attribute__((weak));

/* Frames that arrived took one fast path at most, or left it at one exit. */
static void check_paths(uint64_t frames_in) {
    static uint64_t went[1024];
    const size_t count = STACK_paths == NULL ? 0 : STACK_paths(stack, went, 1024);
    uint64_t all = 0;
    bool fits = true;
    for (size_t at = 0; at < count; at += 1) {
        if (strstr(STACK_path_name[at], "_arrive") != NULL) {
            all += went[at];
            fits = fits && went[at] <= frames_in;
        }
    }
    if (all > frames_in || !fits) {
        printf("of %llu frames the paths have %llu\n", (unsigned long long)frames_in,
               (unsigned long long)all);
        exit(1);
    }
}

int main(void) {
    char *start_of;
    size_t length;
    static uint64_t values[UPPER_COUNTERS];
    while (word(&start_of, &length)) {
        const char what = *start_of;
        if (what == 'S') {
            start();
            const size_t count = stack == NULL ? 0 : STACK_counters(stack, values, 0);
            printf("S");
            gives_none = false;
            for (size_t at = 0; at < count; at += 1) {
                printf("|%s", STACK_counter_name[at]);
                gives_none = strcmp(STACK_counter_name[at], "count stack.cut_buffer") == 0;
            }
            printf("\n");
            continue;
        }
        if (stack == NULL) {
            continue; /* up to the next start */
        }
        if (what == 'B') {
            printf("B %zu\n", left());
            continue;
        }
        const uint64_t now_ns = number();
        const bool takes = number() != 0;
        step(what, now_ns);
        struct STACK_output output;
        for (enum STACK_next next = UPPER_IDLE;
             takes && (next = STACK_next(stack, &output)) != UPPER_IDLE;) {
            show_output(next, &output);
            STACK_done(stack, &output);
        }
        printf("c");
        show(STACK_deadline(stack));
        const size_t count = STACK_counters(stack, values, sizeof values / sizeof *values);
        for (size_t at = 0; at < count; at += 1) {
            show(values[at]);
        }
        printf("\n");
        check_paths(values[0]);
        fflush(stdout);
    }
    free(memory);
    return 0;
}
