/*
 * coders.h: error-correcting codes for the data of one message. stackloom.h says how these files
 * are to be read. A function of this file overwrites data and keeps its length; a decoder accepts
 * any bytes.
 */

/* part sl_bits64: needs */
/* Returns the number of bits that are set. */
static inline uint32_t sl_bits64(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(word * 0x0101010101010101 >> 56);
}

/* part sl_load_upto8: needs memcpy */
/* Loads up to eight bytes in memory order; those behind them are zero. */
static inline uint64_t sl_load_upto8(const uint8_t *at, size_t length) {
    uint64_t word = 0;
    if (length >= sizeof word) {
        memcpy(&word, at, sizeof word);
    } else {
        memcpy(&word, at, length);
    }
    return word;
}

/* part sl_store_upto8: needs memcpy */
/* Stores as many bytes of a word that sl_load_upto8 loaded. */
static inline void sl_store_upto8(uint8_t *at, size_t length, uint64_t word) {
    if (length >= sizeof word) {
        memcpy(at, &word, sizeof word);
    } else {
        memcpy(at, &word, length);
    }
}

/* part sl_hamming_encoded: needs sl_load_upto8 sl_store_upto8 */
/* Encodes by the Hamming code with 4 data bits in 7. The data consists of seven runs of bytes: bit
 * i of each run belongs to codeword i. The first four runs are the data, which stays as it is, in
 * positions 3, 5, 6 and 7 of the codeword; the last three are the parity, in positions 1, 2, 4. */
static void sl_hamming_encoded(uint8_t *data, size_t data_length) {
    const size_t run = data_length / 7;
    for (size_t at = 0; at < run; at += 8) {
        uint8_t *const bytes = data + at;
        const size_t count = run - at;
        const uint64_t three = sl_load_upto8(bytes, count);
        const uint64_t five = sl_load_upto8(bytes + run, count);
        const uint64_t six = sl_load_upto8(bytes + 2 * run, count);
        const uint64_t seven = sl_load_upto8(bytes + 3 * run, count);
        sl_store_upto8(bytes + 4 * run, count, three ^ five ^ seven);
        sl_store_upto8(bytes + 5 * run, count, three ^ six ^ seven);
        sl_store_upto8(bytes + 6 * run, count, five ^ six ^ seven);
    }
}

/* part sl_hamming_correct: needs sl_load_upto8 sl_store_upto8 */
/* Inverts the wrong bits of a run of bytes. */
static inline void sl_hamming_correct(uint8_t *bytes, size_t count, uint64_t wrong) {
    sl_store_upto8(bytes, count, sl_load_upto8(bytes, count) ^ wrong);
}

/* part sl_hamming_decoded: needs sl_bits64 sl_hamming_correct sl_load_upto8 */
/* Corrects one bit of each codeword; returns the number of corrected bits, parity included. */
static uint32_t sl_hamming_decoded(uint8_t *data, size_t data_length) {
    const size_t run = data_length / 7;
    uint32_t corrected = 0;
    for (size_t at = 0; at < run; at += 8) {
        uint8_t *const bytes = data + at;
        const size_t count = run - at;
        const uint64_t three = sl_load_upto8(bytes, count);
        const uint64_t five = sl_load_upto8(bytes + run, count);
        const uint64_t six = sl_load_upto8(bytes + 2 * run, count);
        const uint64_t seven = sl_load_upto8(bytes + 3 * run, count);
        /* the three bits of the syndrome, which is the position of the wrong bit */
        const uint64_t one = sl_load_upto8(bytes + 4 * run, count) ^ three ^ five ^ seven;
        const uint64_t two = sl_load_upto8(bytes + 5 * run, count) ^ three ^ six ^ seven;
        const uint64_t four = sl_load_upto8(bytes + 6 * run, count) ^ five ^ six ^ seven;
        if ((one | two | four) == 0) {
            continue;
        }
        corrected += sl_bits64(one | two | four);
        sl_hamming_correct(bytes, count, one & two & ~four);
        sl_hamming_correct(bytes + run, count, one & ~two & four);
        sl_hamming_correct(bytes + 2 * run, count, ~one & two & four);
        sl_hamming_correct(bytes + 3 * run, count, one & two & four);
        sl_hamming_correct(bytes + 4 * run, count, one & ~two & ~four);
        sl_hamming_correct(bytes + 5 * run, count, ~one & two & ~four);
        sl_hamming_correct(bytes + 6 * run, count, ~one & ~two & four);
    }
    return corrected;
}

/* part SL_LANES: needs */
/* Lanes of a convolutional code: each is a code of its own, and has one byte in each row. */
enum { SL_LANES = 16 };

/* part SL_CODED_ROWS: needs */
/* The most rows of data that are decoded. */
enum { SL_CODED_ROWS = 96 };

/* part sl_row: needs */
/* A row, or half of one, in words: a byte for each lane. No operation on words carries from a byte
 * to the next. */
#ifdef __GNUC__
typedef uint64_t sl_row __attribute__((vector_size(16)));
#else
typedef uint64_t sl_row;
#endif

/* part SL_EACH_LANE: needs */
/* Times a byte, this byte in each lane. */
static const uint64_t SL_EACH_LANE = 0x0101010101010101;

/* part sl_row_spread: needs SL_EACH_LANE sl_row */
/* Moves the lower four bits of each byte to its even bits; the upper four are lost. */
static inline void sl_row_spread(sl_row *bits) {
    *bits &= SL_EACH_LANE * 0x0f;
    *bits = (*bits | *bits << 2) & SL_EACH_LANE * 0x33;
    *bits = (*bits | *bits << 1) & SL_EACH_LANE * 0x55;
}

