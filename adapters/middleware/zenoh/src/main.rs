//! Carries streams of a scenario over Eclipse Zenoh; `../../common/rust` has what all adapters in Rust share.
//!
//! ```text
//! adapter [--bodies FOLDER] ADDRESS tcp
//! adapter [--bodies FOLDER] ADDRESS tls|quic KEYS
//! ```
//!
//! Nodes are peers, and there is no router: each listens, and of two that share a stream the one with the higher address connects. A stream is the
//! key `streams/NAME`. Each end of it has a liveliness token `ends/NAME/ADDRESS`, which it declares after itself: who sees the token has the end.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chronoseal_contract::{
    Body, Call, End, Exit, HEAD_LEN, Publisher, Stream, Subscriber, fail, fail_usage, is_stopped, leave, now_ns,
};
use serde_json::{Value, json};
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::qos::CongestionControl;
use zenoh::sample::{Sample, SampleKind};
use zenoh::{Config, Session, Wait};

const PORT: u16 = 7447;
/// From one attempt to connect to the next `[ms]`.
const RETRY_MS: u64 = 50;
/// Received messages that wait for their checksum. Behind them the connection waits.
const WAITING: usize = 16;
/// Of Zenoh's `max_message_size`, 1 GiB, with room for its headers `[byte]`.
const MESSAGE_LEN_MAX: u32 = (1 << 30) - (64 << 10);

fn main() {
    let call = Call::open("ADDRESS tcp|tls|quic [KEYS, for tls and quic]", 0..=1);
    let keys = match (call.mode.as_str(), call.words.as_slice()) {
        ("tcp", []) => None,
        ("tls" | "quic", [keys]) => Some(keys.as_str()),
        _ => fail_usage(),
    };
    call.limit(MESSAGE_LEN_MAX);
    let config = Config::from_json5(&settings(&call, keys).to_string());
    let config = config.unwrap_or_else(|error| fail(Exit::Other, "the settings of Zenoh", error));
    let refusal = if keys.is_some() { Exit::Refused } else { Exit::Other };
    let session = zenoh::open(config).wait().unwrap_or_else(|error| fail(refusal, "Zenoh", error));
    // Nothing of it is closed in good order at the end: that would wait for what cannot be sent any more.
    let session = Box::leak(Box::new(session));
    let ends = call.streams.iter().map(|stream| open(session, stream, call.address)).collect();
    call.run(ends);
    leave();
}

/// All that is not Zenoh's default.
fn settings(call: &Call, keys: Option<&str>) -> Value {
    let endpoint = |address: Ipv4Addr| format!("{}/{address}:{PORT}", call.mode);
    let peers: BTreeSet<Ipv4Addr> = call.streams.iter().flat_map(|stream| &stream.peers).copied().collect();
    let lower: Vec<String> = peers.range(..call.address).copied().map(endpoint).collect();
    let retry = json!({ "period_init_ms": RETRY_MS, "period_max_ms": RETRY_MS, "period_increase_factor": 1.0 });
    let mut settings = json!({
        "mode": "peer",
        "listen": { "endpoints": [endpoint(call.address)] },
        "connect": { "endpoints": lower, "retry": retry },
        "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
    });
    if let Some(keys) = keys {
        let file = |name: &str| format!("{keys}/{name}.pem");
        settings["transport"] = json!({ "link": { "tls": {
            "enable_mtls": true,
            // Addresses are no names, so what is checked is that the other's certificate is of the authority, and not whose it is.
            "verify_name_on_connect": false,
            "root_ca_certificate": file("ca"),
            "listen_certificate": file("certificate"),
            "listen_private_key": file("key"),
            "connect_certificate": file("certificate"),
            "connect_private_key": file("key"),
        } } });
    }
    settings
}

fn open(session: &'static Session, stream: &Stream, own: Ipv4Addr) -> End {
    let wrong = |error: zenoh::Error| -> ! { fail(Exit::Other, &stream.name, error) };
    let key = format!("streams/{}", stream.name);
    let here = Arc::new(Here { stream: stream.clone(), peers: Mutex::default() });
    let end = if stream.sends {
        let publisher =
            session.declare_publisher(key).congestion_control(CongestionControl::Block).express(true).wait();
        let publisher = Box::leak(Box::new(publisher.unwrap_or_else(|error| wrong(error))));
        End::Publishes(Box::new(Sender { publisher, here: Arc::clone(&here) }))
    } else {
        let subscriber = session.declare_subscriber(key).with(FifoChannel::new(WAITING)).wait();
        let subscriber = Box::leak(Box::new(subscriber.unwrap_or_else(|error| wrong(error))));
        End::Subscribes(Box::new(Receiver(subscriber)))
    };
    let watch = session.liveliness().declare_subscriber(format!("ends/{}/*", stream.name)).history(true);
    let watch = watch.callback(move |sample| here.note(&sample)).background().wait();
    watch.unwrap_or_else(|error| wrong(error));
    let token = session.liveliness().declare_token(format!("ends/{}/{own}", stream.name)).wait();
    Box::leak(Box::new(token.unwrap_or_else(|error| wrong(error))));
    end
}

/// Which of a stream's peers have their end of it.
struct Here {
    stream: Stream,
    peers: Mutex<BTreeSet<Ipv4Addr>>,
}

impl Here {
    fn note(&self, sample: &Sample) {
        let address = sample.key_expr().as_str().rsplit('/').next().and_then(|last| last.parse().ok());
        let Some(peer) = address.filter(|address| self.stream.peers.contains(address)) else { return };
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        match sample.kind() {
            SampleKind::Put => {
                peers.insert(peer);
            }
            SampleKind::Delete => {
                peers.remove(&peer);
                if !is_stopped() {
                    self.stream.say(format_args!("{peer} is gone; until it is back nothing comes from it or to it"));
                }
            }
        }
    }
}

struct Sender {
    publisher: &'static zenoh::pubsub::Publisher<'static>,
    here: Arc<Here>,
}

impl Publisher for Sender {
    fn matched(&mut self) -> usize {
        let is_matched = self.publisher.matching_status().wait().is_ok_and(|status| status.matching());
        let peers = self.here.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if is_matched { peers.len() } else { 0 }
    }

    fn send(&mut self, number: u64, body: Body) {
        let mut message = Vec::with_capacity(HEAD_LEN + body.bytes.len());
        message.extend_from_slice(&Stream::head(number, body));
        message.extend_from_slice(body.bytes);
        if let Err(error) = self.publisher.put(message).wait() {
            self.here.stream.say(format_args!("message {number}: {error}"));
        }
    }
}

struct Receiver(&'static zenoh::pubsub::Subscriber<FifoChannelHandler<Sample>>);

impl Subscriber for Receiver {
    fn receive(&mut self, stream: &Stream) {
        while !is_stopped() {
            match self.0.recv_timeout(Duration::from_millis(100)) {
                Ok(Some(sample)) if sample.kind() == SampleKind::Put => {
                    let message = sample.payload().to_bytes();
                    let at_ns = now_ns();
                    stream.received_with_head(&message, at_ns);
                }
                Ok(_) => {}
                Err(error) => return stream.say(error),
            }
        }
    }
}
