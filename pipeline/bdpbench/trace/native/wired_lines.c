/*
 * Lines of ns-2's packet traces -> columns, for trace/native.py: of wired ones, and, at the end of
 * this file, of wireless ones and of the energy of nodes.
 *
 * A line is parsed here when it has exactly the form that ns-2 prints:
 *
 *   event time from to type bytes flags flow src.port dst.port seq uid [ack 0xflags header sack]
 *
 * with one blank between fields and none elsewhere. Every other line, good or bad, is left to the
 * caller, by its place: this file never decides that a line is wrong. Buffers belong to the caller
 * once it has them, as arrays of the Arrow C data interface.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 256		/* distinct words a chunk may have in one column */
#define MAX_WORD 16		/* bytes of a word */
#define PADDING 64		/* bytes that may be read behind a chunk: a block */
#define BLOCK 64		/* bytes that are looked at at once: a bit of a number for each */
#define LATEST_TIME 1e12	/* s; as in text_lines.py */
#define PACKET_BITS 12		/* of the number of packets that are remembered */
#define HEAD_BITS 7		/* of the number of packets' heads that are */
#define LINK_BITS 10		/* of the number of links that are */
#define UNKNOWN (-(1 << 30) - 1)	/* a node, port or flow id; metrics/packets/rows.py */
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
	int64_t taken;			/* what a sink has said of the last line */
	int64_t extended;		/* rows with the extended TCP columns */
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

/*
 * What a line says of its packet. Up to note it is what a sink is told (packet_sums.c), which may leave
 * a number there for the next line of this packet; -1 where it has not.
 */
struct packet {
	int64_t seq, uid;
	int32_t bytes, flow, src_node, src_port, dst_node, dst_port, header_bytes, type, note;
	int32_t tcp_flags, sack_bytes;
	int64_t ack;
	int flags, extended;
};

/* The first fields of packets, up to the sequence number, which most packets of a flow share. */
struct head {
	char text[BLOCK];	/* with the blank behind it; begins with a newline if nothing is known */
	struct packet packet;
};

/* A link, with a note as of a packet. */
struct link {
	int32_t from, to, note;
	uint64_t text;		/* both nodes, each with the blank behind it; 0 where nothing is known */
};

/*
 * One line's fields, and what of its text the next line may repeat: the time, or all that follows the
 * event. The text is 0 where nothing is known, or where it is longer than a block.
 */
struct fields {
	struct packet *packet;
	struct link *link;
	const char *text;
	int64_t length, time_length;	/* the latter with the blank behind it */
	double time;
	int event;
};

/*
 * A chunk while it is parsed: where it ends, and what was parsed not long ago with the texts that said
 * it. The text of a packet begins with a newline where nothing is known; its second block lies apart,
 * because few need it.
 */
struct reading {
	const char *end;
	struct wired_chunk *chunk;
	struct link links[1 << LINK_BITS], long_link;
	struct head heads[1 << HEAD_BITS];
	char said[1 << PACKET_BITS][BLOCK], said_further[1 << PACKET_BITS][BLOCK];
	struct packet packets[1 << PACKET_BITS];
};

struct columns {
	void *data[COLUMNS];
	uint8_t *validity;	/* of the extended columns, a bit a row */
};

/* Eight bytes as a number whose lowest byte is the first. */
static inline uint64_t
eight(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bytes = __builtin_bswap64(bytes);
#endif
	return bytes;
}

#define EACH_BYTE(byte) (0x0101010101010101u * (uint64_t)(unsigned char)(byte))

/* A bit for each byte that is 0, the lowest for the first. */
static inline uint64_t
zero_bytes(uint64_t bytes)
{
	uint64_t zeros = ~(((bytes & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | bytes | EACH_BYTE(0x7f));

	return (zeros >> 7) * 0x0102040810204080u >> 56;
}

#if defined(__SSE2__) && !defined(PORTABLE)
#include <emmintrin.h>

static inline __m128i
sixteen(const char *text, int at)
{
	return _mm_loadu_si128((const __m128i *)(const void *)(text + at));
}

static inline uint64_t
equal_bytes(__m128i one, __m128i other, int at)
{
	return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)) << at;
}

static inline uint64_t
any_places_of(char byte, const char *text)
{
	__m128i wanted = _mm_set1_epi8(byte);

	return equal_bytes(sixteen(text, 0), wanted, 0) |
	       equal_bytes(sixteen(text, 16), wanted, 16) |
	       equal_bytes(sixteen(text, 32), wanted, 32) |
	       equal_bytes(sixteen(text, 48), wanted, 48);
}

static inline uint64_t
any_same_places(const char *one, const char *other)
{
	return equal_bytes(sixteen(one, 0), sixteen(other, 0), 0) |
	       equal_bytes(sixteen(one, 16), sixteen(other, 16), 16) |
	       equal_bytes(sixteen(one, 32), sixteen(other, 32), 32) |
	       equal_bytes(sixteen(one, 48), sixteen(other, 48), 48);
}
#else
static inline uint64_t
any_places_of(char byte, const char *text)
{
	uint64_t places = 0;

	for (int i = 0; i < BLOCK; i += 8)
		places |= zero_bytes(eight(text + i) ^ EACH_BYTE(byte)) << i;
	return places;
}

static inline uint64_t
any_same_places(const char *one, const char *other)
{
	uint64_t places = 0;

	for (int i = 0; i < BLOCK; i += 8)
		places |= zero_bytes(eight(one + i) ^ eight(other + i)) << i;
	return places;
}
#endif

/*
 * What looks at blocks is compiled twice, once for processors with AVX2, which compares 32 bytes at
 * once: avx2 is a constant wherever it is handed down, and all such functions become part of
 * read_lines_with_avx2() or read_lines_without().
 */
#if defined(__x86_64__) && !defined(WITHOUT_AVX2) && !defined(PORTABLE)
#include <immintrin.h>
#define HAS_AVX2
#define WITH_AVX2 __attribute__((target("avx2,bmi,bmi2")))

