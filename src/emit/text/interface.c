What a host calls, for every stack; as `own.c`.

/* part may_go_on */
/* Whether another step may be taken: the budget of the call allows it, and its answer has room. */
static inline bool may_go_on(struct STACK *stack) {
    return stack->shared.steps < stack->config.budget &&
           (stack->shared.answered + 1 < stack->end || make_room(stack));
}

/* part may_handle */
WHERE agenda
/* Whether what stands first on the agenda may be handled. */
static inline bool may_handle(struct STACK *stack) {
    return may_go_on(stack);
}
END

/* part handle_waiting */
WHERE agenda
#ifdef __GNUC__
static bool handle_waiting(struct STACK *stack) __attribute__((cold, noinline));
#endif

/* Handles what waits on the agenda, as far as may be; false if some of it still waits. */
static bool handle_waiting(struct STACK *stack) {
    while (stack->waiting != 0 && may_handle(stack)) {
        stack->shared.steps += 1;
        const struct STACK_place first = take_next(stack);
        handle(stack, &first, &stack->events[first.event]);
        give_event(stack, first.event);
    }
    if (stack->waiting == 0) {
        open_up(stack);
    }
    return stack->waiting == 0;
}
END

/* part run */
WHERE agenda
/* Handles what is on the agenda, mostly nothing; false if some of it still waits. */
static inline bool run(struct STACK *stack) {
    return stack->waiting == 0 || handle_waiting(stack);
}
END
WITHOUT agenda
/* Nothing ever waits on an agenda. */
static inline bool run(struct STACK *stack) {
    (void)stack;
    return true;
}
END

/* part begin_call */
/* A call of the host begins: first comes what the last one left. False if some of that still
 * waits. */
static inline bool begin_call(struct STACK *stack, uint64_t now_ns) {
    stack->now_ns = now_ns;
    stack->shared.steps = 0;
    return run(stack);
}

/* part memory_layout */
/* Where the parts of the memory of a stack stand, in bytes from its beginning, and how many it has
 * in all. */
struct memory_layout {
    uint64_t answers;
    WHERE held
    uint64_t messages;
    END
    uint64_t buffers;
    WHERE agenda
    uint64_t events;
    uint64_t agenda;
    END
    uint64_t end;
};

/* The next part of the memory: room for `count` things of a size behind `end`, each part at a
 * multiple of eight bytes. Gives where it stands. */
static inline uint64_t lay_out(uint64_t *end, uint64_t count, uint64_t size) {
    const uint64_t at = (*end + 7) & ~(uint64_t)7;
    *end = at + count * size;
    return at;
}

/* The parts of the memory, in order. Counts of 32 bits overflow nowhere. */
static struct memory_layout memory_layout(const struct STACK_config *config) {
    struct memory_layout all = {.end = sizeof(struct STACK)};
    all.answers = lay_out(&all.end, config->outputs, sizeof(struct STACK_output));
    WHERE held
    all.messages = lay_out(&all.end, config->buffers, sizeof(struct STACK_message));
    END
    all.buffers = lay_out(&all.end, config->buffers, sizeof(struct STACK_buffer));
    WHERE agenda
    /* The first event is empty, a step may put one more there than wait, and one or two stand
     * there while they are handled. */
    all.events = lay_out(&all.end, (uint64_t)config->events + 4, sizeof(struct STACK_event));
    all.agenda = lay_out(&all.end, (uint64_t)config->events + 1 + KEPT, sizeof(struct STACK_place));
    END
    all.end += _Alignof(max_align_t) - 1;
    return all;
}

/* part STACK_size */
size_t STACK_size(const struct STACK_config *config) {
    const uint64_t size = memory_layout(config).end;
    return size < SIZE_MAX ? (size_t)size : SIZE_MAX;
}

/* part STACK_check */
enum STACK_refusal STACK_check(const struct STACK_config *config, size_t size) {
    struct STACK_config own = *config;
    if (config->buffers == 0 || config->buffers <= config->reserve) {
        return UPPER_FEW_BUFFERS;
    }
    if (config->outputs < FEWEST_OUTPUTS) {
        return UPPER_FEW_OUTPUTS;
    }
    if (config->events < FEWEST_EVENTS) {
        return UPPER_FEW_EVENTS;
    }
    if (config->budget == 0) {
        return UPPER_NO_BUDGET;
    }
    if (!settings_hold(&own)) {
        return UPPER_WRONG_SETTING;
    }
    return size < STACK_size(config) || size == SIZE_MAX ? UPPER_LITTLE_MEMORY : UPPER_FITS;
}

