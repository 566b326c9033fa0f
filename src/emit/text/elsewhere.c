What a host calls, where no frame stands in a buffer of the stack: that is specialised, and none
stood in one when it was recorded. Instead of what has the same name in `interface.c`; as
`own.c`.

/* part STACK_buffer */
uint8_t *STACK_buffer(struct STACK *stack, size_t *room) {
    stack->counters[COUNTED + STACK_CUT_BUFFER] += 1;
    *room = 0;
    return NULL;
}
