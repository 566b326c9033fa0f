Buffers: what every stack does the same way. A part begins behind a line that names it, and a
generated file holds copies of those that it mentions, in this order; STACK is the name of the
stack, UPPER the same in capitals. Sizes and counters stand in the generated file.

/* part take_buffer */
/* Takes the buffer that was given back last, or else the next. There must be one left. */
static inline struct STACK_buffer *take_buffer(struct STACK *stack) {
    struct STACK_buffer *const buffer = stack->shared.free;
    stack->shared.free = buffer->next;
    buffer->next = buffer;
    return buffer;
}

/* part take_sent */
/* The same for what an application sends: `drop` knows its buffer until that is given back. */
static inline struct STACK_buffer *take_sent(struct STACK *stack) {
    struct STACK_buffer *const buffer = take_buffer(stack);
    buffer->next = NULL;
    stack->shared.sent = buffer;
    return buffer;
}

/* part give_buffer */
WHERE reading in place
/* Gives a buffer back, which must be taken; a frame that is read in place has none. */
END
WITHOUT reading in place
/* Gives a buffer back, which must be taken. */
END
static inline void give_buffer(struct STACK *stack, struct STACK_buffer *buffer) {
    WHERE reading in place
    if (buffer == NULL) {
        return;
    }
    END
    buffer->next = stack->shared.free;
    stack->shared.free = buffer;
}

/* part has_buffer */
/* Returns true if a buffer is free for a message that the stack makes. The reserve, which the host
 * does not get, is used last. */
static bool has_buffer(struct STACK *stack) {
    if (stack->shared.free == NULL && stack->reserved != 0) {
        struct STACK_buffer *const buffer = stack->reserve;
        stack->reserve = buffer->next;
        stack->reserved -= 1;
        stack->shared.bar = UINTPTR_MAX;
        give_buffer(stack, buffer);
    }
    return stack->shared.free != NULL;
}

/* part settle_all */
#ifdef __GNUC__
static void settle_all(struct STACK *stack) __attribute__((noinline));
#endif

/* The bodies of frames that wait are copied behind their headers. */
static void settle_all(struct STACK *stack) {
    for (struct STACK_output *one = stack->shared.taken; one != stack->shared.answered; one += 1) {
        if (one->next == UPPER_FRAME && one->body_length != 0) {
            uint8_t *const bytes = one->buffer->bytes;
            memcpy(bytes + (one->data - bytes) + one->length, one->body, one->body_length);
            one->length += one->body_length;
            one->body_length = 0;
        }
    }
    stack->shared.borrows = false;
}

/* part settle */
/* Bytes leave a stream, or are replaced there: no frame that waits may have its body among them. */
static inline void settle(struct STACK *stack) {
    if (stack->shared.borrows) {
        settle_all(stack);
    }
}

/* part room_of */
/* Returns how many bytes fit between the start of a message and the end of its buffer. */
static inline size_t room_of(const struct STACK_message *message) {
    return BUFFER_SIZE - (size_t)(message->data - message->buffer->bytes);
}

/* part is_lent */
/* Returns true if a frame stands `before` bytes behind the start of a buffer that the host holds.
 * The pointer may be any: a buffer that is in use begins with its own address. */
static bool is_lent(const struct STACK *stack, const uint8_t *data, size_t before) {
    const size_t last = stack->size - sizeof *stack->buffers;
    if ((uintptr_t)data - (uintptr_t)stack->buffers - before > last) {
        return false;
    }
    struct STACK_buffer *next;
    memcpy(&next, data - before, sizeof next);
    return (uintptr_t)next == (uintptr_t)data - before;
}

/* part is_inside */
/* Returns true if a frame stands in the memory of the buffers. */
static bool is_inside(const struct STACK *stack, const uint8_t *data) {
    return (uintptr_t)data - (uintptr_t)stack->buffers < stack->size;
}
