/* Feeds frames to a stack, and aborts where it does not account for each of them: by its public
 * interface alone, so that it is the same for every stack. The words in capitals are put in.
 *
 * Two stacks stand on one line. What one sends goes to the other at once; what that one answers
 * waits until a record lets it pass, whole or changed: so conversations come about whatever secrets
 * a stack has, and what attacks them stands in their middle.
 *
 * In: records, each of four bytes (what it is; how the time goes on; a length, low byte first) and
 * so many more. After each record every frame that came in has one fate, and no counter but `held`
 * went back; when all is quiet at the end nothing is held, and no buffer is lost. */
#include "STACK.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a record is: below these a frame for the link of that number. */
enum { ACTS = 16, PASSES = 128 };

enum { MOST = 4096, WAITING = 32 };

/* The stack that is fed, and its peer. */
static struct end {
    struct STACK *stack;
    void *memory;
    uint8_t *lent;         /* a buffer of the stack, for the next frame */
    uint32_t heard;        /* the session that was heard of last */
    uint64_t offered;      /* frames that were to come in */
    uint64_t taken;        /* frames that the stack took */
    uint64_t before[MOST]; /* the counters of the last check */
} ends[2];

/* Frames of the peer that wait. */
static struct frame {
    unsigned link;
    uint8_t *data;
    size_t length;
} way[WAITING];
static size_t waiting;

static uint64_t now_ns;
static enum { OTHER, COMES, FATE, HELD } kinds[MOST]; /* what each counter counts */

static void check(int condition, const char *what) {
    if (!condition) {
        const unsigned long long taken = ends[0].taken;
        fprintf(stderr, "STACK: %s, after %llu frames\n", what, taken);
        abort();
    }
}

static struct STACK *start(unsigned which, void **place) {
    struct STACK_config config;
    STACK_config_default(&config);
    (void)which;
SETTINGS
    const size_t size = STACK_size(&config);
    *place = malloc(size + 1);
    memset(*place, 0x5a, size + 1);
    return STACK_start((char *)*place + 1, size, &config, now_ns);
}

/* What an application opens: with the other end, and for it. */
static void opening(struct STACK *stack, unsigned which) {
    const unsigned other = 1 - which;
    (void)stack;
    (void)other;
OPENING
}

/* What an application does: one thing of all that the ports of the stack offer. */
static void act(unsigned which, unsigned what, const uint8_t *data, size_t length) {
    struct STACK *const stack = ends[which].stack;
    const uint32_t session = length > 0 && data[0] % 2 ? data[0] / 2 % 8 : ends[which].heard;
    const uint32_t number = length > 2 ? (uint32_t)(data[1] | data[2] << 8) : 0;
    (void)session;
    (void)number;
    _Static_assert(DOES <= (PASSES - ACTS) / 2, "a record can name every act");
    switch (what % DOES) {
ACTING
    default: opening(stack, which);
    }
}

static void take(unsigned which, unsigned link, const uint8_t *data, size_t length);

static void leave(unsigned which, unsigned link, const uint8_t *data, size_t length) {
    if (which == 0) {
        take(1, link, data, length);
    } else if (waiting < WAITING) {
        way[waiting] = (struct frame){link, malloc(length + 1), length};
        memcpy(way[waiting].data, data, length);
        waiting += 1;
    }
}

/* Reads all that a stack gives, as a host does; who reads a stream lets it go on. */
static void drain(unsigned which) {
    static volatile uint8_t sum;
    struct STACK *const stack = ends[which].stack;
    struct STACK_output output;
    while (STACK_next(stack, &output) != UPPER_IDLE) {
        for (size_t at = 0; at < output.length; at += 1) {
            sum = (uint8_t)(sum + output.data[at]);
        }
        if (output.next == UPPER_FRAME) {
            leave(which, output.place, output.data, output.length);
        } else {
            ends[which].heard = output.session;
        }
        STACK_done(stack, &output);
        if (output.next == UPPER_DELIVER) {
            switch (output.place) {
GRANTING
            default:;
            }
        }
    }
}

