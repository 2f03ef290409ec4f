// What is behind a classifier for packets to one destination.
#ifndef bdpbench_kept_routes_h
#define bdpbench_kept_routes_h

#include <stddef.h>

class Connector;
class DropTail;
class LinkDelay;
class NsObject;

/*
 * The way from a classifier to the link that a destination's packets take, or to the first object
 * that has to be asked. A route holds as long as WiredHop's epoch and the classifier's bound
 * variables shift_ and mask_ are what they were.
 */
struct KeptRoute {
	enum { watchers = 4 };	// monitors and traces, at most, on each side of a queue

	KeptRoute() : epoch(0), destination(0), shift(0), mask(0), to(0), queue(0), link(0),
		unwatched_link(0), ins(0), outs(0) {}
	unsigned long epoch;
	int destination, shift, mask;
	NsObject* to;		// the first object that is more than a connector; 0: there is no route
	DropTail* queue;	// before the link
	LinkDelay* link;	// 0: others than watchers and a plain queue are between `to` and a link
	LinkDelay* unwatched_link;	// link, if there are no watchers; else 0
	int ins, outs;
	Connector* in[watchers];	// before the queue
	Connector* out[watchers];	// between queue and link
};

/*
 * Routes of one classifier: a table by the last bits of destinations, which grows as long as two
 * destinations want the same place.
 */
class KeptRoutes {
public:
	KeptRoutes() : places_(&none_), last_(0) {}
	~KeptRoutes() {
		if (places_ != &none_)
			delete[] places_;
	}
	// The place of a destination; may hold something else.
	const KeptRoute& at(int destination) const { return places_[destination & last_]; }
	// The same, to be filled.
	KeptRoute& place(int destination, unsigned long epoch);
private:
	KeptRoutes(const KeptRoutes&);
	KeptRoutes& operator=(const KeptRoutes&);
	enum { most = 1024 };
	static KeptRoute none_;	// of all classifiers that keep no route yet
	KeptRoute* places_;
	int last_;	// index of the last place, a power of two less 1
};

/*
 * Flows that a hash classifier found, by what its key is made of. A flow holds as long as a route.
 */
class KeptFlows {
public:
	struct Flow {
		Flow() : epoch(0), found(0) {}
		unsigned long epoch;
		int source, destination, fid, shift, mask;
		NsObject* found;
	};

	KeptFlows() : places_(&none_), last_(0) {}
	~KeptFlows() {
		if (places_ != &none_)
			delete[] places_;
	}
	// The place of a flow; may hold something else.
	const Flow& at(int source, int destination, int fid) const {
		return places_[(source + 3 * destination + 5 * fid) & last_];
	}
	// The same, to be filled.
	Flow& place(int source, int destination, int fid);
private:
	KeptFlows(const KeptFlows&);
	KeptFlows& operator=(const KeptFlows&);
	enum { places = 256 };	// a power of two
	static Flow none_;	// of all classifiers that keep no flow yet
	Flow* places_;
	int last_;	// index of the last place
};

#endif
