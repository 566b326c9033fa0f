/* traffic.c: the driver of `loom bench traffic` for the whole TCP by hand, which calls its host. */
#include "../../traffic/client.h"
#include "stack.h"

static struct floor own;
static struct conversation conversations[FLOOR_SESSIONS];
static struct floor_connection *first; /* the connection that was accepted first */
static uint8_t frame[2048];            /* the frame that arrives */
static uint32_t frame_length;
static bool says; /* the application of the first connection sends all it can */

void floor_on_leave(const uint8_t *data, uint32_t length) { bench_wire(data, length); }

/* Sends what is owed, as much as there is room for; after all of it, closes. */
static void answer(struct floor_connection *to, struct conversation *of) {
    while (of->owed > 0 && of->credit > 0) {
        uint32_t length = of->owed < of->credit ? of->owed : of->credit;
        length = length < SEGMENT ? length : SEGMENT;
        if (floor_send(&own, to, rest_of(of), length, false) != length) {
            fail("the stack does not take what it gave credit for");
        }
        of->owed -= length;
        of->credit -= length;
    }
    if (application.closes && of->owed == 0 && !of->closing) {
        of->closing = true;
        floor_close(&own, to, true);
    }
}

/* Sends whole segments, as many as there is room for. */
static void fill(struct floor_connection *to, struct conversation *of) {
    while (of->credit >= SEGMENT && floor_send(&own, to, text, SEGMENT, false) == SEGMENT) {
        of->credit -= SEGMENT;
    }
}

void floor_on_begun(struct floor *stack, struct floor_connection *to) {
    struct conversation *const of = &conversations[to - stack->connections];
    *of = (struct conversation){0};
    to->user = of;
    if (first == NULL) {
        first = to;
    }
    floor_hurry(to, true);
}

void floor_on_received(struct floor *stack, struct floor_connection *to, const uint8_t *data,
                       uint32_t length) {
    (void)stack;
    const bool is_request = takes(to->user, data, length);
    floor_consumed(to, length);
    if (is_request) {
        answer(to, to->user);
    }
}

void floor_on_room(struct floor *stack, struct floor_connection *to, uint32_t bytes) {
    (void)stack;
    struct conversation *const of = to->user;
    of->credit += bytes;
    if (says) {
        fill(to, of);
    } else if (of->owed > 0) {
        answer(to, of);
    }
}

void floor_on_urgent(struct floor *stack, struct floor_connection *to, uint32_t bytes) {
    (void)stack, (void)to, (void)bytes;
}

void floor_on_finished(struct floor *stack, struct floor_connection *to) {
    (void)stack, (void)to;
}

void floor_on_lost(struct floor *stack, struct floor_connection *to, bool refused) {
    (void)stack, (void)to, (void)refused;
}

void floor_on_closed(struct floor *stack, struct floor_connection *to, enum floor_reason why) {
    (void)stack, (void)to, (void)why;
}

void sut_start(uint32_t connections) {
    (void)connections;
    const struct floor_config config = {.address = SUT, .prefix = 24, .secret = {1, 2, 3, 4}};
    floor_start(&own, &config, now_ns);
    for (unsigned at = 0; at < FLOOR_SESSIONS; at += 1) {
        own.connections[at].outgoing = calloc(1, FLOOR_RING);
        own.connections[at].incoming = calloc(1, FLOOR_RING);
    }
    floor_listen(&own, PORT);
}

void sut_place(const uint8_t *data, size_t length) {
    memcpy(frame, data, length);
    frame_length = (uint32_t)length;
}

void sut_input(void) { floor_input(&own, frame, frame_length, now_ns); }

void sut_expire(void) { floor_expire(&own, now_ns); }

void sut_say(void) {
    says = true;
    fill(first, first->user);
    floor_push(&own, first, now_ns);
}

void sut_tell(void) {}
