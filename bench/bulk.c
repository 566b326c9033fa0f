/*
 * One end of a connection through a TUN, whose other end is the kernel's: what `loom bench bulk`
 * runs of a stack that Loom made. In: its C, compiled as bulk_stack, and with VIRTIO where the
 * device sums, cuts and joins segments; and who sends, the name of the device, and how many bytes.
 * Out: 0 if all of them went, or came as they should.
 *
 * The kernel calls 10.78.0.2, port 5001. Who sends says the bytes of `pattern` again and again.
 */
#define _GNU_SOURCE
#include "bulk_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
    ADDRESS = 0x0a4e0002,
    PORT = 5001,
    PERIOD = 65521, /* a prime, so that whoever loses a segment sees other bytes */
    LONGEST = 65535,
    BATCH = 16,     /* frames that are read before anything else is done */
    SPINS = 2000,   /* times that the device is asked before we sleep */
};

static int device;
static struct bulk_stack *stack;
static uint8_t pattern[PERIOD + LONGEST];

static bool sends;
static bool accepted, shut, closed;
static bool wrong;       /* other bytes came, or the connection ended badly */
static uint32_t session;
static uint64_t total, moved; /* bytes: of all, and those that went or came by now */
static uint32_t credit;  /* bytes that the stack takes now */
static uint32_t unread;  /* bytes that were delivered, and are not granted again */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The descriptor by which a TUN gives one datagram, or takes one, at a time. */
static int opened(const char *name) {
    const int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
#ifdef VIRTIO
    request.ifr_flags |= IFF_VNET_HDR;
#endif
    if (tun < 0 || ioctl(tun, TUNSETIFF, &request) != 0) {
        return -1;
    }
#ifdef VIRTIO
    const int little = 1, size = sizeof(struct virtio_net_hdr);
    if (ioctl(tun, TUNSETVNETLE, &little) != 0 || ioctl(tun, TUNSETVNETHDRSZ, &size) != 0 ||
        ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0) {
        return -1;
    }
#endif
    return tun;
}

