// One bottleneck in ns-3, with bulk TCP flows; prints what path.tcl prints for ns-2.
//
// As there: packets of 1000 bytes with headers, an initial window of 10, an acknowledgement for each
// packet, SACK, no timestamps, no Nagle's algorithm, and a queue of whole packets. PPP's header of two
// bytes is made up for by the rate.

#include <algorithm>
#include <iostream>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

static const uint32_t SEGMENT_BYTES = 960;
static const double PPP = 1002.0 / 1000.0;
static const uint16_t PORT = 9;

struct Flow {
	Ptr<PacketSink> sink;
	uint64_t bytes_before = 0;
	double cwnd_bytes = 0;
	double cut_sum = 0;
	int cuts = 0;
};

static std::vector<Flow> flows;
static double warm_up_s;
static double queue_sum = 0;
static uint64_t samples = 0;

static void heard_cwnd(Flow* flow, uint32_t, uint32_t now)
{
	flow->cwnd_bytes = now;
}

// A cut sets ssthresh to the share of cwnd that stays.
static void heard_ssthresh(Flow* flow, uint32_t, uint32_t now)
{
	if (Simulator::Now().GetSeconds() < warm_up_s || now >= flow->cwnd_bytes)
		return;
	flow->cut_sum += now / flow->cwnd_bytes;
	flow->cuts++;
}

static void watch(Ptr<BulkSendApplication> sender, Flow* flow)
{
	sender->GetSocket()->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&heard_cwnd, flow));
	sender->GetSocket()->TraceConnectWithoutContext(
		"SlowStartThreshold", MakeBoundCallback(&heard_ssthresh, flow));
}

static void sample(Ptr<PointToPointNetDevice> device, Ptr<QueueDisc> queue)
{
	queue_sum += device->GetQueue()->GetNPackets() + (queue ? queue->GetNPackets() : 0);
	samples++;
	Simulator::Schedule(MilliSeconds(1), &sample, device, queue);
}

static void warmed_up()
{
	for (Flow& flow : flows)
		flow.bytes_before = flow.sink->GetTotalRx();
}

int main(int argc, char* argv[])
{
	std::string protocol = "TcpCubic";
	double mbps = 20, rtt_ms = 50, duration_s = 60;
	uint32_t buffer_pkts = 125, count = 1, mark_pkts = 0;
	bool hystart = false;
	CommandLine line;
	line.AddValue("protocol", "ns-3's class", protocol);
	line.AddValue("mbps", "rate of the bottleneck", mbps);
	line.AddValue("rtt_ms", "round trip without queues", rtt_ms);
	line.AddValue("buffer_pkts", "buffer of the bottleneck", buffer_pkts);
	line.AddValue("flows", "number of flows, one each second", count);
	line.AddValue("duration_s", "of which the last two thirds are measured", duration_s);
	line.AddValue("mark_pkts", "queue from which packets are marked; 0: no ECN", mark_pkts);
	line.AddValue("hystart", "CUBIC's HyStart", hystart);
	line.Parse(argc, argv);
	warm_up_s = duration_s / 3;

	Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + protocol));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(32 << 20));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(32 << 20));
	Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
	Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
	Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(hystart));
	if (mark_pkts > 0)
		Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));

	NodeContainer routers, hosts;
	routers.Create(2);
	hosts.Create(count);
	InternetStackHelper stack;
	stack.Install(routers);
	stack.Install(hosts);
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");

	PointToPointHelper bottleneck;
	bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbps * PPP * 1e6))));
	bottleneck.SetChannelAttribute("Delay", TimeValue(Seconds(rtt_ms / 2e3)));
	const uint32_t device_pkts = mark_pkts > 0 ? 1 : buffer_pkts;
	bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(device_pkts) + "p"));
	NetDeviceContainer ends = bottleneck.Install(routers);
	Ptr<QueueDisc> queue;
	if (mark_pkts > 0) {
		TrafficControlHelper red;
		red.SetRootQueueDisc("ns3::RedQueueDisc", "MinTh", DoubleValue(mark_pkts), "MaxTh",
			DoubleValue(mark_pkts + 0.001), "QW", DoubleValue(1), "UseEcn", BooleanValue(true),
			"UseHardDrop", BooleanValue(false), "Gentle", BooleanValue(false), "MeanPktSize",
			UintegerValue(1000), "MaxSize", StringValue(std::to_string(buffer_pkts) + "p"));
		queue = red.Install(ends).Get(0);
	}
	addresses.Assign(ends);
	if (mark_pkts == 0)
		TrafficControlHelper().Uninstall(ends);

	PointToPointHelper access;
	access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(10 * mbps * PPP * 1e6))));
	access.SetChannelAttribute("Delay", TimeValue(MicroSeconds(10)));
	access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
	for (uint32_t i = 0; i < count; i++) {
		NetDeviceContainer devices = access.Install(hosts.Get(i), routers.Get(0));
		addresses.NewNetwork();
		addresses.Assign(devices);
		TrafficControlHelper().Uninstall(devices);
	}
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();

	const Ipv4Address far = routers.Get(1)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
	flows.resize(count);
	for (uint32_t i = 0; i < count; i++) {
		const InetSocketAddress to(far, PORT + i);
		PacketSinkHelper receiver("ns3::TcpSocketFactory", to);
		flows[i].sink = DynamicCast<PacketSink>(receiver.Install(routers.Get(1)).Get(0));
		BulkSendHelper bulk("ns3::TcpSocketFactory", to);
		bulk.SetAttribute("SendSize", UintegerValue(SEGMENT_BYTES));
		Ptr<BulkSendApplication> sender = DynamicCast<BulkSendApplication>(bulk.Install(hosts.Get(i)).Get(0));
		sender->SetStartTime(Seconds(i));
		Simulator::Schedule(Seconds(i + 0.0001), &watch, sender, &flows[i]);
	}
	Simulator::Schedule(Seconds(warm_up_s), &sample, DynamicCast<PointToPointNetDevice>(ends.Get(0)), queue);
	Simulator::Schedule(Seconds(warm_up_s), &warmed_up);
	Simulator::Stop(Seconds(duration_s));
	Simulator::Run();
	for (uint32_t i = 0; i < count; i++) {
		const Flow& flow = flows[i];
		const double bytes = flow.sink->GetTotalRx() - flow.bytes_before;
		std::cout << "goodput_mbps " << i << " " << bytes * 8e-6 / (duration_s - warm_up_s) << "\n";
		std::cout << "cuts " << i << " " << flow.cuts << "\n";
		std::cout << "kept " << i << " " << (flow.cuts ? flow.cut_sum / flow.cuts : 1) << "\n";
	}
	std::cout << "queue_pkts 0 " << queue_sum / samples << std::endl;
	Simulator::Destroy();
}