/* part sl_row_mix: needs memcpy sl_row sl_row_spread */
/* Stores the lower four bits of each byte of `odd`, each before that of `even`. */
static inline void sl_row_mix(uint8_t *to, const sl_row *odd, const sl_row *even) {
    sl_row first = *odd;
    sl_row second = *even;
    sl_row_spread(&first);
    sl_row_spread(&second);
    first = first << 1 | second;
    memcpy(to, &first, sizeof first);
}

/* part sl_convolutional_encoded: needs SL_EACH_LANE SL_LANES memcpy sl_row sl_row_mix */
/* Encodes by the convolutional code of rate 1/2, constraint length 3 and generators 7 and 5. The
 * data consists of 2 n + 1 rows, of which the first n are encoded. Each bit of a lane, from the
 * most significant of a byte on, becomes two: the sum of it and the two before it, and the sum of
 * it and the second before it. Two zero bits end a lane; their four bits are the upper half of the
 * last row. Data of another length stays as it is. */
static void sl_convolutional_encoded(uint8_t *data, size_t data_length) {
    const size_t rows = data_length / SL_LANES / 2;
    if (data_length != (2 * rows + 1) * SL_LANES) {
        return;
    }
    for (size_t first = 0; first < SL_LANES; first += sizeof(sl_row)) {
        uint8_t *const lanes = data + first;
        /* From the end on, as a byte becomes two. */
        for (size_t row = rows + 1; row-- > 0;) {
            sl_row before = {0};
            sl_row bits = {0};
            if (row > 0) {
                memcpy(&before, lanes + (row - 1) * SL_LANES, sizeof before);
            }
            if (row < rows) {
                memcpy(&bits, lanes + row * SL_LANES, sizeof bits);
            }
            /* each bit's last and second last */
            const sl_row last =
                (bits >> 1 & SL_EACH_LANE * 0x7f) | (before << 7 & SL_EACH_LANE * 0x80);
            const sl_row second =
                (bits >> 2 & SL_EACH_LANE * 0x3f) | (before << 6 & SL_EACH_LANE * 0xc0);
            const sl_row five = bits ^ second;
            const sl_row seven = five ^ last;
            if (row < rows) {
                sl_row_mix(lanes + (2 * row + 1) * SL_LANES, &seven, &five);
            }
            const sl_row upper_seven = seven >> 4;
            const sl_row upper_five = five >> 4;
            sl_row_mix(lanes + 2 * row * SL_LANES, &upper_seven, &upper_five);
        }
    }
}

/* part sl_row_least: needs SL_EACH_LANE sl_row */
/* Replaces numbers, all less than 128, by others where these are less; returns the highest bit of
 * each such lane. */
static inline void sl_row_least(sl_row *least, const sl_row *other, sl_row *replaced) {
    const uint64_t highest = SL_EACH_LANE * 0x80;
    *replaced = ~((*other | highest) - *least) & highest;
    *least ^= (*least ^ *other) & (*replaced - (*replaced >> 7));
}

/* part sl_viterbi: needs SL_CODED_ROWS sl_row */
/* The state of Viterbi decoding. A state of the encoder is its last two bits, the newer twice. */
struct sl_viterbi {
    /* of each state, the bits in which the best way to it differs; less than 64 */
    sl_row distance[4];
    /* what was subtracted from all distances: for each two lanes, the sum in 16 bits */
    sl_row subtracted;
    /* of two steps each, the second in the upper half: of each state, whether the best way to it
     * comes from a state whose older bit is set */
    sl_row chosen[4 * SL_CODED_ROWS + 1];
};

/* part sl_viterbi_step: needs SL_EACH_LANE sl_row sl_row_least sl_viterbi */
/* Adds one step, whose two bits are at a place of each byte of a row, to the best ways. Of two that
 * are equally good, the one from the state whose older bit is 0 wins. */
static inline void sl_viterbi_step(struct sl_viterbi *ways, const sl_row *row, size_t step,
                                   uint32_t place) {
    const sl_row seven = *row >> (place + 1) & SL_EACH_LANE;
    const sl_row five = *row >> place & SL_EACH_LANE;
    /* how far the received pair is from 00, 11, 10 and 01 */
    const sl_row from00 = seven + five;
    const sl_row from11 = 2 * SL_EACH_LANE - from00;
    const sl_row from10 = SL_EACH_LANE - seven + five;
    const sl_row from01 = 2 * SL_EACH_LANE - from10;
    const sl_row one_to0 = ways->distance[1] + from11;
    const sl_row one_to2 = ways->distance[1] + from00;
    const sl_row three_to1 = ways->distance[3] + from01;
    const sl_row three_to3 = ways->distance[3] + from10;
    sl_row to0 = ways->distance[0] + from00;
    sl_row to1 = ways->distance[2] + from10;
    sl_row to2 = ways->distance[0] + from11;
    sl_row to3 = ways->distance[2] + from01;
    sl_row older[4];
    sl_row_least(&to0, &one_to0, &older[0]);
    sl_row_least(&to1, &three_to1, &older[1]);
    sl_row_least(&to2, &one_to2, &older[2]);
    sl_row_least(&to3, &three_to3, &older[3]);
    ways->distance[0] = to0;
    ways->distance[1] = to1;
    ways->distance[2] = to2;
    ways->distance[3] = to3;
    const sl_row chosen = older[0] >> 7 | older[1] >> 6 | older[2] >> 5 | older[3] >> 4;
    if (step % 2 == 0) {
        ways->chosen[step / 2] = chosen;
    } else {
        ways->chosen[step / 2] |= chosen << 4;
    }
}

/* part sl_viterbi_subtract: needs sl_row sl_row_least sl_viterbi */
/* Subtracts the least distance from all, so that they stay small. */
static inline void sl_viterbi_subtract(struct sl_viterbi *ways) {
    const uint64_t each_second = 0x00ff00ff00ff00ff;
    sl_row least = ways->distance[0];
    sl_row replaced;
    for (size_t state = 1; state < 4; state += 1) {
        sl_row_least(&least, &ways->distance[state], &replaced);
    }
    for (size_t state = 0; state < 4; state += 1) {
        ways->distance[state] -= least;
    }
    ways->subtracted += (least & each_second) + (least >> 8 & each_second);
}

