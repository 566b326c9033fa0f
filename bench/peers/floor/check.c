/*
 * check.c: scripted tests of stack.c for what the workloads of `loom bench traffic` never need:
 * loss, silence, closed windows, both orders of a close, challenges, and a connection that we open.
 * Out: 0, or the line of the expectation that does not hold. Compile it with sanitizers:
 *
 *     gcc -std=gnu11 -fsanitize=address,undefined stack.c check.c && ./a.out
 */
#include "stack.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEPT = 64, ACK = 16, FIN = 1, SYN = 2, RST = 4, WINDOW = 64000 };
#define EXPECT(what) ((what) ? (void)0 : failed(__LINE__, #what))

static struct floor own;
static struct floor_connection *conn; /* the connection under test */
static uint16_t port;                 /* the peer's port of it */
static uint8_t out[KEPT][2048];       /* what left, and how long it was */
static uint32_t out_length[KEPT], outs;
static uint32_t received, room, closings, finished;
static int why = -1; /* a reason why the connection closed */
static uint64_t now = 1000000000;
static uint8_t text[70000];
static uint32_t next, got; /* the peer's next number, and the next that it expects */

static void failed(int line, const char *what) {
    printf("line %d: %s\n", line, what);
    exit(1);
}

void floor_on_leave(const uint8_t *frame, uint32_t length) {
    memcpy(out[outs % KEPT], frame, length);
    out_length[outs % KEPT] = length;
    outs += 1;
}

void floor_on_begun(struct floor *stack, struct floor_connection *c) {
    (void)stack;
    conn = c;
    floor_hurry(c, true);
}

void floor_on_received(struct floor *stack, struct floor_connection *c, const uint8_t *data,
                       uint32_t length) {
    (void)stack;
    for (uint32_t at = 0; at < length; at += 1) {
        EXPECT(data[at] == text[(received + at) % 65536]);
    }
    received += length;
    floor_consumed(c, length);
}

void floor_on_room(struct floor *stack, struct floor_connection *c, uint32_t bytes) {
    (void)stack, (void)c;
    room += bytes;
}

void floor_on_urgent(struct floor *stack, struct floor_connection *c, uint32_t bytes) {
    (void)stack, (void)c, (void)bytes;
}

void floor_on_finished(struct floor *stack, struct floor_connection *c) {
    (void)stack, (void)c;
    finished += 1;
}

void floor_on_lost(struct floor *stack, struct floor_connection *c, bool refused) {
    (void)stack, (void)c, (void)refused;
}

void floor_on_closed(struct floor *stack, struct floor_connection *c, enum floor_reason reason) {
    (void)stack, (void)c;
    why = (int)reason;
    closings += 1;
}

/* The peer sends a segment of the text from `from`. */
static void give(uint32_t number, uint32_t flags, uint32_t from, uint32_t length, uint32_t window) {
    uint8_t frame[2048] = {0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};
    put16(frame + 2, 40 + length);
    put16(frame + 20, port);
    put16(frame + 22, 5001);
    put32(frame + 24, number);
    put32(frame + 28, got);
    frame[32] = 0x50;
    frame[33] = (uint8_t)flags;
    put16(frame + 34, window);
    memcpy(frame + 40, text + from, length);
    now += 10000;
    floor_input(&own, frame, 40 + length, now);
}

static void acknowledge(uint32_t window) { give(next, ACK, 0, 0, window); }

static void acknowledge_all(void) {
    got = conn->sent;
    acknowledge(WINDOW);
}

static void push(uint32_t length) {
    floor_send(&own, conn, text, length, false);
    floor_push(&own, conn, now);
}

static void close_ours(void) {
    floor_close(&own, conn, true);
    floor_push(&own, conn, now);
}

static void wait_for(uint64_t time) {
    now += time;
    floor_expire(&own, now);
}

/* Of the frame that left as number `at`. */
static uint32_t number_of(uint32_t at) { return big32(out[at % KEPT] + 24); }
static uint32_t answers_of(uint32_t at) { return big32(out[at % KEPT] + 28); }
static uint32_t flags_of(uint32_t at) { return out[at % KEPT][33]; }
static uint32_t text_of(uint32_t at) { return out_length[at % KEPT] - 40; }

