#include "plain_attachment.h"
#include <stdlib.h>
#include <string.h>
#include <map>
#include <string>
#include "classifier.h"
#include "node.h"
#include "object_variables.h"
#include "scheduler.h"
#include "tcp.h"
#include "tcp-sink.h"

namespace {

// What scripts could change: the procedures of the library that are left out here, what these call,
// and classes and objects that have one of their own.
const char questions[] =
	"namespace eval ::otcl {\n"
	"    variable left_out {\n"
	"        set instvar info cmd unknown next target attach add-target entry demux install\n"
	"        node nullagent connect simplex-connect instance addr2id\n"
	"    }\n"
	"}\n"
	"proc ::otcl::own_of {what kind} {\n"
	"    set found {}\n"
	"    foreach name [lsort [$what info ${kind}procs]] {\n"
	"        if {$name in $::otcl::left_out} {lappend found $name}\n"
	"    }\n"
	"    return $found\n"
	"}\n"
	"proc ::otcl::attachment {} {\n"
	"    set classes {}\n"
	"    foreach class {Agent Node RtModule/Base Classifier/Port Simulator} {\n"
	"        lappend classes $class {*}[$class info heritage]\n"
	"    }\n"
	"    set found [AddrParams info body addr2id][Simulator info body instance]\n"
	"    foreach class [lsort -unique $classes] {\n"
	"        foreach name [own_of $class inst] {\n"
	"            lappend found $class $name [$class info instargs $name] \\\n"
	"                [$class info instbody $name]\n"
	"        }\n"
	"    }\n"
	"    return $found\n"
	"}\n"
	"proc ::otcl::is_plain_node {node} {\n"
	"    set objects [list $node [$node set ptnotif_] [$node set dmux_]]\n"
	"    foreach object $objects class {Node RtModule/Base Classifier/Port} {\n"
	"        if {[llength $object] != 1 || [$object info class] ne $class\n"
	"                || [own_of $object {}] ne {}} {return 0}\n"
	"    }\n"
	"    return [expr {[[lindex $objects 1] node] eq $node}]\n"
	"}\n"
	"proc ::otcl::is_plain_class {class} {\n"
	"    set classes [list $class {*}[$class info heritage]]\n"
	"    foreach below [lrange $classes 0 [lsearch -exact $classes Agent]-1] {\n"
	"        if {[own_of $below inst] ne {}} {return 0}\n"
	"    }\n"
	"    return [expr {[lindex [split $class /] 1] ni {SCTP AbsTCP}}]\n"
	"}\n";

const char attachment[] = "::otcl::attachment";

// The answer before a script ran; empty where nothing is to be left out.
std::string of_library;

std::string answer(Tcl_Interp* in, const std::string& question)
{
	return Tcl_EvalEx(in, question.c_str(), -1, TCL_EVAL_GLOBAL) == TCL_OK ?
		Tcl_GetStringResult(in) : "";
}

// The value of an object's variable; "" if it has none.
const char* value_of(OTclObject* object, Tcl_Interp* in, const char* name)
{
	const char* value = object != 0 ? OTclGetInstVar(object, in, name, 0) : 0;
	return value != 0 ? value : "";
}

template <class T> T* named(const std::string& name)
{
	return dynamic_cast<T*>(TclObject::lookup(name.c_str()));
}

// A node whose procedures are the library's.
struct PlainNode {
	OTclObject* object;
	std::string module, demux, entry;
	nsaddr_t address;
	Classifier* demultiplexer;
	OTclObject* demultiplexer_object;
	NsObject* first;

	// Whether it has still the parts that were asked for.
	bool is_current(Tcl_Interp* in) const
	{
		return demux == value_of(object, in, "dmux_") &&
			entry == value_of(object, in, "classifier_") &&
			module == value_of(object, in, "ptnotif_");
	}
};

// What was asked, once in each second of simulated time.
class Answers {
public:
	bool are_plain(Tcl_Interp*);
	const PlainNode* node(Tcl_Interp*, Node*);
	bool is_plain(Tcl_Interp*, Agent*);

	const std::string& simulator() const { return simulator_; }
	OTclObject* simulator_object() const { return simulator_object_; }
	NsObject* null_agent() const { return null_agent_; }

private:
	void ask_anew(Tcl_Interp*);
	bool is_of_plain_class(Tcl_Interp*, const std::string& agent);

