//! The contract of middleware adapters for those written in Rust: a safe face of `../contract.h`, which does all of it.
//!
//! It knows no middleware. An adapter calls [`Call::open`], makes an [`End`] for each of [`Call::streams`], and hands them to [`Call::run`].
//!
//! ```no_run
//! use chronoseal_contract::{Body, Call, End, Publisher, Stream, Subscriber, is_stopped, leave};
//!
//! struct Nobody;
//!
//! impl Publisher for Nobody {
//!     fn matched(&mut self) -> usize {
//!         0
//!     }
//!     fn send(&mut self, _number: u64, _body: Body) {}
//! }
//!
//! impl Subscriber for Nobody {
//!     fn receive(&mut self, _stream: &Stream) {
//!         while !is_stopped() {
//!             std::thread::sleep(std::time::Duration::from_millis(100));
//!         }
//!     }
//! }
//!
//! let call = Call::open("ADDRESS none", 0..=0);
//! let end = |stream: &Stream| if stream.sends { End::Publishes(Box::new(Nobody)) } else { End::Subscribes(Box::new(Nobody)) };
//! let ends = call.streams.iter().map(end).collect();
//! call.run(ends);
//! leave();
//! ```

mod bindings;

use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a publisher waits for its receivers `[s]`.
pub const MATCH_S: u64 = 10;

/// What [`Stream::head`] writes in front of a body `[byte]`.
pub const HEAD_LEN: usize = 16;

/// Why an adapter ends before the run does: its exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Whatever has no status of its own.
    Other = 1,
    /// A wrong call.
    Usage = 64,
    /// A message is longer than the middleware takes.
    OverLimit = 65,
    /// Security refused our own keys or documents.
    Refused = 66,
    /// Nobody to send to in time.
    NoMatch = 75,
}

/// What one message carries. Bodies are there as long as the program runs.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// As the receiver should get them.
    pub bytes: &'static [u8],
    /// CRC-32 as zlib has it. It travels with the message.
    pub checksum: u32,
}

/// A stream that this program sends or receives.
#[derive(Clone, Debug)]
pub struct Stream {
    raw: *mut bindings::Stream,
    /// As the scenario has it.
    pub name: String,
    /// Its number in the scenario, which no other stream has.
    pub number: u16,
    /// This program sends it; otherwise it receives it.
    pub sends: bool,
    /// The receivers; of a stream that is received, its sender.
    pub peers: Vec<Ipv4Addr>,
    /// The longest message that is sent, without a head `[byte]`; 0 if it is received.
    pub length_max: u32,
}

// SAFETY: the contract writes to a stream before `Call::open` returns and in `Call::run`, which takes the call; what is called with it here only reads.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// One end of a stream that is sent. Its functions are called by one thread, which is the stream's own.
pub trait Publisher: Send {
    /// How many receivers there are at present. Nothing is sent before there are as many as the stream has peers.
    fn matched(&mut self) -> usize;
    /// Hands over a message. What is serialized here is in the time that is measured.
    fn send(&mut self, number: u64, body: Body);
}

/// One end of a stream that is received.
pub trait Subscriber: Send {
    /// Receives until [`is_stopped`], in a thread of the stream's own.
    fn receive(&mut self, stream: &Stream);
}

/// What an adapter has for a stream.
pub enum End {
    /// Of a stream that is sent.
    Publishes(Box<dyn Publisher>),
    /// Of a stream that is received.
    Subscribes(Box<dyn Subscriber>),
    /// Of a stream that is received, where the library calls [`Stream::received`] by itself.
    CallsBack,
}

/// An end and its stream, as the contract keeps them.
struct Held {
    stream: Stream,
    end: End,
}

/// How the adapter was called, and what the bench gave it.
#[derive(Debug)]
pub struct Call {
    raw: *mut bindings::Call,
    /// That of the node itself.
    pub address: Ipv4Addr,
    /// The first word of the adapter's own.
    pub mode: String,
    /// The others.
    pub words: Vec<String>,
    /// In the order of the bench.
    pub streams: Vec<Stream>,
}

