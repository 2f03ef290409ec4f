/*
 * Packet traces -> sums: what flows, links and nodes did, for meter.py.
 *
 * Text is summed as it is parsed: lines that have one of the FORMS below become rows, one by one and
 * in order, and all others are left to the caller, by their place: this file never decides that a
 * line is wrong. The caller reads them by the patterns of trace/text_lines.py, and adds their rows.
 * What is remembered between rows is bounded: more packets than MOST_OPEN are on no path, so the
 * trace lacks the lines of their ends.
 *
 * All members of a table are 8 bytes wide, so that any of them is a column of int64 or double. A function
 * that finds no memory jumps back to the one that the caller has called; the sums are lost then.
 */

#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPEN 2000000	/* packets under way, and in queues */
#define MOST_ARRIVED 1000000	/* packets that are known to have arrived */
#define MOST_OF_GROUPS 200000	/* packets to groups, and their arrivals at nodes */
#define MOST_CELLS 500000	/* of a table of bins whose width is not given */
#define MOST_BINS 500		/* of a series whose width is not given */
#define MOST_WAITING 200000	/* rows from which the nodes of addresses are learned */
#define SPARE 4096		/* items that a list in the order of time may hold in vain */
#define LATEST_TIME 1e12	/* s; rows.py */
#define BIN_ROUNDING 1e-7	/* of a bin; rows.py */
#define FIRST_GROUP (1 << 30)	/* address; rows.py */
#define FIRST_HIERARCHICAL (1 << 11)	/* address: 0.1.0 with ns-2's default of 11 bits a level */
#define UNKNOWN (-(1 << 30) - 1)	/* a node, port, flow id or reason; rows.py */
#define NONE INT64_MIN		/* a sequence number; rows.py */
#define TCP_HEADER_BYTES 40
#define SMOOTHING (1.0 / 16)	/* RFC 3550, section 6.4.1 */
#define ROUNDING 1e-12		/* s, of sums of half units; trace/batches.py */
#define LONG_STRETCH 1000	/* lines in a row that have a FORM */

enum event { ENTERS, LEAVES, ARRIVES, DROPPED, ERROR, SENT, FORWARDED, LOST, READING, OTHER };
enum kind { DATA = 1, CONTROL, TCP, ACK };	/* of a type of packets; rows.py */
enum layer { WIRED, AGENT, ROUTER };		/* others follow; rows.py */
enum does { SENDS, RECEIVES, FORWARDS, DROPS, NOTHING };

#define ROUTING 8	/* a bit of the kinds of routing protocols */

/* A row: what a line tells of a packet, or of a node. */
struct row {
	double time_s, energy_j;
	int64_t seq, uid, decimals;	/* of the time */
	int32_t from, to, bytes, header_bytes;
	int32_t flow, src_node, src_port, dst_node, dst_port;	/* its ends, in this order */
	int32_t node, next_hop, hops, type, reason, layer;	/* type: -1 of a frame without a packet */
	int32_t is_coarse, is_flat;	/* is_flat: addresses are numbers of nodes, as their text shows */
	int32_t source, receiver;	/* the nodes of its ends */
	int32_t unused;
	int too_large;	/* whether a number is */
	int32_t stream, link;
	enum event event;
	enum kind kind;
	int is_routing;
};

static const struct row NO_ROW = {
	.energy_j = -1, .seq = NONE, .uid = -1, .from = UNKNOWN, .to = UNKNOWN, .flow = UNKNOWN,
	.src_node = UNKNOWN, .src_port = UNKNOWN, .dst_node = UNKNOWN, .dst_port = UNKNOWN,
	.node = UNKNOWN, .next_hop = UNKNOWN, .hops = UNKNOWN, .type = -1, .reason = UNKNOWN
};

/* Items of one size that grow in number. */
struct list {
	char *items;
	int64_t count, room;
	size_t size;
};

#define ITEM(list, type, index) ((type *)(void *)(list).items + (index))

/* Numbers -> places in a list. */
struct map {
	uint64_t *keys;
	int32_t *places;	/* -1 where there is none */
	uint64_t mask;
	int64_t count;
};

/* Sums of one subject in one bin of time. */
struct cell {
	int64_t subject, bin, counts[4];
	double sum, most;	/* most: -INFINITY where there was none */
};

#define RECENT 16	/* subjects whose last cell is remembered, a power of two */

struct bins {
	struct list cells;
	struct map places;
	struct { int64_t subject, bin, place; } recent[RECENT];	/* place from 1 on */
	double per_s;		/* 1 over the width */
	double limit_s;		/* end of the last bin that a chart has room for */
	int64_t index;		/* of the width; -1 where it is given */
};

enum series {
	SENT_BINS, RECEIVED, LOST_ON_WAY, ROUND_TRIPS, DELIVERED,	/* of streams */
	DEPARTED, WAITED, LOST_ON_LINK, LENGTHS,			/* of links */
	CAUSES, LEVELS,							/* of drops, and of nodes */
	SERIES
};

struct hole {
	int64_t first, last;
};

/* A number of a stream that no ACK has covered. */
struct number {
	int64_t seq, again;
	double sent_s;		/* NAN for one that was only seen again */
};

struct stream {
	int64_t flow, src_node, src_port, dst_node, dst_port;
	/* Types, -1 for none; whether all packets are ACKs, whether any has data. */
	int64_t sent_type, arrived_type, dropped_type, seen_type;
	int64_t own, own_acks, own_data, seen_acks, seen_data, entered, by_bytes;
	double first_sent_s, first_retransmission_s, first_drop_s, delay_min_s, last_received_s;
	double longest_gap_s, last_delay_s, jitter_s, delay_step_sum_s;
	int64_t delay_steps;
	double slow_start_end_s, started_s;
	int64_t slow_start_pkts, slow_start_drops, route_changes, forgotten_losses;
	int64_t hop_pkts, hop_sum, hop_max;
	/* From here on nothing is a column. */
	int64_t highest_sent, highest_arrived, acked;
	double last_sent_s;			/* with what slow start counted of that moment */
	int64_t pkts_then, drops_then;
	struct list holes;			/* of struct hole, ascending */
	struct list numbers;			/* of struct number, ascending, from head on */
	int64_t head;
};

struct link {
	int64_t from, to, reached, coarse, before, periods, busy_bytes;
	double busy_s;
	/* From here on nothing is a column. */
	int64_t key, length, has_last, last_bytes, follows, moment;
	double last_s, changes_s;
	struct list changes;			/* of int64_t: of the queue's length, of one moment */
};

struct entered { int64_t link, stream, pkts, bytes; double first_s; int64_t route; };
struct route { int64_t stream, node, next; };
struct cause { int64_t layer, reason; };
struct loss { int64_t node, cause, type, pkts, bytes; };
struct receiver { int64_t stream, node, pkts, bytes, delays; double sum_s, most_s; };
struct node { int64_t node, layer, type, counts[8]; };
struct level { int64_t node; double first_j, last_j, dead_s; };	/* dead_s: NAN while it lives */
struct host { int64_t address, node; };	/* UNKNOWN for that of a wireless node */
struct word { int64_t kind; };		/* of a type of packets */

/* Of those with one key the first to come is the first to go: the first has the place of the last,
   each that of the next. Those that were lost wait behind one another, too. */
struct waiting { int64_t key, next, last, open, lost; };
struct sending { struct waiting is; int64_t stream, payload; double sent_s; };
struct queued { struct waiting is; int64_t bytes, change, moment; double entered_s; };

/* What waits, in the order of its coming, and the first of each key, also of the lost. */
struct crowd {
	struct list items;
	struct map firsts[2];
	int64_t open, oldest;
};

/* What is known of two ends. Not all lines tell the flow id. */
struct pair {
	int64_t flow;		/* the first flow id that was told */
	int64_t nameless;	/* place of the stream before that, from 1 on */
};

/* The last of some keys, with a number for each, and the place of each once one was asked for. */
struct memory {
	struct list items;
	struct map places;
	int64_t oldest, most;
	int is_indexed;
};

struct remembered { int64_t key; double value; };

/* Words, one after the other with newlines between them, and their places by hash. */
struct words {
	struct list text, words;
	struct map places;
};

#define FORMS 9

/* Lines that were summed: how many of each form, and their times; known to the half of a unit. */
struct told {
	int64_t lines, forms[FORMS];
	int64_t backwards, backwards_line;	/* how often time runs backwards, and where first */
	double first_s, last_s, first_unit_s, last_unit_s, backwards_s, after_s;
	int64_t has_ended;	/* whether a row was at the end of the window, or later */
};

struct meter {
	struct told told;	/* of the last call */
	double first_s, last_row_s;	/* of the rows in the window, NAN without one */
	int64_t width_index, routing_pkts, routing_bytes, has_routers, has_agents, forgotten;
	/* From here on for this file alone. */
	double start_s, end_s, last_s;
	struct list streams, pairs, links, entered, routes, causes, losses, receivers, nodes, levels;
	struct list hosts, rows;	/* rows that wait to learn the nodes of their addresses */
	struct map stream_places, pair_places, link_places, entered_places, route_places, cause_places;
	struct map loss_places, receiver_places, node_places, level_places, host_places;
	struct crowd sendings, queued;
	struct memory arrived, sent_to_group, copies, unsent;
	struct words types, reasons;
	struct bins bins[SERIES];
	enum { UNDECIDED, FLAT, LEARNING } addresses;
	int knows_hosts, holds, is_radio;
	struct row held;	/* the last wired row, if it enters a queue: the next may leave it at once */
	int32_t last_ends[5], last_stream;
};

/* Odd numbers that mix the parts of a key, as they are good for. */
static const uint64_t ODDS[] = {
	-0x61C8864680B583EBu, -0x40A7B892E31B1A47u, 0x14D049BB133111EBu,
	-0x2917014799A6026Du, 0x2545F4914F6CDD1Du
};

/* ---- lists and maps ---- */

static _Thread_local jmp_buf no_memory;

static void *
sized(void *items, size_t size)
{
	void *larger = realloc(items, size);

	if (!larger)
		longjmp(no_memory, 1);
	return larger;
}

static void *
add_item(struct list *list)
{
	if (list->count == list->room) {
		int64_t room = list->room ? 2 * list->room : 4;

		list->items = sized(list->items, (size_t)room * list->size);
		list->room = room;
	}
	return memset(list->items + (size_t)list->count++ * list->size, 0, list->size);
}

/* Gives room back: of a list whose items begin at head, where that is more than half of it. */
static void
move_to_front(struct list *list, int64_t *head)
{
	if (list->count < list->room || 2 * *head <= list->count)
		return;
	list->count -= *head;
	memcpy(list->items, list->items + (size_t)*head * list->size,
	       (size_t)list->count * list->size);
	*head = 0;
}

/* Makes room for an item at a place. */
static void *
insert_item(struct list *list, int64_t at)
{
	add_item(list);
	memmove(list->items + (size_t)(at + 1) * list->size, list->items + (size_t)at * list->size,
		(size_t)(list->count - 1 - at) * list->size);
	return list->items + (size_t)at * list->size;
}

