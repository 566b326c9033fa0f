/*
 * galois.h: arithmetic of bytes in GF(256), the field modulo x^8 + x^4 + x^3 + x + 1 (0x11b).
 * stackloom.h says how these files are made into a generated file.
 */

/* part sl_block: needs */
/* Bytes that are multiplied at once. */
#if defined __GNUC__ && defined __GFNI__ && defined __AVX512BW__
typedef uint8_t sl_block __attribute__((vector_size(64)));
#elif defined __GNUC__ && defined __AVX2__
typedef uint8_t sl_block __attribute__((vector_size(32)));
#elif defined __GNUC__ && defined __SSSE3__
typedef uint8_t sl_block __attribute__((vector_size(16)));
#else
typedef uint64_t sl_block;
#endif

/* part sl_block_load: needs memcpy sl_block */
/* Loads bytes, of which there may be less than a block; the others are zero. */
static inline sl_block sl_block_load(const uint8_t *at, size_t length) {
    sl_block block = {0};
    if (length >= sizeof block) {
        memcpy(&block, at, sizeof block);
        return block;
    }
#if defined __GNUC__ && defined __GFNI__ && defined __AVX512BW__
    typedef char bytes64 __attribute__((vector_size(64)));
    const uint64_t those = ((uint64_t)1 << length) - 1;
    const void *const from = at;
    block = (sl_block)__builtin_ia32_loaddquqi512_mask(from, (bytes64)block, those);
#else
    memcpy(&block, at, length);
#endif
    return block;
}

/* part sl_block_store: needs memcpy sl_block */
/* Stores as many bytes of a block that sl_block_load loaded. */
static inline void sl_block_store(uint8_t *at, size_t length, sl_block block) {
    if (length >= sizeof block) {
        memcpy(at, &block, sizeof block);
    } else {
        memcpy(at, &block, length);
    }
}

/* part sl_add: needs sl_block sl_block_load sl_block_store */
/* Adds bytes to others in GF(256), which is an exclusive or. Both may be the same. */
static inline void sl_add(uint8_t *sum, const uint8_t *other, uint32_t length) {
    for (size_t i = 0; i < length; i += sizeof(sl_block)) {
        const sl_block added = sl_block_load(other + i, length - i);
        sl_block_store(sum + i, length - i, sl_block_load(sum + i, length - i) ^ added);
    }
}

/* part sl_multiples: needs sl_block */
/* Products of a number in GF(256) modulo 0x11b. */
struct sl_multiples {
#if defined __GNUC__ && defined __GFNI__ && defined __AVX512BW__
    /* with 1, as often as it fits into a block */
    sl_block one;
#elif defined __GNUC__ && defined __SSSE3__
    /* with 0 to 15, and with 16 times these; as often as each fits into a block */
    sl_block low;
    sl_block high;
#else
    /* with 2^i */
    uint8_t powers[8];
#endif
};

/* part sl_multiples_of: needs memcpy sl_block sl_multiples */
static inline struct sl_multiples sl_multiples_of(uint8_t factor) {
    struct sl_multiples all;
#if defined __GNUC__ && defined __GFNI__ && defined __AVX512BW__
    all.one = (sl_block){0} + factor;
#else
    uint8_t powers[8];
    for (size_t bit = 0; bit < 8; bit++) {
        powers[bit] = factor;
        factor = (uint8_t)(factor << 1 ^ (factor >> 7) * 0x1b);
    }
#if defined __GNUC__ && defined __SSSE3__
    /* Each bit of an index selects a product with a power of 2. */
    const uint64_t second = 0xff00ff00ff00ff00;
    const uint64_t third = 0xffff0000ffff0000;
    const uint64_t fifth = 0xffffffff00000000;
    const uint64_t ones = 0x0101010101010101;
    for (size_t half = 0; half < 2; half++) {
        const uint8_t *const of = powers + 4 * half;
        const uint64_t to8 = (second & ones * of[0]) ^ (third & ones * of[1]) ^
                             (fifth & ones * of[2]);
        const uint64_t to16 = to8 ^ ones * of[3];
        sl_block *const products = half == 0 ? &all.low : &all.high;
        for (size_t at = 0; at < sizeof *products; at += 16) {
            memcpy((uint8_t *)products + at, &to8, sizeof to8);
            memcpy((uint8_t *)products + at + 8, &to16, sizeof to16);
        }
    }
#else
    memcpy(all.powers, powers, sizeof powers);
#endif
#endif
    return all;
}

