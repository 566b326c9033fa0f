/*
 * One end sends 4 MiB to another: what `loom bench tcp` counts of a stack that Loom made. In: its
 * C, compiled as tcp_stack. Out: with `count`, how many segments arrived, each by a call of
 * bench_step, in which the receiver
 *
 *   takes the segment, and is asked what to do: delivers it, is given credit and the buffer back;
 *   answers every second one, and has that frame back when it has left; gives the next buffer
 *
 * With `silent` only those that are not answered are counted; with `paths` it says of all of them
 * which fast paths they went, and with `script` what the receiver was given and answered, for
 * others to do it again. Between the ends stands the wire, a copy of each frame, which is not
 * counted (bench_wire), and neither is the sender. With -DETHERNET the stack begins at Ethernet, as
 * that of whole.loom does: before anything is counted the sender asks by ARP where the receiver is,
 * and the receiver answers, and knows of the sender from now on. With -DCALLS port and link call
 * functions of their hosts, as those of `called` in tcp.loom: a step is
 *
 *   takes the segment where it stands, which calls tcp_stack_arrived, which gives back that it
 *   takes all of it; and tcp_stack_leaves with the answer to every second one
 *
 * and with -DASKS it also asks tcp_stack_next until that has nothing, as the contract demands
 *
 * With -DCONNECTIONS=N there are N connections, each with a sender of its own, which take turns:
 * no segment is of the same connection as the one before.
 *
 * With -DPEER the sender is another stack, compiled as peer_stack: what the receiver records or
 * leaves out is then its own alone. With -DBARE no IP is below TCP, as in `restricted` of
 * hippco.loom. With -DOPENS the receiver listens and the sender opens the connection, as `complete`
 * there demands.
 */
#include "tcp_stack.h"

/* Functions, types and constants of the sender's stack. */
#ifdef PEER
#include "peer_stack.h"
#define THEIR_STACK peer_stack
#define THEIR(name) peer_stack_##name
#define THEIRS(NAME) PEER_STACK_##NAME
#else
#define THEIR_STACK tcp_stack
#define THEIR(name) tcp_stack_##name
#define THEIRS(NAME) TCP_STACK_##NAME
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ETHERNET
enum { LINK = 14 };
#else
enum { LINK = 0 };
#endif

#ifdef BARE
enum { NETWORK = 0 };
#else
enum { NETWORK = 20 };
#endif

#ifndef CONNECTIONS
#define CONNECTIONS 1
#endif

enum { TOTAL = 4 << 20,
       PERIOD = 1 << 10,
       SEGMENT = 1460,
       BUFFERS = 128,
       LONGEST = LINK + 1500,
       SENDER = 40000, /* the port of the first */
       RECEIVER = 5001,
       SENDER_HOST = 0x0a000001,
       RECEIVER_HOST = 0x0a000002,
       HEADERS = LINK + NETWORK + 20 };

/* What takes a frame that leaves an end. */
typedef void wire(void *end, const uint8_t *data, size_t length);

/* What the application of an end knows. */
struct application {
    uint32_t received;   /* bytes that were delivered */
    const uint8_t *read; /* where the last of them were */
    uint32_t credit;     /* bytes that are taken of it */
    wire *leaves;        /* where frames go that leave by a call */
    void *end;           /* whose they are */
};

struct receiver {
    struct tcp_stack *stack;
    uint32_t session;
    struct application own;
    struct tcp_stack_frame frame; /* the segment that arrives */
    uint32_t segments;            /* how many came */
    uint32_t arrived;             /* bytes that were in them */
    size_t answered;              /* bytes of the frame that left; 0: none did */
    uint8_t answer[LONGEST];      /* what is in it */
    uint8_t memory[LONGEST];      /* where segments arrive that need no buffer */
};

/* A frame that left by a call. */
struct left {
    size_t length;
    uint8_t data[LONGEST];
};

struct sender {
    struct THEIR_STACK *stack;
    uint32_t session;
    uint32_t sent; /* bytes that it took */
    struct application own;
    size_t first;              /* the next of these */
    size_t behind;             /* and behind the last; each number goes round */
    struct left left[BUFFERS]; /* what left by calls and has not been carried */
};

static struct sender senders[CONNECTIONS];
static struct receiver receivers[CONNECTIONS];

