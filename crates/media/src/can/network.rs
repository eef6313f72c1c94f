//! Buses, the gateways between them, and the seam to a driver.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{DiscardReason, Event, EventKind, Priority, SimTime, StreamId};
use chronoseal_wire::can::CanFrameView;

use super::bus::{Bus, Wish};
use super::config::{BUSES_MAX, CanBusConfig, CanNetworkConfig, CanNetworkError, ControllerConfig, GatewayConfig};
use super::controller::Controller;
use super::counters::ErrorCounters;
use super::statistics::BusStatistics;
use crate::medium::{Attachment, FrameId, FrameStore, Medium, MediumOutput, MediumTimer, Series};

/// CAN buses and gateways.
pub struct CanNetwork {
    buses: Vec<Turns>,
    gateways: Vec<GatewayConfig>,
    /// Bus and index of each controller of a station or gateway.
    places: BTreeMap<Attachment, (usize, usize)>,
    forwarding: Vec<Option<Forwarding>>,
    free: Vec<u32>,
}

/// A bus and the number of the turn it waits for; turns with other numbers are void.
struct Turns {
    bus: Bus,
    turn: u32,
}

/// A frame within a gateway.
#[derive(Clone, Copy)]
struct Forwarding {
    frame: FrameId,
    bus: usize,
    controller: usize,
}

/// Packed into the number of a [`MediumTimer`]: kind 2 bits, then bus 8 bits and turn 22 bits, or an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timer {
    Turn { bus: usize, turn: u32 },
    Look { bus: usize },
    Forwarded(usize),
}

const TURN_BITS: u32 = 22;
const TURN_MASK: u32 = (1 << TURN_BITS) - 1;
const KIND_SHIFT: u32 = 30;

impl Timer {
    fn pack(self) -> MediumTimer {
        MediumTimer::new(match self {
            Self::Turn { bus, turn } => (bus as u32) << TURN_BITS | turn & TURN_MASK,
            Self::Look { bus } => 1 << KIND_SHIFT | (bus as u32) << TURN_BITS,
            Self::Forwarded(index) => 2 << KIND_SHIFT | index as u32,
        })
    }

    fn unpack(timer: MediumTimer) -> Self {
        let rest = timer.number & ((1 << KIND_SHIFT) - 1);
        let bus = (rest >> TURN_BITS) as usize;
        match timer.number >> KIND_SHIFT {
            0 => Self::Turn { bus, turn: rest & TURN_MASK },
            1 => Self::Look { bus },
            _ => Self::Forwarded(rest as usize),
        }
    }
}

impl CanNetwork {
    /// Builds the network.
    ///
    /// # Errors
    /// [`CanNetworkError`] for the first contradiction found.
    pub fn new(config: CanNetworkConfig) -> Result<Self, CanNetworkError> {
        let CanNetworkConfig { mut buses, gateways, seed } = config;
        if buses.len() > BUSES_MAX {
            return Err(CanNetworkError::TooManyBuses(buses.len()));
        }
        for gateway in &gateways {
            check_gateway(gateway, buses.len())?;
        }
        let mut places = BTreeMap::new();
        let mut built = Vec::with_capacity(buses.len());
        for (number, bus) in buses.iter_mut().enumerate() {
            let stations = core::mem::take(&mut bus.controllers).into_iter().map(|one| Controller::new(one, None));
            let on_bus = gateways.iter().enumerate().filter(|(_, gateway)| gateway.buses.contains(&number));
            let of_gateways = on_bus.map(|(index, gateway)| {
                let attachment = gateway.attachment(number);
                let queue_len_max = gateway.queue_len_max;
                Controller::new(ControllerConfig { queue_len_max, ..ControllerConfig::new(attachment) }, Some(index))
            });
            let controllers: Vec<_> = stations.chain(of_gateways).collect();
            for (index, controller) in controllers.iter().enumerate() {
                let attachment = controller.config.attachment;
                if controller.config.queue_len_max == 0 {
                    return Err(CanNetworkError::NoQueue(attachment));
                }
                if places.insert(attachment, (number, index)).is_some() {
                    return Err(CanNetworkError::AttachedTwice(attachment));
                }
            }
            check_bus(bus, number, &places)?;
            let rng = random::stream(seed, Purpose::Medium, number as u64);
            built.push(Turns { bus: Bus::new(bus.clone(), controllers, rng), turn: 0 });
        }
        Ok(Self { buses: built, gateways, places, forwarding: Vec::new(), free: Vec::new() })
    }

    /// What bus `bus` was used for so far; `None` if there is no such bus.
    pub fn statistics(&self, bus: usize) -> Option<&BusStatistics> {
        self.buses.get(bus).map(|turns| &turns.bus.statistics)
    }

    /// The error counters of a station's or gateway's controller.
    pub fn counters(&self, attachment: Attachment) -> Option<ErrorCounters> {
        let (bus, controller) = self.places.get(&attachment)?;
        Some(self.buses[*bus].bus.controllers[*controller].counters)
    }

    /// Frames that wait in a controller, the one being sent included.
    pub fn queue_len(&self, attachment: Attachment) -> Option<usize> {
        let (bus, controller) = self.places.get(&attachment)?;
        let controller = &self.buses[*bus].bus.controllers[*controller];
        Some(controller.mailbox.len() + usize::from(controller.sending.is_some()))
    }

