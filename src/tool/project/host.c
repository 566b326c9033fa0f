/* Lines of text over the stack NAME: host LOCAL-PORT REMOTE-PORT */
#include "build/NAME.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct NAME *stack;
static int udp;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Does what the stack wants done, until it wants no more. */
static void drain(void) {
    struct NAME_output output;
    enum NAME_next next;
    while ((next = NAME_next(stack, &output)) != CAPITALS_IDLE) {
        if (next == CAPITALS_FRAME) {
            send(udp, output.data, output.length, 0); /* what is lost here is lost */
        } else if (next == CAPITALS_DELIVER) {
            printf("%.*s\n", (int)output.length, (const char *)output.data);
            fflush(stdout);
        }
        NAME_done(stack, &output);
    }
}

/* A frame goes from the socket into a buffer of the stack, and waits there until it is taken. */
static void receive(void) {
    static struct NAME_frame frame;
    static size_t room;
    if (frame.data == NULL && (frame.data = NAME_buffer(stack, &room)) == NULL) {
        return; /* all are in use: what came waits in the socket */
    }
    if (frame.length == 0) {
        const ssize_t length = recv(udp, frame.data, room, MSG_DONTWAIT);
        if (length <= 0) {
            return;
        }
        frame.length = (size_t)length;
    }
    if (NAME_input(stack, 0, &frame, 1, now_ns()) == 1) {
        frame = (struct NAME_frame){0};
    }
    drain();
}

/* One line of stdin is one message; false at its end. */
static bool speak(void) {
    char line[1024];
    if (fgets(line, sizeof line, stdin) == NULL) {
        return false;
    }
    const uint8_t *const data = (const uint8_t *)line;
    if (NAME_messages_send(stack, 0, NULL, data, strcspn(line, "\n"), now_ns()) != CAPITALS_SENT) {
        fputs("this line is not sent\n", stderr);
    }
    drain();
    return true;
}

/* Until when to sleep, in milliseconds. */
static int patience(void) {
    const uint64_t deadline_ns = NAME_deadline(stack), present_ns = now_ns();
    if (deadline_ns == UINT64_MAX) {
        return 300; /* nothing is due: once no more is typed, it is over soon */
    }
    return deadline_ns <= present_ns ? 0 : (int)((deadline_ns - present_ns) / 1000000 + 1);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fputs("host LOCAL-PORT REMOTE-PORT; the other way round at the other end\n", stderr);
        return 2;
    }
    struct sockaddr_in here = {.sin_family = AF_INET}, there = here;
    here.sin_port = htons((uint16_t)atoi(arguments[1]));
    there.sin_port = htons((uint16_t)atoi(arguments[2]));
    here.sin_addr.s_addr = there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    udp = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(udp, (struct sockaddr *)&here, sizeof here) != 0 ||
        connect(udp, (struct sockaddr *)&there, sizeof there) != 0) {
        perror("UDP");
        return 1;
    }

    setvbuf(stdin, NULL, _IONBF, 0); /* what was read and not yet said, poll would not see */
    struct NAME_config config;
    NAME_config_default(&config);
    const size_t size = NAME_size(&config);
    stack = NAME_start(malloc(size), size, &config, now_ns());
    drain();

    struct pollfd wait[2] = {{.fd = udp, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    while (poll(wait, 2, patience()) > 0 || wait[1].fd >= 0 ||
           NAME_deadline(stack) != UINT64_MAX) {
        if (NAME_deadline(stack) <= now_ns()) {
            NAME_expire(stack, now_ns());
            drain();
        }
        if (wait[0].revents != 0) {
            receive();
        }
        if (wait[1].revents != 0 && !speak()) {
            wait[1].fd = -1; /* no more is typed */
        }
    }

    uint64_t values[CAPITALS_COUNTERS];
    NAME_counters(stack, values, CAPITALS_COUNTERS);
    for (size_t at = 0; at < CAPITALS_COUNTERS; at += 1) {
        if (values[at] != 0) {
            printf("%s %llu\n", NAME_counter_name[at], (unsigned long long)values[at]);
        }
    }
    return 0;
}
