//! A network of masters, compression masters and clients, each end system linked to each compression master.

mod condition;

use std::collections::BTreeMap;

use chronoseal_clocksync::as6802::{
    Cluster, CompressionMaster, Effect, Integrity, Parameters, SynchronisationClient, SynchronisationMaster,
};
use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{Duration, LocalTime, Oscillator, Ppm, SimTime};
use chronoseal_wire::ethernet::{Frame, MacAddress};
use chronoseal_wire::protocol_control_frame::{FRAME_LEN, PcfType, ProtocolControlFrame, add_transparent_clock};

pub(crate) use self::condition::Condition;

/// Of every oscillator `[ppb]`.
pub(crate) const DRIFT_PPB: i64 = 100_000;
/// A frame needs at least this from device to device.
const DELAY_MIN: Duration = Duration::from_us(10);
/// And at most this: it waits for others in the devices' queues.
const DELAY_MAX: Duration = Duration::from_us(100);

/// Nobody stays further than the precision from the others for longer than this many cycles without leaving the cluster.
pub(crate) const CYCLES_UNTIL_NOTICED: i64 = 4;

/// The cluster of these tests.
pub(crate) fn cluster(masters: u8) -> Cluster {
    Cluster::new(masters, Duration::from_ms(2), DELAY_MAX, Duration::from_us(5))
}

/// The device at an end of a link, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    Master(usize),
    Compression(usize),
    Client(usize),
}

/// What runs at a place.
enum Device {
    Off,
    Master(SynchronisationMaster),
    Compression(CompressionMaster),
    Client(SynchronisationClient),
    /// A master that is driven by the test.
    Faulty,
}

struct Station {
    place: Place,
    device: Device,
    oscillator: Oscillator,
    /// How an otherwise correct master lies about the age of its frames to each compression master.
    lie: Vec<Duration>,
}

/// What happens.
#[derive(Clone, Debug)]
enum Happening {
    PowerOn(Place),
    PowerOff(Place),
    Fail(Place),
    Cut(Place, usize),
    Heal(Place, usize),
    Arrive { to: Place, from: Place, bytes: [u8; FRAME_LEN] },
    Wake(Place),
    Look,
}

pub(crate) struct Network {
    pub(crate) parameters: Parameters,
    stations: Vec<Station>,
    compression_masters: usize,
    happenings: BTreeMap<(SimTime, u64), Happening>,
    /// When each device is woken next.
    wakes: BTreeMap<Place, SimTime>,
    cut: Vec<(Place, usize)>,
    next: u64,
    now: SimTime,
    rng: ChaCha8Rng,
    /// Largest difference of two synchronised correct clocks since it was last taken.
    spread: Duration,
    /// Who is out of the precision of most of the others, since when, and how long anybody was.
    strays: BTreeMap<Place, SimTime>,
    pub(crate) longest_stray: Duration,
    /// When a device changed its condition.
    pub(crate) changes: Vec<(SimTime, Place, Condition)>,
    /// Refused frames.
    pub(crate) refused: usize,
}

impl Network {
    pub(crate) fn new(parameters: Parameters, compression_masters: usize, clients: usize, seed: u64) -> Self {
        let mut rng = random::stream(seed, Purpose::Clock, 0);
        let masters = usize::from(parameters.cluster.synchronisation_masters);
        let places = (0..masters).map(Place::Master).chain((0..compression_masters).map(Place::Compression));
        let places = places.chain((0..clients).map(Place::Client));
        let stations = places
            .map(|place| {
                let offset = Duration::from_ps(random::uniform_i64(&mut rng, 0, 5_000_000_000_000));
                let drift = Ppm(random::uniform_i64(&mut rng, -DRIFT_PPB, DRIFT_PPB));
                let lie = vec![Duration::ZERO; compression_masters];
                Station { place, device: Device::Off, oscillator: Oscillator::new(offset, drift), lie }
            })
            .collect();
        let mut network = Self {
            parameters,
            stations,
            compression_masters,
            happenings: BTreeMap::new(),
            wakes: BTreeMap::new(),
            cut: Vec::new(),
            next: 0,
            now: SimTime::ZERO,
            rng: random::stream(seed, Purpose::Medium, 0),
            spread: Duration::ZERO,
            strays: BTreeMap::new(),
            longest_stray: Duration::ZERO,
            changes: Vec::new(),
            refused: 0,
        };
        network.push(SimTime::ZERO, Happening::Look);
        network
    }

