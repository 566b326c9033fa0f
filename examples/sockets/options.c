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

static void tell_timeout(struct sockets *sockets, const struct socket *socket) {
    if (has_session(socket)) {
        const uint64_t limit_ns = (uint64_t)socket->options.user_timeout_ms * 1000000;
        internet_streams_endure(sockets->stack, socket->number, limit_ns, sockets->now_ns);
        sockets_settle(sockets);
    }
}

void sockets_mark(struct sockets *sockets, const struct socket *socket) {
    const struct options *const options = &socket->options;
    if (has_session(socket)) {
        struct mark *const mark = &sockets->marks[socket->number];
        const bool asked = options->lifetime != LIFETIME || options->service != 0;
        mark->port = asked ? socket->port : 0;
        mark->peer = socket->peer;
        mark->peer_port = socket->peer_port;
        mark->lifetime = (uint8_t)options->lifetime;
        mark->service = (uint8_t)options->service;
        sockets->marked |= asked;
    }
}

static uint32_t number_at(const uint8_t *at, int bytes) {
    uint32_t number = 0;
    for (int byte = 0; byte < bytes; byte += 1) {
        number = number << 8 | at[byte];
    }
    return number;
}

void sockets_mark_packet(const struct sockets *sockets, uint8_t *ip, size_t length) {
    const size_t header = (ip[0] & 15) * 4u;
    if (!sockets->marked || ip[9] != IPPROTO_TCP || length < header + 20) {
        return;
    }
    const uint32_t port = number_at(ip + header, 2), peer_port = number_at(ip + header + 2, 2);
    const uint32_t peer = number_at(ip + 16, 4);
    for (size_t session = 0; session < SESSIONS; session += 1) {
        const struct mark *const mark = &sockets->marks[session];
        if (mark->port != port || mark->peer_port != peer_port || mark->peer != peer || port == 0) {
            continue;
        }
        ip[1] = (uint8_t)(mark->service | (ip[1] & 3));
        ip[8] = mark->lifetime;
        ip[10] = ip[11] = 0;
        uint32_t sum = 0;
        for (size_t at = 0; at < header; at += 2) {
            sum += number_at(ip + at, 2);
        }
        sum = (sum & 0xffff) + (sum >> 16);
        sum = ~(sum + (sum >> 16));
        ip[10] = (uint8_t)(sum >> 8);
        ip[11] = (uint8_t)sum;
        return;
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
    if (socket->options.user_timeout_ms != 0) {
        tell_timeout(sockets, socket);
    }
}

/* The longest segment that goes out now; without a connection, that the link carries. */
static int segment_of(struct sockets *sockets, struct socket *socket) {
    const int carried = (int)sockets->mtu - 40; /* beside the headers of IP and TCP */
    const int longest = carried < SEGMENT ? carried : SEGMENT;
    const int most = socket->options.maximum_segment;
    if (socket->state == CONNECTED) {
        internet_streams_measure(sockets->stack, socket->number, sockets->now_ns);
        sockets_settle(sockets);
        return socket->segment;
    }
    return most != 0 && most < longest ? most : longest;
}

/* The value of an option that is a number; false if there is no such option. */
static bool get_number(struct sockets *sockets, struct socket *socket, int level, int name,
                       int *value) {
    const struct options *const options = &socket->options;
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
        *value = segment_of(sockets, socket);
    } else if (level == IPPROTO_TCP && name == TCP_USER_TIMEOUT) {
        *value = options->user_timeout_ms;
    } else if (level == IPPROTO_IP && name == IP_TTL) {
        *value = options->lifetime;
    } else if (level == IPPROTO_IP && name == IP_TOS) {
        *value = options->service;
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
    return wanted < 1 ? 1 : wanted > WINDOW ? WINDOW
                                            : wanted;
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
        if (value < 28 || value > UINT16_MAX) {
            return EINVAL;
        }
        options->maximum_segment = value;
        tell_segment(sockets, socket);
    } else if (level == IPPROTO_TCP && name == TCP_USER_TIMEOUT) {
        if (value < 0) {
            return EINVAL;
        }
        options->user_timeout_ms = value;
        tell_timeout(sockets, socket);
    } else if (level == IPPROTO_IP && name == IP_TTL) {
        if (value != -1 && (value < 1 || value > 255)) {
            return EINVAL;
        }
        options->lifetime = value == -1 ? LIFETIME : value;
        sockets_mark(sockets, socket);
    } else if (level == IPPROTO_IP && name == IP_TOS) {
        options->service = value & 0xfc; /* the last two bits are those of RFC 3168 */
        sockets_mark(sockets, socket);
    } else {
        return ENOPROTOOPT;
    }
    return 0;
}

/* Whether there is an option that can be set; only then does the length of its value matter. */
static bool is_settable(int level, int name) {
    if (level == SOL_SOCKET) {
        return name == SO_LINGER || name == SO_REUSEADDR || name == SO_RCVBUF || name == SO_SNDBUF;
    }
    if (level == IPPROTO_IP) {
        return name == IP_TTL || name == IP_TOS;
    }
    return level == IPPROTO_TCP &&
           (name == TCP_NODELAY || name == TCP_MAXSEG || name == TCP_USER_TIMEOUT);
}

int sockets_setsockopt(struct sockets *sockets, int fd, int level, int name, const void *from,
                       socklen_t length) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (!is_settable(level, name)) {
        return fails(ENOPROTOOPT);
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
