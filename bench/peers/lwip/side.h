/*
 * What the ends of both benches share: a whole lwIP with one interface, and no timer. An end and
 * lwIP become one object, in which all names get a prefix: the two ends share no code and no
 * memory. Each end says what becomes of a frame that leaves, which is its own until it frees it.
 */
#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"

#include <string.h>

static void leaves(struct pbuf *frame);

static struct netif netif;
static ip4_addr_t address[2]; /* of the one that sends, and the one that receives */

u32_t sys_now(void) { return 1000; }

static err_t leave(struct netif *unused, struct pbuf *frame, const ip4_addr_t *next_hop)
{
  (void)unused;
  (void)next_hop;
  pbuf_ref(frame);
  leaves(frame);
  return ERR_OK;
}

static err_t set_up(struct netif *own)
{
  own->mtu = 1500;
  own->output = leave;
  return ERR_OK;
}

static void start(int receives)
{
  ip4_addr_t mask, gateway;
  lwip_init();
  IP4_ADDR(&address[0], 10, 0, 0, 1);
  IP4_ADDR(&address[1], 10, 0, 0, 2);
  IP4_ADDR(&mask, 255, 255, 255, 0);
  IP4_ADDR(&gateway, 0, 0, 0, 0);
  netif_add(&netif, &address[receives], &mask, &gateway, NULL, set_up, ip4_input);
  netif_set_default(&netif);
  netif_set_up(&netif);
  netif_set_link_up(&netif);
}

/* The bytes of a frame, and how many there are. */
static u32_t bytes_of(const struct pbuf *frame, void *to)
{
  const struct pbuf *piece;
  u32_t length = 0;
  for (piece = frame; piece != NULL; piece = piece->next) {
    memcpy((u8_t *)to + length, piece->payload, piece->len);
    length += piece->len;
  }
  return length;
}

void side_input(void *frame) { netif.input(frame, &netif); }

void side_gone(void *frame) { pbuf_free(frame); }
