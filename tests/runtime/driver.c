/*
 * driver.c: carries out the operations that it reads, one in a line, on the containers of the
 * runtime, and prints what each answered. The operation `begin` empties all of them, and says the
 * capacity, the largest number, and the bytes of a slot. Arrays have exactly the size that they
 * must have, so that the sanitizers see a step beyond.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* One container of each kind. A trace uses one of them; so they share arrays. */
static struct {
    struct sl_ring ring;
    struct sl_window window;
    struct sl_stream stream;
    struct sl_ranges ranges;
    struct sl_pool pool;
    struct sl_timers timers;
    struct sl_timer *timer; /* those of them */
    uint32_t capacity;
    uint32_t largest;
    uint32_t size;
    uint64_t *set;     /* or what a window holds */
    uint32_t *items;   /* of a queue or a window; the keys of a pool */
    uint8_t *bytes;    /* of a stream */
    uint32_t *next;    /* of a pool */
    uint32_t *buckets; /* of a pool */
} it;

static char operation[16];
static char hexadecimal[8193];
static uint8_t data[4096];

static void *zeroes(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        exit(2);
    }
    return memory;
}

static uint32_t number(void) {
    uint32_t value;
    if (scanf("%" SCNu32, &value) != 1) {
        exit(2);
    }
    return value;
}

static uint64_t long_number(void) {
    uint64_t value;
    if (scanf("%" SCNu64, &value) != 1) {
        exit(2);
    }
    return value;
}

static void begin(void) {
    it.capacity = number();
    it.largest = number();
    it.size = number();
    free(it.set);
    free(it.items);
    free(it.bytes);
    free(it.next);
    free(it.buckets);
    free(it.timers.heap);
    free(it.timer);
    it.set = zeroes((it.capacity + 63) / 64, sizeof *it.set);
    it.items = zeroes(it.capacity, sizeof *it.items);
    it.bytes = zeroes(it.capacity, it.size);
    it.next = zeroes(it.capacity, sizeof *it.next);
    it.buckets = zeroes(4, sizeof *it.buckets);
    it.ring = (struct sl_ring){0};
    it.window = (struct sl_window){0};
    it.stream = (struct sl_stream){0};
    it.ranges.count = 0;
    it.pool = (struct sl_pool){0};
    it.timers = (struct sl_timers){.heap = zeroes(it.capacity, sizeof *it.timers.heap)};
    it.timer = zeroes(it.capacity, sizeof *it.timer);
    for (uint32_t id = 0; id < it.capacity; id += 1) {
        sl_timer_begin(&it.timer[id], id);
    }
}

/* Reads bytes, after a dot that stands before the first, so that there may be none. */
static uint32_t some_bytes(void) {
    uint32_t length = 0;
    unsigned byte;
    if (scanf(" .%8192[0-9a-f]", hexadecimal) == 1) {
        while (sscanf(hexadecimal + 2 * length, "%2x", &byte) == 1) {
            data[length] = (uint8_t)byte;
            length += 1;
        }
    }
    return length;
}

static void print_bytes(const uint8_t *bytes, uint32_t length) {
    printf(".");
    for (uint32_t i = 0; i < length; i += 1) {
        printf("%02x", bytes[i]);
    }
}

/* An index, or "none". */
static void print_slot(uint32_t slot) {
    if (slot == SL_NONE) {
        printf("none");
    } else {
        printf("%" PRIu32, slot);
    }
}

/* What stands in a slot, or "none". */
static void print_item(uint32_t slot) {
    print_slot(slot == SL_NONE ? SL_NONE : it.items[slot]);
}

static bool is(const char *name) {
    size_t i = 0;
    while (name[i] != 0 && operation[i] == name[i]) {
        i += 1;
    }
    return operation[i] == name[i];
}

static void print_put(uint32_t slot, uint32_t item) {
    printf("%d", slot != SL_NONE);
    if (slot != SL_NONE) {
        it.items[slot] = item;
    }
}

static bool ring(void) {
    if (is("ring_push")) {
        const uint32_t slot = sl_ring_push(&it.ring, it.capacity);
        print_put(slot, number());
    } else if (is("ring_pop")) {
        print_item(sl_ring_pop(&it.ring, it.capacity));
    } else {
        return false;
    }
    printf(" %" PRIu32, it.ring.count);
    return true;
}

static bool set(void) {
    if (is("set_insert")) {
        printf("%d", sl_set_insert(it.set, it.capacity, number()));
    } else if (is("set_remove")) {
        printf("%d", sl_set_remove(it.set, it.capacity, number()));
    } else if (is("set_has")) {
        printf("%d", sl_set_has(it.set, it.capacity, number()));
    } else if (is("set_clear")) {
        sl_set_clear(it.set, it.capacity);
    } else {
        return false;
    }
    return true;
}

