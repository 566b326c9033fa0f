What a host calls, where what frames start has a bypass: instead of what has the same name in
`interface.c`; as `own.c`.

/* part STACK_take */
/* A frame that stands in a buffer, as a message. */
static inline struct STACK_message arrived(const struct STACK_frame *frame) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    struct STACK_message message = blank((void *)(frame->data - before));
    message.length = (uint32_t)frame->length;
    message.came_in = true;
    return message;
}

#ifdef __GNUC__
static bool leave(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                  enum STACK_path path)
    __attribute__((cold, noinline));
#endif

/* Takes a frame that left a common path, or has none. */
static bool leave(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                  enum STACK_path path) {
    stack->paths[path] += 1;
    frame_arrives(stack, link, arrived(frame));
    run(stack);
    return true;
}

UNEXPECTED

bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    stack->now_ns = now_ns;
    if (!is_lent(stack, frame->data, before) || frame->length > BUFFER_SIZE - HEADROOM) {
        return take_copy(stack, LINK_HANDED *frame, now_ns);
    }
    stack->counters[FRAMES_IN] += 1;
BYPASSES}

/* part STACK_paths */
size_t STACK_paths(const struct STACK *stack, uint64_t *values, size_t capacity) {
    const size_t count = capacity < UPPER_PATHS ? capacity : UPPER_PATHS;
    for (size_t at = 0; at < count; at += 1) {
        values[at] = stack->paths[at];
    }
DERIVED    return UPPER_PATHS;
}
