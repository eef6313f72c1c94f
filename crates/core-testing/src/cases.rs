//! The cases: stations, links and what must be told.

use super::station::{Behaviour, Outbox, Station};
use super::{Case, CaseParts, TestNode};
use chronoseal_core::{DiscardReason, Duration, Event, EventKind, LocalTime, NodeId, PortId, StreamId};

pub(super) const TABLE: &[Case] = &[
    Case { name: "ticker-wakes-at-its-times", until: Duration::from_ms(40), build: ticker },
    Case { name: "past-deadline-wakes-at-once", until: Duration::from_ms(10), build: past_deadline },
    Case { name: "ping-pong-of-ethernet-frames", until: Duration::from_ms(200), build: ping_pong },
    Case { name: "each-port-is-its-own", until: Duration::from_ms(40), build: two_ports },
    Case { name: "work-precedes-its-effect", until: Duration::from_ms(40), build: work_before_effect },
    Case { name: "launch-at-is-not-early", until: Duration::from_ms(60), build: launch_at },
    Case { name: "transmit-token-returns-once", until: Duration::from_ms(40), build: tokens },
    Case { name: "bad-frame-is-an-event", until: Duration::from_ms(40), build: bad_frame },
    Case { name: "start-first-and-stop-obeyed", until: Duration::from_ms(30), build: start_and_stop },
    Case { name: "outputs-drained-until-timeout", until: Duration::from_ms(60), build: drain },
    Case { name: "inputs-kept-in-order-while-computing", until: Duration::from_ms(200), build: busy_receiver },
];

const PORT: PortId = PortId(0);
const LINK: [(NodeId, PortId); 2] = [(NodeId(0), PORT), (NodeId(1), PORT)];

fn station(behaviour: impl Behaviour + 'static) -> TestNode {
    Box::new(Station::new(behaviour))
}

