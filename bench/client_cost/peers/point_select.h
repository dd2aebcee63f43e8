/*
 * Point selects over the MySQL protocol, for the floors: logging in, writing a query, walking over its result.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { HEADER = 4, ANSWER_MAX = 4096, QUERY_MAX = 64 };

/* Capabilities of the protocol: long password, connect with database, protocol 4.1, secure connection. */
enum { CAPABILITIES = 0x1 | 0x8 | 0x200 | 0x8000 };

struct connection {
    int socket;
    int filled; /* bytes of the answer so far */
    uint32_t statement;
    uint8_t query[QUERY_MAX];
    uint8_t answer[ANSWER_MAX];
};

static const char TEXT[] = "SELECT c FROM sbtest1 WHERE id=";
static const char TEMPLATE[] = "SELECT c FROM sbtest1 WHERE id=?";

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    exit(1);
}

/* xorshift64*; the table is far smaller than 2^32, so that the modulo's bias is nothing. */
static uint32_t random_row(uint32_t rows)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((random_state * 0x2545f4914f6cdd1du) >> 32) % rows + 1;
}

static int connect_to(const char *endpoint)
{
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in tcp;
    } address;
    socklen_t length;
    memset(&address, 0, sizeof address);
    if (endpoint[0] == '/') {
        address.local.sun_family = AF_UNIX;
        if (strlen(endpoint) >= sizeof address.local.sun_path)
            fail("path of the socket is too long: %s", endpoint);
        strcpy(address.local.sun_path, endpoint);
        length = sizeof address.local;
    } else {
        address.tcp.sin_family = AF_INET;
        address.tcp.sin_port = htons((uint16_t)atoi(endpoint));
        address.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        length = sizeof address.tcp;
    }
    int fd = socket(address.any.sa_family, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, &address.any, length) != 0)
        fail("cannot connect to %s: %s", endpoint, strerror(errno));
    if (endpoint[0] != '/') {
        int on = 1;
        if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
            fail("cannot set TCP_NODELAY: %s", strerror(errno));
    }
    return fd;
}

static void send_all(int fd, const void *bytes, size_t length)
{
    ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
    if (sent != (ssize_t)length)
        fail("cannot send: %s", sent < 0 ? strerror(errno) : "the socket is full");
}

static uint32_t payload_length(const uint8_t *packet)
{
    return packet[0] | packet[1] << 8 | (uint32_t)packet[2] << 16;
}

/* The byte after the packet at `at`, or NULL while it is not all there. */
static const uint8_t *packet_end(const uint8_t *at, const uint8_t *end)
{
    if (end - at < HEADER || (uint32_t)(end - at - HEADER) < payload_length(at))
        return NULL;
    return at + HEADER + payload_length(at);
}

static bool is_end_of_rows(const uint8_t *packet)
{
    return packet[HEADER] == 0xfe && payload_length(packet) < 9;
}

static void refuse_error(const uint8_t *packet)
{
    if (packet[HEADER] == 0xff)
        fail("the server says: %.*s", (int)payload_length(packet) - 9, (const char *)packet + HEADER + 9);
}

/* True when a whole result stands in the buffer: a count of columns, their definitions, EOF, rows, EOF. */
static bool is_complete(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *next = packet_end(at, end);
    if (!next)
        return false;
    refuse_error(at);
    if (at[HEADER] == 0)
        fail("a point select has no result");
    for (int column = at[HEADER]; column > 0; column--)
        if (!(next = packet_end(next, end)))
            return false;
    if (!(next = packet_end(next, end)))
        return false;
    for (;;) {
        at = next;
        if (!(next = packet_end(at, end)))
            return false;
        refuse_error(at);
        if (is_end_of_rows(at))
            return true;
    }
}

static size_t frame(uint8_t *packet, size_t payload, uint8_t sequence)
{
    packet[0] = (uint8_t)payload;
    packet[1] = (uint8_t)(payload >> 8);
    packet[2] = (uint8_t)(payload >> 16);
    packet[3] = sequence;
    return HEADER + payload;
}

/* Blocks until the next packet is there; only for the login, where a packet comes alone. */
static void receive_packet(struct connection *connection)
{
    connection->filled = 0;
    do {
        uint8_t *end = connection->answer + connection->filled;
        ssize_t count = recv(connection->socket, end, ANSWER_MAX - connection->filled, 0);
        if (count <= 0)
            fail("connection lost in the login");
        connection->filled += (int)count;
    } while (!packet_end(connection->answer, connection->answer + connection->filled));
    refuse_error(connection->answer);
}