static bool window(void) {
    if (is("win_insert")) {
        const uint32_t n = number();
        const uint32_t slot = sl_window_insert(&it.window, it.set, it.capacity, it.largest, n);
        print_put(slot, number());
    } else if (is("win_take")) {
        print_item(sl_window_take(&it.window, it.set, it.capacity, it.largest, number()));
    } else if (is("win_get")) {
        const uint32_t n = number();
        print_item(sl_window_find(&it.window, it.set, it.capacity, it.largest, n));
        printf(" %d", sl_window_has(&it.window, it.set, it.capacity, it.largest, n));
        printf(" %d", sl_window_takes(&it.window, it.set, it.capacity, it.largest, n));
    } else if (is("win_begin")) {
        sl_window_begin(&it.window, number());
    } else if (is("win_release")) {
        print_item(sl_window_release(&it.window, it.set, it.capacity, it.largest, number()));
    } else if (is("win_replace")) {
        print_item(sl_window_replace(&it.window, it.set, it.capacity, it.largest, number()));
    } else {
        return false;
    }
    if (it.window.span != 0) {
        printf(" from %" PRIu32, it.window.first);
    }
    return true;
}

/* The ranges of a stream; none of one that is only appended to, which has a slot of two bytes. */
static struct sl_ranges *ranges(void) {
    return it.size == 1 ? &it.ranges : NULL;
}

static void stream_copy(uint32_t at, uint32_t length) {
    if (sl_stream_covers(&it.stream, ranges(), it.largest, at, length)) {
        uint8_t *copy = zeroes(length + 1, 1);
        sl_stream_copy(&it.stream, it.bytes, it.capacity, it.largest, at, copy, length);
        print_bytes(copy, length);
        free(copy);
    } else {
        printf("gap");
    }
}

static bool stream(void) {
    if (is("str_begin")) {
        sl_stream_begin(&it.stream, ranges(), number());
    } else if (is("str_insert")) {
        const uint32_t at = number();
        const uint32_t length = some_bytes();
        printf("%d", sl_stream_insert(&it.stream, ranges(), it.bytes, it.capacity, it.largest, at,
                                      data, length));
    } else if (is("str_append")) {
        const uint32_t length = some_bytes();
        printf("%d", sl_stream_append(&it.stream, ranges(), it.bytes, it.capacity, it.largest,
                                      data, length));
    } else if (is("str_ready")) {
        printf("%" PRIu32, sl_stream_ready(&it.stream, ranges(), it.largest, number()));
    } else if (is("str_copy")) {
        const uint32_t at = number();
        stream_copy(at, number());
    } else if (is("str_release")) {
        printf("%" PRIu32,
               sl_stream_release(&it.stream, ranges(), it.capacity, it.largest, number()));
    } else {
        return false;
    }
    printf(" %" PRIu32 " %" PRIu32, it.stream.begin,
           sl_stream_end(&it.stream, ranges(), it.largest));
    return true;
}

/* The bucket of a key, of which there are four. */
static uint32_t bucket(uint32_t key) {
    return (uint32_t)sl_hash(0x9e3779b97f4a7c15, 0, key) >> 30;
}

static uint32_t find(uint32_t key) {
    uint32_t slot = sl_pool_first(it.buckets, bucket(key));
    while (slot != SL_NONE && it.items[slot] != key) {
        slot = sl_pool_next(it.next, slot);
    }
    return slot;
}

static bool pool(void) {
    if (is("pool_create")) {
        const uint32_t key = number();
        const uint32_t slot = sl_pool_take(&it.pool, it.next, it.capacity);
        if (slot != SL_NONE) {
            it.items[slot] = key;
            sl_pool_link(it.buckets, it.next, bucket(key), slot);
        }
        print_slot(slot);
    } else if (is("pool_find")) {
        print_slot(find(number()));
    } else if (is("pool_end")) {
        const uint32_t slot = number();
        sl_pool_unlink(it.buckets, it.next, bucket(it.items[slot]), slot);
        sl_pool_give(&it.pool, it.next, slot);
    } else if (is("pool_has")) {
        printf("%d", sl_pool_has(&it.pool, it.next, number()));
    } else if (is("pool_each")) {
        print_slot(sl_pool_each(&it.pool, it.next, number()));
    } else {
        return false;
    }
    return true;
}

static void print_timer(const struct sl_timer *timer) {
    sl_known(timer == NULL || timer->id < it.capacity);
    print_slot(timer != NULL ? timer->id : SL_NONE);
}

