Functions of the interface that the header defines, since hosts call them most often; as `own.c`. A
line `DECLARES NAME` becomes a declaration of the function of the file that does what is left.

/* part STACK_buffer */
uint8_t *STACK_buffer(struct STACK *stack, size_t *room) {
    DECLARES STACK_has_buffer
    struct STACK_shared *const shared = (struct STACK_shared *)stack;
    if ((uintptr_t)shared->free <= shared->bar && !STACK_has_buffer(stack)) {
        *room = 0;
        return NULL;
    }
    struct STACK_buffer *const buffer = shared->free;
    shared->free = buffer->next;
    buffer->next = buffer;
    *room = ROOM;
    return buffer->bytes + HEADROOM;
}

/* part STACK_input */
size_t STACK_input(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                   size_t count, uint64_t now_ns) {
    DECLARES STACK_input_all
    DECLARES STACK_take
    struct STACK_shared *const shared = (struct STACK_shared *)stack;
    if (LINK_OTHER count != 1 || shared->answered >= shared->limit) {
        return STACK_input_all(stack, link, frames, count, now_ns);
    }
    shared->steps = 1;
    return STACK_take(stack, LINK_HANDED frames, now_ns);
}

/* part STACK_next */
enum STACK_next STACK_next(struct STACK *stack, struct STACK_output *output) {
    struct STACK_shared *const shared = (struct STACK_shared *)stack;
    if (shared->taken == shared->answered) {
        return UPPER_IDLE;
    }
    NEXT_OTHER
    *output = *shared->taken;
    shared->taken += 1;
    return output->next;
}

/* part STACK_done */
void STACK_done(struct STACK *stack, const struct STACK_output *output) {
    if (output->buffer != NULL) {
        struct STACK_shared *const shared = (struct STACK_shared *)stack;
        output->buffer->next = shared->free;
        shared->free = output->buffer;
    }
}

/* part STACK_PORT_send */
HEAD {
    DECLARES later
    DECLARES from
    struct STACK_shared *const shared = (struct STACK_shared *)stack;
    if (shared->answered >= shared->limit || (uintptr_t)shared->free <= shared->bar ||
        length > ROOM) {
        return STACK_PORT_send_later(stack, session, with, data, length, now_ns);
    }
    shared->steps = 1;
    struct STACK_buffer *const next = shared->free;
    if (length != 0) {
        memcpy(next->bytes + HEADROOM, data, length);
    }
    SENT
}
