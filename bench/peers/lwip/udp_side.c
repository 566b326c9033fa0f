/*
 * One end: a whole lwIP and its application. This file and lwIP become one object, in which all
 * names get a prefix: the two ends of main.c share no code and no memory.
 */
#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/udp.h"

#include <string.h>

static struct netif netif;
static struct udp_pcb *conversation;
static struct pbuf *leaving;
static u32_t sum;

/* No timer runs here. */
u32_t sys_now(void) { return 1000; }

/* A frame leaves: the wire has it until it has been copied. */
static err_t leave(struct netif *unused, struct pbuf *frame, const ip4_addr_t *next_hop)
{
  (void)unused;
  (void)next_hop;
  pbuf_ref(frame);
  leaving = frame;
  return ERR_OK;
}

static err_t set_up(struct netif *own)
{
  own->mtu = 1500;
  own->output = leave;
  return ERR_OK;
}

static void receive(void *unused, struct udp_pcb *own, struct pbuf *frame, const ip_addr_t *peer,
                    u16_t port)
{
  u32_t number;
  (void)unused;
  (void)own;
  (void)peer;
  (void)port;
  memcpy(&number, frame->payload, sizeof number);
  sum += number;
  pbuf_free(frame);
}

void side_start(int receives)
{
  ip4_addr_t address[2], mask, gateway;
  lwip_init();
  IP4_ADDR(&address[0], 10, 0, 0, 1);
  IP4_ADDR(&address[1], 10, 0, 0, 2);
  IP4_ADDR(&mask, 255, 255, 255, 0);
  IP4_ADDR(&gateway, 0, 0, 0, 0);
  netif_add(&netif, &address[receives], &mask, &gateway, NULL, set_up, ip4_input);
  netif_set_default(&netif);
  netif_set_up(&netif);
  netif_set_link_up(&netif);
  conversation = udp_new();
  if (receives) {
    udp_bind(conversation, &address[1], 7);
    udp_recv(conversation, receive, NULL);
  } else {
    udp_bind(conversation, &address[0], 40000);
    udp_connect(conversation, &address[1], 7);
  }
}

/* Sends a number; the answer is the frame that leaves, which side_sent gives back. */
void *side_send(u32_t number)
{
  struct pbuf *const frame = pbuf_alloc(PBUF_TRANSPORT, sizeof number, PBUF_RAM);
  memcpy(frame->payload, &number, sizeof number);
  udp_send(conversation, frame);
  pbuf_free(frame);
  return leaving;
}

void side_sent(void *frame) { pbuf_free(frame); }

/* Memory for a frame that arrives. */
void *side_buffer(void) { return pbuf_alloc(PBUF_RAW, 32, PBUF_POOL); }

/* The wire: this much is not counted. */
void side_copy(void *to, const void *from)
{
  const struct pbuf *piece;
  char *at = ((struct pbuf *)to)->payload;
  for (piece = from; piece != NULL; piece = piece->next) {
    memcpy(at, piece->payload, piece->len);
    at += piece->len;
  }
}

void side_input(void *frame) { netif.input(frame, &netif); }

u32_t side_sum(void) { return sum; }
