// CUBIC of 2005 as windowOption_ 13 of every Agent/TCP.

#include "cubic_tcp.h"
#include "window_law_registry.h"

namespace {

const LawParameter PARAMETERS[] = {
	{"cubic_beta_", 0.01, 0.99, "(share of cwnd kept)"},
	{"cubic_max_increment_", 0, 1000000, "packets per 0.2 s"},
	{"cubic_fast_convergence_", 0, 1, "(off or on)"},
	{"cubic_scale_", 0.000001, 1000000, "packets/s^3"},
	{"cubic_tcp_friendliness_", 0, 1, "(off or on)"},
	{"cubic_low_utilization_threshold_", 0, 1, "(share of the largest queueing delay)"},
	{"cubic_low_utilization_checking_period_", 0.001, 1000000, "s"},
};
const int PARAMETER_COUNT = sizeof(PARAMETERS) / sizeof(PARAMETERS[0]);

const char* const OBSERVATIONS[] = {
	"cubic_delay_min_",
	"cubic_delay_avg_",
	"cubic_delay_max_",
	"cubic_low_utilization_indication_",
};
const int OBSERVATION_COUNT = sizeof(OBSERVATIONS) / sizeof(OBSERVATIONS[0]);

WindowLaw* make(const double* values)
{
	CubicParameters parameters = {values[0], values[1], values[2] != 0, values[3],
				      values[4] != 0, values[5], values[6]};
	return new CubicTcp(parameters);
}

const WindowLawEntry ENTRY = {13, "CUBIC of 2005", PARAMETERS, PARAMETER_COUNT, make,
			      OBSERVATIONS, OBSERVATION_COUNT};
const WindowLawRegistration registration(ENTRY);

}  // namespace
