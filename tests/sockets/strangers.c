/* What strangers do to a host: they flood it, leave connections, and keep windows shut. */
#include "situations.h"
#include "wire.h"

#include <netinet/tcp.h>

enum { FIN = 1,
       SYN = 2,
       RST = 4,
       ACK = 16,
       SEGMENTS = 40,
       LARGEST = 0x02040000 };

/* What a segment says, in the order of the machine. */
struct segment {
    uint32_t from, to;
    uint16_t port, to_port;
    uint32_t number, acknowledges;
    uint8_t flags;
    uint16_t window;
    uint16_t length; /* of its text */
    uint32_t option; /* four bytes of options; 0: there are none */
    uint8_t lifetime, service;
};

static struct segment heard[SEGMENTS]; /* the last of these are what came last */
static unsigned said;

static uint32_t number_at(const uint8_t *at, int bytes) {
    uint32_t number = 0;
    for (int byte = 0; byte < bytes; byte += 1) {
        number = number << 8 | at[byte];
    }
    return number;
}

static void put(uint8_t *at, int bytes, uint32_t number) {
    for (int byte = bytes - 1; byte >= 0; byte -= 1) {
        at[byte] = (uint8_t)number;
        number >>= 8;
    }
}

static uint32_t sum(const uint8_t *bytes, size_t length, uint32_t from) {
    for (size_t at = 0; at < length; at += 1) {
        from += (uint32_t)bytes[at] << (at % 2 == 0 ? 8 : 0);
    }
    return from;
}

static uint16_t folded(uint32_t sum) {
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~(sum + (sum >> 16));
}

/* All packets to strangers stop here; what hosts say to each other goes on. */
static bool overheard(const uint8_t *packet, size_t length) {
    CHECK(length >= 40 && folded(sum(packet, 20, 0)) == 0);
    const uint32_t from = number_at(packet + 12, 4), to = number_at(packet + 16, 4);
    heard[said % SEGMENTS] = (struct segment){
        .from = from,
        .to = to,
        .port = (uint16_t)number_at(packet + 20, 2),
        .to_port = (uint16_t)number_at(packet + 22, 2),
        .number = number_at(packet + 24, 4),
        .acknowledges = number_at(packet + 28, 4),
        .flags = packet[33],
        .window = (uint16_t)number_at(packet + 34, 2),
        .length = (uint16_t)(length - 20 - (packet[32] >> 4) * 4u),
        .lifetime = packet[8],
        .service = packet[1],
    };
    said += 1;
    return to >> 8 != 0x0a0000;
}

/* Says something to THERE. */
static void say(struct segment it) {
    uint8_t packet[1500] = {0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6};
    const size_t header = it.option != 0 ? 24 : 20, length = 20 + header + it.length;
    put(packet + 2, 2, (uint32_t)length);
    put(packet + 12, 4, it.from);
    put(packet + 16, 4, it.to);
    put(packet + 10, 2, folded(sum(packet, 20, 0)));
    put(packet + 20, 2, it.port);
    put(packet + 22, 2, it.to_port);
    put(packet + 24, 4, it.number);
    put(packet + 28, 4, it.acknowledges);
    packet[32] = (uint8_t)(header / 4 << 4);
    packet[33] = it.flags;
    put(packet + 34, 2, it.window);
    put(packet + 40, header == 24 ? 4 : 0, it.option);
    const uint32_t of_ends = sum(packet + 12, 8, 6 + (uint32_t)(length - 20));
    put(packet + 36, 2, folded(sum(packet + 20, length - 20, of_ends)));
    inject(THERE, packet, length);
}

/* A stranger at 192.0.2.0 and above, who calls port 80 of THERE. */
static struct segment stranger(unsigned which) {
    return (struct segment){.from = 0xc0000200 + which % 250,
                            .to = 0x0a000002,
                            .port = (uint16_t)(1000 + which / 250),
                            .to_port = 80,
                            .number = 1000,
                            .flags = SYN,
                            .window = 65535,
                            .option = LARGEST | 1460};
}

/* The stranger has heard an answer to its SYN, and acknowledges it. */
static struct segment completed(struct segment it) {
    said = 0;
    say(it);
    pass(0);
    unsigned at = 0; /* behind the reset of one that gave way */
    while (at < said && heard[at].to != it.from) {
        at += 1;
    }
    CHECK(at < said && said <= 2 && heard[at].flags == (SYN | ACK));
    it.flags = ACK;
    it.number += 1;
    it.acknowledges = heard[at].number + 1;
    it.option = 0;
    return it;
}

static void set(int fd, int level, int name, int value) {
    CHECK(sockets_setsockopt(host[THERE], fd, level, name, &value, sizeof value) == 0);
}

static int get(int fd, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    CHECK(sockets_getsockopt(host[THERE], fd, level, name, &value, &size) == 0);
    return value;
}

/* A connection with a stranger, and the socket of it. */
static int called_by(struct segment *it, int listener) {
    *it = completed(*it);
    say(*it);
    const int called = sockets_accept(host[THERE], listener, NULL, NULL);
    CHECK(called >= 0);
    return called;
}

