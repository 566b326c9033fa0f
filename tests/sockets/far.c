/* Half a turn of the numbers of a connection: nothing of long ago is taken for what is to come. */
#include "wire.h"

static const uint64_t HALF = (uint64_t)1 << 31;

static unsigned urgent; /* packets that say that something is */
static bool loses;      /* one packet with text */

static bool is_lost(const uint8_t *packet, size_t length) {
    urgent += (packet[33] & 0x20) != 0;
    const bool is_lost = loses && length > 1000;
    loses = loses && !is_lost;
    return is_lost;
}

/* Writes and reads what there is room for, a round trip long; how much came. */
static uint64_t carried_on(const int ends[2]) {
    static uint8_t text[1 << 16];
    while (sockets_write(host[HERE], ends[HERE], text, sizeof text) > 0) {
    }
    pass(11 * MILLISECOND);
    uint64_t came = 0;
    for (ssize_t some; (some = sockets_read(host[THERE], ends[THERE], text, sizeof text)) > 0;) {
        came += (uint64_t)some;
    }
    return came;
}

int main(void) {
    begin(9000);
    stops = is_lost;
    int ends[2];
    connected(ends);
    for (uint64_t came = 0; came < HALF + 1000000;) {
        came += carried_on(ends);
    }
    CHECK(urgent == 0);

    loses = true;
    const uint64_t lost_ns = now_ns;
    do {
        carried_on(ends);
    } while (loses);
    while (carried_on(ends) == 0) {
    }
    CHECK(now_ns - lost_ns < SECOND / 2); /* by the third repetition, not after a timeout */
    return 0;
}
