//! Classes of one port: strict priority, credit-based shapers, gates, and preemption, together as far as that has a bound.
//!
//! # Strict priority
//! Let all classes down to this one be empty when an interval begins. Then one lower frame that has begun goes first, and
//! whatever comes of the classes above; the rest is this class's. The curve holds from the start of busy periods: it is
//! not strict.
//!
//! # Strict priority under gates (IEEE 802.1Qbv)
//! A class above whose gate is closed keeps what it has, while the port rests or sends this class. So it need not be empty when
//! this one begins to wait, and what counts is not what comes to it but what leaves it: its arrivals, widened by its own service
//! here. Where this class is open only within the windows of the one above, the port never rests while one of both waits, but
//! for frames too long for the rest of a window: then the longest frame of both is kept free of each window's end, and what comes
//! to the class above counts as without gates.
//!
//! # Credit-based shapers (IEEE 802.1Qav, 8.6.8.2)
//! Credit is what the idle slope earned less what was sent, so a class has sent `I t - V` when its credit is `V`: all that is
//! needed is the most credit. It grows while others send. Let an interval begin when no class down to this one may send:
//! their credits are not above zero. Within it one lower frame goes first; strict classes above send at most `b + r t`;
//! a shaped class above sends at most what it earned plus its least credit, `L (C - I) / C`. So
//!
//! ```text
//! most credit = I (lower frame + b + sum of L_j (C - I_j) / C) / (C - r - sum of I_j)      over the shaped classes j above
//! ```
//!
//! which without strict classes is the bound of Zhao, Pop, Steinhorst, "Quantitative performance comparison of various
//! traffic shapers in time-sensitive networking" (2020), and for two classes that of De Azua, Boyer, "Complete modelling of
//! AVB in network calculus framework" (RTNS 2014). Credit grows while strict classes above send, as the standard has it.
//!
//! # Preemption (IEEE 802.1Qbu, 802.3br)
//! Express frames interrupt preemptable ones wherever both parts remain long enough, and none of the two kinds waits for the
//! priority of the other: to a preemptable class all express classes are above it. Each interruption costs a fixed
//! overhead, and there are at most as many as express frames.

use super::super::arrival::{ArrivalCurve, Bucket};
use super::super::operations::{left_over_arbitrary, output};
use super::super::rational::Rational;
use super::super::service::{RateLatency, ServiceCurve};
use super::super::unbounded::{Combination, Unbounded};
use super::gates::{Frames, Gates};

/// One class of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// What messages call it.
    pub name: String,
    /// What all flows of the class bring to the port.
    pub arrival: ArrivalCurve,
    /// Their frames.
    pub frames: Frames,
    /// The idle slope of its shaper; `None` if it is not shaped. A frame spends credit as long as it keeps the wire, the gap
    /// included. A port that earns credit in the gap sends more: write the slope times (frame and gap) over frame then.
    pub idle_slope: Option<Rational>,
    /// When it may send; `None` if always.
    pub gates: Option<Gates>,
    /// True if frames of it may be interrupted by express frames.
    pub is_preemptable: bool,
}

/// What interrupting a frame takes, in the unit of data. [`Fragments::bytes`] has the standard's numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragments {
    /// The most of a preemptable frame that cannot be interrupted any more, with all that keeps the wire.
    pub blocking: Rational,
    /// What each interruption adds.
    pub overhead: Rational,
}

impl Fragments {
    /// As IEEE 802.3br has it for the shortest fragments, 64 bytes: at most 123 bytes that cannot be divided, and 20 of
    /// preamble and gap; each interruption adds 4 of check sum, 8 of preamble and 12 of gap. `byte` is one byte in
    /// the unit of data.
    pub fn bytes(byte: &Rational) -> Self {
        Self { blocking: byte * super::super::whole(143), overhead: byte * super::super::whole(24) }
    }
}

/// What is wrong with a port.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPort {
    /// The link has no rate.
    #[error("port `{port}`: a link of rate {rate} carries nothing; give it a rate above zero")]
    Rate {
        /// Which port.
        port: String,
        /// Its rate.
        rate: Box<Rational>,
    },
    /// A shaper's idle slope is not above zero.
    #[error(
        "port `{port}`, class `{class}`: an idle slope of {slope} earns no credit; give it one above zero, or no shaper"
    )]
    Slope {
        /// Which port.
        port: String,
        /// Which class.
        class: String,
        /// Its idle slope.
        slope: Box<Rational>,
    },
    /// The shortest frame of a class is none, or longer than the longest.
    #[error(
        "port `{port}`, class `{class}`: frames from {shortest} to {longest}; the shortest has to be above zero and not above the longest"
    )]
    Frames {
        /// Which port.
        port: String,
        /// Which class.
        class: String,
        /// Its shortest frame.
        shortest: Box<Rational>,
        /// Its longest.
        longest: Box<Rational>,
    },
}

/// A port with its classes, the highest priority first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    name: String,
    rate: Rational,
    preemption: Option<Fragments>,
    classes: Vec<Class>,
}

