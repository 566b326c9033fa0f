/* The Linux kernel at both ends of a link: a server at one, and curl at the other, each in its own
 * network. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    KERNEL_MTU = 1400,    /* bytes of a packet */
    KERNEL_NO_CURL = 127, /* how a process ends that finds no curl */
};

/* A network namespace with one device. */
struct kernel {
    int network; /* the descriptor of the namespace */
    int device;  /* a TUN device that does not block: one packet in a read or a write */
};

/* Creates a network whose address is 10.0.0.`host`; it vanishes with this process. False, with a
 * message, if that is not allowed. */
bool kernel_open(struct kernel *kernel, unsigned host);

/* Starts a web server at 10.0.0.2 that sends zeros for ever; returns its process. */
pid_t kernel_serve(const struct kernel *kernel);

/* Starts curl, which fetches from there. Returns the descriptor from which what it fetched can be
 * read without blocking. */
int kernel_fetch(const struct kernel *kernel, pid_t *process);

#endif