    /// All powered on within a span, in any order; the time of the last.
    pub(crate) fn power_on_within(&mut self, span: Duration) -> SimTime {
        let places: Vec<Place> = self.places().collect();
        let mut last = SimTime::ZERO;
        for place in places {
            let at = SimTime::from_ps(random::uniform_i64(&mut self.rng, 0, span.as_ps()));
            self.power_on(at, place);
            last = last.max(at);
        }
        last
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.stations.iter().map(|station| station.place)
    }

    pub(crate) fn now(&self) -> SimTime {
        self.now
    }

    fn push(&mut self, at: SimTime, happening: Happening) {
        self.happenings.insert((at.max(self.now), self.next), happening);
        self.next += 1;
    }

    pub(crate) fn power_on(&mut self, at: SimTime, place: Place) {
        self.push(at, Happening::PowerOn(place));
    }

    pub(crate) fn power_off(&mut self, at: SimTime, place: Place) {
        self.push(at, Happening::PowerOff(place));
    }

    /// From then on the test says what this master sends.
    pub(crate) fn fail(&mut self, at: SimTime, place: Place) {
        self.push(at, Happening::Fail(place));
    }

    /// Cuts the link from an end system to a compression master for a while.
    pub(crate) fn cut(&mut self, from: SimTime, until: SimTime, place: Place, compression_master: usize) {
        self.push(from, Happening::Cut(place, compression_master));
        self.push(until, Happening::Heal(place, compression_master));
    }

    /// An otherwise correct master says that its frames to a compression master are older than they are by this.
    pub(crate) fn lie(&mut self, master: usize, compression_master: usize, by: Duration) {
        self.station(Place::Master(master)).lie[compression_master] = by;
    }

    /// Puts a frame before a device as if it came from another, with the age that it says.
    pub(crate) fn inject(&mut self, at: SimTime, from: Place, to: Place, frame: &ProtocolControlFrame) {
        let bytes = written(frame);
        self.push(at, Happening::Arrive { to, from, bytes });
    }

    fn station(&mut self, place: Place) -> &mut Station {
        self.stations.iter_mut().find(|station| station.place == place).unwrap()
    }

    /// Lets time pass.
    pub(crate) fn run_until(&mut self, end: SimTime) {
        while let Some((&(at, number), _)) = self.happenings.first_key_value().filter(|((at, _), _)| *at <= end) {
            let happening = self.happenings.remove(&(at, number)).unwrap();
            self.now = at;
            self.happen(happening);
        }
        self.now = end;
    }

    /// Lets time pass until all correct devices are stable, at the latest until `end`. When that was.
    pub(crate) fn run_until_stable(&mut self, end: SimTime) -> Option<SimTime> {
        while let Some((&(at, number), _)) = self.happenings.first_key_value().filter(|((at, _), _)| *at <= end) {
            let happening = self.happenings.remove(&(at, number)).unwrap();
            self.now = at;
            self.happen(happening);
            let places: Vec<Place> = self.places().collect();
            if places.iter().all(|place| self.is_faulty(*place) || self.condition(*place) == Condition::Stable) {
                return Some(at);
            }
        }
        None
    }

