/* The least that a relay between clients and a server can do: bytes read from one socket and written to the other, one thread,
 * one epoll instance, no protocol. usage: relay PORT SERVER_PORT (both on 127.0.0.1) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ = 64 << 10, EVENTS = 256 };

struct end {
    int socket;
    struct end *other;
    /* What the socket did not take yet. */
    char *rest;
    size_t length;
};

static int poller;

static void failed(const char *what) {
    perror(what);
    exit(1);
}

static struct sockaddr_in address(const char *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return at;
}

static void watch(struct end *end, int operation) {
    struct epoll_event event = {.events = EPOLLIN | (end->length ? EPOLLOUT : 0), .data.ptr = end};
    if (epoll_ctl(poller, operation, end->socket, &event)) failed("epoll_ctl");
}

static struct end *make(int socket) {
    struct end *end = calloc(1, sizeof *end);
    if (!end) failed("calloc");
    end->socket = socket;
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return end;
}

/* Both ends stay in memory until the events at hand are done: `gone` frees them. */
static struct end *gone[2 * EVENTS];
static int gone_count;

static void close_both(struct end *end) {
    struct end *ends[] = {end, end->other};
    for (int i = 0; i < 2; i++) {
        if (ends[i]->socket < 0) continue;
        close(ends[i]->socket);
        ends[i]->socket = -1;
        gone[gone_count++] = ends[i];
    }
}

static void flush(struct end *to) {
    ssize_t sent = write(to->socket, to->rest, to->length);
    if (sent < 0) {
        if (errno != EAGAIN) close_both(to);
        return;
    }
    to->length -= sent;
    memmove(to->rest, to->rest + sent, to->length);
    if (!to->length) watch(to, EPOLL_CTL_MOD);
}

static void pass(struct end *from) {
    static char bytes[READ];
    struct end *to = from->other;
    if (to->length) return;
    ssize_t count = read(from->socket, bytes, sizeof bytes);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        close_both(from);
        return;
    }
    ssize_t sent = write(to->socket, bytes, count);
    if (sent < 0 && errno != EAGAIN) {
        close_both(from);
        return;
    }
    if (sent < 0) sent = 0;
    if (sent < count) {
        to->length = count - sent;
        to->rest = realloc(to->rest, READ);
        if (!to->rest) failed("realloc");
        memcpy(to->rest, bytes + sent, to->length);
        watch(to, EPOLL_CTL_MOD);
    }
}

static void take(int listener, struct sockaddr_in *server) {
    int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    int backend = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (backend < 0 || connect(backend, (struct sockaddr *)server, sizeof *server)) {
        close(client);
        if (backend >= 0) close(backend);
        return;
    }
    struct end *a = make(client), *b = make(backend);
    if (fcntl(backend, F_SETFL, O_NONBLOCK)) failed("fcntl");
    a->other = b;
    b->other = a;
    watch(a, EPOLL_CTL_ADD);
    watch(b, EPOLL_CTL_ADD);
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: %s PORT SERVER_PORT\n", words[0]);
        return 2;
    }
    struct sockaddr_in own = address(words[1]), server = address(words[2]);
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 4096)) failed("listen");
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct end door = {.socket = listener};
    if (poller < 0) failed("epoll_create1");
    watch(&door, EPOLL_CTL_ADD);
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(poller, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            struct end *end = events[i].data.ptr;
            if (end == &door) {
                take(listener, &server);
                continue;
            }
            if (end->socket >= 0 && events[i].events & EPOLLOUT) flush(end);
            if (end->socket >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) pass(end);
        }
        while (gone_count) {
            free(gone[--gone_count]->rest);
            free(gone[gone_count]);
        }
    }
}
