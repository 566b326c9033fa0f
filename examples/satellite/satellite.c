/* Linux over a radio with bit errors, three times side by side: with a policy that inserts a code
 * while it pays, never coded, and always coded. */
#define _GNU_SOURCE
#include "build/satellite.h"
#include "kernel.h"
#include "radio.h"
#include "screen.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CLIENT,
    SERVER,
    ENDS
};

static const uint64_t SECOND_NS = 1000000000;
static const uint64_t RATE = 10000000;         /* bits per second */
static const uint64_t DELAY_NS = 4000000;      /* one way */
static const uint64_t SAMPLE_NS = 250000000;
static const char *const LAYERS[] = {"off", "weak", "strong"};

/* How a way uses the slot. */
struct plan {
    const char *name;
    uint64_t cost_ns; /* of a lost packet: Reno with SACK, at this rate and delay */
    uint64_t hold_ns; /* how long a code stays at least */
    uint8_t layer;    /* at the start */
};

static const struct plan PLANS[SCREEN_WAYS] = {
    {"policy", 30000000, 50000000, 0},
    {"never coded", 1, 50000000, 0},
    {"always coded", 30000000, 900000 * 1000000000ull, 2},
};

/* An end of the link: the kernel, a stack, and what it sends. */
struct end {
    struct kernel kernel;
    struct satellite *stack;
    struct radio radio;
    uint8_t active;
};

/* A link, and what curl fetches over it. */
struct way {
    struct end ends[ENDS];
    int fetched;
    pid_t curl;
    uint64_t bytes; /* since the last sample */
};

static struct way ways[SCREEN_WAYS];
static struct view view;
static double half_mbit[SCREEN_WAYS]; /* fetched since the errors changed */
static volatile sig_atomic_t stopped;
static bool failed;

static void stop(int number) {
    (void)number;
    stopped = 1;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* True for frames by which the two ends agree on a layer. */
static bool is_signal(const uint8_t *frame, size_t length) {
    return length > 0 && frame[0] >> 4 == 15;
}

/* Does what the stack asks for. */
static void drain(struct end *end, uint64_t time_ns) {
    struct satellite_output output;
    enum satellite_next next;
    while ((next = satellite_next(end->stack, &output)) != SATELLITE_IDLE) {
        if (next == SATELLITE_FRAME) {
            if (!view.loses_signals || !is_signal(output.data, output.length)) {
                radio_send(&end->radio, output.data, output.length, time_ns);
            }
        } else if (next == SATELLITE_DELIVER) {
            if (write(end->kernel.device, output.data, output.length) < 0) {
                /* what the kernel does not take is lost, as packets may be */
            }
        } else if (next == SATELLITE_SWAPPED) {
            end->active = output.with.packets_swapped.variant;
        }
        satellite_done(end->stack, &output);
    }
}

/* Creates an end: its network, its stack, and its direction of the radio. */
static bool open_end(struct end *end, unsigned at, const struct plan *plan, uint64_t seed) {
    if (!kernel_open(&end->kernel, at + 1)) {
        return false;
    }
    struct satellite_config config;
    satellite_config_default(&config);
    config.cost = plan->cost_ns;
    config.hold = plan->hold_ns;
    const size_t size = satellite_size(&config);
    end->stack = satellite_start(malloc(size), size, &config, now_ns());
    if (end->stack == NULL) {
        fputs("no memory for a stack\n", stderr);
        return false;
    }
    end->radio.bits_per_s = RATE;
    end->radio.delay_ns = DELAY_NS;
    end->radio.random = seed;
    radio_set_errors(&end->radio, 0);
    drain(end, now_ns());
    return true;
}

static bool open_way(struct way *way, const struct plan *plan, uint64_t seed) {
    for (unsigned at = 0; at < ENDS; at += 1) {
        if (!open_end(&way->ends[at], at, plan, 2 * seed + at + 1)) {
            return false;
        }
    }
    kernel_serve(&way->ends[SERVER].kernel);
    way->fetched = kernel_fetch(&way->ends[CLIENT].kernel, &way->curl);
    return way->fetched >= 0;
}

/* Frames that have arrived go up, packets of the kernel go down while the radio has room, and
 * timers expire. Returns when to come back. */
static uint64_t advance(struct end *end, struct end *peer, uint64_t time_ns) {
    const struct radio_frame *arrived;
    while ((arrived = radio_receive(&peer->radio, time_ns)) != NULL) {
        size_t room;
        struct satellite_frame frame = {satellite_buffer(end->stack, &room), arrived->length};
        if (frame.data != NULL && frame.length <= room) {
            memcpy(frame.data, arrived->bytes, frame.length);
            satellite_input(end->stack, 0, &frame, 1, time_ns);
        }
        drain(end, time_ns);
    }
    uint8_t packet[KERNEL_MTU];
    while (radio_has_room(&end->radio, time_ns)) {
        const ssize_t length = read(end->kernel.device, packet, sizeof packet);
        if (length <= 0) {
            break;
        }
        satellite_packets_send(end->stack, 0, NULL, packet, (size_t)length, time_ns);
        drain(end, time_ns);
    }
    if (satellite_deadline(end->stack) <= time_ns) {
        satellite_expire(end->stack, time_ns);
        drain(end, time_ns);
    }
    uint64_t next_ns = satellite_deadline(end->stack);
    const uint64_t arrives_ns = radio_deadline(&peer->radio);
    next_ns = arrives_ns < next_ns ? arrives_ns : next_ns;
    const uint64_t room_ns = end->radio.free_ns - RADIO_AHEAD_NS;
    const bool is_full = !radio_has_room(&end->radio, time_ns);
    return is_full && room_ns < next_ns ? room_ns : next_ns;
}

/* Counts what curl has fetched, and starts another one if it has given up. Without curl the
 * program ends. */
static void count(struct way *way) {
    static char bytes[65536];
    ssize_t length;
    while ((length = read(way->fetched, bytes, sizeof bytes)) > 0) {
        way->bytes += (uint64_t)length;
    }
    if (length == 0) {
        int status = 0;
        close(way->fetched);
        waitpid(way->curl, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == KERNEL_NO_CURL) {
            failed = true;
            stopped = 1;
            return;
        }
        way->fetched = kernel_fetch(&way->ends[CLIENT].kernel, &way->curl);
    }
}

/* Sets the share of wrong bits of all radios. */
static void set_errors(double error_rate) {
    if (view.error_rate == error_rate) {
        return;
    }
    view.error_rate = error_rate;
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        for (size_t end = 0; end < ENDS; end += 1) {
            radio_set_errors(&ways[at].ends[end].radio, error_rate);
        }
    }
    memset(half_mbit, 0, sizeof half_mbit);
}

