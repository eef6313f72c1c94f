//! Nodes that hear each other at once, without a bus.

use chronoseal_core::{Command, Event, Input, LocalTime, Node, Output, PortId};

/// Starts the nodes and runs them until none has anything to do. Their events in order, each with its node's index, and
/// how many frames there were.
pub(super) fn run(nodes: &mut [Box<dyn Node>]) -> (Vec<(usize, Event)>, u64) {
    let (mut events, mut frames, mut now) = (Vec::new(), 0, LocalTime::ZERO);
    nodes.iter_mut().for_each(|node| tell(node, now, Input::Command(Command::Start)));
    loop {
        let (mut is_quiet, mut wakes_at): (bool, Option<LocalTime>) = (true, None);
        for index in 0..nodes.len() {
            let mut bytes = [0; 128];
            loop {
                match nodes[index].poll_output(now, &mut bytes) {
                    Output::Timeout(at) => {
                        wakes_at = wakes_at.into_iter().chain(at).min();
                        break;
                    }
                    Output::Transmit(transmit) => {
                        (is_quiet, frames) = (false, frames + 1);
                        for receiver in (0..nodes.len()).filter(|receiver| *receiver != index) {
                            let bytes = &bytes[..transmit.len];
                            tell(&mut nodes[receiver], now, Input::Frame { port: PortId(0), rx_at: now, bytes });
                        }
                    }
                    Output::Event(event) => events.push((index, event)),
                    _ => {}
                }
            }
        }
        match wakes_at {
            Some(at) if is_quiet => {
                now = at;
                nodes.iter_mut().for_each(|node| tell(node, now, Input::Timeout));
            }
            None if is_quiet => return (events, frames),
            _ => {}
        }
    }
}

fn tell(node: &mut Box<dyn Node>, now: LocalTime, input: Input<'_>) {
    node.handle_input(now, input).expect("a baseline takes any input");
}
