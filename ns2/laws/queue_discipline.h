#ifndef bdpbench_queue_discipline_h
#define bdpbench_queue_discipline_h

#include "folder_parameters.h"

/** The version of this interface; a library made for another one is refused. */
#define QUEUE_DISCIPLINE_INTERFACE 1

/** A packet that has arrived. It is the queue's: a discipline keeps the pointer, and deletes nothing. */
struct QueuedPacket {
	/** Size with headers. */
	int bytes;
	/** The same for all packets of a connection in this direction: 0, 1, ... as they first arrive. */
	int flow;
	/** Its sender uses ECN. */
	bool can_be_marked;
	/** It has an ECN mark, from here or from an earlier queue. */
	bool marked;
	/** When it arrived; it has waited for now_s() - arrived_s. */
	double arrived_s;
};

/** What a discipline can ask its queue, and do with packets that it holds. */
class LinkQueue {
public:
	virtual ~LinkQueue() {}
	/** Simulated time. */
	virtual double now_s() const = 0;
	/** Packets that it holds, without one that is just arriving. */
	virtual int length_pkts() const = 0;
	virtual int length_bytes() const = 0;
	/** Packets that there is room for: the buffer of the scenario. */
	virtual int limit_pkts() const = 0;
	/** Drops a packet that it holds or that is just arriving. */
	virtual void drop(QueuedPacket* packet) = 0;
	/** Gives a packet an ECN mark; false if it cannot have one, because its sender does not use ECN. */
	virtual bool mark(QueuedPacket* packet) = 0;
	/**
	 * Calls woken() at this time, a microsecond from now at the earliest, instead of at the time
	 * that an earlier call gave; never, if it is infinite.
	 */
	virtual void wake_at(double time_s) = 0;
	/** A random number from 0 to 1, of the stream that a run's substream sets. */
	virtual double random() = 0;
};

/**
 * A queue discipline: it decides which packets wait, in which order they leave, and which
 * are dropped or marked. Each direction of a bottleneck has an object of its own.
 *
 * Every packet that arrives has to leave or to be dropped, once. After each call the queue
 * checks that this is still so.
 */
class QueueDiscipline {
public:
	virtual ~QueueDiscipline() {}
	/** A packet arrives: keep it or drop it, and hold no more than limit_pkts() then. */
	virtual void enqueue(QueuedPacket* packet, LinkQueue& queue) = 0;
	/**
	 * The link is free: the packet that leaves, or 0. If packets stay although the link is
	 * free, wake_at() has to say until when: the queue asks again after woken().
	 */
	virtual QueuedPacket* dequeue(LinkQueue& queue) = 0;
	/** The time of wake_at() has come. */
	virtual void woken(LinkQueue&) {}
};

typedef FolderParameters QueueParameters;

#define BDPBENCH_QUEUE_INTERFACE extern "C" int bdpbench_queue_interface() { return QUEUE_DISCIPLINE_INTERFACE; }
#define BDPBENCH_QUEUE_MAKER(Class) extern "C" QueueDiscipline* bdpbench_queue(const QueueParameters& given) { return new Class(given); }

/** At the end of a discipline's file: its class, whose constructor takes QueueParameters. */
#define QUEUE_DISCIPLINE(Class) BDPBENCH_QUEUE_INTERFACE BDPBENCH_QUEUE_MAKER(Class)

#endif
