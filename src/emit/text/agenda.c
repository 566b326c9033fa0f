What waits on the agenda, and what the host is told: what every stack has; as `own.c`.

/* part put */
/* Puts an event on the agenda, before all that wait there already. There must be a place. */
static void put(struct STACK *stack, const struct STACK_event *event) {
    const uint32_t place = stack->free_event;
    stack->free_event = stack->events[place].next;
    stack->crowd += 1;
    stack->events[place] = *event;
    stack->agenda[stack->waiting] = (struct STACK_place){
        .work = event->work, .instance = event->instance, .event = place};
    stack->waiting += 1;
    stack->shared.limit = stack->answers;
}

/* part take_next */
/* Takes what stands first off the agenda. Its event stays where it is until that is handled. */
static inline struct STACK_place take_next(struct STACK *stack) {
    stack->waiting -= 1;
    const struct STACK_place first = stack->agenda[stack->waiting];
    stack->crowd -= first.event != 0;
    return first;
}

/* part give_event */
/* An event is handled: another may stand in its place. */
static inline void give_event(struct STACK *stack, uint32_t place) {
    if (place != 0) {
        stack->events[place].next = stack->free_event;
        stack->free_event = place;
    }
}

/* part later */
/* Puts an event on the agenda, before all that wait there already, if there is a place for it and
 * for those of its instant that come before it; else it is lost, and counted. */
static void later(struct STACK *stack, const struct STACK_event *event) {
    if (stack->crowd + event->before < stack->config.events) {
        put(stack, event);
    } else if (event->message.data != NULL) {
        drop(stack, event->message.buffer, event->message.came_in, STACK_AGENDA_FULL);
    } else {
        stack->counters[UNSENT + STACK_AGENDA_FULL] += 1;
    }
}

/* part kept */
/* Puts the start or the end of an instance on the agenda, before all that wait there already: its
 * place is always free. */
static void kept(struct STACK *stack, const struct STACK_event *event) {
    if (stack->waiting > stack->config.events + KEPT) {
        stack->counters[UNSENT + STACK_AGENDA_FULL] += 1;
        return;
    }
    stack->agenda[stack->waiting] =
        (struct STACK_place){.work = event->work, .instance = event->instance};
    stack->waiting += 1;
    stack->shared.limit = stack->answers;
}

/* part sink */
/* What was put on the agenda behind so many others goes behind all of them. */
static void sink(struct STACK *stack, uint32_t others) {
    if (stack->waiting == others) {
        return;
    }
    const struct STACK_place last = stack->agenda[others];
    memmove(stack->agenda + 1, stack->agenda, others * sizeof last);
    stack->agenda[0] = last;
}

/* part behind_all */
/* Puts an event on the agenda, behind all that wait there already, if there is a place for it. */
static void behind_all(struct STACK *stack, const struct STACK_event *event) {
    const uint32_t others = stack->waiting;
    later(stack, event);
    sink(stack, others);
}

/* part kept_last */
/* Puts the start or the end of an instance on the agenda, behind all that wait there already. */
static void kept_last(struct STACK *stack, const struct STACK_event *event) {
    const uint32_t others = stack->waiting;
    kept(stack, event);
    sink(stack, others);
}

/* part let_others_go */
/* Puts an event on the agenda that calls an application: it lets all go before it that is under
 * way. */
static void let_others_go(struct STACK *stack, const struct STACK_event *event) {
    const uint32_t others = stack->waiting;
    later(stack, event);
    if (stack->waiting != others) {
        stack->agenda[others].waited = true;
    }
    sink(stack, others);
}

/* part opened_last */
/* The same with what tells an application of a session: its place is always free. */
static void opened_last(struct STACK *stack, const struct STACK_event *event) {
    const uint32_t others = stack->waiting;
    kept(stack, event);
    if (stack->waiting != others) {
        stack->agenda[others].waited = true;
    }
    sink(stack, others);
}

/* part next_step */
/* Puts an event on the agenda that is handled next, within this step: its place is always free. */
static void next_step(struct STACK *stack, const struct STACK_event *event) {
    put(stack, event);
    stack->shared.steps -= 1;
}

/* part reverse */
/* Turns round what was put on the agenda since it held so many events: the first comes first. */
static void reverse(struct STACK *stack, uint32_t since) {
    for (uint32_t one = since, other = stack->waiting; one + 1 < other; one += 1) {
        other -= 1;
        const struct STACK_place place = stack->agenda[one];
        stack->agenda[one] = stack->agenda[other];
        stack->agenda[other] = place;
    }
}

/* part at_once */
/* The first of what this instant has put on the agenda is handled within this step. */
static void at_once(struct STACK *stack) {
    stack->shared.steps -= stack->waiting > stack->since;
}

/* part precede */
/* What was put on the agenda since it held `later` events comes before what was put there since it
   held `first`. Gives the place behind it. */
static uint32_t precede(struct STACK *stack, uint32_t first, uint32_t later) {
    for (; later < stack->waiting; first += 1, later += 1) {
        const struct STACK_place place = stack->agenda[later];
        for (uint32_t at = later; at > first; at -= 1) {
            stack->agenda[at] = stack->agenda[at - 1];
        }
        stack->agenda[first] = place;
    }
    return first;
}

/* part answer */
/* What the host is to do, behind all that waits for it; each step leaves room for one. */
static inline struct STACK_output *answer(struct STACK *stack, enum STACK_next next) {
    struct STACK_output *const output = stack->shared.answered;
    stack->shared.answered += 1;
    output->next = next;
    return output;
}

/* part open_up */
/* From here on a call that begins a step takes it at once, while a fast path may take all steps
 * of its own, and their answers have room. */
static inline void open_up(struct STACK *stack) {
    stack->shared.limit = stack->open;
}

/* part send_frame */
/* A message leaves by a link. */
static inline void send_frame(struct STACK *stack, unsigned link,
                              const struct STACK_message *message) {
    stack->counters[FRAMES_OUT] += 1;
    stack->counters[CONSUMED] += message->came_in;
    struct STACK_output *const output = answer(stack, UPPER_FRAME);
    output->place = link;
    output->data = message->data;
    output->length = message->length;
    output->buffer = message->buffer;
}

/* part behind */
/* How many answers leave behind an application that is being called. */
static inline uint32_t behind(const struct STACK *stack) {
    return stack->shared.leaves OR_SPARE;
}

/* part make_room */
#ifdef __GNUC__
static bool make_room(struct STACK *stack) __attribute__((cold));
#endif

/* Answers that the host has not taken move to the front; false if there is no room for more. */
static bool make_room(struct STACK *stack) {
    const size_t left = (size_t)(stack->shared.answered - stack->shared.taken);
    memmove(stack->answers, stack->shared.taken, left * sizeof *stack->answers);
    stack->shared.taken = stack->answers;
    stack->shared.answered = stack->answers + left;
    return left < stack->config.outputs LESS_BEHIND;
}

/* part goes_on */
/* Whether another step may be taken behind one more answer, where nothing waits: the budget of the
 * call allows it, and there is room for its own. */
static inline bool goes_on(const struct STACK *stack) {
    return stack->shared.steps < stack->config.budget &&
           stack->shared.answered + 1 < stack->end;
}
