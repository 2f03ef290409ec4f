// Which parts of a packet's headers may hold anything but zeros.
#ifndef bdpbench_header_lines_h
#define bdpbench_header_lines_h

#include <stdint.h>
#include <string.h>

/*
 * The headers of a packet take 4,648 bytes unless a script removes some, of which a packet uses a few
 * hundred: its own protocol's. They are divided into lines, and a packet keeps the set of the lines
 * that somebody may have written to. The others are zero, and are neither cleared nor copied.
 *
 * Common, IP, Flags and TCP headers are taken to be used by every packet, so that access to them
 * costs nothing. Access to any other header adds all lines of that header.
 *
 * Headers up to the last of these four are near: they lie in the packet's slot. The others are far:
 * they lie in memory that a packet gets when one of its far headers is first accessed.
 */
class HeaderLines {
public:
	typedef uint64_t Set;	// bit i: line i
	enum { line = 128 };	// bytes; the last line takes what is behind it, too
	enum { slack = 64 };	// bytes that frames take beyond the header they are written to

	// The lines of the header that includes the byte at an offset.
	static Set of(unsigned offset) {
		return lines_[offset < headers_with_lines ? offset / unit : headers_with_lines / unit];
	}
	// The lines of headers that every packet uses, which are near.
	static Set common() { return common_; }
	static bool is_near(int offset) { return offset < far_from_; }
	// The lines that include near headers, and those that include far ones; one may be both.
	static Set near_ones() { return near_; }
	static Set far_ones() { return far_; }
	static void clear(unsigned char* headers, Set set) {
		const Words zero = {0, 0};
		if (set >> (lines - 1))
			clear_rest(headers);
		for (; set != 0; set &= set - 1) {
			Words* to = words(headers, set);
			to[0] = to[1] = to[2] = to[3] = zero;
			to[4] = to[5] = to[6] = to[7] = zero;
		}
	}
	static void copy(unsigned char* to_headers, const unsigned char* from_headers, Set set) {
		if (set >> (lines - 1))
			copy_rest(to_headers, from_headers);
		for (; set != 0; set &= set - 1) {
			Words* to = words(to_headers, set);
			const Words* from = words(const_cast<unsigned char*>(from_headers), set);
			to[0] = from[0]; to[1] = from[1]; to[2] = from[2]; to[3] = from[3];
			to[4] = from[4]; to[5] = from[5]; to[6] = from[6]; to[7] = from[7];
		}
	}
	// Bytes to allocate for near headers, and for far ones, whose memory begins with the byte `far_start`.
	static size_t near_room() { return near_end_; }
	static size_t far_room() { return end_ - far_start(); }
	static size_t far_start() { return far_from_ / line * line; }
	// Length and offset of each header, which may change until lay_out().
	static void add(const int* bytes, int* const* offset);
	static void lay_out();
private:
	enum { lines = 64, unit = 8, headers_with_lines = lines * line };	// bytes but the first

	// An eighth of a line, which is moved at once. Loops are written out because compilers make calls
	// of memset() or slow string instructions of them. Headers start at a cache line.
	typedef long long Words __attribute__((vector_size(16), may_alias));
	// The first line of a set.
	static Words* words(unsigned char* headers, Set set) {
		return reinterpret_cast<Words*>(headers + __builtin_ctzll(set) * line);
	}
	// What is behind the last line.
	static void clear_rest(unsigned char* headers);
	static void copy_rest(unsigned char* to, const unsigned char* from);
	static Set between(size_t first, size_t end);
	static void part();
	static size_t room(size_t bytes) { return (bytes + line - 1) / line * line; }

	static Set lines_[headers_with_lines / unit + 1];
	static Set common_, near_, far_;
	static int far_from_;	// offset of the first far header
	static size_t near_end_;	// of the near headers, rounded up to lines
	static size_t end_;	// of all headers, rounded up to lines
};

#endif