/* part sl_viterbi_back: needs SL_EACH_LANE SL_LANES memcpy sl_row sl_viterbi */
/* Writes the bits of the ways that end in state 0 to the first rows, from the last bit on. */
static inline void sl_viterbi_back(const struct sl_viterbi *ways, uint8_t *data, size_t rows) {
    sl_row newer = {0};
    sl_row older = {0};
    sl_row bytes = {0};
    for (size_t step = 8 * rows + 2; step-- > 0;) {
        bytes |= newer << (7 - step % 8);
        if (step % 8 == 0 && step < 8 * rows) {
            memcpy(data + step / 8 * SL_LANES, &bytes, sizeof bytes);
        }
        if (step % 8 == 0) {
            bytes ^= bytes;
        }
        /* Selects the bit of the state, first by its newer bit, then by its older one. */
        const sl_row of4 = ways->chosen[step / 2] >> step % 2 * 4;
        const sl_row of2 = of4 ^ ((of4 ^ of4 >> 2) & (newer | newer << 1));
        newer = older;
        older = (of2 ^ ((of2 ^ of2 >> 1) & older)) & SL_EACH_LANE;
    }
}

/* part sl_viterbi_differs: needs memcpy sl_row sl_viterbi */
/* Returns the bits in which the ways that end in state 0 differ, of all lanes. */
static inline uint32_t sl_viterbi_differs(const struct sl_viterbi *ways) {
    uint16_t subtracted[sizeof(sl_row) / 2];
    uint8_t distance[sizeof(sl_row)];
    uint32_t sum = 0;
    memcpy(subtracted, &ways->subtracted, sizeof subtracted);
    memcpy(distance, &ways->distance[0], sizeof distance);
    for (size_t lane = 0; lane < sizeof distance; lane += 1) {
        sum += (lane % 2 == 0 ? subtracted[lane / 2] : 0U) + distance[lane];
    }
    return sum;
}

/* part sl_convolutional_decoded: needs SL_CODED_ROWS SL_EACH_LANE SL_LANES memcpy sl_row
   sl_viterbi sl_viterbi_back sl_viterbi_differs sl_viterbi_step sl_viterbi_subtract */
/* Decodes what sl_convolutional_encoded makes into the first n of 2 n + 1 rows, by the algorithm of
 * Viterbi, and finds the number of corrected bits. False, and unchanged data, if the data has
 * another length or too many rows. */
static bool sl_convolutional_decoded(uint8_t *data, size_t data_length, uint32_t *found) {
    const size_t rows = data_length / SL_LANES / 2;
    if (data_length != (2 * rows + 1) * SL_LANES || rows > SL_CODED_ROWS) {
        return false;
    }
    *found = 0;
    for (size_t first = 0; first < SL_LANES; first += sizeof(sl_row)) {
        uint8_t *const lanes = data + first;
        struct sl_viterbi ways;
        sl_row coded;
        /* An encoder begins in state 0: two steps from there cost at most 4. */
        ways.subtracted = (sl_row){0};
        ways.distance[0] = ways.subtracted;
        for (size_t state = 1; state < 4; state += 1) {
            ways.distance[state] = ways.subtracted + 32 * SL_EACH_LANE;
        }
        for (size_t row = 0; row < 2 * rows; row += 1) {
            memcpy(&coded, lanes + row * SL_LANES, sizeof coded);
            for (uint32_t pair = 0; pair < 4; pair += 1) {
                sl_viterbi_step(&ways, &coded, 4 * row + pair, 6 - 2 * pair);
            }
            sl_viterbi_subtract(&ways);
        }
        memcpy(&coded, lanes + 2 * rows * SL_LANES, sizeof coded);
        for (uint32_t pair = 0; pair < 2; pair += 1) {
            sl_viterbi_step(&ways, &coded, 8 * rows + pair, 6 - 2 * pair);
        }
        sl_viterbi_back(&ways, lanes, rows);
        *found += sl_viterbi_differs(&ways);
    }
    return true;
}

/* part SL_WORD: needs */
/* The most bytes of a Reed-Solomon codeword: one for each value of a byte but 0. */
enum { SL_WORD = 255 };

