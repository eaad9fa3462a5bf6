/* Settings of the session; defined and registered in server/module.c. */
#ifndef MARGIN_GUCS_H
#define MARGIN_GUCS_H

extern int guc_log_level;    /* an elog level, 0 for off */
extern int guc_memory_limit; /* kB for one training; -1: no limit of its own */
extern int guc_poll_trace;   /* ms of CPU between two interrupt checks that are logged; 0: none */
extern int guc_threads;      /* of one training; 0: as many as a parallel query has processes */

#endif
