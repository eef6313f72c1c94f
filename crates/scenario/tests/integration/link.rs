//! Lossy links: what they become, and what is refused.

use std::collections::BTreeMap;

use chronoseal_core::{Duration, NodeId, Rate};
use chronoseal_media::link::{DelayLaw, Loss, Order, QUEUE_MAX, Shaper};
use chronoseal_plan::{Link, LinkTransport, PayloadPlan, Plan, ProgramPlan, SegmentId};
use chronoseal_scenario::{Code, FileError, Files, NoFiles, load};

use super::support::{changed, plan, refused};

const WIFI: &str = r#"
schema_version = 2
name = "wifi"
duration = "1s"
[segments.air.link]
profile = "wifi"
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "25ms"
length = "9kB"
"#;

fn link(plan: &Plan) -> Link<'_> {
    Link::of(plan, SegmentId(0)).expect("it is one")
}

#[test]
fn a_profile_is_what_others_have_emulated_and_each_key_takes_the_place_of_its_part() {
    let wifi = plan(WIFI);
    let laws = &link(&wifi).segment.laws;
    let normal = DelayLaw::Normal { mean: Duration::from_ms(13), deviation: Duration::from_ms(22) };
    assert_eq!((laws.rate, &laws.delay, laws.loss), (Some(Rate(54_000_000)), &normal, Loss::Independent(0.01)));
    assert_eq!((laws.queue, laws.order), (1000, Order::AsDelayed));
    let (_, _, hop, facet) = link(&wifi).streams().next().expect("one");
    assert_eq!((facet.cut.fragments(), hop.frame_len, hop.class), (7, 9042, "udp"));

    let image = changed("image", WIFI, "length = \"9kB\"", "length = \"1400kB\"\nair = { transport = \"tcp\" }");
    let connected = plan(&image);
    let (_, stream, hop, facet) = link(&connected).streams().next().expect("one");
    assert_eq!((stream.length, hop.class, facet.transport), (1_400_000, "tcp", LinkTransport::Tcp));

    let run = "name = \"station\"\nprogram = { run = [\"ping\", \"{robot}\"], from = \"1s\" }";
    let program = plan(&changed("program", WIFI, "name = \"station\"", run)).nodes[1].program.clone();
    let command = ["ping", "10.0.0.1"].map(str::to_owned).to_vec();
    assert_eq!(program, Some(ProgramPlan { command, from: Duration::from_s(1) }));

    let written = "profile = \"wifi\"\nrate = \"10Mbit/s\"\nqueue = \"5 frames\"\norder = \"strict\"\nduplicate = \"1%\"\n\
                   loss = { gilbert_elliott = { to_bad = \"1%\", to_good = \"25%\" } }\ndelay = { constant = \"2ms\" }";
    let other = plan(&changed("keys", WIFI, "profile = \"wifi\"", written));
    let laws = &link(&other).segment.laws;
    assert_eq!((laws.rate, &laws.delay), (Some(Rate(10_000_000)), &DelayLaw::Constant(Duration::from_ms(2))));
    assert_eq!(laws.loss, Loss::GilbertElliott { to_bad: 0.01, to_good: 0.25, good: 0.0, bad: 1.0 });
    assert_eq!((laws.queue, laws.order, laws.duplicate), (5, Order::Strict, 0.01));

    let held = plan(&changed("held", WIFI, "profile = \"wifi\"", "profile = \"wifi\"\nshaper = \"sender\""));
    let shaper = |plan: &Plan| (link(plan).segment.laws.shaper, link(plan).segment.laws.queue);
    assert_eq!([shaper(&wifi), shaper(&held)], [(Shaper::Behind, 1_000), (Shaper::Sender, QUEUE_MAX)]);
}

/// The stream of the profile under a protection.
fn sealed(table: &str) -> String {
    changed("seal", WIFI, "length = \"9kB\"", "length = \"9kB\"\nprotection = \"mac\"")
        + &format!("[[protections]]\nname = \"mac\"\n{table}\n")
}

