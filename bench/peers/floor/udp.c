/*
 * The floor: datagrams of UDP over IPv4 by hand, for two ends and one purpose. It refuses what the
 * stack of ../../udp.loom refuses, in the same order, finds a session by port, and does nothing
 * else: no other protocol, no errors to peers, no timers, no agenda, no counters but one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 1000, BUFFERS = 64, HEADROOM = 28, SIZE = 1536, SESSIONS = 256, ROOM = 1480 };

/* A conversation: bound to one peer, or open to all where `peer` is 0. */
struct session {
    uint32_t peer;
    uint16_t port;
    uint16_t peer_port;
    bool used;
};

struct end {
    uint32_t address;
    uint32_t network_mask;
    uint64_t refused;
    struct session sessions[SESSIONS]; /* by the low bits of the port, then one after the other */
    uint32_t free[BUFFERS];
    uint32_t left;
    uint8_t buffers[BUFFERS][SIZE];
};

/* What was delivered, or is to leave. */
struct packet {
    uint8_t *data;
    uint32_t length;
    uint32_t buffer;
    uint32_t peer;
    uint32_t session;
    uint16_t peer_port;
};

static uint16_t swap16(uint16_t value) {
    return (uint16_t)(value << 8 | value >> 8);
}

static uint16_t load16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return swap16(value);
}

static uint32_t load32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return __builtin_bswap32(value);
}

static void store16(uint8_t *at, uint16_t value) {
    value = swap16(value);
    memcpy(at, &value, sizeof value);
}

static void store32(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof value);
}

#if SUMS
/* The sum in the order of this machine, which is the same sum with its bytes exchanged. */
static uint64_t add(uint64_t sum, const uint8_t *at, uint32_t length) {
    for (; length >= 4; length -= 4, at += 4) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        sum += word;
    }
    if (length != 0) {
        uint32_t word = 0;
        memcpy(&word, at, length);
        sum += word;
    }
    return sum;
}

static uint16_t folded(uint64_t sum) {
    const uint32_t half = (uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32);
    return (uint16_t)~((half + (half << 16 | half >> 16)) >> 16);
}

/* The pseudo-header stands in the IPv4 header: both addresses, the protocol, the length. */
static uint64_t pseudo(const uint8_t *ip, uint32_t length) {
    return add(0, ip + 12, 8) + ((uint32_t)17 << 8) + swap16((uint16_t)length);
}
#endif

static bool take(struct end *end, struct packet *packet) {
    if (end->left == 0) {
        return false;
    }
    end->left -= 1;
    packet->buffer = end->free[end->left];
    packet->data = end->buffers[packet->buffer] + HEADROOM;
    return true;
}

static void give(struct end *end, const struct packet *packet) {
    end->free[end->left] = packet->buffer;
    end->left += 1;
}

static bool refuse(struct end *end, const struct packet *packet) {
    end->refused += 1;
    give(end, packet);
    return false;
}

static bool send(struct end *end, uint32_t session, const void *data, uint32_t length,
                 struct packet *packet) {
    const struct session *const own = &end->sessions[session % SESSIONS];
    if (!own->used || !take(end, packet)) {
        return false;
    }
    if (length + 8 > ROOM || own->peer >= 0xe0000000 ||
        ((own->peer ^ end->address) & end->network_mask) != 0) {
        return refuse(end, packet);
    }
    memcpy(packet->data, data, length);
    uint8_t *const udp = packet->data - 8;
    uint8_t *const ip = udp - 20;
    store32(ip, 0x45000000 | (length + 28));
    store32(ip + 4, 0x40000000);
    store32(ip + 8, (uint32_t)64 << 24 | (uint32_t)17 << 16);
    store32(ip + 12, end->address);
    store32(ip + 16, own->peer);
    store16(udp, own->port);
    store16(udp + 2, own->peer_port);
    store32(udp + 4, (length + 8) << 16);
#if SUMS
    const uint16_t sum = folded(add(0, ip, 20));
    memcpy(ip + 10, &sum, 2);
    const uint16_t whole = folded(pseudo(ip, length + 8) + add(0, udp, length + 8));
    const uint16_t written = whole == 0 ? 0xffff : whole;
    memcpy(udp + 6, &written, 2);
#endif
    packet->data = ip;
    packet->length = length + 28;
    return true;
}

