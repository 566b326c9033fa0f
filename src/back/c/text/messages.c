Messages: new ones, copies, and what becomes of them; as `buffers.c`. A copy of a message has no
marks: nothing that was stripped from the other can be restored of it.

/* part outcome */
/* Returns the result of a send: refused if the message has no buffer in `sent`. */
static inline enum STACK_send outcome(const struct STACK *stack) {
    return stack->shared.sent == NULL ? UPPER_REFUSED : UPPER_SENT;
}

/* part new_message */
/* An empty message; false without a free buffer. */
static bool new_message(struct STACK *stack, struct STACK_message *message) {
    if (!has_buffer(stack)) {
        return false;
    }
    *message = blank(take_buffer(stack));
    return true;
}

/* part message_from */
/* A new message that holds these bytes; false without a free buffer. */
static bool message_from(struct STACK *stack, const uint8_t *bytes, size_t length,
                         struct STACK_message *message) {
    if (!new_message(stack, message)) {
        return false;
    }
    memcpy(message->data, bytes, length);
    message->length = (uint32_t)length;
    return true;
}

/* part is_copied */
/* A message of which there is a copy in another buffer is not refused any more, if an application
 * sends it: that copy may go on. */
static inline void is_copied(struct STACK *stack, const struct STACK_buffer *from,
                             struct STACK_buffer *to) {
    if (from == stack->shared.sent) {
        stack->shared.sent = to;
    }
}

/* part piece */
/* Copies `length` bytes at a place of a message, as far as the message has them. A copy that is
 * longer than a frame contains headers already, so it needs less headroom. */
static bool piece(struct STACK *stack, const struct STACK_message *of, uint32_t at,
                  uint32_t length, struct STACK_message *message) {
    if (!has_buffer(stack)) {
        return false;
    }
    struct STACK_buffer *const buffer = take_buffer(stack);
    const uint32_t start = at < of->length ? at : of->length;
    const uint32_t taken = length < of->length - start ? length : of->length - start;
    const size_t headroom = HEADROOM;
    const size_t room = BUFFER_SIZE - taken;
    const size_t before = room < headroom ? room : headroom;
    *message = *of;
    message->data = buffer->bytes + before;
    message->length = taken;
    message->buffer = buffer;
    message->came_in = false;
    unmark(message);
    is_copied(stack, of->buffer, buffer);
    memcpy(message->data, of->data + start, taken);
    return true;
}

/* part share */
/* A second handle of a message, with a copy of its bytes and of all that stands before them. */
static bool share(struct STACK *stack, const struct STACK_message *of,
                  struct STACK_message *message) {
    if (!has_buffer(stack)) {
        return false;
    }
    struct STACK_buffer *const buffer = take_buffer(stack);
    const size_t before = (size_t)(of->data - of->buffer->bytes);
    memcpy(buffer->bytes, of->buffer->bytes, before + of->length);
    *message = *of;
    message->data = buffer->bytes + before;
    message->buffer = buffer;
    message->came_in = false;
    unmark(message);
    is_copied(stack, of->buffer, buffer);
    return true;
}

/* part set_aside */
/* Copies the data of a message, which is about to be written over, to the beginning of another
 * buffer. False without a free one. */
static bool set_aside(struct STACK *stack, const struct STACK_message *message,
                      struct STACK_buffer **aside) {
    if (!has_buffer(stack)) {
        return false;
    }
    *aside = take_buffer(stack);
    memcpy((*aside)->bytes, message->data, message->length);
    return true;
}

/* part rewritten */
/* A message whose data was set aside has so many bytes of other data. False if these are more than
 * there is room for: then its data is what it was. */
static bool rewritten(struct STACK *stack, struct STACK_message *message,
                      struct STACK_buffer *aside, size_t length) {
    const bool fits = length <= room_of(message);
    if (fits) {
        message->length = (uint32_t)length;
    } else {
        memcpy(message->data, aside->bytes, message->length);
    }
    give_buffer(stack, aside);
    return fits;
}

/* part pad */
/* Puts so many zero bytes behind the data of a message. False if there is no room for them. */
static bool pad(struct STACK_message *message, uint32_t bytes) {
    if (bytes > room_of(message) - message->length) {
        return false;
    }
    memset(message->data + message->length, 0, bytes);
    message->length += bytes;
    return true;
}

/* part consume */
/* The message in this buffer has done its duty. */
static void consume(struct STACK *stack, struct STACK_buffer *buffer, bool came_in) {
    stack->counters[CONSUMED] += came_in;
    give_buffer(stack, buffer);
}

/* part drop */
#ifdef __GNUC__
static void drop(struct STACK *stack, struct STACK_buffer *buffer, bool came_in, unsigned reason)
    __attribute__((cold));
#endif

/* The message in this buffer is gone for a reason; refused, if it is the one that an application
 * sends in this call. */
static void drop(struct STACK *stack, struct STACK_buffer *buffer, bool came_in, unsigned reason) {
    stack->counters[(came_in ? DROPPED : UNSENT) + reason] += 1;
    if (buffer == stack->shared.sent && buffer->next == NULL) {
        stack->shared.sent = NULL;
    }
    give_buffer(stack, buffer);
}