/* part sl_power: needs SL_WORD */
/* A power of 3, which generates the field of galois.h; the exponent is less than 2 * SL_WORD. */
static inline uint8_t sl_power(size_t exponent) {
    static const uint8_t powers[SL_WORD] = {
        0x01, 0x03, 0x05, 0x0f, 0x11, 0x33, 0x55, 0xff, 0x1a, 0x2e, 0x72, 0x96, 0xa1, 0xf8,
        0x13, 0x35, 0x5f, 0xe1, 0x38, 0x48, 0xd8, 0x73, 0x95, 0xa4, 0xf7, 0x02, 0x06, 0x0a,
        0x1e, 0x22, 0x66, 0xaa, 0xe5, 0x34, 0x5c, 0xe4, 0x37, 0x59, 0xeb, 0x26, 0x6a, 0xbe,
        0xd9, 0x70, 0x90, 0xab, 0xe6, 0x31, 0x53, 0xf5, 0x04, 0x0c, 0x14, 0x3c, 0x44, 0xcc,
        0x4f, 0xd1, 0x68, 0xb8, 0xd3, 0x6e, 0xb2, 0xcd, 0x4c, 0xd4, 0x67, 0xa9, 0xe0, 0x3b,
        0x4d, 0xd7, 0x62, 0xa6, 0xf1, 0x08, 0x18, 0x28, 0x78, 0x88, 0x83, 0x9e, 0xb9, 0xd0,
        0x6b, 0xbd, 0xdc, 0x7f, 0x81, 0x98, 0xb3, 0xce, 0x49, 0xdb, 0x76, 0x9a, 0xb5, 0xc4,
        0x57, 0xf9, 0x10, 0x30, 0x50, 0xf0, 0x0b, 0x1d, 0x27, 0x69, 0xbb, 0xd6, 0x61, 0xa3,
        0xfe, 0x19, 0x2b, 0x7d, 0x87, 0x92, 0xad, 0xec, 0x2f, 0x71, 0x93, 0xae, 0xe9, 0x20,
        0x60, 0xa0, 0xfb, 0x16, 0x3a, 0x4e, 0xd2, 0x6d, 0xb7, 0xc2, 0x5d, 0xe7, 0x32, 0x56,
        0xfa, 0x15, 0x3f, 0x41, 0xc3, 0x5e, 0xe2, 0x3d, 0x47, 0xc9, 0x40, 0xc0, 0x5b, 0xed,
        0x2c, 0x74, 0x9c, 0xbf, 0xda, 0x75, 0x9f, 0xba, 0xd5, 0x64, 0xac, 0xef, 0x2a, 0x7e,
        0x82, 0x9d, 0xbc, 0xdf, 0x7a, 0x8e, 0x89, 0x80, 0x9b, 0xb6, 0xc1, 0x58, 0xe8, 0x23,
        0x65, 0xaf, 0xea, 0x25, 0x6f, 0xb1, 0xc8, 0x43, 0xc5, 0x54, 0xfc, 0x1f, 0x21, 0x63,
        0xa5, 0xf4, 0x07, 0x09, 0x1b, 0x2d, 0x77, 0x99, 0xb0, 0xcb, 0x46, 0xca, 0x45, 0xcf,
        0x4a, 0xde, 0x79, 0x8b, 0x86, 0x91, 0xa8, 0xe3, 0x3e, 0x42, 0xc6, 0x51, 0xf3, 0x0e,
        0x12, 0x36, 0x5a, 0xee, 0x29, 0x7b, 0x8d, 0x8c, 0x8f, 0x8a, 0x85, 0x94, 0xa7, 0xf2,
        0x0d, 0x17, 0x39, 0x4b, 0xdd, 0x7c, 0x84, 0x97, 0xa2, 0xfd, 0x1c, 0x24, 0x6c, 0xb4,
        0xc7, 0x52, 0xf6};
    return powers[exponent < SL_WORD ? exponent : exponent - SL_WORD];
}

/* part sl_logarithm: needs */
/* The exponent of a power of 3; the number is not 0. */
static inline size_t sl_logarithm(uint8_t power) {
    static const uint8_t logarithms[256] = {
        0x00, 0x00, 0x19, 0x01, 0x32, 0x02, 0x1a, 0xc6, 0x4b, 0xc7, 0x1b, 0x68, 0x33, 0xee,
        0xdf, 0x03, 0x64, 0x04, 0xe0, 0x0e, 0x34, 0x8d, 0x81, 0xef, 0x4c, 0x71, 0x08, 0xc8,
        0xf8, 0x69, 0x1c, 0xc1, 0x7d, 0xc2, 0x1d, 0xb5, 0xf9, 0xb9, 0x27, 0x6a, 0x4d, 0xe4,
        0xa6, 0x72, 0x9a, 0xc9, 0x09, 0x78, 0x65, 0x2f, 0x8a, 0x05, 0x21, 0x0f, 0xe1, 0x24,
        0x12, 0xf0, 0x82, 0x45, 0x35, 0x93, 0xda, 0x8e, 0x96, 0x8f, 0xdb, 0xbd, 0x36, 0xd0,
        0xce, 0x94, 0x13, 0x5c, 0xd2, 0xf1, 0x40, 0x46, 0x83, 0x38, 0x66, 0xdd, 0xfd, 0x30,
        0xbf, 0x06, 0x8b, 0x62, 0xb3, 0x25, 0xe2, 0x98, 0x22, 0x88, 0x91, 0x10, 0x7e, 0x6e,
        0x48, 0xc3, 0xa3, 0xb6, 0x1e, 0x42, 0x3a, 0x6b, 0x28, 0x54, 0xfa, 0x85, 0x3d, 0xba,
        0x2b, 0x79, 0x0a, 0x15, 0x9b, 0x9f, 0x5e, 0xca, 0x4e, 0xd4, 0xac, 0xe5, 0xf3, 0x73,
        0xa7, 0x57, 0xaf, 0x58, 0xa8, 0x50, 0xf4, 0xea, 0xd6, 0x74, 0x4f, 0xae, 0xe9, 0xd5,
        0xe7, 0xe6, 0xad, 0xe8, 0x2c, 0xd7, 0x75, 0x7a, 0xeb, 0x16, 0x0b, 0xf5, 0x59, 0xcb,
        0x5f, 0xb0, 0x9c, 0xa9, 0x51, 0xa0, 0x7f, 0x0c, 0xf6, 0x6f, 0x17, 0xc4, 0x49, 0xec,
        0xd8, 0x43, 0x1f, 0x2d, 0xa4, 0x76, 0x7b, 0xb7, 0xcc, 0xbb, 0x3e, 0x5a, 0xfb, 0x60,
        0xb1, 0x86, 0x3b, 0x52, 0xa1, 0x6c, 0xaa, 0x55, 0x29, 0x9d, 0x97, 0xb2, 0x87, 0x90,
        0x61, 0xbe, 0xdc, 0xfc, 0xbc, 0x95, 0xcf, 0xcd, 0x37, 0x3f, 0x5b, 0xd1, 0x53, 0x39,
        0x84, 0x3c, 0x41, 0xa2, 0x6d, 0x47, 0x14, 0x2a, 0x9e, 0x5d, 0x56, 0xf2, 0xd3, 0xab,
        0x44, 0x11, 0x92, 0xd9, 0x23, 0x20, 0x2e, 0x89, 0xb4, 0x7c, 0xb8, 0x26, 0x77, 0x99,
        0xe3, 0xa5, 0x67, 0x4a, 0xed, 0xde, 0xc5, 0x31, 0xfe, 0x18, 0x0d, 0x63, 0x8c, 0x80,
        0xc0, 0xf7, 0x70, 0x07};
    return logarithms[power];
}

