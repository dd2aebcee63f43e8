/*
 * The floor of epoll_floor.c over io_uring: whether a completion ring would make a client cheaper.
 *
 * usage: uring_floor ENDPOINT CONNECTIONS QUERIES prepared|text ROWS
 *
 * One io_uring_enter submits every send of a batch and waits for the next answers; each connection has one receive
 * that stays posted (multishot), into buffers that the kernel chooses. Sockets and buffers are registered.
 */
#include "point_select.h"

#include <liburing.h>
#include <sys/mman.h>

enum { RING = 4096, BUFFERS = 16384, BUFFER_BYTES = 512, GROUP = 0 };

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static uint8_t (*bytes)[BUFFER_BYTES];

static void check(int result, const char *what)
{
    if (result < 0)
        fail("%s: %s", what, strerror(-result));
}

static struct io_uring_sqe *next_entry(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (!entry) {
        check(io_uring_submit(&ring), "io_uring_submit");
        entry = io_uring_get_sqe(&ring);
    }
    return entry;
}

static void receive(int index)
{
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_recv_multishot(entry, index, NULL, 0, 0);
    entry->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    entry->buf_group = GROUP;
    entry->user_data = (uint64_t)index;
}

static void send_query(const struct task *task, int index)
{
    struct connection *one = &task->all[index];
    size_t length = task->write_query(one, random_row(task->rows));
    struct io_uring_sqe *entry = next_entry();
    io_uring_prep_send(entry, index, one->query, length, MSG_NOSIGNAL | MSG_WAITALL);
    /* A send that went well is not worth a completion. */
    entry->flags |= IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS;
    entry->user_data = UINT64_MAX;
}

static void return_buffer(unsigned id)
{
    io_uring_buf_ring_add(buffers, bytes[id], BUFFER_BYTES, (unsigned short)id, io_uring_buf_ring_mask(BUFFERS), 0);
    io_uring_buf_ring_advance(buffers, 1);
}

static void set_up(const struct task *task)
{
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
        .cq_entries = 4 * RING,
    };
    check(io_uring_queue_init_params(RING, &ring, &parameters), "io_uring_setup");
    check(io_uring_register_ring_fd(&ring), "registering the ring");
    int *sockets = calloc((size_t)task->connections, sizeof *sockets);
    bytes = calloc(BUFFERS, BUFFER_BYTES);
    if (!sockets || !bytes)
        fail("no memory");
    for (int i = 0; i < task->connections; i++)
        sockets[i] = task->all[i].socket;
    check(io_uring_register_files(&ring, sockets, (unsigned)task->connections), "registering sockets");
    free(sockets);
    size_t length = BUFFERS * sizeof(struct io_uring_buf);
    buffers = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    if (buffers == MAP_FAILED)
        fail("no memory");
    struct io_uring_buf_reg registration = {.ring_addr = (uintptr_t)buffers, .ring_entries = BUFFERS, .bgid = GROUP};
    check(io_uring_register_buf_ring(&ring, &registration, 0), "registering buffers");
    io_uring_buf_ring_init(buffers);
    for (unsigned id = 0; id < BUFFERS; id++)
        return_buffer(id);
}

/* True when the connection has its whole answer. */
static bool take(struct connection *one, const uint8_t *part, int length)
{
    if (one->filled == 0 && is_complete(part, part + length))
        return true;
    if (one->filled + length > ANSWER_MAX)
        fail("the answer is too long");
    memcpy(one->answer + one->filled, part, (size_t)length);
    one->filled += length;
    if (!is_complete(one->answer, one->answer + one->filled))
        return false;
    one->filled = 0;
    return true;
}

int main(int count, char **arguments)
{
    struct task task = begin(count, arguments);
    long to_send = task.queries, to_receive = task.queries;
    set_up(&task);
    for (int i = 0; i < task.connections; i++)
        receive(i);
    for (int i = 0; i < task.connections && to_send > 0; i++, to_send--)
        send_query(&task, i);
    while (to_receive > 0) {
        check(io_uring_submit_and_wait(&ring, 1), "io_uring_enter");
        struct io_uring_cqe *done;
        unsigned head, seen = 0;
        io_uring_for_each_cqe(&ring, head, done)
        {
            seen++;
            if (done->user_data == UINT64_MAX)
                fail("cannot send: %s", strerror(-done->res));
            int index = (int)done->user_data;
            if (done->res <= 0 && done->res != -ENOBUFS)
                fail("connection lost: %s", strerror(-done->res));
            bool is_whole = false;
            if (done->res > 0) {
                unsigned id = done->flags >> IORING_CQE_BUFFER_SHIFT;
                is_whole = take(&task.all[index], bytes[id], done->res);
                return_buffer(id);
            }
            if (!(done->flags & IORING_CQE_F_MORE))
                receive(index);
            if (!is_whole)
                continue;
            to_receive--;
            if (to_send > 0) {
                to_send--;
                send_query(&task, index);
            }
        }
        io_uring_cq_advance(&ring, seen);
    }
    return 0;
}
