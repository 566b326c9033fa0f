/* Systems take turns, a whole step each, and if none can do one, time goes on to the end of the
 * next delay. Prints the time, the transition and the state behind it of all that fires, and
 * the counters. NAME is the name of the specification. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define JOINED_2(one, other) one##other
#define JOINED(one, other) JOINED_2(one, other)
#define OF(function) JOINED(NAME, function)

static void show(struct NAME *stack, int32_t fired, uint64_t now) {
    for (int32_t at = 0; at < fired; at++) {
        int32_t module = OF(_planned_module)(stack, at);
        int32_t transition = OF(_planned_transition)(stack, at);
        printf("%" PRIu64 " %" PRId32 " %" PRId32 "\n", now, transition,
               OF(_state)(stack, module));
    }
}

static void take_turns(struct NAME *stack) {
    int32_t fault = OF(_start)(stack, 0);
    int32_t systems = OF(_systems)(stack);
    int32_t turn = 0;
    uint64_t now = 0;
    while (fault == 0 && now != UINT64_MAX) {
        int32_t fired = 0;
        for (int32_t tried = 0; tried < systems && fired == 0; tried++) {
            int32_t system = (turn + tried) % systems;
            fired = OF(_step)(stack, system, now);
            if (fired < 0) {
                fault = fired;
            } else if (fired > 0) {
                show(stack, fired, now);
                turn = (system + 1) % systems;
            }
        }
        if (fired == 0) {
            now = OF(_deadline)(stack);
        }
    }
    if (fault < 0) {
        printf("fault %" PRId32 "\n", -fault);
    }
    printf("unconnected %" PRId32 " terminated_with %" PRId32 "\n", OF(_unconnected)(stack),
           OF(_terminated_with)(stack));
}

int main(void) {
    struct NAME *stack = calloc(1, OF(_size)());
    if (stack == NULL) {
        return 1;
    }
    take_turns(stack);
    free(stack);
    return 0;
}