static bool receive(struct end *end, struct packet *packet) {
    const uint8_t *const ip = packet->data;
    const uint32_t length = packet->length;
    if (length < 20 || ip[0] >> 4 != 4) {
        return refuse(end, packet);
    }
    const uint32_t header = 4U * (ip[0] & 15);
    const uint32_t total = load16(ip + 2);
    const uint32_t source = load32(ip + 12);
    if (header < 20 || header > total || total > length || source >= 0xe0000000 ||
        source >> 24 == 127 || source == (end->address | ~end->network_mask)) {
        return refuse(end, packet);
    }
#if SUMS
    if (folded(add(0, ip, header)) != 0) {
        return refuse(end, packet);
    }
#endif
    const uint32_t destination = load32(ip + 16);
    const bool ours = destination == end->address || destination == 0xffffffff ||
                      destination == (end->address | ~end->network_mask);
    if (ip[9] != 17 || !ours || (load16(ip + 6) & 0x3fff) != 0 || total - header < 8) {
        return refuse(end, packet);
    }
    uint8_t *const udp = packet->data + header;
    const uint32_t counted = load16(udp + 4);
    if (counted < 8 || counted > total - header) {
        return refuse(end, packet);
    }
#if SUMS
    if (load16(udp + 6) != 0 && folded(pseudo(ip, counted) + add(0, udp, counted)) != 0) {
        return refuse(end, packet);
    }
#endif
    const uint16_t port = load16(udp + 2);
    packet->peer_port = load16(udp);
    packet->peer = source;
    for (uint32_t tried = 0; tried < SESSIONS; tried += 1) {
        packet->session = (port + tried) % SESSIONS;
        const struct session *const own = &end->sessions[packet->session];
        if (!own->used) {
            break;
        }
        if (own->port == port &&
            (own->peer == 0 || (own->peer == source && own->peer_port == packet->peer_port))) {
            packet->data = udp + 8;
            packet->length = counted - 8;
            return true;
        }
    }
    return refuse(end, packet);
}

struct ends {
    struct end *sender;
    struct end *receiver;
    uint32_t session;
    uint32_t number;
    struct packet sent;
    struct packet arrived;
    uint32_t sum;
};

void bench_step(struct ends *ends, bool arrives);

__attribute__((noinline, noclone)) void bench_step(struct ends *ends, bool arrives) {
    if (!arrives) {
        send(ends->sender, ends->session, &ends->number, 4, &ends->sent);
        take(ends->receiver, &ends->arrived);
        return;
    }
    give(ends->sender, &ends->sent);
    if (receive(ends->receiver, &ends->arrived)) {
        uint32_t number;
        memcpy(&number, ends->arrived.data, sizeof number);
        ends->sum += number;
        give(ends->receiver, &ends->arrived);
    }
}

static struct end *started(uint32_t address) {
    struct end *const end = calloc(1, sizeof *end);
    if (end == NULL) {
        exit(2);
    }
    end->address = address;
    end->network_mask = 0xffffff00;
    for (; end->left < BUFFERS; end->left += 1) {
        end->free[end->left] = end->left;
    }
    return end;
}

/* Whether every frame is refused of which one bit was turned in a header, as far as that bit says
 * where the frame goes; with sums, whatever the bit. */
static bool refuses(struct ends *ends) {
    for (uint32_t bit = 0; bit < 8 * 28; bit += 1) {
        const uint32_t byte = bit / 8;
        const bool says_nothing = byte == 1 || byte == 4 || byte == 5 || bit == 48 || bit == 49 ||
                                  byte == 8 || (byte >= 10 && byte < 16) || byte == 20 ||
                                  byte == 21 || byte >= 24;
        bench_step(ends, false);
        memcpy(ends->arrived.data, ends->sent.data, ends->sent.length);
        ends->arrived.length = ends->sent.length;
        ends->arrived.data[byte] ^= (uint8_t)(0x80 >> bit % 8);
        const uint64_t before = ends->receiver->refused;
        bench_step(ends, true);
        if (ends->receiver->refused == before && (SUMS || !says_nothing)) {
            fprintf(stderr, "bit %u may be turned\n", bit);
            return false;
        }
    }
    return true;
}

int main(int count, char **words) {
    const bool checks = count == 2 && strcmp(words[1], "check") == 0;
    if (count != 2 || (!checks && strcmp(words[1], "count") != 0)) {
        fprintf(stderr, "usage: %s count|check\n", words[0]);
        return 2;
    }
    struct ends ends = {.sender = started(0x0a000001), .receiver = started(0x0a000002)};
    ends.session = 40000 % SESSIONS;
    ends.sender->sessions[ends.session] = (struct session){0x0a000002, 40000, 7, true};
    ends.receiver->sessions[7] = (struct session){.port = 7, .used = true};
    if (checks) {
        return refuses(&ends) ? 0 : 1;
    }
    for (uint32_t number = 1; number <= MESSAGES; number += 1) {
        ends.number = number;
        bench_step(&ends, false);
        memcpy(ends.arrived.data, ends.sent.data, ends.sent.length);
        ends.arrived.length = ends.sent.length;
        bench_step(&ends, true);
    }
    if (ends.sum != MESSAGES * (MESSAGES + 1) / 2) {
        fprintf(stderr, "not all arrived\n");
        return 1;
    }
    printf("messages %d\n", MESSAGES);
    return 0;
}
