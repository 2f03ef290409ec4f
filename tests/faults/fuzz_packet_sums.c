/*
 * Random rows for the sums in C, in a build with -fsanitize=address,undefined, which ends at every
 * access outside a batch or a table and at every undefined operation. It also compares the sums
 * with a count of the same rows: what entered links, what departed, and what was dropped.
 *
 *   fuzz_packet_sums SEED TRACES
 */

#include <stdio.h>

#include "../../pipeline/bdpbench/metrics/packets/packet_sums.c"

#define MOST_ROWS 400		/* of a trace */
#define TABLES 9		/* before the cells of the series */

static uint64_t state;

/* xorshift64*, which gives the same rows on every machine. */
static uint32_t
draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 2685821657736338717ULL) >> 32) % below;
}

struct rows {
	double time_s[MOST_ROWS], energy_j[MOST_ROWS];
	uint8_t event[MOST_ROWS], layer[MOST_ROWS], coarse[MOST_ROWS];
	uint32_t type[MOST_ROWS];
	int32_t small[COLUMNS][MOST_ROWS];
	int64_t seq[MOST_ROWS], uid[MOST_ROWS];
	int64_t count;
};

static const int64_t NUMBERS[] = {
	-1, 0, 1, 2, 7, INT32_MAX, INT32_MIN, 1LL << 30, INT64_MAX, INT64_MIN, 999999999999999999LL,
	-999999999999999999LL, 400000000
};
static const double TIMES[] = { -1, 0, 1e-300, 9e8, 999999999999.0, 1e12, 1e300, INFINITY, NAN };

static int64_t
odd_or(int64_t plain, uint32_t one_in)
{
	return draw(one_in) ? plain : NUMBERS[draw(sizeof NUMBERS / sizeof *NUMBERS)];
}

/* Rows of a few flows over a few links: most continue the previous row, some cannot follow it. */
static void
fill(struct rows *rows, uint32_t one_in)
{
	double time_s = 0;

	rows->count = 1 + draw(MOST_ROWS);
	for (int64_t i = 0; i < rows->count; i++) {
		int again = i > 0 && draw(2);	/* the packet of the row before */
		int64_t from = again && draw(2) ? i - 1 : -1;

		time_s += (double)draw(3) * (draw(2) ? 0.5 : 1e-6);
		rows->time_s[i] = draw(20 * one_in) ? time_s
						    : TIMES[draw(sizeof TIMES / sizeof *TIMES)];
		rows->event[i] = (uint8_t)(draw(one_in) ? draw(5) : draw(256));
		rows->layer[i] = (uint8_t)(draw(3) ? WIRED : draw(5));
		rows->coarse[i] = (uint8_t)(draw(9) == 0);
		rows->energy_j[i] = draw(3) ? TIMES[draw(sizeof TIMES / sizeof *TIMES)] : -1;
		rows->type[i] = again ? rows->type[i - 1] : draw(one_in) ? draw(5) : draw(1000);
		for (int column = 0; column < COLUMNS; column++) {
			int64_t plain = again ? rows->small[column][i - 1] : (int64_t)draw(2);

			if ((column == FROM || column == TO) && from < 0)
				plain = draw(3);
			rows->small[column][i] = (int32_t)odd_or(plain, 10 * one_in);
		}
		if (!again || !draw(8))
			rows->small[BYTES][i] = (int32_t)odd_or(40 + 500 * draw(3), 10 * one_in);
		rows->seq[i] = odd_or(again ? rows->seq[i - 1] : (int64_t)draw(40), 5 * one_in);
		rows->uid[i] = odd_or(again ? rows->uid[i - 1] : (int64_t)draw(60), 5 * one_in);
	}
}

/* The columns of some rows, exactly as long as needed: reading one byte more is detected. */
struct source {
	const struct rows *rows;
	int64_t at, most;
};

static void
release_columns(struct ArrowArray *array)
{
	for (int i = 0; i < COLUMNS; i++) {
		free((void *)array->children[i]->buffers[1]);
		free(array->children[i]->buffers);
		free(array->children[i]);
	}
	free(array->children);
	array->release = 0;
}

static const void *
column_of(const struct rows *rows, int column, size_t *width)
{
	switch (column) {
	case TIME: *width = 8; return rows->time_s;
	case EVENT: *width = 1; return rows->event;
	case LAYER: *width = 1; return rows->layer;
	case COARSE: *width = 1; return rows->coarse;
	case ENERGY: *width = 8; return rows->energy_j;
	case TYPE: *width = 4; return rows->type;
	case SEQ: *width = 8; return rows->seq;
	case UID: *width = 8; return rows->uid;
	}
	*width = 4;
	return rows->small[column];
}

