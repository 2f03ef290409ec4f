// Scalable TCP as windowOption_ 9 of every Agent/TCP.

#include "scalable_tcp.h"
#include "window_law_registry.h"

namespace {

const LawParameter PARAMETERS[] = {
	{"scalable_lwnd_", 1, 1000000, "packets"},
};

WindowLaw* make(const double* values)
{
	return new ScalableTcp(values[0]);
}

const WindowLawEntry ENTRY = {9, "Scalable TCP", PARAMETERS, 1, make};
const WindowLawRegistration registration(ENTRY);

}  // namespace
