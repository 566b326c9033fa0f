/*
 * client.c: a scripted TCP client and its workloads. It gives the same frames to every system under
 * test, as long as that acknowledges and answers the same bytes, and checks what comes back:
 * numbers and text always, sums where SUMS is 1. With VERIFY it also checks all text that the
 * application receives, and gives each frame once with a wrong bit, which must have no effect.
 *
 * In: a workload and how many units of it (segments, transactions, connections). Out: lines of a
 * name and a number: `messages` is how many units bench_step has done; the others are frames and
 * bytes, to be compared with those of other systems. Only bench_step is counted, less bench_wire.
 */
#define _GNU_SOURCE
#include "client.h"

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
enum { FRAME = 1600, WAITING = 4096, HEADERS = 40 };
enum { MICROSECOND = 1000, MILLISECOND = 1000000, SECOND = 1000000000 };

#ifndef SUMS
#define SUMS 0
#endif

struct application application;
uint64_t now_ns = 1000;
uint32_t received;
uint8_t text[2 * PERIOD];

/* The client's end of a connection. */
struct connection {
    uint16_t port;
    uint32_t next;         /* the number of its next byte */
    uint32_t said;         /* bytes of text sent */
    uint32_t acknowledged; /* all numbers before this one are */
    uint32_t got;          /* the next number that it expects */
    uint32_t heard;        /* bytes of text received */
    uint32_t unanswered;   /* segments received since it acknowledged some */
    bool is_open, has_ended;
};

struct frame {
    size_t length;
    uint8_t data[FRAME];
};

/* An acknowledgement that the client owes: of all numbers before `got`. */
struct owed {
    struct connection *of;
    uint32_t got;
};

struct workload {
    const char *name;
    const char *unit;
    void (*run)(const struct workload *own, uint32_t count);
    uint32_t connections;
    uint32_t warm; /* units that come first and are not counted, of each connection */
    struct application application;
    bool has_options;  /* each segment has NOP, NOP and a timestamp */
    bool varies_window;
    bool varies_length;
    bool pushes;       /* each segment has PSH */
    bool swaps;        /* one of 100 segments comes behind the next */
};

static struct connection connections[CONNECTIONS];
static struct frame left[WAITING]; /* what the system under test sent */
static size_t left_first, left_behind;
static struct owed owed[WAITING];
static size_t owed_first, owed_behind;
static const struct workload *workload;
static uint32_t made;        /* segments with text */
static uint64_t steps, bytes_in, frames_out, bytes_out; /* counted */

