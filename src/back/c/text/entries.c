Calls of a host: what is the same for every stack; as `buffers.c`.

/* part handle_waiting */
WHERE agenda
#ifdef __GNUC__
static void handle_waiting(struct STACK *stack) __attribute__((cold, noinline));
#endif

/* Handles what is on the agenda, as far as may be; an event that follows belongs to the step that
 * was taken. */
static void handle_waiting(struct STACK *stack) {
    while (stack->waiting != 0 && (stack->follows || may_go_on(stack))) {
        stack->follows = false;
        stack->shared.steps += 1;
        stack->waiting -= 1;
        const struct STACK_place first = stack->agenda[stack->waiting];
        stack->crowd -= first.event != 0;
        handle(stack, &first, &stack->events[first.event]);
        if (first.event != 0) {
            stack->events[first.event].next = stack->free_event;
            stack->free_event = first.event;
        }
    }
    open_output(stack);
}
END

/* part run */
WHERE agenda
/* Handles what is on the agenda, mostly nothing. Then all leave that call functions of links. False
 * if something still waits. */
static inline bool run(struct STACK *stack) {
    if (stack->waiting != 0) {
        handle_waiting(stack);
    }
    if (!is_calling(stack)) {
        leave(stack);
    }
    return stack->waiting == 0;
}
END
WITHOUT agenda
/* Nothing waits on an agenda. All leave that call functions of links. */
static inline bool run(struct STACK *stack) {
    if (!is_calling(stack)) {
        leave(stack);
    }
    return true;
}
END

/* part follow_up */
/* Handles what an event has put on the agenda that an application gave back; mostly nothing. */
static inline void follow_up(struct STACK *stack) {
    WHERE agenda
    if (stack->waiting != 0) {
        handle_waiting(stack);
    }
    END
    WITHOUT agenda
    (void)stack;
    END
}

/* part begin_call */
/* A call of the host begins: first comes what the last one left. A call from inside of a function
 * of an application belongs to the one that is going on. */
static void begin_call(struct STACK *stack, uint64_t now_ns) {
    if (!is_calling(stack)) {
        stack->now_ns = now_ns;
        stack->shared.steps = 0;
        run(stack);
    }
}

/* part takes */
/* Returns true if the stack takes so many events of an application now. During a callback one
 * place stays free for its result. */
static bool takes(const struct STACK *stack, uint32_t events) {
    WHERE agenda
    return is_calling(stack) ? stack->crowd + events < stack->config.events
                             : stack->waiting == 0;
    END
    WITHOUT agenda
    return !is_calling(stack) || events < stack->config.events;
    END
}

/* part at_once */
/* Returns true if an event of an application is handled at once, since nothing waits before it, and
 * counts its step. */
static bool at_once(struct STACK *stack) {
    const bool is = stack->waiting == 0 && has_room(stack);
    stack->shared.steps += is;
    return is;
}

/* part memory_layout */
/* Offsets of the parts of the memory of a stack, in bytes, and its size. */
struct memory_layout {
    uint64_t answers;
    uint64_t messages;
    uint64_t buffers;
    WHERE agenda
    uint64_t events;
    uint64_t agenda;
    END
    uint64_t end;
};

/* The next part of the memory: room for `count` things of a size behind `end`, each part at a
 * multiple of eight bytes. Returns where it stands. */
static uint64_t lay_out(uint64_t *end, uint64_t count, uint64_t size) {
    const uint64_t at = (*end + 7) & ~(uint64_t)7;
    *end = at + count * size;
    return at;
}

/* The parts of the memory, in order. Counts of 32 bits overflow nowhere. */
static struct memory_layout memory_layout(const struct STACK_config *config) {
    struct memory_layout all = {.end = sizeof(struct STACK)};
    const uint64_t held = HOLDS ? config->buffers : 0;
    all.answers = lay_out(&all.end, config->outputs, sizeof(struct STACK_output));
    all.messages = lay_out(&all.end, held, sizeof(struct STACK_message));
    all.buffers = lay_out(&all.end, config->buffers, sizeof(struct STACK_buffer));
    WHERE agenda
    /* The first event is empty, a step may put one more on the agenda than wait, and one or two
     * stand there while they are handled. */
    all.events = lay_out(&all.end, (uint64_t)config->events + 4, sizeof(struct STACK_event));
    all.agenda = lay_out(&all.end, (uint64_t)config->events + 1 + KEPT, sizeof(struct STACK_place));
    END
    all.end += _Alignof(max_align_t) - 1;
    return all;
}

