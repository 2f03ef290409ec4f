#include "header_lines.h"

#include <algorithm>
#include <vector>

#include "flags.h"
#include "ip.h"
#include "packet.h"
#include "tcp.h"

HeaderLines::Set HeaderLines::lines_[headers_with_lines / unit + 1];
HeaderLines::Set HeaderLines::common_ = 0;
HeaderLines::Set HeaderLines::near_ = 0;
HeaderLines::Set HeaderLines::far_ = 0;
int HeaderLines::far_from_ = 0;
size_t HeaderLines::near_end_ = 0;
size_t HeaderLines::end_ = 0;

namespace {

struct Header {
	const int* bytes;
	int* const* offset;	// 0 if no C++ asks for it
};

// Headers register while static objects are made.
std::vector<Header>& all_headers()
{
	static std::vector<Header> headers;
	return headers;
}

bool is_common(const int* offset)
{
	return offset == &hdr_cmn::offset_ || offset == &hdr_ip::offset_ ||
		offset == &hdr_flags::offset_ || offset == &hdr_tcp::offset_;
}

// A script may remove headers.
bool has_place(const int* offset)
{
	return offset != 0 && (*offset != 0 || offset == &hdr_cmn::offset_);
}

// Where a header ends, with what frames take beyond the header they are written to.
size_t end_of(const Header& header)
{
	const int* offset = *header.offset;
	return *offset + *header.bytes + (is_common(offset) ? 0 : HeaderLines::slack);
}

}  // namespace

void HeaderLines::add(const int* bytes, int* const* offset)
{
	const Header header = {bytes, offset};
	all_headers().push_back(header);
}

void HeaderLines::clear_rest(unsigned char* headers)
{
	if (end_ > headers_with_lines)
		memset(headers + headers_with_lines, 0, end_ - headers_with_lines);
}

void HeaderLines::copy_rest(unsigned char* to, const unsigned char* from)
{
	if (end_ > headers_with_lines)
		memcpy(to + headers_with_lines, from + headers_with_lines, end_ - headers_with_lines);
}

// The lines of the bytes from `first` to before `end` that are within the headers.
HeaderLines::Set HeaderLines::between(size_t first, size_t end)
{
	Set set = 0;
	for (size_t i = first / line; i * line < end && i * line < end_ && i < lines; ++i)
		set |= Set(1) << i;
	if (end > headers_with_lines && end_ > headers_with_lines)
		set |= Set(1) << (lines - 1);
	return set;
}

// Divide headers into near and far ones. Others between the common ones are near, too, and what is written
// beyond the end of a header stays in the same memory.
void HeaderLines::part()
{
	const std::vector<Header>& headers = all_headers();
	int last_common = 0;
	for (size_t i = 0; i < headers.size(); ++i) {
		const int* offset = *headers[i].offset;
		if (has_place(offset) && is_common(offset))
			last_common = std::max(last_common, *offset);
	}
	near_end_ = 0;
	far_from_ = Packet::hdrlen_;
	for (size_t i = 0; i < headers.size(); ++i) {
		const int* offset = *headers[i].offset;
		if (has_place(offset) && *offset <= last_common)
			near_end_ = std::max(near_end_, room(end_of(headers[i])));
	}
	for (size_t i = 0; i < headers.size(); ++i) {
		const int* offset = *headers[i].offset;
		if (has_place(offset) && *offset > last_common && end_of(headers[i]) > near_end_)
			far_from_ = std::min(far_from_, *offset);
	}
	near_ = between(0, near_end_);
	far_ = far_start() > 0 ? ~between(0, far_start()) : ~Set(0);
}

// Call this when a header gets its place, or the headers get another length.
void HeaderLines::lay_out()
{
	end_ = room(Packet::hdrlen_);
	part();
	common_ = 0;
	for (size_t i = 0; i <= headers_with_lines / unit; ++i)
		lines_[i] = between(i * unit, i * unit + unit);
	const std::vector<Header>& headers = all_headers();
	for (size_t i = 0; i < headers.size(); ++i) {
		const int* offset = *headers[i].offset;
		if (offset == 0)
			continue;
		const size_t first = *offset, end = first + *headers[i].bytes;
		if (is_common(offset))
			common_ |= between(first, end);
		for (size_t at = first; at < end; at += unit)
			lines_[at < headers_with_lines ? at / unit : headers_with_lines / unit] |=
				between(at, end + slack);
	}
}