/* part sl_times: needs sl_logarithm sl_power */
static inline uint8_t sl_times(uint8_t one, uint8_t other) {
    return one == 0 || other == 0 ? 0 : sl_power(sl_logarithm(one) + sl_logarithm(other));
}

/* part sl_over: needs SL_WORD sl_logarithm sl_power */
/* The quotient; the divisor is not 0. */
static inline uint8_t sl_over(uint8_t one, uint8_t other) {
    return one == 0 ? 0 : sl_power(sl_logarithm(one) + SL_WORD - sl_logarithm(other));
}

/* part SL_PARITY_WORDS: needs */
/* The most words of eight bytes for the parity of a codeword. */
enum { SL_PARITY_WORDS = 32 };

/* part sl_generator: needs SL_PARITY_WORDS */
/* The generator of a Reed-Solomon code, whose roots are the first powers of 3, without its first
 * coefficient, 1; multiplied by each value of the lower and of the upper half of a byte. The first
 * coefficients are in the upper bytes of the first words. */
struct sl_generator {
    /* words in use, of which the last may have zeros behind the coefficients */
    size_t words;
    uint64_t lower[16][SL_PARITY_WORDS];
    uint64_t upper[16][SL_PARITY_WORDS];
};

/* part sl_generator_make: needs SL_PARITY_WORDS sl_generator sl_over sl_power sl_times */
/* By the q-binomial theorem (Cauchy), the product of x + 3^i has coefficients each of which follows
 * from that before: it is that, times 3^(i - 1) (3^(parity - i + 1) + 1) / (3^i + 1). This has no
 * meaning for 255 bytes of parity, which leave no data to be divided. */
static void sl_generator_make(struct sl_generator *generator, size_t parity) {
    uint64_t words[SL_PARITY_WORDS] = {0};
    uint8_t coefficient = 1;
    for (size_t i = 1; i <= parity; i += 1) {
        const uint8_t over = sl_over(sl_power(parity - i + 1) ^ 1, sl_power(i) ^ 1);
        coefficient = sl_times(coefficient, sl_times(sl_power(i - 1), over));
        words[(i - 1) / 8] |= (uint64_t)coefficient << (56 - (i - 1) % 8 * 8);
    }
    generator->words = (parity + 7) / 8;
    /* Two and three words are encoded as four. */
    generator->words = generator->words > 1 && generator->words < 4 ? 4 : generator->words;
    for (size_t at = 0; at < generator->words; at += 1) {
        uint64_t multiple = words[at];
        generator->lower[0][at] = 0;
        generator->upper[0][at] = 0;
        for (size_t bit = 0; bit < 8; bit += 1) {
            uint64_t(*const half)[SL_PARITY_WORDS] =
                bit < 4 ? generator->lower : generator->upper;
            const size_t one = (size_t)1 << bit % 4;
            for (size_t less = 0; less < one; less += 1) {
                half[one + less][at] = half[less][at] ^ multiple;
            }
            /* Doubles eight coefficients. */
            const uint64_t carries = multiple >> 7 & 0x0101010101010101;
            multiple = (multiple << 1 & 0xfefefefefefefefe) ^ carries * 0x1b;
        }
    }
}

/* part sl_codewords: needs */
/* How data consists of codewords, of which each byte belongs to the next one. */
struct sl_codewords {
    /* how many there are */
    size_t count;
    /* the bytes of all their data, and of the parity of each */
    size_t data;
    size_t parity;
};

/* part sl_codewords_of: needs SL_WORD sl_codewords */
/* False if there is no room for the parity. */
static inline bool sl_codewords_of(struct sl_codewords *words, size_t length, size_t parity) {
    words->count = length / SL_WORD + (length % SL_WORD != 0 ? 1 : 0);
    words->parity = parity;
    if (words->count * parity > length) {
        return false;
    }
    words->data = length - words->count * parity;
    return true;
}

/* part SL_SIDE_BY_SIDE: needs */
/* Codewords that are divided at once, since each step of one waits for the step before. */
enum { SL_SIDE_BY_SIDE = 8 };

/* part sl_remainder_step: needs sl_generator */
/* Divides by the generator: one more coefficient of a polynomial follows. */
static inline void sl_remainder_step(const struct sl_generator *generator, size_t words,
                                     uint64_t *remainder, uint8_t coefficient) {
    const uint8_t factor = (uint8_t)(remainder[0] >> 56) ^ coefficient;
    const uint64_t *const lower = generator->lower[factor & 15];
    const uint64_t *const upper = generator->upper[factor >> 4];
    for (size_t at = 0; at + 1 < words; at += 1) {
        const uint64_t moved = remainder[at] << 8 | remainder[at + 1] >> 56;
        remainder[at] = moved ^ lower[at] ^ upper[at];
    }
    remainder[words - 1] = remainder[words - 1] << 8 ^ lower[words - 1] ^ upper[words - 1];
}

/* part sl_remainders: needs SL_PARITY_WORDS SL_SIDE_BY_SIDE memset sl_codewords sl_generator
   sl_remainder_step */
/* Finds the parity of up to SL_SIDE_BY_SIDE codewords from `first` on, the remainders of their
 * data. One or four words, for parity of up to 8 or 32 bytes, are loops that compilers unroll. */
