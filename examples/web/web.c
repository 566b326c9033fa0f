/* Serves the files of a folder by HTTP/1.1: web DEVICE ADDRESS ADDRESS6 FOLDER */
#define _GNU_SOURCE
#include "host.h"
#include "http.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PORT = 80,
    LONGEST = 8192, /* bytes of the head of a request */
    HEAD = 512,     /* and of that of an answer, with the few words of one that refuses */
};

static const uint64_t patience_ns = 30000000000; /* with a peer that gives no sign of life */

/* Our end of a connection; which one, its place among the others says. */
struct conversation {
    bool open;
    bool ended;        /* the peer sends no more */
    bool last;         /* no more requests are answered */
    bool shut;         /* and the peer was told */
    int file;          /* what is being sent; -1: none */
    off_t at, size;    /* how far it is */
    size_t credit;     /* bytes that the stack takes now */
    size_t length;     /* of what the peer has said, and is not answered yet */
    uint64_t heard_ns; /* when it gave a sign of life */
};
static struct conversation conversations[2][SESSIONS];
static char said[2][SESSIONS][WINDOW];

/* Both ports have the same functions. */
static const struct {
    void (*grant_delivers)(struct web *, uint32_t session, uint32_t bytes, uint64_t now_ns);
    void (*shutdown)(struct web *, uint32_t session, uint64_t now_ns);
    void (*abort)(struct web *, uint32_t session, uint64_t now_ns);
} ports[2] = {
    {web_streams_grant_delivers, web_streams_shutdown, web_streams_abort},
    {web_streams6_grant_delivers, web_streams6_shutdown, web_streams6_abort},
};

void hear(const struct web_output *output) {
    assert(output->session < SESSIONS);
    struct conversation *const one = &conversations[output->place][output->session];
    one->heard_ns = now_ns();
    switch (output->next) {
    case WEB_ACCEPTED:
        *one = (struct conversation){.open = true, .file = -1, .heard_ns = one->heard_ns};
        break;
    case WEB_DELIVER:
        assert(one->length + output->length <= WINDOW); /* it was not granted more */
        memcpy(said[output->place][output->session] + one->length, output->data, output->length);
        one->length += output->length;
        break;
    case WEB_GRANT_SENDS:
        one->credit += output->place == 0 ? output->with.streams_grant_sends.bytes
                                          : output->with.streams6_grant_sends.bytes;
        break;
    case WEB_FINISHED:
        one->ended = true;
        break;
    case WEB_CLOSED:
        if (one->file >= 0) {
            close(one->file);
        }
        one->file = -1;
        one->open = false;
        break;
    case WEB_IDLE:
    case WEB_FRAME:
    case WEB_OPENED:
    case WEB_MEASURED:
    case WEB_URGENT:
    case WEB_UNREACHABLE:
        break;
    }
}

/* Sends bytes, of which there are no more than the credit; false if the stack takes none now. */
static bool give(unsigned port, uint32_t session, const void *data, size_t length) {
    const enum web_send outcome =
        port == 0 ? web_streams_send(stack, session, NULL, data, length, now_ns())
                  : web_streams6_send(stack, session, NULL, data, length, now_ns());
    conversations[port][session].credit -= outcome == WEB_SENT ? length : 0;
    drain();
    return outcome == WEB_SENT;
}

/* Forgets the first that the peer has said, and lets it say so much more. */
static void forget(unsigned port, uint32_t session, size_t length) {
    struct conversation *const one = &conversations[port][session];
    one->length -= length;
    memmove(said[port][session], said[port][session] + length, one->length);
    ports[port].grant_delivers(stack, session, (uint32_t)length, now_ns());
    drain();
}

/* A file of the folder for reading, what is in it, and how long it is; -1 if there is none. Where
 * a name begins with a dot there is none: so no path leads out of the folder. */
static int find(const char *path, const char **type, off_t *size) {
    char name[LONGEST + 16];
    const bool is_folder = path[strlen(path) - 1] == '/';
    snprintf(name, sizeof name, ".%s%s", path, is_folder ? "index.html" : "");
    *type = http_type(name);
    const int file = strstr(path, "/.") == NULL ? open(name, O_RDONLY | O_NONBLOCK) : -1;
    struct stat found;
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        *size = found.st_size;
        return file;
    }
    if (file >= 0) {
        close(file);
    }
    return -1;
}