WITH_AVX2 static inline uint64_t
equal_32(__m256i one, __m256i other)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(one, other));
}

WITH_AVX2 static inline uint64_t
avx2_places_of(char byte, const char *text)
{
	const __m256i_u *halves = (const __m256i_u *)(const void *)text;
	__m256i wanted = _mm256_set1_epi8(byte);

	return equal_32(halves[0], wanted) | equal_32(halves[1], wanted) << 32;
}

WITH_AVX2 static inline uint64_t
avx2_same_places(const char *one, const char *other)
{
	const __m256i_u *ones = (const __m256i_u *)(const void *)one;
	const __m256i_u *others = (const __m256i_u *)(const void *)other;

	return equal_32(ones[0], others[0]) | equal_32(ones[1], others[1]) << 32;
}
#else
#define avx2_places_of any_places_of
#define avx2_same_places any_same_places
#endif

#define IN_BOTH static inline __attribute__((always_inline))

/* Where a byte is in a block. */
IN_BOTH uint64_t
places_of(char byte, const char *text, int avx2)
{
	return avx2 ? avx2_places_of(byte, text) : any_places_of(byte, text);
}

/* Where two blocks are the same. */
IN_BOTH uint64_t
same_places(const char *one, const char *other, int avx2)
{
	return avx2 ? avx2_same_places(one, other) : any_same_places(one, other);
}

