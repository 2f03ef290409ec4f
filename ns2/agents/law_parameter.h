#ifndef bdpbench_law_parameter_h
#define bdpbench_law_parameter_h

#include <string>

/** A Tcl variable that a law or an agent reads, and where it may lie. */
struct LawParameter {
	const char* tcl_name;
	double minimum;
	double maximum;
	const char* unit;
};

/** Payload of a segment: no law is of use to a sender of nothing. */
extern const LawParameter PACKET_SIZE;

/** Ends ns-2 with a message that names the agent. */
void stop_ns(const char* agent, const std::string& problem);

/** Ends ns-2 with a message where the variable is outside its range. */
void require_in_range(const char* agent, const LawParameter& parameter, double value);

#endif
