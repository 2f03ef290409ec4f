#ifndef bdpbench_plain_attachment_h
#define bdpbench_plain_attachment_h

class Agent;
class Node;
struct Tcl_Interp;

// Remembers what the library's procedures are. Call this before scripts can change them.
void remember_attachment(Tcl_Interp*);

// `$node attach $agent`; false, and nothing is done, where the library's procedures are not all of it.
bool attach_plainly(Node*, Agent*);

// `$ns connect $source $sink`, in the same way.
bool connect_plainly(Agent* source, Agent* sink);

#endif