impl Call {
    /// Reads command line and environment, and ends the program if they are wrong. `words` says how many words there may be behind the mode. From here
    /// on SIGTERM ends the run, and a panic the program, with [`Exit::Other`].
    ///
    /// # Panics
    /// If it is called twice, or if `usage` holds a zero byte.
    pub fn open(usage: &str, words: RangeInclusive<u16>) -> Self {
        static IS_OPEN: AtomicBool = AtomicBool::new(false);
        assert!(!IS_OPEN.swap(true, Ordering::Relaxed), "a program has one call");
        std::panic::set_hook(Box::new(|info| fail(Exit::Other, "a defect of the adapter or its middleware", info)));
        // The contract keeps all of these, so they are never freed.
        let kept = |text: Vec<u8>| {
            CString::new(text).expect("words of a command line and the usage hold no zero byte").into_raw()
        };
        let mut line: Vec<*mut c_char> = std::env::args_os().map(|word| kept(word.into_encoded_bytes())).collect();
        let count = i32::try_from(line.len()).expect("the kernel limits a command line");
        line.push(std::ptr::null_mut());
        // SAFETY: the pointers are of strings that are never freed, and the line is leaked with them.
        unsafe {
            let raw = bindings::contract_open(
                count,
                line.leak().as_mut_ptr(),
                kept(usage.into()),
                (*words.start()).into(),
                (*words.end()).into(),
            );
            Self {
                raw,
                address: address(&text(bindings::binding_address(raw))),
                mode: text(bindings::binding_mode(raw)),
                words: (0..bindings::binding_words_count(raw))
                    .map(|place| text(bindings::binding_word(raw, place)))
                    .collect(),
                streams: (0..bindings::binding_streams_count(raw))
                    .map(|place| Stream::of(bindings::binding_stream(raw, place)))
                    .collect(),
            }
        }
    }

    /// Ends the program if a message to be sent is longer than the middleware takes `[byte]`.
    pub fn limit(&self, length_max: u32) {
        // SAFETY: of `contract_open`, and only read.
        unsafe { bindings::contract_limit(self.raw, length_max) };
    }

    /// Sends and receives until the bench says that the run is over, and returns then.
    ///
    /// # Panics
    /// If there is not one end for each stream, in their order.
    pub fn run(self, ends: Vec<End>) {
        assert_eq!(ends.len(), self.streams.len(), "an end for each stream");
        let held: Vec<*mut Held> = self
            .streams
            .iter()
            .zip(ends)
            .map(|(stream, end)| Box::into_raw(Box::new(Held { stream: stream.clone(), end })))
            .collect();
        // SAFETY: each stream gets its own end, which the contract uses in one thread, and only until `binding_run` returns or the program ends.
        unsafe {
            for (stream, held) in self.streams.iter().zip(&held) {
                bindings::binding_set_end(stream.raw, held.cast());
            }
            bindings::binding_run(self.raw, matched, send, receive);
            for held in held {
                drop(Box::from_raw(held));
            }
        }
    }
}

impl Stream {
    /// # Safety
    /// `raw` is of an open call.
    unsafe fn of(raw: *mut bindings::Stream) -> Self {
        // SAFETY: as the caller promises; what is returned is copied.
        unsafe {
            let bodies = 0..bindings::binding_bodies_count(raw);
            Self {
                raw,
                name: text(bindings::binding_name(raw)),
                number: bindings::binding_number(raw),
                sends: bindings::binding_sends(raw),
                peers: (0..bindings::binding_peers_count(raw))
                    .map(|place| address(&text(bindings::binding_peer(raw, place))))
                    .collect(),
                length_max: bodies
                    .map(|place| bindings::binding_length(bindings::binding_body(raw, place)))
                    .max()
                    .unwrap_or(0),
            }
        }
    }

    /// Writes down that a message was received: all of it at `at_ns`, which was taken before the checksum is computed here over every byte.
    pub fn received(&self, number: u64, bytes: &[u8], checksum: u32, at_ns: i64) {
        let Ok(length) = u32::try_from(bytes.len()) else {
            return self.say(format_args!("message {number} has {} B, and a record has room for 4 GiB", bytes.len()));
        };
        // SAFETY: the bytes are there during the call, and the contract only reads the stream.
        unsafe { bindings::contract_received(self.raw, number, bytes.as_ptr().cast(), length, checksum, at_ns) };
    }

    /// What can be sent in front of a body, for a middleware that has no fields of its own for it: number and checksum, little-endian.
    pub fn head(number: u64, body: Body) -> [u8; HEAD_LEN] {
        let mut head = [0; HEAD_LEN];
        head[..8].copy_from_slice(&number.to_le_bytes());
        head[8..12].copy_from_slice(&body.checksum.to_le_bytes());
        head
    }

