Numbers; as `buffers.c`.

/* part smaller32 */
static inline uint32_t smaller32(uint32_t one, uint32_t other) {
    return one < other ? one : other;
}

/* part smaller64 */
static inline uint64_t smaller64(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

/* part larger32 */
static inline uint32_t larger32(uint32_t one, uint32_t other) {
    return one > other ? one : other;
}

/* part larger64 */
static inline uint64_t larger64(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

/* part smaller_signed */
static inline int64_t smaller_signed(int64_t one, int64_t other) {
    return one < other ? one : other;
}

/* part larger_signed */
static inline int64_t larger_signed(int64_t one, int64_t other) {
    return one > other ? one : other;
}
