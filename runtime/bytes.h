/*
 * bytes.h: integers as they stand on the wire, at any address. stackloom.h says how these files are
 * to be read. The order of the bytes in each function is one that gcc and clang see through: at
 * -O2 a load or store of 16, 32 or 64 bits is one move, and one swap where there has to be one.
 */

/* part sl_load_big16: needs */
static inline uint16_t sl_load_big16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

/* part sl_load_big24: needs */
static inline uint32_t sl_load_big24(const uint8_t *at) {
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

/* part sl_load_big32: needs */
static inline uint32_t sl_load_big32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* part sl_load_big48: needs sl_load_big16 sl_load_big32 */
static inline uint64_t sl_load_big48(const uint8_t *at) {
    return (uint64_t)sl_load_big32(at) << 16 | sl_load_big16(at + 4);
}

/* part sl_load_big64: needs sl_load_big32 */
static inline uint64_t sl_load_big64(const uint8_t *at) {
    return (uint64_t)sl_load_big32(at) << 32 | sl_load_big32(at + 4);
}

/* part sl_load_little16: needs */
static inline uint16_t sl_load_little16(const uint8_t *at) {
    return (uint16_t)(at[1] << 8 | at[0]);
}

/* part sl_load_little24: needs */
static inline uint32_t sl_load_little24(const uint8_t *at) {
    return (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* part sl_load_little32: needs */
static inline uint32_t sl_load_little32(const uint8_t *at) {
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* part sl_load_little48: needs sl_load_little16 sl_load_little32 */
static inline uint64_t sl_load_little48(const uint8_t *at) {
    return (uint64_t)sl_load_little32(at + 2) << 16 | sl_load_little16(at);
}

/* part sl_load_little64: needs sl_load_little32 */
static inline uint64_t sl_load_little64(const uint8_t *at) {
    return (uint64_t)sl_load_little32(at + 4) << 32 | sl_load_little32(at);
}

/* part sl_store_big16: needs */
static inline void sl_store_big16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* part sl_store_big24: needs */
static inline void sl_store_big24(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 16);
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)value;
}

/* part sl_store_big32: needs */
static inline void sl_store_big32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

/* part sl_store_big48: needs sl_store_big16 sl_store_big32 */
static inline void sl_store_big48(uint8_t *at, uint64_t value) {
    sl_store_big32(at + 2, (uint32_t)value);
    sl_store_big16(at, (uint16_t)(value >> 32));
}

/* part sl_store_big64: needs sl_store_big32 */
static inline void sl_store_big64(uint8_t *at, uint64_t value) {
    sl_store_big32(at, (uint32_t)(value >> 32));
    sl_store_big32(at + 4, (uint32_t)value);
}

/* part sl_store_little16: needs */
static inline void sl_store_little16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

/* part sl_store_little24: needs */
static inline void sl_store_little24(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
}

/* part sl_store_little32: needs */
static inline void sl_store_little32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

/* part sl_store_little48: needs sl_store_little16 sl_store_little32 */
static inline void sl_store_little48(uint8_t *at, uint64_t value) {
    sl_store_little32(at, (uint32_t)value);
    sl_store_little16(at + 4, (uint16_t)(value >> 32));
}

/* part sl_store_little64: needs sl_store_little32 */
static inline void sl_store_little64(uint8_t *at, uint64_t value) {
    sl_store_little32(at, (uint32_t)value);
    sl_store_little32(at + 4, (uint32_t)(value >> 32));
}