#[test]
fn a_message_longer_than_a_datagram_travels_in_several() {
    let facet = |text: &str| {
        let plan = plan(text);
        let (_, _, _, facet) = link(&plan).streams().next().expect("one");
        facet.clone()
    };
    let of = |len: &str| facet(&changed("length", WIFI, "9kB", len));
    // On both sides of the longest datagram.
    assert_eq!(of("65507B").parts, None);
    let parted = of("65508B");
    let parts = parted.parts.expect("it is longer");
    // A packet of 1500 B has headers of IPv4 and UDP, and that of a part; each part but the last fills it.
    assert_eq!((parts.fragment_len, parts.datagram_len, parts.fragments()), (1_464, 65_500, 45));
    assert_eq!((parted.cut.fragments(), parted.cut.fragment_len), (45, 1_480));
    assert_eq!(parted.cut.last_len(), parts.last_len() + 16);
    assert_eq!(of("10MB").parts.map(|parts| parts.fragments()), Some(6_831));
    // A tag counts.
    let tagged = sealed("mac = { algorithm = \"gmac-aes-128\", tag = \"16B\", freshness = \"full\" }");
    assert_eq!(facet(&tagged).cut.datagram_len, 8 + 9_000 + 24);
    assert!(facet(&tagged.replace("9kB", "65484B")).parts.is_some());
    assert!(facet(&tagged.replace("9kB", "65483B")).parts.is_none());
    let timeout =
        changed("timeout", WIFI, "length = \"9kB\"", "length = \"1MB\"\nair = { reassembly_timeout = \"1s\" }");
    assert_eq!(facet(&timeout).timeout, Duration::from_s(1));
}

#[test]
fn what_a_link_cannot_do_is_refused_with_what_helps() {
    let cases = [
        ("profile", "profile = \"wifi\"", "profile = \"wi-fi\"", Code::UnknownValue),
        ("share", "profile = \"wifi\"", "loss = { independent = \"101%\" }", Code::OutOfRange),
        ("order", "profile = \"wifi\"", "delay = { uniform = { min = \"2ms\", max = \"1ms\" } }", Code::OutOfRange),
        ("queue", "profile = \"wifi\"", "queue = \"0 frames\"", Code::OutOfRange),
        ("unshaped", "profile = \"wifi\"", "shaper = \"sender\"", Code::MissingKey),
        (
            "never full",
            "profile = \"wifi\"",
            "profile = \"wifi\"\nshaper = \"sender\"\nqueue = \"9 frames\"",
            Code::ChooseOne,
        ),
        ("shaper", "profile = \"wifi\"", "shaper = \"receiver\"", Code::UnknownValue),
        ("packets", "profile = \"wifi\"", "mtu = \"20B\"", Code::OutOfRange),
        ("unit", "profile = \"wifi\"", "delay = { constant = \"2\" }", Code::MissingUnit),
        ("file", "profile = \"wifi\"", "delay = { recorded = \"none.txt\" }", Code::BadRecording),
        ("long", "length = \"9kB\"", "length = \"11MB\"", Code::FrameTooLong),
        ("parts", "profile = \"wifi\"", "mtu = \"68B\"", Code::OutOfRange),
        ("unused", "length = \"9kB\"", "length = \"90B\"\nair = { reassembly_timeout = \"1s\" }", Code::OutOfRange),
        ("connection", "length = \"9kB\"", "length = \"11MB\"\nair = { transport = \"tcp\" }", Code::FrameTooLong),
        ("transport", "length = \"9kB\"", "length = \"9kB\"\nair = { transport = \"sctp\" }", Code::UnknownValue),
        (
            "for good",
            "length = \"9kB\"",
            "length = \"9kB\"\nair = { transport = \"tcp\", reassembly_timeout = \"1s\" }",
            Code::OutOfRange,
        ),
    ];
    for (name, old, new, code) in cases {
        let text = changed(name, WIFI, old, new);
        // In packets of 32 bytes of data each a message of 9 kB is possible, and one of 2 MB is not.
        let text = if name == "parts" { text.replace("9kB", "2MB") } else { text };
        refused(name, "wifi.toml", &text, code);
    }
    let program = |written: &str| {
        changed("program", WIFI, "name = \"station\"", &format!("name = \"station\"\nprogram = {written}"))
    };
    refused("nobody", "wifi.toml", &program("{ run = [\"ping\", \"{nobody}\"] }"), Code::UnknownName);
    refused("nothing", "wifi.toml", &program("{ run = [] }"), Code::MissingKey);
    refused("never", "wifi.toml", &program("{ run = [\"true\"], from = \"-1s\" }"), Code::OutOfRange);
    let through = |what: &str, name: &str| changed(what, WIFI, "profile = \"wifi\"", &format!("through = \"{name}\""));
    refused("nowhere", "wifi.toml", &through("nowhere", "stranger"), Code::UnknownName);
    refused("no program", "wifi.toml", &through("no program", "robot"), Code::MissingKey);
    let datagrams = through("datagrams", "station")
        .replace("name = \"station\"", "name = \"station\"\nprogram = { run = [\"true\"] }");
    refused("datagrams", "wifi.toml", &datagrams, Code::NotYet);
    refused("slots", "wifi.toml", &sealed("hmac = { hash = \"sha-256\", tag = \"16B\" }"), Code::FreshnessWithoutSlot);
    let carried = sealed("hmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }")
        .replace("protection = \"mac\"", "protection = \"mac\"\nair = { transport = \"program\" }")
        .replace("name = \"robot\"", "name = \"robot\"\nprogram = { run = [\"true\"] }")
        .replace("name = \"station\"", "name = \"station\"\nprogram = { run = [\"true\"] }");
    refused("carried", "wifi.toml", &carried, Code::NotYet);
    let gateway = WIFI
        .replace(
            "[[nodes]]\nname = \"station\"",
            "[segments.bus.can]\nbit_rate = \"500kbit/s\"\n[[nodes]]\nname = \"station\"\non = [\"air\", \"bus\"]",
        )
        .replace("name = \"robot\"\n[segments", "name = \"robot\"\non = [\"air\"]\n[segments");
    refused("gateway", "wifi.toml", &gateway, Code::NotYet);
}