static inline uint64_t
first_place(const struct map *map, uint64_t key)
{
	key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
	return (key ^ key >> 29) & map->mask;
}

static inline int32_t
place_of(const struct map *map, uint64_t key)
{
	if (!map->keys)
		return -1;
	for (uint64_t i = first_place(map, key); map->places[i] >= 0; i = (i + 1) & map->mask)
		if (map->keys[i] == key)
			return map->places[i];
	return -1;
}

static void
insert(struct map *map, uint64_t key, int32_t place)
{
	uint64_t i = first_place(map, key);

	while (map->places[i] >= 0 && map->keys[i] != key)
		i = (i + 1) & map->mask;
	map->count += map->places[i] < 0;
	map->keys[i] = key;
	map->places[i] = place;
}

static void
resize(struct map *map, uint64_t room)
{
	struct map larger = { sized(0, room * sizeof(uint64_t)), 0, room - 1, 0 };

	larger.places = sized(0, room * sizeof(int32_t));
	memset(larger.places, 0xff, room * sizeof(int32_t));
	for (uint64_t i = 0; map->keys && i <= map->mask; i++)
		if (map->places[i] >= 0)
			insert(&larger, map->keys[i], map->places[i]);
	free(map->keys);
	free(map->places);
	*map = larger;
}

/* A map is at most half full. */
static void
put(struct map *map, uint64_t key, int64_t place)
{
	if (!map->keys || 2 * ((uint64_t)map->count + 1) > map->mask)
		resize(map, map->keys ? 2 * (map->mask + 1) : 64);
	insert(map, key, (int32_t)place);
}

/* Takes a key out, and moves those behind it to where they would be without it. */
static void
take_out(struct map *map, uint64_t key)
{
	uint64_t hole = first_place(map, key), i;

	while (map->places[hole] >= 0 && map->keys[hole] != key)
		hole = (hole + 1) & map->mask;
	if (map->places[hole] < 0)
		return;
	map->count--;
	for (i = (hole + 1) & map->mask; map->places[i] >= 0; i = (i + 1) & map->mask) {
		uint64_t wanted = first_place(map, map->keys[i]);

		if (((i - wanted) & map->mask) >= ((i - hole) & map->mask)) {
			map->keys[hole] = map->keys[i];
			map->places[hole] = map->places[i];
			hole = i;
		}
	}
	map->places[hole] = -1;
}

/* The item of a key, made if there is none; *is_new tells. */
static void *
item_of(struct list *list, struct map *places, uint64_t key, int *is_new)
{
	int32_t place = place_of(places, key);

	*is_new = place < 0;
	if (place >= 0)
		return list->items + (size_t)place * list->size;
	put(places, key, list->count);
	return add_item(list);
}

/* ---- what waits ---- */

static struct waiting *
waiting_at(const struct crowd *crowd, int64_t place)
{
	return (struct waiting *)(void *)(crowd->items.items + (size_t)place * crowd->items.size);
}

/* Puts the item at a place behind those of its key. */
static void
join(struct crowd *crowd, int64_t place)
{
	struct waiting *item = waiting_at(crowd, place), *first;
	struct map *firsts = &crowd->firsts[item->lost];
	int64_t at = place_of(firsts, (uint64_t)item->key);

	item->next = -1;
	item->last = place;
	if (at < 0) {
		put(firsts, (uint64_t)item->key, place);
		return;
	}
	first = waiting_at(crowd, at);
	waiting_at(crowd, first->last)->next = place;
	first->last = place;
}

/* Takes the first of a key, which is at a place, out of them. */
static void
part(struct crowd *crowd, int64_t place)
{
	const struct waiting *item = waiting_at(crowd, place);
	struct map *firsts = &crowd->firsts[item->lost];

	if (item->next < 0) {
		take_out(firsts, (uint64_t)item->key);
		return;
	}
	waiting_at(crowd, item->next)->last = item->last;
	put(firsts, (uint64_t)item->key, item->next);
}

static void
go(struct crowd *crowd, int64_t place)
{
	waiting_at(crowd, place)->open = 0;
	crowd->open--;
	part(crowd, place);
}

/* The first of a key, of those that are not lost if there are any; -1 without one. */
static int64_t
first_of(const struct crowd *crowd, uint64_t key)
{
	int64_t place = place_of(&crowd->firsts[0], key);

	return place >= 0 ? place : place_of(&crowd->firsts[1], key);
}

/* Gives back the room of what has gone, where that is most of it. */
static void
tidy(struct crowd *crowd)
{
	int64_t kept = 0;
	size_t size = crowd->items.size;

	if (crowd->items.count <= 2 * crowd->open + SPARE)
		return;
	for (int lost = 0; lost < 2; lost++) {
		struct map *firsts = &crowd->firsts[lost];

		if (firsts->keys)
			memset(firsts->places, 0xff, (firsts->mask + 1) * sizeof(int32_t));
		firsts->count = 0;
	}
	crowd->oldest = 0;
	for (int64_t i = 0; i < crowd->items.count; i++) {
		if (!waiting_at(crowd, i)->open)
			continue;
		memmove(crowd->items.items + (size_t)kept * size,
			crowd->items.items + (size_t)i * size, size);
		join(crowd, kept++);
	}
	crowd->items.count = kept;
}

/* The place of the one that has waited longest. */
static int64_t
oldest_of(struct crowd *crowd)
{
	while (!waiting_at(crowd, crowd->oldest)->open)
		crowd->oldest++;
	return crowd->oldest;
}

/* ---- what is remembered for a while ---- */

/* The item of a key, or 0. */
static struct remembered *
recall(struct memory *memory, uint64_t key)
{
	int32_t place;

	for (int64_t i = 0; !memory->is_indexed && i < memory->items.count; i++)
		put(&memory->places, (uint64_t)ITEM(memory->items, struct remembered, i)->key, i);
	memory->is_indexed = 1;
	place = place_of(&memory->places, key);
	return place < 0 ? 0 : ITEM(memory->items, struct remembered, place);
}

/* Remembers a key, and forgets the one that was remembered longest ago. */
static void
remember(struct memory *memory, uint64_t key, double value)
{
	int64_t place = memory->items.count;
	struct remembered *item;

	if (place < memory->most) {
		item = add_item(&memory->items);
	} else {
		place = memory->oldest;
		item = ITEM(memory->items, struct remembered, place);
		memory->oldest = (place + 1) % memory->most;
		if (memory->is_indexed && place_of(&memory->places, (uint64_t)item->key) == place)
			take_out(&memory->places, (uint64_t)item->key);
	}
	*item = (struct remembered){ (int64_t)key, value };
	if (memory->is_indexed)
		put(&memory->places, key, place);
}

/* ---- words ---- */

/* The number of a word, which is new if no word has this hash. */
static int32_t
number_of(struct words *words, const char *text, int64_t length, uint64_t hash)
{
	int is_new;
	struct word *word = item_of(&words->words, &words->places, hash, &is_new);

	if (is_new) {
		word->kind = DATA;
		for (int64_t i = 0; i <= length; i++)
			*(char *)add_item(&words->text) = i < length ? text[i] : '\n';
	}
	return (int32_t)(word - ITEM(words->words, struct word, 0));
}

static inline uint64_t
with_byte(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char)byte) * 0x100000001b3u;	/* FNV-1a */
}

/* Reads a word of graphic characters, as lines are read below. */
static inline const char *
read_word(const char *at, struct words *words, int32_t *number)
{
	const char *start = at;
	uint64_t hash = 0;

	for (; at && *at > ' ' && *at <= '~'; at++)
		hash = with_byte(hash, *at);
	if (at == start)
		return 0;
	*number = number_of(words, start, at - start, hash);
	return at;
}

/* ---- bins of time ---- */

/* Widths of which each divides the next: 1, 5, 10, 50, 100, ... ms. */
static int64_t
width_ms(int64_t index)
{
	int64_t width = index % 2 ? 5 : 1;

	for (; index >= 2; index -= 2)
		width *= 10;
	return width;
}
static struct cell *
add_cell(struct bins *bins, int64_t subject, int64_t bin)
{
	uint64_t key = (uint64_t)subject * ODDS[0] + (uint64_t)bin * ODDS[2];
	int is_new;
	struct cell *cell = item_of(&bins->cells, &bins->places, key, &is_new);

	if (is_new) {
		cell->subject = subject;
		cell->bin = bin;
		cell->most = -INFINITY;
	}
	return cell;
}

/* Adds a measured time to a cell, and notes it if it is the largest. */
static void
add_time(struct cell *cell, double time_s)
{
	cell->sum += time_s;
	if (time_s > cell->most)
		cell->most = time_s;
}

/* Merges the bins to those of a larger width. */
static void
widen(struct bins *bins, int64_t index)
{
	int64_t ratio = width_ms(index) / width_ms(bins->index);
	struct bins wide = { .cells.size = sizeof(struct cell), .index = index };

	wide.per_s = 1 / ((double)width_ms(index) / 1e3);
	wide.limit_s = (double)(MOST_BINS * width_ms(index)) / 1e3;
	for (int64_t i = 0; i < bins->cells.count; i++) {
		const struct cell *cell = ITEM(bins->cells, struct cell, i);
		struct cell *into = add_cell(&wide, cell->subject, cell->bin / ratio);

		for (int each = 0; each < 4; each++)
			into->counts[each] += cell->counts[each];
		into->sum += cell->sum;
		if (cell->most > into->most)
			into->most = cell->most;
	}
	free(bins->cells.items);
	free(bins->places.keys);
	free(bins->places.places);
	*bins = wide;
}

/* Widens the bins until those up to a time are no more than a chart has room for. */
static void
widen_to(struct bins *bins, double time_s)
{
	int64_t index = bins->index;

	if (index < 0)
		return;
	while (time_s >= (double)(MOST_BINS * width_ms(index)) / 1e3)
		index++;
	if (index != bins->index)
		widen(bins, index);
}

static struct cell *
find_cell(struct bins *bins, int64_t subject, double time_s)
{
	struct cell *cell;
	int64_t bin;

	if (bins->index >= 0 && time_s >= bins->limit_s)
		widen_to(bins, time_s);
	while (bins->index >= 0 && bins->cells.count > MOST_CELLS)
		widen(bins, bins->index + 1);
	bin = (int64_t)(time_s * bins->per_s + BIN_ROUNDING);
	cell = add_cell(bins, subject, bin);
	bins->recent[subject & (RECENT - 1)].subject = subject;
	bins->recent[subject & (RECENT - 1)].bin = bin;
	bins->recent[subject & (RECENT - 1)].place = cell - ITEM(bins->cells, struct cell, 0) + 1;
	return cell;
}

