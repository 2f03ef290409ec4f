#include "wired_hop.h"

#include "classifier-hash.h"
#include "delay.h"
#include "drop-tail.h"
#include "flow_lookup.h"
#include "lane_scheduler.h"
#include "queue-monitor.h"
#include "trace.h"

unsigned long WiredHop::epoch_ = 1;
unsigned long WiredHop::changes_ = 1;

bool WiredHop::resume(Connector* waiting)
{
	if (waiting->hop() != drop_tail)
		return false;
	DropTail* queue = static_cast<DropTail*>(waiting);
	if (queue->summarystats || queue->q_->PacketQueue::length() == 0)
		return false;
	forward(queue->target_, queue->q_->PacketQueue::deque(), &queue->qh_, queue);
	return true;
}

void WiredHop::forward(NsObject* to, Packet* p, Handler* h)
{
	// The last call of each way is a jump, so that no registers are saved for it.
	if (to->hop() == dest_hash)
		pass_link(static_cast<DestHashClassifier*>(to), p, h);
	else if (to->hop() == trace)
		forward_traced(to, p, h);
	else
		forward(to, p, h, 0);
}

// A packet that meets a trace after a link, and then a classifier.
void WiredHop::forward_traced(NsObject* to, Packet* p, Handler* h)
{
	Trace* traced = static_cast<Trace*>(to);
	if (traced->target_ == 0 || !traced->write_plain(p))
		to->recv(p, h);
	else if (traced->target_->hop() == dest_hash)
		pass_link(static_cast<DestHashClassifier*>(traced->target_), p, h);
	else
		forward(traced->target_, p, h, 0);
}

void WiredHop::forward(NsObject* to, Packet* p, Handler* h, DropTail* queue)
{
	LaneScheduler* lanes = LaneScheduler::running();
	for (;;) {
		switch (to->hop()) {
		case connector:
			to = static_cast<Connector*>(to)->target_;
			break;
		case dest_hash: {
			DestHashClassifier* classifier = static_cast<DestHashClassifier*>(to);
			const KeptRoute& kept = route(classifier, p);
			bool known = kept.to && lanes && lanes->takes_kept_route();
			to = known ? kept.to : found_by_address(classifier, p);
			break;
		}
		case port:
			to = found_by_port(static_cast<Classifier*>(to), p);
			break;
		case snoop_in:
			static_cast<SnoopQueue*>(to)->qm_->in(p);
			to = static_cast<Connector*>(to)->target_;
			break;
		case snoop_out:
			static_cast<SnoopQueue*>(to)->qm_->out(p);
			to = static_cast<Connector*>(to)->target_;
			break;
		case trace:
			if (!static_cast<Trace*>(to)->write_plain(p)) {
				to->recv(p, h);
				return;
			}
			to = static_cast<Connector*>(to)->target_;
			break;
		case drop_tail:
			queue = static_cast<DropTail*>(to);
			p = through_queue(queue, p, lanes);
			if (p == 0)
				return;
			h = &queue->qh_;
			to = queue->target_;
			break;
		case link_delay:
			transmit(static_cast<LinkDelay*>(to), p, h, queue, lanes);
			return;
		default:
			to->recv(p, h);
			return;
		}
		if (to == 0) {
			Packet::free(p);	// as a classifier does if it finds no target
			return;
		}
	}
}

// ---------------------------------------------------------------- kept routes

inline bool WiredHop::holds(const KeptRoute& kept, const DestHashClassifier* classifier,
	int destination)
{
	return kept.epoch == epoch_ && kept.destination == destination &&
		kept.shift == classifier->shift_ && kept.mask == classifier->mask_;
}

inline const KeptRoute& WiredHop::route(DestHashClassifier* classifier, const Packet* p)
{
	int destination = hdr_ip::access(p)->daddr();
	const KeptRoute& kept = classifier->routes_.at(destination);
	if (holds(kept, classifier, destination))
		return kept;
	KeptRoute& place = classifier->routes_.place(destination, epoch_);
	find_route(place, classifier, destination);
	return place;
}

void WiredHop::find_route(KeptRoute& route, DestHashClassifier* classifier, int destination)
{
	++changes_;
	route = KeptRoute();
	route.epoch = epoch_;
	route.destination = destination;
	route.shift = classifier->shift_;
	route.mask = classifier->mask_;
	long slot = classifier->get_hash(0, classifier->mshift(destination), 0);
	route.to = slot <= classifier->maxslot_ ? at_slot(classifier, slot) : 0;
	// A ring of connectors is no route.
	for (int i = 0; i < 8 && route.to && route.to->hop() == connector; ++i) {
		NsObject* next = static_cast<Connector*>(route.to)->target_;
		if (next == 0)
			return;
		route.to = next;
	}
	if (route.to)
		follow(route);
}

