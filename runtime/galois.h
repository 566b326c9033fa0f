/*
 * galois.h: arithmetic of bytes in GF(256), the field modulo x^8 + x^4 + x^3 + x + 1 (0x11b).
 * stackloom.h says how these files are made into a generated file.
 */

/* part sl_add: needs memcpy */
/* Adds bytes to others in GF(256), which is an exclusive or. Both may be the same. */
static inline void sl_add(uint8_t *sum, const uint8_t *other, uint32_t length) {
    const uint32_t words = length / 8;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word, added;
        memcpy(&word, sum + 8 * i, sizeof word);
        memcpy(&added, other + 8 * i, sizeof added);
        word ^= added;
        memcpy(sum + 8 * i, &word, sizeof word);
    }
    sum += 8 * words;
    other += 8 * words;
    for (uint32_t i = 0; i < length % 8; i++) {
        sum[i] ^= other[i];
    }
}

/* part sl_multiples: needs */
/* The products of a number with 0 to 15, and with 16 times these, in GF(256) modulo 0x11b. The
 * product with a byte is the sum of one of each, for its lower and its upper four bits. */
struct sl_multiples {
    uint8_t low[16];
    uint8_t high[16];
};

/* part sl_multiples_of: needs sl_multiples */
static inline struct sl_multiples sl_multiples_of(uint8_t factor) {
    struct sl_multiples all = {{0}, {0}};
    uint8_t power = factor; /* the factor times 2^bit */
    for (unsigned bit = 0; bit < 8; bit++) {
        uint8_t *const half = bit < 4 ? all.low : all.high;
        const unsigned first = 1U << bit % 4;
        for (unsigned i = 0; i < first; i++) {
            half[first + i] = half[i] ^ power;
        }
        power = (uint8_t)(power << 1 ^ (power >> 7) * 0x1b);
    }
    return all;
}

/* part sl_add_sixteen: needs memcpy sl_multiples */
#ifdef __GNUC__
/* Adds a multiple of sixteen bytes to others. Without an instruction that selects sixteen bytes of
 * a table it doubles and adds. */
static inline void sl_add_sixteen(uint8_t *sum, const uint8_t *other,
                                  const struct sl_multiples *all) {
    typedef uint8_t octets __attribute__((vector_size(16)));
    octets of, added;
    memcpy(&of, other, sizeof of);
    memcpy(&added, sum, sizeof added);
#ifdef __SSSE3__
    typedef char bytes __attribute__((vector_size(16)));
    bytes low, high;
    memcpy(&low, all->low, sizeof low);
    memcpy(&high, all->high, sizeof high);
    added ^= (octets)__builtin_ia32_pshufb128(low, (bytes)(of & 15));
    added ^= (octets)__builtin_ia32_pshufb128(high, (bytes)(of >> 4));
#else
    typedef int8_t signs __attribute__((vector_size(16)));
    const unsigned factor = all->low[1];
    octets product = {0};
    for (int bit = 7; bit >= 0; bit--) {
        const octets carries = (octets)((signs)product < 0);
        product = (product + product) ^ (carries & 0x1b);
        product ^= of & (uint8_t)(0 - (factor >> bit & 1));
    }
    added ^= product;
#endif
    memcpy(sum, &added, sizeof added);
}
#endif

/* part sl_add_multiple: needs sl_add_sixteen sl_multiples sl_multiples_of */
/* Adds a multiple of bytes to others in GF(256). Both may be the same. */
static inline void sl_add_multiple(uint8_t *sum, const uint8_t *other, uint32_t length,
                                   uint8_t factor) {
    const struct sl_multiples all = sl_multiples_of(factor);
    uint32_t i = 0;
#ifdef __GNUC__
    for (; length - i >= 16; i += 16) {
        sl_add_sixteen(sum + i, other + i, &all);
    }
#endif
    for (; i < length; i++) {
        sum[i] ^= all.low[other[i] & 15] ^ all.high[other[i] >> 4];
    }
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
