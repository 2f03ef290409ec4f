#ifndef bdpbench_handshake_echo_h
#define bdpbench_handshake_echo_h

/**
 * Whether the ECN echo of an acknowledgement tells of a mark. The first packet asks for ECN, and what its
 * acknowledgement echoes is the receiver's consent (RFC 3168, section 6.1.1).
 */
inline bool tells_mark(bool echo, int ackno)
{
	return echo && ackno > 0;
}

#endif
