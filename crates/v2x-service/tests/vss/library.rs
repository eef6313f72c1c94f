//! The services as a library.

use std::os::unix::fs::PermissionsExt as _;

use chronoseal_v2x::types::{CertificateBuf, HashedId8, Psid, ThreeDLocation, Time64};
use chronoseal_v2x::verify::{CheckKind, Context, ResultCode};
use chronoseal_v2x::vss::{Answered, Relevance, SkipReason};
use chronoseal_v2x_service::vss::{Logging, Notice, Vss, VssConfig, VssError, now};

use crate::vss::world::World;

const DEMANDED: Relevance = Relevance { distance_m: None, time_to_collision_ms: None, is_demanded: true };
const ANY: Relevance = Relevance { distance_m: None, time_to_collision_ms: None, is_demanded: false };

/// Answers for every layer that is asked.
fn agree(vss: &mut Vss) -> usize {
    let mut changes = 0;
    while let Some(notice) = vss.poll_notice() {
        match notice {
            Notice::AskLayers { layers, .. } => {
                for layer in layers {
                    assert_ne!(vss.answer(now(), layer, true).unwrap(), Answered::Unexpected);
                }
            }
            Notice::Changed(_) => changes += 1,
            Notice::Abandoned(why) => panic!("{why}"),
            Notice::RequestPseudonyms(_) => {}
        }
    }
    changes
}

fn stored(world: &World, extension: &str) -> usize {
    let names = std::fs::read_dir(world.path("station/at")).unwrap();
    names.filter(|name| name.as_ref().unwrap().path().extension().is_some_and(|one| one == extension)).count()
}

#[test]
fn two_hundred_messages_are_signed_and_verified_under_three_pseudonyms() {
    let mut world = World::new();
    let (mut vss, warnings) = world.open();
    assert!(warnings.0.is_empty(), "{warnings:?}");
    world.give_tickets(&mut vss, 4);
    assert_eq!(agree(&mut vss), 1, "the first pseudonym");
    vss.register_request_network_id_change();
    let mut changes = 0;
    for len in 1..=200 {
        let payload = vec![7; len];
        let message = vss.create_signature(now(), Psid::CAM, &payload, None).unwrap();
        let verified = vss.verify_signature(&message, &ANY, &Context::at(now()));
        assert!(verified.verdict.is_accepted(), "{len}: {}", verified.verdict);
        assert_eq!(verified.payload.as_deref(), Some(&payload[..]));
        changes += agree(&mut vss);
    }
    assert_eq!((changes, vss.unused()), (2, 1));
    assert_eq!((stored(&world, "oer"), stored(&world, "meta")), (2, 2), "two were used up and removed");
    assert_eq!(vss.hsm().lock().list().unwrap().len(), 4, "two pairs for each of the two that are left");
    let statistics = vss.statistics();
    assert_eq!((statistics.counted("signatures", "made"), statistics.counted("verifications", "accepted")), (200, 200));
    assert_eq!(statistics.histogram("createSignature").unwrap().count(), 200);
    let log = std::fs::read_to_string(world.path("log")).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains("pseudonym changed")).count(), 3);
}

#[test]
fn a_station_goes_on_where_it_stopped() {
    let mut world = World::new();
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 3);
    let id = vss.certificate();
    assert!(id.is_some());
    drop(vss);
    let (mut vss, warnings) = world.open();
    assert_eq!((vss.certificate(), vss.unused(), warnings.0.len()), (id, 2, 0));
    assert!(vss.create_signature(now(), Psid::CAM, b"x", None).is_ok());
}

