//! Classes of a whole network of ports: what the streams of each bring to every port, and how long they take.
//!
//! What a port leaves to a class depends on what the classes that go first bring to it, and that on how long they were
//! delayed before. So the classes are bounded one after the other, each with the arrivals of those before it: express
//! classes first if ports interrupt frames, then by priority. Within a class a port serves in the order of arrival; what comes
//! over one link comes no faster than it carries, and streams that close a circle are computed until nothing changes
//! ([`Delayed`]).
//!
//! A class at a port that nothing bounds takes the bounds from the classes below it there, and from all that is behind it,
//! and from nothing else.

use std::collections::BTreeMap;

use super::super::arrival::ArrivalCurve;
use super::super::cross::CrossTraffic;
use super::super::delayed::{Delayed, Settings};
use super::super::flow::{Bound, separate_flow, total_flow};
use super::super::network::{Flow, Multiplexing, Network, Server};
use super::super::rational::{Grid, Rational};
use super::super::service::ServiceCurve;
use super::super::unbounded::{Combination, InvalidNetwork, Unbounded};
use super::asynchronous::{Conditions, Regulated};
use super::gates::{Frames, Gates};
use super::port::{Class, Fragments, InvalidPort, Port};

/// A class of all ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassPlan {
    /// What messages call it.
    pub name: String,
    /// True if frames of it may be interrupted by express frames, where ports do that.
    pub is_preemptable: bool,
    /// True if every port but the first of each stream regulates them (802.1Qcr): each stream's arrival is the bucket that it is
    /// held to there, and it keeps to it when it is sent.
    pub is_regulated: bool,
}

/// One direction of a link, with the queues in front of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortPlan {
    /// What messages call it.
    pub name: String,
    /// What it carries for each unit of time, at least.
    pub rate: Rational,
    /// What comes over it for each unit of time, at most: the same, but for rounding.
    pub rate_max: Rational,
    /// How much longer than at least a frame may take from the end of this link into the next queue.
    pub varying: Rational,
    /// True if it interrupts frames of preemptable classes.
    pub preempts: bool,
    /// True if it holds frames of preemptable classes back at times.
    pub holds: bool,
    /// True if its gates follow another list from some time on.
    pub changes: bool,
    /// Idle slopes of shaped classes, by class.
    pub idle_slopes: BTreeMap<usize, Rational>,
    /// Windows of classes that are not always open, by class.
    pub gates: BTreeMap<usize, Gates>,
}

impl PortPlan {
    /// A port of a link of this rate without shapers and gates.
    pub fn plain(name: impl Into<String>, rate: Rational) -> Self {
        let (idle_slopes, gates) = (BTreeMap::new(), BTreeMap::new());
        let rate_max = rate.clone();
        Self {
            name: name.into(),
            rate,
            rate_max,
            varying: Rational::zero(),
            preempts: false,
            holds: false,
            changes: false,
            idle_slopes,
            gates,
        }
    }
}

/// A stream on its way over ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamPlan {
    /// What it sends, its longest frame and its ports. All lengths count what keeps the wire.
    pub flow: Flow,
    /// Its shortest frame.
    pub shortest: Rational,
    /// Which class, by its place in the list.
    pub class: usize,
    /// True if nothing bounds what it sends; of the flow only its frames and its ports count then.
    pub is_unknown: bool,
}

/// Ports with classes, and streams over them.
#[derive(Clone, Debug, Default)]
pub struct Switches {
    /// The classes, the highest priority first.
    pub classes: Vec<ClassPlan>,
    /// What interrupting a frame costs at the ports that do it; `None` if none does. Where some ports do it and others do not,
    /// preemptable classes have to be below the others, or no order of the classes is that of all ports.
    pub preemption: Option<Fragments>,
    /// The ports.
    pub ports: Vec<PortPlan>,
    /// The streams.
    pub streams: Vec<StreamPlan>,
}

/// What is wrong with ports, classes and streams.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSwitches {
    /// A stream is of no class.
    #[error("stream `{stream}` is of class {class}; there are {classes}, counted from 0")]
    UnknownClass {
        /// Which stream.
        stream: String,
        /// The number it gives.
        class: usize,
        /// How many there are.
        classes: usize,
    },
    /// A port is none.
    #[error(transparent)]
    Port(#[from] InvalidPort),
    /// A stream's way is none.
    #[error(transparent)]
    Network(#[from] InvalidNetwork),
}

/// Bounds of streams, by port and from end to end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchBounds {
    streams: Vec<BTreeMap<usize, Result<Rational, Unbounded>>>,
    ports: Vec<BTreeMap<usize, Bound>>,
}

impl SwitchBounds {
    /// How long a stream takes at most until its last bit is over one of the hops at which it ends.
    ///
    /// # Errors
    /// Why nothing bounds it.
    ///
    /// # Panics
    /// If it does not end there.
    pub fn delay(&self, stream: usize, end: usize) -> Result<Rational, Unbounded> {
        self.streams[stream][&end].clone()
    }

