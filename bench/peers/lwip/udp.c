/* Two ends that send datagrams of 4 bytes, as in ../../udp.c: S sends, R receives. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGES = 1000 };

void S_side_start(int receives);
void R_side_start(int receives);
void *S_side_send(uint32_t number);
void S_side_gone(void *frame);
void *R_side_buffer(void);
void R_side_copy(void *to, const void *from);
void R_side_input(void *frame);
uint32_t R_side_sum(void);

static void *sent, *frame;

void bench_step(uint32_t number, bool arrives);

__attribute__((noinline, noclone)) void bench_step(uint32_t number, bool arrives)
{
  if (!arrives) {
    sent = S_side_send(number);
    frame = R_side_buffer();
    return;
  }
  S_side_gone(sent);
  R_side_input(frame);
}

int main(int count, char **words)
{
  if (count != 2 || strcmp(words[1], "count") != 0) {
    fprintf(stderr, "usage: %s count\n", words[0]);
    return 2;
  }
  S_side_start(0);
  R_side_start(1);
  for (uint32_t number = 1; number <= MESSAGES; number++) {
    bench_step(number, false);
    R_side_copy(frame, sent);
    bench_step(number, true);
  }
  if (R_side_sum() != MESSAGES * (MESSAGES + 1) / 2) {
    fprintf(stderr, "not all arrived\n");
    return 1;
  }
  printf("messages %d\n", MESSAGES);
  return 0;
}