static uint8_t text[TOTAL];

/* A stack that was compiled without fast paths has no names of them. */
size_t tcp_stack_paths(const struct tcp_stack *stack, uint64_t *values, size_t capacity)
    __attribute__((weak));
extern const char *const tcp_stack_path_name[] __attribute__((weak));

#ifdef CALLS
/* What the stacks call. */
void tcp_stack_leaves(void *user, struct tcp_stack *stack, const uint8_t *data, size_t length,
                      uint64_t now_ns) {
    const struct application *const own = user;
    (void)stack, (void)now_ns;
    own->leaves(own->end, data, length);
}

uint32_t tcp_stack_arrived(void *user, struct tcp_stack *stack, uint32_t session,
                           const struct tcp_stack_streams_attributes *with, const uint8_t *data,
                           size_t length, uint64_t now_ns) {
    struct application *const own = user;
    (void)stack, (void)session, (void)with, (void)now_ns;
    own->read = data;
    own->received += (uint32_t)length;
    return (uint32_t)length;
}

void tcp_stack_arrived_grant_sends(void *user, struct tcp_stack *stack, uint32_t session,
                                   uint32_t bytes, uint64_t now_ns) {
    struct application *const own = user;
    (void)stack, (void)session, (void)now_ns;
    own->credit += bytes;
}

void tcp_stack_arrived_opened(void *user, struct tcp_stack *stack, uint32_t session,
                              uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)now_ns;
}

void tcp_stack_arrived_measured(void *user, struct tcp_stack *stack, uint32_t session,
                                uint16_t bytes, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)bytes, (void)now_ns;
}

void tcp_stack_arrived_urgent(void *user, struct tcp_stack *stack, uint32_t session, uint32_t bytes,
                              uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)bytes, (void)now_ns;
}

void tcp_stack_arrived_unreachable(void *user, struct tcp_stack *stack, uint32_t session,
                                   bool refused, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)refused, (void)now_ns;
}

void tcp_stack_arrived_finished(void *user, struct tcp_stack *stack, uint32_t session,
                                uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)now_ns;
}

void tcp_stack_arrived_closed(void *user, struct tcp_stack *stack, uint32_t session,
                              uint8_t reason_, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)reason_, (void)now_ns;
}
#endif

/* Where the next segment is to arrive. */
static inline uint8_t *place(struct receiver *receiver) {
#ifdef CALLS
    return receiver->memory;
#else
    size_t room;
    return tcp_stack_buffer(receiver->stack, &room);
#endif
}

static inline __attribute__((always_inline)) void step(struct receiver *receiver, wire *leaves) {
    struct tcp_stack *const stack = receiver->stack;
    tcp_stack_input(stack, 0, &receiver->frame, 1, 1);
#ifdef CALLS
    (void)leaves;
#ifdef ASKS
    struct tcp_stack_output output;
    while (tcp_stack_next(stack, &output) != TCP_STACK_IDLE) {
        tcp_stack_done(stack, &output);
    }
#endif
#else
    for (;;) {
        struct tcp_stack_output output;
        const enum tcp_stack_next next = tcp_stack_next(stack, &output);
        if (next == TCP_STACK_DELIVER) {
            const uint32_t length = (uint32_t)output.length;
            receiver->own.read = output.data;
            receiver->own.received += length;
            tcp_stack_done(stack, &output);
            tcp_stack_streams_grant_delivers(stack, receiver->session, length, 1);
            continue;
        }
        if (next != TCP_STACK_FRAME) {
            break;
        }
        leaves(receiver, output.data, output.length);
        tcp_stack_done(stack, &output);
    }
    receiver->frame.data = place(receiver);
#endif
}

wire bench_wire;
void bench_step(struct receiver *receiver);

static void carries(void *end, const uint8_t *data, size_t length) {
    struct receiver *const receiver = end;
    memcpy(receiver->answer, data, length);
    receiver->answered = length;
}

__attribute__((noinline, noclone)) void bench_wire(void *end, const uint8_t *data, size_t length) {
    carries(end, data, length);
}

static __attribute__((noipa)) void other_wire(void *end, const uint8_t *data, size_t length) {
    carries(end, data, length);
}

__attribute__((noinline, noclone)) void bench_step(struct receiver *receiver) {
    step(receiver, bench_wire);
}