// Sets queue, link, monitors and traces, if nothing else is there.
void WiredHop::follow(KeptRoute& route)
{
	DropTail* queue = 0;
	NsObject* to = route.to;
	for (int i = 0; i < 16 && to; ++i) {
		switch (to->hop()) {
		case connector:
			break;
		case snoop_in:
		case snoop_out:
		case trace:
			if (queue == 0 && route.ins < KeptRoute::watchers)
				route.in[route.ins++] = static_cast<Connector*>(to);
			else if (queue && route.outs < KeptRoute::watchers)
				route.out[route.outs++] = static_cast<Connector*>(to);
			else
				return;
			break;
		case drop_tail:
			if (queue)
				return;
			queue = static_cast<DropTail*>(to);
			break;
		case link_delay:
			if (queue == 0)
				return;
			route.queue = queue;
			route.link = static_cast<LinkDelay*>(to);
			route.unwatched_link = route.ins + route.outs == 0 ? route.link : 0;
			return;
		default:
			return;
		}
		to = static_cast<Connector*>(to)->target_;
	}
}

inline void WiredHop::pass_link(DestHashClassifier* classifier, Packet* p, Handler* h)
{
	int destination = hdr_ip::access(p)->daddr();
	const KeptRoute& kept = classifier->routes_.at(destination);
	LaneScheduler* lanes = LaneScheduler::running();
	if (!holds(kept, classifier, destination) || lanes == 0 || !lanes->takes_all_kept_routes())
		pass_otherwise(classifier, p, h);
	else
		pass(kept, classifier, p, h, lanes);
}

// A packet whose route is not known, or which takes it by chance.
void WiredHop::pass_otherwise(DestHashClassifier* classifier, Packet* p, Handler* h)
{
	int destination = hdr_ip::access(p)->daddr();
	const KeptRoute& kept = classifier->routes_.at(destination);
	LaneScheduler* lanes = LaneScheduler::running();
	if (holds(kept, classifier, destination) && lanes && lanes->takes_kept_route())
		pass(kept, classifier, p, h, lanes);
	else
		forward(classifier, p, h, 0);
}

inline void WiredHop::pass(const KeptRoute& kept, DestHashClassifier* classifier, Packet* p,
	Handler* h, LaneScheduler* lanes)
{
	NsObject* to = kept.to;
	if (kept.unwatched_link) {
		pass_idle(kept, p, h, lanes);
	} else if (kept.link) {
		pass_watchers(kept, p, h, lanes);
	} else if (to && to->hop() == port) {
		NsObject* agent = at_slot(static_cast<Classifier*>(to), hdr_ip::access(p)->dport());
		if (agent && agent->hop() == other)
			agent->recv(p, h);
		else
			forward(to, p, h, 0);
	} else {
		forward(to ? to : classifier, p, h, 0);
	}
}

// Does a packet find an idle link, as nearly always, which nobody watches? Then it is on its way.
inline void WiredHop::pass_idle(const KeptRoute& kept, Packet* p, Handler* h, LaneScheduler* lanes)
{
	LinkDelay* link = kept.unwatched_link;
	DropTail* queue = kept.queue;
	Event* resume = queue->reserved_;
	if (resume != &link->intr_ || !lanes->passed(resume) || !queue->unblock_on_resume_ ||
		queue->q_->PacketQueue::length() != 0 || queue->qlim_ <= 1 || queue->qib_ ||
		queue->summarystats || !queue->reserve_resume_ || Queue::utilization_kept_ ||
		!takes_at_once(link, p)) {
		forward(queue, p, h, 0);
		return;
	}
	double txt = link->txtime(p);
	double delay = txt + link->delay_;
	if (!(txt >= 0) || !(delay >= 0) || !lanes->has_last(link->lane_, delay)) {
		forward(queue, p, h, 0);
		return;
	}
	p->next_ = 0;
	queue->utilization_lost_ = true;
	queue->blocked_ = 1;
	lanes->deliver_last(link->target_, p, delay, link->lane_);
	lanes->renew(resume, txt);
	if (link->lane_->size() == 1)
		lanes->sort(link->lane_);
}

// Shows a packet to a monitor or a trace. False if the packet has gone another way from there:
// monitors may call scripts, which may change everything, and so may traces.
inline bool WiredHop::watch(Connector* watcher, Packet* p, Handler* h, DropTail* from,
	unsigned long known)
{
	switch (watcher->hop()) {
	case trace:
		if (static_cast<Trace*>(watcher)->write_plain(p))
			return true;
		watcher->recv(p, h);
		return false;
	case snoop_in:
		static_cast<SnoopQueue*>(watcher)->qm_->in(p);
		break;
	default:
		static_cast<SnoopQueue*>(watcher)->qm_->out(p);
	}
	if (known == changes_)
		return true;
	forward(watcher->target_, p, h, from);
	return false;
}

void WiredHop::pass_watchers(const KeptRoute& route, Packet* p, Handler* h, LaneScheduler* lanes)
{
	const unsigned long known = changes_;
	for (int i = 0; i < route.ins; ++i)
		if (!watch(route.in[i], p, h, 0, known))
			return;
	DropTail* queue = route.queue;
	settle(queue, lanes);
	if (!is_free(queue)) {
		if (queue->blocked_ && has_room(queue))
			queue->q_->PacketQueue::enque(p);
		else
			forward(queue, p, h, 0);
		return;
	}
	p->next_ = 0;
	queue->keep_utilization(Scheduler::instance().clock());
	queue->blocked_ = 1;
	LinkDelay* link = route.link;
	for (int i = 0; i < route.outs; ++i)
		if (!watch(route.out[i], p, &queue->qh_, queue, known))
			return;
	transmit(link, p, &queue->qh_, queue, lanes);
}

