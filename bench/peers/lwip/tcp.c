/* One end sends 4 MiB to another, as in ../../tcp.c: S sends, R receives. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With the first bytes the sender learns how much the way carries. */
enum { TOTAL = 4 << 20, PERIOD = 1 << 10, WARM = 400 * 1460, HEADERS = 40, FLIGHT = 256 };

#define END(P) \
  void P##_side_start(int receives, void (*wire)(void *frame)); \
  int P##_side_is_connected(void); \
  void P##_side_send(const uint8_t *bytes, uint32_t length); \
  uint32_t P##_side_received(void); \
  void *P##_side_copied(const void *data, uint32_t length); \
  uint32_t P##_side_bytes(const void *frame, void *to); \
  void P##_side_input(void *frame); \
  void P##_side_gone(void *frame);
END(S)
END(R)

struct frame {
  uint32_t length;
  uint8_t bytes[1528];
};

static uint8_t text[TOTAL];
static struct frame flight[FLIGHT]; /* what the sender sent */
static uint32_t first, behind;
static struct frame back; /* what the receiver sent */
static void *answer;

static void sender_leaves(void *frame)
{
  struct frame *const next = &flight[behind % FLIGHT];
  next->length = S_side_bytes(frame, next->bytes);
  S_side_gone(frame);
  behind += 1;
}

static void receiver_leaves(void *frame) { answer = frame; }

static inline __attribute__((always_inline)) void step(void *frame, void *gone)
{
  if (gone != NULL) R_side_gone(gone);
  R_side_input(frame);
}

void bench_step(void *frame, void *gone);
__attribute__((noinline, noclone)) void bench_step(void *frame, void *gone) { step(frame, gone); }
static __attribute__((noipa)) void other_step(void *frame, void *gone) { step(frame, gone); }

static void fail(const char *why)
{
  fprintf(stderr, "%s\n", why);
  exit(1);
}

/* What the receiver answered goes to the sender; its frame is given back when the next arrives. */
static void *carry_back(void)
{
  void *const gone = answer;
  answer = NULL;
  if (gone != NULL) {
    back.length = R_side_bytes(gone, back.bytes);
    S_side_input(S_side_copied(back.bytes, back.length));
  }
  return gone;
}

/* One segment arrives, and is counted or not. */
static void (*way(bool silent, bool second))(void *, void *)
{
  return silent && second ? other_step : bench_step;
}

/* So many bytes are sent and arrive; how many segments that were. */
static uint32_t carry(uint32_t total, bool warm, bool silent)
{
  const uint32_t begin = R_side_received();
  uint32_t segments = 0;
  void *gone = NULL;
  S_side_send(text, total);
  for (; first != behind; first += 1) {
    const struct frame *const next = &flight[first % FLIGHT];
    const uint32_t before = R_side_received() - begin, length = next->length - HEADERS;
    const bool second = segments % 2 == 1;
    if (memcmp(next->bytes + HEADERS, text + before, length) != 0) fail("what was sent is wrong");
    void *const frame = R_side_copied(next->bytes, next->length);
    (warm ? other_step : way(silent, second))(frame, gone);
    if (R_side_received() - begin - before != length) fail("not all of a segment was delivered");
    if ((answer != NULL) != second) fail("not every second segment is answered");
    gone = carry_back();
    segments += 1;
  }
  if (gone != NULL) R_side_gone(gone);
  if (R_side_received() - begin != total) fail("not all arrived");
  return segments;
}

/* The connection is made. */
static void connect(void)
{
  S_side_start(0, sender_leaves);
  R_side_start(1, receiver_leaves);
  for (;;) {
    void *gone = carry_back();
    if (gone != NULL) {
      R_side_gone(gone);
    } else if (first != behind) {
      const struct frame *const next = &flight[first % FLIGHT];
      R_side_input(R_side_copied(next->bytes, next->length));
      first += 1;
    } else {
      break;
    }
  }
  if (!S_side_is_connected() || !R_side_is_connected()) fail("they are not connected");
}

int main(int count, char **words)
{
  const bool silent = count == 2 && strcmp(words[1], "silent") == 0;
  if (!silent && (count != 2 || strcmp(words[1], "count") != 0)) {
    fprintf(stderr, "usage: %s count|silent\n", words[0]);
    return 2;
  }
  for (uint32_t at = 0; at < PERIOD; at += 1) text[at] = (uint8_t)(at * 2654435761u >> 13);
  for (uint32_t at = PERIOD; at < TOTAL; at += PERIOD) memcpy(text + at, text, PERIOD);
  connect();
  carry(WARM, true, silent);
  const uint32_t segments = carry(TOTAL, false, silent);
  printf("messages %u\n", silent ? (segments + 1) / 2 : segments);
  return 0;
}
