/**
 * Flows over a chain of bottlenecks in ns-3, with the output files of tcl/lib/recorder.tcl.
 *
 * Arguments are pairs -key value, in any order; bdpbench/studies/engines.py makes them of a scenario:
 *   -duration_s s  -datadir folder  -sample_s s  -queue_sample_s s  -seed n  -substream n
 *   -packet_bytes n              payload of a segment
 *   -window_pkts n               room in the buffers of senders and receivers
 *   -default.<Class>.<Attribute> default of an attribute of ns-3
 *   -links N                     and for each link i = 0, 1, ...
 *   -link.<i>.mbps, .delay_ms, .holds_pkts, optionally .loss_rate, .loss_burst_pkts,
 *   .queue RedQueueDisc instead of DropTail, .queue.<Attribute> of it, .quantum_bytes n for FqCoDelQueueDisc
 *   -flows N                     and for each flow i = 0, 1, ...
 *   -flow.<i>.sender TcpCubic    congestion control, and .set.<Attribute> of it
 *   -flow.<i>.socket.<Attribute> of the sockets at both ends
 *   -flow.<i>.start_s, .access_mbps, .access_delay_ms, .receiver_delay_ms
 *   optionally .loses "3 7" packets that its sender's link loses, .within_s 0, .packets n, .recorded 1, .reverse 0, .enters 0, .leaves N-1
 *
 * Link i is between routers i and i + 1. The access links have room for a whole window.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/traffic-control-module.h"

#include "arguments.h"
#include "wire.h"

using namespace ns3;

namespace {

/** Streams of random numbers: one for each purpose, so that parts do not affect each other. */
const int64_t STARTS = 1, LOSSES = 1000, QUEUES = 2000;
const uint16_t PORT = 5000;

double now_s() { return Simulator::Now().GetSeconds(); }

double mbps_of(double bytes, double seconds) { return seconds > 0 ? 8e-6 * bytes / seconds : 0; }

std::string text(const char* format, double value)
{
	char buffer[64];
	std::snprintf(buffer, sizeof buffer, format, value);
	return buffer;
}

/** A time, s, with two decimals, as in all files of samples. */
std::string time_text() { return text("%.2f", now_s()); }

/** A number that is whole, and may be larger than an int. */
std::string whole(double value) { return text("%.0f", value); }

/** All output files, which are complete when the run ends, or the run fails. */
class Files {
public:
	std::ofstream* opened(const std::string& name, const std::string& folder)
	{
		names_.push_back(folder + "/" + name);
		files_.push_back(std::make_unique<std::ofstream>(names_.back()));
		if (!*files_.back())
			fail("cannot write " + names_.back());
		return files_.back().get();
	}
	void close()
	{
		for (size_t i = 0; i < files_.size(); i++) {
			files_[i]->close();
			if (!*files_[i])
				fail("cannot write " + names_[i]);
		}
	}

private:
	std::vector<std::string> names_;
	std::vector<std::unique_ptr<std::ofstream>> files_;
};

/** Both directions of a link between two nodes. */
struct Link {
	Ptr<Wire> there, back;
	Counters before_there, before_back;
	double lost_before = 0;
};

/** A flow: its sockets, what its sender has done, and its values at the start of the window. */
struct Flow {
	int id = 0;
	bool recorded = true, reverse = false;
	unsigned enters = 0, leaves = 0;
	double start_s = 0;
	/** Bytes of a transfer; 0: there is always more to send. */
	double size_bytes = 0;
	Ptr<Socket> socket;
	Ptr<Wire> first_wire;
	uint32_t cwnd_bytes = 0, acked_to = 0, sent_to = 0;
	double given_bytes = 0, acked_bytes = 0, resent_pkts = 0;
	Counters before;
	double acked_before = 0, resent_before = 0, tput_bytes = 0;
	std::ofstream* cwnd_file = nullptr;
	std::ofstream* tput_file = nullptr;
};

