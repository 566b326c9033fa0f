/* words.h: words in network byte order, sequence numbers, and the Internet checksum (RFC 1071). */
#ifndef FLOOR_WORDS_H
#define FLOOR_WORDS_H
#include "loads.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LIKELY(what) __builtin_expect(!!(what), 1)
#define UNLIKELY(what) __builtin_expect(!!(what), 0)
#define COLD static __attribute__((noinline, cold))
#define INLINE static inline __attribute__((always_inline))

/* Returns true if a sequence number is after another, modulo 2^32. */
INLINE bool behind(uint32_t one, uint32_t other) { return (int32_t)(one - other) > 0; }
INLINE uint32_t min32(uint32_t a, uint32_t b) { return a < b ? a : b; }
INLINE uint32_t max32(uint32_t a, uint32_t b) { return a > b ? a : b; }
INLINE uint64_t min64(uint64_t a, uint64_t b) { return a < b ? a : b; }
INLINE uint64_t max64(uint64_t a, uint64_t b) { return a > b ? a : b; }

static inline uint32_t big32(const uint8_t *at) { return __builtin_bswap32(load32(at)); }
static inline uint16_t big16(const uint8_t *at) { return __builtin_bswap16(load16(at)); }

static inline void put32(uint8_t *at, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof value);
}

static inline void put16(uint8_t *at, uint32_t value) {
    const uint16_t word = __builtin_bswap16((uint16_t)value);
    memcpy(at, &word, sizeof word);
}

/* Folds a sum of less than 2^48 into 16 bits, with end-around carry. */
static inline uint32_t folded(uint64_t sum) {
    sum = (sum & 0xffffffff) + (sum >> 32);
    uint32_t word = (uint32_t)sum + (uint32_t)(sum >> 32);
    word += word << 16 | word >> 16;
    return word >> 16;
}

/* Sums words of 16 bits in the byte order of this machine, padded with zero; copies them to `to` on
 * the way, if that is not NULL. */
static inline __attribute__((always_inline)) uint64_t summed_to(uint8_t *to, const uint8_t *at,
                                                                uint32_t length) {
    unsigned long long all = 0;
#ifdef __AVX2__
    /* x ^ 0x8000 is a signed word; pairs are added, and the end subtracts the offset. */
    const __m256i sign = _mm256_set1_epi16((short)0x8000), one = _mm256_set1_epi16(1);
    const uint32_t wide = length & ~127u;
    const uint8_t *const behind_wide = at + wide;
    __m256i first = _mm256_setzero_si256();
    while (at != behind_wide) {
#define FLOOR_PART(n)                                                                              \
    const __m256i words##n = _mm256_loadu_si256((const void *)(at + 32 * n));                      \
    if (to != NULL) { _mm256_storeu_si256((void *)(to + 32 * n), words##n); }                      \
    const __m256i part##n = _mm256_madd_epi16(_mm256_xor_si256(sign, words##n), one)
        FLOOR_PART(0);
        FLOOR_PART(1);
        FLOOR_PART(2);
        FLOOR_PART(3);
#undef FLOOR_PART
        first = _mm256_add_epi32(first, _mm256_add_epi32(_mm256_add_epi32(part0, part1),
                                                         _mm256_add_epi32(part2, part3)));
        at += 128;
        if (to != NULL) { to += 128; }
    }
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(first), _mm256_extracti128_si256(first, 1));
    half = _mm_add_epi32(half, _mm_srli_si128(half, 8));
    half = _mm_add_epi32(half, _mm_srli_si128(half, 4));
    all = (uint64_t)((int64_t)_mm_cvtsi128_si32(half) + (int64_t)(wide / 2) * 32768);
    length -= wide;
#endif
    unsigned char carry = 0;
    for (; length >= 32; length -= 32, at += 32) {
        const uint64_t a = load64(at), b = load64(at + 8), c = load64(at + 16), d = load64(at + 24);
        if (to != NULL) {
            memcpy(to, &a, 8);
            memcpy(to + 8, &b, 8);
            memcpy(to + 16, &c, 8);
            memcpy(to + 24, &d, 8);
            to += 32;
        }
        carry = _addcarry_u64(0, all, a, &all);
        carry = _addcarry_u64(carry, all, b, &all);
        carry = _addcarry_u64(carry, all, c, &all);
        carry = _addcarry_u64(carry, all, d, &all);
        all += carry;
    }
    for (; length >= 8; length -= 8, at += 8) {
        const uint64_t a = load64(at);
        if (to != NULL) {
            memcpy(to, &a, 8);
            to += 8;
        }
        carry = _addcarry_u64(0, all, a, &all);
        all += carry;
    }
    if (length != 0) {
        uint64_t last = 0;
        for (uint32_t one_byte = 0; one_byte < length; one_byte += 1) {
            last |= (uint64_t)at[one_byte] << 8 * one_byte;
            if (to != NULL) { to[one_byte] = at[one_byte]; }
        }
        carry = _addcarry_u64(0, all, last, &all);
        all += carry;
    }
    return (all & 0xffffffff) + (all >> 32);
}

/* Sums without a copy: adds with carry take no more instructions than vectors, and no set-up. */
static __attribute__((noinline, unused)) uint64_t summed(const uint8_t *at, uint32_t length) {
    unsigned long long all = 0;
    unsigned char carry;
#define FLOOR_ADD(n) carry = _addcarry_u64(carry, all, load64(at + 8 * (n)), &all)
#define FLOOR_ADD_FOUR(n) FLOOR_ADD(n), FLOOR_ADD(n + 1), FLOOR_ADD(n + 2), FLOOR_ADD(n + 3)
    for (; length >= 128; length -= 128, at += 128) {
        carry = 0;
        FLOOR_ADD_FOUR(0), FLOOR_ADD_FOUR(4), FLOOR_ADD_FOUR(8), FLOOR_ADD_FOUR(12);
        all += carry;
    }
    if (length & 64) {
        carry = 0;
        FLOOR_ADD_FOUR(0), FLOOR_ADD_FOUR(4);
        all += carry;
        at += 64;
    }
    if (length & 32) {
        carry = 0;
        FLOOR_ADD_FOUR(0);
        all += carry;
        at += 32;
    }
    if (length & 16) {
        carry = 0;
        FLOOR_ADD(0), FLOOR_ADD(1);
        all += carry;
        at += 16;
    }
    if (length & 8) {
        carry = 0;
        FLOOR_ADD(0);
        all += carry;
        at += 8;
    }
#undef FLOOR_ADD_FOUR
#undef FLOOR_ADD
    if (length & 7) {
        uint64_t last = 0;
        for (uint32_t n = 0; n < (length & 7); n += 1) { last |= (uint64_t)at[n] << 8 * n; }
        all += last;
        all += all < last;
    }
    return (all & 0xffffffff) + (all >> 32);
}
#endif
