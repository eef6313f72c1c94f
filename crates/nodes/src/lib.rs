//! The state machines at the ends of a network, without I/O: what a station does with its clock, its slots, its keys.
//!
//! Nothing here opens a socket, reads a clock or knows whether its time is virtual. Simulator and test bed drive the
//! same code through [`chronoseal_core::Node`].
//!
//! - [`end_system::EndSystem`]: a station of a time-triggered Ethernet. Disciplines its clock by the beacon, sends and
//!   receives in slots, seals and opens frames, runs its tasks, notices what is absent.
//! - [`can_station::CanStation`]: a station of a CAN bus. Sends periodic messages and recordings, checks what it
//!   receives, and keeps a group key through an agent of its own.
//! - [`gateway::Gateway`]: a node with several interfaces, each one of the stations above, which passes streams on between
//!   its segments, can start anew, and can be taken over by an attacker.
//! - [`container`]: frames in which a gateway has put PDUs of several streams, and what a receiver makes of them.
//! - [`segmentation::Sender`] and [`segmentation::Receiver`]: messages longer than a CAN frame, as ISO-TP has them.
//! - [`reassembly::Reassembly`]: messages longer than an Ethernet frame, from their fragments.
//! - [`udp_station::UdpStation`]: messages as UDP datagrams over a link that loses and reorders packets.
//! - [`attacker::Attacker`]: forges, changes and repeats frames, on a port of its own or on a station's link, and works on clocks.
//!
//! How a stream is protected, and what a kind of station cannot do, is in [`protection`], once for all of them.
//!
//! A new kind of node is a module here and one arm where a plan is turned into nodes.
//!
//! What every driver does, in small: an input, then outputs until the node waits.
//!
//! ```
//! use chronoseal_core::{Command, Input, LocalTime, Node, NodeId, Output, PortId};
//! use chronoseal_nodes::{Attacker, AttackerConfig};
//!
//! let mut node = Attacker::new(AttackerConfig {
//!     node: NodeId(2),
//!     on_link: true,
//!     attacks: vec![],
//!     on_clocks: vec![],
//!     follows: None,
//!     seed: 1,
//! });
//! let (now, mut buffer) = (LocalTime::ZERO, [0; 1536]);
//! node.handle_input(now, Input::Command(Command::Start))?;
//! node.handle_input(now, Input::Frame { port: PortId(0), rx_at: now, bytes: &[7; 60] })?;
//!
//! // An attacker on a link that attacks nothing is a wire: what comes in at port 0 goes on at port 1.
//! let Output::Transmit(transmit) = node.poll_output(now, &mut buffer) else { panic!("it lets frames pass") };
//! assert_eq!((transmit.port, &buffer[..transmit.len]), (PortId(1), &[7; 60][..]));
//! assert!(matches!(node.poll_output(now, &mut buffer), Output::Timeout(None)));
//! # Ok::<(), chronoseal_core::HandleError>(())
//! ```

mod any_node;
pub mod attacker;
mod by_id;
mod by_time;
pub mod can_attacker;
pub mod can_station;
pub mod clock;
pub mod container;
pub mod end_system;
pub mod gateway;
mod pace;
pub mod protection;
pub mod reassembly;
mod recorded;
pub mod segmentation;
pub mod signal;
pub mod supervision;
pub mod sync_client;
pub mod time_aware;
pub mod udp_station;

pub use any_node::AnyNode;
pub use attacker::{Attack, Attacker, AttackerConfig};
pub use by_id::ById;
pub use can_attacker::{CanAttacker, CanAttackerConfig, CanAttackerKind, SegmentedAttacker, SegmentedAttackerConfig};
pub use can_station::{CanStation, KeyAgent, StationConfig};
pub use clock::{Clock, ClusterConfig};
pub use end_system::{EndSystem, EndSystemConfig};
pub use gateway::{Gateway, GatewayConfig};
pub use pace::PaceConfig;
pub use protection::{Protection, ProtectionError};
pub use recorded::RecordedMessages;
pub use signal::RecordedSignal;
pub use supervision::SupervisionConfig;
pub use sync_client::{SyncClient, SyncConfig};
pub use time_aware::TimeAwareConfig;
pub use udp_station::{UdpListener, UdpStation, UdpStationConfig, UdpTalker};