class Network {
public:
	explicit Network(Arguments& given);
	void run();

private:
	void take_defaults();
	void make_links();
	void manage(Ptr<Wire> wire, const std::string& key, const std::string& kind,
		const std::vector<std::pair<std::string, std::string>>& attributes, unsigned quantum_bytes, int64_t stream);
	void make_flow(unsigned id);
	Ptr<TcpCongestionOps> make_control(const std::string& key, const std::string& sender,
		const std::vector<std::pair<std::string, std::string>>& attributes);
	std::set<unsigned> numbers(const std::string& key);
	Ptr<Node> make_host(Ptr<Node> router, double mbps, double delay_ms, int flow, Ipv4Address& address,
		const std::set<unsigned>& loses = {});
	Link join(Ptr<Node> a, Ptr<Node> b, double mbps, double delay_ms, double holds_pkts, Ipv4Address& address);
	Ptr<Socket> make_socket(Ptr<Node> node, const std::vector<std::pair<std::string, std::string>>& attributes);
	void start(Flow* flow, Ipv4Address to);
	void fill(Flow* flow);
	void acked(Flow* flow, SequenceNumber32 to);
	void sent(Flow* flow, Ptr<const Packet> packet, const TcpHeader& header);

	void sample_flow(Flow* flow);
	void sample_throughput(Flow* flow);
	void sample_queue(Link* link, std::ofstream* file);
	void sample_departures(Link* link, std::ofstream* file, double last_bytes);
	void tell_time();
	void begin_window();
	void end_window();
	void finish();
	void fact(const std::string& key, const std::string& value, const std::string& unit);
	void write_stats(const std::string& subject, double mbps, const Counters& before, const Counters& now);
	void write_queue(const std::string& subject, double lost, Ptr<const Wire> wire, const Counters& before);
	std::string link_name(size_t index, bool there) const;
	std::string link_file(const std::string& stem, size_t index) const;
	/** An interval, s, or the duration of a shorter run, so that each file has a sample. */
	double at_most_the_run(double interval_s) const { return std::min(interval_s, duration_s_); }

	Arguments& given_;
	double duration_s_, sample_s_, queue_sample_s_, window_start_s_ = 0;
	unsigned packet_bytes_, window_pkts_;
	std::string datadir_;
	Files files_;
	std::ofstream* report_;
	std::ofstream* transfers_ = nullptr;
	InternetStackHelper stack_;
	Ipv4AddressHelper addresses_;
	std::vector<Ptr<Node>> routers_;
	std::vector<Link> links_;
	std::vector<std::unique_ptr<Flow>> flows_;
	std::map<uint32_t, int> flow_of_host_;
	std::chrono::steady_clock::time_point told_;
};

Network::Network(Arguments& given)
	: given_(given), duration_s_(given.number("duration_s")), sample_s_(given.number("sample_s")),
	  queue_sample_s_(given.number("queue_sample_s")), packet_bytes_(given.count("packet_bytes")),
	  window_pkts_(given.count("window_pkts")), datadir_(given.word("datadir")),
	  addresses_("10.0.0.0", "255.255.255.252")
{
	RngSeedManager::SetSeed(given.count("seed"));
	RngSeedManager::SetRun(given.count("substream"));
	take_defaults();
	report_ = files_.opened("report.txt", datadir_);
	make_links();
	unsigned flows = given_.count("flows");
	for (unsigned id = 0; id < flows; id++)
		make_flow(id);
	given_.refuse_rest();
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
}

void Network::take_defaults()
{
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(packet_bytes_));
	uint32_t room_bytes = static_cast<uint32_t>(std::min(1e9, 1.0 * window_pkts_ * packet_bytes_));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(room_bytes));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(room_bytes));
	for (const auto& each : given_.beginning("default.")) {
		std::string name = each.first;
		size_t dot = name.find('.');
		if (dot == std::string::npos)
			fail("-default." + name + ": expected <Class>.<Attribute>");
		std::string attribute = "ns3::" + name.substr(0, dot) + "::" + name.substr(dot + 1);
		if (!Config::SetDefaultFailSafe(attribute, StringValue(each.second)))
			fail("-default." + name + " is '" + each.second + "', which ns-3 does not take");
	}
}

Link Network::join(
	Ptr<Node> a, Ptr<Node> b, double mbps, double delay_ms, double holds_pkts, Ipv4Address& address)
{
	Link link;
	link.there = CreateObject<Wire>(mbps, delay_ms, holds_pkts);
	link.back = CreateObject<Wire>(mbps, delay_ms, holds_pkts);
	link.there->connect(link.back);
	link.back->connect(link.there);
	Ptr<SimpleChannel> channel = CreateObject<SimpleChannel>(); // routing finds the neighbours by it
	NetDeviceContainer ends;
	for (const auto& end : {std::make_pair(a, link.there), std::make_pair(b, link.back)}) {
		end.first->AddDevice(end.second);
		end.second->SetChannel(channel);
		ends.Add(end.second);
	}
	address = addresses_.Assign(ends).GetAddress(0);
	addresses_.NewNetwork();
	return link;
}

