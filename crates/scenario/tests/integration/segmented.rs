//! Streams in several CAN frames: what they become, and the limits on both sides.

use chronoseal_core::{Bytes, Duration};
use chronoseal_plan::{Can, Ethernet, Plan, SegmentId, SegmentedPlan};
use chronoseal_scenario::{Code, NoFiles, Problems, load};
use chronoseal_wire::can::iso_tp::SeparationTime;

const SHIPPED: &str = include_str!("../../../../scenarios/calibration-block.toml");

fn changed(old: &str, new: &str) -> Result<Plan, Problems> {
    assert!(SHIPPED.contains(old), "{old}");
    load("calibration-block.toml", SHIPPED.replace(old, new).as_bytes(), &[], &NoFiles)
}

#[test]
fn a_message_keeps_its_length_on_every_segment() {
    let plan = changed("2s", "2s").unwrap_or_else(|problems| panic!("{}", problems.render()));
    assert_eq!(plan.name, "calibration-block");
    let block = &plan.streams[0];
    assert_eq!((block.length, block.hops[0].frame_len, block.hops[0].class), (200, 200, "segmented message"));
    let rear = Can::of(&plan, SegmentId(2)).expect("a bus");
    let record = rear.messages().find(|message| message.is_segmented()).expect("one of them");
    assert_eq!((record.stream.name.as_str(), rear.secured_len(&record)), ("diagnostic record", 70));
    let SegmentedPlan { flow_control, block_size, separation_time, n_bs, n_cr } = record.segmented.expect("it is");
    assert_eq!((flow_control.raw(), block_size, separation_time.duration()), (0x6b8, 4, Duration::from_ms(1)));
    assert_eq!((n_bs, n_cr), (Duration::from_s(1), Duration::from_s(1)));
    // The flow control frames are known as its own: gateways pass none of them on whole.
    let identifiers: Vec<u32> = rear.identifiers().map(|id| id.raw()).collect();
    assert_eq!(identifiers, [0x6b0, 0x6b8, 0x0a0]);
    let front = Can::of(&plan, SegmentId(0)).expect("a bus").messages().next().and_then(|message| message.segmented);
    assert_eq!(front.map(|plan| (plan.block_size, plan.separation_time)), Some((0, SeparationTime::ZERO)));
}

#[test]
fn what_no_frame_holds_is_refused_with_what_helps() {
    let in_one = changed(", segmented = { flow_control = \"0x6A8\" }", "").expect_err("210 bytes");
    let problem = &in_one.list()[0];
    assert_eq!(problem.code, Code::FrameTooLong);
    let help = problem.help.as_deref().unwrap_or_default();
    assert!(help.contains("`segmented = { flow_control"), "{help}");
}

#[test]
fn what_is_longer_than_an_ethernet_frame_is_cut_there_too() {
    let frames = |bytes: u64| {
        let plan = changed("length = \"200B\"", &format!("length = \"{}\"", Bytes(bytes)))
            .unwrap_or_else(|problems| panic!("{}", problems.render()));
        let backbone = Ethernet::of(&plan, SegmentId(1)).expect("an Ethernet");
        backbone.streams().next().map(|block| block.frames())
    };
    // 1514 bytes without checksum, 22 of headers, 10 of protection.
    let most = 1514 - 14 - 8 - 10;
    assert_eq!((frames(most), frames(most + 1)), (Some(1), Some(2)));
}

#[test]
fn a_deadline_that_its_frames_cannot_keep_is_refused() {
    let with = |deadline: &str| changed("deadline = \"40ms\"", &format!("deadline = \"{deadline}\""));
    // Ten consecutive frames in blocks of four, seven of them a millisecond apart.
    assert_eq!(with("7ms").expect_err("too short").list()[0].code, Code::DeadlineTooShort);
    assert!(with("12ms").is_ok());
}

#[test]
fn streams_alike_have_identifiers_of_their_own_for_both_ends() {
    let plan = changed("name = \"calibration block\"", "name = \"calibration block\"\ncount = 3");
    let plan = plan.unwrap_or_else(|problems| panic!("{}", problems.render()));
    let front = Can::of(&plan, SegmentId(0)).expect("a bus");
    let ids: Vec<(u32, u32)> = front
        .messages()
        .filter_map(|message| Some((message.id.raw(), message.segmented?.flow_control.raw())))
        .collect();
    assert_eq!(ids[..3], [(0x6a0, 0x6a8), (0x6a1, 0x6a9), (0x6a2, 0x6aa)]);
    // The ninth would have the identifier of the first one's answers.
    let many = changed("name = \"calibration block\"", "name = \"calibration block\"\ncount = 9");
    assert!(many.expect_err("taken").list().iter().any(|problem| problem.code == Code::BadCanId));
}