/* part STACK_start */
struct STACK *STACK_start(void *memory, size_t size, const struct STACK_config *config,
                          uint64_t now_ns) {
    if (memory == NULL || STACK_check(config, size) != UPPER_FITS) {
        return NULL;
    }
    const size_t alignment = _Alignof(max_align_t);
    const size_t odd = (uintptr_t)memory % alignment;
    uint8_t *const first = (uint8_t *)memory + (odd == 0 ? 0 : alignment - odd);
    const struct memory_layout all = memory_layout(config);
    struct STACK *const stack = (void *)first;
    memset(stack, 0, sizeof *stack);
    stack->config = *config;
    settings_hold(&stack->config);
    stack->now_ns = now_ns;
    WHERE held
    stack->messages = (void *)(first + all.messages);
    END
    stack->buffers = (void *)(first + all.buffers);
    stack->size = config->buffers * sizeof *stack->buffers;
    stack->last = stack->size - sizeof *stack->buffers;
    stack->shared.bar = UINTPTR_MAX;
    for (uint32_t left = config->buffers; left != 0; left -= 1) {
        give_buffer(stack, &stack->buffers[left - 1]);
    }
    stack->hash_odd = (config->hash_seed ^ 0x9e3779b97f4a7c15) | 1;
    stack->answers = (void *)(first + all.answers);
    stack->end = stack->answers + config->outputs;
    stack->open = stack->answers;
    if (config->budget > AHEAD && config->outputs > AHEAD) {
        stack->open = stack->end - 1 - AHEAD;
    }
    memset(stack->answers, 0, config->outputs * sizeof *stack->answers);
    stack->shared.answered = stack->answers;
    stack->shared.taken = stack->answers;
    open_up(stack);
    WHERE agenda
    stack->agenda = (void *)(first + all.agenda);
    stack->events = (void *)(first + all.events);
    memset(stack->events, 0, sizeof *stack->events);
    for (uint32_t left = config->events + 3; left != 0; left -= 1) {
        stack->events[left].next = stack->free_event;
        stack->free_event = left;
    }
    END
    WHERE timers
    stack->timers.heap = stack->timer_heap;
    END
    begin(stack);
    return stack;
}

/* part STACK_has_buffer */
bool STACK_has_buffer(struct STACK *stack) {
    while (stack->reserved != stack->config.reserve && stack->shared.free != NULL) {
        struct STACK_buffer *const buffer = stack->shared.free;
        stack->shared.free = buffer->next;
        buffer->next = stack->reserve;
        stack->reserve = buffer;
        stack->reserved += 1;
    }
    stack->shared.bar = stack->reserved != stack->config.reserve ? UINTPTR_MAX : 0;
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
static bool take_copy(struct STACK *stack, LINK_GIVEN struct STACK_frame frame, uint64_t now_ns);

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

/* part copied */
/* Takes a frame that does not stand in a buffer. */
static bool take_copy(struct STACK *stack, LINK_GIVEN struct STACK_frame frame, uint64_t now_ns) {
    if (!copies(stack, &frame)) {
        return false;
    }
    STOOD_ELSEWHERE
    return STACK_take(stack, LINK_HANDED &frame, now_ns);
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
    WHERE agenda
    if (stack->waiting != 0) {
        return stack->now_ns;
    }
    END
    WHERE timers
    return sl_timers_deadline(&stack->timers);
    END
    WITHOUT timers
    (void)stack;
    return UINT64_MAX;
    END
}

/* part STACK_expire */
void STACK_expire(struct STACK *stack, uint64_t now_ns) {
    if (!begin_call(stack, now_ns)) {
        return;
    }
    WHERE timers
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
    END
}

/* part STACK_counters */
WENT

size_t STACK_counters(const struct STACK *stack, uint64_t *values, size_t capacity) {
    const size_t count = capacity < COUNTERS ? capacity : COUNTERS;
    for (size_t at = 0; at < count; at += 1) {
        values[at] = stack->counters[at];
    }
    DERIVED_COUNTERS
    WHERE agenda
    for (uint32_t at = 0; at < stack->waiting && count > HELD; at += 1) {
        values[HELD] += stack->events[stack->agenda[at].event].message.came_in;
    }
    END
    return COUNTERS;
}
