/* Ports and who has them, options, and what is used wrongly. */
#include "situations.h"
#include "wire.h"

#include <netinet/tcp.h>
#include <sys/un.h>

static int bound(int which, int fd, uint16_t port) {
    const struct sockaddr_in address = at(which, port);
    return sockets_bind(host[which], fd, (const void *)&address, sizeof address);
}

static int created(int which) {
    const int fd = sockets_socket(host[which], AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    return fd;
}

static void reuse(int which, int fd) {
    const int on = 1;
    CHECK(sockets_setsockopt(host[which], fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
}

void a_port_belongs_to_one(void) {
    begin(1500);
    const int listener = listening(THERE, 80, 5);
    const int other = created(THERE);
    FAILS(bound(THERE, other, 80), EADDRINUSE);
    reuse(THERE, other);
    reuse(THERE, listener);
    FAILS(bound(THERE, other, 80), EADDRINUSE); /* somebody listens */
    CHECK(bound(THERE, other, 81) == 0);
    FAILS(bound(THERE, other, 82), EINVAL); /* it has one */
    const int third = created(THERE);
    FAILS(bound(THERE, third, 81), EADDRINUSE);
    reuse(THERE, third);
    CHECK(bound(THERE, third, 81) == 0);
    CHECK(sockets_listen(host[THERE], other, 1) == 0);
    FAILS(sockets_listen(host[THERE], third, 1), EADDRINUSE);
    CHECK(sockets_listen(host[THERE], other, 3) == 0); /* its backlog is another */

    const int free[2] = {created(THERE), created(THERE)};
    struct sockaddr_in names[2];
    for (int one = 0; one < 2; one += 1) {
        socklen_t size = sizeof *names;
        CHECK(bound(THERE, free[one], 0) == 0);
        CHECK(sockets_getsockname(host[THERE], free[one], (void *)&names[one], &size) == 0);
        CHECK(ntohs(names[one].sin_port) >= 49152);
    }
    CHECK(names[0].sin_port != names[1].sin_port);
    CHECK(sockets_close(host[THERE], listener) == 0);
    CHECK(sockets_close(host[THERE], other) == 0);
    end();
}

void a_port_is_left_to_who_was_there(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    pass(SECOND);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    pass(SECOND); /* its last state is TIME-WAIT */
    const int next = created(THERE);
    FAILS(bound(THERE, next, 80), EADDRINUSE);
    reuse(THERE, next);
    CHECK(bound(THERE, next, 80) == 0);
    CHECK(sockets_listen(host[THERE], next, 1) == 0);
    CHECK(sockets_close(host[THERE], next) == 0);
    pass(100 * SECOND);
    const int last = created(THERE);
    CHECK(bound(THERE, last, 80) == 0);
    end();
}

void who_lingers_for_no_time_resets(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    socklen_t size = sizeof linger;
    CHECK(sockets_setsockopt(host[HERE], ends[HERE], SOL_SOCKET, SO_LINGER, &linger, size) == 0);
    linger.l_onoff = 0;
    CHECK(sockets_getsockopt(host[HERE], ends[HERE], SOL_SOCKET, SO_LINGER, &linger, &size) == 0);
    CHECK(linger.l_onoff == 1 && linger.l_linger == 0 && size == sizeof linger);
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    pass(SECOND);
    FAILS(sockets_read(host[THERE], ends[THERE], (char[1]){0}, 1), ECONNRESET);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);

    connected(ends); /* any other time is as none */
    linger.l_linger = 5;
    CHECK(sockets_setsockopt(host[HERE], ends[HERE], SOL_SOCKET, SO_LINGER, &linger, size) == 0);
    says(HERE, ends[HERE], "last words");
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    pass(SECOND);
    hears(THERE, ends[THERE], "last words");
    CHECK(sockets_read(host[THERE], ends[THERE], (char[1]){0}, 1) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    end();
}

void both_call_at_once(void) {
    begin(1500);
    int ends[2];
    for (int which = HERE; which <= THERE; which += 1) {
        ends[which] = created(which);
        CHECK(bound(which, ends[which], 7) == 0);
    }
    for (int which = HERE; which <= THERE; which += 1) {
        const struct sockaddr_in to = at(1 - which, 7);
        FAILS(sockets_connect(host[which], ends[which], (const void *)&to, sizeof to), EINPROGRESS);
    }
    pass(SECOND);
    says(HERE, ends[HERE], "and so");
    pass(SECOND);
    hears(THERE, ends[THERE], "and so");
    for (int which = HERE; which <= THERE; which += 1) {
        CHECK(sockets_close(host[which], ends[which]) == 0);
    }
    pass(SECOND);
    const int next = created(HERE);
    const struct sockaddr_in to = at(THERE, 7);
    reuse(HERE, next);
    CHECK(bound(HERE, next, 7) == 0);
    /* between these two ports, the last connection is in TIME-WAIT */
    FAILS(sockets_connect(host[HERE], next, (const void *)&to, sizeof to), EADDRNOTAVAIL);
    pass(60 * SECOND);
    FAILS(sockets_connect(host[HERE], next, (const void *)&to, sizeof to), EINPROGRESS);
    CHECK(sockets_close(host[HERE], next) == 0);
    end();
}

void more_call_than_may_wait(void) {
    enum { ALL = 9 };
    begin(1500);
    const int listener = listening(THERE, 80, 2);
    int callers[ALL];
    for (int one = 0; one < ALL; one += 1) {
        callers[one] = calling(HERE, 80);
    }
    pass(20 * SECOND);
    int ready = 0;
    for (int one = 0; one < ALL; one += 1) {
        ready += polled(HERE, callers[one], POLLOUT) == POLLOUT;
    }
    CHECK(ready >= 2 && ready <= 4);
    int accepted = 0;
    for (int turn = 0; turn < 200 && accepted < ALL; turn += 1) {
        const int called = sockets_accept(host[THERE], listener, NULL, NULL);
        if (called >= 0) {
            accepted += 1;
            CHECK(sockets_close(host[THERE], called) == 0);
        }
        pass(SECOND);
    }
    CHECK(accepted == ALL);
    for (int one = 0; one < ALL; one += 1) {
        CHECK(error_of(HERE, callers[one]) == 0);
        CHECK(sockets_close(host[HERE], callers[one]) == 0);
    }
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

void there_are_no_more_sockets(void) {
    begin(1500);
    const int listener = listening(THERE, 80, 100);
    int last = 0, all = 1;
    while ((last = sockets_socket(host[THERE], AF_INET, SOCK_STREAM, 0)) >= 0) {
        all += 1;
    }
    CHECK(errno == EMFILE && all == 512);
    const int caller = calling(HERE, 80);
    pass(SECOND); /* nobody could be told of it */
    FAILS(sockets_accept(host[THERE], listener, NULL, NULL), EAGAIN);
    FAILS(sockets_read(host[HERE], caller, (char[1]){0}, 1), ECONNRESET);
    CHECK(sockets_close(host[HERE], caller) == 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
    end();
}

static void wrong_numbers(int fd) {
    struct sockaddr_in address = at(THERE, 80);
    struct sockaddr *const name = (struct sockaddr *)&address;
    socklen_t size = sizeof address;
    int value = 0;
    FAILS(sockets_bind(host[HERE], fd, name, size), EBADF);
    FAILS(sockets_listen(host[HERE], fd, 1), EBADF);
    FAILS(sockets_accept(host[HERE], fd, name, &size), EBADF);
    FAILS(sockets_connect(host[HERE], fd, name, size), EBADF);
    FAILS(sockets_read(host[HERE], fd, &value, 1), EBADF);
    FAILS(sockets_write(host[HERE], fd, &value, 1), EBADF);
    FAILS(sockets_shutdown(host[HERE], fd, SHUT_RDWR), EBADF);
    FAILS(sockets_close(host[HERE], fd), EBADF);
    FAILS(sockets_getsockname(host[HERE], fd, name, &size), EBADF);
    FAILS(sockets_getpeername(host[HERE], fd, name, &size), EBADF);
    FAILS(sockets_getsockopt(host[HERE], fd, SOL_SOCKET, SO_ERROR, &value, &size), EBADF);
    FAILS(sockets_setsockopt(host[HERE], fd, SOL_SOCKET, SO_RCVBUF, &value, size), EBADF);
    CHECK(polled(HERE, fd, POLLIN) == (fd < 0 ? 0 : POLLNVAL));
}

static void wrong_addresses(int fd) {
    struct sockaddr_in address = at(THERE, 80);
    struct sockaddr *const name = (struct sockaddr *)&address;
    const socklen_t size = sizeof address;
    FAILS(sockets_connect(host[HERE], fd, NULL, size), EFAULT);
    FAILS(sockets_connect(host[HERE], fd, name, size - 1), EINVAL);
    FAILS(sockets_bind(host[HERE], fd, name, size), EADDRNOTAVAIL);
    address.sin_family = AF_UNIX;
    FAILS(sockets_connect(host[HERE], fd, name, size), EAFNOSUPPORT);
    FAILS(sockets_bind(host[HERE], fd, name, size), EAFNOSUPPORT);
    address = at(THERE, 0);
    FAILS(sockets_connect(host[HERE], fd, name, size), EADDRNOTAVAIL);
    address = at(HERE, 80);
    const uint32_t hosts[] = {0, 0x7f000001, 0xe0000001, 0xffffffff, 0x0a000001};
    for (size_t one = 0; one < sizeof hosts / sizeof *hosts; one += 1) {
        address.sin_addr.s_addr = htonl(hosts[one]);
        FAILS(sockets_connect(host[HERE], fd, name, size), ENETUNREACH);
    }
}

static void wrong_options(int fd) {
    int value = 0;
    socklen_t size = sizeof value;
    FAILS(sockets_getsockopt(host[HERE], fd, SOL_SOCKET, SO_BROADCAST, &value, &size), ENOPROTOOPT);
    FAILS(sockets_setsockopt(host[HERE], fd, IPPROTO_TCP, TCP_CORK, &value, size), ENOPROTOOPT);
    FAILS(sockets_setsockopt(host[HERE], fd, SOL_SOCKET, SO_ERROR, &value, size), ENOPROTOOPT);
    FAILS(sockets_setsockopt(host[HERE], fd, IPPROTO_IP, IP_MTU_DISCOVER, &value, 1), ENOPROTOOPT);
    FAILS(sockets_setsockopt(host[HERE], fd, SOL_SOCKET, SO_RCVBUF, &value, 3), EINVAL);
    FAILS(sockets_setsockopt(host[HERE], fd, SOL_SOCKET, SO_LINGER, &value, 4), EINVAL);
    FAILS(sockets_setsockopt(host[HERE], fd, SOL_SOCKET, SO_RCVBUF, NULL, size), EFAULT);
    FAILS(sockets_setsockopt(host[HERE], fd, IPPROTO_TCP, TCP_MAXSEG, &value, size), EINVAL);
    FAILS(sockets_getsockopt(host[HERE], fd, SOL_SOCKET, SO_ERROR, NULL, &size), EFAULT);
    size = 1;
    CHECK(sockets_getsockopt(host[HERE], fd, SOL_SOCKET, SO_TYPE, &value, &size) == 0);
    CHECK(size == 1 && value == SOCK_STREAM);
}

void what_is_used_wrongly_says_so(void) {
    begin(1500);
    static const uint8_t secret[16];
    static const char *const hosts[] = {"",        "10.0.0",     "10.0.0.2/", "10.0.0.2/33",
                                        "0.0.0.0", "224.0.0.1",  "127.0.0.1", "10.0.0.2/24x",
                                        "fe80::1", "10.0.0.2/-1"};
    for (size_t one = 0; one < sizeof hosts / sizeof *hosts; one += 1) {
        CHECK(sockets_start(hosts[one], 1500, secret) == NULL && errno == EINVAL);
    }
    CHECK(sockets_start("10.0.0.2", 67, secret) == NULL && errno == EINVAL);
    CHECK(sockets_start(NULL, 1500, secret) == NULL && errno == EINVAL);
    CHECK(sockets_start("10.0.0.2", 1500, NULL) == NULL && errno == EINVAL);
    sockets_stop(NULL);
    FAILS(sockets_socket(host[HERE], AF_INET6, SOCK_STREAM, 0), EAFNOSUPPORT);
    FAILS(sockets_socket(host[HERE], AF_INET, SOCK_DGRAM, 0), EPROTONOSUPPORT);
    FAILS(sockets_socket(host[HERE], AF_INET, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
    FAILS(sockets_poll(host[HERE], NULL, 1, 0), EFAULT);
    CHECK(sockets_poll(host[HERE], NULL, 0, 0) == 0);
    const int numbers[] = {-1, 0, 511, 512, 1000000};
    for (size_t one = 0; one < sizeof numbers / sizeof *numbers; one += 1) {
        wrong_numbers(numbers[one]);
    }
    const int fd = created(HERE);
    wrong_addresses(fd);
    wrong_options(fd);
    FAILS(sockets_accept(host[HERE], fd, NULL, NULL), EINVAL);
    FAILS(sockets_read(host[HERE], fd, NULL, 1), EFAULT);
    FAILS(sockets_read(host[HERE], fd, (char[1]){0}, 1), ENOTCONN);
    FAILS(sockets_write(host[HERE], fd, "x", 1), ENOTCONN);
    FAILS(sockets_shutdown(host[HERE], fd, SHUT_WR), ENOTCONN);
    FAILS(sockets_shutdown(host[HERE], fd, 3), EINVAL);
    CHECK(polled(HERE, fd, POLLIN | POLLOUT) == (POLLOUT | POLLHUP));
    CHECK(sockets_close(host[HERE], fd) == 0);
    wrong_numbers(fd);
    const int listener = listening(HERE, 80, -1);
    const struct sockaddr_in to = at(THERE, 80);
    FAILS(sockets_connect(host[HERE], listener, (const void *)&to, sizeof to), EOPNOTSUPP);
    FAILS(sockets_write(host[HERE], listener, "x", 1), ENOTCONN);
    FAILS(sockets_accept(host[HERE], listener, NULL, NULL), EAGAIN);
    CHECK(sockets_close(host[HERE], listener) == 0);
    end();
}

void nonsense_comes_in(void) {
    begin(1500);
    int ends[2];
    connected(ends);
    static uint8_t packet[70000];
    inject(HERE, packet, 0);
    inject(HERE, packet, sizeof packet);
    for (int one = 0; one < 20000; one += 1) {
        const size_t length = number() % 100;
        for (size_t place = 0; place < length; place += 1) {
            packet[place] = (uint8_t)number();
        }
        if (one % 2 == 0) { /* a first segment, of odd lengths */
            memcpy(packet, (const uint8_t[]){0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6}, 10);
            packet[33] = 0x02;
        }
        inject(number() % 2 == 0 ? HERE : THERE, packet, length);
    }
    says(HERE, ends[HERE], "still here");
    pass(SECOND);
    hears(THERE, ends[THERE], "still here");
    CHECK(sockets_close(host[HERE], ends[HERE]) == 0);
    CHECK(sockets_close(host[THERE], ends[THERE]) == 0);
    end();
}
