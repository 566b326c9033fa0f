/* Bytes: read, written, and asked for by poll. */
#include "inside.h"

#include <string.h>

/* How many bytes may be written now: of the stack's room, what is not in flight of our own. */
static uint32_t writable(const struct socket *socket) {
    const uint32_t in_flight = WINDOW - socket->credit;
    const uint32_t most = (uint32_t)socket->options.send_buffer;
    return socket->state != CONNECTED || in_flight >= most ? 0 : most - in_flight;
}

ssize_t sockets_read(struct sockets *sockets, int fd, void *to, size_t size) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (to == NULL && size != 0) {
        return fails(EFAULT);
    }
    if (socket->length == 0 && socket->error != 0) {
        return fails(take_error(socket));
    }
    if (socket->state == CREATED || socket->state == LISTENING) {
        return fails(ENOTCONN);
    }
    const uint32_t count = size < socket->length ? (uint32_t)size : socket->length;
    if (count == 0) {
        const bool over = socket->state == OVER || socket->finished || socket->read_shut;
        return over || size == 0 ? 0 : fails(EAGAIN);
    }
    const uint32_t before = count < WINDOW - socket->begin ? count : WINDOW - socket->begin;
    memcpy(to, socket->came + socket->begin, before);
    memcpy((uint8_t *)to + before, socket->came, count - before);
    socket->begin = (socket->begin + count) % WINDOW;
    socket->length -= count;
    if (socket->state == CONNECTED) {
        internet_streams_grant_delivers(sockets->stack, socket->number, count, sockets->now_ns);
        sockets_settle(sockets);
    }
    return count;
}

ssize_t sockets_write(struct sockets *sockets, int fd, const void *from, size_t size) {
    struct socket *const socket = sockets_find(sockets, fd);
    if (socket == NULL) {
        return -1;
    }
    if (from == NULL && size != 0) {
        return fails(EFAULT);
    }
    if (socket->error != 0) {
        return fails(take_error(socket));
    }
    if (socket->state == CREATED || socket->state == LISTENING) {
        return fails(ENOTCONN);
    }
    if (socket->state == OVER || socket->write_shut) {
        return fails(EPIPE);
    }
    const uint32_t room = writable(socket);
    const size_t length = size < room ? size : room;
    if (length == 0) {
        return size == 0 ? 0 : fails(EAGAIN);
    }
    const enum internet_send outcome =
        internet_streams_send(sockets->stack, socket->number, NULL, from, length, sockets->now_ns);
    socket->credit -= outcome == INTERNET_SENT ? (uint32_t)length : 0;
    sockets_settle(sockets);
    switch (outcome) {
    case INTERNET_SENT:
        return (ssize_t)length;
    case INTERNET_LATER:
        return fails(EAGAIN);
    case INTERNET_REFUSED:
        break;
    }
    return fails(EPIPE);
}

/* What poll says of a socket, asked for or not. */
static int events(const struct socket *socket) {
    const int in = POLLIN | POLLRDNORM, out = POLLOUT | POLLWRNORM;
    const int wrong = socket->error != 0 ? POLLERR | in : 0;
    switch (socket->state) {
    case UNUSED:
        return POLLNVAL;
    case CREATED:
        return POLLHUP | out | wrong;
    case LISTENING:
        return socket->next != NULL ? in : 0;
    case CONNECTING:
        return 0;
    case CONNECTED:
        break;
    case OVER:
        return in | POLLRDHUP | POLLHUP | out | wrong;
    }
    const bool ended = socket->finished || socket->read_shut;
    return (ended ? in | POLLRDHUP : 0) | (ended && socket->write_shut ? POLLHUP : 0) |
           (socket->length != 0 ? in : 0) | (writable(socket) != 0 || socket->write_shut ? out : 0);
}

int sockets_poll(struct sockets *sockets, struct pollfd *asked, nfds_t count, int timeout) {
    int ready = 0;
    (void)timeout;
    if (asked == NULL && count != 0) {
        return fails(EFAULT);
    }
    for (nfds_t at = 0; at < count; at += 1) {
        asked[at].revents = 0;
        if (asked[at].fd >= 0) {
            const struct socket *const socket = sockets_find(sockets, asked[at].fd);
            const int said = socket != NULL ? events(socket) : POLLNVAL;
            const int always = POLLERR | POLLHUP | POLLNVAL;
            asked[at].revents = (short)(said & (asked[at].events | always));
        }
        ready += asked[at].revents != 0;
    }
    return ready;
}
