//! Two ends of a connection over the loopback interface: what comes through it, and who is refused.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use chronoseal_testbed::{Channel, ChannelState, ConnectionEnd, Credentials, Transport, Transports, Watch};
use chronoseal_transports::Secured;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollTimeout};

const ROBOT: [u8; 4] = [127, 0, 0, 2];
const STATION: [u8; 4] = [127, 0, 0, 3];
const OTHER: [u8; 4] = [127, 0, 0, 4];

const BOTH: [Transport; 2] = [Transport::Tls, Transport::Quic];

struct Pair {
    epoll: Epoll,
    /// Who sends, and who receives.
    ends: [Box<dyn Channel>; 2],
    came: VecDeque<Vec<u8>>,
}

fn enrol(addresses: &[[u8; 4]]) -> Vec<Credentials> {
    Secured.enrol(addresses).unwrap()
}

impl Pair {
    /// The ends have these credentials. No two tests have the same stream, and so no port; a port that some other program has taken is left
    /// to it, and the next stream of this test is tried.
    fn new((stream, transport): (u16, Transport), credentials: [&Credentials; 2], message_len: u32) -> Self {
        let opened = (stream..).step_by(50).take(20).find_map(|stream| {
            match Self::open((stream, transport), credentials, message_len) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => None,
                other => Some(other.unwrap()),
            }
        });
        opened.expect("not all ports of 20 streams are taken")
    }

    fn open(
        (stream, transport): (u16, Transport),
        credentials: [&Credentials; 2],
        message_len: u32,
    ) -> std::io::Result<Self> {
        // Two tests of one stream, one over TCP and one over UDP, do not meet.
        let end = |peer, sends| ConnectionEnd { stream, transport, peer, sends, message_len };
        let make = |own, peer, sends, credentials| {
            Secured.channel(&end(peer, sends), own, 1_500, credentials).expect("it can be made")
        };
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let ends = [make(ROBOT, STATION, true, credentials[0]), make(STATION, ROBOT, false, credentials[1])];
        let mut pair = Self { epoll, ends, came: VecDeque::new() };
        for (index, end) in (0..).zip(&mut pair.ends) {
            end.open(Watch::new(&pair.epoll, index))?;
        }
        pair.ends[0].dial(Watch::new(&pair.epoll, 0))?;
        Ok(pair)
    }

    /// Turns both ends until it is so, or for ten seconds.
    fn until(&mut self, is_so: impl Fn(&Self) -> bool) -> bool {
        let began = Instant::now();
        while !is_so(self) && began.elapsed() < Duration::from_secs(10) {
            let mut events = [EpollEvent::empty(); 8];
            let count = self.epoll.wait(&mut events, EpollTimeout::from(10u8)).unwrap();
            for event in &events[..count] {
                let index = event.data() as usize;
                self.ends[index].attend(Watch::new(&self.epoll, index as u64), &mut self.came).unwrap();
            }
        }
        is_so(self)
    }

    fn send(&mut self, message: &[u8]) -> bool {
        self.ends[0].send(message, Watch::new(&self.epoll, 0)).unwrap()
    }

    fn broken(&self, end: usize) -> Option<&str> {
        match self.ends[end].state() {
            ChannelState::Broken(reason) => Some(reason),
            ChannelState::Opening | ChannelState::Open => None,
        }
    }
}

#[test]
fn messages_come_whole_whatever_their_length() {
    for transport in BOTH {
        let [robot, station] = &enrol(&[ROBOT, STATION])[..] else { panic!("two were asked for") };
        let mut pair = Pair::new((8_000, transport), [robot, station], 10_000_000);
        let lengths = [8, 9, 1_472, 70_000, 1_400_000, 10_000_000, 8];
        for (fill, len) in (1..).zip(lengths) {
            assert!(pair.send(&vec![fill; len]), "before the connection stands");
        }
        assert!(pair.until(|pair| pair.came.len() == lengths.len()), "{transport:?}: {}", pair.came.len());
        // Over QUIC a short one may overtake a long one.
        let mut came: Vec<Vec<u8>> = pair.came.drain(..).collect();
        came.sort_by_key(|message| message[0]);
        for (fill, (len, message)) in (1..).zip(lengths.iter().zip(&came)) {
            assert!(*message == vec![fill; *len], "{transport:?}: message {fill}");
        }
        assert!(pair.ends.iter().all(|end| end.state() == ChannelState::Open));
    }
}

