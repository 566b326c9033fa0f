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

/* part sl_last_little: needs sl_load_little16 sl_load_little32 */
/* A word of which the first bytes are there, so many; those that are missing count as zero. */
static inline uint64_t sl_last_little(const uint8_t *at, size_t length) {
    uint64_t word = 0;
    if (length == 4) {
        return sl_load_little32(at);
    }
    if ((length & 1) != 0) {
        word = at[length - 1];
    }
    if ((length & 2) != 0) {
        word = word << 16 | sl_load_little16(at + (length & 4));
    }
    if ((length & 4) != 0) {
        word = word << 32 | sl_load_little32(at);
    }
    return word;
}

/* part sl_add_round: needs */
/* The sum of two words, to which is added what is carried out of it. */
static inline uint64_t sl_add_round(uint64_t sum, uint64_t word) {
#ifdef __GNUC__
    const uint64_t carried = __builtin_add_overflow(sum, word, &sum);
    return sum + carried;
#else
    sum += word;
    return sum + (sum < word);
#endif
}

/* part sl_add_words: needs sl_add_round sl_load_little64 */
/* The same of so many words on end. On x86 what one of them carries goes into the next: a sum that
 * carries is not of ones alone, so the last carry fits. */
static inline uint64_t sl_add_words(uint64_t sum, const uint8_t *at, size_t count) {
#if defined __GNUC__ && defined __x86_64__
    unsigned char carried = 0;
#pragma GCC unroll 16
    for (size_t word = 0; word < count; word += 1) {
        const uint64_t next = sl_load_little64(at + 8 * word);
        unsigned long long both = 0;
        carried = __builtin_ia32_addcarryx_u64(carried, sum, next, &both);
        sum = both;
    }
    return sum + carried;
#else
    for (size_t word = 0; word < count; word += 1) {
        sum = sl_add_round(sum, sl_load_little64(at + 8 * word));
    }
    return sum;
#endif
}

/* part sl_sum_rest: needs sl_add_round sl_last_little sl_load_little64 */
/* The same of less than 64 bytes; what is missing of the last word is zero. */
static inline uint64_t sl_sum_rest(const uint8_t *at, size_t length, uint64_t sum) {
    if (length >= 16) {
        if ((length & 32) != 0) {
            sum = sl_add_round(sum, sl_load_little64(at));
            sum = sl_add_round(sum, sl_load_little64(at + 8));
            sum = sl_add_round(sum, sl_load_little64(at + 16));
            sum = sl_add_round(sum, sl_load_little64(at + 24));
            at += 32;
        }
        if ((length & 16) != 0) {
            sum = sl_add_round(sum, sl_load_little64(at));
            sum = sl_add_round(sum, sl_load_little64(at + 8));
            at += 16;
        }
    }
    if ((length & 8) != 0) {
        sum = sl_add_round(sum, sl_load_little64(at));
        at += 8;
    }
    return length % 8 == 0 ? sum : sl_add_round(sum, sl_last_little(at, length % 8));
}

/* part sl_sum_words: needs sl_add_words sl_sum_rest */
#ifdef __GNUC__
static uint64_t sl_sum_words(const uint8_t *at, size_t length, uint64_t sum)
    __attribute__((noinline));
#endif

/* The same of any bytes. */
static uint64_t sl_sum_words(const uint8_t *at, size_t length, uint64_t sum) {
    if (length >= 16) {
        for (; length >= 128; length -= 128) {
            sum = sl_add_words(sum, at, 16);
            at += 128;
        }
        if ((length & 64) != 0) {
            sum = sl_add_words(sum, at, 8);
            at += 64;
        }
    }
    return sl_sum_rest(at, length % 64, sum);
}

/* part sl_sum_lanes: needs memcpy sl_add_round sl_load_little32 sl_sum_rest */
#if defined __GNUC__ && defined __AVX2__
typedef uint64_t sl_lanes __attribute__((vector_size(32)));
typedef uint64_t sl_lanes_half __attribute__((vector_size(16)));

/* Two sums of words, both without what they carry. */
struct sl_two_sums {
    sl_lanes words;
    sl_lanes shifted; /* of the words that begin four bytes further */
};

/* Adds so many bytes, a multiple of 32, to both. */
static inline void sl_sum_both(struct sl_two_sums *sums, const uint8_t *at, size_t length) {
#pragma GCC unroll 16
    for (size_t i = 0; i < length; i += 32) {
        sl_lanes lanes;
        memcpy(&lanes, at + i, sizeof lanes);
        sums->words += lanes;
        memcpy(&lanes, at + i + 4, sizeof lanes);
        sums->shifted += lanes;
        /* In this order: else half of them would be loaded first. */
        __asm__(""
                : "+x"(sums->words), "+x"(sums->shifted));
    }
}

/* The same of so many bytes, 512 at least, and of four more. Lanes lose what they carry, but lower
 * halves of words are upper halves of those that begin four bytes further, and the other way round:
 * what the lower halves carry is what the upper half of one sum has more than the lower half of the
 * other. */