/* The peer opens a connection. */
static void begin(uint16_t from) {
    port = from;
    next = 5000;
    got = received = room = closings = finished = 0;
    why = -1;
    conn = NULL;
    give(next, SYN, 0, 0, WINDOW);
    next += 1;
    EXPECT(flags_of(outs - 1) == (SYN | ACK));
    got = number_of(outs - 1) + 1;
    acknowledge(WINDOW);
    EXPECT(conn != NULL && conn->state == FLOOR_OPEN && room == 65535);
    EXPECT(conn->mss == 536 && conn->congestion == 4 * 536);
    conn->mss = 1460; /* as if the SYN had said so */
    conn->congestion = 3 * 1460;
}

/* Four segments come in the order 3 1 0 2, the second once more; then a delayed acknowledgement. */
static void check_early_text(void) {
    const uint32_t before = outs;
    give(next + 3000, ACK, 3000, 1000, WINDOW);
    EXPECT(outs == before + 1 && received == 0 && conn->ranges == 1);
    give(next + 1000, ACK, 1000, 1000, WINDOW);
    EXPECT(outs == before + 2 && conn->ranges == 2);
    give(next, ACK, 0, 1500, WINDOW);
    EXPECT(outs == before + 3 && received == 2000 && conn->ranges == 1);
    give(next + 2000, ACK, 2000, 1000, WINDOW);
    EXPECT(received == 4000 && conn->ranges == 0 && answers_of(outs - 1) == next + 4000);
    give(next + 1000, ACK, 1000, 1000, WINDOW);
    EXPECT(received == 4000);
    next += 4000;
    const uint32_t then = outs;
    give(next, ACK, 4000, 10, WINDOW);
    next += 10;
    EXPECT(outs == then);
    wait_for(300000000);
    EXPECT(outs == then + 1 && answers_of(then) == next);
}

/* The third of four segments is lost: limited transmit, fast retransmit, fast recovery. */
static void check_loss(void) {
    push(14600);
    EXPECT(conn->congestion == 3 * 1460 && conn->sent - conn->first == 3 * 1460);
    const uint32_t base = got;
    got = base + 2920;
    acknowledge(WINDOW);
    EXPECT(conn->congestion > 3 * 1460 && conn->timeout >= 1000000000);
    const uint32_t before = outs;
    acknowledge(WINDOW);
    acknowledge(WINDOW);
    EXPECT(outs == before + 2 && number_of(before) > base + 5839); /* RFC 3042 */
    acknowledge(WINDOW);
    EXPECT(number_of(outs - 1) == base + 2920 || number_of(outs - 2) == base + 2920);
    EXPECT(conn->congestion > conn->threshold);
    got = conn->highest;
    acknowledge(WINDOW);
    EXPECT(conn->congestion <= conn->threshold);
    while (conn->first != conn->end) {
        acknowledge_all();
    }
    EXPECT(conn->retransmit_at == UINT64_MAX && room == 65535 + 14600);
}

/* Nothing is acknowledged, so it goes again, later each time; then the window is closed. */
static void check_silence(void) {
    uint32_t before = outs;
    push(100);
    EXPECT(outs == before + 1);
    wait_for(1010000000);
    EXPECT(outs == before + 2 && number_of(outs - 1) == number_of(before));
    wait_for(1500000000);
    EXPECT(outs == before + 2);
    wait_for(600000000);
    EXPECT(outs == before + 3);
    got = conn->end;
    acknowledge(0);
    before = outs;
    push(2000);
    EXPECT(outs == before && conn->probe_at != UINT64_MAX);
    wait_for(conn->probe_at - now + 10000000);
    EXPECT(outs == before + 1 && text_of(before) == 1);
    got = conn->first + 1;
    acknowledge(WINDOW);
    EXPECT(outs == before + 2 && text_of(before + 1) == 1460); /* slow start */
    acknowledge_all();
    EXPECT(outs == before + 3 && text_of(before + 2) == 539);
    acknowledge_all();
}