static __attribute__((noipa)) void other_step(struct receiver *receiver) {
    step(receiver, other_wire);
}

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void write_text(void) {
    for (uint32_t at = 0; at < PERIOD; at += 1) {
        text[at] = (uint8_t)(at * 2654435761u >> 13);
    }
    for (uint32_t at = PERIOD; at < TOTAL; at += PERIOD) {
        memcpy(text + at, text, PERIOD);
    }
}

/* What a sender lets leave by a call waits until it is carried. */
static void waits(void *end, const uint8_t *data, size_t length) {
    struct sender *const sender = end;
    struct left *const left = &sender->left[sender->behind % BUFFERS];
    if (sender->behind - sender->first == BUFFERS || length > LONGEST) {
        fail("more leaves than can wait");
    }
    memcpy(left->data, data, length);
    left->length = length;
    sender->behind += 1;
}

/* Where the application of a receiver stands: a stack that calls it knows of one. */
static struct application *application(struct receiver *receiver) {
#ifdef CALLS
    (void)receiver;
    return &receivers[0].own;
#else
    return &receiver->own;
#endif
}

/* The stack of an end. */
static struct tcp_stack *started(uint32_t address, struct application *own) {
    struct tcp_stack_config config;
    tcp_stack_config_default(&config);
#ifdef BARE
    config.peer = SENDER_HOST + RECEIVER_HOST - address;
#else
    config.address = address;
#endif
    config.buffers = BUFFERS;
#ifdef CALLS
    config.user = own;
#else
    (void)own;
#endif
#ifdef ETHERNET
    config.mac = 0x020000000000 | address;
#endif
    const size_t size = tcp_stack_size(&config);
    struct tcp_stack *const stack = tcp_stack_start(malloc(size), size, &config, 0);
    if (stack == NULL) {
        fail("it does not start");
    }
    return stack;
}

#if !defined OPENS || !defined PEER
/* A connection that is given to an end. */
static uint32_t given(struct tcp_stack *stack, uint16_t port, uint32_t peer, uint16_t peer_port) {
    const struct tcp_stack_streams_keys keys = {
        .has_port = true, .port = port, .peer = peer, .peer_port = peer_port};
    return tcp_stack_streams_open(stack, &keys, 0);
}

#endif

#ifdef PEER
/* The same of a sender whose stack is another one. */
static struct peer_stack *they_start(uint32_t address, struct application *own) {
    (void)own, (void)address;
    struct peer_stack_config config;
    peer_stack_config_default(&config);
#ifdef BARE
    config.peer = RECEIVER_HOST;
#else
    config.address = address;
#endif
    config.buffers = BUFFERS;
    const size_t size = peer_stack_size(&config);
    struct peer_stack *const stack = peer_stack_start(malloc(size), size, &config, 0);
    if (stack == NULL) {
        fail("the sender does not start");
    }
    return stack;
}

static uint32_t they_open(struct peer_stack *stack, uint16_t port, uint32_t peer,
                          uint16_t peer_port) {
    const struct peer_stack_streams_keys keys = {
        .has_port = true, .port = port, .peer = peer, .peer_port = peer_port};
    return peer_stack_streams_open(stack, &keys, 0);
}
#else
#define they_start started
#define they_open given
#endif

/* Both ends, and what is between them. */
static void begin(void) {
    struct tcp_stack *const stack = started(RECEIVER_HOST, &receivers[0].own);
#ifdef OPENS
    const struct tcp_stack_streams_listener_keys keys = {.port = RECEIVER};
    tcp_stack_streams_listen(stack, &keys, CONNECTIONS, 0);
#endif
    for (uint16_t at = 0; at < CONNECTIONS; at += 1) {
        struct sender *const sender = &senders[at];
        const uint16_t port = (uint16_t)(SENDER + at);
        sender->own.leaves = waits;
        sender->own.end = sender;
        sender->stack = they_start(SENDER_HOST, &sender->own);
        sender->session = they_open(sender->stack, port, RECEIVER_HOST, RECEIVER);
        receivers[at].stack = stack;
#ifndef OPENS
        receivers[at].session = given(stack, RECEIVER, SENDER_HOST, port);
#endif
    }
    struct tcp_stack_output output;
    while (tcp_stack_next(stack, &output) != TCP_STACK_IDLE) {
        tcp_stack_done(stack, &output);
    }
    for (uint16_t at = 0; at < CONNECTIONS; at += 1) {
        receivers[at].frame.data = place(&receivers[at]);
    }
}