void Network::make_links()
{
	unsigned count = given_.count("links");
	Ipv4Address unused;
	links_.reserve(count); // events point to them
	for (unsigned i = 0; i <= count; i++) {
		routers_.push_back(CreateObject<Node>());
		stack_.Install(routers_.back());
	}
	for (unsigned i = 0; i < count; i++) {
		std::string key = "link." + std::to_string(i) + ".";
		double mbps = given_.number(key + "mbps"), delay_ms = given_.number(key + "delay_ms");
		links_.push_back(
			join(routers_[i], routers_[i + 1], mbps, delay_ms, given_.number(key + "holds_pkts"), unused));
		Link& link = links_.back();
		link.there->watch(&flow_of_host_);
		link.back->watch(&flow_of_host_);
		std::string kind = given_.word(key + "queue", "");
		if (!kind.empty()) {
			auto attributes = given_.beginning(key + "queue.");
			unsigned quantum_bytes = given_.count(key + "quantum_bytes", 0);
			manage(link.there, key, kind, attributes, quantum_bytes, QUEUES + 2 * i);
			manage(link.back, key, kind, attributes, quantum_bytes, QUEUES + 2 * i + 1);
		}
		double share = given_.number(key + "loss_rate", 0), burst = given_.number(key + "loss_burst_pkts", 0);
		if (share > 0)
			link.there->lose(share, burst, LOSSES + i);
	}
	for (unsigned i = 0; i < count; i++) {
		Link* link = &links_[i];
		Simulator::ScheduleNow(
			&Network::sample_queue, this, link, files_.opened(link_file("queue", i), datadir_));
		Simulator::Schedule(Seconds(at_most_the_run(0.1)), &Network::sample_departures, this, link,
			files_.opened(link_file("util", i), datadir_), 0.0);
	}
}

void Network::manage(Ptr<Wire> wire, const std::string& key, const std::string& kind,
	const std::vector<std::pair<std::string, std::string>>& attributes, unsigned quantum_bytes, int64_t stream)
{
	TypeId type;
	if (!TypeId::LookupByNameFailSafe("ns3::" + kind, &type) || !type.IsChildOf(QueueDisc::GetTypeId()))
		fail("-" + key + "queue: ns-3 has no queue ns3::" + kind);
	Ptr<QueueDisc> queue = ObjectFactory("ns3::" + kind).Create<QueueDisc>();
	for (const auto& each : attributes) {
		if (!queue->SetAttributeFailSafe(each.first, StringValue(each.second)))
			fail("-" + key + "queue." + each.first + " is '" + each.second + "', which " + kind + " does not take");
	}
	if (Ptr<RedQueueDisc> red = DynamicCast<RedQueueDisc>(queue))
		red->AssignStreams(stream);
	if (Ptr<PieQueueDisc> pie = DynamicCast<PieQueueDisc>(queue))
		pie->AssignStreams(stream);
	if (Ptr<FqCoDelQueueDisc> fair = DynamicCast<FqCoDelQueueDisc>(queue))
		fair->SetQuantum(quantum_bytes);
	else if (quantum_bytes > 0)
		fail("-" + key + "quantum_bytes: " + kind + " has no turns");
	queue->Initialize();
	wire->manage(queue);
}

Ptr<Node> Network::make_host(Ptr<Node> router, double mbps, double delay_ms, int flow, Ipv4Address& address,
	const std::set<unsigned>& loses)
{
	Ptr<Node> host = CreateObject<Node>();
	stack_.Install(host);
	join(host, router, mbps, delay_ms, window_pkts_, address).there->lose_numbers(loses);
	flow_of_host_[address.Get()] = flow;
	return host;
}

Ptr<Socket> Network::make_socket(
	Ptr<Node> node, const std::vector<std::pair<std::string, std::string>>& attributes)
{
	Ptr<Socket> socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
	for (const auto& each : attributes) {
		if (!socket->SetAttributeFailSafe(each.first, StringValue(each.second)))
			fail("attribute " + each.first + " of a socket cannot be '" + each.second + "'");
	}
	return socket;
}

/** Numbers of packets between blanks; none if they are not given. */
std::set<unsigned> Network::numbers(const std::string& key)
{
	std::string text = given_.word(key, "");
	std::istringstream words(text);
	std::set<unsigned> found;
	for (unsigned number; words >> number;)
		found.insert(number);
	if (!words.eof())
		fail("-" + key + " is '" + text + "', expected numbers of packets");
	return found;
}

