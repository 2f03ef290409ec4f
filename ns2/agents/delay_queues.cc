// Queue/CoDel, Queue/FqCoDel and Queue/PIE: queues that hold the time that packets wait.

#include <deque>
#include <list>
#include <stdio.h>
#include <vector>

#include "codel.h"
#include "flags.h"
#include "ip.h"
#include "pie.h"
#include "queue.h"
#include "random.h"

static double now()
{
	return Scheduler::instance().clock();
}

static int size_of(Packet* packet)
{
	return hdr_cmn::access(packet)->size();
}

static bool can_be_marked(Packet* packet)
{
	return hdr_flags::access(packet)->ect();
}

static void mark(Packet* packet)
{
	hdr_flags::access(packet)->ce() = 1;
}

static void require(const char* queue, bool condition, const char* problem)
{
	if (condition)
		return;
	fprintf(stderr, "ns: queue %s: %s. Set it before `$ns run`.\n", queue, problem);
	Tcl_Exit(1);
}

/** Packets in the order of their arrival, with its times. */
class TimedPackets {
public:
	TimedPackets() : bytes_(0) {}
	void add(Packet* packet)
	{
		packets_.push_back(std::make_pair(packet, now()));
		bytes_ += size_of(packet);
	}
	/** The first packet, and how long it has waited. There must be one. */
	Packet* take(double& waited_s)
	{
		Packet* packet = packets_.front().first;
		waited_s = now() - packets_.front().second;
		packets_.pop_front();
		bytes_ -= size_of(packet);
		return packet;
	}
	bool empty() const { return packets_.empty(); }
	int length() const { return static_cast<int>(packets_.size()); }
	int bytes() const { return bytes_; }

private:
	std::deque<std::pair<Packet*, double> > packets_;
	int bytes_;
};

/** What the rest of ns-2 asks a queue's store: how much there is. */
class Amount : public PacketQueue {
public:
	Amount() : packets_(0), bytes_(0) {}
	virtual int length() const { return packets_; }
	virtual int byteLength() const { return bytes_; }
	void add(int packets, int bytes)
	{
		packets_ += packets;
		bytes_ += bytes;
	}

private:
	int packets_;
	int bytes_;
};

/** A queue with room for limit_ packets, whose store tells what it holds. */
class DelayQueue : public Queue {
public:
	DelayQueue()
	{
		pq_ = &amount_;
		bind_bool("setbit_", &ecn_);
	}

protected:
	bool has_room() const { return amount_.length() < qlim_; }
	void came(Packet* packet) { amount_.add(1, size_of(packet)); }
	void went(Packet* packet) { amount_.add(-1, -size_of(packet)); }

	Amount amount_;
	int ecn_;
};

/** CoDel's decisions for one line of packets, and what becomes of those that it drops. */
class CoDelLine {
public:
	explicit CoDelLine(const CoDelParameters& parameters) : law_(parameters) {}
	TimedPackets packets;

	/** The packet that leaves, or 0; `dropped` receives those that do not. */
	Packet* next(bool ecn, std::vector<Packet*>& dropped)
	{
		while (!packets.empty()) {
			double waited_s;
			Packet* packet = packets.take(waited_s);
			if (!law_.drops(waited_s, now(), packets.bytes()))
				return packet;
			if (ecn && can_be_marked(packet)) {
				mark(packet);
				law_.marked_instead();
				return packet;
			}
			dropped.push_back(packet);
		}
		law_.found_empty();
		return 0;
	}

private:
	CoDel law_;
};

/** Variables that CoDel and FQ-CoDel share. */
class CoDelQueueBase : public DelayQueue {
protected:
	CoDelQueueBase()
	{
		bind_time("target_", &target_s_);
		bind_time("interval_", &interval_s_);
		bind("packet_bytes_", &packet_bytes_);
	}
	CoDelParameters parameters() const
	{
		require(name(), target_s_ > 0 && interval_s_ > 0, "target_ and interval_ must be positive");
		require(name(), packet_bytes_ > 0, "packet_bytes_ must be positive");
		const CoDelParameters values = {target_s_, interval_s_, static_cast<double>(packet_bytes_)};
		return values;
	}
	void drop_all(const std::vector<Packet*>& dropped)
	{
		for (size_t i = 0; i < dropped.size(); i++) {
			went(dropped[i]);
			drop(dropped[i]);
		}
	}

