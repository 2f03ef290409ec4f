#include "trace_channel.h"
#include <string.h>
#include "tcl_internals.h"
#include <tclIO.h>

namespace {

// Whether all that a write does is to copy bytes into the current buffer, once it has room: for a
// file opened to write only, fully buffered, without errors, stacked channels or file events.
bool is_plain(const ChannelState* state)
{
	const int unusual = TCL_READABLE | CHANNEL_LINEBUFFERED | CHANNEL_UNBUFFERED |
		BG_FLUSH_SCHEDULED | CHANNEL_CLOSED | CHANNEL_DEAD | CHANNEL_RAW_MODE |
		CHANNEL_INCLOSE | CHANNEL_CLOSEDWRITE;
	return (state->flags & (TCL_WRITABLE | unusual)) == TCL_WRITABLE &&
		state->outputTranslation == TCL_TRANSLATE_LF && state->outputEncodingFlags == 0 &&
		state->unreportedError == 0 && state->csPtrW == 0 && state->interestMask == 0 &&
		state->topChanPtr == state->bottomChanPtr;
}

}  // namespace

int write_to_channel(Tcl_Channel channel, const char* text, int length)
{
	static const bool known = compiled_for_this_tcl();
	if (known) {
		ChannelState* state = reinterpret_cast<Channel*>(channel)->state;
		ChannelBuffer* buffer = state->curOutPtr;
		// A buffer that the text fills is Tcl's to write out.
		if (buffer != 0 && length < buffer->bufLength - buffer->nextAdded && is_plain(state)) {
			memcpy(buffer->buf + buffer->nextAdded, text, length);
			buffer->nextAdded += length;
			return length;
		}
	}
	return Tcl_Write(channel, text, length);
}
