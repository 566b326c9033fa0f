/*
 * The floor: how a segment of a given connection is received, by hand, over IPv4 and without
 * options, and every second one answered. It is no stack: what is not as predicted is refused, and
 * there the slow path would begin. A header that is expected stands ready beside a mask of the bits
 * that matter, as does the answer.
 *
 * In: `count`, `silent`, as in ../../tcp.c; or `check`, whether each bit that matters is looked at.
 */
#include "loads.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX2__
#define PART static inline __attribute__((always_inline))
#else
#define PART static __attribute__((noinline))
#endif

enum { TOTAL = 4 << 20, SEGMENT = 1460, HEADERS = 40, SEGMENTS = TOTAL / SEGMENT + 1 };

struct connection {
    uint8_t expected[HEADERS]; /* the headers of the next segment, in order */
    uint8_t mask[HEADERS];     /* and which of their bits matter */
    uint32_t next;             /* the number that is expected */
    uint32_t window;
    uint32_t told;             /* behind what was offered */
    bool waits;                /* one that came is not yet acknowledged */
    uint8_t answer[HEADERS];   /* ready but for its acknowledgement, and its sum */
    uint32_t answer_sum;       /* of what does not change in the answer */
    uint32_t segment_sum;      /* of what does not change before a segment */
    uint32_t answers;
    uint8_t (*sent)[64];       /* the wire */
    uint8_t **free;            /* the buffers that the application has read */
    uint32_t freed;
    uint64_t received;         /* bytes that it has read */
};

static inline void store32(uint8_t *at, uint32_t value) {
    memcpy(at, &value, sizeof value);
}

static inline uint32_t folded(uint64_t sum) {
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum;
}

#if SUMS
/* The sum of words of 16 bits; what is missing of the last is zero. */
static inline uint64_t summed(const uint8_t *at, uint32_t length) {
    uint64_t sum = 0;
#ifdef __AVX2__
    /* x ^ 0x8000 is a signed word; pairs are added, and the offset is taken back at the end. */
    const __m256i sign = _mm256_set1_epi16((short)0x8000), one = _mm256_set1_epi16(1);
    const uint32_t wide = length & ~63u;
    __m256i first = _mm256_setzero_si256(), second = first;
    for (uint32_t done = 0; done < wide; done += 64) {
        const __m256i a = _mm256_loadu_si256((const void *)(at + done));
        const __m256i b = _mm256_loadu_si256((const void *)(at + done + 32));
        first = _mm256_add_epi32(first, _mm256_madd_epi16(_mm256_xor_si256(sign, a), one));
        second = _mm256_add_epi32(second, _mm256_madd_epi16(_mm256_xor_si256(sign, b), one));
    }
    first = _mm256_add_epi32(first, second);
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(first), _mm256_extracti128_si256(first, 1));
    half = _mm_add_epi32(half, _mm_srli_si128(half, 8));
    half = _mm_add_epi32(half, _mm_srli_si128(half, 4));
    sum = (uint64_t)((int64_t)_mm_cvtsi128_si32(half) + (int64_t)(wide / 2) * 32768);
    at += wide;
    length -= wide;
#endif
    unsigned long long all = sum;
    unsigned char carry = 0;
    for (; length >= 32; length -= 32, at += 32) {
        carry = _addcarry_u64(0, all, load64(at), &all);
        carry = _addcarry_u64(carry, all, load64(at + 8), &all);
        carry = _addcarry_u64(carry, all, load64(at + 16), &all);
        carry = _addcarry_u64(carry, all, load64(at + 24), &all);
        all += carry;
    }
    for (; length != 0; length -= length < 8 ? length : 8, at += 8) {
        uint64_t last = 0;
        memcpy(&last, at, length < 8 ? length : 8);
        carry = _addcarry_u64(0, all, last, &all);
        all += carry;
    }
    return (all & 0xffffffff) + (all >> 32);
}
#endif

