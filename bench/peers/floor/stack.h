/*
 * stack.h: a TCP written by hand, to find how few instructions each kind of traffic needs when
 * nothing is left out. README.md lists what it has and what it lacks. The host implements the
 * functions floor_on_... and is compiled as one unit with it. Times are nanoseconds.
 */
#ifndef FLOOR_STACK_H
#define FLOOR_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SUMS
#define SUMS 0 /* 1: sums are written and checked; 0: the link does that */
#endif

enum {
    FLOOR_SESSIONS = 1200,
    FLOOR_BUCKETS = 2048,
    FLOOR_LISTENERS = 16,
    FLOOR_RING = 65536,   /* the low 16 bits of a sequence number are the place of its byte */
    FLOOR_BUFFER = 65535, /* no window is wider, without RFC 7323 */
    FLOOR_SEGMENT = 1460,
    FLOOR_HEADERS = 40,
    FLOOR_RANGES = 8,     /* of text behind gaps; text that needs one more is dropped */
    FLOOR_SLOTS = 4096,   /* of the timing wheel */
};

enum floor_state { FLOOR_FREE, FLOOR_SYN_SENT, FLOOR_SYN_RECEIVED, FLOOR_OPEN, FLOOR_TIME_WAIT };
enum floor_reason { FLOOR_FINISHED, FLOOR_RESET, FLOOR_REFUSED, FLOOR_TIMEOUT };

struct floor_range {
    uint32_t from, to;
};

/* The fields that a segment in order needs stand in the first 128 bytes. */
struct floor_connection {
    uint64_t hosts; /* source and destination, as bytes 12 to 19 of what arrives */
    uint32_t ports; /* as the first four bytes of a segment that arrives */
    uint32_t chain; /* the next connection of the hash bucket, or of the free list */

    uint32_t predicted; /* flags of a segment for the fast paths; 0: none takes them */
    uint32_t todo;  /* the flags OWES... of stack.c */
    uint8_t state;
    uint8_t ranges; /* how many of `early` are used */
    uint8_t duplicates, attempts;
    uint16_t mss;
    uint32_t next; /* RCV.NXT */
    uint32_t edge; /* the right edge of the window that was offered */
    uint32_t open; /* the right edge that the application allows */
    uint32_t most; /* the widest window */

    uint32_t first;        /* SND.UNA */
    uint32_t sent;         /* SND.NXT */
    uint32_t highest;      /* ever sent */
    uint32_t end;          /* after the last byte that the application sent */
    uint32_t offered;      /* SND.WND */
    uint32_t widest_offer;       /* Max(SND.WND) */
    uint32_t offered_by;   /* SND.WL1; SND.WL2 is `first` */
    uint32_t congestion;   /* cwnd */
    uint32_t threshold;    /* ssthresh */
    uint32_t recover;      /* RFC 6582 */
    uint32_t timed;        /* the number after the segment whose round trip is timed */
    uint32_t initial;
    uint64_t due;          /* its place in the wheel; no timer expires earlier */
    uint64_t retransmit_at, ack_at, probe_at, close_at; /* timers; NEVER: stopped */

    uint8_t template[FLOOR_HEADERS]; /* headers of what goes out */
    uint32_t template_sum, pseudo_sum;
    uint64_t timed_at, latest, smoothed, variation, timeout, wait;
    uint32_t last;                 /* the number of the peer's FIN */
    uint32_t urgent_to, urgent_ahead;
    uint16_t mss_limit;
    uint8_t unanswered;
    uint32_t wheel_next, wheel_before;
    struct floor_range early[FLOOR_RANGES];
    void *user;
    uint8_t *outgoing,
        *incoming;  /* FLOOR_RING bytes each, of the host; the second keeps early text */
};

struct floor_config {
    uint32_t address; /* 0x0a000002: 10.0.0.2 */
    uint8_t prefix;
    uint8_t secret[16];
};

struct floor {
    struct floor_connection *recent; /* the one whose segment came last */
    uint64_t now;
    uint32_t address; /* as on the wire */
    uint32_t free;
    uint64_t tick;
    uint16_t listeners[FLOOR_LISTENERS];
    uint32_t listening;
    uint64_t errors_since;
    uint32_t errors;
    uint64_t dropped;
    struct floor_config config;
    uint32_t buckets[FLOOR_BUCKETS];
    uint32_t slots[FLOOR_SLOTS];
    uint8_t out[2048];
    struct floor_connection none; /* matches no segment */
    struct floor_connection connections[FLOOR_SESSIONS];
};

bool floor_start(struct floor *own, const struct floor_config *config, uint64_t now);
void floor_input(struct floor *own, uint8_t *frame, uint32_t length, uint64_t now);
uint64_t floor_deadline(const struct floor *own);
void floor_expire(struct floor *own, uint64_t now);

bool floor_listen(struct floor *own, uint16_t port);
struct floor_connection *floor_connect(struct floor *own, uint32_t peer, uint16_t peer_port,
                                       uint16_t port, uint64_t now);
/* Within floor_on_... what these send leaves behind it; elsewhere floor_push sends it. */
uint32_t floor_send(struct floor *own, struct floor_connection *c, const uint8_t *data,
                    uint32_t length, bool urgent);
void floor_consumed(struct floor_connection *c, uint32_t bytes);
void floor_close(struct floor *own, struct floor_connection *c, bool reads_on);
void floor_abort(struct floor *own, struct floor_connection *c);
void floor_hurry(struct floor_connection *c, bool wanted);
void floor_push(struct floor *own, struct floor_connection *c, uint64_t now);

void floor_on_leave(const uint8_t *frame, uint32_t length);
void floor_on_begun(struct floor *own, struct floor_connection *c);
void floor_on_received(struct floor *own, struct floor_connection *c, const uint8_t *data,
                       uint32_t length);
void floor_on_room(struct floor *own, struct floor_connection *c, uint32_t bytes);
void floor_on_urgent(struct floor *own, struct floor_connection *c, uint32_t bytes);
void floor_on_finished(struct floor *own, struct floor_connection *c);
void floor_on_lost(struct floor *own, struct floor_connection *c, bool refused);
void floor_on_closed(struct floor *own, struct floor_connection *c, enum floor_reason why);

#endif
