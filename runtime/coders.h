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

/* part sl_hamming_decoded: needs sl_bits64 sl_load_upto8 sl_store_upto8 */
/* Corrects one bit of each codeword; returns the number of corrected bits, parity included. */
static uint32_t sl_hamming_decoded(uint8_t *data, size_t data_length) {
    /* the position of the codeword that each run holds */
    static const uint8_t positions[7] = {3, 5, 6, 7, 1, 2, 4};
    const size_t run = data_length / 7;
    uint32_t corrected = 0;
    for (size_t at = 0; at < run; at += 8) {
        const size_t count = run - at;
        /* the three bits of the syndrome, which is the position of the wrong bit */
        uint64_t one = 0;
        uint64_t two = 0;
        uint64_t four = 0;
        uint64_t words[7];
        for (size_t which = 0; which < 7; which += 1) {
            words[which] = sl_load_upto8(data + which * run + at, count);
            one ^= (positions[which] & 1) != 0 ? words[which] : 0;
            two ^= (positions[which] & 2) != 0 ? words[which] : 0;
            four ^= (positions[which] & 4) != 0 ? words[which] : 0;
        }
        if ((one | two | four) == 0) {
            continue;
        }
        corrected += sl_bits64(one | two | four);
        for (size_t which = 0; which < 7; which += 1) {
            const uint64_t wrong = ((positions[which] & 1) != 0 ? one : ~one) &
                                   ((positions[which] & 2) != 0 ? two : ~two) &
                                   ((positions[which] & 4) != 0 ? four : ~four);
            sl_store_upto8(data + which * run + at, count, words[which] ^ wrong);
        }
    }
    return corrected;
}

/* part SL_LANES: needs */
/* Lanes of a convolutional code: each is a code of its own, and has one byte in each row. */
enum { SL_LANES = 16 };

/* part SL_CODED_ROWS: needs */
/* The most rows of data that are decoded. */
enum { SL_CODED_ROWS = 96 };

/* part sl_spread: needs */
/* Moves the lower four bits of a byte to its even bits. */
static inline uint8_t sl_spread(uint32_t bits) {
    bits = (bits | bits << 2) & 0x33;
    bits = (bits | bits << 1) & 0x55;
    return (uint8_t)bits;
}

/* part sl_convolutional_encoded: needs SL_LANES sl_spread */
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
    /* From the end on, as a byte becomes two. */
    for (size_t row = rows + 1; row-- > 0;) {
        for (size_t lane = 0; lane < SL_LANES; lane += 1) {
            const uint32_t before = row > 0 ? data[(row - 1) * SL_LANES + lane] : 0;
            const uint32_t byte = row < rows ? data[row * SL_LANES + lane] : 0;
            const uint32_t bits = before << 8 | byte;
            const uint32_t seven = bits ^ bits >> 1 ^ bits >> 2;
            const uint32_t five = bits ^ bits >> 2;
            uint8_t *const coded = data + 2 * row * SL_LANES + lane;
            const uint32_t upper = (uint32_t)sl_spread(seven >> 4 & 15) << 1;
            coded[0] = (uint8_t)(upper | sl_spread(five >> 4 & 15));
            if (row < rows) {
                const uint32_t lower = (uint32_t)sl_spread(seven & 15) << 1;
                coded[SL_LANES] = (uint8_t)(lower | sl_spread(five & 15));
            }
        }
    }
}

/* part sl_viterbi: needs SL_CODED_ROWS SL_LANES */
/* The state of Viterbi decoding. A state of the encoder is its last two bits, the newer twice. */
struct sl_viterbi {
    /* of each state, the bits in which the best way to it differs; less than 64 */
    uint8_t distance[4][SL_LANES];
    /* what was subtracted from all distances */
    uint16_t subtracted[SL_LANES];
    /* of two steps each, the second in the upper half: of each state, whether the best way to it
     * comes from a state whose older bit is set */
    uint8_t chosen[4 * SL_CODED_ROWS + 1][SL_LANES];
};

/* part sl_viterbi_step: needs SL_LANES memcpy sl_viterbi */
/* Adds one step, whose two bits are at a place of each byte of a row, to the best ways. Of two that
 * are equally good, the one from the state whose older bit is 0 wins. */
