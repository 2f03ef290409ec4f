#include "object_variables.h"
#include <string.h>
#include <string>
#include <vector>
#include "plain_attachment.h"
#include "tcl_internals.h"
#include <tclcl.h>

// TclCL's, which declares it nowhere: what a variable bound to C++ is traced with.
class InstVar {
public:
	static char* catch_var(ClientData, Tcl_Interp*, const char*, const char*, int);
};

namespace {

// A code besides TCL_OK and TCL_ERROR: nothing was done, the procedure in Tcl has to do it.
const int left_to_tcl = 99;

// OTcl passes a method the object, its name twice, the class, the method, and the arguments.
const int first_argument = 4;

// A method that C++ took over, and the procedure in Tcl that it stands for.
class TakenMethod {
public:
	TakenMethod(const char* class_name, const char* name) : class_(class_name), name_(name) {}

	bool install(Tcl_Interp*, Tcl_CmdProc* taker);

	// Of a method that only the object itself has; `arguments`: with their defaults.
	bool install_own(Tcl_Interp*, Tcl_CmdProc* taker, const char* arguments);

	int in_tcl(Tcl_Interp* in, int argc, const char** argv) const
	{
		return (*procedure_.proc)(procedure_.clientData, in, argc, argv);
	}

private:
	bool define(Tcl_Interp*, const std::string& arguments, const char* body);

	const char* const class_;
	const char* const name_;
	Tcl_CmdInfo procedure_;
};

// The procedure gets the arguments, the namespace and the place in Tcl's tables that OTcl gives its
// methods.
bool TakenMethod::define(Tcl_Interp* in, const std::string& arguments, const char* body)
{
	const std::string method(name_), cl(class_);
	const std::string procedure = "::otcl::" + cl + "-" + method;
	const std::string script = "proc " + procedure + " [concat self class proc " + arguments +
		"] [" + cl + " info " + body + " " + method + "]";
	return Tcl_EvalEx(in, script.c_str(), -1, TCL_EVAL_GLOBAL) == TCL_OK &&
		Tcl_GetCommandInfo(in, procedure.c_str(), &procedure_);
}

bool TakenMethod::install(Tcl_Interp* in, Tcl_CmdProc* taker)
{
	if (!define(in, std::string("[") + class_ + " info instargs " + name_ + "]", "instbody"))
		return false;
	OTclAddIMethod(OTclGetClass(in, class_), const_cast<char*>(name_), taker, 0, 0);
	return true;
}

bool TakenMethod::install_own(Tcl_Interp* in, Tcl_CmdProc* taker, const char* arguments)
{
	if (!define(in, arguments, "body"))
		return false;
	OTclAddPMethod(OTclGetObject(in, class_), const_cast<char*>(name_), taker, 0, 0);
	return true;
}

TakenMethod object_set("SplitObject", "set");
TakenMethod agent_set("Agent", "set");
TakenMethod object_init("SplitObject", "init");
TakenMethod object_sampled("SplitObject", "sampled");
TakenMethod simulator_now("Simulator", "now");
TakenMethod simulator_at("Simulator", "at");
TakenMethod red_set("Queue/RED", "set");
TakenMethod drop_tail_set("Queue/DropTail", "set");
TakenMethod object_init_instvar("SplitObject", "init-instvar");
TakenMethod object_unknown("SplitObject", "unknown");
TakenMethod object_register("SplitObject", "register");

// A word of a command, of which Tcl remembers what it found it to mean.
class Word {
public:
	explicit Word(const char* text) : object_(Tcl_NewStringObj(text, -1))
	{
		Tcl_IncrRefCount(object_);
	}
	explicit Word(Tcl_Obj* object) : object_(object) { Tcl_IncrRefCount(object_); }
	~Word() { Tcl_DecrRefCount(object_); }

	Tcl_Obj* object() const { return object_; }
	const char* text() const { return Tcl_GetString(object_); }

private:
	Word(const Word&);
	void operator=(const Word&);
	Tcl_Obj* const object_;
};

// A word that is never destroyed: static objects outlive Tcl.
const Word& lasting(const char* text)
{
	return *new Word(text);
}

int evaluate(Tcl_Interp* in, const Word& a, const Word& b, const Word& c)
{
	Tcl_Obj* words[] = {a.object(), b.object(), c.object()};
	return Tcl_EvalObjv(in, 3, words, 0);
}

int evaluate(Tcl_Interp* in, const Word& a, const Word& b, const Word& c, const Word& d)
{
	Tcl_Obj* words[] = {a.object(), b.object(), c.object(), d.object()};
	return Tcl_EvalObjv(in, 4, words, 0);
}

// Letters and digits of ASCII, whatever the locale, and what else is given.
bool is_one_of(char c, const char* others)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c != 0 && strchr(others, c) != 0);
}

