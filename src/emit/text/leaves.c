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
/* The same of one that did not come in, and stands where it need not be given back. */
static inline void leave_untaken(struct STACK *stack, unsigned link, const uint8_t *data,
                                 size_t length) {
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

/* part fill_spare */
/* An answer that was made where it is kept is copied to a buffer in which it may wait, if there is
 * one: whose it is may end before it leaves. */
static void fill_spare(struct STACK *stack) {
    if (stack->spare == NULL && has_buffer(stack)) {
        stack->spare = take_buffer(stack);
        memcpy(stack->spare->bytes + HEADROOM - KEPT_BYTES,
               KEPT_PLACE, KEPT_BYTES);
    }
}

/* part take_spare */
/* An application that is called behind such an answer may take buffers, and steps: that one comes
 * first. */
static void take_spare(struct STACK *stack) {
    if (stack->shared.stands) {
        stack->shared.stands = false;
        stack->shared.steps += 1;
        stack->told += 1;
        fill_spare(stack);
    }
}

/* part send_spare_first */
/* Such an answer leaves by a link before all that waits for that; at once, if no buffer is left in
 * which it could wait. */
static void send_spare_first(struct STACK *stack, unsigned link, const uint8_t *data,
                             uint32_t length) {
    fill_spare(stack);
    if (stack->spare == NULL) {
        leave_untaken(stack, link, data, length);
        return;
    }
    struct STACK_message message = blank(stack->spare);
    stack->spare = NULL;
    message.data -= length;
    message.length = length;
    send_first(stack, link, &message);
}
