// The star of peers/star.md on ns-3, in two variants:
//   l2   SimpleNetDevice hosts, BridgeNetDevice switch. No IP, no sockets: the fastest variant that still moves every
//        frame through real ns-3 devices, queues and channels.
//   udp  PointToPointNetDevice hosts, IPv4 router, UDP sockets: what most ns-3 users write.
// Prints one line of JSON. What the models cannot express is listed in peers/README.md.

#include "ns3/bridge-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

using namespace ns3;

namespace {

// Checksum 4, preamble and delimiter 8, gap 12 [byte] (IEEE 802.3).
constexpr uint32_t ON_WIRE_OVERHEAD = 24;
// At 1 Gb/s.
constexpr int64_t NS_PER_BYTE = 8;
// The switch's store-and-forward delay; ns-3's bridge and router have none, so half of it is put on each link.
constexpr int64_t SWITCH_DELAY_NS = 1000;
// A frame has arrived before its gap of 12 bytes. SimpleNetDevice knows one end only, that of the gap.
constexpr int64_t GAP_NS = 12 * NS_PER_BYTE;
// Ethernet 14, IPv4 20, UDP 8 [byte].
constexpr uint32_t UDP_HEADERS = 42;
// PPP 2, IPv4 20, UDP 8 [byte]: what PointToPointNetDevice serialises around a UDP payload.
constexpr uint32_t PPP_HEADERS = 30;
constexpr uint16_t FIRST_ETHERTYPE = 0x9000;
constexpr uint16_t FIRST_PORT = 5000;
// Traffic starts after the bridge has learnt where everybody is.
constexpr int64_t START_NS = 1000000;

struct Flow
{
    uint32_t sender;
    uint32_t receiver;
    uint32_t frameLen; // without checksum [byte]
    int64_t periodNs;
    int64_t phaseNs;
    uint64_t sent{0};
    std::deque<int64_t> underWayNs; // when handed to the NIC, oldest first
    uint64_t count{0};
    int64_t latencySumNs{0};
    int64_t latencyMaxNs{0};
    Ptr<NetDevice> device;  // l2
    Mac48Address to;        // l2
    Ptr<Socket> socket;     // udp
};

std::vector<Flow> g_flows;
int64_t g_stopNs;
int64_t g_arrivedEarlierNs; // than the device says

void
Dropped(Ptr<const Packet>)
{
    NS_FATAL_ERROR("a queue overflowed; latencies need every frame");
}

// Frames of one flow keep their order and none is lost (Dropped sees to it), so the n-th to arrive is the n-th sent:
// no tag or header is needed to know when that was.
void
Delivered(Flow& flow)
{
    const int64_t latencyNs = Simulator::Now().GetNanoSeconds() - g_arrivedEarlierNs - flow.underWayNs.front();
    flow.underWayNs.pop_front();
    flow.count++;
    flow.latencySumNs += latencyNs;
    flow.latencyMaxNs = std::max(flow.latencyMaxNs, latencyNs);
}

void
Send(uint32_t index)
{
    Flow& flow = g_flows[index];
    if (flow.socket)
    {
        flow.socket->Send(Create<Packet>(flow.frameLen - UDP_HEADERS));
    }
    else
    {
        flow.device->Send(Create<Packet>(flow.frameLen + ON_WIRE_OVERHEAD), flow.to, FIRST_ETHERTYPE + index);
    }
    flow.underWayNs.push_back(Simulator::Now().GetNanoSeconds());
    flow.sent++;
    const int64_t nextNs = START_NS + flow.phaseNs + static_cast<int64_t>(flow.sent) * flow.periodNs;
    if (nextNs < g_stopNs)
    {
        Simulator::Schedule(NanoSeconds(flow.periodNs), &Send, index);
    }
}

void
ReceiveL2(Ptr<NetDevice>, Ptr<const Packet>, uint16_t protocol, const Address&, const Address&, NetDevice::PacketType)
{
    if (protocol >= FIRST_ETHERTYPE && protocol < FIRST_ETHERTYPE + g_flows.size())
    {
        Delivered(g_flows[protocol - FIRST_ETHERTYPE]);
    }
}

void
ReceiveUdp(uint32_t index, Ptr<Socket> socket)
{
    while (socket->Recv())
    {
        Delivered(g_flows[index]);
    }
}

void
Learn(Ptr<NetDevice> device)
{
    device->Send(Create<Packet>(64), device->GetBroadcast(), 0x88b5);
}

void
BuildL2(const NodeContainer& hosts, Ptr<Node> hub)
{
    // The bridge forwards at the end of the gap instead of before it.
    const int64_t linkDelayNs = (SWITCH_DELAY_NS - GAP_NS) / 2;
    g_arrivedEarlierNs = GAP_NS;
    std::vector<Ptr<NetDevice>> devices;
    NetDeviceContainer ports;
    for (uint32_t i = 0; i < hosts.GetN(); i++)
    {
        auto channel = CreateObject<SimpleChannel>();
        channel->SetAttribute("Delay", TimeValue(NanoSeconds(linkDelayNs)));
        Ptr<SimpleNetDevice> ends[2];
        for (auto& end : ends)
        {
            end = CreateObject<SimpleNetDevice>();
            end->SetAttribute("PointToPointMode", BooleanValue(true));
            end->SetAttribute("DataRate", DataRateValue(DataRate("1Gbps")));
            end->SetAddress(Mac48Address::Allocate());
            auto queue = CreateObject<DropTailQueue<Packet>>();
            queue->SetAttribute("MaxSize", StringValue("10000p"));
            queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
            end->SetQueue(queue);
            end->SetChannel(channel);
        }
        hosts.Get(i)->AddDevice(ends[0]);
        hub->AddDevice(ends[1]);
        hosts.Get(i)->RegisterProtocolHandler(MakeCallback(&ReceiveL2), 0, ends[0]);
        devices.push_back(ends[0]);
        ports.Add(ends[1]);
        Simulator::Schedule(MicroSeconds(10 * i), &Learn, ends[0]);
    }
    BridgeHelper().Install(hub, ports);
    for (Flow& flow : g_flows)
    {
        flow.device = devices[flow.sender];
        flow.to = Mac48Address::ConvertFrom(devices[flow.receiver]->GetAddress());
    }
}

void
BuildUdp(const NodeContainer& hosts, Ptr<Node> hub)
{
    const int64_t linkDelayNs = SWITCH_DELAY_NS / 2;
    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(hosts);
    internet.Install(hub);

    // PPP framing is shorter than Ethernet's; the gap makes up for it, so that the load is the same.
    const int64_t gapNs = (UDP_HEADERS + ON_WIRE_OVERHEAD - PPP_HEADERS) * NS_PER_BYTE;
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    link.SetDeviceAttribute("InterframeGap", TimeValue(NanoSeconds(gapNs)));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(linkDelayNs)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    TrafficControlHelper traffic;
    std::vector<Ipv4Address> hostAddresses;
    for (uint32_t i = 0; i < hosts.GetN(); i++)
    {
        const NetDeviceContainer ends = link.Install(hosts.Get(i), hub);
        const Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
        for (uint32_t end = 0; end < ends.GetN(); end++)
        {
            ends.Get(end)->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&Dropped));
        }
        traffic.Uninstall(ends); // the default queue discipline only costs time here
        addresses.NewNetwork();
        hostAddresses.push_back(interfaces.GetAddress(0));
        routing.GetStaticRouting(hosts.Get(i)->GetObject<Ipv4>())->SetDefaultRoute(interfaces.GetAddress(1), 1);
    }
    for (uint32_t i = 0; i < g_flows.size(); i++)
    {
        Flow& flow = g_flows[i];
        auto receiver = Socket::CreateSocket(hosts.Get(flow.receiver), UdpSocketFactory::GetTypeId());
        receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), FIRST_PORT + i));
        receiver->SetRecvCallback(MakeBoundCallback(&ReceiveUdp, i));
        flow.socket = Socket::CreateSocket(hosts.Get(flow.sender), UdpSocketFactory::GetTypeId());
        flow.socket->Connect(InetSocketAddress(hostAddresses[flow.receiver], FIRST_PORT + i));
    }
}

