/* stream.h: bytes by modular position, which come in any order. */

/* part sl_stream: needs */
/* Bytes by position, of which those from `begin` to `begin + capacity - 1` can be held. The
 * position begin + n has the slot head + n in the array of bytes, which goes round its end.
 * Beside it stands a set `held` of the slots whose byte is there. If span is not zero, the last
 * byte of the span is held; no byte outside of the span is. The capacity is at most `largest`. */
struct sl_stream {
    uint32_t begin; /* the first position */
    uint32_t span;  /* how many positions there are from the first to the last held; 0: empty */
    uint32_t head;  /* the slot of the first position */
};

/* part sl_stream_begin: needs sl_set_clear sl_stream */
/* Empties the stream, and lets it begin at a position. */
static inline void sl_stream_begin(struct sl_stream *stream, uint64_t *held, uint32_t capacity,
                                   uint32_t at) {
    sl_set_clear(held, capacity);
    stream->begin = at;
    stream->span = 0;
    stream->head = 0;
}

/* part sl_stream_end: needs sl_stream */
/* The position behind the last byte that is held. */
static inline uint32_t sl_stream_end(const struct sl_stream *stream, uint32_t largest) {
    return (stream->begin + stream->span) & largest;
}

/* part sl_stream_insert: needs memcpy sl_arc_before_end sl_arc_fill sl_arc_first sl_stream
        sl_wrap */
/* Copies bytes in, from the position `at` on. Refuses all of them if one is held already or lies
 * outside of what the stream can hold. No bytes at all fit even at its very end. */
static inline bool sl_stream_insert(struct sl_stream *stream, uint64_t *held, uint8_t *bytes,
                                    uint32_t capacity, uint32_t largest, uint32_t at,
                                    const uint8_t *data, uint32_t length) {
    const uint32_t ahead = (at - stream->begin) & largest;
    if (ahead > capacity || length > capacity - ahead) {
        return false;
    }
    const uint32_t start = sl_wrap(stream->head + ahead, capacity);
    if (sl_arc_first(held, true, capacity, start, length) != length) {
        return false;
    }
    const uint32_t turn = sl_arc_before_end(capacity, start, length);
    memcpy(bytes + start, data, turn);
    memcpy(bytes, data + turn, length - turn);
    sl_arc_fill(held, true, capacity, start, length);
    if (length != 0 && stream->span < ahead + length) {
        stream->span = ahead + length;
    }
    return true;
}

/* part sl_stream_append: needs sl_stream sl_stream_end sl_stream_insert */
/* Copies bytes in behind the last that is held. Refuses all of them if not all fit. */
static inline bool sl_stream_append(struct sl_stream *stream, uint64_t *held, uint8_t *bytes,
                                    uint32_t capacity, uint32_t largest, const uint8_t *data,
                                    uint32_t length) {
    return sl_stream_insert(stream, held, bytes, capacity, largest,
                            sl_stream_end(stream, largest), data, length);
}

/* part sl_stream_run: needs sl_arc_first sl_stream sl_wrap */
/* How many bytes are held from the position `at` on without a gap, of so many at most. */
static inline uint32_t sl_stream_run(const struct sl_stream *stream, const uint64_t *held,
                                     uint32_t capacity, uint32_t largest, uint32_t at,
                                     uint32_t most) {
    const uint32_t ahead = (at - stream->begin) & largest;
    if (ahead >= stream->span) {
        return 0;
    }
    const uint32_t left = stream->span - ahead;
    return sl_arc_first(held, false, capacity, sl_wrap(stream->head + ahead, capacity),
                        left < most ? left : most);
}

/* part sl_stream_ready: needs sl_stream sl_stream_run */
/* How many bytes are held from the position `at` on without a gap. */
static inline uint32_t sl_stream_ready(const struct sl_stream *stream, const uint64_t *held,
                                       uint32_t capacity, uint32_t largest, uint32_t at) {
    return sl_stream_run(stream, held, capacity, largest, at, capacity);
}

/* part sl_stream_covers: needs sl_stream sl_stream_run */
/* Whether all of `length` bytes from the position `at` on are held. No bytes at all are so
 * from the first position up to the end. */
static inline bool sl_stream_covers(const struct sl_stream *stream, const uint64_t *held,
                                    uint32_t capacity, uint32_t largest, uint32_t at,
                                    uint32_t length) {
    return ((at - stream->begin) & largest) <= stream->span &&
           sl_stream_run(stream, held, capacity, largest, at, length) == length;
}

/* part sl_stream_copy: needs memcpy sl_arc_before_end sl_stream sl_wrap */
/* Copies bytes out; the stream must cover them. */
static inline void sl_stream_copy(const struct sl_stream *stream, const uint8_t *bytes,
                                  uint32_t capacity, uint32_t largest, uint32_t at, uint8_t *to,
                                  uint32_t length) {
    const uint32_t ahead = (at - stream->begin) & largest;
    const uint32_t start = sl_wrap(stream->head + ahead, capacity);
    const uint32_t turn = sl_arc_before_end(capacity, start, length);
    memcpy(to, bytes + start, turn);
    memcpy(to + turn, bytes, length - turn);
}

/* part sl_stream_release: needs sl_arc_fill sl_arc_first sl_stream sl_wrap */
/* Lets the stream begin at `to`, and returns how many held bytes have left it. A position that
 * lies behind the beginning, and is not within the capacity, changes nothing. */
static inline uint32_t sl_stream_release(struct sl_stream *stream, uint64_t *held,
                                         uint32_t capacity, uint32_t largest, uint32_t to) {
    const uint32_t ahead = (to - stream->begin) & largest;
    if (ahead > capacity && ahead > largest / 2) {
        return 0;
    }
    const uint32_t left = ahead < stream->span ? ahead : stream->span;
    uint32_t freed = 0;
    for (uint32_t at = 0; at < left;) {
        at += sl_arc_first(held, true, capacity, sl_wrap(stream->head + at, capacity), left - at);
        const uint32_t run = sl_arc_first(held, false, capacity,
                                          sl_wrap(stream->head + at, capacity), left - at);
        freed += run;
        at += run;
    }
    sl_arc_fill(held, false, capacity, stream->head, left);
    stream->begin = to;
    stream->span -= left;
    stream->head = sl_wrap(stream->head + left, capacity);
    return freed;
}
