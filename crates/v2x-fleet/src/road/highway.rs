//! A straight highway with traffic in one or both directions.
//!
//! Vehicles enter at random, follow each other by the intelligent driver model, overtake on the left and keep right by a
//! simple rule, and leave at the end.
//!
//! # Source
//! M. Treiber, A. Hennecke, D. Helbing, Congested traffic states in empirical observations and microscopic simulations,
//! Phys. Rev. E 62 (2000) 1805-1824, equations (1)-(3). Changes of lane: after M. Treiber, A. Kesting, Traffic Flow Dynamics
//! (2013), chapter 14: one changes if it gains a threshold and makes nobody behind brake harder than is safe.

use chronoseal_core::random::{self, ChaCha8Rng, Purpose, Rng};
use chronoseal_core::{Duration, SimTime};

use super::{Dimensions, State, Trip, Trips};

/// A highway and its traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct Highway {
    /// From entry to end `[m]`.
    pub length_m: f64,
    /// Lanes of each direction, at least 1.
    pub lanes: usize,
    /// True for traffic in both directions.
    pub is_two_way: bool,
    /// Vehicles that enter each lane in an hour, on average.
    pub flow_per_lane_per_h: f64,
    /// Share of trucks among them, 0 to 1.
    pub truck_share: f64,
    /// Mean of what drivers of cars wish to drive `[m/s]`; each wishes up to 20 % more or less. Trucks wish 22 m/s and 5 %.
    pub desired_speed_m_s: f64,
    /// Standard deviation of what drivers add to the model's acceleration; it decays within [`NOISE_TIME`] `[m/s^2]`.
    pub acceleration_noise_m_s2: f64,
    /// How long traffic is recorded.
    pub duration: Duration,
    /// How long it runs before, so that the road is full when the record begins.
    pub warm_up: Duration,
    /// Seeds entries, wishes and sizes.
    pub seed: u64,
}

impl Default for Highway {
    /// 4 km, two lanes each way, 1400 vehicles a lane and hour, 15 % trucks, 33 m/s (120 km/h), 5 minutes.
    fn default() -> Self {
        Self {
            length_m: 4_000.0,
            lanes: 2,
            is_two_way: true,
            flow_per_lane_per_h: 1_400.0,
            truck_share: 0.15,
            desired_speed_m_s: 33.0,
            acceleration_noise_m_s2: 0.3,
            duration: Duration::from_s(300),
            warm_up: Duration::from_s(180),
            seed: 1,
        }
    }
}

/// Why there is no such highway.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HighwayError {
    /// A figure that makes no road.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
}

/// Time between two states.
pub const STEP: Duration = Duration::from_ms(100);
const STEP_S: f64 = 0.1;
/// Correlation time of the acceleration that drivers add.
pub const NOISE_TIME: Duration = Duration::from_s(5);
const LANE_WIDTH_M: f64 = 3.5;
/// Between the two directions.
const MEDIAN_M: f64 = 4.0;
/// How long a change of lane takes `[s]`.
const LANE_CHANGE_S: f64 = 4.0;
/// Between two thoughts about changing lane `[s]`.
const LANE_CHANGE_PAUSE_S: f64 = 8.0;
/// What a change has to gain, and what it may cost the vehicle behind `[m/s^2]`.
const GAIN_M_S2: f64 = 0.3;
const SAFE_BRAKING_M_S2: f64 = 3.0;

/// Parameters of the driver model, table I of the source with the values of a car and a truck.
#[derive(Clone, Copy, Debug)]
struct Driver {
    desired_speed_m_s: f64,
    time_gap_s: f64,
    least_gap_m: f64,
    acceleration_m_s2: f64,
    braking_m_s2: f64,
}

impl Driver {
    /// Acceleration behind a vehicle `gap_m` ahead that is `approach_m_s` slower; equations (1) and (2).
    fn acceleration(&self, speed_m_s: f64, gap_m: f64, approach_m_s: f64) -> f64 {
        let desired_gap_m = self.least_gap_m
            + (speed_m_s * self.time_gap_s
                + speed_m_s * approach_m_s / (2.0 * libm::sqrt(self.acceleration_m_s2 * self.braking_m_s2)))
            .max(0.0);
        let free = libm::pow(speed_m_s / self.desired_speed_m_s, 4.0);
        let close = desired_gap_m / gap_m.max(0.1);
        (self.acceleration_m_s2 * (1.0 - free - close * close)).max(-9.0)
    }
}