/* Takes what the sender says, until a segment leaves; false if none does. */
static bool says(struct sender *sender, struct THEIR(output) *output) {
    for (;;) {
        if (sender->first != sender->behind) {
            const struct left *const left = &sender->left[sender->first % BUFFERS];
            *output = (struct THEIR(output)){.data = left->data, .length = left->length};
            sender->first += 1;
            return true;
        }
        switch (THEIR(next)(sender->stack, output)) {
        case THEIRS(FRAME):
            return true;
#ifndef CALLS
        case THEIRS(GRANT_SENDS):
            sender->own.credit += output->with.streams_grant_sends.bytes;
            break;
#endif
        case THEIRS(IDLE): {
            const uint32_t left = TOTAL - sender->sent;
            const uint32_t whole = sender->own.credit - sender->own.credit % SEGMENT;
            const uint32_t least = left < whole ? left : whole;
            const uint32_t length = least < SEGMENT ? least : SEGMENT;
            if (length == 0) {
                return false;
            }
            THEIR(streams_send)(sender->stack, sender->session, NULL, text + sender->sent,
                                   length, 1);
            sender->sent += length;
            sender->own.credit -= length;
            break;
        }
        default:
            THEIR(done)(sender->stack, output);
            break;
        }
    }
}

/* The wire, from the sender. */
static void carry(struct sender *sender, struct receiver *receiver,
                  const struct THEIR(output) *output) {
    memcpy(receiver->frame.data, output->data, output->length);
    receiver->frame.length = output->length;
    THEIR(done)(sender->stack, output);
    const size_t length = receiver->frame.length - HEADERS;
    if (memcmp(receiver->frame.data + HEADERS, text + receiver->arrived, length) != 0) {
        fail("what was sent is wrong");
    }
}

/* The wire, to the sender. */
static void carry_back(struct sender *sender, struct receiver *receiver) {
    const struct THEIR(frame) frame = {receiver->answer, receiver->answered};
    receiver->answered = 0;
    if (THEIR(input)(sender->stack, 0, &frame, 1, 1) != 1) {
        fail("an answer is not taken");
    }
}

/* A receiver takes its step. */
static void steps(struct receiver *receiver, bool counts) {
    struct application *const own = application(receiver);
    own->end = receiver;
    own->leaves = counts ? bench_wire : other_wire;
    if (counts) {
        bench_step(receiver);
    } else {
        other_step(receiver);
    }
}

/* The sender asks for the receiver, which answers; what waited for that comes out afterwards. */
static void meet(struct sender *sender, struct receiver *receiver) {
    struct THEIR(output) output;
    if (!says(sender, &output)) {
        fail("nothing is to be sent");
    }
    memcpy(receiver->frame.data, output.data, output.length);
    receiver->frame.length = output.length;
    THEIR(done)(sender->stack, &output);
    steps(receiver, false);
    if (receiver->answered == 0) {
        fail("the receiver does not say where it is");
    }
    carry_back(sender, receiver);
}

#ifdef OPENS
/* The receiver takes a frame in which nothing is delivered. */
static void hears(struct receiver *receiver, const uint8_t *data, size_t length) {
    struct tcp_stack *const stack = receiver->stack;
    memcpy(receiver->frame.data, data, length);
    receiver->frame.length = length;
    tcp_stack_input(stack, 0, &receiver->frame, 1, 1);
    struct tcp_stack_output output;
    for (;;) {
        switch (tcp_stack_next(stack, &output)) {
        case TCP_STACK_IDLE:
            receiver->frame.data = place(receiver);
            return;
        case TCP_STACK_FRAME:
            carries(receiver, output.data, output.length);
            break;
        case TCP_STACK_ACCEPTED:
            receiver->session = output.session;
            break;
        default:
            break;
        }
        tcp_stack_done(stack, &output);
    }
}

