/*
 * client.h: the interface between the scripted client of `loom bench traffic` and a system under
 * test (sut). A driver implements the functions sut_...; client.c calls them. Each driver serves
 * one application, which the client configures: a sink, a server that answers requests, or a
 * sender of bulk data. All addresses are fixed: the system under test is 10.0.0.2, port 5001.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUT = 0x0a000002,    /* 10.0.0.2 */
    CLIENT = 0x0a000001, /* 10.0.0.1 */
    PORT = 5001,         /* on which the system under test listens */
    FIRST_PORT = 10000,  /* the client's; connection N has N more */
    CONNECTIONS = 1100,  /* the client's ports are used in turn */
    SEGMENT = 1460,      /* bytes of text in a whole segment */
    PERIOD = 1 << 16,    /* the text repeats itself after so many bytes */
};

/* The application of the system under test. */
struct application {
    uint32_t request; /* bytes of a request; 0: a sink, which answers nothing */
    uint32_t reply;   /* bytes of the answer to one: the first of the text */
    bool closes;      /* the server closes the connection behind an answer */
};

/* The state of that application for one connection; a driver has one for each. */
struct conversation {
    uint32_t position; /* bytes received; with VERIFY alone */
    uint32_t have;     /* bytes of the request that arrives */
    uint32_t owed;     /* bytes of answers that wait for room */
    uint32_t credit;   /* bytes that the stack takes, where it says so */
    bool closing;      /* the application has closed it */
};

extern struct application application;
extern uint64_t now_ns;             /* the time; it moves by 10 us with each frame */
extern uint32_t received;           /* bytes that the application was given */
extern uint8_t text[2 * PERIOD];    /* all that either side sends */

/* Starts the stack and listens; so many connections will be open at a time. */
void sut_start(uint32_t connections);
/* Copies a frame into memory of the driver: that is the wire, and is not counted. */
void sut_place(const uint8_t *frame, size_t length);
/* Hands that frame to the stack and does all that follows of it. This is counted. */
void sut_input(void);
/* Handles timers that have expired by now_ns; not counted. */
void sut_expire(void);
/* Makes the application of the first connection send all it can, now and whenever there is room:
 * whole segments, each the first SEGMENT bytes of the text. */
void sut_say(void);
/* Prints what the stack counts itself, if anything. */
void sut_tell(void);

/* Called by a driver with each frame that leaves. `bench_wire` and what it calls is not counted;
 * `wire` is the same for a driver's own functions whose names end so. */
void bench_wire(const uint8_t *frame, size_t length);
void wire(const uint8_t *frame, size_t length);
/* The same for a part of a frame; behind the last the frame has left. */
void wire_part(const uint8_t *part, size_t length, bool is_last);

/* Called by a driver when something cannot go on. */
static inline void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

/* Hands bytes that arrived to the application. Returns true if they complete a request; the
 * application then owes its answer. */
static inline bool takes(struct conversation *own, const uint8_t *data, uint32_t length) {
#ifdef VERIFY
    for (uint32_t at = 0; at < length; at += 1) {
        if (data[at] != text[(own->position + at) % PERIOD]) {
            fail("the application is given wrong text");
        }
    }
    own->position += length;
#else
    (void)data;
#endif
    received += length;
    if (application.request == 0) {
        return false;
    }
    own->have += length;
    if (own->have < application.request) {
        return false;
    }
    own->have -= application.request;
    own->owed += application.reply;
    return true;
}

/* Returns the next bytes of the answer that the application owes. */
static inline const uint8_t *rest_of(const struct conversation *own) {
    return text + application.reply - own->owed;
}

#endif
