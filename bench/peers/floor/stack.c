/*
 * stack.c: IPv4, ICMP and TCP by hand. README.md lists what it has and what it lacks.
 *
 *     floor_input > segment_arrives > acknowledge, deliver_text > host > send_all > floor_on_leave
 *
 * There are three paths in. `floor_input` handles a segment in order that acknowledges nothing new;
 * `acknowledging_segment` one in order that does; `segment_arrives` all others. Header prediction
 * chooses among them: `arm_prediction` notes in the connection (`predicted`) whether a segment in
 * order needs more than its text and its acknowledgement, whenever the third path, a timer or the
 * host may have changed that. Rare cases stand in functions of their own, which are not inlined.
 */
#include "stack.h"
#include "wheel.h"
#include "words.h"

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32 };

/* Flags of a connection: what it has to do, or has done. */
enum {
    OWES = 1,        /* an acknowledgement is due now */
    WAITS = 2,       /* a delayed acknowledgement waits for the next segment */
    RESENDS = 4,     /* the segment at `first` goes again */
    PROBES = 8,      /* a window probe is due */
    CLOSING = 16,    /* our FIN follows the last byte */
    UNREAD = 32,     /* the application reads no more */
    RECOVERING = 64, /* RFC 6582 */
    TIMED = 128,
    HURRIED = 256,   /* Nagle's algorithm is off */
    HEARD = 512,     /* the peer has acknowledged our FIN */
    ENDS = 1024,     /* the peer's FIN has come: `last` is its number */
    OVER = 2048,     /* all text before that FIN has been delivered */
    PEER_FIRST = 4096, /* the peer has closed first */
    CALLED = 8192,   /* a listener made it */
    URGENT = 16384,  /* `urgent_to` holds */
    WARNED = 32768,  /* `urgent_ahead` holds */
    /* every segment that goes out does these */
    CARRIED = OWES | WAITS | PROBES,
};

/* ACK, as bytes 12 and 13 of the header are loaded, without the data offset. */
enum { PLAIN = 0x1000 };

static const uint64_t MS = 1000000, SECOND = 1000000000;
static const uint64_t DELAY = 200000000, MOST_TIMEOUT = 60000000000, LIFETIME = 120000000000;
static const uint32_t MOST = 0x40000000;
static const uint32_t STEP = FLOOR_SEGMENT; /* a window moves by no less (RFC 9293 3.8.6.2.2) */
enum { PATIENCE = 12, DEFAULT_SEGMENT = 536 };

/* ---- connections: a pool, and a hash table with chains ---- */

INLINE uint32_t bucket_of(uint64_t hosts, uint32_t ports) {
    return (uint32_t)((hosts ^ (uint64_t)ports << 16 ^ ports) * 0x9e3779b97f4a7c15 >> 53);
}

INLINE struct floor_connection *find(struct floor *own, uint64_t hosts, uint32_t ports) {
    struct floor_connection *const recent = own->recent;
    if (LIKELY(recent->hosts == hosts && recent->ports == ports)) { return recent; }
    for (uint32_t n = own->buckets[bucket_of(hosts, ports)]; n != NONE;) {
        struct floor_connection *const c = &own->connections[n];
        if (c->hosts == hosts && c->ports == ports) {
            own->recent = c;
            return c;
        }
        n = c->chain;
    }
    return NULL;
}

static void release(struct floor *own, struct floor_connection *c) {
    uint32_t *link = &own->buckets[bucket_of(c->hosts, c->ports)];
    const uint32_t n = index_of(own, c);
    while (*link != n) { link = &own->connections[*link].chain; }
    *link = c->chain;
    leave_wheel(own, c);
    c->state = FLOOR_FREE;
    c->predicted = 0;
    c->hosts = 0;
    c->ports = 0;
    c->chain = own->free;
    own->free = n;
    if (own->recent == c) { own->recent = &own->none; }
}

static void closed(struct floor *own, struct floor_connection *c, enum floor_reason why) {
    floor_on_closed(own, c, why);
    release(own, c);
}

INLINE uint64_t rotated(uint64_t word, int by) { return word << by | word >> (64 - by); }

/* SipHash-2-4 of 12 bytes, and a clock of 4 us: RFC 6528 3. */
static uint32_t first_number(const struct floor *own, uint64_t hosts, uint32_t ports) {
    const uint64_t low = load64(own->config.secret), high = load64(own->config.secret + 8);
    const uint64_t parts[2] = {hosts, (uint64_t)12 << 56 | ports};
    uint64_t a = low ^ 0x736f6d6570736575, b = high ^ 0x646f72616e646f6d;
    uint64_t c = low ^ 0x6c7967656e657261, d = high ^ 0x7465646279746573;
    for (int turn = 0; turn < 8; turn += 1) {
        if (turn < 4 && turn % 2 == 0) { d ^= parts[turn / 2]; }
        if (turn == 4) { c ^= 0xff; }
        a += b, b = rotated(b, 13) ^ a, a = rotated(a, 32);
        c += d, d = rotated(d, 16) ^ c;
        a += d, d = rotated(d, 21) ^ a;
        c += b, b = rotated(b, 17) ^ c, c = rotated(c, 32);
        if (turn < 4 && turn % 2 == 1) { a ^= parts[turn / 2]; }
    }
    return (uint32_t)((a ^ b ^ c ^ d) + own->now / 4000);
}

static uint32_t initial_window(uint32_t largest) { /* RFC 5681 3.1 (1) */
    return largest > 2190 ? 2 * largest : largest > 1095 ? 3 * largest : 4 * largest;
}

/* Prepares the header template, which each segment copies and completes. */
static void prepare_template(struct floor_connection *c) {
    static const uint8_t fixed[FLOOR_HEADERS] = {
        [0] = 0x45, [6] = 0x40, [8] = 64, [9] = 6, [32] = 0x50, [33] = ACK};
    uint8_t *const answer = c->template;
    memcpy(answer, fixed, FLOOR_HEADERS);
    const uint64_t turned_round = c->hosts >> 32 | c->hosts << 32;
    const uint32_t ports = c->ports >> 16 | c->ports << 16;
    memcpy(answer + 12, &turned_round, 8);
    memcpy(answer + 20, &ports, 4);
#if SUMS
    c->template_sum = folded(summed(answer, 20));
    c->pseudo_sum = folded(summed(answer + 12, 12) + 0x0600);
#endif
}