static inline void sl_viterbi_step(struct sl_viterbi *ways, const uint8_t *row, size_t step,
                                   uint32_t place) {
    /* Copies, which are in no other's place, so that compilers see lanes of vectors. */
    uint8_t pairs[SL_LANES];
    uint8_t to[4][SL_LANES];
    uint8_t older[SL_LANES];
    memcpy(pairs, row, sizeof pairs);
    memcpy(to, ways->distance, sizeof to);
    for (size_t lane = 0; lane < SL_LANES; lane += 1) {
        const uint8_t seven = pairs[lane] >> (place + 1) & 1;
        const uint8_t five = pairs[lane] >> place & 1;
        /* how far the received pair is from 00, 11, 10 and 01 */
        const uint8_t from00 = (uint8_t)(seven + five);
        const uint8_t from11 = (uint8_t)(2 - from00);
        const uint8_t from10 = (uint8_t)(1 - seven + five);
        const uint8_t from01 = (uint8_t)(2 - from10);
        const uint8_t zero_to0 = (uint8_t)(to[0][lane] + from00);
        const uint8_t zero_to2 = (uint8_t)(to[0][lane] + from11);
        const uint8_t one_to0 = (uint8_t)(to[1][lane] + from11);
        const uint8_t one_to2 = (uint8_t)(to[1][lane] + from00);
        const uint8_t two_to1 = (uint8_t)(to[2][lane] + from10);
        const uint8_t two_to3 = (uint8_t)(to[2][lane] + from01);
        const uint8_t three_to1 = (uint8_t)(to[3][lane] + from01);
        const uint8_t three_to3 = (uint8_t)(to[3][lane] + from10);
        to[0][lane] = one_to0 < zero_to0 ? one_to0 : zero_to0;
        to[1][lane] = three_to1 < two_to1 ? three_to1 : two_to1;
        to[2][lane] = one_to2 < zero_to2 ? one_to2 : zero_to2;
        to[3][lane] = three_to3 < two_to3 ? three_to3 : two_to3;
        const uint8_t older0 = one_to0 < zero_to0 ? 1 : 0;
        const uint8_t older1 = three_to1 < two_to1 ? 2 : 0;
        const uint8_t older2 = one_to2 < zero_to2 ? 4 : 0;
        const uint8_t older3 = three_to3 < two_to3 ? 8 : 0;
        older[lane] = older0 | older1 | older2 | older3;
    }
    memcpy(ways->distance, to, sizeof to);
    uint8_t *const chosen = ways->chosen[step / 2];
    if (step % 2 == 0) {
        memcpy(chosen, older, sizeof older);
    } else {
        for (size_t lane = 0; lane < SL_LANES; lane += 1) {
            chosen[lane] |= (uint8_t)(older[lane] << 4);
        }
    }
}

/* part sl_viterbi_subtract: needs SL_LANES sl_viterbi */
/* Subtracts the least distance from all, so that they stay small. */
static inline void sl_viterbi_subtract(struct sl_viterbi *ways) {
    for (size_t lane = 0; lane < SL_LANES; lane += 1) {
        uint8_t least = ways->distance[0][lane];
        for (size_t state = 1; state < 4; state += 1) {
            const uint8_t other = ways->distance[state][lane];
            least = other < least ? other : least;
        }
        for (size_t state = 0; state < 4; state += 1) {
            ways->distance[state][lane] = (uint8_t)(ways->distance[state][lane] - least);
        }
        ways->subtracted[lane] = (uint16_t)(ways->subtracted[lane] + least);
    }
}

/* part sl_viterbi_back: needs SL_LANES sl_viterbi */
/* Writes the bits of the ways that end in state 0 to the first rows, from the last bit on. */
static inline void sl_viterbi_back(const struct sl_viterbi *ways, uint8_t *data, size_t rows) {
    /* a bit for the state in which each lane is: 1, 2, 4 or 8 */
    uint8_t in[SL_LANES];
    uint8_t byte[SL_LANES] = {0};
    for (size_t lane = 0; lane < SL_LANES; lane += 1) {
        in[lane] = 1;
    }
    for (size_t step = 8 * rows + 2; step-- > 0;) {
        const uint8_t *const chosen = ways->chosen[step / 2];
        const uint32_t half = step % 2 * 4;
        for (size_t lane = 0; lane < SL_LANES; lane += 1) {
            const uint8_t older = chosen[lane] >> half & in[lane];
            const uint8_t newest = (in[lane] & 12) != 0 ? 0x80 : 0;
            const uint8_t younger = (in[lane] & 10) != 0 ? 4 : 1;
            byte[lane] = (uint8_t)(byte[lane] >> 1 | newest);
            in[lane] = (uint8_t)(older != 0 ? younger << 1 : younger);
        }
        if (step % 8 == 0 && step < 8 * rows) {
            for (size_t lane = 0; lane < SL_LANES; lane += 1) {
                data[step / 8 * SL_LANES + lane] = byte[lane];
            }
        }
    }
}

