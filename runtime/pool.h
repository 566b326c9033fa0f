/* pool.h: slots of instances, and their chains by hash of the key. */

/* part SL_FREE: needs */
/* Marks the link of a slot that is in no use. */
static const uint32_t SL_FREE = (uint32_t)1 << 31;

/* part sl_pool: needs */
/* Slots to be taken and given back. Beside it stands an array `next`, of less than 2^31 links.
 * Slots from `fresh` on have never been taken; what is below and not taken is in a chain that
 * begins at `free` and goes on by `next`, there with SL_FREE added. Links of slots that are taken
 * are for chains of their own, in buckets. Every link is the slot plus one, and 0 ends a chain. */
struct sl_pool {
    uint32_t free;  /* the slot that was given back last, plus one */
    uint32_t fresh; /* how many slots have ever been taken */
    uint32_t taken; /* how many are taken now */
};

/* part sl_pool_take: needs SL_FREE SL_NONE sl_pool */
/* The slot that was given back last, or else the next fresh one; SL_NONE if all are taken. */
static inline uint32_t sl_pool_take(struct sl_pool *pool, uint32_t *next, uint32_t capacity) {
    uint32_t slot = pool->fresh;
    if (pool->free != 0) {
        slot = pool->free - 1;
        pool->free = next[slot] & ~SL_FREE;
    } else if (slot < capacity) {
        pool->fresh += 1;
    } else {
        return SL_NONE;
    }
    next[slot] = 0;
    pool->taken += 1;
    return slot;
}

/* part sl_pool_has: needs SL_FREE sl_pool */
/* Whether a slot is taken. Any number may be asked for. */
static inline bool sl_pool_has(const struct sl_pool *pool, const uint32_t *next, uint32_t slot) {
    return slot < pool->fresh && (next[slot] & SL_FREE) == 0;
}

/* part sl_pool_each: needs SL_NONE sl_pool sl_pool_has */
/* The first slot from `slot` on that is taken; SL_NONE if there is none. */
static inline uint32_t sl_pool_each(const struct sl_pool *pool, const uint32_t *next,
                                    uint32_t slot) {
    for (; slot < pool->fresh; slot += 1) {
        if (sl_pool_has(pool, next, slot)) {
            return slot;
        }
    }
    return SL_NONE;
}

/* part sl_pool_give: needs SL_FREE sl_pool */
/* Gives a slot back, which must be taken, and in no bucket. */
static inline void sl_pool_give(struct sl_pool *pool, uint32_t *next, uint32_t slot) {
    next[slot] = pool->free | SL_FREE;
    pool->free = slot + 1;
    pool->taken -= 1;
}

/* part sl_pool_first: needs */
/* The slot that was linked last in a bucket; SL_NONE if it is empty. */
static inline uint32_t sl_pool_first(const uint32_t *buckets, uint32_t bucket) {
    return buckets[bucket] - 1;
}

/* part sl_pool_next: needs */
/* The slot that follows in the same bucket; SL_NONE at its end. */
static inline uint32_t sl_pool_next(const uint32_t *next, uint32_t slot) {
    return next[slot] - 1;
}

/* part sl_pool_link: needs */
/* Puts a slot, which must be taken and in no bucket, first in a bucket. */
static inline void sl_pool_link(uint32_t *buckets, uint32_t *next, uint32_t bucket,
                                uint32_t slot) {
    next[slot] = buckets[bucket];
    buckets[bucket] = slot + 1;
}

/* part sl_pool_unlink: needs */
/* Takes a slot out of the bucket in which it must be. */
static inline void sl_pool_unlink(uint32_t *buckets, uint32_t *next, uint32_t bucket,
                                  uint32_t slot) {
    uint32_t *link = &buckets[bucket];
    while (*link != slot + 1) {
        link = &next[*link - 1];
    }
    *link = next[slot];
    next[slot] = 0;
}

/* part sl_hash: needs */
/* Adds a value to a hash, which begins as 0: a product with an odd number that peers cannot know,
 * so that they cannot choose keys that collide. Its high bits depend on all others: the halves
 * change places, and the highest bits of the low half choose the bucket. */
static inline uint64_t sl_hash(uint64_t odd, uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * odd;
    return hash << 32 | hash >> 32;
}