/* Takes a connection of the pool. Its buffers are not cleared: reads follow writes. */
static struct floor_connection *create(struct floor *own, uint64_t hosts, uint32_t ports) {
    const uint32_t n = own->free;
    if (n == NONE) { return NULL; }
    struct floor_connection *const c = &own->connections[n];
    own->free = c->chain;
    memset(&c->predicted, 0,
           offsetof(struct floor_connection, early) - offsetof(struct floor_connection, predicted));
    const uint32_t bucket = bucket_of(hosts, ports);
    c->hosts = hosts;
    c->ports = ports;
    c->chain = own->buckets[bucket];
    own->buckets[bucket] = n;
    c->initial = first_number(own, hosts, ports);
    c->first = c->sent = c->highest = c->initial;
    c->end = c->initial + 1;
    c->most = FLOOR_BUFFER;
    c->mss = c->mss_limit = FLOOR_SEGMENT;
    c->congestion = c->threshold = MOST;
    c->recover = c->initial;
    c->timeout = SECOND;
    c->latest = own->now;
    c->due = c->retransmit_at = c->ack_at = c->probe_at = c->close_at = NEVER;
    prepare_template(c);
    return c;
}

/* ---- out ---- */

#if SUMS
INLINE void sum_headers(struct floor_connection *c, uint8_t *out, uint32_t length, uint64_t data) {
    const uint16_t size = load16(out + 2),
                   first = ~(uint32_t)folded((uint64_t)c->template_sum + size);
    memcpy(out + 10, &first, 2);
    const uint64_t head = (uint64_t)load32(out + 24) + load32(out + 28) + load32(out + 32);
    const uint16_t bytes = __builtin_bswap16((uint16_t)(length + 20));
    const uint16_t second =
        ~(uint32_t)folded(c->pseudo_sum + head + bytes + data + load16(out + 38));
    memcpy(out + 36, &second, 2);
}
#endif

/* The right edge that a segment offers; it moves in no small steps (RFC 9293 3.8.6.2.2). */
INLINE uint32_t offered(const struct floor_connection *c) {
    return (int32_t)(c->open - c->edge) >= (int32_t)STEP ? c->open : c->edge;
}

INLINE uint8_t *begin_segment(struct floor *own, struct floor_connection *c, uint32_t at,
                              uint32_t length, uint32_t flags) {
    uint8_t *const out = own->out;
    memcpy(out, c->template, FLOOR_HEADERS);
    c->edge = offered(c);
    put16(out + 2, FLOOR_HEADERS + length);
    put32(out + 24, at);
    put32(out + 28, c->next);
    out[33] = (uint8_t)flags;
    put16(out + 34, c->edge - c->next);
    c->todo &= ~(uint32_t)CARRIED;
    c->ack_at = NEVER;
    return out;
}

INLINE void send_ack(struct floor *own, struct floor_connection *c) {
    uint8_t *const out = begin_segment(own, c, c->highest, 0, ACK);
#if SUMS
    sum_headers(c, out, 0, 0);
#endif
    floor_on_leave(out, FLOOR_HEADERS);
}

static uint32_t urgent_from(const struct floor_connection *c, uint32_t at) {
    return (c->todo & URGENT) && behind(c->urgent_to, at) ? c->urgent_to - at : 0;
}

COLD void set_urgent(struct floor_connection *c, uint8_t *out, uint32_t at) {
    if (!behind(c->urgent_to, c->first)) { c->todo &= ~(uint32_t)URGENT; }
    const uint32_t bytes = urgent_from(c, at);
    if (bytes > 0) {
        out[33] |= URG;
        put16(out + 38, min32(bytes, 0xffff));
    }
}

INLINE void send_segment(struct floor *own, struct floor_connection *c, uint32_t at,
                         uint32_t length, bool fin) {
    const uint32_t flags = ACK | (at + length == c->end ? PSH : 0) | (fin ? FIN : 0);
    uint8_t *const out = begin_segment(own, c, at, length, flags);
    if (UNLIKELY(c->todo & URGENT)) { set_urgent(c, out, at); }
    const uint32_t place = at % FLOOR_RING;
    if (LIKELY(place + length <= FLOOR_RING)) {
#if SUMS
        sum_headers(c, out, length, summed_to(out + FLOOR_HEADERS, c->outgoing + place, length));
#else
        memcpy(out + FLOOR_HEADERS, c->outgoing + place, length);
#endif
    } else {
        const uint32_t part = FLOOR_RING - place;
        memcpy(out + FLOOR_HEADERS, c->outgoing + place, part);
        memcpy(out + FLOOR_HEADERS + part, c->outgoing, length - part);
#if SUMS
        sum_headers(c, out, length, summed(out + FLOOR_HEADERS, length));
#endif
    }
    floor_on_leave(out, FLOOR_HEADERS + length);
}

/* All numbers before `to` are in flight. */
INLINE void mark_sent(struct floor *own, struct floor_connection *c, uint32_t to) {
    if (LIKELY(behind(to, c->highest))) {
        if (!(c->todo & TIMED)) {
            c->todo |= TIMED;
            c->timed = to;
            c->timed_at = own->now;
        }
        c->highest = to;
    } else {
        c->todo &= ~(uint32_t)TIMED; /* Karn: an acknowledgement may be of either transmission */
    }
    c->sent = to;
    c->latest = own->now;
    c->probe_at = NEVER;
    if (c->retransmit_at == NEVER) {
        start_timer(own, c, &c->retransmit_at, own->now + c->timeout);
    }
}

/* Numbers that may be in flight; RFC 3042 allows two more segments at first duplicates. */
INLINE uint32_t usable_window(const struct floor_connection *c) {
    const uint32_t beyond =
        UNLIKELY(c->duplicates != 0) && c->duplicates < 3 ? c->duplicates * c->mss : 0;
    return min32(c->offered, c->congestion + beyond);
}

COLD void resend(struct floor *own, struct floor_connection *c) { /* RFC 5681 3.2 (2) */
    const uint32_t to = behind(c->highest, c->end) ? c->end : c->highest;
    send_segment(own, c, c->first, min32(to - c->first, c->mss), false);
    c->todo &= ~(uint32_t)(RESENDS | TIMED);
}

COLD void send_syn(struct floor *own, struct floor_connection *c) {
    uint8_t *const out =
        begin_segment(own, c, c->initial, 4, c->state == FLOOR_SYN_RECEIVED ? SYN | ACK : SYN);
    out[32] = 0x60;
    if (c->state == FLOOR_SYN_SENT) { put32(out + 28, 0); }
    put32(out + 40, 0x02040000 | FLOOR_SEGMENT);
#if SUMS
    sum_headers(c, out, 4, load32(out + 40));
#endif
    floor_on_leave(out, FLOOR_HEADERS + 4);
    mark_sent(own, c, c->initial + 1);
}

