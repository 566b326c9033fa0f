/* Feeds frames to a stack, and aborts where it does not account for each of them: by its public
 * interface alone, so that it is the same for every stack. The words in capitals are put in.
 *
 * In: records, each of four bytes (a link; how the time goes on; the length of the frame, low byte
 * first) and a frame. After each record every frame that came in has one fate, and no counter but
 * `held` went back; when all is quiet at the end nothing is held, and no buffer is lost. */
#include "STACK.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct STACK *stack;
static void *memory;
static uint64_t now_ns;
static uint8_t *lent;       /* a buffer of the stack, for the next frame */
static uint64_t before[4096]; /* the counters of the last check */
static uint64_t taken;      /* frames that the stack took */

static void check(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "STACK: %s, after %llu frames\n", what, (unsigned long long)taken);
        abort();
    }
}

static struct STACK *start(void **place) {
    struct STACK_config config;
    STACK_config_default(&config);
SETTINGS
    const size_t size = STACK_size(&config);
    *place = malloc(size + 1);
    memset(*place, 0x5a, size + 1);
    return STACK_start((char *)*place + 1, size, &config, now_ns);
}

/* Reads all that the stack gives, as a host does. */
static void drain(void) {
    static volatile uint8_t sum;
    struct STACK_output output;
    enum STACK_next next;
    while ((next = STACK_next(stack, &output)) != UPPER_IDLE) {
        for (size_t at = 0; at < output.length; at += 1) {
            sum = (uint8_t)(sum + output.data[at]);
        }
        STACK_done(stack, &output);
    }
}

static uint64_t counted(const char *name) {
    for (size_t at = 0; STACK_counter_name[at] != NULL; at += 1) {
        if (strcmp(STACK_counter_name[at], name) == 0) {
            return before[at];
        }
    }
    return 0;
}

static void account(void) {
    uint64_t values[4096];
    const size_t count = STACK_counters(stack, values, 4096);
    uint64_t fates = 0;
    for (size_t at = 0; at < count; at += 1) {
        const char *const name = STACK_counter_name[at];
        const int held = strcmp(name, "held") == 0;
        const int fate = held || strcmp(name, "delivered") == 0 || strcmp(name, "consumed") == 0 ||
                         strcmp(name, "merged") == 0;
        const int dropped = strchr(name, '.') != NULL && strchr(name, ' ') == NULL;
        fates += fate || dropped ? values[at] : 0;
        check(held || values[at] >= before[at], name);
        before[at] = values[at];
    }
    check(counted("frames_in") == taken, "frames_in is not what was taken");
    check(counted("frames_in") == fates, "the fates do not add up");
}

/* How many buffers a host can have. */
static size_t buffers(struct STACK *of) {
    size_t count = 0, room;
    while (STACK_buffer(of, &room) != NULL) {
        count += 1;
    }
    return count;
}

static void begin(void) {
    now_ns = 1000000000;
    taken = 0;
    lent = NULL;
    memset(before, 0, sizeof before);
    stack = start(&memory);
    check(stack != NULL, "it refuses its settings");
OPENING
    drain();
}

/* One frame; `pass` says how much time goes by first. */
static void feed(unsigned link, unsigned pass, const uint8_t *data, size_t length) {
    static size_t room;
    now_ns += (uint64_t)1 << pass % 36;
    if (pass >= 128) {
        STACK_expire(stack, now_ns);
        drain();
    }
    if (lent == NULL) {
        lent = STACK_buffer(stack, &room);
    }
    if (lent != NULL) {
        const struct STACK_frame frame = {lent, length < room ? length : room};
        memset(lent, 0xa5, room);
        memcpy(lent, data, frame.length);
        if (STACK_input(stack, link % LINKS, &frame, 1, now_ns) == 1) {
            lent = NULL;
            taken += 1;
        }
        drain();
    }
    account();
}

/* An hour without frames. */
static void end(void) {
    for (int second = 0; second < 3600; second += 1) {
        now_ns += 1000000000;
        STACK_expire(stack, now_ns);
        drain();
    }
    account();
    check(counted("held") == 0, "frames are held for ever");
    void *other;
    const size_t all = buffers(start(&other));
    check(buffers(stack) + (lent != NULL) == all, "buffers are lost");
    free(other);
    free(memory);
}

void STACK_fuzz(const uint8_t *data, size_t length);
void STACK_fuzz(const uint8_t *data, size_t length) {
    begin();
    while (length >= 4) {
        const size_t rest = length - 4, wanted = (size_t)(data[2] | data[3] << 8);
        const size_t frame = wanted < rest ? wanted : rest;
        feed(data[0], data[1], data + 4, frame);
        data += 4 + frame;
        length = rest - frame;
    }
    end();
}

#ifdef ALONE
/* Records from stdin; a line for each thousand, and at the end the counters. */
int main(void) {
    static uint8_t head[4], data[65536];
    begin();
    for (unsigned long count = 1; fread(head, 1, 4, stdin) == 4; count += 1) {
        const size_t length = fread(data, 1, (size_t)(head[2] | head[3] << 8), stdin);
        uint8_t *const exact = malloc(length);
        memcpy(exact, data, length);
        feed(head[0], head[1], exact, length);
        free(exact);
        if (count % 1000 == 0) {
            printf("%lu\n", count);
            fflush(stdout);
        }
    }
    end();
    for (size_t at = 0; STACK_counter_name[at] != NULL; at += 1) {
        if (before[at] != 0) {
            printf("%s %llu\n", STACK_counter_name[at], (unsigned long long)before[at]);
        }
    }
    return 0;
}
#endif
