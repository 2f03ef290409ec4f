// The decimal texts of speed/decimal.h, compared with those of printf().
#include "check.h"
#include "decimal.h"
#include <limits.h>
#include <stdlib.h>

namespace {

// A generator of 64-bit numbers (Marsaglia's xorshift) that is the same on every machine.
uint64_t next_random()
{
	static uint64_t state = 88172645463325252ull;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void check_same(const char* text, char* end, const char* expected)
{
	*end = 0;
	if (strcmp(text, expected) == 0)
		return;
	printf("'%s', not '%s'\n", text, expected);
	failures++;
}

void check_int(int number)
{
	char text[32], expected[32];
	sprintf(expected, "%d", number);
	check_same(text, decimal::put_int(text, number), expected);
}

// The text that BaseTrace::round() and TIME_FORMAT of ns-2 produce for a time.
void check_seconds(double seconds)
{
	char text[64], expected[64];
	sprintf(expected, "%.15g", floor(seconds * 1.0E+6 + 0.5) / 1.0E+6);
	check_same(text, decimal::put_seconds(text, seconds), expected);
}

void check_around(double seconds)
{
	double up = seconds, down = seconds;
	for (int i = 0; i < 5; ++i) {
		check_seconds(up);
		check_seconds(down);
		check_seconds(seconds + i * 1e-6);
		check_seconds(seconds - i * 1e-6);
		check_seconds(seconds + (i + 0.5) * 1e-6);
		up = nextafter(up, INFINITY);
		down = nextafter(down, -INFINITY);
	}
}

void test_ints()
{
	for (int i = -20000; i <= 20000; ++i)
		check_int(i);
	for (int power = 1; power <= 1000000000 / 10; power *= 10)
		for (int i = -2; i <= 2; ++i) {
			check_int(power * 10 + i);
			check_int(-power * 10 + i);
		}
	check_int(INT_MAX);
	check_int(INT_MIN);
	for (int i = 0; i < 200000; ++i)
		check_int(int(next_random() >> (32 + next_random() % 32)));
}

void test_boundaries()
{
	for (int exponent = -12; exponent <= 22; ++exponent)
		for (int first = 1; first <= 9; ++first) {
			check_around(first * pow(10, exponent));
			check_around(-first * pow(10, exponent));
		}
	for (int exponent = -30; exponent <= 80; ++exponent)
		check_around(ldexp(1, exponent));
	check_seconds(0);
	check_seconds(-0.0);
	check_seconds(NAN);
	check_seconds(INFINITY);
	check_seconds(-INFINITY);
}

// Whole microseconds and arbitrary times from 1 us to 10^9 s, all lengths equally often.
void test_random_times()
{
	for (int i = 0; i < 300000; ++i) {
		uint64_t bits = next_random() >> (14 + next_random() % 50);
		check_seconds(bits / 1e6);
		check_seconds(bits * 1.2345e-7);
	}
}

// Times as they add up in a simulation, from transmission and propagation delays.
void test_sums()
{
	double now = 0;
	for (int i = 0; i < 300000; ++i) {
		now += (next_random() % 1500) * 8 / 622e6 + (next_random() % 3) * 0.001;
		check_seconds(now);
	}
}

}  // namespace

int main()
{
	test_ints();
	test_boundaries();
	test_random_times();
	test_sums();
	return failures ? 1 : 0;
}