fn at(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

fn events(list: impl IntoIterator<Item = (EventKind, u64)>) -> Vec<Event> {
    list.into_iter().map(|(kind, sequence)| Event::of(kind, StreamId(0), sequence)).collect()
}

/// Header of 14 bytes with the EtherType for local experiments (IEEE 802.3 88-B5), sequence number, launch time `[ps]`
/// and a pattern that depends on the sequence number.
fn test_frame(sequence: u32, launch_at: LocalTime, len: usize) -> Vec<u8> {
    let mut bytes = vec![0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1, 0x88, 0xb5];
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(launch_at.as_ps().to_be_bytes());
    let body = bytes.len();
    bytes.extend((body..len).map(|index| (index as u32 ^ sequence) as u8));
    bytes
}

/// Sequence number and launch time, if every byte is as it was made.
fn parse(bytes: &[u8]) -> Result<(u32, LocalTime), u32> {
    let word = |range: core::ops::Range<usize>| bytes.get(range).and_then(|part| part.try_into().ok());
    let sequence = word(14..18).map_or(u32::MAX, u32::from_be_bytes);
    let launch = bytes.get(18..26).and_then(|part| part.try_into().ok()).map(i64::from_be_bytes);
    match launch {
        Some(ps) if test_frame(sequence, LocalTime::from_ps(ps), bytes.len()) == bytes => {
            Ok((sequence, LocalTime::from_ps(ps)))
        }
        _ => Err(sequence),
    }
}

/// Tells every frame it gets, and works on each before if asked to.
#[derive(Default)]
struct Receiver {
    work_iterations: u32,
}

impl Behaviour for Receiver {
    fn frame(&mut self, _: LocalTime, port: PortId, rx_at: LocalTime, bytes: &[u8], out: &mut Outbox) {
        if self.work_iterations > 0 {
            out.work(self.work_iterations);
        }
        match parse(bytes) {
            Err(sequence) => out.event(EventKind::Discarded(DiscardReason::Malformed), u64::from(sequence)),
            Ok((sequence, _)) if port != PORT => {
                out.event(EventKind::Discarded(DiscardReason::WrongPort), u64::from(sequence));
            }
            Ok((sequence, launch_at)) if rx_at < launch_at => {
                out.event(EventKind::Discarded(DiscardReason::OutsideWindow), u64::from(sequence));
            }
            Ok((sequence, _)) => out.event(EventKind::Delivered, u64::from(sequence)),
        }
    }
}

/// Ticks of 5 ms; one that was overslept is caught up with.
struct Ticker {
    told: u64,
}

impl Behaviour for Ticker {
    fn timeout(&mut self, now: LocalTime, out: &mut Outbox) {
        while self.wake_at().is_some_and(|due| due <= now) {
            out.event(EventKind::TaskDone, self.told);
            self.told += 1;
        }
    }
    fn wake_at(&self) -> Option<LocalTime> {
        (self.told < 5).then(|| at(5 * (self.told as i64 + 1)))
    }
}

fn ticker() -> CaseParts {
    let expected = events((0..5).map(|tick| (EventKind::TaskDone, tick)));
    CaseParts { nodes: vec![station(Ticker { told: 0 })], links: vec![], expected: vec![expected] }
}

/// Asks three times for a time that has passed.
struct Overdue {
    woken: u64,
}

impl Behaviour for Overdue {
    fn timeout(&mut self, _: LocalTime, out: &mut Outbox) {
        if self.woken < 3 {
            out.event(EventKind::TaskDone, self.woken);
            self.woken += 1;
        }
    }
    fn wake_at(&self) -> Option<LocalTime> {
        (self.woken < 3).then_some(LocalTime::ZERO)
    }
}

fn past_deadline() -> CaseParts {
    let expected = events((0..3).map(|time| (EventKind::TaskDone, time)));
    CaseParts { nodes: vec![station(Overdue { woken: 0 })], links: vec![], expected: vec![expected] }
}

const ROUNDS: u32 = 10;

/// Returns the ball with its number plus one; the serving side begins with number 0.
struct Player {
    serves: bool,
}

impl Player {
    fn play(now: LocalTime, number: u32, out: &mut Outbox) {
        // From the shortest Ethernet frame to the longest, without checksum.
        let len = 60 + 1454 * number as usize / (2 * ROUNDS as usize - 1);
        out.transmit(PORT, now, None, test_frame(number, now, len));
        out.event(EventKind::Sent, u64::from(number));
    }
}

impl Behaviour for Player {
    fn start(&mut self, now: LocalTime, out: &mut Outbox) {
        if self.serves {
            Self::play(now, 0, out);
        }
    }
    fn frame(&mut self, now: LocalTime, port: PortId, rx_at: LocalTime, bytes: &[u8], out: &mut Outbox) {
        Receiver::default().frame(now, port, rx_at, bytes, out);
        if let Ok((number, _)) = parse(bytes)
            && number < 2 * ROUNDS - 1
        {
            Self::play(now, number + 1, out);
        }
    }
}

fn ping_pong() -> CaseParts {
    let side = |own: u64| {
        let balls = (0..u64::from(2 * ROUNDS))
            .map(move |number| (if number % 2 == own { EventKind::Sent } else { EventKind::Delivered }, number));
        events(balls)
    };
    CaseParts {
        nodes: vec![station(Player { serves: true }), station(Player { serves: false })],
        links: vec![LINK],
        expected: vec![side(0), side(1)],
    }
}

/// Port, launch time, token, frame.
type Sending = (PortId, LocalTime, Option<u64>, Vec<u8>);

/// Sends what it was given, all at the start.
struct Burst {
    /// `None` is one piece of work.
    effects: Vec<Option<Sending>>,
    open: u64,
}

impl Burst {
    fn of(effects: impl IntoIterator<Item = Option<Sending>>) -> Self {
        Self { effects: effects.into_iter().collect(), open: 0 }
    }
}

impl Behaviour for Burst {
    fn start(&mut self, _: LocalTime, out: &mut Outbox) {
        for effect in self.effects.drain(..) {
            match effect {
                None => out.work(1000),
                Some((port, launch_at, token, bytes)) => {
                    self.open += u64::from(token.is_some());
                    out.transmit(port, launch_at, token, bytes);
                }
            }
        }
    }
    fn transmitted(&mut self, token: u64, out: &mut Outbox) {
        self.open -= 1;
        out.event(EventKind::Sent, token);
    }
    fn stop(&mut self, out: &mut Outbox) {
        out.event(EventKind::TaskDone, self.open);
    }
}

fn now_frame(sequence: u32, token: Option<u64>) -> Option<Sending> {
    Some((PORT, LocalTime::ZERO, token, test_frame(sequence, LocalTime::ZERO, 60)))
}

fn two_ports() -> CaseParts {
    let second = Some((PortId(1), LocalTime::ZERO, None, test_frame(7, LocalTime::ZERO, 60)));
    CaseParts {
        nodes: vec![
            station(Burst::of([now_frame(5, None), second])),
            station(Receiver::default()),
            station(Receiver::default()),
        ],
        links: vec![LINK, [(NodeId(0), PortId(1)), (NodeId(2), PORT)]],
        expected: vec![
            events([(EventKind::TaskDone, 0)]),
            events([(EventKind::Delivered, 5)]),
            events([(EventKind::Delivered, 7)]),
        ],
    }
}

fn work_before_effect() -> CaseParts {
    let effects = (0..5).flat_map(|k| [None, now_frame(k, Some(u64::from(k)))]);
    let sent = (0..5).map(|k| (EventKind::Sent, k)).chain([(EventKind::TaskDone, 0)]);
    CaseParts {
        nodes: vec![station(Burst::of(effects)), station(Receiver { work_iterations: 1000 })],
        links: vec![LINK],
        expected: vec![events(sent), events((0..5).map(|k| (EventKind::Delivered, k)))],
    }
}

/// The frame handed over last goes first: its time has passed already.
fn launch_at() -> CaseParts {
    let later =
        |sequence: u32, ms: i64| Some((PORT, at(ms), Some(u64::from(sequence)), test_frame(sequence, at(ms), 60)));
    let order = [2, 1, 0];
    let sent = order.map(|k| (EventKind::Sent, k)).into_iter().chain([(EventKind::TaskDone, 0)]);
    CaseParts {
        nodes: vec![
            station(Burst::of([later(0, 30), later(1, 15), now_frame(2, Some(2))])),
            station(Receiver::default()),
        ],
        links: vec![LINK],
        expected: vec![events(sent), events(order.map(|k| (EventKind::Delivered, k)))],
    }
}

fn tokens() -> CaseParts {
    let effects = (0..12u32).map(|k| now_frame(k, (k % 3 != 2).then_some(u64::from(k))));
    let sent = (0..12).filter(|k| k % 3 != 2).map(|k| (EventKind::Sent, k)).chain([(EventKind::TaskDone, 0)]);
    CaseParts {
        nodes: vec![station(Burst::of(effects)), station(Receiver::default())],
        links: vec![LINK],
        expected: vec![events(sent), events((0..12).map(|k| (EventKind::Delivered, k)))],
    }
}

fn bad_frame() -> CaseParts {
    let mut bad = test_frame(1, LocalTime::ZERO, 100);
    bad[50] ^= 1;
    let effects = [now_frame(0, None), Some((PORT, LocalTime::ZERO, None, bad)), now_frame(2, None)];
    CaseParts {
        nodes: vec![station(Burst::of(effects)), station(Receiver::default())],
        links: vec![LINK],
        expected: vec![
            events([(EventKind::TaskDone, 0)]),
            events([
                (EventKind::Delivered, 0),
                (EventKind::Discarded(DiscardReason::Malformed), 1),
                (EventKind::Delivered, 2),
            ]),
        ],
    }
}

/// Tells its commands, and would tick again long after the end.
#[derive(Default)]
struct Obedient {
    ticks: u64,
}

impl Behaviour for Obedient {
    fn start(&mut self, _: LocalTime, out: &mut Outbox) {
        out.event(EventKind::SyncAcquired, 0);
    }
    fn timeout(&mut self, now: LocalTime, out: &mut Outbox) {
        if self.wake_at().is_some_and(|due| due <= now) {
            self.ticks += 1;
            out.event(EventKind::TaskDone, self.ticks);
        }
    }
    fn stop(&mut self, out: &mut Outbox) {
        out.event(EventKind::SyncLost, 0);
    }
    fn wake_at(&self) -> Option<LocalTime> {
        Some(if self.ticks == 0 { at(5) } else { at(60_000) })
    }
}

fn start_and_stop() -> CaseParts {
    let told = || events([(EventKind::SyncAcquired, 0), (EventKind::TaskDone, 1), (EventKind::SyncLost, 0)]);
    CaseParts {
        nodes: vec![station(Obedient::default()), station(Obedient::default())],
        links: vec![LINK],
        expected: vec![told(), told()],
    }
}

/// Many effects from one input, each kind between others.
struct Talker;

const TALKS: u32 = 20;

impl Behaviour for Talker {
    fn start(&mut self, now: LocalTime, out: &mut Outbox) {
        for k in 0..TALKS {
            for part in 0..10 {
                out.event(EventKind::TaskDone, u64::from(10 * k + part));
            }
            out.work(100);
            out.transmit(PORT, now, None, test_frame(k, now, 60));
        }
    }
}

fn drain() -> CaseParts {
    CaseParts {
        nodes: vec![station(Talker), station(Receiver::default())],
        links: vec![LINK],
        expected: vec![
            events((0..u64::from(10 * TALKS)).map(|k| (EventKind::TaskDone, k))),
            events((0..u64::from(TALKS)).map(|k| (EventKind::Delivered, k))),
        ],
    }
}

/// The receiver computes longer than the frames are apart.
fn busy_receiver() -> CaseParts {
    CaseParts {
        nodes: vec![
            station(Burst::of((0..20).map(|k| now_frame(k, None)))),
            station(Receiver { work_iterations: 50_000 }),
        ],
        links: vec![LINK],
        expected: vec![events([(EventKind::TaskDone, 0)]), events((0..20).map(|k| (EventKind::Delivered, k)))],
    }
}
