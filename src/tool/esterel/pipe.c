/* Requests come in on stdin, answers go out on stdout; what the C of others prints is a note. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void loom_take(void *to, size_t size);
void loom_give(const void *from, size_t size);
void loom_give_text(const char *text);
void loom_give_string(const char *text, size_t room);
char *loom_take_text(void);
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

void loom_give_string(const char *text, size_t room) {
    size_t length = text == NULL ? 0 : strlen(text);
    if (length > room - 1) {
        length = room - 1;
    }
    if (length > 0) {
        loom_give(text, length);
    }
    for (; length < room; length++) {
        loom_give("", 1);
    }
}

/* A text that lives until the next. */
char *loom_take_text(void) {
    static char *text;
    uint32_t length;
    loom_take(&length, sizeof length);
    free(text);
    text = malloc((size_t)length + 1);
    if (text == NULL) {
        exit(1);
    }
    loom_take(text, length);
    text[length] = '\0';
    return text;
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