#[derive(Clone, Debug)]
struct Vehicle {
    index: usize,
    driver: Driver,
    length_m: f64,
    /// Place of the front along the road `[m]`.
    s_m: f64,
    speed_m_s: f64,
    acceleration_m_s2: f64,
    lane: usize,
    /// Where it comes from, and how much of the change is over.
    from_lane: usize,
    change: f64,
    pause_s: f64,
    /// What the driver adds to the model `[m/s^2]`, and its own chances.
    noise_m_s2: f64,
    rng: ChaCha8Rng,
}

impl Vehicle {
    /// Where it is across the road, in lanes; a smooth step from one to the other.
    fn lane_position(&self) -> f64 {
        let t = self.change;
        let share = t * t * (3.0 - 2.0 * t);
        self.from_lane as f64 + (self.lane as f64 - self.from_lane as f64) * share
    }
}

impl Highway {
    /// Lets the traffic flow and records it.
    ///
    /// # Errors
    /// [`HighwayError`] for a figure that makes no road.
    pub fn drive(&self) -> Result<Trips, HighwayError> {
        self.check()?;
        let mut trips = Vec::new();
        for direction in 0..=usize::from(self.is_two_way) {
            self.drive_direction(direction, &mut trips);
        }
        trips.sort_by(|one, other| (one.begins_at, &one.name).cmp(&(other.begins_at, &other.name)));
        let steps = self.duration.div_floor(STEP);
        Ok(Trips { trips, step: STEP, ends_at: SimTime::ZERO + STEP * steps })
    }

    fn check(&self) -> Result<(), HighwayError> {
        let checks = [
            ("length_m", (100.0..=100_000.0).contains(&self.length_m)),
            ("lanes", (1..=8).contains(&self.lanes)),
            ("flow_per_lane_per_h", (1.0..=2_400.0).contains(&self.flow_per_lane_per_h)),
            ("truck_share", (0.0..=1.0).contains(&self.truck_share)),
            ("desired_speed_m_s", (5.0..=70.0).contains(&self.desired_speed_m_s)),
            ("acceleration_noise_m_s2", (0.0..=2.0).contains(&self.acceleration_noise_m_s2)),
            ("duration", self.duration >= STEP && self.duration <= Duration::from_s(86_400)),
            ("warm_up", !self.warm_up.is_negative() && self.warm_up <= Duration::from_s(86_400)),
        ];
        checks.iter().find(|(_, holds)| !holds).map_or(Ok(()), |(name, _)| Err(HighwayError::OutOfRange(name)))
    }

    fn drive_direction(&self, direction: usize, trips: &mut Vec<Trip>) {
        let mut rng = random::stream(self.seed, Purpose::Phase, direction as u64);
        let mut road: Vec<Vehicle> = Vec::new();
        // Where each vehicle's record stands among the trips; `None` for those that left before it began.
        let mut records: Vec<Option<usize>> = Vec::new();
        let mean_gap_s = 3600.0 / self.flow_per_lane_per_h;
        let mut next_entry_s: Vec<f64> = (0..self.lanes).map(|_| exponential(mean_gap_s, &mut rng)).collect();
        let warm_up_steps = self.warm_up.div_floor(STEP);
        for step in 0..=warm_up_steps + self.duration.div_floor(STEP) {
            for (lane, next_s) in next_entry_s.iter_mut().enumerate() {
                if *next_s <= step as f64 * STEP_S && self.enter(lane, records.len(), &mut road, &mut rng) {
                    records.push(None);
                    *next_s += exponential(mean_gap_s, &mut rng);
                }
            }
            if step >= warm_up_steps {
                let now = SimTime::ZERO + STEP * (step - warm_up_steps);
                for vehicle in &road {
                    let record = &mut records[vehicle.index];
                    let index = *record.get_or_insert_with(|| {
                        trips.push(new_trip(direction, vehicle, now));
                        trips.len() - 1
                    });
                    trips[index].states.push(self.state(direction, vehicle));
                }
            }
            self.disturb(&mut road);
            advance(&mut road, self.lanes);
            road.retain(|vehicle| vehicle.s_m < self.length_m);
        }
    }

