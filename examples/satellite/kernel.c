#define _GNU_SOURCE
#include "kernel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address(unsigned host, uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(0x0a000000 + host),
    };
}

static bool write_setting(const char *path, const char *value) {
    const int file = open(path, O_WRONLY);
    const bool written = file >= 0 && write(file, value, strlen(value)) >= 0;
    if (file >= 0) {
        close(file);
    }
    return written;
}

static const struct ifreq device = {.ifr_name = "radio"};

/* Gives the device an address, a limit of the length of packets, and a short queue. */
static bool configure(unsigned host) {
    const int channel = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = device;
    struct sockaddr_in value = address(host, 0);
    memcpy(&request.ifr_addr, &value, sizeof value);
    bool done = ioctl(channel, SIOCSIFADDR, &request) == 0;
    value.sin_addr.s_addr = htonl(0xffffff00);
    memcpy(&request.ifr_netmask, &value, sizeof value);
    done = done && ioctl(channel, SIOCSIFNETMASK, &request) == 0;
    request.ifr_mtu = KERNEL_MTU;
    done = done && ioctl(channel, SIOCSIFMTU, &request) == 0;
    request.ifr_qlen = 40;
    done = done && ioctl(channel, SIOCSIFTXQLEN, &request) == 0;
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    done = done && ioctl(channel, SIOCSIFFLAGS, &request) == 0;
    close(channel);
    return done;
}

bool kernel_open(struct kernel *kernel, unsigned host) {
    if (unshare(CLONE_NEWNET) != 0) {
        perror("cannot create a network (root may)");
        return false;
    }
    kernel->network = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    kernel->device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq request = device;
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    write_setting("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"); /* it would send by itself */
    if (kernel->network < 0 || kernel->device < 0 ||
        ioctl(kernel->device, TUNSETIFF, &request) != 0 || !configure(host)) {
        perror("cannot open a TUN device (root may)");
        return false;
    }
    if (!write_setting("/proc/sys/net/ipv4/tcp_congestion_control", "reno")) {
        perror("no congestion control `reno`");
        return false;
    }
    return true;
}

/* A child in the network, which ends with this process. Returns its process; 0 in the child. */
static pid_t child(const struct kernel *kernel) {
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_IGN);
        if (setns(kernel->network, CLONE_NEWNET) != 0) {
            _exit(1);
        }
    }
    return process;
}

/* Answers any request, and sends zeros until the peer is gone. */
static void serve(int channel) {
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n";
    static char zeros[16384];
    char request[4096];
    if (read(channel, request, sizeof request) > 0 &&
        write(channel, head, sizeof head - 1) == (ssize_t)sizeof head - 1) {
        while (write(channel, zeros, sizeof zeros) > 0) {
        }
    }
    close(channel);
}

pid_t kernel_serve(const struct kernel *kernel) {
    const pid_t process = child(kernel);
    if (process != 0) {
        return process;
    }
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in own = address(2, 80);
    signal(SIGCHLD, SIG_IGN);
    if (bind(listener, (const struct sockaddr *)&own, sizeof own) != 0 ||
        listen(listener, 4) != 0) {
        _exit(1);
    }
    for (;;) {
        const int channel = accept(listener, NULL, NULL);
        if (channel >= 0 && fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve(channel);
            _exit(0);
        }
        close(channel);
    }
}

int kernel_fetch(const struct kernel *kernel, pid_t *process) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    *process = child(kernel);
    if (*process == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execlp("curl", "curl", "--silent", "--no-buffer", "--http1.1", "http://10.0.0.2/",
               (char *)NULL);
        fputs("no program curl\n", stderr);
        _exit(KERNEL_NO_CURL);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return ends[0];
}
