/* Plays all situations, or the one that is named: `main nobody_listens`. */
#include "situations.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    void (*play)(void);
} situations[] = {
#define NAMED(situation) {#situation, situation},
    SITUATIONS(NAMED)
#undef NAMED
};

int main(int count, char **arguments) {
    for (size_t at = 0; at < sizeof situations / sizeof *situations; at += 1) {
        if (count < 2 || strcmp(arguments[1], situations[at].name) == 0) {
            puts(situations[at].name);
            fflush(stdout);
            situations[at].play();
        }
    }
    return 0;
}
