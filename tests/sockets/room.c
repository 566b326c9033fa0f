/* How much is on its way, and how it is divided. */
#include "situations.h"
#include "wire.h"

#include <netinet/tcp.h>

/* What the bytes of a stream are, so that each says where it stands. */
static uint8_t byte_at(size_t place) {
    return (uint8_t)(place * 31 + (place >> 8) * 7 + (place >> 16));
}

/* Writes as much as there is room for, from a place in the stream on; how much that was. */
static size_t written(int which, int fd, size_t from, size_t most) {
    uint8_t data[3000];
    size_t total = 0;
    while (total < most) {
        const size_t length = most - total < sizeof data ? most - total : sizeof data;
        for (size_t place = 0; place < length; place += 1) {
            data[place] = byte_at(from + total + place);
        }
        const ssize_t taken = sockets_write(host[which], fd, data, length);
        if (taken < 0) {
            CHECK(errno == EAGAIN);
            CHECK((polled(which, fd, POLLOUT) & POLLOUT) == 0);
            break;
        }
        CHECK(taken > 0);
        total += (size_t)taken;
    }
    return total;
}

/* Reads what has come, and sees that it is what comes at this place; how much that was. */
static size_t read_on(int which, int fd, size_t from, size_t most) {
    uint8_t data[1777];
    size_t total = 0;
    while (total < most) {
        const size_t room = most - total < sizeof data ? most - total : sizeof data;
        const ssize_t came = sockets_read(host[which], fd, data, room);
        if (came <= 0) {
            CHECK(came == 0 || errno == EAGAIN);
            break;
        }
        for (size_t place = 0; place < (size_t)came; place += 1) {
            CHECK(data[place] == byte_at(from + total + place));
        }
        total += (size_t)came;
    }
    return total;
}

static void close_both(const int ends[2]) {
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
}

void nobody_reads_and_writing_stops(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    size_t out = written(HERE, ends[HERE], 0, 1000000);
    CHECK(out == 65535);
    pass(10 * SECOND);
    CHECK(polled(HERE, ends[HERE], POLLOUT) == POLLOUT);
    out += written(HERE, ends[HERE], out, 1000000);
    CHECK(out == 2 * 65535);
    pass(100 * SECOND); /* the window is shut, and probed */
    FAILS(sockets_write(host[HERE], ends[HERE], "x", 1), EAGAIN);
    CHECK(polled(THERE, ends[THERE], POLLIN) == POLLIN);
    size_t in = read_on(THERE, ends[THERE], 0, 1000000);
    CHECK(in == 65535);
    for (int turn = 0; turn < 10; turn += 1) {
        pass(SECOND);
        in += read_on(THERE, ends[THERE], in, 1000000);
    }
    CHECK(in == out);
    close_both(ends);
    end();
}

void bytes_come_in_order_on_a_bad_wire(void) {
    enum { ALL = 300000 };
    begin(1500);
    int ends[2];
    connected(ends);
    lost = 50;
    size_t out[2] = {0, 0}, in[2] = {0, 0};
    for (unsigned turn = 0; in[HERE] != ALL || in[THERE] != ALL; turn += 1) {
        CHECK(turn < 100000);
        for (int which = HERE; which <= THERE; which += 1) {
            out[which] += written(which, ends[which], out[which], ALL - out[which]);
            in[which] += read_on(which, ends[which], in[which], 1 + number() % 20000);
        }
        pass(20 * MILLISECOND);
    }
    CHECK(sockets_shutdown(host[HERE], ends[HERE], SHUT_WR) == 0);
    pass(1000 * SECOND);
    CHECK((polled(THERE, ends[THERE], POLLIN) & POLLIN) != 0);
    CHECK(sockets_read(host[THERE], ends[THERE], (char[1]){0}, 1) == 0);
    close_both(ends);
    end();
}

