What a host calls, where what frames start has bypasses that let go of their frames: instead of what
has the same name in `bypass.c`; as `own.c`.

/* part elsewhere */

/* part copied */

/* part arrived */
/* A frame as a message, in a buffer if it stands in one. */
static inline struct STACK_message arrived(const struct STACK_frame *frame,
                                           struct STACK_buffer *buffer) {
    struct STACK_message message = {BLANK};
    message.length = (uint32_t)frame->length;
    message.came_in = true;
    return message;
}

/* The buffer that a frame stands in. */
static inline struct STACK_buffer *buffer_of(const struct STACK_frame *frame) {
    return (void *)(frame->data - offsetof(struct STACK_buffer, bytes) - HEADROOM);
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
    struct STACK_frame own = *frame;
    if (!is_inside(stack, own.data) && !copies(stack, &own)) {
        stack->counters[FRAMES_IN] -= 1;
        return false;
    }
    stack->paths[path] += 1;
    frame_arrives(stack, link, arrived(&own, buffer_of(&own)));
    run(stack);
    return true;
}

/* part take_by_path */
UNEXPECTED

#ifdef __GNUC__
static inline bool take_by_path(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                                struct STACK_buffer *buffer) __attribute__((always_inline));
#endif

/* Takes a frame, which stands in this buffer, or elsewhere and is only read: a fast path lets go
 * of it. */
static inline bool take_by_path(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                                struct STACK_buffer *buffer) {
BYPASSES}

/* part take_lent */
#ifdef __GNUC__
static bool take_lent(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame)
    __attribute__((noinline));
#endif

/* Takes a frame that stands in a buffer which the host was given. */
static bool take_lent(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame) {
    struct STACK_buffer *const buffer = buffer_of(frame);
    return is_lent(stack, frame->data, offsetof(struct STACK_buffer, bytes) + HEADROOM) &&
           take_by_path(stack, LINK_HANDED frame, buffer);
}

/* part STACK_take */
bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns) {
    stack->now_ns = now_ns;
    if (is_inside(stack, frame->data)) {
        return take_lent(stack, LINK_HANDED frame);
    }
    return take_by_path(stack, LINK_HANDED frame, NULL);
}

/* part take_apart */
/* Takes a frame that does not go its fast path: that might take more steps than are left. */
static bool take_apart(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                       uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    const bool is_its_own = !is_inside(stack, frame->data);
    stack->now_ns = now_ns;
    if (frame->length > BUFFER_SIZE - HEADROOM ||
        (!is_its_own && !is_lent(stack, frame->data, before))) {
        return false;
    }
    stack->counters[FRAMES_IN] += 1;
    return leave(stack, LINK_NUMBER, frame, UPPER_PATH_NONE);
}