/* part sl_block_scale: needs sl_block sl_multiples */
/* Multiplies bytes by a number. An instruction of GFNI does so, in this very field; one of SSSE3 or
 * AVX2 looks up the products of all bytes at once. Without these, each bit of a byte selects a
 * product of the number with a power of 2: one multiplication copies the product to all bytes of a
 * word in which the bit is set. */
static inline void sl_block_scale(sl_block *bytes, const struct sl_multiples *all) {
#if defined __GNUC__ && defined __GFNI__ && defined __AVX512BW__
    typedef char bytes64 __attribute__((vector_size(64)));
    *bytes = (sl_block)__builtin_ia32_vgf2p8mulb_v64qi((bytes64)*bytes, (bytes64)all->one);
#elif defined __GNUC__ && defined __SSSE3__
    typedef char table __attribute__((vector_size(sizeof(sl_block))));
    const table low = (table)(*bytes & 15);
    const table high = (table)(*bytes >> 4);
#ifdef __AVX2__
    *bytes = (sl_block)(__builtin_ia32_pshufb256((table)all->low, low) ^
                        __builtin_ia32_pshufb256((table)all->high, high));
#else
    *bytes = (sl_block)(__builtin_ia32_pshufb128((table)all->low, low) ^
                        __builtin_ia32_pshufb128((table)all->high, high));
#endif
#else
    const uint64_t ones = 0x0101010101010101;
    const uint8_t *const of = all->powers;
    const uint64_t low = (*bytes & ones) * of[0] ^ (*bytes >> 1 & ones) * of[1] ^
                         (*bytes >> 2 & ones) * of[2] ^ (*bytes >> 3 & ones) * of[3];
    const uint64_t high = (*bytes >> 4 & ones) * of[4] ^ (*bytes >> 5 & ones) * of[5] ^
                          (*bytes >> 6 & ones) * of[6] ^ (*bytes >> 7 & ones) * of[7];
    *bytes = low ^ high;
#endif
}

/* part sl_block_sum: needs sl_block sl_block_load sl_block_scale sl_multiples */
/* The sum of the bytes of a block, or of less, and a multiple of others. */
static inline sl_block sl_block_sum(const uint8_t *bytes, const uint8_t *other, size_t length,
                                    const struct sl_multiples *all) {
    sl_block added = sl_block_load(other, length);
    sl_block_scale(&added, all);
    return sl_block_load(bytes, length) ^ added;
}

/* part sl_add_multiple: needs sl_block sl_block_store sl_block_sum sl_multiples sl_multiples_of */
/* Adds a multiple of bytes to others in GF(256). Both may be the same. */
static inline void sl_add_multiple(uint8_t *sum, const uint8_t *other, uint32_t length,
                                   uint8_t factor) {
    const struct sl_multiples all = sl_multiples_of(factor);
    const size_t block = length < sizeof(sl_block) ? length : sizeof(sl_block);
    const sl_block first = sl_block_sum(sum, other, block, &all);
    if (block < length) {
        /* Those between the first and the last block are aligned in memory, and overlap them: so
         * both are added up before any is stored. */
        const size_t aligned = sizeof(sl_block) - (uintptr_t)sum % sizeof(sl_block);
        const size_t rest = length - block;
        const sl_block last = sl_block_sum(sum + rest, other + rest, sizeof(sl_block), &all);
        for (size_t i = aligned; i < rest; i += sizeof(sl_block)) {
            const sl_block next = sl_block_sum(sum + i, other + i, sizeof(sl_block), &all);
            sl_block_store(sum + i, sizeof(sl_block), next);
        }
        sl_block_store(sum + rest, sizeof(sl_block), last);
    }
    sl_block_store(sum, block, first);
}