#[test]
fn a_crash_in_mid_change_leaves_one_identity() {
    let mut world = World::new();
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 3);
    let old = vss.certificate().unwrap();
    vss.register_request_network_id_change();
    while vss.poll_notice().is_some() {}
    vss.change_pseudonym(now()).unwrap();
    let Some(Notice::AskLayers { ids, .. }) = vss.poll_notice() else { panic!("layers are asked") };
    assert!(matches!(vss.create_signature(now(), Psid::CAM, b"x", None), Err(VssError::Sign(_))));
    // The process is gone; layers that had prepared start anew, too.
    drop(vss);
    let (mut vss, warnings) = world.open();
    assert!(warnings.0.is_empty());
    assert_eq!(vss.certificate(), Some(ids.certificate));
    assert_ne!(vss.certificate(), Some(old));
    assert!(!world.path("station/at").join(format!("{old}.oer")).exists());
    assert_eq!(vss.poll_notice(), Some(Notice::Changed(ids)));
    assert!(vss.create_signature(now(), Psid::CAM, b"x", None).is_ok());
}

#[test]
fn frames_are_encrypted_and_decrypted_for_their_recipients_alone() {
    let (mut world, mut other) = (World::new(), World::new());
    let ((mut vss, _), (mut stranger, _)) = (world.open(), other.open());
    world.give_tickets(&mut vss, 1);
    other.give_tickets(&mut stranger, 1);
    let id = vss.certificate().unwrap();
    let bytes = std::fs::read(world.path("station/at").join(format!("{id}.oer"))).unwrap();
    let certificate = CertificateBuf::new(bytes).unwrap();
    let frame = stranger.encrypt_sending_frame(b"toll: 3 EUR", &[certificate.view()]).unwrap();
    assert!(!frame.windows(4).any(|window| window == b"toll"));
    assert_eq!(vss.decrypt_received_frame(&frame).unwrap(), b"toll: 3 EUR");
    assert!(matches!(stranger.decrypt_received_frame(&frame), Err(VssError::NotForUs)));
    let mut changed = frame.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(matches!(vss.decrypt_received_frame(&changed), Err(VssError::Decrypt(_))));
    assert!(vss.decrypt_received_frame(b"nothing").is_err());
}

#[test]
fn messages_of_two_stations_and_of_a_foreign_root() {
    let (mut world, mut foreign) = (World::new(), World::new());
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 1);
    // Another authority's key: the same seed makes the same, so the name of its root has to differ.
    let message = vss.create_signature(now(), Psid::DENM, b"ice", Some(HERE)).unwrap();
    let (mut receiver, _) = foreign.open();
    foreign.give_tickets(&mut receiver, 1);
    receiver.verifier_mut().trust_mut().remove(root_of(&foreign));
    let verified = receiver.verify_signature(&message, &ANY, &Context::at(now()));
    assert_eq!(verified.verdict.failure().unwrap().0, CheckKind::Chain);
    assert!(verified.payload.is_none());
    let again = vss.verify_signature(&message, &ANY, &Context::at(now()));
    assert!(again.verdict.is_accepted(), "{}", again.verdict);
    let replayed = vss.verify_signature(&message, &ANY, &Context::at(now()));
    assert_eq!(replayed.verdict.result(), ResultCode::SpduRelevanceReplayedSpdu);
    let log = std::fs::read_to_string(world.path("log")).unwrap();
    assert!(log.contains("refused by replay"), "{log}");
}

const HERE: ThreeDLocation = ThreeDLocation { latitude: 1, longitude: 1, elevation: 1 };

fn root_of(world: &World) -> HashedId8 {
    let root = CertificateBuf::new(std::fs::read(world.path("root.oer")).unwrap()).unwrap();
    chronoseal_v2x::certificate::hashed_id8(&root.view()).unwrap()
}

#[test]
fn sampling_verifies_the_share_that_is_configured_and_audits_the_rest() {
    let mut world = World::new();
    world.config.verification.policy = "sampling".into();
    world.config.verification.value = 10;
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 1);
    let mut verified = 0;
    for len in 1..=200 {
        let message = vss.create_signature(now(), Psid::CAM, &vec![1; len], None).unwrap();
        let outcome = vss.verify_signature(&message, &ANY, &Context::at(now()));
        verified += usize::from(outcome.verdict.is_accepted());
        assert_eq!(outcome.skipped.is_some(), !outcome.verdict.is_accepted());
    }
    assert_eq!(verified, 20);
    assert_eq!((vss.audit().total(), vss.audit().count(SkipReason::NotSampled)), (180, 180));
    let message = vss.create_signature(now(), Psid::CAM, b"demanded", None).unwrap();
    assert!(vss.verify_signature(&message, &DEMANDED, &Context::at(now())).verdict.is_accepted());
}