	double target_s_;
	double interval_s_;
	int packet_bytes_;
};

/**
 * Queue/CoDel: class CoDel on one line of packets.
 *
 *   Tcl variable   unit    default
 *   target_        s       0.005    waiting time that it accepts
 *   interval_      s       0.1      how long it may be exceeded
 *   packet_bytes_  bytes   1040     a queue of at most one packet never drops
 *   setbit_        0 or 1  0        marks packets that can be marked
 *   limit_         packets 50       room
 */
class CoDelQueue : public CoDelQueueBase {
public:
	CoDelQueue() : line_(0) {}
	virtual ~CoDelQueue() { delete line_; }
	virtual void enque(Packet* packet)
	{
		if (!line_)
			line_ = new CoDelLine(parameters());
		if (!has_room()) {
			drop(packet);
			return;
		}
		came(packet);
		line_->packets.add(packet);
	}
	virtual Packet* deque()
	{
		if (!line_)
			return 0;
		std::vector<Packet*> dropped;
		Packet* packet = line_->next(ecn_, dropped);
		drop_all(dropped);
		if (packet)
			went(packet);
		return packet;
	}

private:
	CoDelLine* line_;
};

/**
 * Queue/FqCoDel (RFC 8290): a line with its own CoDel for each flow of 1,024, by a hash of its
 * ends; they take turns of quantum_ bytes, new flows first. If there is no room, packets at the head of
 * the longest line are dropped, at most 64 and half of its bytes.
 *
 *   Tcl variable   unit    default
 *   quantum_       bytes   1040     what a flow may send in its turn
 *   and those of Queue/CoDel
 *
 * The hash has no random salt, so that equal scripts give equal bytes.
 */
class FqCoDelQueue : public CoDelQueueBase {
public:
	FqCoDelQueue() : lines_(LINES), deficits_(LINES), waiting_(LINES)
	{
		bind("quantum_", &quantum_bytes_);
	}
	virtual ~FqCoDelQueue()
	{
		for (int i = 0; i < LINES; i++)
			delete lines_[i];
	}
	virtual void enque(Packet* packet)
	{
		const int i = line_of(packet);
		if (!lines_[i]) {
			require(name(), quantum_bytes_ > 0, "quantum_ must be positive");
			lines_[i] = new CoDelLine(parameters());
		}
		came(packet);
		lines_[i]->packets.add(packet);
		if (!waiting_[i]) {
			waiting_[i] = true;
			deficits_[i] = quantum_bytes_;
			new_.push_back(i);
		}
		if (amount_.length() > qlim_)
			drop_from_longest();
	}
	virtual Packet* deque()
	{
		while (!new_.empty() || !old_.empty()) {
			const bool is_new = !new_.empty();
			std::list<int>& turns = is_new ? new_ : old_;
			const int i = turns.front();
			if (deficits_[i] <= 0) {
				deficits_[i] += quantum_bytes_;
				old_.splice(old_.end(), turns, turns.begin());
				continue;
			}
			std::vector<Packet*> dropped;
			Packet* packet = lines_[i]->next(ecn_, dropped);
			drop_all(dropped);
			if (packet) {
				went(packet);
				deficits_[i] -= size_of(packet);
				return packet;
			}
			// A new flow that is empty waits once among the old ones, so that it gains nothing.
			if (is_new && !old_.empty()) {
				old_.splice(old_.end(), turns, turns.begin());
			} else {
				turns.pop_front();
				waiting_[i] = false;
			}
		}
		return 0;
	}

private:
	static const int LINES = 1024;
	static const int MOST_AT_ONCE = 64;

	static int line_of(Packet* packet)
	{
		const hdr_ip* ip = hdr_ip::access(packet);
		unsigned hash = 2166136261u;	// FNV-1a of the four numbers
		const int parts[] = {ip->src_.addr_, ip->src_.port_, ip->dst_.addr_, ip->dst_.port_};
		for (int i = 0; i < 4; i++)
			hash = (hash ^ static_cast<unsigned>(parts[i])) * 16777619u;
		return static_cast<int>((hash ^ (hash >> 10) ^ (hash >> 20)) % LINES);
	}