static bool timers(void) {
    if (is("tim_start")) {
        const uint32_t id = number();
        sl_timers_start(&it.timers, sl_once(&it.timer[id]), long_number());
    } else if (is("tim_stop")) {
        sl_timer_stop(&it.timer[number()]);
    } else if (is("tim_running")) {
        printf("%d", sl_timer_runs(&it.timer[number()]));
    } else if (is("tim_sooner")) {
        const struct sl_timer *const one = &it.timer[number()];
        printf("%d", sl_timer_sooner(one, &it.timer[number()]));
    } else if (is("tim_expire")) {
        struct sl_timer *const timer = sl_timers_first(&it.timers);
        print_timer(timer);
        if (timer != NULL) {
            sl_timer_stop(timer);
        }
    } else if (is("tim_look")) {
        print_timer(sl_timers_first(&it.timers));
        printf(" at %" PRIu64, sl_timers_deadline(&it.timers));
    } else {
        return false;
    }
    return true;
}

static void loads(void) {
    printf("%" PRIu16 " %" PRIu16 " ", sl_load_big16(data), sl_load_little16(data));
    printf("%" PRIu32 " %" PRIu32 " ", sl_load_big24(data), sl_load_little24(data));
    printf("%" PRIu32 " %" PRIu32 " ", sl_load_big32(data), sl_load_little32(data));
    printf("%" PRIu64 " %" PRIu64 " ", sl_load_big48(data), sl_load_little48(data));
    printf("%" PRIu64 " %" PRIu64, sl_load_big64(data), sl_load_little64(data));
    for (size_t length = 1; length < 4; length += 1) {
        const uint64_t big = sl_last_big(data, length, 4);
        printf(" %" PRIu64 " %" PRIu64, big, sl_last_little(data, length));
    }
    const uint32_t mask = sl_load_big32(data + 4) | 1;
    const uint32_t long_bits = sl_load_big32(data) & mask;
    const uint16_t short_bits = (uint16_t)(sl_load_big16(data) & mask);
    for (uint32_t flip = 0; flip < 2; flip += 1) {
        printf(" %d", sl_differs_big32(data, mask, long_bits ^ flip));
        printf(" %d", sl_differs_big16(data, (uint16_t)mask, (uint16_t)(short_bits ^ flip)));
    }
}

/* Every store, each behind the one before, so that one which writes too much is seen. */
static void stores(uint64_t value) {
    memset(data, 0, 64);
    sl_store_little64(data + 40, value);
    sl_store_big64(data + 32, value);
    sl_store_little48(data + 26, value);
    sl_store_big48(data + 20, value);
    sl_store_little32(data + 16, (uint32_t)value);
    sl_store_big32(data + 12, (uint32_t)value);
    sl_store_little24(data + 9, (uint32_t)value);
    sl_store_big24(data + 6, (uint32_t)value);
    sl_store_little16(data + 4, (uint16_t)value);
    sl_store_big16(data + 2, (uint16_t)value);
    print_bytes(data, 50);
}

static bool bytes(void) {
    if (is("load")) {
        const uint32_t length = some_bytes();
        if (length != 8) {
            exit(2);
        }
        loads();
    } else if (is("differ")) {
        const uint32_t length = some_bytes();
        if (length != 96) {
            exit(2);
        }
        printf("%d ", sl_differs8(data, data + 32, data + 64));
        printf("%d ", sl_differs16(data, data + 32, data + 64));
        printf("%d ", sl_differs32(data, data + 32, data + 64));
        printf("%d ", sl_differs64(data, data + 32, data + 64));
        printf("%d ", sl_differs128(data, data + 32, data + 64));
        printf("%d", sl_differs256(data, data + 32, data + 64));
    } else if (is("store")) {
        stores(long_number());
    } else if (is("copy")) {
        /* With what stands before and behind, so that a copy of too much is seen. */
        uint8_t copied[64] = {0};
        const uint32_t length = some_bytes();
        sl_copy(copied + 1, data, length);
        print_bytes(copied, length + 2);
    } else if (is("sum")) {
        const uint64_t seed = long_number();
        const uint32_t length = some_bytes();
        printf("%" PRIu64, sl_sum_round(data, length, seed));
    } else if (is("galois")) {
        const uint8_t factor = (uint8_t)number();
        const uint32_t length = some_bytes() / 2;
        /* At any place of a block, and no byte behind it is there. */
        const size_t place = factor % 64;
        uint8_t *const block = zeroes(place + length, 1);
        uint8_t *const sum = block + place;
        uint8_t *const other = zeroes(length, 1);
        memcpy(sum, data, length);
        memcpy(other, data + length, length);
        sl_add(sum, other, length);
        sl_add_multiple(sum, other, length, factor);
        sl_scale(sum, length, factor ^ 0x35);
        printf("%d ", sl_inverse(factor));
        print_bytes(sum, length);
        free(block);
        free(other);
    } else if (is("hash")) {
        const uint64_t odd = long_number();
        const uint64_t hash = long_number();
        printf("%" PRIu64, sl_hash(odd, hash, long_number()));
    } else {
        return false;
    }
    return true;
}

