/*
 * stackloom.h: what a generated stack needs besides its own code.
 *
 *   memory.h       what a compiler calls by itself
 *   bytes.h        loads and stores of integers as they stand on the wire
 *   galois.h       bytes added and multiplied in GF(256)
 *   containers.h   sl_set; sl_ring, the queue; sl_window, items by modular number
 *   stream.h       sl_stream, bytes by modular position
 *   pool.h         sl_pool, slots of instances, found by hash of the key
 *   timers.h       sl_timers, all timers of a stack, the next one first
 *   coders.h       error-correcting codes for the data of a message
 *
 * No program includes these files. They are divided into parts, and a generated file holds copies
 * of those it uses, in this order. A part begins behind a line that names it and the parts that
 * it mentions, and ends before the next such line or with the file. It holds the one constant,
 * struct or function of its name. What stands before the first part of a file stays here; the
 * generated file includes the three headers below itself, which need no library.
 *
 * Memory is the caller's. A container has its numbers in a struct, and its items in arrays beside
 * it whose length, the capacity, goes with every call: as a constant it is folded away. It is not
 * 0, and less than 2^31. Nothing has to be started: a struct and its arrays, all zeroes, are an
 * empty container. What links slots is therefore stored as the slot plus one, for SL_NONE plus one
 * is zero. Fields may be read by all, but only these functions write them.
 *
 * Items are told apart by slot, an index below the capacity: a function says which slot, the
 * caller reads and writes its own items[slot]. A function that can refuse answers SL_NONE or
 * false, and has then changed nothing. What a caller must see to is said as "must"; besides,
 * pointers must not be null, not even to no bytes at all.
 *
 * Numbers and positions are modular: `largest` is the largest of their type, UINT8_MAX,
 * UINT16_MAX or UINT32_MAX, and no number given is larger. A number lies behind another if it is
 * more than `largest / 2` ahead of it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* part SL_NONE: needs */
/* No slot, buffer, timer or instance has this index. */
static const uint32_t SL_NONE = UINT32_MAX;

/* part sl_known: needs */
/* This holds: the compiler need not ask for it again, if it can be told. */
static inline void sl_known(bool holds) {
#ifdef __GNUC__
    if (!holds) {
        __builtin_unreachable();
    }
#else
    (void)holds;
#endif
}

/* part sl_once: needs */
/* The same address, which the compiler computes once: that of a struct in an array takes a
 * multiplication, and GCC would rather repeat it at each use than keep a pointer. */
static inline void *sl_once(void *address) {
#ifdef __GNUC__
    __asm__(""
            : "+r"(address));
#endif
    return address;
}