#[test]
fn damaged_files_are_set_aside_and_missing_keys_are_named() {
    let mut world = World::new();
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 3);
    let current = vss.certificate().unwrap();
    drop(vss);
    let others: Vec<_> = std::fs::read_dir(world.path("station/at"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|one| one == "oer") && !path.to_string_lossy().contains(&current.to_string())
        })
        .collect();
    std::fs::write(&others[0], b"rubbish").unwrap();
    std::fs::write(others[1].with_extension("meta"), b"{").unwrap();
    let (vss, warnings) = world.open();
    assert_eq!((warnings.0.len(), vss.unused()), (2, 0));
    assert!(warnings.0[0].contains("was set aside"), "{warnings:?}");
    assert_eq!(std::fs::read_dir(world.path("station/at").join("damaged")).unwrap().count(), 4, "nothing is lost");
    drop(vss);
    std::fs::write(world.path("station/at").join("state.json"), b"{").unwrap();
    let hsm = chronoseal_v2x_service::hsm::SoftwareHsm::open(world.path("keys"), "4711").unwrap();
    let hsm = chronoseal_v2x_service::hsm::SharedHsm::new(Box::new(hsm));
    let Err(error) = Vss::open_with(&world.config, hsm, now()) else { panic!("a corrupt state") };
    assert!(matches!(error, VssError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("restore it from a copy"));
}

#[test]
fn a_disk_that_takes_nothing_keeps_the_pseudonym() {
    let mut world = World::new();
    let (mut vss, _) = world.open();
    world.give_tickets(&mut vss, 2);
    vss.register_request_network_id_change();
    while vss.poll_notice().is_some() {}
    let before = vss.certificate();
    // A folder where the new state should be written: what a full disk does to it.
    std::fs::create_dir(world.path("station/at").join("state.json.new")).unwrap();
    assert!(matches!(vss.change_pseudonym(now()), Err(VssError::Io { .. })));
    assert_eq!(vss.certificate(), before);
    drop(vss);
    std::fs::remove_dir(world.path("station/at").join("state.json.new")).unwrap();
    let (mut vss, warnings) = world.open();
    assert_eq!((vss.certificate(), warnings.0.len()), (before, 0));
    assert!(vss.create_signature(now(), Psid::CAM, b"x", None).is_ok());
}

