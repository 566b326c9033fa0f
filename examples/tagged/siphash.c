/* SipHash-2-4 (Aumasson and Bernstein, 2012): what tagged.loom declares as `extern fn siphash`.
 * The name of the stack comes before that of the function; tagged.h says how it is called. */
#include "tagged.h"

static uint64_t turned(uint64_t word, unsigned by) {
    return word << by | word >> (64 - by);
}

static uint64_t little(const uint8_t *bytes, size_t count) {
    uint64_t word = 0;
    for (size_t at = 0; at < count; at += 1) {
        word |= (uint64_t)bytes[at] << (8 * at);
    }
    return word;
}

static void rounds(uint64_t v[4], unsigned count) {
    for (unsigned round = 0; round < count; round += 1) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turned(v[1], 13) ^ v[0];
        v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = turned(v[1], 17) ^ v[2];
        v[3] = turned(v[3], 21) ^ v[0];
        v[2] = turned(v[2], 32);
    }
}

uint64_t tagged_siphash(void *user, struct tagged_bytes16 key, const uint8_t *data,
                        size_t data_length) {
    (void)user; /* config.user; nothing needs to be remembered here */
    const uint64_t first = little(key.at, 8);
    const uint64_t second = little(key.at + 8, 8);
    uint64_t v[4] = {
        first ^ 0x736f6d6570736575, second ^ 0x646f72616e646f6d,
        first ^ 0x6c7967656e657261, second ^ 0x7465646279746573,
    };
    const size_t rest = data_length % 8;
    for (size_t at = 0; at + 8 <= data_length; at += 8) {
        const uint64_t word = little(data + at, 8);
        v[3] ^= word;
        rounds(v, 2);
        v[0] ^= word;
    }
    const uint64_t last = (uint64_t)data_length << 56 | little(data + data_length - rest, rest);
    v[3] ^= last;
    rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
