//! The largest things a scenario may ask for. Beyond them lies a typing error, or a run nobody waits for.

use chronoseal_core::{Bytes, Duration, Ppm, Rate};

/// Length of a scenario file `[byte]`.
pub const FILE_LEN_MAX: usize = 4_000_000;
/// Length of a recording `[byte]`.
pub const RECORDING_LEN_MAX: usize = 64_000_000;
/// A recording of traffic lasts so long at least: what came within less says nothing of how often it comes.
pub const REPLAY_MIN: Duration = Duration::from_ms(1);
/// Nesting of tables and lists in a file.
pub const DEPTH_MAX: usize = 32;
/// Largest seed: what a TOML integer holds.
pub const SEED_MAX: u64 = i64::MAX as u64;
/// Length of a name `[byte]`.
pub const NAME_LEN_MAX: usize = 64;
/// Nodes that a scenario writes.
pub const NODES_MAX: u32 = 4_096;
/// All nodes, those that come with segments counted.
pub const STATIONS_MAX: u32 = 60_000;
/// Mix zones of a radio segment.
pub const ZONES_MAX: u32 = 1_000;
/// Receivers at the roadside of a radio segment.
pub const POSTS_MAX: u32 = 1_000;
/// Streams, those of `count` counted one by one.
pub const STREAMS_MAX: u32 = 10_000;
/// Segments.
pub const SEGMENTS_MAX: u32 = 64;
/// Switches of an Ethernet segment.
pub const SWITCHES_MAX: u32 = 64;
/// Synchronisation masters of a cluster: one for each bit of a control frame's membership.
pub const MASTERS_MAX: u32 = 32;
/// Links of an Ethernet segment.
pub const LINKS_MAX: u32 = 10_000;
/// Most entries of a gate control list.
pub const GATE_ENTRIES_MAX: u32 = chronoseal_plan::GATE_ENTRIES_MAX;
/// Stream filters, stream gates and flow meters of a segment, each.
pub const STREAM_FILTERS_MAX: u32 = 1_024;
/// Protections.
pub const PROTECTIONS_MAX: u32 = 256;
/// Platforms.
pub const PLATFORMS_MAX: u32 = 64;
/// Costs of one platform.
pub const COSTS_MAX: u32 = 64;
/// Recordings.
pub const RECORDINGS_MAX: u32 = 64;
/// Tasks of one node.
pub const TASKS_MAX: u32 = 64;
/// Words of the command of a node's program.
pub const WORDS_MAX: u32 = 256;
/// Streams on a CAN segment.
pub const MESSAGES_MAX: u32 = 2_000;
/// A message that is sent in several CAN frames, protection included `[byte]`.
pub const SEGMENTED_LEN_MAX: u32 = 65_535;
/// Longest wait of the ends of such a message for one another (ISO 15765-2).
pub const SEGMENTED_WAIT_MAX: Duration = Duration::from_s(1);
/// Longest wait for the rest of a message in fragments of IPv4 (RFC 1122 §3.3.2).
pub const REASSEMBLY_TIMEOUT_MAX: Duration = Duration::from_s(120);
/// A message over a lossy link `[byte]`: an image, a cloud of points.
pub const LINK_MESSAGE_MAX: u32 = 10_000_000;
/// Shortest of the longest packets of a link (RFC 791 §3.2).
pub const MTU_MIN: Bytes = Bytes(68);
/// Longest packet: what a TAP interface of Linux takes.
pub const MTU_MAX: Bytes = Bytes(65_521);
/// Sets of identifiers that a gateway passes on whole.
pub const BRIDGES_MAX: u32 = 64;
/// Changes of a group: what an orchestrator can have before it, and the first key is one of that.
pub const CHANGES_MAX: u32 = chronoseal_groupkey::OPERATIONS_MAX as u32 - 1;
/// Threats.
pub const THREATS_MAX: u32 = 1_000;
/// Attempts of one threat.
pub const ATTEMPTS_MAX: u32 = 1_000_000;
/// Slots of frames in one cluster cycle, and runs of tasks.
pub const SLOTS_MAX: u64 = 100_000;
/// Frames in one run.
pub const FRAMES_MAX: u64 = 10_000_000_000;
/// Samples of one recording.
pub const SAMPLES_MAX: usize = 1_000_000;

/// Shortest period, cycle and run.
pub const PERIOD_MIN: Duration = Duration::from_us(1);
/// Longest run: one day.
pub const DURATION_MAX: Duration = Duration::from_s(86_400);
/// Longest cluster cycle.
pub const CLUSTER_CYCLE_MAX: Duration = Duration::from_s(10);
/// Longest delay of a driver, link or switch, and largest clock offset.
pub const DELAY_MAX: Duration = Duration::from_s(1);
/// Largest cost of one byte.
pub const PER_BYTE_MAX: Duration = Duration::from_ms(1);
/// Largest drift of a clock.
pub const DRIFT_MAX: Ppm = Ppm(1_000_000);
/// Slowest link.
pub const RATE_MIN: Rate = Rate(1_000);
/// Fastest link.
pub const RATE_MAX: Rate = Rate(100_000_000_000);
/// Shortest frame, without checksum (IEEE 802.3) `[byte]`.
pub const FRAME_LEN_MIN: u32 = chronoseal_wire::ethernet::FRAME_LEN_MIN as u32;
/// Longest frame, without checksum (IEEE 802.3) `[byte]`.
pub const FRAME_LEN_MAX: u32 = chronoseal_wire::ethernet::FRAME_LEN_MAX as u32;
/// Ethernet header: addresses and length or type `[byte]`.
pub const HEADER_LEN: u32 = chronoseal_wire::ethernet::HEADER_LEN as u32;
/// What every payload of the bench on Ethernet begins with, and what stands before the PDU of a stream that gateways carry:
/// stream and sequence number `[byte]`.
pub const BENCH_HEADER_LEN: u32 = chronoseal_wire::test_bed_header::TestBedHeader::LEN as u32;
/// What a message on a lossy link begins with that carries a recorded signal: stream, sequence number, when it is due, and a checksum `[byte]`.
pub const MESSAGE_HEADER_LEN: u32 = chronoseal_wire::message_check::MessageCheck::END as u32;
/// What the data of every CAN message and every PDU that gateways carry begin with: a sequence number `[byte]`.
pub const SEQUENCE_LEN: u32 = chronoseal_nodes::gateway::SEQUENCE_LEN as u32;
/// Largest queue of a gateway `[frame]`.
pub const GATEWAY_QUEUE_MAX: u32 = 1_000_000;
/// Largest egress queue `[byte]`.
pub const QUEUE_LEN_MAX: u64 = 1_000_000_000;
/// Shortest tag `[byte]`.
pub const TAG_LEN_MIN: u64 = 4;
