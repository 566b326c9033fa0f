What leaves by links, where some of them call a function of the host: what only these stacks have;
as `own.c`.

/* part let_leave */
/* Functions of links are called with the frames that wait for that, in order; other answers stay.
 * Each may call the stack, which first lets the next ones leave. */
static void let_leave(struct STACK *stack) {
    struct STACK_output *one = stack->shared.taken;
    while (one != stack->shared.answered) {
        if (IS_OTHER) {
            one += 1;
            continue;
        }
        const unsigned link = one->place;
        const uint8_t *const data = one->data;
        const size_t length = one->length;
        give_buffer(stack, one->buffer);
        stack->shared.answered -= 1;
        memmove(one, one + 1, (size_t)(stack->shared.answered - one) * sizeof *one);
        stack->shared.limit = stack->answers;
        BY_LINK
        one = stack->shared.taken;
    }
    if (stack->waiting == 0) {
        open_up(stack);
    }
}

/* part leave_now */
/* A message leaves by a link, when nothing else is under way: its function is called, which may
 * call the stack when it has read the message. */
static inline void leave_now(struct STACK *stack, unsigned link,
                             const struct STACK_message *message) {
    const uint8_t *const data = message->data;
    const size_t length = message->length;
    stack->counters[FRAMES_OUT] += 1;
    stack->counters[CONSUMED] += message->came_in;
    give_buffer(stack, message->buffer);
    BY_LINK
}

/* part leave_untaken */
/* The same of one that did not come in, in the buffer that is taken next. */
static inline void leave_untaken(struct STACK *stack, unsigned link,
                                 const struct STACK_message *message) {
    const uint8_t *const data = message->data;
    const size_t length = message->length;
    stack->counters[FRAMES_OUT] += 1;
    BY_LINK
}

/* part leave_last */
/* The same as the last that is done of an event: where others are under way, it waits for them. */
static inline void leave_last(struct STACK *stack, unsigned link,
                              const struct STACK_message *message) {
    const bool is_last = stack->waiting == 0 IS_CALLING;
    if (is_last && stack->shared.answered == stack->shared.taken) {
        leave_now(stack, link, message);
        return;
    }
    send_frame(stack, link, message);
    if (is_last) {
        let_leave(stack);
    }
}

/* part send_first */
/* A message leaves by a link, before all that waits for that. */
static void send_first(struct STACK *stack, unsigned link, const struct STACK_message *message) {
    send_frame(stack, link, message);
    struct STACK_output *const first = stack->shared.taken;
    const struct STACK_output own = stack->shared.answered[-1];
    memmove(first + 1, first, (size_t)(stack->shared.answered - 1 - first) * sizeof own);
    *first = own;
}
