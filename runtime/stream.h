/* stream.h: bytes by modular position, which come in any order. */

/* part SL_RANGES: needs */
enum { SL_RANGES = 16 /* runs of bytes that a stream holds behind gaps, at most */ };

/* part sl_range: needs */
/* Bytes without a gap. */
struct sl_range {
    uint32_t at;     /* the position of the first */
    uint32_t length; /* how many there are, at least one */
};

/* part sl_ranges: needs SL_RANGES sl_range */
/* Of a stream that may have gaps, the runs of bytes that are held behind a gap: in order, with a
 * gap before each. A slot from `count` on is never read. */
struct sl_ranges {
    uint32_t count;
    struct sl_range range[SL_RANGES];
};

/* part sl_stream: needs */
/* Bytes by position, of which those from `begin` to `begin + capacity - 1` can be held. The
 * position begin + n has the slot head + n in the array of bytes, which goes round its end.
 * Beside it stand the ranges of what is held behind a gap, or NULL if nothing ever is, because the
 * stream is only appended to. The capacity is at most `largest`. */
struct sl_stream {
    uint32_t begin; /* the first position */
    uint32_t run;   /* how many bytes are held from there on without a gap */
    uint32_t head;  /* the slot of the first position */
};

/* part sl_stream_begin: needs sl_ranges sl_stream */
/* Empties the stream, and lets it begin at a position. */
static inline void sl_stream_begin(struct sl_stream *stream, struct sl_ranges *ranges,
                                   uint32_t at) {
    stream->begin = at;
    stream->run = 0;
    stream->head = 0;
    if (ranges != NULL) {
        ranges->count = 0;
    }
}

/* part sl_range_ahead: needs sl_ranges sl_stream */
/* How far ahead of the beginning a range is. */
static inline uint32_t sl_range_ahead(const struct sl_stream *stream,
                                      const struct sl_ranges *ranges, uint32_t largest,
                                      uint32_t n) {
    return (ranges->range[n].at - stream->begin) & largest;
}

/* part sl_stream_span: needs sl_range_ahead sl_ranges sl_stream */
/* How many positions there are from the first to the last held; 0: empty. */
static inline uint32_t sl_stream_span(const struct sl_stream *stream,
                                      const struct sl_ranges *ranges, uint32_t largest) {
    if (ranges == NULL || ranges->count == 0) {
        return stream->run;
    }
    const uint32_t last = ranges->count - 1;
    return sl_range_ahead(stream, ranges, largest, last) + ranges->range[last].length;
}

/* part sl_stream_end: needs sl_ranges sl_stream sl_stream_span */
/* The position behind the last byte that is held. */
static inline uint32_t sl_stream_end(const struct sl_stream *stream,
                                     const struct sl_ranges *ranges, uint32_t largest) {
    return (stream->begin + sl_stream_span(stream, ranges, largest)) & largest;
}

/* part sl_ranges_remove: needs sl_ranges */
/* Takes some ranges out; those behind them come nearer. */
static inline void sl_ranges_remove(struct sl_ranges *ranges, uint32_t from, uint32_t count) {
    ranges->count -= count;
    for (uint32_t n = from; n < ranges->count; n += 1) {
        ranges->range[n] = ranges->range[n + count];
    }
}

/* part sl_ranges_put: needs SL_RANGES sl_range sl_ranges */
/* Puts a range in; those behind it make room. False if there is none. */
static inline bool sl_ranges_put(struct sl_ranges *ranges, uint32_t at, struct sl_range range) {
    if (ranges->count == SL_RANGES) {
        return false;
    }
    for (uint32_t n = ranges->count; n > at; n -= 1) {
        ranges->range[n] = ranges->range[n - 1];
    }
    ranges->range[at] = range;
    ranges->count += 1;
    return true;
}

/* part sl_stream_place: needs sl_range sl_range_ahead sl_ranges sl_ranges_put sl_ranges_remove
        sl_stream */