    /// The largest difference of two synchronised correct clocks since it was last asked for.
    pub(crate) fn take_spread(&mut self) -> Duration {
        std::mem::take(&mut self.spread)
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::PowerOn(place) => self.start(place),
            Happening::PowerOff(place) => self.station(place).device = Device::Off,
            Happening::Fail(place) => self.station(place).device = Device::Faulty,
            Happening::Cut(place, master) => self.cut.push((place, master)),
            Happening::Heal(place, master) => self.cut.retain(|cut| *cut != (place, master)),
            Happening::Arrive { to, from, bytes } => self.arrive(to, from, &bytes),
            Happening::Wake(place) => {
                if self.wakes.get(&place) == Some(&self.now) {
                    self.wakes.remove(&place);
                    self.serve(place);
                }
            }
            Happening::Look => {
                self.look();
                let step = self.parameters.cluster.integration_cycle / 23;
                self.push(self.now + step, Happening::Look);
            }
        }
    }

    /// Compares the clocks.
    fn look(&mut self) {
        let clocks = self.clocks();
        let mut times: Vec<Duration> = clocks.iter().map(|(_, time)| *time).collect();
        times.sort_unstable();
        let (Some(low), Some(high)) = (times.first(), times.last()) else { return self.strays.clear() };
        self.spread = self.spread.max(*high - *low);
        let (middle, precision) = (times[times.len() / 2], self.parameters.cluster.precision);
        let is_out = |place: &Place| clocks.iter().any(|(of, time)| of == place && (*time - middle).abs() > precision);
        self.strays.retain(|place, _| is_out(place));
        for place in clocks.iter().map(|(place, _)| *place).filter(is_out) {
            let since = *self.strays.entry(place).or_insert(self.now);
            self.longest_stray = self.longest_stray.max(self.now - since);
        }
    }

    fn start(&mut self, place: Place) {
        let (parameters, compression_masters, now) = (self.parameters.clone(), self.compression_masters, self.now);
        let station = self.station(place);
        let local = station.oscillator.local(now);
        station.device = match place {
            Place::Master(index) => {
                Device::Master(SynchronisationMaster::new(&parameters, index as u8, compression_masters, local))
            }
            Place::Compression(_) => Device::Compression(CompressionMaster::new(&parameters, local)),
            Place::Client(_) => Device::Client(SynchronisationClient::new(&parameters, compression_masters)),
        };
        self.serve(place);
    }

    fn arrive(&mut self, to: Place, from: Place, bytes: &[u8]) {
        let frame = Frame::new_checked(bytes).unwrap();
        let Ok(frame) = ProtocolControlFrame::parse(frame.payload()) else {
            self.refused += 1;
            return;
        };
        let now = self.now;
        let station = self.station(to);
        let local = station.oscillator.local(now);
        let source = match from {
            Place::Compression(source) => source,
            Place::Master(_) | Place::Client(_) => usize::MAX,
        };
        let taken = match &mut station.device {
            Device::Off | Device::Faulty => Ok(()),
            Device::Master(master) => master.receive(local, source, &frame),
            Device::Client(client) => client.receive(local, source, &frame),
            Device::Compression(master) => {
                // Which masters send over the link it came by.
                let masters = if let Place::Master(index) = from { 1 << index } else { 0 };
                master.receive(local, masters, &frame)
            }
        };
        self.refused += usize::from(taken.is_err());
        self.serve(to);
    }

    /// Lets a device do what it has to do now.
    fn serve(&mut self, place: Place) {
        let now = self.now;
        let before = self.condition(place);
        let station = self.station(place);
        let local = station.oscillator.local(now);
        let (mut sent, mut refused) = (Vec::new(), 0);
        let wake_at = match &mut station.device {
            Device::Off | Device::Faulty => None,
            Device::Master(master) => {
                master.advance(local);
                collect(|| master.poll(), &mut sent);
                master.wake_at()
            }
            Device::Compression(master) => {
                master.advance(local);
                collect(|| master.poll(), &mut sent);
                refused = std::iter::from_fn(|| master.poll_refused()).count();
                master.wake_at()
            }
            Device::Client(client) => {
                client.advance(local);
                collect(|| client.poll(), &mut sent);
                assert!(sent.is_empty(), "a client sends nothing");
                client.wake_at()
            }
        };
        self.refused += refused;
        let wake_at = wake_at.map(|wake_at| self.station(place).oscillator.sim(wake_at));
        // One wake-up is enough, whatever else the device was woken by.
        if self.wakes.get(&place).copied() != wake_at {
            self.wakes.remove(&place);
            if let Some(wake_at) = wake_at {
                self.wakes.insert(place, wake_at);
                self.push(wake_at, Happening::Wake(place));
            }
        }
        for (frame, due) in sent {
            self.send(place, ProtocolControlFrame { transparent_clock: local - due, ..frame });
        }
        let after = self.condition(place);
        if after != before {
            self.changes.push((now, place, after));
        }
    }

    fn send(&mut self, from: Place, frame: ProtocolControlFrame) {
        let receivers: Vec<Place> = match from {
            Place::Compression(_) => self.places().filter(|place| !matches!(place, Place::Compression(_))).collect(),
            _ => (0..self.compression_masters).map(Place::Compression).collect(),
        };
        for to in receivers {
            let link = match (from, to) {
                (Place::Compression(master), end) | (end, Place::Compression(master)) => (end, master),
                _ => unreachable!("every link ends at a compression master"),
            };
            let delay = random::uniform_i64(&mut self.rng, DELAY_MIN.as_ps(), DELAY_MAX.as_ps() - 1_000_000);
            if self.cut.contains(&link) {
                continue;
            }
            let delay = Duration::from_ps(delay);
            let lie = if let Place::Master(_) = from { self.station(from).lie[link.1] } else { Duration::ZERO };
            let mut bytes = written(&frame);
            // Every device adds the delay it caused.
            add_transparent_clock(&mut bytes, delay + lie);
            self.push(self.now + delay, Happening::Arrive { to, from, bytes });
        }
    }

    /// A number of the test's own.
    pub(crate) fn draw(&mut self, low: i64, high: i64) -> i64 {
        random::uniform_i64(&mut self.rng, low, high)
    }

    /// A random control frame of this cluster, or nearly so.
    pub(crate) fn random_frame(&mut self, membership_new: u32) -> ProtocolControlFrame {
        let kinds = [PcfType::Integration, PcfType::Integration, PcfType::ColdStart, PcfType::ColdStartAck];
        let kind = kinds[(self.rng.next_u64() % 4) as usize];
        let cycle = self.clocks().first().map_or(Duration::ZERO, |(_, time)| *time);
        let cycle = cycle.div_floor(self.parameters.cluster.integration_cycle) + self.draw(-1, 1);
        ProtocolControlFrame {
            integration_cycle: u32::try_from(cycle).unwrap_or(0),
            membership_new,
            sync_priority: 0,
            sync_domain: u8::from(self.rng.next_u64().is_multiple_of(50)),
            kind,
            transparent_clock: Duration::from_ps(self.draw(0, DELAY_MAX.as_ps() * 21 / 20)),
        }
    }
}

