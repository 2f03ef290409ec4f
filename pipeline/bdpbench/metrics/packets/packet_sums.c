/*
 * Rows of a packet trace -> the sums that row_by_row.py makes of them, some fifty times as fast.
 *
 * What is summed, and how packets are matched, is defined by row_by_row.py, which replaces this
 * file where no compiler is found. A row whose type of packet is not known yet is left to the caller, who tells
 * what it is.
 *
 * All members of a table are 8 bytes wide, so that any of them is a column of int64 or double.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPEN 2000000	/* packets under way, and in queues; row_by_row.py */
#define MOST_ARRIVED 1000000	/* packets that are known to have arrived; row_by_row.py */
#define MOST_OF_GROUPS 200000	/* packets to groups, and their arrivals at nodes; row_by_row.py */
#define MOST_CELLS 500000	/* of a table of bins whose width is not given; row_by_row.py */
#define MOST_BINS 500		/* of a series whose width is not given; row_by_row.py */
#define LONGEST_LANE 1024	/* packets of a lane */
#define SPARE 4096		/* items that a list in the order of time may hold in vain */
#define LATEST_TIME 1e12	/* s; rows.py */
#define BIN_ROUNDING 1e-7	/* of a bin; row_by_row.py */
#define FIRST_GROUP (1 << 30)	/* address; rows.py */
#define FIRST_HIERARCHICAL (1 << 11)	/* address; rows.py */
#define UNKNOWN (-(1 << 30) - 1)	/* a node, port or flow id; rows.py */
#define NONE INT64_MIN		/* a sequence number; rows.py */
#define NO_TYPE UINT32_MAX	/* the code of a frame without a packet */
#define TCP_HEADER_BYTES 40
#define SMOOTHING (1.0 / 16)	/* RFC 3550, section 6.4.1 */

/* The Arrow C data and stream interfaces, as their specification lays them out. */
struct ArrowSchema;

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

/* Columns of a batch, in the order in which the caller gives them; from HEADER_BYTES on optional. */
enum column {
	TIME, EVENT, FROM, TO, TYPE, BYTES, FLOW, SRC_NODE, SRC_PORT, DST_NODE, DST_PORT, SEQ, UID,
	HEADER_BYTES, SRC_HOST, DST_HOST, COARSE, LAYER, NODE, REASON, NEXT_HOP, HOPS, ENERGY, COLUMNS
};

enum event { ENTERS, LEAVES, ARRIVES, DROPPED, ERROR, SENT, FORWARDED, LOST, READING, OTHER };
enum type { UNKNOWN_TYPE, DATA, CONTROL, TCP, ACK };
enum layer { WIRED, AGENT, ROUTER };	/* others follow */
enum does { SENDS, RECEIVES, FORWARDS, DROPS, NOTHING };
enum taken { NO_MEMORY = -1, LEFT, TAKEN };

/* How much is summed: all, what happens at the ends of flows, or only what they receive; rows.py */
enum extent { ALL, ENDS, ONLY_RECEIVED };

#define ROUTING 8	/* a bit of the types of routing protocols */

struct row {
	double time_s, energy_j;
	int64_t seq, uid;
	int32_t from, to, bytes, flow, src_node, src_port, dst_node, dst_port, header_bytes;
	int32_t source, receiver, node, next_hop, hops, layer, reason;
	uint32_t type_code;
	enum event event;
	enum type type;
	int32_t stream, link;
	int is_routing, is_coarse;
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
	/* Codes of types, -1 for none; whether all packets are ACKs, whether any has data. */
	int64_t sent_type, arrived_type, dropped_type, seen_type;
	int64_t own, own_acks, own_data, seen_acks, seen_data, entered, by_bytes;
	double first_sent_s, first_retransmission_s, first_drop_s, delay_min_s, last_received_s;
	double longest_gap_s, last_delay_s, jitter_s, delay_step_sum_s;
	int64_t delay_steps;
	double slow_start_end_s, started_s;
	int64_t slow_start_pkts, slow_start_drops, route_changes, forgotten_losses;
	int64_t hop_pkts, hop_sum, hop_max;
	/* From here on nothing is a column. */
	int64_t lane, highest_sent, highest_arrived, acked;
	double last_sent_s;			/* with what slow start counted of that moment */
	int64_t pkts_then, drops_then;
	struct hole *holes;
	int64_t hole_count, hole_room;
	struct number *numbers;			/* ascending, from head on */
	int64_t head, number_count, number_room;
};

struct change {
	int64_t by;
};

struct link {
	int64_t from, to, reached, coarse, before, periods, busy_bytes;
	double busy_s;
	/* From here on nothing is a column. */
	int64_t key, length, has_last, last_bytes, follows, entered, moment;
	double last_s, changes_s;
	struct list changes;
};

struct entered { int64_t link, stream, pkts, bytes; double first_s; int64_t route; };
struct route { int64_t stream, node, next; };
struct cause { int64_t layer, reason; };
struct loss { int64_t node, cause, type_code, pkts, bytes; };
struct receiver { int64_t stream, node, pkts, bytes, delays; double sum_s, most_s; };
struct node { int64_t node, layer, type_code, counts[8]; };
struct level { int64_t node; double first_j, last_j, dead_s; };	/* dead_s: NAN while it lives */

/* Of those with one key the first to come is the first to go: the first has the place of the last,
   each that of the next. Those that were lost wait behind one another, too. */
struct waiting { int64_t key, next, last, open, lost; };
struct sending { struct waiting is; int64_t stream, payload; double sent_s; int64_t uid; };
struct queued { struct waiting is; int64_t bytes, change, moment; double entered_s; };

/* What waits, in the order of its coming, and the first of each key, also of the lost. */
struct crowd {
	struct list items;
	struct map firsts[2];
	int64_t open, oldest;
};

/* The packets under way between two ends, ascending by uid and from head on: most come in the order of
   their sending. Those that are overtaken wait in the crowd. */
struct lane {
	struct sending *items;
	int64_t head, count, room;
	int64_t highest;	/* uid so far */
	int64_t again;		/* whether a uid was not above all before it */
};

/* The last of some keys, with a number for each, and the place of each once one was asked for. */
struct memory {
	struct list items;
	struct map places;
	int64_t oldest, most;
	int is_indexed;
};

struct remembered { int64_t key; double value; };

struct meter {
	double start_s, last_s;
	struct list streams, lanes, links, entered, routes, causes, losses, receivers, nodes, levels;
	struct map stream_places, lane_places, link_places, entered_places, route_places, cause_places;
	struct map loss_places, receiver_places, node_places, level_places;
	struct crowd sendings, queued;
	struct memory arrived, sent_to_group, copies, unsent;
	struct bins bins[SERIES];
	int64_t routing_pkts, routing_bytes, has_routers, has_agents, forgotten;
	int holds;
	struct row held;	/* the last wired row, if it enters a queue: the next may leave it at once */
#define RECENT_ENTERED 64	/* a power of two */
	int32_t recent_entered[RECENT_ENTERED];	/* places of some, for a look before the map */
	enum extent extent;
};

/* Odd numbers that mix the parts of a key, as they are good for. */
static const uint64_t ODDS[] = {
	-0x61C8864680B583EBu, -0x40A7B892E31B1A47u, 0x14D049BB133111EBu,
	-0x2917014799A6026Du, 0x2545F4914F6CDD1Du
};

/* ---- lists and maps ---- */

