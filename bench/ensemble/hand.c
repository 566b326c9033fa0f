/*
 * A bypass written by hand, beside the four-layer stack of ensemble.loom without any rewrite or
 * pass. In: the C of that stack, whose structures it reads and writes. Out: hand_send and
 * hand_input for hosts, which do for a cast what the layers bottom, mnak and pt2pt do together, and
 * call the stack for all else. It is the code that an expert would write who knows all layers: one
 * guard, which is all tests, and then the effects.
 *
 * bytes of a frame: 0 view, 4 from, 5 to; 6 kind, 7 sender, 8 number; 12 kind, 13 number,
 * 17 acked
 */
#include "ensemble_stack.c"

enum { BOTTOM = 6, MNAK = 6, PT2PT = 9, ALL_HEADERS = BOTTOM + MNAK + PT2PT, TO_ALL = 255 };

enum ensemble_stack_send hand_send(struct ensemble_stack *stack,
                                   const struct ensemble_stack_group_attributes *with,
                                   const uint8_t *data, size_t length, uint64_t now_ns);
void hand_input(struct ensemble_stack *stack, uint8_t *data, size_t length, uint64_t now_ns);

/* Returns true if nothing waits in the stack, and the outputs have room. */
static inline bool hand_is_idle(const struct ensemble_stack *stack) {
    return !stack->shared.calling && stack->waiting == 0 &&
           stack->shared.taken == stack->shared.answered &&
           stack->shared.answered < stack->shared.limit;
}

/* Returns true if mnak can hold another cast. Those that it holds have numbers without gaps, up to
 * its next one. */
static inline bool hand_has_window(const struct mnak_session *mnak) {
    const struct sl_window *const window = &mnak->sent;
    const bool is_edged = window->edged && mnak->next - window->edge >= 1024;
    return !is_edged && window->span < 1024;
}

/* Puts a cast behind all that mnak holds. */
static inline void hand_hold(struct ensemble_stack *stack, struct ensemble_stack_buffer *buffer,
                             size_t length) {
    struct mnak_session *const mnak = &stack->mnak_session[0];
    struct sl_window *const window = &mnak->sent;
    if (window->span == 0) {
        window->first = mnak->next;
    }
    const uint32_t slot = (window->head + window->span) % 1024;
    window->span += 1;
    mnak->sent_held[slot / 64] |= (uint64_t)1 << slot % 64;
    const uint32_t number = (uint32_t)(buffer - stack->buffers);
    mnak->sent_items[slot] = number;
    mnak->next += 1;
    stack->messages[number] =
        (struct ensemble_stack_message){.data = buffer->bytes + HEADROOM - PT2PT,
                                        .buffer = buffer,
                                        .length = (uint32_t)(length + PT2PT)};
}

/* Writes the headers of a cast. */
static inline void transport_headers(const struct ensemble_stack *stack, uint8_t *frame) {
    sl_store_little32(frame, stack->bottom_session[0].view);
    frame[4] = stack->settings.rank;
    frame[5] = TO_ALL;
    frame[6] = 0;
    frame[7] = stack->settings.rank;
    sl_store_little32(frame + 8, stack->mnak_session[0].next);
    memset(frame + 12, 0, PT2PT);
}

enum ensemble_stack_send hand_send(struct ensemble_stack *stack,
                                   const struct ensemble_stack_group_attributes *with,
                                   const uint8_t *data, size_t length, uint64_t now_ns) {
    struct ensemble_stack_buffer *const buffer = stack->shared.free;
    if (with != NULL || !hand_is_idle(stack) || length > BUFFER_SIZE - HEADROOM || buffer == NULL ||
        buffer->next == NULL || stack->reserved != stack->config.reserve ||
        !hand_has_window(&stack->mnak_session[0])) {
        return ensemble_stack_group_send(stack, 0, with, data, length, now_ns);
    }
    uint8_t *const frame = buffer->bytes + HEADROOM - ALL_HEADERS;
    stack->now_ns = now_ns;
    take_buffer(stack);
    memcpy(frame + ALL_HEADERS, data, length);
    transport_headers(stack, frame);
    hand_hold(stack, buffer, length);
    stack->counters[FRAMES_OUT] += 1;
    ensemble_stack_leaves(stack->config.user, stack, frame, length + ALL_HEADERS, now_ns);
    return ENSEMBLE_STACK_SENT;
}

/* Returns the buffer in which a frame stands that was given to the host, or NULL. */
static inline struct ensemble_stack_buffer *hand_buffer(const struct ensemble_stack *stack,
                                                        uint8_t *data) {
    const size_t before = offsetof(struct ensemble_stack_buffer, bytes) + HEADROOM;
    struct ensemble_stack_buffer *const buffer = (void *)(data - before);
    const size_t last = stack->size - sizeof *stack->buffers;
    const bool is_inside = (uintptr_t)buffer - (uintptr_t)stack->buffers <= last;
    return is_inside && buffer->next == buffer ? buffer : NULL;
}

/* Returns the member whose next cast a frame is, if no other work is due with it. */
static inline struct mnak_member *hand_next_of(struct ensemble_stack *stack, const uint8_t *frame) {
    const bool is_cast = frame[5] == TO_ALL && frame[6] == 0 && frame[12] == 0;
    if (!is_cast || sl_load_little32(frame) != stack->bottom_session[0].view ||
        sl_set_has(stack->bottom_session[0].failed, 256, frame[4])) {
        return NULL;
    }
    const uint32_t at = find_mnak_member(stack, frame[7]);
    if (at == SL_NONE) {
        return NULL;
    }
    struct mnak_member *const member = at_mnak_member(stack, at);
    const bool is_next = sl_load_little32(frame + 8) == member->next;
    return is_next && member->early.span == 0 ? member : NULL;
}

/* Gives a message to the application. */
static inline void transport_deliver(struct ensemble_stack *stack, uint8_t origin, uint8_t *data,
                                     size_t length, struct ensemble_stack_buffer *buffer) {
    const struct ensemble_stack_group_attributes with = {.origin = origin};
    stack->counters[FRAMES_IN] += 1;
    stack->counters[DELIVERED] += 1;
    stack->shared.calling = true;
    ensemble_stack_arrived(stack->config.user, stack, 0, &with, data, length, stack->now_ns);
    stack->shared.calling = false;
    give_buffer(stack, buffer);
}

void hand_input(struct ensemble_stack *stack, uint8_t *data, size_t length, uint64_t now_ns) {
    struct ensemble_stack_buffer *const buffer = hand_buffer(stack, data);
    struct mnak_member *member = NULL;
    if (buffer != NULL && length >= ALL_HEADERS && length <= BUFFER_SIZE - HEADROOM &&
        hand_is_idle(stack)) {
        member = hand_next_of(stack, data);
    }
    if (member == NULL) {
        const struct ensemble_stack_frame frame = {.data = data, .length = length};
        ensemble_stack_input(stack, 0, &frame, 1, now_ns);
        return;
    }
    stack->now_ns = now_ns;
    stack->shared.steps = 1;
    member->next += 1;
    if ((int32_t)(member->next - member->highest) > 0) {
        member->highest = member->next;
    }
    member->asked = 0;
    transport_deliver(stack, member->rank, data + ALL_HEADERS, length - ALL_HEADERS,
                      buffer);
    if (stack->waiting != 0 || stack->shared.taken != stack->shared.answered) {
        run(stack);
    }
}
