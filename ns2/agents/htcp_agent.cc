// H-TCP as windowOption_ -10 of every Agent/TCP.

#include "htcp.h"
#include "window_law_registry.h"

namespace {

const LawParameter PARAMETERS[] = {
	{"htcp_delta_l_", 0, 1000, "s"},
	{"htcp_rtt_scaling_", 0, 1, "(0 or 1)"},
	{"htcp_adaptive_backoff_", 0, 1, "(0 or 1)"},
};
const int PARAMETER_COUNT = sizeof(PARAMETERS) / sizeof(PARAMETERS[0]);

WindowLaw* make(const double* values)
{
	HTcpParameters parameters = {values[0], values[1] != 0, values[2] != 0};
	return new HTcp(parameters);
}

const WindowLawEntry ENTRY = {-10, "H-TCP", PARAMETERS, PARAMETER_COUNT, make};
const WindowLawRegistration registration(ENTRY);

}  // namespace
