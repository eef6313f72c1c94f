//! Clients that speak python-can's `udp_multicast`, each test in a network namespace of its own.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration as StdDuration, Instant};

use chronoseal_core::{DiscardReason, Duration, EventKind, NodeId};
use chronoseal_results::Outcome;
use chronoseal_testbed::can::{
    BUS_CHANNEL, CanServerConfig, GuestKind, LISTENER, MulticastGroup, enter_private_loopback, serve_bus,
};
use chronoseal_testbed::{LiveError, LiveOutcome};
use serde::{Deserialize, Serialize};

use super::{STATIONS, each_heard_all_others, guest, run_with, timing};

/// Exit status where there are no namespaces.
pub(crate) const REFUSED: i32 = 77;

/// Runs one test. The process has one thread yet, and is its own to the end.
pub(crate) fn run_in_namespace(test: &str) -> ExitCode {
    if let Err(error) = enter_private_loopback() {
        println!("  {error}");
        return ExitCode::from(REFUSED as u8);
    }
    match test {
        "an_address_that_is_no_group_is_refused" => an_address_that_is_no_group_is_refused(),
        "a_client_hears_others_after_the_bus" => a_client_hears_others_after_the_bus(),
        "what_is_no_frame_is_counted" => what_is_no_frame_is_counted(),
        "clients_and_stations_share_a_bus" => clients_and_stations_share_a_bus(),
        "python_can_plays_along" => python_can_plays_along(),
        _ => panic!("there is no test {test}"),
    }
    ExitCode::SUCCESS
}

/// As python-can has it.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
struct Message {
    timestamp: f64,
    arbitration_id: u32,
    is_extended_id: bool,
    is_remote_frame: bool,
    is_error_frame: bool,
    channel: Option<String>,
    dlc: u8,
    #[serde(with = "bytes")]
    data: Vec<u8>,
    is_fd: bool,
    bitrate_switch: bool,
    error_state_indicator: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_rx: Option<bool>,
}

/// MessagePack keeps bytes apart from lists of numbers.
mod bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(data)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        <&[u8]>::deserialize(deserializer).map(<[u8]>::to_vec)
    }
}

fn fd(id: u32, len: u8) -> Message {
    Message {
        timestamp: 0.0,
        arbitration_id: id,
        is_extended_id: false,
        is_remote_frame: false,
        is_error_frame: false,
        channel: None,
        dlc: len,
        data: vec![0x55; usize::from(len)],
        is_fd: true,
        bitrate_switch: false,
        error_state_indicator: false,
        is_rx: None,
    }
}

/// A client at its own port. Like python-can's it hears its own datagrams at once.
struct Client {
    socket: UdpSocket,
    to: SocketAddrV4,
}

impl Client {
    fn join(index: u16) -> Self {
        let group = Ipv4Addr::new(239, 74, 163, 2);
        let at = MulticastGroup::of_client(index);
        let to = SocketAddrV4::new(group, at.port);
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None).unwrap();
        socket.set_reuse_port(true).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, at.port).into()).unwrap();
        let socket = UdpSocket::from(socket);
        socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED).unwrap();
        Self { socket, to }
    }
    fn send(&self, message: &Message) -> Instant {
        let bytes = rmp_serde::to_vec_named(message).unwrap();
        let sent_at = Instant::now();
        self.socket.send_to(&bytes, self.to).unwrap();
        sent_at
    }
    /// The next message of the bus; what comes back without it is left out.
    fn released(&self, within: StdDuration) -> Option<(Message, Instant)> {
        let until = Instant::now() + within;
        let mut buffer = [0; 512];
        loop {
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.socket.set_read_timeout(Some(left)).unwrap();
            let Ok((len, _)) = self.socket.recv_from(&mut buffer) else { continue };
            let Ok(message) = rmp_serde::from_slice::<Message>(&buffer[..len]) else { continue };
            if message.channel.as_deref() == Some(BUS_CHANNEL) {
                return Some((message, Instant::now()));
            }
        }
    }
}

/// A bus for two clients; what `talk` does on it; and what the bus wrote down.
fn served<T>(talk: impl FnOnce(&Client, &Client) -> T) -> (T, LiveOutcome) {
    let config = CanServerConfig {
        timing: timing(),
        carries_fd: true,
        guests: (0..2).map(|index| GuestKind::Multicast(MulticastGroup::of_client(index))).collect(),
        duration: Duration::from_s(60),
        capture: true,
        fifo: false,
    };
    let clients = (Client::join(0), Client::join(1));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let bus = scope.spawn(|| serve_bus(&config, &stop).unwrap());
        // The bus is there when it confirms a frame.
        let began = Instant::now();
        while clients.0.released(StdDuration::from_millis(50)).is_none() {
            assert!(began.elapsed() < StdDuration::from_secs(10), "the bus does not answer");
            clients.0.send(&fd(0x7ff, 0));
        }
        let quiet = StdDuration::from_millis(200);
        while clients.0.released(quiet).is_some() || clients.1.released(quiet).is_some() {}
        let told = talk(&clients.0, &clients.1);
        stop.store(true, Ordering::Relaxed);
        (told, bus.join().unwrap())
    })
}