/* Starts the persist timer: text waits, nothing is in flight, and the window is closed. */
COLD void start_persist(struct floor *own, struct floor_connection *c) {
    c->attempts = 0;
    c->retransmit_at = NEVER;
    if (c->probe_at == NEVER) {
        c->wait = c->timeout;
        start_timer(own, c, &c->probe_at, own->now + c->wait);
    }
}

COLD void probe(struct floor *own, struct floor_connection *c, uint32_t text) {
    const uint32_t byte = min32(text, 1);
    send_segment(own, c, c->sent, byte, text == 0);
    /* may be acknowledged, but is not in flight */
    if (behind(c->sent + 1, c->highest)) { c->highest = c->sent + 1; }
}

/* Sends all that the windows allow; then an acknowledgement alone, if one is still due. */
static __attribute__((noinline)) void send_all(struct floor *own, struct floor_connection *c) {
    if (UNLIKELY(c->todo & RESENDS)) { resend(own, c); }
    if (UNLIKELY(c->state < FLOOR_OPEN)) {
        if (c->sent == c->initial) { send_syn(own, c); }
        if (c->todo & OWES) { send_ack(own, c); }
        return;
    }
    for (;;) {
        const uint32_t flight = c->sent - c->first, most = usable_window(c);
        const uint32_t text = behind(c->sent, c->end) ? 0 : c->end - c->sent;
        const bool ending = (c->todo & CLOSING) && !behind(c->sent, c->end);
        if (text == 0 && !ending) { break; }
        const uint32_t room = most - min32(flight, most), length = min32(min32(text, room), c->mss);
        const bool fin = ending && length == text && room > length;
        bool goes = length >= c->mss || fin;
        if (!goes && length > 0) { /* RFC 9293 3.7.4, Nagle, and 3.8.6.2.1 */
            goes = (c->todo & PROBES) || ((flight == 0 || (c->todo & HURRIED)) &&
                                          (length == text || length >= c->widest_offer / 2));
        }
        if (!goes) {
            if (UNLIKELY(c->todo & PROBES)) {
                probe(own, c, text);
            } else if (UNLIKELY(flight == 0)) {
                start_persist(own, c);
            }
            break;
        }
        send_segment(own, c, c->sent, length, fin);
        mark_sent(own, c, c->sent + length + fin);
    }
    if (c->todo & OWES) { send_ack(own, c); }
}

/* Sends a reset that belongs to no connection, or ends one. */
COLD void send_reset(struct floor *own, uint64_t hosts, uint32_t ports, uint32_t number,
                     uint32_t answers, uint32_t flags) {
    struct floor_connection some = {.hosts = hosts, .ports = ports};
    prepare_template(&some);
    uint8_t *const out = begin_segment(own, &some, number, 0, flags);
    put32(out + 28, answers);
    put16(out + 34, 0);
#if SUMS
    sum_headers(&some, out, 0, 0);
#endif
    floor_on_leave(out, FLOOR_HEADERS);
}

static void reset_peer(struct floor *own, struct floor_connection *c) {
    send_reset(own, c->hosts, c->ports, c->highest, 0, RST);
}

/* Arms header prediction if a segment in order needs no more than its text and acknowledgement. */
static void arm_prediction(struct floor_connection *c) {
    const uint32_t rare = RESENDS | CLOSING | UNREAD | RECOVERING | ENDS | OVER;
    c->predicted = c->state == FLOOR_OPEN && c->ranges == 0 && !(c->todo & rare) ? PLAIN : 0;
}

/* ---- acknowledgements ---- */

static uint32_t halved(const struct floor_connection *c, uint32_t flight) {
    return max32(flight / 2, 2u * c->mss);
}

/* RFC 6298 2. */
static void measure_round_trip(struct floor *own, struct floor_connection *c) {
    const uint64_t taken = own->now - c->timed_at;
    c->todo &= ~(uint32_t)TIMED;
    if (c->smoothed == 0) {
        c->smoothed = taken;
        c->variation = taken / 2;
    } else {
        const uint64_t off = max64(taken, c->smoothed) - min64(taken, c->smoothed);
        c->variation += off / 4 - c->variation / 4;
        c->smoothed += taken / 8 - c->smoothed / 8;
    }
    c->timeout = min64(max64(c->smoothed + max64(4 * c->variation, MS), SECOND), MOST_TIMEOUT);
}

COLD void acknowledge_part(struct floor_connection *c, uint32_t bytes) { /* RFC 6582 3.2 (3) */
    if (!behind(c->recover, c->first)) {
        c->congestion = min32(c->threshold, max32(c->highest - c->first, c->mss) + c->mss);
        c->todo &= ~(uint32_t)RECOVERING;
    } else {
        const uint32_t back = bytes >= c->mss ? c->mss : 0;
        c->congestion = max32(c->congestion - min32(c->congestion, bytes), c->mss) + back;
        c->todo |= RESENDS;
    }
}

COLD void established(struct floor *own, struct floor_connection *c) {
    c->congestion = c->attempts > 0 ? c->mss : initial_window(c->mss);
    if (c->attempts > 0) { c->timeout = max64(c->timeout, 3 * SECOND); }
    c->state = FLOOR_OPEN;
    arm_prediction(c);
    floor_on_begun(own, c);
    floor_on_room(own, c, FLOOR_BUFFER);
}

/* The peer has acknowledged our FIN. FIN-WAIT-2 is bounded if the application reads no more. */
COLD void fin_acknowledged(struct floor *own, struct floor_connection *c) {
    c->todo |= HEARD;
    if (c->todo & UNREAD) { start_timer(own, c, &c->close_at, own->now + 2 * LIFETIME); }
}

