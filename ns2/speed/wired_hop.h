// The way of a packet over plain wired links, without a virtual call for each object on it.
#ifndef bdpbench_wired_hop_h
#define bdpbench_wired_hop_h

class Classifier;
class Connector;
class DestHashClassifier;
class DropTail;
class Handler;
class HashClassifier;
class LaneScheduler;
class LinkDelay;
class NsObject;
class Packet;
struct KeptRoute;

/*
 * A hop takes a packet through half a dozen small objects, each of which calls the virtual recv()
 * of the next. forward() does what the objects of the commonest classes do, one after another in
 * a loop, and calls recv() of the first object that is of another class.
 *
 * Objects are told apart by NsObject::hop(), which only the functions that create objects of
 * exactly these classes set: a subclass, which may do anything in its recv(), is `other`.
 *
 * The way behind a classifier is kept for each destination (KeptRoute), so that a hop is a
 * classifier, monitors, traces, a queue and a link. All that leads to another way calls forget_routes():
 * commands that set targets, changes of a classifier's table, objects that come to an end. What
 * scripts can set by bound variables is read at each packet.
 */
class WiredHop {
public:
	enum Kind { other, connector, dest_hash, flow_hash, port, snoop_in, snoop_out, trace,
		drop_tail, link_delay };

	// As to->recv(p, h).
	static void forward(NsObject* to, Packet* p, Handler* h);
	// As queue->resume(), if it is a plain queue with packets; otherwise false.
	static bool resume(Connector* queue);
	// From now on an object may have another target.
	static void forget_routes() {
		++epoch_;
		++changes_;
	}
	// As classifier->find(p); in flow_lookup.h.
	static NsObject* found(Classifier*, Packet*);
private:
	__attribute__((noinline)) static void forward(NsObject* to, Packet*, Handler*, DropTail* from);
	__attribute__((noinline)) static void forward_traced(NsObject* to, Packet*, Handler*);
	static bool holds(const KeptRoute&, const DestHashClassifier*, int destination);
	static const KeptRoute& route(DestHashClassifier*, const Packet*);
	static void find_route(KeptRoute&, DestHashClassifier*, int destination);
	static void follow(KeptRoute&);
	__attribute__((always_inline)) static void pass_link(DestHashClassifier*, Packet*, Handler*);
	__attribute__((noinline)) static void pass_otherwise(DestHashClassifier*, Packet*, Handler*);
	__attribute__((always_inline)) static void pass(const KeptRoute&, DestHashClassifier*, Packet*,
		Handler*, LaneScheduler*);
	__attribute__((always_inline)) static void pass_idle(const KeptRoute&, Packet*, Handler*,
		LaneScheduler*);
	__attribute__((noinline)) static void pass_watchers(const KeptRoute&, Packet*, Handler*,
		LaneScheduler*);
	__attribute__((always_inline)) static bool watch(Connector*, Packet*, Handler*, DropTail* from,
		unsigned long known);
	static NsObject* at_slot(const Classifier*, long slot);
	static NsObject* found_by_address(DestHashClassifier*, Packet*);
	__attribute__((noinline)) static NsObject* find_flow(HashClassifier*, Packet*);
	static NsObject* found_by_port(Classifier*, Packet*);
	static Packet* through_queue(DropTail*, Packet*, LaneScheduler*);
	static bool has_room(const DropTail*);
	static void settle(DropTail*, LaneScheduler*);
	static bool is_free(DropTail*);
	static bool takes_at_once(const LinkDelay*, const Packet*);
	static void transmit(LinkDelay*, Packet*, Handler*, DropTail*, LaneScheduler*);

	static unsigned long epoch_;	// greater than 0, changes with what routes depend on
	static unsigned long changes_;	// changes with any kept route, too
};

#endif
