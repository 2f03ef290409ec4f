/*
 * The memory of Tcl: its own functions TclpAlloc(), TclpFree() and TclpRealloc(), which the dynamic
 * linker takes from the program before it looks into Tcl's library.
 *
 * Tcl asks for a small piece of memory dozens of times a command. Its own allocator, which is for many
 * threads, looks up the thread at each call and rounds sizes up to powers of 2; here a list of free
 * pieces of each size belongs to each thread, and sizes are multiples of 16 bytes. A piece that another
 * thread frees stays with that one.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace {

// A piece is a count of units and what Tcl gets, which is aligned to a unit.
const size_t unit = 16;
const size_t head = sizeof(uint64_t);
const size_t most_units = 32;
const size_t chunk = 64 * 1024;

struct Free {
	Free* next;
};

__thread Free* free_pieces[most_units + 1];	// by units
__thread char* unused = 0;
__thread size_t unused_units = 0;

// Units of a piece; 0 if it is a block of malloc()'s.
inline uint64_t& units_of(void* memory)
{
	return *reinterpret_cast<uint64_t*>(static_cast<char*>(memory) - head);
}

inline size_t units_for(size_t size)
{
	return (size + head + unit - 1) / unit;
}

inline void give_back(void* memory, size_t units)
{
	Free* piece = static_cast<Free*>(memory);
	piece->next = free_pieces[units];
	free_pieces[units] = piece;
}

// What is left of the chunk before becomes a free piece.
bool get_chunk()
{
	char* memory = static_cast<char*>(malloc(chunk));
	if (memory == 0)
		return false;
	if (unused_units > 0) {
		units_of(unused) = unused_units;
		give_back(unused, unused_units);
	}
	unused = memory + unit;
	unused_units = chunk / unit - 1;
	return true;
}

char* take_unused(size_t units)
{
	if (unused_units < units && !get_chunk())
		return 0;
	char* memory = unused;
	unused += units * unit;
	unused_units -= units;
	units_of(memory) = units;
	return memory;
}

char* large(size_t size)
{
	char* block = static_cast<char*>(malloc(size + unit));
	if (block == 0)
		return 0;
	units_of(block + unit) = 0;
	return block + unit;
}

}  // namespace

extern "C" {

char* TclpAlloc(unsigned int size)
{
	const size_t units = units_for(size);
	if (units > most_units)
		return large(size);
	Free* piece = free_pieces[units];
	if (piece == 0)
		return take_unused(units);
	free_pieces[units] = piece->next;
	return reinterpret_cast<char*>(piece);
}

void TclpFree(char* memory)
{
	if (memory == 0)
		return;
	const size_t units = units_of(memory);
	if (units == 0)
		free(memory - unit);
	else
		give_back(memory, units);
}

char* TclpRealloc(char* memory, unsigned int size)
{
	if (memory == 0)
		return TclpAlloc(size);
	const size_t units = units_of(memory), wanted = units_for(size);
	if (units == 0 && wanted > most_units) {
		char* block = static_cast<char*>(realloc(memory - unit, size_t(size) + unit));
		return block == 0 ? 0 : block + unit;
	}
	if (units == wanted)
		return memory;
	char* moved = TclpAlloc(size);
	if (moved == 0)
		return 0;
	const size_t before = units == 0 ? size : units * unit - head;
	memcpy(moved, memory, before < size ? before : size);
	TclpFree(memory);
	return moved;
}

}
