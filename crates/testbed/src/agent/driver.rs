//! The loop of an agent: one thread that drives all its nodes.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use chronoseal_core::{Duration, SimTime};

use super::Failure;
use super::member::Member;
use super::port::Port;
use crate::clock::{RunClock, SPIN, is_ready, readable};
use crate::log::AgentLog;
use crate::message::{self, Step, ToAgent};

/// Nobody connects any more so long before the run begins.
const CONNECT_UNTIL: Duration = Duration::from_ms(5);

/// An agent that has nothing to do sees after so long whether it was kept from its processor.
const LOOK_EVERY: Duration = Duration::from_ms(50);

/// A busy agent looks at its control socket this often.
const CONTROL_EVERY: Duration = Duration::from_ms(5);

/// Runs the nodes of a process until the controller asks for what they wrote down. A wake-up later than `stall_threshold` is written down too.
pub(super) fn run(
    control: &UnixStream,
    members: Vec<Member>,
    clock: RunClock,
    stall_threshold: Duration,
) -> Result<Vec<AgentLog>, Failure> {
    let mut driver = Driver { clock, stall_threshold, members, stalls: Vec::new() };
    driver.connect()?;
    driver.clock.wait_until(SimTime::ZERO);
    driver.members.iter_mut().try_for_each(Member::start)?;
    driver.turns(control)?;
    let mut logs: Vec<AgentLog> = driver.members.into_iter().map(Member::into_log).collect();
    // One process, one of whose logs says it for all.
    if let Some(log) = logs.first_mut() {
        log.stalls = driver.stalls;
    }
    Ok(logs)
}

struct Driver {
    clock: RunClock,
    stall_threshold: Duration,
    members: Vec<Member>,
    /// As [`AgentLog::stalls`].
    stalls: Vec<(i64, i64)>,
}

impl Driver {
    /// Connections are made before the run begins, as long as there is time for it; one that takes longer comes to stand later. Where all stand
    /// at this end the other may still have to hear so, and perhaps once more.
    fn connect(&mut self) -> Result<(), Failure> {
        self.members.iter_mut().try_for_each(Member::dial)?;
        while self.clock.now() < SimTime::ZERO - CONNECT_UNTIL {
            self.members.iter_mut().try_for_each(Member::connect)?;
            let ports = self.members.iter().flat_map(Member::ports);
            let ports = ports.filter_map(Port::connections).map(AsFd::as_fd);
            let mut descriptors: Vec<_> = ports.map(readable).collect();
            self.clock.poll_until(&mut descriptors, Some(SimTime::ZERO - CONNECT_UNTIL));
        }
        Ok(())
    }

    /// Runs until the controller asks for the logs.
    fn turns(&mut self, control: &UnixStream) -> Result<(), Failure> {
        let mut look_at_control = SimTime::ZERO;
        loop {
            let now = self.clock.now();
            if now >= look_at_control {
                look_at_control = now + CONTROL_EVERY;
                let mut descriptors = [readable(control.as_fd())];
                self.clock.poll_until(&mut descriptors, Some(SimTime::ZERO));
                if is_ready(&descriptors[0]) && self.obey(control)? {
                    return Ok(());
                }
            }
            let mut busy = false;
            for member in &mut self.members {
                busy |= member.turn()?;
            }
            if busy {
                self.clock.give_way();
            } else if self.idle(control) {
                look_at_control = SimTime::ZERO;
            }
        }
    }

    /// Sleeps until something is due or arrives. True if the controller said something.
    fn idle(&mut self, control: &UnixStream) -> bool {
        let due = self.members.iter().filter_map(Member::next_at).min();
        let look_at = self.clock.now() + LOOK_EVERY;
        let next = due.map_or(look_at, |due| due.min(look_at));
        let ports = self.members.iter().flat_map(Member::ports).map(AsFd::as_fd);
        let mut descriptors: Vec<_> = std::iter::once(control.as_fd()).chain(ports).map(readable).collect();
        let ready = self.clock.poll_until(&mut descriptors, Some(next));
        if !ready && due == Some(next) && next - self.clock.now() <= SPIN {
            self.clock.spin_until(next);
        }
        let late = self.clock.now() - next;
        if late > self.stall_threshold {
            self.stalls.push((next.as_ps(), late.as_ps()));
        }
        is_ready(&descriptors[0])
    }

    /// Does what the controller says. True if it wants the logs.
    fn obey(&mut self, control: &UnixStream) -> Result<bool, Failure> {
        match message::receive(control).map_err(|_| Failure::ControllerGone)? {
            ToAgent::Stop => self.members.iter_mut().try_for_each(Member::stop).map(|()| false),
            ToAgent::Finish => Ok(true),
            ToAgent::Enrol(_) | ToAgent::Setup(_) | ToAgent::Arm { .. } => {
                Err(Failure::Told(Step::Run, "the run is armed already".into()))
            }
        }
    }
}