// ---------------------------------------------------------------- classifiers

inline NsObject* WiredHop::at_slot(const Classifier* classifier, long slot)
{
	return slot >= 0 && slot < classifier->nslot_ ? classifier->slot_[slot] : 0;
}

inline NsObject* WiredHop::found_by_address(DestHashClassifier* classifier, Packet* p)
{
	// The key is made of the destination alone.
	int destination = classifier->mshift(hdr_ip::access(p)->daddr());
	long slot = classifier->get_hash(0, destination, 0);
	NsObject* found = slot <= classifier->maxslot_ ? at_slot(classifier, slot) : 0;
	return found ? found : classifier->find(p);
}

NsObject* WiredHop::find_flow(HashClassifier* classifier, Packet* p)
{
	hdr_ip* ip = hdr_ip::access(p);
	long slot = classifier->get_hash(classifier->mshift(ip->saddr()),
		classifier->mshift(ip->daddr()), ip->flowid());
	NsObject* found = slot <= classifier->maxslot_ ? at_slot(classifier, slot) : 0;
	if (found == 0)
		return classifier->find(p);
	KeptFlows::Flow& kept = classifier->flows_.place(ip->saddr(), ip->daddr(), ip->flowid());
	kept.epoch = epoch_;
	kept.source = ip->saddr();
	kept.destination = ip->daddr();
	kept.fid = ip->flowid();
	kept.shift = classifier->shift_;
	kept.mask = classifier->mask_;
	kept.found = found;
	return found;
}

inline NsObject* WiredHop::found_by_port(Classifier* classifier, Packet* p)
{
	NsObject* found = at_slot(classifier, hdr_ip::access(p)->dport());
	return found ? found : classifier->find(p);
}

// ---------------------------------------------------------------- queue and link

// The packet that leaves the queue for the link now that p has come, or 0.
inline Packet* WiredHop::through_queue(DropTail* queue, Packet* p, LaneScheduler* lanes)
{
	settle(queue, lanes);
	if (is_free(queue)) {
		p->next_ = 0;
	} else {
		if (has_room(queue))
			queue->q_->PacketQueue::enque(p);
		else
			queue->DropTail::enque(p);
		if (queue->blocked_)
			return 0;
		p = queue->DropTail::deque();
		if (p == 0)
			return 0;
	}
	queue->keep_utilization(Scheduler::instance().clock());
	queue->blocked_ = 1;
	return p;
}

// Whether enque() would do no more than to append a packet.
inline bool WiredHop::has_room(const DropTail* queue)
{
	return queue->q_->PacketQueue::length() + 1 < queue->qlim_ && !queue->qib_ &&
		!queue->summarystats;
}

// Queue::settle(), for the usual case that the link has been idle for a while.
inline void WiredHop::settle(DropTail* queue, LaneScheduler* lanes)
{
	Event* resume = queue->reserved_;
	if (resume == 0)
		return;
	if (lanes && lanes->passed(resume)) {
		lanes->withdraw(resume);
		queue->reserved_ = 0;
		queue->keep_utilization(resume->time_);
		queue->blocked_ = !queue->unblock_on_resume_;
	} else {
		queue->settle();
	}
}

// Whether enque() would accept a packet and deque() return it at once.
inline bool WiredHop::is_free(DropTail* queue)
{
	return !queue->blocked_ && queue->q_->PacketQueue::length() == 0 && queue->qlim_ > 1 &&
		!queue->qib_ && !queue->summarystats;
}

// Whether nothing keeps the link from scheduling the arrival of a packet.
inline bool WiredHop::takes_at_once(const LinkDelay* link, const Packet* p)
{
	return !link->dynamic_ && !link->avoidReordering_ && link->target_ && p->uid_ <= 0;
}

// LinkDelay::recv()
inline void WiredHop::transmit(LinkDelay* link, Packet* p, Handler* h, DropTail* queue,
	LaneScheduler* lanes)
{
	if (lanes == 0 || h == 0 || link->intr_.uid_ > 0 || !takes_at_once(link, p)) {
		link->LinkDelay::recv(p, h);
		return;
	}
	double txt = link->txtime(p);
	double delay = txt + link->delay_;
	if (delay >= 0 && lanes->has_last(link->lane_, delay)) {
		lanes->deliver_last(link->target_, p, delay, link->lane_);
		if (link->lane_->size() == 1)
			lanes->sort(link->lane_);
	} else {
		lanes->deliver(link->target_, p, delay, link->lane_);
	}
	if (queue && queue->DropTail::resumes_silently()) {
		lanes->LaneScheduler::reserve(h, &link->intr_, txt);
		queue->reserved_ = &link->intr_;
	} else if (queue || !h->reserve(&link->intr_, txt)) {
		lanes->schedule_single(h, &link->intr_, txt);
	}
}