/* Makes the layer active with which a way is to be compared, as soon as the two ends have met. */
static void insist(struct way *way, const struct plan *plan, uint64_t time_ns) {
    for (size_t at = 0; plan->layer != 0 && at < ENDS; at += 1) {
        struct end *const end = &way->ends[at];
        if (end->active != plan->layer) {
            satellite_packets_swap(end->stack, 0, plan->layer, time_ns);
            drain(end, time_ns);
        }
    }
}

/* Takes a sample of what arrived since the last one. */
static void sample(double seconds) {
    memmove(view.past_errors, view.past_errors + 1, sizeof view.past_errors - sizeof(double));
    view.past_errors[SCREEN_PAST - 1] = view.error_rate;
    double ideal = fmax(half_mbit[1], half_mbit[2]);
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        struct way_view *const seen = &view.ways[at];
        const double mbit = 8e-6 * (double)ways[at].bytes;
        ways[at].bytes = 0;
        half_mbit[at] += mbit;
        seen->total_mbit += mbit;
        seen->mbit_per_s = mbit / seconds;
        seen->layer = LAYERS[ways[at].ends[SERVER].active % 3];
        memmove(seen->past, seen->past + 1, sizeof seen->past - sizeof(double));
        seen->past[SCREEN_PAST - 1] = seen->mbit_per_s;
    }
    view.ideal_mbit += fmax(half_mbit[1], half_mbit[2]) - ideal;
}

static void obey(char key, uint64_t time_ns) {
    switch (key) {
    case '+':
        view.chosen_rate = fmin(view.chosen_rate * sqrt(10), 1e-2);
        break;
    case '-':
        view.chosen_rate = fmax(view.chosen_rate / sqrt(10), 1e-8);
        break;
    case 'w':
        view.half_s = view.half_s > 0 ? 0 : 5;
        break;
    case 'c':
        view.loses_signals = !view.loses_signals;
        break;
    case 'q':
        stopped = 1;
        break;
    case '0':
    case '1':
    case '2':
        satellite_packets_swap(ways[0].ends[SERVER].stack, 0, (uint8_t)(key - '0'), time_ns);
        drain(&ways[0].ends[SERVER], time_ns);
        break;
    default:
        break;
    }
}

