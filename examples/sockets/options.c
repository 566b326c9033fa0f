/* Options: what a socket is told beside its bytes, and says of itself. */
#include "inside.h"

#include <netinet/tcp.h>
#include <string.h>

/* What the stack has to know of them; it knows nothing of a socket without a session. */
static void tell_delay(struct sockets *sockets, const struct socket *socket) {
    if (has_session(socket)) {
        const bool no_delay = socket->options.no_delay;
        internet_streams_hurry(sockets->stack, socket->number, no_delay, sockets->now_ns);
        sockets_settle(sockets);
    }
}

static void tell_buffer(struct sockets *sockets, const struct socket *socket) {
    if (has_session(socket)) {
        const uint32_t bytes = (uint32_t)socket->options.receive_buffer;
        internet_streams_limit(sockets->stack, socket->number, bytes, sockets->now_ns);
        sockets_settle(sockets);
    }
}

static void tell_segment(struct sockets *sockets, const struct socket *socket) {
    if (has_session(socket)) {
        const uint16_t bytes = (uint16_t)socket->options.maximum_segment;
        internet_streams_shorten(sockets->stack, socket->number, bytes, sockets->now_ns);
        sockets_settle(sockets);
    }
}

void sockets_tell_options(struct sockets *sockets, const struct socket *socket) {
    if (socket->options.no_delay) {
        tell_delay(sockets, socket);
    }
    if (socket->options.receive_buffer != WINDOW) {
        tell_buffer(sockets, socket);
    }
    if (socket->options.maximum_segment != 0) {
        tell_segment(sockets, socket);
    }
}

/* The value of an option that is a number; false if there is no such option. */
static bool get_number(const struct sockets *sockets, struct socket *socket, int level, int name,
                       int *value) {
    const struct options *const options = &socket->options;
    const int carried = (int)sockets->mtu - 40; /* beside the headers of IP and TCP */
    const int longest = carried < SEGMENT ? carried : SEGMENT;
    if (level == SOL_SOCKET && name == SO_ERROR) {
        *value = take_error(socket);
    } else if (level == SOL_SOCKET && name == SO_TYPE) {
        *value = SOCK_STREAM;
    } else if (level == SOL_SOCKET && name == SO_ACCEPTCONN) {
        *value = socket->state == LISTENING;
    } else if (level == SOL_SOCKET && name == SO_REUSEADDR) {
        *value = options->reuse_address;
    } else if (level == SOL_SOCKET && name == SO_RCVBUF) {
        *value = options->receive_buffer;
    } else if (level == SOL_SOCKET && name == SO_SNDBUF) {
        *value = options->send_buffer;
    } else if (level == IPPROTO_TCP && name == TCP_NODELAY) {
        *value = options->no_delay;
    } else if (level == IPPROTO_TCP && name == TCP_MAXSEG) {
        const int most = options->maximum_segment;
        *value = most != 0 && most < longest ? most : longest;
    } else {
        return false;
    }
    return true;
}

int sockets_getsockopt(struct sockets *sockets, int fd, int level, int name, void *to,
                       socklen_t *length) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (to == NULL || length == NULL) {
        return fails(EFAULT);
    }
    int number;
    const void *value = &number;
    socklen_t size = sizeof number;
    if (level == SOL_SOCKET && name == SO_LINGER) {
        value = &socket->options.linger;
        size = sizeof socket->options.linger;
    } else if (!get_number(sockets, socket, level, name, &number)) {
        return fails(ENOPROTOOPT);
    }
    *length = *length < size ? *length : size;
    memcpy(to, value, *length);
    return 0;
}

/* A buffer of so many bytes, as far as there is one. */
static int buffer_of(int wanted) {
    return wanted < 1 ? 1 : wanted > WINDOW ? WINDOW : wanted;
}

/* Sets an option that is a number; what is wrong with it, or 0. */
static int set_number(struct sockets *sockets, struct socket *socket, int level, int name,
                      int value) {
    struct options *const options = &socket->options;
    if (level == SOL_SOCKET && name == SO_REUSEADDR) {
        options->reuse_address = value != 0;
    } else if (level == SOL_SOCKET && name == SO_RCVBUF) {
        options->receive_buffer = buffer_of(value);
        tell_buffer(sockets, socket);
    } else if (level == SOL_SOCKET && name == SO_SNDBUF) {
        options->send_buffer = buffer_of(value);
    } else if (level == IPPROTO_TCP && name == TCP_NODELAY) {
        options->no_delay = value != 0;
        tell_delay(sockets, socket);
    } else if (level == IPPROTO_TCP && name == TCP_MAXSEG) {
        if (value < 64 || value > UINT16_MAX) {
            return EINVAL;
        }
        options->maximum_segment = value;
        tell_segment(sockets, socket);
    } else {
        return ENOPROTOOPT;
    }
    return 0;
}

int sockets_setsockopt(struct sockets *sockets, int fd, int level, int name, const void *from,
                       socklen_t length) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (from == NULL) {
        return fails(EFAULT);
    }
    const bool is_linger = level == SOL_SOCKET && name == SO_LINGER;
    if (length < (is_linger ? sizeof socket->options.linger : sizeof(int))) {
        return fails(EINVAL);
    }
    if (is_linger) {
        memcpy(&socket->options.linger, from, sizeof socket->options.linger);
        return 0;
    }
    int value;
    memcpy(&value, from, sizeof value);
    const int wrong = set_number(sockets, socket, level, name, value);
    return wrong != 0 ? fails(wrong) : 0;
}
