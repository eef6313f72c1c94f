//! AUTOSAR system descriptions: their buses and networks, and what is sent on them, become a scenario.

mod network;
mod secured;
mod text;

use chronoseal_recordings::arxml::read_arxml;

use super::unpacked;
use crate::limits::NODES_MAX;
use crate::load::{NoFiles, load};
use crate::problem::{Code, Problem, Problems};
use network::Network;

/// A scenario from an AUTOSAR system description or ECU extract (ARXML, schema r4.0): its CAN buses and Ethernet networks, each frame with
/// its length, identifier, cycle time, sender and receivers, what gateways carry on, and how Secured-I-PDUs are secured.
///
/// Comments say what was assumed, where it stands.
///
/// # Errors
/// If the bytes are no such description, or hold nothing that can be sent.
pub fn from_description(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    let fail = |message: String, help: &str| {
        Problems::one(source_name, "", Problem::new(Code::ImportDatabase, message).help(help))
    };
    let bytes = unpacked(source_name, bytes)?;
    let found = read_arxml(&bytes).map_err(|error| {
        fail(error.to_string(), "give a system description or ECU extract of AUTOSAR 4, in one file")
    })?;
    let Some(network) = Network::of(&found) else {
        let message = format!("the description has more than the {NODES_MAX} nodes of a scenario");
        return Err(fail(message, "cut it by clusters (an ECU extract)"));
    };
    if network.streams.is_empty() {
        let message =
            "nothing in the description can be sent: no frame has a length, a period up to 10 s and a receiver";
        return Err(fail(message.into(), "give the description of a system, with frames and ECUs in it"));
    }
    let text = text::write(source_name, &found, &network);
    load(&format!("{source_name} (as a scenario)"), text.as_bytes(), &[], &NoFiles)?;
    Ok(text)
}
