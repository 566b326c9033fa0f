/* containers.h: bits and sets, queues, and windows of items by modular number. */

/* part sl_lowest_bit: needs */
/* The place of the lowest bit that is set in `word`, which must not be zero. */
static inline uint32_t sl_lowest_bit(uint64_t word) {
    uint32_t place = 0;
    for (uint32_t width = 32; width != 0; width /= 2) {
        if ((word >> place) << (64 - width) == 0) {
            place += width;
        }
    }
    return place;
}

/* part sl_highest_bit: needs */
/* The place of the highest bit that is set in `word`, which must not be zero. */
static inline uint32_t sl_highest_bit(uint64_t word) {
    uint32_t place = 0;
    for (uint32_t width = 32; width != 0; width /= 2) {
        if (word >> place >> width != 0) {
            place += width;
        }
    }
    return place;
}

/* part sl_bits_first: needs sl_lowest_bit */
/* The first bit of from <= bit < to that equals `value`, or `to`. */
static inline uint32_t sl_bits_first(const uint64_t *words, bool value, uint32_t from,
                                     uint32_t to) {
    const uint64_t flip = value ? 0 : UINT64_MAX;
    for (uint32_t bit = from; bit < to; bit = (bit | 63) + 1) {
        const uint64_t word = (words[bit / 64] ^ flip) >> bit % 64;
        if (word != 0) {
            bit += sl_lowest_bit(word);
            return bit < to ? bit : to;
        }
    }
    return to;
}

/* part sl_bits_last: needs sl_highest_bit */
/* One more than the last bit of from <= bit < to that is set, or `from`. */
static inline uint32_t sl_bits_last(const uint64_t *words, uint32_t from, uint32_t to) {
    while (from < to) {
        const uint64_t word = words[(to - 1) / 64] << (63 - (to - 1) % 64);
        if (word != 0) {
            to -= 63 - sl_highest_bit(word);
            return from < to ? to : from;
        }
        to = (to - 1) / 64 * 64;
    }
    return from;
}

/* part sl_set_has: needs */
/* A set is (capacity + 63) / 64 words; what lies beyond the capacity is never in it. */
static inline bool sl_set_has(const uint64_t *set, uint32_t capacity, uint32_t element) {
    return element < capacity && (set[element / 64] >> element % 64 & 1) != 0;
}

/* part sl_set_insert: needs sl_set_has */
/* Refuses what is in the set already, and what lies beyond the capacity. */
static inline bool sl_set_insert(uint64_t *set, uint32_t capacity, uint32_t element) {
    if (element >= capacity || sl_set_has(set, capacity, element)) {
        return false;
    }
    set[element / 64] |= (uint64_t)1 << element % 64;
    return true;
}

/* part sl_set_remove: needs sl_set_has */
/* Refuses what is not in the set. */
static inline bool sl_set_remove(uint64_t *set, uint32_t capacity, uint32_t element) {
    if (!sl_set_has(set, capacity, element)) {
        return false;
    }
    set[element / 64] &= ~((uint64_t)1 << element % 64);
    return true;
}

/* part sl_set_clear: needs memset */
static inline void sl_set_clear(uint64_t *set, uint32_t capacity) {
    memset(set, 0, (capacity + 63) / 64 * sizeof *set);
}

/* part sl_wrap: needs */
/* The slot at a distance from the start of the array that may pass its end once. */
static inline uint32_t sl_wrap(uint32_t distance, uint32_t capacity) {
    return distance < capacity ? distance : distance - capacity;
}

/* part sl_ring: needs */
/* A queue. Its items stand in the slots head, head + 1, ... head + count - 1, which go round the
 * end of the array; head < capacity and count <= capacity. */
struct sl_ring {
    uint32_t head;  /* the slot of the oldest item */
    uint32_t count; /* how many items there are */
};

/* part sl_ring_push: needs SL_NONE sl_ring sl_wrap */
/* The slot for a new item, behind all others; SL_NONE if the queue is full. */
static inline uint32_t sl_ring_push(struct sl_ring *ring, uint32_t capacity) {
    if (ring->count == capacity) {
        return SL_NONE;
    }
    ring->count += 1;
    return sl_wrap(ring->head + ring->count - 1, capacity);
}

