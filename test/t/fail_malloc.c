/* Makes allocations of a process fail, one or a run of them. Preloaded into the server by 010_allocations.pl, which calls fail_malloc(). */
#define _GNU_SOURCE
#include "postgres.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fmgr.h"

PG_MODULE_MAGIC;

/* glibc's own names of its allocator, so that nothing has to be looked up while memory is being asked for. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long seen;      /* allocations since the last call of fail_malloc(), of all threads */
static atomic_long failing;   /* the number of the first one that fails; 0: none */
static atomic_long run = 1;   /* how many fail */

static bool
refused(void)
{
	long number = atomic_fetch_add(&seen, 1) + 1;
	long first = atomic_load(&failing);

	if (first == 0 || number < first || number >= first + atomic_load(&run))
		return false;
	errno = ENOMEM;
	return true;
}

#undef malloc
#undef calloc
#undef realloc

void *
malloc(size_t size)
{
	return refused() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return refused() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *block, size_t size)
{
	return refused() ? NULL : __libc_realloc(block, size);
}

void *
memalign(size_t alignment, size_t size)
{
	return refused() ? NULL : __libc_memalign(alignment, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return refused() ? NULL : __libc_memalign(alignment, size);
}

int
posix_memalign(void **block, size_t alignment, size_t size)
{
	if (refused())
		return ENOMEM;
	*block = __libc_memalign(alignment, size);
	return *block == NULL ? ENOMEM : 0;
}

/* What others than the allocator ask the kernel for. */
void *
mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
	return refused() ? MAP_FAILED : (void *) syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

typedef int (*create_thread) (pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
static create_thread create;

__attribute__((constructor)) static void
look_up(void)
{
	create = (create_thread) dlsym(RTLD_NEXT, "pthread_create");
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *), void *argument)
{
	return refused() ? EAGAIN : create(thread, attributes, start, argument);
}

/* fail_malloc(n bigint [, k bigint]) returns bigint: the n-th allocation from now on fails, or k from it on; 0: none. How many
 * were seen since the last call */
PG_FUNCTION_INFO_V1(fail_malloc);
Datum
fail_malloc(PG_FUNCTION_ARGS)
{
	int64 result = atomic_exchange(&seen, 0);

	atomic_store(&run, PG_NARGS() > 1 ? PG_GETARG_INT64(1) : 1);
	atomic_store(&failing, PG_GETARG_INT64(0));
	PG_RETURN_INT64(result);
}
