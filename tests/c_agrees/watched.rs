//! The C of a stack as the tests compile it: its buffers lie in one piece of memory, so that a
//! sanitizer sees nothing of a read beyond the end of a frame, or from a buffer that was given
//! back. Here it is told of both.
//!
//! In: the generated C. Out: the same, which says to the sanitizer which bytes are nobody's.

/// What stands in the C, and what is added behind it.
const ADDED: [(&str, &str); 4] = [
    // A buffer is taken: all of it may be read and written.
    (
        "    buffers->taken[index] = true;\n",
        "    ASAN_UNPOISON_MEMORY_REGION(buffers->area + (size_t)index * buffers->size,\n    \
         buffers->size);\n",
    ),
    // It is given back: nobody reads it any more.
    (
        "    buffers->taken[index] = false;\n",
        "    ASAN_POISON_MEMORY_REGION(buffers->area + (size_t)index * buffers->size,\n    \
         buffers->size);\n",
    ),
    // A frame comes in: behind its last byte there is nothing.
    (
        "        message.length = (uint32_t)frame->length;\n",
        "    ASAN_POISON_MEMORY_REGION(message.data + message.length,\n    \
         BUFFER_SIZE - HEADROOM - message.length);\n",
    ),
    // Its data is about to grow.
    (
        "    *aside = sl_buffers_take(&stack->buffers);\n",
        "    ASAN_UNPOISON_MEMORY_REGION(message->data, room_of(stack, message));\n",
    ),
];

/// The C with what it tells the sanitizer.
pub fn watched(c: &str) -> String {
    let mut watched = format!("#include <sanitizer/asan_interface.h>\n{c}");
    for (place, (before, added)) in ADDED.iter().enumerate() {
        let grows = place + 1 == ADDED.len();
        assert!(grows || watched.contains(before), "the C has no `{before}`");
        watched = watched.replace(before, &format!("{before}{added}"));
    }
    watched
}
