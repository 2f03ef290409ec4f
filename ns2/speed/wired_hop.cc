#include "wired_hop.h"

#include "classifier-hash.h"
#include "delay.h"
#include "drop-tail.h"
#include "lane_scheduler.h"
#include "queue-monitor.h"

void WiredHop::forward(NsObject* to, Packet* p, Handler* h)
{
	LaneScheduler* lanes = LaneScheduler::running();
	DropTail* queue = 0;	// from which the packet came
	for (;;) {
		switch (to->hop()) {
		case connector:
			to = static_cast<Connector*>(to)->target_;
			break;
		case dest_hash:
			to = found_by_address(static_cast<DestHashClassifier*>(to), p);
			break;
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

// ---------------------------------------------------------------- classifiers

NsObject* WiredHop::found(Classifier* classifier, Packet* p)
{
	if (classifier->hop() == flow_hash)
		return found_by_flow(static_cast<HashClassifier*>(classifier), p);
	return classifier->find(p);
}

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

inline NsObject* WiredHop::found_by_flow(HashClassifier* classifier, Packet* p)
{
	hdr_ip* ip = hdr_ip::access(p);
	long slot = classifier->get_hash(classifier->mshift(ip->saddr()),
		classifier->mshift(ip->daddr()), ip->flowid());
	NsObject* found = slot <= classifier->maxslot_ ? at_slot(classifier, slot) : 0;
	return found ? found : classifier->find(p);
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

// LinkDelay::recv()
inline void WiredHop::transmit(LinkDelay* link, Packet* p, Handler* h, DropTail* queue,
	LaneScheduler* lanes)
{
	if (lanes == 0 || queue == 0 || link->dynamic_ || link->avoidReordering_ ||
		link->intr_.uid_ > 0) {
		link->LinkDelay::recv(p, h);
		return;
	}
	double txt = link->txtime(p);
	lanes->deliver(link->target_, p, txt + link->delay_, link->lane_);
	if (queue->DropTail::resumes_silently()) {
		lanes->LaneScheduler::reserve(h, &link->intr_, txt);
		queue->reserved_ = &link->intr_;
	} else {
		lanes->schedule(h, &link->intr_, txt);
	}
}
