/* The kernel at the other end of a TUN device, in a network that nobody else is in: who calls whom,
 * and a MiB each way at once. What is sent and what comes is hashed, at both ends. */
#include "check.h"
#include "sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST = 9000, ALL = 1 << 20 };

/* One end of a connection: the kernel's, or ours. */
struct end {
    bool ours;
    int fd;
    uint32_t seed; /* what it sends hangs on that */
    size_t sent, came;
    uint64_t of_sent, of_came; /* their hashes */
    bool over;                 /* the other sends no more */
};

static struct sockets *host;
static int tun;

/* By how much the clock of the host is ahead of the kernel's. */
static uint64_t ahead_ns;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + ahead_ns;
}

static void skip(const char *why) {
    printf("skipped: %s (%s)\n", why, strerror(errno));
    exit(0);
}

static void asked(unsigned long what, struct ifreq *interface, const char *address) {
    const int socket_of_it = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in *const to = (struct sockaddr_in *)&interface->ifr_addr;
    if (address != NULL) {
        *to = (struct sockaddr_in){.sin_family = AF_INET};
        CHECK(inet_pton(AF_INET, address, &to->sin_addr) == 1);
    }
    CHECK(ioctl(socket_of_it, what, interface) == 0);
    close(socket_of_it);
}

static void set(const char *path, const char *value) {
    const int file = open(path, O_WRONLY);
    CHECK(file >= 0 && write(file, value, 1) == 1 && close(file) == 0);
}

/* A network of its own, with a device that leads to us. */
static void open_network(void) {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        skip("no network namespace can be made here");
    }
    struct ifreq interface = {.ifr_name = "tun0", .ifr_flags = IFF_TUN | IFF_NO_PI};
    tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (tun < 0 || ioctl(tun, TUNSETIFF, &interface) != 0) {
        skip("there are no TUN devices here");
    }
    asked(SIOCSIFADDR, &interface, "10.0.0.1");
    asked(SIOCSIFNETMASK, &interface, "255.255.255.0");
    interface.ifr_flags = IFF_UP | IFF_RUNNING;
    asked(SIOCSIFFLAGS, &interface, NULL);
    set("/proc/sys/net/ipv4/ip_forward", "1");
    set("/proc/sys/net/ipv4/icmp_ratelimit", "0"); /* time goes by faster for the host */
}

static struct sockaddr_in at(const char *address, uint16_t port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    CHECK(inet_pton(AF_INET, address, &name.sin_addr) == 1);
    return name;
}

/* A socket of the kernel, with a congestion control whose pace does not hang on the machine's. */
static int of_kernel(void) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CHECK(fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) == 0);
    return fd;
}

/* Carries packets both ways, and sleeps a moment if there are none. */
static void turn(void) {
    uint8_t packet[LONGEST];
    size_t length;
    bool busy = false;
    while ((length = sockets_packet_out(host, packet, sizeof packet, now_ns())) != 0) {
        busy = true;
        CHECK(write(tun, packet, length) == (ssize_t)length);
    }
    ssize_t came;
    while ((came = read(tun, packet, sizeof packet)) > 0) {
        busy = true;
        sockets_packet_in(host, packet, (size_t)came, now_ns());
    }
    if (!busy) {
        struct pollfd wait = {.fd = tun, .events = POLLIN};
        poll(&wait, 1, 1);
    }
}

static void hash(uint64_t *sum, const uint8_t *data, size_t length) {
    for (size_t at = 0; at < length; at += 1) {
        *sum = (*sum ^ data[at]) * 0x100000001b3; /* FNV-1a */
    }
}

/* Sends what there is room for, and reads what has come. */
static void converse(struct end *end) {
    uint8_t data[20000];
    const size_t left = ALL - end->sent;
    const size_t most = left < sizeof data ? left : sizeof data;
    for (size_t at = 0; at < most; at += 1) {
        data[at] = (uint8_t)((uint32_t)(end->sent + at + 1) * end->seed >> 24);
    }
    if (most != 0) {
        const ssize_t sent =
            end->ours ? sockets_write(host, end->fd, data, most) : write(end->fd, data, most);
        CHECK(sent > 0 || errno == EAGAIN);
        hash(&end->of_sent, data, sent > 0 ? (size_t)sent : 0);
        end->sent += sent > 0 ? (size_t)sent : 0;
        if (end->sent == ALL) {
            CHECK((end->ours ? sockets_shutdown(host, end->fd, SHUT_WR)
                             : shutdown(end->fd, SHUT_WR)) == 0);
        }
    }
    const ssize_t came = end->ours ? sockets_read(host, end->fd, data, sizeof data)
                                   : read(end->fd, data, sizeof data);
    CHECK(came >= 0 || errno == EAGAIN);
    end->over |= came == 0;
    end->came += came > 0 ? (size_t)came : 0;
    hash(&end->of_came, data, came > 0 ? (size_t)came : 0);
}

