#include "law_parameter.h"

#include <sstream>
#include <stdio.h>
#include <tclcl.h>

const LawParameter PACKET_SIZE = {"packetSize_", 1, 1000000000, "bytes"};

// Ends ns-2 through Tcl, so that trace files are flushed.
void stop_ns(const char* agent, const std::string& problem)
{
	fprintf(stderr, "ns: agent %s: %s\n", agent, problem.c_str());
	Tcl_Exit(1);
}

static std::string out_of_range(const LawParameter& parameter, double value)
{
	std::ostringstream text;
	text.precision(10);
	text << parameter.tcl_name << " is " << value << ", outside its range of "
	     << parameter.minimum << " to " << parameter.maximum << " " << parameter.unit
	     << ". Set it before `$ns run`.";
	return text.str();
}

void require_in_range(const char* agent, const LawParameter& parameter, double value)
{
	bool is_number = value == value;	// ns-2 traps when a NaN is ordered
	if (!is_number || value < parameter.minimum || value > parameter.maximum)
		stop_ns(agent, out_of_range(parameter, value));
}
