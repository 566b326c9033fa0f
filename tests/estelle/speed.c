/* Lets the only system of a specification take steps, and prints how many transitions have fired.
 * NAME is the name of the specification. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define JOINED_2(one, other) one##other
#define JOINED(one, other) JOINED_2(one, other)
#define OF(function) JOINED(NAME, function)

int main(int count, char **arguments) {
    struct NAME *stack = calloc(1, OF(_size)());
    long left = count > 1 ? atol(arguments[1]) : 0;
    long total = 0;
    int32_t fired = stack == NULL || OF(_start)(stack, 0) < 0 ? 0 : 1;
    while (fired > 0 && left > 0) {
        fired = OF(_step)(stack, 0, 0);
        total += fired;
        left--;
    }
    printf("%ld\n", total);
    free(stack);
    return 0;
}