static inline uint64_t sl_sum_lanes(const uint8_t *at, size_t length, uint64_t sum) {
    struct sl_two_sums sums = {{sum}, {sum << 32 | sum >> 32}};
    const uint8_t *const end = at + (length & ~(size_t)31);
    const uint8_t *next = at + (length & ~(size_t)511);
    const uint8_t *first = at;
    do {
        sl_sum_both(&sums, first, 512);
        first += 512;
    } while (first != next);
    if ((length & 256) != 0) {
        sl_sum_both(&sums, next, 256);
        next += 256;
    }
    if ((length & 128) != 0) {
        sl_sum_both(&sums, next, 128);
        next += 128;
    }
    if ((length & 64) != 0) {
        sl_sum_both(&sums, next, 64);
        next += 64;
    }
    if ((length & 32) != 0) {
        sl_sum_both(&sums, next, 32);
    }
    const sl_lanes pairs = __builtin_shufflevector(sums.words, sums.shifted, 0, 4, 2, 6) +
                           __builtin_shufflevector(sums.words, sums.shifted, 1, 5, 3, 7);
    const sl_lanes_half both =
        __builtin_shufflevector(pairs, pairs, 0, 1) + __builtin_shufflevector(pairs, pairs, 2, 3);
    const uint64_t over = (both[0] << 32 | both[0] >> 32) - both[1];
    const uint32_t moved = sl_load_little32(at) - sl_load_little32(end);
    sum = sl_add_round(both[0], moved - (uint32_t)(over >> 32));
    return sl_sum_rest(end, length % 32 + 4, sum);
}
#endif

/* part sl_sum_round: needs sl_sum_lanes sl_sum_words */
#ifdef __GNUC__
static uint64_t sl_sum_round(const uint8_t *at, size_t length, uint64_t sum)
    __attribute__((noinline));
#endif

/* The same of any bytes, in lanes where there are any. */
static uint64_t sl_sum_round(const uint8_t *at, size_t length, uint64_t sum) {
#if defined __GNUC__ && defined __AVX2__
    if (length >= 516) {
        return sl_sum_lanes(at, length - 4, sum);
    }
#endif
    return sl_sum_words(at, length, sum);
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

/* part sl_unlike64: needs memcpy */
/* The bits in which eight bytes differ from eight others, of those of a mask; in any order. */
static inline uint64_t sl_unlike64(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
    uint64_t one, two, bits;
    memcpy(&one, at, sizeof one);
    memcpy(&two, other, sizeof two);
    memcpy(&bits, mask, sizeof bits);
    return (one ^ two) & bits;
}

/* part sl_differs8: needs */
/* Whether a byte has other bits than another, of those of a mask. */
static inline bool sl_differs8(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
    return ((*at ^ *other) & *mask) != 0;
}

/* part sl_differs16: needs memcpy */
/* The same of two bytes. */
static inline bool sl_differs16(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
    uint16_t one, two, bits;
    memcpy(&one, at, sizeof one);
    memcpy(&two, other, sizeof two);
    memcpy(&bits, mask, sizeof bits);
    return ((one ^ two) & bits) != 0;
}

/* part sl_differs32: needs memcpy */
/* The same of four. */
static inline bool sl_differs32(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
    uint32_t one, two, bits;
    memcpy(&one, at, sizeof one);
    memcpy(&two, other, sizeof two);
    memcpy(&bits, mask, sizeof bits);
    return ((one ^ two) & bits) != 0;
}

/* part sl_differs64: needs sl_unlike64 */
/* The same of eight. */
static inline bool sl_differs64(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
    return sl_unlike64(at, other, mask) != 0;
}

/* part sl_differs128: needs sl_unlike64 */
/* The same of 16. */
static inline bool sl_differs128(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
#if defined __x86_64__ && defined __GNUC__ && defined __AVX__
    typedef const uint8_t bytes[16];
    bool differs;
    (void)sl_unlike64;
    __asm__("vmovdqu %1, %%xmm0\n\t"
            "vpxor %2, %%xmm0, %%xmm0\n\t"
            "vptest %3, %%xmm0"
            : "=@ccnz"(differs)
            : "m"(*(bytes *)at), "m"(*(bytes *)other), "m"(*(bytes *)mask)
            : "xmm0");
    return differs;
#else
    const uint64_t unlike = sl_unlike64(at, other, mask);
    return (unlike | sl_unlike64(at + 8, other + 8, mask + 8)) != 0;
#endif
}

/* part sl_differs256: needs sl_unlike64 */
/* The same of 32. In AVX2 it is written out: where compilers know of values of 32 bytes they align
 * the stack for them, of which none is kept there. */
static inline bool sl_differs256(const uint8_t *at, const uint8_t *other, const uint8_t *mask) {
#if defined __x86_64__ && defined __GNUC__ && defined __AVX2__
    typedef const uint8_t bytes[32];
    bool differs;
    (void)sl_unlike64;
    __asm__("vmovdqu %1, %%ymm0\n\t"
            "vpxor %2, %%ymm0, %%ymm0\n\t"
            "vptest %3, %%ymm0\n\t"
            "vzeroupper"
            : "=@ccnz"(differs)
            : "m"(*(bytes *)at), "m"(*(bytes *)other), "m"(*(bytes *)mask)
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return differs;
#else
    uint64_t unlike = 0;
    for (size_t word = 0; word < 32; word += 8) {
        unlike |= sl_unlike64(at + word, other + word, mask + word);
    }
    return unlike != 0;
#endif
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
    size_t missing;            /* how many bytes of the last word are not there */
};

/* part sl_runs_length: needs sl_run */
/* How many bytes so many runs have. */
static inline size_t sl_runs_length(const struct sl_run *runs, size_t count) {
    size_t length = 0;
    for (size_t at = 0; at < count; at++) {
        length += runs[at].length;
    }
    return length;
}

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
    runs->missing = size - filled;
    return filled == 0 ? NULL : runs->word;
}
