//! Messages longer than an Ethernet frame: what they become, and the limits on both sides.

use chronoseal_core::Duration;
use chronoseal_plan::{Ethernet, Plan, SegmentId};
use chronoseal_scenario::{Code, NoFiles, Problems, load};

const SHIPPED: &str = include_str!("../../../../scenarios/camera.toml");

fn changed(changes: &[(&str, &str)]) -> Result<Plan, Problems> {
    let mut text = SHIPPED.to_owned();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    load("camera.toml", text.as_bytes(), &[], &NoFiles)
}

/// The only problem of a scenario: its code, its message, and what helps.
fn refused(changes: &[(&str, &str)]) -> (Code, String, String) {
    let problems = changed(changes).expect_err("it is refused");
    let [problem] = problems.list() else { panic!("{}", problems.render()) };
    (problem.code, problem.message.clone(), problem.help.clone().unwrap_or_default())
}

const IMAGE: &str = "backbone = { reassembly_timeout = \"50ms\" }";

/// Best effort, so that the length of an image is all there is.
fn image_of(bytes: u32) -> Result<Plan, Problems> {
    changed(&[("length = \"60kB\"", &format!("length = \"{bytes}B\"")), (IMAGE, "")])
}

#[test]
fn a_message_is_cut_into_frames_that_a_link_carries() {
    let plan = changed(&[]).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let view = Ethernet::of(&plan, SegmentId(0)).expect("an Ethernet");
    let streams: Vec<_> = view.streams().collect();
    let image = &streams[0];
    let datagram = image.datagram.expect("it is longer than a frame");
    // 60,000 bytes, 24 of protection, 8 of UDP: 41 fragments of up to 1,480.
    assert_eq!((datagram.data_len, image.frames(), datagram.timeout), (60_024, 41, Duration::from_ms(50)));
    // Header, tag, IPv4 and 1,480 bytes; and of the last 832.
    assert_eq!((view.secured_len(image), view.shortest_len(image)), (1_518, 14 + 4 + 20 + 832));
    assert_eq!(view.message_len(image), 40 * 1_518 + 870 + 40 * 24);
    assert_eq!(streams[1].datagram.map(|turn| (turn.frames(), turn.timeout)), Some((14, Duration::from_s(15))));
    assert!(streams[2..].iter().all(|stream| stream.datagram.is_none() && stream.frames() == 1));
}

#[test]
fn a_frame_is_cut_as_soon_as_it_has_no_room_and_not_before() {
    let cut = |bytes: u32| {
        let plan = image_of(bytes).unwrap_or_else(|problems| panic!("{}", problems.render()));
        let view = Ethernet::of(&plan, SegmentId(0)).expect("an Ethernet");
        let frames = view.streams().next().map(|image| (image.frames(), view.secured_len(&image)));
        frames.expect("the image")
    };
    assert_eq!(cut(1_476), (1, 1_518));
    assert_eq!(cut(1_477), (2, 1_518));
    assert_eq!(cut(65_507 - 24), (45, 1_518));
    let too_long = image_of(65_507 - 23).expect_err("a byte too many");
    let [problem] = too_long.list() else { panic!("{}", too_long.render()) };
    assert_eq!(problem.code, Code::FrameTooLong);
    assert!(problem.message.contains("the 65507B of a UDP datagram"), "{}", problem.message);
}

#[test]
fn a_virtual_link_has_a_gap_for_each_frame() {
    let link = |keys: &str| format!("backbone = {{ class = {{ rate_constrained = {{ {keys} }} }} }}");
    let with = |keys: &str| vec![(IMAGE, link(keys)), ("length = \"60kB\"", "length = \"20kB\"".to_owned())];
    let of = |changes: &[(&str, String)]| {
        let changes: Vec<(&str, &str)> = changes.iter().map(|(old, new)| (*old, new.as_str())).collect();
        changed(&changes)
    };
    let plan = of(&with("")).unwrap_or_else(|problems| panic!("{}", problems.render()));
    let view = Ethernet::of(&plan, SegmentId(0)).expect("an Ethernet");
    let image = view.streams().next().expect("the image");
    let bag = image.class.virtual_link().map(|link| (link.bag, link.lmax, link.lmin));
    // Fourteen frames in 33 ms.
    assert_eq!((image.frames(), bag), (14, Some((Duration::from_ms(2), 1_511, 64))));
    for (keys, says) in [("bag = \"4ms\"", "14 frames every 33ms"), ("lmin = \"1000B\"", "and its `lmin` is 1000B")] {
        let problems = of(&with(keys)).expect_err(keys);
        let [problem] = problems.list() else { panic!("{}", problems.render()) };
        assert_eq!(problem.code, Code::BadVirtualLink, "{keys}");
        assert!(problem.message.contains(says), "{}", problem.message);
    }
    let too_many = of(&[(IMAGE, link(""))]).expect_err("41 gaps of a millisecond");
    let [problem] = too_many.list() else { panic!("{}", too_many.render()) };
    assert!(problem.message.contains("41 frames every 33ms"), "{}", problem.message);
}