void Network::make_flow(unsigned id)
{
	std::string key = "flow." + std::to_string(id) + ".";
	flows_.push_back(std::make_unique<Flow>());
	Flow* flow = flows_.back().get();
	flow->id = static_cast<int>(id);
	flow->recorded = given_.count(key + "recorded", 1) != 0;
	flow->reverse = given_.count(key + "reverse", 0) != 0;
	flow->enters = given_.count(key + "enters", 0);
	flow->leaves = given_.count(key + "leaves", static_cast<unsigned>(links_.size()) - 1);
	if (flow->enters > flow->leaves || flow->leaves >= links_.size())
		fail("-" + key + "leaves: there is no such path");
	flow->start_s = given_.number(key + "start_s");
	double within_s = given_.number(key + "within_s", 0);
	if (within_s > 0) {
		Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();
		random->SetStream(STARTS + flow->id);
		flow->start_s += within_s * random->GetValue();
	}
	flow->size_bytes = 1.0 * given_.count(key + "packets", 0) * packet_bytes_;
	if (flow->size_bytes > 0 && !transfers_)
		transfers_ = files_.opened("transfers.out", datadir_);

	Ptr<Node> first = routers_[flow->enters], last = routers_[flow->leaves + 1];
	if (flow->reverse)
		std::swap(first, last);
	flow->first_wire = flow->reverse ? links_[flow->leaves].back : links_[flow->enters].there;
	double mbps = given_.number(key + "access_mbps");
	Ipv4Address from, to;
	std::set<unsigned> loses = numbers(key + "loses");
	Ptr<Node> source = make_host(first, mbps, given_.number(key + "access_delay_ms"), flow->id, from, loses);
	Ptr<Node> sink = make_host(last, mbps, given_.number(key + "receiver_delay_ms"), flow->id, to);

	auto attributes = given_.beginning(key + "socket."), set = given_.beginning(key + "set.");
	std::string sender = given_.word(key + "sender");
	Ptr<Socket> listening = make_socket(sink, attributes);
	// Only DCTCP's receiver tells each mark.
	DynamicCast<TcpSocketBase>(listening)->SetCongestionControlAlgorithm(make_control(key, sender, set));
	listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
	listening->Listen();
	listening->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
		Callback<void, Ptr<Socket>, const Address&>([](Ptr<Socket> accepted, const Address&) {
			accepted->SetRecvCallback(Callback<void, Ptr<Socket>>([](Ptr<Socket> arrived) {
				while (Ptr<Packet> read = arrived->Recv())
					if (read->GetSize() == 0)
						break;
			}));
		}));

	flow->socket = make_socket(source, attributes);
	Ptr<TcpSocketBase> tcp = DynamicCast<TcpSocketBase>(flow->socket);
	tcp->SetCongestionControlAlgorithm(make_control(key, sender, set));
	tcp->TraceConnectWithoutContext("CongestionWindow",
		Callback<void, uint32_t, uint32_t>([flow](uint32_t, uint32_t bytes) { flow->cwnd_bytes = bytes; }));
	tcp->TraceConnectWithoutContext("HighestRxAck",
		Callback<void, SequenceNumber32, SequenceNumber32>(
			[this, flow](SequenceNumber32, SequenceNumber32 to_byte) { acked(flow, to_byte); }));
	tcp->TraceConnectWithoutContext("Tx",
		Callback<void, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>>(
			[this, flow](Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>) {
				sent(flow, packet, header);
			}));
	flow->socket->SetSendCallback(
		Callback<void, Ptr<Socket>, uint32_t>([this, flow](Ptr<Socket>, uint32_t) { fill(flow); }));
	flow->cwnd_bytes = packet_bytes_; // what ns-2 samples before a flow starts; 0 would make its first cut 0/0
	Simulator::Schedule(Seconds(flow->start_s), &Network::start, this, flow, to);

	fact("flow." + std::to_string(id) + ".start", text("%.6f", flow->start_s), "s");
	if (flow->recorded) {
		flow->cwnd_file = files_.opened("cwnd_hstcp" + std::to_string(id) + ".out", datadir_);
		flow->tput_file = files_.opened("tput_hstcp" + std::to_string(id) + ".out", datadir_);
		Simulator::ScheduleNow(&Network::sample_flow, this, flow);
		Simulator::Schedule(Seconds(at_most_the_run(1)), &Network::sample_throughput, this, flow);
	}
}

// ---------------------------------------------------------------- senders

