/* timers.h: all timers of a stack, the next one first. */

/* part sl_timer: needs */
/* A timer that is running. */
struct sl_timer {
    uint64_t deadline_ns; /* when it expires */
    uint64_t order;       /* how many starts there were before its own */
    uint32_t id;          /* which one it is */
};

/* part sl_timers: needs sl_timer */
/* All timers of a stack, told apart by ids. Those that are running form a binary heap: none in it
 * expires before the one at half its index, (i - 1) / 2. heap[place[id] - 1] is the timer of that
 * id; place[id] is 0 if it is not running. Both arrays have room for all ids, and are set once,
 * at the start of the stack. */
struct sl_timers {
    struct sl_timer *heap; /* those that are running */
    uint32_t *place;       /* by id: its index in the heap plus one, or 0 */
    uint64_t starts;       /* how many starts there have been */
    uint32_t running;      /* how many are running */
};

/* part sl_timer_before: needs sl_timer */
/* Whether `one` expires before `other`: those of one deadline go in the order of their starts. */
static inline bool sl_timer_before(const struct sl_timer *one, const struct sl_timer *other) {
    return one->deadline_ns < other->deadline_ns ||
           (one->deadline_ns == other->deadline_ns && one->order < other->order);
}

/* part sl_timers_put: needs sl_timer sl_timers */
static inline void sl_timers_put(struct sl_timers *timers, uint32_t at, struct sl_timer timer) {
    timers->heap[at] = timer;
    timers->place[timer.id] = at + 1;
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
    for (uint32_t child = 2 * at + 1; child < timers->running; child = 2 * at + 1) {
        if (child + 1 < timers->running &&
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
    return timers->place[id] != 0;
}

/* part sl_timers_stop: needs sl_timers sl_timers_running sl_timers_settle */
/* Stops a timer; one that is not running stays so. */
static inline void sl_timers_stop(struct sl_timers *timers, uint32_t id) {
    if (sl_timers_running(timers, id)) {
        const uint32_t gap = timers->place[id] - 1;
        timers->place[id] = 0;
        timers->running -= 1;
        if (gap < timers->running) {
            sl_timers_settle(timers, gap, timers->heap[timers->running]);
        }
    }
}

/* part sl_timers_start: needs sl_timer sl_timers sl_timers_settle sl_timers_stop */
/* Starts a timer. If it is running, it starts anew. */
static inline void sl_timers_start(struct sl_timers *timers, uint32_t id, uint64_t deadline_ns) {
    sl_timers_stop(timers, id);
    timers->running += 1;
    sl_timers_settle(timers, timers->running - 1,
                     (struct sl_timer){deadline_ns, timers->starts, id});
    timers->starts += 1;
}

/* part sl_timers_first: needs SL_NONE sl_timers */
/* The id of the timer that expires first; SL_NONE if none is running. */
static inline uint32_t sl_timers_first(const struct sl_timers *timers) {
    return timers->running != 0 ? timers->heap[0].id : SL_NONE;
}

/* part sl_timers_deadline: needs sl_timers */
/* When that timer expires; UINT64_MAX if none is running. */
static inline uint64_t sl_timers_deadline(const struct sl_timers *timers) {
    return timers->running != 0 ? timers->heap[0].deadline_ns : UINT64_MAX;
}