impl Port {
    /// A port of a link of this rate. `preemption` is what interrupting costs; `None` if the port does not interrupt.
    ///
    /// # Errors
    /// If the rate or an idle slope is not above zero, or the frames of a class are none.
    pub fn new(
        name: impl Into<String>,
        rate: Rational,
        preemption: Option<Fragments>,
        classes: Vec<Class>,
    ) -> Result<Self, InvalidPort> {
        let port = name.into();
        if !rate.is_positive() {
            return Err(InvalidPort::Rate { port, rate: Box::new(rate) });
        }
        for one in &classes {
            let class = one.name.clone();
            if let Some(slope) = one.idle_slope.clone().filter(|slope| !slope.is_positive()) {
                return Err(InvalidPort::Slope { port, class, slope: Box::new(slope) });
            }
            let Frames { longest, shortest } = one.frames.clone();
            if !shortest.is_positive() || shortest > longest {
                let (shortest, longest) = (Box::new(shortest), Box::new(longest));
                return Err(InvalidPort::Frames { port, class, shortest, longest });
            }
        }
        Ok(Self { name: port, rate, preemption, classes })
    }

    /// What the port carries of a class, in the order of arrival within the class. The curve is not strict.
    ///
    /// # Errors
    /// Why nothing bounds it.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn service(&self, class: usize) -> Result<ServiceCurve, Unbounded> {
        let is_shaped = |one: &usize| self.classes[*one].idle_slope.is_some();
        let above = self.above(class);
        let (shaped, strict): (Vec<usize>, Vec<usize>) = above.iter().copied().partition(is_shaped);
        let is_gated = above.iter().chain([&class]).any(|one| self.classes[*one].gates.is_some());
        if is_gated && (!shaped.is_empty() || is_shaped(&class)) {
            return Err(Unbounded::Combination(Combination::CreditUnderGates));
        }
        let is_interrupted = self.is_preemptable(class) && above.iter().any(|one| !self.is_preemptable(*one));
        if is_interrupted && self.classes[class].gates.is_some() {
            return Err(Unbounded::Combination(Combination::InterruptedUnderGates));
        }
        match &self.classes[class].idle_slope {
            Some(slope) => {
                let latency = self.credit(class, &shaped, &strict)? / slope;
                Ok(curve(slope.clone(), latency))
            }
            None => self.strict(class, &shaped, &strict),
        }
    }

    /// Classes that go first: those above, of its kind, and all express ones if it is preemptable.
    fn above(&self, class: usize) -> Vec<usize> {
        let is_above = |other: &usize| match (self.is_preemptable(class), self.is_preemptable(*other)) {
            (true, false) => true,
            (false, true) => false,
            _ => *other < class,
        };
        (0..self.classes.len()).filter(|other| *other != class).filter(is_above).collect()
    }

    fn is_preemptable(&self, class: usize) -> bool {
        self.preemption.is_some() && self.classes[class].is_preemptable
    }

    /// How much of a frame of another class may go first because it has begun.
    fn blocking(&self, class: usize) -> Rational {
        let above = self.above(class);
        let lower = (0..self.classes.len()).filter(|other| *other != class && !above.contains(other));
        let of = |other: usize| {
            let longest = &self.classes[other].frames.longest;
            match &self.preemption {
                Some(fragments) if self.is_preemptable(other) && !self.is_preemptable(class) => {
                    longest.min(&fragments.blocking).clone()
                }
                _ => longest.clone(),
            }
        };
        lower.map(of).max().unwrap_or_else(Rational::zero)
    }

    /// How much more the wire is kept by express frames that interrupt a preemptable class.
    fn interrupting(&self, class: usize, other: usize) -> Rational {
        let one = super::super::whole(1);
        match &self.preemption {
            Some(fragments) if self.is_preemptable(class) && !self.is_preemptable(other) => {
                one + &fragments.overhead / &self.classes[other].frames.shortest
            }
            _ => one,
        }
    }

    /// What strict classes above bring.
    fn strict_above(&self, class: usize, strict: &[usize]) -> ArrivalCurve {
        let brought = |other: &usize| self.classes[*other].arrival.scaled(&self.interrupting(class, *other));
        strict.iter().map(brought).fold(ArrivalCurve::zero(), |sum, one| sum.plus(&one))
    }

    /// What strict classes above send before this one, where all of them are held back by no gate or by one that is open when this
    /// class's is; else what leaves them. And the longest frame that has to fit into the windows of this class.
    fn first(&self, class: usize, strict: &[usize]) -> Result<(ArrivalCurve, Rational), Unbounded> {
        let here = &self.classes[class];
        let (mut first, mut longest) = (ArrivalCurve::zero(), here.frames.longest.clone());
        for &other in strict {
            let above = &self.classes[other];
            let sent = match (&above.gates, &here.gates) {
                (None, _) => above.arrival.clone(),
                (Some(theirs), Some(own)) if own.is_within(theirs) => {
                    longest = longest.max(above.frames.longest.clone());
                    above.arrival.clone()
                }
                (Some(_), _) => {
                    let service = self.service(other)?;
                    output(&above.arrival, &service).ok_or_else(|| Unbounded::Overload {
                        server: format!("{}, class {}", self.name, above.name),
                        asked: Box::new(above.arrival.rate().clone()),
                        has: Box::new(service.rate().clone()),
                    })?
                }
            };
            first = first.plus(&sent.scaled(&self.interrupting(class, other)));
        }
        Ok((first, longest))
    }

    /// The least credit of a shaped class: one longest frame sent from zero.
    fn least_credit(&self, class: usize, slope: &Rational) -> Rational {
        &self.classes[class].frames.longest * (&self.rate - slope) / &self.rate
    }

    /// The most credit of a shaped class.
    fn credit(&self, class: usize, shaped: &[usize], strict: &[usize]) -> Result<Rational, Unbounded> {
        let slope = |one: usize| self.classes[one].idle_slope.clone().unwrap_or_else(Rational::zero);
        let before = self.strict_above(class, strict);
        let reserved: Rational = shaped.iter().map(|one| slope(*one) * self.interrupting(class, *one)).sum();
        let left = &self.rate - before.rate() - &reserved;
        if slope(class) >= left {
            let reserved = Box::new(reserved + before.rate() + slope(class));
            let (class, link) = (self.classes[class].name.clone(), Box::new(self.rate.clone()));
            return Err(Unbounded::Overreserved { class, reserved, link });
        }
        // The bucket that holds in the long run bounds all that strict classes bring.
        let burst = before.pieces().last().map_or_else(Rational::zero, |piece| piece.burst.clone());
        let owed: Rational =
            shaped.iter().map(|one| self.sent_at_once(class, *one, self.least_credit(*one, &slope(*one)))).sum();
        Ok(slope(class) * (self.blocking(class) + burst + owed) / left)
    }

    /// What a shaped class sends beyond its slope, with what interrupting costs: one frame more may be in the interval than
    /// its data say.
    fn sent_at_once(&self, class: usize, shaped: usize, data: Rational) -> Rational {
        let factor = self.interrupting(class, shaped);
        let is_interrupting = factor > super::super::whole(1);
        let cut = if is_interrupting { self.classes[shaped].frames.longest.clone() } else { Rational::zero() };
        &data * &factor + cut * (factor - super::super::whole(1))
    }

    /// What is left to a class that is not shaped.
    fn strict(&self, class: usize, shaped: &[usize], strict: &[usize]) -> Result<ServiceCurve, Unbounded> {
        let (mut first, longest) = self.first(class, strict)?;
        for one in shaped {
            let slope = self.classes[*one].idle_slope.clone().unwrap_or_else(Rational::zero);
            let above = self.above(*one);
            let (others, plain): (Vec<usize>, Vec<usize>) =
                above.iter().partition(|other| self.classes[**other].idle_slope.is_some());
            let most = self.credit(*one, &others, &plain)? + self.least_credit(*one, &slope);
            let factor = self.interrupting(class, *one);
            let bucket = Bucket { rate: slope * &factor, burst: self.sent_at_once(class, *one, most) };
            first = first.plus(&ArrivalCurve::envelope(vec![bucket]));
        }
        let here = &self.classes[class];
        let blocked = self.blocking(class) / &self.rate;
        let open = match &here.gates {
            None => curve(self.rate.clone(), blocked),
            Some(gates) => {
                let late = self.late(class, gates);
                let is_alone = first.is_zero() && late.is_zero() && blocked.is_zero();
                let frames = Frames { longest, ..here.frames.clone() };
                let open = gates.service(&here.name, &self.rate, &frames, &late, is_alone)?;
                // A frame that has begun goes first.
                open.later(&blocked)
            }
        };
        let too_much = || {
            let asked = Box::new(first.rate() + here.arrival.rate());
            let server = format!("{}, class {}", self.name, here.name);
            Unbounded::Overload { server, asked, has: Box::new(open.rate().clone()) }
        };
        let left = left_over_arbitrary(&open, &first);
        left.filter(|left| left.rate() >= here.arrival.rate()).ok_or_else(too_much)
    }

    /// How long a frame of a lower class may be on the wire when this class's gate opens.
    fn late(&self, class: usize, gates: &Gates) -> Rational {
        let above = self.above(class);
        let others = (0..self.classes.len()).filter(|other| *other != class && !above.contains(other));
        let is_in_the_way = |other: &usize| match &self.classes[*other].gates {
            None => true,
            Some(theirs) => gates.opens_within(theirs),
        };
        if others.into_iter().any(|other| is_in_the_way(&other)) {
            self.blocking(class) / &self.rate
        } else {
            Rational::zero()
        }
    }
}

fn curve(rate: Rational, latency: Rational) -> ServiceCurve {
    ServiceCurve::envelope(vec![RateLatency { rate, latency }])
}