/* Notes that `length` bytes, at least one, are held that begin `ahead` of the first position.
 * False, and nothing is changed, if one of them is already, or if there is no range left. */
static inline bool sl_stream_place(struct sl_stream *stream, struct sl_ranges *ranges,
                                   uint32_t largest, uint32_t ahead, uint32_t length) {
    if (ahead < stream->run) {
        return false;
    }
    if (ranges == NULL) {
        stream->run += length;
        return true;
    }
    uint32_t next = ranges->count; /* the first range behind them */
    while (next != 0 && sl_range_ahead(stream, ranges, largest, next - 1) >= ahead) {
        next -= 1;
    }
    struct sl_range *const after = next < ranges->count ? &ranges->range[next] : NULL;
    const uint32_t room =
        after != NULL ? sl_range_ahead(stream, ranges, largest, next) - ahead : UINT32_MAX;
    if (length > room) {
        return false;
    }
    /* the length of what they join */
    uint32_t *before = ahead == stream->run ? &stream->run : NULL;
    if (next != 0) {
        const uint32_t start = sl_range_ahead(stream, ranges, largest, next - 1);
        struct sl_range *const last = &ranges->range[next - 1];
        if (ahead - start < last->length) {
            return false;
        }
        before = ahead - start == last->length ? &last->length : NULL;
    }
    const uint32_t at = (stream->begin + ahead) & largest;
    if (before != NULL) {
        *before += length;
        if (length == room) {
            *before += after->length;
            sl_ranges_remove(ranges, next, 1);
        }
    } else if (length == room) {
        *after = (struct sl_range){at, length + after->length};
    } else {
        return sl_ranges_put(ranges, next, (struct sl_range){at, length});
    }
    return true;
}

/* part sl_arc_fill: needs memcpy sl_arc_before_end */
/* Copies bytes to a place of a ring of bytes, and on from its begin. */
static inline void sl_arc_fill(uint8_t *bytes, uint32_t capacity, uint32_t start,
                               const uint8_t *data, uint32_t length) {
    const uint32_t turn = sl_arc_before_end(capacity, start, length);
    memcpy(bytes + start, data, turn);
    if (turn != length) {
        memcpy(bytes, data + turn, length - turn);
    }
}

/* part sl_stream_insert: needs sl_arc_fill sl_ranges sl_stream sl_stream_place sl_wrap */
/* Copies bytes in, from the position `at` on. Refuses all of them if one is held already or lies
 * outside of what the stream can hold, or if they would be one range too many. No bytes at all fit
 * even at its very end. */
static inline bool sl_stream_insert(struct sl_stream *stream, struct sl_ranges *ranges,
                                    uint8_t *bytes, uint32_t capacity, uint32_t largest,
                                    uint32_t at, const uint8_t *data, uint32_t length) {
    const uint32_t ahead = (at - stream->begin) & largest;
    if (ahead > capacity || length > capacity - ahead) {
        return false;
    }
    if (length != 0 && !sl_stream_place(stream, ranges, largest, ahead, length)) {
        return false;
    }
    sl_arc_fill(bytes, capacity, sl_wrap(stream->head + ahead, capacity), data, length);
    return true;
}

/* part sl_stream_append: needs sl_arc_fill sl_ranges sl_stream sl_stream_span sl_wrap */
/* Copies bytes in behind the last that is held. Refuses all of them if not all fit. */
static inline bool sl_stream_append(struct sl_stream *stream, struct sl_ranges *ranges,
                                    uint8_t *bytes, uint32_t capacity, uint32_t largest,
                                    const uint8_t *data, uint32_t length) {
    const uint32_t span = sl_stream_span(stream, ranges, largest);
    if (length > capacity - span) {
        return false;
    }
    if (ranges != NULL && ranges->count != 0) {
        ranges->range[ranges->count - 1].length += length;
    } else {
        stream->run += length;
    }
    sl_arc_fill(bytes, capacity, sl_wrap(stream->head + span, capacity), data, length);
    return true;
}

