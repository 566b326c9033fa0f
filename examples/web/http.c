/* HTTP/1.1 as text, after RFC 9110 and RFC 9112. */
#define _GNU_SOURCE
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Turns %20 and the like into what they stand for; false if something else stands there. */
static bool decode(char *path) {
    char *to = path;
    for (const char *from = path; *from != '\0' && *from != '?'; from += 1, to += 1) {
        unsigned byte = (unsigned char)*from;
        if (byte == '%') {
            const char digits[] = {from[1], from[1] == '\0' ? '\0' : from[2], '\0'};
            if (strspn(digits, "0123456789abcdefABCDEF") != 2 ||
                sscanf(digits, "%x", &byte) != 1 || byte == 0) {
                return false;
            }
            from += 2;
        }
        *to = (char)byte;
    }
    *to = '\0';
    return true;
}

/* Whether a line is a field of this name; `name` ends with the colon. */
static bool is_field(const char *line, const char *name) {
    return strncasecmp(line, name, strlen(name)) == 0;
}

/* Reads the fields, a line each. How many times the host is named, or -1 if one is no field. */
static int read_fields(struct request *request, char *lines) {
    int hosts = 0;
    bool carries = false;
    for (char *line; (line = strtok_r(lines, "\r\n", &lines)) != NULL;) {
        const size_t name = strcspn(line, ": \t");
        if (name == 0 || line[name] != ':') {
            return -1;
        }
        if (is_field(line, "host:")) {
            hosts += 1;
        } else if (is_field(line, "connection:") && strcasestr(line, "close") != NULL) {
            request->keep = false;
        } else if (is_field(line, "connection:") && strcasestr(line, "keep-alive") != NULL) {
            request->keep = true;
        } else if (is_field(line, "content-length:") || is_field(line, "transfer-encoding:")) {
            carries = true;
        }
    }
    request->keep &= !carries; /* nobody here reads what a request carries */
    return hosts;
}

struct request http_request(char *head) {
    struct request request = {.status = 400};
    char *lines;
    char *const method = strtok_r(head, "\r\n", &lines);
    char *const target = method == NULL ? NULL : strchr(method, ' ');
    char *const version = target == NULL ? NULL : strchr(target + 1, ' ');
    const bool is_old = version != NULL && strcmp(version, " HTTP/1.0") == 0;
    if (version == NULL || (!is_old && strcmp(version, " HTTP/1.1") != 0)) {
        return request;
    }
    *target = *version = '\0';
    struct request good = {.status = 200, .keep = !is_old};
    const int hosts = read_fields(&good, lines);
    const bool is_whole = strncasecmp(target + 1, "http://", 7) == 0;
    char *const path = is_whole ? strchr(target + 8, '/') : target + 1;
    if (hosts < 0 || hosts > 1 || (hosts == 0 && !is_old) || path == NULL || path[0] != '/' ||
        !decode(path)) {
        return request;
    }
    good.path = path;
    good.head = strcmp(method, "HEAD") == 0;
    good.status = good.head || strcmp(method, "GET") == 0 ? 200 : 405;
    return good;
}

const char *http_type(const char *name) {
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css"},
        {".js", "text/javascript"},
        {".txt", "text/plain; charset=utf-8"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".ico", "image/x-icon"},
        {".pdf", "application/pdf"},
    };
    const char *const end = strrchr(name, '.');
    for (size_t at = 0; end != NULL && at < sizeof types / sizeof types[0]; at += 1) {
        if (strcasecmp(end, types[at][0]) == 0) {
            return types[at][1];
        }
    }
    return "application/octet-stream";
}

const char *http_reason(int status) {
    switch (status) {
    case 200:
        return "OK";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    default:
        return "Bad Request";
    }
}

size_t http_head(char *to, size_t room, const struct request *request, const char *type,
                 long long length) {
    char date[64];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime(&now));
    const int written = snprintf(
        to, room,
        "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\n"
        "%sConnection: %s\r\n\r\n",
        request->status, http_reason(request->status), date, type, length,
        request->status == 405 ? "Allow: GET, HEAD\r\n" : "",
        request->keep ? "keep-alive" : "close");
    return (size_t)written;
}