bool
ReadFlows(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line))
    {
        if (line.empty() || line[0] < '0' || line[0] > '9')
        {
            continue; // comment and heading
        }
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream fields(line);
        uint32_t index;
        Flow flow{};
        if (!(fields >> index >> flow.sender >> flow.receiver >> flow.frameLen >> flow.periodNs >> flow.phaseNs) ||
            index != g_flows.size() || flow.sender > 3 || flow.receiver > 3 || flow.periodNs <= 0)
        {
            std::cerr << path << ": cannot read flow line: " << line << "\n";
            return false;
        }
        g_flows.push_back(flow);
    }
    return !g_flows.empty();
}

double
CpuSeconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string variant = "l2";
    std::string flows = "../star.csv";
    std::string scheduler = "ns3::PriorityQueueScheduler";
    uint64_t durationMs = 1000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("variant", "l2 or udp", variant);
    cmd.AddValue("flows", "traffic table (star.csv)", flows);
    cmd.AddValue("scheduler", "ns-3 event queue", scheduler);
    cmd.AddValue("duration-ms", "simulated time", durationMs);
    cmd.Parse(argc, argv);
    if (!ReadFlows(flows) || (variant != "l2" && variant != "udp"))
    {
        std::cerr << "no flows in '" << flows << "', or variant '" << variant << "' is neither l2 nor udp\n";
        return 2;
    }
    g_stopNs = START_NS + static_cast<int64_t>(durationMs) * 1000000;
    ObjectFactory factory;
    factory.SetTypeId(scheduler);
    Simulator::SetScheduler(factory);

    NodeContainer hosts(4);
    auto hub = CreateObject<Node>();
    variant == "l2" ? BuildL2(hosts, hub) : BuildUdp(hosts, hub);
    for (uint32_t i = 0; i < g_flows.size(); i++)
    {
        Simulator::Schedule(NanoSeconds(START_NS + g_flows[i].phaseNs), &Send, i);
    }

    const double before = CpuSeconds();
    Simulator::Stop(NanoSeconds(g_stopNs));
    Simulator::Run();
    const double cpu = CpuSeconds() - before;

    uint64_t delivered = 0;
    std::ostringstream rows;
    for (uint32_t i = 0; i < g_flows.size(); i++)
    {
        const Flow& flow = g_flows[i];
        delivered += flow.count;
        rows << (i ? "," : "") << "{\"flow\":" << i << ",\"count\":" << flow.count << ",\"latency_mean_ns\":" << std::fixed
             << static_cast<double>(flow.latencySumNs) / static_cast<double>(flow.count)
             << ",\"latency_max_ns\":" << flow.latencyMaxNs << "}";
    }
    std::cout << std::fixed << "{\"engine\":\"ns-3 3.37\",\"variant\":\"" << variant << "\",\"simulated_s\":" << durationMs / 1e3
              << ",\"frames_delivered\":" << delivered << ",\"cpu_s\":" << cpu
              << ",\"frames_per_cpu_s\":" << delivered / cpu << ",\"flows\":[" << rows.str() << "]}\n";
    Simulator::Destroy();
    return 0;
}
