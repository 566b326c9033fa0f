/* Runs the C of an Estelle specification: `host STEPS`. NAME is the name of the specification.
 *
 * Systems take turns, a whole step each, and if none can do one, time goes on to the end of the
 * next delay. Prints the time and the number of each transition that fires. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define JOINED_2(one, other) one##other
#define JOINED(one, other) JOINED_2(one, other)
#define OF(function) JOINED(NAME, function)

static void show(struct NAME *stack, int32_t fired, uint64_t now) {
    for (int32_t at = 0; at < fired; at++) {
        printf("%" PRIu64 " %" PRId32 "\n", now, OF(_planned_transition)(stack, at));
    }
}

/* Numbers of systems, modules and transitions that do not exist do nothing. */
static void misuse(struct NAME *stack, int32_t systems) {
    bool is_refused = OF(_step)(stack, systems, 0) == 0 && OF(_step)(stack, -1, 0) < 0 &&
                      OF(_fire)(stack, -1, 0, 0) < 0 && OF(_fire)(stack, INT32_MAX, 0, 0) < 0 &&
                      OF(_fire)(stack, 0, INT32_MAX, 0) == 0 &&
                      OF(_planned_module)(stack, INT32_MAX) < 0 &&
                      OF(_planned_transition)(stack, -1) < 0 &&
                      OF(_select)(stack, -1, 0) == -1 && OF(_state)(stack, INT32_MAX) == -1;
    if (!is_refused) {
        printf("misuse\n");
    }
}

static void take_turns(struct NAME *stack, long left) {
    int32_t started = OF(_start)(stack, 0);
    if (started < 0) {
        printf("fault %" PRId32 "\n", -started);
        return;
    }
    int32_t systems = OF(_systems)(stack);
    misuse(stack, systems);
    int32_t turn = 0;
    uint64_t now = 0;
    while (left > 0) {
        int32_t fired = 0;
        for (int32_t tried = 0; tried < systems && fired == 0; tried++) {
            int32_t system = (turn + tried) % systems;
            fired = OF(_step)(stack, system, now);
            if (fired < 0) {
                printf("fault %" PRId32 "\n", -fired);
                return;
            }
            if (fired > 0) {
                show(stack, fired, now);
                turn = (system + 1) % systems;
                left--;
            }
        }
        if (fired == 0) {
            now = OF(_deadline)(stack);
            if (now == UINT64_MAX) {
                return;
            }
        }
    }
}

int main(int count, char **arguments) {
    struct NAME *stack = calloc(1, OF(_size)());
    if (stack == NULL) {
        return 1;
    }
    take_turns(stack, count > 1 ? atol(arguments[1]) : 1000);
    free(stack);
    return 0;
}
