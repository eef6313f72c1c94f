use std::os::fd::OwnedFd;

use chronoseal_core::{HandleError, Priority, StreamId};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

use super::*;
use crate::clock::monotonic_ns;
use crate::log::Records;

const LEN: usize = 60;
/// Of the run.
const DURATION: Duration = Duration::from_ms(5);
const END: SimTime = SimTime::from_ps(DURATION.as_ps());

/// Sends a frame full of its number at each of these times.
struct Sender {
    dues: VecDeque<SimTime>,
    number: u8,
    is_running: bool,
}

impl Sender {
    fn next(&self) -> Option<LocalTime> {
        self.dues.front().filter(|_| self.is_running).map(|due| LocalTime::from_ps(due.as_ps()))
    }

    fn take_due(&mut self, now: LocalTime) -> Option<LocalTime> {
        let due = self.next().filter(|due| *due <= now)?;
        self.dues.pop_front();
        self.number += 1;
        Some(due)
    }
}

impl Node for Sender {
    fn handle_input(&mut self, _: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        if let Input::Command(command) = input {
            self.is_running = command == Command::Start;
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if self.take_due(now).is_none() {
            return Output::Timeout(self.next());
        }
        frame[..LEN].fill(self.number);
        Output::Transmit(Transmit { port: PortId(0), priority: Priority(0), launch_at: now, len: LEN, token: None })
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        Some((StreamId(0), self.take_due(now)?))
    }
}

/// A station that sends at these times, and the other end of its wire.
fn station(dues: &[SimTime]) -> (Member, OwnedFd) {
    let (own, other) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_NONBLOCK).unwrap();
    let setup = MemberSetup { node: 0, ports: Vec::new(), offset_ps: 0, drift_ppb: 0, step_ps: None, program: None };
    let clock = RunClock { epoch_ns: monotonic_ns(), shares_processor: false };
    let node = Box::new(Sender { dues: dues.iter().copied().collect(), number: 0, is_running: false });
    let mut member = Member::new(&setup, vec![Port::Local(own)], node, clock, DURATION, 16);
    assert!(member.start().is_ok());
    (member, other)
}

/// The numbers of the frames that have come.
fn came(wire: &OwnedFd) -> Vec<u8> {
    let mut frame = [0; LEN];
    std::iter::from_fn(|| nix::unistd::read(wire, &mut frame).ok().filter(|len| *len > 0).map(|_| frame[0])).collect()
}

#[test]
fn what_is_due_by_the_end_is_sent_however_late_and_nothing_that_is_due_later() {
    let later = END + Duration::from_ps(1);
    let (mut member, wire) = station(&[END - DURATION / 2, END, later, END + Duration::from_ms(1)]);
    // It comes to all of them when the run is over.
    member.clock.wait_until(END + Duration::from_ms(2));
    assert!(member.turn().is_ok_and(|busy| busy));
    assert_eq!(came(&wire), [1, 2]);
    assert!(member.turn().is_ok_and(|busy| !busy));
    assert_eq!((came(&wire), member.next_at()), (vec![], None));
    let log = member.into_log();
    assert_eq!((log.sent.len(), log.owed), (2, vec![]));
}

#[test]
fn what_is_due_after_the_end_is_not_owed() {
    let (mut member, wire) = station(&[END, END + Duration::from_ps(1)]);
    member.clock.wait_until(END + Duration::from_ms(1));
    assert!(member.stop().is_ok());
    assert_eq!((came(&wire), member.into_log().owed), (vec![], vec![(0, END.as_ps())]));
}

#[test]
fn a_frame_leaves_at_once_if_its_time_has_come_and_none_waits_whose_time_came_before() {
    let (mut member, wire) = station(&[]);
    let launch = |member: &mut Member, number: u8, at: SimTime| {
        let ready = Ready {
            port: PortId(0),
            token: None,
            attack: None,
            origins: Records::default(),
            parts: Records::default(),
        };
        member.buffer[..LEN].fill(number);
        let now = member.clock.now();
        member.launch(now, at, ready, LEN).is_some()
    };
    let (past, far) = (SimTime::ZERO - Duration::from_s(1), SimTime::ZERO + Duration::from_s(3_600));
    assert!(launch(&mut member, 1, past), "at once, since nothing waits");
    assert_eq!(came(&wire), [1]);
    assert!(!launch(&mut member, 2, far) && came(&wire).is_empty(), "it waits for its time");
    assert!(!launch(&mut member, 3, past), "by the queue, since one waits");
    assert_eq!(came(&wire), [3]);
    // One whose time has come and that has not been looked at goes before one that is handed over later.
    let soon = member.clock.now() + Duration::from_ms(100);
    assert!(!launch(&mut member, 4, soon) && came(&wire).is_empty());
    member.clock.wait_until(soon);
    assert!(!launch(&mut member, 5, soon));
    assert_eq!(came(&wire), [4, 5]);
    assert_eq!((member.launches.next_at(), member.log.sent.len()), (Some(far), 4));
}
