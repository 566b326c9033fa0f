/* What the tests are about, one function each. */
#ifndef SITUATIONS_H
#define SITUATIONS_H

/* life.c */
void a_connection_is_made_and_echoes(void);
void each_side_closes_its_own_half(void);
void what_was_written_goes_out_after_close(void);
void who_closes_unread_text_resets(void);
void nobody_listens(void);
void nobody_answers(void);
void a_number_is_used_again_at_once(void);
void the_other_never_closes(void);
void a_router_says_that_there_is_no_way(void);

/* room.c */
void nobody_reads_and_writing_stops(void);
void bytes_come_in_order_on_a_bad_wire(void);
void two_hundred_connect_at_once(void);
void buffers_are_as_small_as_they_are_set(void);
void segments_are_as_short_as_they_are_set(void);
void short_ones_wait_unless_they_are_told_not_to(void);

/* names.c */
void a_port_belongs_to_one(void);
void a_port_is_left_to_who_was_there(void);
void who_lingers_for_no_time_resets(void);
void both_call_at_once(void);
void more_call_than_may_wait(void);
void there_are_no_more_sockets(void);
void what_is_used_wrongly_says_so(void);
void nonsense_comes_in(void);

#endif