Ptr<TcpCongestionOps> Network::make_control(const std::string& key, const std::string& sender,
	const std::vector<std::pair<std::string, std::string>>& attributes)
{
	std::string name = "ns3::" + sender;
	TypeId type;
	// ns-3.37 declares TcpCubic as a child of another class, so only an object tells what it is.
	Ptr<TcpCongestionOps> control;
	if (TypeId::LookupByNameFailSafe(name, &type) && type.HasConstructor())
		control = DynamicCast<TcpCongestionOps>(ObjectFactory(name).Create());
	if (!control)
		fail("-" + key + "sender: ns-3 has no congestion control " + name);
	for (const auto& each : attributes) {
		if (!control->SetAttributeFailSafe(each.first, StringValue(each.second)))
			fail("-" + key + "set." + each.first + " is '" + each.second + "', which " + name + " does not take");
	}
	return control;
}

void Network::start(Flow* flow, Ipv4Address to)
{
	flow->socket->SetConnectCallback(
		Callback<void, Ptr<Socket>>([this, flow](Ptr<Socket>) { fill(flow); }),
		Callback<void, Ptr<Socket>>([](Ptr<Socket>) { fail("a connection could not be made"); }));
	if (flow->socket->Connect(InetSocketAddress(to, PORT)) != 0)
		fail("a connection could not be made");
}

/** Gives a sender whole segments, as many as its buffer takes. */
void Network::fill(Flow* flow)
{
	while (flow->socket->GetTxAvailable() >= packet_bytes_
		&& (flow->size_bytes == 0 || flow->given_bytes < flow->size_bytes)) {
		if (flow->socket->Send(Create<Packet>(packet_bytes_)) < 0)
			break;
		flow->given_bytes += packet_bytes_;
	}
}

void Network::sent(Flow* flow, Ptr<const Packet> packet, const TcpHeader& header)
{
	if (packet->GetSize() == 0)
		return;
	uint32_t end = header.GetSequenceNumber().GetValue() + packet->GetSize();
	if (static_cast<int32_t>(end - flow->sent_to) > 0)
		flow->sent_to = end;
	else
		flow->resent_pkts += 1;
}

void Network::acked(Flow* flow, SequenceNumber32 to)
{
	// The first one acknowledges the SYN.
	bool is_first = flow->acked_to == 0;
	double bytes = static_cast<uint32_t>(to.GetValue() - flow->acked_to);
	flow->acked_to = to.GetValue();
	if (is_first)
		return;
	bool was_complete = flow->acked_bytes >= flow->size_bytes;
	flow->acked_bytes += bytes;
	if (flow->size_bytes > 0 && !was_complete && flow->acked_bytes >= flow->size_bytes)
		*transfers_ << "flow flow:" << flow->id << text(" %.6f", flow->start_s) << text(" %.6f ", now_s())
			    << whole(flow->size_bytes) << "\n";
}

// ---------------------------------------------------------------- samples

void Network::sample_flow(Flow* flow)
{
	*flow->cwnd_file << time_text() << text(" %.9g \n", 1.0 * flow->cwnd_bytes / packet_bytes_);
	Simulator::Schedule(Seconds(sample_s_), &Network::sample_flow, this, flow);
}

void Network::sample_throughput(Flow* flow)
{
	double bytes = flow->first_wire->of(flow->id).bytes, interval_s = at_most_the_run(1);
	*flow->tput_file << time_text() << text(" %.2f\n", mbps_of(bytes - flow->tput_bytes, interval_s));
	flow->tput_bytes = bytes;
	Simulator::Schedule(Seconds(interval_s), &Network::sample_throughput, this, flow);
}

void Network::sample_queue(Link* link, std::ofstream* file)
{
	*file << time_text() << " " << whole(link->there->length_pkts()) << " "
	      << whole(link->there->all().drops) << "\n";
	Simulator::Schedule(Seconds(queue_sample_s_), &Network::sample_queue, this, link, file);
}

void Network::sample_departures(Link* link, std::ofstream* file, double last_bytes)
{
	double bytes = link->there->all().bytes, interval_s = at_most_the_run(0.1);
	*file << time_text() << text(" %.2f\n", mbps_of(bytes - last_bytes, interval_s));
	Simulator::Schedule(Seconds(interval_s), &Network::sample_departures, this, link, file, bytes);
}

