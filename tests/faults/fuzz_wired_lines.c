/*
 * Mutated lines for the parser in C, in a build with -fsanitize=address,undefined, which ends at
 * every access outside a chunk and at every undefined operation. It also checks the parser's
 * promises: each line becomes a row or is left to the caller, once and in order.
 *
 *   fuzz_wired_lines SEED LINES FILE...
 *
 * Each FILE is a trace whose lines are mutated.
 */

#include <stdio.h>

#include "../../pipeline/bdpbench/trace/native/wired_lines.c"

#define MOST_SAMPLES 20000
#define MOST_LINES 64		/* of a chunk */
#define LONGEST 2048		/* bytes of a mutated line */

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
load(const char *path)
{
	char line[LONGEST / 2];
	FILE *file = fopen(path, "r");

	if (!file) {
		perror(path);
		exit(2);
	}
	while (sample_count < MOST_SAMPLES && fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = 0;
		samples[sample_count++] = strdup(line);
	}
	fclose(file);
}

static const char *const PIECES[] = {
	" ", "  ", "\t", ".", "-", "+", "e9", "0x", "0", "9223372036854775808", "-9223372036854775808",
	"99999999999999999999999999999999", "2147483648", "-1", "1e400", "nan", "-------", "\r", "\\",
	"\x01", "\x7f", "\xff", "averyverylongwordindeed", "0.0", "1.2.3.4.5", ""
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

static void
check(const char *text, int64_t length, int64_t lines, uint32_t wanted)
{
	static struct wired_chunk chunk;
	int64_t at = -1, line = -1;

	if (!bdpbench_parse_wired(text, length, wanted, &chunk)) {
		fprintf(stderr, "no memory for %lld bytes\n", (long long)length);
		exit(1);
	}
	if (chunk.extended > chunk.rows || chunk.rows + chunk.others != lines) {
		fprintf(stderr, "%lld lines became %lld rows and %lld others\n", (long long)lines,
			(long long)chunk.rows, (long long)chunk.others);
		exit(1);
	}
	for (int64_t i = 0; i < chunk.others; i++) {
		if (chunk.other_line[i] <= line || chunk.other_start[i] <= at ||
		    (chunk.other_start[i] && text[chunk.other_start[i] - 1] != '\n')) {
			fprintf(stderr, "line %lld is told at a wrong place\n", (long long)i);
			exit(1);
		}
		line = chunk.other_line[i];
		at = chunk.other_start[i];
	}
	bdpbench_release(&chunk);
}

static void
check_wireless(const char *text, int64_t length, int64_t lines, uint32_t wanted)
{
	static struct radio_chunk chunk;
	static const double units[R_FORMS] = { 5e-10, 5e-10, 5e-7 };
	int64_t line = 0;
	double time = 1, unit = 0;

	if (!bdpbench_parse_wireless(text, length, wanted | HAS(R_TIME) | HAS(R_FORM), &chunk)) {
		fprintf(stderr, "no memory for %lld bytes\n", (long long)length);
		exit(1);
	}
	if (chunk.others)
		line = chunk.other_line[draw((uint32_t)chunk.others)];
	bdpbench_wireless_times(&chunk, units, &(struct timed){ chunk.others > 0, &line, &time, &unit });
	if (chunk.rows + chunk.others != lines || chunk.backwards > lines ||
	    (draw(2) && !bdpbench_own_wireless(&chunk))) {
		fprintf(stderr, "%lld lines became %lld rows\n", (long long)lines, (long long)chunk.rows);
		exit(1);
	}
	bdpbench_release_wireless(&chunk);
}

int
main(int argc, char **argv)
{
	int64_t left, rounds = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: fuzz_wired_lines SEED LINES FILE...\n");
		return 2;
	}
	state = strtoull(argv[1], 0, 10) * 2 + 1;
	left = strtoll(argv[2], 0, 10);
	for (int i = 3; i < argc; i++)
		load(argv[i]);
	for (; left > 0; rounds++) {
		int64_t lines = 1 + draw(MOST_LINES), length = 0;
		char *text = malloc((size_t)lines * (LONGEST + 1));
		char *exact;

		for (int64_t i = 0; i < lines; i++) {
			const char *sample = samples[draw((uint32_t)sample_count)];
			size_t size = strlen(sample);

			memcpy(text + length, sample, size);
			length += (int64_t)mutate(text + length, size);
			text[length++] = '\n';
		}
		/* Exactly as long as the parser may read: reading one byte more is detected. */
		exact = malloc((size_t)length + PADDING);
		memcpy(exact, text, (size_t)length);
		memset(exact + length, draw(256), PADDING);
		check(exact, length, lines, draw(1u << COLUMNS));
		check_wireless(exact, length, lines, draw(1u << COLUMNS));
		free(exact);
		free(text);
		left -= lines;
	}
	printf("%lld chunks, seed %s: no fault\n", (long long)rounds, argv[1]);
	return 0;
}