/* The cell of a subject at a time, which mostly is that of its last event. */
static inline struct cell *
cell_at(struct bins *bins, int64_t subject, double time_s)
{
	int64_t at = subject & (RECENT - 1), place = bins->recent[at].place;

	if (place && bins->recent[at].subject == subject &&
	    bins->recent[at].bin == (int64_t)(time_s * bins->per_s + BIN_ROUNDING))
		return ITEM(bins->cells, struct cell, place - 1);
	return find_cell(bins, subject, time_s);
}

/* Counts a packet and its bytes. */
static struct cell *
count_packet(struct meter *meter, enum series series, int64_t subject, double time_s, int64_t bytes)
{
	struct cell *cell = cell_at(&meter->bins[series], subject, time_s);

	cell->counts[0]++;
	cell->counts[1] += bytes;
	return cell;
}

/* ---- streams and links ---- */

static uint64_t
mixed(int64_t one, int32_t two, int32_t three, int32_t four, int32_t five)
{
	return (uint64_t)one * ODDS[0] + (uint64_t)(int64_t)two * ODDS[1] +
	       (uint64_t)(int64_t)three * ODDS[2] + (uint64_t)(int64_t)four * ODDS[3] +
	       (uint64_t)(int64_t)five * ODDS[4];
}

/*
 * What identifies a packet. The old wireless format prints no flow id, a tunnel wraps a packet into
 * one with other ends and the same uid, and some agents reuse a uid.
 */
static uint64_t
packet_key(const struct row *row)
{
	return mixed(row->uid, row->src_node, row->src_port, row->dst_node, row->dst_port);
}