    /// A vehicle at the start of a lane, if there is room for it; else it waits outside.
    fn enter(&self, lane: usize, index: usize, road: &mut Vec<Vehicle>, rng: &mut ChaCha8Rng) -> bool {
        let last = road.iter().filter(|other| other.lane == lane).min_by(|a, b| a.s_m.total_cmp(&b.s_m));
        let (room_m, speed_limit) =
            last.map_or((f64::INFINITY, f64::INFINITY), |last| (last.s_m - last.length_m, last.speed_m_s));
        // All draws happen whether there is room or not, so that waiting moves no other chance.
        let (is_truck, wish, size) = (uniform(rng) < self.truck_share, uniform(rng), uniform(rng));
        let driver = if is_truck {
            Driver {
                desired_speed_m_s: 22.0 * (0.95 + 0.1 * wish),
                time_gap_s: 1.7,
                least_gap_m: 2.0,
                acceleration_m_s2: 0.6,
                braking_m_s2: 1.5,
            }
        } else {
            Driver {
                desired_speed_m_s: self.desired_speed_m_s * (0.8 + 0.4 * wish),
                time_gap_s: 1.2,
                least_gap_m: 2.0,
                acceleration_m_s2: 1.4,
                braking_m_s2: 2.0,
            }
        };
        let length_m = if is_truck { 10.0 + 6.5 * size } else { 3.6 + 1.4 * size };
        let speed_m_s = driver.desired_speed_m_s.min(speed_limit);
        if room_m < driver.least_gap_m + speed_m_s * driver.time_gap_s {
            return false;
        }
        let vehicle = Vehicle {
            index,
            driver,
            length_m,
            s_m: 0.0,
            speed_m_s,
            acceleration_m_s2: 0.0,
            lane,
            from_lane: lane,
            change: 1.0,
            pause_s: LANE_CHANGE_PAUSE_S * uniform(rng),
            noise_m_s2: 0.0,
            rng: random::stream(rng.next_u64(), Purpose::Phase, index as u64),
        };
        road.push(vehicle);
        true
    }

    /// The next step of an Ornstein-Uhlenbeck process in each driver.
    fn disturb(&self, road: &mut [Vehicle]) {
        let kept = libm::exp(-STEP_S / NOISE_TIME.as_secs_f64());
        let fresh = self.acceleration_noise_m_s2 * libm::sqrt(1.0 - kept * kept);
        for vehicle in road {
            // Twelve uniform draws have variance 1 and are close enough to normal for a driver.
            let normal = (0..12).map(|_| uniform(&mut vehicle.rng)).sum::<f64>() - 6.0;
            vehicle.noise_m_s2 = kept * vehicle.noise_m_s2 + fresh * normal;
        }
    }

    fn state(&self, direction: usize, vehicle: &Vehicle) -> State {
        let across_m = MEDIAN_M / 2.0 + LANE_WIDTH_M * (self.lanes as f64 - 0.5 - vehicle.lane_position());
        let slope = lane_slope(vehicle) * LANE_WIDTH_M;
        let (x_m, y_m, east, north) = if direction == 0 {
            (vehicle.s_m, -across_m, vehicle.speed_m_s, slope)
        } else {
            (self.length_m - vehicle.s_m, across_m, -vehicle.speed_m_s, -slope)
        };
        // A vehicle that stands keeps the direction of its lane.
        let heading_deg = if vehicle.speed_m_s > 0.1 {
            super::heading_deg(east, north)
        } else if direction == 0 {
            90.0
        } else {
            270.0
        };
        let (speed_m_s, acceleration_m_s2) = (vehicle.speed_m_s, vehicle.acceleration_m_s2);
        State { x_m, y_m, speed_m_s, heading_deg, acceleration_m_s2 }
    }
}

/// Lanes a second to the left.
fn lane_slope(vehicle: &Vehicle) -> f64 {
    let t = vehicle.change;
    (vehicle.lane as f64 - vehicle.from_lane as f64) * 6.0 * t * (1.0 - t) / LANE_CHANGE_S
}

fn new_trip(direction: usize, vehicle: &Vehicle, now: SimTime) -> Trip {
    // Width from the length: cars 1.7 to 1.9 m, trucks 2.5 m.
    let width_dm = if vehicle.length_m < 6.0 { 17 + ((vehicle.length_m - 3.6) * 1.5) as u8 } else { 25 };
    let length_dm = libm::round(vehicle.length_m * 10.0) as u16;
    Trip {
        name: format!("{}{}", if direction == 0 { "east." } else { "west." }, vehicle.index),
        dimensions: Dimensions { length_dm, width_dm },
        begins_at: now,
        states: Vec::new(),
    }
}