/* part sl_convolutional_decoded: needs SL_CODED_ROWS SL_LANES sl_viterbi sl_viterbi_back
   sl_viterbi_step sl_viterbi_subtract */
/* Decodes what sl_convolutional_encoded makes into the first n of 2 n + 1 rows, by the algorithm of
 * Viterbi, and finds the number of corrected bits. False, and unchanged data, if the data has
 * another length or too many rows. */
static bool sl_convolutional_decoded(uint8_t *data, size_t data_length, uint32_t *found) {
    const size_t rows = data_length / SL_LANES / 2;
    if (data_length != (2 * rows + 1) * SL_LANES || rows > SL_CODED_ROWS) {
        return false;
    }
    struct sl_viterbi ways;
    for (size_t lane = 0; lane < SL_LANES; lane += 1) {
        ways.subtracted[lane] = 0;
        for (size_t state = 0; state < 4; state += 1) {
            /* An encoder begins in state 0: two steps from there cost at most 4. */
            ways.distance[state][lane] = state == 0 ? 0 : 32;
        }
    }
    for (size_t row = 0; row < 2 * rows; row += 1) {
        for (uint32_t pair = 0; pair < 4; pair += 1) {
            sl_viterbi_step(&ways, data + row * SL_LANES, 4 * row + pair, 6 - 2 * pair);
        }
        sl_viterbi_subtract(&ways);
    }
    for (uint32_t pair = 0; pair < 2; pair += 1) {
        sl_viterbi_step(&ways, data + 2 * rows * SL_LANES, 8 * rows + pair, 6 - 2 * pair);
    }
    sl_viterbi_back(&ways, data, rows);
    *found = 0;
    for (size_t lane = 0; lane < SL_LANES; lane += 1) {
        *found += (uint32_t)ways.subtracted[lane] + ways.distance[0][lane];
    }
    return true;
}

/* part SL_WORD: needs */
/* The most bytes of a Reed-Solomon codeword: one for each value of a byte but 0. */
enum { SL_WORD = 255 };

/* part SL_WORD_ROOM: needs */
/* Bytes of a buffer for a codeword, of which words of eight bytes are read. */
enum { SL_WORD_ROOM = 264 };

/* part sl_field_double: needs */
/* Multiplies by x in the field of 256 elements whose polynomial is 0x11b. */
static inline uint8_t sl_field_double(uint8_t of) {
    return (uint8_t)(of << 1 ^ (of >> 7) * 0x1b);
}

/* part sl_field: needs SL_WORD */
/* Powers and logarithms to the base 3, which generates the field. */
struct sl_field {
    /* twice, so that the sum of two logarithms needs no remainder */
    uint8_t power[2 * SL_WORD];
    /* that of 0 is not used */
    uint8_t logarithm[SL_WORD + 1];
};

/* part sl_field_make: needs SL_WORD sl_field sl_field_double */
static inline void sl_field_make(struct sl_field *field) {
    uint8_t power = 1;
    field->logarithm[0] = 0;
    for (size_t exponent = 0; exponent < SL_WORD; exponent += 1) {
        field->power[exponent] = power;
        field->power[exponent + SL_WORD] = power;
        field->logarithm[power] = (uint8_t)exponent;
        power ^= sl_field_double(power);
    }
}

/* part sl_field_times: needs sl_field */
static inline uint8_t sl_field_times(const struct sl_field *field, uint8_t one, uint8_t other) {
    return one == 0 || other == 0
               ? 0
               : field->power[field->logarithm[one] + field->logarithm[other]];
}

/* part sl_field_over: needs SL_WORD sl_field */
/* The quotient; the divisor is not 0. */
static inline uint8_t sl_field_over(const struct sl_field *field, uint8_t one, uint8_t other) {
    return one == 0 ? 0 : field->power[field->logarithm[one] + SL_WORD - field->logarithm[other]];
}

/* part sl_generator: needs SL_WORD_ROOM */
/* The generator of a Reed-Solomon code, whose roots are the first powers of 3, without its first
 * coefficient, 1; multiplied by each value of the lower and of the upper half of a byte. Zeros
 * follow. */
struct sl_generator {
    uint8_t lower[16][SL_WORD_ROOM];
    uint8_t upper[16][SL_WORD_ROOM];
};

