What a host calls, for every stack; as `own.c`.

/* part may_go_on */
/* Whether another step may be taken: the budget of the call allows it, and its answer has room. */
static inline bool may_go_on(struct STACK *stack) {
    return stack->shared.steps < stack->config.budget &&
           (stack->shared.answered < stack->answers + OUTPUTS - 1 || make_room(stack));
}

/* Whether what stands first on the agenda may be handled. */
static inline bool may_handle(struct STACK *stack) {
    return may_go_on(stack);
}

/* part handle_waiting */
#ifdef __GNUC__
static bool handle_waiting(struct STACK *stack) __attribute__((cold, noinline));
#endif

/* Handles what waits on the agenda, as far as may be; false if some of it still waits. */
static bool handle_waiting(struct STACK *stack) {
    while (stack->waiting != 0 && may_handle(stack)) {
        stack->waiting -= 1;
        stack->shared.steps += 1;
        const struct STACK_event event = stack->agenda[stack->waiting];
        handle(stack, &event);
    }
    if (stack->waiting == 0) {
        open_up(stack);
    }
    return stack->waiting == 0;
}

/* part run */
/* Handles what is on the agenda, mostly nothing; false if some of it still waits. */
static inline bool run(struct STACK *stack) {
    return stack->waiting == 0 || handle_waiting(stack);
}

/* part begin_call */
/* A call of the host begins: first comes what the last one left. False if some of that still
 * waits. */
static inline bool begin_call(struct STACK *stack, uint64_t now_ns) {
    stack->now_ns = now_ns;
    stack->shared.steps = 0;
    return run(stack);
}

/* part STACK_size */
size_t STACK_size(const struct STACK_config *config) {
    const size_t for_each = sizeof(struct STACK_message) + sizeof(struct STACK_buffer);
    return _Alignof(max_align_t) - 1 + sizeof(struct STACK) + config->buffers * for_each;
}

/* part STACK_start */
struct STACK *STACK_start(void *memory, size_t size, const struct STACK_config *config,
                          uint64_t now_ns) {
    if (memory == NULL || config->buffers == 0 || config->buffers > (uint32_t)1 << 30 ||
        config->budget == 0 || size < STACK_size(config)) {
        return NULL;
    }
    const size_t alignment = _Alignof(max_align_t);
    const size_t odd = (uintptr_t)memory % alignment;
    struct STACK *const stack = (void *)((uint8_t *)memory + (odd == 0 ? 0 : alignment - odd));
    memset(stack, 0, sizeof *stack);
    stack->config = *config;
    stack->now_ns = now_ns;
    stack->messages = (void *)(stack + 1);
    stack->buffers = (void *)(stack->messages + config->buffers);
    stack->size = config->buffers * sizeof *stack->buffers;
    stack->last = stack->size - sizeof *stack->buffers;
    stack->shared.bar = UINTPTR_MAX;
    for (uint32_t left = config->buffers; left != 0; left -= 1) {
        give_buffer(stack, &stack->buffers[left - 1]);
    }
    stack->hash_odd = (config->hash_seed ^ 0x9e3779b97f4a7c15) | 1;
    stack->shared.answered = stack->answers;
    stack->shared.taken = stack->answers;
    open_up(stack);
    stack->timers.heap = stack->timer_heap;
    return begin(stack) ? stack : NULL;
}

/* part STACK_has_buffer */
bool STACK_has_buffer(struct STACK *stack) {
    while (stack->reserved != RESERVE && stack->shared.free != NULL) {
        struct STACK_buffer *const buffer = stack->shared.free;
        stack->shared.free = buffer->next;
        buffer->next = stack->reserve;
        stack->reserve = buffer;
        stack->reserved += 1;
    }
    stack->shared.bar = stack->reserved != RESERVE ? UINTPTR_MAX : 0;
    return stack->shared.free != NULL;
}

/* part is_inside */
/* Whether a frame stands in the memory of the buffers. */
static inline bool is_inside(const struct STACK *stack, const uint8_t *data) {
    return (uintptr_t)data - (uintptr_t)stack->buffers < stack->size;
}

