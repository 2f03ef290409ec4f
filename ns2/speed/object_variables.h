#ifndef bdpbench_object_variables_h
#define bdpbench_object_variables_h

struct Tcl_Interp;

// Takes over `SplitObject set`, `Agent set` and `SplitObject init-instvar` from their Tcl
// procedures, which get each call that is out of the ordinary.
void install_object_variables(Tcl_Interp*);

#endif
