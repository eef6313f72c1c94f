//! Many messages at once over the socket: the verdicts of one by one, overload, clients that go away.

use std::io::{Read, Write};
use std::net::Shutdown;

use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::pipeline::Engine;
use chronoseal_v2x::verify::Context;
use chronoseal_v2x::vss::Relevance;
use chronoseal_v2x_load::Town;
use chronoseal_v2x_service::vss::{now, summary};
use proptest::prelude::*;

use crate::vss::daemon::{Client, Daemon};
use crate::vss::world::World;

const STATIONS: usize = 3;
/// Distances that make a message far, near, or that nobody knows.
const FAR: u32 = 10_000;
const UNKNOWN: u32 = u32::MAX;

/// A world that trusts towns, which are there since a moment ago.
fn world_of(towns: &[Town]) -> World {
    let mut world = World::new();
    for (number, town) in towns.iter().enumerate() {
        let [root, authority] = ["root", "authority"].map(|name| world.path(&format!("{name}-{number}.oer")));
        std::fs::write(&root, town.root.as_bytes()).unwrap();
        std::fs::write(&authority, town.authority.as_bytes()).unwrap();
        world.config.trust.roots.push(root);
        world.config.trust.authorities.push(authority);
    }
    world
}

fn town(seed: u64) -> Town {
    Town::at(now(), Curve::NistP256, STATIONS, seed).unwrap()
}

/// `verifySignature` as it travels.
fn to_verify(client: &mut Client, is_demanded: bool, distance_m: u32, message: &[u8]) -> Vec<u8> {
    let relevance = [&[u8::from(is_demanded)][..], &distance_m.to_be_bytes(), &UNKNOWN.to_be_bytes()].concat();
    client.request(2, &[&relevance, message].concat())
}

/// The verdict in an answer: accepted, or the check that refused it and why.
fn verdict_of(verdict: &[u8]) -> String {
    let mut at = 18;
    for _ in 0..verdict[17] {
        at += 1 + usize::from(verdict[at]);
        at += 1 + usize::from(verdict[at]) + 5;
    }
    let len = usize::from(u16::from_be_bytes([verdict[at], verdict[at + 1]]));
    verdict_in(str::from_utf8(&verdict[at + 2..at + 2 + len]).unwrap())
}

/// Without how many checks had nothing to do: a copy in the same batch was not known to be one before its signature.
fn verdict_in(summary: &str) -> String {
    summary.split(';').next().unwrap_or_default().to_owned()
}

/// What a station does next.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Digest,
    Certificate,
    WrongSignature,
    WrongPayload,
    Truncated,
    Garbage,
    Again,
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    use Kind::{Again, Certificate, Digest, Garbage, Truncated, WrongPayload, WrongSignature};
    let kind = prop_oneof![
        6 => Just(Digest),
        2 => Just(Certificate),
        1 => prop_oneof![Just(WrongSignature), Just(WrongPayload), Just(Truncated), Just(Garbage), Just(Again)],
    ];
    proptest::collection::vec(kind, 1..80)
}

/// Messages of these kinds, made now.
fn messages(town: &mut Town, kinds: &[Kind]) -> Vec<Vec<u8>> {
    town.now = now();
    let [digests, certificates] = [false, true].map(|with| town.cams(2 * kinds.len(), with).unwrap());
    let mut messages: Vec<Vec<u8>> = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        let mut message = digests[number].clone();
        let last = message.len() - 1;
        match kind {
            Kind::Digest => {}
            Kind::Certificate => message = certificates[kinds.len() + number].clone(),
            Kind::WrongSignature => message[last] ^= 1,
            Kind::WrongPayload => message[100] ^= 1,
            Kind::Truncated => message.truncate(last / 2),
            Kind::Garbage => message = vec![number as u8; 60],
            Kind::Again => message = messages.last().cloned().unwrap_or(message),
        }
        messages.push(message);
    }
    messages
}

/// Sends all before it reads anything; what came back, in its order.
fn all_at_once(client: &mut Client, messages: &[Vec<u8>]) -> Vec<String> {
    let requests: Vec<u8> = messages.iter().flat_map(|message| to_verify(client, false, UNKNOWN, message)).collect();
    client.stream.write_all(&requests).unwrap();
    let mut before = None;
    let answers = messages.iter().map(|_| {
        let (status, id, verdict) = client.receive();
        assert_eq!((status, before.replace(id).is_none_or(|before| before + 1 == id)), (0, true), "in their order");
        verdict_of(&verdict)
    });
    answers.collect()
}

