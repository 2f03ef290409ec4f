#include "kept_routes.h"

KeptRoute KeptRoutes::none_;
KeptFlows::Flow KeptFlows::none_;

KeptRoute& KeptRoutes::place(int destination, unsigned long epoch)
{
	for (;;) {
		const KeptRoute& held = at(destination);
		bool free = held.epoch != epoch || held.destination == destination;
		if (places_ != &none_ && (free || last_ + 1 >= most))
			return places_[destination & last_];
		// Routes are found again at the next packets.
		int size = places_ == &none_ ? 1 : 2 * (last_ + 1);
		if (places_ != &none_)
			delete[] places_;
		places_ = new KeptRoute[size];
		last_ = size - 1;
	}
}

KeptFlows::Flow& KeptFlows::place(int source, int destination, int fid)
{
	if (places_ == &none_) {
		places_ = new Flow[places];
		last_ = places - 1;
	}
	return places_[(source + 3 * destination + 5 * fid) & last_];
}
