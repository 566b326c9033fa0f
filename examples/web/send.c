/* Sends a file to whoever listens: send DEVICE ADDRESS ADDRESS6 FILE PEER PORT */
#define _GNU_SOURCE
#include "host.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned port; /* 0: of IPv4, 1: of IPv6 */
static uint32_t session;
static FILE *file;
static size_t credit; /* bytes that the stack takes now */
static bool shut;     /* it has the whole file */
static bool closed;
static unsigned reason; /* why */

void hear(const struct web_output *output) {
    if (output->next == WEB_GRANT_SENDS) {
        credit += port == 0 ? output->with.streams_grant_sends.bytes
                            : output->with.streams6_grant_sends.bytes;
    } else if (output->next == WEB_CLOSED) {
        closed = true;
        reason = port == 0 ? output->with.streams_closed.reason
                           : output->with.streams6_closed.reason;
    }
}

static bool give(const uint8_t *data, size_t length) {
    const enum web_send outcome =
        port == 0 ? web_streams_send(stack, session, NULL, data, length, now_ns())
                  : web_streams6_send(stack, session, NULL, data, length, now_ns());
    credit -= outcome == WEB_SENT ? length : 0;
    drain();
    return outcome == WEB_SENT;
}

bool serve(void) {
    static uint8_t block[WINDOW];
    static size_t length, at; /* what was read, and how much of it the stack has */
    while (credit > 0 && !shut) {
        if (at == length) {
            length = fread(block, 1, sizeof block, file);
            at = 0;
        }
        const size_t most = length - at < credit ? length - at : credit;
        if (most == 0) {
            shut = true;
            (port == 0 ? web_streams_shutdown : web_streams6_shutdown)(stack, session, now_ns());
            drain();
        } else {
            if (!give(block + at, most)) {
                break;
            }
            at += most;
        }
    }
    return !closed;
}

/* Calls the peer; says why not. */
static bool call(const char *peer, const char *peer_port) {
    const uint16_t there = (uint16_t)atoi(peer_port);
    struct in_addr four;
    struct web_streams6_keys keys6 = {.peer_port = there};
    port = strchr(peer, ':') != NULL;
    if (port == 1 && inet_pton(AF_INET6, peer, keys6.peer.at) == 1) {
        session = web_streams6_open(stack, &keys6, now_ns());
    } else if (port == 0 && inet_pton(AF_INET, peer, &four) == 1) {
        const struct web_streams_keys keys = {.peer = ntohl(four.s_addr), .peer_port = there};
        session = web_streams_open(stack, &keys, now_ns());
    } else {
        fprintf(stderr, "%s is no address\n", peer);
        return false;
    }
    if (session == UINT32_MAX) {
        fprintf(stderr, "%s %s cannot be called\n", peer, peer_port);
        return false;
    }
    drain();
    return true;
}

int main(int count, char **arguments) {
    if (count != 7) {
        fputs("usage: send DEVICE ADDRESS ADDRESS6 FILE PEER PORT\n", stderr);
        return 2;
    }
    file = fopen(arguments[4], "rb");
    if (file == NULL) {
        perror(arguments[4]);
        return 2;
    }
    if (!start(arguments[1], arguments[2], arguments[3])) {
        return 2;
    }
    if (!call(arguments[5], arguments[6])) {
        return 2;
    }
    run();
    static const char *const reasons[] = {"finished", "reset", "refused", "timeout", "in use"};
    if (reason != WEB_REASON_FINISHED) {
        fprintf(stderr, "the connection has ended: %s\n", reasons[reason]);
    }
    return closed && reason == WEB_REASON_FINISHED ? 0 : 1;
}