/// A machine that stalls for two seconds makes every CAM too old, here or there.
fn is_stalled(verdicts: &[String]) -> bool {
    verdicts.iter().any(|verdict| verdict.contains("GenerationTimeTooFarInPast"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_in_batches_are_those_of_one_by_one(all_kinds in proptest::collection::vec(kinds(), 1..4)) {
        let mut towns: Vec<Town> = (0..all_kinds.len() as u64).map(town).collect();
        for _ in 0..10 {
            let daemon = Daemon::of(world_of(&towns), 1);
            let sent: Vec<_> = towns.iter_mut().zip(&all_kinds).map(|(town, kinds)| messages(town, kinds)).collect();
            let found: Vec<Vec<String>> = std::thread::scope(|scope| {
                let clients: Vec<_> = sent
                    .iter()
                    .map(|messages| {
                        let mut client = daemon.connect();
                        scope.spawn(move || all_at_once(&mut client, messages))
                    })
                    .collect();
                clients.into_iter().map(|client| client.join().unwrap()).collect()
            });
            let world = world_of(&towns);
            let (mut vss, _) = world.open();
            let expected: Vec<Vec<String>> = sent
                .iter()
                .map(|messages| {
                    let verify = |message: &Vec<u8>| {
                        verdict_in(&summary(&vss.verify_signature(message, &Relevance::default(), &Context::at(now()))))
                    };
                    messages.iter().map(verify).collect()
                })
                .collect();
            if !found.iter().chain(&expected).any(|verdicts| is_stalled(verdicts)) {
                prop_assert_eq!(found, expected);
                return Ok(());
            }
        }
        prop_assert!(false, "ten times this machine stood still for two seconds");
    }
}

/// A daemon with a queue of eight, and a town whose stations it knows.
fn small_daemon() -> (Daemon, Town) {
    let town = town(7);
    let mut world = world_of(std::slice::from_ref(&town));
    world.config.verification.queue = 8;
    let daemon = Daemon::of(world, 1);
    let mut client = daemon.connect();
    for message in town.cams(STATIONS, true).unwrap() {
        let request = to_verify(&mut client, true, UNKNOWN, &message);
        client.stream.write_all(&request).unwrap();
        assert_eq!(verdict_of(&client.receive().2), "accepted");
    }
    (daemon, town)
}

#[test]
fn overload_drops_what_is_far_and_the_audit_says_so() {
    const FLOOD: usize = 3_000;
    let (daemon, mut town) = small_daemon();
    town.now = now();
    let flood = town.cams(FLOOD, false).unwrap();
    town.now = now();
    let urgent = town.cams(40, false).unwrap();
    let (mut far, mut near) = (daemon.connect(), daemon.connect());
    let requests: Vec<u8> = flood.iter().flat_map(|message| to_verify(&mut far, false, FAR, message)).collect();
    let mut writer = far.stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(&requests).unwrap());
    let flooded = std::thread::spawn(move || {
        let dropped = |_| far.receive().2[0] == 2;
        (0..FLOOD).map(dropped).filter(|is_dropped| *is_dropped).count()
    });
    for message in &urgent {
        let request = to_verify(&mut near, true, FAR, message);
        near.stream.write_all(&request).unwrap();
        let verdict = verdict_of(&near.receive().2);
        assert!(!verdict.starts_with("not verified"), "{verdict}");
    }
    writing.join().unwrap();
    let dropped = flooded.join().unwrap();
    assert!((1..FLOOD).contains(&dropped), "{dropped}");
    let audit = String::from_utf8(near.call(13, &[]).unwrap()).unwrap();
    assert!(audit.starts_with(&format!("total {dropped} chain ")), "{audit:.80}");
    assert!(audit.lines().skip(1).all(|line| line.ends_with(" overload")));
    let statistics = String::from_utf8(near.call(12, &[]).unwrap()).unwrap();
    assert!(statistics.contains(&format!("chronoseal_vss_dropped_total{{kind=\"far\"}} {dropped}\n")), "{statistics}");
    assert!(!statistics.contains("dropped_total{kind=\"near\"}") && !statistics.contains("kind=\"emergency\""));
    let engine = Engine::fastest().name();
    assert!(statistics.contains(&format!("chronoseal_vss_info{{batches=\"{engine}\",scalar=\"")), "{statistics}");
}

#[test]
fn statistics_tell_when_messages_are_forgotten_that_could_be_replayed() {
    let mut town = town(9);
    let mut world = world_of(std::slice::from_ref(&town));
    world.config.verification.replays = 1024;
    let daemon = Daemon::of(world, 1);
    let mut client = daemon.connect();
    let cut_short = |client: &mut Client| {
        let statistics = String::from_utf8(client.call(12, &[]).unwrap()).unwrap();
        statistics.contains("chronoseal_vss_replay_windows_total{kind=\"cut_short\"} ")
    };
    let verify = |client: &mut Client, message: &Vec<u8>| {
        let request = to_verify(client, true, UNKNOWN, message);
        client.stream.write_all(&request).unwrap();
        verdict_of(&client.receive().2)
    };
    for message in &town.cams(STATIONS, true).unwrap() {
        assert_eq!(verify(&mut client, message), "accepted");
    }
    assert!(!cut_short(&mut client));
    // More than half of 1024 while the first is fresh, unless this machine stands still: then they get too old, and it is tried again.
    let is_told = (0..5).any(|_| {
        town.now = now();
        for message in &town.cams(600, false).unwrap() {
            let verdict = verify(&mut client, message);
            assert!(verdict == "accepted" || verdict.ends_with("TooFarInPast"), "{verdict}");
        }
        cut_short(&mut client)
    });
    assert!(is_told);
}

#[test]
fn a_client_that_goes_away_in_mid_batch_harms_nobody() {
    let mut town = town(8);
    let daemon = Daemon::of(world_of(std::slice::from_ref(&town)), 1);
    let mut stays = daemon.connect();
    let known = town.cams(STATIONS, true).unwrap();
    assert_eq!(all_at_once(&mut stays, &known).len(), STATIONS);
    let mut accepted = 0;
    for round in 0..10 {
        town.now = now();
        let messages = town.cams(60, false).unwrap();
        let (ours, theirs) = messages.split_at(30);
        let mut leaves = daemon.connect();
        let mut requests: Vec<u8> =
            theirs.iter().flat_map(|message| to_verify(&mut leaves, false, UNKNOWN, message)).collect();
        // Some of them in the middle of a request.
        requests.truncate(requests.len() - 7 * round);
        leaves.stream.write_all(&requests).unwrap();
        drop(leaves);
        let verdicts = all_at_once(&mut stays, ours);
        if !is_stalled(&verdicts) {
            assert_eq!(verdicts, vec!["accepted"; 30]);
            accepted += 1;
        }
    }
    assert!(accepted > 0, "ten times this machine stood still for two seconds");
}

#[test]
fn whoever_says_no_more_is_answered_to_the_end() {
    let town = town(9);
    let daemon = Daemon::of(world_of(std::slice::from_ref(&town)), 1);
    let mut client = daemon.connect();
    let messages = town.cams(100, true).unwrap();
    let mut requests: Vec<u8> =
        messages.iter().flat_map(|message| to_verify(&mut client, false, UNKNOWN, message)).collect();
    requests.extend(client.request(12, &[]));
    client.stream.write_all(&requests).unwrap();
    client.stream.shutdown(Shutdown::Write).unwrap();
    for _ in &messages {
        assert_eq!(client.receive().0, 0);
    }
    let statistics = String::from_utf8(client.receive().2).unwrap();
    assert!(
        statistics.contains("seconds_count{checkpoint=\"verifySignature\"} 100\n"),
        "after all verdicts: {statistics}"
    );
}

#[test]
fn a_client_that_reads_nothing_holds_nobody_up_and_is_answered_when_it_does() {
    let (daemon, _) = small_daemon();
    let mut deaf = daemon.connect();
    let request = deaf.request(99, &[]);
    let requests: Vec<u8> = request.iter().copied().cycle().take(request.len() * 500_000).collect();
    deaf.stream.set_write_timeout(Some(std::time::Duration::from_millis(300))).unwrap();
    let mut sent = 0;
    while let Ok(len) = deaf.stream.write(&requests[sent..]) {
        sent += len;
        assert!(sent < requests.len(), "nothing more is read from it");
    }
    let mut other = daemon.connect();
    assert!(other.call(12, &[]).is_ok());
    deaf.stream.shutdown(Shutdown::Write).unwrap();
    for number in 0..sent / request.len() {
        assert_eq!(deaf.receive().0, 2, "{number}");
    }
    assert_eq!(deaf.stream.read(&mut [0; 1]).unwrap(), 0, "that was all");
}
