/* Preloaded under the program: writes down, in order, what happens to the database's log and what is
 * answered to clients. One byte an event into the file named by SYNC_LOG:
 *   w  bytes were written to a file that ends in -wal
 *   s  such a file was synced, and the sync has completed
 *   a  an HTTP answer is about to be sent
 * SYNC_DELAY_US makes every sync of any file take that much longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int log_file = -2;

static void note(char event) {
    static ssize_t (*real_write)(int, const void *, size_t);
    if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
    if (log_file == -2) {
        const char *path = getenv("SYNC_LOG");
        log_file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    }
    if (log_file >= 0 && real_write(log_file, &event, 1) != 1) abort();
}

static int is_wal(int fd) {
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    return length > 4 && memcmp(path + length - 4, "-wal", 4) == 0;
}

static int is_answer(const void *bytes, size_t length) {
    return length >= 9 && memcmp(bytes, "HTTP/1.1 ", 9) == 0;
}

static void delay(void) {
    const char *us = getenv("SYNC_DELAY_US");
    if (!us) return;
    struct timespec wait = {0, atol(us) * 1000};
    nanosleep(&wait, NULL);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    delay();
    int result = real(fd);
    if (result == 0 && is_wal(fd)) note('s');
    return result;
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    delay();
    int result = real(fd);
    if (result == 0 && is_wal(fd)) note('s');
    return result;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    if (is_wal(fd)) note('w');
    return real(fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite");
    if (is_wal(fd)) note('w');
    return real(fd, bytes, length, at);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (is_wal(fd)) note('w');
    else if (is_answer(bytes, length)) note('a');
    return real(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = dlsym(RTLD_NEXT, "writev");
    if (count > 0 && is_answer(parts[0].iov_base, parts[0].iov_len)) note('a');
    return real(fd, parts, count);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    static ssize_t (*real)(int, const void *, size_t, int);
    if (!real) real = dlsym(RTLD_NEXT, "send");
    if (is_answer(bytes, length)) note('a');
    return real(fd, bytes, length, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    static ssize_t (*real)(int, const struct msghdr *, int);
    if (!real) real = dlsym(RTLD_NEXT, "sendmsg");
    if (message->msg_iovlen > 0 && is_answer(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len)) note('a');
    return real(fd, message, flags);
}