/* Handles an acknowledgement of so many numbers that were in flight. */
INLINE void advance(struct floor *own, struct floor_connection *c, uint32_t to, uint32_t bytes) {
    const bool opens = c->state < FLOOR_OPEN;
    /* bytes of text among them: without SYN and FIN */
    const uint32_t freed = bytes - opens - (UNLIKELY(c->todo & CLOSING) && behind(to, c->end));
    c->first = to;
    c->duplicates = 0;
    if (behind(to, c->sent)) { c->sent = to; }
    if ((c->todo & TIMED) && !behind(c->timed, to)) { measure_round_trip(own, c); }
    if (UNLIKELY(opens)) {
        established(own, c);
    } else if (UNLIKELY(c->todo & RECOVERING)) {
        acknowledge_part(c, bytes);
    } else {
        const uint32_t window = c->congestion;
        const uint32_t more =
            window < c->threshold ? min32(bytes, c->mss) : max32(c->mss * c->mss / window, 1);
        c->congestion = min32(window + more, MOST);
        if (behind(to - 1, c->recover)) { c->recover = to - 1; }
    }
    c->attempts = 0;
    c->probe_at = NEVER;
    if (c->sent == to) {
        c->retransmit_at = NEVER;
    } else {
        start_timer(own, c, &c->retransmit_at, own->now + c->timeout);
    }
    if (UNLIKELY((c->todo & (CLOSING | HEARD)) == CLOSING && behind(to, c->end))) {
        fin_acknowledged(own, c);
    }
    if (freed > 0) { floor_on_room(own, c, freed); }
}

/* Counts a duplicate acknowledgement (RFC 5681 3.2); the third begins fast recovery. */
COLD void duplicate_ack(struct floor_connection *c) {
    c->duplicates += c->duplicates < 255;
    if (c->todo & RECOVERING) {
        c->congestion = min32(c->congestion + c->mss, MOST);
    } else if (c->duplicates == 3 && behind(c->first, c->recover)) {
        c->todo |= RECOVERING | RESENDS;
        c->threshold = halved(c, min32(c->sent - c->first, c->congestion));
        c->recover = c->highest;
        c->congestion = c->threshold + 3u * c->mss;
    }
}

/* ---- text ---- */

/* Delivers early text to which the gap is now closed. */
static void close_gap(struct floor *own, struct floor_connection *c) {
    while (c->ranges > 0 && !behind(c->early[0].from, c->next)) {
        const uint32_t to = c->early[0].to;
        memmove(c->early, c->early + 1, sizeof *c->early * --c->ranges);
        while (behind(to, c->next)) {
            const uint32_t place = c->next % FLOOR_RING;
            const uint32_t length = min32(to - c->next, FLOOR_RING - place);
            c->next += length;
            floor_on_received(own, c, c->incoming + place, length);
        }
    }
    c->todo |= OWES; /* RFC 5681 4.2 */
}

/* Keeps text that arrives before its turn; drops it if it makes one range too many. */
static void queue_early(struct floor_connection *c, uint32_t from, const uint8_t *data,
                        uint32_t length) {
    uint32_t at = 0, to = from + length, begin = from;
    const uint32_t place = from % FLOOR_RING, part = min32(length, FLOOR_RING - place);
    while (at < c->ranges && behind(from, c->early[at].to)) { at += 1; }
    uint32_t last = at; /* the ranges from `at` to `last` touch it, and become one */
    while (last < c->ranges && !behind(c->early[last].from, to)) { last += 1; }
    if (last == at) {
        if (c->ranges == FLOOR_RANGES) { return; }
        memmove(c->early + at + 1, c->early + at, sizeof *c->early * (c->ranges - at));
        c->ranges += 1;
    } else {
        if (behind(begin, c->early[at].from)) { begin = c->early[at].from; }
        if (behind(c->early[last - 1].to, to)) { to = c->early[last - 1].to; }
        memmove(c->early + at + 1, c->early + last, sizeof *c->early * (c->ranges - last));
        c->ranges -= (uint8_t)(last - at - 1);
    }
    c->early[at] = (struct floor_range){begin, to};
    memcpy(c->incoming + place, data, part);
    memcpy(c->incoming, data + part, length - part);
}

/* Text out of order, beyond the window, or unread. Returns false if the connection ended. */
static __attribute__((noinline)) bool irregular_text(struct floor *own, struct floor_connection *c,
                                                     uint32_t number, const uint8_t *data,
                                                     uint32_t length) {
    if (c->todo & OVER) { /* no text follows a FIN */
        c->todo |= OWES;
        return true;
    }
    if (c->todo & UNREAD) { /* RFC 9293 3.6.1 */
        reset_peer(own, c);
        closed(own, c, FLOOR_RESET);
        return false;
    }
    if (behind(c->next, number)) { /* a part is a duplicate */
        const uint32_t known = min32(c->next - number, length);
        number += known, data += known, length -= known;
    }
    if (behind(number + length, c->edge)) { /* a part is beyond the window */
        length = behind(c->edge, number) ? c->edge - number : 0;
    }
    if (number != c->next) {
        c->todo |= OWES;
        if (length > 0) { queue_early(c, number, data, length); }
        return true;
    }
    if (length == 0) {
        c->todo |= OWES;
        return true;
    }
    if (c->todo & WAITS) {
        c->todo |= OWES;
    } else {
        c->todo |= WAITS;
        start_timer(own, c, &c->ack_at, own->now + DELAY);
    }
    c->next += length;
    floor_on_received(own, c, data, length);
    if (c->ranges > 0) { close_gap(own, c); }
    return true;
}

/* All text before the peer's FIN has been delivered. */
static void read_fin(struct floor *own, struct floor_connection *c) {
    c->next += 1;
    c->most = 0;
    c->open = c->next;
    if (behind(c->next, c->edge)) { c->edge = c->next; }
    c->todo |= OVER | OWES | (c->todo & CLOSING ? 0 : PEER_FIRST);
    floor_on_finished(own, c);
}

/* ---- rare segments: RFC 9293 3.10.7.3 and 3.10.7.4, in their order ---- */

static bool is_acceptable(const struct floor_connection *c, uint32_t ahead, uint32_t length) {
    const uint32_t wide = c->edge - c->next;
    if (length == 0 || wide == 0) { return ahead <= wide; }
    return ahead < wide || ahead + length - 1 < wide;
}

static bool has_listener(const struct floor *own, uint16_t port) {
    for (uint32_t n = 0; n < own->listening; n += 1) {
        if (own->listeners[n] == port) { return true; }
    }
    return false;
}

/* The MSS option of the peer's SYN. */
static uint32_t named_size(const uint8_t *tcp, uint32_t header) {
    for (uint32_t at = 20; at < header && tcp[at] != 0; at += tcp[at] == 1 ? 1 : tcp[at + 1]) {
        if (tcp[at] == 2) { return big16(tcp + at + 2); }
    }
    return DEFAULT_SEGMENT;
}

static void negotiate(struct floor_connection *c, const uint8_t *tcp, uint32_t header) {
    const uint32_t size = min32(named_size(tcp, header), FLOOR_SEGMENT);
    c->mss = (uint16_t)min32(max32(size, 64), c->mss_limit);
    c->next = big32(tcp + 4) + 1;
    c->open = c->edge = c->next + c->most;
    c->offered = c->widest_offer = big16(tcp + 14);
    c->offered_by = c->next - 1;
}