void two_hundred_connect_at_once(void) {
    enum { ALL = 200 };
    begin(1500);
    const int listener = listening(THERE, 80, 128);
    int callers[ALL], called[ALL];
    for (int one = 0; one < ALL; one += 1) {
        callers[one] = calling(HERE, 80);
    }
    int accepted = 0;
    for (unsigned turn = 0; accepted < ALL && turn < 100; turn += 1) {
        pass(SECOND);
        while (accepted < ALL &&
               (called[accepted] = sockets_accept(host[THERE], listener, NULL, NULL)) >= 0) {
            accepted += 1;
        }
    }
    CHECK(accepted == ALL);
    for (int one = 0; one < ALL; one += 1) {
        char name[32];
        snprintf(name, sizeof name, "I am number %d", callers[one]);
        CHECK(polled(HERE, callers[one], POLLOUT) == POLLOUT);
        says(HERE, callers[one], name);
    }
    pass(SECOND);
    for (int one = 0; one < ALL; one += 1) {
        char text[64];
        const ssize_t length = sockets_read(host[THERE], called[one], text, sizeof text);
        CHECK(length > 0);
        CHECK(sockets_write(host[THERE], called[one], text, (size_t)length) == length);
    }
    pass(SECOND);
    for (int one = 0; one < ALL; one += 1) {
        char name[32];
        snprintf(name, sizeof name, "I am number %d", callers[one]);
        hears(HERE, callers[one], name);
        close_both((int[2]){callers[one], called[one]});
    }
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

static void set(int which, int fd, int level, int name, int value) {
    CHECK(sockets_setsockopt(host[which], fd, level, name, &value, sizeof value) == 0);
}

static int get(int which, int fd, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    CHECK(sockets_getsockopt(host[which], fd, level, name, &value, &size) == 0);
    CHECK(size == sizeof value);
    return value;
}

void buffers_are_as_small_as_they_are_set(void) {
    begin(1500);
    const int listener = listening(THERE, 80, 1);
    set(THERE, listener, SOL_SOCKET, SO_SNDBUF, 1000);
    const struct sockaddr_in address = at(THERE, 80);
    const int caller = sockets_socket(host[HERE], AF_INET, SOCK_STREAM, 0);
    set(HERE, caller, SOL_SOCKET, SO_RCVBUF, 3000);
    FAILS(sockets_connect(host[HERE], caller, (const void *)&address, sizeof address), EINPROGRESS);
    pass(SECOND);
    const int called = sockets_accept(host[THERE], listener, NULL, NULL);
    CHECK(get(THERE, called, SOL_SOCKET, SO_SNDBUF) == 1000);
    CHECK(get(HERE, caller, SOL_SOCKET, SO_RCVBUF) == 3000);

    size_t out = written(THERE, called, 0, 5000);
    CHECK(out == 1000);
    for (int turn = 0; turn < 20; turn += 1) {
        pass(SECOND);
        out += written(THERE, called, out, 1000);
    }
    CHECK(out == 4000); /* those that came, and those that are to be acknowledged */
    size_t in = 0;
    for (int turn = 0; turn < 200 && in < 20000; turn += 1) {
        in += read_on(HERE, caller, in, 1000000);
        out += written(THERE, called, out, 20000 - out);
        pass(SECOND);
    }
    CHECK(in == 20000);
    set(HERE, caller, SOL_SOCKET, SO_RCVBUF, 10000000);
    CHECK(get(HERE, caller, SOL_SOCKET, SO_RCVBUF) == 65535);
    close_both((int[2]){caller, called});
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

static size_t longest;

static bool measured(const uint8_t *packet, size_t length) {
    longest = length > longest ? length : longest;
    return packet == NULL;
}

void segments_are_as_short_as_they_are_set(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    CHECK(get(HERE, ends[HERE], IPPROTO_TCP, TCP_MAXSEG) == 1460);
    longest = 0;
    stops = measured;
    CHECK(written(HERE, ends[HERE], 0, 10000) == 10000);
    pass(SECOND);
    CHECK(longest == 1500);
    set(HERE, ends[HERE], IPPROTO_TCP, TCP_MAXSEG, 200);
    CHECK(get(HERE, ends[HERE], IPPROTO_TCP, TCP_MAXSEG) == 200);
    longest = 0;
    CHECK(written(HERE, ends[HERE], 10000, 10000) == 10000);
    pass(10 * SECOND);
    CHECK(longest == 240);
    CHECK(read_on(THERE, ends[THERE], 0, 1000000) == 20000);
    stops = NULL;
    close_both(ends);
    end();

    begin(65535);
    connected(ends);
    CHECK(get(HERE, ends[HERE], IPPROTO_TCP, TCP_MAXSEG) == 8960);
    longest = 0;
    stops = measured;
    CHECK(written(HERE, ends[HERE], 0, 20000) == 20000);
    pass(SECOND);
    CHECK(longest == 9000);
    CHECK(read_on(THERE, ends[THERE], 0, 1000000) == 20000);
    stops = NULL;
    close_both(ends);
    end();

    begin(600);
    connected(ends);
    longest = 0;
    stops = measured;
    CHECK(written(HERE, ends[HERE], 0, 10000) == 10000);
    pass(10 * SECOND);
    CHECK(longest == 600);
    CHECK(read_on(THERE, ends[THERE], 0, 1000000) == 10000);
    close_both(ends);
    end();
}

void short_ones_wait_unless_they_are_told_not_to(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    CHECK(get(HERE, ends[HERE], IPPROTO_TCP, TCP_NODELAY) == 0);
    says(HERE, ends[HERE], "a");
    says(HERE, ends[HERE], "b");
    pass(8 * MILLISECOND);
    hears(THERE, ends[THERE], "a");
    pass(SECOND);
    hears(THERE, ends[THERE], "b");
    set(HERE, ends[HERE], IPPROTO_TCP, TCP_NODELAY, 1);
    says(HERE, ends[HERE], "c");
    says(HERE, ends[HERE], "d");
    pass(8 * MILLISECOND);
    hears(THERE, ends[THERE], "cd");
    close_both(ends);
    end();
}
