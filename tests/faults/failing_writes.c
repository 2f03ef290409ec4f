/* Makes all writes below a folder fail from the n-th on, for all processes together.
 *
 * Load this library by LD_PRELOAD with
 *   FAILING_WRITES_UNDER    the folder
 *   FAILING_WRITES_COUNTER  a file of 8 zero bytes that counts the writes
 *   FAILING_WRITES_FROM     the number of the first write that fails; 0 only counts
 *   FAILING_WRITES_ERRNO    the error of writes that fail
 *
 * A write is one to an open file, or a call that creates, renames or enlarges a file or creates a
 * folder.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic uint64_t *counter;
static uint64_t first;
static int number;
static char under[PATH_MAX];

__attribute__((constructor)) static void begin(void)
{
	const char *folder = getenv("FAILING_WRITES_UNDER");
	const char *file = getenv("FAILING_WRITES_COUNTER");
	const char *from = getenv("FAILING_WRITES_FROM");
	const char *with = getenv("FAILING_WRITES_ERRNO");
	if (!folder || !file || !from || !with)
		return;
	int fd = open(file, O_RDWR);
	if (fd < 0)
		return;
	void *shared = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared == MAP_FAILED)
		return;
	snprintf(under, sizeof under, "%s/", folder);
	first = strtoull(from, NULL, 10);
	number = atoi(with);
	counter = shared;
}

/* Whether the next write fails. */
static int fails(void)
{
	uint64_t count = ++*counter;
	if (!first || count < first)
		return 0;
	errno = number;
	return 1;
}

static int path_fails(int dirfd, const char *path)
{
	char absolute[PATH_MAX], folder[PATH_MAX], link[64];
	if (!counter)
		return 0;
	if (path[0] == '/')
		snprintf(absolute, sizeof absolute, "%s", path);
	else {
		snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
		ssize_t size = dirfd == AT_FDCWD ? readlink("/proc/self/cwd", folder, sizeof folder - 1)
						 : readlink(link, folder, sizeof folder - 1);
		if (size < 0)
			return 0;
		folder[size] = '\0';
		if (snprintf(absolute, sizeof absolute, "%s/%s", folder, path) >= (int)sizeof absolute)
			return 0;
	}
	return strncmp(absolute, under, strlen(under)) == 0 && fails();
}

static int fd_fails(int fd)
{
	char path[PATH_MAX], link[64];
	if (!counter)
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t size = readlink(link, path, sizeof path - 1);
	if (size < 0)
		return 0;
	path[size] = '\0';
	return strncmp(path, under, strlen(under)) == 0 && fails();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t size)
{
	return fd_fails(fd) ? -1 : REAL(write)(fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	return fd_fails(fd) ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return fd_fails(fd) ? -1 : REAL(writev)(fd, parts, count);
}

int ftruncate64(int fd, off64_t size)
{
	return fd_fails(fd) ? -1 : REAL(ftruncate64)(fd, size);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t size)
{
	extern ssize_t sendfile64(int, int, off64_t *, size_t);
	return fd_fails(to) ? -1 : REAL(sendfile64)(to, from, at, size);
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size,
			unsigned flags)
{
	return fd_fails(to) ? -1 : REAL(copy_file_range)(from, from_at, to, to_at, size, flags);
}

int rename(const char *from, const char *to)
{
	return path_fails(AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	return path_fails(AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode);
}

/* Opening an existing file writes nothing; creating one does. */
#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list rest;                                                                      \
		va_start(rest, flags);                                                             \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;            \
		va_end(rest);                                                                      \
		if (flags & O_CREAT && access(path, F_OK) != 0 && path_fails(AT_FDCWD, path))      \
			return -1;                                                                 \
		return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); \
	}

OPEN(open)
OPEN(open64)
