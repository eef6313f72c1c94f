//! Where everything on a channel is, and when it moves.

use std::sync::Arc;

use chronoseal_core::{LocalTime, SimTime};
use chronoseal_media::medium::Attachment;
use chronoseal_media::radio::{Motion, Position, Step};

use crate::generation::INTERVAL_MIN;
use crate::road::{State, Trips};
use crate::station::Mobility;

/// A port on the channel and what moves it.
#[derive(Clone, Debug)]
pub struct Place {
    /// The port.
    pub attachment: Attachment,
    /// What it rides on.
    pub rider: Rider,
}

/// What a port on the channel rides on.
#[derive(Clone, Debug)]
pub enum Rider {
    /// One of the fleet's vehicles, by its trip.
    Vehicle(usize),
    /// Something that moves by itself and is there from the start.
    Station(Mobility),
    /// Something that stands.
    Post(Position),
}

/// Moves each vehicle every 100 ms from when its station looks around first. One that is not there is out of everybody's reach.
#[derive(Debug)]
pub(super) struct FleetMotion {
    pub(super) trips: Arc<Trips>,
    /// When each vehicle looks around first.
    pub(super) begins_at: Arc<[SimTime]>,
    pub(super) riders: Vec<Rider>,
}

impl Motion for FleetMotion {
    fn step(&self, station: usize, now: SimTime) -> Step {
        match self.riders.get(station) {
            Some(Rider::Vehicle(index)) => self.vehicle(station, *index, now),
            Some(Rider::Station(mobility)) => match mobility.state_at(LocalTime::from_ps(now.as_ps())) {
                Some(state) => Step { position: position(&state), next: Some(now + INTERVAL_MIN) },
                None => Step { position: nowhere(station), next: None },
            },
            Some(Rider::Post(position)) => Step { position: *position, next: None },
            None => Step { position: nowhere(station), next: None },
        }
    }
}

impl FleetMotion {
    fn vehicle(&self, station: usize, index: usize, now: SimTime) -> Step {
        let begins_at = self.begins_at[index];
        if now < begins_at {
            return Step { position: nowhere(station), next: Some(begins_at) };
        }
        match self.trips.trips[index].state_at(now, self.trips.step) {
            Some(state) => Step { position: position(&state), next: Some(now + INTERVAL_MIN) },
            None => Step { position: nowhere(station), next: None },
        }
    }
}

/// Out of everybody's reach, of others that are not there too.
fn nowhere(index: usize) -> Position {
    let far_mm = 1 << 40;
    Position { x_mm: far_mm * (1 + index as i64), y_mm: far_mm }
}

fn position(state: &State) -> Position {
    Position { x_mm: libm::round(state.x_m * 1000.0) as i64, y_mm: libm::round(state.y_m * 1000.0) as i64 }
}
