/* Requests come in on stdin, answers go out on stdout; what the C of others prints is a note. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void loom_take(void *to, size_t size);
void loom_give(const void *from, size_t size);
void loom_give_text(const char *text);
char *loom_take_text(unsigned slot);
void loom_copy(char *to, const char *from, size_t room);
void loom_serve(unsigned program, int request, unsigned which);

static FILE *requests;
static FILE *answers;

void loom_take(void *to, size_t size) {
    if (fread(to, 1, size, requests) != size) {
        exit(0);
    }
}

void loom_give(const void *from, size_t size) {
    if (fwrite(from, 1, size, answers) != size) {
        exit(0);
    }
}

void loom_give_text(const char *text) {
    const uint32_t length = text == NULL ? 0 : (uint32_t)strlen(text);
    loom_give(&length, sizeof length);
    if (length > 0) {
        loom_give(text, length);
    }
}

/* A text that lives until the next in its slot; each parameter has its own. */
char *loom_take_text(unsigned slot) {
    static char *texts[256];
    uint32_t length;
    loom_take(&length, sizeof length);
    slot %= 256;
    free(texts[slot]);
    texts[slot] = malloc((size_t)length + 1);
    if (texts[slot] == NULL) {
        exit(1);
    }
    loom_take(texts[slot], length);
    texts[slot][length] = '\0';
    return texts[slot];
}

void loom_copy(char *to, const char *from, size_t room) {
    size_t length = strlen(from);
    if (length > room - 1) {
        length = room - 1;
    }
    memcpy(to, from, length);
    to[length] = '\0';
}

int main(void) {
    requests = fdopen(dup(0), "rb");
    answers = fdopen(dup(1), "wb");
    if (requests == NULL || answers == NULL || dup2(2, 1) < 0) {
        return 1;
    }
    uint32_t program;
    loom_take(&program, sizeof program);
    for (;;) {
        unsigned char request;
        uint32_t which;
        loom_take(&request, 1);
        loom_take(&which, sizeof which);
        loom_serve(program, request, which);
        fflush(stdout);
        fflush(answers);
    }
}
