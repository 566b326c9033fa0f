/*
 * coders.c: the time that each coder of the runtime takes for one frame, beside other programs.
 * `loom bench coders` writes the parts of the runtime in front of this file. Prints a line for each
 * operation: coder, operation, whose, bytes of data, nanoseconds. The time is the least of ROUNDS,
 * by the clock of the process; all operations take turns in each round.
 *
 * WITH_FEC and WITH_ISAL add libfec and ISA-L. The plain programs are written from the definition
 * of each code, a bit or a byte at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef WITH_FEC
#include <fec.h>
#endif
#ifdef WITH_ISAL
#include <isa-l/erasure_code.h>
#endif

/* Data of one frame, as Hamming and Reed-Solomon codes take it, and a full last row of lanes. */
enum { BYTES = 1400, LANE_BYTES = 1408, LANE_ROWS = LANE_BYTES / SL_LANES };
/* Bytes of the same data, encoded. */
enum { HAMMING = BYTES / 4 * 7, CONVOLUTIONAL = (2 * LANE_ROWS + 1) * SL_LANES };
/* RS(255,223), as libfec has it, and the parity that layers/boost/reed_solomon.loom has. */
enum { PARITY = 32, CODEWORDS = 7, REED_SOLOMON = BYTES + CODEWORDS * PARITY, SHORT_PARITY = 8 };
enum { SHORT_WORDS = 6, SHORT = BYTES + SHORT_WORDS * SHORT_PARITY };
/* Messages of a block, and repair messages. */
enum { MESSAGES = 16, REPAIRS = 4 };
enum { ROUNDS = 30, LEAST_NS = 200000 };

static uint8_t hamming[HAMMING], hamming_sent[HAMMING];
static uint8_t coded[CONVOLUTIONAL], coded_sent[CONVOLUTIONAL];
static uint8_t words[REED_SOLOMON], words_sent[REED_SOLOMON];
static uint8_t shorts[SHORT], shorts_sent[SHORT];
/* Messages begin at multiples of 64 bytes, for all programs. */
static _Alignas(64) uint8_t messages[MESSAGES][LANE_BYTES], repairs[REPAIRS][LANE_BYTES];
static _Alignas(64) uint8_t repairs_sent[REPAIRS][LANE_BYTES], repaired[REPAIRS][LANE_BYTES];
static uint32_t sum; /* of all results, so that no call is left out */

static void hamming_encode(void) {
    sl_hamming_encoded(hamming, sizeof hamming);
}

static void hamming_decode(void) {
    sum += sl_hamming_decoded(hamming, sizeof hamming);
}

static void hamming_repair(void) {
    for (size_t at = 0; at < HAMMING / 7; at += 50) {
        hamming[at] ^= 1;
    }
    sum += sl_hamming_decoded(hamming, sizeof hamming);
}

/* Of each four bits of the data, in the order of the runs, the codeword; one bit at a time. */
static void plain_hamming_decode(void) {
    static const uint8_t positions[7] = {3, 5, 6, 7, 1, 2, 4};
    static const uint8_t run_at[8] = {0, 4, 5, 0, 6, 1, 2, 3};
    const size_t run = HAMMING / 7;
    for (size_t bit = 0; bit < 8 * run; bit += 1) {
        uint32_t syndrome = 0;
        for (size_t which = 0; which < 7; which += 1) {
            const uint32_t value = hamming[which * run + bit / 8] >> bit % 8 & 1;
            syndrome ^= value * positions[which];
        }
        if (syndrome != 0) {
            hamming[run_at[syndrome] * run + bit / 8] ^= (uint8_t)(1 << bit % 8);
            sum += 1;
        }
    }
}

static void convolutional_encode(void) {
    memcpy(coded, messages, LANE_BYTES);
    sl_convolutional_encoded(coded, sizeof coded);
}

static void convolutional_decode(void) {
    uint32_t found;
    memcpy(coded, coded_sent, sizeof coded);
    sum += sl_convolutional_decoded(coded, sizeof coded, &found) ? found : 0;
}