fn a_client_hears_others_after_the_bus() {
    let within = StdDuration::from_secs(2);
    let frame = fd(0x123, 64);
    let least = timing().frame(
        &chronoseal_wire::can::CanFrame::fd(chronoseal_wire::can::CanId::standard(0x123).unwrap(), &frame.data, false)
            .unwrap(),
    );
    let ((), outcome) = served(|one, other| {
        for _ in 0..20 {
            let sent_at = one.send(&frame);
            let (heard, heard_at) = other.released(within).expect("the bus carries it");
            assert_eq!((heard.arbitration_id, &heard.data, heard.is_fd), (0x123, &frame.data, true));
            assert_eq!(heard.is_rx, Some(true));
            assert!(heard_at - sent_at >= StdDuration::from_nanos(least.as_ns() as u64), "{:?}", heard_at - sent_at);
            let (own, own_at) = one.released(within).expect("the bus confirms it");
            assert_eq!((own.arbitration_id, own.is_rx), (0x123, Some(false)));
            assert!(own_at - sent_at >= StdDuration::from_nanos(least.as_ns() as u64), "{:?}", own_at - sent_at);
        }
        // Each once: nothing of the bus's own went in again.
        assert!(one.released(StdDuration::from_millis(100)).is_none());
        assert!(other.released(StdDuration::from_millis(100)).is_none());
    });
    let on_bus = outcome.rows.frames.iter().filter(|row| row.at == LISTENER && row.len == 72);
    let on_bus: Vec<_> = on_bus.filter(|row| row.outcome == Outcome::Delivered).collect();
    assert!(on_bus.len() >= 21, "{}", on_bus.len());
    assert!(outcome.rows.releases.iter().all(|row| !row.error.is_negative()));
}

fn what_is_no_frame_is_counted() {
    let ((), outcome) = served(|one, other| {
        one.socket.send_to(b"hello", one.to).unwrap();
        one.socket.send_to(&[0x8a; 300], one.to).unwrap();
        one.send(&Message { is_error_frame: true, ..fd(1, 0) });
        one.send(&Message { arbitration_id: 0x800, ..fd(1, 0) });
        one.send(&fd(1, 9));
        one.send(&Message { is_fd: false, ..fd(1, 12) });
        one.send(&fd(0x42, 1));
        let (heard, _) = other.released(StdDuration::from_secs(2)).expect("the bus goes on");
        assert_eq!(heard.arbitration_id, 0x42);
    });
    let reasons: Vec<DiscardReason> = outcome
        .rows
        .events
        .iter()
        .filter(|row| row.node == NodeId(LISTENER.0 + 1))
        .filter_map(|row| match row.event.kind {
            EventKind::Discarded(reason) => Some(reason),
            _ => None,
        })
        .collect();
    use DiscardReason::{Malformed, TooLong};
    assert_eq!(reasons, [Malformed, Malformed, Malformed, Malformed, Malformed, TooLong]);
}

fn clients_and_stations_share_a_bus() {
    let client = Client::join(0);
    let outcome = thread::scope(|scope| {
        let group = GuestKind::Multicast(MulticastGroup::of_client(0));
        let bus = scope.spawn(|| run_with(vec![guest(0, group)]));
        let mut heard = 0;
        // Its own frames as soon as the first of a station comes.
        while let Some((message, _)) = client.released(StdDuration::from_secs(2)) {
            if message.is_rx == Some(true) {
                heard += 1;
            }
            if heard == 10 {
                client.send(&fd(0x7f0, 8));
            }
            if heard == 150 {
                break;
            }
        }
        assert_eq!(heard, 150, "frames of three stations");
        bus.join().unwrap()
    });
    each_heard_all_others(&outcome.rows);
    let of_client: Vec<_> = outcome.rows.frames.iter().filter(|row| row.sender == NodeId(STATIONS)).collect();
    assert!(!of_client.is_empty() && of_client.len().is_multiple_of(usize::from(STATIONS)), "{}", of_client.len());
    assert!(of_client.iter().all(|row| row.outcome == Outcome::Delivered && row.sent_at.is_some()));
}

fn an_address_that_is_no_group_is_refused() {
    let config = CanServerConfig {
        timing: timing(),
        carries_fd: true,
        guests: vec![GuestKind::Multicast(MulticastGroup { group: Ipv4Addr::LOCALHOST, port: 43113 })],
        duration: Duration::from_ms(10),
        capture: false,
        fifo: false,
    };
    let error = serve_bus(&config, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, LiveError::MulticastRefused { .. }), "{error}");
    assert!(error.to_string().contains("no multicast group"), "{error}");
}

/// python-can itself, if `CHRONOSEAL_PYTHON`, or else `python3`, has it.
fn python_can_plays_along() {
    let python = std::env::var_os("CHRONOSEAL_PYTHON").unwrap_or_else(|| "python3".into());
    let has_it = Command::new(&python).args(["-c", "import can, msgpack"]).stderr(Stdio::null()).status();
    if !has_it.is_ok_and(|status| status.success()) {
        println!("  skipped: {} has no python-can and msgpack", python.display());
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python-can/join.py");
    let config = CanServerConfig {
        timing: timing(),
        carries_fd: true,
        guests: (0..2).map(|index| GuestKind::Multicast(MulticastGroup::of_client(index))).collect(),
        duration: Duration::from_s(60),
        capture: false,
        fifo: false,
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let bus = scope.spawn(|| serve_bus(&config, &stop).unwrap());
        let status = Command::new(python).arg(script).status();
        stop.store(true, Ordering::Relaxed);
        assert!(status.unwrap().success(), "the script says what went wrong");
        assert!(bus.join().unwrap().rows.frames.len() > 100);
    });
}
