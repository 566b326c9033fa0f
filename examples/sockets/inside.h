/* What the files of the sockets share: a host, and its sockets. */
#ifndef INSIDE_H
#define INSIDE_H

#include "internet.h"
#include "sockets.h"

#include <errno.h>
#include <stdbool.h>

enum {
    SESSIONS = 512,    /* as internet.loom has it: connections, but those in TIME-WAIT */
    TIME_WAITS = 1024, /* the same: those */
    LISTENERS = 64,    /* the same */
    LIFETIME = 64,  /* hops of a packet, as the stack has it */
    SOCKETS = 512,  /* at a time */
    BUFFERS = 512,  /* messages of the stack at a time */
    WINDOW = 65535, /* what a stack holds for a connection, each way */
    SEGMENT = 8960, /* the most bytes of one packet, as internet.loom has it */
};

/* The longest time of a segment on its way, `lifetime` of internet.loom. */
#define LONGEST_NS (30 * UINT64_C(1000000000))

/* How far a socket has come. */
enum state {
    UNUSED,
    CREATED, /* it may be bound */
    LISTENING,
    CONNECTING,
    CONNECTED,
    OVER, /* its session has ended; what came can still be read */
};

/* What setsockopt has set. */
struct options {
    struct linger linger;
    int maximum_segment; /* 0: as the link has it */
    int receive_buffer;
    int send_buffer;
    bool no_delay;
    bool reuse_address;
    int user_timeout_ms; /* 0: as the stack has it */
    int lifetime;        /* of packets, in hops */
    int service;         /* the type of service, but for what marks congestion */
};

/* How the packets of a connection go out, once a socket has asked for it. */
struct mark {
    uint32_t peer;
    uint16_t port; /* 0: the mark is nobody's */
    uint16_t peer_port;
    uint8_t lifetime;
    uint8_t service;
};

/* A port on which a connection is in TIME-WAIT, and until when. */
struct rest {
    uint16_t port;
    uint64_t until_ns;
};

/* A socket. One that waits to be accepted has its number already, and nobody knows it. */
struct socket {
    enum state state;
    struct options options;
    int error;       /* what SO_ERROR says next */
    int unreachable; /* what a router said of its peer */
    uint16_t port;   /* in the order of the machine, as all numbers of a stack; 0: none */
    bool bound;      /* whether the port was asked for */
    bool known;      /* whether an application has its number */
    bool finished;   /* the peer sends no more */
    bool read_shut;  /* nor would anybody read it */
    bool write_shut; /* nor do we send */
    uint32_t number; /* of the session, or of the listener */
    uint32_t peer;
    uint16_t peer_port;
    int segment; /* the longest that goes out now, when it was last asked for */
    int backlog;
    int waiting;         /* of a listener: how many are to be accepted */
    struct socket *next; /* the first of these, or the next after this one */
    uint32_t credit;     /* bytes that the stack still takes */
    uint32_t begin;      /* where the oldest byte that came stands in `came` */
    uint32_t length;     /* how many there are */
    uint8_t came[WINDOW];
};

/* A host. */
struct sockets {
    struct internet *stack;
    uint64_t now_ns;
    uint32_t address;
    unsigned mtu;
    uint16_t last_port; /* that was bound to without being asked for */
    uint32_t first;     /* of the packets that are to go out */
    uint32_t count;     /* how many there are */
    struct internet_output packets[BUFFERS]; /* each has a buffer of its own, so they all fit */
    struct mark marks[SESSIONS];             /* by session: a closed one keeps its own */
    bool marked;                             /* whether there was ever one */
    struct socket *sessions[SESSIONS];       /* whose they are; NULL: nobody's any more */
    uint16_t closing[SESSIONS];              /* the port of each that we closed first; 0: of none */
    struct rest rests[TIME_WAITS];           /* the newest over the oldest */
    uint32_t rested;                         /* how many there have been */
    struct socket *listeners[LISTENERS];
    struct socket all[SOCKETS];
};

/* Does what the stack wants done, until it wants no more. It follows each call of the stack: one
 * that has not finished yet takes no packet. */
void sockets_settle(struct sockets *sockets);

/* A socket that nobody uses; NULL if there is none. */
struct socket *sockets_new(struct sockets *sockets);

/* The socket with a number; NULL and errno EBADF if there is none. */
struct socket *sockets_find(struct sockets *sockets, int fd);

/* Tells a connection that has just begun what options the socket has. */
void sockets_tell_options(struct sockets *sockets, const struct socket *socket);

/* Says how the packets of a connection go out from now on. */
void sockets_mark(struct sockets *sockets, const struct socket *socket);

/* Writes what its connection has asked for into a packet that goes out. */
void sockets_mark_packet(const struct sockets *sockets, uint8_t *ip, size_t length);

/* -1, and why. */
static inline int fails(int error) {
    errno = error;
    return -1;
}

/* Whether an address may be that of one host beyond the link. */
static inline bool is_host(uint32_t address) {
    return address != 0 && address >> 24 != 127 && address >> 28 < 14;
}

/* Whether the stack has a session of a socket. */
static inline bool has_session(const struct socket *socket) {
    return socket->state == CONNECTING || socket->state == CONNECTED;
}

/* The error that waits, and no longer does. */
static inline int take_error(struct socket *socket) {
    const int error = socket->error;
    socket->error = 0;
    return error;
}

#endif
