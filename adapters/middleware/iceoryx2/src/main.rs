//! Carries streams of a scenario over Eclipse iceoryx2, through memory that the processes of a host share and past every network;
//! `../../common/rust` has what all adapters in Rust share.
//!
//! ```text
//! adapter [--bodies FOLDER] ADDRESS shared
//! ```
//!
//! All runs are in one domain of the library, `domain.rs`. Each stream is a service of messages and one of events, by which the receiver is woken. Their names have the time at which the run began, so that
//! no other run has them.

mod domain;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chronoseal_contract::{
    Body, Call, End, Exit, Publisher, Stream, Subscriber, fail, fail_usage, is_stopped, leave, now_ns,
};
use domain::{Domain, ROOT};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::{BackpressureAction, BackpressureInfo};
use iceoryx2::prelude::*;
use iceoryx2::service::ipc_threadsafe::Service;
use iceoryx2::service::port_factory::{event, publish_subscribe};

/// Messages that wait for a receiver. Behind them the publisher waits.
const WAITING: usize = 8;
/// Receivers of a stream: the contract has no more.
const PEERS_MAX: usize = 16;
/// While a receiver has no room.
const RETRY: Duration = Duration::from_micros(50);
/// After this a publisher says that it waits.
const SILENCE: Duration = Duration::from_secs(1);

/// In front of each body.
#[derive(Clone, Copy, Default, Debug, ZeroCopySend)]
#[repr(C)]
struct Head {
    number: u64,
    checksum: u32,
    reserved: u32,
}

fn main() {
    let call = Call::open("ADDRESS shared", 0..=0);
    if call.mode != "shared" {
        fail_usage();
    }
    set_log_level(LogLevel::Error);
    let Ok(run) = std::env::var("CHRONOSEAL_EPOCH_NS") else { fail_usage() };
    let domain = Domain::open().unwrap_or_else(|error| fail(Exit::Other, ROOT, error));
    let node = domain.node().unwrap_or_else(|error| fail(Exit::Other, "iceoryx2", error));
    let ends = call.streams.iter().map(|stream| open(&node, stream, &run)).collect();
    call.run(ends);
    drop(node);
    if let Err(error) = domain.tidy() {
        fail(Exit::Other, ROOT, error);
    }
    leave();
}

fn open(node: &Node<Service>, stream: &Stream, run: &str) -> End {
    let what = &stream.name;
    let name = format!("chronoseal/{run}/{}", stream.name);
    let name = ServiceName::new(&name).unwrap_or_else(|error| fail(Exit::Other, what, error));
    let events = node.service_builder(&name).event().max_listeners(PEERS_MAX).open_or_create();
    let events = events.unwrap_or_else(|error| fail(Exit::Other, what, error));
    let messages = node.service_builder(&name).publish_subscribe::<[u8]>().user_header::<Head>();
    let messages = messages.max_subscribers(PEERS_MAX).enable_safe_overflow(false).history_size(0);
    let messages = messages.subscriber_max_buffer_size(WAITING).subscriber_max_borrowed_samples(1).open_or_create();
    let messages = messages.unwrap_or_else(|error| fail(Exit::Other, what, error));
    if stream.sends { sender(stream, events, messages) } else { receiver(stream, &events, &messages) }
}

type Events = event::PortFactory<Service>;
type Messages = publish_subscribe::PortFactory<Service, [u8], Head>;

fn sender(stream: &Stream, events: Events, messages: Messages) -> End {
    let (of_stream, has_said) = (stream.clone(), AtomicBool::new(false));
    let waiting = move |info: &BackpressureInfo| wait(&of_stream, &has_said, info);
    // Those that wait at each receiver, one that it reads, and one that is written.
    let samples = stream.peers.len() * (WAITING + 1) + 1;
    let publisher =
        messages.publisher_builder().initial_max_slice_len(stream.length_max as usize).max_loaned_samples(1);
    let publisher =
        publisher.override_sample_preallocation(move |_| samples).set_backpressure_handler(waiting).create();
    let publisher = publisher.unwrap_or_else(|error| fail(Exit::Other, &stream.name, error));
    let notifier = events.notifier_builder().create().unwrap_or_else(|error| fail(Exit::Other, &stream.name, error));
    End::Publishes(Box::new(Sender { publisher, notifier, messages, stream: stream.clone() }))
}

/// What is done while a receiver has no room.
fn wait(stream: &Stream, has_said: &AtomicBool, info: &BackpressureInfo) -> BackpressureAction {
    if is_stopped() {
        return BackpressureAction::DiscardDataAndFail;
    }
    if info.elapsed_time > SILENCE && !has_said.swap(true, Ordering::Relaxed) {
        stream.say(format_args!("a receiver has taken nothing for {SILENCE:?}; nothing more is sent until it does"));
    }
    std::thread::sleep(RETRY);
    BackpressureAction::Retry
}

fn receiver(stream: &Stream, events: &Events, messages: &Messages) -> End {
    // In this order: whoever sees the subscriber can wake it.
    let listener = events.listener_builder().create().unwrap_or_else(|error| fail(Exit::Other, &stream.name, error));
    let subscriber = messages.subscriber_builder().buffer_size(WAITING).create();
    let subscriber = subscriber.unwrap_or_else(|error| fail(Exit::Other, &stream.name, error));
    End::Subscribes(Box::new(Receiver { subscriber, listener }))
}

struct Sender {
    publisher: iceoryx2::port::publisher::Publisher<Service, [u8], Head>,
    notifier: Notifier<Service>,
    messages: Messages,
    stream: Stream,
}

impl Sender {
    fn try_send(&self, number: u64, body: Body) -> Result<(), Box<dyn std::error::Error>> {
        let mut sample = self.publisher.loan_slice_uninit(body.bytes.len())?;
        *sample.user_header_mut() = Head { number, checksum: body.checksum, reserved: 0 };
        sample.write_from_slice(body.bytes).send()?;
        self.notifier.notify()?;
        Ok(())
    }
}

impl Publisher for Sender {
    fn matched(&mut self) -> usize {
        self.messages.dynamic_config().number_of_subscribers()
    }

    fn send(&mut self, number: u64, body: Body) {
        if let Err(error) = self.try_send(number, body)
            && !is_stopped()
        {
            self.stream.say(format_args!("message {number}: {error}"));
        }
    }
}

struct Receiver {
    subscriber: iceoryx2::port::subscriber::Subscriber<Service, [u8], Head>,
    listener: Listener<Service>,
}

impl Subscriber for Receiver {
    fn receive(&mut self, stream: &Stream) {
        while !is_stopped() {
            if let Err(error) = self.listener.timed_wait(|_| (), Duration::from_millis(100)) {
                return stream.say(error);
            }
            loop {
                match self.subscriber.receive() {
                    Ok(None) => break,
                    Ok(Some(sample)) => {
                        let at_ns = now_ns();
                        let head = sample.user_header();
                        stream.received(head.number, sample.payload(), head.checksum, at_ns);
                    }
                    Err(error) => return stream.say(error),
                }
            }
        }
    }
}
