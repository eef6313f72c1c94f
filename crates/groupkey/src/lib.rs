//! Group keys on CAN and CAN FD: how the ECUs of a bus come to one key, and how one of them is thrown out.
//!
//! This crate does no I/O, reads no clock, allocates nothing and does no curve arithmetic of its own: it
//! is generic over a [`Suite`](chronoseal_crypto::suite::Suite). It does not protect the traffic that the key is for
//! (that is `chronoseal-frameauth`), and it is no bus: frames come and go as bytes of `wire::can::layout`.
//!
//! The two types that matter are [`Member`], an ECU, and [`Orchestrator`], which requests the exchanges. Both are
//! [`Node`](chronoseal_core::Node)s. A [`Roster`] says who belongs to the network and a [`Tree`] who is merged with whom.
//! Where the target has the standard library there are also an [`adversary`] and, to compare with, other ways to a common key in [`baseline`].
//!
//! ```
//! use chronoseal_core::{Command, Input, LocalTime, Node, Output, PortId};
//! use chronoseal_crypto::suite::{FourQ, Suite};
//! use chronoseal_groupkey::{
//!     Address, Member, NodeConfig, Orchestrator, Profile, Roster, Scheme, Settings, SpareNode, Transport, Tree,
//! };
//!
//! let key = |address: Address| FourQ::signing_key(&[address.0; 32]);
//! let public = |address| FourQ::public_key(&key(address));
//! let mut roster = Roster::<FourQ>::new(Address(250), 300, Some(public(Address(250)).as_bytes()))?;
//! for address in [1, 2].map(Address) {
//!     roster.add(address, 133, Some(public(address).as_bytes()))?;
//! }
//! let tree = Tree::new(&roster, Scheme::FullTree, SpareNode::JoinsHigherLevel)?;
//! let settings = Settings::new(Profile::Hardened, Transport::Fd);
//! let config = |address: Address| NodeConfig {
//!     settings,
//!     address,
//!     signing_key: key(address),
//!     roster: roster.clone(),
//!     tree: tree.clone(),
//!     seed: [100 + address.0 / 2; 32], // from a hardware generator
//! };
//! let mut orchestrator = Orchestrator::new(config(Address(250)))?;
//! let mut members = [Member::new(config(Address(1)))?, Member::new(config(Address(2)))?];
//!
//! // A driver: every frame goes to everybody else, every token comes back.
//! let now = LocalTime::ZERO;
//! let mut nodes: Vec<&mut dyn Node> = vec![&mut orchestrator];
//! nodes.extend(members.iter_mut().map(|member| member as &mut dyn Node));
//! for node in &mut nodes {
//!     node.handle_input(now, Input::Command(Command::Start))?;
//! }
//! let mut bytes = [0; 1536];
//! let mut is_quiet = false;
//! while !is_quiet {
//!     is_quiet = true;
//!     for sender in 0..nodes.len() {
//!         loop {
//!             match nodes[sender].poll_output(now, &mut bytes) {
//!                 Output::Timeout(_) => break,
//!                 Output::Transmit(transmit) => {
//!                     is_quiet = false;
//!                     for receiver in (0..nodes.len()).filter(|receiver| *receiver != sender) {
//!                         let frame = &bytes[..transmit.len];
//!                         nodes[receiver].handle_input(now, Input::Frame { port: PortId(0), rx_at: now, bytes: frame })?;
//!                     }
//!                     if let Some(token) = transmit.token {
//!                         nodes[sender].handle_input(now, Input::Transmitted { token, tx_at: now })?;
//!                     }
//!                 }
//!                 _ => {}
//!             }
//!         }
//!     }
//! }
//! let group = orchestrator.group_key().expect("all have confirmed it");
//! assert!(members.iter().all(|member| member.group_key().map(|key| &key.key) == Some(&group.key)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source
//! A. Musuroi, B. Groza, L. Popa, P.-S. Murvay, "Fast and Efficient Group Key Exchange in Controller Area Networks (CAN)",
//! IEEE Transactions on Vehicular Technology, 2021: figure 4 (the exchange), section III (logical ECUs, three schemes,
//! removal), figure 10 (identifiers), appendix A (orchestration).
//!
//! # Where this differs from the source, and why
//! | the text | here | why |
//! |---|---|---|
//! | Removal overwrites the address, then searches for it, and ends before the root (algorithm 2) | the place is found first, and every logical ECU above it is renewed, the root included | as printed the group key would not change |
//! | An orchestration message is a signature over CANxID and `ts`; nothing says how `ts` arrives | [`Profile::AsPublished`]: `ts` is the number of the granule of common time, constant within a run ([`Settings::granule`]); the receiver tries the few it can be, each exchange takes each once. [`Profile::Hardened`] sends epoch, time and who is in the group | there is no room in 64 bytes |
//! | Confirmations are "encrypted" under one `k` | AES-128-CTR, the first counter block tells the sides apart; hardened: a key for each direction | both sides under one key stream would give away the difference of the signatures |
//! | Signatures cover the two shares | hardened: role, addresses, who acts, identifier, epoch, suite and shares | otherwise nothing binds a key to who shares it, and for what |
//! | No tag on a confirmation | hardened: 16 bytes of AES-CMAC under a key from the exchange | key confirmation before any signature is looked at |
//! | 32-byte shares | a P-256 share has 33 bytes: it travels in an FD frame of 48, and in 5 classical frames instead of 4 | a compressed point; x alone would need a second parser |
//! | `r` of a logical ECU is the next private key and, of the root, the group key | traffic keys are one derivation further, [`Secret::traffic_key`] | one secret, one purpose |
//! | Passive members "monitor" | they verify the request and the other side's confirmation, and follow with `r` | a share that nobody signed would split the group |
//! | The orchestrator can monitor all exchanges | [`Monitoring::Path`] unless asked for all | it needs one path; following all costs it n - 1 agreements |
//! | A run ends with its last exchange | [`Installation::Confirmed`], the default: each member shows the key (16 bytes), the orchestrator says that all have; [`Installation::Unconfirmed`] as published | without it a spoilt last step leaves two keys in use, and a removed node can bring the old one back |
//! | `gsk = KDF(msk, r_1 P, ..., r_S P)` | the shares of all pairs formed since the last master secret, hashed in the order of the roster | a removal exchanges no shares |
//! | Every ECU hears all shares of that key | hardened: the orchestrator mixes the channels of all present pairs into `msk`, which is the group secret then | a listener cannot verify the shares of others, and a lost or forged one would keep the key from it |
//! | The lowest request of a removal says by its addresses who left | hardened: each request carries a bit for each place of the roster ([`Membership`]) | who missed it would go on with the removed node |
//! | Nothing is said of ECUs that come later | they have a place from the start, which the orchestrator holds; several come in with one key ([`Operation::Admit`]) | places that are made later would move addresses |
//! | Nothing is said of power that is lost | [`Persisted`] is kept by the driver | old messages would be new again |
//! | No rule for messages longer than a frame | one identifier, in order, no numbers | 64 bytes in 8 classical frames leave none; see [`GAP_MAX`] |
//! | A spare node is assigned directly, with address 0 (appendix A) | it joins a higher level; [`SpareNode::DirectAssignment`] for the other | one-byte addresses then hold 85 ECUs, and every merge is an exchange |
//! | Nothing is said of loss | a request is repeated under a new epoch; when its time is over; who gives up an exchange says why ([`Step::Abort`]), which nobody has to believe | see [`Failure`] |
//! | Nothing is said of a removal that fails | the key in use stays, or is given up ([`FailedRemoval`], [`Step::Withdrawal`]) | the removed node has it |
//!
//! How many frames each profile takes: [`frame_count`]. What each withstands: `docs/reference/group-key-threat-model.md`.
#![cfg_attr(any(target_os = "none", without_std), no_std)]

