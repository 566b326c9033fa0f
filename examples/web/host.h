/* What web and send share: the stack of web.loom on a TAP device, and the loop around it. */
#ifndef HOST_H
#define HOST_H

#include "build/web.h"

enum {
    SESSIONS = 256, /* of each port, as web.loom says */
    WINDOW = 65535, /* bytes that a peer may send before it is granted more */
};

extern struct web *stack;

/* Starts the stack on a TAP device, or on standard input if it is called `-`; says why not. */
bool start(const char *device, const char *address, const char *address6);

/* Does what the stack wants done, until it wants no more: called after each call of the stack. */
void drain(void);

/* Nanoseconds of a clock that does not go backwards. */
uint64_t now_ns(void);

/* Lets frames in and out, until `serve` has nothing left to do or somebody sends a signal; then
 * prints what was counted. */
void run(void);

/* A program has these two. What the stack has for a port is heard while it is busy: it is only
 * noted down. What there is to do about it is done when the stack is at rest; false: it is over. */
void hear(const struct web_output *output);
bool serve(void);

#endif
