#ifndef bdpbench_ns3_arguments_h
#define bdpbench_ns3_arguments_h

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

/** Ends the run with a sentence about what is wrong. */
[[noreturn]] inline void fail(const std::string& message)
{
	std::cerr << "error: network.cc: " << message << std::endl;
	std::exit(1);
}

/** Arguments in pairs, -key value, each of which is taken once; what nobody takes is refused. */
class Arguments {
public:
	Arguments(int count, char** words)
	{
		for (int i = 1; i < count; i += 2) {
			std::string key = words[i];
			if (key.size() < 2 || key[0] != '-' || i + 1 == count)
				fail("'" + key + "': arguments are pairs -key value");
			if (!given_.emplace(key.substr(1), words[i + 1]).second)
				fail(key + " is given twice");
		}
	}
	std::string word(const std::string& key)
	{
		auto found = given_.find(key);
		if (found == given_.end())
			fail("-" + key + " is missing");
		std::string value = found->second;
		given_.erase(found);
		return value;
	}
	std::string word(const std::string& key, const std::string& otherwise)
	{
		return given_.count(key) ? word(key) : otherwise;
	}
	double number(const std::string& key) { return as_number(key, word(key)); }
	double number(const std::string& key, double otherwise)
	{
		return given_.count(key) ? number(key) : otherwise;
	}
	/** An integer of 0 or more. */
	unsigned count(const std::string& key) { return as_count(key, number(key)); }
	unsigned count(const std::string& key, unsigned otherwise)
	{
		return given_.count(key) ? count(key) : otherwise;
	}
	/** All that begin with a prefix, without it. */
	std::vector<std::pair<std::string, std::string>> beginning(const std::string& prefix)
	{
		std::vector<std::pair<std::string, std::string>> found;
		auto at = given_.lower_bound(prefix);
		while (at != given_.end() && at->first.compare(0, prefix.size(), prefix) == 0) {
			found.emplace_back(at->first.substr(prefix.size()), at->second);
			at = given_.erase(at);
		}
		return found;
	}
	void refuse_rest() const
	{
		if (!given_.empty())
			fail("unknown key -" + given_.begin()->first);
	}

private:
	static double as_number(const std::string& key, const std::string& text)
	{
		char* end = nullptr;
		double value = std::strtod(text.c_str(), &end);
		if (text.empty() || *end != '\0' || !(value > -1e12 && value < 1e12))
			fail("-" + key + " is '" + text + "', expected a number");
		return value;
	}
	static unsigned as_count(const std::string& key, double value)
	{
		if (!(value >= 0 && value <= 4e9) || value != static_cast<unsigned>(value))
			fail("-" + key + " is not an integer of 0 or more");
		return static_cast<unsigned>(value);
	}

	std::map<std::string, std::string> given_;
};

#endif
