#include "window_law_slot.h"

#include <sstream>
#include <string>
#include <vector>

#include "window_law_registry.h"

namespace {

// The values in tcp.cc's opencwnd(); 7 has never been used.
const int STOCK_OPTIONS[] = {0, 1, 2, 3, 4, 5, 6, 8};
const int STOCK_COUNT = sizeof(STOCK_OPTIONS) / sizeof(STOCK_OPTIONS[0]);

std::string unknown_option(int option)
{
	std::ostringstream text;
	text << "windowOption_ " << option << " is unknown. Known are 0 to 6 and 8";
	const std::vector<WindowLawEntry>& laws = window_laws();
	for (size_t i = 0; i < laws.size(); i++)
		text << ", " << laws[i].option << " (" << laws[i].name << ")";
	text << ".";
	return text.str();
}

std::vector<const char*> all_parameter_names()
{
	std::vector<const char*> names;
	const std::vector<WindowLawEntry>& laws = window_laws();
	for (size_t i = 0; i < laws.size(); i++) {
		const WindowLawEntry& entry = laws[i];
		for (int j = 0; j < entry.parameter_count; j++)
			names.push_back(entry.parameters[j].tcl_name);
		names.insert(names.end(), entry.observations, entry.observations + entry.observation_count);
	}
	return names;
}

const std::vector<const char*>& parameter_names()
{
	static const std::vector<const char*> names = all_parameter_names();
	return names;
}

}  // namespace

WindowLawSlot::WindowLawSlot()
	: values_(new double[parameter_count()]()), observed_(0), law_(0), option_(0)
{
}

WindowLawSlot::~WindowLawSlot()
{
	delete law_;
	delete[] values_;
}

int WindowLawSlot::parameter_count()
{
	return parameter_names().size();
}

const char* WindowLawSlot::parameter_name(int i)
{
	return parameter_names()[i];
}

bool WindowLawSlot::is_stock(int option)
{
	for (int i = 0; i < STOCK_COUNT; i++)
		if (STOCK_OPTIONS[i] == option)
			return true;
	return false;
}

void WindowLawSlot::reset(int option, const char* agent, int packet_bytes)
{
	delete law_;
	law_ = 0;
	if (is_stock(option))
		return;
	require_in_range(agent, PACKET_SIZE, packet_bytes);
	const std::vector<WindowLawEntry>& laws = window_laws();
	double* values = values_;
	for (size_t i = 0; i < laws.size(); i++) {
		if (laws[i].option == option)
			return take_up(laws[i], values, agent);
		values += laws[i].parameter_count + laws[i].observation_count;
	}
	stop_ns(agent, unknown_option(option));
}

void WindowLawSlot::take_up(const WindowLawEntry& entry, double* values, const char* agent)
{
	for (int i = 0; i < entry.parameter_count; i++)
		require_in_range(agent, entry.parameters[i], values[i]);
	law_ = entry.make(values);
	option_ = entry.option;
	observed_ = values + entry.parameter_count;
	law_->observe(observed_);
}

WindowLaw& WindowLawSlot::law(int option, const char* agent, int packet_bytes)
{
	if (!law_ || option_ != option)
		reset(option, agent, packet_bytes);
	return *law_;
}

void WindowLawSlot::rtt_sample(int option, const char* agent, int packet_bytes, double rtt_s,
			       double now_s)
{
	law(option, agent, packet_bytes).rtt_sample(rtt_s, now_s);
	law_->observe(observed_);
}
