/* loads.h: words in the byte order of this machine, read at any address. */
#ifndef FLOOR_LOADS_H
#define FLOOR_LOADS_H
#include <stdint.h>
#include <string.h>

static inline uint64_t load64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t load32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint16_t load16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

#endif
