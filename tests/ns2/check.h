#ifndef bdpbench_check_h
#define bdpbench_check_h

#include <math.h>
#include <stdio.h>

// The minimum that a test program needs: a check that says what failed and where.

static int failures = 0;

#define CHECK(condition)                                                      \
	do {                                                                  \
		if (!(condition)) {                                           \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                           \
		}                                                             \
	} while (0)

#define CHECK_NEAR(value, expected, tolerance)                                \
	do {                                                                  \
		double value_ = (value), expected_ = (expected);              \
		if (!(fabs(value_ - expected_) <= (tolerance))) {             \
			printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__,   \
			       __LINE__, #value, value_, expected_);          \
			failures++;                                           \
		}                                                             \
	} while (0)

#endif
