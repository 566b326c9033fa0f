/*
 * hand_send and hand_input for drivers of a stack of ensemble.loom: with -DHAND those of hand.c,
 * else calls of the stack itself.
 */
#ifndef HAND_H
#define HAND_H

#include "ensemble_stack.h"

#ifdef HAND
enum ensemble_stack_send hand_send(struct ensemble_stack *stack,
                                   const struct ensemble_stack_group_attributes *with,
                                   const uint8_t *data, size_t length, uint64_t now_ns);
void hand_input(struct ensemble_stack *stack, uint8_t *data, size_t length, uint64_t now_ns);
#else
static inline enum ensemble_stack_send hand_send(struct ensemble_stack *stack,
                                                 const struct ensemble_stack_group_attributes *with,
                                                 const uint8_t *data, size_t length,
                                                 uint64_t now_ns) {
    return ensemble_stack_group_send(stack, 0, with, data, length, now_ns);
}

static inline void hand_input(struct ensemble_stack *stack, uint8_t *data, size_t length,
                              uint64_t now_ns) {
    const struct ensemble_stack_frame frame = {.data = data, .length = length};
    ensemble_stack_input(stack, 0, &frame, 1, now_ns);
}
#endif

#endif
