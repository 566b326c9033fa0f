What a host calls, where what frames start has a bypass: instead of what has the same name in
`interface.c`; as `own.c`.

/* part arrived */
/* A frame that stands in a buffer, as a message. */
static inline struct STACK_message arrived(const struct STACK_frame *frame) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    struct STACK_message message = blank((void *)(frame->data - before));
    message.length = (uint32_t)frame->length;
    message.came_in = true;
    return message;
}

/* part leave */
#ifdef __GNUC__
static bool leave(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                  enum STACK_path path)
    __attribute__((cold, noinline));
#endif

/* Takes a frame that left a fast path, or has none. */
static bool leave(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                  enum STACK_path path) {
    stack->paths[path] += 1;
    frame_arrives(stack, link, arrived(frame));
    run(stack);
    return true;
}

/* part STACK_take */
UNEXPECTED

bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    stack->now_ns = now_ns;
    if (!is_lent(stack, frame->data, before) || frame->length > BUFFER_SIZE - HEADROOM) {
        return take_copy(stack, LINK_HANDED *frame, now_ns);
    }
BYPASSES}

/* part take_apart */
/* Takes a frame that does not go its fast path: that might take more steps than are left. */
static bool take_apart(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                       uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    struct STACK_frame own = *frame;
    stack->now_ns = now_ns;
    if (own.length > BUFFER_SIZE - HEADROOM ||
        (!is_lent(stack, own.data, before) && !copies(stack, &own))) {
        return false;
    }
    stack->counters[FRAMES_IN] += 1;
    return leave(stack, LINK_NUMBER, &own, UPPER_PATH_NONE);
}

/* part STACK_input_all */
/* Whether a fast path may take all of its steps, and the answers of all of them have room. */
static inline bool may_go_ahead(struct STACK *stack) {
    return stack->shared.steps + AHEAD <= stack->config.budget &&
           (stack->shared.answered < stack->open ||
            (make_room(stack) && stack->shared.answered < stack->open));
}

#ifdef __GNUC__
static size_t take_all(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                       size_t count, uint64_t now_ns)
    __attribute__((noinline));
#endif

/* Takes frames in order, if nothing waits; returns how many. */
static size_t take_all(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                       size_t count, uint64_t now_ns) {
    size_t taken = 0;
    if (LINK_ONLY begin_call(stack, now_ns)) {
        while (taken < count && stack->waiting == 0 && may_go_on(stack)) {
            stack->shared.steps += 1;
            const struct STACK_frame *const frame = &frames[taken];
            if (!(may_go_ahead(stack) ? STACK_take(stack, LINK_HANDED frame, now_ns)
                                      : take_apart(stack, LINK_HANDED frame, now_ns))) {
                break;
            }
            taken += 1;
        }
    }
    return taken;
}

/* A host whose compiler sees this function calls the one above. */
size_t STACK_input_all(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                       size_t count, uint64_t now_ns) {
    return take_all(stack, link, frames, count, now_ns);
}

/* part STACK_paths */
size_t STACK_paths(const struct STACK *stack, uint64_t *values, size_t capacity) {
    const size_t count = capacity < UPPER_PATHS ? capacity : UPPER_PATHS;
    for (size_t at = 0; at < count; at += 1) {
        values[at] = stack->paths[at];
    }
    DERIVED_PATHS
    return UPPER_PATHS;
}
