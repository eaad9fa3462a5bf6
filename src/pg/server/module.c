/*
 * What PostgreSQL wants to find in the library: the magic block and the session's settings. A C file, because
 * the magic macros of newer servers are designated initialisers.
 */
#include <postgres.h>

#include <limits.h>

#include <fmgr.h>
#include <utils/guc.h>

#include "pg/server/gucs.h"
#include "pg/server/planner.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "margin", .version = MARGIN_VERSION);
#else
PG_MODULE_MAGIC;
#endif

int guc_log_level = 0;
int guc_memory_limit = -1;
int guc_poll_trace = 0;
int guc_threads = 0;

static const struct config_enum_entry log_levels[] = {
	{"off", 0, false},
	{"debug1", DEBUG1, false},
	{"log", LOG, false},
	{"info", INFO, false},
	{"notice", NOTICE, false},
	{NULL, 0, false},
};

PGDLLEXPORT void _PG_init(void);

/*
 * Where memory runs out in _PG_init, the server calls it again with the next function, and refuses a setting that is there
 * already. A value that was SET before the library came is a placeholder.
 */
static bool
defined(const char *name)
{
	return GetConfigOption(name, true, false) != NULL &&
		(GetConfigOptionFlags(name, true) & GUC_CUSTOM_PLACEHOLDER) == 0;
}

void
_PG_init(void)
{
	if (!defined("margin.log_level"))
		DefineCustomEnumVariable("margin.log_level",
								 "Level of the progress lines of a training, at most one a second.",
								 NULL,
								 &guc_log_level, 0, log_levels,
								 PGC_USERSET, 0, NULL, NULL, NULL);
	if (!defined("margin.memory_limit"))
		DefineCustomIntVariable("margin.memory_limit",
								"Memory that one training may use for its rows and its solver.",
								"-1 means no limit of its own.",
								&guc_memory_limit, -1, -1, MAX_KILOBYTES,
								PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	if (!defined("margin.poll_trace"))
		DefineCustomIntVariable("margin.poll_trace",
								"Logs calls that check for interrupts less often than this, in CPU time.",
								"For developers. 0 turns it off.",
								&guc_poll_trace, 0, 0, 3600000,
								PGC_SUSET, GUC_UNIT_MS | GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	if (!defined("margin.threads"))
		DefineCustomIntVariable("margin.threads",
								"Threads that one training may use.",
								"0 means max_parallel_workers_per_gather + 1, as far as the machine has processors.",
								&guc_threads, 0, 0, 256,
								PGC_USERSET, 0, NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("margin");
#else
	EmitWarningsOnPlaceholders("margin");
#endif
	watch_planner();
}
