#ifndef bdpbench_window_law_registry_h
#define bdpbench_window_law_registry_h

#include <vector>

#include "law_parameter.h"
#include "window_law.h"

/** A window law with the windowOption_ by which scripts choose it. */
struct WindowLawEntry {
	int option;
	const char* name;
	const LawParameter* parameters;
	int parameter_count;
	/** Makes a law from its parameters' values, in their order. */
	WindowLaw* (*make)(const double* values);
	/** Variables of Agent/TCP that scripts read: what the law's observe() writes, if anything. */
	const char* const* observations;
	int observation_count;
};

/** All registered laws; complete once main() runs. */
const std::vector<WindowLawEntry>& window_laws();

/** A static object of this class in an adapter's file registers its law. */
class WindowLawRegistration {
public:
	explicit WindowLawRegistration(const WindowLawEntry& entry);
};

#endif
