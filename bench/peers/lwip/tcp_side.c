/* An end of a connection: it sends a text, or takes one and gives credit for it. */
#include "side.h"

#include "lwip/tcp.h"

static struct tcp_pcb *connection;
static void (*wire)(void *frame); /* takes what leaves, and gives it back later */
static const u8_t *text; /* what is sent */
static u32_t total, sent;
static u32_t received;

static void leaves(struct pbuf *frame) { wire(frame); }

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

void side_start(int receives, void (*to)(void *frame))
{
  wire = to;
  start(receives);
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

u32_t side_bytes(const void *frame, void *to) { return bytes_of(frame, to); }
