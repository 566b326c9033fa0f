/*
 * bytes.h: integers as they stand on the wire, at any address. stackloom.h says how these files are
 * to be read. Each function is one that gcc and clang see through: at -O2 a load or store of
 * 16, 32 or 64 bits is one move, and one swap where there has to be one. Both move whole words, for
 * neither compiler puts single bytes together well that stand in memory beside others.
 */

/* part sl_copy: needs memcpy */
/* Copies bytes. A few take less than a call would: all of them are in the first and the last word,
 * which may overlap. */
static inline void sl_copy(uint8_t *to, const uint8_t *from, size_t length) {
    if (length > 16) {
        memcpy(to, from, length);
    } else if (length >= 8) {
        uint64_t first;
        uint64_t last;
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + length - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + length - sizeof last, &last, sizeof last);
    } else if (length >= 4) {
        uint32_t first;
        uint32_t last;
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + length - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + length - sizeof last, &last, sizeof last);
    } else {
        for (size_t at = 0; at < length; at += 1) {
            to[at] = from[at];
        }
    }
}

/* part sl_little_first: needs memcpy */
/* Whether this machine keeps the least significant byte of a number first. */
static inline bool sl_little_first(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, sizeof first);
    return first == 1;
}

/* part sl_swap16: needs */
static inline uint16_t sl_swap16(uint16_t value) {
    return (uint16_t)(value << 8 | value >> 8);
}

/* part sl_swap32: needs */
static inline uint32_t sl_swap32(uint32_t value) {
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

/* part sl_swap64: needs sl_swap32 */
static inline uint64_t sl_swap64(uint64_t value) {
    return (uint64_t)sl_swap32((uint32_t)value) << 32 | sl_swap32((uint32_t)(value >> 32));
}

/* part sl_load_big16: needs memcpy sl_little_first sl_swap16 */
static inline uint16_t sl_load_big16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return sl_little_first() ? sl_swap16(value) : value;
}

/* part sl_load_big24: needs sl_load_big16 */
static inline uint32_t sl_load_big24(const uint8_t *at) {
    return (uint32_t)sl_load_big16(at) << 8 | at[2];
}

/* part sl_load_big32: needs memcpy sl_little_first sl_swap32 */
static inline uint32_t sl_load_big32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return sl_little_first() ? sl_swap32(value) : value;
}

/* part sl_load_big48: needs sl_load_big16 sl_load_big32 */
static inline uint64_t sl_load_big48(const uint8_t *at) {
    return (uint64_t)sl_load_big32(at) << 16 | sl_load_big16(at + 4);
}

/* part sl_load_big64: needs memcpy sl_little_first sl_swap64 */
static inline uint64_t sl_load_big64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return sl_little_first() ? sl_swap64(value) : value;
}

/* part sl_load_little16: needs memcpy sl_little_first sl_swap16 */
static inline uint16_t sl_load_little16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return sl_little_first() ? value : sl_swap16(value);
}

/* part sl_load_little24: needs sl_load_little16 */
static inline uint32_t sl_load_little24(const uint8_t *at) {
    return (uint32_t)at[2] << 16 | sl_load_little16(at);
}

/* part sl_load_little32: needs memcpy sl_little_first sl_swap32 */
static inline uint32_t sl_load_little32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return sl_little_first() ? value : sl_swap32(value);
}

/* part sl_load_little48: needs sl_load_little16 sl_load_little32 */
static inline uint64_t sl_load_little48(const uint8_t *at) {
    return (uint64_t)sl_load_little32(at + 2) << 16 | sl_load_little16(at);
}

/* part sl_load_little64: needs memcpy sl_little_first sl_swap64 */
static inline uint64_t sl_load_little64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return sl_little_first() ? value : sl_swap64(value);
}

/* part sl_sum_little32: needs memcpy sl_little_first sl_load_little32 */
#ifdef __GNUC__
typedef uint64_t sl_lanes __attribute__((vector_size(32)));
static uint64_t sl_sum_little32(const uint8_t *at, size_t length) __attribute__((noinline));
#endif

/* The sum of all whole words of 32 bits. Of two words that are one of 64 the upper is added by
 * itself, and then taken away from the sum of both. */
static uint64_t sl_sum_little32(const uint8_t *at, size_t length) {
    uint64_t sum = 0;
#ifdef __GNUC__
    if (sl_little_first() && length >= sizeof(sl_lanes)) {
        sl_lanes all = {0};
        sl_lanes upper = {0};
        sl_lanes a, b, c, d;
        for (; length >= 4 * sizeof a; length -= 4 * sizeof a) {
            memcpy(&a, at, sizeof a);
            memcpy(&b, at + sizeof a, sizeof b);
            memcpy(&c, at + 2 * sizeof a, sizeof c);
            memcpy(&d, at + 3 * sizeof a, sizeof d);
            all += a + b + c + d;
            upper += (a >> 32) + (b >> 32) + (c >> 32) + (d >> 32);
            at += 4 * sizeof a;
        }
        for (; length >= sizeof a; length -= sizeof a) {
            memcpy(&a, at, sizeof a);
            all += a;
            upper += a >> 32;
            at += sizeof a;
        }
        all += upper - (upper << 32);
        sum = all[0] + all[1] + all[2] + all[3];
    }
#endif
    for (; length >= 4; length -= 4) {
        sum += sl_load_little32(at);
        at += 4;
    }
    return sum;
}

/* part sl_last_little: needs */
/* A word of which the first bytes are there, so many; those that are missing count as zero. */
static inline uint64_t sl_last_little(const uint8_t *at, size_t length) {
    uint64_t word = 0;
    for (size_t byte = length; byte != 0; byte -= 1) {
        word = word << 8 | at[byte - 1];
    }
    return word;
}