/* Answers the first request, once it is here as a whole; false if it is not answered yet. */
static bool answer(unsigned port, uint32_t session) {
    struct conversation *const one = &conversations[port][session];
    const char *const text = said[port][session];
    const size_t length = one->length < LONGEST ? one->length : LONGEST;
    const char *const end = memmem(text, length, "\r\n\r\n", 4);
    if (end == NULL && length < LONGEST) {
        one->last = one->ended;
        return false;
    }
    if (one->credit < HEAD) {
        return false;
    }
    char copy[LONGEST + 1] = {0};
    const size_t taken = end == NULL ? 0 : (size_t)(end + 4 - text);
    memcpy(copy, text, memchr(text, '\0', taken) == NULL ? taken : 0);
    struct request request = http_request(copy);
    const char *type = "text/plain";
    one->at = 0;
    if (request.status == 200 && (one->file = find(request.path, &type, &one->size)) < 0) {
        request.status = 404;
        type = "text/plain";
    }
    char reply[HEAD], words[64];
    const int count = snprintf(words, sizeof words, "%s\n", http_reason(request.status));
    const off_t bytes = one->file < 0 ? count : one->size;
    size_t head = http_head(reply, sizeof reply, &request, type, bytes);
    if (one->file < 0 && !request.head) {
        memcpy(reply + head, words, (size_t)count);
        head += (size_t)count;
    }
    const bool given = give(port, session, reply, head);
    if (one->file >= 0 && (request.head || !given)) {
        close(one->file);
        one->file = -1;
    }
    if (given) {
        one->last = !request.keep;
        forget(port, session, end == NULL ? length : taken);
    }
    return given;
}

/* Sends of the file what the stack takes now; whether there is nothing left of it. */
static bool send_file(unsigned port, uint32_t session) {
    struct conversation *const one = &conversations[port][session];
    while (one->file >= 0 && one->at < one->size) {
        static char block[WINDOW];
        const size_t left = (size_t)(one->size - one->at);
        const size_t most = left < one->credit ? left : one->credit;
        const ssize_t length = most == 0 ? 0 : pread(one->file, block, most, one->at);
        if (most != 0 && length <= 0) { /* it is shorter than what was promised */
            ports[port].abort(stack, session, now_ns());
            drain();
            return false;
        }
        if (most == 0 || !give(port, session, block, (size_t)length)) {
            return false;
        }
        one->at += length;
    }
    if (one->file >= 0) {
        close(one->file);
        one->file = -1;
    }
    return true;
}

static void attend(unsigned port, uint32_t session) {
    struct conversation *const one = &conversations[port][session];
    while (one->open && send_file(port, session) && !one->last && answer(port, session)) {
    }
    if (one->last && one->length > 0) {
        forget(port, session, one->length);
    }
    if (one->last && one->file < 0 && !one->shut) {
        one->shut = true;
        ports[port].shutdown(stack, session, now_ns());
        drain();
    }
    if (one->open && now_ns() - one->heard_ns > patience_ns) {
        ports[port].abort(stack, session, now_ns());
        drain();
    }
}

bool serve(void) {
    for (unsigned port = 0; port < 2; port += 1) {
        for (uint32_t session = 0; session < SESSIONS; session += 1) {
            if (conversations[port][session].open) {
                attend(port, session);
            }
        }
    }
    return true;
}

/* Listens on both networks; false if that cannot be. */
static bool listens(void) {
    const struct web_streams_listener_keys here = {.port = PORT};
    const struct web_streams6_listener_keys here6 = {.port = PORT};
    const uint32_t listener = web_streams_listen(stack, &here, SESSIONS, now_ns());
    drain();
    const uint32_t listener6 = web_streams6_listen(stack, &here6, SESSIONS, now_ns());
    drain();
    return listener != UINT32_MAX && listener6 != UINT32_MAX;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fputs("usage: web DEVICE ADDRESS ADDRESS6 FOLDER\n", stderr);
        return 2;
    }
    if (!start(arguments[1], arguments[2], arguments[3])) {
        return 2;
    }
    if (chdir(arguments[4]) != 0) {
        perror(arguments[4]);
        return 2;
    }
    if (!listens()) {
        fprintf(stderr, "nobody can listen at port %d\n", PORT);
        return 2;
    }
    run();
    return 0;
}
