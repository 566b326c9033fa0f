/* timers.h: all timers of a stack, the next one first. */

/* part sl_timer: needs */
/* A timer in the heap. */
struct sl_timer {
    uint64_t deadline_ns; /* when it expires, unless it was started anew */
    uint64_t order;       /* how many starts there were up to its own */
    uint32_t id;          /* which one it is */
};

/* part sl_timer_state: needs */
/* What a timer does. */
struct sl_timer_state {
    uint64_t deadline_ns; /* when it expires */
    uint64_t order;       /* how many starts there were up to its own; 0 if it is not running */
    uint64_t due_ns;      /* when it comes first in the heap, at the latest; 0 while it is to enter,
                           * UINT64_MAX before */
    uint32_t place;       /* its index in the heap plus one, or 0 */
    uint32_t next;        /* of those that are to enter, the id of the one behind it plus one */
};

/* part sl_timers: needs sl_timer sl_timer_state */
/* All timers of a stack, told apart by ids. To stop one, or to start it anew for a later time,
 * leaves the heap as it is: its state is looked at when it comes first there. What has to stand
 * earlier in the heap enters it when somebody asks for the next one. The heap is binary: none in it
 * expires before the one at half its index, (i - 1) / 2. UINT64_MAX never comes. */
struct sl_timers {
    struct sl_timer *heap;        /* those that may be running, none later than its state says */
    struct sl_timer_state *state; /* by id */
    uint64_t starts;              /* how many starts there have been */
    uint32_t waiting;             /* how many are in the heap */
    uint32_t enter;               /* the id of the first that is to enter it plus one, or 0 */
};

/* part sl_timers_begin: needs sl_timer sl_timer_state sl_timers */
/* Begins without a timer; both arrays have room for so many ids. */
static inline void sl_timers_begin(struct sl_timers *timers, struct sl_timer *heap,
                                   struct sl_timer_state *state, size_t ids) {
    *timers = (struct sl_timers){.heap = heap, .state = state};
    for (size_t id = 0; id < ids; id += 1) {
        state[id] = (struct sl_timer_state){.due_ns = UINT64_MAX};
    }
}

/* part sl_timer_before: needs sl_timer */
/* Whether `one` expires before `other`: those of one deadline go in the order of their starts. */
static inline bool sl_timer_before(const struct sl_timer *one, const struct sl_timer *other) {
    return one->deadline_ns < other->deadline_ns ||
           (one->deadline_ns == other->deadline_ns && one->order < other->order);
}

/* part sl_timers_put: needs sl_timer sl_timers */
static inline void sl_timers_put(struct sl_timers *timers, uint32_t at, struct sl_timer timer) {
    timers->heap[at] = timer;
    timers->state[timer.id].place = at + 1;
}

/* part sl_timers_settle: needs sl_timer sl_timer_before sl_timers sl_timers_put */
/* Fills the gap at `at` in the heap with a timer: first the gap moves up past those that expire
 * after the timer, then down past those that expire before it. */
static inline void sl_timers_settle(struct sl_timers *timers, uint32_t at,
                                    struct sl_timer timer) {
    while (at != 0 && sl_timer_before(&timer, &timers->heap[(at - 1) / 2])) {
        sl_timers_put(timers, at, timers->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < timers->waiting; child = 2 * at + 1) {
        if (child + 1 < timers->waiting &&
            sl_timer_before(&timers->heap[child + 1], &timers->heap[child])) {
            child += 1;
        }
        if (sl_timer_before(&timer, &timers->heap[child])) {
            break;
        }
        sl_timers_put(timers, at, timers->heap[child]);
        at = child;
    }
    sl_timers_put(timers, at, timer);
}

/* part sl_timers_running: needs sl_timers */
static inline bool sl_timers_running(const struct sl_timers *timers, uint32_t id) {
    return timers->state[id].order != 0;
}

/* part sl_timers_stop: needs sl_timers */
/* Stops a timer; one that is not running stays so. */
static inline void sl_timers_stop(struct sl_timers *timers, uint32_t id) {
    timers->state[id].order = 0;
}

/* part sl_timers_enter: needs sl_timer sl_timer_state sl_timers sl_timers_settle */
/* Puts a timer that was to enter where its state says, unless it has stopped since: then it may
 * still stand elsewhere, and is to enter again when it starts. */
static inline void sl_timers_enter(struct sl_timers *timers, uint32_t id) {
    struct sl_timer_state *const state = &timers->state[id];
    state->due_ns = UINT64_MAX;
    if (state->order == 0) {
        return;
    }
    uint32_t at = state->place - 1;
    if (state->place == 0) {
        at = timers->waiting;
        timers->waiting += 1;
    }
    state->due_ns = state->deadline_ns;
    sl_timers_settle(timers, at, (struct sl_timer){state->deadline_ns, state->order, id});
}

/* part sl_timers_start: needs sl_timer_state sl_timers */
/* Starts a timer. If it is running, it starts anew. */
static inline void sl_timers_start(struct sl_timers *timers, uint32_t id, uint64_t deadline_ns) {
    struct sl_timer_state *const state = &timers->state[id];
    timers->starts += 1;
    state->order = timers->starts;
    state->deadline_ns = deadline_ns;
    if (deadline_ns < state->due_ns) {
        state->due_ns = 0;
        state->next = timers->enter;
        timers->enter = id + 1;
    }
}

/* part sl_timers_look: needs sl_timer sl_timer_state sl_timers sl_timers_enter sl_timers_settle */
/* Looks for the timer that expires first; false if none is running. What is to enter does so first;
 * what comes first in the heap and has stopped leaves it, and what was started anew goes where it
 * belongs. */
static bool sl_timers_look(struct sl_timers *timers) {
    while (timers->enter != 0) {
        const uint32_t id = timers->enter - 1;
        timers->enter = timers->state[id].next;
        sl_timers_enter(timers, id);
    }
    while (timers->waiting != 0) {
        struct sl_timer timer = timers->heap[0];
        struct sl_timer_state *const state = &timers->state[timer.id];
        if (state->order == timer.order) {
            return true;
        }
        if (state->order != 0) {
            state->due_ns = state->deadline_ns;
            timer.deadline_ns = state->deadline_ns;
            timer.order = state->order;
        } else {
            state->due_ns = UINT64_MAX;
            state->place = 0;
            timers->waiting -= 1;
            timer = timers->heap[timers->waiting];
        }
        if (timers->waiting != 0) {
            sl_timers_settle(timers, 0, timer);
        }
    }
    return false;
}

/* part sl_timers_first: needs SL_NONE sl_timers sl_timers_look */
/* The id of the timer that expires first; SL_NONE if none is running. */
static inline uint32_t sl_timers_first(struct sl_timers *timers) {
    return sl_timers_look(timers) ? timers->heap[0].id : SL_NONE;
}

/* part sl_timers_deadline: needs sl_timers sl_timers_look */
/* When that timer expires; UINT64_MAX if none is running. */
static inline uint64_t sl_timers_deadline(struct sl_timers *timers) {
    return sl_timers_look(timers) ? timers->heap[0].deadline_ns : UINT64_MAX;
}
