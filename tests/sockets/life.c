/* From the call to the end of a connection, whoever ends it and however. */
#include "situations.h"
#include "wire.h"

void a_connection_is_made_and_echoes(void) {
    begin(1500);
    const int listener = listening(THERE, 80, 5);
    FAILS(sockets_accept(host[THERE], listener, NULL, NULL), EAGAIN);
    CHECK(polled(THERE, listener, POLLIN) == 0);
    const int caller = calling(HERE, 80);
    const struct sockaddr_in address = at(THERE, 80);
    FAILS(sockets_connect(host[HERE], caller, (const void *)&address, sizeof address), EALREADY);
    CHECK(polled(HERE, caller, POLLOUT | POLLIN) == 0);
    FAILS(sockets_write(host[HERE], caller, "early", 5), EAGAIN);
    FAILS(sockets_read(host[HERE], caller, (char[1]){0}, 1), EAGAIN);
    FAILS(sockets_shutdown(host[HERE], caller, SHUT_WR), ENOTCONN);

    pass(100 * MILLISECOND);
    CHECK(polled(HERE, caller, POLLOUT | POLLIN) == POLLOUT);
    CHECK(error_of(HERE, caller) == 0);
    FAILS(sockets_connect(host[HERE], caller, (const void *)&address, sizeof address), EISCONN);
    CHECK(polled(THERE, listener, POLLIN | POLLOUT) == POLLIN);
    struct sockaddr_in peer, own;
    socklen_t size = sizeof peer;
    const int called = sockets_accept(host[THERE], listener, (void *)&peer, &size);
    CHECK(called >= 0 && called != listener && size == sizeof peer);
    CHECK(peer.sin_family == AF_INET && ntohl(peer.sin_addr.s_addr) == 0x0a000001);
    CHECK(sockets_getsockname(host[HERE], caller, (void *)&own, &size) == 0);
    CHECK(memcmp(&own, &peer, sizeof own) == 0 && ntohs(own.sin_port) >= 49152);
    CHECK(sockets_getpeername(host[THERE], called, (void *)&own, &size) == 0);
    CHECK(memcmp(&own, &peer, sizeof own) == 0);
    CHECK(sockets_getsockname(host[THERE], called, (void *)&own, &size) == 0);
    CHECK(memcmp(&own, &address, sizeof own) == 0);

    says(HERE, caller, "hello");
    FAILS(sockets_read(host[THERE], called, (char[1]){0}, 1), EAGAIN);
    pass(20 * MILLISECOND);
    CHECK(polled(THERE, called, POLLIN) == POLLIN);
    hears(THERE, called, "hello");
    CHECK(polled(THERE, called, POLLIN) == 0);
    says(THERE, called, "hello yourself");
    pass(20 * MILLISECOND);
    hears(HERE, caller, "hello yourself");
    CHECK(sockets_close(host[HERE], caller) == 0);
    CHECK(sockets_close(host[THERE], called) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

void each_side_closes_its_own_half(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    says(HERE, ends[HERE], "all I say");
    CHECK(sockets_shutdown(host[HERE], ends[HERE], SHUT_WR) == 0);
    CHECK(sockets_shutdown(host[HERE], ends[HERE], SHUT_WR) == 0);
    FAILS(sockets_write(host[HERE], ends[HERE], "more", 4), EPIPE);
    pass(SECOND);
    const short in = POLLIN | POLLOUT | POLLRDHUP;
    CHECK(polled(THERE, ends[THERE], in) == in);
    hears(THERE, ends[THERE], "all I say");
    CHECK(sockets_read(host[THERE], ends[THERE], (char[1]){0}, 1) == 0);
    CHECK(sockets_read(host[THERE], ends[THERE], (char[1]){0}, 1) == 0);
    says(THERE, ends[THERE], "and I");
    CHECK(sockets_shutdown(host[THERE], ends[THERE], SHUT_WR) == 0);
    CHECK((polled(THERE, ends[THERE], 0) & POLLHUP) != 0);
    pass(SECOND);
    hears(HERE, ends[HERE], "and I");
    CHECK(sockets_read(host[HERE], ends[HERE], (char[1]){0}, 1) == 0);
    CHECK((polled(HERE, ends[HERE], POLLOUT) & (POLLHUP | POLLERR)) == POLLHUP);
    FAILS(sockets_shutdown(host[HERE], ends[HERE], SHUT_RD), ENOTCONN);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    end();
}

void what_was_written_goes_out_after_close(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    static char text[60000], came[60000];
    for (size_t place = 0; place < sizeof text; place += 1) {
        text[place] = (char)number();
    }
    CHECK(sockets_write(host[HERE], ends[HERE], text, sizeof text) == sizeof text);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    FAILS(sockets_close(host[HERE], ends[HERE]), EBADF);
    pass(10 * SECOND);
    CHECK(sockets_read(host[THERE], ends[THERE], came, sizeof came) == sizeof text);
    CHECK(memcmp(text, came, sizeof text) == 0);
    CHECK(sockets_read(host[THERE], ends[THERE], came, sizeof came) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    end();
}

void who_closes_unread_text_resets(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    says(THERE, ends[THERE], "first");
    pass(SECOND);
    hears(HERE, ends[HERE], "first");
    says(THERE, ends[THERE], "read as well");
    says(HERE, ends[HERE], "never read");
    pass(SECOND);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    pass(SECOND);
    CHECK((polled(HERE, ends[HERE], POLLIN) & (POLLERR | POLLHUP)) == (POLLERR | POLLHUP));
    hears(HERE, ends[HERE], "read as well");
    FAILS(sockets_read(host[HERE], ends[HERE], (char[1]){0}, 1), ECONNRESET);
    CHECK(sockets_read(host[HERE], ends[HERE], (char[1]){0}, 1) == 0);
    FAILS(sockets_write(host[HERE], ends[HERE], "x", 1), EPIPE);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    end();
}

void nobody_listens(void) {
    begin(1500);
    const int caller = calling(HERE, 81);
    pass(SECOND);
    CHECK((polled(HERE, caller, POLLOUT) & (POLLOUT | POLLERR)) == (POLLOUT | POLLERR));
    CHECK(error_of(HERE, caller) == ECONNREFUSED);
    CHECK(error_of(HERE, caller) == 0);
    FAILS(sockets_write(host[HERE], caller, "x", 1), ENOTCONN);
    const int listener = listening(THERE, 81, 1);
    const struct sockaddr_in address = at(THERE, 81); /* the same socket may try again */
    FAILS(sockets_connect(host[HERE], caller, (const void *)&address, sizeof address), EINPROGRESS);
    pass(SECOND);
    CHECK(polled(HERE, caller, POLLOUT) == POLLOUT && error_of(HERE, caller) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0); /* and with it, who was not accepted */
    pass(SECOND);
    FAILS(sockets_read(host[HERE], caller, (char[1]){0}, 1), ECONNRESET);
    CHECK(sockets_close(host[HERE], caller) == 0);
    end();
}

static bool all(const uint8_t *packet, size_t length) {
    return packet != NULL && length != 0;
}

void nobody_answers(void) {
    begin(1500);
    stops = all;
    const int caller = calling(HERE, 80);
    pass(30 * SECOND);
    CHECK(polled(HERE, caller, POLLOUT) == 0);
    pass(1000 * SECOND);
    CHECK((polled(HERE, caller, POLLOUT) & POLLERR) != 0);
    FAILS(sockets_read(host[HERE], caller, (char[1]){0}, 1), ETIMEDOUT);
    CHECK(sockets_close(host[HERE], caller) == 0);

    stops = NULL;
    int ends[2];
    connected(ends);
    stops = all;
    says(HERE, ends[HERE], "is anybody there?");
    pass(1000 * SECOND);
    CHECK((polled(HERE, ends[HERE], POLLIN) & POLLERR) != 0);
    FAILS(sockets_write(host[HERE], ends[HERE], "x", 1), ETIMEDOUT);
    FAILS(sockets_write(host[HERE], ends[HERE], "x", 1), EPIPE);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    end();
}

static uint8_t last[128]; /* the beginning of what did not get through */

static bool kept(const uint8_t *packet, size_t length) {
    memcpy(last, packet, length < sizeof last ? length : sizeof last);
    return true;
}

/* A router says why the last packet did not get through. */
static void report(uint8_t kind, uint8_t code) {
    uint8_t packet[56] = {0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 254, 10, 0, 0, 1};
    packet[20] = kind;
    packet[21] = code;
    memcpy(packet + 28, last, 28);
    const size_t parts[3] = {0, 20, sizeof packet};
    for (int part = 0; part < 2; part += 1) {
        uint32_t sum = 0;
        for (size_t place = parts[part]; place < parts[part + 1]; place += 2) {
            sum += (uint32_t)packet[place] << 8 | packet[place + 1];
        }
        const uint16_t folded = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
        packet[part == 0 ? 10 : 22] = (uint8_t)(folded >> 8);
        packet[part == 0 ? 11 : 23] = (uint8_t)folded;
    }
    inject(HERE, packet, sizeof packet);
}

void a_router_says_that_there_is_no_way(void) {
    begin(1500);
    stops = kept;
    const uint8_t codes[] = {0, 1, 2, 3, 13}; /* RFC 792: network, host, protocol, port */
    for (size_t one = 0; one < sizeof codes; one += 1) {
        const int caller = calling(HERE, 80);
        pass(MILLISECOND);
        report(3, codes[one]);
        const bool refused = codes[one] == 2 || codes[one] == 3; /* by the peer itself */
        CHECK(((polled(HERE, caller, POLLOUT) & POLLERR) != 0) == refused);
        CHECK(error_of(HERE, caller) == (refused ? ECONNREFUSED : 0));
        CHECK(sockets_close(host[HERE], caller) == 0);
        CHECK(sockets_deadline(host[HERE]) == UINT64_MAX); /* nor is it tried again */
    }
    stops = NULL;
    int ends[2];
    connected(ends);
    says(HERE, ends[HERE], "through here?");
    stops = kept;
    pass(2 * SECOND);
    report(11, 0); /* too long on its way: the connection goes on */
    CHECK(polled(HERE, ends[HERE], POLLOUT) == POLLOUT);
    stops = NULL;
    pass(10 * SECOND);
    hears(THERE, ends[THERE], "through here?");
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    pass(100 * SECOND);
    for (int told = 0; told < 2; told += 1) { /* for ever: what was said since is the reason */
        connected(ends);
        for (int turn = 0; turn < 2; turn += 1) {
            says(HERE, ends[HERE], "and here?");
            stops = kept;
            pass(2 * SECOND);
            if (told == turn) {
                report(3, 1);
            }
            stops = turn == 0 ? NULL : kept;
            pass(1000 * SECOND);
        }
        const int reason = told == 0 ? ETIMEDOUT : EHOSTUNREACH;
        FAILS(sockets_read(host[HERE], ends[HERE], (char[1]){0}, 1), reason);
        CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
        CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
        stops = NULL;
        pass(100 * SECOND);
    }
    end();
}

void the_other_never_closes(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    pass(50 * SECOND);
    CHECK(sockets_deadline(host[HERE]) != UINT64_MAX);
    pass(20 * SECOND); /* and is waited for no longer */
    CHECK(sockets_deadline(host[HERE]) == UINT64_MAX);
    CHECK(sockets_read(host[THERE], ends[THERE], (char[1]){0}, 1) == 0);
    says(THERE, ends[THERE], "too late");
    pass(SECOND);
    FAILS(sockets_write(host[THERE], ends[THERE], "x", 1), ECONNRESET);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);

    connected(ends); /* who only sends no more still listens */
    CHECK(sockets_shutdown(host[HERE], ends[HERE], SHUT_WR) == 0);
    pass(1000 * SECOND);
    says(THERE, ends[THERE], "not too late");
    pass(SECOND);
    hears(HERE, ends[HERE], "not too late");
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    pass(SECOND);
    CHECK(sockets_deadline(host[HERE]) != UINT64_MAX);
    pass(100 * SECOND);
    CHECK(sockets_deadline(host[HERE]) == UINT64_MAX);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    end();
}

void a_number_is_used_again_at_once(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    const int listener = listening(THERE, 81, 1);
    const int caller = calling(HERE, 81);
    CHECK(caller == ends[HERE]); /* whose connection has not ended yet */
    pass(SECOND);
    CHECK(polled(HERE, caller, POLLOUT) == POLLOUT && error_of(HERE, caller) == 0);
    const int called = sockets_accept(host[THERE], listener, NULL, NULL);
    says(THERE, called, "for the new one");
    pass(SECOND);
    hears(HERE, caller, "for the new one");
    FAILS(sockets_read(host[HERE], caller, (char[1]){0}, 1), EAGAIN);
    CHECK(sockets_close(host[HERE], caller) == 0);
    CHECK(sockets_close(host[THERE], called) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}