/* Where the highest and the lowest bit of a word are, alone and among others. */
static bool bits(void) {
    for (uint32_t bit = 0; bit < 64; bit += 1) {
        const uint64_t one = UINT64_C(1) << bit;
        if (sl_highest_bit(one) != bit || sl_highest_bit(one | (one - 1)) != bit ||
            sl_lowest_bit(one) != bit || sl_lowest_bit(UINT64_MAX << bit) != bit) {
            return false;
        }
    }
    return true;
}

/* Whether bytes in three runs are read, in words of one size, as if they stood in one. */
static bool runs_of(size_t first, size_t second, size_t third, size_t word) {
    const size_t length = first + second + third;
    uint8_t whole[40] = {0};
    for (size_t i = 0; i < length; i += 1) {
        whole[i] = (uint8_t)(i + 1);
    }
    const struct sl_run behind[] = {{whole + first, second}, {whole + first + second, third}};
    struct sl_runs runs = {.next = behind, .count = 2, .at = {whole, first}};
    for (size_t at = 0; at < length; at += word) {
        const uint8_t *const found = sl_runs_word(&runs, word);
        const size_t missing = length - at < word ? word - (length - at) : 0;
        if (found == NULL || memcmp(found, whole + at, word) != 0 || runs.missing != missing) {
            return false;
        }
    }
    return sl_runs_word(&runs, word) == NULL && sl_runs_length(behind, 2) == second + third;
}

/* All divisions of few bytes into three runs, in words of all sizes that filters read. */
static bool runs(void) {
    for (size_t division = 0; division < 1000; division += 1) {
        for (size_t word = 1; word <= 8; word *= 2) {
            if (!runs_of(division / 100, division / 10 % 10, division % 10, word)) {
                return false;
            }
        }
    }
    return true;
}

/* The sum of bytes as words, byte by byte, with what is carried out of it. */
static uint64_t slow_sum(const uint8_t *bytes, size_t length, uint64_t sum) {
    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        for (size_t byte = 0; byte < 8 && at + byte < length; byte += 1) {
            word |= (uint64_t)bytes[at + byte] << (8 * byte);
        }
        sum += word;
        sum += sum < word;
    }
    return sum;
}

/* Whether bytes are summed that end where their memory does, and begin at some address. */
static bool sum_of(size_t length, size_t before, uint32_t kind, uint64_t seed) {
    uint8_t *const memory = zeroes(before + length + 1, 1);
    uint8_t *const bytes = memory + before + 1;
    uint32_t random = (uint32_t)length + 1;
    for (size_t i = 0; i < length; i += 1) {
        random = random * 1664525 + 1013904223;
        /* Nothing, ones alone, anything, and words that carry as seldom or as often as can be. */
        const uint8_t contents[] = {0, 0xff, (uint8_t)(random >> 24), i % 8 == 7 ? 0x80 : 0,
                                    i % 8 == 7 ? 0 : 0xff};
        bytes[i] = contents[kind];
    }
    const bool right = sl_sum_round(bytes, length, seed) == slow_sum(bytes, length, seed);
    free(memory);
    return right;
}

/* All lengths of a few thousand bytes, and some up to the longest packet. */
static bool sums(void) {
    for (uint32_t kind = 0; kind < 5; kind += 1) {
        for (size_t length = 0; length <= 65535; length += length < 2600 ? 1 : 8989) {
            if (!sum_of(length, length % 11, kind, length % 3 == 0 ? 0 : UINT64_MAX - kind)) {
                return false;
            }
        }
        if (!sum_of(65535, 3, kind, 0)) {
            return false;
        }
    }
    return true;
}

int main(void) {
    if (!bits() || !runs() || !sums()) {
        return 3;
    }
    while (scanf("%15s", operation) == 1) {
        if (is("begin")) {
            begin();
        } else if (!ring() && !set() && !window() && !stream() && !pool() && !timers() &&
                   !bytes()) {
            return 2;
        }
        printf("\n");
    }
    return 0;
}