    /// How long a frame of a class takes at a port at most, and how much of the class waits there; `None` if no stream of it
    /// comes there.
    pub fn at(&self, port: usize, class: usize) -> Option<&Bound> {
        self.ports[port].get(&class)
    }
}

/// What a class brings to a port.
type Brought = Result<ArrivalCurve, Unbounded>;

impl Switches {
    /// The bounds of all streams, on a grid.
    ///
    /// # Errors
    /// If a stream is of no class or passes no port, or a port is none.
    pub fn bounds(&self, grid: &Grid) -> Result<SwitchBounds, InvalidSwitches> {
        self.bounds_until(None, grid)
    }

    /// The same up to a class: nothing is found of those that it goes before. `None` for all of them.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn bounds_until(&self, last: Option<usize>, grid: &Grid) -> Result<SwitchBounds, InvalidSwitches> {
        let mut found = self.nothing()?;
        let mut brought: Vec<BTreeMap<usize, Brought>> = vec![BTreeMap::new(); self.ports.len()];
        for class in self.in_order() {
            self.bound_class(class, grid, &mut brought, &mut found)?;
            if last == Some(class) {
                break;
            }
        }
        Ok(found)
    }

    /// The network that a class sees: its streams, and every port with what the classes that go first leave of it. Of ports
    /// where none of its streams comes nothing is said.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn network_of(&self, class: usize, grid: &Grid) -> Result<Network, InvalidSwitches> {
        let mut found = self.nothing()?;
        let mut brought: Vec<BTreeMap<usize, Brought>> = vec![BTreeMap::new(); self.ports.len()];
        for before in self.in_order().into_iter().take_while(|before| *before != class) {
            self.bound_class(before, grid, &mut brought, &mut found)?;
        }
        Ok(self.class_network(class, &brought)?.1)
    }

    /// Bounds of which none is known yet, of streams and ports that fit together.
    fn nothing(&self) -> Result<SwitchBounds, InvalidSwitches> {
        let none = |stream: &StreamPlan| stream.class >= self.classes.len();
        if let Some(stream) = self.streams.iter().find(|stream| none(stream)) {
            let (class, classes) = (stream.class, self.classes.len());
            return Err(InvalidSwitches::UnknownClass { stream: stream.flow.name.clone(), class, classes });
        }
        // A way that is none is refused before anything is made of it.
        let empty = |port: &PortPlan| Server::new(port.name.clone(), ServiceCurve::envelope(Vec::new()));
        let flows = self.streams.iter().map(|stream| stream.flow.clone()).collect();
        Network::new(self.ports.iter().map(empty).collect(), flows)?;
        Ok(SwitchBounds {
            streams: vec![BTreeMap::new(); self.streams.len()],
            ports: vec![BTreeMap::new(); self.ports.len()],
        })
    }

    /// The classes, each after those that go first at any port.
    fn in_order(&self) -> Vec<usize> {
        let is_interrupted = |class: &usize| self.preemption.is_some() && self.classes[*class].is_preemptable;
        let (interrupted, express): (Vec<usize>, Vec<usize>) = (0..self.classes.len()).partition(is_interrupted);
        express.into_iter().chain(interrupted).collect()
    }

    /// The streams of a class, and the network that they see.
    fn class_network(
        &self,
        class: usize,
        brought: &[BTreeMap<usize, Brought>],
    ) -> Result<(Vec<usize>, Network), InvalidSwitches> {
        let own: Vec<usize> = (0..self.streams.len()).filter(|one| self.streams[*one].class == class).collect();
        let servers: Result<Vec<Server>, InvalidPort> =
            (0..self.ports.len()).map(|port| self.server(port, class, &brought[port])).collect();
        let flows = own.iter().map(|one| self.streams[*one].flow.clone()).collect();
        let network = Network::new(servers?, flows)?;
        Ok((own, network))
    }

    fn bound_class(
        &self,
        class: usize,
        grid: &Grid,
        brought: &mut [BTreeMap<usize, Brought>],
        found: &mut SwitchBounds,
    ) -> Result<(), InvalidSwitches> {
        let (own, network) = self.class_network(class, brought)?;
        let settings = Settings { uses_links: true, grid: Some(grid.clone()) };
        let traffic: Result<Box<dyn CrossTraffic<'_>>, Unbounded> = match self.classes[class].is_regulated {
            true => Regulated::new(&network, &Conditions::kept()).map(|traffic| Box::new(traffic) as Box<_>),
            false => Delayed::new(&network, Multiplexing::Fifo, settings).map(|traffic| Box::new(traffic) as Box<_>),
        };
        let mut traffic = match traffic {
            Ok(traffic) => traffic,
            Err(because) => {
                for (index, stream) in own.iter().enumerate() {
                    let ends = network.flows()[index].ends().map(|end| (end, Err(because.clone())));
                    found.streams[*stream] = ends.collect();
                }
                return Ok(());
            }
        };
        for (port, brought) in brought.iter_mut().enumerate() {
            let here: Vec<usize> = network.visits(port).iter().map(|visit| visit.flow).collect();
            if !here.is_empty() {
                let unknown = self.unknown(port, class).map_or(Ok(()), Err);
                brought.insert(class, unknown.and_then(|()| traffic.at(&here, port)));
                found.ports[port].insert(class, traffic.server(port));
            }
        }
        for (index, stream) in own.into_iter().enumerate() {
            for end in network.flows()[index].ends() {
                let one_by_one = total_flow(&mut *traffic, index, end).delay;
                let together = separate_flow(&mut *traffic, index, end).delay;
                let least = match (one_by_one, together) {
                    (Ok(one), Ok(other)) => Ok(one.min(other)),
                    (Ok(one), Err(_)) => Ok(one),
                    (Err(_), Ok(other)) => Ok(other),
                    (because, Err(_)) => because,
                };
                found.streams[stream].insert(end, least);
            }
        }
        Ok(())
    }

    /// A port as it is to one class, from what the classes that go first bring.
    fn server(&self, port: usize, class: usize, brought: &BTreeMap<usize, Brought>) -> Result<Server, InvalidPort> {
        let plan = &self.ports[port];
        let name = format!("{}, class {}", plan.name, self.classes[class].name);
        let rates = |server: Server| Server {
            is_strict: false,
            link_rate: Some(plan.rate_max.clone()),
            varying: plan.varying.clone(),
            ..server
        };
        let classes: Vec<(usize, Class)> =
            (0..self.classes.len()).filter_map(|one| Some((one, self.class_at(port, one, brought)?))).collect();
        let Some(place) = classes.iter().position(|(one, _)| *one == class) else {
            return Ok(rates(Server::new(name, ServiceCurve::envelope(Vec::new()))));
        };
        let goes_first =
            |other: usize| self.in_order().into_iter().take_while(|one| *one != class).any(|one| one == other);
        let spoiled =
            classes.iter().filter(|(one, _)| goes_first(*one)).find_map(|(one, _)| brought.get(one)?.as_ref().err());
        if let Some(because) = spoiled {
            let because = match because {
                Unbounded::Upstream { .. } => because.clone(),
                _ => Unbounded::Upstream { server: name.clone(), because: Box::new(because.clone()) },
            };
            return Ok(rates(Server::refused(name, because)));
        }
        if let Some(because) = self.unknown(port, class) {
            return Ok(rates(Server::refused(name, because)));
        }
        if plan.holds && plan.preempts && self.classes[class].is_preemptable {
            return Ok(rates(Server::refused(name, Unbounded::Combination(Combination::Held))));
        }
        if plan.changes {
            return Ok(rates(Server::refused(name, Unbounded::Combination(Combination::ListChanges))));
        }
        let classes = classes.into_iter().map(|(_, class)| class).collect();
        let preemption = self.preemption.clone().filter(|_| plan.preempts);
        let port = Port::new(plan.name.clone(), plan.rate.clone(), preemption, classes)?;
        Ok(rates(match port.service(place) {
            Ok(service) => Server::new(name, service),
            Err(because) => Server::refused(name, because),
        }))
    }

    /// Why nothing bounds what a class brings to a port, if one of its streams there is unknown.
    fn unknown(&self, port: usize, class: usize) -> Option<Unbounded> {
        let mut here = self.streams.iter().filter(|stream| stream.class == class && stream.is_unknown);
        let unknown = here.find(|stream| stream.flow.hops.iter().any(|hop| hop.server == port))?;
        Some(Unbounded::Unknown { flow: unknown.flow.name.clone() })
    }

    /// A class as it is at a port; `None` if no stream of it comes there. Of classes that do not go first only frames and rates
    /// count, and these are as they are sent.
    fn class_at(&self, port: usize, class: usize, brought: &BTreeMap<usize, Brought>) -> Option<Class> {
        let comes =
            |stream: &&StreamPlan| stream.class == class && stream.flow.hops.iter().any(|hop| hop.server == port);
        let streams: Vec<&StreamPlan> = self.streams.iter().filter(comes).collect();
        let longest = streams.iter().map(|stream| &stream.flow.longest_frame).max()?.clone();
        let shortest = streams.iter().map(|stream| &stream.shortest).min().cloned().unwrap_or_else(Rational::zero);
        let sent = || streams.iter().fold(ArrivalCurve::zero(), |sum, stream| sum.plus(&stream.flow.arrival));
        let arrival = brought.get(&class).and_then(|brought| brought.as_ref().ok().cloned()).unwrap_or_else(sent);
        Some(Class {
            name: self.classes[class].name.clone(),
            arrival,
            frames: Frames { longest, shortest },
            idle_slope: self.ports[port].idle_slopes.get(&class).cloned(),
            gates: self.ports[port].gates.get(&class).cloned(),
            is_preemptable: self.classes[class].is_preemptable,
        })
    }
}
