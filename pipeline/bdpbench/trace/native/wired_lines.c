/*
 * Lines of ns-2's wired packet trace -> columns, for trace/native.py.
 *
 * A line is parsed here when it has exactly the form that ns-2 prints:
 *
 *   event time from to type bytes flags flow src.port dst.port seq uid [ack 0xflags header sack]
 *
 * with one blank between fields and none elsewhere. Every other line, good or bad, is left to the
 * caller, by its place: this file never decides that a line is wrong. Buffers belong to the caller
 * once it has them, as arrays of the Arrow C data interface.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 256		/* distinct words a chunk may have in one column */
#define MAX_WORD 16		/* bytes of a word */
#define PADDING 16		/* bytes that may be read behind a chunk: two loads of 8 bytes */
#define LATEST_TIME 1e12	/* s; as in text_lines.py */
#define PACKET_BITS 12		/* of the number of packets that are remembered */
#define SHORTEST_LINE 28	/* bytes of "+ 0 0 1 a 0 - 0 0.0 0.0 0 0\n" */

/* The Arrow C data interface, as its specification lays it out. */
struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

enum column {
	TIME, EVENT, FROM, TO, TYPE, BYTES, FLAGS, FLOW, SRC_NODE, SRC_PORT, DST_NODE, DST_PORT,
	SEQ, UID, ACK, TCP_FLAGS, HEADER_BYTES, SACK_BYTES, COLUMNS
};

/* Bytes of a column's element; event is an index into schema.EVENTS, words are indices, too. */
static const int WIDTH[COLUMNS] = { 8, 1, 4, 4, 2, 4, 2, 4, 4, 4, 4, 4, 8, 8, 8, 4, 4, 4 };

static const double POWER_OF_TEN[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

/*
 * The distinct words of a column, zero-padded, in the order in which they came. A word and its
 * blank that fit eight bytes are found by one comparison: key is those bytes, mask covers them.
 */
struct words {
	int32_t count;
	char text[MAX_WORDS][MAX_WORD];
	int32_t length[MAX_WORDS];
	uint64_t key[MAX_WORDS], mask[MAX_WORDS];
};

/* What a chunk became. */
struct wired_chunk {
	int64_t rows;			/* lines parsed here */
	int64_t extended;		/* of them, lines with the extended TCP columns */
	int64_t others;			/* lines left to the caller */
	int64_t *other_line;		/* their indices among the chunk's lines, from 0 */
	int64_t *other_start;		/* offsets of their first bytes */
	int64_t backwards;		/* parsed lines whose time is below that of the one before */
	int64_t backwards_line;		/* index of the first of them, or -1 */
	double first_time, last_time;	/* of the parsed lines, s */
	double backwards_time, backwards_after;
	struct words types, flags;
	struct ArrowArray columns[COLUMNS];	/* released ones were not asked for */
};

/* What a line says of its packet, and the text that says it, with its newline. */
struct packet {
	const char *text;
	int64_t length;		/* 0 where nothing is known */
	int64_t seq, uid, ack;
	int32_t bytes, flow, src_node, src_port, dst_node, dst_port;
	int32_t tcp_flags, header_bytes, sack_bytes;
	int type, flags, extended;
};

/*
 * One line's fields, and the texts that said them, which the next line may repeat: its time, with
 * the blank behind it, and all of it behind the event, with the newline. Lengths are 0 where nothing
 * is known, or too little to be compared.
 */
struct fields {
	struct packet *packet;	/* of the last line that was parsed */
	const char *time_text, *text;
	int64_t time_length, length;
	double time;
	int32_t from, to;
	int event;
};

struct columns {
	void *data[COLUMNS];
	uint8_t *validity;	/* of the extended columns, a bit a row */
};

#define COMPARED 8	/* least bytes of texts that are compared */

static inline uint64_t
compared(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, COMPARED);
	return bytes;
}