/* Whether the first bytes of two blocks are the same, one of them at least. */
IN_BOTH int
is_same(const char *one, const char *other, int64_t length, int avx2)
{
	return ~same_places(one, other, avx2) << (BLOCK - length) == 0;
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
	if (!at)	/* of more digits the sum has wrapped: it is not a number to negate */
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

/* Whether the first bytes of eight, one to eight of them, are digits; *value is what they say. */
static inline int
read_some(uint64_t text, int count, uint64_t *value)
{
	uint64_t digits = (text ^ EACH_BYTE('0')) << (8 * (8 - count));	/* zeros in front */
	/* the highest bit of each byte above 9: adding 0x76 sets it, or the byte has it already */
	uint64_t others = (((digits & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | digits) & EACH_BYTE(0x80);

	digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffu;
	digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffu;
	*value = (digits * 10000 + (digits >> 32)) & 0xffffffffu;
	return others == 0;
}

/*
 * Reads digits with or without a fraction. The quotient of two numbers that a double holds exactly
 * is rounded correctly, so a mantissa below 2^53 over a power of ten up to 10^22 is the nearest
 * double; anything longer, later than any simulation, or with an exponent, is left to the caller.
 */
static const char *
read_long_time(const char *at, double *value)
{
	uint64_t mantissa = 0, part;
	const char *start = at, *point;

	for (; IS_DIGIT(*at); at++)
		mantissa = mantissa * 10 + (uint64_t)(*at - '0');
	if (at == start)
		return 0;
	point = at;
	if (*at == '.') {
		at++;
		if (read_some(eight(at), 8, &part)) {
			mantissa = mantissa * 100000000 + part;
			at += 8;
		}
		for (; IS_DIGIT(*at); at++)
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

/* Up to seven digits before the point and after it are a mantissa below 2^53. */
static inline int
read_time(const char *at, int length, double *value)
{
	static const uint64_t whole_power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
	uint64_t points = zero_bytes(eight(at) ^ EACH_BYTE('.')), whole, part;
	int before = points ? __builtin_ctzll(points) : 0, after = length - before - 1;

	if (before == 0 || after < 1 || after > 7)
		return read_long_time(at, value) == at + length;
	if (!read_some(eight(at), before, &whole) || !read_some(eight(at + before + 1), after, &part))
		return 0;
	*value = (double)(whole * whole_power[after] + part) / POWER_OF_TEN[after];
	return 1;
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

	/* Callers give what fits; GCC 13 warns of memcpy unless it sees that. */
	if (length < 0 || length > MAX_WORD || index == MAX_WORDS || !is_graphic(text, length))
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

/* Reads the fields of a packet up to its sequence number; returns the place of that, or 0. */
static const char *
read_head(const char *at, struct wired_chunk *chunk, struct packet *line)
{
	if (!(at = read_word(at, &chunk->types, &line->type)) || *at++ != ' ') return 0;
	if (!(at = read_int32(at, &line->bytes)) || *at++ != ' ' || line->bytes < 0) return 0;
	if (!(at = read_word(at, &chunk->flags, &line->flags)) || *at++ != ' ') return 0;
	if (!(at = read_int32(at, &line->flow)) || *at++ != ' ') return 0;
	if (!(at = read_address(at, &line->src_node, &line->src_port)) || *at++ != ' ') return 0;
	if (!(at = read_address(at, &line->dst_node, &line->dst_port)) || *at++ != ' ') return 0;
	return at;
}

/* Reads what follows; returns the place behind the newline, or 0. */
static inline const char *
read_numbers(const char *at, struct packet *line)
{
	if (!(at = read_int64(at, &line->seq)) || *at++ != ' ') return 0;
	if (!(at = read_int64(at, &line->uid))) return 0;
	line->extended = *at == ' ';
	line->header_bytes = 0;
	if (line->extended && !(at = read_extended(at + 1, line))) return 0;
	return *at == '\n' ? at + 1 : 0;
}

/* ---- lines ---- */

static inline uint64_t
without_lowest(uint64_t places)
{
	return places & (places - 1);
}

/*
 * Reads the fields of a packet up to its sequence number, or finds them among those that were parsed
 * not long ago; returns the place behind them, or 0.
 */
IN_BOTH const char *
find_head(const char *at, struct reading *reading, struct packet *packet, int avx2)
{
	uint64_t blanks = places_of(' ', at, avx2);
	struct head *head;
	int64_t length;

	for (int i = 0; i < 5; i++)
		blanks = without_lowest(blanks);
	if (!blanks || (length = __builtin_ctzll(blanks) + 1) < 8)
		return 0;
	head = &reading->heads[eight(at + length - 8) * 0x9e3779b97f4a7c15u >> (64 - HEAD_BITS)];
	if (!is_same(at, head->text, length, avx2)) {
		head->text[0] = '\n';
		if (read_head(at, reading->chunk, &head->packet) != at + length)
			return 0;
		head->packet.note = -1;
		memcpy(head->text, at, BLOCK);
	}
	*packet = head->packet;
	return at + length;
}

/* Whether what a line says of its packet, in one or two blocks, is what was said at this place. */
IN_BOTH int
is_said(const struct reading *reading, uint64_t place, const char *at, int64_t length, int avx2)
{
	if (length <= BLOCK)
		return is_same(at, reading->said[place], length, avx2);
	return is_same(at, reading->said[place], BLOCK, avx2) &&
	       is_same(at + BLOCK, reading->said_further[place], length - BLOCK, avx2);
}

/* A number of four digits, or of any text: somewhat more than they say, and never less for more. */
static inline uint64_t
about_four(const char *at)
{
	uint32_t digits = (uint32_t)eight(at) & 0x0f0f0f0f;

	return digits * (1000u * (uint64_t)0x1000000 + 100u * 0x10000 + 10u * 0x100 + 1u) >> 24;
}

/*
 * The packet that the rest of a line tells of. Its text is the same on each of its lines, three at
 * each link, and so is what it says: most are found among those that were parsed not long ago, by
 * the last digits of their numbers, so that packets of one time lie together.
 */
IN_BOTH struct packet *
find_packet(const char *at, const char *newline, struct reading *reading, int avx2)
{
	int64_t length = newline + 1 - at;
	const char *numbers;
	struct packet *packet;
	uint64_t place;

	if (length <= 8)
		return 0;
	place = about_four(newline - 4) & ((1 << PACKET_BITS) - 1);
	packet = &reading->packets[place];
	if (length <= 2 * BLOCK && is_said(reading, place, at, length, avx2))
		return packet;
	reading->said[place][0] = '\n';
	numbers = find_head(at, reading, packet, avx2);
	if (!numbers || read_numbers(numbers, packet) != newline + 1)
		return 0;
	if (length <= 2 * BLOCK)
		memcpy(reading->said[place], at, BLOCK);
	if (length > BLOCK && length <= 2 * BLOCK)
		memcpy(reading->said_further[place], at + BLOCK, BLOCK);
	return packet;
}

/* Reads a node up to a blank: most have one digit. */
static inline int
read_node(const char *at, const char *blank, int32_t *node)
{
	*node = *at - '0';
	return (blank == at + 1 && IS_DIGIT(*at)) || read_int32(at, node) == blank;
}

/* The link between two nodes, each followed by a blank, or 0. Most are known by their text. */
static inline struct link *
find_link(const char *from, const char *to, const char *rest, struct reading *reading)
{
	uint64_t text = 0;
	struct link *link = &reading->long_link;

	if (rest - from <= 8) {
		text = eight(from) & ~(uint64_t)0 >> (8 * (8 - (rest - from)));
		link = &reading->links[text * 0x9e3779b97f4a7c15u >> (64 - LINK_BITS)];
		if (link->text == text)
			return link;
	}
	link->text = 0;
	if (!read_node(from, to - 1, &link->from) || !read_node(to, rest - 1, &link->to))
		return 0;
	link->note = -1;
	link->text = text;
	return link;
}

/*
 * Reads the time, which is that of the line before where the same bytes say it; differs has the
 * places in which the two lines differ. Returns 0 for another form.
 */
static inline int
read_line_time(const char *at, int64_t length, uint64_t differs, struct fields *line)
{
	if (length == line->time_length && differs >> 2 << (BLOCK - length) == 0)
		return 1;
	line->time_length = length;
	return read_time(at, (int)length - 1, &line->time);
}

/* Reads a line that the one before did not say; returns the place behind it, or 0. */
IN_BOTH const char *
read_fields(const char *at, uint64_t differs, struct reading *reading, struct fields *line,
	    int avx2)
{
	uint64_t newlines = places_of('\n', at, avx2);
	uint64_t behind_event = places_of(' ', at, avx2) & (newlines - 1) & ~newlines;
	uint64_t behind_time = without_lowest(behind_event);
	uint64_t behind_from = without_lowest(behind_time);
	uint64_t behind_to = without_lowest(behind_from);
	const char *newline, *time = at + 2, *from, *to, *rest;

	line->text = 0;
	if (!(behind_event & 2) || !behind_to) return 0;
	newline = newlines ? at + __builtin_ctzll(newlines)
			   : memchr(at + BLOCK, '\n', (size_t)(reading->end - at - BLOCK));
	from = at + __builtin_ctzll(behind_time) + 1;
	to = at + __builtin_ctzll(behind_from) + 1;
	rest = at + __builtin_ctzll(behind_to) + 1;
	if (!read_line_time(time, from - time, differs, line)) return 0;
	line->link = find_link(from, to, rest, reading);
	if (!line->link) return 0;
	line->packet = find_packet(rest, newline, reading, avx2);
	if (!line->packet) return 0;
	line->length = newline + 1 - at;
	line->text = line->length <= BLOCK ? at : 0;
	return newline + 1;
}

/*
 * Reads a line; returns the place behind its newline, or 0 where the line has another form. What
 * leaves a queue at once repeats the line of its arrival, but for the event.
 */
IN_BOTH const char *
read_line(const char *at, struct reading *reading, struct fields *line, int avx2)
{
	uint64_t differs = line->text ? ~same_places(at, line->text, avx2) : ~(uint64_t)0;

	line->event = read_event(*at);
	if (line->event < 0) {
		line->text = 0;
		return 0;
	}
	if (line->text && differs >> 1 << (BLOCK + 1 - line->length) == 0) {
		line->text = at;
		return at + line->length;
	}
	return read_fields(at, differs, reading, line, avx2);
}

/* ---- columns ---- */

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
	STORE(FROM, int32_t, line->link->from);
	STORE(TO, int32_t, line->link->to);
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

/* Notes the time of the first line, or of one that is earlier than the line before. */
static void
note_time(struct wired_chunk *chunk, double time)
{
	if (chunk->rows == 0)
		chunk->first_time = time;
	else if (chunk->backwards++ == 0) {
		chunk->backwards_line = chunk->rows + chunk->others;
		chunk->backwards_time = time;
		chunk->backwards_after = chunk->last_time;
	}
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

static inline void
take_line(struct wired_chunk *chunk, struct columns *columns, const struct fields *line)
{
	if (line->time < chunk->last_time || chunk->rows == 0)
		note_time(chunk, line->time);
	chunk->last_time = line->time;
	store_line(columns, chunk->rows, chunk->extended, line);
	chunk->rows++;
	if (line->packet->extended)
		chunk->extended++;
}

IN_BOTH int
read_lines(const char *text, struct reading *reading, struct columns *columns, int avx2)
{
	struct wired_chunk *chunk = reading->chunk;
	const char *at = text, *next;
	struct fields line = { 0 };

	while (at < reading->end) {
		next = read_line(at, reading, &line, avx2);
		if (next)
			take_line(chunk, columns, &line);
		else if (!(next = leave_line(chunk, text, at, reading->end)))
			return 0;
		at = next;
	}
	return 1;
}

#ifdef HAS_AVX2
WITH_AVX2 __attribute__((flatten)) static int
read_lines_with_avx2(const char *text, struct reading *reading, struct columns *columns)
{
	return read_lines(text, reading, columns, 1);
}
#endif

static int
read_lines_without(const char *text, struct reading *reading, struct columns *columns)
{
	return read_lines(text, reading, columns, 0);
}

static int
read_all_lines(const char *text, struct reading *reading, struct columns *columns)
{
#ifdef HAS_AVX2
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		return read_lines_with_avx2(text, reading, columns);
#endif
	return read_lines_without(text, reading, columns);
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

/* Nothing is known as yet. */
static void
forget_all(struct reading *reading)
{
	for (int i = 0; i < 1 << LINK_BITS; i++)
		reading->links[i].text = 0;
	for (int i = 0; i < 1 << HEAD_BITS; i++)
		reading->heads[i].text[0] = '\n';
	for (int i = 0; i < 1 << PACKET_BITS; i++)
		reading->said[i][0] = '\n';
}

/*
 * Parses a chunk of whole lines: its last byte is a newline, and PADDING bytes behind it may be
 * read. Bit i of wanted asks for column i. Returns 1, or 0 when memory is short.
 */
int
bdpbench_parse_wired(const char *text, int64_t length, uint32_t wanted, struct wired_chunk *chunk)
{
	struct reading *reading = malloc(sizeof(*reading));
	struct columns columns;
	int done;

	memset(chunk, 0, sizeof(*chunk));
	chunk->backwards_line = -1;
	done = allocate(&columns, wanted, length / SHORTEST_LINE + 1) && reading;
	if (done) {
		reading->end = text + length;
		reading->chunk = chunk;
		forget_all(reading);
		done = read_all_lines(text, reading, &columns) && own_columns(chunk, &columns);
	}
	free(reading);
	for (int i = 0; i < COLUMNS; i++)
		free(columns.data[i]);
	free(columns.validity);
	if (!done)
		bdpbench_release(chunk);
	return done;
}

/* ---- lines that are told one by one ---- */

/* Takes a line: returns 1, or 0 where it leaves it and all that follow, or -1 without memory. */
typedef int take_line_of(void *sink, double time, int event, struct link *link, struct packet *packet);

/* What is known of a trace whose lines are told; the words of the chunk are those of all lines. */
struct telling {
	struct reading reading;
	struct wired_chunk chunk;
	take_line_of *take;
	void *sink;
};

/* Fetches what may be known of the packet of the line at a place, while the one before is summed. */
IN_BOTH void
prefetch_packet(const char *at, const struct reading *reading, int avx2)
{
	uint64_t newlines = places_of('\n', at, avx2), place;

	if (newlines < 16)	/* none, or in the first four bytes */
		return;
	place = about_four(at + __builtin_ctzll(newlines) - 4) & ((1 << PACKET_BITS) - 1);
	__builtin_prefetch(reading->said[place]);
	__builtin_prefetch(&reading->packets[place]);
}

IN_BOTH const char *
tell_lines(const char *at, struct telling *telling, int avx2)
{
	struct wired_chunk *chunk = &telling->chunk;
	struct fields line = { 0 };
	const char *next;

	for (; at < telling->reading.end; at = next) {
		next = read_line(at, &telling->reading, &line, avx2);
		if (!next)
			break;
		prefetch_packet(next, &telling->reading, avx2);
		chunk->taken = telling->take(telling->sink, line.time, line.event, line.link, line.packet);
		if (chunk->taken <= 0)
			break;
		if (line.time < chunk->last_time || chunk->rows == 0)
			note_time(chunk, line.time);
		chunk->last_time = line.time;
		chunk->rows++;
	}
	return at;
}

#ifdef HAS_AVX2
WITH_AVX2 __attribute__((flatten)) static const char *
tell_lines_with_avx2(const char *at, struct telling *telling)
{
	return tell_lines(at, telling, 1);
}
#endif

static const char *
tell_lines_without(const char *at, struct telling *telling)
{
	return tell_lines(at, telling, 0);
}

/* Returns 0 without memory. */
struct telling *
bdpbench_new_telling(take_line_of *take, void *sink)
{
	struct telling *telling = calloc(1, sizeof(*telling));

	if (!telling)
		return 0;
	telling->take = take;
	telling->sink = sink;
	telling->reading.chunk = &telling->chunk;
	forget_all(&telling->reading);
	return telling;
}

void
bdpbench_free_telling(struct telling *telling)
{
	bdpbench_release(&telling->chunk);
	free(telling);
}

/*
 * Tells the lines of a text as bdpbench_parse_wired() reads them, up to one that has another form or
 * that the sink leaves: returns the place of that, or length. The chunk has the number and times of
 * all since the caller has set its rows to 0.
 */
int64_t
bdpbench_tell_wired(struct telling *telling, const char *text, int64_t length)
{
	struct wired_chunk *chunk = &telling->chunk;

	chunk->backwards = chunk->rows ? chunk->backwards : 0;
	chunk->taken = 1;
	telling->reading.end = text + length;
#ifdef HAS_AVX2
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		return tell_lines_with_avx2(text, telling) - text;
#endif
	return tell_lines_without(text, telling) - text;
}

const struct wired_chunk *
bdpbench_told(const struct telling *telling)
{
	return &telling->chunk;
}

/* ---- lines of wireless nodes: old and new format, and of their energy ---- */

enum radio_column {
	R_TIME, R_EVENT, R_TYPE, R_BYTES, R_FLOW, R_SRC_NODE, R_SRC_PORT, R_DST_NODE, R_DST_PORT,
	R_SEQ, R_UID, R_LAYER, R_NODE, R_REASON, R_NEXT_HOP, R_HOPS, R_ENERGY, R_FORM, R_COLUMNS
};

static const int R_WIDTH[R_COLUMNS] = { 8, 1, 2, 4, 4, 4, 4, 4, 4, 8, 8, 1, 4, 2, 4, 4, 8, 1 };

enum radio_form { OLD_WIRELESS, NEW_WIRELESS, NODE_ENERGY, R_FORMS };

/* What a chunk became; as struct wired_chunk. The first word is that of lines without one. */
struct radio_chunk {
	int64_t rows;
	int64_t forms[R_FORMS];		/* lines of each form */
	int64_t others;
	int64_t *other_line, *other_start;
	int64_t backwards, backwards_line;
	double first_time, last_time, backwards_time, backwards_after;
	double first_unit, last_unit;	/* half a unit of the last digit of these times, s */
	void *data[R_COLUMNS];		/* values; where a line has none, what stands for that */
	uint32_t *has;			/* of each row, as in struct radio_line */
	struct words types, reasons;
	struct ArrowArray columns[R_COLUMNS];	/* once they are asked for */
};

/* A line; bit i of has is set where it tells column i. */
struct radio_line {
	double time, energy;
	int64_t seq, uid;
	int32_t bytes, flow, src_node, src_port, dst_node, dst_port, node, next_hop, hops;
	int event, type, layer, reason;
	enum radio_form form;
	uint32_t has;
};

#define HAS(column) ((uint32_t)1 << (column))
#define SHORTEST_RADIO_LINE 16	/* bytes of "N -t 0 -n 0 -e 0" */

/* Behind a text, or 0; all of these take 0 for a place, too, and return it. */
static inline const char *
behind(const char *at, const char *text)
{
	size_t length = strlen(text);

	return at && memcmp(at, text, length) == 0 ? at + length : 0;	/* padding follows all */
}

static inline const char *
blanks(const char *at)
{
	const char *start = at;

	while (at && (*at == ' ' || *at == '\t'))
		at++;
	return at > start ? at : 0;
}

/* Behind blanks and a text. */
static inline const char *
tag(const char *at, const char *text)
{
	return behind(blanks(at), text);
}

static inline const char *
whole(const char *at, int32_t *value)
{
	return at ? read_int32(at, value) : 0;
}

static inline const char *
long_whole(const char *at, int64_t *value)
{
	return at ? read_int64(at, value) : 0;
}

static const char *
real(const char *at, double *value)
{
	int negative = at && *at == '-';

	at = at ? read_long_time(at + negative, value) : 0;
	if (at && negative)
		*value = -*value;
	return at && *at != 'e' ? at : 0;
}

static const char *
moment(const char *at, double *value)
{
	at = at ? read_long_time(at, value) : 0;
	return at && *at != 'e' ? at : 0;
}

/* Behind a whole number of any length. */
static const char *
any_whole(const char *at)
{
	const char *start = at && *at == '-' ? at + 1 : at;

	for (at = start; at && IS_DIGIT(*at); at++)
		;
	return at > start ? at : 0;
}

static const char *
plain_hex(const char *at)
{
	const char *start = at;

	while (at && (IS_DIGIT(*at) || (*at >= 'a' && *at <= 'f')))
		at++;
	return at > start && at - start <= 15 ? at : 0;
}

static const char *
word(const char *at, struct words *words, int *index)
{
	return at ? read_word(at, words, index) : 0;
}

static const char *
read_layer(const char *at, int *layer)
{
	static const char *const names[] = { "AGT", "RTR", "TRP", "IFQ", "MAC", "PHY" };

	for (*layer = 0; at && *layer < 6; ++*layer)
		if (memcmp(at, names[*layer], 3) == 0)
			return at + 3;
	return 0;
}

/* Where the line ends, if only blanks are left of it. */
static const char *
end_of_line(const char *at)
{
	while (at && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at && *at == '\n' ? at : 0;
}

/* The end of a line whose rest is printable; with brackets, these are balanced, two deep at most. */
static const char *
end_of_rest(const char *at, int brackets)
{
	int depth = 0;

	for (; at && *at != '\n'; at++) {
		if (brackets && *at == '[' && ++depth > 2)
			return 0;
		if (brackets && *at == ']' && --depth < 0)
			return 0;
		if ((*at < ' ' || *at > '~') && end_of_line(at) == 0)
			return 0;
	}
	return depth == 0 ? at : 0;
}

static int
radio_event(char code)
{
	static const int8_t numbers[256] = {	/* from 1, in schema.EVENTS */
		['r'] = 3, ['d'] = 4, ['s'] = 8, ['f'] = 9, ['D'] = 10, ['x'] = 11
	};

	return numbers[(unsigned char)code] - 1;
}

/* "[a b c d]" of an old line, in hexadecimal. */
static const char *
read_old_mac(const char *at)
{
	at = plain_hex(behind(at, "["));
	for (int i = 0; i < 3; i++)
		at = plain_hex(blanks(at));
	return behind(at, "]");
}

/* The place of the next of two bytes, one of which ends the line. */
static inline const char *
before_any(const char *at, char one, char other)
{
	uint64_t found;

	while (!(found = any_places_of(one, at) | any_places_of(other, at)))
		at += BLOCK;
	return at + __builtin_ctzll(found);
}

/* "[energy 9.5 ...]" of an old line. */
static const char *
read_old_energy(const char *at, struct radio_line *line)
{
	at = real(behind(at, "[energy "), &line->energy);
	if (at && *at == ' ')
		at = before_any(at, ']', '\n');
	at = behind(at, "]");
	line->has |= at ? HAS(R_ENERGY) : 0;
	return at;
}

/*
 * "[seq ack] hops optimal", and the end of the line. A line that has this form, but with numbers
 * beyond their columns, is not one whose header is told as text: *too_large is set.
 */
static const char *
read_old_transport(const char *at, struct radio_line *line, int *too_large)
{
	const char *number, *ack = 0, *end;
	int64_t acked;

	while (*at == ' ' || *at == '\t')
		at++;
	if (!(number = behind(at, "[")) || !(at = any_whole(number)))
		return 0;
	if (*at == ' ') {
		ack = at + 1;
		at = any_whole(ack);
	}
	at = behind(at, "] ");
	end = end_of_line(any_whole(behind(any_whole(at), " ")));
	if (end && long_whole(number, &line->seq) && (!ack || long_whole(ack, &acked)) &&
	    whole(at, &line->hops)) {
		line->has |= HAS(R_SEQ) | HAS(R_HOPS);
		return end;
	}
	*too_large = end != 0;
	return 0;
}

/* "------- [node:port node:port ttl next] ...", or of ARP, and the end of the line. */
static const char *
read_old_packet(const char *at, struct radio_line *line)
{
	const char *end;
	int32_t ttl, ends[4];
	int too_large = 0;

	at = behind(blanks(tag(at, "-------")), "[");
	if (at && *at == 'R') {
		const char *arp = behind(at, "REQUEST ");

		at = whole(arp ? arp : behind(at, "REPLY "), &ends[0]);
		at = whole(behind(at, "/"), &ends[1]);
		at = whole(behind(at, " "), &ends[2]);
		at = whole(behind(at, "/"), &ends[3]);
		return end_of_line(behind(at, "]"));
	}
	at = whole(at, &line->src_node);
	at = whole(behind(at, ":"), &line->src_port);
	at = whole(behind(at, " "), &line->dst_node);
	at = whole(behind(at, ":"), &line->dst_port);
	at = whole(behind(at, " "), &ttl);
	at = behind(whole(behind(at, " "), &line->next_hop), "]");
	if (!at)
		return 0;
	line->has |= HAS(R_SRC_NODE) | HAS(R_SRC_PORT) | HAS(R_DST_NODE) | HAS(R_DST_PORT) |
		     HAS(R_NEXT_HOP);
	end = read_old_transport(at, line, &too_large);
	return end || too_large ? end : end_of_rest(at, 1);
}

static const char *
read_old_line(const char *at, struct radio_chunk *chunk, struct radio_line *line)
{
	const char *next;

	line->form = OLD_WIRELESS;
	line->event = radio_event(*at);
	if (line->event < 0 || *at == 'd')
		return 0;
	at = moment(blanks(at + 1), &line->time);
	at = behind(whole(tag(at, "_"), &line->node), "_");
	at = read_layer(blanks(at), &line->layer);
	at = word(blanks(at), &chunk->reasons, &line->reason);
	at = long_whole(blanks(at), &line->uid);
	at = word(blanks(at), &chunk->types, &line->type);
	at = whole(blanks(at), &line->bytes);
	if (!at || line->bytes < 0)
		return 0;
	line->has = HAS(R_NODE) | HAS(R_LAYER) | HAS(R_REASON) | HAS(R_UID) | HAS(R_TYPE) |
		    HAS(R_BYTES);
	next = blanks(at);
	if (next && *next == '[' && !behind(next, "[energy") && !(at = read_old_mac(next)))
		return 0;
	for (next = at; *next == ' ' || *next == '\t'; next++)
		;
	if (*next == '[' && !(at = read_old_energy(next, line)))
		return 0;
	next = end_of_line(at);
	return next ? next : read_old_packet(at, line);
}

/* "-Pn cbr -Pi seq -Pf hops -Po optimal" or of TCP, as read_old_transport(). */
static const char *
read_new_transport(const char *at, struct radio_line *line, int *too_large)
{
	const char *number, *ack, *hops, *next, *end;
	int64_t acked;

	at = tag(at, "-Pn ");
	next = behind(at, "tcp");
	at = behind(next ? next : behind(at, "cbr"), " -P");
	if (!at || (*at != 's' && *at != 'i') || !(number = behind(at + 1, " ")))
		return 0;
	at = any_whole(number);
	if ((ack = behind(at, " -Pa ")))
		at = any_whole(ack);
	hops = behind(at, " -Pf ");
	end = end_of_line(any_whole(behind(any_whole(hops), " -Po ")));
	if (end && long_whole(number, &line->seq) && (!ack || long_whole(ack, &acked)) &&
	    whole(hops, &line->hops)) {
		line->has |= HAS(R_SEQ) | HAS(R_HOPS);
		return end;
	}
	*too_large = end != 0;
	return 0;
}

/* "-Is node.port -Id node.port -It type -Il bytes -If flow -Ii uid -Iv ttl ...", and the end. */
static const char *
read_new_packet(const char *at, struct radio_chunk *chunk, struct radio_line *line)
{
	const char *end;
	int32_t ttl;
	int too_large = 0;

	at = whole(tag(at, "-Is "), &line->src_node);
	at = whole(behind(at, "."), &line->src_port);
	at = whole(tag(at, "-Id "), &line->dst_node);
	at = whole(behind(at, "."), &line->dst_port);
	at = word(tag(at, "-It "), &chunk->types, &line->type);
	at = whole(tag(at, "-Il "), &line->bytes);
	at = whole(tag(at, "-If "), &line->flow);
	at = long_whole(tag(at, "-Ii "), &line->uid);
	at = whole(tag(at, "-Iv "), &ttl);
	if (!at || line->bytes < 0)
		return 0;
	line->has |= HAS(R_SRC_NODE) | HAS(R_SRC_PORT) | HAS(R_DST_NODE) | HAS(R_DST_PORT) |
		     HAS(R_TYPE) | HAS(R_BYTES) | HAS(R_FLOW) | HAS(R_UID);
	if ((end = end_of_line(at)) || (end = read_new_transport(at, line, &too_large)) || too_large)
		return end;
	return end_of_rest(tag(at, "-P") ? tag(at, "-P") : tag(at, "-type"), 0);
}

static const char *
read_new_line(const char *at, struct radio_chunk *chunk, struct radio_line *line)
{
	static const char *const places[] = { "-Nx ", "-Ny ", "-Nz " };
	const char *next;
	double place;
	int32_t of_next;

	line->form = NEW_WIRELESS;
	line->event = radio_event(*at);
	if (line->event < 0 || *at == 'D' || *at == 'x')
		return 0;
	at = moment(tag(at + 1, "-t "), &line->time);
	at = whole(tag(at, "-Hs "), &of_next);
	at = whole(tag(at, "-Hd "), &line->next_hop);
	at = whole(tag(at, "-Ni "), &line->node);
	for (int i = 0; i < 3; i++)
		at = real(tag(at, places[i]), &place);
	at = real(tag(at, "-Ne "), &line->energy);
	for (at = tag(at, "-Nl "); at && *at == ' '; at++)
		;
	at = read_layer(at, &line->layer);
	at = word(tag(at, "-Nw "), &chunk->reasons, &line->reason);
	if (!at)
		return 0;
	line->has = HAS(R_NODE) | HAS(R_NEXT_HOP) | HAS(R_ENERGY) | HAS(R_LAYER) | HAS(R_REASON);
	if ((next = tag(at, "-Ma "))) {
		at = plain_hex(tag(plain_hex(next), "-Md "));
		at = plain_hex(tag(plain_hex(tag(at, "-Ms ")), "-Mt "));
		if (!at)
			return 0;
	}
	if ((next = end_of_line(at)))
		return next;
	if ((next = tag(at, "-P arp ")))
		return end_of_rest(next, 0);
	return read_new_packet(at, chunk, line);
}

static const char *
read_energy_line(const char *at, struct radio_line *line)
{
	line->form = NODE_ENERGY;
	line->event = 11;
	at = moment(blanks(tag(behind(at, "N"), "-t")), &line->time);
	at = whole(blanks(tag(at, "-n")), &line->node);
	at = real(blanks(tag(at, "-e")), &line->energy);
	line->has = HAS(R_NODE) | HAS(R_ENERGY);
	return end_of_line(at);
}

/* Reads a line; returns the place of its newline, or 0 where it has none of these forms. */
static const char *
read_radio_line(const char *at, struct radio_chunk *chunk, struct radio_line *line)
{
	const char *end;

	line->has = 0;
	if (*at == 'N')
		end = read_energy_line(at, line);
	else if (at[1] == ' ' && at[2] == '-' && at[3] == 't')
		end = read_new_line(at, chunk, line);
	else
		end = read_old_line(at, chunk, line);
	if (!end)
		return 0;
	line->has |= HAS(R_TIME) | HAS(R_EVENT) | HAS(R_FORM);
	if (line->has & HAS(R_REASON) && chunk->reasons.length[line->reason] == 3 &&
	    memcmp(chunk->reasons.text[line->reason], "---", 3) == 0)
		line->has &= ~HAS(R_REASON);
	return end;
}

#define STORE_IF(column, type, value, absent) \
	do { \
		if (data[column]) \
			((type *)data[column])[row] = (type)(line->has & HAS(column) ? (value) : (absent)); \
	} while (0)

static inline void
store_radio_line(void *const *data, int64_t row, const struct radio_line *line)
{
	STORE_IF(R_TIME, double, line->time, 0);
	STORE_IF(R_EVENT, uint8_t, line->event, 0);
	STORE_IF(R_TYPE, uint16_t, line->type, 0);
	STORE_IF(R_BYTES, int32_t, line->bytes, 0);
	STORE_IF(R_FLOW, int32_t, line->flow, UNKNOWN);
	STORE_IF(R_SRC_NODE, int32_t, line->src_node, UNKNOWN);
	STORE_IF(R_SRC_PORT, int32_t, line->src_port, UNKNOWN);
	STORE_IF(R_DST_NODE, int32_t, line->dst_node, UNKNOWN);
	STORE_IF(R_DST_PORT, int32_t, line->dst_port, UNKNOWN);
	STORE_IF(R_SEQ, int64_t, line->seq, INT64_MIN);
	STORE_IF(R_UID, int64_t, line->uid, -1);
	STORE_IF(R_LAYER, uint8_t, line->layer + 1, 0);
	STORE_IF(R_NODE, int32_t, line->node, UNKNOWN);
	STORE_IF(R_REASON, uint16_t, line->reason, 0);
	STORE_IF(R_NEXT_HOP, int32_t, line->next_hop, UNKNOWN);
	STORE_IF(R_HOPS, int32_t, line->hops, UNKNOWN);
	STORE_IF(R_ENERGY, double, line->energy, -1);
	STORE_IF(R_FORM, uint8_t, line->form, 0);
}

/* Lines that the caller has read: their indices, times and half a unit of their last digits, s. */
struct timed {
	int64_t count;
	const int64_t *lines;
	const double *times, *units;
};

#define ROUNDING 1e-12	/* s; as in batches.py */

static void
note_radio_time(struct radio_chunk *chunk, int64_t line, double time, double unit)
{
	double slack = 0;

	if (isnan(chunk->last_time)) {
		chunk->first_time = time;
		chunk->first_unit = unit;
	} else if (time < chunk->last_time) {
		if (unit != chunk->last_unit)
			slack = unit + chunk->last_unit + ROUNDING;
		if (time < chunk->last_time - slack && chunk->backwards++ == 0) {
			chunk->backwards_line = line;
			chunk->backwards_time = time;
			chunk->backwards_after = chunk->last_time;
		}
	}
	chunk->last_time = time;
	chunk->last_unit = unit;
}

/*
 * Finds the first and last time of a chunk, and where time runs backwards, with the other lines in
 * their places. Times of rows are known to half_unit of their forms, s.
 */
void
bdpbench_wireless_times(struct radio_chunk *chunk, const double *half_unit, const struct timed *others)
{
	const double *times = chunk->data[R_TIME];
	const uint8_t *forms = chunk->data[R_FORM];
	int64_t line = 0, left = 0, timed = 0;

	chunk->last_time = NAN;
	chunk->backwards = 0;
	for (int64_t row = 0; row <= chunk->rows; row++, line++) {
		for (; left < chunk->others && chunk->other_line[left] == line; left++, line++) {
			if (timed < others->count && others->lines[timed] == line) {
				note_radio_time(chunk, line, others->times[timed],
						others->units[timed]);
				timed++;
			}
		}
		if (row < chunk->rows)
			note_radio_time(chunk, line, times[row], half_unit[forms[row]]);
	}
}

/* The bitmap of a column, and how many rows lack it; 0 without memory. */
static uint8_t *
bitmap_of(const uint32_t *has, int64_t rows, int column, int64_t *nulls)
{
	uint8_t *bits = calloc((size_t)rows / 8 + 1, 1);

	*nulls = 0;
	for (int64_t row = 0; bits && row < rows; row++) {
		uint32_t told = has[row] >> column & 1;

		bits[row / 8] |= (uint8_t)(told << (row % 8));
		*nulls += !told;
	}
	return bits;
}

/* Makes arrays of the columns; returns 0 without memory. */
int
bdpbench_own_wireless(struct radio_chunk *chunk)
{
	for (int i = 0; i < R_COLUMNS; i++) {
		int64_t nulls = 0;
		uint8_t *bits;

		if (!chunk->data[i])
			continue;
		if (!(bits = bitmap_of(chunk->has, chunk->rows, i, &nulls)))
			return 0;
		if (!own_column(&chunk->columns[i], chunk->data[i], bits, chunk->rows, nulls)) {
			free(bits);
			return 0;
		}
		chunk->data[i] = 0;
	}
	return 1;
}

static int
read_radio_lines(const char *text, const char *end, struct radio_chunk *chunk)
{
	struct wired_chunk left = { 0 };	/* so that leave_line() serves both */
	struct radio_line line;
	const char *at = text, *next;

	while (at < end) {
		if ((next = read_radio_line(at, chunk, &line))) {
			chunk->has[chunk->rows] = line.has;
			store_radio_line(chunk->data, chunk->rows++, &line);
			chunk->forms[line.form]++;
			next++;
		} else {
			left.rows = chunk->rows;
			next = leave_line(&left, text, at, end);
			chunk->others = left.others;
			chunk->other_line = left.other_line;
			chunk->other_start = left.other_start;
			if (!next)
				return 0;
		}
		at = next;
	}
	return 1;
}

/* Frees what the caller did not take over. */
void
bdpbench_release_wireless(struct radio_chunk *chunk)
{
	for (int i = 0; i < R_COLUMNS; i++) {
		if (chunk->columns[i].release)
			chunk->columns[i].release(&chunk->columns[i]);
		free(chunk->data[i]);
		chunk->data[i] = 0;
	}
	free(chunk->has);
	free(chunk->other_line);
	free(chunk->other_start);
	chunk->has = 0;
	chunk->other_line = chunk->other_start = 0;
}

/* Gives the room of a buffer back that is not used; rows may wait for long. */
static void
give_back(void **data, size_t used)
{
	void *smaller = *data ? realloc(*data, used ? used : 1) : 0;

	if (smaller)
		*data = smaller;
}

/* A word that no text is. */
static void
add_absent_word(struct words *words)
{
	words->count = 1;
	words->key[0] = 1;
}

/*
 * Parses a chunk of whole lines as bdpbench_parse_wired() does. Bit i of wanted asks for column i.
 * Returns 1, or 0 when memory is short.
 */
int
bdpbench_parse_wireless(const char *text, int64_t length, uint32_t wanted, struct radio_chunk *chunk)
{
	int64_t capacity = length / SHORTEST_RADIO_LINE + 1;
	int done;

	memset(chunk, 0, sizeof(*chunk));
	add_absent_word(&chunk->types);
	add_absent_word(&chunk->reasons);
	chunk->has = malloc((size_t)capacity * sizeof(*chunk->has));
	done = chunk->has != 0;
	for (int i = 0; i < R_COLUMNS && done; i++)
		if (wanted >> i & 1 && !(chunk->data[i] = malloc((size_t)(capacity * R_WIDTH[i]))))
			done = 0;
	done = done && read_radio_lines(text, text + length, chunk);
	if (!done)
		bdpbench_release_wireless(chunk);
	for (int i = 0; i < R_COLUMNS && done; i++)
		give_back(&chunk->data[i], (size_t)(chunk->rows * R_WIDTH[i]));
	return done;
}
