/* The stack on a TAP device: frames come in and go out, and time passes. */
#define _GNU_SOURCE
#include "host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct web *stack;

static int device;
static volatile sig_atomic_t stopped;

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void stop(int signal) {
    (void)signal;
    stopped = 1;
}

/* The descriptor by which a TAP device gives one frame, or takes one, at a time. */
static int opened(const char *name) {
    const int tap = open("/dev/net/tun", O_RDWR);
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    return tap >= 0 && ioctl(tap, TUNSETIFF, &request) == 0 ? tap : -1;
}

bool start(const char *name, const char *address, const char *address6) {
    device = strcmp(name, "-") == 0 ? STDIN_FILENO : opened(name);
    if (device < 0) {
        perror(name);
        return false;
    }
    fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK);

    struct web_config config;
    web_config_default(&config);
    config.mac = 0x020000000002;
    config.prefix = 24;
    struct in_addr four;
    if (inet_pton(AF_INET, address, &four) != 1 ||
        inet_pton(AF_INET6, address6, config.address6.at) != 1) {
        fprintf(stderr, "an address of IPv4 and one of IPv6, not %s %s\n", address, address6);
        return false;
    }
    config.address = ntohl(four.s_addr);
    if (getrandom(config.secret.at, sizeof config.secret.at, 0) < 0 ||
        getrandom(&config.hash_seed, sizeof config.hash_seed, 0) < 0) {
        perror("getrandom");
        return false;
    }
    const size_t size = web_size(&config);
    stack = web_start(malloc(size), size, &config, now_ns());
    if (stack == NULL) {
        fputs("no memory, or no stack with such addresses\n", stderr);
        return false;
    }
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    drain();
    return true;
}

void drain(void) {
    struct web_output output;
    do {
        while (web_next(stack, &output) != WEB_IDLE) {
            if (output.next != WEB_FRAME) {
                hear(&output);
            } else if (write(device, output.data, output.length) < 0) {
                /* what a link does not take is lost, as frames may be */
            }
            web_done(stack, &output);
        }
        const uint64_t present_ns = now_ns();
        if (web_deadline(stack) > present_ns) {
            return;
        }
        web_expire(stack, present_ns);
    } while (true);
}

/* A frame goes from the device into a buffer of the stack, and waits there until it is taken.
 * False if there is none, or nowhere to put it. */
static bool receive(void) {
    static struct web_frame frame;
    static size_t room;
    if (frame.data == NULL && (frame.data = web_buffer(stack, &room)) == NULL) {
        return false;
    }
    if (frame.length == 0) {
        const ssize_t length = read(device, frame.data, room);
        if (length <= 0) {
            return false;
        }
        frame.length = (size_t)length;
    }
    if (web_input(stack, 0, &frame, 1, now_ns()) == 1) {
        frame = (struct web_frame){0};
    }
    drain();
    return true;
}

/* Until when to sleep, in milliseconds; never longer than a second. */
static int patience(void) {
    const uint64_t deadline_ns = web_deadline(stack), present_ns = now_ns();
    if (deadline_ns <= present_ns) {
        return 0;
    }
    const uint64_t left_ms = (deadline_ns - present_ns) / 1000000 + 1;
    return left_ms < 1000 ? (int)left_ms : 1000;
}

void run(void) {
    struct pollfd wait = {.fd = device, .events = POLLIN};
    while (serve() && !stopped && (wait.revents & POLLERR) == 0) { /* or the device is gone */
        poll(&wait, 1, patience());
        for (int frames = 0; frames < 64 && receive(); frames += 1) {
        }
        drain();
    }
    uint64_t values[WEB_COUNTERS];
    web_counters(stack, values, WEB_COUNTERS);
    for (size_t at = 0; at < WEB_COUNTERS; at += 1) {
        if (values[at] != 0) {
            printf("%s %llu\n", web_counter_name[at], (unsigned long long)values[at]);
        }
    }
}
