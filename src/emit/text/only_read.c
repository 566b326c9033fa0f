The same where what frames start has bypasses that let go of their frames, and only read them:
instead of what has the same name in `borrowed.c`; as `own.c`.

/* part is_lent */

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
    if (!copies(stack, &own)) {
        stack->counters[FRAMES_IN] -= 1;
        return false;
    }
    stack->paths[path] += 1;
    frame_arrives(stack, link, arrived(&own, buffer_of(&own)));
    run(stack);
    return true;
}

/* part take_lent */

/* part STACK_take */
bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns) {
    stack->now_ns = now_ns;
    return take_by_path(stack, LINK_HANDED frame, NULL);
}

/* part take_apart */
/* Takes a frame that does not go its fast path: that might take more steps than are left. */
static bool take_apart(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                       uint64_t now_ns) {
    stack->now_ns = now_ns;
    if (frame->length > BUFFER_SIZE - HEADROOM) {
        return false;
    }
    stack->counters[FRAMES_IN] += 1;
    return leave(stack, LINK_NUMBER, frame, UPPER_PATH_NONE);
}
