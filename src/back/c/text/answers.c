Outputs that wait for the host, and frames that leave; as `buffers.c`.

/* part has_room */
/* Returns true if the budget of the call allows another step, and its output has room. */
static inline bool has_room(const struct STACK *stack) {
    const size_t waiting = (size_t)(stack->shared.answered - stack->shared.taken);
    return stack->shared.steps < stack->config.budget && waiting < stack->config.outputs;
}

/* part may_go_on */
/* Returns true if another step may be taken: not during a callback, and with room. */
static inline bool may_go_on(const struct STACK *stack) {
    return !is_calling(stack) && has_room(stack);
}

/* part goes_on */
/* Returns true if another step may follow one more output: the agenda is empty, the budget of the
 * call allows it, and its own output has room. */
static bool goes_on(const struct STACK *stack) {
    const size_t waiting = (size_t)(stack->shared.answered - stack->shared.taken);
    return stack->waiting == 0 && stack->shared.steps < stack->config.budget &&
           waiting + 1 < stack->config.outputs;
}

/* part make_room */
#ifdef __GNUC__
static void make_room(struct STACK *stack) __attribute__((cold));
#endif

/* Outputs that the host has not taken move to the front. */
static void make_room(struct STACK *stack) {
    const size_t left = (size_t)(stack->shared.answered - stack->shared.taken);
    settle(stack);
    memmove(stack->answers, stack->shared.taken, left * sizeof *stack->answers);
    stack->shared.taken = stack->answers;
    stack->shared.answered = stack->answers + left;
    stack->settled = stack->answers;
}

/* part answer */
/* Appends an output for the host, and returns it; each step leaves room for one. The caller writes
 * each member that the host may read. */
static inline struct STACK_output *answer(struct STACK *stack, enum STACK_next next) {
    if (stack->shared.answered == stack->end) {
        make_room(stack);
    }
    struct STACK_output *const output = stack->shared.answered;
    stack->shared.answered += 1;
    output->next = next;
    return output;
}

/* part send_frame */
/* A message leaves by a link. */
static inline void send_frame(struct STACK *stack, unsigned link,
                              const struct STACK_message *message) {
    stack->counters[FRAMES_OUT] += 1;
    stack->counters[CONSUMED] += message->came_in;
    struct STACK_output *const output = answer(stack, UPPER_FRAME);
    output->place = link;
    output->data = message->data;
    output->length = message->length;
    output->buffer = message->buffer;
}

/* part is_other */
/* Returns true if an output waits for the host, and not for the callback of its link. */
static inline bool is_other(const struct STACK_output *output) {
    return output->next != UPPER_FRAME || !is_called(output->place);
}

/* part let_leave */
/* Functions of links are called with the frames that wait for that, in order; other outputs stay.
 * The buffer of a frame is free by then. Each function may call the stack, which first lets the
 * next ones leave. */
static void let_leave(struct STACK *stack) {
    struct STACK_output *one = stack->shared.taken;
    while (one != stack->shared.answered) {
        if (is_other(one)) {
            one += 1;
            continue;
        }
        const struct STACK_output frame = *one;
        give_buffer(stack, frame.buffer);
        stack->shared.answered -= 1;
        if (one != stack->shared.answered) {
            memmove(one, one + 1, (size_t)(stack->shared.answered - one) * sizeof *one);
        }
        stack->shared.limit = stack->answers;
        call_link(stack, frame.place, frame.data, frame.length);
        one = stack->shared.taken;
    }
}
