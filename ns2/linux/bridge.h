#ifndef bdpbench_bridge_h
#define bdpbench_bridge_h

/* The kernel of one connection, between shim.cc, which hears a sender, and a module of Linux. */

#include "congestion_control.h"

#ifdef __cplusplus
extern "C" {
#endif

struct linux_connection;

/* A whole number for the module's parameter `name`; false if it has none of that name, or of another type. */
bool bridge_set(const char* name, double value);
/* Calls module_init; says what is wrong with the module, or NULL. */
const char* bridge_load(void);

struct linux_connection* bridge_open(void);
void bridge_close(struct linux_connection*);
/* The events of CongestionControl. */
void bridge_started(struct linux_connection*, const struct PathState*, struct SendingLimits*);
void bridge_heard(struct linux_connection*, const struct Acknowledged*, const struct PathState*, struct SendingLimits*);
void bridge_lost(struct linux_connection*, const struct Lost*, const struct PathState*, struct SendingLimits*);
void bridge_recovery_ended(struct linux_connection*, const struct PathState*, struct SendingLimits*);
void bridge_recovery_began(struct linux_connection*, const struct PathState*, struct SendingLimits*);
void bridge_acknowledged(struct linux_connection*, const struct Acknowledged*, const struct PathState*, struct SendingLimits*);
void bridge_timed_out(struct linux_connection*, const struct PathState*, struct SendingLimits*);
void bridge_resumed(struct linux_connection*, double idle_s, const struct PathState*, struct SendingLimits*);

#ifdef __cplusplus
}
#endif
#endif
