#ifndef bdpbench_law_parameter_h
#define bdpbench_law_parameter_h

#include <string>

/** A Tcl variable that a law or an agent reads, and its range. */
struct LawParameter {
	const char* tcl_name;
	double minimum;
	double maximum;
	const char* unit;
};

/** Payload of a segment, which must not be empty. */
extern const LawParameter PACKET_SIZE;

/** Ends ns-2 with a message that names the agent. */
void stop_ns(const char* agent, const std::string& problem);

/** Ends ns-2 with a message if the variable is outside its range. */
void require_in_range(const char* agent, const LawParameter& parameter, double value);

#endif