/// One step of the whole direction: everybody looks, then everybody moves.
fn advance(road: &mut [Vehicle], lanes: usize) {
    road.sort_by(|a, b| b.s_m.total_cmp(&a.s_m).then(a.index.cmp(&b.index)));
    for index in 0..road.len() {
        if lanes > 1 {
            consider_lanes(road, index, lanes);
        }
    }
    let drive = |index: usize| {
        let model = acceleration_in(road, index, road[index].lane);
        // Who has to brake does not dawdle.
        if model < -1.0 { model } else { model + road[index].noise_m_s2 }
    };
    let accelerations: Vec<f64> = (0..road.len()).map(drive).collect();
    for (vehicle, acceleration) in road.iter_mut().zip(accelerations) {
        let speed_m_s = (vehicle.speed_m_s + acceleration * STEP_S).max(0.0);
        vehicle.acceleration_m_s2 = (speed_m_s - vehicle.speed_m_s) / STEP_S;
        vehicle.s_m += 0.5 * (vehicle.speed_m_s + speed_m_s) * STEP_S;
        vehicle.speed_m_s = speed_m_s;
        vehicle.pause_s -= STEP_S;
        vehicle.change = (vehicle.change + STEP_S / LANE_CHANGE_S).min(1.0);
        if vehicle.change >= 1.0 {
            vehicle.from_lane = vehicle.lane;
        }
    }
}

/// Whoever is on a lane, or still leaving it, is in the way there.
fn is_on(vehicle: &Vehicle, lane: usize) -> bool {
    vehicle.lane == lane || vehicle.from_lane == lane && vehicle.change < 0.5
}

/// What a vehicle would do on a lane. The road is sorted, foremost first.
fn acceleration_in(road: &[Vehicle], index: usize, lane: usize) -> f64 {
    let own = &road[index];
    match road[..index].iter().rev().find(|other| is_on(other, lane)) {
        Some(leader) => {
            let gap_m = leader.s_m - leader.length_m - own.s_m;
            own.driver.acceleration(own.speed_m_s, gap_m, own.speed_m_s - leader.speed_m_s)
        }
        None => own.driver.acceleration(own.speed_m_s, 1e6, 0.0),
    }
}

/// Changes to the left if that gains enough, and back to the right if it costs nothing.
fn consider_lanes(road: &mut [Vehicle], index: usize, lanes: usize) {
    let own = &road[index];
    if own.pause_s > 0.0 || own.change < 1.0 {
        return;
    }
    let here = acceleration_in(road, index, own.lane);
    // Lane 0 is the rightmost.
    let left = (own.lane + 1 < lanes).then_some((own.lane + 1, GAIN_M_S2));
    let right = own.lane.checked_sub(1).map(|lane| (lane, -0.1));
    for (lane, gain) in [left, right].into_iter().flatten() {
        if !has_room(road, index, lane) || acceleration_in(road, index, lane) < here + gain {
            continue;
        }
        let own = &mut road[index];
        (own.from_lane, own.lane) = (own.lane, lane);
        own.change = 0.0;
        own.pause_s = LANE_CHANGE_PAUSE_S;
        return;
    }
}

/// True if nobody on the other lane would be touched or have to brake hard.
fn has_room(road: &[Vehicle], index: usize, lane: usize) -> bool {
    let own = &road[index];
    let leader = road[..index].iter().rev().find(|other| is_on(other, lane));
    if leader.is_some_and(|leader| leader.s_m - leader.length_m - own.s_m < own.driver.least_gap_m) {
        return false;
    }
    let follower = road[index + 1..].iter().find(|other| is_on(other, lane));
    follower.is_none_or(|follower| {
        let gap_m = own.s_m - own.length_m - follower.s_m;
        let approach_m_s = follower.speed_m_s - own.speed_m_s;
        gap_m >= follower.driver.least_gap_m
            && follower.driver.acceleration(follower.speed_m_s, gap_m, approach_m_s) > -SAFE_BRAKING_M_S2
    })
}

/// Uniform in (0, 1).
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
}

