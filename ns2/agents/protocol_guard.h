#ifndef bdpbench_protocol_guard_h
#define bdpbench_protocol_guard_h

/**
 * Ends ns-2 with a sentence if a protocol's code does not come back, or divides by zero:
 * while an object of this class exists, such code runs.
 */
class ProtocolGuard {
public:
	ProtocolGuard(const char* agent, const char* function);
	~ProtocolGuard();
};

#endif