static void log_in(struct connection *connection)
{
    uint8_t packet[128] = {0};
    uint8_t *at = packet + HEADER;
    receive_packet(connection);
    *at++ = CAPABILITIES & 0xff;
    *at++ = CAPABILITIES >> 8;
    at += 2 + 4; /* the upper capabilities, and a limit of packets that is the server's */
    *at++ = 45;  /* utf8mb4_general_ci */
    at += 23;
    at = (uint8_t *)stpcpy((char *)at, "peer") + 1;
    *at++ = 0; /* no password */
    at = (uint8_t *)stpcpy((char *)at, "sb") + 1;
    send_all(connection->socket, packet, frame(packet, (size_t)(at - packet) - HEADER, 1));
    receive_packet(connection);
    if (connection->answer[HEADER] != 0)
        fail("the login needs more than an account without a password");
}

static void prepare(struct connection *connection)
{
    uint8_t packet[128];
    packet[HEADER] = 0x16;
    memcpy(packet + HEADER + 1, TEMPLATE, sizeof TEMPLATE - 1);
    send_all(connection->socket, packet, frame(packet, sizeof TEMPLATE, 0));
    /* The answer, one parameter, EOF, one column, EOF: five packets. */
    int filled = 0;
    for (;;) {
        const uint8_t *end = connection->answer + filled, *next = connection->answer;
        int packets = 0;
        while (packets < 5 && (next = packet_end(next, end)))
            packets++;
        if (packets > 0)
            refuse_error(connection->answer);
        if (packets == 5)
            break;
        ssize_t count = recv(connection->socket, connection->answer + filled, (size_t)(ANSWER_MAX - filled), 0);
        if (count <= 0)
            fail("connection lost while preparing");
        filled += (int)count;
    }
    memcpy(&connection->statement, connection->answer + HEADER + 1, 4);
}

/* Writes the next query; returns its length. */
static size_t write_prepared(struct connection *connection, uint32_t row)
{
    uint8_t *packet = connection->query;
    memset(packet, 0, HEADER + 22);
    packet[HEADER] = 0x17;
    memcpy(packet + HEADER + 1, &connection->statement, 4);
    packet[HEADER + 6] = 1;  /* iterations, 4 bytes */
    packet[HEADER + 11] = 1; /* after the NULL bitmap: types follow */
    packet[HEADER + 12] = 8; /* a 64-bit integer */
    memcpy(packet + HEADER + 14, &row, sizeof row);
    return frame(packet, 22, 0);
}

static size_t write_text(struct connection *connection, uint32_t row)
{
    uint8_t *packet = connection->query;
    packet[HEADER] = 3;
    memcpy(packet + HEADER + 1, TEXT, sizeof TEXT - 1);
    char digits[10];
    int first = sizeof digits;
    do {
        digits[--first] = (char)('0' + row % 10);
        row /= 10;
    } while (row > 0);
    size_t count = sizeof digits - (size_t)first;
    memcpy(packet + HEADER + sizeof TEXT, digits + first, count);
    return frame(packet, sizeof TEXT + count, 0);
}

/* What the command line asks for, with all connections open and logged in. */
struct task {
    int connections;
    long queries;
    uint32_t rows;
    size_t (*write_query)(struct connection *, uint32_t);
    struct connection *all;
};

static struct task begin(int count, char **arguments)
{
    if (count != 6)
        fail("usage: %s ENDPOINT CONNECTIONS QUERIES prepared|text ROWS", program_invocation_short_name);
    bool prepared = strcmp(arguments[4], "prepared") == 0;
    struct task task = {
        .connections = atoi(arguments[2]),
        .queries = atol(arguments[3]),
        .rows = (uint32_t)atol(arguments[5]),
        .write_query = prepared ? write_prepared : write_text,
    };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    task.all = calloc((size_t)task.connections, sizeof *task.all);
    if (!task.all || task.rows == 0)
        fail("no memory or no rows");
    for (int i = 0; i < task.connections; i++) {
        task.all[i].socket = connect_to(arguments[1]);
        log_in(&task.all[i]);
        if (prepared)
            prepare(&task.all[i]);
        task.all[i].filled = 0;
    }
    return task;
}
