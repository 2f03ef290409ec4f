#include "kept_channel.h"

#include <map>

namespace {

// The first of those that keep a channel. Never destroyed, because channels are closed at the very end.
typedef std::map<Tcl_Channel, KeptChannel*> Keepers;

Keepers& keepers()
{
	static Keepers* all = new Keepers;
	return *all;
}

int take(ClientData, const char*, int length, int*)
{
	return length;
}

int close_nothing(ClientData, Tcl_Interp*)
{
	return 0;
}

void watch_nothing(ClientData, int) {}

Tcl_Channel nowhere()
{
	static Tcl_ChannelType type;
	static Tcl_Channel channel = 0;
	if (channel == 0) {
		type.typeName = const_cast<char*>("nowhere");
		type.version = TCL_CHANNEL_VERSION_5;
		type.closeProc = close_nothing;
		type.outputProc = take;
		type.watchProc = watch_nothing;
		channel = Tcl_CreateChannel(&type, "nowhere", 0, TCL_WRITABLE);
	}
	return channel;
}

}  // namespace

void KeptChannel::change(Tcl_Channel channel)
{
	if (previous_ != 0)
		previous_->next_ = next_;
	else if (channel_ != 0 && channel_ != nowhere()) {
		if (next_ != 0)
			keepers()[channel_] = next_;
		else {
			Tcl_DeleteCloseHandler(channel_, closed, channel_);
			keepers().erase(channel_);
		}
	}
	if (next_ != 0)
		next_->previous_ = previous_;
	channel_ = channel;
	next_ = previous_ = 0;
	if (channel == 0 || channel == nowhere())
		return;
	KeptChannel*& first = keepers()[channel];
	if (first == 0)
		Tcl_CreateCloseHandler(channel, closed, channel);
	else
		first->previous_ = this;
	next_ = first;
	first = this;
}

void KeptChannel::closed(ClientData channel)
{
	const Keepers::iterator ended = keepers().find(static_cast<Tcl_Channel>(channel));
	KeptChannel* keeper = ended->second;
	keepers().erase(ended);
	while (keeper != 0) {
		KeptChannel* next = keeper->next_;
		keeper->channel_ = nowhere();
		keeper->next_ = keeper->previous_ = 0;
		keeper = next;
	}
}