// Whether a name is only letters, digits and underscores: it is not the element of an array and
// means the same where Tcl substitutes it once more.
bool is_plain(const char* name)
{
	const char* c = name;
	while (is_one_of(*c, "_"))
		c++;
	return *c == 0 && c != name;
}

// Whether Tcl takes a text for one word that means itself.
bool is_word(const char* text)
{
	const char* c = text;
	while (is_one_of(*c, "_/:.+-"))
		c++;
	return *c == 0 && c != text;
}

// Whether the procedure `SplitObject set` or `SplitObject sampled` has a variable of this name itself.
bool is_local(const char* name)
{
	static const char* const locals[] = {"self", "class", "proc", "args", "var", "name"};
	for (size_t i = 0; i < sizeof(locals) / sizeof(*locals); i++)
		if (strcmp(name, locals[i]) == 0)
			return true;
	return false;
}

// A frame of variables as that of a method in Tcl, while this exists.
class MethodFrame {
public:
	explicit MethodFrame(Tcl_Interp* in) : in_(in)
	{
		static Tcl_Namespace* const otcl = Tcl_FindNamespace(in, "::otcl", 0, 0);
		Tcl_PushCallFrame(in, reinterpret_cast<Tcl_CallFrame*>(&frame_), otcl, FRAME_IS_PROC);
		frame_.procPtr = procedure(in);
	}
	~MethodFrame() { Tcl_PopCallFrame(in_); }

private:
	// One without arguments, as OTcl gives its own frames.
	static Proc* procedure(Tcl_Interp* in)
	{
		static Proc none;
		none.iPtr = reinterpret_cast<Interp*>(in);
		none.refCount = 1;
		return &none;
	}

	Tcl_Interp* const in_;
	CallFrame frame_;
};

// Whether a variable of the frame is a scalar that no script traces: scripts may ask for the
// procedure that they were called from.
bool is_untraced_scalar(Tcl_Interp* in, const char* name)
{
	Var* array;
	Var* variable = TclLookupVar(in, name, 0, 0, 0, 0, 0, &array);
	if (variable == 0 || TclIsVarArray(variable))
		return false;
	if (!(variable->flags & VAR_ALL_TRACES))
		return true;
	Tcl_HashEntry* entry = Tcl_FindHashEntry(&reinterpret_cast<Interp*>(in)->varTraces,
		reinterpret_cast<char*>(variable));
	VarTrace* trace = static_cast<VarTrace*>(Tcl_GetHashValue(entry));
	while (trace != 0 && trace->traceProc == &InstVar::catch_var)
		trace = trace->nextPtr;
	return trace == 0;
}

// Bind a variable of the frame to C++, if it is one that is bound at each use. TclCL sets a variable
// that is not there to 0 by a script: it is set to 0 before, where the last one was of this kind.
bool bind_now(Tcl_Interp* in, TclObject* object, const char* name)
{
	static bool expected = false;
	if (expected)
		Tcl_SetVar2(in, name, 0, "0", 0);
	const bool bound = object->delay_bind_dispatch(name, name, 0) == TCL_OK;
	if (expected && !bound)
		Tcl_UnsetVar2(in, name, 0, 0);
	expected = bound;
	return bound;
}

// Make a variable of an object one of the frame, as `$self instvar` does.
bool link(Tcl_Interp* in, OTclObject* object, const char* name)
{
	static char object_frame[] = "1";
	return OTclOInstVarOne(object, in, object_frame, name, name, 0) == TCL_OK;
}

// The same; false where scripts could tell the difference.
bool bring_in(Tcl_Interp* in, const char* self, const char* name)
{
	TclObject* object = TclObject::lookup(self);
	if (object != 0 && bind_now(in, object, name))
		return true;
	return link(in, OTclGetObject(in, self), name) && is_untraced_scalar(in, name);
}