#ifdef VIRTIO
/* Writes what the link's sum goes on from: that of the addresses, the protocol and the length. */
static void begin_sum(uint8_t *frame, size_t length) {
    enum { HEADER = sizeof(struct virtio_net_hdr), IP = 20, SUM = 16, TCP = 6 };
    if ((frame[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0) {
        return;
    }
    const uint8_t *const addresses = frame + HEADER + 12;
    uint32_t sum = (uint32_t)(TCP + length - HEADER - IP);
    for (unsigned at = 0; at < 8; at += 2) {
        sum += (uint32_t)addresses[at] << 8 | addresses[at + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    frame[HEADER + IP + SUM] = (uint8_t)(sum >> 8);
    frame[HEADER + IP + SUM + 1] = (uint8_t)sum;
}
#endif

static void hear(const struct bulk_stack_output *output) {
    switch (output->next) {
    case BULK_STACK_FRAME:
#ifdef VIRTIO
        begin_sum((uint8_t *)output->data, output->length);
#endif
        /* What the device does not take is lost, as frames may be. */
        if (write(device, output->data, output->length) < 0 && errno != EAGAIN) {
            perror("write");
        }
        break;
    case BULK_STACK_DELIVER:
        if (memcmp(output->data, pattern + moved % PERIOD, output->length) != 0) {
            wrong = true;
        }
        moved += output->length;
        unread += (uint32_t)output->length;
        break;
    case BULK_STACK_ACCEPTED:
        accepted = true;
        session = output->session;
        break;
    case BULK_STACK_GRANT_SENDS:
        credit += output->with.streams_grant_sends.bytes;
        break;
    case BULK_STACK_CLOSED:
        closed = true;
        wrong |= output->with.streams_closed.reason != BULK_STACK_REASON_FINISHED;
        break;
    case BULK_STACK_IDLE:
    case BULK_STACK_OPENED:
    case BULK_STACK_MEASURED:
    case BULK_STACK_URGENT:
    case BULK_STACK_UNREACHABLE:
    case BULK_STACK_FINISHED:
        break;
    }
}

static void drain(void) {
    struct bulk_stack_output output;
    while (bulk_stack_next(stack, &output) != BULK_STACK_IDLE) {
        hear(&output);
        bulk_stack_done(stack, &output);
    }
}

/* What the application does whenever something may have changed. */
static void serve(uint64_t present_ns) {
    if (unread > 0) {
        const uint32_t bytes = unread;
        unread = 0;
        bulk_stack_streams_grant_delivers(stack, session, bytes, present_ns);
        drain();
    }
    while (sends && credit > 0 && moved < total) {
        const uint64_t left = total - moved;
        const uint32_t length = left < credit ? (uint32_t)left : credit;
        if (bulk_stack_streams_send(stack, session, NULL, pattern + moved % PERIOD, length,
                                    present_ns) != BULK_STACK_SENT) {
            break;
        }
        moved += length;
        credit -= length;
        drain();
    }
    if (accepted && moved >= total && !shut) {
        shut = true;
        bulk_stack_streams_shutdown(stack, session, present_ns);
        drain();
    }
}

/* A frame goes from the device into a buffer of the stack; false if there is none. */
static bool receive(uint64_t present_ns) {
    static struct bulk_stack_frame frame;
    static size_t room;
    if (frame.data == NULL && (frame.data = bulk_stack_buffer(stack, &room)) == NULL) {
        return false;
    }
    if (frame.length == 0) {
        const ssize_t length = read(device, frame.data, room);
        if (length <= 0) {
            return false;
        }
        frame.length = (size_t)length;
    }
    if (bulk_stack_input(stack, 0, &frame, 1, present_ns) == 1) {
        frame = (struct bulk_stack_frame){0};
    }
    drain();
    return true;
}

/* Asks the device again and again for a while, then sleeps; never longer than 100 ms. */
static void run(void) {
    struct pollfd wait = {.fd = device, .events = POLLIN};
    for (unsigned idle = 0; !closed && !wrong; idle += 1) {
        uint64_t present_ns = now_ns();
        for (unsigned frames = 0; frames < BATCH && receive(present_ns); frames += 1) {
            idle = 0;
        }
        serve(present_ns);
        if (bulk_stack_deadline(stack) <= present_ns) {
            bulk_stack_expire(stack, present_ns);
            drain();
        }
        if (idle >= SPINS) {
            poll(&wait, 1, bulk_stack_deadline(stack) - present_ns < 100000000 ? 1 : 100);
        }
    }
}

int main(int count, char **words) {
    if (count != 4 || (strcmp(words[1], "send") != 0 && strcmp(words[1], "receive") != 0)) {
        fprintf(stderr, "usage: %s send|receive DEVICE BYTES\n", words[0]);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive who started it */
    alarm(60);
    sends = words[1][0] == 's';
    total = strtoull(words[3], NULL, 10);
    for (uint32_t at = 0; at < sizeof pattern; at += 1) {
        pattern[at] = (uint8_t)(at % PERIOD * 2654435761u >> 13);
    }
    struct bulk_stack_config config;
    bulk_stack_config_default(&config);
    config.address = ADDRESS;
    if (getrandom(config.secret.at, sizeof config.secret.at, 0) < 0 ||
        getrandom(&config.hash_seed, sizeof config.hash_seed, 0) < 0) {
        perror("getrandom");
        return 2;
    }
    const size_t size = bulk_stack_size(&config);
    stack = bulk_stack_start(malloc(size), size, &config, now_ns());
    device = opened(words[2]);
    if (stack == NULL || device < 0) {
        perror(words[2]);
        return 2;
    }
    drain();
    const struct bulk_stack_streams_listener_keys here = {.port = PORT};
    bulk_stack_streams_listen(stack, &here, 1, now_ns());
    drain();
    run();
    if (wrong || moved != total) {
        fprintf(stderr, "%llu of %llu bytes, and not as they should be\n",
                (unsigned long long)moved, (unsigned long long)total);
        return 1;
    }
    return 0;
}
