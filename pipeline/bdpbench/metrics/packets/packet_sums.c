/*
 * Rows of a wired packet trace -> the sums that metrics/packets makes of them, row by row.
 *
 * What is summed, and how packets are matched, is defined by the modules beside this folder, which
 * do the same with frames and do all that is not done here. A row that this file does not know how
 * to treat exactly as they do ends its work: rows before it are summed, and what is remembered of
 * them is handed over, so that they go on from there. Such are rows whose time runs backwards,
 * packets to groups, a number that is sent again while its packet is under way or waits in the same
 * queue, and whatever would make this file remember without bound.
 *
 * All members of a table are 8 bytes wide, so that any of them is a column of int64 or double.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPEN 2000000	/* packets under way, in queues, or not acknowledged; tracking.py */
#define MOST_ARRIVED 1000000	/* packets that are known to have arrived; in_flight.py */
#define MOST_CELLS 500000	/* of a table of bins whose width is not given; bins.py */
#define MOST_BINS 500		/* of a series whose width is not given; bins.py */
#define MOST_STREAMS 1000000
#define MOST_MOVED 4096		/* holes or numbers that a row may shift in an ordered list */
#define MOST_CHANGES 4096	/* of a queue's length at one moment */
#define LATEST_TIME 1e12	/* s; as in the reader */
#define LARGEST_NUMBER INT64_C(1000000000000000000)	/* of a packet: sums of a few fit */
#define BIN_ROUNDING 1e-7	/* of a bin; bins.py */
#define FIRST_GROUP (1 << 30)	/* address; events.py */
#define TCP_HEADER_BYTES 40
#define SMOOTHING (1.0 / 16)	/* RFC 3550, section 6.4.1 */
#define NONE INT64_MIN		/* a number that no stream has had */

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

/* Columns of a batch, in the order in which the caller gives them. */
enum column {
	TIME, EVENT, FROM, TO, TYPE, BYTES, FLOW, SRC_NODE, SRC_PORT, DST_NODE, DST_PORT, SEQ, UID,
	HEADER_BYTES, COLUMNS
};

enum event { ENTERS, LEAVES, ARRIVES, DROPPED, ERROR, OTHER, UNKNOWN_EVENT };
enum type { UNKNOWN_TYPE, DATA, CONTROL, TCP, ACK };
enum taken { NO_MEMORY = -1, LEFT, TAKEN };

