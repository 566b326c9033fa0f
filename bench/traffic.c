/*
 * traffic.c: the driver of `loom bench traffic` for a stack that Loom made, compiled as
 * traffic_stack. After each frame it asks traffic_stack_next until nothing is left to do, as the
 * contract of the stack demands. With -DCALLS the port and the link call functions of this host,
 * as those of `called` in traffic.loom.
 *
 * Within a function that the stack calls nothing is sent: the session is noted, and served when
 * traffic_stack_next has nothing more. A message that the stack does not take yet waits likewise.
 */
#include "traffic/client.h"
#include "traffic_stack.h"

enum { SESSIONS = 4096, BACKLOG = 64, BUFFERS = 256, NOBODY = UINT32_MAX };

static struct traffic_stack *stack;
static struct traffic_stack_frame frame; /* the one that arrives */
static struct conversation conversations[SESSIONS];
static uint32_t first = NOBODY;    /* the session that was accepted first */
static bool says;                  /* its application sends all it can */
static uint32_t waiting[SESSIONS]; /* sessions to be served later */
static size_t waiting_count;
#ifdef CALLS
static uint8_t memory[2048];       /* where frames arrive */
#endif

static struct conversation *of(uint32_t session) {
    return &conversations[session % SESSIONS];
}

static void wait_for_turn(uint32_t session) {
    if (waiting_count == SESSIONS) {
        fail("more sessions wait than there are");
    }
    waiting[waiting_count++] = session;
}

/* Sends what is owed, as much as there is room for; behind all of it, closes. */
static void answer(uint32_t session, struct conversation *own) {
    while (own->owed > 0 && own->credit > 0) {
        uint32_t length = own->owed < own->credit ? own->owed : own->credit;
        length = length < SEGMENT ? length : SEGMENT;
        const enum traffic_stack_send sent =
            traffic_stack_streams_send(stack, session, NULL, rest_of(own), length, now_ns);
        if (sent != TRAFFIC_STACK_SENT) {
            if (sent == TRAFFIC_STACK_REFUSED) {
                fail("the stack refuses what it gave credit for");
            }
            wait_for_turn(session);
            return;
        }
        own->owed -= length;
        own->credit -= length;
    }
    if (application.closes && own->owed == 0 && !own->closing) {
        own->closing = true;
        traffic_stack_streams_close(stack, session, now_ns);
    }
}

/* Sends whole segments, as many as there is room for. */
static void fill(uint32_t session, struct conversation *own) {
    while (own->credit >= SEGMENT) {
        const enum traffic_stack_send sent =
            traffic_stack_streams_send(stack, session, NULL, text, SEGMENT, now_ns);
        if (sent != TRAFFIC_STACK_SENT) {
            if (sent == TRAFFIC_STACK_REFUSED) {
                fail("the stack refuses what it gave credit for");
            }
            wait_for_turn(session);
            return;
        }
        own->credit -= SEGMENT;
    }
}

static __attribute__((noinline)) void serve(uint32_t session) {
    if (says) {
        fill(session, of(session));
    } else {
        answer(session, of(session));
    }
}

static void accept(uint32_t session) {
    struct conversation *const own = of(session);
    /* Where the stack calls, it has given credit before. */
    *own = (struct conversation){.credit = own->credit};
    if (first == NOBODY) {
        first = session;
    }
    traffic_stack_streams_hurry(stack, session, true, now_ns);
}

/* A frame in two parts, as a device gathers them; named so that it is not counted. */
void gathered_bench_wire(const uint8_t *data, size_t length, const uint8_t *body,
                         size_t body_length);

__attribute__((noipa)) void gathered_bench_wire(const uint8_t *data, size_t length,
                                                const uint8_t *body, size_t body_length) {
    wire_part(data, length, false);
    wire_part(body, body_length, true);
}

/* A frame leaves. */
static void leave(const uint8_t *data, size_t length, const uint8_t *body, size_t body_length) {
    if (body_length == 0) {
        bench_wire(data, length);
    } else {
        gathered_bench_wire(data, length, body, body_length);
    }
}

#ifdef CALLS
void traffic_stack_leaves(void *user, struct traffic_stack *own, const uint8_t *data,
                          size_t length, const uint8_t *body, size_t body_length,
                          uint64_t time_ns) {
    (void)user, (void)own, (void)time_ns;
    leave(data, length, body, body_length);
}

uint32_t traffic_stack_arrived(void *user, struct traffic_stack *own, uint32_t session,
                               const struct traffic_stack_streams_attributes *with,
                               const uint8_t *data, size_t length, uint64_t time_ns) {
    (void)user, (void)own, (void)with, (void)time_ns;
    if (takes(of(session), data, (uint32_t)length)) {
        wait_for_turn(session);
    }
    return (uint32_t)length;
}

void traffic_stack_arrived_grant_sends(void *user, struct traffic_stack *own, uint32_t session,
                                       uint32_t bytes, uint64_t time_ns) {
    (void)user, (void)own, (void)time_ns;
    struct conversation *const to = of(session);
    to->credit += bytes;
    if (says || to->owed > 0) {
        wait_for_turn(session);
    }
}

