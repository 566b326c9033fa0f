#include "wire.h"

enum { PACKETS = 8192, LONGEST = 9000 };

static const uint64_t DELAY = 5000000;

struct packet {
    uint64_t comes_ns;
    int to;
    size_t length;
    uint8_t bytes[LONGEST];
};

struct sockets *host[2];
uint64_t now_ns = 1000000000;
unsigned lost, carried;
bool (*stops)(const uint8_t *packet, size_t length);

static struct packet *queue;
static size_t first, count;
static uint64_t seed;

uint32_t number(void) {
    if (seed == 0) {
        const char *const given = getenv("SEED");
        seed = given != NULL ? strtoull(given, NULL, 10) | 1 : 1;
    }
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(seed >> 33);
}

void begin(unsigned mtu) {
    static const uint8_t secrets[2][16] = {"the secret of 1", "the secret of 2"};
    queue = malloc(PACKETS * sizeof *queue);
    first = count = lost = carried = 0;
    stops = NULL;
    host[HERE] = sockets_start("10.0.0.1", mtu, secrets[HERE]);
    host[THERE] = sockets_start("10.0.0.2/24", mtu, secrets[THERE]);
    CHECK(queue != NULL && host[HERE] != NULL && host[THERE] != NULL);
    sockets_expire(host[HERE], now_ns);
    sockets_expire(host[THERE], now_ns);
}

void end(void) {
    stops = NULL;
    lost = 0;
    pass(1000 * SECOND);
    for (int which = HERE; which <= THERE; which += 1) {
        CHECK(sockets_deadline(host[which]) == UINT64_MAX);
        sockets_stop(host[which]);
    }
    free(queue);
}

void inject(int to, const uint8_t *packet, size_t length) {
    sockets_packet_in(host[to], packet, length, now_ns);
}

/* What both have to send is on its way, or lost. */
static void send_all(void) {
    for (int which = HERE; which <= THERE; which += 1) {
        for (;;) {
            CHECK(count < PACKETS);
            struct packet *const packet = &queue[(first + count) % PACKETS];
            packet->length = sockets_packet_out(host[which], packet->bytes, LONGEST, now_ns);
            if (packet->length == 0) {
                break;
            }
            carried += 1;
            packet->to = 1 - which;
            packet->comes_ns = now_ns + DELAY;
            const bool stopped = stops != NULL && stops(packet->bytes, packet->length);
            count += !stopped && number() % 1000 >= lost;
        }
    }
}

void pass(uint64_t time_ns) {
    const uint64_t end_ns = now_ns + time_ns;
    for (;;) {
        send_all();
        uint64_t next_ns = count != 0 ? queue[first].comes_ns : UINT64_MAX;
        for (int which = HERE; which <= THERE; which += 1) {
            const uint64_t deadline_ns = sockets_deadline(host[which]);
            next_ns = deadline_ns < next_ns ? deadline_ns : next_ns;
        }
        if (next_ns > end_ns) {
            break;
        }
        now_ns = next_ns > now_ns ? next_ns : now_ns;
        while (count != 0 && queue[first].comes_ns <= now_ns) {
            const struct packet *const packet = &queue[first];
            first = (first + 1) % PACKETS;
            count -= 1;
            sockets_packet_in(host[packet->to], packet->bytes, packet->length, now_ns);
        }
        sockets_expire(host[HERE], now_ns);
        sockets_expire(host[THERE], now_ns);
    }
    now_ns = end_ns;
    sockets_expire(host[HERE], now_ns);
    sockets_expire(host[THERE], now_ns);
}

struct sockaddr_in at(int which, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(0x0a000001 + (uint32_t)which);
    return address;
}

int listening(int which, uint16_t port, int backlog) {
    const struct sockaddr_in address = at(which, port);
    const int fd = sockets_socket(host[which], AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    CHECK(sockets_bind(host[which], fd, (const void *)&address, sizeof address) == 0);
    CHECK(sockets_listen(host[which], fd, backlog) == 0);
    return fd;
}

int calling(int which, uint16_t port) {
    const struct sockaddr_in address = at(1 - which, port);
    const int fd = sockets_socket(host[which], AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_TCP);
    CHECK(fd >= 0);
    FAILS(sockets_connect(host[which], fd, (const void *)&address, sizeof address), EINPROGRESS);
    return fd;
}

void connected(int ends[2]) {
    const int listener = listening(THERE, 80, 8);
    ends[HERE] = calling(HERE, 80);
    pass(100 * MILLISECOND);
    ends[THERE] = sockets_accept(host[THERE], listener, NULL, NULL);
    CHECK(ends[THERE] >= 0);
    CHECK(sockets_close(host[THERE], listener) == 0);
}

short polled(int which, int fd, short events) {
    struct pollfd asked = {.fd = fd, .events = events};
    CHECK(sockets_poll(host[which], &asked, 1, -1) == (asked.revents != 0));
    return asked.revents;
}

int error_of(int which, int fd) {
    int error = -1;
    socklen_t size = sizeof error;
    CHECK(sockets_getsockopt(host[which], fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
    CHECK(size == sizeof error);
    return error;
}

void says(int which, int fd, const char *text) {
    const ssize_t length = (ssize_t)strlen(text);
    CHECK(sockets_write(host[which], fd, text, (size_t)length) == length);
}

void hears(int which, int fd, const char *text) {
    char came[256];
    const ssize_t length = sockets_read(host[which], fd, came, sizeof came);
    CHECK(length == (ssize_t)strlen(text));
    CHECK(memcmp(came, text, (size_t)length) == 0);
}
