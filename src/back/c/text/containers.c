Containers of messages and of bytes; as `buffers.c`. A message that waits in one stands beside its
buffer, whose number the container holds.

/* part hold */
/* The message waits in a container, which keeps the number of its buffer. */
static uint32_t hold(struct STACK *stack, const struct STACK_message *message) {
    const uint32_t number = (uint32_t)(message->buffer - stack->buffers);
    stack->messages[number] = *message;
    stack->counters[HELD] += message->came_in;
    return number;
}

/* part retrieve */
/* The message that waited in a container, and leaves it. */
static struct STACK_message retrieve(struct STACK *stack, uint32_t number) {
    stack->counters[HELD] -= stack->messages[number].came_in;
    return stack->messages[number];
}

/* part queue_push */
/* False if the queue is full; then the message stays with the caller. */
static bool queue_push(struct STACK *stack, struct sl_ring *queue, uint32_t *items,
                       uint32_t capacity, const struct STACK_message *message) {
    const uint32_t slot = sl_ring_push(queue, capacity);
    if (slot == SL_NONE) {
        return false;
    }
    items[slot] = hold(stack, message);
    return true;
}

/* part queue_pop */
/* The oldest message of a queue; false if there is none. */
static bool queue_pop(struct STACK *stack, struct sl_ring *queue, const uint32_t *items,
                      uint32_t capacity, struct STACK_message *message) {
    const uint32_t slot = sl_ring_pop(queue, capacity);
    if (slot == SL_NONE) {
        return false;
    }
    *message = retrieve(stack, items[slot]);
    return true;
}

/* part drop_queue */
/* All messages of a queue are gone for a reason. */
static void drop_queue(struct STACK *stack, struct sl_ring *queue, const uint32_t *items,
                       uint32_t capacity, unsigned reason) {
    struct STACK_message message;
    while (queue_pop(stack, queue, items, capacity, &message)) {
        drop(stack, message.buffer, message.came_in, reason);
    }
}

/* part window_insert */
/* False if the window does not take the number; then the message stays with the caller. */
static bool window_insert(struct STACK *stack, struct sl_window *window, uint64_t *held,
                          uint32_t *items, uint32_t capacity, uint32_t largest, uint32_t n,
                          const struct STACK_message *message) {
    const uint32_t slot = sl_window_insert(window, held, capacity, largest, n);
    if (slot == SL_NONE) {
        return false;
    }
    items[slot] = hold(stack, message);
    return true;
}

/* part window_take */
/* The message with this number, which leaves the window; false if it is not held. */
static bool window_take(struct STACK *stack, struct sl_window *window, uint64_t *held,
                        const uint32_t *items, uint32_t capacity, uint32_t largest, uint32_t n,
                        struct STACK_message *message) {
    const uint32_t slot = sl_window_take(window, held, capacity, largest, n);
    if (slot == SL_NONE) {
        return false;
    }
    *message = retrieve(stack, items[slot]);
    return true;
}

/* part window_share */
/* A second handle of the message with this number; false if it is not held, or without a buffer. */
static bool window_share(struct STACK *stack, const struct sl_window *window, const uint64_t *held,
                         const uint32_t *items, uint32_t capacity, uint32_t largest, uint32_t n,
                         struct STACK_message *message) {
    const uint32_t slot = sl_window_find(window, held, capacity, largest, n);
    return slot != SL_NONE && share(stack, &stack->messages[items[slot]], message);
}

/* part window_release */
/* This number becomes the lower edge; the messages below it have done their duty. */
static void window_release(struct STACK *stack, struct sl_window *window, uint64_t *held,
                           const uint32_t *items, uint32_t capacity, uint32_t largest,
                           uint32_t to) {
    uint32_t slot = sl_window_release(window, held, capacity, largest, to);
    while (slot != SL_NONE) {
        const struct STACK_message message = retrieve(stack, items[slot]);
        consume(stack, message.buffer, message.came_in);
        slot = sl_window_release(window, held, capacity, largest, to);
    }
}