static uint32_t random_number(void) {
    static uint32_t state = 12345;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void put16(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static void put32(uint8_t *to, uint32_t value) {
    put16(to, value >> 16);
    put16(to + 2, value);
}

static uint32_t get16(const uint8_t *at) {
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at) {
    return get16(at) << 16 | get16(at + 2);
}

static uint32_t summed(const uint8_t *at, size_t length, uint32_t sum) {
    for (size_t one = 0; one + 1 < length; one += 2) {
        sum += get16(at + one);
    }
    if (length % 2 == 1) {
        sum += (uint32_t)at[length - 1] << 8;
    }
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

/* The sum of a segment of TCP in a frame, of its pseudo-header too. */
static uint32_t summed_segment(const uint8_t *frame, size_t length) {
    uint8_t pseudo[12] = {[9] = 6};
    memcpy(pseudo, frame + 12, 8);
    put16(pseudo + 10, (uint32_t)length - 20);
    return summed(frame + 20, length - 20, summed(pseudo, 12, 0));
}

/* ---- the wire ---- */

__attribute__((noipa)) void wire_part(const uint8_t *part, size_t length, bool is_last) {
    static size_t before; /* bytes of the frame that came before */
    struct frame *const to = &left[left_behind % WAITING];
    if (length > FRAME - before || left_behind - left_first == WAITING) {
        fail("more leaves than the wire carries");
    }
    memcpy(to->data + before, part, length);
    to->length = before + length;
    before = is_last ? 0 : to->length;
    left_behind += is_last;
}

void wire(const uint8_t *frame, size_t length) {
    wire_part(frame, length, true);
}

__attribute__((noipa)) void bench_wire(const uint8_t *frame, size_t length) {
    wire(frame, length);
}

void bench_step(void);

__attribute__((noinline, noclone)) void bench_step(void) {
    sut_input();
}

void bench_begin(void);

/* Called before the first step that is counted: callgrind forgets what it has counted till then,
 * which is bench_wire outside of steps. */
__attribute__((noipa)) void bench_begin(void) {
}

static __attribute__((noipa)) void other_step(void) {
    sut_input();
}

static __attribute__((noipa)) void other_say(void) {
    sut_say();
}

/* ---- what comes back ---- */

static void check_sums(const struct frame *frame) {
    if (SUMS && (summed(frame->data, 20, 0) != 0xffff ||
                 summed_segment(frame->data, frame->length) != 0xffff)) {
        fail("a sum of a frame that leaves is wrong");
    }
}

/* Returns true if the text equals that of the application at this offset. */
static void check_text(const uint8_t *data, uint32_t length, uint32_t position) {
    const uint32_t period = application.reply != 0 ? application.reply : SEGMENT;
    while (length > 0) {
        const uint32_t from = position % period;
        const uint32_t part = length < period - from ? length : period - from;
        if (memcmp(data, text + from, part) != 0) {
            fail("text that leaves is wrong");
        }
        data += part;
        position += part;
        length -= part;
    }
}

/* Text in order, of which every second segment is acknowledged. */
static void hear(struct connection *own, const uint8_t *data, uint32_t length) {
    check_text(data, length, own->heard);
    own->got += length;
    own->heard += length;
    own->unanswered += 1;
    if (own->unanswered >= 2) {
        own->unanswered = 0;
        owed[owed_behind % WAITING] = (struct owed){own, own->got};
        owed_behind += 1;
    }
}

static void take(const struct frame *frame, bool counted) {
    const uint8_t *const tcp = frame->data + 20;
    const uint32_t header = (tcp[12] >> 4) * 4u, flags = tcp[13];
    const uint32_t length = get16(frame->data + 2) - 20 - header;
    if (frame->data[9] != 6 || frame->length != 20 + header + length) {
        fail("a frame leaves that is no segment");
    }
    check_sums(frame);
    struct connection *const own = &connections[get16(tcp + 2) - FIRST_PORT];
    frames_out += counted;
    bytes_out += counted ? length : 0;
    if ((flags & RST) != 0) {
        fail("a connection is reset");
    }
    if ((flags & ACK) != 0) {
        own->acknowledged = get32(tcp + 8);
    }
    if ((flags & SYN) != 0) {
        own->got = get32(tcp + 4) + 1;
        own->is_open = true;
        return;
    }
    if (length == 0 && (flags & FIN) == 0) {
        return;
    }
    if (get32(tcp + 4) != own->got) {
        fail("a segment leaves that is not the next");
    }
    if (length > 0) {
        hear(own, tcp + header, length);
    }
    if ((flags & FIN) != 0) {
        own->got += 1;
        own->has_ended = true;
    }
}

static void take_all(bool counted) {
    for (; left_first != left_behind; left_first += 1) {
        take(&left[left_first % WAITING], counted);
    }
}

/* ---- what is sent ---- */

static size_t segment(uint8_t *frame, const struct connection *own, uint32_t number, uint32_t flags,
                      uint32_t said, uint32_t length) {
    const bool has_options = workload->has_options && (flags & SYN) == 0;
    const uint32_t header = 20 + (has_options ? 12 : (flags & SYN) != 0 ? 4 : 0);
    static uint32_t identification;
    memset(frame, 0, 20 + header);
    frame[0] = 0x45;
    put16(frame + 2, 20 + header + length);
    put16(frame + 4, identification++);
    put16(frame + 6, 0x4000);
    frame[8] = 64;
    frame[9] = 6;
    put32(frame + 12, CLIENT);
    put32(frame + 16, SUT);
    put16(frame + 10, ~summed(frame, 20, 0));
    uint8_t *const tcp = frame + 20;
    put16(tcp, own->port);
    put16(tcp + 2, PORT);
    put32(tcp + 4, number);
    put32(tcp + 8, (flags & ACK) != 0 ? own->got : 0);
    tcp[12] = (uint8_t)(header / 4 << 4);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 14, workload->varies_window ? 60000 + random_number() % 5000 : 64240);
    if (has_options) {
        put32(tcp + 20, 0x0101080a);
        put32(tcp + 24, made);
        put32(tcp + 28, 7);
    } else if ((flags & SYN) != 0) {
        put32(tcp + 20, 0x02040000 | SEGMENT);
    }
    memcpy(tcp + header, text + said % PERIOD, length);
    put16(tcp + 16, ~summed_segment(frame, 20 + header + length));
    return 20 + header + length;
}

/* Gives a frame of which one bit is wrong: each in turn, but those of the IP length, which says
 * what belongs to the frame. The stack must do nothing. */
static void give_wrong(const uint8_t *frame, size_t length) {
    static size_t bit;
    uint8_t wrong[FRAME];
    const uint32_t before = received;
    bit = (bit + 7) % (length * 8);
    if (bit / 16 == 1) {
        return;
    }
    memcpy(wrong, frame, length);
    wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
    sut_place(wrong, length);
    other_step();
    if (received != before || left_first != left_behind) {
        fail("a wrong bit is not found");
    }
}

static void give(const uint8_t *frame, size_t length, bool counted) {
    now_ns += 10 * MICROSECOND;
#ifdef VERIFY
    if (SUMS) {
        give_wrong(frame, length);
    }
#else
    (void)give_wrong;
#endif
    sut_place(frame, length);
    if (counted) {
        if (steps == 0) {
            bench_begin();
        }
        bench_step();
        steps += 1;
        bytes_in += length - HEADERS;
    } else {
        other_step();
    }
    take_all(counted);
}

static void send_text(struct connection *own, uint32_t length, bool counted) {
    uint8_t frame[FRAME];
    made += 1;
    const uint32_t flags = ACK | (workload->pushes ? PSH : 0);
    const size_t bytes = segment(frame, own, own->next, flags, own->said, length);
    own->next += length;
    own->said += length;
    give(frame, bytes, counted);
}

static void send_bare(struct connection *own, uint32_t flags, bool counted) {
    uint8_t frame[FRAME];
    const size_t bytes = segment(frame, own, own->next, flags, 0, 0);
    own->next += (flags & (SYN | FIN)) != 0;
    give(frame, bytes, counted);
}

/* Two segments, of which the second comes first. */
static void send_swapped(struct connection *own, uint32_t length, bool counted) {
    struct frame pair[2];
    made += 2;
    for (unsigned at = 0; at < 2; at += 1) {
        pair[at].length = segment(pair[at].data, own, own->next, ACK, own->said, length);
        own->next += length;
        own->said += length;
    }
    give(pair[1].data, pair[1].length, counted);
    give(pair[0].data, pair[0].length, counted);
}

/* Sends the acknowledgement that has waited longest; false if none waits. */
static bool acknowledge(bool counted) {
    if (owed_first == owed_behind) {
        return false;
    }
    const struct owed next = owed[owed_first % WAITING];
    owed_first += 1;
    const uint32_t got = next.of->got;
    uint8_t frame[FRAME];
    next.of->got = next.got;
    const size_t bytes = segment(frame, next.of, next.of->next, ACK, 0, 0);
    next.of->got = got;
    give(frame, bytes, counted);
    return true;
}

/* Time passes until a delayed acknowledgement goes, or a timer of the stack expires. */
static void wait(struct connection *own, bool counted) {
    now_ns += 50 * MILLISECOND;
    sut_expire();
    take_all(counted);
    if (own->unanswered != 0) {
        own->unanswered = 0;
        send_bare(own, ACK, counted);
    }
}

static void expire(void) {
    static uint64_t last_ns;
    if (now_ns - last_ns > 250 * MILLISECOND) {
        last_ns = now_ns;
        sut_expire();
        take_all(false);
    }
}

static void open(struct connection *own, bool counted) {
    const uint16_t port = own->port;
    *own = (struct connection){.port = port, .next = random_number()};
    send_bare(own, SYN, counted);
    if (!own->is_open) {
        fail("a connection is not accepted");
    }
    send_bare(own, ACK, counted);
}

/* A request; its answer is received and acknowledged. */
static void transact(struct connection *own, bool counted) {
    const uint32_t before = own->heard;
    for (uint32_t rest = application.request; rest > 0;) {
        const uint32_t length = rest < SEGMENT ? rest : SEGMENT;
        send_text(own, length, counted);
        rest -= length;
    }
    for (unsigned turns = 0; own->heard - before < application.reply; turns += 1) {
        if (turns > 1000) {
            fail("an answer stays away");
        }
        if (!acknowledge(counted)) {
            wait(own, counted);
        }
    }
    while (acknowledge(counted)) {
    }
}

/* ---- the workloads ---- */

static struct connection *any(void) {
    return &connections[random_number() % workload->connections];
}

/* The application sends until so many bytes more have come; each second segment is acknowledged. */
static void receive(struct connection *own, uint32_t bytes, bool counted) {
    const uint32_t before = own->heard;
    for (unsigned turns = 0; own->heard - before < bytes; turns += 1) {
        if (turns > 2 * bytes / SEGMENT + 100) {
            fail("nothing more is sent");
        }
        if (!acknowledge(counted)) {
            wait(own, counted);
        }
        expire();
    }
}

static void run_send(const struct workload *own, uint32_t count) {
    struct connection *const to = &connections[0];
    other_say();
    take_all(false);
    receive(to, own->warm * SEGMENT, false);
    const uint64_t before = to->heard;
    receive(to, count * SEGMENT, true);
    printf("messages %llu\n", (unsigned long long)((to->heard - before) / SEGMENT));
}

static void run_transactions(const struct workload *own, uint32_t count) {
    const uint32_t warm = own->warm;
    for (uint32_t one = 0; one < warm + count; one += 1) {
        transact(any(), one >= warm);
        expire();
    }
    printf("messages %u\n", count);
}

/* A connection is opened, serves one request, and is closed by the server; a second passes, so
 * that as many connections are in TIME-WAIT as the stack keeps for four minutes. */
static void run_connections(const struct workload *own, uint32_t count) {
    for (uint32_t one = 0; one < own->warm + count; one += 1) {
        const bool counted = one >= own->warm;
        struct connection *const client = &connections[one % CONNECTIONS];
        open(client, counted);
        transact(client, counted);
        if (!client->has_ended) {
            fail("the server does not close");
        }
        send_bare(client, FIN | ACK, counted);
        now_ns += SECOND;
        expire();
    }
    printf("messages %u\n", count);
}

static uint32_t next_length(const struct workload *own) {
    return own->varies_length ? 1 + random_number() % SEGMENT : SEGMENT;
}

/* Which connection the next segment is of: in the warm-up and of two each in turn. */
static struct connection *next_connection(const struct workload *own, uint32_t one, bool warm) {
    return warm || own->connections == 2 ? &connections[one % own->connections] : any();
}

static void run_segments(const struct workload *own, uint32_t count) {
    const uint32_t warm = own->warm * own->connections;
    uint32_t counted = 0;
    for (uint32_t one = 0; one < warm + count; one += 1) {
        const bool counts = one >= warm;
        struct connection *const to = next_connection(own, one, !counts);
        const uint32_t length = next_length(own);
        if (own->swaps && random_number() % 100 == 0) {
            send_swapped(to, length, counts);
            counted += counts ? 2 : 0;
            one += 1;
        } else {
            send_text(to, length, counts);
            counted += counts;
        }
        expire();
    }
    printf("messages %u\n", counted);
}

/* All that was sent is acknowledged, at the latest when the delay of an acknowledgement is over. */
static void check_acknowledged(void) {
    for (uint32_t one = 0; one < workload->connections; one += 1) {
        const struct connection *const own = &connections[one];
        if (own->is_open && own->acknowledged != own->next) {
            now_ns += 300 * MILLISECOND;
            sut_expire();
            take_all(false);
            if (own->acknowledged != own->next) {
                fail("not all is acknowledged");
            }
        }
    }
}

static const struct workload workloads[] = {
    {"base", "segment", run_segments, .connections = 1, .warm = 50},
    {"lengths", "segment", run_segments, .connections = 1, .warm = 50, .varies_length = true},
    {"two", "segment", run_segments, .connections = 2, .warm = 50},
    {"hundred", "segment", run_segments, .connections = 100, .warm = 10},
    {"thousand", "segment", run_segments, .connections = 1000, .warm = 4},
    {"order", "segment", run_segments, .connections = 1, .warm = 50, .swaps = true},
    {"options", "segment", run_segments, .connections = 1, .warm = 50, .has_options = true},
    {"window", "segment", run_segments, .connections = 1, .warm = 50, .varies_window = true},
    {"rr", "transaction", run_transactions, 1, 50, {200, 1000, false}, .pushes = true},
    {"rr100", "transaction", run_transactions, 100, 1000, {200, 1000, false}, .pushes = true},
    {"rrbig", "transaction", run_transactions, 1, 50, {200, 14600, false}, .pushes = true},
    {"echo", "transaction", run_transactions, 1, 50, {64, 64, false}, .pushes = true},
    {"send", "segment", run_send, .connections = 1, .warm = 200},
    {"churn", "connection", run_connections, 0, 300, {200, 1000, true}, .pushes = true},
};

static const struct workload *named(const char *name) {
    for (size_t at = 0; at < sizeof workloads / sizeof *workloads; at += 1) {
        if (strcmp(workloads[at].name, name) == 0) {
            return &workloads[at];
        }
    }
    return NULL;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s WORKLOAD COUNT; workloads:\n", program);
    for (size_t at = 0; at < sizeof workloads / sizeof *workloads; at += 1) {
        fprintf(stderr, "  %-10s of %ss\n", workloads[at].name, workloads[at].unit);
    }
    return 2;
}

int main(int count, char **words) {
    workload = count == 3 ? named(words[1]) : NULL;
    const long units = count == 3 ? strtol(words[2], NULL, 10) : 0;
    if (workload == NULL || units <= 0 || units > 1000000) {
        return usage(words[0]);
    }
    for (uint32_t at = 0; at < 2 * PERIOD; at += 1) {
        text[at] = (uint8_t)((at % PERIOD) * 2654435761u >> 13);
    }
    application = workload->application;
    for (uint16_t at = 0; at < CONNECTIONS; at += 1) {
        connections[at].port = (uint16_t)(FIRST_PORT + at);
    }
    sut_start(workload->connections);
    for (uint32_t at = 0; at < workload->connections; at += 1) {
        open(&connections[at], false);
    }
    workload->run(workload, (uint32_t)units);
    check_acknowledged();
    printf("steps %llu\nbytes in %llu\nbytes to the application %u\n", (unsigned long long)steps,
           (unsigned long long)bytes_in, received);
    printf("frames out %llu\nbytes out %llu\n", (unsigned long long)frames_out,
           (unsigned long long)bytes_out);
    sut_tell();
    return 0;
}