/* A frame comes in, if there is a buffer for it. */
static void take(unsigned which, unsigned link, const uint8_t *data, size_t length) {
    static size_t room;
    struct end *const end = &ends[which];
    end->offered += 1;
    if (end->lent == NULL) {
        end->lent = STACK_buffer(end->stack, &room);
    }
    if (end->lent != NULL) {
        const struct STACK_frame frame = {end->lent, length < room ? length : room};
        memset(end->lent, 0xa5, room);
        memcpy(end->lent, data, frame.length);
        if (STACK_input(end->stack, link % LINKS, &frame, 1, now_ns) == 1) {
            end->lent = NULL;
            end->taken += 1;
        }
        drain(which);
    }
}

static void classify(void) {
    for (size_t at = 0; STACK_counter_name[at] != NULL; at += 1) {
        check(at < MOST, "it has too many counters");
        const char *const name = STACK_counter_name[at];
        const int fate = strcmp(name, "delivered") == 0 || strcmp(name, "consumed") == 0 ||
                         strcmp(name, "merged") == 0;
        const int dropped = strchr(name, '.') != NULL && strchr(name, ' ') == NULL;
        kinds[at] = strcmp(name, "frames_in") == 0 ? COMES
                    : strcmp(name, "held") == 0    ? HELD
                    : fate || dropped              ? FATE
                                                   : OTHER;
    }
}

static void account(struct end *end, int at_rest) {
    static uint64_t values[MOST];
    const size_t count = STACK_counters(end->stack, values, MOST);
    uint64_t came = 0, fates = 0;
    for (size_t at = 0; at < count; at += 1) {
        came += kinds[at] == COMES ? values[at] : 0;
        fates += kinds[at] == FATE || kinds[at] == HELD ? values[at] : 0;
        check(kinds[at] == HELD || values[at] >= end->before[at], STACK_counter_name[at]);
        check(kinds[at] != HELD || values[at] == 0 || !at_rest, "frames are held for ever");
        end->before[at] = values[at];
    }
    check(came == end->taken, "frames_in is not what was taken");
    check(came == fates, "the fates do not add up");
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
    waiting = 0;
    memset(ends, 0, sizeof ends);
    classify();
    for (unsigned which = 0; which < 2; which += 1) {
        ends[which].stack = start(which, &ends[which].memory);
        check(ends[which].stack != NULL, "it refuses its settings");
    }
    for (unsigned which = 0; which < 2; which += 1) {
        opening(ends[which].stack, which);
        drain(which);
    }
}

static void expire(void) {
    for (unsigned which = 0; which < 2; which += 1) {
        STACK_expire(ends[which].stack, now_ns);
        drain(which);
    }
}

/* Adds to the word of 16 bits at a place, so that a sum of words goes on with it. */
static void add(struct frame *frame, size_t place, uint32_t value) {
    uint8_t *const word = frame->data + place;
    const uint32_t sum = (uint32_t)(word[0] << 8 | word[1]) + value;
    const uint32_t folded = (sum & 0xffff) + (sum >> 16);
    word[0] = (uint8_t)(folded >> 8);
    word[1] = (uint8_t)folded;
}

/* Changes of four bytes: how, where, where else, and by what. Most leave sums as they are. */
static void alter(struct frame *frame, const uint8_t *change) {
    const size_t words = frame->length / 2;
    if (words == 0) {
        return;
    }
    const size_t first = change[1] / 2 % words * 2, second = change[2] / 2 % words * 2;
    const uint32_t value = (uint32_t)change[3] << (change[1] % 2 * 8);
    switch (change[0] % 8) {
    case 0: frame->length = change[1] % frame->length; break;
    case 1: frame->data[change[1] % frame->length] ^= change[3]; break;
    case 2:
        frame->data = realloc(frame->data, frame->length + 256);
        memset(frame->data + frame->length, change[3], change[1]);
        frame->length += change[1];
        break;
    default:
        add(frame, first, value);
        add(frame, second, 0xffff - value);
    }
}