/* part sl_ring_pop: needs SL_NONE sl_ring sl_wrap */
/* The slot of the oldest item, which leaves the queue; SL_NONE if it is empty. */
static inline uint32_t sl_ring_pop(struct sl_ring *ring, uint32_t capacity) {
    if (ring->count == 0) {
        return SL_NONE;
    }
    const uint32_t slot = ring->head;
    ring->head = sl_wrap(slot + 1, capacity);
    ring->count -= 1;
    return slot;
}

/* part sl_arc_before_end: needs */
/* An arc is what lies in `length` slots from `start` on, going round the end of an array of
 * `capacity`, which is not less than the length: this is how much of it lies before that end. */
static inline uint32_t sl_arc_before_end(uint32_t capacity, uint32_t start, uint32_t length) {
    return length < capacity - start ? length : capacity - start;
}

/* part sl_arc_first: needs sl_arc_before_end sl_bits_first */
/* How far from its start the first bit of the arc that equals `value` is, or `length`. */
static inline uint32_t sl_arc_first(const uint64_t *words, bool value, uint32_t capacity,
                                    uint32_t start, uint32_t length) {
    const uint32_t turn = sl_arc_before_end(capacity, start, length);
    const uint32_t found = sl_bits_first(words, value, start, start + turn) - start;
    return found < turn ? found : turn + sl_bits_first(words, value, 0, length - turn);
}

/* part sl_arc_last: needs sl_arc_before_end sl_bits_last */
/* One more than how far from its start the last bit of the arc that is set is, or 0. */
static inline uint32_t sl_arc_last(const uint64_t *words, uint32_t capacity, uint32_t start,
                                   uint32_t length) {
    const uint32_t turn = sl_arc_before_end(capacity, start, length);
    const uint32_t last = sl_bits_last(words, 0, length - turn);
    return last != 0 ? turn + last : sl_bits_last(words, start, start + turn) - start;
}

/* part sl_window: needs */
/* Items by number, of which the last is less than `capacity` ahead of the first. The number
 * first + n has the slot head + n, which goes round the end of the array. Beside it stands a set
 * `held` of the slots that have an item. If span is not zero, the first and the last number of
 * the span are held; no slot outside of the span is. The capacity is at most half of all
 * numbers. Once there is a lower edge, only the `capacity` numbers from it on can be inserted. */
struct sl_window {
    uint32_t first; /* the first number held, if any is */
    uint32_t span;  /* how many numbers there are from the first held to the last; 0: empty */
    uint32_t head;  /* the slot of the first */
    uint32_t edge;  /* the lowest number that can be inserted, if there is a lower edge */
    bool edged;     /* whether there is one */
};

/* part sl_window_begin: needs sl_window */
/* Sets the lower edge of a window that is empty. */
static inline void sl_window_begin(struct sl_window *window, uint32_t edge) {
    window->edge = edge;
    window->edged = true;
}

/* part sl_window_is_below: needs sl_window */
/* Whether a number lies below the lower edge. */
static inline bool sl_window_is_below(const struct sl_window *window, uint32_t largest,
                                      uint32_t n) {
    return window->edged && ((n - window->edge) & largest) > largest / 2;
}

/* part sl_window_find: needs SL_NONE sl_set_has sl_window sl_wrap */
/* The slot of the number `n`; SL_NONE if it is not held. */
static inline uint32_t sl_window_find(const struct sl_window *window, const uint64_t *held,
                                      uint32_t capacity, uint32_t largest, uint32_t n) {
    const uint32_t ahead = (n - window->first) & largest;
    if (ahead >= window->span) {
        return SL_NONE;
    }
    const uint32_t slot = sl_wrap(window->head + ahead, capacity);
    return sl_set_has(held, capacity, slot) ? slot : SL_NONE;
}

/* part sl_window_has: needs SL_NONE sl_window sl_window_find */
static inline bool sl_window_has(const struct sl_window *window, const uint64_t *held,
                                 uint32_t capacity, uint32_t largest, uint32_t n) {
    return sl_window_find(window, held, capacity, largest, n) != SL_NONE;
}

/* part sl_window_takes: needs sl_window sl_window_has */
/* Whether an item of the number `n` can be inserted, which may also lie before the first: not if
 * it is held already, nor if the last would then not be less than `capacity` ahead of the first or
 * of the lower edge, nor below that edge. An empty window without a lower edge takes any. */
