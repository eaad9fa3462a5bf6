/* The jump of pg/server/boundary.cpp, which is C++ with exceptions. A C++ exception passes through. */
#include <postgres.h>

bool		returns(void (*call) (void *), void *argument);

/* True when call(argument) returned, false when it raised an error. The caller keeps the stacks, and gives them back. */
bool
returns(void (*call) (void *), void *argument)
{
	sigjmp_buf	here;

	if (sigsetjmp(here, 0) != 0)
		return false;
	PG_exception_stack = &here;
	call(argument);
	return true;
}