/* part is_lent */
/* Whether a frame stands in a buffer that the host was given, so far from where that begins. Any
 * pointer may be asked for: where a buffer begins stands that it is taken. */
static inline bool is_lent(const struct STACK *stack, const uint8_t *data, size_t before) {
    if ((uintptr_t)data - (uintptr_t)stack->buffers - before > stack->last) {
        return false;
    }
    struct STACK_buffer *next;
    memcpy(&next, data - before, sizeof next);
    return (uintptr_t)next == (uintptr_t)data - before;
}

/* part copies */
#ifdef __GNUC__
static bool copies(struct STACK *stack, struct STACK_frame *frame) __attribute__((noinline));
#endif

/* Copies a frame that stands elsewhere into a buffer as the host is given them; false if there is
 * none, or if the frame is too long. */
static bool copies(struct STACK *stack, struct STACK_frame *frame) {
    if (frame->data == NULL || is_inside(stack, frame->data) ||
        frame->length > BUFFER_SIZE - HEADROOM || !STACK_has_buffer(stack)) {
        return false;
    }
    uint8_t *const data = take_buffer(stack)->bytes + HEADROOM;
    memcpy(data, frame->data, frame->length);
    frame->data = data;
    return true;
}

/* part elsewhere */
#ifdef __GNUC__
static bool take_copy(struct STACK *stack, LINK_GIVEN struct STACK_frame frame, uint64_t now_ns)
    __attribute__((noinline));
#endif

/* Takes a frame that does not stand in a buffer. */
static bool take_copy(struct STACK *stack, LINK_GIVEN struct STACK_frame frame, uint64_t now_ns) {
    if (!copies(stack, &frame)) {
        return false;
    }
    STOOD_ELSEWHERE
    return STACK_take(stack, LINK_HANDED &frame, now_ns);
}

/* part STACK_take */
bool STACK_take(struct STACK *stack, LINK_GIVEN const struct STACK_frame *frame,
                uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    stack->now_ns = now_ns;
    if (!is_lent(stack, frame->data, before) || frame->length > BUFFER_SIZE - HEADROOM) {
        return take_copy(stack, LINK_HANDED *frame, now_ns);
    }
    struct STACK_message message = blank((void *)(frame->data - before));
    message.length = (uint32_t)frame->length;
    message.came_in = true;
    stack->counters[FRAMES_IN] += 1;
    frame_arrives(stack, LINK_NUMBER, message);
    run(stack);
    return true;
}

/* part STACK_input_all */
size_t STACK_input_all(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                       size_t count, uint64_t now_ns) {
    size_t taken = 0;
    if (LINK_ONLY begin_call(stack, now_ns)) {
        while (taken < count && stack->waiting == 0 && may_go_on(stack)) {
            stack->shared.steps += 1;
            if (!STACK_take(stack, LINK_HANDED &frames[taken], now_ns)) {
                break;
            }
            taken += 1;
        }
    }
    return taken;
}

/* part STACK_deadline */
uint64_t STACK_deadline(struct STACK *stack) {
    return stack->waiting != 0 ? stack->now_ns : sl_timers_deadline(&stack->timers);
}

/* part STACK_expire */
void STACK_expire(struct STACK *stack, uint64_t now_ns) {
    if (!begin_call(stack, now_ns)) {
        return;
    }
    while (may_go_on(stack) && sl_timers_deadline(&stack->timers) <= now_ns) {
        struct sl_timer *const timer = sl_timers_first(&stack->timers);
        if (timer == NULL) {
            return;
        }
        sl_timer_stop(timer);
        stack->shared.steps += 1;
        expire(stack, timer->id);
        if (!run(stack)) {
            return;
        }
    }
}

/* part STACK_counters */
WENT

size_t STACK_counters(const struct STACK *stack, uint64_t *values, size_t capacity) {
    const size_t count = capacity < COUNTERS ? capacity : COUNTERS;
    for (size_t at = 0; at < count; at += 1) {
        values[at] = stack->counters[at];
    }
    DERIVED_COUNTERS
    for (uint32_t at = 0; at < stack->waiting && count > HELD; at += 1) {
        values[HELD] += stack->agenda[at].message.came_in;
    }
    return COUNTERS;
}
