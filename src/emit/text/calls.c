What a host calls, where ports call functions of applications: instead of what has the same name in
`interface.c`, and what only these stacks have; as `own.c`.

/* part may_go_on */
/* Whether another step may be taken: no function of an application is being called, the budget of
 * the call allows it, and its answer has room. */
static inline bool may_go_on(struct STACK *stack) {
    return !stack->calling && stack->shared.steps < stack->config.budget &&
           (stack->shared.answered != stack->answers + OUTPUTS || make_room(stack));
}

/* part takes */
/* Whether so many events of an application are taken now. Those of a function that is being called
 * wait behind all others. */
static inline bool takes(const struct STACK *stack, uint32_t events) {
    return stack->calling ? AGENDA - stack->waiting >= events : stack->waiting == 0;
}

/* part last */
/* Puts an event on the agenda, behind all that wait there already; there is room for it. */
static void last(struct STACK *stack, struct STACK_event event) {
    memmove(stack->agenda + 1, stack->agenda, stack->waiting * sizeof event);
    stack->agenda[0] = event;
    stack->waiting += 1;
    stack->shared.limit = stack->answers;
}

/* part begin_call */
/* A call of the host begins: first comes what the last one left. False if some of that still
 * waits. A call from inside of a function of an application belongs to the one that is going on. */
static inline bool begin_call(struct STACK *stack, uint64_t now_ns) {
    if (stack->calling) {
        return false;
    }
    stack->now_ns = now_ns;
    stack->shared.steps = 0;
    return run(stack);
}