// SplitObject set var ?value?, or left_to_tcl.
int get_or_set(Tcl_Interp* in, int argc, const char** argv)
{
	if (argc != first_argument + 1 && argc != first_argument + 2)
		return left_to_tcl;
	const char* name = argv[first_argument];
	if (!is_plain(name) || is_local(name))
		return left_to_tcl;
	MethodFrame frame(in);
	if (!bring_in(in, argv[0], name))
		return left_to_tcl;
	const char* value = argc == first_argument + 1 ?
		Tcl_GetVar2(in, name, 0, 0) : Tcl_SetVar2(in, name, 0, argv[first_argument + 1], 0);
	if (value == 0)
		return left_to_tcl;
	Tcl_SetResult(in, const_cast<char*>(value), TCL_VOLATILE);
	return TCL_OK;
}

// The call that `Agent set` passes on, which wants to know what is left to Tcl.
const char** passed_on = 0;

int take_object_set(ClientData, Tcl_Interp* in, int argc, const char* argv[])
{
	const bool from_agent = argv == passed_on;
	passed_on = 0;
	const int code = get_or_set(in, argc, argv);
	return code != left_to_tcl || from_agent ? code : object_set.in_tcl(in, argc, argv);
}

// SplitObject sampled var, with the body that is_sampled_read() knows.
int take_object_sampled(ClientData, Tcl_Interp* in, int argc, const char* argv[])
{
	const int code = argc == first_argument + 1 ? get_or_set(in, argc, argv) : left_to_tcl;
	return code != left_to_tcl ? code : object_sampled.in_tcl(in, argc, argv);
}

// What failed of a command that `SplitObject unknown` passes on. The procedure in Tcl tells of it: its
// `self` is a command that fails as `cmd` did, and is the object otherwise.
Tcl_InterpState failed = 0;
std::string failed_name;
const char failed_object[] = "::otcl::failed";

int be_failed(ClientData, Tcl_Interp* in, int, const char*[])
{
	if (failed == 0) {
		static const Word &info = lasting("info"), &class_word = lasting("class");
		const Word object(failed_name.c_str());
		Tcl_Obj* words[] = {object.object(), info.object(), class_word.object()};
		return Tcl_EvalObjv(in, 3, words, TCL_EVAL_NOERR);	// the procedure logs its words
	}
	const Tcl_InterpState state = failed;
	failed = 0;
	return Tcl_RestoreInterpState(in, state);
}

// What calls the methods of all objects.
Tcl_CmdInfo dispatch;

// What a failure of `cmd` leaves in ::errorInfo.
void log_call(Tcl_Interp* in, const char* object, int argc, const char** arguments)
{
	char* list = Tcl_Merge(argc, arguments);
	const std::string call = std::string(object) + " cmd " + list;
	Tcl_Free(list);
	Tcl_LogCommandInfo(in, call.c_str(), call.c_str(), -1);
	reinterpret_cast<Interp*>(in)->flags |= ERR_ALREADY_LOGGED;
}

// SplitObject unknown args: a command of the object's C++.
int take_unknown(ClientData object, Tcl_Interp* in, int argc, const char* argv[])
{
	// Tcl tells of endless recursion.
	Interp* const interpreter = reinterpret_cast<Interp*>(in);
	const int most_levels = 10;	// of the procedure
	if (interpreter->numLevels + most_levels > interpreter->maxNestingDepth)
		return object_unknown.in_tcl(in, argc, argv);
	// The object, `cmd` and the arguments.
	const int before = first_argument - 2, words = argc - before;
	const char* few[16];
	std::vector<const char*> many;
	const char** call = few;
	if (words > int(sizeof(few) / sizeof(*few))) {
		many.resize(words);
		call = &many[0];
	}
	call[0] = argv[0];
	call[1] = "cmd";
	for (int i = 2; i < words; i++)
		call[i] = argv[before + i];
	int code;
	{
		MethodFrame frame(in);
		Tcl_ResetResult(in);
		Tcl_SetErrorLine(in, 1);
		interpreter->numLevels++;
		code = (*dispatch.proc)(object, in, words, call);
		interpreter->numLevels--;
		if (code == TCL_OK) {
			Tcl_GetObjResult(in);	// while what it may point to is there
			return TCL_OK;
		}
		if (code == TCL_ERROR)
			log_call(in, argv[0], words - 2, call + 2);
		failed = Tcl_SaveInterpState(in, code);
	}
	failed_name = argv[0];
	std::vector<const char*> again(argv, argv + argc);
	again[1] = failed_object;
	return object_unknown.in_tcl(in, argc, &again[0]);
}

