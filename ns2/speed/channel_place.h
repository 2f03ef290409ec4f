// Where the next characters of a Tcl channel go. Not together with trace.h: Tcl has a Trace, too.
#ifndef bdpbench_channel_place_h
#define bdpbench_channel_place_h

#include "tcl_internals.h"
#include <tclIO.h>

/*
 * The place in a channel's own buffer where Tcl_Write() would put the next characters.
 */
class ChannelPlace {
public:
	// There is no place unless all that Tcl_Write() would do is to copy up to `room` characters.
	ChannelPlace(Tcl_Channel channel, int room) : buffer_(0) {
		if (!known_)
			return;
		const ChannelState* state = reinterpret_cast<Channel*>(channel)->state;
		ChannelBuffer* buffer = state->curOutPtr;
		// A buffer that the text fills is Tcl's to write out.
		if (buffer != 0 && room < buffer->bufLength - buffer->nextAdded && is_plain(state))
			buffer_ = buffer;
	}
	bool exists() const { return buffer_ != 0; }
	char* text() const { return buffer_->buf + buffer_->nextAdded; }
	// The characters from text() to this end have been written.
	void add_until(const char* end) { buffer_->nextAdded = int(end - buffer_->buf); }
private:
	// Whether the channel is a file opened to write only, fully buffered, without errors, stacked
	// channels or file events.
	static bool is_plain(const ChannelState* state) {
		const int unusual = TCL_READABLE | CHANNEL_LINEBUFFERED | CHANNEL_UNBUFFERED |
			BG_FLUSH_SCHEDULED | CHANNEL_CLOSED | CHANNEL_DEAD | CHANNEL_RAW_MODE |
			CHANNEL_INCLOSE | CHANNEL_CLOSEDWRITE;
		return (state->flags & (TCL_WRITABLE | unusual)) == TCL_WRITABLE &&
			state->outputTranslation == TCL_TRANSLATE_LF &&
			state->outputEncodingFlags == 0 && state->unreportedError == 0 &&
			state->csPtrW == 0 && state->interestMask == 0 &&
			state->topChanPtr == state->bottomChanPtr;
	}
	static const bool known_;	// whether the structures are those of the Tcl that runs
	ChannelBuffer* buffer_;
};

#endif