	double asked_s_;
	bool plain_;
	std::string simulator_;
	OTclObject* simulator_object_;
	NsObject* null_agent_;
	std::map<std::string, PlainNode> nodes_;	// by their names, which are never given again
	std::map<std::string, bool> agents_, classes_;
};

Answers answers;

bool Answers::are_plain(Tcl_Interp* in)
{
	if (of_library.empty())
		return false;
	const double now_s = Scheduler::instance().clock();
	if (simulator_.empty() || now_s < asked_s_ || now_s >= asked_s_ + 1) {
		ask_anew(in);
		asked_s_ = now_s;
	}
	return plain_;
}

void Answers::ask_anew(Tcl_Interp* in)
{
	nodes_.clear();
	agents_.clear();
	classes_.clear();
	simulator_ = answer(in, "Simulator instance");
	simulator_object_ = OTclGetObject(in, simulator_.c_str());
	null_agent_ = named<NsObject>(value_of(simulator_object_, in, "nullAgent_"));
	plain_ = answer(in, attachment) == of_library && null_agent_ != 0 &&
		answer(in, "::otcl::own_of " + simulator_ + " {}").empty();
}

const PlainNode* Answers::node(Tcl_Interp* in, Node* node)
{
	const std::string name(node->name());
	const bool is_new = nodes_.find(name) == nodes_.end();
	PlainNode& known = nodes_[name];
	if (is_new && answer(in, "::otcl::is_plain_node " + name) == "1") {
		known.object = OTclGetObject(in, name.c_str());
		known.module = value_of(known.object, in, "ptnotif_");
		known.demux = value_of(known.object, in, "dmux_");
		known.entry = value_of(known.object, in, "classifier_");
		const std::string address = value_of(known.object, in, "address_");
		known.address = atoi(answer(in, "AddrParams addr2id " + address).c_str());
		known.demultiplexer = named<Classifier>(known.demux);
		known.demultiplexer_object = OTclGetObject(in, known.demux.c_str());
		known.first = named<NsObject>(known.entry);
	}
	const bool is_plain = known.demultiplexer != 0 && known.first != 0;
	return is_plain && known.is_current(in) ? &known : 0;
}

bool Answers::is_of_plain_class(Tcl_Interp* in, const std::string& agent)
{
	const std::string cl = answer(in, agent + " info class");
	const std::map<std::string, bool>::iterator known = classes_.find(cl);
	return known != classes_.end() ? known->second :
		classes_[cl] = answer(in, "::otcl::is_plain_class " + cl) == "1";
}

// Whether this is an agent of TCP, and neither it nor its class has procedures instead of the library's.
bool Answers::is_plain(Tcl_Interp* in, Agent* agent)
{
	if (dynamic_cast<TcpAgent*>(agent) == 0 && dynamic_cast<TcpSink*>(agent) == 0)
		return false;
	const std::string name(agent->name());
	const std::map<std::string, bool>::iterator known = agents_.find(name);
	if (known != agents_.end())
		return known->second;
	// Most have none, or the one that ns-2 calls when all is acknowledged.
	const std::string own = answer(in, name + " info procs");
	const bool has_none = own.empty() || own == "done" ||
		answer(in, "::otcl::own_of " + name + " {}").empty();
	return agents_[name] = has_none && is_of_plain_class(in, name);
}

}  // namespace

void remember_attachment(Tcl_Interp* in)
{
	if (Tcl_EvalEx(in, questions, -1, TCL_EVAL_GLOBAL) == TCL_OK)
		of_library = answer(in, attachment);
}

bool attach_plainly(Node* node, Agent* agent)
{
	Tcl_Interp* const in = Tcl::instance().interp();
	const PlainNode* known;
	if (!answers.are_plain(in) || !answers.is_plain(in, agent) ||
	    (known = answers.node(in, node)) == 0)
		return false;
	append_element(in, known->object, "agents_", agent->name());
	OTclSetInstVar(OTclGetObject(in, agent->name()), in, "node_", node->name(), 0);
	agent->addr() = known->address;
	agent->port() = known->demultiplexer->allocPort(answers.null_agent());
	agent->target(known->first);
	set_element(in, known->demultiplexer_object, "slots_", agent->port(), agent->name());
	known->demultiplexer->install(agent->port(), agent);
	return true;
}

bool connect_plainly(Agent* source, Agent* sink)
{
	Tcl_Interp* const in = Tcl::instance().interp();
	if (!answers.are_plain(in) || !answers.is_plain(in, source) || !answers.is_plain(in, sink) ||
	    strcmp(value_of(answers.simulator_object(), in, "useasim_"), "0") != 0)
		return false;
	source->daddr() = sink->addr();
	source->dport() = sink->port();
	sink->daddr() = source->addr();
	sink->dport() = source->port();
	return true;
}
