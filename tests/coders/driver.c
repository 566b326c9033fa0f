/*
 * driver.c: carries out the operations that it reads, one in a line: the name of a function of
 * coders.h, its number, and its data in hexadecimal. Prints what the function returned, `-` for
 * nothing, and the data. The data has exactly its size, so that the sanitizers see a step beyond.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static char operation[32];
static char hexadecimal[65536];

static bool carry_out(uint8_t *data, size_t length, uint8_t number, uint32_t *found) {
    *found = 0;
    if (strcmp(operation, "hamming_encoded") == 0) {
        sl_hamming_encoded(data, length);
    } else if (strcmp(operation, "hamming_decoded") == 0) {
        *found = sl_hamming_decoded(data, length);
    } else if (strcmp(operation, "convolutional_encoded") == 0) {
        sl_convolutional_encoded(data, length);
    } else if (strcmp(operation, "convolutional_decoded") == 0) {
        return sl_convolutional_decoded(data, length, found);
    } else if (strcmp(operation, "reed_solomon_encoded") == 0) {
        sl_reed_solomon_encoded(data, length, number);
    } else if (strcmp(operation, "reed_solomon_decoded") == 0) {
        return sl_reed_solomon_decoded(data, length, number, found);
    } else {
        exit(2);
    }
    return true;
}

int main(void) {
    unsigned number;
    /* Data begins with a dot, since it may be empty. */
    while (scanf("%31s %u %65535s", operation, &number, hexadecimal) == 3) {
        const size_t length = (strlen(hexadecimal) - 1) / 2;
        uint8_t *const data = malloc(length == 0 ? 1 : length);
        if (data == NULL) {
            return 2;
        }
        for (size_t at = 0; at < length; at += 1) {
            const char digits[3] = {hexadecimal[2 * at + 1], hexadecimal[2 * at + 2], 0};
            data[at] = (uint8_t)strtoul(digits, NULL, 16);
        }
        uint32_t found;
        if (carry_out(data, length, (uint8_t)number, &found)) {
            printf("%" PRIu32 " .", found);
        } else {
            printf("- .");
        }
        for (size_t at = 0; at < length; at += 1) {
            printf("%02x", data[at]);
        }
        printf("\n");
        free(data);
    }
    return 0;
}
