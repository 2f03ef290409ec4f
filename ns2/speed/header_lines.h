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
 */
class HeaderLines {
public:
	typedef uint64_t Set;	// bit i: line i
	enum { line = 128 };	// bytes; the last line takes what is behind it, too

	// The lines of the header that includes the byte at an offset.
	static Set of(unsigned offset) {
		return lines_[offset < headers_with_lines ? offset / unit : headers_with_lines / unit];
	}
	// The lines of headers that every packet uses.
	static Set common() { return common_; }
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
	// Bytes to allocate for headers of a length.
	static size_t room(size_t bytes) { return (bytes + line - 1) / line * line; }
	// Length and offset of each header, which may change until lay_out().
	static void add(const int* bytes, int* const* offset);
	static void lay_out();
private:
	enum { lines = 64, unit = 8, headers_with_lines = lines * line };	// bytes but the first
	enum { slack = 64 };	// bytes that frames take beyond the header they are written to

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

	static Set lines_[headers_with_lines / unit + 1];
	static Set common_;
	static size_t end_;	// of the headers, rounded up to lines
};

#endif