PART bool receive(struct connection *own, uint8_t *segment, uint32_t length) {
    const uint8_t *const expected = own->expected;
#ifdef __AVX2__
    const __m256i found = _mm256_loadu_si256((const void *)segment);
    const __m256i differs = _mm256_xor_si256(found, _mm256_loadu_si256((const void *)expected));
    const uint32_t last = load32(segment + 32) ^ load32(expected + 32);
    if (!_mm256_testz_si256(differs, _mm256_loadu_si256((const void *)own->mask)) ||
        (last & 0xfffff7ff) != 0) {
        return false;
    }
#else
    const uint8_t *const mask = own->mask;
    if ((((load64(segment) ^ load64(expected)) & load64(mask)) |
         ((load64(segment + 8) ^ load64(expected + 8)) & load64(mask + 8)) |
         (load64(segment + 16) ^ load64(expected + 16)) |
         ((load64(segment + 32) ^ load64(expected + 32)) & load64(mask + 32)) |
         (load32(segment + 28) ^ load32(expected + 28))) != 0) {
        return false;
    }
#endif
    const uint32_t whole = __builtin_bswap16(load16(segment + 2));
    const uint32_t bytes = whole - HEADERS;
    if (__builtin_bswap32(load32(segment + 24)) != own->next || whole > length ||
        bytes - 1 >= own->window) {
        return false;
    }
#if SUMS
    const uint32_t sum = folded((uint64_t)load32(segment) + load32(segment + 4) +
                                load32(segment + 8) + load32(segment + 12) + load32(segment + 16));
    const uint16_t size = __builtin_bswap16((uint16_t)(bytes + 20));
    if (sum != 0xffff ||
        folded(summed(segment + 20, bytes + 20) + own->segment_sum + size) != 0xffff) {
        return false;
    }
#endif
    own->next += bytes;
    own->received += bytes;
    own->free[own->freed] = segment;
    own->freed += 1;
    return true;
}

PART void acknowledge(struct connection *own) {
    uint8_t *const out = own->sent[own->answers & 255];
    const uint32_t number = __builtin_bswap32(own->next);
    own->answers += 1;
    memcpy(out, own->answer, HEADERS);
    store32(out + 28, number);
#if SUMS
    const uint16_t sum = (uint16_t)~folded((uint64_t)own->answer_sum + number);
    memcpy(out + 36, &sum, sizeof sum);
#endif
    own->told = own->next + own->window;
    own->waits = false;
}

static inline __attribute__((always_inline)) bool step(struct connection *own, uint8_t *segment,
                                                       uint32_t length) {
    if (!receive(own, segment, length)) {
        return false;
    }
    if (own->waits) {
        acknowledge(own);
    } else {
        own->waits = true;
    }
    return true;
}

bool bench_step(struct connection *own, uint8_t *segment, uint32_t length);

__attribute__((noinline, noclone)) bool bench_step(struct connection *own, uint8_t *segment,
                                                   uint32_t length) {
    return step(own, segment, length);
}

static __attribute__((noipa)) bool other_step(struct connection *own, uint8_t *segment,
                                              uint32_t length) {
    return step(own, segment, length);
}

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

/* The sum of words, in the order of this machine. */
static uint64_t plain_sum(const uint8_t *at, uint32_t length) {
    uint64_t sum = 0;
    for (uint32_t one = 0; one < length; one += 1) {
        sum += one % 2 == 1 ? (uint64_t)at[one] << 8 : at[one];
    }
    return sum;
}

static const uint8_t headers[HEADERS] = {
    0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IPv4 */
    0x9c, 0x40, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0x10, 0, 0x50, 0x10, 0xfa, 0xf0, 0, 0, 0, 0, /* TCP */
};

static const uint8_t mask[HEADERS] = {
    255, 0, 0, 0, 0, 0, 63, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255, 255, 0xf7, 255, 255, 0, 0, 0, 0,
};

