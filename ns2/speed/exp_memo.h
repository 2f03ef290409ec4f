// exp() for arguments that occur again and again.
#ifndef bdpbench_exp_memo_h
#define bdpbench_exp_memo_h

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * exp(), to the last bit: results are cached by the argument's bits. This pays if arguments are
 * transmission times of packets with few sizes, which repeat apart from rounding.
 */
class ExpMemo {
public:
	// exp(+0) = 1 is the result for the key of all empty places.
	ExpMemo() {
		for (int i = 0; i < places; ++i) {
			memo_[i].key = 0;
			memo_[i].value = 1;
		}
	}
	double operator()(double x) {
		uint64_t key;
		memcpy(&key, &x, sizeof key);
		Place& place = memo_[(key * 0x9E3779B97F4A7C15ull) >> 56];	// Fibonacci hashing
		if (place.key != key) {
			place.key = key;
			place.value = exp(x);
		}
		return place.value;
	}
private:
	enum { places = 256 };
	struct Place {
		uint64_t key;
		double value;
	} memo_[places];
};

#endif
