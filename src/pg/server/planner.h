/* The planner's view of small tables of models; server/planner.cpp. */
#ifndef MARGIN_PLANNER_H
#define MARGIN_PLANNER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Called once, when the library is loaded. */
extern void watch_planner(void);

#ifdef __cplusplus
}
#endif

#endif