/* Accepts a SYN; text beside it is ignored and will come again. */
COLD void accept_syn(struct floor *own, const uint8_t *frame, const uint8_t *tcp, uint32_t header) {
    struct floor_connection *const c = create(own, load64(frame + 12), load32(tcp));
    if (c == NULL) {
        own->dropped += 1;
        return;
    }
    c->state = FLOOR_SYN_RECEIVED;
    c->todo = CALLED;
    negotiate(c, tcp, header);
    send_syn(own, c);
}

/* A segment without a connection: RFC 9293 3.10.7.1 and 3.10.7.2. */
COLD void without_connection(struct floor *own, const uint8_t *frame, const uint8_t *tcp,
                             uint32_t header, uint32_t length) {
    const uint32_t flags = tcp[13];
    const bool listens = has_listener(own, big16(tcp + 2));
    if (load32(frame + 16) != own->address || (flags & RST) ||
        (listens && !(flags & (ACK | SYN)))) {
        own->dropped += 1;
    } else if (listens && (flags & (SYN | ACK)) == SYN) {
        accept_syn(own, frame, tcp, header);
    } else if (flags & ACK) {
        send_reset(own, load64(frame + 12), load32(tcp), big32(tcp + 8), 0, RST);
    } else {
        const uint32_t all = length + !!(flags & SYN) + !!(flags & FIN);
        send_reset(own, load64(frame + 12), load32(tcp), 0, big32(tcp + 4) + all, RST | ACK);
    }
}

/* The answer to our SYN (RFC 9293 3.10.7.3). Returns true to read on. */
COLD bool answer_to_syn(struct floor *own, struct floor_connection *c, const uint8_t *tcp,
                        uint32_t header) {
    const uint32_t flags = tcp[13];
    if ((flags & ACK) && big32(tcp + 8) != c->initial + 1) {
        if (!(flags & RST)) { send_reset(own, c->hosts, c->ports, big32(tcp + 8), 0, RST); }
        return false;
    }
    if (flags & RST) {
        if (flags & ACK) { closed(own, c, FLOOR_REFUSED); }
        return false;
    }
    if (!(flags & SYN)) { return false; }
    negotiate(c, tcp, header);
    c->todo |= OWES;
    if (!(flags & ACK)) { /* simultaneous open */
        c->state = FLOOR_SYN_RECEIVED;
        c->sent = c->initial;
        send_all(own, c);
        return false;
    }
    return true;
}

/* Checks a segment that has a flag other than ACK and PSH, lacks ACK, lies outside of the window,
 * or belongs to a connection that is not open. Returns true to read on. */
static __attribute__((noinline)) bool check_unusual(struct floor *own, struct floor_connection *c,
                                                    const uint8_t *frame, const uint8_t *tcp,
                                                    uint32_t header, uint32_t length) {
    const uint32_t flags = tcp[13], number = big32(tcp + 4);
    if (c->state == FLOOR_SYN_SENT) { return answer_to_syn(own, c, tcp, header); }
    const bool accepts =
        is_acceptable(c, number - c->next, length + !!(flags & SYN) + !!(flags & FIN));
    if (c->state == FLOOR_TIME_WAIT && (flags & (SYN | ACK | RST)) == SYN &&
        behind(number, c->next) && has_listener(own, big16(tcp + 2)) &&
        behind(first_number(own, c->hosts, c->ports), c->highest)) { /* RFC 9293 3.6.1 */
        release(own, c);
        accept_syn(own, frame, tcp, header);
        return false;
    }
    if (!accepts) {
        if (c->state == FLOOR_TIME_WAIT && (flags & FIN)) {
            start_timer(own, c, &c->close_at, own->now + 2 * LIFETIME);
        }
        if (!(flags & RST)) { send_ack(own, c); }
        return false;
    }
    if (flags & RST) { /* RFC 5961 3: only the exact number resets */
        if (number != c->next) {
            send_ack(own, c);
        } else if (c->state == FLOOR_TIME_WAIT) {
            release(own, c);
        } else {
            closed(own, c, c->state < FLOOR_OPEN ? FLOOR_REFUSED : FLOOR_RESET);
        }
        return false;
    }
    if (flags & SYN) { /* RFC 5961 4 */
        if (c->state == FLOOR_SYN_RECEIVED && (c->todo & CALLED)) {
            closed(own, c, FLOOR_REFUSED);
        } else {
            send_ack(own, c);
        }
        return false;
    }
    if (!(flags & ACK)) { return false; }
    if (c->state == FLOOR_SYN_RECEIVED) {
        const uint32_t answers = big32(tcp + 8);
        if (!behind(answers, c->initial) || behind(answers, c->highest)) {
            send_reset(own, c->hosts, c->ports, answers, 0, RST);
            return false;
        }
    }
    if (c->state == FLOOR_TIME_WAIT) {
        if (flags & FIN) { send_ack(own, c); }
        return false;
    }
    if ((flags & URG) && !(c->todo & OVER)) { /* RFC 9293 3.8.5 */
        const uint32_t to = number + big16(tcp + 18);
        const uint32_t known = c->todo & WARNED ? c->urgent_ahead - c->next : 0;
        if (behind(to, c->next) && (to - c->next > known || known > 131070)) {
            c->urgent_ahead = to;
            c->todo |= WARNED;
            floor_on_urgent(own, c, to - c->next);
        }
    }
    if (flags & FIN) {
        if (!(c->todo & ENDS) && behind(c->edge, number + length)) {
            c->last = number + length;
            c->todo |= ENDS;
        }
        c->todo |= OWES;
    }
    return true;
}

/* Both FINs are read; the end that closed first waits (TIME-WAIT). */
COLD void end_connection(struct floor *own, struct floor_connection *c) {
    send_all(own, c);
    if (c->todo & PEER_FIRST) {
        closed(own, c, FLOOR_FINISHED);
    } else {
        floor_on_closed(own, c, FLOOR_FINISHED);
        c->state = FLOOR_TIME_WAIT;
        c->retransmit_at = c->probe_at = NEVER;
        start_timer(own, c, &c->close_at, own->now + 2 * LIFETIME);
    }
}

/* ---- in ---- */