/* part sl_scale: needs sl_add_multiple */
/* Multiplies bytes by a number in GF(256): adds them, times the number and one, to themselves. */
static inline void sl_scale(uint8_t *bytes, uint32_t length, uint8_t factor) {
    sl_add_multiple(bytes, bytes, length, factor ^ 1);
}

/* part sl_inverse: needs */
/* The inverse of a number in GF(256) modulo 0x11b; 0 of 0. */
static inline uint8_t sl_inverse(uint8_t of) {
    static const uint8_t inverses[256] = {
        0x00, 0x01, 0x8d, 0xf6, 0xcb, 0x52, 0x7b, 0xd1, 0xe8, 0x4f, 0x29, 0xc0, 0xb0, 0xe1,
        0xe5, 0xc7, 0x74, 0xb4, 0xaa, 0x4b, 0x99, 0x2b, 0x60, 0x5f, 0x58, 0x3f, 0xfd, 0xcc,
        0xff, 0x40, 0xee, 0xb2, 0x3a, 0x6e, 0x5a, 0xf1, 0x55, 0x4d, 0xa8, 0xc9, 0xc1, 0x0a,
        0x98, 0x15, 0x30, 0x44, 0xa2, 0xc2, 0x2c, 0x45, 0x92, 0x6c, 0xf3, 0x39, 0x66, 0x42,
        0xf2, 0x35, 0x20, 0x6f, 0x77, 0xbb, 0x59, 0x19, 0x1d, 0xfe, 0x37, 0x67, 0x2d, 0x31,
        0xf5, 0x69, 0xa7, 0x64, 0xab, 0x13, 0x54, 0x25, 0xe9, 0x09, 0xed, 0x5c, 0x05, 0xca,
        0x4c, 0x24, 0x87, 0xbf, 0x18, 0x3e, 0x22, 0xf0, 0x51, 0xec, 0x61, 0x17, 0x16, 0x5e,
        0xaf, 0xd3, 0x49, 0xa6, 0x36, 0x43, 0xf4, 0x47, 0x91, 0xdf, 0x33, 0x93, 0x21, 0x3b,
        0x79, 0xb7, 0x97, 0x85, 0x10, 0xb5, 0xba, 0x3c, 0xb6, 0x70, 0xd0, 0x06, 0xa1, 0xfa,
        0x81, 0x82, 0x83, 0x7e, 0x7f, 0x80, 0x96, 0x73, 0xbe, 0x56, 0x9b, 0x9e, 0x95, 0xd9,
        0xf7, 0x02, 0xb9, 0xa4, 0xde, 0x6a, 0x32, 0x6d, 0xd8, 0x8a, 0x84, 0x72, 0x2a, 0x14,
        0x9f, 0x88, 0xf9, 0xdc, 0x89, 0x9a, 0xfb, 0x7c, 0x2e, 0xc3, 0x8f, 0xb8, 0x65, 0x48,
        0x26, 0xc8, 0x12, 0x4a, 0xce, 0xe7, 0xd2, 0x62, 0x0c, 0xe0, 0x1f, 0xef, 0x11, 0x75,
        0x78, 0x71, 0xa5, 0x8e, 0x76, 0x3d, 0xbd, 0xbc, 0x86, 0x57, 0x0b, 0x28, 0x2f, 0xa3,
        0xda, 0xd4, 0xe4, 0x0f, 0xa9, 0x27, 0x53, 0x04, 0x1b, 0xfc, 0xac, 0xe6, 0x7a, 0x07,
        0xae, 0x63, 0xc5, 0xdb, 0xe2, 0xea, 0x94, 0x8b, 0xc4, 0xd5, 0x9d, 0xf8, 0x90, 0x6b,
        0xb1, 0x0d, 0xd6, 0xeb, 0xc6, 0x0e, 0xcf, 0xad, 0x08, 0x4e, 0xd7, 0xe3, 0x5d, 0x50,
        0x1e, 0xb3, 0x5b, 0x23, 0x38, 0x34, 0x68, 0x46, 0x03, 0x8c, 0xdd, 0x9c, 0x7d, 0xa0,
        0xcd, 0x1a, 0x41, 0x1c};
    return inverses[of];
}
