#include "folder_classes.h"

#include <dlfcn.h>
#include <sstream>
#include <stdio.h>
#include <stdlib.h>
#include <tclcl.h>

const FolderWords OF_PROTOCOL = {"agent", "protocol"};
const FolderWords OF_DISCIPLINE = {"queue", "discipline"};

// TclCL would hand the defaults of a class only to variables that C++ binds.
static const char LOAD_CLASSES[] =
	"foreach base {Agent/TCP/Protocol Agent/TCP/Linux/Module Queue/Discipline} {"
	"    SplitObject register $base;"
	"    $base instproc init args {"
	"        eval $self next $args;"
	"        set class [$self info class];"
	"        foreach name [$class info vars] {"
	"            $self set $name [$class set $name]"
	"        }"
	"    }"
	"};"
	"if {[info exists ::env(BDPBENCH_LIBRARIES)]} {"
	"    foreach file [lsort [glob -nocomplain [file join $::env(BDPBENCH_LIBRARIES) *.tcl]]] {"
	"        source $file"
	"    }"
	"}";

void load_folder_classes()
{
	static bool loaded = false;
	if (!loaded)
		Tcl::instance().eval(LOAD_CLASSES);
	loaded = true;
}

void stop_object(const char* object, const std::string& problem, const FolderWords& words)
{
	fprintf(stderr, "ns: %s %s: %s\n", words.object, object, problem.c_str());
	Tcl_Exit(1);
}

std::string FolderVariables::text(const std::string& name) const
{
	Tcl_Interp* interpreter = Tcl::instance().interp();
	const std::string script = std::string(object_) + " set " + name;
	const bool known = Tcl_Eval(interpreter, script.c_str()) == TCL_OK;
	const std::string value = known ? Tcl_GetStringResult(interpreter) : "";
	Tcl_ResetResult(interpreter);
	return value;
}

std::string FolderVariables::library() const
{
	const std::string code = words_.code;
	const std::string path = text(code + "_");
	if (path.empty())
		stop_object(object_, "has no " + code + ": set " + code + "_ before the first packet", words_);
	return path;
}

static bool lies_in(const std::string& range, double number)
{
	double least, most;
	std::istringstream bounds(range);
	if (!(bounds >> least >> most))
		return true;
	// ns-2 traps when a NaN is ordered.
	return number == number && number >= least && number <= most;
}

double FolderVariables::operator[](const char* name) const
{
	const std::string value = text(name), range = text(std::string(name) + "range_");
	char* end = 0;
	const double number = strtod(value.c_str(), &end);
	if (value.empty() || *end != '\0')
		stop_object(object_, std::string("its ") + words_.code + " needs the parameter " + name
			+ ", which is " + (value.empty() ? "not set" : "no number: " + value), words_);
	if (!lies_in(range, number))
		stop_object(object_, std::string(name) + " is " + value + ", outside its range of " + range
			+ ". Set it before `$ns run`.", words_);
	return number;
}

void* opened_library(const char* object, const std::string& path, const FolderWords& words)
{
	void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
	if (!library)
		stop_object(object, std::string("cannot load its ") + words.code + ": " + dlerror(), words);
	return library;
}

void require_interface(const char* object, const std::string& path, int found, int expected,
	const char* header, const FolderWords& words)
{
	if (found == expected)
		return;
	std::ostringstream text;
	text << path << " was made for version " << found << " of " << header
	     << ", and this ns-2 has version " << expected;
	stop_object(object, text.str(), words);
}
