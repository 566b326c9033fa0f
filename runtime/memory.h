/*
 * memory.h: the functions that a C compiler calls by itself, and so has where there is no library.
 * Without one there is no <string.h> that declares them. gcc and clang put the code of short ones
 * where they are called.
 */

/* part memcmp: needs */
/* Where there is no library, the compiler has it. */
int memcmp(const void *one, const void *other, size_t length);

/* part memcpy: needs */
/* Where there is no library, the compiler has it. */
void *memcpy(void *restrict to, const void *restrict from, size_t length);

/* part memmove: needs */
/* Where there is no library, the compiler has it. */
void *memmove(void *to, const void *from, size_t length);

/* part memset: needs */
/* Where there is no library, the compiler has it. */
void *memset(void *to, int value, size_t length);
