/* What the tests are about, one function each. */
#ifndef SITUATIONS_H
#define SITUATIONS_H

#define SITUATIONS(EACH)                                                                           \
    /* life.c */                                                                                   \
    EACH(a_connection_is_made_and_echoes)                                                          \
    EACH(each_side_closes_its_own_half)                                                            \
    EACH(what_was_written_goes_out_after_close)                                                    \
    EACH(who_closes_unread_text_resets)                                                            \
    EACH(nobody_listens)                                                                           \
    EACH(nobody_answers)                                                                           \
    EACH(a_number_is_used_again_at_once)                                                           \
    EACH(the_other_never_closes)                                                                   \
    EACH(a_router_says_that_there_is_no_way)                                                       \
    /* room.c */                                                                                   \
    EACH(nobody_reads_and_writing_stops)                                                           \
    EACH(bytes_come_in_order_on_a_bad_wire)                                                        \
    EACH(two_hundred_connect_at_once)                                                              \
    EACH(buffers_are_as_small_as_they_are_set)                                                     \
    EACH(segments_are_as_short_as_they_are_set)                                                    \
    EACH(short_ones_wait_unless_they_are_told_not_to)                                              \
    /* names.c */                                                                                  \
    EACH(a_port_belongs_to_one)                                                                    \
    EACH(a_port_is_left_to_who_was_there)                                                          \
    EACH(who_lingers_for_no_time_resets)                                                           \
    EACH(both_call_at_once)                                                                        \
    EACH(more_call_than_may_wait)                                                                  \
    EACH(there_are_no_more_sockets)                                                                \
    EACH(what_is_used_wrongly_says_so)                                                             \
    EACH(nonsense_comes_in)                                                                        \
    /* strangers.c */                                                                              \
    EACH(calls_that_nobody_completes)                                                              \
    EACH(connections_that_are_over)                                                                \
    EACH(windows_that_stay_shut)                                                                   \
    EACH(segments_that_come_together)                                                              \
    EACH(options_of_a_connection)                                                                  \
    EACH(options_of_wrong_length)

#define DECLARED(situation) void situation(void);
SITUATIONS(DECLARED)
#undef DECLARED

#endif
