What a host calls, for every stack; as `own.c`.

/* part make_room */
#ifdef __GNUC__
static bool make_room(struct STACK *stack) __attribute__((cold));
#endif

/* Answers that the host has not taken move to the front; false if there is no room for more. */
static bool make_room(struct STACK *stack) {
    const size_t left = (size_t)(stack->told.answered - stack->told.taken);
    memmove(stack->answers, stack->told.taken, left * sizeof *stack->answers);
    stack->told.taken = stack->answers;
    stack->told.answered = stack->answers + left;
    return left < OUTPUTS;
}

/* part may_go_on */
/* Whether another step may be taken: the budget of the call allows it, and its answer has room. */
static inline bool may_go_on(struct STACK *stack) {
    return stack->steps < stack->config.budget &&
           (stack->told.answered != stack->answers + OUTPUTS || make_room(stack));
}

/* part handle_waiting */
/* Handles what waits on the agenda, as far as may be. */
static void handle_waiting(struct STACK *stack) {
    while (stack->waiting != 0 && may_go_on(stack)) {
        stack->waiting -= 1;
        stack->steps += 1;
        const struct STACK_event event = stack->agenda[stack->waiting];
        handle(stack, &event);
    }
}

/* part run */
/* Handles what is on the agenda, mostly nothing; false if some of it still waits. */
static inline bool run(struct STACK *stack) {
    if (stack->waiting != 0) {
        handle_waiting(stack);
        return stack->waiting == 0;
    }
    return true;
}

/* part begin_call */
/* A call of the host begins: first comes what the last one left. False if some of that still
 * waits. */
static inline bool begin_call(struct STACK *stack, uint64_t now_ns) {
    stack->now_ns = now_ns;
    stack->steps = 0;
    return run(stack);
}

/* part STACK_size */
size_t STACK_size(const struct STACK_config *config) {
    const size_t for_each =
        sizeof(struct STACK_message) + sizeof(uint32_t) + sizeof(bool) + BUFFER_SIZE;
    return _Alignof(max_align_t) - 1 + sizeof(struct STACK) + config->buffers * for_each;
}

/* part STACK_start */
struct STACK *STACK_start(void *memory, size_t size, const struct STACK_config *config,
                          uint64_t now_ns) {
    if (memory == NULL || config->buffers == 0 || config->buffers > (uint32_t)1 << 30 ||
        size < STACK_size(config)) {
        return NULL;
    }
    const size_t alignment = _Alignof(max_align_t);
    const size_t odd = (uintptr_t)memory % alignment;
    struct STACK *const stack = (void *)((uint8_t *)memory + (odd == 0 ? 0 : alignment - odd));
    memset(stack, 0, sizeof *stack);
    stack->config = *config;
    stack->now_ns = now_ns;
    stack->messages = (void *)(stack + 1);
    stack->buffers.free = (void *)(stack->messages + config->buffers);
    stack->buffers.area = (void *)(stack->buffers.free + config->buffers);
    stack->buffers.taken = (void *)(stack->buffers.area + (size_t)config->buffers * BUFFER_SIZE);
    stack->buffers.count = config->buffers;
    stack->buffers.size = BUFFER_SIZE;
    sl_buffers_start(&stack->buffers);
    stack->hash_odd = (config->hash_seed ^ 0x9e3779b97f4a7c15) | 1;
    stack->told.answered = stack->answers;
    stack->told.taken = stack->answers;
    stack->timers.heap = stack->timer_heap;
    stack->timers.place = stack->timer_place;
    return begin(stack) ? stack : NULL;
}

/* part STACK_buffer */
uint8_t *STACK_buffer(struct STACK *stack, size_t *room) {
    if (stack->buffers.left <= RESERVE) {
        *room = 0;
        return NULL;
    }
    const uint32_t buffer = sl_buffers_take(&stack->buffers);
    *room = BUFFER_SIZE - HEADROOM;
    return sl_buffers_at(&stack->buffers, buffer) + HEADROOM;
}

/* part STACK_input */
size_t STACK_input(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                   size_t count, uint64_t now_ns) {
    if (!begin_call(stack, now_ns)) {
        return 0;
    }
    size_t taken = 0;
    while (taken < count && may_go_on(stack)) {
        const struct STACK_frame *const frame = &frames[taken];
        const uint32_t buffer = sl_buffers_index(&stack->buffers, frame->data, HEADROOM);
        if (buffer == SL_NONE || frame->length > BUFFER_SIZE - HEADROOM) {
            break;
        }
        struct STACK_message message = blank(stack, buffer);
        message.data = frame->data;
        message.length = (uint32_t)frame->length;
        message.came_in = true;
        stack->counters[FRAMES_IN] += 1;
        stack->steps += 1;
        taken += 1;
        frame_arrives(stack, link, message);
        if (!run(stack)) {
            break;
        }
    }
    return taken;
}

/* part STACK_next */
enum STACK_next STACK_next(struct STACK *stack, struct STACK_output *output) {
    if (stack->told.taken == stack->told.answered) {
        return UPPER_IDLE;
    }
    *output = *stack->told.taken;
    stack->told.taken += 1;
    return output->next;
}

/* part STACK_done */
void STACK_done(struct STACK *stack, const struct STACK_output *output) {
    if (output->buffer != SL_NONE) {
        sl_buffers_give(&stack->buffers, output->buffer);
    }
}

/* part STACK_deadline */
uint64_t STACK_deadline(const struct STACK *stack) {
    return stack->waiting != 0 ? stack->now_ns : sl_timers_deadline(&stack->timers);
}

/* part STACK_expire */
void STACK_expire(struct STACK *stack, uint64_t now_ns) {
    if (!begin_call(stack, now_ns)) {
        return;
    }
    while (may_go_on(stack) && sl_timers_deadline(&stack->timers) <= now_ns) {
        const uint32_t timer = sl_timers_first(&stack->timers);
        if (timer == SL_NONE) {
            return;
        }
        sl_timers_stop(&stack->timers, timer);
        stack->steps += 1;
        expire(stack, timer);
        if (!run(stack)) {
            return;
        }
    }
}

/* part STACK_counters */
size_t STACK_counters(const struct STACK *stack, uint64_t *values, size_t capacity) {
    const size_t count = capacity < COUNTERS ? capacity : COUNTERS;
    for (size_t at = 0; at < count; at += 1) {
        values[at] = stack->counters[at];
    }
    for (uint32_t at = 0; at < stack->waiting && count > HELD; at += 1) {
        values[HELD] += stack->agenda[at].message.came_in;
    }
    return COUNTERS;
}
