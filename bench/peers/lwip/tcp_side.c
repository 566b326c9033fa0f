/*
 * One end: a whole lwIP and its application. This file and lwIP become one object, in which all
 * names get a prefix: the two ends of tcp.c share no code and no memory.
 */
#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/tcp.h"

#include <string.h>

static struct netif netif;
static struct tcp_pcb *connection;
static void (*leaves)(void *frame); /* the wire, which gives the frame back later */
static const u8_t *text; /* what is sent */
static u32_t total, sent;
static u32_t received;

/* No timer runs here. */
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

static err_t receive(void *unused, struct tcp_pcb *own, struct pbuf *segment, err_t error)
{
  (void)unused;
  (void)error;
  if (segment == NULL) return ERR_OK;
  received += segment->tot_len;
  tcp_recved(own, segment->tot_len);
  pbuf_free(segment);
  return ERR_OK;
}

static err_t accepted(void *unused, struct tcp_pcb *own, err_t error)
{
  (void)unused;
  (void)error;
  connection = own;
  tcp_recv(own, receive);
  return ERR_OK;
}

/* As much as the connection takes, in whole segments. */
static void fill(struct tcp_pcb *own)
{
  while (sent < total) {
    const u32_t left = total - sent;
    const u16_t length = (u16_t)(left < TCP_MSS ? left : TCP_MSS);
    if (tcp_sndbuf(own) < length || tcp_write(own, text + sent, length, 0) != ERR_OK) break;
    sent += length;
  }
}

static err_t acknowledged(void *unused, struct tcp_pcb *own, u16_t length)
{
  (void)unused;
  (void)length;
  fill(own);
  return ERR_OK;
}

static err_t connected(void *unused, struct tcp_pcb *own, err_t error)
{
  (void)unused;
  (void)error;
  connection = own;
  return ERR_OK;
}

void side_start(int receives, void (*wire)(void *frame))
{
  ip4_addr_t address[2], mask, gateway;
  leaves = wire;
  lwip_init();
  IP4_ADDR(&address[0], 10, 0, 0, 1);
  IP4_ADDR(&address[1], 10, 0, 0, 2);
  IP4_ADDR(&mask, 255, 255, 255, 0);
  IP4_ADDR(&gateway, 0, 0, 0, 0);
  netif_add(&netif, &address[receives], &mask, &gateway, NULL, set_up, ip4_input);
  netif_set_default(&netif);
  netif_set_up(&netif);
  netif_set_link_up(&netif);
  if (receives) {
    struct tcp_pcb *listener = tcp_new();
    tcp_bind(listener, &address[1], 5001);
    listener = tcp_listen(listener);
    tcp_accept(listener, accepted);
  } else {
    struct tcp_pcb *caller = tcp_new();
    tcp_sent(caller, acknowledged);
    tcp_nagle_disable(caller);
    tcp_connect(caller, &address[1], 5001, connected);
  }
}

int side_is_connected(void) { return connection != NULL; }

void side_send(const u8_t *bytes, u32_t length)
{
  text = bytes;
  total = length;
  sent = 0;
  fill(connection);
  tcp_output(connection);
}

u32_t side_received(void) { return received; }

/* Memory for a frame that arrives, with the bytes of one that left the other end. */
void *side_copied(const void *data, u32_t length)
{
  struct pbuf *const frame = pbuf_alloc(PBUF_RAW, (u16_t)length, PBUF_POOL);
  memcpy(frame->payload, data, length);
  return frame;
}

/* The bytes of a frame, and how many there are. */
u32_t side_bytes(const void *frame, void *to)
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