// Whether a script gives the result; it is lost.
bool gives(Tcl_Interp* in, const char* script, const char* result)
{
	return Tcl_EvalEx(in, script, -1, TCL_EVAL_GLOBAL) == TCL_OK &&
		strcmp(Tcl_GetStringResult(in), result) == 0;
}

// Whether `SplitObject sampled` reads a variable and does nothing else.
bool is_sampled_read(Tcl_Interp* in)
{
	return gives(in, "SplitObject info instprocs sampled", "sampled") &&
		gives(in, "SplitObject info instargs sampled", "name") &&
		gives(in, "SplitObject info instbody sampled",
			"\n    $self instvar $name\n    return [set $name]\n") &&
		gives(in, "SplitObject info instdefault sampled name ::otcl::default", "0");
}

// The scheduler's own command, as `$scheduler_ cmd` calls it, or left_to_tcl.
int command_scheduler(ClientData simulator, Tcl_Interp* in, int argc, const char** argv)
{
	const char* name = OTclGetInstVar(static_cast<OTclObject*>(simulator), in, "scheduler_", 0);
	TclObject* scheduler = name != 0 ? TclObject::lookup(name) : 0;
	return scheduler != 0 && scheduler->command(argc, argv) == TCL_OK ? TCL_OK : left_to_tcl;
}

int take_simulator_now(ClientData simulator, Tcl_Interp* in, int argc, const char* argv[])
{
	const char* command[] = {"cmd", "now"};
	if (argc == first_argument && command_scheduler(simulator, in, 2, command) == TCL_OK)
		return TCL_OK;
	return simulator_now.in_tcl(in, argc, argv);
}

int take_simulator_at(ClientData simulator, Tcl_Interp* in, int argc, const char* argv[])
{
	if (argc == first_argument + 2) {
		const char* command[] = {"cmd", "at", argv[first_argument], argv[first_argument + 1]};
		if (command_scheduler(simulator, in, 4, command) == TCL_OK)
			return TCL_OK;
	}
	return simulator_at.in_tcl(in, argc, argv);
}

int take_agent_set(ClientData object, Tcl_Interp* in, int argc, const char* argv[])
{
	if (argc == first_argument || strcmp(argv[first_argument], "dst_") == 0)
		return agent_set.in_tcl(in, argc, argv);
	passed_on = argv;
	const int code = OTclNextMethod(static_cast<OTclObject*>(object), in, argc, argv);
	passed_on = 0;
	return code != left_to_tcl ? code : agent_set.in_tcl(in, argc, argv);
}

// How deep in `SplitObject init` this is: in objects that make others.
int creating = 0;

// What the `catch` of `SplitObject init-instvar` leaves of an error.
void catch_error(Tcl_Interp* in)
{
	static const char command[] = "catch \"$c set $var\" val";
	Tcl_LogCommandInfo(in, command, command, -1);
	Tcl_ResetResult(in);
}

// The last class that was asked for a default that it does not have: its error is made when the
// object is, so that ::errorInfo tells of it as ever.
class Miss {
public:
	Miss() : again_(false) {}

	void set(const Word& cl, const Word& variable)
	{
		again_ = !class_.empty();
		class_ = cl.text();
		variable_ = variable.text();
	}

	void forget() { class_.clear(); }

	void settle(Tcl_Interp* in)
	{
		if (class_.empty())
			return;
		if (again_)
			Tcl_SetErrorLine(in, 1);  // as the error before left it
		evaluate(in, Word(class_.c_str()), Word("set"), Word(variable_.c_str()));
		catch_error(in);
		forget();
	}

private:
	bool again_;
	std::string class_, variable_;
};

Miss last_miss;

// The name of the variable that a class is asked for, and whether it was `Object set` that knew none.
const char* asked = 0;
bool unknown = false;