static int
next_array(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
	struct source *source = stream->private_data;
	int64_t left = source->rows->count - source->at;
	int64_t count = left ? 1 + draw((uint32_t)(left < source->most ? left : source->most)) : 0;

	memset(array, 0, sizeof *array);
	if (!count)
		return 0;
	array->length = count;
	array->children = calloc(COLUMNS, sizeof *array->children);
	array->release = release_columns;
	for (int i = 0; i < COLUMNS; i++) {
		struct ArrowArray *child = array->children[i] = calloc(1, sizeof *child);
		size_t width;
		const char *values = column_of(source->rows, i, &width);

		child->offset = draw(3);	/* what is sliced begins later */
		child->buffers = calloc(2, sizeof *child->buffers);
		child->buffers[1] = malloc((size_t)(count + child->offset) * width);
		memset((void *)child->buffers[1], 0, (size_t)child->offset * width);
		memcpy((char *)child->buffers[1] + (size_t)child->offset * width,
		       values + (size_t)source->at * width, (size_t)count * width);
	}
	source->at += count;
	return 0;
}

static int64_t
total(const struct meter *meter, int table, int member, int64_t *length)
{
	struct ArrowArray array;
	int64_t sum = 0;

	if (!bdpbench_column(meter, table, member, 0, &array)) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	for (int64_t i = 0; i < array.length; i++)
		sum = (int64_t)((uint64_t)sum + (uint64_t)((const int64_t *)array.buffers[1])[i]);
	*length = array.length;
	array.release(&array);
	return sum;
}

static void
expect(const char *what, int64_t found, int64_t counted)
{
	if (found == counted)
		return;
	fprintf(stderr, "%s: %lld, counted %lld\n", what, (long long)found, (long long)counted);
	exit(1);
}

static void
check(const struct meter *meter, const struct rows *rows, int64_t taken, double start_s)
{
	int64_t enters = 0, drops = 0, leaves = 0, lost = 0, length;

	for (int64_t i = 0; i < taken; i++) {
		int wired = rows->layer[i] == WIRED, counts = rows->time_s[i] >= start_s;

		lost += !wired && counts && (rows->event[i] == DROPPED || rows->event[i] == LOST);
		counts &= wired;
		enters += counts && rows->event[i] == ENTERS;
		leaves += counts && rows->event[i] == LEAVES;
		drops += counts && (rows->event[i] == DROPPED || rows->event[i] == ERROR);
	}
	expect("entered", total(meter, 2, 2, &length), enters);
	expect("dropped", total(meter, 3, 3, &length), drops + lost);
	expect("dropped of links", total(meter, TABLES + LOST_ON_LINK, 2, &length), drops);
	expect("departed", total(meter, TABLES + DEPARTED, 2, &length), leaves);
	for (int table = 0; table < TABLES + SERIES; table++)
		for (int member = 0; member < (int)table_of(meter, table)->size / 8; member++)
			total(meter, table, member, &length);
}

static int64_t
sum_trace(uint32_t one_in)
{
	static struct rows rows;
	static const double WIDTHS[] = { 0, 0, 0.001, 0.1, 5 };
	uint8_t event_of[256], type_of[] = { DATA, CONTROL | ROUTING, TCP, TCP, ACK };
	int32_t children[COLUMNS];
	double start_s = draw(3) ? -INFINITY : draw(10);
	enum extent extent = draw(2) ? ALL : (enum extent)draw(3);
	struct meter *meter = bdpbench_new_meter(start_s, WIDTHS[draw(5)], extent);
	struct source source = { &rows, 0, 1 + draw(60) };
	struct ArrowArrayStream stream = { .get_next = next_array, .private_data = &source };
	int64_t taken;

	for (int i = 0; i < 256; i++)
		event_of[i] = (uint8_t)(i < OTHER ? i : OTHER);
	for (int i = 0; i < COLUMNS; i++)
		children[i] = i < HEADER_BYTES || i == LAYER || draw(3) ? i : -1;
	fill(&rows, one_in);
	taken = bdpbench_add_rows(meter, &stream, children, event_of, type_of, sizeof type_of);
	if (taken < 0 || taken > rows.count || !bdpbench_finish_meter(meter)) {
		fprintf(stderr, "%lld rows of %lld\n", (long long)taken, (long long)rows.count);
		exit(1);
	}
	if (extent == ALL)
		check(meter, &rows, taken, start_s);
	bdpbench_free_meter(meter);
	return taken;
}

int
main(int argc, char **argv)
{
	int64_t traces, taken = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: fuzz_packet_sums SEED TRACES\n");
		return 2;
	}
	state = strtoull(argv[1], 0, 10) * 2 + 1;
	traces = strtoll(argv[2], 0, 10);
	for (int64_t i = 0; i < traces; i++)
		taken += sum_trace(i % 3 ? 100000 : 20);
	printf("%lld rows of %lld traces, seed %s: no fault\n", (long long)taken,
	       (long long)traces, argv[1]);
	return 0;
}