#[test]
fn a_stream_goes_over_a_middleware_between_two_nodes_and_a_broker() {
    let over = |air: &str| changed("over", WIFI, "length = \"9kB\"", &format!("length = \"9kB\"\nair = {{ {air} }}"));
    let with_broker = over("over = \"ros-1\", broker = \"master\"").replacen(
        "[[nodes]]",
        "[[nodes]]\nname = \"master\"\n[[nodes]]",
        1,
    );
    let ros = plan(&with_broker);
    let (_, _, hop, facet) = link(&ros).streams().next().expect("one");
    assert_eq!((facet.transport, facet.carrier(), hop.class), (LinkTransport::Program, "ros-1", "middleware"));
    assert_eq!(facet.over.as_ref().and_then(|over| over.broker), Some(NodeId(0)));
    assert!((0..3).all(|node| link(&ros).has_middleware(NodeId(node))));

    refused("two carriers", "wifi.toml", &over("over = \"ros-1\", transport = \"tcp\""), Code::OutOfRange);
    refused("no name", "wifi.toml", &over("over = \"\""), Code::BadName);
    refused("a broker of nothing", "wifi.toml", &over("broker = \"station\""), Code::MissingKey);
    refused("no such node", "wifi.toml", &over("over = \"ros-1\", broker = \"nobody\""), Code::UnknownName);
    refused("broker and receiver", "wifi.toml", &over("over = \"ros-1\", broker = \"station\""), Code::NotYet);
    let two = over("over = \"raw-udp\"").replace("to = [\"station\"]", "to = [\"station\", \"other\"]")
        + "[[nodes]]\nname = \"other\"\n";
    refused("two receivers", "wifi.toml", &two, Code::NotYet);
    let second = |from: &str, to: &str, name: &str| {
        format!(
            "[[streams]]\nname = \"second\"\nfrom = \"{from}\"\nto = [\"{to}\"]\nperiod = \"25ms\"\nlength = \"9kB\"\nair = {{ over = \"{name}\" }}\n"
        )
    };
    plan(&(over("over = \"raw-udp\"") + &second("robot", "station", "raw-udp")));
    refused(
        "there and back",
        "wifi.toml",
        &(over("over = \"raw-udp\"") + &second("station", "robot", "raw-udp")),
        Code::NotYet,
    );
    refused(
        "two at a node",
        "wifi.toml",
        &(over("over = \"raw-udp\"") + &second("robot", "station", "raw-tcp")),
        Code::NotYet,
    );
    // Behind two streams of one entry, the entry that is wrong is still the one that is named.
    let alike = over("over = \"raw-udp\"").replace("length =", "count = 2\nlength =");
    let problems = refused("alike", "wifi.toml", &(alike + &second("robot", "station", "raw-tcp")), Code::NotYet);
    assert!(problems.render().contains("over = \"raw-tcp\""), "{}", problems.render());
    let sealed = over("over = \"raw-udp\"").replace("length =", "protection = \"mac\"\nlength =")
        + "[[protections]]\nname = \"mac\"\nhmac = { hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }\n";
    refused("sealed", "wifi.toml", &sealed, Code::NotYet);
}