// Object set var ?value?, as OTcl has it, and a short answer where has_default() asks.
int plain_set(ClientData object, Tcl_Interp* in, int argc, const char* argv[])
{
	OTclObject* self = static_cast<OTclObject*>(object);
	if (argc != first_argument + 1 && argc != first_argument + 2) {
		Tcl_ResetResult(in);
		Tcl_AppendResult(in, "wrong # args: should be {", argv[0], " set var ?value?}", 0);
		return TCL_ERROR;
	}
	const char* name = argv[first_argument];
	const int flags = name == asked ? 0 : TCL_LEAVE_ERR_MSG;
	const char* value = argc == first_argument + 1 ? OTclGetInstVar(self, in, name, flags) :
		OTclSetInstVar(self, in, name, argv[first_argument + 1], flags);
	if (value == 0) {
		unknown = name == asked;
		return unknown ? TCL_BREAK : TCL_ERROR;
	}
	Tcl_SetResult(in, const_cast<char*>(value), TCL_VOLATILE);
	return TCL_OK;
}

// Queue/RED set and Queue/DropTail set, which give variables with other names their present ones.
// Values of one plain word are passed on as they are.
int take_queue_set(const TakenMethod& taken, ClientData object, Tcl_Interp* in, int argc,
	const char* argv[])
{
	const bool reads = argc == first_argument + 1;
	const bool writes = argc == first_argument + 2 && is_word(argv[first_argument + 1]);
	if ((!reads && !writes) || !is_plain(argv[first_argument]))
		return taken.in_tcl(in, argc, argv);
	const int code = OTclNextMethod(static_cast<OTclObject*>(object), in, argc, argv);
	if (code == TCL_OK || (asked != 0 && unknown))
		return code;
	Tcl_ResetResult(in);
	return taken.in_tcl(in, argc, argv);	// ::errorInfo tells of its lines
}

int take_red_set(ClientData object, Tcl_Interp* in, int argc, const char* argv[])
{
	return take_queue_set(red_set, object, in, argc, argv);
}

int take_drop_tail_set(ClientData object, Tcl_Interp* in, int argc, const char* argv[])
{
	return take_queue_set(drop_tail_set, object, in, argc, argv);
}

// Whether a class has a default of a variable, which is the result then.
bool has_default(Tcl_Interp* in, const Word& cl, const Word& variable)
{
	static const Word& set = lasting("set");
	unknown = false;
	asked = variable.text();
	const int code = evaluate(in, cl, set, variable);
	asked = 0;
	if (code == TCL_OK)
		return true;
	if (unknown) {
		Tcl_ResetResult(in);
		last_miss.set(cl, variable);
		if (creating == 0)
			last_miss.settle(in);
	} else {
		last_miss.forget();
		catch_error(in);
	}
	return false;
}

// A word of a call, or of one before: of most objects the classes are the same.
Tcl_Obj* kept_word(const char* text)
{
	static Word* kept[16];
	Word*& word = kept[strlen(text) % (sizeof(kept) / sizeof(*kept))];
	if (word == 0 || strcmp(word->text(), text) != 0) {
		delete word;
		word = new Word(text);
	}
	return word->object();
}

typedef std::vector<std::string> Names;

// Add the names of the result, which are separated by blanks; false where there is one that Tcl does
// not take as it is.
bool add_names(Tcl_Interp* in, Names& names)
{
	const char* c = Tcl_GetStringResult(in);
	while (*c != 0) {
		const char* name = c;
		while (is_one_of(*c, "_/:.-"))
			c++;
		if (c == name)
			return false;
		names.push_back(std::string(name, c));
		if (*c == ' ')
			c++;
	}
	return true;
}

// A class that was asked for defaults.
struct Asked {
	Asked(Tcl_Interp* in, const std::string& name) : name(name),
		object(reinterpret_cast<OTclObject*>(OTclGetClass(in, name.c_str()))), direct(false) {}
	std::string name;
	OTclObject* object;
	bool direct;	// it answers in C++ alone, so that its variable can be read instead
};

typedef std::vector<Asked> Level;

// The object that is being made, and its classes level by level, as far as they were asked.
std::string made;
std::vector<Level> levels_of_made;

// Counts the commands of Tcl, to find out if one calls others.
int commands(Tcl_Interp* in)
{
	return reinterpret_cast<Interp*>(in)->cmdCount;
}

Level level_of(Tcl_Interp* in, const Names& names)
{
	Level level;
	for (size_t i = 0; i < names.size(); i++)
		level.push_back(Asked(in, names[i]));
	return level;
}

