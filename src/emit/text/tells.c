What begins where a host tells something, if some port is told; as `own.c`.

/* part begin_step */
#ifdef __GNUC__
static bool begin_later(struct STACK *stack) __attribute__((cold, noinline));
#endif

/* First comes what the last call left; false if what the host tells is to wait behind it. */
static bool begin_later(struct STACK *stack) {
    stack->shared.steps = 0;
    if (!run(stack) || !may_go_on(stack)) {
        return false;
    }
    stack->shared.steps += 1;
    return true;
}

/* A call of the host begins that tells something; false if something waits, or the answers have no
 * room. */
static inline bool begin_step(struct STACK *stack, uint64_t now_ns) {
    stack->now_ns = now_ns;
    stack->shared.steps = 1;
    return stack->shared.answered < stack->shared.limit;
}

/* part begin_inside */
/* An application tells something while it is called; false if something waits, or the answers may
 * have no room. */
static inline bool begin_inside(struct STACK *stack) {
    TAKES_SPARE
    if (stack->shared.answered >= stack->shared.limit ||
        stack->shared.steps >= stack->config.budget) {
        return false;
    }
    stack->shared.steps += 1;
    stack->told += 1;
    return true;
}

/* part begins_inside */
/* An application sends or tells something while it is called: whether that happens at once, since
 * nothing waits. */
static bool begins_inside(struct STACK *stack) {
    if (stack->waiting != 0 || !has_room(stack)) {
        return false;
    }
    stack->shared.steps += 1;
    stack->told += 1;
    return true;
}
