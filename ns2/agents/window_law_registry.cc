#include "window_law_registry.h"

// A static variable of a function, since the registrations of other files run before main().
static std::vector<WindowLawEntry>& entries()
{
	static std::vector<WindowLawEntry> all;
	return all;
}

const std::vector<WindowLawEntry>& window_laws()
{
	return entries();
}

WindowLawRegistration::WindowLawRegistration(const WindowLawEntry& entry)
{
	entries().push_back(entry);
}
