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

template <int digits>
void check_fixed(double number)
{
	char text[400], expected[400];
	sprintf(expected, "%.*f", digits, number);
	check_same(text, decimal::put_fixed<digits>(text, number), expected);
}

// Any number, with the digits that lines of wireless traces and of nam have.
void check_number(double number)
{
	check_fixed<2>(number);
	check_fixed<3>(number);
	check_fixed<6>(number);
	check_fixed<9>(number);
	char text[64], expected[64];
	sprintf(expected, "%.15g", number);
	check_same(text, decimal::put_general(text, number), expected);
}

void check_hex(unsigned number)
{
	char text[32], expected[32];
	sprintf(expected, "%x", number);
	check_same(text, decimal::put_hex(text, number), expected);
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

void check_neighbours(double number)
{
	check_number(number);
	check_number(nextafter(number, INFINITY));
	check_number(nextafter(number, -INFINITY));
}

// Powers and halves between numbers of few digits, which are ties if they are exact.
void test_fixed_boundaries()
{
	for (int exponent = -25; exponent <= 22; ++exponent)
		for (int first = 1; first <= 9; ++first) {
			check_neighbours(first * pow(10, exponent));
			check_neighbours(-first * pow(10, exponent));
			check_neighbours((first + 0.5) * pow(10, exponent));
		}
	for (int exponent = -90; exponent <= 80; ++exponent)
		check_neighbours(ldexp(1, exponent));
	for (int i = 0; i < 4096; ++i)
		check_number(i / 1024.0 + ldexp(i % 7, -10));
	const double special[] = {0, -0.0, NAN, INFINITY, -INFINITY, -1, 1e300, 4294967295.9999999};
	for (size_t i = 0; i < sizeof special / sizeof special[0]; ++i)
		check_number(special[i]);
}

void test_random_numbers()
{
	for (int i = 0; i < 100000; ++i) {
		check_number(ldexp(double(next_random() >> 11), -int(next_random() % 120)));
		check_number(double(next_random() % 100000000) / 1e5);
		check_hex(unsigned(next_random() >> (32 + next_random() % 32)));
	}
	check_hex(0);
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
	test_fixed_boundaries();
	test_random_numbers();
	return failures ? 1 : 0;
}
