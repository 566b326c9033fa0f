/* From a socket to its end: what names it, whom it calls, who calls it. */
#include "inside.h"

#include <arpa/inet.h>
#include <string.h>

enum { FIRST_FREE = 49152 }; /* from here on, ports belong to nobody: RFC 6335, section 6 */

struct socket *sockets_new(struct sockets *sockets) {
    for (size_t at = 0; at < SOCKETS; at += 1) {
        struct socket *const socket = &sockets->all[at];
        if (socket->state == UNUSED) {
            memset(socket, 0, offsetof(struct socket, came));
            socket->state = CREATED;
            socket->options.receive_buffer = WINDOW;
            socket->options.send_buffer = WINDOW;
            socket->options.lifetime = LIFETIME;
            return socket;
        }
    }
    return NULL;
}

struct socket *sockets_find(struct sockets *sockets, int fd) {
    if (sockets == NULL || fd < 0 || fd >= SOCKETS || !sockets->all[fd].known) {
        errno = EBADF;
        return NULL;
    }
    return &sockets->all[fd];
}

/* Its number is told. */
static int known(struct sockets *sockets, struct socket *socket) {
    socket->known = true;
    return (int)(socket - sockets->all);
}

int sockets_socket(struct sockets *sockets, int domain, int type, int protocol) {
    if (domain != AF_INET) {
        return fails(EAFNOSUPPORT);
    }
    const bool is_stream = (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM;
    if (!is_stream || (protocol != 0 && protocol != IPPROTO_TCP)) {
        return fails(EPROTONOSUPPORT);
    }
    struct socket *const socket = sockets_new(sockets);
    return socket != NULL ? known(sockets, socket) : fails(EMFILE);
}

/* Reads an address; 0, or what is wrong with it. */
static int read_address(const struct sockaddr *from, socklen_t length, uint32_t *host,
                        uint16_t *port) {
    struct sockaddr_in address;
    if (from == NULL) {
        return EFAULT;
    }
    if (length < sizeof address) {
        return EINVAL;
    }
    memcpy(&address, from, sizeof address);
    *host = ntohl(address.sin_addr.s_addr);
    *port = ntohs(address.sin_port);
    return address.sin_family == AF_INET ? 0 : EAFNOSUPPORT;
}

/* Gives an address to who asked for it, as far as there is room. */
static int give_address(uint32_t host, uint16_t port, struct sockaddr *to, socklen_t *length) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(host);
    if (to == NULL || length == NULL) {
        return fails(EFAULT);
    }
    memcpy(to, &address, *length < sizeof address ? *length : sizeof address);
    *length = sizeof address;
    return 0;
}

/* Whether a connection of the stack that no socket has any more is left on a port. */
static bool is_left_on(const struct sockets *sockets, uint16_t port) {
    for (uint32_t session = 0; session < SESSIONS; session += 1) {
        struct internet_streams_keys keys;
        if (sockets->sessions[session] == NULL &&
            internet_streams_keys_of(sockets->stack, session, &keys) && keys.port == port) {
            return true;
        }
    }
    for (size_t at = 0; at < TIME_WAITS; at += 1) {
        if (sockets->rests[at].port == port && sockets->rests[at].until_ns > sockets->now_ns) {
            return true;
        }
    }
    return false;
}

/* Notes that our side of a connection is closed, if it is the first. */
static void closes(struct sockets *sockets, const struct socket *socket) {
    if (!socket->finished) {
        sockets->closing[socket->number] = socket->port;
    }
}

/* Whether a socket may not have a port, because of others that have it. */
static bool is_taken(const struct sockets *sockets, const struct socket *socket, uint16_t port) {
    for (size_t at = 0; at < SOCKETS; at += 1) {
        const struct socket *const other = &sockets->all[at];
        const bool both = socket->options.reuse_address && other->options.reuse_address;
        if (other != socket && other->state != UNUSED && other->port == port &&
            (other->state == LISTENING || !both)) {
            return true;
        }
    }
    return !socket->options.reuse_address && is_left_on(sockets, port);
}

/* A port for who asked for none in particular; 0 if all are taken. */
static uint16_t free_port(struct sockets *sockets, const struct socket *socket) {
    for (uint32_t step = FIRST_FREE; step <= UINT16_MAX; step += 1) {
        sockets->last_port = (uint16_t)(FIRST_FREE | (sockets->last_port + 1));
        if (!is_taken(sockets, socket, sockets->last_port)) {
            return sockets->last_port;
        }
    }
    return 0;
}

int sockets_bind(struct sockets *sockets, int fd, const struct sockaddr *to, socklen_t length) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    uint32_t host;
    uint16_t port;
    const int wrong = read_address(to, length, &host, &port);
    if (wrong != 0) {
        return fails(wrong);
    }
    if (socket->state != CREATED || socket->bound) {
        return fails(EINVAL);
    }
    if (host != INADDR_ANY && host != sockets->address) {
        return fails(EADDRNOTAVAIL);
    }
    port = port != 0 ? port : free_port(sockets, socket);
    if (port == 0 || is_taken(sockets, socket, port)) {
        return fails(EADDRINUSE);
    }
    socket->port = port;
    socket->bound = true;
    return 0;
}

