/* A host: its stack, packets in and out, time, and what the stack says of sockets. */
#include "inside.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An address of a host, and how many of its bits name the network. */
static bool read_host(const char *text, uint32_t *address, uint8_t *prefix) {
    char host[INET_ADDRSTRLEN];
    const size_t length = strcspn(text, "/");
    struct in_addr read;
    if (length >= sizeof host) {
        return false;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    *prefix = 32;
    if (text[length] == '/') {
        char *end;
        const unsigned long bits = strtoul(text + length + 1, &end, 10);
        if (text[length + 1] < '0' || text[length + 1] > '9' || *end != '\0' || bits > 32) {
            return false;
        }
        *prefix = (uint8_t)bits;
    }
    if (inet_pton(AF_INET, host, &read) != 1) {
        return false;
    }
    *address = ntohl(read.s_addr);
    return is_host(*address);
}

struct sockets *sockets_start(const char *ipv4, unsigned mtu, const uint8_t secret[16]) {
    struct internet_config config;
    internet_config_default(&config);
    config.mtu = mtu;
    config.buffers = BUFFERS;
    if (ipv4 == NULL || secret == NULL || mtu < 68 || mtu > 65535 ||
        !read_host(ipv4, &config.address, &config.prefix)) {
        errno = EINVAL;
        return NULL;
    }
    memcpy(config.secret.at, secret, sizeof config.secret.at);
    memcpy(&config.hash_seed, secret, sizeof config.hash_seed);
    const size_t size = internet_size(&config);
    struct sockets *const sockets = calloc(1, sizeof *sockets + size);
    if (sockets == NULL) {
        return NULL; /* calloc says ENOMEM */
    }
    sockets->stack = internet_start(sockets + 1, size, &config, 0);
    if (sockets->stack == NULL) {
        free(sockets);
        errno = EINVAL;
        return NULL;
    }
    sockets->address = config.address;
    sockets->mtu = mtu;
    sockets->last_port = (uint16_t)config.hash_seed;
    sockets_settle(sockets);
    return sockets;
}

void sockets_stop(struct sockets *sockets) {
    free(sockets);
}

/* Whether a packet asks for a connection at a listener where enough wait to be accepted: it is
 * lost, and comes again. */
static bool comes_too_early(const struct sockets *sockets, const uint8_t *packet, size_t length) {
    const size_t header = length < 20 ? 20 : (packet[0] & 15) * 4u;
    if (length < header + 20 || packet[9] != IPPROTO_TCP) {
        return false;
    }
    const uint8_t *const segment = packet + header;
    const bool asks = (segment[13] & 0x12) == 0x02; /* SYN, and not ACK */
    for (size_t at = 0; asks && at < SOCKETS; at += 1) {
        const struct socket *const socket = &sockets->all[at];
        if (socket->state == LISTENING && socket->port == (segment[2] << 8 | segment[3])) {
            return socket->waiting >= socket->backlog;
        }
    }
    return false;
}

static void tell_time(struct sockets *sockets, uint64_t now_ns) {
    if (sockets->now_ns < now_ns) {
        sockets->now_ns = now_ns;
    }
}

void sockets_packet_in(struct sockets *sockets, const void *ip, size_t length, uint64_t now_ns) {
    tell_time(sockets, now_ns);
    if (length <= sockets->mtu && !comes_too_early(sockets, ip, length)) {
        size_t room;
        const struct internet_frame frame = {internet_buffer(sockets->stack, &room), length};
        if (frame.data != NULL) {
            memcpy(frame.data, ip, length);
            const size_t taken = internet_input(sockets->stack, 0, &frame, 1, sockets->now_ns);
            assert(taken == 1); /* nothing waits, for the stack is settled after each call */
            (void)taken;
        }
    }
    sockets_settle(sockets);
}

size_t sockets_packet_out(struct sockets *sockets, void *ip, size_t capacity, uint64_t now_ns) {
    sockets_expire(sockets, now_ns);
    while (sockets->count != 0) {
        const struct internet_output packet = sockets->packets[sockets->first];
        sockets->first = (sockets->first + 1) % BUFFERS;
        sockets->count -= 1;
        const bool fits = packet.length <= capacity;
        if (fits) {
            memcpy(ip, packet.data, packet.length);
            sockets_mark_packet(sockets, ip, packet.length);
        }
        internet_done(sockets->stack, &packet);
        if (fits) {
            return packet.length;
        }
    }
    return 0;
}

uint64_t sockets_deadline(const struct sockets *sockets) {
    return internet_deadline(sockets->stack);
}

void sockets_expire(struct sockets *sockets, uint64_t now_ns) {
    tell_time(sockets, now_ns);
    sockets_settle(sockets);
}

/* A listener has made a connection. */
static void called(struct sockets *sockets, const struct internet_output *output) {
    const struct internet_streams_accepted *const call = &output->with.streams_accepted;
    const bool is_heard = call->listener != UINT32_MAX;
    struct socket *const listener = is_heard ? sockets->listeners[call->listener] : NULL;
    struct socket *const socket = listener != NULL ? sockets_new(sockets) : NULL;
    if (socket == NULL) {
        internet_streams_abort(sockets->stack, output->session, sockets->now_ns);
        return;
    }
    socket->state = CONNECTED;
    socket->options = listener->options;
    socket->number = output->session;
    socket->port = call->keys.port;
    socket->peer = call->keys.peer;
    socket->peer_port = call->keys.peer_port;
    sockets->sessions[output->session] = socket;
    sockets_mark(sockets, socket);
    struct socket **last = &listener->next;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = socket;
    listener->waiting += 1;
}

/* What came is kept until it is read. The stack brings no more than was granted, so it fits. */
static void received(struct socket *socket, const uint8_t *data, uint32_t length) {
    assert(socket->length + length <= WINDOW);
    const uint32_t end = (socket->begin + socket->length) % WINDOW;
    const uint32_t before = length < WINDOW - end ? length : WINDOW - end;
    memcpy(socket->came + end, data, before);
    memcpy(socket->came, data + before, length - before);
    socket->length += length;
}

/* A connection is over, or was never made; and the error with which it ended, or 0. */
static void ended(struct sockets *sockets, struct socket *socket, int error) {
    sockets->sessions[socket->number] = NULL;
    socket->error = error;
    if (socket->state == CONNECTED) {
        socket->state = OVER;
    } else {
        socket->state = CREATED; /* and may try again */
        socket->port = socket->bound ? socket->port : 0;
    }
}

static int error_of(const struct socket *socket, enum internet_reason reason) {
    switch (reason) {
    case INTERNET_REASON_FINISHED:
        break;
    case INTERNET_REASON_RESET:
        return ECONNRESET;
    case INTERNET_REASON_REFUSED:
        return ECONNREFUSED;
    case INTERNET_REASON_TIMEOUT:
        return socket->unreachable != 0 ? socket->unreachable : ETIMEDOUT;
    case INTERNET_REASON_IN_USE:
        return EADDRNOTAVAIL;
    }
    return 0;
}

/* A router, or the peer's host, says that a packet did not arrive. A connection and a call both go
 * on if a router says so (RFC 9293, section 3.9.2.2: codes 0, 1 and 5 are no reason to abort); the
 * peer's own refusal ends a call. The report quotes what is in flight, as the stack has checked. */
static void lost(struct sockets *sockets, struct socket *socket, bool refused) {
    socket->unreachable = refused ? ECONNREFUSED : EHOSTUNREACH;
    if (refused && socket->state == CONNECTING) {
        internet_streams_abort(sockets->stack, socket->number, sockets->now_ns);
        ended(sockets, socket, socket->unreachable);
    }
}

/* A session has ended. If we closed first, its port is in TIME-WAIT, of which the stack says no
 * more. */
static void rests(struct sockets *sockets, const struct internet_output *output) {
    uint16_t *const port = &sockets->closing[output->session];
    if (*port != 0 && output->with.streams_closed.reason == INTERNET_REASON_FINISHED) {
        sockets->rests[sockets->rested % TIME_WAITS] =
            (struct rest){*port, sockets->now_ns + 2 * LONGEST_NS};
        sockets->rested += 1;
    }
    *port = 0;
}

/* What is said of a connection that somebody still has. */
static void hear(struct sockets *sockets, struct socket *socket,
                 const struct internet_output *output) {
    switch (output->next) {
    case INTERNET_DELIVER:
        received(socket, output->data, (uint32_t)output->length);
        break;
    case INTERNET_OPENED:
        socket->state = CONNECTED;
        break;
    case INTERNET_GRANT_SENDS:
        socket->unreachable = 0; /* for something has arrived */
        socket->credit += output->with.streams_grant_sends.bytes;
        break;
    case INTERNET_FINISHED:
        socket->finished = true;
        break;
    case INTERNET_CLOSED:
        ended(sockets, socket, error_of(socket, output->with.streams_closed.reason));
        break;
    case INTERNET_UNREACHABLE:
        lost(sockets, socket, output->with.streams_unreachable.refused);
        break;
    case INTERNET_MEASURED:
        socket->segment = output->with.streams_measured.bytes;
        break;
    case INTERNET_URGENT: /* it is read where it stands, as RFC 6093 has it */
    case INTERNET_ACCEPTED:
    case INTERNET_FRAME:
    case INTERNET_IDLE:
        break;
    }
}

/* A segment that is to go out; text: NULL, if it is no segment of TCP. */
struct segment {
    const uint8_t *ports;   /* of both ends; addresses stand before them */
    uint32_t acknowledges;
    bool is_bare;           /* an acknowledgement, and nothing else */
};

static uint32_t number_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static struct segment segment_of(const struct internet_output *packet) {
    const uint8_t *const ip = packet->data;
    struct segment segment = {NULL, 0, false};
    if (packet->length >= 40 && ip[0] == 0x45 && ip[9] == IPPROTO_TCP && (ip[33] & 0x10) != 0) {
        segment.ports = ip + 20;
        segment.acknowledges = number_at(ip + 28);
        segment.is_bare = packet->length == 40 && ip[33] == 0x10;
    }
    return segment;
}

/* A packet waits to go out. What came together is acknowledged together (RFC 9293, 3.10.7.4): an
 * acknowledgement that still waits goes if a newer one of its connection says more. One that says
 * the same again stays, for the peer counts those. */
static void queue(struct sockets *sockets, const struct internet_output *output) {
    const struct segment added = segment_of(output);
    for (uint32_t back = sockets->count; added.ports != NULL && back > 0; back -= 1) {
        struct internet_output *const waits =
            &sockets->packets[(sockets->first + back - 1) % BUFFERS];
        const struct segment before = segment_of(waits);
        if (before.ports == NULL || memcmp(before.ports - 8, added.ports - 8, 12) != 0) {
            continue;
        }
        if (before.is_bare && (int32_t)(added.acknowledges - before.acknowledges) > 0) {
            internet_done(sockets->stack, waits);
            for (uint32_t at = back; at < sockets->count; at += 1) {
                sockets->packets[(sockets->first + at - 1) % BUFFERS] =
                    sockets->packets[(sockets->first + at) % BUFFERS];
            }
            sockets->count -= 1;
        }
        break;
    }
    sockets->packets[(sockets->first + sockets->count) % BUFFERS] = *output;
    sockets->count += 1;
}

/* Does one thing that the stack wants done. */
static void attend(struct sockets *sockets, const struct internet_output *output) {
    if (output->next == INTERNET_FRAME) {
        queue(sockets, output);
        return; /* its buffer is given back when it has gone out */
    }
    if (output->next == INTERNET_ACCEPTED) {
        called(sockets, output);
    } else if (sockets->sessions[output->session] != NULL) {
        hear(sockets, sockets->sessions[output->session], output);
    }
    if (output->next == INTERNET_CLOSED) {
        rests(sockets, output);
    }
    internet_done(sockets->stack, output);
}

void sockets_settle(struct sockets *sockets) {
    for (;;) {
        struct internet_output output;
        while (internet_next(sockets->stack, &output) != INTERNET_IDLE) {
            attend(sockets, &output);
        }
        if (internet_deadline(sockets->stack) > sockets->now_ns) {
            return;
        }
        internet_expire(sockets->stack, sockets->now_ns);
    }
}
