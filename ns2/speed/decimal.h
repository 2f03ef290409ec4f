// Decimal text of numbers, as printf() writes it but faster.
#ifndef bdpbench_decimal_h
#define bdpbench_decimal_h

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Each function writes to `out`, without a terminating 0, and returns the end of its text.
 */
namespace decimal {

inline char* put_pair(char* out, unsigned below_100)
{
	static const char pairs[] =
		"0001020304050607080910111213141516171819"
		"2021222324252627282930313233343536373839"
		"4041424344454647484950515253545556575859"
		"6061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";
	memcpy(out, pairs + 2 * below_100, 2);
	return out + 2;
}

inline int count_digits(uint32_t number)
{
	if (number < 100000)
		return number < 100 ? 1 + (number >= 10) : 3 + (number >= 1000) + (number >= 10000);
	if (number < 10000000)
		return 6 + (number >= 1000000);
	return 8 + (number >= 100000000) + (number >= 1000000000);
}

// "%u"
inline char* put_unsigned(char* out, uint32_t number)
{
	char* end = out + count_digits(number);
	char* begin = end;
	for (; number >= 100; number /= 100)
		put_pair(begin -= 2, number % 100);
	if (number >= 10)
		put_pair(begin - 2, number);
	else
		*--begin = char('0' + number);
	return end;
}

// "%d"
inline char* put_int(char* out, int32_t number)
{
	if (number >= 0)
		return put_unsigned(out, number);
	*out = '-';
	return put_unsigned(out + 1, 0u - uint32_t(number));
}

/*
 * "%.15g" of a time (s) rounded to whole microseconds; at most 24 characters.
 *
 * The rounded time is the double nearest to microseconds / 10^6. A decimal number of up to 15
 * digits, nearest double, and back to 15 digits, is the same number (DBL_DIG of C), so the digits
 * are those of the whole number of microseconds. Below 10^-4 s "%g" writes an exponent: these
 * times, those of more than 15 digits, negative and not finite ones are left to printf().
 */
inline char* put_seconds(char* out, double seconds)
{
	double microseconds = floor(seconds * 1.0E+6 + 0.5);
	if (!(microseconds >= 100 && microseconds < 1.0E+15))
		return out + sprintf(out, "%.15g", microseconds / 1.0E+6);
	uint64_t whole = uint64_t(microseconds);
	unsigned fraction = unsigned(whole % 1000000);
	out = put_unsigned(out, uint32_t(whole / 1000000));
	if (fraction == 0)
		return out;
	*out++ = '.';
	out = put_pair(out, fraction / 10000);
	out = put_pair(out, fraction / 100 % 100);
	out = put_pair(out, fraction % 100);
	while (out[-1] == '0')
		--out;
	return out;
}

}  // namespace decimal

#endif
