#ifndef bdpbench_folder_guard_h
#define bdpbench_folder_guard_h

#include "folder_classes.h"

/**
 * Ends ns-2 with a sentence if code of a folder does not come back, divides by zero, ends the
 * program, or uses memory that there is not: while an object of this class exists, such code runs.
 */
class FolderGuard {
public:
	FolderGuard(const char* object, const char* function, const FolderWords& words = OF_PROTOCOL);
	~FolderGuard();
};

#endif
