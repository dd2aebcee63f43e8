/*
 * The floor: what point selects over many connections cost when a client does no more than the sockets need.
 *
 * usage: epoll_floor ENDPOINT CONNECTIONS QUERIES prepared|text ROWS
 *
 * ENDPOINT is the path of a unix socket, or a port of 127.0.0.1. Logs in as user `peer` without a password into
 * database `sb` and asks for random rows of `sbtest1`. One epoll set, one send and one receive a query, one query in
 * flight per connection; rows are walked over, never decoded. Nothing is timed here: whoever started it does that.
 */
#include "point_select.h"

#include <sys/epoll.h>

enum { EVENTS_MAX = 512 };

static void send_query(const struct task *task, struct connection *connection)
{
    size_t length = task->write_query(connection, random_row(task->rows));
    send_all(connection->socket, connection->query, length);
}

int main(int count, char **arguments)
{
    struct task task = begin(count, arguments);
    long to_send = task.queries, to_receive = task.queries;
    int set = epoll_create1(0);
    if (set < 0)
        fail("no epoll set");
    for (int i = 0; i < task.connections; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &task.all[i]};
        if (epoll_ctl(set, EPOLL_CTL_ADD, task.all[i].socket, &event) != 0)
            fail("epoll_ctl: %s", strerror(errno));
    }
    for (int i = 0; i < task.connections && to_send > 0; i++, to_send--)
        send_query(&task, &task.all[i]);
    struct epoll_event events[EVENTS_MAX];
    while (to_receive > 0) {
        int ready = epoll_wait(set, events, EVENTS_MAX, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *one = events[i].data.ptr;
            ssize_t got = recv(one->socket, one->answer + one->filled, (size_t)(ANSWER_MAX - one->filled), MSG_DONTWAIT);
            if (got <= 0) {
                if (got < 0 && errno == EAGAIN)
                    continue;
                fail("connection lost");
            }
            one->filled += (int)got;
            if (!is_complete(one->answer, one->answer + one->filled))
                continue;
            one->filled = 0;
            to_receive--;
            if (to_send > 0) {
                to_send--;
                send_query(&task, one);
            }
        }
    }
    return 0;
}