void traffic_stack_arrived_opened(void *user, struct traffic_stack *own, uint32_t session,
                                  uint64_t time_ns) {
    (void)user, (void)own, (void)session, (void)time_ns;
}

void traffic_stack_arrived_measured(void *user, struct traffic_stack *own, uint32_t session,
                                    uint16_t bytes, uint64_t time_ns) {
    (void)user, (void)own, (void)session, (void)bytes, (void)time_ns;
}

void traffic_stack_arrived_urgent(void *user, struct traffic_stack *own, uint32_t session,
                                  uint32_t bytes, uint64_t time_ns) {
    (void)user, (void)own, (void)session, (void)bytes, (void)time_ns;
}

void traffic_stack_arrived_unreachable(void *user, struct traffic_stack *own, uint32_t session,
                                       bool refused, uint64_t time_ns) {
    (void)user, (void)own, (void)session, (void)refused, (void)time_ns;
}

void traffic_stack_arrived_finished(void *user, struct traffic_stack *own, uint32_t session,
                                    uint64_t time_ns) {
    (void)user, (void)own, (void)session, (void)time_ns;
}

void traffic_stack_arrived_closed(void *user, struct traffic_stack *own, uint32_t session,
                                  uint8_t reason_, uint64_t time_ns) {
    (void)user, (void)own, (void)reason_, (void)time_ns;
    *of(session) = (struct conversation){0};
}
#else
/* Takes what is delivered, and lets as much come after it. */
static inline void delivered(const struct traffic_stack_output *output) {
    const uint32_t session = output->session, length = (uint32_t)output->length;
    const bool is_request = takes(of(session), output->data, length);
    traffic_stack_done(stack, output);
    traffic_stack_streams_grant_delivers(stack, session, length, now_ns);
    if (is_request) {
        serve(session);
    }
}
#endif

/* Does what the stack asks for until there is nothing, and then serves who waits. A buffer is given
 * back before anything is sent. */
static void drain(void) {
    for (;;) {
        struct traffic_stack_output output;
        switch (traffic_stack_next(stack, &output)) {
        case TRAFFIC_STACK_IDLE:
            if (waiting_count == 0) {
                return;
            }
            serve(waiting[--waiting_count]);
            continue;
        case TRAFFIC_STACK_ACCEPTED:
            accept(output.session);
            break;
#ifndef CALLS
        case TRAFFIC_STACK_FRAME:
            leave(output.data, output.length, output.body, output.body_length);
            break;
        case TRAFFIC_STACK_DELIVER:
            delivered(&output);
            continue;
        case TRAFFIC_STACK_GRANT_SENDS:
            of(output.session)->credit += output.with.streams_grant_sends.bytes;
            if (says || of(output.session)->owed > 0) {
                traffic_stack_done(stack, &output);
                serve(output.session);
                continue;
            }
            break;
        case TRAFFIC_STACK_CLOSED:
            *of(output.session) = (struct conversation){0};
            break;
#endif
        default: /* it is of no interest */
            break;
        }
        traffic_stack_done(stack, &output);
    }
}

void sut_start(uint32_t connections) {
    (void)connections;
    struct traffic_stack_config config;
    traffic_stack_config_default(&config);
    config.address = SUT;
    config.buffers = BUFFERS;
    const size_t size = traffic_stack_size(&config);
    stack = traffic_stack_start(calloc(1, size), size, &config, now_ns);
    if (stack == NULL) {
        fail("the stack does not start");
    }
    drain();
    const struct traffic_stack_streams_listener_keys keys = {.port = PORT};
    traffic_stack_streams_listen(stack, &keys, BACKLOG, now_ns);
    drain();
}

void sut_place(const uint8_t *data, size_t length) {
#ifdef CALLS
    frame.data = memory;
#else
    size_t room;
    frame.data = traffic_stack_buffer(stack, &room);
    if (frame.data == NULL) {
        fail("the stack has no buffer");
    }
#endif
    memcpy(frame.data, data, length);
    frame.length = length;
}

void sut_input(void) {
    if (traffic_stack_input(stack, 0, &frame, 1, now_ns) != 1) {
        fail("the stack does not take a frame");
    }
    drain();
}

void sut_expire(void) {
    while (traffic_stack_deadline(stack) <= now_ns) {
        traffic_stack_expire(stack, now_ns);
        drain();
    }
}

void sut_say(void) {
    says = true;
    fill(first, of(first));
    drain();
}

/* A stack that was compiled without fast paths has no names of them. */
size_t traffic_stack_paths(const struct traffic_stack *stack, uint64_t *values, size_t capacity)
    __attribute__((weak));
extern const char *const traffic_stack_path_name[] __attribute__((weak));

void sut_tell(void) {
    static uint64_t went[512];
    const size_t count = traffic_stack_paths == NULL ? 0 : traffic_stack_paths(stack, went, 512);
    for (size_t at = 0; at < count && at < 512; at += 1) {
        if (went[at] != 0) {
            printf("path: %s %llu\n", traffic_stack_path_name[at], (unsigned long long)went[at]);
        }
    }
}
