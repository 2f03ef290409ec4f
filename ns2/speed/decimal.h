// Decimal text of numbers, as printf() writes it but faster.
#ifndef bdpbench_decimal_h
#define bdpbench_decimal_h

#include <math.h>
#include <stddef.h>
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

// "%lu"
inline char* put_unsigned_long(char* out, uint64_t number)
{
	if (number < 1000000000)
		return put_unsigned(out, uint32_t(number));
	out = put_unsigned_long(out, number / 1000000000);
	uint32_t rest = uint32_t(number % 1000000000);
	out = put_group(out, rest / 1000000);
	out = put_group(out, rest / 1000 % 1000);
	return put_group(out, rest % 1000);
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

// The greatest value that is rounded here; the others are left to printf().
const double most_fixed = 4294967296.0;

/*
 * Rounds m * 2^e * 10^k, for a number m * 2^e, to a whole number, ties to even as printf() does. The
 * product is below 2^128, and the number of digits behind its point in base 2 is from 1 to 127.
 */
inline uint64_t round_scaled(uint64_t m, uint64_t power_of_10, int shift)
{
	typedef unsigned __int128 Wide;
	const Wide product = Wide(m) * power_of_10;
	const Wide rest = product & ((Wide(1) << shift) - 1), half = Wide(1) << (shift - 1);
	uint64_t whole = uint64_t(product >> shift);
	if (rest > half || (rest == half && (whole & 1)))
		++whole;
	return whole;
}

// A positive number as m * 2^-shift.
inline uint64_t mantissa(double number, int& shift)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof bits);
	const int exponent = int(bits >> 52) & 0x7ff;
	shift = 1075 - exponent;
	return (bits & 0xfffffffffffffull) | 0x10000000000000ull;
}

// Digits with leading zeros.
inline char* put_digits(char* out, uint32_t number, int digits)
{
	for (int i = digits; i-- > 0; number /= 10)
		out[i] = char('0' + number % 10);
	return out + digits;
}

// "%.<digits>f" for 1 to 9 digits; exact, as that of the C library of GNU.
template <int digits>
inline char* put_fixed(char* out, double number)
{
	static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000,
		100000000, 1000000000};
	const uint32_t power = powers[digits];
	uint64_t scaled = 0;
	const double size = fabs(number);
	if (!(size < most_fixed))
		return out + sprintf(out, "%.*f", digits, number);
	if (signbit(number))
		*out++ = '-';
	if (size >= 1e-20) {
		int shift;
		const uint64_t m = mantissa(size, shift);
		scaled = round_scaled(m, power, shift);
	}
	out = put_unsigned_long(out, scaled / power);
	*out++ = '.';
	return put_digits(out, uint32_t(scaled % power), digits);
}

// "%.15g" of any number.
inline char* put_general(char* out, double number)
{
	// Numbers that may round to 10^15 get an exponent.
	if (!(number >= 1e-4 && number < 1e14))
		return out + sprintf(out, "%.15g", number);
	int shift;
	const uint64_t m = mantissa(number, shift);
	static const uint64_t powers[] = {1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull,
		10000000ull, 100000000ull, 1000000000ull, 10000000000ull, 100000000000ull,
		1000000000000ull, 10000000000000ull, 100000000000000ull, 1000000000000000ull,
		10000000000000000ull, 100000000000000000ull, 1000000000000000000ull,
		10000000000000000000ull};
	// Digits behind the point so that there are 15 in all.
	int behind = 14;
	if (number >= 1) {
		while (behind > 0 && number >= double(powers[15 - behind]))
			--behind;
	} else {
		// A tenth and so on are not exact, but a number below them gets no digit too many: it
		// is looked at again.
		behind = number >= 0.1 ? 15 : number >= 0.01 ? 16 : number >= 0.001 ? 17 : 18;
	}
	uint64_t scaled = round_scaled(m, powers[behind], shift);
	if (scaled >= powers[15])	// rounded up to one digit more, or the power was not exact
		scaled = round_scaled(m, powers[--behind], shift);
	const uint64_t whole = scaled / powers[behind];
	uint64_t fraction = scaled % powers[behind];
	out = put_unsigned_long(out, whole);
	if (fraction == 0)
		return out;
	*out++ = '.';
	for (int i = behind; i-- > 0; fraction /= 10)
		out[i] = char('0' + fraction % 10);
	out += behind;
	while (out[-1] == '0')
		--out;
	return out;
}

// "%x"
inline char* put_hex(char* out, uint32_t number)
{
	int digits = 1;
	while (digits < 8 && number >> (4 * digits))
		++digits;
	for (int i = digits; i-- > 0; number >>= 4)
		out[i] = "0123456789abcdef"[number & 15];
	return out + digits;
}

// A literal.
template <size_t size>
inline char* put(char* out, const char (&text)[size])
{
	memcpy(out, text, size - 1);
	return out + size - 1;
}

// "%s"
inline char* put_string(char* out, const char* text)
{
	const size_t length = strlen(text);
	memcpy(out, text, length);
	return out + length;
}

// "%<width>s"
inline char* put_right(char* out, const char* text, size_t width)
{
	const size_t length = strlen(text);
	for (size_t i = length; i < width; ++i)
		*out++ = ' ';
	memcpy(out, text, length);
	return out + length;
}

// "%-<width>": blanks behind a text from `begin` to `end`.
inline char* pad(const char* begin, char* end, int width)
{
	while (end - begin < width)
		*end++ = ' ';
	return end;
}

}  // namespace decimal

#endif