/* One lane after the other, a step at a time. */
static void plain_viterbi(void) {
    static uint8_t chosen[8 * LANE_ROWS + 2][4];
    memcpy(coded, coded_sent, sizeof coded);
    for (size_t lane = 0; lane < SL_LANES; lane += 1) {
        uint32_t distance[4] = {0, 1000, 1000, 1000};
        for (size_t step = 0; step < 8 * LANE_ROWS + 2; step += 1) {
            const uint32_t byte = coded[step / 4 * SL_LANES + lane];
            const uint32_t pair = byte >> (6 - step % 4 * 2) & 3;
            uint32_t next[4];
            for (uint32_t state = 0; state < 4; state += 1) {
                const uint32_t newest = state >> 1;
                uint32_t ways[2];
                for (uint32_t oldest = 0; oldest < 2; oldest += 1) {
                    const uint32_t newer = state & 1;
                    const uint32_t five = newest ^ oldest;
                    const uint32_t wrong = ((five ^ newer) << 1 | five) ^ pair;
                    ways[oldest] = distance[newer << 1 | oldest] + (wrong >> 1) + (wrong & 1);
                }
                chosen[step][state] = ways[1] < ways[0] ? 1 : 0;
                next[state] = ways[1] < ways[0] ? ways[1] : ways[0];
            }
            memcpy(distance, next, sizeof distance);
        }
        uint32_t state = 0;
        for (size_t step = 8 * LANE_ROWS + 2; step-- > 0;) {
            uint8_t *const byte = &coded[step / 8 * SL_LANES + lane];
            if (step < 8 * LANE_ROWS) {
                *byte = (uint8_t)(*byte & ~(0x80 >> step % 8));
                *byte |= (uint8_t)((state >> 1) << (7 - step % 8));
            }
            state = (state & 1) << 1 | chosen[step][state];
        }
        sum += distance[0];
    }
}

static void reed_solomon_encode(void) {
    sl_reed_solomon_encoded(words, sizeof words, PARITY);
}

static void reed_solomon_decode(void) {
    uint32_t found;
    sum += sl_reed_solomon_decoded(words, sizeof words, PARITY, &found) ? found : 0;
}

/* Damages so many bytes of each codeword. */
static void damage(size_t count) {
    for (size_t at = 0; at < count * CODEWORDS; at += 1) {
        words[at / CODEWORDS * 11 * CODEWORDS + at % CODEWORDS] ^= (uint8_t)(at + 1);
    }
}

static void reed_solomon_repair_one(void) {
    damage(1);
    reed_solomon_decode();
}

static void reed_solomon_repair_most(void) {
    damage(PARITY / 2);
    reed_solomon_decode();
}

static void short_encode(void) {
    sl_reed_solomon_encoded(shorts, sizeof shorts, SHORT_PARITY);
}

static void short_decode(void) {
    uint32_t found;
    sum += sl_reed_solomon_decoded(shorts, sizeof shorts, SHORT_PARITY, &found) ? found : 0;
}

static void add_multiple(void) {
    sl_add_multiple(repairs[0], messages[0], BYTES, 0x53);
}

static uint8_t coefficient(size_t i, size_t place) {
    return sl_inverse((uint8_t)(i ^ (place + 128)));
}

/* One message after the other, as they come to layers/boost/block_code. */
static void block_add_from(size_t first, uint8_t sums[REPAIRS][LANE_BYTES]) {
    for (size_t place = first; place < MESSAGES; place += 1) {
        for (size_t i = 0; i < REPAIRS; i += 1) {
            sl_add_multiple(sums[i], messages[place], BYTES, coefficient(i, place));
        }
    }
}

static void block_encode(void) {
    memset(repairs, 0, sizeof repairs);
    block_add_from(0, repairs);
}

/* The first messages of the block are lost, as many as there are repair messages. */
static void block_repair(void) {
    uint8_t heads[REPAIRS][REPAIRS];
    memcpy(repaired, repairs_sent, sizeof repaired);
    block_add_from(REPAIRS, repaired);
    for (size_t i = 0; i < REPAIRS; i += 1) {
        for (size_t place = 0; place < REPAIRS; place += 1) {
            heads[i][place] = coefficient(i, place);
        }
    }
    for (size_t own = 0; own < REPAIRS; own += 1) {
        const uint8_t pivot = sl_inverse(heads[own][own]);
        sl_scale(heads[own], REPAIRS, pivot);
        sl_scale(repaired[own], BYTES, pivot);
        for (size_t other = 0; other < REPAIRS; other += 1) {
            const uint8_t factor = heads[other][own];
            if (other != own) {
                sl_add_multiple(heads[other], heads[own], REPAIRS, factor);
                sl_add_multiple(repaired[other], repaired[own], BYTES, factor);
            }
        }
    }
}

static uint8_t logarithms[256], powers[510];

static void plain_add_multiple(void) {
    for (size_t at = 0; at < BYTES; at += 1) {
        const uint8_t byte = messages[0][at];
        repairs[0][at] ^= byte == 0 ? 0 : powers[logarithms[byte] + logarithms[0x53]];
    }
}

#ifdef WITH_FEC
/* The RS(255,223) code of the CCSDS, whose field is 0x187: as much work as ours. */
enum { FEC_DATA = BYTES / CODEWORDS, FEC_PAD = 223 - FEC_DATA };
static uint8_t fec_words[CODEWORDS][FEC_DATA + PARITY];

