// Structures of Tcl's own, which may change from release to release.
#ifndef bdpbench_tcl_internals_h
#define bdpbench_tcl_internals_h

#define HAVE_UNISTD_H 1	// or Tcl looks for replacements
#include <tclInt.h>

// Whether the Tcl that runs is the one whose structures were compiled.
inline bool compiled_for_this_tcl()
{
	int major, minor, serial, type;
	Tcl_GetVersion(&major, &minor, &serial, &type);
	return major == TCL_MAJOR_VERSION && minor == TCL_MINOR_VERSION &&
		serial == TCL_RELEASE_SERIAL && type == TCL_RELEASE_LEVEL;
}

#endif
