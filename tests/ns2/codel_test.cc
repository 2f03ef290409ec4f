// CoDel against RFC 8289, section 5, by hand: target 5 ms, interval 100 ms, packets of 1,000 bytes.

#include "check.h"
#include "codel.h"

static const CoDelParameters STANDARD = {0.005, 0.1, 1000};
static const double LONG_S = 0.01;
static const double SHORT_S = 0.004;
static const double MANY_BYTES = 50000;

static void it_waits_for_a_whole_interval_above_the_target()
{
	CoDel law(STANDARD);
	CHECK(!law.drops(LONG_S, 1.0, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.0999, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.1, MANY_BYTES));
	CHECK(law.dropping() && law.count() == 1);
}

static void a_short_wait_or_a_short_queue_begins_the_interval_anew()
{
	CoDel law(STANDARD);
	law.drops(LONG_S, 1.0, MANY_BYTES);
	law.drops(SHORT_S, 1.05, MANY_BYTES);
	CHECK(!law.drops(LONG_S, 1.1, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.19, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.195, 1000));	// one packet behind it
	CHECK(!law.drops(LONG_S, 1.2, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.301, MANY_BYTES));
}

// After the first drop at 1.1: the next at 1.1 + 0.1/sqrt(1), then 0.1/sqrt(2) and 0.1/sqrt(3) later.
static void drops_follow_by_the_square_root_of_their_number()
{
	CoDel law(STANDARD);
	law.drops(LONG_S, 1.0, MANY_BYTES);
	law.drops(LONG_S, 1.1, MANY_BYTES);
	CHECK(!law.drops(LONG_S, 1.1, MANY_BYTES));	// the packet behind the first drop leaves
	CHECK(!law.drops(LONG_S, 1.199, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.2001, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.2001, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.2707, MANY_BYTES));	// 1.2 + 0.1/sqrt(2) is 1.270711
	CHECK(law.drops(LONG_S, 1.2708, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.3284, MANY_BYTES));	// and 0.1/sqrt(3) later 1.328446
	CHECK(law.drops(LONG_S, 1.3285, MANY_BYTES));
	CHECK(law.count() == 4);
}

static void late_drops_are_made_up_for_at_once()
{
	CoDel law(STANDARD);
	law.drops(LONG_S, 1.0, MANY_BYTES);
	law.drops(LONG_S, 1.1, MANY_BYTES);
	law.drops(LONG_S, 1.1, MANY_BYTES);
	// Those of 1.2, 1.2707 and 1.3284 are due.
	CHECK(law.drops(LONG_S, 1.35, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.35, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.35, MANY_BYTES));
	CHECK(!law.drops(LONG_S, 1.35, MANY_BYTES));
}

static void it_stops_below_the_target_and_goes_on_nearly_where_it_was()
{
	CoDel law(STANDARD);
	law.drops(LONG_S, 1.0, MANY_BYTES);
	law.drops(LONG_S, 1.1, MANY_BYTES);
	law.drops(LONG_S, 1.1, MANY_BYTES);
	for (int i = 0; i < 3; i++)
		law.drops(LONG_S, 1.35, MANY_BYTES);	// count 4
	CHECK(!law.drops(SHORT_S, 1.36, MANY_BYTES));
	CHECK(!law.dropping());
	law.drops(LONG_S, 1.4, MANY_BYTES);
	CHECK(law.drops(LONG_S, 1.5, MANY_BYTES));
	CHECK(law.count() == 3);	// 4 of now less 1 of when that state began
	// 16 intervals later it begins from 1 again.
	law.drops(SHORT_S, 1.51, MANY_BYTES);
	law.drops(LONG_S, 4.0, MANY_BYTES);
	law.drops(LONG_S, 4.1, MANY_BYTES);
	CHECK(law.count() == 1);
}

static void a_mark_counts_as_a_drop_whose_packet_leaves()
{
	CoDel law(STANDARD);
	law.drops(LONG_S, 1.0, MANY_BYTES);
	CHECK(law.drops(LONG_S, 1.1, MANY_BYTES));
	law.marked_instead();
	CHECK(!law.drops(LONG_S, 1.199, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.2001, MANY_BYTES));
	law.marked_instead();
	CHECK(!law.drops(LONG_S, 1.27, MANY_BYTES));
	CHECK(law.drops(LONG_S, 1.271, MANY_BYTES));
}

static void an_empty_queue_ends_dropping()
{
	CoDel law(STANDARD);
	law.drops(LONG_S, 1.0, MANY_BYTES);
	law.drops(LONG_S, 1.1, MANY_BYTES);
	law.found_empty();
	CHECK(!law.dropping());
	CHECK(!law.drops(LONG_S, 1.2, MANY_BYTES));
}

int main()
{
	it_waits_for_a_whole_interval_above_the_target();
	a_short_wait_or_a_short_queue_begins_the_interval_anew();
	drops_follow_by_the_square_root_of_their_number();
	late_drops_are_made_up_for_at_once();
	it_stops_below_the_target_and_goes_on_nearly_where_it_was();
	a_mark_counts_as_a_drop_whose_packet_leaves();
	an_empty_queue_ends_dropping();
	return failures != 0;
}