/* part STACK_has_buffer */
/* Fills the reserve; returns true if a buffer is left for the host. */
bool STACK_has_buffer(struct STACK *stack) {
    while (stack->reserved != stack->config.reserve && stack->shared.free != NULL) {
        struct STACK_buffer *const buffer = stack->shared.free;
        stack->shared.free = buffer->next;
        buffer->next = stack->reserve;
        stack->reserve = buffer;
        stack->reserved += 1;
    }
    stack->shared.bar = stack->reserved != stack->config.reserve ? UINTPTR_MAX : 0;
    return stack->shared.free != NULL;
}

/* part copies */
#ifdef __GNUC__
static bool copies(struct STACK *stack, struct STACK_frame *frame) __attribute__((noinline));
#endif

/* Copies a frame that stands elsewhere into a buffer as the host is given them; false if there is
 * none, or if the frame is too long. */
static bool copies(struct STACK *stack, struct STACK_frame *frame) {
    if (frame->data == NULL || frame->length > BUFFER_SIZE - HEADROOM ||
        !STACK_has_buffer(stack)) {
        return false;
    }
    uint8_t *const data = take_buffer(stack)->bytes + HEADROOM;
    memcpy(data, frame->data, frame->length);
    frame->data = data;
    return true;
}

/* part arrived */
/* A frame that came in, as a message; without a buffer, if it is read where it stands. */
static inline struct STACK_message arrived(const struct STACK *stack,
                                           const struct STACK_frame *frame,
                                           struct STACK_buffer *buffer) {
    struct STACK_message message = blank(stack->buffers);
    message.data = frame->data;
    message.buffer = buffer;
    message.length = (uint32_t)frame->length;
    message.came_in = true;
    return message;
}

/* part buffer_of */
/* The buffer in which a frame stands. */
static inline struct STACK_buffer *buffer_of(const struct STACK_frame *frame) {
    return (void *)(frame->data - offsetof(struct STACK_buffer, bytes) - HEADROOM);
}

/* part take_whole */
WHERE fast paths
#ifdef __GNUC__
static bool take_whole(struct STACK *stack, unsigned link, const struct STACK_frame *frame)
    __attribute__((noinline));
#endif

/* Takes a frame where it stands, as far as its fast path only reads it, or else in a buffer: one
 * that the host was given, or one for a copy. False without such a buffer. */
static bool take_whole(struct STACK *stack, unsigned link, const struct STACK_frame *frame) {
    struct STACK_frame own = *frame;
    bool stands = !is_inside(stack, own.data);
    for (;;) {
        struct STACK_message message = arrived(stack, &own, stands ? NULL : buffer_of(&own));
        if ((!stands || is_in_place(link)) && arrives_fast(stack, link, &message)) {
            break;
        }
        if (!stands) {
            arrives(stack, link, &message);
            break;
        }
        if (!copies(stack, &own)) {
            stack->counters[FRAMES_IN] -= 1;
            return false;
        }
        stands = false;
    }
    run(stack);
    return true;
}
END

/* part take_apart */
WHERE fast paths
#ifdef __GNUC__
static bool take_apart(struct STACK *stack, unsigned link, const struct STACK_frame *frame)
    __attribute__((noinline));
#endif

/* Takes a frame as `take_frame` does, but not by its hot path, which may take more steps than are
 * left. */
static bool take_apart(struct STACK *stack, unsigned link, const struct STACK_frame *frame) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    if ((is_inside(stack, frame->data) && !is_lent(stack, frame->data, before)) ||
        frame->data == NULL || frame->length > BUFFER_SIZE - HEADROOM) {
        return false;
    }
    stack->counters[FRAMES_IN] += 1;
    return take_whole(stack, link, frame);
}
END

/* part take_there */
WHERE fast paths
#ifdef __GNUC__
static inline bool take_there(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                              struct STACK_buffer *buffer) __attribute__((always_inline));
#endif

/* Takes a frame in a buffer, or in memory of the host, which its fast path reads there; false if it
 * is too long. First the hot path is tried: nothing else is under way, and there is room for AHEAD
 * steps and outputs. */