#[test]
fn a_station_of_another_authority_is_refused_by_both_sides() {
    for transport in BOTH {
        let [ours, theirs] = [&enrol(&[ROBOT, STATION]), &enrol(&[ROBOT, STATION])];
        // Who dials does not know the authority of who is dialled.
        let mut pair = Pair::new((8_001, transport), [&ours[0], &theirs[1]], 100);
        assert!(pair.send(&[1; 100]));
        assert!(pair.until(|pair| pair.broken(0).is_some() && pair.broken(1).is_some()), "{transport:?}");
        let why = pair.broken(0).unwrap();
        assert!(why.contains("the handshake failed") && why.contains("UnknownIssuer"), "{transport:?}: {why}");
        assert!(pair.broken(1).unwrap().contains("the handshake failed"), "{:?}", pair.broken(1));
        assert!(!pair.send(&[1; 100]), "nothing goes over a broken connection");
        assert!(pair.came.is_empty());
    }
}

#[test]
fn who_dials_without_a_certificate_of_the_run_is_refused() {
    for transport in BOTH {
        let [ours, theirs] = [enrol(&[ROBOT, STATION]), enrol(&[ROBOT])];
        // It trusts the authority of the run, and shows a certificate of another.
        let mixed = mix(&ours[0], &theirs[0]);
        let mut pair = Pair::new((8_002, transport), [&mixed, &ours[1]], 100);
        assert!(pair.send(&[1; 100]));
        assert!(pair.until(|pair| pair.broken(0).is_some() && pair.broken(1).is_some()), "{transport:?}");
        let why = pair.broken(1).unwrap();
        assert!(why.contains("the handshake failed") && why.contains("UnknownIssuer"), "{transport:?}: {why}");
        assert!(pair.came.is_empty());
    }
}

/// The authority of one and the certificate of the other.
fn mix(trusts: &Credentials, shows: &Credentials) -> Credentials {
    let read =
        |credentials: &Credentials| -> serde_json::Value { serde_json::from_slice(credentials.bytes()).unwrap() };
    let mut mixed = read(shows);
    mixed["authority"] = read(trusts)["authority"].clone();
    Credentials::new(serde_json::to_vec(&mixed).unwrap().into())
}

#[test]
fn one_station_of_a_run_is_not_taken_for_another() {
    for transport in BOTH {
        let enrolled = enrol(&[ROBOT, STATION, OTHER]);
        for (stream, credentials) in [(8_003, [2, 1]), (8_004, [0, 2])] {
            let credentials = credentials.map(|index: usize| &enrolled[index]);
            let mut pair = Pair::new((stream, transport), credentials, 100);
            assert!(pair.send(&[1; 100]));
            assert!(pair.until(|pair| pair.broken(0).is_some() && pair.broken(1).is_some()), "{transport:?} {stream}");
            let why = [pair.broken(0).unwrap(), pair.broken(1).unwrap()].join("; ");
            assert!(why.contains("another station") || why.contains("not valid for name"), "{transport:?}: {why}");
            assert!(pair.came.is_empty());
        }
    }
}

#[test]
fn a_message_longer_than_agreed_ends_the_connection() {
    for transport in BOTH {
        let [robot, station] = &enrol(&[ROBOT, STATION])[..] else { panic!("two were asked for") };
        let mut pair = Pair::new((8_005, transport), [robot, station], 100);
        assert!(pair.send(&[1; 100]));
        assert!(pair.until(|pair| pair.came.len() == 1));
        assert!(pair.send(&[1; 101]), "the sender does not count");
        assert!(pair.until(|pair| pair.broken(0).is_some() && pair.broken(1).is_some()), "{transport:?}");
        assert!(pair.broken(1).unwrap().contains("100"), "{:?}", pair.broken(1));
        assert_eq!(pair.came.len(), 1);
    }
}

#[test]
fn nobody_listening_is_said() {
    let enrolled = enrol(&[ROBOT, STATION]);
    let mut pair = Pair::new((8_006, Transport::Tls), [&enrolled[0], &enrolled[1]], 100);
    // A socket that is dialled again after the listener is gone.
    let idle = Secured.channel(
        &ConnectionEnd { stream: 8_007, transport: Transport::Tls, peer: STATION, sends: true, message_len: 100 },
        ROBOT,
        1_500,
        &enrolled[0],
    );
    pair.ends[0] = idle.unwrap();
    pair.ends[0].dial(Watch::new(&pair.epoll, 0)).unwrap();
    assert!(pair.until(|pair| pair.broken(0).is_some()));
    assert!(pair.broken(0).unwrap().contains("refused"), "{:?}", pair.broken(0));
}

#[test]
fn credentials_that_are_none_are_refused_and_never_printed() {
    let end = ConnectionEnd { stream: 8_008, transport: Transport::Quic, peer: STATION, sends: true, message_len: 100 };
    let bad = Credentials::new(b"{}".to_vec().into());
    assert!(Secured.channel(&end, ROBOT, 1_500, &bad).is_err());
    assert_eq!(format!("{:?}", enrol(&[ROBOT])[0]), "Credentials");
}
