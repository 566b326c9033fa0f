/* timers.h: all timers of a stack, the next one first. */

/* part sl_timer: needs */
/* A timer; it stands where what it belongs to does. */
struct sl_timer {
    uint64_t deadline_ns;  /* when it expires */
    uint64_t order;        /* how many starts there were up to its own; 0 if it is not running */
    uint64_t due_ns;       /* when it comes first in the heap, at the latest; 0 while it is to
                            * enter, UINT64_MAX before */
    uint32_t place;        /* its index in the heap plus one, or 0 */
    uint32_t id;           /* which one it is */
    struct sl_timer *next; /* of those that are to enter, the one behind it */
};

/* part sl_timer_entry: needs sl_timer */
/* A timer in the heap. */
struct sl_timer_entry {
    uint64_t deadline_ns; /* when it expires, unless it was started anew */
    uint64_t order;       /* how many starts there were up to its own */
    struct sl_timer *timer;
};

/* part sl_timers: needs sl_timer sl_timer_entry */
/* All timers of a stack. To stop one, or to start it anew for a later time, leaves the heap as it
 * is: the timer is looked at when it comes first there. What has to stand earlier in the heap
 * enters it when somebody asks for the next one. The heap is binary: none in it expires before the
 * one at half its index, (i - 1) / 2. UINT64_MAX never comes. */
struct sl_timers {
    struct sl_timer_entry *heap; /* those that may be running, none later than it says itself */
    uint64_t starts;             /* how many starts there have been */
    struct sl_timer *enter;      /* the first that is to enter the heap */
    uint32_t waiting;            /* how many are in it */
};

/* part sl_timer_begin: needs sl_timer */
/* A timer that has never been started; from then on it is nowhere else. */
static inline void sl_timer_begin(struct sl_timer *timer, uint32_t id) {
    *timer = (struct sl_timer){.due_ns = UINT64_MAX, .id = id};
}

/* part sl_timer_before: needs sl_timer_entry */
/* Whether `one` expires before `other`: those of one deadline go in the order of their starts. */
static inline bool sl_timer_before(const struct sl_timer_entry *one,
                                   const struct sl_timer_entry *other) {
    return one->deadline_ns < other->deadline_ns ||
           (one->deadline_ns == other->deadline_ns && one->order < other->order);
}

/* part sl_timers_put: needs sl_timer_entry sl_timers */
static inline void sl_timers_put(struct sl_timers *timers, uint32_t at,
                                 struct sl_timer_entry entry) {
    timers->heap[at] = entry;
    entry.timer->place = at + 1;
}

/* part sl_timers_settle: needs sl_timer_before sl_timer_entry sl_timers sl_timers_put */
/* Fills the gap at `at` in the heap with a timer: first the gap moves up past those that expire
 * after the timer, then down past those that expire before it. */
static inline void sl_timers_settle(struct sl_timers *timers, uint32_t at,
                                    struct sl_timer_entry entry) {
    while (at != 0 && sl_timer_before(&entry, &timers->heap[(at - 1) / 2])) {
        sl_timers_put(timers, at, timers->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < timers->waiting; child = 2 * at + 1) {
        if (child + 1 < timers->waiting &&
            sl_timer_before(&timers->heap[child + 1], &timers->heap[child])) {
            child += 1;
        }
        if (sl_timer_before(&entry, &timers->heap[child])) {
            break;
        }
        sl_timers_put(timers, at, timers->heap[child]);
        at = child;
    }
    sl_timers_put(timers, at, entry);
}

/* part sl_timer_runs: needs sl_timer */
static inline bool sl_timer_runs(const struct sl_timer *timer) {
    return timer->order != 0;
}

/* part sl_timer_sooner: needs sl_timer */
/* Whether `one` expires before `other`; both must be running. */
static inline bool sl_timer_sooner(const struct sl_timer *one, const struct sl_timer *other) {
    return one->deadline_ns < other->deadline_ns ||
           (one->deadline_ns == other->deadline_ns && one->order < other->order);
}

/* part sl_timer_stop: needs sl_timer */
/* Stops a timer; one that is not running stays so. */
static inline void sl_timer_stop(struct sl_timer *timer) {
    timer->order = 0;
}

/* part sl_timers_enter: needs sl_timer sl_timer_entry sl_timers sl_timers_settle */
/* Puts a timer that was to enter where it says, unless it has stopped since: then it may still
 * stand elsewhere, and is to enter again when it starts. */
static inline void sl_timers_enter(struct sl_timers *timers, struct sl_timer *timer) {
    timer->due_ns = UINT64_MAX;
    if (timer->order == 0) {
        return;
    }
    uint32_t at = timer->place - 1;
    if (timer->place == 0) {
        at = timers->waiting;
        timers->waiting += 1;
    }
    timer->due_ns = timer->deadline_ns;
    sl_timers_settle(timers, at,
                     (struct sl_timer_entry){timer->deadline_ns, timer->order, timer});
}

/* part sl_timers_start: needs sl_timer sl_timers */
/* Starts a timer. If it is running, it starts anew. */
static inline void sl_timers_start(struct sl_timers *timers, struct sl_timer *timer,
                                   uint64_t deadline_ns) {
    timers->starts += 1;
    timer->order = timers->starts;
    timer->deadline_ns = deadline_ns;
    if (deadline_ns < timer->due_ns) {
        timer->due_ns = 0;
        timer->next = timers->enter;
        timers->enter = timer;
    }
}

/* part sl_timers_look: needs sl_timer sl_timer_entry sl_timers sl_timers_enter sl_timers_settle */
/* Looks for the timer that expires first; false if none is running. What is to enter does so first;
 * what comes first in the heap and has stopped leaves it, and what was started anew goes where it
 * belongs. */
static bool sl_timers_look(struct sl_timers *timers) {
    while (timers->enter != NULL) {
        struct sl_timer *const timer = timers->enter;
        timers->enter = timer->next;
        sl_timers_enter(timers, timer);
    }
    while (timers->waiting != 0) {
        struct sl_timer_entry entry = timers->heap[0];
        struct sl_timer *const timer = entry.timer;
        if (timer->order == entry.order) {
            return true;
        }
        if (timer->order != 0) {
            timer->due_ns = timer->deadline_ns;
            entry.deadline_ns = timer->deadline_ns;
            entry.order = timer->order;
        } else {
            timer->due_ns = UINT64_MAX;
            timer->place = 0;
            timers->waiting -= 1;
            entry = timers->heap[timers->waiting];
        }
        if (timers->waiting != 0) {
            sl_timers_settle(timers, 0, entry);
        }
    }
    return false;
}

/* part sl_timers_first: needs sl_timer sl_timers sl_timers_look */
/* The timer that expires first; NULL if none is running. */
static inline struct sl_timer *sl_timers_first(struct sl_timers *timers) {
    return sl_timers_look(timers) ? timers->heap[0].timer : NULL;
}

/* part sl_timers_deadline: needs sl_timers sl_timers_look */
/* When that timer expires; UINT64_MAX if none is running. */
static inline uint64_t sl_timers_deadline(struct sl_timers *timers) {
    return sl_timers_look(timers) ? timers->heap[0].deadline_ns : UINT64_MAX;
}