/* The first frame of the peer that waits, or the last of them; it may come again, or be lost. */
static void pass(unsigned how, const uint8_t *changes, size_t length) {
    if (waiting == 0) {
        return;
    }
    const size_t at = how % 4 == 0 ? waiting - 1 : 0;
    const struct frame chosen = way[at];
    struct frame frame = {chosen.link, malloc(chosen.length + 1), chosen.length};
    memcpy(frame.data, chosen.data, chosen.length);
    if (how % 8 != 1) {
        free(chosen.data);
        waiting -= 1;
        memmove(way + at, way + at + 1, (waiting - at) * sizeof *way);
    }
    for (; length >= 4; length -= 4, changes += 4) {
        alter(&frame, changes);
    }
    if (how % 8 != 2) {
        take(0, frame.link, frame.data, frame.length);
    }
    free(frame.data);
}

/* One record; `time` says how much of it goes by first. */
static void feed(unsigned what, unsigned time, const uint8_t *data, size_t length) {
    now_ns += (uint64_t)1 << time % 36;
    if (time >= 128) {
        expire();
    }
    if (what >= PASSES) {
        pass(what, data, length);
    } else if (what >= ACTS) {
        act(what % 2, (what - ACTS) / 2, data, length);
        drain(what % 2);
    } else {
        take(0, what, data, length);
    }
    account(&ends[0], 0);
    account(&ends[1], 0);
}

/* All conversations of an end are over. */
static void closing(unsigned which) {
    (void)which;
CLOSING
}

/* All conversations end, and for an hour no frame arrives. */
static void end(void) {
    for (unsigned which = 0; which < 2; which += 1) {
        closing(which);
    }
    for (int second = 0; second < 3600; second += 1) {
        for (; waiting > 0; waiting -= 1) {
            free(way[waiting - 1].data);
        }
        now_ns += 1000000000;
        expire();
    }
    for (unsigned which = 0; which < 2; which += 1) {
        struct end *const end = &ends[which];
        account(end, 1);
        void *other;
        const size_t all = buffers(start(which, &other));
        const size_t free_now = buffers(end->stack) + (end->lent != NULL);
        check(free_now <= all && free_now + KEEPS >= all, "buffers are lost");
        free(other);
        free(end->memory);
    }
    for (; waiting > 0; waiting -= 1) {
        free(way[waiting - 1].data);
    }
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
/* Records from stdin, until so many frames were taken; a line for each thousand of these, and at
 * the end the counters. */
int main(int argc, char **arguments) {
    static uint8_t head[4], data[65536];
    const uint64_t count = argc > 1 ? strtoull(arguments[1], NULL, 10) : UINT64_MAX;
    uint64_t said = 0, before = 0, offered = 0, refused = 0, idle = 0;
    begin();
    while (ends[0].taken < count && fread(head, 1, 4, stdin) == 4) {
        const size_t length = fread(data, 1, (size_t)(head[2] | head[3] << 8), stdin);
        uint8_t *const exact = malloc(length);
        memcpy(exact, data, length);
        feed(head[0], head[1], exact, length);
        free(exact);
        /* Of what nobody sends nothing is refused. */
        refused = ends[0].taken == before ? refused + (ends[0].offered - offered) : 0;
        idle = ends[0].taken == before ? idle + 1 : 0;
        before = ends[0].taken;
        offered = ends[0].offered;
        check(refused < 1000, "it takes no frame any more");
        check(idle < 10000, "no frame comes any more");
        if (ends[0].taken / 1000 > said) {
            said = ends[0].taken / 1000;
            printf("%llu\n", 1000 * (unsigned long long)said);
            fflush(stdout);
        }
    }
    end();
    for (size_t at = 0; STACK_counter_name[at] != NULL; at += 1) {
        if (ends[0].before[at] != 0) {
            printf("%s %llu\n", STACK_counter_name[at], (unsigned long long)ends[0].before[at]);
        }
    }
    return 0;
}
#endif