/** Tells the simulated time each second of wall-clock time. */
void Network::tell_time()
{
	auto wall = std::chrono::steady_clock::now();
	if (now_s() == 0 || wall - told_ >= std::chrono::seconds(1)) {
		std::cerr << text("simtime %g", now_s()) << text(" of %g", duration_s_) << std::endl;
		told_ = wall;
	}
	Simulator::Schedule(Seconds(1), &Network::tell_time, this);
}

// ---------------------------------------------------------------- report

void Network::fact(const std::string& key, const std::string& value, const std::string& unit)
{
	*report_ << key << " " << value << " " << unit << "\n";
}

void Network::write_stats(const std::string& subject, double mbps, const Counters& before, const Counters& now)
{
	double bytes = now.bytes - before.bytes, rate = mbps_of(bytes, now_s() - window_start_s_);
	fact(subject + ".window_start", text("%.2f", window_start_s_), "s");
	fact(subject + ".window_end", time_text(), "s");
	fact(subject + ".bytes", whole(bytes), "B");
	fact(subject + ".packets", whole(now.packets - before.packets), "packets");
	fact(subject + ".drops", whole(now.drops - before.drops), "packets");
	fact(subject + ".throughput", text("%.6f", rate), "Mbit/s");
	fact(subject + ".utilization", text("%.6f", 100 * rate / mbps), "%");
	fact(subject + ".total_bytes", whole(now.bytes), "B");
	fact(subject + ".total_drops", whole(now.drops), "packets");
}

/** What only queues that manage themselves have; `lost` are the drops in the window that are not the queue's. */
void Network::write_queue(const std::string& subject, double lost, Ptr<const Wire> wire, const Counters& before)
{
	const Counters& now = wire->all();
	double early = now.early_drops - before.early_drops;
	if (wire->drops_early()) {
		fact(subject + ".early_drops", whole(early), "packets");
		fact(subject + ".forced_drops", whole(now.drops - before.drops - lost - early), "packets");
	}
	fact(subject + ".marks", whole(now.marks - before.marks), "packets");
}

std::string Network::link_name(size_t index, bool there) const
{
	std::string name = there ? "bottleneck" : "back";
	return links_.size() == 1 ? name : name + "_" + std::to_string(index + 1);
}

std::string Network::link_file(const std::string& stem, size_t index) const
{
	return index == 0 ? stem + ".out" : stem + "_bottleneck_" + std::to_string(index + 1) + ".out";
}

void Network::begin_window()
{
	window_start_s_ = now_s();
	for (Link& link : links_) {
		link.before_there = link.there->all();
		link.before_back = link.back->all();
		link.lost_before = link.there->random_losses();
	}
	for (auto& flow : flows_) {
		flow->before = flow->first_wire->of(flow->id);
		flow->acked_before = flow->acked_bytes;
		flow->resent_before = flow->resent_pkts;
	}
}

void Network::end_window()
{
	for (auto& flow : flows_) {
		std::string subject = "flow." + std::to_string(flow->id);
		write_stats(subject, flow->first_wire->mbps(), flow->before, flow->first_wire->of(flow->id));
		double goodput = mbps_of(flow->acked_bytes - flow->acked_before, now_s() - window_start_s_);
		fact(subject + ".goodput", text("%.6f", goodput), "Mbit/s");
		fact(subject + ".retransmissions", whole(flow->resent_pkts - flow->resent_before), "packets");
	}
	for (size_t i = 0; i < links_.size(); i++) {
		const Link& link = links_[i];
		write_stats("link." + link_name(i, false), link.back->mbps(), link.before_back, link.back->all());
		std::string there = "link." + link_name(i, true);
		write_stats(there, link.there->mbps(), link.before_there, link.there->all());
		if (link.there->is_managed()) {
			write_queue("link." + link_name(i, false), 0, link.back, link.before_back);
			write_queue(there, link.there->random_losses() - link.lost_before, link.there, link.before_there);
		}
		if (link.there->loses())
			fact(there + ".random_losses", whole(link.there->random_losses() - link.lost_before), "packets");
	}
	// Samples that are due now are still to be taken.
	Simulator::ScheduleNow(&Network::finish, this);
}

void Network::finish()
{
	files_.close();
	Simulator::Stop();
}

void Network::run()
{
	Simulator::Schedule(Seconds(duration_s_ / 2), &Network::begin_window, this);
	Simulator::Schedule(Seconds(duration_s_), &Network::end_window, this);
	Simulator::ScheduleNow(&Network::tell_time, this);
	Simulator::Run();
	Simulator::Destroy();
}

} // namespace

int main(int count, char** words)
{
	Arguments given(count, words);
	Network network(given);
	network.run();
	return 0;
}
