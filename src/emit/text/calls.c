What a host calls, where ports call functions of applications: instead of what has the same name in
`interface.c`, and what only these stacks have; as `own.c`.

/* part may_go_on */
/* Whether the budget of the call allows another step, and its answer has room. */
static inline bool has_room(struct STACK *stack) {
    return stack->shared.steps < stack->config.budget &&
           (stack->shared.answered + 1 < stack->end LESS_BEHIND || make_room(stack));
}

/* Whether another step may be taken, since no function of an application is being called. */
static inline bool may_go_on(struct STACK *stack) {
    return !stack->shared.calling && has_room(stack);
}

/* part may_handle */
WHERE agenda
/* Whether what stands first on the agenda may be handled. What belongs to the step that has just
 * been taken follows at once, while a function of an application is being called, too. */
static inline bool may_handle(struct STACK *stack) {
    return stack->events[stack->agenda[stack->waiting - 1].event].follows || may_go_on(stack);
}
END

/* part takes */
/* Whether so many events of an application are taken now. One that is called leaves a place for
 * what it gives back. */
static inline bool takes(const struct STACK *stack, uint32_t events) {
    WHERE agenda
    return stack->shared.calling ? stack->crowd + events < stack->config.events
                                 : stack->waiting == 0;
    END
    WITHOUT agenda
    return !stack->shared.calling || events < stack->config.events;
    END
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
