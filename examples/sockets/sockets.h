/*
 * BSD sockets over a protocol stack of Stackloom: TCP over IPv4, in the memory of a program that
 * has packets and a clock of its own.
 *
 * Packets are bare IP, as on a TUN device. Whoever uses this hands over those that came in
 * (sockets_packet_in), takes those that are to go out until there are none (sockets_packet_out),
 * and calls again when a time has come (sockets_deadline, sockets_expire). Times are nanoseconds
 * of a clock that does not go backwards. A call that is told no time goes by the last that was
 * told, so tell it first, and whenever you have slept: sockets_expire may be called at any time.
 *
 * All other functions are those of POSIX, with the system's own constants and structures, but that
 * - none of them waits: where POSIX would, the answer is -1 and errno EAGAIN or EINPROGRESS;
 * - the numbers of sockets are their own, and not those of files;
 * - nothing sends a signal: writing to what cannot be written to is EPIPE.
 *
 * Several hosts may be in one program. One of them may not be used by two threads at once.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A host: one address, and the sockets at it. */
struct sockets;

/* A host with an address, as "10.0.0.2" or "10.0.0.2/24", on a link that carries so many bytes in
 * a packet, 68 to 65535. The secret is random, and the host's alone: nobody who does not know it
 * can guess the numbers of a connection. NULL and errno EINVAL or ENOMEM. */
struct sockets *sockets_start(const char *ipv4, unsigned mtu, const uint8_t secret[16]);

/* Forgets a host and all its sockets; peers hear nothing of it. */
void sockets_stop(struct sockets *);

/* A packet has come in. What is too long for the link, or comes while the host has no room for it,
 * is lost, as packets may be. */
void sockets_packet_in(struct sockets *, const void *ip, size_t, uint64_t now_ns);

/* The next packet that is to go out, and how long it is; 0: none. The capacity is at least what
 * the link carries. */
size_t sockets_packet_out(struct sockets *, void *ip, size_t capacity, uint64_t now_ns);

/* When to call sockets_expire at the latest; UINT64_MAX if nothing waits for a time. */
uint64_t sockets_deadline(const struct sockets *);

/* It is so late. */
void sockets_expire(struct sockets *, uint64_t now_ns);

/* AF_INET and SOCK_STREAM, with SOCK_NONBLOCK and SOCK_CLOEXEC or without, are all there is. */
int sockets_socket(struct sockets *, int domain, int type, int protocol);
int sockets_bind(struct sockets *, int, const struct sockaddr *, socklen_t);
int sockets_listen(struct sockets *, int, int backlog);
int sockets_accept(struct sockets *, int, struct sockaddr *, socklen_t *);

/* EINPROGRESS; later POLLOUT, and SO_ERROR says how it went. */
int sockets_connect(struct sockets *, int, const struct sockaddr *, socklen_t);

/* What came before a reset can still be read; then comes ECONNRESET, once. */
ssize_t sockets_read(struct sockets *, int, void *, size_t);
ssize_t sockets_write(struct sockets *, int, const void *, size_t);
int sockets_shutdown(struct sockets *, int, int how);

/* What was written still goes out. If something has come that was not read, the peer is told that
 * nobody reads it, by a reset. */
int sockets_close(struct sockets *, int);

/* How things are now: a timeout is not waited for. */
int sockets_poll(struct sockets *, struct pollfd *, nfds_t, int timeout);

int sockets_getsockname(struct sockets *, int, struct sockaddr *, socklen_t *);
int sockets_getpeername(struct sockets *, int, struct sockaddr *, socklen_t *);

/*
 * SO_ERROR, SO_TYPE, SO_ACCEPTCONN
 * SO_LINGER     on, with a time of 0: close resets the connection. Any other time is kept and does
 *               nothing, for close does not wait
 * SO_REUSEADDR  a port may be bound though connections are left on it
 * SO_RCVBUF     so many bytes wait to be read, at most 65535; a window that was offered stays
 * SO_SNDBUF     so many bytes wait to be acknowledged, at most 65535
 * TCP_NODELAY   what is short does not wait for the acknowledgement of what went before
 * TCP_MAXSEG    no segment of ours is longer; what the peer sends hangs on the mtu alone. Of a
 *               connection it is how long they are now, as peer and path will have it
 * TCP_USER_TIMEOUT  after so many milliseconds without an answer the peer is given up; 0: as RFC
 *               9293 has it
 * IP_TTL        how many hops a packet may make, 1 to 255; -1: 64
 * IP_TOS        the type of service, but for the two bits that mark congestion
 *
 * An accepted socket has the options of the one that listened. All others are ENOPROTOOPT.
 */
int sockets_getsockopt(struct sockets *, int, int level, int name, void *, socklen_t *);
int sockets_setsockopt(struct sockets *, int, int level, int name, const void *, socklen_t);

#ifdef __cplusplus
}
#endif

#endif