static void *
add_item(struct list *list)
{
	if (list->count == list->room) {
		int64_t room = list->room ? 2 * list->room : 16;
		char *items = realloc(list->items, (size_t)room * list->size);

		if (!items)
			return 0;
		list->items = items;
		list->room = room;
	}
	return memset(list->items + (size_t)list->count++ * list->size, 0, list->size);
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

static int
resize(struct map *map, uint64_t room)
{
	struct map larger = { malloc(room * sizeof(uint64_t)), malloc(room * sizeof(int32_t)),
			      room - 1, 0 };

	if (!larger.keys || !larger.places) {
		free(larger.keys);
		free(larger.places);
		return 0;
	}
	memset(larger.places, 0xff, room * sizeof(int32_t));
	for (uint64_t i = 0; map->keys && i <= map->mask; i++)
		if (map->places[i] >= 0)
			insert(&larger, map->keys[i], map->places[i]);
	free(map->keys);
	free(map->places);
	*map = larger;
	return 1;
}

/* Returns 0 without memory. A map is at most half full. */
static int
put(struct map *map, uint64_t key, int64_t place)
{
	if (!map->keys && !resize(map, 64))
		return 0;
	if (2 * ((uint64_t)map->count + 1) > map->mask && !resize(map, 2 * (map->mask + 1)))
		return 0;
	insert(map, key, (int32_t)place);
	return 1;
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

/* The item of a key, made if there is none; *is_new tells. 0 without memory. */
static void *
item_of(struct list *list, struct map *places, uint64_t key, int *is_new)
{
	int32_t place = place_of(places, key);

	*is_new = place < 0;
	if (place >= 0)
		return list->items + (size_t)place * list->size;
	return put(places, key, list->count) ? add_item(list) : 0;
}

/* ---- what waits ---- */

static struct waiting *
waiting_at(const struct crowd *crowd, int64_t place)
{
	return (struct waiting *)(void *)(crowd->items.items + (size_t)place * crowd->items.size);
}

/* Puts the item at a place behind those of its key. */
static int
join(struct crowd *crowd, int64_t place)
{
	struct waiting *item = waiting_at(crowd, place), *first;
	struct map *firsts = &crowd->firsts[item->lost];
	int64_t at = place_of(firsts, (uint64_t)item->key);

	item->next = -1;
	item->last = place;
	if (at < 0)
		return put(firsts, (uint64_t)item->key, place);
	first = waiting_at(crowd, at);
	waiting_at(crowd, first->last)->next = place;
	first->last = place;
	return 1;
}

/* Takes the first of a key, which is at a place, out of them. */
static int
part(struct crowd *crowd, int64_t place)
{
	const struct waiting *item = waiting_at(crowd, place);
	struct map *firsts = &crowd->firsts[item->lost];

	if (item->next < 0) {
		take_out(firsts, (uint64_t)item->key);
		return 1;
	}
	waiting_at(crowd, item->next)->last = item->last;
	return put(firsts, (uint64_t)item->key, item->next);
}

/* A new item, in which only the rest has to be filled; 0 without memory. */
static void *
come(struct crowd *crowd, uint64_t key)
{
	struct waiting *item = add_item(&crowd->items);

	if (!item)
		return 0;
	item->key = (int64_t)key;
	item->open = 1;
	crowd->open++;
	return join(crowd, crowd->items.count - 1) ? item : 0;
}

static int
go(struct crowd *crowd, int64_t place)
{
	waiting_at(crowd, place)->open = 0;
	crowd->open--;
	return part(crowd, place);
}

/* The first of a key, of those that are not lost if there are any; -1 without one. */
static int64_t
first_of(const struct crowd *crowd, uint64_t key)
{
	int64_t place = place_of(&crowd->firsts[0], key);

	return place >= 0 ? place : place_of(&crowd->firsts[1], key);
}

/* Gives back the room of what has gone, where that is most of it. */
static int
tidy(struct crowd *crowd)
{
	int64_t kept = 0;
	size_t size = crowd->items.size;

	if (crowd->items.count <= 2 * crowd->open + SPARE)
		return 1;
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
		if (!join(crowd, kept++))
			return 0;
	}
	crowd->items.count = kept;
	return 1;
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

/* The item of a key; *failed is set without memory. */
static struct remembered *
recall(struct memory *memory, uint64_t key, int *failed)
{
	int32_t place;

	if (!memory->is_indexed) {
		for (int64_t i = 0; i < memory->items.count; i++) {
			uint64_t each = (uint64_t)ITEM(memory->items, struct remembered, i)->key;

			if (!put(&memory->places, each, i)) {
				*failed = 1;
				return 0;
			}
		}
		memory->is_indexed = 1;
	}
	place = place_of(&memory->places, key);
	return place < 0 ? 0 : ITEM(memory->items, struct remembered, place);
}

/* Remembers a key, and forgets the one that was remembered longest ago. */
static int
remember(struct memory *memory, uint64_t key, double value)
{
	struct remembered *item;
	int64_t place = memory->items.count;

	if (place < memory->most) {
		if (!(item = add_item(&memory->items)))
			return 0;
	} else {
		place = memory->oldest;
		item = ITEM(memory->items, struct remembered, place);
		memory->oldest = (place + 1) % memory->most;
		if (memory->is_indexed && place_of(&memory->places, (uint64_t)item->key) == place)
			take_out(&memory->places, (uint64_t)item->key);
	}
	*item = (struct remembered){ (int64_t)key, value };
	return !memory->is_indexed || put(&memory->places, key, place);
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
	int32_t place = place_of(&bins->places, key);
	struct cell *cell;

	if (place >= 0)
		return ITEM(bins->cells, struct cell, place);
	if (!put(&bins->places, key, bins->cells.count) || !(cell = add_item(&bins->cells)))
		return 0;
	cell->subject = subject;
	cell->bin = bin;
	cell->most = -INFINITY;
	return cell;
}

static void
merge_cell(struct cell *into, const struct cell *cell)
{
	for (int i = 0; i < 4; i++)
		into->counts[i] += cell->counts[i];
	into->sum += cell->sum;
	if (cell->most > into->most)
		into->most = cell->most;
}

/* Merges the bins to those of a larger width; returns 0 without memory. */
static int
widen(struct bins *bins, int64_t index)
{
	int64_t ratio = width_ms(index) / width_ms(bins->index);
	struct bins wide = { .cells.size = sizeof(struct cell), .index = index };

	wide.per_s = 1 / ((double)width_ms(index) / 1e3);
	wide.limit_s = (double)(MOST_BINS * width_ms(index)) / 1e3;
	for (int64_t i = 0; i < bins->cells.count; i++) {
		const struct cell *cell = ITEM(bins->cells, struct cell, i);
		struct cell *into = add_cell(&wide, cell->subject, cell->bin / ratio);

		if (!into)
			return 0;
		merge_cell(into, cell);
	}
	free(bins->cells.items);
	free(bins->places.keys);
	free(bins->places.places);
	*bins = wide;
	return 1;
}

/* Widens the bins until those up to a time are no more than a chart has room for. */
static int
widen_to(struct bins *bins, double time_s)
{
	int64_t index = bins->index;

	if (index < 0)
		return 1;
	while (time_s >= (double)(MOST_BINS * width_ms(index)) / 1e3)
		index++;
	return index == bins->index || widen(bins, index);
}

static struct cell *
find_cell(struct bins *bins, int64_t subject, double time_s)
{
	struct cell *cell;
	int64_t bin;

	if (bins->index >= 0) {
		if (time_s >= bins->limit_s && !widen_to(bins, time_s))
			return 0;
		while (bins->cells.count > MOST_CELLS)
			if (!widen(bins, bins->index + 1))
				return 0;
	}
	bin = (int64_t)(time_s * bins->per_s + BIN_ROUNDING);
	if (!(cell = add_cell(bins, subject, bin)))
		return 0;
	bins->recent[subject & (RECENT - 1)].subject = subject;
	bins->recent[subject & (RECENT - 1)].bin = bin;
	bins->recent[subject & (RECENT - 1)].place = cell - ITEM(bins->cells, struct cell, 0) + 1;
	return cell;
}

/* The cell of a subject at a time, which mostly is that of its last event; 0 without memory. */
static inline struct cell *
cell_at(struct bins *bins, int64_t subject, double time_s)
{
	int64_t at = subject & (RECENT - 1), place = bins->recent[at].place;

	if (place && bins->recent[at].subject == subject &&
	    bins->recent[at].bin == (int64_t)(time_s * bins->per_s + BIN_ROUNDING))
		return ITEM(bins->cells, struct cell, place - 1);
	return find_cell(bins, subject, time_s);
}

/* ---- streams and links ---- */

static uint64_t
mixed(int64_t one, int32_t two, int32_t three, int32_t four, int32_t five)
{
	return (uint64_t)one * ODDS[0] + (uint64_t)(int64_t)two * ODDS[1] +
	       (uint64_t)(int64_t)three * ODDS[2] + (uint64_t)(int64_t)four * ODDS[3] +
	       (uint64_t)(int64_t)five * ODDS[4];
}

static uint64_t
packet_key(const struct row *row)
{
	return mixed(row->uid, row->src_node, row->src_port, row->dst_node, row->dst_port);
}

static void
begin_stream(struct stream *stream)
{
	double *const unknown[] = {
		&stream->first_sent_s, &stream->first_retransmission_s, &stream->first_drop_s,
		&stream->delay_min_s, &stream->last_received_s, &stream->longest_gap_s,
		&stream->last_delay_s, &stream->slow_start_end_s, &stream->started_s,
		&stream->last_sent_s
	};
	int64_t *const none[] = {
		&stream->highest_sent, &stream->highest_arrived, &stream->acked
	};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		*unknown[i] = NAN;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		*none[i] = NONE;
	stream->sent_type = stream->arrived_type = stream->dropped_type = stream->seen_type = -1;
	stream->own_acks = stream->seen_acks = 1;
	stream->hop_max = NONE;
}

/* The place of the lane of a stream, whose flow id not all lines tell; -1 without memory. */
static int64_t
lane_between(struct meter *meter, const struct stream *stream)
{
	uint64_t key = mixed(0, (int32_t)stream->src_node, (int32_t)stream->src_port,
			     (int32_t)stream->dst_node, (int32_t)stream->dst_port);
	int is_new;
	struct lane *lane = item_of(&meter->lanes, &meter->lane_places, key, &is_new);

	if (!lane)
		return -1;
	if (is_new)
		lane->highest = INT64_MIN;
	return lane - ITEM(meter->lanes, struct lane, 0);
}

/* The stream of these ends; -1 without memory. */
static int32_t
stream_of(struct meter *meter, int32_t flow, int32_t src_node, int32_t src_port, int32_t dst_node,
	  int32_t dst_port)
{
	uint64_t key = mixed(flow, src_node, src_port, dst_node, dst_port);
	int is_new;
	struct stream *stream = item_of(&meter->streams, &meter->stream_places, key, &is_new);

	if (!stream)
		return -1;
	if (is_new) {
		stream->flow = flow;
		stream->src_node = src_node;
		stream->src_port = src_port;
		stream->dst_node = dst_node;
		stream->dst_port = dst_port;
		begin_stream(stream);
		if ((stream->lane = lane_between(meter, stream)) < 0)
			return -1;
	}
	return (int32_t)(stream - ITEM(meter->streams, struct stream, 0));
}

static int
find_link(struct meter *meter, struct row *row)
{
	uint64_t key = ((uint64_t)(int64_t)row->from << 32) +
		       (uint64_t)((int64_t)row->to + (INT64_C(1) << 31));
	int is_new;
	struct link *link = item_of(&meter->links, &meter->link_places, key, &is_new);

	if (!link)
		return 0;
	if (is_new) {
		link->key = (int64_t)key;
		link->from = row->from;
		link->to = row->to;
		link->changes.size = sizeof(struct change);
	}
	link->coarse |= row->is_coarse;
	row->link = (int32_t)(link - ITEM(meter->links, struct link, 0));
	return 1;
}

static struct stream *
own_stream(const struct meter *meter, const struct row *row)
{
	return ITEM(meter->streams, struct stream, row->stream);
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
	return row->seq >= 0 || row->type != CONTROL;
}

/* Notes who a stream is: from the lines of its ends, */
static void
note_own(struct stream *stream, const struct row *row, int64_t *type)
{
	if (*type < 0)
		*type = row->type_code;
	stream->own = 1;
	stream->own_acks &= row->type == ACK;
	stream->own_data |= is_data(row);
}

/* and, for a stream whose ends are not traced, from all. */
static void
note_seen(struct stream *stream, const struct row *row)
{
	if (stream->seen_type < 0)
		stream->seen_type = row->type_code;
	stream->seen_acks &= row->type == ACK;
	stream->seen_data |= is_data(row);
}

/* Bytes of the application: without TCP/IP's headers where the size includes them. */
static int64_t
payload_of(const struct row *row)
{
	int64_t payload = row->bytes;

	if (row->type == TCP || row->type == ACK) {
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
	int64_t low = stream->head, high = stream->number_count;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (stream->numbers[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Makes room for one more number; what has been acknowledged gives its room back. */
static int
room_for_number(struct stream *stream)
{
	int64_t left = stream->number_count - stream->head, room = stream->number_room;
	struct number *numbers;

	if (stream->number_count < room)
		return 1;
	if (stream->head > left) {
		memcpy(stream->numbers, stream->numbers + stream->head,
		       (size_t)left * sizeof(*numbers));
		stream->head = 0;
		stream->number_count = left;
		return 1;
	}
	room = room ? 2 * room : 16;
	numbers = realloc(stream->numbers, (size_t)room * sizeof(*numbers));
	if (!numbers)
		return 0;
	stream->numbers = numbers;
	stream->number_room = room;
	return 1;
}

static int
add_number(struct stream *stream, int64_t seq, double sent_s, int again)
{
	int64_t at;

	if (!room_for_number(stream))
		return 0;
	at = number_at(stream, seq);
	memmove(stream->numbers + at + 1, stream->numbers + at,
		(size_t)(stream->number_count - at) * sizeof(struct number));
	stream->numbers[at] = (struct number){ seq, again, sent_s };
	stream->number_count++;
	return 1;
}

static int
is_retransmission(const struct stream *stream, const struct row *row)
{
	return row->type != ACK && row->seq >= 0 && row->seq <= stream->highest_sent;
}

/* Whether a sending is one that an ACK may answer: data of TCP, with a number not acknowledged. */
static int
awaits_ack(const struct stream *stream, const struct row *row)
{
	return row->type == TCP && !stream->by_bytes && row->seq >= 0 && row->seq > stream->acked;
}

/* Remembers a sending until its ACK comes; one that was sent before gives no sample any more. */
static int
await_ack(struct stream *stream, const struct row *row, int again)
{
	int64_t at = number_at(stream, row->seq);

	if (at < stream->number_count && stream->numbers[at].seq == row->seq) {
		stream->numbers[at].again = 1;
		return 1;
	}
	return add_number(stream, row->seq, again ? NAN : row->time_s, again);
}

static int
add_sample(struct meter *meter, int32_t place, double time_s, double rtt_s)
{
	struct cell *cell;

	if (!is_counted(meter, time_s))
		return 1;
	if (!(cell = cell_at(&meter->bins[ROUND_TRIPS], place, time_s)))
		return 0;
	cell->counts[0]++;
	cell->sum += rtt_s;
	if (rtt_s > cell->most)
		cell->most = rtt_s;
	return 1;
}

/* An ACK: a sample, if it names the last number that it covers, and none of those was sent again. */
static int
acknowledge(struct meter *meter, const struct row *row)
{
	int32_t place = stream_of(meter, row->flow, row->dst_node, row->dst_port, row->src_node,
				  row->src_port);
	struct stream *data;
	double sent_s = NAN;
	int again = 0;

	if (place < 0)
		return 0;
	data = ITEM(meter->streams, struct stream, place);
	if (row->seq > (data->acked == NONE ? -1 : data->acked)) {
		while (data->head < data->number_count &&
		       data->numbers[data->head].seq <= row->seq) {
			const struct number *number = &data->numbers[data->head++];

			again |= number->again != 0;
			sent_s = number->seq == row->seq ? number->sent_s : NAN;
		}
	}
	if (row->seq > data->acked)
		data->acked = row->seq;
	return again || isnan(sent_s) ||
	       add_sample(meter, place, row->time_s, row->time_s - sent_s);
}

/* ---- holes in what has arrived ---- */

/* Index of the last hole that begins at seq or below, if seq lies in it; else -1. */
static int64_t
hole_of(const struct stream *stream, int64_t seq)
{
	int64_t low = 0, high = stream->hole_count;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (stream->holes[middle].first <= seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && seq <= stream->holes[low - 1].last ? low - 1 : -1;
}

static int
add_hole(struct stream *stream, int64_t at, int64_t first, int64_t last)
{
	if (stream->hole_count == stream->hole_room) {
		int64_t room = stream->hole_room ? 2 * stream->hole_room : 4;
		struct hole *holes = realloc(stream->holes, (size_t)room * sizeof(*holes));

		if (!holes)
			return 0;
		stream->holes = holes;
		stream->hole_room = room;
	}
	memmove(stream->holes + at + 1, stream->holes + at,
		(size_t)(stream->hole_count++ - at) * sizeof(struct hole));
	stream->holes[at] = (struct hole){ first, last };
	return 1;
}

static int
fill_hole(struct stream *stream, int64_t at, int64_t seq)
{
	struct hole *hole = &stream->holes[at];

	if (hole->first < seq && seq < hole->last) {
		int64_t last = hole->last;

		hole->last = seq - 1;
		return add_hole(stream, at + 1, seq + 1, last);
	}
	if (hole->first == hole->last)
		memmove(hole, hole + 1, (size_t)(--stream->hole_count - at) * sizeof(*hole));
	else if (hole->first == seq)
		hole->first++;
	else
		hole->last--;
	return 1;
}

/* Whether an arrival brings what its receiver has not had: 0 or 1, -1 without memory. */
static int
is_new(struct stream *stream, int64_t seq)
{
	int64_t before = stream->highest_arrived, hole;

	if (seq == NONE)
		return 1;
	if (before == NONE || seq > before) {
		stream->highest_arrived = seq;
		if (before != NONE && seq - 1 > before && !stream->by_bytes &&
		    !add_hole(stream, stream->hole_count, before + 1, seq - 1))
			return -1;
		return 1;
	}
	if ((hole = hole_of(stream, seq)) < 0)
		return seq < 0;
	return fill_hole(stream, hole, seq) ? 1 : -1;
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

static int
count_sending(struct meter *meter, struct stream *stream, const struct row *row, int again)
{
	struct cell *cell = cell_at(&meter->bins[SENT_BINS], row->stream, row->time_s);

	if (!cell)
		return 0;
	cell->counts[0]++;
	cell->counts[1] += row->bytes;
	if (isnan(stream->first_sent_s))
		stream->first_sent_s = row->time_s;
	if (again) {
		cell->counts[2]++;
		cell->counts[3] += row->bytes;
		if (isnan(stream->first_retransmission_s))
			stream->first_retransmission_s = row->time_s;
	}
	return 1;
}

/* Notes the highest number, and whether a stream's numbers advance by the payload: bytes. */
static void
note_highest(struct stream *stream, const struct row *row)
{
	int64_t before = stream->highest_sent;

	if (row->seq == NONE)
		return;
	if (before != NONE && row->type != ACK && row->seq - 1 > before && !stream->by_bytes &&
	    2 * (row->seq - before) >= payload_of(row)) {
		stream->by_bytes = 1;
		stream->head = stream->number_count = 0;
	}
	if (row->seq > before)
		stream->highest_sent = row->seq;
}

/* ---- packets under way ---- */

static struct lane *
lane_of(const struct meter *meter, const struct row *row)
{
	return ITEM(meter->lanes, struct lane, own_stream(meter, row)->lane);
}

/* The place of a packet in a lane, mostly its head; -1 without it. */
static int64_t
place_in_lane(const struct lane *lane, int64_t uid)
{
	int64_t low = lane->head, high = lane->count;

	if (low < high && lane->items[low].uid == uid)
		return low;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (lane->items[middle].uid < uid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lane->count && lane->items[low].uid == uid ? low : -1;
}

/* The head of a lane, which was overtaken, waits in the crowd. Of too many there, the one that has
   waited longest is forgotten. */
static int
leave_lane(struct meter *meter, struct lane *lane)
{
	struct crowd *crowd = &meter->sendings;
	struct sending *sending = add_item(&crowd->items);

	if (!sending)
		return 0;
	*sending = lane->items[lane->head++];
	crowd->open++;
	if (!join(crowd, crowd->items.count - 1))
		return 0;
	if (crowd->open > MOST_OPEN) {
		int64_t place = oldest_of(crowd);

		sending = ITEM(crowd->items, struct sending, place);
		meter->forgotten++;
		if (sending->is.lost && is_counted(meter, sending->sent_s))
			ITEM(meter->streams, struct stream, sending->stream)->forgotten_losses++;
		if (!go(crowd, place))
			return 0;
	}
	return tidy(crowd);
}

/* Makes room for one more packet in a lane. */
static int
room_in_lane(struct lane *lane)
{
	int64_t left = lane->count - lane->head, room = lane->room ? 2 * lane->room : 4;
	struct sending *items;

	if (lane->count < lane->room)
		return 1;
	if (lane->head > left) {
		memcpy(lane->items, lane->items + lane->head, (size_t)left * sizeof(*items));
		lane->head = 0;
		lane->count = left;
		return 1;
	}
	if (!(items = realloc(lane->items, (size_t)room * sizeof(*items))))
		return 0;
	lane->items = items;
	lane->room = room;
	return 1;
}

static int
begin_sending(struct meter *meter, const struct row *row)
{
	struct lane *lane = lane_of(meter, row);
	int64_t most = LONGEST_LANE;

	if (row->uid > lane->highest) {
		lane->highest = row->uid;
	} else {
		lane->again = 1;
		most = 0;	/* since it may not be above those in the lane */
	}
	while (lane->count - lane->head > 0 && lane->count - lane->head >= most)
		if (!leave_lane(meter, lane))
			return 0;
	if (!room_in_lane(lane))
		return 0;
	lane->items[lane->count++] = (struct sending){
		{ .key = (int64_t)packet_key(row), .open = 1 }, row->stream, payload_of(row),
		row->time_s, row->uid
	};
	return 1;
}

/*
 * The sending that a line is about: the first that is not lost, or else the first; 0 without one. Its
 * place is one in the lane, or in the crowd with all bits turned.
 */
static struct sending *
sending_of(struct meter *meter, const struct row *row, int64_t *place)
{
	const struct lane *lane = lane_of(meter, row);
	const struct crowd *crowd = &meter->sendings;
	int64_t own = place_in_lane(lane, row->uid), other;

	*place = own;
	if (own >= 0 && !lane->again)
		return &lane->items[own];
	if (crowd->open) {
		other = place_of(&crowd->firsts[0], packet_key(row));
		if (other < 0 && (own < 0 || lane->items[own].is.lost))
			other = place_of(&crowd->firsts[1], packet_key(row));
		if (other >= 0) {
			*place = ~other;
			return ITEM(crowd->items, struct sending, other);
		}
	}
	return own < 0 ? 0 : &lane->items[own];
}

/* Takes a packet, whose place sending_of() has told, off those under way. */
static int
take_off(struct meter *meter, const struct row *row, int64_t place)
{
	struct lane *lane = lane_of(meter, row);

	if (place < 0)
		return go(&meter->sendings, ~place) && tidy(&meter->sendings);
	while (lane->head < place)
		if (!leave_lane(meter, lane))
			return 0;
	if (++lane->head == lane->count)
		lane->head = lane->count = 0;
	return 1;
}

/* Notes that a packet, whose place sending_of() has told, was dropped. */
static int
lose(struct meter *meter, struct sending *sending, int64_t place)
{
	if (sending->is.lost)
		return 1;
	if (place >= 0) {
		sending->is.lost = 1;
		return 1;
	}
	if (!part(&meter->sendings, ~place))
		return 0;
	sending->is.lost = 1;
	return join(&meter->sendings, ~place);
}

/*
 * Whether a packet was sent at this very moment: a multicast source has a line at each link. Asked for is
 * its last sending that is lost, and its last that is not; one in the lane came after those in the crowd.
 */
static int
was_sent_now(const struct meter *meter, const struct row *row)
{
	const struct crowd *crowd = &meter->sendings;
	const struct lane *lane = lane_of(meter, row);
	int64_t own;

	if (row->uid > lane->highest)
		return 0;
	own = place_in_lane(lane, row->uid);
	for (int lost = 0; lost < 2; lost++) {
		const struct sending *last;
		int64_t first;

		if (own >= 0 && lane->items[own].is.lost == lost) {
			last = &lane->items[own];
		} else {
			first = place_of(&crowd->firsts[lost], packet_key(row));
			if (first < 0)
				continue;
			last = ITEM(crowd->items, struct sending, waiting_at(crowd, first)->last);
		}
		if (last->sent_s == row->time_s)
			return 1;
	}
	return 0;
}

static int
remember_sent_to_group(struct meter *meter, const struct row *row)
{
	int failed = 0;

	if (recall(&meter->sent_to_group, packet_key(row), &failed) || failed)
		return !failed;
	return remember(&meter->sent_to_group, packet_key(row), row->time_s);
}

/* A packet leaves its source. */
static int
send(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int again = is_retransmission(stream, row);

	if (was_sent_now(meter, row))
		return 1;
	note_own(stream, row, &stream->sent_type);
	if (meter->extent == ONLY_RECEIVED) {
		if (isnan(stream->started_s))
			stream->started_s = row->time_s;
		return begin_sending(meter, row);
	}
	note_highest(stream, row);
	count_slow_start(stream, row, again);
	if (awaits_ack(stream, row) && !await_ack(stream, row, again))
		return 0;
	if (is_counted(meter, row->time_s) && !count_sending(meter, stream, row, again))
		return 0;
	if (goes_to_group(row) && !remember_sent_to_group(meter, row))
		return 0;
	return begin_sending(meter, row);
}

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
note_arrival(struct stream *stream, double time_s)
{
	double gap_s = time_s - stream->last_received_s;	/* NAN for the first */

	if (!isnan(gap_s) && !(gap_s <= stream->longest_gap_s))
		stream->longest_gap_s = gap_s;
	if (!(time_s <= stream->last_received_s))
		stream->last_received_s = time_s;
}

static int
count_arrival(struct meter *meter, const struct row *row, int64_t good_bytes, double delay_s)
{
	struct stream *stream = own_stream(meter, row);
	struct cell *cell;

	if (!is_counted(meter, row->time_s))
		return 1;
	if (!(cell = cell_at(&meter->bins[RECEIVED], row->stream, row->time_s)))
		return 0;
	cell->counts[0]++;
	cell->counts[1] += row->bytes;
	cell->counts[2] += good_bytes;
	note_arrival(stream, row->time_s);
	if (isnan(delay_s))
		return 1;
	cell->counts[3]++;
	cell->sum += delay_s;
	if (delay_s > cell->most)
		cell->most = delay_s;
	note_delay(stream, delay_s);
	return 1;
}

/* Ends a sending that has arrived; counts it where it was sent. */
static int
end_sending(struct meter *meter, const struct row *row, double sent_s, int64_t place)
{
	struct cell *cell;

	if (meter->extent != ONLY_RECEIVED && is_counted(meter, sent_s)) {
		if (!(cell = cell_at(&meter->bins[DELIVERED], row->stream, sent_s)))
			return 0;
		cell->counts[0]++;
	}
	return take_off(meter, row, place) &&
	       remember(&meter->arrived, packet_key(row), sent_s);
}

/* Whether a packet to a group, whose sending is not traced, came to another node before. */
static int
is_copy(struct meter *meter, const struct row *row, int *failed)
{
	if (!goes_to_group(row))
		return 0;
	if (recall(&meter->unsent, packet_key(row), failed))
		return 1;
	*failed |= !remember(&meter->unsent, packet_key(row), row->time_s);
	return 0;
}

/* A packet comes to its receiver; what comes again is a duplicate that the network made. */
static int
arrive(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int64_t place, payload = payload_of(row);
	const struct sending *sending = sending_of(meter, row, &place);
	double delay_s = NAN;
	int failed = 0, new;

	note_own(stream, row, &stream->arrived_type);
	if (!sending) {
		if (recall(&meter->arrived, packet_key(row), &failed) || is_copy(meter, row, &failed) ||
		    failed)
			return !failed;
	} else {
		delay_s = row->time_s - sending->sent_s;
		if (sending->payload < payload)
			payload = sending->payload;
		if (!end_sending(meter, row, sending->sent_s, place))
			return 0;
	}
	if (meter->extent == ONLY_RECEIVED)
		return count_arrival(meter, row, 0, NAN);
	if ((new = is_new(stream, row->seq)) < 0)
		return 0;
	return count_arrival(meter, row, new ? payload : 0, delay_s) &&
	       (row->type != ACK || acknowledge(meter, row));
}

static int
count_loss(struct meter *meter, const struct row *row)
{
	int wired = row->layer == WIRED, is_new;
	struct cause what = { row->layer, wired ? row->event == ERROR : row->reason };
	uint64_t key = mixed(what.layer, (int32_t)what.reason, 0, 0, 0);
	struct cause *cause = item_of(&meter->causes, &meter->cause_places, key, &is_new);
	int32_t number, node = wired ? row->from : row->node;
	struct cell *cell;
	struct loss *loss;

	if (!cause)
		return 0;
	*cause = what;
	number = (int32_t)(cause - ITEM(meter->causes, struct cause, 0));
	if (!(cell = cell_at(&meter->bins[CAUSES], number, row->time_s)))
		return 0;
	cell->counts[0]++;
	key = mixed(node, number, (int32_t)row->type_code, 0, 0);
	if (!(loss = item_of(&meter->losses, &meter->loss_places, key, &is_new)))
		return 0;
	loss->node = node;
	loss->cause = number;
	loss->type_code = row->type_code;
	loss->pkts++;
	loss->bytes += row->bytes;
	return 1;
}

static int
add_to_cell(struct meter *meter, enum series series, int64_t subject, const struct row *row)
{
	struct cell *cell = cell_at(&meter->bins[series], subject, row->time_s);

	if (!cell)
		return 0;
	cell->counts[0]++;
	cell->counts[1] += row->bytes;
	return 1;
}

/* Notes that a packet, under way or arrived, was dropped somewhere. */
static int
mark_dropped(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int64_t place;
	struct sending *sending = sending_of(meter, row, &place);
	double sent_s = NAN;
	int failed = 0;

	if (sending) {
		sent_s = sending->sent_s;
		failed = !lose(meter, sending, place);
	} else {
		const struct remembered *arrival = recall(&meter->arrived, packet_key(row), &failed);

		if (arrival)
			sent_s = arrival->value;
	}
	if (!isnan(sent_s) &&
	    (isnan(stream->slow_start_end_s) || sent_s < stream->slow_start_end_s)) {
		stream->slow_start_drops++;
		stream->drops_then += sent_s == stream->last_sent_s;
	}
	if (failed || !is_counted(meter, row->time_s))
		return !failed;
	if (isnan(stream->first_drop_s))
		stream->first_drop_s = row->time_s;
	return add_to_cell(meter, LOST_ON_WAY, row->stream, row);
}

/* A drop, which need not be the end of a packet: LANs and wireless nodes drop copies. */
static int
drop(struct meter *meter, const struct row *row)
{
	if (row->src_node != UNKNOWN) {
		struct stream *stream = own_stream(meter, row);

		note_own(stream, row, &stream->dropped_type);
		if (meter->extent != ONLY_RECEIVED && !mark_dropped(meter, row))
			return 0;
	}
	if (meter->extent == ONLY_RECEIVED || !is_counted(meter, row->time_s))
		return 1;
	if (row->layer == WIRED && !add_to_cell(meter, LOST_ON_LINK, row->link, row))
		return 0;
	return count_loss(meter, row);
}

/* A packet to a group has come to a node, which counts it once. */
static int
come_to_node(struct meter *meter, const struct row *row, int32_t node)
{
	uint64_t key = packet_key(row) * ODDS[2] + (uint64_t)(int64_t)node;
	const struct remembered *sending;
	struct receiver *receiver;
	int failed = 0, is_new;

	if (meter->extent == ONLY_RECEIVED || recall(&meter->copies, key, &failed) || failed)
		return !failed;
	if (!remember(&meter->copies, key, 0))
		return 0;
	if (!is_counted(meter, row->time_s))
		return 1;
	key = (uint64_t)(uint32_t)row->stream << 32 | (uint32_t)node;
	receiver = item_of(&meter->receivers, &meter->receiver_places, key, &is_new);
	if (!receiver)
		return 0;
	if (is_new)
		*receiver = (struct receiver){ row->stream, node, 0, 0, 0, 0, -INFINITY };
	receiver->pkts++;
	receiver->bytes += row->bytes;
	if ((sending = recall(&meter->sent_to_group, packet_key(row), &failed))) {
		double delay_s = row->time_s - sending->value;

		receiver->delays++;
		receiver->sum_s += delay_s;
		if (delay_s > receiver->most_s)
			receiver->most_s = delay_s;
	}
	return !failed;
}

/* ---- events of links ---- */

/* Applies the changes of a queue's length of one moment, in their order. */
static int
apply_changes(struct meter *meter, int64_t place)
{
	struct link *link = ITEM(meter->links, struct link, place);
	struct cell *cell = 0;
	int counted = is_counted(meter, link->changes_s);

	for (int64_t i = 0; i < link->changes.count; i++) {
		int64_t by = ITEM(link->changes, struct change, i)->by;

		if (by == 0)
			continue;
		link->length += by;
		if (!counted) {
			link->before += by;
			continue;
		}
		if (!cell && !(cell = cell_at(&meter->bins[LENGTHS], place, link->changes_s)))
			return 0;
		cell->counts[0] += by;
		cell->sum += (double)by * link->changes_s;
		if ((double)link->length > cell->most)
			cell->most = (double)link->length;
	}
	link->changes.count = 0;
	link->moment++;
	return 1;
}

/* Notes a change of a queue's length; what happens at one moment may take it back. */
static int
change_length(struct meter *meter, int64_t place, double time_s, int by)
{
	struct link *link = ITEM(meter->links, struct link, place);
	struct change *change;

	if (time_s != link->changes_s && !apply_changes(meter, place))
		return 0;
	link->changes_s = time_s;
	if (!(change = add_item(&link->changes)))
		return 0;
	change->by = by;
	return 1;
}

static uint64_t
queue_key(const struct meter *meter, const struct row *row)
{
	return (uint64_t)row->uid * ODDS[4] +
	       (uint64_t)ITEM(meter->links, struct link, row->link)->key;
}

/* A packet has to wait. */
static int
enter_queue(struct meter *meter, const struct row *row)
{
	struct crowd *crowd = &meter->queued;
	struct queued *queued = come(crowd, queue_key(meter, row));

	if (!queued || !change_length(meter, row->link, row->time_s, 1))
		return 0;
	queued->bytes = row->bytes;
	queued->change = ITEM(meter->links, struct link, row->link)->changes.count - 1;
	queued->moment = ITEM(meter->links, struct link, row->link)->moment;
	queued->entered_s = row->time_s;
	if (crowd->open > MOST_OPEN && !go(crowd, oldest_of(crowd)))
		return 0;
	return tidy(crowd);
}

static int
count_departure(struct meter *meter, const struct row *row, int64_t bytes)
{
	struct cell *cell;

	if (!is_counted(meter, row->time_s))
		return 1;
	if (!(cell = cell_at(&meter->bins[DEPARTED], row->link, row->time_s)))
		return 0;
	cell->counts[0]++;
	cell->counts[1] += bytes;
	return 1;
}

/* A capacity shows where a packet had waited while the one before it left. */
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
static int
depart(struct meter *meter, const struct row *row, int64_t bytes, double wait_s)
{
	struct cell *cell;

	note_busy(ITEM(meter->links, struct link, row->link), row->time_s, bytes, wait_s);
	if (!count_departure(meter, row, bytes))
		return 0;
	if (!is_counted(meter, row->time_s))
		return 1;
	if (!(cell = cell_at(&meter->bins[WAITED], row->link, row->time_s)))
		return 0;
	if (!isnan(wait_s)) {
		cell->counts[0] += wait_s > 0;
		cell->sum += wait_s;
		if (wait_s > cell->most)
			cell->most = wait_s;
	}
	return 1;
}

/* A packet leaves a queue or is dropped; of one uid, the first to enter is the first to leave. */
static int
leave_queue(struct meter *meter, const struct row *row)
{
	int64_t place = first_of(&meter->queued, queue_key(meter, row));
	struct link *link = ITEM(meter->links, struct link, row->link);
	struct queued queued;

	if (place < 0)
		return row->event != LEAVES || depart(meter, row, row->bytes, NAN);
	queued = *ITEM(meter->queued.items, struct queued, place);
	if (!go(&meter->queued, place) || !tidy(&meter->queued))
		return 0;
	if (queued.moment == link->moment && link->changes_s == row->time_s)
		ITEM(link->changes, struct change, queued.change)->by = 0;	/* it never was in it */
	else if (!change_length(meter, row->link, row->time_s, -1))
		return 0;
	return row->event != LEAVES ||
	       depart(meter, row, queued.bytes, row->time_s - queued.entered_s);
}

/* Where a node sends the packets of a stream: another next node is a change of the route. */
static struct route *
route_of(struct meter *meter, const struct row *row, int32_t node, int64_t next)
{
	uint64_t key = (uint64_t)(uint32_t)row->stream << 32 | (uint32_t)node;
	int is_new;
	struct route *route = item_of(&meter->routes, &meter->route_places, key, &is_new);

	if (route && is_new)
		*route = (struct route){ row->stream, node, next };
	return route;
}

static void
note_next(struct meter *meter, const struct row *row, struct route *route, int64_t next)
{
	if (route->next == next)
		return;
	route->next = next;
	own_stream(meter, row)->route_changes += is_counted(meter, row->time_s);
}

static int
count_entry(struct meter *meter, const struct row *row)
{
	uint64_t key = (uint64_t)(uint32_t)row->link << 32 | (uint32_t)row->stream;
	int32_t *recent = &meter->recent_entered[(row->link * 8 + row->stream) & (RECENT_ENTERED - 1)];
	struct entered *entered = ITEM(meter->entered, struct entered, *recent);
	int is_new = 0;

	if (!meter->entered.count || entered->link != row->link || entered->stream != row->stream)
		entered = item_of(&meter->entered, &meter->entered_places, key, &is_new);
	if (!entered)
		return 0;
	*recent = (int32_t)(entered - ITEM(meter->entered, struct entered, 0));
	if (is_new) {
		struct route *route = route_of(meter, row, row->from, row->to);

		if (!route)
			return 0;
		*entered = (struct entered){
			row->link, row->stream, 0, 0, row->time_s,
			route - ITEM(meter->routes, struct route, 0)
		};
		own_stream(meter, row)->entered = 1;
		ITEM(meter->links, struct link, row->link)->entered = 1;
	}
	entered->pkts++;
	entered->bytes += row->bytes;
	note_next(meter, row, ITEM(meter->routes, struct route, entered->route), row->to);
	return 1;
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
static int
note_energy(struct meter *meter, const struct row *row)
{
	uint64_t key = (uint64_t)(int64_t)row->node;
	int is_new;
	struct level *level;
	struct cell *cell;

	if (meter->extent == ONLY_RECEIVED || !(row->energy_j >= 0) || !is_counted(meter, row->time_s))
		return 1;
	if (!(level = item_of(&meter->levels, &meter->level_places, key, &is_new)) ||
	    !(cell = cell_at(&meter->bins[LEVELS], row->node, row->time_s)))
		return 0;
	if (is_new)
		*level = (struct level){ row->node, row->energy_j, 0, NAN };
	level->last_j = row->energy_j;
	if (row->energy_j == 0 && isnan(level->dead_s))
		level->dead_s = row->time_s;
	if (-row->energy_j > cell->most)
		cell->most = -row->energy_j;
	return 1;
}

static int
count_at_node(struct meter *meter, const struct row *row)
{
	uint64_t key = ((uint64_t)row->type_code * ODDS[2] + (uint32_t)row->layer) * ODDS[3] +
		       (uint32_t)row->node;
	enum does what = does(row);
	int is_new;
	struct node *node = item_of(&meter->nodes, &meter->node_places, key, &is_new);

	if (!node)
		return 0;
	node->node = row->node;
	node->layer = row->layer;
	node->type_code = row->type_code;
	if (what != NOTHING) {
		node->counts[2 * what]++;
		node->counts[2 * what + 1] += row->bytes;
	}
	meter->has_routers |= row->layer == ROUTER;
	if (row->layer == ROUTER && row->is_routing && (what == SENDS || what == FORWARDS)) {
		meter->routing_pkts++;
		meter->routing_bytes += row->bytes;
	}
	return 1;
}

static int
come_to_agent(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);

	if (row->hops != UNKNOWN && is_counted(meter, row->time_s)) {
		stream->hop_pkts++;
		stream->hop_sum += row->hops;
		if (row->hops > stream->hop_max)
			stream->hop_max = row->hops;
	}
	return arrive(meter, row) &&
	       (!goes_to_group(row) || come_to_node(meter, row, row->node));
}

/* A router sends a packet to a next node; on links, the next node is that of the + line. */
static int
pass_on(struct meter *meter, const struct row *row)
{
	int64_t next = (int64_t)row->next_hop + (INT64_C(1) << 40);
	struct route *route = route_of(meter, row, row->node, next);

	if (route)
		note_next(meter, row, route, next);
	return route != 0;
}

static int
take_wireless(struct meter *meter, struct row *row)
{
	enum does what = does(row);
	int at_agent = row->layer == AGENT;

	meter->has_agents |= at_agent;
	if (meter->extent != ONLY_RECEIVED && is_counted(meter, row->time_s) &&
	    !count_at_node(meter, row))
		return 0;
	if (!note_energy(meter, row))
		return 0;
	if ((row->stream = stream_of(meter, row->flow, row->src_node, row->src_port,
				     row->dst_node, row->dst_port)) < 0)
		return 0;
	if (at_agent && what == SENDS)
		return send(meter, row);
	if (at_agent && what == RECEIVES)
		return come_to_agent(meter, row);
	if (what == DROPS)
		return drop(meter, row);
	if (row->layer == ROUTER && (what == SENDS || what == FORWARDS) && !goes_to_group(row) &&
	    row->next_hop >= 0)
		return pass_on(meter, row);
	return 1;
}

/* ---- rows ---- */

/* Settles the row before, which entered a queue: the packet left at once, or waits. */
static enum taken
settle_held(struct meter *meter, const struct row *next)
{
	const struct row *held = &meter->held;

	if (!meter->holds)
		return LEFT;
	meter->holds = 0;
	if (next && next->event == LEAVES && next->uid == held->uid && next->link == held->link &&
	    next->time_s == held->time_s)
		return count_departure(meter, held, held->bytes) ? TAKEN : NO_MEMORY;
	return enter_queue(meter, held) ? LEFT : NO_MEMORY;
}

/* Whether an entry tells nothing more where it counts only that there was one. */
static int
is_known_to_enter(const struct meter *meter, const struct row *row)
{
	return meter->extent == ONLY_RECEIVED && own_stream(meter, row)->entered &&
	       ITEM(meter->links, struct link, row->link)->entered;
}

static int
take_event(struct meter *meter, const struct row *row)
{
	switch (row->event) {
	case ENTERS:
		if ((is_counted(meter, row->time_s) && !is_known_to_enter(meter, row) &&
		     !count_entry(meter, row)) ||
		    (row->from == row->source && !send(meter, row)))
			return 0;
		if (meter->extent != ALL)
			return 1;
		meter->held = *row;
		meter->holds = 1;
		return 1;
	case DROPPED:
	case ERROR:
		return drop(meter, row) && (meter->extent != ALL || leave_queue(meter, row));
	case LEAVES:
		return leave_queue(meter, row);
	case ARRIVES:
		ITEM(meter->links, struct link, row->link)->reached = 1;
		return (row->to != row->receiver || arrive(meter, row)) &&
		       (!goes_to_group(row) || come_to_node(meter, row, row->to));
	default:
		return 1;
	}
}

static enum taken
take_wired(struct meter *meter, struct row *row)
{
	enum taken taken;

	row->stream = stream_of(meter, row->flow, row->src_node, row->src_port, row->dst_node,
				row->dst_port);
	if (row->stream < 0 || !find_link(meter, row))
		return NO_MEMORY;
	note_seen(own_stream(meter, row), row);
	taken = settle_held(meter, row);
	return taken != LEFT ? taken : take_event(meter, row) ? TAKEN : NO_MEMORY;
}

static enum taken
take(struct meter *meter, struct row *row)
{
	if (row->type == UNKNOWN_TYPE || !(fabs(row->time_s) <= LATEST_TIME))
		return LEFT;
	if (row->time_s > meter->last_s)
		meter->last_s = row->time_s;
	if (row->event == READING)
		return note_energy(meter, row) ? TAKEN : NO_MEMORY;
	if (row->layer == WIRED)
		return take_wired(meter, row);
	return take_wireless(meter, row) ? TAKEN : NO_MEMORY;
}

/* Where the columns of a batch lie, and what its codes mean. */
struct batch {
	const void *columns[COLUMNS];	/* 0 for one that the batch does not have */
	int64_t offsets[COLUMNS];
	const int32_t *children;
	const uint8_t *event_of, *type_of;
	int64_t types;
};

/* Rows as a parser leaves them: words are numbers of two bytes, which codes are given for. */
struct packed {
	int64_t rows;
	const void *columns[COLUMNS];	/* 0 for one that no row has */
	const uint32_t *type_codes;
	const int32_t *reason_codes;
	double end_s;			/* rows from here on do not count */
};

/* What packed rows are like, of those that count. */
struct look {
	double first_s, last_s;		/* NAN without a row */
	int64_t has_ended;		/* whether any is at the end or later */
	int64_t has_gaps;		/* whether any has no flow id, or no ends */
	int64_t lacks_flow;		/* whether any has ends, and no flow id */
	int64_t has_flow;
	int64_t top_source;		/* largest source, or -1 */
};

#define VALUE(batch, column, type, row) \
	(((const type *)(batch)->columns[column])[(batch)->offsets[column] + (row)])
#define OPTIONAL(batch, column, type, row, absent) \
	((batch)->columns[column] ? VALUE(batch, column, type, row) : (absent))

static void
load_row(const struct batch *batch, int64_t at, struct row *row)
{
	uint8_t type;

	row->time_s = VALUE(batch, TIME, double, at);
	row->event = (enum event)batch->event_of[VALUE(batch, EVENT, uint8_t, at)];
	row->from = VALUE(batch, FROM, int32_t, at);
	row->to = VALUE(batch, TO, int32_t, at);
	row->type_code = VALUE(batch, TYPE, uint32_t, at);
	type = row->type_code == NO_TYPE ? DATA :
	       row->type_code < batch->types ? batch->type_of[row->type_code] : UNKNOWN_TYPE;
	row->type = (enum type)(type & (ROUTING - 1));
	row->is_routing = type & ROUTING;
	row->bytes = VALUE(batch, BYTES, int32_t, at);
	row->flow = VALUE(batch, FLOW, int32_t, at);
	row->src_node = VALUE(batch, SRC_NODE, int32_t, at);
	row->src_port = VALUE(batch, SRC_PORT, int32_t, at);
	row->dst_node = VALUE(batch, DST_NODE, int32_t, at);
	row->dst_port = VALUE(batch, DST_PORT, int32_t, at);
	row->seq = VALUE(batch, SEQ, int64_t, at);
	row->uid = VALUE(batch, UID, int64_t, at);
	row->header_bytes = OPTIONAL(batch, HEADER_BYTES, int32_t, at, 0);
	row->source = OPTIONAL(batch, SRC_HOST, int32_t, at, row->src_node);
	row->receiver = OPTIONAL(batch, DST_HOST, int32_t, at, row->dst_node);
	row->is_coarse = OPTIONAL(batch, COARSE, uint8_t, at, 0);
	row->layer = OPTIONAL(batch, LAYER, uint8_t, at, WIRED);
	if (row->layer == WIRED && row->event != READING)
		return;
	row->node = OPTIONAL(batch, NODE, int32_t, at, UNKNOWN);
	row->reason = OPTIONAL(batch, REASON, int32_t, at, UNKNOWN);
	row->next_hop = OPTIONAL(batch, NEXT_HOP, int32_t, at, UNKNOWN);
	row->hops = OPTIONAL(batch, HOPS, int32_t, at, UNKNOWN);
	row->energy_j = OPTIONAL(batch, ENERGY, double, at, -1);
}

#define PACKED(type, column, absent) \
	(packed->columns[column] ? ((const type *)packed->columns[column])[at] : (absent))

static inline void
load_packed_row(const struct packed *packed, const uint8_t *event_of, const uint8_t *type_of,
		int64_t at, struct row *row)
{
	uint8_t type;

	row->time_s = PACKED(double, TIME, 0);
	row->event = (enum event)event_of[PACKED(uint8_t, EVENT, 0)];
	row->from = row->to = UNKNOWN;
	row->type_code = packed->type_codes[PACKED(uint16_t, TYPE, 0)];
	type = row->type_code == NO_TYPE ? DATA : type_of[row->type_code];
	row->type = (enum type)(type & (ROUTING - 1));
	row->is_routing = type & ROUTING;
	row->bytes = PACKED(int32_t, BYTES, 0);
	row->flow = PACKED(int32_t, FLOW, UNKNOWN);
	row->src_node = row->source = PACKED(int32_t, SRC_NODE, UNKNOWN);
	row->src_port = PACKED(int32_t, SRC_PORT, UNKNOWN);
	row->dst_node = row->receiver = PACKED(int32_t, DST_NODE, UNKNOWN);
	row->dst_port = PACKED(int32_t, DST_PORT, UNKNOWN);
	row->seq = PACKED(int64_t, SEQ, NONE);
	row->uid = PACKED(int64_t, UID, -1);
	row->header_bytes = row->is_coarse = 0;
	row->layer = PACKED(uint8_t, LAYER, WIRED);
	if (row->layer == WIRED && row->event != READING)
		return;
	row->node = PACKED(int32_t, NODE, UNKNOWN);
	row->reason = packed->reason_codes[PACKED(uint16_t, REASON, 0)];
	row->next_hop = PACKED(int32_t, NEXT_HOP, UNKNOWN);
	row->hops = PACKED(int32_t, HOPS, UNKNOWN);
	row->energy_j = PACKED(double, ENERGY, -1);
}

/* ---- lines that a parser tells ---- */

/* A link and a packet as wired_lines.c tells them; notes are -1 where none has been left. */
struct told_link { int32_t from, to, note; };

struct told_packet {
	int64_t seq, uid;
	int32_t bytes, flow, src_node, src_port, dst_node, dst_port, header_bytes, type, note;
};

#define MOST_WORDS 256	/* wired_lines.c */

/* What takes them: the codes of their words, the end of the window, and the times before it. */
struct tap {
	struct meter *meter;
	const uint8_t *event_of, *type_of;
	int64_t types;			/* words that are known */
	double end_s, first_s, last_s;	/* NAN without a row */
	int64_t has_ended;
	uint32_t type_codes[MOST_WORDS];
	struct row row;
	const struct told_packet *packet;	/* whose row it is */
};

static void
load_told(struct tap *tap, const struct told_packet *packet)
{
	struct row *row = &tap->row;
	uint8_t type;

	row->type_code = tap->type_codes[packet->type];
	type = tap->type_of[row->type_code];
	row->type = (enum type)(type & (ROUTING - 1));
	row->is_routing = type & ROUTING;
	row->bytes = packet->bytes;
	row->flow = packet->flow;
	row->src_node = row->source = packet->src_node;
	row->src_port = packet->src_port;
	row->dst_node = row->receiver = packet->dst_node;
	row->dst_port = packet->dst_port;
	row->seq = packet->seq;		/* of 18 digits at most */
	row->uid = packet->uid;
	row->header_bytes = packet->header_bytes;
	row->stream = packet->note;
	tap->packet = packet;
}

/* A packet that has not been seen, or not for long, and its stream. */
static int
meet_packet(struct tap *tap, struct told_packet *packet)
{
	struct row *row = &tap->row;

	load_told(tap, packet);
	packet->note = stream_of(tap->meter, row->flow, row->src_node, row->src_port, row->dst_node,
				 row->dst_port);
	if (packet->note < 0)
		return 0;
	row->stream = packet->note;
	note_seen(own_stream(tap->meter, row), row);
	return 1;
}

/* An address of several levels, whose node has to be found out. */
static int
is_hierarchical(int32_t address)
{
	return address >= FIRST_HIERARCHICAL && address < FIRST_GROUP;
}

/* Whether a line is of no use where only the ends of flows are: its packet is on the way. */
static int
is_on_the_way(const struct meter *meter, enum event event, const struct told_link *link,
	      const struct told_packet *packet)
{
	if (packet->note < 0 || link->note < 0 || packet->dst_node < 0 ||
	    packet->dst_node >= FIRST_GROUP)
		return 0;
	if (event == ENTERS)
		return meter->extent == ONLY_RECEIVED && link->from != packet->src_node &&
		       ITEM(meter->streams, struct stream, packet->note)->entered &&
		       ITEM(meter->links, struct link, link->note)->entered;
	return event == LEAVES || (event == ARRIVES && link->to != packet->dst_node);
}

/*
 * Takes a line of a wired trace, in order; leaves it where the type of its packet is not known, or where
 * nodes have other numbers than in addresses.
 */
enum taken
bdpbench_take_line(struct tap *tap, double time_s, int event, struct told_link *link,
		   struct told_packet *packet)
{
	struct row *row = &tap->row;
	enum taken taken;

	if (packet->type >= tap->types || is_hierarchical(packet->src_node) ||
	    is_hierarchical(packet->dst_node))
		return LEFT;
	if (!(time_s < tap->end_s)) {
		tap->has_ended = 1;
		return TAKEN;
	}
	if (isnan(tap->first_s))
		tap->first_s = time_s;
	tap->last_s = time_s;
	if (time_s > tap->meter->last_s)
		tap->meter->last_s = time_s;
	if (tap->meter->extent != ALL &&
	    is_on_the_way(tap->meter, (enum event)tap->event_of[event], link, packet))
		return TAKEN;
	if (packet->note < 0) {
		if (!meet_packet(tap, packet))
			return NO_MEMORY;
	} else if (packet != tap->packet)
		load_told(tap, packet);
	row->time_s = time_s;
	row->event = (enum event)tap->event_of[event];
	row->from = link->from;
	row->to = link->to;
	row->link = link->note;
	if (link->note < 0) {
		if (!find_link(tap->meter, row))
			return NO_MEMORY;
		link->note = row->link;
	}
	taken = settle_held(tap->meter, row);
	return taken != LEFT ? taken : take_event(tap->meter, row) ? TAKEN : NO_MEMORY;
}

/* A tap of a meter; without memory 0. Codes of types are given before a line has them. */
struct tap *
bdpbench_new_tap(struct meter *meter, double end_s, const uint8_t *event_of)
{
	struct tap *tap = calloc(1, sizeof(*tap));

	if (!tap)
		return 0;
	tap->meter = meter;
	tap->end_s = end_s;
	tap->event_of = event_of;
	tap->first_s = tap->last_s = NAN;
	return tap;
}

void
bdpbench_free_tap(struct tap *tap)
{
	free(tap);
}

static enum taken
take_array(struct meter *meter, const struct ArrowArray *array, struct batch *batch,
	   int64_t *taken)
{
	struct row row = { .stream = -1, .link = -1 };

	for (int i = 0; i < COLUMNS; i++) {
		const struct ArrowArray *child;

		batch->columns[i] = 0;
		if (batch->children[i] < 0)
			continue;
		child = array->children[batch->children[i]];
		batch->columns[i] = child->buffers[1];
		batch->offsets[i] = array->offset + child->offset;
	}
	for (int64_t at = 0; at < array->length; at++) {
		enum taken each;

		load_row(batch, at, &row);
		if ((each = take(meter, &row)) != TAKEN)
			return each;
		++*taken;
	}
	return TAKEN;
}

/* ---- what the caller sees ---- */

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

static void
free_lists(struct meter *meter)
{
	struct list *const lists[] = {
		&meter->streams, &meter->lanes, &meter->links, &meter->entered, &meter->routes, &meter->causes,
		&meter->losses, &meter->receivers, &meter->nodes, &meter->levels,
		&meter->sendings.items, &meter->queued.items, &meter->arrived.items,
		&meter->sent_to_group.items, &meter->copies.items, &meter->unsent.items
	};
	struct map *const maps[] = {
		&meter->stream_places, &meter->lane_places, &meter->link_places, &meter->entered_places,
		&meter->route_places, &meter->cause_places, &meter->loss_places,
		&meter->receiver_places, &meter->node_places, &meter->level_places,
		&meter->sendings.firsts[0], &meter->sendings.firsts[1], &meter->queued.firsts[0],
		&meter->arrived.places,
		&meter->sent_to_group.places, &meter->copies.places, &meter->unsent.places
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		free_list(lists[i]);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		free_map(maps[i]);
}

void
bdpbench_free_meter(struct meter *meter)
{
	for (int64_t i = 0; i < meter->streams.count; i++) {
		free(ITEM(meter->streams, struct stream, i)->holes);
		free(ITEM(meter->streams, struct stream, i)->numbers);
	}
	for (int64_t i = 0; i < meter->lanes.count; i++)
		free(ITEM(meter->lanes, struct lane, i)->items);
	for (int64_t i = 0; i < meter->links.count; i++)
		free(ITEM(meter->links, struct link, i)->changes.items);
	for (int i = 0; i < SERIES; i++) {
		free_list(&meter->bins[i].cells);
		free_map(&meter->bins[i].places);
	}
	free_lists(meter);
	free(meter);
}

/*
 * A meter of what happens from start_s on, with bins of width_s, or chosen ones for 0; or 0 without
 * memory. Where only what is received is summed there is one bin.
 */
struct meter *
bdpbench_new_meter(double start_s, double width_s, int extent)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return 0;
	meter->start_s = start_s;
	meter->extent = (enum extent)extent;
	meter->streams.size = sizeof(struct stream);
	meter->lanes.size = sizeof(struct lane);
	meter->links.size = sizeof(struct link);
	meter->entered.size = sizeof(struct entered);
	meter->routes.size = sizeof(struct route);
	meter->causes.size = sizeof(struct cause);
	meter->losses.size = sizeof(struct loss);
	meter->receivers.size = sizeof(struct receiver);
	meter->nodes.size = sizeof(struct node);
	meter->levels.size = sizeof(struct level);
	meter->sendings.items.size = sizeof(struct sending);
	meter->queued.items.size = sizeof(struct queued);
	meter->arrived.items.size = sizeof(struct remembered);
	meter->sent_to_group.items.size = meter->copies.items.size = sizeof(struct remembered);
	meter->unsent.items.size = sizeof(struct remembered);
	meter->arrived.most = MOST_ARRIVED;
	meter->sent_to_group.most = meter->copies.most = meter->unsent.most = MOST_OF_GROUPS;
	for (int i = 0; i < SERIES; i++) {
		meter->bins[i].cells.size = sizeof(struct cell);
		meter->bins[i].index = width_s > 0 || extent == ONLY_RECEIVED ? -1 : 0;
		meter->bins[i].per_s = extent == ONLY_RECEIVED ? 0 :
				       width_s > 0 ? 1 / width_s : 1 / (1 / 1e3);
		meter->bins[i].limit_s = MOST_BINS / 1e3;
	}
	return meter;
}

/*
 * Adds the rows of a stream of arrays up to one that is left to the caller; returns how many were
 * added, or -1 when memory is short. Columns have no nulls; children has the place of each among
 * those of the arrays, -1 for one that they do not have.
 *
 * event_of has an event for each of 256 codes; type_of a type for each of that many codes.
 */
int64_t
bdpbench_add_rows(struct meter *meter, struct ArrowArrayStream *stream, const int32_t *children,
		  const uint8_t *event_of, const uint8_t *type_of, int64_t types)
{
	struct batch batch = {
		.children = children, .event_of = event_of, .type_of = type_of, .types = types
	};
	int64_t taken = 0;

	for (;;) {
		struct ArrowArray array = { 0 };
		enum taken each;

		if (stream->get_next(stream, &array) || !array.release)
			return taken;
		each = take_array(meter, &array, &batch, &taken);
		array.release(&array);
		if (each != TAKEN)
			return each == LEFT ? taken : -1;
	}
}

/* Whether a row tells of neither the ends of flows nor a drop. */
static int
is_between_ends(const struct packed *packed, const uint8_t *event_of, int64_t at)
{
	enum event event = (enum event)event_of[PACKED(uint8_t, EVENT, 0)];
	int layer = PACKED(uint8_t, LAYER, WIRED);

	return event == READING ||
	       (layer != WIRED && layer != AGENT && event != DROPPED && event != LOST);
}

/* Adds packed rows, all of whose types are known; returns 0 when memory is short. */
int
bdpbench_add_packed(struct meter *meter, const struct packed *packed, const uint8_t *event_of,
		    const uint8_t *type_of)
{
	struct row row = { .stream = -1, .link = -1 };

	for (int64_t at = 0; at < packed->rows; at++) {
		double time_s = PACKED(double, TIME, 0);

		if (!(time_s < packed->end_s))
			continue;
		if (meter->extent != ALL && is_between_ends(packed, event_of, at)) {
			if (time_s > meter->last_s)
				meter->last_s = time_s;
			continue;
		}
		load_packed_row(packed, event_of, type_of, at, &row);
		if (take(meter, &row) == NO_MEMORY)
			return 0;
	}
	return 1;
}

void
bdpbench_look(const struct packed *packed, struct look *look)
{
	*look = (struct look){ NAN, NAN, 0, 0, 0, 0, -1 };
	for (int64_t at = 0; at < packed->rows; at++) {
		double time_s = PACKED(double, TIME, 0);
		int32_t source = PACKED(int32_t, SRC_NODE, UNKNOWN);
		int has_flow = PACKED(int32_t, FLOW, UNKNOWN) != UNKNOWN;

		if (!(time_s < packed->end_s)) {
			look->has_ended = 1;
			continue;
		}
		if (isnan(look->first_s))
			look->first_s = time_s;
		look->last_s = time_s;
		look->has_flow |= has_flow;
		look->has_gaps |= !has_flow || source == UNKNOWN;
		if (source == UNKNOWN)
			continue;
		look->lacks_flow |= !has_flow;
		if (source > look->top_source)
			look->top_source = source;
	}
}

/* Settles what waits for a next row, and gives all series bins of one width; 0 without memory. */
int
bdpbench_finish_meter(struct meter *meter)
{
	int64_t widest = 0;

	if (settle_held(meter, 0) == NO_MEMORY)
		return 0;
	for (int64_t i = 0; i < meter->lanes.count; i++) {
		struct lane *lane = ITEM(meter->lanes, struct lane, i);

		while (lane->head < lane->count)
			if (!leave_lane(meter, lane))
				return 0;
	}
	for (int64_t i = 0; i < meter->links.count; i++)
		if (!apply_changes(meter, i))
			return 0;
	for (int i = 0; i < SERIES; i++) {
		if (!widen_to(&meter->bins[i], meter->last_s))
			return 0;
		if (meter->bins[i].index > widest)
			widest = meter->bins[i].index;
	}
	for (int i = 0; i < SERIES; i++)
		if (meter->bins[i].index >= 0 && meter->bins[i].index < widest &&
		    !widen(&meter->bins[i], widest))
			return 0;
	return 1;
}

/* What is one number of the whole trace, in the order of Found. */
void
bdpbench_numbers(const struct meter *meter, int64_t *numbers)
{
	const int64_t each[] = {
		meter->bins[0].index, meter->routing_pkts, meter->routing_bytes,
		meter->has_routers, meter->has_agents, meter->forgotten
	};

	memcpy(numbers, each, sizeof(each));
}

/* Tables: the lists, then the cells of the series. */
static const struct list *
table_of(const struct meter *meter, int table)
{
	const struct list *const lists[] = {
		&meter->streams, &meter->links, &meter->entered, &meter->losses,
		&meter->receivers, &meter->nodes, &meter->levels, &meter->sendings.items,
		&meter->causes
	};
	int count = (int)(sizeof(lists) / sizeof(*lists));

	return table < count ? lists[table] : &meter->bins[table - count].cells;
}

static void
release_array(struct ArrowArray *array)
{
	free((void *)array->buffers[0]);
	free((void *)array->buffers[1]);
	free(array->buffers);
	array->release = 0;
}

/*
 * Copies a member of a table's items into an array of its own; returns 0 without memory. Of real
 * numbers those that are not finite stand for none.
 */
int
bdpbench_column(const struct meter *meter, int table, int member, int is_real,
		struct ArrowArray *array)
{
	const struct list *list = table_of(meter, table);
	const void **buffers = malloc(2 * sizeof(*buffers));
	int64_t *values = malloc((size_t)(list->count ? list->count : 1) * sizeof(*values));
	uint8_t *known = calloc((size_t)list->count / 8 + 1, 1);

	if (!buffers || !values || !known) {
		free(buffers);
		free(values);
		free(known);
		return 0;
	}
	memset(array, 0, sizeof(*array));
	for (int64_t i = 0; i < list->count; i++) {
		const char *item = list->items + (size_t)i * list->size;
		double real;
		int is_known;

		memcpy(values + i, item + (size_t)member * sizeof(*values), sizeof(*values));
		memcpy(&real, values + i, sizeof(real));
		is_known = !is_real || isfinite(real);
		known[i / 8] |= (uint8_t)(is_known << (i % 8));
		array->null_count += !is_known;
	}
	buffers[0] = known;
	buffers[1] = values;
	array->length = list->count;
	array->n_buffers = 2;
	array->buffers = buffers;
	array->release = release_array;
	return 1;
}
