#include "MACHINE_data.h"

#include <stdio.h>

MONEY SUM(MONEY one, MONEY other) {
    return (MONEY){one.cents + other.cents};
}

MONEY CHANGE(MONEY paid, MONEY price) {
    return (MONEY){paid.cents - price.cents};
}

int ENOUGH(MONEY paid, MONEY price) {
    return paid.cents >= price.cents;
}

void NOTHING(MONEY *money) {
    money->cents = 0;
}

void _text_to_MONEY(MONEY *money, char *text) {
    int whole = 0;
    int cents = 0;
    sscanf(text, "%d.%d", &whole, &cents);
    money->cents = 100 * whole + cents;
}

char *_MONEY_to_text(MONEY money) {
    static char text[32];
    snprintf(text, sizeof text, "%d.%02d", money.cents / 100, money.cents % 100);
    return text;
}
