// A Tcl channel that C++ keeps to write to.
#ifndef bdpbench_kept_channel_h
#define bdpbench_kept_channel_h

#include <tcl.h>

/*
 * Used like the Tcl_Channel that it is set to, until a script closes that one. From then on it is a
 * channel that takes everything and writes nothing, so that a trace ends with its channel, and
 * whatever gets the memory of the closed channel is left alone.
 */
class KeptChannel {
public:
	KeptChannel(Tcl_Channel channel = 0) : channel_(0), next_(0), previous_(0) { keep(channel); }
	KeptChannel(const KeptChannel& other) : channel_(0), next_(0), previous_(0) { keep(other.channel_); }
	~KeptChannel() { keep(0); }
	KeptChannel& operator=(Tcl_Channel channel) { keep(channel); return *this; }
	KeptChannel& operator=(const KeptChannel& other) { keep(other.channel_); return *this; }
	operator Tcl_Channel() const { return channel_; }
private:
	void keep(Tcl_Channel channel) {
		if (channel != channel_)
			change(channel);
	}
	void change(Tcl_Channel channel);
	static void closed(ClientData);

	Tcl_Channel channel_;
	KeptChannel* next_;	// others that keep the same channel
	KeptChannel* previous_;
};

#endif