/* A MiB each way at once, and each closes its half. */
static void exchange(int of_the_kernel, int ours) {
    struct end ends[2] = {{.fd = of_the_kernel, .seed = 0x9e3779b1},
                          {.fd = ours, .seed = 0x85ebca6b}};
    const uint64_t begun_ns = now_ns();
    ends[0].of_sent = ends[0].of_came = ends[1].of_sent = ends[1].of_came = 0xcbf29ce484222325;
    ends[1].ours = true;
    while (!ends[0].over || !ends[1].over) {
        CHECK(now_ns() - begun_ns < 30000000000);
        converse(&ends[0]);
        converse(&ends[1]);
        turn();
    }
    for (int one = 0; one < 2; one += 1) {
        CHECK(ends[one].sent == ALL && ends[one].came == ALL);
        CHECK(ends[one].of_came == ends[1 - one].of_sent);
        printf("%s sent %016llx\n", ends[one].ours ? "we" : "the kernel",
               (unsigned long long)ends[one].of_sent);
    }
    CHECK(close(of_the_kernel) == 0 && sockets_close(host, ours) == 0);
    printf("%d ms\n", (int)((now_ns() - begun_ns) / 1000000));
}

static void the_kernel_calls(uint16_t port) {
    const struct sockaddr_in address = at("10.0.0.2", port);
    const int listener = sockets_socket(host, AF_INET, SOCK_STREAM, 0);
    CHECK(sockets_bind(host, listener, (const void *)&address, sizeof address) == 0);
    CHECK(sockets_listen(host, listener, 5) == 0);
    const int caller = of_kernel();
    CHECK(connect(caller, (const void *)&address, sizeof address) == -1 && errno == EINPROGRESS);
    int called;
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    while ((called = sockets_accept(host, listener, (void *)&peer, &size)) < 0) {
        CHECK(errno == EAGAIN);
        turn();
    }
    CHECK(peer.sin_addr.s_addr == at("10.0.0.1", 0).sin_addr.s_addr);
    exchange(caller, called);
    CHECK(sockets_close(host, listener) == 0);
}

static void we_call(uint16_t port) {
    const struct sockaddr_in address = at("10.0.0.1", port);
    const int listener = of_kernel();
    CHECK(bind(listener, (const void *)&address, sizeof address) == 0);
    CHECK(listen(listener, 5) == 0);
    const int caller = sockets_socket(host, AF_INET, SOCK_STREAM, 0);
    CHECK(sockets_connect(host, caller, (const void *)&address, sizeof address) == -1);
    CHECK(errno == EINPROGRESS);
    int called;
    while ((called = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) < 0) {
        CHECK(errno == EAGAIN);
        turn();
    }
    exchange(called, caller);
    CHECK(close(listener) == 0);
}

/* The error with which a call of ours ends: a refused one at once, any other when no attempt is
 * left, which takes minutes. They go by in seconds. */
static int error_of_call(const char *to, uint16_t port) {
    const struct sockaddr_in address = at(to, port);
    const int caller = sockets_socket(host, AF_INET, SOCK_STREAM, 0);
    CHECK(sockets_connect(host, caller, (const void *)&address, sizeof address) == -1);
    struct pollfd asked_for = {.fd = caller, .events = POLLOUT};
    const uint64_t begun_ns = now_ns();
    while (sockets_poll(host, &asked_for, 1, 0) == 0) {
        turn();
        ahead_ns += 500000000;
        CHECK(now_ns() - begun_ns < 1200000000000);
    }
    int error = 0;
    socklen_t size = sizeof error;
    CHECK(sockets_getsockopt(host, caller, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
    CHECK(sockets_close(host, caller) == 0);
    return error;
}

int main(void) {
    const uint8_t secret[16] = "nobody knows it";
    const uint16_t carried[] = {1500, 576, 9000};
    open_network();
    for (size_t one = 0; one < sizeof carried / sizeof *carried; one += 1) {
        struct ifreq interface = {.ifr_name = "tun0", .ifr_mtu = carried[one]};
        asked(SIOCSIFMTU, &interface, NULL);
        host = sockets_start("10.0.0.2/24", carried[one], secret);
        CHECK(host != NULL);
        sockets_expire(host, now_ns());
        printf("%d bytes in a packet\n", carried[one]);
        the_kernel_calls(carried[one]);
        we_call(carried[one]);
        CHECK(error_of_call("10.0.0.1", 81) == ECONNREFUSED);
        CHECK(error_of_call("10.1.0.1", 80) == EHOSTUNREACH); /* the kernel routes, to nowhere */
        sockets_stop(host);
    }
    return 0;
}
