// A plain queue that marks arriving packets while it is long.

#include <deque>

#include "queue_discipline.h"

class EcnThreshold : public QueueDiscipline {
public:
	explicit EcnThreshold(const QueueParameters& given)
		: mark_from_pkts_(given["mark_from_pkts_"]), drops_front_(given["drop_front_"] >= 0.5)
	{
	}

	void enqueue(QueuedPacket* packet, LinkQueue& queue) override
	{
		const int found_pkts = queue.length_pkts();
		if (found_pkts >= queue.limit_pkts()) {
			if (!drops_front_) {
				queue.drop(packet);
				return;
			}
			queue.drop(packets_.front());
			packets_.pop_front();
		}
		if (found_pkts >= mark_from_pkts_)
			queue.mark(packet);
		packets_.push_back(packet);
	}

	QueuedPacket* dequeue(LinkQueue&) override
	{
		if (packets_.empty())
			return nullptr;
		QueuedPacket* packet = packets_.front();
		packets_.pop_front();
		return packet;
	}

private:
	double mark_from_pkts_;
	bool drops_front_;
	std::deque<QueuedPacket*> packets_;
};

QUEUE_DISCIPLINE(EcnThreshold)
