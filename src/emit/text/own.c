What every stack does the same way. A part begins behind a line that names it, and a generated file
holds copies of those that it mentions, in this order; STACK is the name of the stack. Sizes
(HEADROOM, BUFFER_SIZE, KEPT, AHEAD) and counters stand in the generated file. A
copy of a message is UNMARKED: nothing that was stripped from the other can be restored of it.

/* part take_buffer */
/* Takes the buffer that was given back last, or else the next. There must be one left. */
static inline struct STACK_buffer *take_buffer(struct STACK *stack) {
    struct STACK_buffer *const buffer = stack->shared.free;
    stack->shared.free = buffer->next;
    buffer->next = buffer;
    return buffer;
}

/* part give_buffer */
/* Gives a buffer back, which must be taken. */
static inline void give_buffer(struct STACK *stack, struct STACK_buffer *buffer) {
    buffer->next = stack->shared.free;
    stack->shared.free = buffer;
}

/* part take_sent */
/* The same for what an application sends: `drop` knows its buffer until that is given back. */
static inline struct STACK_buffer *take_sent(struct STACK *stack) {
    struct STACK_buffer *const buffer = stack->shared.free;
    stack->shared.free = buffer->next;
    buffer->next = NULL;
    return buffer;
}

/* part outcome */
/* What has become of the message that an application sent in this call. */
static inline enum STACK_send outcome(const struct STACK *stack) {
    return stack->shared.sent == NULL ? UPPER_REFUSED : UPPER_SENT;
}

/* part draw_reserve */
#ifdef __GNUC__
static bool draw_reserve(struct STACK *stack) __attribute__((cold, noinline));
#endif

/* Lets a buffer be taken of those that the host is not given; false if none of these is left. */
static bool draw_reserve(struct STACK *stack) {
    if (stack->reserved == 0) {
        return false;
    }
    struct STACK_buffer *const buffer = stack->reserve;
    stack->reserve = buffer->next;
    stack->reserved -= 1;
    stack->shared.bar = UINTPTR_MAX;
    give_buffer(stack, buffer);
    return true;
}

/* part has_buffer */
/* Whether there is a buffer left for a message of the stack's own. */
static inline bool has_buffer(struct STACK *stack) {
    return stack->shared.free != NULL || draw_reserve(stack);
}

/* part blank */
/* A message without bytes, in a buffer that has been taken for it. */
static inline struct STACK_message blank(struct STACK_buffer *buffer) {
    return (struct STACK_message){BLANK};
}

/* part new_message_in_place */
#ifdef __GNUC__
static inline bool new_message_in_place(struct STACK *stack, struct STACK_message *message)
    __attribute__((always_inline));
#endif

/* False where no buffer is free at once. */
static inline bool new_message_in_place(struct STACK *stack, struct STACK_message *message) {
    if (stack->shared.free == NULL) {
        return false;
    }
    struct STACK_buffer *const buffer = take_buffer(stack);
    *message = blank(buffer);
    return true;
}

/* part new_message */
/* False without a free buffer. */
static bool new_message(struct STACK *stack, struct STACK_message *message) {
    return has_buffer(stack) && new_message_in_place(stack, message);
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
/* A copy of so many bytes at a place of a message, as far as it has them. What is longer than a
 * frame has headers in it already, and fewer will be pushed before it. */
static bool piece(struct STACK *stack, const struct STACK_message *of, uint32_t at,
                  uint32_t length, struct STACK_message *message) {
    if (!has_buffer(stack)) {
        return false;
    }
    struct STACK_buffer *const buffer = take_buffer(stack);
    const uint32_t start = at < of->length ? at : of->length;
    const uint32_t taken = length < of->length - start ? length : of->length - start;
    const size_t before = BUFFER_SIZE - taken < HEADROOM ? BUFFER_SIZE - taken : HEADROOM;
    *message = *of;
    message->data = buffer->bytes + before;
    message->length = taken;
    message->buffer = buffer;
    message->came_in = false;
    UNMARKED
    message->header = NULL;
    is_copied(stack, of->buffer, buffer);
    memcpy(message->data, of->data + start, taken);
    return true;
}

/* part share */
/* A second handle of a message, with a copy of its bytes and of the header before them. */
static bool share(struct STACK *stack, const struct STACK_message *of,
                  struct STACK_message *message) {
    if (!has_buffer(stack)) {
        return false;
    }
    struct STACK_buffer *const buffer = take_buffer(stack);
    const uint8_t *const from = of->buffer->bytes;
    uint8_t *const to = buffer->bytes;
    const size_t before = (size_t)(of->data - from);
    memcpy(to, from, before + of->length);
    *message = *of;
    message->data = to + before;
    message->buffer = buffer;
    message->came_in = false;
    UNMARKED
    message->header = of->header == NULL ? NULL : to + (of->header - from);
    is_copied(stack, of->buffer, buffer);
    return true;
}

/* part room_of */
/* How many bytes of data a message can have where it stands. */
static inline size_t room_of(const struct STACK_message *message) {
    return BUFFER_SIZE - (size_t)(message->data - message->buffer->bytes);
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

/* part skip */
/* Takes so many bytes, or all there are, off the front of a message. */
static inline void skip(struct STACK_message *message, uint32_t bytes) {
    const uint32_t skipped = bytes < message->length ? bytes : message->length;
    message->data += skipped;
    message->length -= skipped;
}

/* part cut */
/* Keeps so many bytes of a message, or all there are. */
static inline void cut(struct STACK_message *message, uint32_t bytes) {
    if (bytes < message->length) {
        message->length = bytes;
    }
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
/* Compilers that can be told keep what leads to a drop out of the fast path. */
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

/* part smaller8 */
static inline uint8_t smaller8(uint8_t one, uint8_t other) {
    return one < other ? one : other;
}

/* part smaller16 */
static inline uint16_t smaller16(uint16_t one, uint16_t other) {
    return one < other ? one : other;
}

/* part smaller32 */
static inline uint32_t smaller32(uint32_t one, uint32_t other) {
    return one < other ? one : other;
}

/* part smaller64 */
static inline uint64_t smaller64(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

/* part larger8 */
static inline uint8_t larger8(uint8_t one, uint8_t other) {
    return one > other ? one : other;
}

/* part larger16 */
static inline uint16_t larger16(uint16_t one, uint16_t other) {
    return one > other ? one : other;
}

/* part larger32 */
static inline uint32_t larger32(uint32_t one, uint32_t other) {
    return one > other ? one : other;
}

/* part larger64 */
static inline uint64_t larger64(uint64_t one, uint64_t other) {
    return one > other ? one : other;
}

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
    if (!sl_stream_insert(stream, ranges, bytes, capacity, largest, at, message->data,
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
    if (*pieces != 0) {
        stack->counters[DROPPED + reason] += *pieces;
        stack->counters[HELD] -= *pieces;
        *pieces = 0;
    } else if (sl_stream_span(stream, ranges, largest) != 0) {
        stack->counters[UNSENT + reason] += 1;
    }
    sl_stream_begin(stream, ranges, stream->begin);
}
