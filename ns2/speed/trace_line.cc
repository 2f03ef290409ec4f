#include "trace_line.h"
#include "address.h"
#include "decimal.h"
#include "flags.h"
#include "ip.h"
#include "scheduler.h"
#include "trace.h"

namespace {

const int kept_characters = 96;
unsigned address_form = 1;	// counts changes of the form of addresses

// Everything on which the words from the packet's type to its destination depend.
struct PacketKey {
	PacketKey() : form(0) {}
	explicit PacketKey(Packet* p) {
		hdr_cmn* common = hdr_cmn::access(p);
		hdr_ip* ip = hdr_ip::access(p);
		hdr_flags* set = hdr_flags::access(p);
		type = common->ptype();
		size = common->size();
		flags = (set->ecn_ != 0) | (set->pri_ != 0) << 1 | (set->cong_action_ != 0) << 3 |
			(set->ecn_to_echo_ != 0) << 4 | (set->fs_ != 0) << 5 |
			(set->ecn_capable_ != 0) << 6;
		flow = ip->flowid();
		source = ip->saddr();
		source_port = ip->sport();
		destination = ip->daddr();
		destination_port = ip->dport();
		form = address_form;
	}
	bool operator==(const PacketKey& o) const {
		return type == o.type && size == o.size && flags == o.flags && flow == o.flow &&
			source == o.source && source_port == o.source_port &&
			destination == o.destination && destination_port == o.destination_port &&
			form == o.form;
	}
	packet_t type;
	int size, flags, flow, source, source_port, destination, destination_port;
	unsigned form;
};

struct PacketWords {
	PacketKey key;
	int length;
	char text[kept_characters];
};

// node.port, which Address turns into text
int put_address(char* out, size_t room, int node, int port)
{
	char* node_text = Address::instance().print_nodeaddr(node);
	char* port_text = Address::instance().print_portaddr(port);
	int length = snprintf(out, room, " %s.%s", node_text, port_text);
	delete[] node_text;
	delete[] port_text;
	return length;
}

// False if the words do not fit, or the type has no name.
bool compose(PacketWords& words, const PacketKey& key)
{
	const char* name = packet_info.name(key.type);
	if (name == 0)
		return false;
	char flags[] = "CP-AEFN";
	for (int i = 0; flags[i] != 0; ++i)
		if (!(key.flags >> i & 1))
			flags[i] = '-';
	char text[3 * kept_characters];
	int n = snprintf(text, kept_characters, "%s %d %s %d", name, key.size, flags,
		key.flow);
	if (n >= kept_characters)
		return false;
	n += put_address(text + n, kept_characters, key.source, key.source_port);
	n += put_address(text + n, kept_characters, key.destination, key.destination_port);
	if (n >= kept_characters)
		return false;
	memcpy(words.text, text, n);
	words.length = n;
	words.key = key;
	return true;
}

// 0 if there are no such words.
const PacketWords* words_of(Packet* p)
{
	static PacketWords kept[256];
	PacketKey key(p);
	unsigned hash = unsigned(key.flow) * 31 + unsigned(key.source) * 7 +
		unsigned(key.destination) * 13 + unsigned(key.size);
	PacketWords& words = kept[hash % 256];
	return words.key == key || compose(words, key) ? &words : 0;
}

char* put_now(char* out)
{
	static double kept_time = -1;
	static char text[32];
	static int length = 0;
	double now = Scheduler::instance().clock();
	if (now != kept_time) {
		length = int(decimal::put_seconds(text, now) - text);
		kept_time = now;
	}
	memcpy(out, text, sizeof text);
	return out + length;
}

}  // namespace

int TraceLine::write(char* text, char event, int from, int to, Packet* p)
{
	const PacketWords* words = words_of(p);
	if (words == 0 || event == 0)
		return 0;
	char* out = text;
	*out++ = event;
	*out++ = ' ';
	out = put_now(out);
	*out++ = ' ';
	out = decimal::put_int(out, from);
	*out++ = ' ';
	out = decimal::put_int(out, to);
	*out++ = ' ';
	memcpy(out, words->text, kept_characters);
	out += words->length;
	*out++ = ' ';
	out = decimal::put_int(out, Trace::get_seqno(p));
	*out++ = ' ';
	out = decimal::put_int(out, hdr_cmn::access(p)->uid());
	*out = 0;
	return int(out - text);
}

void TraceLine::forget_addresses()
{
	++address_form;
}