static inline bool take_there(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                              struct STACK_buffer *buffer) {
    if (frame->data == NULL || frame->length > BUFFER_SIZE - HEADROOM) {
        return false;
    }
    sl_known(!is_calling(stack) && stack->waiting == 0 && stack->shared.answered != stack->end);
    stack->counters[FRAMES_IN] += 1;
    struct STACK_message message = arrived(stack, frame, buffer);
    if (!arrives_hot(stack, link, &message)) {
        return take_whole(stack, link, frame);
    }
    run(stack);
    return true;
}
END

/* part take_lent */
WHERE fast paths
#ifdef __GNUC__
static bool take_lent(struct STACK *stack, unsigned link, const struct STACK_frame *frame)
    __attribute__((noinline));
#endif

/* Takes a frame that stands in a buffer which the host was given, or is copied to one. */
static bool take_lent(struct STACK *stack, unsigned link, const struct STACK_frame *frame) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    return is_lent(stack, frame->data, before) ? take_there(stack, link, frame, buffer_of(frame))
                                               : take_apart(stack, link, frame);
}
END

/* part take_frame */
WHERE fast paths
/* Takes a frame, where it stands if its fast path reads it there; false if it is too long, or
 * without a buffer that it needs. */
static bool take_frame(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                       uint64_t now_ns) {
    stack->now_ns = now_ns;
    return is_in_place(link) && !is_inside(stack, frame->data)
               ? take_there(stack, link, frame, NULL)
               : take_lent(stack, link, frame);
}
END
WITHOUT fast paths
/* Takes a frame, in a buffer that the host was given or in memory of its own; false if it is too
 * long, or without a buffer for a copy. */
static bool take_frame(struct STACK *stack, unsigned link, const struct STACK_frame *frame,
                       uint64_t now_ns) {
    const size_t before = offsetof(struct STACK_buffer, bytes) + HEADROOM;
    stack->now_ns = now_ns;
    struct STACK_frame own = *frame;
    const bool is_elsewhere = !is_inside(stack, own.data);
    if (is_elsewhere ? !copies(stack, &own) : !is_lent(stack, own.data, before)) {
        return false;
    }
    WHERE records
    loom_frames[link].elsewhere += is_elsewhere;
    END
    if (own.length > BUFFER_SIZE - HEADROOM) {
        return false;
    }
    struct STACK_message message = blank((void *)(own.data - before));
    message.length = (uint32_t)own.length;
    message.came_in = true;
    stack->counters[FRAMES_IN] += 1;
    arrives(stack, link, &message);
    run(stack);
    return true;
}
END

/* part may_go_ahead */
WHERE fast paths
/* Returns true if the hot path of a frame may take all of its steps, and its outputs have room. */
static bool may_go_ahead(struct STACK *stack) {
    if (stack->end - stack->shared.answered <= AHEAD && stack->shared.taken != stack->answers) {
        make_room(stack);
    }
    return stack->end - stack->shared.answered > AHEAD &&
           stack->shared.steps + AHEAD <= stack->config.budget;
}
END

/* part take_frames */
/* Takes frames in order, as far as may be; returns how many. */
static size_t take_frames(struct STACK *stack, unsigned link, const struct STACK_frame *frames,
                          size_t count, uint64_t now_ns) {
    size_t taken = 0;
    if (link >= LINKS || is_calling(stack)) {
        return 0;
    }
    begin_call(stack, now_ns);
    while (taken < count && stack->waiting == 0 && may_go_on(stack)) {
        stack->shared.steps += 1;
        WHERE fast paths
        if (!(may_go_ahead(stack) ? take_frame(stack, link, &frames[taken], now_ns)
                                  : take_apart(stack, link, &frames[taken]))) {
        END
        WITHOUT fast paths
        if (!take_frame(stack, link, &frames[taken], now_ns)) {
        END
            stack->shared.steps -= 1;
            break;
        }
        taken += 1;
    }
    return taken;
}

/* part refuse */
/* Refuses a message of an application, and counts the reason. */
static enum STACK_send refuse(struct STACK *stack, unsigned reason) {
    stack->counters[UNSENT + reason] += 1;
    return UPPER_REFUSED;
}

/* part fill_buffer */
/* Copies what an application sends into the buffer that is taken next. */
static void fill_buffer(struct STACK *stack, const uint8_t *data, size_t length) {
    if (length != 0) {
        memcpy(stack->shared.free->bytes + HEADROOM, data, length);
    }
}