static void set_up(struct connection *own) {
    memcpy(own->expected, headers, HEADERS);
    memcpy(own->mask, mask, HEADERS);
    own->next = 1000;
    own->window = 64240;
    own->sent = calloc(256, sizeof *own->sent);
    own->free = calloc(SEGMENTS + 8, sizeof *own->free);
    uint8_t *const answer = own->answer;
    memcpy(answer, headers, HEADERS);
    memcpy(answer + 12, headers + 16, 4);
    memcpy(answer + 16, headers + 12, 4);
    memcpy(answer + 20, headers + 22, 2);
    memcpy(answer + 22, headers + 20, 2);
    memcpy(answer + 24, headers + 28, 4);
    memset(answer + 28, 0, 4);
    answer[3] = HEADERS;
    own->segment_sum = folded(plain_sum(headers + 12, 8) + 0x0600);
#if SUMS
    const uint16_t sum = (uint16_t)~folded(plain_sum(answer, 20));
    memcpy(answer + 10, &sum, sizeof sum);
    own->answer_sum = folded(plain_sum(answer + 12, 8) + 0x0600 + 0x1400 +
                             plain_sum(answer + 20, 20));
#endif
}

/* A segment on the wire, with sums that are right. */
static uint8_t *segment_at(uint32_t begin, uint32_t length) {
    uint8_t *const segment = malloc(1536);
    memcpy(segment, headers, HEADERS);
    segment[2] = (uint8_t)((length + HEADERS) >> 8);
    segment[3] = (uint8_t)(length + HEADERS);
    store32(segment + 24, __builtin_bswap32(1000 + begin));
    for (uint32_t at = 0; at < length; at += 1) {
        segment[HEADERS + at] = (uint8_t)((begin + at) * 2654435761u >> 13);
    }
    const uint16_t first = (uint16_t)~folded(plain_sum(segment, 20));
    memcpy(segment + 10, &first, sizeof first);
    const uint16_t size = __builtin_bswap16((uint16_t)(length + 20));
    const uint16_t second = (uint16_t)~folded(plain_sum(segment + 12, 8) + 0x0600 + size +
                                              plain_sum(segment + 20, length + 20));
    memcpy(segment + 36, &second, sizeof second);
    return segment;
}

/* Turns round each bit of a segment: with sums none may be wrong but in its length, where only a
 * longer frame would do, and without them none of those that matter. */
static void check(const struct connection *begin, const uint8_t *segment) {
    for (uint32_t bit = 0; bit < (HEADERS + SEGMENT) * 8; bit += 1) {
        uint8_t wrong[1536];
        struct connection own = *begin;
        memcpy(wrong, segment, HEADERS + SEGMENT);
        wrong[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const bool matters = bit < HEADERS * 8 &&
                             ((mask[bit / 8] >> bit % 8 & 1) != 0 || bit / 32 == 6);
        const bool must = SUMS ? bit / 16 != 1 : matters;
        if (must && step(&own, wrong, HEADERS + SEGMENT)) {
            fail("a segment that is wrong is taken");
        }
    }
}

int main(int count, char **words) {
    const char *const mode = count == 2 ? words[1] : "";
    const bool silent = strcmp(mode, "silent") == 0;
    static struct connection own;
    set_up(&own);
    if (strcmp(mode, "check") == 0) {
        check(&own, segment_at(0, SEGMENT));
        return 0;
    }
    if (!silent && strcmp(mode, "count") != 0) {
        fprintf(stderr, "usage: %s count|silent|check\n", words[0]);
        return 2;
    }
    uint32_t segments = 0;
    for (uint32_t at = 0; at < TOTAL; at += SEGMENT, segments += 1) {
        const uint32_t length = TOTAL - at < SEGMENT ? TOTAL - at : SEGMENT;
        uint8_t *const segment = segment_at(at, length);
        bool (*const way)(struct connection *, uint8_t *, uint32_t) =
            silent && segments % 2 == 1 ? other_step : bench_step;
        if (!way(&own, segment, length + HEADERS)) {
            fail("a segment in order is refused");
        }
    }
    if (own.received != TOTAL || own.freed != segments || own.answers != segments / 2) {
        fail("not all arrived");
    }
    printf("messages %u\n", silent ? (segments + 1) / 2 : segments);
    return 0;
}
