// Memory of packets: slots of equal size in large blocks, with the headers after the packet.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "packet.h"

namespace {

const size_t cache_line = 64;	// bytes
const size_t huge_page = 2 << 20;	// bytes
const size_t first_block = 64 << 10;	// bytes: a simulation with few packets stays small

size_t rounded_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

// Zeroed memory; pages of 2 MB, where the system has them, save address translations.
char* new_block(size_t bytes)
{
	void* block = 0;
	if (posix_memalign(&block, bytes < huge_page ? cache_line : huge_page, bytes) != 0)
		abort();
	if (bytes >= huge_page)
		madvise(block, bytes, MADV_HUGEPAGE);
	memset(block, 0, bytes);
	return static_cast<char*>(block);
}

}  // namespace

// The free list, which is empty when this is called. Blocks double in size up to a huge page.
Packet* Packet::more()
{
	typedef char headers_lie_behind_the_packet[sizeof(Packet) <= header_place ? 1 : -1];
	static size_t block_bytes = first_block;
	const size_t slot_bytes = rounded_up(header_place + hdrlen_, cache_line);
	const size_t bytes = slot_bytes > block_bytes ? slot_bytes : block_bytes;
	char* block = new_block(bytes);
	for (size_t i = bytes / slot_bytes; i-- > 0;) {
		Packet* p = new (block + i * slot_bytes) Packet;
		p->next_ = free_;
		free_ = p;
	}
	if (block_bytes < huge_page)
		block_bytes *= 2;
	return free_;
}

// Packets whose slots have the old size are not used any more.
void Packet::forget_free()
{
	free_ = 0;
}
