#ifndef bdpbench_folder_classes_h
#define bdpbench_folder_classes_h

#include <string>

#include "folder_parameters.h"

/** What messages call an object whose code is in a folder, and that code. */
struct FolderWords {
	const char* object;
	const char* code;
};

extern const FolderWords OF_PROTOCOL;
extern const FolderWords OF_DISCIPLINE;

/**
 * Defines the subclasses whose code is in libraries: each file *.tcl of the folder that
 * BDPBENCH_LIBRARIES names has one, with the library's path (protocol_ or discipline_), the
 * defaults of its parameters, and their ranges (NAMErange_). Does so once.
 */
void load_folder_classes();

/** Ends ns-2 with a message that names the object, through Tcl, so that trace files are flushed. */
void stop_object(const char* object, const std::string& problem, const FolderWords& words = OF_PROTOCOL);

/** What scripts set of an object of such a class. */
class FolderVariables : public FolderParameters {
public:
	explicit FolderVariables(const char* object, const FolderWords& words = OF_PROTOCOL)
		: object_(object), words_(words)
	{
	}
	/** "" if nobody has set it. */
	std::string text(const std::string& name) const;
	/** The path of its library; ends ns-2 with a message if it has none. */
	std::string library() const;
	/** A parameter; ends ns-2 with a message if it is not set, no number, or outside its range. */
	virtual double operator[](const char* name) const;

private:
	const char* object_;
	const FolderWords& words_;
};

/** A library, whose symbols only dlsym finds; ends ns-2 with a message if it cannot be loaded. */
void* opened_library(const char* object, const std::string& path, const FolderWords& words = OF_PROTOCOL);

/** Ends ns-2 with a message if a library was made for another version of an interface. */
void require_interface(const char* object, const std::string& path, int found, int expected,
	const char* header, const FolderWords& words = OF_PROTOCOL);

#endif
