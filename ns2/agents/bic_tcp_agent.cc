// BIC TCP as windowOption_ 12 of every Agent/TCP.

#include "bic_tcp.h"
#include "window_law_registry.h"

namespace {

const LawParameter PARAMETERS[] = {
	{"bic_beta_", 0.01, 0.99, "(share of cwnd kept)"},
	{"bic_B_", 2, 1000, ""},
	{"bic_max_increment_", 0, 1000000, "packets per RTT"},
	{"bic_min_increment_", 0, 1000000, "packets per RTT"},
	{"bic_fast_convergence_", 0, 1, "(off or on)"},
	{"bic_low_utilization_threshold_", 0, 1, "(share of the largest queueing delay)"},
	{"bic_low_utilization_checking_period_", 0.001, 1000000, "s"},
};
const int PARAMETER_COUNT = sizeof(PARAMETERS) / sizeof(PARAMETERS[0]);

const char* const OBSERVATIONS[] = {
	"bic_delay_min_",
	"bic_delay_avg_",
	"bic_delay_max_",
	"bic_low_utilization_indication_",
};
const int OBSERVATION_COUNT = sizeof(OBSERVATIONS) / sizeof(OBSERVATIONS[0]);

WindowLaw* make(const double* values)
{
	BicParameters parameters = {values[0], values[1], values[2], values[3],
				    values[4] != 0, values[5], values[6]};
	return new BicTcp(parameters);
}

const WindowLawEntry ENTRY = {12, "BIC TCP", PARAMETERS, PARAMETER_COUNT, make,
			      OBSERVATIONS, OBSERVATION_COUNT};
const WindowLawRegistration registration(ENTRY);

}  // namespace