#[cfg(not(any(target_os = "none", without_std)))]
pub mod adversary;
#[cfg(not(any(target_os = "none", without_std)))]
pub mod baseline;
pub mod crypto_stack;
mod distribution;
pub mod frame_count;
pub mod identifier;
mod keys;
mod manager;
mod member;
mod membership;
mod orchestrator;
mod pair_shares;
pub mod profile;
pub mod roster;
mod settings;
mod signed;
mod station_to_station;
mod text;
mod transport;
pub mod tree;

#[cfg(test)]
#[path = "../tests/groupkey/swift.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the whole protocol")]
mod swift;

pub use identifier::{Address, ExchangeId, Identifier, Side, Step};
pub use keys::Secret;
pub use manager::{GroupKey, NodeConfig};
pub use member::Member;
pub use membership::{MEMBERSHIP_LEN, Membership, PERSISTED_LEN, Persisted};
pub use orchestrator::{OPERATIONS_MAX, Operation, OperationError, Orchestrator};
pub use profile::{
    FailedRemoval, Installation, MEMBERS_MAX, Monitoring, OrchestrationSigning, Profile, Scheme, SpareNode, Transport,
};
pub use roster::{Roster, RosterEntry, RosterError};
pub use settings::Settings;
pub use signed::{Field as SignedField, SignedText};
pub use station_to_station::{Failure, Stage};
pub use text::Stamp;
pub use transport::GAP_MAX;
pub use tree::{MembershipChange, NotInTree, Tree};