#[test]
fn what_keeps_no_order_of_frames_is_refused_and_attacks_on_its_messages_are_not() {
    let copies = "backbone = { replication = { ways = [[], []], recovery = \"match\" } }";
    let problems = changed(&[(IMAGE, copies)]).expect_err("two copies");
    let is_told = |problem: &chronoseal_scenario::Problem| {
        problem.code == Code::BadReplication && problem.message.contains("IEEE 802.1CB-2017 §7.4.3.5")
    };
    assert!(problems.list().iter().any(is_told), "{}", problems.render());
    let threat = "[[threats]]\nname = \"spy\"\nkind = \"tamper\"\nstream = \"image\"\nat = { link = \"camera\" }\n";
    for kind in ["tamper", "replay", "spoof", "withhold"] {
        let threat = threat.replace("tamper", kind);
        let plan = changed(&[("[[streams]]", &format!("{threat}\n[[streams]]"))]);
        assert!(plan.is_ok(), "{kind}");
    }
}

#[test]
fn first_frames_that_share_a_virtual_link_are_not_told_apart_under_macsec() {
    let shared = "name = \"other\"\nfrom = \"camera\"\nto = [\"fusion\", \"recorder\"]\nperiod = \"33ms\"\nlength = \"100B\"\n\
                  backbone = { class = { rate_constrained = {} } }\n\n[[streams]]\nname = \"image\"";
    let of = |kind: &str, macsec: &str| {
        let threat = format!(
            "[[threats]]\nname = \"spy\"\nkind = \"{kind}\"\nstream = \"image\"\nat = {{ link = \"camera\" }}\n\n[[nodes]]"
        );
        changed(&[
            ("name = \"image\"", shared),
            (IMAGE, "backbone = { sub_virtual_link_of = \"other\" }"),
            ("length = \"60kB\"", "length = \"3kB\""),
            ("[[nodes]]", &threat),
            ("[segments.backbone.ethernet]\n", &format!("[segments.backbone.ethernet]\n{macsec}")),
        ])
    };
    for kind in ["tamper", "replay"] {
        let open = of(kind, "");
        assert!(open.is_ok(), "{kind}: {}", open.expect_err("refused").render());
        let problems = of(kind, "macsec = {}\n").expect_err("nothing tells which is the first");
        let is_told = |problem: &chronoseal_scenario::Problem| {
            problem.code == Code::NotYet && problem.message.contains("which frame is the first")
        };
        assert!(problems.list().iter().any(is_told), "{kind}: {}", problems.render());
    }
}

#[test]
fn a_sub_virtual_link_has_a_turn_for_each_frame_of_its_messages() {
    let shared = "name = \"other\"\nfrom = \"camera\"\nto = [\"fusion\", \"recorder\"]\nperiod = \"33ms\"\nlength = \"100B\"\n\
                  backbone = { class = { rate_constrained = {} } }\n\n[[streams]]\nname = \"image\"";
    let of = |length: &str| {
        let length = format!("length = \"{length}\"");
        changed(&[
            ("name = \"image\"", shared),
            (IMAGE, "backbone = { sub_virtual_link_of = \"other\" }"),
            ("length = \"60kB\"", &length),
        ])
    };
    let plan = of("3kB").unwrap_or_else(|problems| panic!("{}", problems.render()));
    let view = Ethernet::of(&plan, SegmentId(0)).expect("an Ethernet");
    let streams: Vec<_> = view.streams().take(2).collect();
    assert_eq!([0, 1].map(|place: usize| view.sub_link(&streams[place])), [Some(0), Some(1)]);
    let image = streams.iter().find(|stream| stream.frames() > 1).expect("the image");
    let link = image.class.virtual_link().expect("a virtual link");
    // Six turns of two queues in 33 ms.
    assert_eq!((image.frames(), link.bag, link.sub_links), (3, Duration::from_ms(4), 2));
    let problems = of("50kB").expect_err("34 frames in 33 ms").render();
    assert!(problems.contains("bandwidth allocation gap"), "{problems}");
}

#[test]
fn a_message_in_slots_has_one_for_each_of_its_frames() {
    let class = "backbone = { class = \"time-triggered\", reassembly_timeout = \"50ms\" }";
    let plan = changed(&[(IMAGE, class), ("\"33ms\"", "\"10ms\"")]);
    let plan = plan.unwrap_or_else(|problems| panic!("{}", problems.render()));
    let view = Ethernet::of(&plan, SegmentId(0)).expect("an Ethernet");
    let image = view.streams().next().expect("the image");
    assert_eq!((image.frames(), image.class.is_time_triggered(), view.secured_len(&image)), (41, true, 1_514));
    let places = [0, 1, 40, 41].map(|instance| (image.frame_in(instance), image.is_last_in(instance)));
    assert_eq!(places, [(0, false), (1, false), (40, true), (0, false)]);
    // 41 slots in each period are more than a schedule holds.
    let many =
        changed(&[(IMAGE, class), ("\"33ms\"", "\"1ms\""), ("cluster_cycle = \"10ms\"", "cluster_cycle = \"3s\"")]);
    let many = many.expect_err("123,000 slots");
    assert!(many.list().iter().any(|problem| problem.code == Code::TooManySlots), "{}", many.render());
}

#[test]
fn a_timeout_is_within_its_limits_and_for_what_is_put_together() {
    let with = |timeout: &str| {
        let own = format!("backbone = {{ reassembly_timeout = \"{timeout}\" }}");
        changed(&[(IMAGE, own.as_str())]).map_err(|problems| problems.list()[0].code)
    };
    assert!(with("1us").is_ok() && with("120s").is_ok());
    assert_eq!(with("999ns").err(), Some(Code::OutOfRange));
    assert_eq!(with("121s").err(), Some(Code::OutOfRange));
    let (code, message, _) = refused(&[("length = \"60kB\"", "length = \"1kB\"")]);
    assert_eq!(code, Code::OutOfRange);
    assert!(message.contains("are a frame each"), "{message}");
}
