#include "screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
    BAR = 40 /* columns */
};

static struct termios before;

bool screen_open(void) {
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0) {
        return false;
    }
    struct termios single = before;
    single.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    single.c_cc[VMIN] = 0;
    single.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &single);
    fputs("\033[2J\033[?25l", stdout); /* clear; hide the cursor */
    return true;
}

void screen_close(void) {
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    fputs("\033[?25h\n", stdout);
    fflush(stdout);
}

char screen_key(void) {
    char key = 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

/* A bit error rate as text: 3e-5, or `none`. */
static const char *rate(double value, char text[16]) {
    const int exponent = value > 0 ? (int)floor(log10(value)) : 0;
    const double digit = round(value / pow(10, exponent));
    snprintf(text, 16, value > 0 ? "%.0fe%d" : "none", digit, exponent);
    return text;
}

/* How much of the ideal arrived, in percent. */
static double of_ideal(const struct view *view, const struct way_view *way) {
    return view->ideal_mbit > 0 ? 100 * way->total_mbit / view->ideal_mbit : 100;
}

/* One of nine signs, from blank to a full block, by a share from 0 to 1. */
static const char *block(double share) {
    static const char *const signs[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double eighths = ceil(8 * share);
    return signs[eighths < 0 ? 0 : eighths > 8 ? 8
                                               : (int)eighths];
}

static void bar(double share) {
    for (int column = 0; column < BAR; column += 1) {
        fputs(column + 0.5 < share * BAR ? "█" : "·", stdout);
    }
}

void screen_draw(const struct view *view) {
    char now[16], chosen[16];
    fputs("\033[H", stdout);
    printf("Linux fetches a file over a radio of %.0f Mbit/s%24.0f s\033[K\n\033[K\n",
           view->most_mbit_per_s, view->seconds);
    printf("bit errors  %-6s", rate(view->error_rate, now));
    if (view->half_s > 0) {
        printf("  %s for %.0f s, after as long without", rate(view->chosen_rate, chosen),
               view->half_s);
    }
    printf("%s\033[K\n\033[K\n", view->loses_signals ? "; all signals are lost" : "");
    printf("%-12s %-7s %-*s  Mbit/s  of ideal\033[K\n", "", "layer", BAR, "goodput now");
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        const struct way_view *const way = &view->ways[at];
        printf("%-12s %-7s ", way->name, way->layer);
        bar(way->mbit_per_s / view->most_mbit_per_s);
        printf("  %6.2f  %6.0f %%\033[K\n", way->mbit_per_s, of_ideal(view, way));
    }
    fputs("\033[K\n", stdout);
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        printf("%-12s ", view->ways[at].name);
        for (size_t past = 0; past < SCREEN_PAST; past += 1) {
            fputs(block(view->ways[at].past[past] / view->most_mbit_per_s), stdout);
        }
        fputs("\033[K\n", stdout);
    }
    printf("%-12s ", "bit errors");
    for (size_t past = 0; past < SCREEN_PAST; past += 1) { /* from 1e-8 to 1e-2 */
        const double errors = view->past_errors[past];
        fputs(block(errors > 0 ? (log10(errors) + 8) / 6 : 0), stdout);
    }
    fputs("\033[K\n\033[K\n"
          "+ -    more, or fewer bit errors          w  good and bad times, or all bad\033[K\n"
          "0 1 2  swap by hand: off, weak, strong    c  lose all signals, or none\033[K\n"
          "q      quit\033[K\n",
          stdout);
    fflush(stdout);
}

void screen_print(const struct view *view) {
    char now[16];
    printf("%4.0f s  bit errors %-6s", view->seconds, rate(view->error_rate, now));
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        const struct way_view *const way = &view->ways[at];
        printf("  %s (%s) %.2f", way->name, way->layer, way->mbit_per_s);
    }
    puts(" Mbit/s");
    fflush(stdout);
}

void screen_sum_up(const struct view *view) {
    printf("%-12s  Mbit/s  of ideal\n", "");
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        const struct way_view *const way = &view->ways[at];
        printf("%-12s  %6.2f  %6.0f %%\n", way->name, way->total_mbit / fmax(view->seconds, 1e-3),
               of_ideal(view, way));
    }
}