/* part sl_generator_make: needs SL_WORD_ROOM memset sl_field_double sl_generator */
static void sl_generator_make(struct sl_generator *generator, size_t parity) {
    uint8_t *const first = generator->lower[1];
    uint8_t root = 1;
    memset(generator, 0, sizeof *generator);
    for (size_t degree = 0; degree < parity; degree += 1) {
        /* Multiplies by x + root: the coefficients behind the first, which is 1. */
        uint8_t before = 1;
        for (size_t at = 0; at <= degree; at += 1) {
            uint8_t product = 0;
            for (uint32_t bit = 8; bit-- > 0;) {
                product = sl_field_double(product);
                product ^= (root >> bit & 1) != 0 ? before : 0;
            }
            before = first[at];
            first[at] ^= product;
        }
        root ^= sl_field_double(root);
    }
    for (size_t at = 0; at < parity; at += 1) {
        uint8_t multiple = first[at];
        for (size_t bit = 0; bit < 8; bit += 1) {
            uint8_t(*const half)[SL_WORD_ROOM] = bit < 4 ? generator->lower : generator->upper;
            const size_t one = (size_t)1 << bit % 4;
            for (size_t less = 0; less < one; less += 1) {
                half[one + less][at] = half[less][at] ^ multiple;
            }
            multiple = sl_field_double(multiple);
        }
    }
}

/* part sl_remainder: needs memcpy sl_generator */
/* Divides a word by the generator, eight coefficients at once. The remainder is the last `parity`
 * bytes of the word; those behind it stay as they are. */
