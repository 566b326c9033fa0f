/* Draws how much arrives, while it does. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCREEN_WAYS = 3,  /* compared side by side */
    SCREEN_PAST = 60, /* drawn samples */
};

/* The state of one way to use the radio. */
struct way_view {
    const char *name;
    const char *layer;               /* that is active */
    double mbit_per_s;               /* now */
    double total_mbit;               /* since the start */
    double past[SCREEN_PAST];        /* Mbit/s, the newest last */
};

/* The state of the whole picture, which screen_draw draws. */
struct view {
    double seconds;                  /* since the start */
    double error_rate;               /* now; 0 for none */
    double chosen_rate;              /* in bad times */
    double half_s;                   /* good and bad times each last so long; 0 if all is bad */
    bool loses_signals;
    double most_mbit_per_s;          /* of the radio */
    double ideal_mbit;               /* the greater of both static ways in each time, added */
    struct way_view ways[SCREEN_WAYS];
    double past_errors[SCREEN_PAST];
};

/* Begins to read single keys, and clears the screen; or returns false if this is no terminal. */
bool screen_open(void);

/* Restores the terminal. */
void screen_close(void);

/* Returns the key that was pressed, or 0. */
char screen_key(void);

/* Draws the picture anew. */
void screen_draw(const struct view *view);

/* Prints a line about the last second. */
void screen_print(const struct view *view);

/* Prints what arrived in the whole time. */
void screen_sum_up(const struct view *view);

#endif
