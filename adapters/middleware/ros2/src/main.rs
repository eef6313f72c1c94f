//! Carries streams of a scenario over ROS 2 by `ros2-client`, which speaks DDS; `../../common/rust` has what all adapters in Rust share.
//!
//! ```text
//! adapter [--bodies FOLDER] ADDRESS reliable [SECURITY_FOLDER]
//! ```
//!
//! Each stream is a topic of `sensor_msgs/Image`. With a folder of keys and documents as SROS 2 has them it speaks DDS Security.

mod message;

use std::sync::{Arc, Mutex, PoisonError};

use chronoseal_contract::{
    Body, Call, End, Exit, Publisher, Stream, Subscriber, fail, fail_usage, is_stopped, leave, now_ns,
};
use futures::executor::{block_on, block_on_stream};
use message::Image;
use ros2_client::qos::{History, WhenFull};
use ros2_client::{
    Context, ContextOptions, MessageTypeName, Name, Node, NodeName, NodeOptions, QosProfile, Subscription,
};

/// Messages that a publisher keeps until they are acknowledged, and a subscriber until they are read.
const HISTORY: usize = 16;

fn main() {
    let call = Call::open("ADDRESS reliable [SECURITY_FOLDER]", 0..=1);
    if call.mode != "reliable" {
        fail_usage();
    }
    let (mut options, mut refusal) = (ContextOptions::new(), Exit::Other);
    if let [folder] = call.words.as_slice() {
        (options, refusal) = (options.enable_security(folder, String::new()), Exit::Refused);
    }
    let context = Context::with_options(options);
    let context = context.unwrap_or_else(|error| fail(refusal, "participant", format!("{error:?}")));
    let node = node(&context, &call);
    let ends = call.streams.iter().map(|stream| open(&node, stream)).collect();
    call.run(ends);
    leave();
}

type Shared = Arc<Mutex<Node>>;

/// A node whose work is done in a thread of its own.
fn node(context: &Context, call: &Call) -> Shared {
    let name = format!("node_{}", call.address.to_string().replace('.', "_"));
    let name =
        NodeName::new("/chronoseal", &name).unwrap_or_else(|error| fail(Exit::Other, "node", format!("{error:?}")));
    let options = NodeOptions::new().enable_rosout(false);
    let mut node =
        context.new_node(name, options).unwrap_or_else(|error| fail(Exit::Other, "node", format!("{error:?}")));
    let spinner = node.spinner().unwrap_or_else(|error| fail(Exit::Other, "node", format!("{error:?}")));
    std::thread::spawn(move || block_on(spinner.spin()));
    Arc::new(Mutex::new(node))
}

fn open(node: &Shared, stream: &Stream) -> End {
    let quality = QosProfile::publisher_default().reliability_reliable(WhenFull::Block);
    let quality = quality.history(History::KeepLast { depth: HISTORY });
    // A name that ROS takes.
    let name: String = stream.name.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    let name = Name::new("/", &name).unwrap_or_else(|error| fail(Exit::Other, &stream.name, format!("{error:?}")));
    let mut own = node.lock().unwrap_or_else(PoisonError::into_inner);
    let topic = own.create_topic(&name, MessageTypeName::new("sensor_msgs", "Image"), &quality);
    let topic = topic.unwrap_or_else(|error| fail(Exit::Other, &stream.name, format!("{error:?}")));
    if stream.sends {
        let publisher = own.create_publisher::<Image>(&topic, Some(quality));
        let publisher = publisher.unwrap_or_else(|error| fail(Exit::Other, &stream.name, format!("{error:?}")));
        End::Publishes(Box::new(Sender { publisher, node: Arc::clone(node), stream: stream.clone() }))
    } else {
        let subscription = own.create_subscription::<Image>(&topic, Some(quality));
        End::Subscribes(Box::new(Receiver(
            subscription.unwrap_or_else(|error| fail(Exit::Other, &stream.name, format!("{error:?}"))),
        )))
    }
}

struct Sender {
    publisher: ros2_client::Publisher<Image>,
    node: Shared,
    stream: Stream,
}

impl Publisher for Sender {
    fn matched(&mut self) -> usize {
        self.publisher.get_subscription_count(&self.node.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn send(&mut self, number: u64, body: Body) {
        if let Err(error) = self.publisher.publish(Image::of(number, body)) {
            self.stream.say(format_args!("message {number}: {error}"));
        }
    }
}

struct Receiver(Subscription<Image>);

impl Subscriber for Receiver {
    fn receive(&mut self, stream: &Stream) {
        let messages = self.0.async_stream();
        for message in block_on_stream(Box::pin(messages)) {
            let at_ns = now_ns();
            match message {
                Ok((image, _)) => image.received(stream, at_ns),
                Err(error) => stream.say(format_args!("{error:?}")),
            }
            if is_stopped() {
                return;
            }
        }
    }
}
