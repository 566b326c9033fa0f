/*
 * The application of the stack `heard`. It has callbacks, so that the fast path reads frames in
 * memory of the host, and does nothing with the messages.
 */

void heard_arrived(void *user, struct heard *stack, uint32_t session, const uint8_t *data,
                   size_t length, uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)data, (void)length, (void)now_ns;
}

void heard_arrived_grant_sends(void *user, struct heard *stack, uint32_t session, uint32_t messages,
                               uint64_t now_ns) {
    (void)user, (void)stack, (void)session, (void)messages, (void)now_ns;
}