/* RFC 9293 3.1: an unknown option is skipped by its length, which must fit. */
static __attribute__((noinline)) bool options_are_well_formed(const uint8_t *tcp, uint32_t header) {
    for (uint32_t at = 20; at < header;) {
        if (tcp[at] == 0) { return true; }
        if (tcp[at] == 1) {
            at += 1;
            continue;
        }
        if (at + 1 >= header || tcp[at + 1] < 2 || at + tcp[at + 1] > header ||
            (tcp[at] == 2 && tcp[at + 1] != 4)) {
            return false;
        }
        at += tcp[at + 1];
    }
    return true;
}

/* RFC 9293 3.10.7.4 fifth: an old segment must not move the window. */
INLINE void update_window(struct floor_connection *c, uint32_t number, uint32_t window) {
    c->offered_by = number;
    c->offered = window;
    if (UNLIKELY(window > c->widest_offer)) { c->widest_offer = window; }
}

/* Delivers text that is next in order and within the window. */
INLINE void deliver_text(struct floor *own, struct floor_connection *c, const uint8_t *data,
                         uint32_t length) {
    c->next += length;
    if (c->todo & WAITS) { /* RFC 9293 3.8.6.3 */
        c->todo |= OWES;
    } else {
        c->todo |= WAITS;
        start_timer(own, c, &c->ack_at, own->now + DELAY);
    }
    floor_on_received(own, c, data, length);
}

/* Handles any segment of a connection: the slow path. */
static __attribute__((noinline)) void segment_arrives(struct floor *own, struct floor_connection *c,
                                                      const uint8_t *frame, const uint8_t *tcp,
                                                      uint32_t header, uint32_t length) {
    const uint32_t number = big32(tcp + 4), answers = big32(tcp + 8), flags = tcp[13];
    const uint32_t ahead = number - c->next;
    if (c->state != FLOOR_OPEN || (flags & (FIN | SYN | RST | URG | ACK)) != ACK ||
        (ahead != 0 && !is_acceptable(c, ahead, length))) {
        if (!check_unusual(own, c, frame, tcp, header, length)) { return; }
    }
    const uint32_t known = answers - c->first, window = big16(tcp + 14);
    bool is_old = false;
    if (known == 0) {
        if (length == 0 && window == c->offered && c->sent != c->first && !(flags & FIN)) {
            duplicate_ack(c);
        }
        if (!behind(c->offered_by, number)) { update_window(c, number, window); }
    } else if (LIKELY(known <= c->highest - c->first)) {
        update_window(c, number, window);
        advance(own, c, answers, known);
    } else { /* RFC 5961 5.2 */
        if (c->first - answers > 65535) {
            send_ack(own, c);
            return;
        }
        is_old = true; /* and must not move the window */
    }
    if (!is_old) { c->unanswered = 0; }
    if (length != 0) {
        if (c->predicted != 0 && ahead == 0 && length <= c->edge - c->next) {
            deliver_text(own, c, tcp + header, length);
        } else if (!irregular_text(own, c, number, tcp + header, length)) {
            return;
        }
        if (UNLIKELY(c->state != FLOOR_OPEN)) { return; } /* the host has ended the connection */
    }
    if (UNLIKELY((c->todo & (ENDS | OVER)) == ENDS && c->last == c->next)) { read_fin(own, c); }
    if (UNLIKELY((c->todo & (OVER | HEARD)) == (OVER | HEARD))) {
        end_connection(own, c);
    } else if ((c->todo & (OWES | RESENDS | CLOSING)) || c->end != c->sent) {
        send_all(own, c);
    }
    arm_prediction(c);
}

/* Handles a predicted segment in order that acknowledges numbers in flight. */
static __attribute__((noinline)) void acknowledging_segment(struct floor *own,
                                                            struct floor_connection *c,
                                                            const uint8_t *tcp, uint32_t header,
                                                            uint32_t length, uint32_t known) {
    update_window(c, c->next, big16(tcp + 14));
    c->unanswered = 0;
    advance(own, c, c->first + known, known);
    if (length != 0) { deliver_text(own, c, tcp + header, length); }
    if (c->end != c->sent || (c->todo & (OWES | CLOSING))) { send_all(own, c); }
}

COLD void icmp_arrives(struct floor *own, uint8_t *frame, uint32_t header, uint32_t whole);
COLD void protocol_unreachable(struct floor *own, const uint8_t *frame, uint32_t whole);

INLINE bool is_everyone(const struct floor *own, uint32_t host) {
    const uint32_t rest = 0xffffffffu >> own->config.prefix;
    return host == 0xffffffff || (own->config.prefix < 31 && host == (own->config.address | rest));
}

/* Handles any datagram, with all checks. */
static __attribute__((noinline)) void any_datagram(struct floor *own, uint8_t *frame,
                                                   uint32_t length) {
    const uint32_t words = length < 20 ? 0 : (frame[0] & 15) * 4u;
    const uint32_t whole = length < 20 ? 0 : big16(frame + 2);
    if (length < 20 || frame[0] >> 4 != 4 || words < 20 || whole < words || whole > length ||
        (big16(frame + 6) & 0x3fff) != 0) {
        own->dropped += 1;
        return;
    }
#if SUMS
    if (folded(summed(frame, words)) != 0xffff) {
        own->dropped += 1;
        return;
    }
#endif
    const uint32_t source = big32(frame + 12), to = big32(frame + 16);
    if ((to != own->config.address && !is_everyone(own, to)) || source >= 0xe0000000 ||
        source >> 24 == 127 || is_everyone(own, source)) {
        own->dropped += 1;
    } else if (frame[9] == 1) {
        icmp_arrives(own, frame, words, whole);
    } else if (frame[9] != 6) {
        protocol_unreachable(own, frame, whole);
    } else {
        const uint8_t *const tcp = frame + words;
        const uint32_t size = whole - words, header = size < 20 ? 0 : (tcp[12] >> 4) * 4u;
        if (size < 20 || header < 20 || header > size || !options_are_well_formed(tcp, header)) {
            own->dropped += 1;
            return;
        }
#if SUMS
        const uint16_t bytes = __builtin_bswap16((uint16_t)size);
        if (folded(summed(tcp, size) + summed(frame + 12, 8) + 0x0600 + bytes) != 0xffff) {
            own->dropped += 1;
            return;
        }
#endif
        struct floor_connection *const c = find(own, load64(frame + 12), load32(tcp));
        if (c == NULL) {
            without_connection(own, frame, tcp, header, size - header);
        } else {
            segment_arrives(own, c, frame, tcp, header, size - header);
        }
    }
}