struct Held(BTreeMap<&'static str, &'static str>);

impl Files for Held {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        self.0.get(path).map(|text| text.as_bytes().to_vec()).ok_or(FileError::Unknown)
    }
}

#[test]
fn recorded_delays_are_read_with_their_units_and_a_bad_line_is_named() {
    let files = Held(BTreeMap::from([
        ("good.txt", "# measured\n1ms\n\n250us\n"),
        ("bad.txt", "1ms\n7\n"),
        ("empty.txt", "\n"),
    ]));
    let text = |file: &str| changed(file, WIFI, "profile = \"wifi\"", &format!("delay = {{ recorded = \"{file}\" }}"));
    let plan = load("wifi.toml", text("good.txt").as_bytes(), &[], &files).expect("it is right");
    let delays = [Duration::from_ms(1), Duration::from_us(250)];
    assert_eq!(link(&plan).segment.laws.delay, DelayLaw::Recorded(delays.into()));
    for (file, said) in [("bad.txt", "bad.txt:2"), ("empty.txt", "no delay")] {
        let problems = load("wifi.toml", text(file).as_bytes(), &[], &files).expect_err(file);
        assert!(problems.render().contains(said), "{}", problems.render());
    }
}

#[test]
fn a_message_that_cannot_hold_its_number_is_refused() {
    for length in ["0B", "7B"] {
        let text = changed("short", WIFI, "length = \"9kB\"", &format!("length = \"{length}\""));
        let problems = refused("short", "wifi.toml", &text, Code::OutOfRange).render();
        assert!(problems.contains("write 8B at least") && problems.contains(length), "{problems}");
    }
    plan(&changed("least", WIFI, "length = \"9kB\"", "length = \"8B\""));
}

#[test]
fn what_a_message_carries_may_change_on_a_link_and_nowhere_else() {
    let written = |payload: &str| format!("length = \"9kB\"\npayload = \"{payload}\"");
    let of =
        |payload: &str| plan(&changed(payload, WIFI, "length = \"9kB\"", &written(payload))).streams[0].payload.clone();
    assert!(matches!(of("random"), PayloadPlan::Random) && matches!(of("sequential"), PayloadPlan::Sequential));
    assert!(matches!(of("synthetic"), PayloadPlan::Synthetic));
    let ethernet =
        "[segments.air.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"25ms\"\nclass = { best_effort = {} }";
    let wired = changed("wired", WIFI, "[segments.air.link]\nprofile = \"wifi\"", ethernet).replace("9kB", "90B");
    let _ = plan(&wired);
    let random = changed("random", &wired, "length = \"90B\"", "length = \"90B\"\npayload = \"random\"");
    let problems = refused("random", "wifi.toml", &random, Code::NotYet).render();
    assert!(problems.contains("payload = \"synthetic\"") && problems.contains("`laser`"), "{problems}");
}

/// What has another value in its place since it cannot be used says nothing of others: no figure is shown that nobody wrote.
#[test]
fn a_value_out_of_range_is_one_problem() {
    let text = changed("deadline", WIFI, "length = \"9kB\"", "length = \"9kB\"\ndeadline = \"90ms\"");
    let text = changed("timeout", &text, "length = \"9kB\"", "length = \"9kB\"\nair = { reassembly_timeout = \"1s\" }");
    let _ = plan(&text);
    for (from, to) in [
        ("profile = \"wifi\"", "rate = \"1bit/s\""),
        ("profile = \"wifi\"", "mtu = \"90kB\""),
        ("length = \"9kB\"", "length = \"90MB\""),
        ("length = \"9kB\"", "length = \"4B\""),
        ("deadline = \"90ms\"", "deadline = \"0s\""),
    ] {
        let refused = load("wifi.toml", changed(to, &text, from, to).as_bytes(), &[], &NoFiles);
        let problems = refused.map(|plan| plan.streams.len()).expect_err("it cannot be used").render();
        assert!(problems.contains("1 problem\n"), "{to}:\n{problems}");
    }
}
