/* Lets another program call the C of an Estelle specification. NAME is its name.
 *
 * Reads lines with the name of a function, two numbers and a time, and prints the result of each.
 * Where the host chooses it prints `? SOURCE MODULE COUNT`, calls what it reads meanwhile, and goes
 * on with N at `= N 0 0`. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOINED_2(one, other) one##other
#define JOINED(one, other) JOINED_2(one, other)
#define OF(function) JOINED(NAME, function)

static FILE *answers;

/* Reads a line and calls its function; the number behind `=`, else -1. */
static int64_t call(struct NAME *stack) {
    char name[32];
    int32_t one;
    int32_t other;
    uint64_t now_ns;
    int read = scanf("%31s %" SCNd32 " %" SCNd32 " %" SCNu64, name, &one, &other, &now_ns);
    if (read != 4) {
        exit(0);
    }
    if (strcmp(name, "=") == 0) {
        return one;
    }
    if (strcmp(name, "deadline") == 0) {
        fprintf(answers, "%" PRIu64 "\n", OF(_deadline)(stack));
    } else {
        int32_t result = strcmp(name, "start") == 0    ? OF(_start)(stack, now_ns)
                         : strcmp(name, "plan") == 0   ? OF(_plan)(stack, one, now_ns)
                         : strcmp(name, "ready") == 0  ? OF(_ready)(stack, one, now_ns)
                         : strcmp(name, "fire") == 0   ? OF(_fire)(stack, one, other, now_ns)
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
        fprintf(answers, "%" PRId32 "\n", result);
    }
    fflush(answers);
    return -1;
}

#ifdef HOST_CHOOSES
uint32_t OF(_choose)(void *user, uint32_t source, int32_t module, uint32_t count) {
    fprintf(answers, "? %" PRIu32 " %" PRId32 " %" PRIu32 "\n", source, module, count);
    fflush(answers);
    int64_t chosen = -1;
    while (chosen < 0) {
        chosen = call(user);
    }
    return (uint32_t)chosen;
}
#endif

int main(void) {
    struct NAME *stack = calloc(1, OF(_size)());
    /* The C of others may print: its text goes to stderr. */
    answers = fdopen(dup(STDOUT_FILENO), "w");
    if (stack == NULL || answers == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef HOST_CHOOSES
    OF(_set_user)(stack, stack);
#endif
    for (;;) {
        call(stack);
    }
}