int sockets_listen(struct sockets *sockets, int fd, int backlog) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    const int most = backlog < 0 || backlog > SOMAXCONN ? SOMAXCONN : backlog;
    if (socket->state == CREATED) {
        const uint16_t port = socket->bound ? socket->port : free_port(sockets, socket);
        if (port == 0) {
            return fails(EADDRINUSE);
        }
        const struct internet_streams_listener_keys keys = {port};
        const uint32_t number = internet_streams_listen(
            sockets->stack, &keys, most > 0 ? (unsigned)most : 1, sockets->now_ns);
        if (number == UINT32_MAX) {
            return fails(EADDRINUSE); /* somebody else listens there */
        }
        socket->state = LISTENING;
        socket->bound = true;
        socket->port = port;
        socket->number = number;
        sockets->listeners[number] = socket;
        sockets_settle(sockets);
    } else if (socket->state != LISTENING) {
        return fails(EINVAL);
    }
    socket->backlog = most > 0 ? most : 1;
    return 0;
}

int sockets_accept(struct sockets *sockets, int fd, struct sockaddr *to, socklen_t *length) {
    struct socket *const listener = sockets_find(sockets, fd);
    if (listener == NULL) {
        return -1;
    }
    if (listener->state != LISTENING) {
        return fails(EINVAL);
    }
    struct socket *const socket = listener->next;
    if (socket == NULL) {
        return fails(EAGAIN);
    }
    if (to != NULL && give_address(socket->peer, socket->peer_port, to, length) != 0) {
        return -1;
    }
    listener->next = socket->next;
    listener->waiting -= 1;
    socket->next = NULL;
    sockets_tell_options(sockets, socket);
    return known(sockets, socket);
}

/* Why no connection could be opened. */
static int why_not(const struct sockets *sockets) {
    struct internet_streams_keys keys;
    for (uint32_t session = 0; session < SESSIONS; session += 1) {
        if (!internet_streams_keys_of(sockets->stack, session, &keys)) {
            return EADDRNOTAVAIL; /* there is one from this port to this peer */
        }
    }
    return ENOBUFS;
}

int sockets_connect(struct sockets *sockets, int fd, const struct sockaddr *to, socklen_t length) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    struct internet_streams_keys keys = {.has_port = socket->bound, .port = socket->port};
    const int wrong = read_address(to, length, &keys.peer, &keys.peer_port);
    if (wrong != 0) {
        return fails(wrong);
    }
    if (socket->state != CREATED) {
        return fails(socket->state == LISTENING    ? EOPNOTSUPP
                     : socket->state == CONNECTING ? EALREADY
                                                   : EISCONN);
    }
    if (!is_host(keys.peer) || keys.peer == sockets->address) {
        return fails(ENETUNREACH);
    }
    if (keys.peer_port == 0) {
        return fails(EADDRNOTAVAIL);
    }
    const uint32_t number = internet_streams_open(sockets->stack, &keys, sockets->now_ns);
    if (number == UINT32_MAX) {
        return fails(why_not(sockets));
    }
    internet_streams_keys_of(sockets->stack, number, &keys);
    socket->state = CONNECTING;
    socket->error = 0;
    socket->unreachable = 0;
    socket->number = number;
    socket->port = keys.port;
    socket->peer = keys.peer;
    socket->peer_port = keys.peer_port;
    sockets->sessions[number] = socket;
    sockets_mark(sockets, socket);
    sockets_settle(sockets);
    if (socket->state == CREATED) {
        return fails(take_error(socket)); /* the last one from this port is in TIME-WAIT */
    }
    sockets_tell_options(sockets, socket);
    return fails(EINPROGRESS);
}

int sockets_shutdown(struct sockets *sockets, int fd, int how) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) {
        return fails(EINVAL);
    }
    if (socket->state != CONNECTED) {
        return fails(ENOTCONN);
    }
    socket->read_shut |= how != SHUT_WR;
    if (how != SHUT_RD && !socket->write_shut) {
        socket->write_shut = true;
        closes(sockets, socket);
        internet_streams_shutdown(sockets->stack, socket->number, sockets->now_ns);
        sockets_settle(sockets);
    }
    return 0;
}

/* Nobody has a socket any more. Its connection goes on without it until all has been sent; or, if
 * that is not wanted or something was not read (RFC 1122, 4.2.2.13), it is reset. */
static void leave(struct sockets *sockets, struct socket *socket) {
    const bool resets =
        (socket->options.linger.l_onoff != 0 && socket->options.linger.l_linger == 0) ||
        socket->length != 0 || !socket->known;
    if (has_session(socket)) {
        sockets->sessions[socket->number] = NULL;
        if (resets) {
            internet_streams_abort(sockets->stack, socket->number, sockets->now_ns);
        } else {
            if (!socket->write_shut) {
                closes(sockets, socket);
            }
            internet_streams_close(sockets->stack, socket->number, sockets->now_ns);
        }
    }
    socket->state = UNUSED;
    socket->known = false;
    sockets_settle(sockets);
}

int sockets_close(struct sockets *sockets, int fd) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (socket->state == LISTENING) {
        sockets->listeners[socket->number] = NULL;
        internet_streams_unlisten(sockets->stack, socket->number, sockets->now_ns);
        sockets_settle(sockets);
    }
    while (socket->next != NULL) {
        struct socket *const waiting = socket->next;
        socket->next = waiting->next;
        leave(sockets, waiting);
    }
    leave(sockets, socket);
    return 0;
}

int sockets_getsockname(struct sockets *sockets, int fd, struct sockaddr *to, socklen_t *length) {
    const struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    const bool is_free = socket->state == CREATED || socket->state == LISTENING;
    return give_address(is_free ? INADDR_ANY : sockets->address, socket->port, to, length);
}

int sockets_getpeername(struct sockets *sockets, int fd, struct sockaddr *to, socklen_t *length) {
    const struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (socket->state != CONNECTED) {
        return fails(ENOTCONN);
    }
    return give_address(socket->peer, socket->peer_port, to, length);
}