fn exponential(mean: f64, rng: &mut ChaCha8Rng) -> f64 {
    -mean * libm::log(uniform(rng))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short() -> Highway {
        Highway {
            length_m: 2_000.0,
            duration: Duration::from_s(120),
            warm_up: Duration::from_s(60),
            ..Highway::default()
        }
    }

    #[test]
    fn nobody_drives_through_anybody() {
        let trips = short().drive().expect("a road");
        assert!(trips.trips.len() > 100, "{} vehicles", trips.trips.len());
        let mut least_m = f64::INFINITY;
        for second in 0..120 {
            let now = SimTime::ZERO + Duration::from_s(second);
            let there: Vec<_> =
                trips.trips.iter().filter_map(|trip| Some((trip, trip.state_at(now, trips.step)?))).collect();
            for (index, (trip, a)) in there.iter().enumerate() {
                for (other, b) in &there[..index] {
                    if (a.y_m - b.y_m).abs() > 1.9 {
                        continue;
                    }
                    let east = a.heading_deg < 180.0;
                    let front = if (a.x_m > b.x_m) == east { trip } else { other };
                    let gap_m = (a.x_m - b.x_m).abs() - f64::from(front.dimensions.length_dm) / 10.0;
                    least_m = least_m.min(gap_m);
                }
            }
        }
        assert!(least_m > 0.5, "{least_m} m between two vehicles");
    }

    #[test]
    fn traffic_flows_as_much_as_enters_and_overtakes() {
        let road = Highway { is_two_way: false, duration: Duration::from_s(600), ..short() };
        let trips = road.drive().expect("a road");
        let entered = trips.trips.iter().filter(|trip| trip.begins_at > SimTime::ZERO).count() as f64;
        let expected = road.flow_per_lane_per_h * 2.0 / 6.0;
        assert!((entered / expected - 1.0).abs() < 0.2, "{entered} for {expected}");
        let changes_lane = |trip: &&Trip| trip.states().iter().any(|state| (state.y_m + 3.75).abs() < 0.3);
        assert!(trips.trips.iter().filter(changes_lane).count() > 10, "somebody crosses the line between the lanes");
        for trip in &trips.trips {
            for pair in trip.states().windows(2) {
                let moved_m = pair[0].distance_m(&pair[1]);
                assert!((moved_m - pair[0].speed_m_s * 0.1).abs() < 0.2, "speed and way agree");
            }
        }
    }

    #[test]
    fn alone_a_driver_reaches_the_wished_speed() {
        let driver = Driver {
            desired_speed_m_s: 33.0,
            time_gap_s: 1.2,
            least_gap_m: 2.0,
            acceleration_m_s2: 1.4,
            braking_m_s2: 2.0,
        };
        assert!(driver.acceleration(33.0, 1e6, 0.0).abs() < 1e-6);
        assert!(driver.acceleration(20.0, 1e6, 0.0) > 1.0);
        // Equilibrium: gap s0 + v T over sqrt(1 - (v / v0)^4), equation (5).
        let gap_m = (2.0 + 20.0 * 1.2) / (1.0 - (20.0_f64 / 33.0).powi(4)).sqrt();
        assert!(driver.acceleration(20.0, gap_m, 0.0).abs() < 1e-9);
    }

    #[test]
    fn same_seed_same_road() {
        let other = Highway { seed: 2, ..short() };
        assert_eq!(short().drive(), short().drive());
        assert_ne!(short().drive(), other.drive());
    }

    #[test]
    fn refuses_figures_that_make_no_road() {
        let refused = |road: Highway| match road.drive() {
            Err(HighwayError::OutOfRange(name)) => name,
            Ok(_) => "",
        };
        assert_eq!(refused(Highway { lanes: 0, ..short() }), "lanes");
        assert_eq!(refused(Highway { length_m: f64::NAN, ..short() }), "length_m");
        assert_eq!(refused(Highway { flow_per_lane_per_h: 0.0, ..short() }), "flow_per_lane_per_h");
        assert_eq!(refused(Highway { truck_share: 1.1, ..short() }), "truck_share");
        assert_eq!(refused(Highway { duration: Duration::ZERO, ..short() }), "duration");
        assert_eq!(refused(Highway { desired_speed_m_s: 0.0, ..short() }), "desired_speed_m_s");
    }
}
