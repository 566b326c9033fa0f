/* Fetches a page over TCP of its own, on a TUN device: fetch DEVICE ADDRESS PEER PORT PATH */
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { MTU = 1500 };

static struct sockets *host;
static int tun;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Attaches to a TUN device, which is made if it is not there. */
static int open_tun(const char *name) {
    struct ifreq wanted = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    strncpy(wanted.ifr_name, name, IFNAMSIZ - 1);
    if (device < 0 || ioctl(device, TUNSETIFF, &wanted) != 0) {
        fail(name);
    }
    return device;
}

/* Sends what is to go out, sleeps until something happens, and takes what has come in. */
static void turn(void) {
    uint8_t packet[MTU];
    size_t length;
    while ((length = sockets_packet_out(host, packet, sizeof packet, now_ns())) != 0) {
        if (write(tun, packet, length) < 0 && errno != EAGAIN) {
            fail("sending");
        }
    }
    const uint64_t deadline_ns = sockets_deadline(host), present_ns = now_ns();
    const uint64_t left_ms = deadline_ns <= present_ns ? 0 : (deadline_ns - present_ns) / 1000000;
    struct pollfd wait = {.fd = tun, .events = POLLIN};
    poll(&wait, 1, left_ms < 1000 ? (int)left_ms + 1 : 1000);
    sockets_expire(host, now_ns());
    ssize_t came;
    while ((came = read(tun, packet, sizeof packet)) > 0) {
        sockets_packet_in(host, packet, (size_t)came, now_ns());
    }
}

/* Lets time pass until a socket is ready for something. */
static void wait_for(int socket, short events) {
    struct pollfd asked = {.fd = socket, .events = events};
    while (sockets_poll(host, &asked, 1, 0) == 0) {
        turn();
    }
}

int main(int count, char **arguments) {
    if (count != 6) {
        fputs("fetch DEVICE ADDRESS PEER PORT PATH\n", stderr);
        return 2;
    }
    uint8_t secret[16];
    struct sockaddr_in peer = {.sin_family = AF_INET};
    peer.sin_port = htons((uint16_t)atoi(arguments[4]));
    if (getrandom(secret, sizeof secret, 0) != sizeof secret ||
        inet_pton(AF_INET, arguments[3], &peer.sin_addr) != 1 ||
        (host = sockets_start(arguments[2], MTU, secret)) == NULL) {
        fail("starting");
    }
    tun = open_tun(arguments[1]);
    sockets_expire(host, now_ns());

    const int socket = sockets_socket(host, AF_INET, SOCK_STREAM, 0);
    int error = 0;
    socklen_t size = sizeof error;
    sockets_connect(host, socket, (const struct sockaddr *)&peer, sizeof peer);
    wait_for(socket, POLLOUT);
    sockets_getsockopt(host, socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
        errno = error;
        fail("connecting");
    }

    char data[4096];
    const int length = snprintf(data, sizeof data, "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n",
                                arguments[5], arguments[3]);
    if (sockets_write(host, socket, data, (size_t)length) != length) {
        fail("asking");
    }
    for (ssize_t came = 1; came != 0;) {
        wait_for(socket, POLLIN);
        came = sockets_read(host, socket, data, sizeof data);
        if (came < 0) {
            fail("reading");
        }
        fwrite(data, 1, (size_t)came, stdout);
    }
    sockets_close(host, socket);
    turn(); /* our end goes out, too */
    sockets_stop(host);
    return 0;
}
