/* The calls of the commit probe for MariaDB in a plain loop: a block of 4 KiB past the page cache and fdatasync, then 210 bytes
 * appended and fdatasync. Prints commits per second. usage: plain DIRECTORY SECONDS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 4096, PER_BLOCK = 10, EVENT = 210 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void failed(const char *what) {
    perror(what);
    exit(1);
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: %s DIRECTORY SECONDS\n", words[0]);
        return 2;
    }
    char redo_path[4096], binlog_path[4096], event[EVENT];
    snprintf(redo_path, sizeof redo_path, "%s/plain-redo", words[1]);
    snprintf(binlog_path, sizeof binlog_path, "%s/plain-binlog", words[1]);
    int redo = open(redo_path, O_RDWR | O_CREAT | O_DIRECT, 0600);
    int binlog = open(binlog_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    void *block;
    if (redo < 0 || binlog < 0 || posix_memalign(&block, BLOCK, BLOCK)) failed("open");
    for (int i = 0; i < BLOCK; i++) ((char *)block)[i] = rand();
    memset(event, 'x', sizeof event);
    for (int i = 0; i < BLOCKS; i++)
        if (pwrite(redo, block, BLOCK, (off_t)i * BLOCK) != BLOCK) failed("write");
    if (fsync(redo)) failed("fsync");
    double begun = now(), until = begun + atof(words[2]), ended = begun;
    long commits = 0;
    while (ended < until) {
        off_t at = commits / PER_BLOCK % BLOCKS * BLOCK;
        if (pwrite(redo, block, BLOCK, at) != BLOCK || fdatasync(redo)) failed("redo log");
        if (write(binlog, event, EVENT) != EVENT || fdatasync(binlog)) failed("binary log");
        commits++;
        ended = now();
    }
    printf("%.1f\n", commits / (ended - begun));
    unlink(redo_path);
    unlink(binlog_path);
    return 0;
}
