// Memory of packets: slots of equal size in large blocks, with the near headers after the packet.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "packet.h"

namespace {

const size_t cache_line = 64;	// bytes
const size_t huge_page = 2 << 20;	// bytes
const size_t first_block = 64 << 10;	// bytes: a simulation with few packets stays small
const size_t abort_bytes = 4 << 20;	// malloc() asks for at least 1 MB where the heap cannot grow

size_t rounded_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

char* mapped(size_t bytes)
{
	void* block = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return block == MAP_FAILED ? 0 : static_cast<char*>(block);
}

// A huge page at its own boundary. Systems place most mappings there, or below the last one; else
// twice the space is mapped and the ends are given back.
char* new_huge_page()
{
	char* block = mapped(huge_page);
	if (block != 0 && (size_t)block % huge_page != 0) {
		munmap(block, huge_page);
		block = mapped(2 * huge_page);
		if (block == 0)
			return mapped(huge_page);
		const size_t before = huge_page - (size_t)block % huge_page;
		munmap(block, before);
		block += before;
		if (before < huge_page)
			munmap(block + huge_page, huge_page - before);
	}
	if (block != 0)
		madvise(block, huge_page, MADV_HUGEPAGE);
	return block;
}

// Zeroed memory, or null if there is none; pages of 2 MB save address translations.
char* new_block(size_t bytes)
{
	if (bytes == huge_page)
		return new_huge_page();
	void* block = 0;
	if (posix_memalign(&block, cache_line, bytes) != 0)
		return 0;
	return static_cast<char*>(memset(block, 0, bytes));
}

// Zeroed memory for at least one piece, and how much it is; blocks double in size up to a huge page.
class Blocks {
public:
	Blocks() : next_bytes_(first_block) {}
	char* get(size_t piece, size_t& bytes);
private:
	size_t next_bytes_;
};

char* Blocks::get(size_t piece, size_t& bytes)
{
	// ns-2's abort() writes traces out by Tcl, which would call it again if it got no memory at all.
	static void* reserve = malloc(abort_bytes);
	bytes = std::max(piece, next_bytes_);
	char* block = new_block(bytes);
	// Where memory is limited, a smaller block may still fit.
	while (block == 0 && bytes / 2 >= piece)
		block = new_block(bytes /= 2);
	if (block == 0) {
		fprintf(stderr, "ns: no memory for packets: %s\n", strerror(ENOMEM));
		if (reserve == 0)
			_exit(1);
		free(reserve);
		abort();
	}
	if (next_bytes_ < huge_page)
		next_bytes_ *= 2;
	return block;
}

}  // namespace

// The free list, which is empty when this is called.
Packet* Packet::more()
{
	typedef char headers_lie_behind_the_packet[sizeof(Packet) <= header_place ? 1 : -1];
	static Blocks blocks;
	HeaderLines::lay_out();
	const size_t slot_bytes = rounded_up(header_place + HeaderLines::near_room(), cache_line);
	size_t bytes;
	char* block = blocks.get(slot_bytes, bytes);
	for (size_t i = bytes / slot_bytes; i-- > 0;) {
		Packet* p = new (block + i * slot_bytes) Packet;
		p->next_ = free_;
		free_ = p;
	}
	return free_;
}

// Far headers stay with their slot.
void Packet::get_far() const
{
	static Blocks blocks;
	static char* rest = 0;
	static size_t rest_bytes = 0;
	const size_t piece = rounded_up(HeaderLines::far_room(), cache_line);
	if (rest_bytes < piece)
		rest = blocks.get(piece, rest_bytes);
	far_ = (unsigned char*)rest - HeaderLines::far_start();
	rest += piece;
	rest_bytes -= piece;
}

// Packets whose slots have the old size are not used any more.
void Packet::forget_free()
{
	free_ = 0;
	HeaderLines::lay_out();
}
