// How monitors find the flow of a packet.
#ifndef bdpbench_flow_lookup_h
#define bdpbench_flow_lookup_h

#include "wired_hop.h"

inline NsObject* WiredHop::found(Classifier* any, Packet* p)
{
	if (any->hop() != flow_hash)
		return any->find(p);
	HashClassifier* classifier = static_cast<HashClassifier*>(any);
	const hdr_ip* ip = hdr_ip::access(p);
	const KeptFlows::Flow& kept = classifier->flows_.at(ip->src_.addr_, ip->dst_.addr_, ip->fid_);
	if (kept.epoch == epoch_ && kept.source == ip->src_.addr_ &&
		kept.destination == ip->dst_.addr_ && kept.fid == ip->fid_ &&
		kept.shift == classifier->shift_ && kept.mask == classifier->mask_)
		return kept.found;
	return find_flow(classifier, p);
}

#endif