void calls_that_nobody_completes(void) {
    begin(1500);
    stops = overheard;
    const int wide = listening(THERE, 80, 600);
    for (unsigned one = 0; one < 5000; one += 1) {
        say(stranger(one));
        pass(0);
    }
    struct segment honest = stranger(6000);
    const int called = called_by(&honest, wide);
    const int caller = calling(THERE, 90); /* and there is room for a call of our own */
    CHECK(sockets_close(host[THERE], caller) == 0);
    CHECK(sockets_close(host[THERE], called) == 0);
    CHECK(sockets_close(host[THERE], wide) == 0);
    end();

    begin(1500);
    stops = overheard;
    const int narrow = listening(THERE, 80, 2);
    say(stranger(1));
    say(stranger(2));
    honest = stranger(3);
    pass(SECOND + 500 * MILLISECOND);
    say(honest); /* which is lost, and comes again */
    pass(SECOND);
    CHECK(sockets_close(host[THERE], called_by(&honest, narrow)) == 0);
    CHECK(sockets_close(host[THERE], narrow) == 0);
    end();
}

void connections_that_are_over(void) {
    begin(1500);
    stops = overheard;
    const int listener = listening(THERE, 80, 5);
    for (unsigned one = 0; one < 1200; one += 1) {
        struct segment it = stranger(one);
        const int called = called_by(&it, listener);
        CHECK(sockets_close(host[THERE], called) == 0);
        it.flags = FIN | ACK;
        it.acknowledges += one % 2; /* the others hear our FIN later */
        say(it);
        it.number += 1;
        it.acknowledges += 1 - one % 2;
        it.flags = ACK;
        say(it);
        pass(MILLISECOND);
    }
    CHECK(sockets_close(host[THERE], calling(THERE, 90)) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

void windows_that_stay_shut(void) {
    begin(1500);
    stops = overheard;
    const int listener = listening(THERE, 80, 5);
    for (unsigned one = 0; one < 600; one += 1) {
        struct segment it = stranger(one);
        it.window = 0;
        const int called = called_by(&it, listener);
        CHECK(sockets_write(host[THERE], called, "for nobody", 10) == 10);
        CHECK(sockets_close(host[THERE], called) == 0);
        pass(MILLISECOND);
    }
    pass(62 * SECOND);
    CHECK(sockets_deadline(host[THERE]) == UINT64_MAX);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

void segments_that_come_together(void) {
    begin(1500);
    stops = overheard;
    const int listener = listening(THERE, 80, 5);
    struct segment it = stranger(1);
    const int called = called_by(&it, listener);
    it.length = 1000;
    said = 0;
    for (int one = 0; one < 10; one += 1) {
        say(it);
        it.number += 1000;
    }
    pass(0);
    CHECK(said == 1 && heard[0].acknowledges == it.number);
    it.number += 1000; /* one is missing: each acknowledgement counts */
    for (int one = 0; one < 4; one += 1) {
        say(it);
        it.number += 1000;
    }
    pass(0);
    CHECK(said == 5);
    CHECK(sockets_close(host[THERE], called) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

void options_of_a_connection(void) {
    begin(1500);
    stops = overheard;
    const int listener = listening(THERE, 80, 5);
    CHECK(get(listener, IPPROTO_TCP, TCP_MAXSEG) == 1460);
    CHECK(get(listener, IPPROTO_IP, IP_TTL) == 64 && get(listener, IPPROTO_IP, IP_TOS) == 0);
    set(listener, IPPROTO_IP, IP_TTL, 7);
    struct segment it = stranger(1);
    it.option = LARGEST | 1100;
    const int called = called_by(&it, listener);
    CHECK(get(called, IPPROTO_TCP, TCP_MAXSEG) == 1100);
    CHECK(get(called, IPPROTO_IP, IP_TTL) == 7);
    set(called, IPPROTO_IP, IP_TOS, 0x2b);
    CHECK(get(called, IPPROTO_IP, IP_TOS) == 0x28);
    set(called, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000);
    CHECK(get(called, IPPROTO_TCP, TCP_USER_TIMEOUT) == 5000);
    said = 0;
    const uint64_t begun_ns = now_ns;
    CHECK(sockets_write(host[THERE], called, "is anyone there?", 16) == 16);
    while (polled(THERE, called, POLLERR) == 0) {
        pass(100 * MILLISECOND);
    }
    CHECK(now_ns - begun_ns == 5 * SECOND && error_of(THERE, called) == ETIMEDOUT);
    CHECK(said == 3 && heard[2].lifetime == 7 && heard[2].service == 0x28);
    int wrong = 256;
    FAILS(sockets_setsockopt(host[THERE], called, IPPROTO_IP, IP_TTL, &wrong, 4), EINVAL);
    wrong = -1;
    FAILS(sockets_setsockopt(host[THERE], called, IPPROTO_TCP, TCP_USER_TIMEOUT, &wrong, 4),
          EINVAL);
    CHECK(sockets_close(host[THERE], called) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

void options_of_wrong_length(void) {
    static const uint32_t wrong[] = {0x1e000000, 0x1e010000, 0x1e280000, 0x02030500, 0x01010102};
    begin(1500);
    stops = overheard;
    const int listener = listening(THERE, 80, 5);
    struct segment it = stranger(1);
    it.option = wrong[0]; /* no segment size is read from it */
    const int called = called_by(&it, listener);
    CHECK(get(called, IPPROTO_TCP, TCP_MAXSEG) == 536);
    it.length = 1;
    for (size_t one = 0; one < sizeof wrong / sizeof *wrong; one += 1) {
        it.option = wrong[one];
        say(it);
        it.number += 1;
        CHECK(sockets_read(host[THERE], called, (char[9]){0}, 9) == 1);
    }
    CHECK(sockets_close(host[THERE], called) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}
