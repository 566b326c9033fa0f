/* The people at the doors of doorbell.stl: they press, and print what they see. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TO_PRESS, TO_SEE };

struct people {
    int32_t presses;
    int32_t most;
    int32_t fault;
};

static int32_t door_with_light(struct doorbell *stack, int32_t module) {
    for (int32_t door = 1; door <= 2; door++) {
        if (doorbell_street_door_head(stack, module, door) >= 0) {
            return door;
        }
    }
    return 0;
}

int32_t doorbell_street_initialise(void *user, struct doorbell *stack, int32_t module,
                                   uint64_t now_ns) {
    struct people *people = user;
    people->presses = 0;
    printf("%" PRIu64 " people %" PRId32 "\n", now_ns, doorbell_street_get_first(stack, module));
    return doorbell_street_set_waiting(stack, module, 40);
}

int32_t doorbell_street_select(void *user, struct doorbell *stack, int32_t module,
                               uint64_t now_ns) {
    struct people *people = user;
    (void)now_ns;
    if (door_with_light(stack, module) != 0) {
        return TO_SEE;
    }
    return people->presses < people->most ? TO_PRESS : -1;
}

static int32_t see(struct doorbell *stack, int32_t module, uint64_t now_ns) {
    int32_t door = door_with_light(stack, module);
    switch (doorbell_street_door_head(stack, module, door)) {
    case DOORBELL_FRONT_LIGHT:
        printf("%" PRIu64 " door %" PRId32 ": light %" PRId32 "\n", now_ns, door,
               doorbell_street_door_get_light_shade(stack, module, door));
        break;
    case DOORBELL_FRONT_OPEN:
        printf("%" PRIu64 " door %" PRId32 ": open\n", now_ns, door);
        break;
    default:
        printf("door %" PRId32 ": unknown\n", door);
    }
    return doorbell_street_door_take(stack, module, door);
}

int32_t doorbell_street_fire(void *user, struct doorbell *stack, int32_t module, int32_t transition,
                             uint64_t now_ns) {
    struct people *people = user;
    if (transition == TO_SEE) {
        return see(stack, module, now_ns);
    }
    people->presses++;
    int32_t waiting = doorbell_street_get_waiting(stack, module) + 1;
    int32_t fault = doorbell_street_set_waiting(stack, module, waiting);
    if (fault == 0 && people->fault == 0) {
        fault = doorbell_street_door_output_press(stack, module, 1 + people->presses % 2, waiting,
                                                  people->presses > 1);
    }
    return fault == 0 ? people->fault : fault;
}

/* Modules, points and parameters that do not exist. */
static void misuse(struct doorbell *stack, int32_t module) {
    int32_t light = doorbell_street_door_get_light_shade(stack, module, 1);
    printf("misuse %" PRId32 " %" PRId32 " %" PRId32 " %" PRId32 " %" PRId32 " %" PRId32 "\n",
           doorbell_street_door_head(stack, -1, 1), doorbell_street_door_head(stack, module, 3),
           doorbell_street_door_take(stack, module, 1), doorbell_street_door_take(stack, 99, 1),
           doorbell_street_door_output_press(stack, module, 0, 1, true), light);
}

/* Outputs between steps until the queue is full. */
static void overflow(struct doorbell *stack, int32_t module) {
    int32_t count = 0;
    int32_t fault = 0;
    while (fault == 0 && count < 1000) {
        fault = doorbell_street_door_output_press(stack, module, 2, 0, false);
        count += fault == 0;
    }
    printf("full: %" PRId32 " fault %" PRId32 "\n", count, -fault);
}

static void run(struct doorbell *stack) {
    uint64_t now_ns = 0;
    int32_t fired = doorbell_start(stack, now_ns);
    int32_t people = -1;
    for (int32_t at = 0; at < doorbell_systems(stack); at++) {
        int32_t module = doorbell_system(stack, at);
        people = doorbell_body(stack, module) == 1 ? module : people;
    }
    while (fired >= 0 && now_ns != UINT64_MAX) {
        fired = 0;
        for (int32_t system = 0; system < doorbell_systems(stack) && fired >= 0; system++) {
            int32_t own = doorbell_step(stack, system, now_ns);
            fired = own < 0 ? own : fired + own;
        }
        if (fired == 0) {
            now_ns = doorbell_deadline(stack);
        }
    }
    if (fired < 0) {
        printf("fault %" PRId32 "\n", -fired);
    } else {
        misuse(stack, people);
        overflow(stack, people);
    }
}

int main(int count, char **arguments) {
    struct people people = {.most = 3, .fault = count > 1 ? atoi(arguments[1]) : 0};
    struct doorbell *stack = calloc(1, doorbell_size());
    if (stack == NULL) {
        return 1;
    }
    doorbell_set_user(stack, &people);
    run(stack);
    free(stack);
    return 0;
}