static inline void sl_remainders(const struct sl_generator *generator,
                                 const struct sl_codewords *words, const uint8_t *data,
                                 size_t first,
                                 uint64_t remainders[SL_SIDE_BY_SIDE][SL_PARITY_WORDS]) {
    const size_t left = words->count - first;
    const size_t side = left < SL_SIDE_BY_SIDE ? left : SL_SIDE_BY_SIDE;
    memset(remainders, 0, SL_SIDE_BY_SIDE * sizeof remainders[0]);
    for (size_t row = first; row < words->data; row += words->count) {
        for (size_t at = 0; at < side && row + at < words->data; at += 1) {
            const uint8_t byte = data[row + at];
            if (generator->words == 1) {
                sl_remainder_step(generator, 1, remainders[at], byte);
            } else if (generator->words <= 4) {
                sl_remainder_step(generator, 4, remainders[at], byte);
            } else {
                sl_remainder_step(generator, generator->words, remainders[at], byte);
            }
        }
    }
}

/* part sl_remainder_byte: needs SL_PARITY_WORDS */
static inline uint8_t sl_remainder_byte(const uint64_t remainder[SL_PARITY_WORDS], size_t at) {
    return (uint8_t)(remainder[at / 8] >> (56 - at % 8 * 8));
}

/* part sl_reed_solomon_encoded: needs SL_PARITY_WORDS SL_SIDE_BY_SIDE sl_codewords sl_codewords_of
   sl_generator sl_generator_make sl_remainder_byte sl_remainders */
/* Encodes by Reed-Solomon codes whose codewords have at most 255 bytes, the last `parity` of which
 * are parity. Data of n bytes consists of n / 255 codewords, rounded up, and ends in their parity:
 * byte i of the data, and byte i of the parity, belong to codeword i modulo their number. */
static void sl_reed_solomon_encoded(uint8_t *data, size_t data_length, uint8_t parity) {
    struct sl_codewords words;
    if (!sl_codewords_of(&words, data_length, parity) || parity == 0) {
        return;
    }
    struct sl_generator generator;
    sl_generator_make(&generator, parity);
    for (size_t first = 0; first < words.count; first += SL_SIDE_BY_SIDE) {
        uint64_t remainders[SL_SIDE_BY_SIDE][SL_PARITY_WORDS];
        sl_remainders(&generator, &words, data, first, remainders);
        for (size_t at = 0; at < parity; at += 1) {
            uint8_t *const row = data + words.data + at * words.count;
            for (size_t which = first; which < words.count; which += 1) {
                if (which - first < SL_SIDE_BY_SIDE) {
                    row[which] = sl_remainder_byte(remainders[which - first], at);
                }
            }
        }
    }
}

/* part sl_root: needs sl_multiples */
/* A root of the generator, to the power of 1 and of the number of rows that a block holds. */
struct sl_root {
    struct sl_multiples one;
    struct sl_multiples rows;
};

/* part sl_rows: needs */
/* Rows of coefficients, the highest first: each column is a polynomial. */
struct sl_rows {
    /* the first row */
    const uint8_t *bytes;
    /* the end of the memory that may be read */
    const uint8_t *end;
    /* the number of rows, and the bytes from one to the next */
    size_t count;
    size_t width;
    /* rows that a block holds: as many as fit into it, or 1 that does not fit */
    size_t at_once;
};

/* part sl_rows_value: needs memcpy sl_block sl_block_load sl_block_scale sl_root sl_rows */
/* Values at two roots, by Horner's rule: at two, since each step of one waits for the step before.
 * The values are at first those of the rows before these. A step takes all rows of a block; the
 * first block ends in the rows that do not fill one. In the end the rows of a block are added.
 * Bytes of a value behind the width of a row have no meaning. */
static inline void sl_rows_value(const struct sl_rows *rows, const struct sl_root *root,
                                 const struct sl_root *other, sl_block *value,
                                 sl_block *other_value) {
    const size_t size = sizeof *value;
    const size_t head = rows->count % rows->at_once;
    const size_t before = (rows->at_once - 1 - head) * rows->width;
    uint8_t lanes[2][2 * sizeof *value] = {{0}};
    memcpy(lanes[0] + before, value, size);
    memcpy(lanes[1] + before, other_value, size);
    if (head > 0) {
        memcpy(lanes[0] + before + rows->width, rows->bytes, head * rows->width);
        memcpy(lanes[1] + before + rows->width, rows->bytes, head * rows->width);
    }
    sl_block sum = sl_block_load(lanes[0], size);
    sl_block other_sum = sl_block_load(lanes[1], size);
    for (size_t row = head; row < rows->count; row += rows->at_once) {
        const uint8_t *const at = rows->bytes + row * rows->width;
        const sl_block block = sl_block_load(at, (size_t)(rows->end - at));
        sl_block_scale(&sum, &root->rows);
        sl_block_scale(&other_sum, &other->rows);
        sum ^= block;
        other_sum ^= block;
    }
    /* The first row of each block has the highest coefficient. */
    memcpy(lanes[0], &sum, size);
    memcpy(lanes[1], &other_sum, size);
    for (size_t row = 1; row < rows->at_once; row += 1) {
        sl_block_scale(&sum, &root->one);
        sl_block_scale(&other_sum, &other->one);
        sum ^= sl_block_load(lanes[0] + row * rows->width, size);
        other_sum ^= sl_block_load(lanes[1] + row * rows->width, size);
    }
    *value = sum;
    *other_value = other_sum;
}

/* part sl_root_power: needs SL_WORD sl_multiples_of sl_power sl_root */
static inline struct sl_root sl_root_power(size_t exponent, size_t rows) {
    const struct sl_root root = {sl_multiples_of(sl_power(exponent)),
                                 sl_multiples_of(sl_power(exponent * rows % SL_WORD))};
    return root;
}

/* part sl_syndromes_of_rows: needs SL_WORD memcpy sl_block sl_block_load sl_block_scale
   sl_codewords sl_root sl_root_power sl_rows sl_rows_value */
