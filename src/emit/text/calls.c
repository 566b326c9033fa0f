What a host calls, where ports call functions of applications: instead of what has the same name in
`interface.c`, and what only these stacks have; as `own.c`.

/* part may_go_on */
/* Whether the budget of the call allows another step, and its answer has room. */
static inline bool has_room(struct STACK *stack) {
    return stack->shared.steps < stack->config.budget &&
           (stack->shared.answered != stack->answers + OUTPUTS || make_room(stack));
}

/* Whether another step may be taken, since no function of an application is being called. */
static inline bool may_go_on(struct STACK *stack) {
    return !stack->shared.calling && has_room(stack);
}

/* part handle_waiting */
#ifdef __GNUC__
static bool handle_waiting(struct STACK *stack) __attribute__((cold, noinline));
#endif

/* Handles what is on the agenda, as far as may be; false if some of it still waits. What belongs to
 * the step that has just been taken follows at once, while a function of an application is being
 * called, too. */
static bool handle_waiting(struct STACK *stack) {
    while (stack->waiting != 0 &&
           (stack->agenda[stack->waiting - 1].follows || may_go_on(stack))) {
        stack->waiting -= 1;
        stack->shared.steps += 1;
        const struct STACK_event event = stack->agenda[stack->waiting];
        handle(stack, &event);
    }
    if (stack->waiting == 0) {
        stack->shared.limit = stack->answers + OUTPUTS;
    }
    return stack->waiting == 0;
}

/* part takes */
/* Whether so many events of an application are taken now. */
static inline bool takes(const struct STACK *stack, uint32_t events) {
    return stack->shared.calling ? stack->waiting + events <= AGENDA : stack->waiting == 0;
}

/* part begin_call */
/* A call of the host begins: first comes what the last one left. False if some of that still
 * waits. A call from inside of a function of an application belongs to the one that is going on. */
static inline bool begin_call(struct STACK *stack, uint64_t now_ns) {
    if (stack->shared.calling) {
        return false;
    }
    stack->now_ns = now_ns;
    stack->shared.steps = 0;
    return run(stack);
}