/* Handles a segment of another connection than the last one, or a rare one. */
static __attribute__((noinline)) void unpredicted(struct floor *own, uint8_t *frame,
                                                  uint32_t length) {
    if (length >= FLOOR_HEADERS && frame[0] == 0x45 && frame[9] == 6) {
        struct floor_connection *const c = own->recent;
        if (find(own, load64(frame + 12), load32(frame + 20)) != NULL && c != own->recent) {
            floor_input(own, frame, length, own->now);
            return;
        }
    }
    any_datagram(own, frame, length);
}

void floor_input(struct floor *own, uint8_t *frame, uint32_t length, uint64_t now) {
    own->now = now;
    struct floor_connection *const c = own->recent;
    const uint8_t *const tcp = frame + 20;
    uint32_t header = 20;
    if (UNLIKELY(length < FLOOR_HEADERS)) {
        any_datagram(own, frame, length);
        return;
    }
    /* version 4, no IP options, no fragment, TCP; addresses, ports, number; flags ACK and PSH */
    static const uint8_t mask[8] = {255, 0, 0, 0, 0, 0, 0x3f, 255};
    const uint64_t unlike = ((load64(frame) ^ 0x45) & load64(mask)) |
                            (load64(frame + 12) ^ c->hosts) | (load32(frame + 20) ^ c->ports) |
                            (frame[9] ^ 6u) | (big32(tcp + 4) ^ c->next) |
                            ((load16(tcp + 12) & 0x37f0u) ^ (c->predicted | 0x50));
    if (UNLIKELY(unlike != 0)) {
        if (unlike != (0x50 ^ 0x80) || load32(tcp + 20) != __builtin_bswap32(0x0101080a)) {
            unpredicted(own, frame, length);
            return;
        }
        header = 32; /* NOP, NOP, timestamp: the options that most peers send */
    }
    const uint32_t whole = big16(frame + 2), bytes = whole - 20 - header;
    const uint32_t known = big32(tcp + 8) - c->first;
    if (UNLIKELY(whole > length || bytes > c->edge - c->next || known > c->highest - c->first)) {
        any_datagram(own, frame, length);
        return;
    }
#if SUMS
    const uint16_t size = __builtin_bswap16((uint16_t)(whole - 20));
    if (UNLIKELY(folded((uint64_t)load32(frame) + load32(frame + 4) + load32(frame + 8) +
                        load32(frame + 12) + load32(frame + 16)) != 0xffff ||
                 folded(summed(tcp, whole - 20) + load32(frame + 12) + load32(frame + 16) + 0x0600 +
                        size) != 0xffff)) {
        own->dropped += 1;
        return;
    }
#endif
    if (known != 0) {
        acknowledging_segment(own, c, tcp, header, bytes, known);
        return;
    }
    if (UNLIKELY(bytes == 0)) {
        segment_arrives(own, c, frame, tcp, header, 0);
        return;
    }
    if (LIKELY(!behind(c->offered_by, c->next))) { update_window(c, c->next, big16(tcp + 14)); }
    c->unanswered = 0;
    deliver_text(own, c, tcp + header, bytes);
    if (c->end != c->sent || (c->todo & CLOSING)) {
        send_all(own, c);
    } else if (c->todo & OWES) {
        send_ack(own, c);
    }
}

/* ---- ICMP: RFC 792, RFC 1122 3.2.2, RFC 1191 ---- */

static void send_icmp(struct floor *own, uint8_t *out, const uint8_t *to, uint32_t bytes) {
    static const uint8_t fixed[12] = {0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 1};
    uint8_t host[4];
    memcpy(host, to, 4);
    memcpy(out, fixed, 12);
    put16(out + 2, bytes);
    memcpy(out + 12, &own->address, 4);
    memcpy(out + 16, host, 4);
    put16(out + 22, 0);
#if SUMS
    const uint16_t first = ~(uint32_t)folded(summed(out, 20));
    const uint16_t second = ~(uint32_t)folded(summed(out + 20, bytes - 20));
    memcpy(out + 10, &first, 2);
    memcpy(out + 22, &second, 2);
#endif
    floor_on_leave(out, bytes);
}

COLD void icmp_arrives(struct floor *own, uint8_t *frame, uint32_t header, uint32_t whole) {
    uint8_t *const icmp = frame + header;
    const uint32_t size = whole - header;
    if (size < 8 || load32(frame + 16) != own->address) { return; }
#if SUMS
    if (folded(summed(icmp, size)) != 0xffff) { return; }
#endif
    if (icmp[0] == 8 && size + 20 <= sizeof own->out) {
        memcpy(own->out + 20, icmp, size);
        own->out[20] = 0;
        send_icmp(own, own->out, frame + 12, size + 20);
    } else if ((icmp[0] == 3 || icmp[0] == 11 || icmp[0] == 12) && size >= 8 + 20) {
        const uint8_t *const sent = icmp + 8;
        const uint32_t words = (sent[0] & 15) * 4u;
        if (sent[0] >> 4 != 4 || words < 20 || size < 8 + words + 8 || sent[9] != 6) { return; }
        const uint64_t hosts = load64(sent + 12);
        const uint32_t ports = load32(sent + words);
        struct floor_connection *const c =
            find(own, hosts << 32 | hosts >> 32, ports << 16 | ports >> 16);
        if (c == NULL) { return; }
        if (icmp[0] == 3 && icmp[1] == 4) {
            const uint32_t said = big16(icmp + 6), bytes = said == 0 ? 556 : max32(said, 68) - 20;
            c->mss = (uint16_t)min32(c->mss, min32(max32(bytes - 20, 64), FLOOR_SEGMENT));
        } else {
            floor_on_lost(own, c, icmp[0] == 3 && (icmp[1] == 2 || icmp[1] == 3));
        }
    }
}

/* Answers an unknown protocol; sends at most ten errors a second. */
COLD void protocol_unreachable(struct floor *own, const uint8_t *frame, uint32_t whole) {
    if (own->now - own->errors_since >= SECOND) {
        own->errors_since = own->now;
        own->errors = 0;
    }
    if (load32(frame + 16) != own->address || own->errors >= 10) { return; }
    own->errors += 1;
    const uint32_t quoted = min32(whole, 68);
    memcpy(own->out + 28, frame, quoted);
    memset(own->out + 20, 0, 8);
    own->out[20] = 3;
    own->out[21] = 2;
    send_icmp(own, own->out, frame + 12, quoted + 28);
}

/* ---- time ---- */