/* Finds syndromes as values of rows at the roots of the generator. */
static void sl_syndromes_of_rows(const struct sl_codewords *words, const uint8_t *data,
                                 size_t first, sl_block syndromes[SL_WORD + 1]) {
    const size_t width = words->count;
    const size_t at_once = width < sizeof(sl_block) ? sizeof(sl_block) / width : 1;
    const size_t count = words->data / width;
    const uint8_t *const parity = data + words->data;
    const uint8_t *const end = parity + width * words->parity;
    const struct sl_rows of_data = {data + first, end, count, width, at_once};
    const struct sl_rows of_parity = {parity + first, end, words->parity, width, at_once};
    /* The first codewords may have one byte more of data. */
    const uint8_t *const last = data + count * width + first;
    const size_t rest = words->data % width > first ? words->data % width - first : 0;
    const size_t longer = rest < sizeof(sl_block) ? rest : sizeof(sl_block);
    for (size_t exponent = 0; exponent < words->parity; exponent += 2) {
        const struct sl_root roots[2] = {sl_root_power(exponent, at_once),
                                         sl_root_power(exponent + 1, at_once)};
        sl_block *const values = syndromes + exponent;
        values[0] = values[1] = (sl_block){0};
        sl_rows_value(&of_data, &roots[0], &roots[1], &values[0], &values[1]);
        for (size_t which = 0; which < 2; which += 1) {
            sl_block next = values[which];
            sl_block_scale(&next, &roots[which].one);
            next ^= sl_block_load(last, (size_t)(end - last));
            memcpy(&values[which], &next, longer);
        }
        sl_rows_value(&of_parity, &roots[0], &roots[1], &values[0], &values[1]);
    }
}

/* part sl_syndromes_of_remainders: needs SL_PARITY_WORDS SL_SIDE_BY_SIDE SL_WORD memset sl_block
   sl_codewords sl_generator sl_generator_make sl_logarithm sl_power sl_remainder_byte
   sl_remainders */
/* Finds syndromes of up to SL_SIDE_BY_SIDE codewords from their remainders, which have the same
 * syndromes, and are 0 if there are no errors. */
static void sl_syndromes_of_remainders(const struct sl_codewords *words, const uint8_t *data,
                                       size_t first, sl_block syndromes[SL_WORD + 1]) {
    struct sl_generator generator;
    uint64_t remainders[SL_SIDE_BY_SIDE][SL_PARITY_WORDS];
    sl_generator_make(&generator, words->parity);
    sl_remainders(&generator, words, data, first, remainders);
    memset(syndromes, 0, words->parity * sizeof syndromes[0]);
    for (size_t which = 0; which < SL_SIDE_BY_SIDE && first + which < words->count; which += 1) {
        const uint8_t *const parity = data + words->data + first + which;
        for (size_t at = 0; at < words->parity; at += 1) {
            const uint8_t computed = sl_remainder_byte(remainders[which], at);
            const uint8_t differs = computed ^ parity[at * words->count];
            if (differs != 0) {
                /* A coefficient of this power, at each root. */
                const size_t power = words->parity - 1 - at;
                size_t exponent = sl_logarithm(differs);
                for (size_t root = 0; root < words->parity; root += 1) {
                    ((uint8_t *)&syndromes[root])[which] ^= sl_power(exponent);
                    exponent = (exponent + power) % SL_WORD;
                }
            }
        }
    }
}

/* part sl_syndromes: needs SL_WORD sl_block sl_codewords sl_syndromes_of_remainders
   sl_syndromes_of_rows */
/* Finds the syndromes of as many codewords as a block has bytes, from `first` on: the values at the
 * roots of the generator. Those behind the last codeword have no meaning. If a block is a word of
 * SL_SIDE_BY_SIDE bytes, as there are no vectors, the division takes less time. */
static inline void sl_syndromes(const struct sl_codewords *words, const uint8_t *data, size_t first,
                                sl_block syndromes[SL_WORD + 1]) {
    if (sizeof(sl_block) > sizeof(uint64_t)) {
        sl_syndromes_of_rows(words, data, first, syndromes);
    } else {
        sl_syndromes_of_remainders(words, data, first, syndromes);
    }
}

/* part sl_locator: needs SL_WORD sl_over sl_times */
/* Finds the locator of the errors from their syndromes, by the algorithm of Berlekamp and Massey:
 * the shortest linear recurrence of the syndromes. Its coefficients begin with that of 1; returns
 * its length, which is more than `parity / 2` if there are too many errors. */
static size_t sl_locator(const uint8_t *syndromes, size_t parity,
                         uint8_t locator[SL_WORD + 1]) {
    uint8_t before[SL_WORD + 1] = {1};
    uint8_t before_differed = 1;
    size_t length = 0;
    size_t since = 1;
    for (size_t at = 0; at <= parity; at += 1) {
        locator[at] = at == 0 ? 1 : 0;
    }
    for (size_t step = 0; step < parity; step += 1) {
        uint8_t differs = syndromes[step];
        for (size_t at = 1; at <= length; at += 1) {
            differs ^= sl_times(locator[at], syndromes[step - at]);
        }
        if (differs == 0) {
            since += 1;
            continue;
        }
        uint8_t kept[SL_WORD + 1];
        for (size_t at = 0; at <= parity; at += 1) {
            kept[at] = locator[at];
        }
        const uint8_t factor = sl_over(differs, before_differed);
        for (size_t at = since; at <= parity; at += 1) {
            locator[at] ^= sl_times(factor, before[at - since]);
        }
        since += 1;
        if (2 * length <= step) {
            length = step + 1 - length;
            since = 1;
            before_differed = differs;
            for (size_t at = 0; at <= parity; at += 1) {
                before[at] = kept[at];
            }
        }
    }
    return length;
}