/* part window_replace */
/* Puts a message in a window; the oldest make room, and have done their duty. */
static void window_replace(struct STACK *stack, struct sl_window *window, uint64_t *held,
                           uint32_t *items, uint32_t capacity, uint32_t largest, uint32_t n,
                           const struct STACK_message *message) {
    uint32_t slot = sl_window_replace(window, held, capacity, largest, n);
    while (slot != SL_NONE) {
        const struct STACK_message old = retrieve(stack, items[slot]);
        consume(stack, old.buffer, old.came_in);
        slot = sl_window_replace(window, held, capacity, largest, n);
    }
    if (!window_insert(stack, window, held, items, capacity, largest, n, message)) {
        consume(stack, message->buffer, message->came_in);
    }
}

/* part window_make_room */
/* The slot for a value with this number; the oldest make room. SL_NONE if it lies behind them. */
static uint32_t window_make_room(struct sl_window *window, uint64_t *held, uint32_t capacity,
                                 uint32_t largest, uint32_t n) {
    while (sl_window_replace(window, held, capacity, largest, n) != SL_NONE) {
    }
    return sl_window_insert(window, held, capacity, largest, n);
}

/* part window_forget */
/* This number becomes the lower edge; the values below it leave the window. */
static void window_forget(struct sl_window *window, uint64_t *held, uint32_t capacity,
                          uint32_t largest, uint32_t to) {
    while (sl_window_release(window, held, capacity, largest, to) != SL_NONE) {
    }
}

/* part drop_window */
/* All messages of a window are gone for a reason. */
static void drop_window(struct STACK *stack, struct sl_window *window, uint64_t *held,
                        const uint32_t *items, uint32_t capacity, uint32_t largest,
                        unsigned reason) {
    struct STACK_message message;
    while (window->span != 0) {
        if (window_take(stack, window, held, items, capacity, largest, window->first, &message)) {
            drop(stack, message.buffer, message.came_in, reason);
        }
    }
}

/* part stream_insert */
/* Merges a message into a stream; false if the stream refuses it, which the caller then keeps. */
static bool stream_insert(struct STACK *stack, struct sl_stream *stream, struct sl_ranges *ranges,
                          uint8_t *bytes, uint32_t *pieces, uint32_t capacity, uint32_t largest,
                          uint32_t at, const struct STACK_message *message) {
    WHERE gathering links
    settle(stack);
    END
    if (!sl_stream_insert(stream, ranges, bytes, capacity, largest, at, message->data,
                          message->length)) {
        return false;
    }
    *pieces += message->came_in;
    stack->counters[HELD] += message->came_in;
    give_buffer(stack, message->buffer);
    return true;
}

/* part stream_append */
/* Merges a message behind the last byte of a stream; false if the stream refuses it, which the
 * caller then keeps. */
static bool stream_append(struct STACK *stack, struct sl_stream *stream, struct sl_ranges *ranges,
                          uint8_t *bytes, uint32_t *pieces, uint32_t capacity, uint32_t largest,
                          const struct STACK_message *message) {
    if (!sl_stream_append(stream, ranges, bytes, capacity, largest, message->data,
                          message->length)) {
        return false;
    }
    *pieces += message->came_in;
    stack->counters[HELD] += message->came_in;
    give_buffer(stack, message->buffer);
    return true;
}

/* part stream_slice */
/* A new message with so many bytes of a stream at a position, as far as they are there; false
 * without a free buffer, and where none has room for them. */
static bool stream_slice(struct STACK *stack, const struct sl_stream *stream,
                         const struct sl_ranges *ranges, const uint8_t *bytes, uint32_t capacity,
                         uint32_t largest, uint32_t at, uint32_t length,
                         struct STACK_message *message) {
    const uint32_t run = sl_stream_run(stream, ranges, largest, at, length);
    if (run > BUFFER_SIZE - HEADROOM || !new_message(stack, message)) {
        return false;
    }
    message->length = run;
    sl_stream_copy(stream, bytes, capacity, largest, at, message->data, message->length);
    return true;
}

/* part stream_borrow */
#ifdef __GNUC__
static inline bool stream_borrow(struct STACK *stack, const struct sl_stream *stream,
                                 const struct sl_ranges *ranges, const uint8_t *bytes,
                                 uint32_t capacity, uint32_t largest, uint32_t at, uint32_t length,
                                 struct STACK_message *message) __attribute__((always_inline));
