/* An end of a conversation: it sends numbers, or adds up those that come. */
#include "side.h"

#include "lwip/udp.h"

static struct udp_pcb *conversation;
static struct pbuf *leaving;
static u32_t sum;

static void leaves(struct pbuf *frame) { leaving = frame; }

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
  start(receives);
  conversation = udp_new();
  if (receives) {
    udp_bind(conversation, &address[1], 7);
    udp_recv(conversation, receive, NULL);
  } else {
    udp_bind(conversation, &address[0], 40000);
    udp_connect(conversation, &address[1], 7);
  }
}

/* Sends a number; the answer is the frame that leaves, which side_gone gives back. */
void *side_send(u32_t number)
{
  struct pbuf *const frame = pbuf_alloc(PBUF_TRANSPORT, sizeof number, PBUF_RAM);
  memcpy(frame->payload, &number, sizeof number);
  udp_send(conversation, frame);
  pbuf_free(frame);
  return leaving;
}

/* Memory for a frame that arrives. */
void *side_buffer(void) { return pbuf_alloc(PBUF_RAW, 32, PBUF_POOL); }

/* The wire: this much is not counted. */
void side_copy(void *to, const void *from) { bytes_of(from, ((struct pbuf *)to)->payload); }

u32_t side_sum(void) { return sum; }