static void fec_encode(void) {
    for (size_t which = 0; which < CODEWORDS; which += 1) {
        encode_rs_8(fec_words[which], fec_words[which] + FEC_DATA, FEC_PAD);
    }
}

static void fec_decode(void) {
    for (size_t which = 0; which < CODEWORDS; which += 1) {
        sum += (uint32_t)decode_rs_8(fec_words[which], NULL, 0, FEC_PAD);
    }
}

static void fec_repair(size_t count) {
    for (size_t at = 0; at < count * CODEWORDS; at += 1) {
        fec_words[at % CODEWORDS][at / CODEWORDS * 11] ^= (uint8_t)(at + 1);
    }
    fec_decode();
}

static void fec_repair_one(void) {
    fec_repair(1);
}

static void fec_repair_most(void) {
    fec_repair(PARITY / 2);
}
#endif

#ifdef WITH_ISAL
static uint8_t isal_tables[32 * MESSAGES * REPAIRS], isal_repairing[32 * MESSAGES * REPAIRS];
static _Alignas(64) uint8_t isal_sent[REPAIRS][LANE_BYTES], isal_repaired[REPAIRS][LANE_BYTES];
static uint8_t isal_matrix[(MESSAGES + REPAIRS) * MESSAGES];

static void isal_open(void) {
    gf_gen_cauchy1_matrix(isal_matrix, MESSAGES + REPAIRS, MESSAGES);
    ec_init_tables(MESSAGES, REPAIRS, isal_matrix + MESSAGES * MESSAGES, isal_tables);
}

/* The matrix by which the first messages follow from the others and the repair messages. */
static void isal_invert(void) {
    uint8_t rows[MESSAGES * MESSAGES], inverse[MESSAGES * MESSAGES];
    memcpy(rows, isal_matrix + REPAIRS * MESSAGES, sizeof rows);
    gf_invert_matrix(rows, inverse, MESSAGES);
    ec_init_tables(MESSAGES, REPAIRS, inverse, isal_repairing);
}

static void isal_add_multiple(void) {
    gf_vect_mad(BYTES, 1, 0, isal_tables, messages[0], repairs[0]);
}

static void isal_block_encode(void) {
    uint8_t *from[MESSAGES];
    uint8_t *to[REPAIRS];
    for (size_t place = 0; place < MESSAGES; place += 1) {
        from[place] = messages[place];
    }
    for (size_t i = 0; i < REPAIRS; i += 1) {
        to[i] = repairs[i];
    }
    ec_encode_data(BYTES, MESSAGES, REPAIRS, isal_tables, from, to);
}

static void isal_block_repair(void) {
    uint8_t *from[MESSAGES];
    uint8_t *to[REPAIRS];
    for (size_t place = REPAIRS; place < MESSAGES + REPAIRS; place += 1) {
        from[place - REPAIRS] = place < MESSAGES ? messages[place] : isal_sent[place - MESSAGES];
    }
    for (size_t i = 0; i < REPAIRS; i += 1) {
        to[i] = isal_repaired[i];
    }
    ec_encode_data(BYTES, MESSAGES, REPAIRS, isal_repairing, from, to);
}

static void isal_block_repair_cold(void) {
    isal_invert();
    isal_block_repair();
}
#endif

struct operation {
    const char *coder;
    const char *name;
    const char *whose;
    uint32_t bytes;
    void (*run)(void);
};

static const struct operation operations[] = {
    {"hamming", "encode", "stackloom", BYTES, hamming_encode},
    {"hamming", "decode, clean", "stackloom", BYTES, hamming_decode},
    {"hamming", "decode, clean", "plain", BYTES, plain_hamming_decode},
    {"hamming", "decode, errors", "stackloom", BYTES, hamming_repair},
    {"convolutional", "encode", "stackloom", LANE_BYTES, convolutional_encode},
    {"convolutional", "decode", "stackloom", LANE_BYTES, convolutional_decode},
    {"convolutional", "decode", "plain", LANE_BYTES, plain_viterbi},
    {"rs(255,223)", "encode", "stackloom", BYTES, reed_solomon_encode},
    {"rs(255,223)", "decode, clean", "stackloom", BYTES, reed_solomon_decode},
    {"rs(255,223)", "decode, 1 error", "stackloom", BYTES, reed_solomon_repair_one},
    {"rs(255,223)", "decode, 16 errors", "stackloom", BYTES, reed_solomon_repair_most},
#ifdef WITH_FEC
    {"rs(255,223)", "encode", "libfec", BYTES, fec_encode},
    {"rs(255,223)", "decode, clean", "libfec", BYTES, fec_decode},
    {"rs(255,223)", "decode, 1 error", "libfec", BYTES, fec_repair_one},
    {"rs(255,223)", "decode, 16 errors", "libfec", BYTES, fec_repair_most},
#endif
    {"rs(255,247)", "encode", "stackloom", BYTES, short_encode},
    {"rs(255,247)", "decode, clean", "stackloom", BYTES, short_decode},
    {"gf(256)", "multiply and add", "stackloom", BYTES, add_multiple},
    {"gf(256)", "multiply and add", "plain", BYTES, plain_add_multiple},
    {"block code 16 + 4", "encode", "stackloom", MESSAGES * BYTES, block_encode},
    {"block code 16 + 4", "repair 4", "stackloom", MESSAGES * BYTES, block_repair},
#ifdef WITH_ISAL
    {"gf(256)", "multiply and add", "isa-l", BYTES, isal_add_multiple},
    {"block code 16 + 4", "encode", "isa-l", MESSAGES * BYTES, isal_block_encode},
    {"block code 16 + 4", "repair 4", "isa-l", MESSAGES * BYTES, isal_block_repair},
    {"block code 16 + 4", "repair 4", "isa-l, cold", MESSAGES * BYTES, isal_block_repair_cold},
#endif
};

enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void fill(void) {
    uint32_t random = 1;
    for (size_t at = 0; at < sizeof messages; at += 1) {
        random = random * 1664525 + 1013904223;
        messages[at / LANE_BYTES][at % LANE_BYTES] = (uint8_t)(random >> 24);
    }
    uint8_t power = 1;
    for (size_t exponent = 0; exponent < 255; exponent += 1) {
        powers[exponent] = powers[exponent + 255] = power;
        logarithms[power] = (uint8_t)exponent;
        power ^= (uint8_t)(power << 1 ^ (power >> 7) * 0x1b);
    }
    memcpy(hamming, messages, BYTES);
    memcpy(words, messages, BYTES);
    memcpy(shorts, messages, BYTES);
    hamming_encode();
    convolutional_encode();
    reed_solomon_encode();
    short_encode();
    block_encode();
    memcpy(repairs_sent, repairs, sizeof repairs);
    memcpy(hamming_sent, hamming, sizeof hamming);
    memcpy(coded_sent, coded, sizeof coded);
    memcpy(words_sent, words, sizeof words);
    memcpy(shorts_sent, shorts, sizeof shorts);
#ifdef WITH_FEC
    for (size_t which = 0; which < CODEWORDS; which += 1) {
        memcpy(fec_words[which], messages[which], FEC_DATA);
    }
    fec_encode();
#endif
#ifdef WITH_ISAL
    isal_open();
    isal_block_encode();
    memcpy(isal_sent, repairs, sizeof repairs);
    isal_invert();
#endif
}

/* Decoders must have corrected all that the operations damaged. */
static bool as_sent(void) {
    for (size_t i = 0; i < REPAIRS; i += 1) {
        if (memcmp(repaired[i], messages[i], BYTES) != 0) {
            return false;
        }
#ifdef WITH_ISAL
        if (memcmp(isal_repaired[i], messages[i], BYTES) != 0) {
            return false;
        }
#endif
    }
    return memcmp(hamming, hamming_sent, sizeof hamming) == 0 &&
           memcmp(coded, messages, LANE_BYTES) == 0 &&
           memcmp(words, words_sent, sizeof words) == 0 &&
           memcmp(shorts, shorts_sent, sizeof shorts) == 0;
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int main(void) {
    static double least[OPERATIONS];
    static uint32_t repeats[OPERATIONS];
    fill();
    for (size_t round = 0; round < ROUNDS; round += 1) {
        for (size_t which = 0; which < OPERATIONS; which += 1) {
            const struct operation *const one = &operations[which];
            const uint64_t start = now_ns();
            uint32_t done = 0;
            /* The first round finds how often an operation must run to be measured. */
            while (round == 0 ? now_ns() - start < LEAST_NS : done < repeats[which]) {
                one->run();
                done += 1;
            }
            const double each = (double)(now_ns() - start) / done;
            least[which] = round <= 1 || each < least[which] ? each : least[which];
            repeats[which] = done;
        }
    }
    convolutional_decode();
    if (!as_sent()) {
        fprintf(stderr, "a decoder did not restore the data\n");
        return 1;
    }
    for (size_t which = 0; which < OPERATIONS; which += 1) {
        const struct operation *const one = &operations[which];
        printf("%s\t%s\t%s\t%" PRIu32 "\t%.1f\n", one->coder, one->name, one->whose, one->bytes,
               least[which]);
    }
    fprintf(stderr, "checksum %" PRIu32 "\n", sum);
    return 0;
}