fn written(frame: &ProtocolControlFrame) -> [u8; FRAME_LEN] {
    let mut bytes = [0; FRAME_LEN];
    frame.emit_frame(MacAddress([3, 4, 5, 6, 0x0f, 0xcb]), MacAddress([2, 0, 0, 0, 0, 1]), &mut bytes);
    bytes
}

fn collect<S>(mut poll: impl FnMut() -> Option<Effect<S>>, sent: &mut Vec<(ProtocolControlFrame, LocalTime)>) {
    while let Some(effect) = poll() {
        if let Effect::Send { frame, due } = effect {
            sent.push((frame, due));
        }
    }
}

/// A cluster of standard integrity that runs: every device is stable, and nothing was measured yet.
pub(crate) fn running(masters: u8, compression_masters: usize, clients: usize, seed: u64) -> Network {
    let parameters = Parameters::of(&cluster(masters)).unwrap();
    started(parameters, compression_masters, clients, seed)
}

/// Any cluster, once all are stable.
pub(crate) fn started(parameters: Parameters, compression_masters: usize, clients: usize, seed: u64) -> Network {
    let mut network = Network::new(parameters, compression_masters, clients, seed);
    let last = network.power_on_within(Duration::from_ms(3));
    let bound = network.parameters.startup_bound();
    network.run_until_stable(last + bound).expect("a cluster of correct devices becomes stable");
    network.take_spread();
    network.changes.clear();
    network
}

/// The same cluster, of high integrity.
pub(crate) fn high(masters: u8) -> Parameters {
    Parameters::of(&Cluster { integrity: Integrity::High, ..cluster(masters) }).unwrap()
}
