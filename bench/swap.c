/*
 * An application that swaps the layers of a slot: what `loom bench layers` counts of a swap. In:
 * the C of swap.loom, compiled as swap_stack. Out: with `count`, how many swaps there were, each by
 * a step: the application tells the slot to swap, and is told that the other layer is active.
 */
#include "swap_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWAPS = 1000 };

/* Returns the layer that is active, of which the application is told. */
__attribute__((noinline, noclone)) uint8_t swap_bench_step(struct swap_stack *stack,
                                                           uint8_t variant) {
    struct swap_stack_output output;
    uint8_t active = UINT8_MAX;
    swap_stack_messages_swap(stack, 0, variant, 1);
    while (swap_stack_next(stack, &output) != SWAP_STACK_IDLE) {
        if (output.next == SWAP_STACK_SWAPPED) {
            active = output.with.messages_swapped.variant;
        }
        swap_stack_done(stack, &output);
    }
    return active;
}

int main(int count, char **words) {
    if (count != 2 || strcmp(words[1], "count") != 0) {
        fprintf(stderr, "usage: %s count\n", words[0]);
        return 2;
    }
    struct swap_stack_config config;
    swap_stack_config_default(&config);
    const size_t size = swap_stack_size(&config);
    struct swap_stack *const stack = swap_stack_start(malloc(size), size, &config, 0);
    if (stack == NULL) {
        return 2;
    }
    for (uint32_t number = 1; number <= SWAPS; number += 1) {
        const uint8_t variant = number % 2;
        if (swap_bench_step(stack, variant) != variant) {
            fprintf(stderr, "a swap was not told\n");
            return 1;
        }
    }
    printf("messages %d\n", SWAPS);
    return 0;
}