#[test]
fn a_configuration_with_a_fault_says_what_to_write() {
    let world = World::new();
    let good = "folder = \"station\"\npin_file = \"pin\"\nhsm = { kind = \"software\", folder = \"keys\" }\n";
    let read = |text: &str| {
        let file = world.path("vss.toml");
        std::fs::write(&file, text).unwrap();
        VssConfig::read(&file).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(read(good), Ok(()));
    let cases = [
        ("[pseudonyms]\npolicy = \"never\"\n", "is none of none, scoop"),
        ("[verification]\npolicy = \"some\"\n", "is none of always, sampling"),
        ("[verification]\npolicy = \"sampling\"\nvalue = 0\n", "write 1 or more"),
        ("[pseudonyms]\npreload = 1\nlow_water = 5\n", "write at least 5"),
        ("[logging]\ncircular = 0\n", "write 1 or more"),
        ("[loging]\n", "unknown field `loging`"),
        ("[lists]\noverdue = \"ignore\"\n", "is none of warn, refuse"),
        ("[lists]\nrefresh_s = 0\n", "write 1 or more"),
        ("[lists]\nectl = \"http://x\"\n", "in trust.tlm"),
        ("[socket]\nusers = [\"no such user\"]\n", "knows no user"),
    ];
    for (text, expected) in cases {
        let error = read(&format!("{good}{text}")).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    std::fs::write(world.path("pin"), "").unwrap();
    let Err(error) = Vss::open(&world.config, Time64(0)) else { panic!("no PIN") };
    assert!(error.to_string().contains("the first line should be the PIN"));
    std::fs::write(world.path("pin"), "wrong").unwrap();
    assert!(Vss::open(&world.config, Time64(0)).is_err());
}

/// As some libraries write it: the first half of a signature as a whole point, of which only x counts.
#[test]
fn another_vendors_certificate_is_not_called_damaged_and_taken_if_that_is_configured() {
    let mut world = World::new();
    let mut bytes = std::fs::read(world.path("aa.oer")).unwrap();
    let tag = bytes.len() - 65;
    assert_eq!(bytes[tag], 0x80, "x alone");
    bytes[tag] = 0x82;
    std::fs::write(world.path("aa.oer"), bytes).unwrap();
    let open = |world: &World| {
        let hsm = chronoseal_v2x_service::hsm::SoftwareHsm::open(world.path("keys"), "4711").unwrap();
        Vss::open_with(&world.config, chronoseal_v2x_service::hsm::SharedHsm::new(Box::new(hsm)), now())
    };
    let Err(error) = open(&world) else { panic!("strict rules took it") };
    let text = error.to_string();
    assert!(matches!(error, VssError::NotCanonical { .. }), "{text}");
    assert!(text.contains("aa.oer is well formed, but not in canonical form"), "{text}");
    assert!(text.ends_with("set trust.lenient = true"), "{text}");
    world.config.trust.lenient = true;
    let (mut vss, warnings) = open(&world).unwrap();
    assert!(warnings.0.is_empty(), "{warnings:?}");
    world.give_tickets(&mut vss, 1);
    let message = vss.create_signature(now(), Psid::CAM, b"x", None).unwrap();
    let verified = vss.verify_signature(&message, &ANY, &Context::at(now()));
    assert!(verified.verdict.is_accepted(), "{}", verified.verdict);
}

#[test]
fn two_hundred_successes_are_two_hundred_lines_if_that_is_configured() {
    for results in [false, true] {
        let mut world = World::new();
        world.config.logging = Logging { results, memory: true, ..world.config.logging };
        let (mut vss, _) = world.open();
        world.give_tickets(&mut vss, 1);
        for len in 1..=200 {
            let message = vss.create_signature(now(), Psid::CAM, &vec![7; len], None).unwrap();
            vss.verify_signature(&message, &ANY, &Context::at(now()));
            vss.verify_signature(&message, &ANY, &Context::at(now()));
        }
        let log = std::fs::read_to_string(world.path("log")).unwrap();
        let lines = |what: &str| log.lines().filter(|line| line.ends_with(what)).count();
        let expected = if results { 200 } else { 0 };
        assert_eq!(lines(" createSignature: success"), expected);
        assert_eq!(lines(" verifySignature: success"), expected);
        assert_eq!(lines(" verifySignature: spduRelevanceReplayedSpdu"), expected);
        for checkpoint in ["createSignature", "verifySignature"] {
            let memory = vss.statistics().memory(checkpoint).unwrap();
            assert!(memory.max >= memory.last && memory.last > 1 << 20, "{checkpoint}: {memory:?}");
            let text = format!("chronoseal_vss_checkpoint_memory_bytes{{checkpoint=\"{checkpoint}\",kind=\"max\"}}");
            assert!(vss.statistics().prometheus().contains(&text));
        }
        assert_eq!(vss.statistics().memory("signature"), None, "a part of a verification");
    }
}

#[test]
fn a_pin_that_others_can_read_is_warned_of() {
    let world = World::new();
    let (vss, warnings) = world.open();
    assert!(warnings.0.is_empty(), "{warnings:?}");
    drop(vss);
    std::fs::set_permissions(world.path("pin"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let (_, warnings) = world.open();
    assert!(warnings.0[0].contains("mode 640") && warnings.0[0].contains("chmod 600"), "{warnings:?}");
}
