#ifndef bdpbench_protocol_guard_h
#define bdpbench_protocol_guard_h

/**
 * Ends ns-2 with a sentence if a protocol's code does not come back, divides by zero, ends the
 * program, or uses memory that there is not: while an object of this class exists, such code runs.
 */
class ProtocolGuard {
public:
	ProtocolGuard(const char* agent, const char* function);
	~ProtocolGuard();
};

#endif
