//! The account of frames that come over networks A and B: each frame counts once, and its copies beside it.

use chronoseal_catalog::Prepared;
use chronoseal_results::{Account, Copies};
use chronoseal_runner::{Run, simulate};
use chronoseal_scenario::{NoFiles, Scenario};

/// The block with this number of the guide page on redundancy. Behind the name of its language may stand the word that `check` says.
fn block(number: usize) -> &'static str {
    let page = include_str!("../../../docs/guide/redundancy.md");
    let block = page.split("```toml").nth(number).and_then(|rest| rest.split_once('\n'));
    block.and_then(|(_, rest)| rest.split("```").next()).expect("the page has it")
}

/// `altitude` over both networks, `cabin` over A alone, and A fails in the middle.
fn cockpit() -> String {
    block(1).to_owned()
}

fn run(text: &str) -> Run {
    let scenario =
        Scenario::load("cockpit.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|p| panic!("{}", p.render()));
    simulate(&Prepared::new(&scenario.plan).expect("nothing has slots"), false, &mut |_| true).expect("it can be built")
}

fn account<'r>(run: &'r Run, stream: &str) -> &'r Account {
    let found = run.summary.streams.iter().find(|known| known.name == stream).expect("it is one of them");
    assert_eq!(found.receivers[0].balance(), 0, "{found:?}");
    &found.receivers[0]
}

#[test]
fn copies_are_counted_beside_the_frames_and_a_lost_copy_is_no_lost_frame() {
    let run = run(&cockpit());
    let altitude = account(&run, "altitude");
    assert_eq!((altitude.sent, altitude.in_time, altitude.discarded_total()), (125, 125, 0));
    let Copies { eliminated, lost, repeated } = altitude.copies;
    // 500 ms are 62.5 gaps, and the phases come from the seed.
    assert_eq!((eliminated + lost, repeated), (125, 0));
    assert!((61..=64).contains(&eliminated), "{eliminated}");
    let cabin = account(&run, "cabin");
    assert_eq!((cabin.sent, cabin.copies), (125, Copies::default()));
    assert!((61..=64).contains(&cabin.discarded["link-down"]) && cabin.in_time + cabin.discarded_total() == 125);
    let series = |name: &str| {
        let counted =
            run.summary.segments.iter().flat_map(|segment| &segment.series).find(|series| series.name == name);
        counted.unwrap_or_else(|| panic!("{name} is counted")).total
    };
    assert_eq!((series("frames into network A"), series("frames into network B")), (250, 125));
    assert_eq!(series("frames dropped in network B"), 0);
    // Nobody needs a beacon here, so all of them are of streams.
    assert_eq!(series("frames dropped in network A") as u64, lost + cabin.discarded_total());
}

#[test]
fn a_frame_whose_copies_are_all_lost_is_lost_once() {
    let text =
        cockpit().replace("at = \"500ms\" }]", "at = \"500ms\" }, { link = [\"display\", \"b1\"], at = \"0s\" }]");
    let run = run(&text);
    let altitude = account(&run, "altitude");
    // Of the last one another copy could still come.
    assert_eq!((altitude.in_time + altitude.discarded["link-down"], altitude.in_flight), (124, 1));
    // Of those that A delivered one copy is lost, of the others a second one.
    assert_eq!(altitude.copies, Copies { eliminated: 0, lost: 125, repeated: 0 });
}

#[test]
fn copies_that_come_too_late_are_repeated_and_break_no_account() {
    let text = cockpit().replace("skew_max = \"2ms\"", "skew_max = \"1us\"").replace("at = \"500ms\"", "at = \"2s\"");
    let run = run(&text);
    let altitude = account(&run, "altitude");
    assert_eq!((altitude.sent, altitude.in_time, altitude.copies.repeated), (125, 125, 125));
}

/// A gateway collects in a virtual link over networks of which B is slower than its gap.
const COLLECTED: &str = r#"
schema_version = 2
name = "collected"
duration = "400ms"
[segments.bus.can]
bit_rate = "1Mbit/s"
[segments.net.ethernet]
rate = "100Mbit/s"
cluster_cycle = "20ms"
sync = "ideal"
class = { rate_constrained = { bag = "1ms" } }
switches = ["a", "b"]
networks = { a = ["a"], b = ["b"] }
links = [
  { between = ["gate", "a"] },
  { between = ["gate", "b"] },
  { between = ["one", "a"] },
  { between = ["one", "b"], propagation_delay = "1500us" },
]
[[nodes]]
name = "sensor"
on = ["bus"]
[[nodes]]
name = "gate"
on = ["bus", "net"]
gateway = { delay = "20us", collect = [{ streams = ["m0", "m1"], on = "net", within = "1ms", net = { sub_virtual_link_of = "lead" } }] }
[[nodes]]
name = "one"
on = ["net"]
[[streams]]
name = "lead"
from = "gate"
to = ["one"]
period = "8ms"
length = "100B"
[[streams]]
name = "m0"
from = "sensor"
to = ["one"]
period = "10ms"
length = "8B"
bus = { id = "0x100" }
[[streams]]
name = "m1"
from = "sensor"
to = ["one"]
period = "5ms"
length = "8B"
bus = { id = "0x101" }
"#;

