#ifndef bdpbench_folder_classes_h
#define bdpbench_folder_classes_h

#include <string>

/**
 * Defines the subclasses whose code is in libraries: each file *.tcl of the folder that
 * BDPBENCH_PROTOCOLS names has one, with its protocol_ (the library's path), the
 * defaults of its parameters, and their ranges (NAMErange_). Does so once.
 */
void load_folder_classes();

/** What scripts set of an object of such a class. */
class FolderVariables {
public:
	explicit FolderVariables(const char* object) : object_(object) {}
	/** "" if nobody has set it. */
	std::string text(const std::string& name) const;
	/** The path of its library; ends ns-2 with a message if it has none. */
	std::string library() const;
	/** A parameter; ends ns-2 with a message if it is not set, no number, or outside its range. */
	double number(const char* name) const;

private:
	const char* object_;
};

/** A library, whose symbols only dlsym finds; ends ns-2 with a message if it cannot be loaded. */
void* opened_library(const char* object, const std::string& path);

/** Ends ns-2 with a message if a library was made for another version of an interface. */
void require_interface(const char* object, const std::string& path, int found, int expected,
	const char* header);

#endif
