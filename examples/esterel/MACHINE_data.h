/* What the module MACHINE takes from C. */

typedef struct {
    int cents;
} MONEY;

#define _MONEY(to, from) (*(to) = (from))
#define PRICE ((MONEY){250})

MONEY SUM(MONEY one, MONEY other);
MONEY CHANGE(MONEY paid, MONEY price);
int ENOUGH(MONEY paid, MONEY price);
void NOTHING(MONEY *money);

/* As `loom simulate` reads and prints it: 2.50 */
void _text_to_MONEY(MONEY *money, char *text);
char *_MONEY_to_text(MONEY money);
