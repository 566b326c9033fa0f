/* Two hosts with sockets in one program, on a wire in virtual time. */
#ifndef WIRE_H
#define WIRE_H

#include "check.h"
#include "sockets.h"

#include <stdbool.h>

/* What has to fail, and why. */
#define FAILS(call, why)                                                                           \
    do {                                                                                           \
        errno = 0;                                                                                 \
        CHECK((call) == -1 && errno == (why));                                                     \
    } while (0)

enum { HERE, THERE };

static const uint64_t MILLISECOND = 1000000, SECOND = 1000000000;

extern struct sockets *host[2]; /* 10.0.0.1 and 10.0.0.2 */
extern uint64_t now_ns;
extern unsigned lost;    /* of a thousand packets */
extern unsigned carried; /* packets, since the hosts were started */
extern bool (*stops)(const uint8_t *packet, size_t length); /* packets that do not get through */

/* Starts both, on a wire that carries so much. */
void begin(unsigned mtu);

/* Sees that nothing is left to be done, and stops both. */
void end(void);

/* Lets so much time pass. */
void pass(uint64_t time_ns);

/* A packet of neither comes to a host. */
void inject(int to, const uint8_t *packet, size_t length);

/* A number that hangs on the seed. */
uint32_t number(void);

/* The address of a host. */
struct sockaddr_in at(int which, uint16_t port);

/* A socket that listens. */
int listening(int which, uint16_t port, int backlog);

/* A socket that calls the other host. */
int calling(int which, uint16_t port);

/* Two ends of a connection: of HERE, which called, and of THERE. */
void connected(int ends[2]);

/* What poll says of a socket now. */
short polled(int which, int fd, short events);

/* The error that waits. */
int error_of(int which, int fd);

/* Writes all of a text, and reads exactly a text. */
void says(int which, int fd, const char *text);
void hears(int which, int fd, const char *text);

#endif
