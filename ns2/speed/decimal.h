// Decimal text of numbers, as printf() writes it but faster.
#ifndef bdpbench_decimal_h
#define bdpbench_decimal_h

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Each function whose name begins with put_ writes to `out`, without a terminating 0, and returns
 * the end of its text. Up to three more characters may be overwritten.
 */
namespace decimal {

// The decimal texts of the numbers below 1000, with leading zeros.
struct Groups {
	struct Group {
		char text[3];
		unsigned char zeros;	// leading ones; the last digit is none
	};
	Groups() {
		for (int i = 0; i < 1000; ++i) {
			group[i].text[0] = char('0' + i / 100);
			group[i].text[1] = char('0' + i / 10 % 10);
			group[i].text[2] = char('0' + i % 10);
			group[i].zeros = (i < 100) + (i < 10);
		}
	}
	Group group[1000];
};
extern const Groups groups;

// Three digits, and a fourth character that the next text overwrites.
inline char* put_group(char* out, uint32_t below_1000)
{
	memcpy(out, &groups.group[below_1000], 4);
	return out + 3;
}

// The same without leading zeros.
inline char* put_first_group(char* out, uint32_t below_1000)
{
	const Groups::Group& group = groups.group[below_1000];
	memcpy(out, group.text + group.zeros, 4);
	return out + 3 - group.zeros;
}

// "%u"
inline char* put_unsigned(char* out, uint32_t number)
{
	if (number < 1000)
		return put_first_group(out, number);
	uint32_t thousands = number / 1000;
	if (thousands < 1000) {
		out = put_first_group(out, thousands);
	} else {
		uint32_t millions = thousands / 1000;
		if (millions < 1000) {
			out = put_first_group(out, millions);
		} else {
			*out++ = char('0' + millions / 1000);
			out = put_group(out, millions % 1000);
		}
		out = put_group(out, thousands % 1000);
	}
	return put_group(out, number % 1000);
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
	double microseconds = seconds * 1.0E+6 + 0.5;
	if (!(microseconds >= 100 && microseconds < 1.0E+15))
		return out + sprintf(out, "%.15g", floor(microseconds) / 1.0E+6);
	uint64_t whole = uint64_t(microseconds);	// rounded down
	uint32_t fraction = uint32_t(whole % 1000000);
	out = put_unsigned(out, uint32_t(whole / 1000000));
	if (fraction == 0)
		return out;
	*out++ = '.';
	out = put_group(out, fraction / 1000);
	out = put_group(out, fraction % 1000);
	while (out[-1] == '0')
		--out;
	return out;
}

}  // namespace decimal

#endif
