#ifndef bdpbench_check_h
#define bdpbench_check_h

// Tests of a folder: TEST("what holds") { ... } in its test.cc. `hand_tests.py` makes a program of the folder's
// code, this file, and the values in `defaults`; it ends at the first value that differs.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace check {

/** A parameter of the YAML file, whose limits are infinite if it has no range. */
struct Parameter {
	double value, least, most;
};
extern const std::map<std::string, Parameter> defaults;

typedef std::map<std::string, double> Values;
/** Packets in order, by their numbers; and with the times. */
typedef std::vector<int> Packets;
typedef std::vector<std::pair<int, double> > Times;

struct Test {
	const char* name;
	void (*body)();

	Test(const char* name, void (*body)()) : name(name), body(body) { all().push_back(*this); }
	static std::vector<Test>& all()
	{
		static std::vector<Test> tests;
		return tests;
	}
	static std::string& running()
	{
		static std::string name;
		return name;
	}
};

/** A line of test.cc: as the default of an argument, the line of the call. */
struct Place {
	const char* file;
	int line;

	static Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE())
	{
		Place place = {file, line};
		return place;
	}
	/** Ends the program. */
	void fail(const std::string& said) const
	{
		printf("> %s:%d: %s: %s\n", file, line, Test::running().c_str(), said.c_str());
		fflush(stdout);
		_Exit(1);
	}
};

inline std::string text(double number)
{
	char text[40];
	snprintf(text, sizeof text, "%.10g", number);
	return text;
}
inline std::string text(int number) { return text(static_cast<double>(number)); }
inline std::string text(const std::pair<int, double>& fate)
{
	return "{" + text(fate.first) + ", " + text(fate.second) + "}";
}
template <class Entry> std::string text(const std::vector<Entry>& entries)
{
	std::string all;
	for (size_t i = 0; i < entries.size(); i++)
		all += (i ? ", " : "") + text(entries[i]);
	return all.empty() ? "none" : all;
}

inline bool same(double found, double expected, double off)
{
	const double most = fmax(fabs(found), fabs(expected));
	return found == expected || (most < INFINITY && fabs(found - expected) <= off * fmax(1, most));
}
inline bool same(const Packets& found, const Packets& expected, double) { return found == expected; }
inline bool same(const Times& found, const Times& expected, double off)
{
	bool all = found.size() == expected.size();
	for (size_t i = 0; all && i < found.size(); i++)
		all = found[i].first == expected[i].first && same(found[i].second, expected[i].second, off);
	return all;
}
inline Packets numbers(const Times& times)
{
	Packets numbers;
	for (size_t i = 0; i < times.size(); i++)
		numbers.push_back(times[i].first);
	return numbers;
}

template <class Found>
void compare(const char* what, const Found& found, const Found& expected, double off, Place place = Place::here())
{
	if (!same(found, expected, off))
		place.fail(std::string(what) + " is " + text(found) + ", not " + text(expected));
}

/** Parameters with the defaults of the YAML file, but for what a test sets. */
template <class Parameters> class Given : public Parameters {
public:
	Given(const Values& set, Place place)
	{
		for (std::map<std::string, Parameter>::const_iterator i = defaults.begin(); i != defaults.end(); ++i)
			values_[i->first] = i->second.value;
		for (Values::const_iterator i = set.begin(); i != set.end(); ++i) {
			if (!values_.count(i->first))
				place.fail("unknown parameter " + i->first);
			const Parameter& range = defaults.at(i->first);
			if (!(i->second >= range.least && i->second <= range.most))
				place.fail(i->first + ": " + text(i->second) + " is outside its range of " + text(range.least)
					+ " to " + text(range.most));
			values_[i->first] = i->second;
		}
	}
	virtual double operator[](const char* name) const
	{
		const Values::const_iterator found = values_.find(name);
		return found == values_.end() ? 0 : found->second;
	}

private:
	Values values_;
};

}

#define BDPBENCH_JOINED(one, other) one##other
#define BDPBENCH_TEST(name, line) \
	static void BDPBENCH_JOINED(test_of_line_, line)(); \
	static const check::Test BDPBENCH_JOINED(line_, line)(name, BDPBENCH_JOINED(test_of_line_, line)); \
	static void BDPBENCH_JOINED(test_of_line_, line)()
#define TEST(name) BDPBENCH_TEST(name, __LINE__)

/** Two numbers are equal, or differ by a share of the larger one (or of 1) at most. */
#define CHECK(found, expected) CHECK_NEAR(found, expected, 1e-9)
#define CHECK_NEAR(found, expected, off) check::compare<double>(#found, found, expected, off)
/** Packets, in order: CHECK_PACKETS(queue.left, 2, 3). */
#define CHECK_PACKETS(found, ...) \
	check::compare<check::Packets>(#found, check::numbers(found), check::Packets{__VA_ARGS__}, 0)
/** Packets and their times in s, in order: CHECK_TIMES(queue.left, {2, 0.5}, {3, 0.6}). */
#define CHECK_TIMES(found, ...) check::compare<check::Times>(#found, found, check::Times{__VA_ARGS__}, 1e-9)

int main()
{
	for (size_t i = 0; i < check::Test::all().size(); i++) {
		check::Test::running() = check::Test::all()[i].name;
		check::Test::all()[i].body();
	}
	printf("> %zu held\n", check::Test::all().size());
}

#endif
