// BIC TCP with Linux's smooth part as windowOption_ 15 of every Agent/TCP.

#include "smooth_bic_tcp.h"
#include "window_law_registry.h"

namespace {

const LawParameter PARAMETERS[] = {
	{"smooth_bic_beta_", 0.01, 0.99, "(share of cwnd kept)"},
	{"smooth_bic_B_", 2, 1000, ""},
	{"smooth_bic_max_increment_", 0, 1000000, "packets per RTT"},
	{"smooth_bic_smooth_part_", 0.001, 1000000, ""},
	{"smooth_bic_fast_convergence_", 0, 1, "(off or on)"},
};
const int PARAMETER_COUNT = sizeof(PARAMETERS) / sizeof(PARAMETERS[0]);

WindowLaw* make(const double* values)
{
	SmoothBicParameters parameters = {values[0], values[1], values[2], values[3], values[4] != 0};
	return new SmoothBicTcp(parameters);
}

const WindowLawEntry ENTRY = {15, "BIC TCP with a smooth part", PARAMETERS, PARAMETER_COUNT, make,
			      0, 0};
const WindowLawRegistration registration(ENTRY);

}  // namespace
