/* What lwIP asks of a machine: x86-64 with gcc, whose own swaps of bytes it is given first. */
#ifndef PEER_CC_H
#define PEER_CC_H
#include <stdio.h>
#include <stdlib.h>
#define LWIP_RAND() ((u32_t)rand())
#define LWIP_DONT_PROVIDE_BYTEORDER_FUNCTIONS
#define LWIP_PLATFORM_DIAG(x) do { printf x; } while (0)
#define LWIP_PLATFORM_ASSERT(x) do { printf("lwip: %s\n", x); abort(); } while (0)
#define lwip_htons(x) __builtin_bswap16((u16_t)(x))
#define lwip_htonl(x) __builtin_bswap32((u32_t)(x))
#endif
