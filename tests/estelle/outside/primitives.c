/* The primitive routines of primitives.stl. Each prints its arguments. */

#include <inttypes.h>
#include <stdio.h>

int32_t primitives_mixed(void *user, int32_t seed, bool on, int32_t letter, int32_t tint) {
    (void)user;
    printf("call mixed %" PRId32 " %d %" PRId32 " %" PRId32 "\n", seed, on, letter, tint);
    return seed * 3 + (on ? 100 : 0) + letter + tint;
}

void primitives_bump(void *user, int32_t *level, bool *on, double *ratio, int32_t rise) {
    (void)user;
    printf("call bump %" PRId32 " %d %.3f %" PRId32 "\n", *level, *on, *ratio, rise);
    *level += rise;
    *on = !*on;
    *ratio += 0.25;
}

double primitives_half(void *user, double ratio) {
    (void)user;
    printf("call half %.3f\n", ratio);
    return ratio / 2;
}

int32_t primitives_following(void *user, int32_t tint) {
    (void)user;
    printf("call following %" PRId32 "\n", tint);
    return tint + 1;
}

bool primitives_may(void *user, int32_t level) {
    (void)user;
    printf("call may %" PRId32 "\n", level);
    return level < 9;
}

void primitives_note(void *user) {
    (void)user;
    printf("call note\n");
}

bool primitives_below(void *user, int32_t level) {
    (void)user;
    return level < 9;
}
