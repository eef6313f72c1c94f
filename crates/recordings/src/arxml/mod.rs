//! AUTOSAR system descriptions (ARXML, classic platform, schemas r4.0 and 3.x): which buses and networks there are, what is sent on
//! them, by whom, how often, and how it is secured.
//!
//! Sources: AUTOSAR CP System Template (R4.2 and later) for the elements, SecOC's specification for Secured-I-PDUs. What is not
//! in the file stays `None` or empty here; what is assumed for it is decided by whoever makes something of it.

mod channels;
mod number;
mod pdus;
mod routes;
mod stations;
mod tree;

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_wire::can::CanId;

pub use tree::{ARXML_LEN_MAX, ELEMENTS_MAX};

use tree::Tree;

/// Frames of all channels, at most.
pub const ARXML_FRAMES_MAX: usize = 100_000;

/// What a description says of its networks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SystemDescription {
    /// Names of its ECUs, each once.
    pub nodes: Vec<String>,
    /// Its channels.
    pub channels: Vec<Channel>,
    /// What gateways carry from one channel to another.
    pub routes: Vec<Route>,
    /// What of the file is not here, and how often.
    pub left_out: BTreeMap<&'static str, usize>,
}

/// One physical channel.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// That of its cluster, with its own where the cluster has several.
    pub name: String,
    /// What it is.
    pub kind: ChannelKind,
    /// The ECUs on it, of [`SystemDescription::nodes`], in order.
    pub nodes: Vec<usize>,
    /// What is sent on it, in the order of the file.
    pub frames: Vec<Frame>,
}

/// What a channel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelKind {
    /// A CAN bus.
    Can {
        /// `[bit/s]`
        bit_rate: Option<u64>,
        /// Of the data phase `[bit/s]`.
        data_bit_rate: Option<u64>,
    },
    /// An Ethernet network, all its virtual ones together.
    Ethernet {
        /// `[bit/s]`
        bit_rate: Option<u64>,
    },
}

/// Something that is sent on a channel: a CAN frame, or a PDU on Ethernet.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// That of the frame, or of the PDU.
    pub name: String,
    /// How it goes.
    pub medium: Medium,
    /// Its data with everything in it, what secures it too `[byte]`.
    pub len: usize,
    /// The PDUs in it.
    pub pdus: Vec<String>,
    /// How often it is sent.
    pub timing: Timing,
    /// ECUs that send it, of [`SystemDescription::nodes`].
    pub senders: Vec<usize>,
    /// ECUs that receive it.
    pub receivers: Vec<usize>,
    /// How it is secured, if it is one Secured-I-PDU.
    pub secured: Option<Secured>,
}

/// How a frame goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Medium {
    /// On CAN.
    Can {
        /// Its identifier.
        id: CanId,
        /// True if it is written that it is sent in the FD format; `None` if nothing is written.
        fd: Option<bool>,
    },
    /// On Ethernet.
    Ethernet {
        /// The virtual network.
        vlan: Option<u16>,
    },
}

/// How often something is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// With this period. Of several, such as those of the two transmission modes, the shortest.
    Cyclic(Duration),
    /// When there is something to send, and at least so far apart.
    Apart(Duration),
    /// Nothing is written.
    Unknown,
}

/// A Secured-I-PDU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secured {
    /// Its name.
    pub name: String,
    /// What of the authenticator is sent `[bit]`.
    pub authenticator_bits: u32,
    /// The freshness value `[bit]`.
    pub freshness_bits: u32,
    /// What of it is sent `[bit]`.
    pub freshness_sent_bits: u32,
    /// The algorithm, as written.
    pub algorithm: Option<String>,
}

/// What a gateway carries from one channel to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The gateway, of [`SystemDescription::nodes`].
    pub gateway: usize,
    /// Channel and frame in it that come in.
    pub from: (usize, usize),
    /// Channel and frame in it that go out.
    pub to: (usize, usize),
}

/// Why a description cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArxmlError {
    /// More than [`ARXML_LEN_MAX`].
    #[error("the description has {0} bytes; at most {ARXML_LEN_MAX} are read; cut it by clusters (an ECU extract)")]
    TooLong(usize),
    /// No UTF-8.
    #[error("ARXML, line {line}: this is no UTF-8 text; save it as UTF-8")]
    NotText {
        /// From 1.
        line: u64,
    },
    /// Not well-formed.
    #[error("ARXML, line {line}: this is no XML: {reason}; mend it, or export it again")]
    Syntax {
        /// From 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The end within an element.
    #[error("ARXML, line {line}: the file ends within an element; export it again")]
    CutOff {
        /// From 1.
        line: u64,
    },
    /// Another kind of XML.
    #[error("ARXML: <{0}> stands where <AUTOSAR> was expected; give a system description or an ECU extract")]
    Root(String),
    /// Another schema.
    #[error(
        "ARXML: the schema is `{0}`, and `http://autosar.org/schema/r4.0` and `http://autosar.org/3.…` are read; export it for AUTOSAR \
         4, or its buses as DBC"
    )]
    Version(String),
    /// More than [`ELEMENTS_MAX`].
    #[error("ARXML, line {line}: more than {ELEMENTS_MAX} elements of networks; cut it by clusters (an ECU extract)")]
    TooMany {
        /// From 1.
        line: u64,
    },
    /// More than [`ARXML_FRAMES_MAX`].
    #[error("ARXML: more than {ARXML_FRAMES_MAX} frames; cut it by clusters (an ECU extract)")]
    TooManyFrames,
    /// Nothing is sent; with what was left out, and how often.
    #[error(
        "ARXML: there is no CAN or Ethernet cluster with a frame or PDU in it{}; give a system description or an ECU extract, \
         with all files of it in one",
        shown(.0)
    )]
    Empty(BTreeMap<&'static str, usize>),
}

/// Reads a system description or an ECU extract, in one file.
///
/// What cannot be read of it, such as a frame whose identifier is none, is left out and counted.
///
/// # Errors
/// [`ArxmlError`].
pub fn read_arxml(bytes: &[u8]) -> Result<SystemDescription, ArxmlError> {
    if bytes.len() > ARXML_LEN_MAX {
        return Err(ArxmlError::TooLong(bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        ArxmlError::NotText { line }
    })?;
    let tree = Tree::read(text.trim_start_matches('\u{feff}'))?;
    let mut left_out = BTreeMap::new();
    let stations = stations::Stations::of(&tree);
    let found = channels::Found::of(&tree, &stations, &mut left_out)?;
    let routes = routes::routes(&tree, &stations, &found, &mut left_out);
    if found.channels.iter().all(|channel| channel.frames.is_empty()) {
        return Err(ArxmlError::Empty(left_out));
    }
    Ok(SystemDescription { nodes: stations.names, channels: found.channels, routes, left_out })
}

/// What was left out, behind a sentence.
fn shown(left_out: &BTreeMap<&'static str, usize>) -> String {
    let counts: Vec<String> = left_out.iter().map(|(what, count)| format!("{count} {what}")).collect();
    if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
}

/// True for the first element of AUTOSAR's files, whatever the version.
pub fn is_arxml(bytes: &[u8]) -> bool {
    crate::content::has_root(bytes, "AUTOSAR")
}