/* part sl_add_values: needs SL_WORD memcpy sl_block sl_block_scale sl_logarithm sl_multiples
   sl_multiples_of sl_power */
/* Adds the values of a term, a coefficient times a power of x, at the inverse of each place of a
 * codeword, which is 3 to minus this place. A block of values is the one before, times 3 to minus
 * this power and length of a block. */
static void sl_add_values(uint8_t values[SL_WORD + 1], uint8_t coefficient, size_t power) {
    sl_block term;
    for (size_t place = 0; place < sizeof term; place += 1) {
        const size_t minus = (SL_WORD - place) * power + sl_logarithm(coefficient);
        ((uint8_t *)&term)[place] = sl_power(minus % SL_WORD);
    }
    const size_t minus = (SL_WORD - sizeof term) * power % SL_WORD;
    const struct sl_multiples next = sl_multiples_of(sl_power(minus));
    for (size_t place = 0; place < SL_WORD; place += sizeof term) {
        sl_block sum;
        memcpy(&sum, values + place, sizeof sum);
        sum ^= term;
        memcpy(values + place, &sum, sizeof sum);
        sl_block_scale(&term, &next);
    }
}

/* part sl_errors: needs SL_WORD sl_add_values sl_over sl_times */
/* Finds the errors that a locator of so many locates, by Forney's formula at each of its roots,
 * which are sought among all places (Chien); returns false if it has fewer roots. The last byte of
 * a word has place 0. */
static bool sl_errors(const uint8_t *syndromes, const uint8_t *locator, size_t count, size_t length,
                      uint8_t errors[SL_WORD]) {
    uint8_t values[SL_WORD + 1] = {0};
    /* of odd terms, which are the derivative times the place */
    uint8_t odd[SL_WORD + 1] = {0};
    /* of the product of locator and syndromes, without the terms from the `count`th power on */
    uint8_t evaluator[SL_WORD + 1] = {0};
    for (size_t power = 0; power <= count; power += 1) {
        uint8_t product = 0;
        for (size_t at = 0; at <= power; at += 1) {
            product ^= sl_times(locator[at], syndromes[power - at]);
        }
        if (product != 0 && power < count) {
            sl_add_values(evaluator, product, power);
        }
        if (locator[power] != 0) {
            sl_add_values(values, locator[power], power);
        }
        if (locator[power] != 0 && power % 2 == 1) {
            sl_add_values(odd, locator[power], power);
        }
    }
    size_t roots = 0;
    for (size_t place = 0; place < length; place += 1) {
        errors[length - 1 - place] = 0;
        if (values[place] != 0) {
            continue;
        }
        roots += 1;
        if (odd[place] == 0) {
            return false;
        }
        errors[length - 1 - place] = sl_over(evaluator[place], odd[place]);
    }
    return roots == count;
}

/* part sl_codeword_errors: needs SL_WORD sl_errors sl_locator */
/* Finds the errors of a codeword with these syndromes, which are not all 0; false if there are more
 * than `parity / 2`. */
static bool sl_codeword_errors(const uint8_t *syndromes, size_t parity, size_t length,
                               uint8_t errors[SL_WORD]) {
    uint8_t locator[SL_WORD + 1];
    const size_t count = sl_locator(syndromes, parity, locator);
    return count <= parity / 2 && sl_errors(syndromes, locator, count, length, errors);
}

/* part sl_codeword_correct: needs SL_WORD sl_bits64 sl_codeword_errors sl_codewords */
/* Corrects a codeword with these syndromes, and adds the number of corrected bits; false, and an
 * unchanged codeword, if it has too many errors. */
static bool sl_codeword_correct(const struct sl_codewords *words, uint8_t *data, size_t which,
                                const uint8_t *syndromes, uint32_t *found) {
    const size_t longer = which < words->data % words->count ? 1 : 0;
    const size_t of_data = words->data / words->count + longer;
    const size_t length = of_data + words->parity;
    uint8_t errors[SL_WORD];
    if (!sl_codeword_errors(syndromes, words->parity, length, errors)) {
        return false;
    }
    for (size_t at = 0; at < length; at += 1) {
        const size_t place = at < of_data ? at * words->count + which
                                          : words->data + (at - of_data) * words->count + which;
        data[place] ^= errors[at];
        *found += sl_bits64(errors[at]);
    }
    return true;
}

/* part sl_reed_solomon_decoded: needs SL_WORD sl_block sl_codeword_correct sl_codewords
   sl_codewords_of sl_syndromes */
/* Corrects up to `parity / 2` bytes in each codeword, and finds the number of corrected bits. False
 * if a codeword has more errors; it stays as it is, and the others are corrected. Codewords without
 * errors, whose syndromes are 0, need nothing else. */
static bool sl_reed_solomon_decoded(uint8_t *data, size_t data_length, uint8_t parity,
                                    uint32_t *found) {
    struct sl_codewords words;
    *found = 0;
    if (!sl_codewords_of(&words, data_length, parity)) {
        return false;
    }
    if (parity == 0) {
        return true;
    }
    bool all = true;
    for (size_t first = 0; first < words.count; first += sizeof(sl_block)) {
        sl_block syndromes[SL_WORD + 1];
        sl_block wrong = {0};
        sl_syndromes(&words, data, first, syndromes);
        for (size_t root = 0; root < parity; root += 1) {
            wrong |= syndromes[root];
        }
        const size_t left = words.count - first;
        for (size_t at = 0; at < left && at < sizeof wrong; at += 1) {
            if (((const uint8_t *)&wrong)[at] != 0) {
                uint8_t own[SL_WORD];
                for (size_t root = 0; root < parity; root += 1) {
                    own[root] = ((const uint8_t *)&syndromes[root])[at];
                }
                all = sl_codeword_correct(&words, data, first + at, own, found) && all;
            }
        }
    }
    return all;
}
