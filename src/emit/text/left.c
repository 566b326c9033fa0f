What a host calls, where links call functions of its own: instead of what has the same name in
`interface.c`; as `own.c`.

/* part run */
/* Handles what is on the agenda, mostly nothing, and lets all leave that is to; false if some of it
 * still waits. */
static inline bool run(struct STACK *stack) {
    WHERE agenda
    if (stack->waiting != 0) {
        handle_waiting(stack);
    }
    END
    if (stack->shared.answered != stack->shared.taken IS_CALLING) {
        let_leave(stack);
    }
    return stack->waiting == 0;
}

/* part STACK_next_other */
enum STACK_next STACK_next_other(struct STACK *stack, struct STACK_output *output) {
    struct STACK_output *const first = stack->shared.taken;
    for (struct STACK_output *one = first; one != stack->shared.answered; one += 1) {
        if (IS_OTHER) {
            *output = *one;
            memmove(first + 1, first, (size_t)(one - first) * sizeof *one);
            stack->shared.taken += 1;
            return output->next;
        }
    }
    return UPPER_IDLE;
}