/* The peer closes first. */
static void check_peer_closes(void) {
    give(next, ACK | FIN, 0, 0, WINDOW);
    next += 1;
    EXPECT(finished == 1 && closings == 0);
    const uint32_t before = outs;
    close_ours();
    EXPECT(outs == before + 1 && (flags_of(before) & FIN) != 0);
    got = conn->end + 1;
    acknowledge(WINDOW);
    EXPECT(closings == 1 && why == FLOOR_FINISHED && conn->state == FLOOR_FREE);
}

/* We close first, the peer's FIN comes twice, and TIME-WAIT lasts four minutes. */
static void check_we_close(void) {
    close_ours();
    got = conn->end + 1;
    acknowledge(WINDOW);
    EXPECT(closings == 0);
    give(next, ACK | FIN, 0, 0, WINDOW);
    EXPECT(closings == 1 && conn->state == FLOOR_TIME_WAIT);
    const uint32_t before = outs;
    give(next, ACK | FIN, 0, 0, WINDOW);
    EXPECT(outs == before + 1);
    wait_for(239000000000);
    EXPECT(conn->state == FLOOR_TIME_WAIT);
    wait_for(2000000000);
    EXPECT(conn->state == FLOOR_FREE);
}

/* Inexact resets, SYNs and old acknowledgements are challenged (RFC 5961). */
static void check_challenges(void) {
    const uint32_t before = outs;
    give(next + 5, RST, 0, 0, 0);
    EXPECT(outs == before + 1 && conn->state == FLOOR_OPEN);
    give(next, SYN, 0, 0, 0);
    EXPECT(outs == before + 2 && conn->state == FLOOR_OPEN);
    got -= 70000;
    acknowledge(9);
    EXPECT(outs == before + 3 && conn->offered == WINDOW);
    give(next, RST, 0, 0, 0);
    EXPECT(why == FLOOR_RESET && conn->state == FLOOR_FREE);
    port = 1003; /* of no connection */
    give(next, ACK, 0, 10, 0);
    EXPECT(outs == before + 4 && flags_of(before + 3) == RST);
}

/* We open a connection, whose first SYN is lost; later the peer falls silent. */
static void check_we_open(void) {
    port = 7000;
    conn = floor_connect(&own, 0x0a000001, port, 5001, now);
    EXPECT(conn != NULL && flags_of(outs - 1) == SYN);
    got = number_of(outs - 1) + 1;
    next = 9000;
    wait_for(1010000000);
    EXPECT(flags_of(outs - 1) == SYN && number_of(outs - 1) == got - 1);
    give(next, SYN | ACK, 0, 0, 3000);
    next += 1;
    EXPECT(conn->state == FLOOR_OPEN && answers_of(outs - 1) == next);
    EXPECT(conn->mss == 536 && conn->congestion == 536);
    received = 0;
    give(next, ACK, 0, 100, 3000);
    EXPECT(received == 100);
    for (unsigned turn = 0; turn < 14; turn += 1) {
        push(10);
        wait_for(70000000000);
    }
    EXPECT(why == FLOOR_TIMEOUT && conn->state == FLOOR_FREE);
}

int main(void) {
    for (uint32_t at = 0; at < sizeof text; at += 1) {
        text[at] = (uint8_t)((at % 65536) * 2654435761u >> 13);
    }
    const struct floor_config config = {.address = 0x0a000002, .prefix = 24, .secret = {7}};
    floor_start(&own, &config, now);
    static uint8_t rings[2][FLOOR_SESSIONS][FLOOR_RING];
    for (unsigned at = 0; at < FLOOR_SESSIONS; at += 1) {
        own.connections[at].outgoing = rings[0][at];
        own.connections[at].incoming = rings[1][at];
    }
    floor_listen(&own, 5001);
    begin(1000);
    check_early_text();
    check_loss();
    check_silence();
    check_peer_closes();
    begin(1001);
    check_we_close();
    begin(1002);
    check_challenges();
    check_we_open();
    printf("all as it should be; dropped %llu\n", (unsigned long long)own.dropped);
    return 0;
}