struct row {
	double time_s;
	int64_t seq, uid;
	int32_t from, to, bytes, flow, src_node, src_port, dst_node, dst_port, header_bytes;
	uint32_t type_code;
	enum event event;
	enum type type;
	int32_t stream, link;
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

struct bins {
	struct list cells;
	struct map places;
	double per_s;		/* 1 over the width */
	int64_t index;		/* of the width; -1 where it is given */
};

enum series {
	SENT, RECEIVED, LOST_ON_WAY, ROUND_TRIPS, DELIVERED,	/* of streams */
	DEPARTED, WAITED, LOST_ON_LINK, LENGTHS,		/* of links */
	CAUSES,							/* of drops: d, then e */
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
	int64_t key, flow, src_node, src_port, dst_node, dst_port;
	/* Codes of types, -1 for none; whether all packets are ACKs, whether any has data. */
	int64_t sent_type, arrived_type, dropped_type, seen_type;
	int64_t own, own_acks, own_data, seen_acks, seen_data;
	int64_t highest_sent, by_bytes, highest_arrived, acked;
	double first_sent_s, first_retransmission_s, first_drop_s, delay_min_s, last_received_s;
	double longest_gap_s, last_delay_s, jitter_s, delay_step_sum_s;
	int64_t delay_steps;
	double slow_start_end_s, started_s;
	int64_t slow_start_pkts, slow_start_drops, route_changes;
	/* From here on nothing is a column. */
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
	int64_t key, from, to, reached, length, before, has_before;
	int64_t periods, busy_bytes;
	double busy_s;
	int64_t has_last, last_bytes;
	double last_s, last_wait_s;
	/* From here on nothing is a column. */
	int64_t follows;
	double changes_s;
	struct list changes;
};

struct entered { int64_t link, stream, pkts, bytes; double first_s; int64_t route; };
struct route { int64_t stream, node, next; };
struct loss { int64_t node, event, type_code, pkts, bytes; };
struct sending { int64_t packet, stream, payload, dropped, open; double sent_s; };
struct queued { int64_t key, link, bytes, open, change; double entered_s; };
struct open_hole { int64_t stream, first, last; };
struct open_number { int64_t stream, seq, again; double sent_s; };
struct unsettled { int64_t link, change, by; };
struct arrival { int64_t packet; };

struct meter {
	double start_s, last_s;
	struct list streams, links, entered, routes, losses, sendings, queued, arrived;
	struct list open_holes, open_numbers, unsettled;
	struct map stream_places, link_places, entered_places, route_places, loss_places;
	struct map sending_places, queued_places, arrived_counts;
	struct list free_sendings, free_queued;
	struct bins bins[SERIES];
	int64_t oldest_arrived, open_sendings, open_queued, number_count;
	int knows_arrived;
	int holds;
	struct row held;	/* the last row, if it enters a queue: the next may leave it at once */
	struct row before;	/* the last row, whose stream the next often has */
};

/* Odd numbers that mix the parts of a key, as events.py has them. */
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

/* A place that was given back, or a new one; -1 without memory. */
static int64_t
free_place(struct list *list, struct list *given_back)
{
	if (given_back->count)
		return *ITEM(*given_back, int64_t, --given_back->count);
	return add_item(list) ? list->count - 1 : -1;
}

static int
give_back(struct list *given_back, int64_t place)
{
	int64_t *item = add_item(given_back);

	if (item)
		*item = place;
	return item != 0;
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
widen_to(struct bins *bins, double last_s)
{
	int64_t index = bins->index;

	if (index < 0)
		return 1;
	while (last_s >= (double)(MOST_BINS * width_ms(index)) / 1e3)
		index++;
	return index == bins->index || widen(bins, index);
}

static struct cell *
cell_at(struct bins *bins, int64_t subject, double time_s)
{
	struct cell *cell;

	for (;;) {
		cell = add_cell(bins, subject, (int64_t)(time_s * bins->per_s + BIN_ROUNDING));
		if (!cell || bins->index < 0 || bins->cells.count <= MOST_CELLS)
			return cell;
		if (!widen(bins, bins->index + 1))
			return 0;
	}
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
}

/* The stream of these ends; -1 without memory. */
static int32_t
stream_of(struct meter *meter, int32_t flow, int32_t src_node, int32_t src_port, int32_t dst_node,
	  int32_t dst_port)
{
	uint64_t key = mixed(flow, src_node, src_port, dst_node, dst_port);
	int32_t place = place_of(&meter->stream_places, key);
	struct stream *stream;

	if (place >= 0)
		return place;
	if (!put(&meter->stream_places, key, meter->streams.count) ||
	    !(stream = add_item(&meter->streams)))
		return -1;
	stream->key = (int64_t)key;
	stream->flow = flow;
	stream->src_node = src_node;
	stream->src_port = src_port;
	stream->dst_node = dst_node;
	stream->dst_port = dst_port;
	begin_stream(stream);
	return (int32_t)meter->streams.count - 1;
}

static int
has_ends_of(const struct row *row, const struct row *before)
{
	return row->flow == before->flow && row->src_node == before->src_node &&
	       row->src_port == before->src_port && row->dst_node == before->dst_node &&
	       row->dst_port == before->dst_port;
}

/* Finds the stream of a row, which often is that of the row before. */
static int
find_stream(struct meter *meter, struct row *row)
{
	if (meter->before.stream >= 0 && has_ends_of(row, &meter->before))
		row->stream = meter->before.stream;
	else
		row->stream = stream_of(meter, row->flow, row->src_node, row->src_port,
					row->dst_node, row->dst_port);
	return row->stream >= 0;
}

static int
find_link(struct meter *meter, struct row *row)
{
	uint64_t key = ((uint64_t)(int64_t)row->from << 32) +
		       (uint64_t)((int64_t)row->to + (INT64_C(1) << 31));
	struct link *link;

	if ((row->link = place_of(&meter->link_places, key)) >= 0)
		return 1;
	if (!put(&meter->link_places, key, meter->links.count) ||
	    !(link = add_item(&meter->links)))
		return 0;
	link->key = (int64_t)key;
	link->from = row->from;
	link->to = row->to;
	link->changes.size = sizeof(struct change);
	row->link = (int32_t)meter->links.count - 1;
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

/* ---- packets under way ---- */

/* Whether a packet is among those that have arrived; -1 without memory. */
static int
has_arrived(struct meter *meter, uint64_t packet)
{
	if (!meter->knows_arrived) {
		for (int64_t i = 0; i < meter->arrived.count; i++) {
			uint64_t key = (uint64_t)ITEM(meter->arrived, struct arrival, i)->packet;
			int32_t count = place_of(&meter->arrived_counts, key);

			if (!put(&meter->arrived_counts, key, count < 0 ? 1 : count + 1))
				return -1;
		}
		meter->knows_arrived = meter->arrived.count > 0;
	}
	return place_of(&meter->arrived_counts, packet) > 0;
}

static void
forget_arrival(struct meter *meter, uint64_t packet)
{
	int32_t count = place_of(&meter->arrived_counts, packet);

	if (count > 1)
		insert(&meter->arrived_counts, packet, count - 1);
	else if (count == 1)
		take_out(&meter->arrived_counts, packet);
}

/* Remembers that a packet has arrived, and forgets it of the one for which that is longest ago. */
static int
remember_arrival(struct meter *meter, uint64_t packet)
{
	struct arrival *arrival;
	int32_t count;

	if (meter->arrived.count < MOST_ARRIVED) {
		if (!(arrival = add_item(&meter->arrived)))
			return 0;
	} else {
		arrival = ITEM(meter->arrived, struct arrival, meter->oldest_arrived);
		meter->oldest_arrived = (meter->oldest_arrived + 1) % MOST_ARRIVED;
		if (meter->knows_arrived)
			forget_arrival(meter, (uint64_t)arrival->packet);
	}
	arrival->packet = (int64_t)packet;
	if (!meter->knows_arrived)
		return 1;
	count = place_of(&meter->arrived_counts, packet);
	return put(&meter->arrived_counts, packet, count < 0 ? 1 : count + 1);
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
add_number(struct meter *meter, struct stream *stream, int64_t seq, double sent_s, int again)
{
	int64_t at;

	if (!room_for_number(stream))
		return 0;
	at = number_at(stream, seq);
	memmove(stream->numbers + at + 1, stream->numbers + at,
		(size_t)(stream->number_count - at) * sizeof(struct number));
	stream->numbers[at] = (struct number){ seq, again, sent_s };
	stream->number_count++;
	meter->number_count++;
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
await_ack(struct meter *meter, struct stream *stream, const struct row *row, int again)
{
	int64_t at = number_at(stream, row->seq);

	if (at < stream->number_count && stream->numbers[at].seq == row->seq) {
		stream->numbers[at].again = 1;
		return 1;
	}
	return add_number(meter, stream, row->seq, again ? NAN : row->time_s, again);
}

static void
forget_numbers(struct meter *meter, struct stream *stream)
{
	meter->number_count -= stream->number_count - stream->head;
	stream->head = stream->number_count = 0;
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
			meter->number_count--;
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
	struct cell *cell = cell_at(&meter->bins[SENT], row->stream, row->time_s);

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
note_highest(struct meter *meter, struct stream *stream, const struct row *row)
{
	int64_t before = stream->highest_sent;

	if (before != NONE && row->type != ACK && row->seq - 1 > before && !stream->by_bytes &&
	    2 * (row->seq - before) >= payload_of(row)) {
		stream->by_bytes = 1;
		forget_numbers(meter, stream);
	}
	if (row->seq > before)
		stream->highest_sent = row->seq;
}

static int
begin_sending(struct meter *meter, const struct row *row)
{
	int64_t place = free_place(&meter->sendings, &meter->free_sendings);
	uint64_t packet = packet_key(row);

	if (place < 0 || !put(&meter->sending_places, packet, place))
		return 0;
	*ITEM(meter->sendings, struct sending, place) = (struct sending){
		(int64_t)packet, row->stream, payload_of(row), 0, 1, row->time_s
	};
	meter->open_sendings++;
	return 1;
}

/* Whether a sending is one of which all is known that has to be. */
static int
may_send(const struct meter *meter, const struct row *row)
{
	const struct stream *stream = own_stream(meter, row);

	if (meter->open_sendings >= MOST_OPEN || meter->number_count >= MOST_OPEN ||
	    place_of(&meter->sending_places, packet_key(row)) >= 0)
		return 0;
	return !is_retransmission(stream, row) || !awaits_ack(stream, row) ||
	       stream->number_count - number_at(stream, row->seq) <= MOST_MOVED;
}

static int
send(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int again = is_retransmission(stream, row);

	note_own(stream, row, &stream->sent_type);
	note_highest(meter, stream, row);
	count_slow_start(stream, row, again);
	if (awaits_ack(stream, row) && !await_ack(meter, stream, row, again))
		return 0;
	if (is_counted(meter, row->time_s) && !count_sending(meter, stream, row, again))
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
end_sending(struct meter *meter, const struct row *row, int32_t place)
{
	struct sending *sending = ITEM(meter->sendings, struct sending, place);
	uint64_t packet = (uint64_t)sending->packet;
	struct cell *cell;

	sending->open = 0;
	meter->open_sendings--;
	take_out(&meter->sending_places, packet);
	if (is_counted(meter, sending->sent_s)) {
		cell = cell_at(&meter->bins[DELIVERED], row->stream, sending->sent_s);
		if (!cell)
			return 0;
		cell->counts[0]++;
	}
	return give_back(&meter->free_sendings, place) && remember_arrival(meter, packet);
}

/* A packet at its receiver, for the first time. */
static int
receive(struct meter *meter, const struct row *row, int32_t place)
{
	struct stream *stream = own_stream(meter, row);
	int64_t payload = payload_of(row);
	double delay_s = NAN;
	int new;

	if (place >= 0) {
		const struct sending *sending = ITEM(meter->sendings, struct sending, place);

		delay_s = row->time_s - sending->sent_s;
		if (sending->payload < payload)
			payload = sending->payload;
		if (!end_sending(meter, row, place))
			return 0;
	}
	if ((new = is_new(stream, row->seq)) < 0)
		return 0;
	return count_arrival(meter, row, new ? payload : 0, delay_s) &&
	       (row->type != ACK || acknowledge(meter, row));
}

static enum taken
arrive(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int32_t place = place_of(&meter->sending_places, packet_key(row));
	int again = place < 0 ? has_arrived(meter, packet_key(row)) : 0;
	int64_t hole = again ? -1 : hole_of(stream, row->seq);

	if (again < 0)
		return NO_MEMORY;
	if (stream->hole_count >= MOST_OPEN ||
	    (hole >= 0 && stream->hole_count - hole > MOST_MOVED))
		return LEFT;
	note_own(stream, row, &stream->arrived_type);
	return again || receive(meter, row, place) ? TAKEN : NO_MEMORY;
}

static int
count_loss(struct meter *meter, const struct row *row)
{
	uint64_t key = mixed(row->from, row->event, (int32_t)row->type_code, 0, 0);
	int32_t place = place_of(&meter->loss_places, key);
	struct cell *cell = cell_at(&meter->bins[CAUSES], row->event == ERROR, row->time_s);
	struct loss *loss;

	if (!cell)
		return 0;
	cell->counts[0]++;
	if (place >= 0) {
		loss = ITEM(meter->losses, struct loss, place);
	} else {
		if (!put(&meter->loss_places, key, meter->losses.count) ||
		    !(loss = add_item(&meter->losses)))
			return 0;
		*loss = (struct loss){ row->from, row->event, row->type_code, 0, 0 };
	}
	loss->pkts++;
	loss->bytes += row->bytes;
	return 1;
}

static int
count_drop(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	struct cell *of_stream = cell_at(&meter->bins[LOST_ON_WAY], row->stream, row->time_s);
	struct cell *of_link = cell_at(&meter->bins[LOST_ON_LINK], row->link, row->time_s);

	if (!of_stream || !of_link)
		return 0;
	of_stream->counts[0]++;
	of_stream->counts[1] += row->bytes;
	of_link->counts[0]++;
	of_link->counts[1] += row->bytes;
	if (isnan(stream->first_drop_s))
		stream->first_drop_s = row->time_s;
	return count_loss(meter, row);
}

/* Notes that a packet under way was dropped somewhere. */
static void
mark_dropped(struct meter *meter, const struct row *row, int32_t place)
{
	struct sending *sending = ITEM(meter->sendings, struct sending, place);
	struct stream *stream = own_stream(meter, row);

	sending->dropped = 1;
	if (isnan(stream->slow_start_end_s) || sending->sent_s < stream->slow_start_end_s) {
		stream->slow_start_drops++;
		stream->drops_then += sending->sent_s == stream->last_sent_s;
	}
}

static enum taken
drop(struct meter *meter, const struct row *row)
{
	struct stream *stream = own_stream(meter, row);
	int32_t place = place_of(&meter->sending_places, packet_key(row));
	int after = place < 0 ? has_arrived(meter, packet_key(row)) : 0;

	if (after)	/* a LAN drops copies of what has arrived: they are not told apart here */
		return after < 0 ? NO_MEMORY : LEFT;
	note_own(stream, row, &stream->dropped_type);
	if (place >= 0)
		mark_dropped(meter, row, place);
	return !is_counted(meter, row->time_s) || count_drop(meter, row) ? TAKEN : NO_MEMORY;
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
			link->has_before = 1;
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

/* Whether a queue's changes of this moment are few enough to remember another. */
static int
may_change(const struct meter *meter, const struct row *row)
{
	const struct link *link = ITEM(meter->links, struct link, row->link);

	return link->changes_s != row->time_s || link->changes.count < MOST_CHANGES;
}

static int
enter_queue(struct meter *meter, const struct row *row)
{
	int64_t place = free_place(&meter->queued, &meter->free_queued);
	uint64_t key = queue_key(meter, row);

	if (place < 0 || !put(&meter->queued_places, key, place) ||
	    !change_length(meter, row->link, row->time_s, 1))
		return 0;
	*ITEM(meter->queued, struct queued, place) = (struct queued){
		(int64_t)key, row->link, row->bytes, 1,
		ITEM(meter->links, struct link, row->link)->changes.count - 1, row->time_s
	};
	meter->open_queued++;
	return 1;
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
	link->last_wait_s = wait_s;
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

static int
leave_queue(struct meter *meter, const struct row *row)
{
	uint64_t key = queue_key(meter, row);
	int32_t place = place_of(&meter->queued_places, key);
	struct queued *queued;

	if (place < 0)
		return row->event != LEAVES || depart(meter, row, row->bytes, NAN);
	queued = ITEM(meter->queued, struct queued, place);
	queued->open = 0;
	meter->open_queued--;
	take_out(&meter->queued_places, key);
	if (queued->entered_s < row->time_s) {
		if (!change_length(meter, row->link, row->time_s, -1))
			return 0;
	} else {	/* it was never in the queue */
		struct link *link = ITEM(meter->links, struct link, row->link);

		ITEM(link->changes, struct change, queued->change)->by = 0;
	}
	if (!give_back(&meter->free_queued, place))
		return 0;
	return row->event != LEAVES ||
	       depart(meter, row, queued->bytes, row->time_s - queued->entered_s);
}

/* The next node of a stream's packets at this one; another than before is a change of the route. */
static int
note_route(struct meter *meter, struct entered *entered, const struct row *row)
{
	struct route *route;

	if (entered->route < 0) {
		uint64_t key = (uint64_t)(uint32_t)row->stream << 32 | (uint32_t)row->from;

		entered->route = place_of(&meter->route_places, key);
		if (entered->route < 0) {
			entered->route = meter->routes.count;
			if (!put(&meter->route_places, key, entered->route) ||
			    !(route = add_item(&meter->routes)))
				return 0;
			*route = (struct route){ row->stream, row->from, row->to };
		}
	}
	route = ITEM(meter->routes, struct route, entered->route);
	if (route->next != row->to) {
		route->next = row->to;
		own_stream(meter, row)->route_changes++;
	}
	return 1;
}

static int
count_entry(struct meter *meter, const struct row *row)
{
	uint64_t key = (uint64_t)(uint32_t)row->link << 32 | (uint32_t)row->stream;
	int32_t place = place_of(&meter->entered_places, key);
	struct entered *entered;

	if (place >= 0) {
		entered = ITEM(meter->entered, struct entered, place);
	} else {
		if (!put(&meter->entered_places, key, meter->entered.count) ||
		    !(entered = add_item(&meter->entered)))
			return 0;
		*entered = (struct entered){ row->link, row->stream, 0, 0, row->time_s, -1 };
	}
	entered->pkts++;
	entered->bytes += row->bytes;
	return note_route(meter, entered, row);
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

static enum taken
take_entry(struct meter *meter, const struct row *row)
{
	int is_sent = row->from == row->src_node;

	if (meter->open_queued >= MOST_OPEN || !may_change(meter, row) ||
	    place_of(&meter->queued_places, queue_key(meter, row)) >= 0 ||
	    (is_sent && !may_send(meter, row)))
		return LEFT;
	if (is_counted(meter, row->time_s) && !count_entry(meter, row))
		return NO_MEMORY;
	if (is_sent && !send(meter, row))
		return NO_MEMORY;
	meter->held = *row;
	meter->holds = 1;
	return TAKEN;
}

static enum taken
take_exit(struct meter *meter, const struct row *row)
{
	enum taken taken = TAKEN;

	if (!may_change(meter, row))
		return LEFT;
	if (row->event != LEAVES)
		taken = drop(meter, row);
	if (taken != TAKEN)
		return taken;
	return leave_queue(meter, row) ? TAKEN : NO_MEMORY;
}

static enum taken
take_known(struct meter *meter, const struct row *row)
{
	switch (row->event) {
	case ENTERS:
		return take_entry(meter, row);
	case LEAVES:
	case DROPPED:
	case ERROR:
		return take_exit(meter, row);
	case ARRIVES:
		ITEM(meter->links, struct link, row->link)->reached = 1;
		return row->to == row->dst_node ? arrive(meter, row) : TAKEN;
	default:
		return TAKEN;
	}
}

/* Whether a row is of a kind that is known here at all. */
static int
is_plain(const struct meter *meter, const struct row *row)
{
	return row->time_s >= meter->last_s && row->time_s < LATEST_TIME &&
	       row->event != UNKNOWN_EVENT && row->type != UNKNOWN_TYPE && row->dst_node >= 0 &&
	       row->dst_node < FIRST_GROUP && row->bytes >= 0 &&
	       row->seq > -LARGEST_NUMBER && row->seq < LARGEST_NUMBER &&
	       meter->streams.count < MOST_STREAMS;
}

static enum taken
take(struct meter *meter, struct row *row)
{
	enum taken taken;

	if (!is_plain(meter, row))
		return LEFT;
	if (!find_stream(meter, row) || !find_link(meter, row))
		return NO_MEMORY;
	taken = settle_held(meter, row);
	if (taken == LEFT)
		taken = take_known(meter, row);
	if (taken == TAKEN) {
		note_seen(own_stream(meter, row), row);
		meter->last_s = row->time_s;
		meter->before = *row;
	}
	return taken;
}

/* Where the columns of a batch lie, and what its codes mean. */
struct batch {
	const void *columns[COLUMNS];
	int64_t offsets[COLUMNS];
	const uint8_t *event_of, *type_of;
	int64_t types;
};

#define VALUE(batch, column, type, row) \
	(((const type *)(batch)->columns[column])[(batch)->offsets[column] + (row)])

static void
load_row(const struct batch *batch, int64_t at, struct row *row)
{
	row->time_s = VALUE(batch, TIME, double, at);
	row->event = (enum event)batch->event_of[VALUE(batch, EVENT, uint8_t, at)];
	row->from = VALUE(batch, FROM, int32_t, at);
	row->to = VALUE(batch, TO, int32_t, at);
	row->type_code = VALUE(batch, TYPE, uint32_t, at);
	row->type = row->type_code < batch->types ? (enum type)batch->type_of[row->type_code]
						  : UNKNOWN_TYPE;
	row->bytes = VALUE(batch, BYTES, int32_t, at);
	row->flow = VALUE(batch, FLOW, int32_t, at);
	row->src_node = VALUE(batch, SRC_NODE, int32_t, at);
	row->src_port = VALUE(batch, SRC_PORT, int32_t, at);
	row->dst_node = VALUE(batch, DST_NODE, int32_t, at);
	row->dst_port = VALUE(batch, DST_PORT, int32_t, at);
	row->seq = VALUE(batch, SEQ, int64_t, at);
	row->uid = VALUE(batch, UID, int64_t, at);
	row->header_bytes = VALUE(batch, HEADER_BYTES, int32_t, at);
}

static int
widen_all(struct meter *meter, double last_s)
{
	if (!(last_s >= 0 && last_s < LATEST_TIME))
		return 1;	/* the row is left to the caller */
	for (int i = 0; i < SERIES; i++)
		if (!widen_to(&meter->bins[i], last_s))
			return 0;
	return 1;
}

static enum taken
take_rows(struct meter *meter, const struct batch *batch, int64_t rows, int64_t *taken)
{
	struct row row = { .stream = -1, .link = -1 };

	if (rows && !widen_all(meter, VALUE(batch, TIME, double, rows - 1)))
		return NO_MEMORY;
	for (int64_t at = 0; at < rows; at++) {
		enum taken each;

		load_row(batch, at, &row);
		each = take(meter, &row);
		if (each != TAKEN)
			return each;
		++*taken;
	}
	return TAKEN;
}

static enum taken
take_array(struct meter *meter, const struct ArrowArray *array, struct batch *batch,
	   int64_t *taken)
{
	for (int i = 0; i < COLUMNS; i++) {
		batch->columns[i] = array->children[i]->buffers[1];
		batch->offsets[i] = array->offset + array->children[i]->offset;
	}
	return take_rows(meter, batch, array->length, taken);
}

/* ---- what the caller sees ---- */

static void
free_bins(struct bins *bins)
{
	free(bins->cells.items);
	free(bins->places.keys);
	free(bins->places.places);
}

static void
free_lists(struct meter *meter)
{
	struct list *const lists[] = {
		&meter->streams, &meter->links, &meter->entered, &meter->routes, &meter->losses,
		&meter->sendings, &meter->queued, &meter->arrived, &meter->open_holes,
		&meter->open_numbers, &meter->unsettled, &meter->free_sendings,
		&meter->free_queued
	};
	struct map *const maps[] = {
		&meter->stream_places, &meter->link_places, &meter->entered_places,
		&meter->route_places, &meter->loss_places, &meter->sending_places,
		&meter->queued_places, &meter->arrived_counts
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		free(lists[i]->items);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		free(maps[i]->keys);
		free(maps[i]->places);
	}
}

void
bdpbench_free_meter(struct meter *meter)
{
	for (int64_t i = 0; i < meter->streams.count; i++) {
		free(ITEM(meter->streams, struct stream, i)->holes);
		free(ITEM(meter->streams, struct stream, i)->numbers);
	}
	for (int64_t i = 0; i < meter->links.count; i++)
		free(ITEM(meter->links, struct link, i)->changes.items);
	for (int i = 0; i < SERIES; i++)
		free_bins(&meter->bins[i]);
	free_lists(meter);
	free(meter);
}

/* A meter of what happens from start_s on, with bins of width_s, or chosen ones for 0; or 0. */
struct meter *
bdpbench_new_meter(double start_s, double width_s)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return 0;
	meter->start_s = start_s;
	meter->before.stream = -1;
	meter->streams.size = sizeof(struct stream);
	meter->links.size = sizeof(struct link);
	meter->entered.size = sizeof(struct entered);
	meter->routes.size = sizeof(struct route);
	meter->losses.size = sizeof(struct loss);
	meter->sendings.size = sizeof(struct sending);
	meter->queued.size = sizeof(struct queued);
	meter->arrived.size = sizeof(struct arrival);
	meter->open_holes.size = sizeof(struct open_hole);
	meter->open_numbers.size = sizeof(struct open_number);
	meter->unsettled.size = sizeof(struct unsettled);
	meter->free_sendings.size = meter->free_queued.size = sizeof(int64_t);
	for (int i = 0; i < SERIES; i++) {
		meter->bins[i].cells.size = sizeof(struct cell);
		meter->bins[i].index = width_s > 0 ? -1 : 0;
		meter->bins[i].per_s = width_s > 0 ? 1 / width_s : 1 / (1 / 1e3);
	}
	return meter;
}

/*
 * Adds the rows of a stream of arrays, of columns without nulls in their order, up to one that is
 * left to the caller; returns how many were added, or -1 when memory is short.
 *
 * event_of has an event for each of 256 codes; type_of a type for each of that many codes.
 */
int64_t
bdpbench_add_rows(struct meter *meter, struct ArrowArrayStream *stream, const uint8_t *event_of,
		  const uint8_t *type_of, int64_t types)
{
	struct batch batch = { .event_of = event_of, .type_of = type_of, .types = types };
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

static int
list_open(struct meter *meter)
{
	for (int64_t i = 0; i < meter->streams.count; i++) {
		const struct stream *stream = ITEM(meter->streams, struct stream, i);

		for (int64_t j = 0; j < stream->hole_count; j++) {
			struct open_hole *hole = add_item(&meter->open_holes);

			if (!hole)
				return 0;
			*hole = (struct open_hole){ i, stream->holes[j].first,
						    stream->holes[j].last };
		}
		for (int64_t j = stream->head; j < stream->number_count; j++) {
			const struct number *number = &stream->numbers[j];
			struct open_number *item = add_item(&meter->open_numbers);

			if (!item)
				return 0;
			*item = (struct open_number){ i, number->seq, number->again,
						      number->sent_s };
		}
	}
	return 1;
}

/*
 * Lists the changes of a queue's length at the moment of the last row, in their order: what came then
 * may yet leave at that very moment, and was never in the queue if it does.
 */
static int
list_unsettled(struct meter *meter, int64_t place)
{
	const struct link *link = ITEM(meter->links, struct link, place);

	for (int64_t i = 0; i < link->changes.count; i++) {
		int64_t by = ITEM(link->changes, struct change, i)->by;
		struct unsettled *item = by ? add_item(&meter->unsettled) : 0;

		if (by && !item)
			return 0;
		if (by)
			*item = (struct unsettled){ place, i, by };
	}
	return 1;
}

/* Settles what waits for a next row, and lists what is open; no row follows. 0 without memory. */
int
bdpbench_finish_meter(struct meter *meter)
{
	if (settle_held(meter, 0) == NO_MEMORY)
		return 0;
	for (int64_t i = 0; i < meter->links.count; i++) {
		int is_past = ITEM(meter->links, struct link, i)->changes_s < meter->last_s;

		if (!(is_past ? apply_changes(meter, i) : list_unsettled(meter, i)))
			return 0;
	}
	return list_open(meter);
}

/* Tables: the lists, then the cells of the series. */
static const struct list *
table_of(const struct meter *meter, int table)
{
	const struct list *const lists[] = {
		&meter->streams, &meter->links, &meter->entered, &meter->routes, &meter->losses,
		&meter->sendings, &meter->queued, &meter->arrived, &meter->open_holes,
		&meter->open_numbers, &meter->unsettled
	};
	int count = (int)(sizeof(lists) / sizeof(*lists));

	return table < count ? lists[table] : &meter->bins[table - count].cells;
}

/* Index of the width of a series's bins. */
int64_t
bdpbench_width_index(const struct meter *meter, int series)
{
	return meter->bins[series].index;
}

static void
release_array(struct ArrowArray *array)
{
	free((void *)array->buffers[1]);
	free(array->buffers);
	array->release = 0;
}

/* Copies a member of a table's items into an array of its own; returns 0 without memory. */
int
bdpbench_column(const struct meter *meter, int table, int member, struct ArrowArray *array)
{
	const struct list *list = table_of(meter, table);
	const void **buffers = malloc(2 * sizeof(*buffers));
	int64_t *values = malloc((size_t)(list->count ? list->count : 1) * sizeof(*values));

	if (!buffers || !values) {
		free(buffers);
		free(values);
		return 0;
	}
	for (int64_t i = 0; i < list->count; i++)
		memcpy(values + i, list->items + (size_t)i * list->size +
		       (size_t)member * sizeof(*values), sizeof(*values));
	memset(array, 0, sizeof(*array));
	buffers[0] = 0;
	buffers[1] = values;
	array->length = list->count;
	array->n_buffers = 2;
	array->buffers = buffers;
	array->release = release_array;
	return 1;
}
