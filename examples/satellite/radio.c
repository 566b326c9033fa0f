#include "radio.h"

#include <math.h>
#include <string.h>

/* A random number above 0 and up to 1 (xorshift64). */
static double chance(struct radio *radio) {
    radio->random ^= radio->random << 13;
    radio->random ^= radio->random >> 7;
    radio->random ^= radio->random << 17;
    return (double)((radio->random >> 11) + 1) / (double)(1ull << 53);
}

/* Chooses how many bits are right before the next wrong one. */
static void choose(struct radio *radio) {
    radio->right_bits =
        radio->error_rate > 0 ? log(chance(radio)) / log1p(-radio->error_rate) : INFINITY;
}

bool radio_has_room(const struct radio *radio, uint64_t now_ns) {
    return radio->free_ns <= now_ns + RADIO_AHEAD_NS && radio->count < RADIO_FRAMES;
}

void radio_set_errors(struct radio *radio, double error_rate) {
    radio->error_rate = error_rate;
    choose(radio);
}

void radio_send(struct radio *radio, const uint8_t *bytes, size_t length, uint64_t now_ns) {
    if (radio->count == RADIO_FRAMES || length > RADIO_LONGEST) {
        return;
    }
    const uint64_t begins_ns = radio->free_ns > now_ns ? radio->free_ns : now_ns;
    radio->free_ns = begins_ns + 8 * length * 1000000000 / radio->bits_per_s;
    struct radio_frame *const frame = &radio->frames[(radio->first + radio->count) % RADIO_FRAMES];
    radio->count += 1;
    frame->arrives_ns = radio->free_ns + radio->delay_ns;
    frame->length = length;
    memcpy(frame->bytes, bytes, length);
    double at = 0; /* the first bit that is not looked at yet */
    while (radio->right_bits < 8 * (double)length - at) {
        at += floor(radio->right_bits);
        const size_t bit = (size_t)at;
        frame->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        at += 1;
        choose(radio);
    }
    radio->right_bits -= 8 * (double)length - at;
}

const struct radio_frame *radio_receive(struct radio *radio, uint64_t now_ns) {
    const struct radio_frame *const frame = &radio->frames[radio->first];
    if (radio->count == 0 || frame->arrives_ns > now_ns) {
        return NULL;
    }
    radio->first = (radio->first + 1) % RADIO_FRAMES;
    radio->count -= 1;
    return frame;
}

uint64_t radio_deadline(const struct radio *radio) {
    return radio->count == 0 ? UINT64_MAX : radio->frames[radio->first].arrives_ns;
}
