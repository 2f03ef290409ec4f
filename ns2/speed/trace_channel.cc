#include "trace_channel.h"
#include <string.h>
#include "channel_place.h"

const bool ChannelPlace::known_ = compiled_for_this_tcl();

int write_to_channel(Tcl_Channel channel, const char* text, int length)
{
	ChannelPlace place(channel, length);
	if (!place.exists())
		return Tcl_Write(channel, text, length);
	memcpy(place.text(), text, length);
	place.add_until(place.text() + length);
	return length;
}
