The public API of a stack; as `buffers.c`, but each stack has all functions.

/* part STACK_size */
size_t STACK_size(const struct STACK_config *config) {
    const uint64_t size = memory_layout(config).end;
    return size < SIZE_MAX ? (size_t)size : SIZE_MAX;
}

/* part STACK_check */
enum STACK_refusal STACK_check(const struct STACK_config *config, size_t size) {
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
    if (!settings_fit(config)) {
        return UPPER_WRONG_SETTING;
    }
    if (size < STACK_size(config) || size == SIZE_MAX) {
        return UPPER_LITTLE_MEMORY;
    }
    return UPPER_FITS;
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
    stack->now_ns = now_ns;
    stack->hash_odd = (config->hash_seed ^ 0x9e3779b97f4a7c15) | 1;
    stack->messages = (void *)(first + all.messages);
    stack->buffers = (void *)(first + all.buffers);
    stack->shared.bar = UINTPTR_MAX;
    for (uint32_t left = config->buffers; left != 0; left -= 1) {
        give_buffer(stack, &stack->buffers[left - 1]);
    }
    stack->answers = (void *)(first + all.answers);
    stack->size = config->buffers * sizeof *stack->buffers;
    stack->room = config->outputs * sizeof *stack->answers;
    stack->end = stack->answers + config->outputs;
    stack->open = config->outputs > AHEAD && config->budget > AHEAD ? stack->end - AHEAD
                                                                    : stack->answers;
    stack->shared.answered = stack->answers;
    stack->shared.taken = stack->answers;
    WHERE agenda
    stack->agenda = (void *)(first + all.agenda);
    stack->events = (void *)(first + all.events);
    memset(stack->events, 0, sizeof *stack->events);
    for (uint32_t left = config->events + 3; left != 0; left -= 1) {
        stack->events[left].next = stack->free_event;
        stack->free_event = left;
    }
    END
    begin(stack);
    open_output(stack);
    return stack;
}

/* part STACK_deadline */
uint64_t STACK_deadline(struct STACK *stack) {
    WHERE agenda
    return stack->waiting != 0 ? stack->now_ns : next_deadline(stack);
    END
    WITHOUT agenda
    return next_deadline(stack);
    END
}

/* part STACK_expire */
void STACK_expire(struct STACK *stack, uint64_t now_ns) {
    begin_call(stack, now_ns);
    while (stack->waiting == 0 && may_go_on(stack) && next_deadline(stack) <= now_ns) {
        if (!expire_next(stack)) {
            return;
        }
        run(stack);
    }
}

/* part STACK_counters */
size_t STACK_counters(const struct STACK *stack, uint64_t *values, size_t capacity) {
    const size_t count = capacity < COUNTERS ? capacity : COUNTERS;
    for (size_t at = 0; at < count; at += 1) {
        values[at] = stack->counters[at];
    }
    WHERE agenda
    for (uint32_t at = 0; at < stack->waiting && count > HELD; at += 1) {
        values[HELD] += stack->events[stack->agenda[at].event].message.came_in;
    }
    END
    return COUNTERS;
}

/* part STACK_next_other */
WHERE other outputs
/* The next output that is no frame of a link which calls a function. */
enum STACK_next STACK_next_other(struct STACK *stack, struct STACK_output *output) {
    struct STACK_output *const first = stack->shared.taken;
    for (struct STACK_output *one = first; one != stack->shared.answered; one += 1) {
        WHERE calling links
        if (!is_other(one)) {
            continue;
        }
        END
        *output = *one;
        memmove(first + 1, first, (size_t)(one - first) * sizeof *one);
        stack->shared.taken += 1;
        WHERE listening
        hand_over(stack, output);
        END
        return output->next;
    }
    return UPPER_IDLE;
}
END
