/* Preloaded under the program, or under PostgreSQL: watches what happens to files, and disturbs it.
 *
 * SYNC_LOG=FILE      writes down, in order, what happens to the database's log and what is answered to
 *                    clients; a line an event, a letter and a mark of eight digits (or dashes):
 *                      w  bytes are about to be written to the log; a line for every mark in them
 *                      s  the log was synced, and the sync has completed
 *                      a  an HTTP answer is about to be sent; its mark, if it has one
 *                    A mark is `mk` and eight digits inside the bytes. SYNC_PATH is part of the log's path.
 * SYNC_DELAY_US=N    makes every sync of any file take that much longer.
 * FAULT_FILE=FILE    its first byte says what is broken at the moment, for files whose path contains FAULT_PATH:
 *                      F  the disk is full        W  writes fail        S  syncs fail
 *                      s  the next sync of a log fails, once
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(type, name, ...)                                            \
    static type (*real)(__VA_ARGS__);                                    \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static void note(char event, const char *mark) {
    static int file = -2;
    REAL(ssize_t, write, int, const void *, size_t);
    if (file == -2) {
        const char *path = getenv("SYNC_LOG");
        file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    }
    if (file < 0) return;
    char line[10] = {event};
    memcpy(line + 1, mark ? mark : "--------", 8);
    line[9] = '\n';
    if (real(file, line, sizeof line) != sizeof line) abort();
}

static int is_logging(void) {
    static int known = -1;
    if (known < 0) known = getenv("SYNC_LOG") != NULL;
    return known;
}

/* The next mark at or behind `from`, or nothing. */
static const char *find_mark(const char *from, const char *end) {
    for (; from + 10 <= end; from++) {
        if (from[0] != 'm' || from[1] != 'k') continue;
        int digits = 0;
        while (digits < 8 && from[2 + digits] >= '0' && from[2 + digits] <= '9') digits++;
        if (digits == 8) return from + 2;
    }
    return NULL;
}

static void note_written(const void *bytes, size_t length) {
    const char *at = bytes, *end = at + length;
    note('w', NULL);
    while ((at = find_mark(at, end))) note('w', at), at += 8;
}

static void note_answer(const struct iovec *parts, int count) {
    if (!is_logging() || count < 1 || parts[0].iov_len < 9 || memcmp(parts[0].iov_base, "HTTP/1.1 ", 9)) return;
    const char *mark = NULL;
    for (int i = 0; i < count && !mark; i++) {
        const char *bytes = parts[i].iov_base;
        mark = find_mark(bytes, bytes + parts[i].iov_len);
    }
    note('a', mark);
}

static size_t path_of(int fd, char *path, size_t room) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, room - 1);
    if (length < 0) length = 0;
    path[length] = 0;
    return (size_t)length;
}

static int is_log(int fd) {
    char path[512];
    size_t length = path_of(fd, path, sizeof path);
    const char *part = getenv("SYNC_PATH");
    if (part && !strstr(path, part)) return 0;
    return (length > 4 && memcmp(path + length - 4, "-wal", 4) == 0) || strstr(path, "/pg_wal/") != NULL;
}

/* What is broken for this file, or 0. */
static char fault(int fd, const char *kinds) {
    static volatile char *control;
    static int is_known;
    if (!is_known) {
        const char *path = getenv("FAULT_FILE");
        int file = path ? open(path, O_RDWR) : -1;
        void *map = file < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        control = map == MAP_FAILED ? NULL : map;
        if (file >= 0) close(file);
        is_known = 1;
    }
    char now = control ? *control : 0;
    if (!now || !strchr(kinds, now)) return 0;
    if (now == 's') {
        if (!is_log(fd)) return 0;
        *control = ' ';
        return now;
    }
    char path[512];
    path_of(fd, path, sizeof path);
    const char *part = getenv("FAULT_PATH");
    return part && strstr(path, part) ? now : 0;
}

static int breaks_write(int fd) {
    switch (fault(fd, "FW")) {
        case 'F': errno = ENOSPC; return 1;
        case 'W': errno = EIO; return 1;
        default: return 0;
    }
}

static int sync_with(int (*real)(int), int fd) {
    const char *us = getenv("SYNC_DELAY_US");
    if (us) {
        struct timespec wait = {0, atol(us) * 1000};
        nanosleep(&wait, NULL);
    }
    if (fault(fd, "Ss")) {
        errno = EIO;
        return -1;
    }
    int result = real(fd);
    if (result == 0 && is_logging() && is_log(fd)) note('s', NULL);
    return result;
}

int fdatasync(int fd) {
    REAL(int, fdatasync, int);
    return sync_with(real, fd);
}

int fsync(int fd) {
    REAL(int, fsync, int);
    return sync_with(real, fd);
}

#define POSITIONED(name, offset)                                               \
    ssize_t name(int fd, const void *bytes, size_t length, offset at) {        \
        REAL(ssize_t, name, int, const void *, size_t, offset);                \
        if (breaks_write(fd)) return -1;                                       \
        if (is_logging() && is_log(fd)) note_written(bytes, length);           \
        return real(fd, bytes, length, at);                                    \
    }
POSITIONED(pwrite, off_t)
POSITIONED(pwrite64, off64_t)

#define GATHERED(name, offset)                                                 \
    ssize_t name(int fd, const struct iovec *parts, int count, offset at) {    \
        REAL(ssize_t, name, int, const struct iovec *, int, offset);           \
        if (breaks_write(fd)) return -1;                                       \
        return real(fd, parts, count, at);                                     \
    }
GATHERED(pwritev, off_t)
GATHERED(pwritev64, off64_t)

/* Unlike the others it answers the error itself. */
#define ALLOCATED(name, offset)                                                \
    int name(int fd, offset at, offset length) {                               \
        REAL(int, name, int, offset, offset);                                  \
        return breaks_write(fd) ? errno : real(fd, at, length);                \
    }
ALLOCATED(posix_fallocate, off_t)
ALLOCATED(posix_fallocate64, off64_t)

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (breaks_write(fd)) return -1;
    if (is_logging()) {
        struct iovec part = {(void *)bytes, length};
        if (is_log(fd)) note_written(bytes, length);
        else note_answer(&part, 1);
    }
    return real(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    note_answer(parts, count);
    return real(fd, parts, count);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    REAL(ssize_t, send, int, const void *, size_t, int);
    struct iovec part = {(void *)bytes, length};
    note_answer(&part, 1);
    return real(fd, bytes, length, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    REAL(ssize_t, sendmsg, int, const struct msghdr *, int);
    note_answer(message->msg_iov, (int)message->msg_iovlen);
    return real(fd, message, flags);
}
