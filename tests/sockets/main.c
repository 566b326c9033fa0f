/* Plays all situations, or the one that is named. */
#include "situations.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    void (*play)(void);
} situations[] = {
    {"a connection is made and echoes", a_connection_is_made_and_echoes},
    {"each side closes its own half", each_side_closes_its_own_half},
    {"what was written goes out after close", what_was_written_goes_out_after_close},
    {"who closes unread text resets", who_closes_unread_text_resets},
    {"nobody listens", nobody_listens},
    {"nobody answers", nobody_answers},
    {"a number is used again at once", a_number_is_used_again_at_once},
    {"the other never closes", the_other_never_closes},
    {"a router says that there is no way", a_router_says_that_there_is_no_way},
    {"nobody reads and writing stops", nobody_reads_and_writing_stops},
    {"bytes come in order on a bad wire", bytes_come_in_order_on_a_bad_wire},
    {"two hundred connect at once", two_hundred_connect_at_once},
    {"buffers are as small as they are set", buffers_are_as_small_as_they_are_set},
    {"segments are as short as they are set", segments_are_as_short_as_they_are_set},
    {"short ones wait unless they are told not to", short_ones_wait_unless_they_are_told_not_to},
    {"a port belongs to one", a_port_belongs_to_one},
    {"a port is left to who was there", a_port_is_left_to_who_was_there},
    {"who lingers for no time resets", who_lingers_for_no_time_resets},
    {"both call at once", both_call_at_once},
    {"more call than may wait", more_call_than_may_wait},
    {"there are no more sockets", there_are_no_more_sockets},
    {"what is used wrongly says so", what_is_used_wrongly_says_so},
    {"nonsense comes in", nonsense_comes_in},
};

int main(int count, char **arguments) {
    for (size_t at = 0; at < sizeof situations / sizeof *situations; at += 1) {
        if (count < 2 || strcmp(arguments[1], situations[at].name) == 0) {
            puts(situations[at].name);
            fflush(stdout);
            situations[at].play();
        }
    }
    return 0;
}
