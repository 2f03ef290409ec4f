/*
 * The memory of arrays of 1 to 2 kB, such as the data of a packet and the chunks of SCTP: what is given
 * back is kept for the next one of its size. malloc() keeps only smaller pieces at hand, and merges and
 * divides these each time.
 */
#include <malloc.h>
#include <stddef.h>
#include <new>

namespace {

const size_t step = 128, least = 1024, most = 2048;
// What malloc() gives of a multiple of 128 bytes: its own head takes 8 more, and it rounds up to 16.
const size_t slack = 8;

struct FreeArray {
	FreeArray* next;
};

__thread FreeArray* free_arrays[most / step + 1];	// by steps

}  // namespace

void* operator new[](size_t size) throw(std::bad_alloc)
{
	if (size <= least || size > most)
		return operator new(size);
	const size_t steps = (size + step - 1) / step;
	FreeArray* const first = free_arrays[steps];
	if (first == 0)
		return operator new(steps * step);
	free_arrays[steps] = first->next;
	return first;
}

void operator delete[](void* memory) throw()
{
	const size_t size = memory != 0 ? malloc_usable_size(memory) - slack : 0;
	if (size <= least || size > most || size % step != 0)
		return operator delete(memory);
	FreeArray* const array = static_cast<FreeArray*>(memory);
	array->next = free_arrays[size / step];
	free_arrays[size / step] = array;
}
