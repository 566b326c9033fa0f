/* traffic.c: the driver of `loom bench traffic` for lwIP, which calls its host. */
#include "../../traffic/client.h"

#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/tcp.h"

enum { MOST = 1200 }; /* connections; as many as lwipopts.h says */

static struct netif netif;
static struct pbuf *placed;                     /* the frame that arrives */
static struct conversation conversations[MOST]; /* used in turn */
static struct tcp_pcb *first;                   /* the connection that was accepted first */
static bool says; /* the application of the first connection sends all it can */

u32_t sys_now(void) {
    return (u32_t)(now_ns / 1000000);
}

/* A frame in several pieces, as a device gathers them; named so that it is not counted. */
void gathered_bench_wire(const struct pbuf *frame);

__attribute__((noipa)) void gathered_bench_wire(const struct pbuf *frame) {
    for (; frame != NULL; frame = frame->next) {
        wire_part(frame->payload, frame->len, frame->next == NULL);
    }
}

static err_t leave(struct netif *own, struct pbuf *frame, const ip4_addr_t *next_hop) {
    (void)own, (void)next_hop;
    if (frame->next == NULL) {
        bench_wire(frame->payload, frame->len);
    } else {
        gathered_bench_wire(frame);
    }
    return ERR_OK;
}

static err_t set_up(struct netif *own) {
    own->mtu = 1500;
    own->output = leave;
    return ERR_OK;
}

/* Sends what is owed, as much as there is room for; after all of it, closes. */
static void answer(struct tcp_pcb *to, struct conversation *of) {
    while (of->owed > 0) {
        const u32_t room = tcp_sndbuf(to), length = of->owed < room ? of->owed : room;
        if (length == 0 ||
            tcp_write(to, rest_of(of), (u16_t)length, TCP_WRITE_FLAG_COPY) != ERR_OK) {
            return;
        }
        of->owed -= length;
    }
    if (application.closes && !of->closing) {
        of->closing = true;
        tcp_close(to);
    }
}

static err_t arrived(void *user, struct tcp_pcb *from, struct pbuf *data, err_t error) {
    struct conversation *const of = user;
    (void)error;
    if (data == NULL) {
        return ERR_OK;
    }
    bool is_request = takes(of, data->payload, data->len);
    for (const struct pbuf *piece = data->next; piece != NULL; piece = piece->next) {
        is_request |= takes(of, piece->payload, piece->len);
    }
    tcp_recved(from, data->tot_len);
    pbuf_free(data);
    if (is_request) {
        answer(from, of);
    }
    return ERR_OK;
}

static err_t acknowledged(void *user, struct tcp_pcb *from, u16_t length) {
    struct conversation *const of = user;
    (void)length;
    if (says) {
        sut_say();
    } else if (of->owed > 0) {
        answer(from, of);
    }
    return ERR_OK;
}

static err_t accepted(void *user, struct tcp_pcb *from, err_t error) {
    static unsigned used;
    struct conversation *const of = &conversations[used++ % MOST];
    (void)user, (void)error;
    *of = (struct conversation){0};
    tcp_arg(from, of);
    tcp_recv(from, arrived);
    tcp_sent(from, acknowledged);
    tcp_nagle_disable(from);
    if (first == NULL) {
        first = from;
    }
    return ERR_OK;
}

void sut_start(uint32_t connections) {
    ip4_addr_t address, mask, gateway;
    (void)connections;
    lwip_init();
    IP4_ADDR(&address, 10, 0, 0, 2);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 0, 0, 0, 0);
    netif_add(&netif, &address, &mask, &gateway, NULL, set_up, ip4_input);
    netif_set_default(&netif);
    netif_set_up(&netif);
    netif_set_link_up(&netif);
    struct tcp_pcb *listener = tcp_new();
    tcp_bind(listener, &address, PORT);
    listener = tcp_listen(listener);
    tcp_accept(listener, accepted);
}

void sut_place(const uint8_t *frame, size_t length) {
    placed = pbuf_alloc(PBUF_RAW, (u16_t)length, PBUF_POOL);
    if (placed == NULL) {
        fail("lwIP has no buffer");
    }
    memcpy(placed->payload, frame, length);
}

void sut_input(void) {
    netif.input(placed, &netif);
}

void sut_expire(void) {
    static uint64_t last_ns;
    for (; now_ns - last_ns >= TCP_TMR_INTERVAL * 1000000ull;
         last_ns += TCP_TMR_INTERVAL * 1000000ull) {
        tcp_tmr();
    }
}

void sut_say(void) {
    says = true;
    while (tcp_sndbuf(first) >= SEGMENT &&
           tcp_write(first, text, SEGMENT, TCP_WRITE_FLAG_COPY) == ERR_OK) {
    }
    tcp_output(first);
}

void sut_tell(void) {}
