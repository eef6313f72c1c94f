//! Carries streams of a scenario in datagrams that are sealed one by one: chronoseal's own frame authentication, with nothing around it.
//!
//! ```text
//! adapter [--bodies FOLDER] ADDRESS MAC KEY
//! ```
//! `MAC` is an algorithm as scenarios name it; `KEY` is a file of 32 bytes that both ends have.

mod assembly;
mod datagram;
mod publisher;
mod session;
mod subscriber;

use std::net::SocketAddrV4;

use chronoseal_contract::{Call, End, Exit, Stream, fail, fail_usage, leave};
use chronoseal_crypto::MacAlgorithm;

use crate::publisher::Sender;
use crate::session::Secrets;
use crate::subscriber::Receiver;

/// A stream has the port of this number and its own.
const PORT: u16 = 6_000;

/// Longer ones are no messages of ours `[byte]`.
const MESSAGE_MAX: u32 = 64 << 20;

/// What waits in the socket of a sender `[byte]`.
const BUFFER: usize = 4 << 20;

fn main() {
    let call = Call::open("ADDRESS MAC KEY", 1..=1);
    let Ok(mac) = call.mode.parse::<MacAlgorithm>() else { fail_usage() };
    call.limit(MESSAGE_MAX);
    let secrets = Secrets::read(mac, &call.words[0]).unwrap_or_else(|why| fail(Exit::Refused, &call.words[0], why));
    let end = |stream: &Stream| {
        let port = SocketAddrV4::new(call.address, PORT + stream.number);
        let opened = match stream.sends {
            true => Sender::open(call.address, stream, &secrets).map(|sender| End::Publishes(Box::new(sender))),
            false => Receiver::open(port, stream, &secrets).map(|receiver| End::Subscribes(Box::new(receiver))),
        };
        opened.unwrap_or_else(|error| fail(Exit::Other, &stream.name, error))
    };
    let ends = call.streams.iter().map(end).collect();
    call.run(ends);
    leave();
}
