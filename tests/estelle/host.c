/* Runs the C of an Estelle specification. NAME is the name of the specification.
 *
 * `host STEPS`: systems take turns, a whole step each, and if none can do one, time goes on to the
 * end of the next delay. Prints the time and the number of each transition that fires.
 *
 * `host`: calls the functions whose names it reads, with two numbers and a time, and prints their
 * results. Where the host chooses it prints `? SOURCE MODULE COUNT`, calls what it reads, and goes
 * on with N at `= N 0 0`. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads a line and calls its function; the number behind `=`, else -1. */
static int64_t call(struct NAME *stack) {
    char name[32];
    int32_t one;
    int32_t other;
    uint64_t now;
    int read = scanf("%31s %" SCNd32 " %" SCNd32 " %" SCNu64, name, &one, &other, &now);
    if (read != 4) {
        exit(0);
    }
    if (strcmp(name, "=") == 0) {
        return one;
    }
    if (strcmp(name, "deadline") == 0) {
        printf("%" PRIu64 "\n", OF(_deadline)(stack));
    } else {
        int32_t result = strcmp(name, "start") == 0    ? OF(_start)(stack, now)
                         : strcmp(name, "plan") == 0   ? OF(_plan)(stack, one, now)
                         : strcmp(name, "ready") == 0  ? OF(_ready)(stack, one, now)
                         : strcmp(name, "fire") == 0   ? OF(_fire)(stack, one, other, now)
                         : strcmp(name, "state") == 0  ? OF(_state)(stack, one)
                         : strcmp(name, "body") == 0   ? OF(_body)(stack, one)
                         : strcmp(name, "parent") == 0 ? OF(_parent)(stack, one)
                         : strcmp(name, "variable") == 0       ? OF(_variable)(stack, one)
                         : strcmp(name, "generation") == 0     ? OF(_generation)(stack, one)
                         : strcmp(name, "systems") == 0        ? OF(_systems)(stack)
                         : strcmp(name, "system") == 0         ? OF(_system)(stack, one)
                         : strcmp(name, "planned_module") == 0 ? OF(_planned_module)(stack, one)
                         : strcmp(name, "planned_transition") == 0
                             ? OF(_planned_transition)(stack, one)
                             : INT32_MIN;
        printf("%" PRId32 "\n", result);
    }
    fflush(stdout);
    return -1;
}

#ifdef HOST_CHOOSES
uint32_t OF(_choose)(void *user, uint32_t source, int32_t module, uint32_t count) {
    printf("? %" PRIu32 " %" PRId32 " %" PRIu32 "\n", source, module, count);
    fflush(stdout);
    int64_t chosen = -1;
    while (chosen < 0) {
        chosen = call(user);
    }
    return (uint32_t)chosen;
}
#endif

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
#ifdef HOST_CHOOSES
    OF(_set_user)(stack, stack);
#endif
    if (count > 1) {
        take_turns(stack, atol(arguments[1]));
    } else {
        while (true) {
            call(stack);
        }
    }
    free(stack);
    return 0;
}
