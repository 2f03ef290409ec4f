// Modified Scalable TCP as windowOption_ 14 of every Agent/TCP. It has no variables, so
// ns-default.tcl needs no patch for it.

#include "modified_scalable_tcp.h"
#include "window_law_registry.h"

namespace {

WindowLaw* make(const double*)
{
	return new ModifiedScalableTcp;
}

const WindowLawEntry ENTRY = {14, "modified Scalable TCP", 0, 0, make};
const WindowLawRegistration registration(ENTRY);

}  // namespace