#endif

/* The same for a frame that leaves by a link which gathers: the bytes stay in the stream, if they
 * stand there in one piece. To copy a short piece takes less than to hand it over. */
static inline bool stream_borrow(struct STACK *stack, const struct sl_stream *stream,
                                 const struct sl_ranges *ranges, const uint8_t *bytes,
                                 uint32_t capacity, uint32_t largest, uint32_t at, uint32_t length,
                                 struct STACK_message *message) {
    const uint32_t run = sl_stream_run(stream, ranges, largest, at, length);
    const uint32_t start = sl_wrap(stream->head + ((at - stream->begin) & largest), capacity);
    if (run > BUFFER_SIZE - HEADROOM || !new_message(stack, message)) {
        return false;
    }
    message->length = run;
    if (run <= 64 || sl_arc_before_end(capacity, start, run) != run) {
        sl_stream_copy(stream, bytes, capacity, largest, at, message->data, run);
        message->buffer->body = message->data;
        message->buffer->body_length = 0;
        return true;
    }
    message->buffer->body = bytes + start;
    message->buffer->body_length = run;
    stack->shared.borrows = true;
    return true;
}

/* part stream_take */
/* A new message with so many bytes of a stream from its beginning, which leave it. The message
 * has the fate of one piece that came in; the others have been merged into it. */
static bool stream_take(struct STACK *stack, struct sl_stream *stream, struct sl_ranges *ranges,
                        const uint8_t *bytes, uint32_t *pieces, uint32_t capacity,
                        uint32_t largest, uint32_t length, struct STACK_message *message) {
    if (!stream_slice(stack, stream, ranges, bytes, capacity, largest, stream->begin, length,
                      message)) {
        return false;
    }
    WHERE gathering links
    settle(stack);
    END
    sl_stream_release(stream, ranges, capacity, largest,
                      (stream->begin + message->length) & largest);
    if (*pieces != 0) {
        message->came_in = true;
        stack->counters[MERGED] += *pieces - 1;
        stack->counters[HELD] -= *pieces;
        *pieces = 0;
    }
    return true;
}

/* part stream_begin */
/* Empties a stream, whose messages have done their duty, and lets it begin at a position. */
static void stream_begin(struct STACK *stack, struct sl_stream *stream, struct sl_ranges *ranges,
                         uint32_t *pieces, uint32_t at) {
    WHERE gathering links
    settle(stack);
    END
    sl_stream_begin(stream, ranges, at);
    stack->counters[CONSUMED] += *pieces;
    stack->counters[HELD] -= *pieces;
    *pieces = 0;
}

/* part stream_release */
/* The bytes before a position have done their duty, and their messages with the last of them.
 * Returns how many bytes have left the stream. */
static uint32_t stream_release(struct STACK *stack, struct sl_stream *stream,
                               struct sl_ranges *ranges, uint32_t *pieces, uint32_t capacity,
                               uint32_t largest, uint32_t to) {
    WHERE gathering links
    settle(stack);
    END
    const uint32_t freed = sl_stream_release(stream, ranges, capacity, largest, to);
    if (*pieces != 0 && sl_stream_span(stream, ranges, largest) == 0) {
        stack->counters[CONSUMED] += *pieces;
        stack->counters[HELD] -= *pieces;
        *pieces = 0;
    }
    return freed;
}

/* part drop_stream */
/* All bytes of a stream, and the messages they came in, are gone for a reason. */
static void drop_stream(struct STACK *stack, struct sl_stream *stream, struct sl_ranges *ranges,
                        uint32_t *pieces, uint32_t largest, unsigned reason) {
    WHERE gathering links
    settle(stack);
    END
    if (*pieces != 0) {
        stack->counters[DROPPED + reason] += *pieces;
        stack->counters[HELD] -= *pieces;
        *pieces = 0;
    } else if (sl_stream_span(stream, ranges, largest) != 0) {
        stack->counters[UNSENT + reason] += 1;
    }
    sl_stream_begin(stream, ranges, stream->begin);
}
