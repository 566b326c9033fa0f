/* The machine, on a terminal: a line is an instant, with coins in cents, `cancel`, or both. */

#include "MACHINE.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void MACHINE_O_SHOW(MONEY value) {
    printf("paid: %s\n", _MONEY_to_text(value));
}

void MACHINE_O_TICKET(void) {
    printf("a ticket\n");
}

void MACHINE_O_BACK(MONEY value) {
    printf("back: %s\n", _MONEY_to_text(value));
}

int main(void) {
    char line[256];
    MACHINE();
    while (fgets(line, sizeof line, stdin) != NULL) {
        for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
            if (strcmp(word, "cancel") == 0) {
                MACHINE_I_CANCEL();
            } else {
                MACHINE_I_COIN((MONEY){atoi(word)});
            }
        }
        if (MACHINE() < 0) {
            fprintf(stderr, "%s\n", MACHINE_error());
            return 1;
        }
    }
    return 0;
}
