/* One direction of a radio link: frames leave at its rate, arrive later, and have wrong bits. */
#ifndef RADIO_H
#define RADIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RADIO_LONGEST = 1800, /* bytes of a frame */
    RADIO_FRAMES = 256,   /* under way at most */
    RADIO_AHEAD_NS = 1000000, /* how long a frame may wait for those before it */
};

/* A frame under way. */
struct radio_frame {
    uint64_t arrives_ns;
    size_t length;
    uint8_t bytes[RADIO_LONGEST];
};

/* A direction. */
struct radio {
    uint64_t bits_per_s;
    uint64_t delay_ns;
    uint64_t free_ns;    /* when the last frame has left */
    double error_rate;   /* the share of bits that are wrong */
    double right_bits;   /* how many bits are right before the next wrong one */
    uint64_t random;     /* the state of the random numbers, not 0 */
    size_t first, count; /* the frames under way */
    struct radio_frame frames[RADIO_FRAMES];
};

/* True if a frame that is sent now leaves soon. */
bool radio_has_room(const struct radio *radio, uint64_t now_ns);

/* Sets the share of bits that are wrong from now on. */
void radio_set_errors(struct radio *radio, double error_rate);

/* Sends a frame. It is lost if too many are under way. */
void radio_send(struct radio *radio, const uint8_t *bytes, size_t length, uint64_t now_ns);

/* Returns the next frame that has arrived, or NULL. It is valid until the next call. */
const struct radio_frame *radio_receive(struct radio *radio, uint64_t now_ns);

/* Returns when the next frame arrives, or UINT64_MAX. */
uint64_t radio_deadline(const struct radio *radio);

#endif