    /// Sees to what a bus wants.
    fn grant(&mut self, now: SimTime, number: usize, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        let mut wishes = core::mem::take(&mut self.buses[number].bus.wishes);
        for wish in wishes.drain(..) {
            match wish {
                Wish::Turn(at) => {
                    let turns = &mut self.buses[number];
                    turns.turn = (turns.turn + 1) & TURN_MASK;
                    let timer = Timer::Turn { bus: number, turn: turns.turn }.pack();
                    out.push(MediumOutput::Timer { at, timer });
                }
                Wish::Look(at) => out.push(MediumOutput::Timer { at, timer: Timer::Look { bus: number }.pack() }),
                Wish::Forward { gateway, frame } => self.forward(now, gateway, number, frame, frames, out),
            }
        }
        // A gateway without delay may have added to another bus only; this one's list is free again.
        self.buses[number].bus.wishes.append(&mut wishes);
    }

    /// A frame on all routes of a gateway that it fits; the reference given is used up.
    fn forward(
        &mut self,
        now: SimTime,
        gateway: usize,
        from: usize,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        let id = CanFrameView::new_checked(frames.bytes(frame)).map(|view| view.id());
        let gateway = &self.gateways[gateway];
        let fits = |id| gateway.routes.iter().filter(move |route| route.from == from && route.filter.passes(id));
        for route in id.into_iter().flat_map(fits) {
            let (bus, controller) = self.places[&gateway.attachment(route.to)];
            frames.retain(frame);
            let forwarding = Some(Forwarding { frame, bus, controller });
            let index = match self.free.pop() {
                Some(index) => {
                    self.forwarding[index as usize] = forwarding;
                    index as usize
                }
                None => {
                    self.forwarding.push(forwarding);
                    self.forwarding.len() - 1
                }
            };
            out.push(MediumOutput::Timer { at: now + gateway.delay, timer: Timer::Forwarded(index).pack() });
        }
        frames.release(frame);
    }

    fn offer(
        &mut self,
        now: SimTime,
        (bus, controller): (usize, usize),
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        self.buses[bus].bus.offer(now, controller, frame, frames, out);
        self.grant(now, bus, frames, out);
    }
}

impl Medium for CanNetwork {
    fn tells_transmitted(&self, _from: Attachment) -> bool {
        true
    }

    fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        for number in 0..self.buses.len() {
            self.buses[number].bus.start(now, frames, out);
            self.grant(now, number, frames, out);
        }
    }

    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        _priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    ) {
        match self.places.get(&from) {
            Some(place) => self.offer(now, *place, frame, frames, out),
            None => {
                let serial = frames.label(frame).serial.unwrap_or(0);
                let event = Event::of(EventKind::Discarded(DiscardReason::WrongPort), StreamId::NONE, serial);
                out.push(MediumOutput::Discard { node: from.node, event, frame });
            }
        }
    }

    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>) {
        match Timer::unpack(timer) {
            Timer::Turn { bus, turn } if self.buses[bus].turn == turn => {
                self.buses[bus].bus.handle_turn(now, frames, out);
                self.grant(now, bus, frames, out);
            }
            Timer::Turn { .. } => {}
            Timer::Look { bus } => {
                self.buses[bus].bus.handle_look(now, frames, out);
                self.grant(now, bus, frames, out);
            }
            Timer::Forwarded(index) => {
                let Some(Forwarding { frame, bus, controller }) = self.forwarding[index].take() else { return };
                self.free.push(index as u32);
                self.offer(now, (bus, controller), frame, frames, out);
            }
        }
    }

    /// Counts of all buses, times of the busiest.
    fn series(&self) -> Vec<Series> {
        let all = || self.buses.iter().map(|turns| &turns.bus.statistics);
        let count =
            |name, unit, of: fn(&BusStatistics) -> u64| Series::total(name, unit, all().map(of).sum::<u64>() as i64);
        let mut series = vec![
            count("frames", "frames", |bus| bus.frames),
            count("failed attempts", "attempts", |bus| bus.failed_attempts),
            count("lost arbitrations", "attempts", |bus| bus.lost_arbitrations),
        ];
        let busiest = self.buses.iter().max_by_key(|turns| turns.bus.statistics.busy);
        if let Some(Turns { bus, .. }) = busiest {
            series.push(Series::total("busy", "ns", bus.statistics.busy.as_ns()));
            if let Some(window) = bus.config.load_window {
                let values = bus.statistics.busy_by_window.iter().map(|busy| busy.as_ns()).collect();
                series.push(Series { name: "busy", unit: "ns", window: Some(window), values });
            }
        }
        series
    }
}

fn check_gateway(gateway: &GatewayConfig, buses: usize) -> Result<(), CanNetworkError> {
    let node = gateway.node;
    if let Some(bus) = gateway.buses.iter().find(|bus| **bus >= buses) {
        return Err(CanNetworkError::UnknownBus { node, bus: *bus });
    }
    for route in &gateway.routes {
        if let Some(bus) = [route.from, route.to].into_iter().find(|bus| !gateway.buses.contains(bus)) {
            return Err(CanNetworkError::UnknownBus { node, bus });
        }
        if route.from == route.to {
            return Err(CanNetworkError::RouteToItself { node, bus: route.from });
        }
    }
    Ok(())
}

fn check_bus(
    bus: &CanBusConfig,
    number: usize,
    places: &BTreeMap<Attachment, (usize, usize)>,
) -> Result<(), CanNetworkError> {
    let named = bus.faults.iter().filter_map(|fault| fault.seen_by);
    for attachment in named.chain(bus.babblers.iter().map(|babbler| babbler.attachment)) {
        if places.get(&attachment).is_none_or(|(on, _)| *on != number) {
            return Err(CanNetworkError::NotAttached { attachment, bus: number });
        }
    }
    if bus.load_window.is_some_and(|window| window <= chronoseal_core::Duration::ZERO) {
        return Err(CanNetworkError::LoadWindow(number));
    }
    Ok(())
}
