#ifndef bdpbench_object_variables_h
#define bdpbench_object_variables_h

struct OTclObject;
struct Tcl_Interp;

// Takes over `SplitObject set`, `Agent set`, `SplitObject init-instvar`, `SplitObject unknown`,
// `Simulator now` and `Simulator at` from their Tcl procedures, which get each call that is out of the
// ordinary.
void install_object_variables(Tcl_Interp*);

// Takes over `SplitObject sampled`, if a script has defined it as bdpbench's tcl/lib/utils.tcl does.
void take_sampling(Tcl_Interp*);

// Takes over `SplitObject register`. Call this before TclCL binds its classes.
void take_registration();

// `lappend list element` in a method of an object.
void append_element(Tcl_Interp*, OTclObject*, const char* list, const char* element);

// `set array(index) value` in a method of an object.
void set_element(Tcl_Interp*, OTclObject*, const char* array, int index, const char* value);

#endif
