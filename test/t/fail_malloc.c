/* Makes one allocation of a process fail. Preloaded into the server by 010_allocations.pl, which calls fail_malloc(). */
#include "postgres.h"

#include <errno.h>

#include "fmgr.h"

PG_MODULE_MAGIC;

/* glibc's own names of its allocator, so that nothing has to be looked up while memory is being asked for. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int64 seen;    /* allocations since the last call of fail_malloc() */
static int64 failing; /* the number of the one that fails; 0: none */

static bool
refused(void)
{
	if (++seen != failing)
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

/* fail_malloc(n bigint) returns bigint: the n-th allocation from now on fails, 0: none; how many were seen since the last call */
PG_FUNCTION_INFO_V1(fail_malloc);
Datum
fail_malloc(PG_FUNCTION_ARGS)
{
	int64 result = seen;

	seen = 0;
	failing = PG_GETARG_INT64(0);
	PG_RETURN_INT64(result);
}