/* part sl_stream_run: needs sl_range_ahead sl_ranges sl_stream */
/* How many bytes are held from the position `at` on without a gap, of so many at most. */
static inline uint32_t sl_stream_run(const struct sl_stream *stream,
                                     const struct sl_ranges *ranges, uint32_t largest,
                                     uint32_t at, uint32_t most) {
    const uint32_t ahead = (at - stream->begin) & largest;
    uint32_t left = 0;
    if (ahead < stream->run) {
        left = stream->run - ahead;
    } else if (ranges != NULL) {
        for (uint32_t n = 0; n < ranges->count; n += 1) {
            const uint32_t within = ahead - sl_range_ahead(stream, ranges, largest, n);
            if (within < ranges->range[n].length) {
                left = ranges->range[n].length - within;
            }
        }
    }
    return left < most ? left : most;
}

/* part sl_stream_ready: needs sl_ranges sl_stream sl_stream_run */
/* How many bytes are held from the position `at` on without a gap. */
static inline uint32_t sl_stream_ready(const struct sl_stream *stream,
                                       const struct sl_ranges *ranges, uint32_t largest,
                                       uint32_t at) {
    return sl_stream_run(stream, ranges, largest, at, UINT32_MAX);
}

/* part sl_stream_covers: needs sl_ranges sl_stream sl_stream_run sl_stream_span */
/* Whether all of `length` bytes from the position `at` on are held. No bytes at all are so
 * from the first position up to the end. */
static inline bool sl_stream_covers(const struct sl_stream *stream,
                                    const struct sl_ranges *ranges, uint32_t largest, uint32_t at,
                                    uint32_t length) {
    return ((at - stream->begin) & largest) <= sl_stream_span(stream, ranges, largest) &&
           sl_stream_run(stream, ranges, largest, at, length) == length;
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
    if (turn != length) {
        memcpy(to + turn, bytes, length - turn);
    }
}

/* part sl_ranges_release: needs sl_range_ahead sl_ranges sl_ranges_remove sl_stream */
/* Takes away what lies less than `ahead` ahead of the beginning, and returns how many bytes that
 * were. What then follows without a gap becomes the run. */
static inline uint32_t sl_ranges_release(struct sl_stream *stream, struct sl_ranges *ranges,
                                         uint32_t largest, uint32_t ahead) {
    uint32_t freed = 0;
    uint32_t gone = 0;
    stream->run = 0;
    while (gone < ranges->count && stream->run == 0) {
        const uint32_t start = sl_range_ahead(stream, ranges, largest, gone);
        if (start > ahead) {
            break;
        }
        const uint32_t length = ranges->range[gone].length;
        const uint32_t left = ahead - start < length ? ahead - start : length;
        freed += left;
        stream->run = length - left;
        gone += 1;
    }
    sl_ranges_remove(ranges, 0, gone);
    return freed;
}

/* part sl_stream_release: needs sl_ranges sl_ranges_release sl_stream sl_stream_span sl_wrap */
/* Lets the stream begin at `to`, and returns how many held bytes have left it. A position that
 * lies below the beginning, and is not within the capacity, changes nothing. */
static inline uint32_t sl_stream_release(struct sl_stream *stream, struct sl_ranges *ranges,
                                         uint32_t capacity, uint32_t largest, uint32_t to) {
    const uint32_t ahead = (to - stream->begin) & largest;
    if (ahead > capacity && ahead > largest / 2) {
        return 0;
    }
    const uint32_t span = sl_stream_span(stream, ranges, largest);
    uint32_t freed = ahead < stream->run ? ahead : stream->run;
    if (ahead <= stream->run) {
        stream->run -= ahead;
    } else if (ranges != NULL) {
        freed += sl_ranges_release(stream, ranges, largest, ahead);
    } else {
        stream->run = 0;
    }
    stream->head = ahead < span ? sl_wrap(stream->head + ahead, capacity) : 0;
    stream->begin = to;
    return freed;
}
