Words that kernels yield; as `buffers.c`.

/* part put_word */
/* Takes a word from a kernel: as many of its bytes as came in. Bytes without room are counted. */
static void put_word(struct words *words, uint64_t word) {
    for (uint32_t at = 0; at < words->given; at += 1) {
        const uint32_t below = words->big ? words->unit - 1 - at : at;
        if (words->length < words->room) {
            words->to[words->length] = (uint8_t)(word >> 8 * below);
        }
        words->length += 1;
    }
}

/* part add_multiple */
#ifdef __GNUC__
static void add_multiple(uint8_t *sum, const uint8_t *other, uint32_t length, uint8_t factor)
    __attribute__((noinline));
#endif

/* Adds a multiple of bytes to others. A function of its own, since GCC warns of the steps for many
 * bytes when it inlines this for few. */
static void add_multiple(uint8_t *sum, const uint8_t *other, uint32_t length, uint8_t factor) {
    sl_add_multiple(sum, other, length, factor);
}
