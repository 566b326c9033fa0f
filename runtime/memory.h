/*
 * memory.h: the functions of <string.h> that a stack calls. gcc and clang put short ones where they
 * are called. Where a freestanding compiler has no <string.h>, it supplies or asks for these
 * functions anyway, so the parts below declare them; elsewhere the generated file includes it.
 */

/* part memcmp: needs */
int memcmp(const void *one, const void *other, size_t length);

/* part memcpy: needs */
void *memcpy(void *to, const void *from, size_t length);

/* part memmove: needs */
void *memmove(void *to, const void *from, size_t length);

/* part memset: needs */
void *memset(void *to, int value, size_t length);