static void retransmission_timeout(struct floor *own, struct floor_connection *c) { /* RFC 6298 5 */
    c->attempts += 1;
    if (c->attempts > PATIENCE) {
        closed(own, c, FLOOR_TIMEOUT);
        return;
    }
    if (c->attempts == 1) { c->threshold = halved(c, c->sent - c->first); }
    c->congestion = c->mss;
    c->recover = c->highest;
    c->todo &= ~(uint32_t)(RECOVERING | TIMED);
    c->sent = c->first;
    c->timeout = min64(2 * c->timeout, MOST_TIMEOUT);
    start_timer(own, c, &c->retransmit_at, own->now + c->timeout);
    send_all(own, c);
}

static void persist_timeout(struct floor *own, struct floor_connection *c) { /* RFC 9293 3.8.6.1 */
    c->unanswered += 1;
    if (c->unanswered > PATIENCE) {
        closed(own, c, FLOOR_TIMEOUT);
        return;
    }
    c->todo |= PROBES;
    c->wait = min64(2 * c->wait, MOST_TIMEOUT);
    send_all(own, c);
    c->todo &= ~(uint32_t)PROBES;
    if (c->retransmit_at == NEVER) { start_timer(own, c, &c->probe_at, own->now + c->wait); }
}

static void expire_connection(struct floor *own, struct floor_connection *c) {
    if (c->ack_at <= own->now) {
        c->ack_at = NEVER;
        send_ack(own, c);
    }
    if (c->close_at <= own->now) {
        if (c->state == FLOOR_TIME_WAIT) {
            release(own, c);
        } else {
            closed(own, c, FLOOR_TIMEOUT);
        }
        return;
    }
    if (c->retransmit_at <= own->now) {
        c->retransmit_at = NEVER;
        retransmission_timeout(own, c);
    }
    if (c->state != FLOOR_FREE && c->probe_at <= own->now) {
        c->probe_at = NEVER;
        persist_timeout(own, c);
    }
    if (c->state == FLOOR_FREE) { return; }
    arm_prediction(c);
    const uint64_t at = min64(min64(c->ack_at, c->retransmit_at), min64(c->probe_at, c->close_at));
    if (at < c->due) { enter_wheel(own, c, at); }
}

void floor_expire(struct floor *own, uint64_t now) {
    own->now = now;
    while (own->tick < now >> TICK) {
        own->tick += 1;
        uint32_t *const slot = &own->slots[own->tick % FLOOR_SLOTS];
        while (*slot != NONE) {
            struct floor_connection *const c = &own->connections[*slot];
            leave_wheel(own, c);
            expire_connection(own, c);
        }
    }
}

uint64_t floor_deadline(const struct floor *own) {
    for (uint64_t tick = own->tick + 1; tick < own->tick + FLOOR_SLOTS; tick += 1) {
        if (own->slots[tick % FLOOR_SLOTS] != NONE) { return tick << TICK; }
    }
    return NEVER;
}

/* ---- the host ---- */

bool floor_start(struct floor *own, const struct floor_config *config, uint64_t now) {
    memset(own, 0, sizeof *own);
    own->config = *config;
    own->now = now;
    own->address = __builtin_bswap32(config->address);
    own->tick = now >> TICK;
    own->recent = &own->none;
    own->free = NONE;
    memset(own->buckets, 0xff, sizeof own->buckets);
    memset(own->slots, 0xff, sizeof own->slots);
    for (uint32_t n = FLOOR_SESSIONS; n-- > 0;) {
        own->connections[n].chain = own->free;
        own->free = n;
    }
    return true;
}

bool floor_listen(struct floor *own, uint16_t port) {
    if (own->listening == FLOOR_LISTENERS) { return false; }
    own->listeners[own->listening++] = port;
    return true;
}

struct floor_connection *floor_connect(struct floor *own, uint32_t peer, uint16_t peer_port,
                                       uint16_t port, uint64_t now) {
    own->now = now;
    const uint64_t hosts = (uint64_t)own->address << 32 | __builtin_bswap32(peer);
    const uint32_t ports = (uint32_t)__builtin_bswap16(port) << 16 | __builtin_bswap16(peer_port);
    struct floor_connection *const c = find(own, hosts, ports) ? NULL : create(own, hosts, ports);
    if (c != NULL) {
        c->state = FLOOR_SYN_SENT;
        send_all(own, c);
    }
    return c;
}

/* Takes as much as there is room for; returns how much. */
uint32_t floor_send(struct floor *own, struct floor_connection *c, const uint8_t *data,
                    uint32_t length, bool urgent) {
    if (UNLIKELY(c->state != FLOOR_OPEN || (c->todo & CLOSING))) { return 0; }
    if (c->sent == c->first && own->now - c->latest > c->timeout) { /* RFC 5681 4.1 */
        c->congestion = min32(c->congestion, initial_window(c->mss));
    }
    length = min32(length, FLOOR_BUFFER - (c->end - c->first));
    const uint32_t place = c->end % FLOOR_RING, part = FLOOR_RING - place;
    if (LIKELY(length <= part)) {
        memcpy(c->outgoing + place, data, length);
    } else {
        memcpy(c->outgoing + place, data, part);
        memcpy(c->outgoing, data + part, length - part);
    }
    c->end += length;
    if (UNLIKELY(urgent)) {
        c->urgent_to = c->end;
        c->todo |= URGENT;
    }
    return length;
}

/* The application has read so many bytes: the window may open. */
void floor_consumed(struct floor_connection *c, uint32_t bytes) {
    const uint32_t open = c->open + bytes, most = c->next + c->most;
    c->open = behind(open, most) ? most : open;
    if (UNLIKELY(c->edge - c->next < 2 * FLOOR_SEGMENT ||
                 (int32_t)(c->open - c->edge) >= FLOOR_BUFFER / 2) &&
        offered(c) != c->edge) {
        c->todo |= OWES;
    }
}

void floor_close(struct floor *own, struct floor_connection *c, bool reads_on) {
    c->todo |= CLOSING | (reads_on ? 0 : UNREAD);
    c->predicted = 0;
    if (c->state == FLOOR_SYN_SENT) { closed(own, c, FLOOR_FINISHED); }
}

void floor_abort(struct floor *own, struct floor_connection *c) {
    if (c->state > FLOOR_SYN_SENT && !((c->todo & OVER) && behind(c->highest, c->end))) {
        reset_peer(own, c);
    }
    closed(own, c, FLOOR_RESET);
}

void floor_hurry(struct floor_connection *c, bool wanted) {
    c->todo = wanted ? c->todo | HURRIED : c->todo & ~(uint32_t)HURRIED;
}

void floor_push(struct floor *own, struct floor_connection *c, uint64_t now) {
    own->now = now;
    if (c->state != FLOOR_FREE) { send_all(own, c); }
}