	void drop_from_longest()
	{
		int longest = -1;
		for (int i = 0; i < LINES; i++)
			if (waiting_[i] && (longest < 0
				|| lines_[i]->packets.bytes() > lines_[longest]->packets.bytes()))
				longest = i;
		TimedPackets& packets = lines_[longest]->packets;
		const int half_bytes = packets.bytes() / 2;
		int bytes = 0;
		for (int count = 0; count < MOST_AT_ONCE && bytes <= half_bytes && !packets.empty(); count++) {
			double waited_s;
			Packet* packet = packets.take(waited_s);
			bytes += size_of(packet);
			went(packet);
			drop(packet);
		}
	}

	std::vector<CoDelLine*> lines_;
	std::vector<int> deficits_;
	std::vector<bool> waiting_;
	std::list<int> new_;
	std::list<int> old_;
	int quantum_bytes_;
};

/**
 * Queue/PIE: class Pie on one line of packets.
 *
 *   Tcl variable   unit    default
 *   target_        s       0.015    queueing delay that it aims at
 *   update_        s       0.015    time between updates of its probability
 *   burst_         s       0.15     how long a burst may last that it lets pass
 *   alpha_, beta_  1/s     0.125, 1.25
 *   packet_bytes_  bytes   1040     a queue of at most two packets never drops
 *   mark_share_    1       0.1      above this probability packets are dropped even with setbit_
 *   setbit_        0 or 1  0        marks packets that can be marked
 *   limit_         packets 50       room
 */
class PieQueue : public DelayQueue {
public:
	PieQueue() : law_(0)
	{
		bind_time("target_", &parameters_.target_s);
		bind_time("update_", &parameters_.update_s);
		bind_time("burst_", &parameters_.burst_s);
		bind("alpha_", &parameters_.alpha_hz);
		bind("beta_", &parameters_.beta_hz);
		bind("packet_bytes_", &parameters_.packet_bytes);
		bind("mark_share_", &parameters_.mark_share);
	}
	virtual ~PieQueue() { delete law_; }
	// ns-2 hands its link to every queue whose name begins like that of Queue/PI.
	virtual int command(int argc, const char* const* argv)
	{
		if (argc == 3 && strcmp(argv[1], "link") == 0)
			return TCL_OK;
		return Queue::command(argc, argv);
	}
	virtual void enque(Packet* packet)
	{
		if (!law_) {
			require(name(), parameters_.target_s > 0 && parameters_.update_s > 0,
				"target_ and update_ must be positive");
			law_ = new Pie(parameters_);
		}
		const Pie::Fate fate = law_->arrival(amount_.byteLength(), now(), ecn_ && can_be_marked(packet),
			Random::uniform());
		if (fate == Pie::DROP || !has_room()) {
			drop(packet);
			return;
		}
		if (fate == Pie::MARK)
			mark(packet);
		came(packet);
		packets_.add(packet);
	}
	virtual Packet* deque()
	{
		if (packets_.empty())
			return 0;
		double waited_s;
		Packet* packet = packets_.take(waited_s);
		went(packet);
		law_->departure(size_of(packet), amount_.byteLength(), now());
		return packet;
	}

private:
	PieParameters parameters_;
	Pie* law_;
	TimedPackets packets_;
};

static class CoDelQueueClass : public TclClass {
public:
	CoDelQueueClass() : TclClass("Queue/CoDel") {}
	TclObject* create(int, const char* const*) { return new CoDelQueue; }
} class_codel_queue;

static class FqCoDelQueueClass : public TclClass {
public:
	FqCoDelQueueClass() : TclClass("Queue/FqCoDel") {}
	TclObject* create(int, const char* const*) { return new FqCoDelQueue; }
} class_fq_codel_queue;

static class PieQueueClass : public TclClass {
public:
	PieQueueClass() : TclClass("Queue/PIE") {}
	TclObject* create(int, const char* const*) { return new PieQueue; }
} class_pie_queue;
