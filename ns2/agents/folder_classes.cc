#include "folder_classes.h"

#include <dlfcn.h>
#include <sstream>
#include <stdlib.h>
#include <tclcl.h>

#include "law_parameter.h"

// TclCL would hand the defaults of a class only to variables that C++ binds.
static const char LOAD_CLASSES[] =
	"foreach base {Agent/TCP/Protocol Agent/TCP/Linux/Module} {"
	"    SplitObject register $base;"
	"    $base instproc init args {"
	"        eval $self next $args;"
	"        set class [$self info class];"
	"        foreach name [$class info vars] {"
	"            $self set $name [$class set $name]"
	"        }"
	"    }"
	"};"
	"if {[info exists ::env(BDPBENCH_PROTOCOLS)]} {"
	"    foreach file [lsort [glob -nocomplain [file join $::env(BDPBENCH_PROTOCOLS) *.tcl]]] {"
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
	const std::string path = text("protocol_");
	if (path.empty())
		stop_ns(object_, "has no protocol: set protocol_ before it sends");
	return path;
}

double FolderVariables::number(const char* name) const
{
	const std::string value = text(name);
	char* end = 0;
	const double number = strtod(value.c_str(), &end);
	if (value.empty() || *end != '\0')
		stop_ns(object_, std::string("its protocol needs the parameter ") + name + ", which is "
			+ (value.empty() ? "not set" : "no number: " + value));
	std::istringstream range(text(std::string(name) + "range_"));
	double least, most;
	if (range >> least >> most) {
		const LawParameter parameter = {name, least, most, ""};
		require_in_range(object_, parameter, number);
	}
	return number;
}

void* opened_library(const char* object, const std::string& path)
{
	void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
	if (!library)
		stop_ns(object, std::string("cannot load its protocol: ") + dlerror());
	return library;
}

void require_interface(const char* object, const std::string& path, int found, int expected,
	const char* header)
{
	if (found == expected)
		return;
	std::ostringstream text;
	text << path << " was made for version " << found << " of " << header
	     << ", and this ns-2 has version " << expected;
	stop_ns(object, text.str());
}