static void
begin_stream(struct stream *stream, const int32_t ends[5])
{
	double *const unknown[] = {
		&stream->first_sent_s, &stream->first_retransmission_s, &stream->first_drop_s,
		&stream->delay_min_s, &stream->last_received_s, &stream->longest_gap_s,
		&stream->last_delay_s, &stream->slow_start_end_s, &stream->started_s,
		&stream->last_sent_s
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		*unknown[i] = NAN;
	stream->flow = ends[0];
	stream->src_node = ends[1];
	stream->src_port = ends[2];
	stream->dst_node = ends[3];
	stream->dst_port = ends[4];
	stream->sent_type = stream->arrived_type = stream->dropped_type = stream->seen_type = -1;
	stream->own_acks = stream->seen_acks = 1;
	stream->hop_max = stream->highest_sent = stream->highest_arrived = stream->acked = NONE;
	stream->holes.size = sizeof(struct hole);
	stream->numbers.size = sizeof(struct number);
}

/*
 * The place of the stream of these ends, the first of which is the flow id. Where that is unknown it is
 * the first that was told of the other ends; what came before has been the same stream.
 */
static int32_t
find_stream(struct meter *meter, const int32_t given[5])
{
	int32_t ends[5] = { given[0], given[1], given[2], given[3], given[4] };
	uint64_t key = mixed(0, ends[1], ends[2], ends[3], ends[4]);
	int is_new;
	struct pair *pair = item_of(&meter->pairs, &meter->pair_places, key, &is_new);
	struct stream *stream;

	if (is_new)
		pair->flow = UNKNOWN;
	if (ends[0] == UNKNOWN) {
		ends[0] = (int32_t)pair->flow;
	} else if (pair->flow == UNKNOWN) {
		pair->flow = ends[0];
		if (pair->nameless) {
			take_out(&meter->stream_places, key + (uint64_t)UNKNOWN * ODDS[0]);
			put(&meter->stream_places, key + (uint64_t)(int64_t)ends[0] * ODDS[0],
			    pair->nameless - 1);
			ITEM(meter->streams, struct stream, pair->nameless - 1)->flow = ends[0];
		}
	}
	key += (uint64_t)(int64_t)ends[0] * ODDS[0];
	stream = item_of(&meter->streams, &meter->stream_places, key, &is_new);
	if (is_new) {
		begin_stream(stream, ends);
		if (ends[0] == UNKNOWN)
			pair->nameless = meter->streams.count;
	}
	return (int32_t)(stream - ITEM(meter->streams, struct stream, 0));
}

/* The same; mostly it is known. */
static int32_t
stream_of(struct meter *meter, const int32_t ends[5])
{
	int32_t place = ends[0] == UNKNOWN ? -1 :
			place_of(&meter->stream_places, mixed(ends[0], ends[1], ends[2], ends[3], ends[4]));

	return place < 0 ? find_stream(meter, ends) : place;
}

static struct stream *
own_stream(const struct meter *meter, const struct row *row)
{
	return ITEM(meter->streams, struct stream, row->stream);
}

static struct link *
own_link(const struct meter *meter, const struct row *row)
{
	return ITEM(meter->links, struct link, row->link);
}

static void
find_own_stream(struct meter *meter, struct row *row)
{
	if (!meter->streams.count || memcmp(meter->last_ends, &row->flow, sizeof(meter->last_ends))) {
		memcpy(meter->last_ends, &row->flow, sizeof(meter->last_ends));
		meter->last_stream = stream_of(meter, meter->last_ends);
	}
	row->stream = meter->last_stream;
}

static void
find_own_link(struct meter *meter, struct row *row)
{
	uint64_t key = ((uint64_t)(int64_t)row->from << 32) +
		       (uint64_t)((int64_t)row->to + (INT64_C(1) << 31));
	int is_new;
	struct link *link = item_of(&meter->links, &meter->link_places, key, &is_new);

	if (is_new) {
		link->key = (int64_t)key;
		link->from = row->from;
		link->to = row->to;
		link->changes.size = sizeof(int64_t);
	}
	link->coarse |= row->is_coarse;
	row->link = (int32_t)(link - ITEM(meter->links, struct link, 0));
}

static int
is_counted(const struct meter *meter, double time_s)
{
	return time_s >= meter->start_s;
}

static int
goes_to_group(const struct row *row)
{
	return row->dst_node != UNKNOWN && (row->dst_node < 0 || row->dst_node >= FIRST_GROUP);
}

static int
is_data(const struct row *row)
{
	return row->seq >= 0 || row->kind != CONTROL;
}

/* Notes who a stream is: from the lines of its ends, */
static void
note_own(struct stream *stream, const struct row *row, int64_t *type)
{
	if (*type < 0)
		*type = row->type;
	stream->own = 1;
	stream->own_acks &= row->kind == ACK;
	stream->own_data |= is_data(row);
}

/* and, for a stream whose ends are not traced, from all. */
static void
note_seen(struct stream *stream, const struct row *row)
{
	if (stream->seen_type < 0)
		stream->seen_type = row->type;
	stream->seen_acks &= row->kind == ACK;
	stream->seen_data |= is_data(row);
}

/*
 * Bytes of the application: without TCP/IP's headers where the size includes them. ns-2's UDP agents
 * trace the size that they were given.
 */
static int64_t
payload_of(const struct row *row)
{
	int64_t payload = row->bytes;

	if (row->kind == TCP || row->kind == ACK) {
		payload -= row->header_bytes > 0 ? row->header_bytes : TCP_HEADER_BYTES;
		return payload > 0 ? payload : 0;
	}
	return payload;
}

/* ---- numbers that are not acknowledged ---- */

/* Index of the first number from head on that is at least seq. */
static int64_t
number_at(const struct stream *stream, int64_t seq)
{
	int64_t low = stream->head, high = stream->numbers.count;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (ITEM(stream->numbers, struct number, middle)->seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int
is_retransmission(const struct stream *stream, const struct row *row)
{
	return row->kind != ACK && row->seq >= 0 && row->seq <= stream->highest_sent;
}

/* Whether a sending is one that an ACK may answer: data of TCP, with a number not acknowledged. */
static int
awaits_ack(const struct stream *stream, const struct row *row)
{
	return row->kind == TCP && !stream->by_bytes && row->seq >= 0 && row->seq > stream->acked;
}

/* Remembers a sending until its ACK comes; one that was sent before gives no sample any more. */
static void
await_ack(struct stream *stream, const struct row *row, int again)
{
	int64_t at;
	struct number *number;

	move_to_front(&stream->numbers, &stream->head);
	at = number_at(stream, row->seq);
	number = ITEM(stream->numbers, struct number, at);
	if (at < stream->numbers.count && number->seq == row->seq) {
		number->again = 1;
		return;
	}
	number = insert_item(&stream->numbers, at);
	*number = (struct number){ row->seq, again, again ? NAN : row->time_s };
}

/*
 * An ACK: a sample of the RTT, if it names the last number that it covers, and all were sent once. By
 * Karn's rule a packet that was sent more than once gives no sample; nor does an ACK that covers
 * such a packet, since a hole in the data delayed it.
 */
static void
acknowledge(struct meter *meter, const struct row *row)
{
	int32_t ends[5] = {
		(int32_t)own_stream(meter, row)->flow,
		row->dst_node, row->dst_port, row->src_node, row->src_port
	};
	int32_t place = stream_of(meter, ends);
	struct stream *data = ITEM(meter->streams, struct stream, place);
	double sent_s = NAN;
	int64_t again = 0;

	if (row->seq <= (data->acked == NONE ? -1 : data->acked)) {
		if (row->seq > data->acked)
			data->acked = row->seq;
		return;
	}
	data->acked = row->seq;
	for (; data->head < data->numbers.count; data->head++) {
		const struct number *number = ITEM(data->numbers, struct number, data->head);

		if (number->seq > row->seq)
			break;
		again |= number->again;
		sent_s = number->seq == row->seq ? number->sent_s : NAN;
	}
	if (!again && !isnan(sent_s) && is_counted(meter, row->time_s)) {
		struct cell *cell = cell_at(&meter->bins[ROUND_TRIPS], place, row->time_s);

		cell->counts[0]++;
		add_time(cell, row->time_s - sent_s);
	}
}

/* ---- holes in what has arrived ---- */

/* Index of the last hole that begins at seq or below, if seq lies in it; else -1. */
static int64_t
hole_of(const struct stream *stream, int64_t seq)
{
	int64_t low = 0, high = stream->holes.count;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (ITEM(stream->holes, struct hole, middle)->first <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && seq <= ITEM(stream->holes, struct hole, low - 1)->last ? low - 1 : -1;
}

static void
fill_hole(struct stream *stream, int64_t at, int64_t seq)
{
	struct hole *hole = ITEM(stream->holes, struct hole, at), whole = *hole;

	if (whole.first < seq && seq < whole.last) {
		hole->last = seq - 1;
		hole = insert_item(&stream->holes, at + 1);
		*hole = (struct hole){ seq + 1, whole.last };
	} else if (whole.first == whole.last) {
		memmove(hole, hole + 1, (size_t)(--stream->holes.count - at) * sizeof(*hole));
	} else if (whole.first == seq) {
		hole->first++;
	} else {
		hole->last--;
	}
}

/*
 * Whether an arrival brings what its receiver has not had. A number above the highest so far is new; the
 * numbers that it skips are a hole. A number below is new if it fills a hole. For streams that number
 * bytes no holes are kept.
 */
static int
is_new(struct stream *stream, int64_t seq)
{
	int64_t before = stream->highest_arrived, hole;

	if (seq == NONE)
		return 1;
	if (before == NONE || seq > before) {
		stream->highest_arrived = seq;
		if (before != NONE && seq - 1 > before && !stream->by_bytes) {
			struct hole *skipped = add_item(&stream->holes);

			*skipped = (struct hole){ before + 1, seq - 1 };
		}
		return 1;
	}
	if ((hole = hole_of(stream, seq)) < 0)
		return seq < 0;
	fill_hole(stream, hole, seq);
	return 1;
}

/* ---- events of flows ---- */

static void
count_slow_start(struct stream *stream, const struct row *row, int again)
{
	if (isnan(stream->started_s))
		stream->started_s = row->time_s;
	if (!isnan(stream->slow_start_end_s))
		return;
	if (row->time_s != stream->last_sent_s) {
		stream->last_sent_s = row->time_s;
		stream->pkts_then = stream->drops_then = 0;
	}
	if (again) {	/* what was sent at this very moment was not sent before it */
		stream->slow_start_end_s = row->time_s;
		stream->slow_start_pkts -= stream->pkts_then;
		stream->slow_start_drops -= stream->drops_then;
		return;
	}
	stream->slow_start_pkts++;
	stream->pkts_then++;
}

static void
count_sending(struct meter *meter, struct stream *stream, const struct row *row, int again)
{
	struct cell *cell = count_packet(meter, SENT_BINS, row->stream, row->time_s, row->bytes);

	if (isnan(stream->first_sent_s))
		stream->first_sent_s = row->time_s;
	if (again) {
		cell->counts[2]++;
		cell->counts[3] += row->bytes;
		if (isnan(stream->first_retransmission_s))
			stream->first_retransmission_s = row->time_s;
	}
}

/* Notes the highest number, and whether a stream's numbers advance by the payload, as FullTcp's do. */
static void
note_highest(struct stream *stream, const struct row *row)
{
	int64_t before = stream->highest_sent;

	if (row->seq == NONE)
		return;
	if (before != NONE && row->kind != ACK && row->seq - 1 > before && !stream->by_bytes &&
	    2 * (row->seq - before) >= payload_of(row)) {
		stream->by_bytes = 1;
		stream->head = stream->numbers.count = 0;
	}
	if (row->seq > before)
		stream->highest_sent = row->seq;
}

/* ---- packets under way ---- */

/* A packet is under way. Of too many, the one that has waited longest is forgotten. */
static void
begin_sending(struct meter *meter, const struct row *row)
{
	struct crowd *crowd = &meter->sendings;
	struct sending *sending = add_item(&crowd->items);

	*sending = (struct sending){
		{ .key = (int64_t)packet_key(row), .open = 1 }, row->stream, payload_of(row),
		row->time_s
	};
	crowd->open++;
	join(crowd, crowd->items.count - 1);
	if (crowd->open > MOST_OPEN) {
		int64_t place = oldest_of(crowd);

		sending = ITEM(crowd->items, struct sending, place);
		meter->forgotten++;
		if (sending->is.lost && is_counted(meter, sending->sent_s))
			ITEM(meter->streams, struct stream, sending->stream)->forgotten_losses++;
		go(crowd, place);
	}
	tidy(crowd);
}

/*
 * The sending that a line is about: the first that is not lost, since that is more likely to have arrived,
 * or else the first; 0 without one.
 */
static struct sending *
sending_of(const struct meter *meter, const struct row *row, int64_t *place)
{
	*place = first_of(&meter->sendings, packet_key(row));
	return *place < 0 ? 0 : ITEM(meter->sendings.items, struct sending, *place);
}

/*
 * Whether a packet was sent at this very moment: a multicast source has a line at each link. Asked for is
 * its last sending that is lost, and its last that is not.
 */
static int
was_sent_now(const struct meter *meter, const struct row *row)
{
	const struct crowd *crowd = &meter->sendings;

	for (int lost = 0; lost < 2; lost++) {
		int64_t first = place_of(&crowd->firsts[lost], packet_key(row));

		if (first >= 0 && ITEM(crowd->items, struct sending,
				       waiting_at(crowd, first)->last)->sent_s == row->time_s)
			return 1;
	}
	return 0;
}

/* A packet leaves its source. */
static void
send(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int again = is_retransmission(stream, row);

	if (was_sent_now(meter, row))
		return;
	note_own(stream, row, &stream->sent_type);
	note_highest(stream, row);
	count_slow_start(stream, row, again);
	if (awaits_ack(stream, row))
		await_ack(stream, row, again);
	if (is_counted(meter, row->time_s))
		count_sending(meter, stream, row, again);
	if (goes_to_group(row) && !recall(&meter->sent_to_group, packet_key(row)))
		remember(&meter->sent_to_group, packet_key(row), row->time_s);
	begin_sending(meter, row);
}

/* Notes a delay; interarrival jitter is that of RFC 3550: J := J + (|D| - J)/16. */
static void
note_delay(struct stream *stream, double delay_s)
{
	if (isnan(stream->delay_min_s) || delay_s < stream->delay_min_s)
		stream->delay_min_s = delay_s;
	if (!isnan(stream->last_delay_s)) {
		double step_s = fabs(delay_s - stream->last_delay_s);

		stream->jitter_s = (1 - SMOOTHING) * stream->jitter_s + SMOOTHING * step_s;
		stream->delay_steps++;
		stream->delay_step_sum_s += step_s;
	}
	stream->last_delay_s = delay_s;
}

static void
count_arrival(struct meter *meter, const struct row *row, int64_t good_bytes, double delay_s)
{
	struct stream *stream = own_stream(meter, row);
	struct cell *cell = count_packet(meter, RECEIVED, row->stream, row->time_s, row->bytes);
	double gap_s = row->time_s - stream->last_received_s;	/* NAN for the first */

	cell->counts[2] += good_bytes;
	if (!isnan(gap_s) && !(gap_s <= stream->longest_gap_s))
		stream->longest_gap_s = gap_s;
	if (!(row->time_s <= stream->last_received_s))
		stream->last_received_s = row->time_s;
	if (isnan(delay_s))
		return;
	cell->counts[3]++;
	add_time(cell, delay_s);
	note_delay(stream, delay_s);
}

/* Whether a packet to a group, whose sending is not traced, came to another node before. */
static int
is_copy(struct meter *meter, const struct row *row)
{
	if (!goes_to_group(row))
		return 0;
	if (recall(&meter->unsent, packet_key(row)))
		return 1;
	remember(&meter->unsent, packet_key(row), row->time_s);
	return 0;
}

/* A packet comes to its receiver; what comes again is a duplicate that the network made. */
static void
arrive(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int64_t place, payload = payload_of(row);
	const struct sending *sending = sending_of(meter, row, &place);
	double delay_s = NAN;
	int brings_new;

	note_own(stream, row, &stream->arrived_type);
	if (!sending) {
		if (recall(&meter->arrived, packet_key(row)) || is_copy(meter, row))
			return;
	} else {
		double sent_s = sending->sent_s;

		delay_s = row->time_s - sent_s;
		if (sending->payload < payload)	/* wireless nodes add 20 bytes of IP header to UDP's */
			payload = sending->payload;
		if (is_counted(meter, sent_s))
			cell_at(&meter->bins[DELIVERED], row->stream, sent_s)->counts[0]++;
		go(&meter->sendings, place);
		tidy(&meter->sendings);
		remember(&meter->arrived, packet_key(row), sent_s);
	}
	brings_new = is_new(stream, row->seq);
	if (is_counted(meter, row->time_s))
		count_arrival(meter, row, brings_new ? payload : 0, delay_s);
	if (row->kind == ACK)
		acknowledge(meter, row);
}

static void
count_loss(struct meter *meter, const struct row *row)
{
	int wired = row->layer == WIRED, is_new;
	struct cause what = { row->layer, wired ? row->event == ERROR : row->reason };
	uint64_t key = mixed(what.layer, (int32_t)what.reason, 0, 0, 0);
	struct cause *cause = item_of(&meter->causes, &meter->cause_places, key, &is_new);
	int32_t number, node = wired ? row->from : row->node;
	struct loss *loss;

	*cause = what;
	number = (int32_t)(cause - ITEM(meter->causes, struct cause, 0));
	cell_at(&meter->bins[CAUSES], number, row->time_s)->counts[0]++;
	key = mixed(node, number, row->type, 0, 0);
	loss = item_of(&meter->losses, &meter->loss_places, key, &is_new);
	loss->node = node;
	loss->cause = number;
	loss->type = row->type;
	loss->pkts++;
	loss->bytes += row->bytes;
}

/* Notes that a packet, under way or arrived, was dropped somewhere. */
static void
mark_dropped(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	const struct remembered *arrival;
	int64_t place;
	struct sending *sending = sending_of(meter, row, &place);
	double sent_s = NAN;

	note_own(stream, row, &stream->dropped_type);
	if (sending) {
		sent_s = sending->sent_s;
		if (!sending->is.lost) {
			part(&meter->sendings, place);
			sending->is.lost = 1;
			join(&meter->sendings, place);
		}
	} else if ((arrival = recall(&meter->arrived, packet_key(row)))) {
		sent_s = arrival->value;
	}
	if (!isnan(sent_s) &&
	    (isnan(stream->slow_start_end_s) || sent_s < stream->slow_start_end_s)) {
		stream->slow_start_drops++;
		stream->drops_then += sent_s == stream->last_sent_s;
	}
	if (!is_counted(meter, row->time_s))
		return;
	if (isnan(stream->first_drop_s))
		stream->first_drop_s = row->time_s;
	count_packet(meter, LOST_ON_WAY, row->stream, row->time_s, row->bytes);
}

/* A drop, which need not be the end of a packet: LANs and wireless nodes drop copies. */
static void
drop(struct meter *meter, const struct row *row)
{
	if (row->src_node != UNKNOWN)
		mark_dropped(meter, row);
	if (!is_counted(meter, row->time_s))
		return;
	if (row->layer == WIRED)
		count_packet(meter, LOST_ON_LINK, row->link, row->time_s, row->bytes);
	count_loss(meter, row);
}

/* A packet to a group has come to a node, which counts it once. */
static void
come_to_node(struct meter *meter, const struct row *row, int32_t node)
{
	uint64_t key = packet_key(row) * ODDS[2] + (uint64_t)(int64_t)node;
	const struct remembered *sending;
	struct receiver *receiver;
	int is_new;

	if (recall(&meter->copies, key))
		return;
	remember(&meter->copies, key, 0);
	if (!is_counted(meter, row->time_s))
		return;
	key = (uint64_t)(uint32_t)row->stream << 32 | (uint32_t)node;
	receiver = item_of(&meter->receivers, &meter->receiver_places, key, &is_new);
	if (is_new)
		*receiver = (struct receiver){ row->stream, node, 0, 0, 0, 0, -INFINITY };
	receiver->pkts++;
	receiver->bytes += row->bytes;
	if ((sending = recall(&meter->sent_to_group, packet_key(row)))) {
		double delay_s = row->time_s - sending->value;

		receiver->delays++;
		receiver->sum_s += delay_s;
		if (delay_s > receiver->most_s)
			receiver->most_s = delay_s;
	}
}

/* ---- events of links ---- */

/* Applies the changes of a queue's length of one moment, in their order. */
static void
apply_changes(struct meter *meter, int64_t place)
{
	struct link *link = ITEM(meter->links, struct link, place);
	int counted = is_counted(meter, link->changes_s);

	for (int64_t i = 0; i < link->changes.count; i++) {
		int64_t by = *ITEM(link->changes, int64_t, i);

		link->length += by;
		if (by && counted) {
			struct cell *cell = cell_at(&meter->bins[LENGTHS], place, link->changes_s);

			cell->counts[0] += by;
			cell->sum += (double)by * link->changes_s;
			if ((double)link->length > cell->most)
				cell->most = (double)link->length;
		} else {
			link->before += by;
		}
	}
	link->changes.count = 0;
	link->moment++;
}

/* Notes a change of a queue's length; what happens at one moment may take it back. */
static void
change_length(struct meter *meter, int64_t place, double time_s, int by)
{
	struct link *link = ITEM(meter->links, struct link, place);
	int64_t *change;

	if (time_s != link->changes_s)
		apply_changes(meter, place);
	link->changes_s = time_s;
	change = add_item(&link->changes);
	*change = by;
}

static uint64_t
queue_key(const struct meter *meter, const struct row *row)
{
	return (uint64_t)row->uid * ODDS[4] + (uint64_t)own_link(meter, row)->key;
}

/* A packet has to wait. */
static void
enter_queue(struct meter *meter, const struct row *row)
{
	struct crowd *crowd = &meter->queued;
	struct queued *queued = add_item(&crowd->items);

	queued->is = (struct waiting){ .key = (int64_t)queue_key(meter, row), .open = 1 };
	crowd->open++;
	join(crowd, crowd->items.count - 1);
	change_length(meter, row->link, row->time_s, 1);
	queued->bytes = row->bytes;
	queued->change = own_link(meter, row)->changes.count - 1;
	queued->moment = own_link(meter, row)->moment;
	queued->entered_s = row->time_s;
	if (crowd->open > MOST_OPEN)
		go(crowd, oldest_of(crowd));
	tidy(crowd);
}

/*
 * A capacity shows where a packet had waited while the one before it left: it was sent when the
 * transmission of that one ended, so the time between their departures is the other's transmission time.
 */
static void
note_busy(struct link *link, double time_s, int64_t bytes, double wait_s)
{
	int follows = link->has_last && !isnan(wait_s) && time_s - wait_s <= link->last_s;

	if (follows) {
		link->periods += !link->follows;
		link->busy_bytes += link->last_bytes;
		link->busy_s += time_s - link->last_s;
	}
	link->follows = follows;
	link->has_last = 1;
	link->last_s = time_s;
	link->last_bytes = bytes;
}

/* A packet leaves a queue for its link; how long it waited is NAN where that is not known. */
static void
depart(struct meter *meter, const struct row *row, int64_t bytes, double wait_s)
{
	struct cell *cell;

	note_busy(own_link(meter, row), row->time_s, bytes, wait_s);
	if (!is_counted(meter, row->time_s))
		return;
	count_packet(meter, DEPARTED, row->link, row->time_s, bytes);
	cell = cell_at(&meter->bins[WAITED], row->link, row->time_s);
	if (!isnan(wait_s)) {
		cell->counts[0] += wait_s > 0;
		add_time(cell, wait_s);
	}
}

/* A packet leaves a queue or is dropped; of one uid, the first to enter is the first to leave. */
static void
leave_queue(struct meter *meter, const struct row *row)
{
	int64_t place = first_of(&meter->queued, queue_key(meter, row));
	struct link *link = own_link(meter, row);
	struct queued queued;

	if (place < 0) {
		if (row->event == LEAVES)
			depart(meter, row, row->bytes, NAN);
		return;
	}
	queued = *ITEM(meter->queued.items, struct queued, place);
	go(&meter->queued, place);
	tidy(&meter->queued);
	if (queued.moment == link->moment && link->changes_s == row->time_s)
		*ITEM(link->changes, int64_t, queued.change) = 0;	/* it never was in it */
	else
		change_length(meter, row->link, row->time_s, -1);
	if (row->event == LEAVES)
		depart(meter, row, queued.bytes, row->time_s - queued.entered_s);
}

/* Where a node sends the packets of a stream: another next node is a change of the route. */
static int64_t
pass_on(struct meter *meter, const struct row *row, int32_t node, int64_t next)
{
	uint64_t key = (uint64_t)(uint32_t)row->stream << 32 | (uint32_t)node;
	int is_new;
	struct route *route = item_of(&meter->routes, &meter->route_places, key, &is_new);

	if (is_new)
		*route = (struct route){ row->stream, node, next };
	if (route->next != next)
		own_stream(meter, row)->route_changes += is_counted(meter, row->time_s);
	route->next = next;
	return route - ITEM(meter->routes, struct route, 0);
}

static void
count_entry(struct meter *meter, const struct row *row)
{
	uint64_t key = (uint64_t)(uint32_t)row->link << 32 | (uint32_t)row->stream;
	int is_new;
	struct entered *entered = item_of(&meter->entered, &meter->entered_places, key, &is_new);

	if (is_new) {
		*entered = (struct entered){ row->link, row->stream, 0, 0, row->time_s, 0 };
		own_stream(meter, row)->entered = 1;
	}
	entered->pkts++;
	entered->bytes += row->bytes;
	if (is_new || ITEM(meter->routes, struct route, entered->route)->next != row->to)
		entered->route = pass_on(meter, row, row->from, row->to);
}

/* ---- wireless nodes ---- */

static enum does
does(const struct row *row)
{
	switch (row->event) {
	case ENTERS:
	case SENT:
		return SENDS;
	case ARRIVES:
		return RECEIVES;
	case FORWARDED:
		return FORWARDS;
	case DROPPED:
	case LOST:
		return DROPS;
	default:
		return NOTHING;
	}
}

/* Energy of a node at its first and last line, when it was used up, and the least in a bin; -1
   without a model. */
static void
note_energy(struct meter *meter, const struct row *row)
{
	uint64_t key = (uint64_t)(int64_t)row->node;
	int is_new;
	struct level *level;
	struct cell *cell;

	if (!(row->energy_j >= 0) || !is_counted(meter, row->time_s))
		return;
	level = item_of(&meter->levels, &meter->level_places, key, &is_new);
	cell = cell_at(&meter->bins[LEVELS], row->node, row->time_s);
	if (is_new)
		*level = (struct level){ row->node, row->energy_j, 0, NAN };
	level->last_j = row->energy_j;
	if (row->energy_j == 0 && isnan(level->dead_s))
		level->dead_s = row->time_s;
	if (-row->energy_j > cell->most)
		cell->most = -row->energy_j;
}

static void
count_at_node(struct meter *meter, const struct row *row)
{
	uint64_t key = mixed(row->type, row->layer, row->node, 0, 0);
	enum does what = does(row);
	int is_new;
	struct node *node = item_of(&meter->nodes, &meter->node_places, key, &is_new);

	node->node = row->node;
	node->layer = row->layer;
	node->type = row->type;
	if (what != NOTHING) {
		node->counts[2 * what]++;
		node->counts[2 * what + 1] += row->bytes;
	}
	meter->has_routers |= row->layer == ROUTER;
	if (row->layer == ROUTER && row->is_routing && (what == SENDS || what == FORWARDS)) {
		meter->routing_pkts++;
		meter->routing_bytes += row->bytes;
	}
}

static void
come_to_agent(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);

	if (row->hops != UNKNOWN && is_counted(meter, row->time_s)) {
		stream->hop_pkts++;
		stream->hop_sum += row->hops;
		if (row->hops > stream->hop_max)
			stream->hop_max = row->hops;
	}
	arrive(meter, row);
	if (goes_to_group(row))
		come_to_node(meter, row, row->node);
}

static void
take_wireless(struct meter *meter, struct row *row)
{
	enum does what = does(row);
	int at_agent = row->layer == AGENT;

	meter->has_agents |= at_agent;
	if (is_counted(meter, row->time_s))
		count_at_node(meter, row);
	note_energy(meter, row);
	find_own_stream(meter, row);
	if (at_agent && what == SENDS)
		send(meter, row);
	else if (at_agent && what == RECEIVES)
		come_to_agent(meter, row);
	else if (what == DROPS)
		drop(meter, row);
	else if (row->layer == ROUTER && (what == SENDS || what == FORWARDS) && !goes_to_group(row) &&
		 row->next_hop >= 0)	/* on links, the next node is that of the + line */
		pass_on(meter, row, row->node, (int64_t)row->next_hop + (INT64_C(1) << 40));
}

/* ---- rows ---- */

/* Settles the row before, which entered a queue: 1 if the next is that it left at once; else it waits. */
static int
settle_held(struct meter *meter, const struct row *next)
{
	const struct row *held = &meter->held;

	if (!meter->holds)
		return 0;
	meter->holds = 0;
	if (next && next->event == LEAVES && next->uid == held->uid && next->link == held->link &&
	    next->time_s == held->time_s) {
		if (is_counted(meter, held->time_s))
			count_packet(meter, DEPARTED, held->link, held->time_s, held->bytes);
		return 1;
	}
	enter_queue(meter, held);
	return 0;
}

static void
take_wired(struct meter *meter, struct row *row)
{
	find_own_stream(meter, row);
	find_own_link(meter, row);
	note_seen(own_stream(meter, row), row);
	if (settle_held(meter, row))
		return;
	switch (row->event) {
	case ENTERS:
		if (is_counted(meter, row->time_s))
			count_entry(meter, row);
		if (row->from == row->source)
			send(meter, row);
		meter->held = *row;
		meter->holds = 1;
		break;
	case DROPPED:
	case ERROR:
		drop(meter, row);
		leave_queue(meter, row);
		break;
	case LEAVES:
		leave_queue(meter, row);
		break;
	case ARRIVES:
		own_link(meter, row)->reached = 1;
		if (row->to == row->receiver)
			arrive(meter, row);
		if (goes_to_group(row))
			come_to_node(meter, row, row->to);
		break;
	default:
		break;
	}
}

static void
take(struct meter *meter, struct row *row)
{
	int64_t kind = row->type < 0 ? DATA : ITEM(meter->types.words, struct word, row->type)->kind;

	row->kind = (enum kind)(kind & (ROUTING - 1));
	row->is_routing = (kind & ROUTING) != 0;
	if (row->time_s > meter->last_s)
		meter->last_s = row->time_s;
	if (row->event == READING)
		note_energy(meter, row);
	else if (row->layer == WIRED)
		take_wired(meter, row);
	else
		take_wireless(meter, row);
}

/*
 * ---- nodes of addresses ----
 *
 * Where addresses are hierarchical, a line gives its link by node numbers and the ends of its packet by
 * addresses: a packet's first + is at its source, which gives the node of that address. It is learned
 * from all rows that wait before they are summed. A receiver that never sends anything stays unknown,
 * and a wireless node has no number.
 */

static void
learn(struct meter *meter, int64_t address, int64_t node)
{
	int is_new;
	struct host *host = item_of(&meter->hosts, &meter->host_places, (uint64_t)address, &is_new);

	if (is_new)
		*host = (struct host){ address, node };
}

static int32_t
node_of(const struct meter *meter, int32_t address)
{
	int32_t place = place_of(&meter->host_places, (uint64_t)(int64_t)address);

	return place < 0 ? UNKNOWN : (int32_t)ITEM(meter->hosts, struct host, place)->node;
}

static int
is_sending(const struct row *row)
{
	return (row->event == ENTERS || row->event == SENT) && row->src_node != UNKNOWN;
}

static int
is_hierarchical(int32_t address)
{
	return address >= FIRST_HIERARCHICAL && address < FIRST_GROUP;
}

/* Sums the rows that wait. */
static void
take_rows(struct meter *meter)
{
	for (int64_t i = 0; i < meter->rows.count && !meter->knows_hosts; i++) {
		const struct row *row = ITEM(meter->rows, struct row, i);

		meter->knows_hosts = row->from != UNKNOWN && is_hierarchical(row->src_node);
	}
	for (int64_t i = 0; i < meter->rows.count && meter->knows_hosts; i++) {
		const struct row *row = ITEM(meter->rows, struct row, i);

		if (is_sending(row))
			learn(meter, row->src_node, row->from);
	}
	for (int64_t i = 0; i < meter->rows.count; i++) {
		struct row *row = ITEM(meter->rows, struct row, i);

		row->source = meter->knows_hosts ? node_of(meter, row->src_node) : row->src_node;
		row->receiver = meter->knows_hosts ? node_of(meter, row->dst_node) : row->dst_node;
		take(meter, row);
	}
	meter->rows.count = 0;
	if (!meter->knows_hosts) {
		meter->addresses = FLAT;
		free(meter->rows.items);
		meter->rows = (struct list){ .size = sizeof(struct row) };
	}
}

/* What rows that were summed as those of flat addresses tell: where the packets of a source came from. */
static void
learn_from_links(struct meter *meter)
{
	for (int64_t i = 0; i < meter->entered.count; i++) {
		const struct entered *entered = ITEM(meter->entered, struct entered, i);

		learn(meter, ITEM(meter->streams, struct stream, entered->stream)->src_node,
		      ITEM(meter->links, struct link, entered->link)->from);
	}
}

/* Adds a row, which has to wait where it, or one that waits, may not have the numbers of nodes. */
static void
add(struct meter *meter, struct row *row)
{
	int is_wired = row->layer == WIRED && row->event != READING;

	if (isnan(meter->first_s))
		meter->first_s = row->time_s;
	meter->last_row_s = row->time_s;
	row->is_flat &= !is_hierarchical(row->src_node) && !is_hierarchical(row->dst_node);
	if (meter->addresses == UNDECIDED && is_wired)
		meter->addresses = row->is_flat ? FLAT : LEARNING;
	else if (meter->addresses == UNDECIDED && is_sending(row))
		learn(meter, row->src_node, UNKNOWN);
	if (meter->addresses == FLAT && is_wired && is_hierarchical(row->src_node)) {
		learn_from_links(meter);
		meter->addresses = LEARNING;
	}
	if (meter->addresses == LEARNING) {
		*(struct row *)add_item(&meter->rows) = *row;
		if (meter->rows.count == MOST_WAITING)
			take_rows(meter);
		return;
	}
	row->source = row->src_node;
	row->receiver = row->dst_node;
	take(meter, row);
}

/* ---- lines ---- */

enum form {	/* in the order of meter.py */
	ON_LINK, OLD_WIRELESS, NEW_WIRELESS, NODE_ENERGY, MOVEMENT, ANNOTATION, TCP_EVENT, ROUTING_EVENT,
	SHORT_ROUTING_EVENT
};

/* Half a unit of the last digit of their times, s. */
static const double HALF_UNIT_S[FORMS] = {
	5e-7, 5e-10, 5e-10, 5e-7, 5e-6, 5e-7, 5e-7, 5e-10, 5e-6
};

#define IS_DIGIT(c) ((unsigned char)((c) - '0') <= 9)
#define IS_LETTER(c) ((unsigned char)(((c) | 0x20) - 'a') < 26)

/*
 * All that reads a part of a line returns the place behind it, or 0, and takes 0 for a place, too. A number
 * may have the form that is wanted and be too large for what is read here.
 */

static inline const char *
behind(const char *at, const char *text)
{
	return at && memcmp(at, text, strlen(text)) == 0 ? at + strlen(text) : 0;	/* in the padding */
}

static inline const char *
any_blanks(const char *at)
{
	while (at && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static inline const char *
blanks(const char *at)
{
	return at && (*at == ' ' || *at == '\t') ? any_blanks(at + 1) : 0;
}

static inline const char *
tag(const char *at, const char *text)
{
	return behind(blanks(at), text);
}

/* Where the line ends, if only blanks are left of it. */
static inline const char *
end_of_line(const char *at)
{
	while (at && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at && *at == '\n' ? at : 0;
}

static inline const char *
read_long(const char *at, int64_t *value, int *too_large)
{
	int negative = at && *at == '-';
	const char *start = at ? at + negative : 0;
	uint64_t sum = 0;

	for (at = start; at && IS_DIGIT(*at); at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	if (at - start > 18)
		*too_large = 1;
	else
		*value = negative ? -(int64_t)sum : (int64_t)sum;
	return at > start ? at : 0;
}

static inline const char *
read_int(const char *at, int32_t *value, int *too_large)
{
	int64_t wide = 0;

	at = read_long(at, &wide, too_large);
	*value = (int32_t)wide;
	*too_large |= wide != *value;
	return at;
}

/* Whole numbers of any size. */
static inline const char *
read_digits(const char *at)
{
	const char *start = at ? at + (*at == '-') : 0;

	for (at = start; at && IS_DIGIT(*at); at++)
		;
	return at > start ? at : 0;
}

/* Digits with or without a fraction. */
static inline const char *
read_decimal(const char *at, int *too_large)
{
	const char *point = read_digits(at);

	at = point && *point == '.' ? point[1] == '-' ? 0 : read_digits(point + 1) : point;
	*too_large |= at && *at == 'e';
	return at;
}

/*
 * The quotient of two numbers that a double holds exactly is rounded correctly, so a mantissa below 2^53
 * over a power of ten up to 10^22 is the nearest double; anything longer, or with an exponent, is too large.
 */
static inline const char *
read_real(const char *at, double *value, int64_t *decimals, int *too_large)
{
	static const double power_of_ten[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19
	};
	int negative = at && *at == '-';
	uint64_t mantissa = 0;
	const char *start = at ? at + negative : 0, *point;

	for (at = start; at && IS_DIGIT(*at); at++)
		mantissa = mantissa * 10 + (uint64_t)(*at - '0');
	if (at == start)
		return 0;
	*decimals = 0;
	if (*at == '.') {
		for (point = at++; IS_DIGIT(*at); at++)
			mantissa = mantissa * 10 + (uint64_t)(*at - '0');
		if (!(*decimals = at - point - 1))
			return 0;
	}
	if (at - start > 19 || mantissa >= (uint64_t)1 << 53 || *at == 'e')
		*too_large = 1;
	else
		*value = (double)mantissa / power_of_ten[*decimals];
	if (negative)
		*value = -*value;
	return at;
}

static inline const char *
read_time(const char *at, struct row *row)
{
	if (!at || *at == '-')
		return 0;
	at = read_real(at, &row->time_s, &row->decimals, &row->too_large);
	row->too_large |= !(row->time_s < LATEST_TIME);
	return at;
}

static inline const char *
read_hex(const char *at, int most, int *too_large)
{
	const char *start = at;

	while (at && (IS_DIGIT(*at) || (*at >= 'a' && *at <= 'f')))
		at++;
	*too_large |= at - start > most;
	return at > start ? at : 0;
}

static inline const char *
read_graphic(const char *at)
{
	const char *start = at;

	while (at && *at > ' ' && *at <= '~')
		at++;
	return at > start ? at : 0;
}

/*
 * Reads node.port, or the levels of a hierarchical address and its port: levels below the first
 * have 11 bits, the first of three has 10, which are ns-2's defaults; multicast sets the sign.
 */
static inline const char *
read_end(const char *at, int32_t *node, int32_t *port, struct row *row)
{
	const char *last;	/* the level or port read last: only that may have a sign, and the first */

	at = read_int(at, node, &row->too_large);
	last = behind(at, ".");
	at = read_int(last, port, &row->too_large);
	for (int levels = 2; at && *at == '.'; levels++) {
		if (*last == '-' || levels > 3)
			return 0;
		row->is_flat = 0;
		row->too_large |= *node < 0 || *node >= 1 << 21 || *port > 2047;
		*node = (int32_t)((uint32_t)*node << 11 | (uint32_t)*port);
		last = at + 1;
		at = read_int(last, port, &row->too_large);
	}
	return at;
}

static inline const char *
read_layer(const char *at, int32_t *layer)
{
	static const char *const names[] = { "AGT", "RTR", "TRP", "IFQ", "MAC", "PHY" };

	for (int i = 0; at && i < 6; i++) {
		*layer = AGENT + i;
		if (memcmp(at, names[i], 3) == 0)
			return at + 3;
	}
	return 0;
}

/* The rest of a line, if it is printable; with brackets, these are balanced, two deep at most. */
static const char *
read_rest(const char *at, int has_brackets)
{
	int depth = 0;

	for (; at && *at >= ' ' && *at <= '~'; at++) {
		if (has_brackets && *at == '[' && ++depth > 2)
			return 0;
		if (has_brackets && *at == ']' && --depth < 0)
			return 0;
	}
	return depth == 0 ? at : 0;
}

/* event time from to type bytes flags flow src.port dst.port seq uid [ack 0xflags header sack] */
static inline const char *
read_wired(struct meter *meter, const char *at, struct row *row)
{
	int *too_large = &row->too_large;

	row->is_flat = 1;
	at = read_time(blanks(at + 1), row);
	at = read_int(blanks(at), &row->from, too_large);
	at = read_int(blanks(at), &row->to, too_large);
	at = read_word(blanks(at), &meter->types, &row->type);
	at = read_int(blanks(at), &row->bytes, too_large);
	at = read_graphic(blanks(at));
	at = read_int(blanks(at), &row->flow, too_large);
	at = read_end(blanks(at), &row->src_node, &row->src_port, row);
	at = read_end(blanks(at), &row->dst_node, &row->dst_port, row);
	at = read_long(blanks(at), &row->seq, too_large);
	at = read_long(blanks(at), &row->uid, too_large);
	if (end_of_line(at))
		return at;
	at = read_long(blanks(at), &row->decimals, too_large);
	at = read_hex(tag(at, "0x"), 7, too_large);
	at = read_int(blanks(at), &row->header_bytes, too_large);
	return read_int(blanks(at), &row->unused, too_large);
}

/* "[seq ack] hops optimal" to the end of the line, or the header of a routing protocol. */
static const char *
read_old_transport(const char *start, struct row *row)
{
	int64_t seq = NONE, ack;
	int32_t hops = UNKNOWN;
	int too_large = 0;
	const char *at = read_long(behind(start, "["), &seq, &too_large);

	if (at && *at == ' ')
		at = read_long(at + 1, &ack, &too_large);
	at = read_int(behind(at, "] "), &hops, &too_large);
	at = read_digits(behind(at, " "));
	if (!end_of_line(at))
		return read_rest(start, 1);
	row->seq = seq;
	row->hops = hops;
	row->too_large |= too_large;
	return at;
}

/* "[node:port node:port ttl next] ...", or of ARP "[REQUEST 1/1 0/2]". */
static const char *
read_old_packet(const char *at, struct row *row)
{
	int *too_large = &row->too_large;
	const char *arp = behind(at, "[REQUEST ") ? behind(at, "[REQUEST ") : behind(at, "[REPLY ");

	if (arp) {
		at = read_digits(behind(read_digits(arp), "/"));
		at = read_digits(behind(read_digits(behind(at, " ")), "/"));
		return behind(at, "]");
	}
	at = read_int(behind(at, "["), &row->src_node, too_large);
	at = read_int(behind(at, ":"), &row->src_port, too_large);
	at = read_int(behind(at, " "), &row->dst_node, too_large);
	at = read_int(behind(at, ":"), &row->dst_port, too_large);
	at = read_int(behind(at, " "), &row->unused, too_large);
	at = read_int(behind(at, " "), &row->next_hop, too_large);
	at = any_blanks(behind(at, "]"));
	return at && !end_of_line(at) ? read_old_transport(at, row) : at;
}

/* event time _node_ layer reason uid type bytes [mac] [energy ...] ------- ... */
static const char *
read_old_wireless(struct meter *meter, const char *at, struct row *row)
{
	int *too_large = &row->too_large;
	const char *next;

	at = read_time(blanks(at + 1), row);
	at = read_int(tag(at, "_"), &row->node, too_large);
	at = read_layer(blanks(behind(at, "_")), &row->layer);
	at = read_word(blanks(at), &meter->reasons, &row->reason);
	at = read_long(blanks(at), &row->uid, too_large);
	at = read_word(blanks(at), &meter->types, &row->type);
	at = read_int(blanks(at), &row->bytes, too_large);
	if ((next = tag(at, "[")) && !behind(next, "energy")) {
		for (int i = 0; i < 4; i++)
			next = read_hex(i ? blanks(next) : next, 15, too_large);
		at = behind(next, "]");
	}
	if ((next = behind(any_blanks(at), "[energy "))) {
		at = read_real(next, &row->energy_j, &row->decimals, too_large);
		if (at && *at == ' ')
			at += strcspn(at, "]\n");
		at = behind(at, "]");
	}
	next = blanks(tag(at, "-------"));
	return next ? read_old_packet(next, row) : at;
}

/* "node.port -Id node.port -It type -Il bytes -If flow -Ii uid -Iv ttl ..." */
static const char *
read_new_packet(struct meter *meter, const char *at, struct row *row)
{
	int *too_large = &row->too_large;
	const char *next;

	at = read_int(at, &row->src_node, too_large);
	at = read_int(behind(at, "."), &row->src_port, too_large);
	at = read_int(tag(at, "-Id "), &row->dst_node, too_large);
	at = read_int(behind(at, "."), &row->dst_port, too_large);
	at = read_word(tag(at, "-It "), &meter->types, &row->type);
	at = read_int(tag(at, "-Il "), &row->bytes, too_large);
	at = read_int(tag(at, "-If "), &row->flow, too_large);
	at = read_long(tag(at, "-Ii "), &row->uid, too_large);
	at = read_int(tag(at, "-Iv "), &row->unused, too_large);
	if ((next = tag(at, "-P ")))
		return read_rest(next, 0);
	if (!(next = tag(at, "-Pn ")))
		return at;
	at = behind(next, "tcp -Ps ") ? behind(next, "tcp -Ps ") : behind(next, "cbr -Pi ");
	at = read_long(at, &row->seq, too_large);
	if ((next = behind(at, " -Pa ")))
		at = read_long(next, &row->decimals, too_large);
	at = read_int(behind(at, " -Pf "), &row->hops, too_large);
	return read_digits(behind(at, " -Po "));
}

/* event -t time -Hs node -Hd next -Ni node -Nx x -Ny y -Nz z -Ne energy -Nl layer -Nw reason ... */
static const char *
read_new_wireless(struct meter *meter, const char *at, struct row *row)
{
	int *too_large = &row->too_large;
	const char *next;

	at = read_time(tag(at + 1, "-t "), row);
	at = read_digits(tag(at, "-Hs "));
	at = read_int(tag(at, "-Hd "), &row->next_hop, too_large);
	at = read_int(tag(at, "-Ni "), &row->node, too_large);
	at = read_decimal(tag(at, "-Nx "), too_large);
	at = read_decimal(tag(at, "-Ny "), too_large);
	at = read_decimal(tag(at, "-Nz "), too_large);
	at = read_real(tag(at, "-Ne "), &row->energy_j, &row->decimals, too_large);
	at = read_layer(tag(at, "-Nl "), &row->layer);
	at = read_word(tag(at, "-Nw "), &meter->reasons, &row->reason);
	if ((next = tag(at, "-Ma "))) {
		at = read_hex(tag(read_hex(next, 15, too_large), "-Md "), 15, too_large);
		at = read_hex(tag(at, "-Ms "), 15, too_large);
		at = read_hex(tag(at, "-Mt "), 15, too_large);
	}
	if ((next = tag(at, "-Is ")))
		return read_new_packet(meter, next, row);
	next = tag(at, "-P arp ");
	return next ? read_rest(next, 0) : at;
}

/* Lines that tell nothing of packets, and those of the energy of nodes. */
static const char *
read_other(const char *at, struct row *row, enum form *form)
{
	int *too_large = &row->too_large;

	switch (*at) {
	case 'N':
		*form = NODE_ENERGY;
		at = read_time(blanks(tag(at + 1, "-t")), row);
		at = read_int(blanks(tag(at, "-n")), &row->node, too_large);
		return read_real(blanks(tag(at, "-e")), &row->energy_j, &row->decimals, too_large);
	case 'M':
		*form = MOVEMENT;
		at = read_int(blanks(read_time(blanks(at + 1), row)), &row->unused, too_large);
		return read_rest(tag(at, "("), 0);
	case 'v':
		*form = ANNOTATION;
		at = blanks(read_time(blanks(at + 1), row));
		return at && row->decimals <= 6 && IS_LETTER(*at) ? read_rest(at, 0) : 0;
	case 'E':
		*form = TCP_EVENT;
		at = read_int(blanks(read_time(blanks(at + 1), row)), &row->unused, too_large);
		at = read_int(blanks(at), &row->unused, too_large);
		at = read_int(blanks(read_graphic(blanks(tag(at, "TCP")))), &row->unused, too_large);
		if (!end_of_line(at))
			at = read_long(blanks(at), &row->seq, too_large);
		return end_of_line(at) ? at : read_long(blanks(at), &row->uid, too_large);
	default:	/* 'S' or 'T' */
		while (IS_LETTER(*at) || IS_DIGIT(*at) || *at == '$' || *at == '-')
			at++;
		at = read_time(blanks(at), row);
		*form = row->decimals == 9 ? ROUTING_EVENT : SHORT_ROUTING_EVENT;
		if (at && *at == ' ' && at[1] == '_')
			at = behind(read_int(at + 2, &row->unused, too_large), "_");
		at = blanks(at);
		return at && *at != '_' && (row->decimals == 9 || row->decimals == 5) ? read_rest(at, 0)
										     : 0;
	}
}

static enum event
event_of(char code)
{
	switch (code) {
	case '+': return ENTERS;
	case '-': return LEAVES;
	case 'r': return ARRIVES;
	case 'd': return DROPPED;
	case 'e': return ERROR;
	case 's': return SENT;
	case 'f': case 'h': return FORWARDED;
	case 'D': return LOST;
	case 'N': return READING;
	default: return OTHER;
	}
}

enum { IS_WIRED = 1, IS_OLD = 2, IS_NEW = 4, IS_OTHER = 8 };

/* Reads a line of any form; returns the place behind it, or 0. */
static const char *
read_line(struct meter *meter, const char *at, struct row *row, enum form *form)
{
	static const uint8_t may_be[256] = {	/* what begins with this */
		['+'] = IS_WIRED, ['-'] = IS_WIRED, ['e'] = IS_WIRED, ['h'] = IS_WIRED, ['c'] = IS_WIRED,
		['r'] = IS_WIRED | IS_OLD | IS_NEW, ['d'] = IS_WIRED | IS_NEW, ['s'] = IS_OLD | IS_NEW,
		['f'] = IS_OLD | IS_NEW, ['D'] = IS_OLD, ['x'] = IS_OLD, ['N'] = IS_OTHER,
		['M'] = IS_OTHER, ['v'] = IS_OTHER, ['E'] = IS_OTHER, ['S'] = IS_OTHER, ['T'] = IS_OTHER
	};
	int may = may_be[(unsigned char)*at], is_new = at[1] == ' ' && at[2] == '-' && at[3] == 't';
	const char *end = 0;

	*row = NO_ROW;
	row->event = event_of(*at);
	if (may & IS_OTHER) {
		end = end_of_line(read_other(at, row, form));
	} else if (may & IS_NEW && is_new) {
		*form = NEW_WIRELESS;
		end = end_of_line(read_new_wireless(meter, at, row));
	} else {
		if (may & IS_WIRED && !(may & IS_OLD && meter->is_radio))
			end = end_of_line(read_wired(meter, at, row));
		*form = ON_LINK;
		if (!end && may & IS_OLD) {
			*row = NO_ROW;
			row->event = event_of(*at);
			*form = OLD_WIRELESS;
			end = end_of_line(read_old_wireless(meter, at, row));
			meter->is_radio = end != 0;
		}
	}
	if (row->reason == 0)	/* "---" */
		row->reason = UNKNOWN;
	return end && !row->too_large && row->bytes >= 0 ? end + 1 : 0;
}

/* Notes the time of a line; one that is earlier than that before by no more than rounding is as good. */
static void
note_time(struct told *told, double time_s, double half_unit_s)
{
	double slack_s = 0;

	if (told->lines == 0) {
		told->first_s = time_s;
		told->first_unit_s = half_unit_s;
	} else if (time_s < told->last_s) {
		if (half_unit_s != told->last_unit_s)
			slack_s = half_unit_s + told->last_unit_s + ROUNDING;
		if (time_s < told->last_s - slack_s && told->backwards++ == 0) {
			told->backwards_line = told->lines;
			told->backwards_s = time_s;
			told->after_s = told->last_s;
		}
	}
	told->last_s = time_s;
	told->last_unit_s = half_unit_s;
}

static const char *
add_lines(struct meter *meter, const char *at, const char *end)
{
	struct told *told = &meter->told;
	int64_t length = 0;	/* of the line before, if it is one of a link */
	enum form form = ON_LINK;
	struct row row = NO_ROW;
	const char *next;

	*told = (struct told){ 0 };
	for (; at < end; at = next) {
		/* What leaves a queue at once repeats the line of its arrival, but for the event. */
		if (length && length <= end - at && *at == '-' &&
		    memcmp(at + 1, at + 1 - length, (size_t)length - 1) == 0) {
			row.event = LEAVES;
			next = at + length;
		} else {
			if (!(next = read_line(meter, at, &row, &form)))
				break;
			length = form == ON_LINK ? next - at : 0;
		}
		note_time(told, row.time_s, HALF_UNIT_S[form]);
		told->lines++;
		told->forms[form]++;
		if (form > NODE_ENERGY)
			continue;
		if (row.time_s < meter->end_s)
			add(meter, &row);
		else
			told->has_ended = 1;
	}
	return at;
}

/* ---- what the caller sees ---- */

/*
 * Adds the lines of a text, the last of which ends with a newline, up to one that has none of the forms;
 * returns that place, or -1 without memory.
 */
int64_t
bdpbench_add_text(struct meter *meter, const char *text, int64_t length)
{
	if (setjmp(no_memory))
		return -1;
	return add_lines(meter, text, text + length) - text;
}

/*
 * How much of a text, whose first line has none of the forms, is better read in another way: up to a long
 * stretch of lines that have one, or the last such stretch. Returns -1 without memory.
 */
int64_t
bdpbench_left(struct meter *meter, const char *text, int64_t length)
{
	const char *at, *left, *next;
	int64_t stretch;
	struct row row;
	enum form form;

	if (setjmp(no_memory))
		return -1;
	stretch = 0;
	for (at = left = text; at < text + length && stretch < LONG_STRETCH; at = next) {
		next = at > text ? read_line(meter, at, &row, &form) : 0;
		stretch++;
		if (!next) {
			left = next = (const char *)memchr(at, '\n', (size_t)(text + length - at)) + 1;
			stretch = 0;
		}
	}
	return left - text;
}

#define TO(member) offsetof(struct row, member)

/* Columns of rows, behind those of times, energies and events. */
static const struct { uint8_t at, is_long; } COLUMN[] = {
	{ TO(from), 0 }, { TO(to), 0 }, { TO(type), 0 }, { TO(bytes), 0 }, { TO(flow), 0 },
	{ TO(src_node), 0 }, { TO(src_port), 0 }, { TO(dst_node), 0 }, { TO(dst_port), 0 },
	{ TO(seq), 1 }, { TO(uid), 1 }, { TO(header_bytes), 0 }, { TO(is_coarse), 0 },
	{ TO(layer), 0 }, { TO(node), 0 }, { TO(reason), 0 }, { TO(next_hop), 0 }, { TO(hops), 0 }
};

/*
 * Adds rows, whose columns are 8 bytes wide, of real numbers for times and energies; one that is 0 has none
 * of what it tells. Returns 0 without memory.
 */
int
bdpbench_add_rows(struct meter *meter, int64_t rows, const void *const *columns)
{
	if (setjmp(no_memory))
		return 0;
	for (int64_t at = 0; at < rows; at++) {
		struct row row = NO_ROW;

		row.time_s = ((const double *)columns[0])[at];
		row.energy_j = columns[1] ? ((const double *)columns[1])[at] : -1;
		row.event = event_of((char)((const int64_t *)columns[2])[at]);
		for (size_t i = 0; i < sizeof(COLUMN) / sizeof(*COLUMN); i++) {
			const int64_t *values = columns[3 + i];
			void *to = (char *)&row + COLUMN[i].at;

			if (values && COLUMN[i].is_long)
				*(int64_t *)to = values[at];
			else if (values)
				*(int32_t *)to = (int32_t)values[at];
		}
		if (row.time_s < meter->end_s)
			add(meter, &row);
	}
	return 1;
}

/* The number of a type of packets (0) or of a reason (1), with this kind if that is not 0; -1 without memory. */
int64_t
bdpbench_word(struct meter *meter, int which, const char *text, int64_t length, int kind)
{
	struct words *words = which ? &meter->reasons : &meter->types;
	uint64_t hash;
	int32_t number;

	if (setjmp(no_memory))
		return -1;
	hash = 0;
	for (int64_t i = 0; i < length; i++)
		hash = with_byte(hash, text[i]);
	number = number_of(words, text, length, hash);
	if (kind)
		ITEM(words->words, struct word, number)->kind = kind;
	return number;
}

/* All of these words, each with a newline behind it. */
const char *
bdpbench_words(const struct meter *meter, int which, int64_t *length)
{
	const struct words *words = which ? &meter->reasons : &meter->types;

	*length = words->text.count;
	return words->text.items;
}

#define LIST(member, item) { offsetof(struct meter, member), sizeof(item) }

/* The lists of a meter, and the sizes of their items. */
static const struct { size_t at, size; } LISTS[] = {
	LIST(streams, struct stream), LIST(pairs, struct pair), LIST(links, struct link),
	LIST(entered, struct entered), LIST(routes, struct route), LIST(causes, struct cause),
	LIST(losses, struct loss), LIST(receivers, struct receiver), LIST(nodes, struct node),
	LIST(levels, struct level), LIST(hosts, struct host), LIST(rows, struct row),
	LIST(sendings.items, struct sending), LIST(queued.items, struct queued),
	LIST(arrived.items, struct remembered), LIST(sent_to_group.items, struct remembered),
	LIST(copies.items, struct remembered), LIST(unsent.items, struct remembered),
	LIST(types.text, char), LIST(types.words, struct word), LIST(reasons.text, char),
	LIST(reasons.words, struct word)
};

static void
free_list(struct list *list)
{
	free(list->items);
}

static void
free_map(struct map *map)
{
	free(map->keys);
	free(map->places);
}

void
bdpbench_free_meter(struct meter *meter)
{
	struct map *const maps[] = {
		&meter->stream_places, &meter->pair_places, &meter->link_places, &meter->entered_places,
		&meter->route_places, &meter->cause_places, &meter->loss_places,
		&meter->receiver_places, &meter->node_places, &meter->level_places,
		&meter->host_places, &meter->sendings.firsts[0], &meter->sendings.firsts[1],
		&meter->queued.firsts[0], &meter->arrived.places, &meter->sent_to_group.places,
		&meter->copies.places, &meter->unsent.places, &meter->types.places,
		&meter->reasons.places
	};

	for (int64_t i = 0; i < meter->streams.count; i++) {
		free_list(&ITEM(meter->streams, struct stream, i)->holes);
		free_list(&ITEM(meter->streams, struct stream, i)->numbers);
	}
	for (int64_t i = 0; i < meter->links.count; i++)
		free_list(&ITEM(meter->links, struct link, i)->changes);
	for (int i = 0; i < SERIES; i++) {
		free_list(&meter->bins[i].cells);
		free_map(&meter->bins[i].places);
	}
	for (size_t i = 0; i < sizeof(LISTS) / sizeof(*LISTS); i++)
		free_list((struct list *)(void *)((char *)meter + LISTS[i].at));
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		free_map(maps[i]);
	free(meter);
}

/*
 * A meter of what happens from start_s to before end_s, with bins of width_s, or chosen ones for 0; or 0
 * without memory. Rows before start_s only set the initial state.
 */
struct meter *
bdpbench_new_meter(double start_s, double end_s, double width_s)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return 0;
	meter->start_s = start_s;
	meter->end_s = end_s;
	meter->first_s = meter->last_row_s = NAN;
	for (size_t i = 0; i < sizeof(LISTS) / sizeof(*LISTS); i++)
		((struct list *)(void *)((char *)meter + LISTS[i].at))->size = LISTS[i].size;
	meter->arrived.most = MOST_ARRIVED;
	meter->sent_to_group.most = meter->copies.most = meter->unsent.most = MOST_OF_GROUPS;
	for (int i = 0; i < SERIES; i++) {
		meter->bins[i].cells.size = sizeof(struct cell);
		meter->bins[i].index = width_s > 0 ? -1 : 0;
		meter->bins[i].per_s = width_s > 0 ? 1 / width_s : 1 / (1 / 1e3);
		meter->bins[i].limit_s = MOST_BINS / 1e3;
	}
	if (bdpbench_word(meter, 1, "---", 3, 0) < 0) {
		bdpbench_free_meter(meter);
		return 0;
	}
	return meter;
}

/* Settles what waits for a next row, and gives all series bins of one width; 0 without memory. */
int
bdpbench_finish_meter(struct meter *meter)
{
	int64_t widest;

	if (setjmp(no_memory))
		return 0;
	widest = 0;
	take_rows(meter);
	settle_held(meter, 0);
	if (!meter->knows_hosts)
		meter->hosts.count = 0;
	for (int64_t i = 0; i < meter->links.count; i++)
		apply_changes(meter, i);
	for (int i = 0; i < SERIES; i++) {
		widen_to(&meter->bins[i], meter->last_s);
		if (meter->bins[i].index > widest)
			widest = meter->bins[i].index;
	}
	for (int i = 0; i < SERIES; i++)
		if (meter->bins[i].index >= 0 && meter->bins[i].index < widest)
			widen(&meter->bins[i], widest);
	meter->width_index = meter->bins[0].index;
	return 1;
}

/* Tables: the lists, then the cells of the series. */
static const struct list *
table_of(const struct meter *meter, int table)
{
	const struct list *const lists[] = {
		&meter->streams, &meter->links, &meter->entered, &meter->losses,
		&meter->receivers, &meter->nodes, &meter->levels, &meter->sendings.items,
		&meter->causes, &meter->hosts
	};
	int count = (int)(sizeof(lists) / sizeof(*lists));

	return table < count ? lists[table] : &meter->bins[table - count].cells;
}

/* Copies a member of a table's items, unless values is 0; returns the number of items. */
int64_t
bdpbench_column(const struct meter *meter, int table, int member, int64_t *values)
{
	const struct list *list = table_of(meter, table);

	for (int64_t i = 0; values && i < list->count; i++)
		memcpy(values + i, list->items + (size_t)i * list->size + 8 * (size_t)member, 8);
	return list->count;
}
