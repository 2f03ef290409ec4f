// The way of a packet over plain wired links, without a virtual call for each object on it.
#ifndef bdpbench_wired_hop_h
#define bdpbench_wired_hop_h

class Classifier;
class DestHashClassifier;
class DropTail;
class Handler;
class HashClassifier;
class LaneScheduler;
class LinkDelay;
class NsObject;
class Packet;

/*
 * A hop takes a packet through half a dozen small objects, each of which calls the virtual recv()
 * of the next. forward() does what the objects of the commonest classes do, one after another in
 * a loop, and calls recv() of the first object that is of another class.
 *
 * Objects are told apart by NsObject::hop(), which only the functions that create objects of
 * exactly these classes set: a subclass, which may do anything in its recv(), is `other`.
 */
class WiredHop {
public:
	enum Kind { other, connector, dest_hash, flow_hash, port, snoop_in, snoop_out, drop_tail,
		link_delay };

	// As to->recv(p, h).
	static void forward(NsObject* to, Packet* p, Handler* h);
	// As classifier->find(p).
	static NsObject* found(Classifier*, Packet*);
private:
	static NsObject* at_slot(const Classifier*, long slot);
	static NsObject* found_by_address(DestHashClassifier*, Packet*);
	static NsObject* found_by_flow(HashClassifier*, Packet*);
	static NsObject* found_by_port(Classifier*, Packet*);
	static Packet* through_queue(DropTail*, Packet*, LaneScheduler*);
	static void settle(DropTail*, LaneScheduler*);
	static bool is_free(DropTail*);
	static void transmit(LinkDelay*, Packet*, Handler*, DropTail*, LaneScheduler*);
};

#endif