static void sl_remainder(const struct sl_generator *generator, uint8_t *word, size_t length,
                         size_t parity) {
    for (size_t at = 0; at + parity < length; at += 1) {
        const uint8_t *const lower = generator->lower[word[at] & 15];
        const uint8_t *const upper = generator->upper[word[at] >> 4];
        uint8_t *const behind = word + at + 1;
        for (size_t place = 0; place < parity; place += 8) {
            uint64_t all, one, other;
            memcpy(&all, behind + place, sizeof all);
            memcpy(&one, lower + place, sizeof one);
            memcpy(&other, upper + place, sizeof other);
            all ^= one ^ other;
            memcpy(behind + place, &all, sizeof all);
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

/* part sl_codeword: needs SL_WORD_ROOM memset sl_codewords */
/* Copies a codeword, with zeros behind it; returns its length. */
static inline size_t sl_codeword(const struct sl_codewords *words, const uint8_t *data,
                                 size_t which, uint8_t word[SL_WORD_ROOM]) {
    size_t length = 0;
    memset(word, 0, SL_WORD_ROOM);
    for (size_t at = which; at < words->data; at += words->count) {
        word[length] = data[at];
        length += 1;
    }
    for (size_t at = 0; at < words->parity; at += 1) {
        word[length] = data[words->data + at * words->count + which];
        length += 1;
    }
    return length;
}

/* part sl_reed_solomon_encoded: needs SL_WORD_ROOM sl_codeword sl_codewords sl_codewords_of
   sl_generator sl_generator_make sl_remainder */
/* Encodes by Reed-Solomon codes whose codewords have at most 255 bytes, the last `parity` of which
 * are parity. Data of n bytes consists of n / 255 codewords, rounded up, and ends in their parity:
 * byte i of the data, and byte i of the parity, belong to codeword i modulo their number. */
static void sl_reed_solomon_encoded(uint8_t *data, size_t data_length, uint8_t parity) {
    struct sl_codewords words;
    if (!sl_codewords_of(&words, data_length, parity) || words.count == 0) {
        return;
    }
    struct sl_generator generator;
    sl_generator_make(&generator, parity);
    for (size_t which = 0; which < words.count; which += 1) {
        uint8_t word[SL_WORD_ROOM];
        const size_t length = sl_codeword(&words, data, which, word);
        for (size_t at = length - parity; at < length; at += 1) {
            word[at] = 0;
        }
        sl_remainder(&generator, word, length, parity);
        for (size_t at = 0; at < parity; at += 1) {
            data[words.data + at * words.count + which] = word[length - parity + at];
        }
    }
}

/* part sl_locator: needs SL_WORD sl_field sl_field_over sl_field_times */
/* Finds the locator of the errors from their syndromes, by the algorithm of Berlekamp and Massey:
 * the shortest linear recurrence of the syndromes. Its coefficients begin with that of 1; returns
 * its length, which is more than `parity / 2` if there are too many errors. */
static size_t sl_locator(const struct sl_field *field, const uint8_t *syndromes, size_t parity,
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
            differs ^= sl_field_times(field, locator[at], syndromes[step - at]);
        }
        if (differs == 0) {
            since += 1;
            continue;
        }
        uint8_t kept[SL_WORD + 1];
        for (size_t at = 0; at <= parity; at += 1) {
            kept[at] = locator[at];
        }
        const uint8_t factor = sl_field_over(field, differs, before_differed);
        for (size_t at = since; at <= parity; at += 1) {
            locator[at] ^= sl_field_times(field, factor, before[at - since]);
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

/* part sl_errors: needs SL_WORD sl_field sl_field_over sl_field_times */
/* Finds the errors that a locator of so many locates, by Forney's formula at each of its roots,
 * which are sought among all places (Chien); returns false if it has fewer roots. The last byte of
 * a word has place 0. */
static bool sl_errors(const struct sl_field *field, const uint8_t *syndromes,
                      const uint8_t *locator, size_t count, size_t length,
                      uint8_t errors[SL_WORD]) {
    /* the product of locator and syndromes, without the terms from the `count`th power on */
    uint8_t evaluator[SL_WORD];
    for (size_t power = 0; power < count; power += 1) {
        evaluator[power] = 0;
        for (size_t at = 0; at <= power; at += 1) {
            evaluator[power] ^= sl_field_times(field, locator[at], syndromes[power - at]);
        }
    }
    size_t roots = 0;
    for (size_t place = 0; place < length; place += 1) {
        const uint8_t inverse = field->power[SL_WORD - place];
        uint8_t value = 0;
        uint8_t odd = 0;
        for (size_t at = count + 1; at-- > 0;) {
            value = sl_field_times(field, value, inverse) ^ locator[at];
        }
        errors[length - 1 - place] = 0;
        if (value != 0) {
            continue;
        }
        roots += 1;
        /* The odd terms are the derivative at the root, times the root. */
        for (size_t at = 1; at <= count; at += 2) {
            const uint8_t power = field->power[(SL_WORD - place) * at % SL_WORD];
            odd ^= sl_field_times(field, locator[at], power);
        }
        for (size_t at = count; at-- > 0;) {
            value = sl_field_times(field, value, inverse) ^ evaluator[at];
        }
        if (odd == 0) {
            return false;
        }
        errors[length - 1 - place] = sl_field_over(field, value, odd);
    }
    return roots == count;
}

/* part sl_codeword_errors: needs SL_WORD sl_errors sl_field sl_field_make sl_field_times
   sl_locator */
/* Finds the errors of a codeword with this remainder, which is not 0; false if there are more than
 * `parity / 2`. */
static bool sl_codeword_errors(const uint8_t *remainder, size_t parity, size_t length,
                               uint8_t errors[SL_WORD]) {
    struct sl_field field;
    sl_field_make(&field);
    uint8_t syndromes[SL_WORD];
    for (size_t root = 0; root < parity; root += 1) {
        syndromes[root] = 0;
        for (size_t at = 0; at < parity; at += 1) {
            syndromes[root] =
                sl_field_times(&field, syndromes[root], field.power[root]) ^ remainder[at];
        }
    }
    uint8_t locator[SL_WORD + 1];
    const size_t count = sl_locator(&field, syndromes, parity, locator);
    return count <= parity / 2 && sl_errors(&field, syndromes, locator, count, length, errors);
}

/* part sl_reed_solomon_decoded: needs SL_WORD SL_WORD_ROOM sl_bits64 sl_codeword
   sl_codeword_errors sl_codewords sl_codewords_of sl_generator sl_generator_make sl_remainder */
/* Corrects up to `parity / 2` bytes in each codeword, and finds the number of corrected bits. False
 * if a codeword has more errors; it stays as it is, and the others are corrected. The remainder of
 * a codeword without errors is 0, so it costs as much as encoding. */
static bool sl_reed_solomon_decoded(uint8_t *data, size_t data_length, uint8_t parity,
                                    uint32_t *found) {
    struct sl_codewords words;
    *found = 0;
    if (!sl_codewords_of(&words, data_length, parity)) {
        return false;
    }
    if (words.count == 0) {
        return true;
    }
    struct sl_generator generator;
    sl_generator_make(&generator, parity);
    bool all = true;
    for (size_t which = 0; which < words.count; which += 1) {
        uint8_t word[SL_WORD_ROOM];
        const size_t length = sl_codeword(&words, data, which, word);
        const size_t of_data = length - parity;
        sl_remainder(&generator, word, length, parity);
        uint8_t wrong = 0;
        for (size_t at = of_data; at < length; at += 1) {
            wrong |= word[at];
        }
        if (wrong == 0) {
            continue;
        }
        uint8_t errors[SL_WORD];
        if (!sl_codeword_errors(word + of_data, parity, length, errors)) {
            all = false;
            continue;
        }
        for (size_t at = 0; at < length; at += 1) {
            const size_t place = at < of_data ? at * words.count + which
                                              : words.data + (at - of_data) * words.count + which;
            data[place] ^= errors[at];
            *found += sl_bits64(errors[at]);
        }
    }
    return all;
}
