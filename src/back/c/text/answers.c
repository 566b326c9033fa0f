Outputs that wait for the host, and frames that leave; as `buffers.c`.

/* part waiting_outputs */
/* The bytes of the outputs that wait for the host. */
static inline size_t waiting_outputs(const struct STACK *stack) {
    return (size_t)((const char *)stack->shared.answered - (const char *)stack->shared.taken);
}

/* part has_room */
/* Returns true if the budget of the call allows another step, and its output has room. */
static inline bool has_room(const struct STACK *stack) {
    return stack->shared.steps < stack->config.budget &&
           waiting_outputs(stack) < stack->room;
}

/* part may_go_on */
/* Returns true if another step may be taken: not during a callback, and with room. */
static inline bool may_go_on(const struct STACK *stack) {
    return !is_calling(stack) && has_room(stack);
}

/* part goes_on */
/* Returns true if so many more steps may be taken, each behind one more output: the agenda is
 * empty, no callback runs, the budget of the call allows it, and the output of the last has
 * room. */
static bool goes_on(const struct STACK *stack, uint32_t steps) {
    return stack->waiting == 0 && !is_calling(stack) &&
           stack->shared.steps + steps <= stack->config.budget &&
           waiting_outputs(stack) + steps * sizeof *stack->answers < stack->room;
}

/* part make_room */
#ifdef __GNUC__
static void make_room(struct STACK *stack) __attribute__((cold));
#endif

/* Outputs that the host has not taken move to the front. */
static void make_room(struct STACK *stack) {
    const size_t left = (size_t)(stack->shared.answered - stack->shared.taken);
    memmove(stack->answers, stack->shared.taken, left * sizeof *stack->answers);
    stack->shared.taken = stack->answers;
    stack->shared.answered = stack->answers + left;
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
#ifdef __GNUC__
static inline void send_frame(struct STACK *stack, unsigned link, const uint8_t *data,
                              size_t length, struct STACK_buffer *buffer, bool came_in)
    __attribute__((always_inline));
#endif

/* A frame leaves by a link. Its parts are given one by one: so a compiler sees that the message is
 * used no more. */
static inline void send_frame(struct STACK *stack, unsigned link, const uint8_t *data,
                              size_t length, struct STACK_buffer *buffer, bool came_in) {
    stack->counters[FRAMES_OUT] += 1;
    stack->counters[CONSUMED] += came_in;
    struct STACK_output *const output = answer(stack, UPPER_FRAME);
    output->place = link;
    output->data = data;
    output->length = length;
    output->buffer = buffer;
    WHERE gathering links
    output->body = data;
    output->body_length = 0;
    END
}

/* part gather_frame */
#ifdef __GNUC__
static inline void gather_frame(struct STACK *stack, unsigned link, const uint8_t *data,
                                size_t length, struct STACK_buffer *buffer, bool came_in)
    __attribute__((always_inline));
#endif

/* The same for a frame whose body may stand in a stream. */
static inline void gather_frame(struct STACK *stack, unsigned link, const uint8_t *data,
                                size_t length, struct STACK_buffer *buffer, bool came_in) {
    stack->counters[FRAMES_OUT] += 1;
    stack->counters[CONSUMED] += came_in;
    struct STACK_output *const output = answer(stack, UPPER_FRAME);
    output->place = link;
    output->data = data;
    output->length = length - buffer->body_length;
    output->buffer = buffer;
    output->body = buffer->body;
    output->body_length = buffer->body_length;
}

/* part open_output */
/* The host may add to the outputs from now on, unless something waits on the agenda. */
static inline void open_output(struct STACK *stack) {
    WHERE agenda
    stack->shared.limit = stack->waiting == 0 ? stack->open : stack->answers;
    END
    WITHOUT agenda
    stack->shared.limit = stack->open;
    END
}

/* part is_other */
/* Returns true if an output waits for the host, and not for the callback of its link. */
static inline bool is_other(const struct STACK_output *output) {
    return output->next != UPPER_FRAME || !is_called(output->place);
}

/* part let_all_leave */
#ifdef __GNUC__
static void let_all_leave(struct STACK *stack) __attribute__((noinline));
#endif

/* Functions of links are called with the frames that wait for that, in order; other outputs stay.
 * The buffer of a frame is free by then. Each function may call the stack, which first lets the
 * next ones leave. */
static void let_all_leave(struct STACK *stack) {
    struct STACK_output *one = stack->shared.taken;
    while (one != stack->shared.answered) {
        if (is_other(one)) {
            one += 1;
            continue;
        }
        const unsigned link = one->place;
        const uint8_t *const data = one->data;
        const size_t length = one->length;
        WHERE gathering links
        const uint8_t *const body = one->body;
        const size_t body_length = one->body_length;
        END
        give_buffer(stack, one->buffer);
        stack->shared.answered -= 1;
        if (one != stack->shared.answered) {
            memmove(one, one + 1, (size_t)(stack->shared.answered - one) * sizeof *one);
        }
        stack->shared.limit = stack->answers;
        WHERE gathering links
        call_link(stack, link, data, length, body, body_length);
        END
        WITHOUT gathering links
        call_link(stack, link, data, length);
        END
        one = stack->shared.taken;
    }
    open_output(stack);
}

/* part let_leave */
#ifdef __GNUC__
static void let_leave(struct STACK *stack) __attribute__((noinline));
#endif

/* The same for outputs that are mostly one frame: nothing waits behind it. */
static void let_leave(struct STACK *stack) {
    struct STACK_output *const one = stack->shared.taken;
    if (one + 1 != stack->shared.answered || is_other(one)) {
        let_all_leave(stack);
        return;
    }
    give_buffer(stack, one->buffer);
    stack->shared.answered = one;
    WHERE gathering links
    call_link(stack, one->place, one->data, one->length, one->body, one->body_length);
    END
    WITHOUT gathering links
    call_link(stack, one->place, one->data, one->length);
    END
}