    /// As [`Self::received`], of a message that begins with a [`Self::head`]. A shorter one is none of an adapter's, and is left out with a line.
    pub fn received_with_head(&self, message: &[u8], at_ns: i64) {
        match message.split_first_chunk::<HEAD_LEN>() {
            Some((&[a, b, c, d, e, f, g, h, i, j, k, l, ..], bytes)) => {
                self.received(
                    u64::from_le_bytes([a, b, c, d, e, f, g, h]),
                    bytes,
                    u32::from_le_bytes([i, j, k, l]),
                    at_ns,
                );
            }
            None => self.say(format_args!("something of {} B came that is no message", message.len())),
        }
    }

    /// Prints a line about the stream, which the report shows. Never a key.
    pub fn say(&self, what: impl Display) {
        let line = c_string(&what);
        // SAFETY: both are there during the call.
        unsafe { bindings::binding_say(self.raw, line.as_ptr()) };
    }
}

/// Prints a line `WHAT: WHY` and ends the program.
pub fn fail(exit: Exit, what: impl Display, why: impl Display) -> ! {
    let (what, why) = (c_string(&what), c_string(&why));
    // SAFETY: both are there during the call.
    unsafe { bindings::contract_fail(exit as i32, what.as_ptr(), why.as_ptr()) }
}

/// Prints how the adapter is called, and ends the program.
pub fn fail_usage() -> ! {
    // SAFETY: it takes nothing; the usage is that of `Call::open`.
    unsafe { bindings::contract_fail_usage() }
}

/// The bench has said that the run is over.
pub fn is_stopped() -> bool {
    // SAFETY: it reads an atomic.
    unsafe { bindings::contract_is_stopped() }
}

/// `CLOCK_MONOTONIC` `[ns]`.
pub fn now_ns() -> i64 {
    // SAFETY: it takes nothing.
    unsafe { bindings::contract_now_ns() }
}

/// Ends the program after a run, without waiting for what threads of the middleware still do.
pub fn leave() -> ! {
    // SAFETY: nothing of this program is used any more.
    unsafe { bindings::_exit(0) }
}

fn c_string(what: &impl Display) -> CString {
    CString::new(what.to_string().replace('\0', " ")).unwrap_or_default()
}

fn address(text: &str) -> Ipv4Addr {
    text.parse().unwrap_or_else(|error| fail(Exit::Usage, text, error))
}

/// # Safety
/// `text` is a string that ends with a zero byte.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// # Safety
/// `stream` is one that `Call::run` gave an end, and nobody else uses it now.
unsafe fn held<'a>(stream: *mut bindings::Stream) -> &'a mut Held {
    // SAFETY: as the caller promises.
    unsafe { &mut *bindings::binding_end(stream).cast::<Held>() }
}

unsafe extern "C" fn matched(stream: *mut bindings::Stream) -> u32 {
    // SAFETY: the contract calls with its own streams, each in its own thread.
    match &mut unsafe { held(stream) }.end {
        End::Publishes(publisher) => u32::try_from(publisher.matched()).unwrap_or(u32::MAX),
        End::Subscribes(_) | End::CallsBack => 0,
    }
}

unsafe extern "C" fn send(stream: *mut bindings::Stream, number: u64, body: *const bindings::Body) {
    // SAFETY: as above; bodies are there as long as the program runs.
    let (held, body) = unsafe {
        let bytes = std::slice::from_raw_parts(bindings::binding_bytes(body), bindings::binding_length(body) as usize);
        (held(stream), Body { bytes, checksum: bindings::binding_checksum(body) })
    };
    if let End::Publishes(publisher) = &mut held.end {
        publisher.send(number, body);
    }
}

unsafe extern "C" fn receive(stream: *mut bindings::Stream) {
    // SAFETY: as above.
    let held = unsafe { held(stream) };
    if let End::Subscribes(subscriber) = &mut held.end {
        subscriber.receive(&held.stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_holds_number_and_checksum() {
        let head = Stream::head(0x0102_0304_0506_0708, Body { bytes: b"x", checksum: 0x0a0b_0c0d });
        assert_eq!(head, [8, 7, 6, 5, 4, 3, 2, 1, 0x0d, 0x0c, 0x0b, 0x0a, 0, 0, 0, 0]);
    }

    #[test]
    fn an_embedded_zero_is_no_end_of_a_line() {
        assert_eq!(c_string(&"a\0b").to_bytes(), b"a b");
    }
}
