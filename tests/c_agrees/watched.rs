//! The C of a stack as the tests compile it: its buffers lie in one piece of memory, so that a
//! sanitizer sees nothing of a read beyond the end of a frame, or from a buffer that was given
//! back. Here it is told of both.
//!
//! In: the generated C and its header. Out: the same, which say to the sanitizer which bytes are
//! nobody's.

/// What stands in the C or its header, and what is added behind it.
const ADDED: [(&str, &str); 18] = [
    // A buffer is taken: all of it may be read and written.
    (
        "    buffer->next = buffer;\n",
        "    ASAN_UNPOISON_MEMORY_REGION(buffer->bytes, sizeof buffer->bytes);\n",
    ),
    // It is given back: nobody reads it any more.
    (
        "    buffer->next = stack->shared.free;\n",
        "    ASAN_POISON_MEMORY_REGION(buffer->bytes, sizeof buffer->bytes);\n",
    ),
    (
        "        output->buffer->next = shared->free;\n",
        "        ASAN_POISON_MEMORY_REGION(output->buffer->bytes, sizeof output->buffer->bytes);\n",
    ),
    // A frame comes in: behind its last byte there is nothing; elsewhere the sanitizer knows.
    (
        "    message.length = (uint32_t)frame->length;\n",
        "    if (message.buffer != NULL) {\n        \
         ASAN_POISON_MEMORY_REGION(message.data + message.length,\n        \
         BUFFER_SIZE - HEADROOM - message.length);\n    }\n",
    ),
    (
        "    message.length = (uint32_t)frame.length;\n",
        "    ASAN_POISON_MEMORY_REGION(message.data + message.length,\n        \
         BUFFER_SIZE - HEADROOM - message.length);\n",
    ),
    (
        "    message.length = (uint32_t)own.length;\n",
        "    if (message.buffer != NULL) {\n        \
         ASAN_POISON_MEMORY_REGION(message.data + message.length,\n        \
         BUFFER_SIZE - HEADROOM - message.length);\n    }\n",
    ),
    (
        "        message.buffer = (void *)(own.data - before);\n",
        "        ASAN_POISON_MEMORY_REGION(message.data + message.length,\n        \
         BUFFER_SIZE - HEADROOM - message.length);\n",
    ),
    // What is sent is copied to the buffer that is taken next, and headers before it.
    (
        "_buffer *const next = shared->free;\n",
        "    ASAN_UNPOISON_MEMORY_REGION(next->bytes, sizeof next->bytes);\n",
    ),
    (
        "_LATER;\n    }\n",
        "    if (stack->shared.free != NULL) {\n        \
         ASAN_UNPOISON_MEMORY_REGION(stack->shared.free->bytes,\n        \
         sizeof stack->shared.free->bytes);\n    }\n",
    ),
    (
        "    buffer->next = NULL;\n",
        "    ASAN_UNPOISON_MEMORY_REGION(buffer->bytes, sizeof buffer->bytes);\n",
    ),
    (
        " message = blank(stack->shared.free);\n",
        "    ASAN_UNPOISON_MEMORY_REGION(message.buffer->bytes, sizeof message.buffer->bytes);\n",
    ),
    (
        "size_t length) {\n    if (length != 0) {\n",
        "        ASAN_UNPOISON_MEMORY_REGION(stack->shared.free->bytes,\n        \
         sizeof stack->shared.free->bytes);\n",
    ),
    // What leaves may be read by the function of its link, although its buffer is given back.
    (
        "    give_buffer(stack, one->buffer);\n        stack->shared.answered -= 1;\n",
        "        ASAN_UNPOISON_MEMORY_REGION(data, length);\n",
    ),
    (
        "    give_buffer(stack, one->buffer);\n    stack->shared.answered = one;\n",
        "    ASAN_UNPOISON_MEMORY_REGION(one->data, one->length);\n",
    ),
    (
        "    give_buffer(stack, frame.buffer);\n",
        "        ASAN_UNPOISON_MEMORY_REGION(frame.data, frame.length);\n",
    ),
    (
        "[CONSUMED] += message->came_in;\n    give_buffer(stack, message->buffer);\n",
        "    ASAN_UNPOISON_MEMORY_REGION(data, length);\n",
    ),
    // Its data is about to grow.
    (
        "    *aside = take_buffer(stack);\n",
        "    ASAN_UNPOISON_MEMORY_REGION(message->data, room_of(message));\n",
    ),
    (
        "    if (bytes > room_of(message) - message->length) {\n        return false;\n    }\n",
        "    ASAN_UNPOISON_MEMORY_REGION(message->data + message->length, bytes);\n",
    ),
];

/// So many of these stand in the C of all stacks.
const IN_ALL: usize = 3;

/// The C and its header with what they tell the sanitizer.
pub fn watched(c: &str, h: &str) -> [String; 2] {
    let mut watched = [c, h].map(|text| format!("#include <sanitizer/asan_interface.h>\n{text}"));
    for (place, (before, added)) in ADDED.iter().enumerate() {
        let is_in_all = place < IN_ALL;
        let known = watched.iter().any(|text| text.contains(before));
        assert!(!is_in_all || known, "the C has no `{before}`");
        watched = watched.map(|text| text.replace(before, &format!("{before}{added}")));
    }
    watched
}
