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
static bool take_otherwise(struct STACK *stack, unsigned link, const struct STACK_frame *frame)
    __attribute__((noinline));
#endif

/* Takes a frame that goes no common path. */
static bool take_otherwise(struct STACK *stack, unsigned link, const struct STACK_frame *frame) {
    frame_arrives(stack, link, arrived(frame));
    run(stack);
    return true;
}

bool STACK_take(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    stack->now_ns = now_ns;
    if (!is_lent(stack, frame->data, before) || frame->length > BUFFER_SIZE - HEADROOM) {
        return false;
    }
    stack->counters[FRAMES_IN] += 1;
    switch (link) {
BYPASSES    default:
        return take_otherwise(stack, link, frame);
    }
}
