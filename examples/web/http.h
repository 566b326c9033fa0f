/* HTTP/1.1 as text: what a request says, and the head of an answer. */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* What a request asks for. */
struct request {
    int status;       /* 200, or what is wrong with it */
    bool head;        /* no body is wanted */
    bool keep;        /* the connection is, for another request */
    const char *path; /* decoded, and without what is behind `?`; it begins with a slash */
};

/* Reads the head of a request, and changes its text while it does. */
struct request http_request(char *head);

/* What is in a file, by the end of its name. */
const char *http_type(const char *name);

/* What a status is called. */
const char *http_reason(int status);

/* Writes the head of an answer with so many bytes of this type; how long it is: at most 300. */
size_t http_head(char *to, size_t room, const struct request *request, const char *type,
                 long long length);

#endif