/* A connection is opened by three segments: two of the sender, and one of the receiver. */
static void shake_hands(struct sender *sender, struct receiver *receiver) {
    receiver->session = UINT32_MAX;
    for (unsigned turn = 0; turn < 2; turn += 1) {
        struct THEIR(output) output;
        if (!says(sender, &output)) {
            fail("the sender does not open the connection");
        }
        hears(receiver, output.data, output.length);
        THEIR(done)(sender->stack, &output);
        if ((receiver->answered != 0) != (turn == 0)) {
            fail("the receiver does not answer as it should");
        }
        if (turn == 0) {
            carry_back(sender, receiver);
        }
    }
    if (receiver->session == UINT32_MAX) {
        fail("the receiver accepts no connection");
    }
}
#endif

/* How many of the segments went which path. */
static void tell_paths(const struct tcp_stack *stack) {
    static uint64_t went[256];
    const size_t count = tcp_stack_paths == NULL ? 0 : tcp_stack_paths(stack, went, 256);
    for (size_t at = 0; at < count && at < 256; at += 1) {
        if (went[at] != 0) {
            printf("%llu %s\n", (unsigned long long)went[at], tcp_stack_path_name[at]);
        }
    }
}

/* A frame, as a line of a script. */
static void tell_frame(const char *verb, const uint8_t *data, size_t length) {
    printf("%s ", verb);
    for (size_t at = 0; at < length; at += 1) {
        printf("%02x", data[at]);
    }
    putchar('\n');
}

/* What is to be found out. */
enum mode { COUNT, SILENT, PATHS, SCRIPT };

/* A segment goes to the receiver, and what that answers comes back; whether it was counted. */
static bool goes(struct sender *sender, struct receiver *receiver,
                 const struct THEIR(output) *output, enum mode mode) {
    const struct application *const own = application(receiver);
    const uint32_t before = own->received;
    carry(sender, receiver, output);
    const uint32_t length = (uint32_t)receiver->frame.length - HEADERS;
    const bool second = receiver->segments % 2 == 1;
    const bool counts = mode != SILENT || !second;
    if (mode == SCRIPT) {
        tell_frame("frame tun", receiver->frame.data, receiver->frame.length);
    }
    steps(receiver, counts);
    receiver->segments += 1;
    receiver->arrived += length;
    const uint8_t *const expected = text + receiver->arrived - length;
    if (own->received - before != length || memcmp(own->read, expected, length) != 0) {
        fail("not all of a segment was delivered");
    }
    if ((receiver->answered != 0) != second) {
        fail("not every second segment is answered");
    }
    if (mode == SCRIPT && second) {
        tell_frame("answer", receiver->answer, receiver->answered);
    }
    if (second) {
        carry_back(sender, receiver);
    }
    return counts;
}

/* The senders say all that they have to, in turn; how many segments were counted. */
static uint32_t all_go(enum mode mode) {
    uint32_t counted = 0;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (uint16_t at = 0; at < CONNECTIONS; at += 1) {
            struct THEIR(output) output;
            if (says(&senders[at], &output)) {
                goes_on = true;
                counted += goes(&senders[at], &receivers[at], &output, mode);
            }
        }
    }
    return counted;
}

int main(int count, char **words) {
    static const char *const modes[] = {"count", "silent", "paths", "script"};
    unsigned mode = 0;
    while (mode < 4 && (count != 2 || strcmp(words[1], modes[mode]) != 0)) {
        mode += 1;
    }
    if (mode == 4) {
        fprintf(stderr, "usage: %s count|silent|paths|script\n", words[0]);
        return 2;
    }
    write_text();
    begin();
    for (uint16_t at = 0; at < CONNECTIONS && LINK != 0; at += 1) {
        meet(&senders[at], &receivers[at]);
    }
#ifdef OPENS
    for (uint16_t at = 0; at < CONNECTIONS; at += 1) {
        shake_hands(&senders[at], &receivers[at]);
    }
#endif
    if (mode == SCRIPT) {
        puts(NETWORK == 0 ? "set peer = 10.0.0.1" : "set address = 10.0.0.2");
        puts("set secret = 00*16\nopen streams 5001 10.0.0.1 40000");
    }
    const uint32_t counted = all_go((enum mode)mode);
    for (uint16_t at = 0; at < CONNECTIONS; at += 1) {
        if (receivers[at].arrived != TOTAL) {
            fail("not all arrived");
        }
    }
    if (mode == PATHS) {
        tell_paths(receivers[0].stack);
    } else if (mode != SCRIPT) {
        printf("messages %u\n", counted);
    }
    return 0;
}