static inline bool sl_window_takes(const struct sl_window *window, const uint64_t *held,
                                   uint32_t capacity, uint32_t largest, uint32_t n) {
    if (window->edged && ((n - window->edge) & largest) >= capacity) {
        return false;
    }
    if (window->span == 0) {
        return true;
    }
    if (((n - window->first) & largest) < capacity) {
        return !sl_window_has(window, held, capacity, largest, n);
    }
    return ((window->first - n) & largest) <= capacity - window->span;
}

/* part sl_window_insert: needs SL_NONE sl_set_insert sl_window sl_window_takes sl_wrap */
/* The slot for an item of the number `n`; SL_NONE if the window does not take it. */
static inline uint32_t sl_window_insert(struct sl_window *window, uint64_t *held,
                                        uint32_t capacity, uint32_t largest, uint32_t n) {
    const uint32_t ahead = (n - window->first) & largest;
    const uint32_t before = (window->first - n) & largest;
    uint32_t slot = window->head;
    if (!sl_window_takes(window, held, capacity, largest, n)) {
        return SL_NONE;
    }
    if (window->span == 0) {
        window->first = n;
        window->span = 1;
    } else if (ahead < capacity) {
        slot = sl_wrap(window->head + ahead, capacity);
        if (ahead >= window->span) {
            window->span = ahead + 1;
        }
    } else {
        slot = sl_wrap(window->head + (capacity - before), capacity);
        window->first = n;
        window->span += before;
        window->head = slot;
    }
    return sl_set_insert(held, capacity, slot) ? slot : SL_NONE;
}

/* part sl_window_take: needs SL_NONE sl_arc_first sl_arc_last sl_set_remove sl_window sl_wrap */
/* The slot of the number `n`, whose item leaves the window; SL_NONE if it is not held. */
static inline uint32_t sl_window_take(struct sl_window *window, uint64_t *held, uint32_t capacity,
                                      uint32_t largest, uint32_t n) {
    const uint32_t ahead = (n - window->first) & largest;
    const uint32_t slot = sl_wrap(window->head + ahead, capacity);
    if (ahead >= window->span || !sl_set_remove(held, capacity, slot)) {
        return SL_NONE;
    }
    if (ahead == 0) {
        const uint32_t next = sl_arc_first(held, true, capacity, slot, window->span);
        window->first = (n + next) & largest;
        window->span -= next;
        window->head = sl_wrap(slot + next, capacity);
    } else if (ahead == window->span - 1) {
        window->span = sl_arc_last(held, capacity, window->head, ahead);
    }
    return slot;
}

/* part sl_window_release: needs SL_NONE sl_window sl_window_begin sl_window_is_below
        sl_window_take */
/* Moves the lower edge up to `to`, never down. The slot of the first number if that lies below
 * it; its item leaves the window. SL_NONE if there is none: then all below have been released. */
static inline uint32_t sl_window_release(struct sl_window *window, uint64_t *held,
                                         uint32_t capacity, uint32_t largest, uint32_t to) {
    const uint32_t ahead = (to - window->first) & largest;
    if (sl_window_is_below(window, largest, to)) {
        return SL_NONE;
    }
    sl_window_begin(window, to);
    if (ahead == 0 || ahead > largest / 2) {
        return SL_NONE;
    }
    return sl_window_take(window, held, capacity, largest, window->first);
}

/* part sl_window_replace: needs SL_NONE sl_window sl_window_is_below sl_window_take */
/* The slot of an item that leaves the window to make room for the number `n`: that of `n` itself,
 * or else, if `n` is too far ahead of it, that of the first. SL_NONE once there is nothing more
 * to leave. Then `n` can be inserted, unless it lies below the first and would have been the
 * next to leave. The lower edge, if there is one, moves up as far as `n` needs; below it nothing
 * is replaced. */
static inline uint32_t sl_window_replace(struct sl_window *window, uint64_t *held,
                                         uint32_t capacity, uint32_t largest, uint32_t n) {
    const uint32_t ahead = (n - window->first) & largest;
    if (sl_window_is_below(window, largest, n)) {
        return SL_NONE;
    }
    if (window->edged && ((n - window->edge) & largest) >= capacity) {
        window->edge = (n - (capacity - 1)) & largest;
    }
    if (ahead < capacity) {
        return sl_window_take(window, held, capacity, largest, n);
    }
    if (ahead > largest / 2) {
        return SL_NONE;
    }
    return sl_window_take(window, held, capacity, largest, window->first);
}