// Whether a class has a default of a variable, whose value is returned then; else null.
Tcl_Obj* default_of(Tcl_Interp* in, Asked& asked_class, const Word& variable)
{
	const Word cl(kept_word(asked_class.name.c_str()));
	if (asked_class.direct) {
		const char* value = OTclGetInstVar(asked_class.object, in, variable.text(), 0);
		if (value == 0)
			last_miss.set(cl, variable);
		return value != 0 ? Tcl_NewStringObj(value, -1) : 0;
	}
	const int before = commands(in);
	const bool found = has_default(in, cl, variable);
	asked_class.direct = creating > 0 && asked_class.object != 0 && commands(in) == before + 1;
	return found ? Tcl_GetObjResult(in) : 0;
}

// Add the level above the last one; false where a class cannot be asked.
bool go_up(Tcl_Interp* in, std::vector<Level>& levels)
{
	static const Word &info = lasting("info"), &superclass = lasting("superclass");
	Names above;
	const Level& level = levels.back();
	for (size_t i = 0; i < level.size(); i++)
		if (evaluate(in, Word(kept_word(level[i].name.c_str())), info, superclass) != TCL_OK ||
		    !add_names(in, above))
			return false;
	levels.push_back(level_of(in, above));
	return true;
}

// Look for a default level by level, as the procedure in Tcl does: TCL_OK where there is one,
// TCL_CONTINUE where no class has one, or left_to_tcl.
int find_default(Tcl_Interp* in, std::vector<Level>& levels, const Word& variable, Tcl_Obj*& value)
{
	for (size_t i = 0; !levels[i].empty(); i++) {
		for (size_t j = 0; j < levels[i].size(); j++)
			if ((value = default_of(in, levels[i][j], variable)) != 0)
				return TCL_OK;
		if (i + 1 == levels.size() && !go_up(in, levels))
			return left_to_tcl;
	}
	return TCL_CONTINUE;
}

// SplitObject init-instvar var, or left_to_tcl.
int init_instvar(Tcl_Interp* in, const char* self_name, const char* name)
{
	static const Word &info = lasting("info"), &class_word = lasting("class"),
		&set = lasting("set"), &warn = lasting("warn-instvar");
	if (!is_plain(name))
		return left_to_tcl;
	const Word self(kept_word(self_name)), variable(name);
	std::vector<Level> levels;
	bool direct = true;
	if (made == self_name) {
		levels.swap(levels_of_made);
	} else {
		Names level;
		const int before = commands(in);
		if (evaluate(in, self, info, class_word) != TCL_OK || !add_names(in, level) ||
		    level.size() != 1 || level[0] == "SplitObject" || level[0] == "Object")
			return left_to_tcl;
		direct = commands(in) == before + 1;
		levels.push_back(level_of(in, level));
	}
	made.clear();	// while others may be asked
	Tcl_Obj* value = 0;
	const int code = find_default(in, levels, variable, value);
	if (code == left_to_tcl)
		return code;
	if (code == TCL_CONTINUE) {
		if (evaluate(in, self, info, class_word) != TCL_OK)
			return TCL_ERROR;
		const std::string item = std::string(Tcl_GetStringResult(in)) + "::" + name;
		return evaluate(in, self, warn, Word(item.c_str()));
	}
	if (evaluate(in, self, set, variable, Word(value)) != TCL_OK)
		return left_to_tcl;
	if (direct && creating > 0) {
		made = self_name;
		levels_of_made.swap(levels);
	}
	Tcl_ResetResult(in);
	return TCL_OK;
}

int take_init_instvar(ClientData, Tcl_Interp* in, int argc, const char* argv[])
{
	int code = left_to_tcl;
	if (argc == first_argument + 1)
		code = init_instvar(in, argv[0], argv[first_argument]);
	return code != left_to_tcl ? code : object_init_instvar.in_tcl(in, argc, argv);
}

int take_object_init(ClientData, Tcl_Interp* in, int argc, const char* argv[])
{
	creating++;
	made.clear();
	const int code = object_init.in_tcl(in, argc, argv);
	made.clear();
	creating--;
	if (code == TCL_OK)
		last_miss.settle(in);
	return code;
}

// Whether there is a class below SplitObject, as `SplitObject is-class` says.
bool is_split_class(Tcl_Interp* in, const char* name)
{
	static const Word &top = lasting("SplitObject"), &info = lasting("info"),
		&subclass = lasting("subclass");
	return OTclGetClass(in, name) != 0 && evaluate(in, top, info, subclass, Word(name)) == TCL_OK &&
		strcmp(Tcl_GetStringResult(in), "1") == 0;
}