/* part sl_last_big: needs */
/* The same for words of `unit` bytes, the most significant first. */
static inline uint64_t sl_last_big(const uint8_t *at, size_t length, size_t unit) {
    uint64_t word = 0;
    for (size_t byte = 0; byte < unit; byte += 1) {
        word = word << 8 | (byte < length ? at[byte] : 0);
    }
    return word;
}

/* part sl_differs_big16: needs memcpy sl_little_first sl_swap16 */
/* Whether two bytes have other bits than a value has, of those of a mask. */
static inline bool sl_differs_big16(const uint8_t *at, uint16_t mask, uint16_t value) {
    uint16_t word;
    memcpy(&word, at, sizeof word);
    return (word & (sl_little_first() ? sl_swap16(mask) : mask)) !=
           (sl_little_first() ? sl_swap16(value) : value);
}

/* part sl_differs_big32: needs memcpy sl_little_first sl_swap32 */
/* Whether four bytes have other bits than a value has, of those of a mask. */
static inline bool sl_differs_big32(const uint8_t *at, uint32_t mask, uint32_t value) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return (word & (sl_little_first() ? sl_swap32(mask) : mask)) !=
           (sl_little_first() ? sl_swap32(value) : value);
}

/* part sl_store_big16: needs memcpy sl_little_first sl_swap16 */
static inline void sl_store_big16(uint8_t *at, uint16_t value) {
    const uint16_t ordered = sl_little_first() ? sl_swap16(value) : value;
    memcpy(at, &ordered, sizeof ordered);
}

/* part sl_store_big24: needs sl_store_big16 */
static inline void sl_store_big24(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 16);
    sl_store_big16(at + 1, (uint16_t)value);
}

/* part sl_store_big32: needs memcpy sl_little_first sl_swap32 */
static inline void sl_store_big32(uint8_t *at, uint32_t value) {
    const uint32_t ordered = sl_little_first() ? sl_swap32(value) : value;
    memcpy(at, &ordered, sizeof ordered);
}

/* part sl_store_big48: needs sl_store_big16 sl_store_big32 */
static inline void sl_store_big48(uint8_t *at, uint64_t value) {
    sl_store_big16(at, (uint16_t)(value >> 32));
    sl_store_big32(at + 2, (uint32_t)value);
}

/* part sl_store_big64: needs memcpy sl_little_first sl_swap64 */
static inline void sl_store_big64(uint8_t *at, uint64_t value) {
    const uint64_t ordered = sl_little_first() ? sl_swap64(value) : value;
    memcpy(at, &ordered, sizeof ordered);
}

/* part sl_store_little16: needs memcpy sl_little_first sl_swap16 */
static inline void sl_store_little16(uint8_t *at, uint16_t value) {
    const uint16_t ordered = sl_little_first() ? value : sl_swap16(value);
    memcpy(at, &ordered, sizeof ordered);
}

/* part sl_store_little24: needs sl_store_little16 */
static inline void sl_store_little24(uint8_t *at, uint32_t value) {
    sl_store_little16(at, (uint16_t)value);
    at[2] = (uint8_t)(value >> 16);
}

/* part sl_store_little32: needs memcpy sl_little_first sl_swap32 */
static inline void sl_store_little32(uint8_t *at, uint32_t value) {
    const uint32_t ordered = sl_little_first() ? value : sl_swap32(value);
    memcpy(at, &ordered, sizeof ordered);
}

/* part sl_store_little48: needs sl_store_little16 sl_store_little32 */
static inline void sl_store_little48(uint8_t *at, uint64_t value) {
    sl_store_little32(at, (uint32_t)value);
    sl_store_little16(at + 4, (uint16_t)(value >> 32));
}

/* part sl_store_little64: needs memcpy sl_little_first sl_swap64 */
static inline void sl_store_little64(uint8_t *at, uint64_t value) {
    const uint64_t ordered = sl_little_first() ? value : sl_swap64(value);
    memcpy(at, &ordered, sizeof ordered);
}

/* part sl_run: needs */
/* Bytes that stand behind one another. */
struct sl_run {
    const uint8_t *data; /* the first */
    size_t length;       /* how many */
};

/* part sl_runs: needs sl_run */
/* Runs of bytes that are read word by word, as if they stood behind one another. */
struct sl_runs {
    const struct sl_run *next; /* those that are not begun */
    size_t count;              /* how many these are */
    struct sl_run at;          /* what is left of the one at hand */
    uint8_t word[8];           /* a word that is put together from several */
};

/* part sl_runs_word: needs memcpy memset sl_runs */
/* Where the next word of so many bytes, at most 8, stands; what is missing of the last is zero.
 * NULL behind it. */
static inline const uint8_t *sl_runs_word(struct sl_runs *runs, size_t size) {
    if (runs->at.length >= size) {
        const uint8_t *const word = runs->at.data;
        runs->at.data += size;
        runs->at.length -= size;
        return word;
    }
    size_t filled = 0;
    memset(runs->word, 0, sizeof runs->word);
    while (filled < size && (runs->at.length != 0 || runs->count != 0)) {
        if (runs->at.length == 0) {
            runs->at = *runs->next;
            runs->next += 1;
            runs->count -= 1;
            continue;
        }
        const size_t missing = size - filled;
        const size_t taken = runs->at.length < missing ? runs->at.length : missing;
        memcpy(runs->word + filled, runs->at.data, taken);
        runs->at.data += taken;
        runs->at.length -= taken;
        filled += taken;
    }
    return filled == 0 ? NULL : runs->word;
}