#[test]
fn pdus_of_a_frame_that_is_repeated_are_repeated_and_break_no_account() {
    let whole = run(&COLLECTED.replace(", propagation_delay = \"1500us\"", ""));
    for name in ["lead", "m0", "m1"] {
        assert_eq!(account(&whole, name).copies.repeated, 0, "{name}");
    }
    assert!(account(&whole, "lead").copies.eliminated > 40);
    let late = run(COLLECTED);
    for name in ["lead", "m0", "m1"] {
        let account = account(&late, name);
        assert!(account.copies.repeated > 20, "{name}: {account:?}");
        assert!(account.in_time >= account.sent - 1, "{name}: {account:?}");
    }
}

/// The stream in slots of the same page, beside the virtual links, with clocks that need no beacon over A.
fn with_slots() -> String {
    let ideal = cockpit()
        .replace("cluster_cycle", "guard_period = \"40us\"\nsync = \"ideal\"\ncluster_cycle")
        .replace("[[nodes]]\n", "[[nodes]]\nclock = \"ideal\"\n");
    ideal + block(2)
}

#[test]
fn a_slot_counts_once_whichever_copy_comes_in_it() {
    let run = run(&with_slots());
    let elevator = account(&run, "elevator");
    // The last one leaves as the run ends.
    assert_eq!((elevator.sent, elevator.in_time, elevator.in_flight, elevator.not_sent), (126, 125, 1, 0));
    let Copies { eliminated, lost, repeated } = elevator.copies;
    assert_eq!((eliminated + lost, repeated), (125, 0));
    assert!((61..=64).contains(&eliminated), "{eliminated}");
    // Both copies of each slot are among what the report draws.
    let schedule = run.meta.segments[0].schedule.as_ref().expect("it has slots");
    let second = schedule.deliveries.iter().filter(|delivery| delivery.is_second).count();
    assert_eq!((schedule.slots.len(), second), (16, 16));
    // The virtual links beside it fare as they do alone.
    let altitude = account(&run, "altitude");
    assert_eq!((altitude.sent, altitude.in_time, altitude.discarded_total()), (125, 125, 0));
}

#[test]
fn a_slot_over_the_network_that_fails_is_lost_from_then_on() {
    let run = run(&with_slots().replace("skew_max = \"1ms\" }", "networks = [\"a\"] }"));
    let elevator = account(&run, "elevator");
    assert_eq!((elevator.sent, elevator.in_flight, elevator.copies), (126, 1, Copies::default()));
    assert!((61..=64).contains(&elevator.discarded["link-down"]), "{elevator:?}");
    assert_eq!(elevator.in_time + elevator.discarded_total(), 125);
}

/// `altitude` with messages of three frames.
fn long(text: &str) -> String {
    let (before, from) = text.split_at(text.find("name = \"altitude\"").expect("it is there"));
    let own = from.replacen("period = \"8ms\"", "period = \"40ms\"", 1);
    let at = own.find("length = \"").expect("it has a length");
    let rest = own[at..].split_once('\n').expect("another key follows").1;
    format!("{before}{}length = \"3500B\"\n{rest}", &own[..at])
}

#[test]
fn a_message_of_several_frames_counts_once_and_so_does_each_of_its_copies() {
    let whole = run(&long(&cockpit()));
    let altitude = account(&whole, "altitude");
    assert_eq!((altitude.sent, altitude.in_time + altitude.in_flight, altitude.discarded_total()), (25, 25, 0));
    let Copies { eliminated, lost, repeated } = altitude.copies;
    assert!(
        eliminated + lost + altitude.in_flight >= 25 && eliminated + lost <= 25 && repeated == 0,
        "{:?}",
        altitude.copies
    );
    assert!((11..=14).contains(&eliminated), "{eliminated}");
    // Over both networks frames are lost: what is lost then is counted once.
    let noisy = long(&cockpit()).replace(
        "failures = [",
        "frame_losses = [{ link = [\"display\", \"b1\"], ratio = 0.3 }, { link = [\"display\", \"a2\"], ratio = 0.3 }]\nfailures = [",
    );
    let noisy = run(&noisy);
    let altitude = account(&noisy, "altitude");
    assert_eq!(altitude.sent, 25);
    assert!(altitude.discarded_total() > 0 && altitude.unaccounted == 0, "{altitude:?}");
}

/// 3500 B at 10 Mbit/s take 3 ms on each of two links, and the second one fails in the middle of the third message.
#[test]
fn a_message_that_was_begun_when_its_link_failed_is_missing() {
    let run = run(
        "schema_version = 2\nname = \"cut\"\nduration = \"390ms\"\n[segments.net.ethernet]\nrate = \"10Mbit/s\"\ncluster_cycle = \"10ms\"\n\
         failures = [{ link = [\"display\", \"switch\"], at = \"203500us\" }]\n\
         [[nodes]]\nname = \"camera\"\n[[nodes]]\nname = \"display\"\n\
         [[streams]]\nname = \"picture\"\nfrom = \"camera\"\nto = [\"display\"]\nperiod = \"100ms\"\noffset = \"0us\"\n\
         length = \"3500B\"\nnet = { class = { best_effort = {} } }\n",
    );
    let picture = account(&run, "picture");
    assert_eq!((picture.sent, picture.in_time, picture.missing, picture.discarded["link-down"]), (4, 2, 1, 1));
}