/* Whether two texts of at least COMPARED bytes are the same; the last bytes may count twice. */
static inline int
is_same(const char *one, const char *other, int64_t length)
{
	int64_t last = length - COMPARED;

	for (int64_t i = 0; i < last; i += COMPARED)
		if (compared(one + i) != compared(other + i))
			return 0;
	return compared(one + last) == compared(other + last);
}

#define IS_DIGIT(c) ((unsigned char)((c) - '0') <= 9)

/* Reads 1 to 18 digits; returns the place behind them, or 0. */
static inline const char *
read_digits(const char *at, uint64_t *value)
{
	const char *start = at;
	uint64_t sum = 0;

	for (; IS_DIGIT(*at); at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*value = sum;
	return at > start && at - start <= 18 ? at : 0;
}

static inline const char *
read_int64(const char *at, int64_t *value)
{
	uint64_t digits;
	int negative = *at == '-';

	at = read_digits(at + negative, &digits);
	if (!at)	/* of more digits the sum has wrapped: it is no number to negate */
		return 0;
	*value = negative ? -(int64_t)digits : (int64_t)digits;
	return at;
}

static inline const char *
read_int32(const char *at, int32_t *value)
{
	int64_t wide;

	at = read_int64(at, &wide);
	if (!at)
		return 0;
	*value = (int32_t)wide;
	return wide == *value ? at : 0;
}

/*
 * Reads digits with or without a fraction. The quotient of two numbers that a double holds exactly
 * is rounded correctly, so a mantissa below 2^53 over a power of ten up to 10^22 is the nearest
 * double; anything longer, later than any simulation, or with an exponent, is left to the caller.
 */
static const char *
read_long_time(const char *at, double *value)
{
	uint64_t mantissa = 0;
	const char *start = at, *point;

	for (; IS_DIGIT(*at); at++)
		mantissa = mantissa * 10 + (uint64_t)(*at - '0');
	if (at == start)
		return 0;
	point = at;
	if (*at == '.') {
		for (at++; IS_DIGIT(*at); at++)
			mantissa = mantissa * 10 + (uint64_t)(*at - '0');
		if (at == point + 1)
			return 0;
	}
	if (at - start > 19 || mantissa >= (uint64_t)1 << 53)
		return 0;
	*value = at == point ? (double)mantissa
			     : (double)mantissa / POWER_OF_TEN[at - point - 1];
	return *value < LATEST_TIME ? at : 0;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EIGHT_AT_ONCE 1
#else
#define EIGHT_AT_ONCE 0
#endif

#define EACH_BYTE(byte) (0x0101010101010101u * (uint64_t)(byte))

/* Reads up to eight digits at once: returns their number, and what they say in *value. */
static inline int
read_eight(const char *at, uint64_t *value)
{
	uint64_t text, others, digits;
	int count;

	memcpy(&text, at, 8);
	text ^= EACH_BYTE('0');
	/* the highest bit of each byte above 9: adding 0x76 sets it, or the byte has it already */
	others = (((text & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | text) & EACH_BYTE(0x80);
	count = others ? __builtin_ctzll(others) >> 3 : 8;
	if (count == 0)
		return 0;
	digits = text << (8 * (8 - count));	/* zeros in front */
	digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffu;
	digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffu;
	*value = (digits * 10000 + (digits >> 32)) & 0xffffffffu;
	return count;
}

/* Up to seven digits before the point and after it are a mantissa below 2^53. */
static inline const char *
read_time(const char *at, double *value)
{
	static const uint64_t whole_power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	const char *start = at;
	uint64_t whole = 0, part;
	int after;

	for (; IS_DIGIT(*at); at++)
		whole = whole * 10 + (uint64_t)(*at - '0');
	if (!EIGHT_AT_ONCE || at == start || at - start > 7 || *at != '.')
		return read_long_time(start, value);
	after = read_eight(at + 1, &part);
	if (after == 0 || after == 8)
		return read_long_time(start, value);
	*value = (double)(whole * whole_power[after] + part) / POWER_OF_TEN[after];
	return at + 1 + after;
}

static const char *
read_hex(const char *at, int32_t *value)
{
	const char *start = at + 2;
	uint32_t sum = 0;

	if (at[0] != '0' || at[1] != 'x')
		return 0;
	for (at = start; IS_DIGIT(*at) || (*at >= 'a' && *at <= 'f'); at++)
		sum = sum * 16 + (uint32_t)(IS_DIGIT(*at) ? *at - '0' : *at - 'a' + 10);
	*value = (int32_t)sum;
	return at > start && at - start <= 7 ? at : 0;
}

/*
 * Reads node.port, or the levels of a hierarchical address and its port: levels below the first
 * have 11 bits, the first of three has 10, which are ns-2's defaults; multicast sets the sign.
 */
static inline const char *
read_address(const char *at, int32_t *node, int32_t *port)
{
	const char *last;	/* the level or port read last: only a port may have a sign */
	int32_t part, level;

	at = read_int32(at, node);
	if (!at || *at != '.')
		return 0;
	last = at + 1;
	at = read_int32(last, port);
	for (level = 2; at && *at == '.'; level++) {
		if (*last == '-')
			return 0;
		last = at + 1;
		at = read_int32(last, &part);
		if (!at || level > 3 || *node < 0 || *node >= 1 << 21 || *port > 2047)
			return 0;
		*node = (int32_t)((uint32_t)*node << 11 | (uint32_t)*port);
		*port = part;
	}
	return at;
}

static int
is_graphic(const char *text, int length)
{
	for (int i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return 0;
	return 1;
}

static int
add_word(struct words *words, const char *text, int length)
{
	int index = words->count;

	if (index == MAX_WORDS || !is_graphic(text, length))
		return -1;
	memset(words->text[index], 0, MAX_WORD);
	memcpy(words->text[index], text, (size_t)length);
	words->length[index] = length;
	words->key[index] = 1;	/* a long word: no masked eight bytes equal it */
	words->mask[index] = 0;
	if (length < 8) {
		memset(&words->mask[index], 0xff, (size_t)length + 1);
		memcpy(&words->key[index], text, 8);
		words->key[index] &= words->mask[index];
	}
	return words->count++;
}

/* Finds a word by its text, or adds it; returns the place behind it, or 0. */
static const char *
find_word(const char *at, struct words *words, int *index)
{
	int length = 0;

	while (length < MAX_WORD && at[length] > ' ')
		length++;
	if (length == 0 || at[length] != ' ')
		return 0;
	for (*index = 0; *index < words->count; ++*index)
		if (words->length[*index] == length &&
		    memcmp(words->text[*index], at, (size_t)length) == 0)
			return at + length;
	*index = add_word(words, at, length);
	return *index < 0 ? 0 : at + length;
}

/* Reads a word up to a blank and finds its index. */
static inline const char *
read_word(const char *at, struct words *words, int *index)
{
	uint64_t bytes;

	memcpy(&bytes, at, 8);
	for (int i = 0; i < words->count; i++) {
		if ((bytes & words->mask[i]) == words->key[i]) {
			*index = i;
			return at + words->length[i];
		}
	}
	return find_word(at, words, index);
}

static inline int
read_event(char code)
{
	/* Numbers from 1; a switch would be a jump that cannot be foreseen. */
	static const int8_t numbers[256] = {
		['+'] = 1, ['-'] = 2, ['r'] = 3, ['d'] = 4, ['e'] = 5, ['h'] = 6, ['c'] = 7
	};

	return numbers[(unsigned char)code] - 1;
}

static const char *
read_extended(const char *at, struct packet *line)
{
	if (!(at = read_int64(at, &line->ack)) || *at++ != ' ') return 0;
	if (!(at = read_hex(at, &line->tcp_flags)) || *at++ != ' ') return 0;
	if (!(at = read_int32(at, &line->header_bytes)) || *at++ != ' ') return 0;
	return read_int32(at, &line->sack_bytes);
}

/* Reads what follows the link; returns the place behind the newline, or 0. */
static inline const char *
read_packet(const char *at, struct wired_chunk *chunk, struct packet *line)
{
	if (!(at = read_word(at, &chunk->types, &line->type)) || *at++ != ' ') return 0;
	if (!(at = read_int32(at, &line->bytes)) || *at++ != ' ' || line->bytes < 0) return 0;
	if (!(at = read_word(at, &chunk->flags, &line->flags)) || *at++ != ' ') return 0;
	if (!(at = read_int32(at, &line->flow)) || *at++ != ' ') return 0;
	if (!(at = read_address(at, &line->src_node, &line->src_port)) || *at++ != ' ') return 0;
	if (!(at = read_address(at, &line->dst_node, &line->dst_port)) || *at++ != ' ') return 0;
	if (!(at = read_int64(at, &line->seq)) || *at++ != ' ') return 0;
	if (!(at = read_int64(at, &line->uid))) return 0;
	line->extended = *at == ' ';
	if (line->extended && !(at = read_extended(at + 1, line))) return 0;
	return *at == '\n' ? at + 1 : 0;
}

/*
 * The packet that the rest of a line tells of. Its text is the same on each of its lines, three at
 * each link, and so is what it says: most are found among those that were parsed not long ago, by
 * the last digits of their numbers. Two of three lines follow one of the same packet.
 */
static inline struct packet *
find_packet(const char *at, const char *end, struct wired_chunk *chunk, struct packet *known,
	    struct packet *last)
{
	const char *newline;
	struct packet *packet;
	uint64_t digits;
	int64_t length;

	if (last && end - at >= last->length && is_same(at, last->text, last->length))
		return last;
	newline = memchr(at, '\n', (size_t)(end - at));
	length = newline + 1 - at;
	if (length < COMPARED)
		return 0;
	memcpy(&digits, newline - 7, 8);
	packet = &known[(digits ^ (uint64_t)length) * 0x9e3779b97f4a7c15u >> (64 - PACKET_BITS)];
	if (packet->length == length && is_same(at, packet->text, length))
		return packet;
	packet->length = 0;
	if (read_packet(at, chunk, packet) != newline + 1)
		return 0;
	packet->text = at;
	packet->length = length;
	return packet;
}

/* Reads the time and the blank behind it, of which two of three lines repeat the one before. */
static inline const char *
read_line_time(const char *at, const char *end, struct fields *line)
{
	const char *text = at;

	if (line->time_length && end - at >= line->time_length &&
	    is_same(at, line->time_text, line->time_length))
		return at + line->time_length;
	line->time_length = 0;
	if (!(at = read_time(at, &line->time)) || *at++ != ' ') return 0;
	line->time_text = text;
	line->time_length = at - text < COMPARED ? 0 : at - text;
	return at;
}

/* Reads a node and the blank behind it: most have one digit. */
static inline const char *
read_node(const char *at, int32_t *node)
{
	if (IS_DIGIT(at[0]) && at[1] == ' ') {
		*node = at[0] - '0';
		return at + 2;
	}
	at = read_int32(at, node);
	return at && *at == ' ' ? at + 1 : 0;
}

/* Reads what follows the event; returns the place behind the newline, or 0. */
static inline const char *
read_fields(const char *at, const char *end, struct wired_chunk *chunk, struct packet *known,
	    struct fields *line)
{
	const char *text = at;

	line->length = 0;
	if (*at++ != ' ') return 0;
	if (!(at = read_line_time(at, end, line))) return 0;
	if (!(at = read_node(at, &line->from))) return 0;
	if (!(at = read_node(at, &line->to))) return 0;
	line->packet = find_packet(at, end, chunk, known, line->packet);
	if (!line->packet) return 0;
	at += line->packet->length;
	line->text = text;
	line->length = at - text;
	return at;
}

/*
 * Reads a line; returns the place behind its newline, or 0 where the line has another form. What
 * leaves a queue at once repeats the line of its arrival, but for the event.
 */
static inline const char *
read_line(const char *at, const char *end, struct wired_chunk *chunk, struct packet *known,
	  struct fields *line)
{
	line->event = read_event(*at++);
	if (line->event < 0) return 0;
	if (line->length && end - at >= line->length && is_same(at, line->text, line->length))
		return at + line->length;
	return read_fields(at, end, chunk, known, line);
}

#define STORE(column, type, value) \
	do { \
		if (columns->data[column]) \
			((type *)columns->data[column])[row] = (type)(value); \
	} while (0)

/* The first line with extended columns: those before it had none. */
static void
begin_extended(struct columns *columns, int64_t rows)
{
	for (int i = ACK; i < COLUMNS; i++)
		if (columns->data[i])
			memset(columns->data[i], 0, (size_t)rows * (size_t)WIDTH[i]);
	memset(columns->validity, 0, (size_t)rows / 8 + 1);
}

static inline void
store_extended(struct columns *columns, int64_t row, const struct packet *line)
{
	STORE(ACK, int64_t, line->extended ? line->ack : 0);
	STORE(TCP_FLAGS, int32_t, line->extended ? line->tcp_flags : 0);
	STORE(HEADER_BYTES, int32_t, line->extended ? line->header_bytes : 0);
	STORE(SACK_BYTES, int32_t, line->extended ? line->sack_bytes : 0);
	if (row % 8 == 0)
		columns->validity[row / 8] = 0;
	columns->validity[row / 8] |= (uint8_t)(line->extended << (row % 8));
}

static inline void
store_line(struct columns *columns, int64_t row, int64_t extended, const struct fields *line)
{
	const struct packet *packet = line->packet;

	STORE(TIME, double, line->time);
	STORE(EVENT, uint8_t, line->event);
	STORE(FROM, int32_t, line->from);
	STORE(TO, int32_t, line->to);
	STORE(TYPE, uint16_t, packet->type);
	STORE(BYTES, int32_t, packet->bytes);
	STORE(FLAGS, uint16_t, packet->flags);
	STORE(FLOW, int32_t, packet->flow);
	STORE(SRC_NODE, int32_t, packet->src_node);
	STORE(SRC_PORT, int32_t, packet->src_port);
	STORE(DST_NODE, int32_t, packet->dst_node);
	STORE(DST_PORT, int32_t, packet->dst_port);
	STORE(SEQ, int64_t, packet->seq);
	STORE(UID, int64_t, packet->uid);
	if (columns->validity && (extended || packet->extended)) {
		if (!extended)
			begin_extended(columns, row);
		store_extended(columns, row, packet);
	}
}

static inline void
note_time(struct wired_chunk *chunk, double time)
{
	if (chunk->rows == 0)
		chunk->first_time = time;
	else if (time < chunk->last_time && chunk->backwards++ == 0) {
		chunk->backwards_line = chunk->rows + chunk->others;
		chunk->backwards_time = time;
		chunk->backwards_after = chunk->last_time;
	}
	chunk->last_time = time;
}

/* Notes a line for the caller; returns the place behind its newline, or 0 without memory. */
static const char *
leave_line(struct wired_chunk *chunk, const char *text, const char *at, const char *end)
{
	int64_t count = chunk->others;

	if ((count & (count - 1)) == 0) {	/* room doubles at each power of two */
		size_t room = sizeof(int64_t) * (size_t)(count ? 2 * count : 1);
		int64_t *lines = realloc(chunk->other_line, room);
		int64_t *starts = lines ? realloc(chunk->other_start, room) : 0;

		chunk->other_line = lines ? lines : chunk->other_line;
		if (!starts)
			return 0;
		chunk->other_start = starts;
	}
	chunk->other_line[count] = chunk->rows + count;
	chunk->other_start[count] = at - text;
	chunk->others++;
	return (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
}

static void
release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_buffers; i++)
		free((void *)array->buffers[i]);
	free(array->buffers);
	array->release = 0;
}

/* Makes an array own a column's buffer and, with nulls, its bitmap; returns 0 without memory. */
static int
own_column(struct ArrowArray *array, void *data, void *validity, int64_t rows, int64_t nulls)
{
	const void **buffers = malloc(2 * sizeof(void *));

	if (!buffers)
		return 0;
	memset(array, 0, sizeof(*array));
	buffers[0] = validity;
	buffers[1] = data;
	array->length = rows;
	array->null_count = nulls;
	array->n_buffers = 2;
	array->buffers = buffers;
	array->release = release_array;
	return 1;
}

static void *
copied(const void *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);

	return copy ? memcpy(copy, bytes, size) : 0;
}

/* Hands the columns over to the chunk; what is handed over is cleared here. */
static int
own_columns(struct wired_chunk *chunk, struct columns *columns)
{
	int64_t nulls = chunk->rows - chunk->extended;

	for (int i = 0; i < COLUMNS; i++) {
		void *bitmap = 0;

		if (!columns->data[i] || (i >= ACK && !chunk->extended))
			continue;	/* extended columns that no line has are not handed over */
		if (i >= ACK && nulls &&
		    !(bitmap = copied(columns->validity, (size_t)(chunk->rows + 7) / 8)))
			return 0;
		if (!own_column(&chunk->columns[i], columns->data[i], bitmap, chunk->rows,
				i >= ACK ? nulls : 0)) {
			free(bitmap);
			return 0;
		}
		columns->data[i] = 0;
	}
	return 1;
}

static int
allocate(struct columns *columns, uint32_t wanted, int64_t capacity)
{
	memset(columns, 0, sizeof(*columns));
	for (int i = 0; i < COLUMNS; i++) {
		if (!(wanted >> i & 1))
			continue;
		columns->data[i] = malloc((size_t)capacity * (size_t)WIDTH[i]);
		if (!columns->data[i])
			return 0;
	}
	if (wanted >> ACK)
		columns->validity = malloc((size_t)capacity / 8 + 1);
	return !(wanted >> ACK) || columns->validity;
}

static int
read_lines(const char *text, int64_t length, struct wired_chunk *chunk, struct columns *columns,
	   struct packet *known)
{
	const char *at = text, *end = text + length, *next;
	struct fields line = { 0 };

	while (at < end) {
		next = read_line(at, end, chunk, known, &line);
		if (next) {
			store_line(columns, chunk->rows, chunk->extended, &line);
			note_time(chunk, line.time);
			chunk->rows++;
			chunk->extended += line.packet->extended;
		} else if (!(next = leave_line(chunk, text, at, end))) {
			return 0;
		}
		at = next;
	}
	return 1;
}

/* Frees what the caller did not take over. */
void
bdpbench_release(struct wired_chunk *chunk)
{
	for (int i = 0; i < COLUMNS; i++)
		if (chunk->columns[i].release)
			chunk->columns[i].release(&chunk->columns[i]);
	free(chunk->other_line);
	free(chunk->other_start);
	chunk->other_line = chunk->other_start = 0;
}

/*
 * Parses a chunk of whole lines: its last byte is a newline, and PADDING bytes behind it may be
 * read. Bit i of wanted asks for column i. Returns 1, or 0 when memory is short.
 */
int
bdpbench_parse_wired(const char *text, int64_t length, uint32_t wanted, struct wired_chunk *chunk)
{
	struct packet *known = calloc((size_t)1 << PACKET_BITS, sizeof(*known));
	struct columns columns;
	int done;

	memset(chunk, 0, sizeof(*chunk));
	chunk->backwards_line = -1;
	done = allocate(&columns, wanted, length / SHORTEST_LINE + 1) && known &&
	       read_lines(text, length, chunk, &columns, known) && own_columns(chunk, &columns);
	free(known);
	for (int i = 0; i < COLUMNS; i++)
		free(columns.data[i]);
	free(columns.validity);
	if (!done)
		bdpbench_release(chunk);
	return done;
}
