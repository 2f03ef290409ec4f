/*
 * Mutated lines and random rows for packets.c, in a build with -fsanitize=address,undefined, which ends at
 * every access outside a text or a table and at every undefined operation. It also checks its
 * promises: each line is summed or left, once and in order, and what entered links, departed and was
 * dropped is what a count of the same rows gives.
 *
 *   fuzz_packets SEED LINES [FILE...]
 *
 * Each FILE is a trace whose lines are mutated; without one, rows are drawn.
 */

#include <stdio.h>

#include "../../pipeline/bdpbench/metrics/packets/packets.c"

#define MOST_SAMPLES 20000
#define MOST_LINES 64		/* of a text */
#define LONGEST 2048		/* bytes of a mutated line */
#define PADDING 16		/* trace/sources.py */
#define MOST_ROWS 400		/* of a trace */
#define TABLES 10		/* before the cells of the series */
#define COLUMNS (3 + (int)(sizeof(COLUMN) / sizeof(*COLUMN)))

static char *samples[MOST_SAMPLES];
static int sample_count;
static uint64_t state;

/* xorshift64*, which gives the same mutations on every machine. */
static uint32_t
draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 2685821657736338717ULL) >> 32) % below;
}

static void
fail_unless(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void
load(const char *path)
{
	char line[LONGEST / 2];
	FILE *file = fopen(path, "r");

	fail_unless(file != 0, path);
	while (sample_count < MOST_SAMPLES && fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = 0;
		samples[sample_count++] = strdup(line);
	}
	fclose(file);
}

static const char *const PIECES[] = {
	" ", "  ", "\t", ".", "-", "+", "e9", "0x", "0", "9223372036854775808", "-9223372036854775808",
	"99999999999999999999999999999999", "2147483648", "-1", "1e400", "nan", "-------", "\r", "\\",
	"\x01", "\x7f", "\xff", "averyverylongwordindeed", "0.0", "1.2.3.4.5", "[", "]", "_", ""
};

/* Replaces, removes or inserts a few bytes; returns the new length. */
static size_t
mutate(char *line, size_t length)
{
	for (uint32_t times = draw(4); times > 0; times--) {
		const char *piece = PIECES[draw(sizeof PIECES / sizeof *PIECES)];
		size_t put = strlen(piece), at = length ? draw((uint32_t)length + 1) : 0;
		size_t cut = draw(5);

		if (cut > length - at)
			cut = length - at;
		if (length - cut + put >= LONGEST)
			continue;
		memmove(line + at + put, line + at + cut, length - at - cut);
		memcpy(line + at, piece, put);
		length = length - cut + put;
	}
	return length;
}

static int64_t
newlines(const char *text, int64_t length)
{
	int64_t lines = 0;

	for (int64_t i = 0; i < length; i++)
		lines += text[i] == '\n';
	return lines;
}

/* Sums a text whose buffer is exactly as long as may be read: one byte more is detected. */
static void
check_text(struct meter *meter, const char *text, int64_t length)
{
	for (int64_t at = 0; at < length;) {
		int64_t read = bdpbench_add_text(meter, text + at, length - at), left;

		fail_unless(read >= 0 && newlines(text + at, read) == meter->told.lines, "lines are lost");
		if ((at += read) == length)
			return;
		left = bdpbench_left(meter, text + at, length - at);
		fail_unless(left > 0 && text[at + left - 1] == '\n', "nothing is left");
		at += left;
	}
}

static int64_t
sum_text(struct meter *meter)
{
	int64_t lines = 1 + draw(MOST_LINES), length = 0;
	char *text = malloc((size_t)lines * (LONGEST + 1)), *exact;

	for (int64_t i = 0; i < lines; i++) {
		const char *sample = samples[draw((uint32_t)sample_count)];
		size_t size = strlen(sample);

		memcpy(text + length, sample, size);
		length += (int64_t)mutate(text + length, size);
		text[length++] = '\n';
	}
	exact = malloc((size_t)length + PADDING);
	memcpy(exact, text, (size_t)length);
	memset(exact + length, (int)draw(256), PADDING);
	check_text(meter, exact, length);
	free(exact);
	free(text);
	return lines;
}

static const int64_t NUMBERS[] = {
	-1, 0, 1, 2, 7, INT32_MAX, INT32_MIN, 1LL << 30, INT64_MAX, INT64_MIN, 999999999999999999LL,
	-999999999999999999LL, 400000000
};
static const double TIMES[] = { -1, 0, 1e-300, 9e8, 999999999999.0 };

/* A number of a column: most continue the row before, some cannot follow it. */
static int64_t
number_for(int column, int64_t before, uint32_t one_in)
{
	static const int64_t below[] = { 3, 3, 5, 9, 2, 2, 2, 2, 2, 40, 60, 2, 2, 4, 3, 2, 3, 5 };
	int64_t plain = draw(2) ? before : (int64_t)draw((uint32_t)below[column]);

	if (column == 2 || column == 13 || column == 15)	/* type, layer, reason */
		return plain;
	return draw(10 * one_in) ? plain : NUMBERS[draw(sizeof NUMBERS / sizeof *NUMBERS)];
}

static int64_t
total(const struct meter *meter, int table, int member)
{
	int64_t size = bdpbench_column(meter, table, 0, 0), sum = 0;
	int64_t *values = malloc((size_t)(size ? size : 1) * sizeof *values);

	bdpbench_column(meter, table, member, values);
	for (int64_t i = 0; i < size; i++)
		sum = (int64_t)((uint64_t)sum + (uint64_t)values[i]);
	free(values);
	return sum;
}

static int64_t
sum_rows(struct meter *meter, double start_s, uint32_t one_in)
{
	static int64_t whole[COLUMNS][MOST_ROWS];
	static double reals[2][MOST_ROWS];
	const void *columns[COLUMNS] = { reals[0], draw(3) ? reals[1] : 0 };
	int64_t rows = 1 + draw(MOST_ROWS), enters = 0, leaves = 0, drops = 0, lost = 0;
	double time_s = 0;

	for (int i = 2; i < COLUMNS; i++)
		columns[i] = i < 14 || i == 16 || draw(3) ? whole[i] : 0;
	for (int64_t at = 0; at < rows; at++) {
		int wired, counts;

		time_s += (double)draw(3) * (draw(2) ? 0.5 : 1e-6);
		reals[0][at] = draw(20 * one_in) ? time_s : TIMES[draw(5)];
		reals[1][at] = draw(3) ? TIMES[draw(5)] : -1;
		whole[2][at] = draw(one_in) ? "+-rde"[draw(5)] : "sfDNxh"[draw(6)];
		for (int i = 3; i < COLUMNS; i++)
			whole[i][at] = number_for(i - 3, at ? whole[i][at - 1] : 0, one_in);
		if (whole[6][at] < 0 || whole[6][at] > INT32_MAX)
			whole[6][at] = 40;
		wired = whole[16][at] == WIRED && whole[2][at] != 'N';
		counts = reals[0][at] >= start_s;
		enters += wired && counts && whole[2][at] == '+';
		leaves += wired && counts && whole[2][at] == '-';
		drops += wired && counts && (whole[2][at] == 'd' || whole[2][at] == 'e');
		lost += !wired && counts && (whole[2][at] == 'd' || whole[2][at] == 'D');
	}
	fail_unless(bdpbench_add_rows(meter, rows, columns) && bdpbench_finish_meter(meter), "no memory");
	fail_unless(total(meter, 2, 2) == enters, "entered");
	fail_unless(total(meter, 3, 3) == drops + lost, "dropped");
	fail_unless(total(meter, TABLES + LOST_ON_LINK, 2) == drops, "dropped of links");
	fail_unless(total(meter, TABLES + DEPARTED, 2) == leaves, "departed");
	return rows;
}

int
main(int argc, char **argv)
{
	static const double WIDTHS[] = { 0, 0, 0.001, 0.1, 5 };
	static const char *const TYPES[] = { "cbr", "AODV", "tcp", "tcp2", "ack" };
	static const int KINDS[] = { DATA, CONTROL | ROUTING, TCP, TCP, ACK };
	int64_t most, done = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: fuzz_packets SEED LINES [FILE...]\n");
		return 2;
	}
	state = strtoull(argv[1], 0, 10) * 2 + 1;
	most = strtoll(argv[2], 0, 10);
	for (int i = 3; i < argc; i++)
		load(argv[i]);
	while (done < most) {
		double start_s = draw(3) ? -INFINITY : draw(10);
		struct meter *meter = bdpbench_new_meter(start_s, INFINITY, WIDTHS[draw(5)]);

		for (int i = 0; i < 5; i++)
			bdpbench_word(meter, 0, TYPES[i], (int64_t)strlen(TYPES[i]), KINDS[i]);
		for (int i = 0; i < 2; i++)
			bdpbench_word(meter, 1, TYPES[i], 3, 0);
		if (sample_count) {
			for (uint32_t texts = 1 + draw(9); texts > 0; texts--)
				done += sum_text(meter);
			fail_unless(bdpbench_finish_meter(meter), "no memory");
		} else {
			done += sum_rows(meter, start_s, draw(3) ? 100000 : 20);
		}
		bdpbench_free_meter(meter);
	}
	printf("%lld lines or rows, seed %s: no fault\n", (long long)done, argv[1]);
	return 0;
}