/* Everything that is due goes on; returns when to come back. */
static uint64_t advance_all(uint64_t time_ns) {
    uint64_t next_ns = UINT64_MAX;
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        for (size_t end = 0; end < ENDS; end += 1) {
            struct end *const ends = ways[at].ends;
            const uint64_t due_ns = advance(&ends[end], &ends[1 - end], time_ns);
            next_ns = due_ns < next_ns ? due_ns : next_ns;
        }
        count(&ways[at]);
    }
    return next_ns;
}

/* Sleeps until then, or until a kernel has a packet, curl has fetched something, or a key was
 * pressed. */
static void sleep_until(uint64_t next_ns, bool has_keys) {
    struct pollfd waits[3 * SCREEN_WAYS + 1];
    nfds_t count = 0;
    const uint64_t time_ns = now_ns();
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        waits[count++] = (struct pollfd){ways[at].fetched, POLLIN, 0};
        for (size_t end = 0; end < ENDS; end += 1) {
            const struct end *const own = &ways[at].ends[end];
            const bool has_room = radio_has_room(&own->radio, time_ns);
            waits[count++] = (struct pollfd){has_room ? own->kernel.device : -1, POLLIN, 0};
        }
    }
    if (has_keys) {
        waits[count++] = (struct pollfd){STDIN_FILENO, POLLIN, 0};
    }
    const uint64_t left_ns = next_ns > time_ns ? next_ns - time_ns : 0;
    const struct timespec patience = {
        .tv_sec = (time_t)(left_ns / SECOND_NS),
        .tv_nsec = (long)(left_ns % SECOND_NS),
    };
    ppoll(waits, count, &patience, NULL);
}

/* Runs for so many seconds, or until it is stopped. */
static void run(double seconds, bool has_screen) {
    const uint64_t began_ns = now_ns();
    uint64_t sampled_ns = began_ns;
    double printed_s = 0;
    while (!stopped && view.seconds < seconds) {
        const uint64_t time_ns = now_ns();
        view.seconds = 1e-9 * (double)(time_ns - began_ns);
        const bool is_bad = view.half_s <= 0 || fmod(view.seconds / view.half_s, 2) >= 1;
        set_errors(is_bad ? view.chosen_rate : 0);
        uint64_t next_ns = advance_all(time_ns);
        if (has_screen) {
            obey(screen_key(), time_ns);
        }
        if (time_ns - sampled_ns >= SAMPLE_NS) {
            for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
                insist(&ways[at], &PLANS[at], time_ns);
            }
            sample(1e-9 * (double)(time_ns - sampled_ns));
            sampled_ns = time_ns;
            if (has_screen) {
                screen_draw(&view);
            } else if (view.seconds - printed_s >= 1) {
                printed_s = view.seconds;
                screen_print(&view);
            }
        }
        next_ns = next_ns < sampled_ns + SAMPLE_NS ? next_ns : sampled_ns + SAMPLE_NS;
        sleep_until(next_ns, has_screen);
    }
}

int main(int argc, char **argv) {
    const double seconds = argc > 1 ? atof(argv[1]) : INFINITY;
    view.chosen_rate = argc > 2 ? atof(argv[2]) : 1e-4;
    view.half_s = argc > 3 ? atof(argv[3]) : 5;
    if (argc > 4 || !(seconds > 0) || !(view.chosen_rate >= 0 && view.chosen_rate <= 0.5) ||
        !(view.half_s >= 0)) {
        fprintf(stderr, "usage: %s [SECONDS [BIT-ERROR-RATE [HALF-PERIOD]]]\n", argv[0]);
        return 2;
    }
    view.most_mbit_per_s = 1e-6 * (double)RATE;
    for (size_t at = 0; at < SCREEN_WAYS; at += 1) {
        view.ways[at].name = PLANS[at].name;
        view.ways[at].layer = LAYERS[0];
        if (!open_way(&ways[at], &PLANS[at], at + 1)) {
            return 1;
        }
    }
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    signal(SIGPIPE, SIG_IGN);
    const bool has_screen = screen_open();
    run(seconds, has_screen);
    if (has_screen) {
        screen_close();
    }
    screen_sum_up(&view);
    return failed ? 1 : 0;
}
