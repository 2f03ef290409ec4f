#include "trace_line.h"
#include <stddef.h>
#include "address.h"
#include "channel_place.h"
#include "decimal.h"
#include "flags.h"
#include "ip.h"
#include "scheduler.h"

namespace {

const int kept_characters = 96;
unsigned form_of_addresses = 1;	// counts changes of the form of addresses

// The words from the packet's type to its destination, a space, and everything they depend on.
struct PacketWords {
	PacketWords() : form(0) {}
	// The fields are compared one by one with those of the packet. A copy of them all would be
	// written in parts and read as a whole, for which a processor waits.
	bool describe(Packet* p) const {
		const hdr_cmn* common = hdr_cmn::access(p);
		const hdr_ip* ip = hdr_ip::access(p);
		return type == common->ptype_ && size == common->size_ && flow == ip->fid_ &&
			source == ip->src_.addr_ && source_port == ip->src_.port_ &&
			destination == ip->dst_.addr_ && destination_port == ip->dst_.port_ &&
			flags == flags_of(p) && form == form_of_addresses;
	}
	// All flags that a line shows are among the first eight, each of one byte.
	static uint64_t flags_of(Packet* p) {
		uint64_t flags;
		memcpy(&flags, hdr_flags::access(p), sizeof flags);
		return flags;
	}
	packet_t type;
	int size, flow, source, source_port, destination, destination_port;
	unsigned form;
	uint64_t flags;
	int length, name_length, flags_at, addresses_at;	// characters
	char text[kept_characters];
};
// Fails to compile if the flags have moved.
typedef char flags_are_first[offsetof(hdr_flags, qs_) == sizeof(uint64_t) ? 1 : -1];

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

// The flags of ns-2's plain lines.
void put_flags(char* out, const hdr_flags* set)
{
	out[0] = set->ecn_ ? 'C' : '-';
	out[1] = set->pri_ ? 'P' : '-';
	out[2] = '-';
	out[3] = set->cong_action_ ? 'A' : '-';
	out[4] = set->ecn_to_echo_ ? 'E' : '-';
	out[5] = set->fs_ ? 'F' : '-';
	out[6] = set->ecn_capable_ ? 'N' : '-';
	out[7] = 0;
}

// False if the words do not fit, or the type has no name.
__attribute__((noinline)) bool compose(PacketWords& words, Packet* p)
{
	hdr_cmn* common = hdr_cmn::access(p);
	hdr_ip* ip = hdr_ip::access(p);
	const char* name = packet_info.name(common->ptype());
	if (name == 0)
		return false;
	char flags[8];
	put_flags(flags, hdr_flags::access(p));
	char text[3 * kept_characters];
	int n = snprintf(text, kept_characters, "%s %d %s %d", name, common->size(), flags,
		ip->flowid());
	if (n >= kept_characters)
		return false;
	words.addresses_at = n + 1;
	words.name_length = strlen(name);
	words.flags_at = snprintf(0, 0, "%s %d ", name, common->size());
	n += put_address(text + n, kept_characters, ip->saddr(), ip->sport());
	n += put_address(text + n, kept_characters, ip->daddr(), ip->dport());
	if (n >= kept_characters)
		return false;
	text[n++] = ' ';
	memcpy(words.text, text, n);
	words.length = n;
	words.type = common->ptype();
	words.size = common->size();
	words.flow = ip->flowid();
	words.source = ip->saddr();
	words.source_port = ip->sport();
	words.destination = ip->daddr();
	words.destination_port = ip->dport();
	words.flags = PacketWords::flags_of(p);
	words.form = form_of_addresses;
	return true;
}

// 0 if there are no such words.
inline const PacketWords* words_of(Packet* p)
{
	static PacketWords kept[256];
	const hdr_ip* ip = hdr_ip::access(p);
	unsigned hash = unsigned(ip->fid_) * 31 + unsigned(ip->src_.addr_) * 7 +
		unsigned(ip->dst_.addr_) * 13 + unsigned(hdr_cmn::access(p)->size_);
	PacketWords& words = kept[hash % 256];
	return words.describe(p) || compose(words, p) ? &words : 0;
}

__attribute__((noinline)) void compose(TraceNodes& nodes, int from, int to)
{
	nodes.from = from;
	nodes.to = to;
	nodes.length = sprintf(nodes.text, " %d %d ", from, to);
}

inline char* put_nodes(char* out, int from, int to, TraceNodes& nodes)
{
	if (nodes.length == 0 || nodes.from != from || nodes.to != to)
		compose(nodes, from, to);
	memcpy(out, nodes.text, sizeof nodes.text);
	return out + nodes.length;
}

__attribute__((always_inline)) inline char* put_line(char* out, char event, int from, int to,
	Packet* p, int seqno, TraceNodes& nodes)
{
	const PacketWords* words = words_of(p);
	if (words == 0 || event == 0)
		return 0;
	*out++ = event;
	*out++ = ' ';
	out = decimal::put_seconds(out, Scheduler::instance().clock());
	out = put_nodes(out, from, to, nodes);
	memcpy(out, words->text, kept_characters);
	out += words->length;
	out = decimal::put_int(out, seqno);
	*out++ = ' ';
	return decimal::put_int(out, hdr_cmn::access(p)->uid());
}

}  // namespace

int TraceLine::write(char* text, char event, int from, int to, Packet* p, int seqno,
	TraceNodes& nodes)
{
	char* end = put_line(text, event, from, to, p, seqno, nodes);
	if (end == 0)
		return 0;
	*end = 0;
	return int(end - text);
}

int TraceLine::write_nam(char* text, char event, int from, int to, Packet* p, int seqno,
	const char* message)
{
	using namespace decimal;
	const PacketWords* words = words_of(p);
	if (words == 0 || event == 0)
		return 0;
	char* out = text;
	*out++ = event;
	out = put(out, " -t ");
	out = put_general(out, Scheduler::instance().clock());
	out = put(out, " -s ");
	out = put_int(out, from);
	out = put(out, " -d ");
	out = put_int(out, to);
	out = put(out, " -p ");
	memcpy(out, words->text, words->name_length);
	out += words->name_length;
	out = put(out, " -e ");
	out = put_int(out, words->size);
	out = put(out, " -c ");
	out = put_int(out, words->flow);
	out = put(out, " -i ");
	out = put_int(out, hdr_cmn::access(p)->uid());
	out = put(out, " -a ");
	out = put_int(out, words->flow);
	out = put(out, " -x {");
	const int addresses_length = words->length - words->addresses_at;
	memcpy(out, words->text + words->addresses_at, addresses_length);
	out += addresses_length;
	out = put_int(out, seqno);
	*out++ = ' ';
	memcpy(out, words->text + words->flags_at, 7);
	out += 7;
	*out++ = ' ';
	out = put_string(out, message);
	*out++ = '}';
	*out = 0;
	return int(out - text);
}

bool TraceLine::write_to(Tcl_Channel channel, char event, int from, int to, Packet* p, int seqno,
	TraceNodes& nodes)
{
	ChannelPlace place(channel, room);
	if (!place.exists())
		return false;
	char* end = put_line(place.text(), event, from, to, p, seqno, nodes);
	if (end == 0)
		return false;
	*end++ = '\n';
	place.add_until(end);
	return true;
}

void TraceLine::forget_addresses()
{
	if (++form_of_addresses == 0)
		++form_of_addresses;
}

unsigned TraceLine::address_form()
{
	return form_of_addresses;
}