// Make a class, and those above it by its name, or left_to_tcl.
int make_classes(Tcl_Interp* in, const std::string& name)
{
	static const Word &make = lasting("Class"), &create = lasting("create"),
		&superclass = lasting("-superclass");
	if (!is_word(name.c_str()) || ("/" + name + "/").find("//") != std::string::npos)
		return left_to_tcl;
	std::string above = "SplitObject";
	for (size_t end = 0; end != std::string::npos;) {
		end = name.find('/', end + 1);
		const std::string path = name.substr(0, end);
		if (!is_split_class(in, path.c_str())) {
			const Word own(path.c_str()), parent(above.c_str());
			Tcl_Obj* words[] = {make.object(), create.object(), own.object(),
				superclass.object(), parent.object()};
			if (Tcl_EvalObjv(in, 5, words, 0) != TCL_OK)
				return left_to_tcl;
		}
		above = path;
	}
	Tcl_ResetResult(in);
	return TCL_OK;
}

// SplitObject register className
int take_register(ClientData, Tcl_Interp* in, int argc, const char* argv[])
{
	int code = left_to_tcl;
	if (argc == first_argument + 1)
		code = make_classes(in, argv[first_argument]);
	return code != left_to_tcl ? code : object_register.in_tcl(in, argc, argv);
}

// No class: what is bound first to Tcl, when `SplitObject` has just been made.
class Registration : public TclClass {
public:
	Registration() : TclClass("SplitObject") {}
protected:
	TclObject* create(int, const char*const*) { return 0; }
	void bind()
	{
		object_register.install_own(Tcl::instance().interp(),
			reinterpret_cast<Tcl_CmdProc*>(take_register), "className");
	}
};

}  // namespace

void append_element(Tcl_Interp* in, OTclObject* object, const char* list, const char* element)
{
	MethodFrame frame(in);
	if (link(in, object, list))
		Tcl_SetVar2Ex(in, list, 0, Tcl_NewStringObj(element, -1),
			TCL_APPEND_VALUE | TCL_LIST_ELEMENT);
}

void set_element(Tcl_Interp* in, OTclObject* object, const char* array, int index, const char* value)
{
	const Word name(Tcl_NewIntObj(index));
	MethodFrame frame(in);
	if (link(in, object, array))
		Tcl_SetVar2(in, array, name.text(), value, 0);
}

void take_registration()
{
	static Registration first;
}

void install_object_variables(Tcl_Interp* in)
{
	if (compiled_for_this_tcl()) {
		object_set.install(in, reinterpret_cast<Tcl_CmdProc*>(take_object_set));
		agent_set.install(in, reinterpret_cast<Tcl_CmdProc*>(take_agent_set));
		object_init_instvar.install(in, reinterpret_cast<Tcl_CmdProc*>(take_init_instvar));
		object_init.install(in, reinterpret_cast<Tcl_CmdProc*>(take_object_init));
		Tcl_CreateCommand(in, failed_object, reinterpret_cast<Tcl_CmdProc*>(be_failed), 0, 0);
		if (Tcl_GetCommandInfo(in, "SplitObject", &dispatch))
			object_unknown.install(in, reinterpret_cast<Tcl_CmdProc*>(take_unknown));
		simulator_now.install(in, reinterpret_cast<Tcl_CmdProc*>(take_simulator_now));
		simulator_at.install(in, reinterpret_cast<Tcl_CmdProc*>(take_simulator_at));
		OTclAddIMethod(OTclGetClass(in, "Object"), "set", plain_set, 0, 0);
		red_set.install_own(in, reinterpret_cast<Tcl_CmdProc*>(take_red_set), "var {{arg {}}}");
		drop_tail_set.install_own(in, reinterpret_cast<Tcl_CmdProc*>(take_drop_tail_set),
			"var {{arg {}}}");
		remember_attachment(in);
	}
	Tcl_ResetResult(in);
}

void take_sampling(Tcl_Interp* in)
{
	if (!compiled_for_this_tcl())
		return;
	Tcl_SavedResult before;
	Tcl_SaveResult(in, &before);
	if (is_sampled_read(in))
		object_sampled.install(in, reinterpret_cast<Tcl_CmdProc*>(take_object_sampled));
	Tcl_Eval(in, "unset -nocomplain ::otcl::default");
	Tcl_RestoreResult(in, &before);
}
