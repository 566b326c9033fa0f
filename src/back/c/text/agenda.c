The agenda: events that wait inside of the stack, the last of the array next; as `buffers.c`. The
events beside it hold what goes with those that have more than an index; the first is empty.

/* part put */
/* Puts an event on the agenda, before all that wait there already, with a message or NULL. There
 * must be a place. The caller sets its arguments. */
static struct STACK_event *put(struct STACK *stack, uint32_t work,
                               const struct STACK_message *message) {
    const uint32_t place = stack->free_event;
    struct STACK_event *const event = &stack->events[place];
    stack->free_event = event->next;
    stack->crowd += 1;
    if (message != NULL) {
        event->message = *message;
    } else {
        event->message.came_in = false;
    }
    stack->agenda[stack->waiting] = (struct STACK_place){.work = work, .event = place};
    stack->waiting += 1;
    return event;
}

/* part later */
/* Puts an event on the agenda, before all that wait there already. Returns it; or NULL, and counts
 * a lost event, if the agenda is full. */
static struct STACK_event *later(struct STACK *stack, uint32_t work,
                                 const struct STACK_message *message) {
    if (stack->crowd < stack->config.events) {
        return put(stack, work, message);
    }
    if (message != NULL) {
        drop(stack, message->buffer, message->came_in, STACK_AGENDA_FULL);
    } else {
        stack->counters[UNSENT + STACK_AGENDA_FULL] += 1;
    }
    return NULL;
}

/* part kept */
/* Puts the start or the end of an instance on the agenda, before all that wait there already: its
 * place is always free. */
static void kept(struct STACK *stack, uint32_t work, uint32_t instance) {
    if (stack->waiting > stack->config.events + KEPT) {
        stack->counters[UNSENT + STACK_AGENDA_FULL] += 1;
        return;
    }
    stack->agenda[stack->waiting] = (struct STACK_place){.work = work, .instance = instance};
    stack->waiting += 1;
}

/* part next_step */
/* Puts an event on the agenda that is handled next, within this step: its place is always free. */
static struct STACK_event *next_step(struct STACK *stack, uint32_t work,
                                     const struct STACK_message *message) {
    stack->shared.steps -= 1;
    stack->follows = true;
    return put(stack, work, message);
}

/* part next_kept */
/* The same with the start or the end of an instance. */
static void next_kept(struct STACK *stack, uint32_t work, uint32_t instance) {
    kept(stack, work, instance);
    stack->shared.steps -= 1;
    stack->follows = true;
}

/* part take */
/* If something was put on the agenda since it held so many events, the first of it is handled
 * within this step. */
static void take(struct STACK *stack, uint32_t mark) {
    if (stack->waiting > mark) {
        stack->shared.steps -= 1;
        stack->follows = true;
    }
}

/* part sink */
/* Moves the newest event behind the `others` that wait. */
static void sink(struct STACK *stack, uint32_t others) {
    if (stack->waiting == others) {
        return;
    }
    const struct STACK_place last = stack->agenda[others];
    memmove(stack->agenda + 1, stack->agenda, others * sizeof last);
    stack->agenda[0] = last;
}

/* part let_others_go */
/* The same with an event that calls an application, and has let all go before it. */
static void let_others_go(struct STACK *stack, uint32_t others) {
    if (stack->waiting != others) {
        stack->agenda[others].waited = true;
    }
    sink(stack, others);
}

/* part turn */
/* Turns round what was put on the agenda since it held so many events: the first comes first. */
static void turn(struct STACK *stack, uint32_t since) {
    for (uint32_t one = since, other = stack->waiting; one + 1 < other; one += 1) {
        other -= 1;
        const struct STACK_place place = stack->agenda[one];
        stack->agenda[one] = stack->agenda[other];
        stack->agenda[other] = place;
    }
}

/* part precede */
/* Moves the events from place `since` on before those from place `from` on. Returns the place
 * behind the moved events. */
static uint32_t precede(struct STACK *stack, uint32_t from, uint32_t since) {
    for (; since < stack->waiting; from += 1, since += 1) {
        const struct STACK_place place = stack->agenda[since];
        for (uint32_t at = since; at > from; at -= 1) {
            stack->agenda[at] = stack->agenda[at - 1];
        }
        stack->agenda[from] = place;
    }
    return from;
}
