//! From nodes that talk to each other to a script for each of them.

use super::player::{Habits, Player};
use super::script::{Conduct, Deed, Script};
use chronoseal_core::{Command, Duration, Input, LocalTime, Node, PortId};

/// How long every frame takes.
const FRAME_TIME: Duration = Duration::from_us(100);

/// A frame on its way.
struct Flying {
    at: LocalTime,
    to: (usize, PortId),
    bytes: Vec<u8>,
}

/// Starts the nodes, lets them talk to each other until `until`, and gives what each heard and did.
///
/// `wires` says who hears a frame of a node's port. Each frame takes 100 us, whatever its length, and none gets lost.
///
/// # Panics
/// If a node refuses an input or does not come to an end with its outputs.
pub fn record(
    nodes: &mut [&mut dyn Node],
    wires: impl Fn(usize, PortId) -> Vec<(usize, PortId)>,
    until: LocalTime,
) -> Vec<(Script, Conduct)> {
    let mut scripts = vec![Script::until(until); nodes.len()];
    let habits = Habits::default;
    let mut players: Vec<_> = nodes.iter_mut().map(|node| Player::new(&mut **node, 0..u16::MAX, habits())).collect();
    let mut flying: Vec<Flying> = Vec::new();
    let mut told = vec![0; players.len()];
    let contract = "a node that is recorded keeps its contract";
    for player in &mut players {
        player.command(LocalTime::ZERO, Command::Start).expect(contract);
    }
    loop {
        for (index, player) in players.iter().enumerate() {
            let news = &player.conduct.deeds[told[index]..];
            for (_, deed) in news {
                let Deed::Transmit { port, launch_at, bytes, .. } = deed else { continue };
                let at = (*launch_at).max(player.now) + FRAME_TIME;
                let receivers = wires(index, *port).into_iter();
                flying.extend(receivers.map(|to| Flying { at, to, bytes: bytes.clone() }));
            }
            told[index] += news.len();
        }
        let wake = (0..players.len()).filter_map(|index| Some((players[index].wakes_at()?, index))).min();
        let frame = (0..flying.len()).map(|index| (flying[index].at, index)).min();
        match (wake, frame) {
            (Some((at, index)), frame) if frame.is_none_or(|(frame_at, _)| at <= frame_at) && at <= until => {
                players[index].give(at, || Input::Timeout).expect(contract);
            }
            (_, Some((at, place))) if at <= until => {
                let Flying { to: (index, port), bytes, .. } = flying.remove(place);
                scripts[index] = std::mem::replace(&mut scripts[index], Script::until(until)).hear(at, port, &bytes);
                players[index].frame(at, port, &bytes).expect(contract);
            }
            _ => break,
        }
    }
    let conducts = players.into_iter().map(Player::into_conduct);
    scripts.into_iter().zip(conducts).collect()
}

/// Wires of a bus: everybody else hears a frame, each at port 0.
pub fn bus(nodes: usize) -> impl Fn(usize, PortId) -> Vec<(usize, PortId)> {
    move |from, _| (0..nodes).filter(|to| *to != from).map(|to| (to, PortId(0))).collect()
}
