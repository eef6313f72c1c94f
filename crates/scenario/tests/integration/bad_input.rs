//! What can be wrong with a network as a whole: what is told, of which place, and the smallest change that helps.

use chronoseal_scenario::Code;

use crate::protections::{VEHICLE, only_problem};

/// One thing that is wrong: the change that brings it about, and what is told of it.
struct Wrong {
    what: &'static str,
    old: &'static str,
    new: &'static str,
    code: Code,
    /// The texts that labels point at.
    places: &'static [&'static str],
    message: &'static str,
    help: &'static str,
}

const WRONG: &[Wrong] = &[
    Wrong {
        what: "a node on an unknown segment",
        old: "on = [\"body\"]",
        new: "on = [\"bdoy\"]",
        code: Code::UnknownName,
        places: &["\"bdoy\""],
        message: "there is no segment named `bdoy`",
        help: "did you mean `body`?",
    },
    Wrong {
        what: "a host interface on a bus",
        old: "name = \"pedal\"",
        new: "name = \"pedal\"\nhost_interface = { base = \"20us\" }",
        code: Code::WrongNetwork,
        places: &["{ base = \"20us\" }"],
        message: "`host_interface` is for nodes on segments that are Ethernets, and `pedal` is on none",
        help: "leave it out",
    },
    Wrong {
        what: "a host interface that the longest frame does not fit",
        old: "name = \"logger\"",
        new: "name = \"logger\"\nhost_interface = { buffer = \"1513B\" }",
        code: Code::OutOfRange,
        places: &["\"1513B\""],
        message: "the host interface's buffer is 1513B",
        help: "write a value from 1514B to 1000000000B",
    },
    Wrong {
        what: "a host interface that takes longer for a byte than a bus",
        old: "name = \"logger\"",
        new: "name = \"logger\"\nhost_interface = { per_byte = \"2ms\" }",
        code: Code::OutOfRange,
        places: &["\"2ms\""],
        message: "the host interface's time for a byte is 2ms",
        help: "write a value from 0s to 1ms",
    },
    Wrong {
        what: "an application's own timer where nothing waits for a slot",
        old: "length = \"8B\"",
        new: "length = \"8B\"\napplication = { drift = \"500ppm\" }",
        code: Code::WrongNetwork,
        places: &["{ drift = \"500ppm\" }"],
        message: "stream `brake request` leaves when its data are ready: it waits for no slot",
        help: "write the application's period and phase as `period` and `offset` of the stream, or `class = \"time-triggered\"` in the \
               table of its first segment",
    },
    Wrong {
        what: "a stream without a way",
        old: "gateway = {}\n",
        new: "",
        code: Code::NoWay,
        places: &["\"brake-rear\"", "\"pedal\""],
        message: "no gateway leads from `pedal` on `powertrain` to `brake-rear` on `body`",
        help: "write `gateway = {}` for `zone-rear`, which is on both",
    },
    Wrong {
        what: "a stream with two ways",
        old: "name = \"cluster\"\non = [\"backbone\"]",
        new: "name = \"cluster\"\non = [\"powertrain\", \"backbone\"]\ngateway = {}",
        code: Code::SeveralWays,
        places: &["\"brake-rear\""],
        message: "two ways of one length lead from `pedal` to `brake-rear`: over `powertrain`, by `zone-front` to `backbone`, \
                  by `zone-rear` to `body`; and over `powertrain`, by `cluster` to `backbone`, by `zone-rear` to `body`",
        help: "choose one: `via = [\"zone-front\", \"zone-rear\"]`",
    },
    Wrong {
        what: "a loop of gateways",
        old: "length = \"8B\"",
        new: "length = \"8B\"\nvia = [\"zone-front\", \"zone-rear\", \"zone-front\"]",
        code: Code::BadVia,
        places: &["\"zone-front\""],
        message: "the way would pass `zone-front` twice, in a circle",
        help: "name each gateway once",
    },
    Wrong {
        what: "a payload that no segment on the way can carry",
        old: "length = \"8B\"",
        new: "length = \"1600B\"",
        code: Code::FrameTooLong,
        places: &["\"1600B\""],
        message: "1600B do not fit the 8B of a classical CAN frame on `powertrain`",
        help: "write at most 8B",
    },
    Wrong {
        what: "a payload that one segment on the way cannot carry",
        old: "length = \"8B\"",
        new: "length = \"9B\"\nbackbone = {}",
        code: Code::FrameTooLong,
        places: &["\"9B\""],
        message: "9B do not fit the 8B of a classical CAN frame on `powertrain`",
        help: "write at most 8B",
    },
    Wrong {
        what: "a protection longer than the room of a hop",
        old: "length = \"8B\"",
        new: "length = \"1B\"\nprotection = { backbone = \"tagged\", body = \"tagged\" }",
        code: Code::ProtectionTooLong,
        places: &["\"tagged\"", "\"1B\""],
        message: "`tagged` adds 24B, and a classical CAN frame on `body` holds 8B",
        help: "name a shorter protection, or `format = \"fd\"` for up to 40B, or `segmented = { flow_control = \"0x…\" }` for several frames",
    },
    Wrong {
        what: "a protection that leaves too little of a hop's room",
        old: "length = \"8B\"",
        new: "length = \"6B\"\nprotection = { body = \"sealed\" }",
        code: Code::FrameTooLong,
        places: &["\"6B\""],
        message: "6B and 4B of `sealed` do not fit the 8B of a classical CAN frame on `body`",
        help: "write at most 4B, or `format = \"fd\"` for up to 60B, or `segmented = { flow_control = \"0x…\" }` for several frames",
    },
    Wrong {
        what: "a deadline shorter than the times on the wires together",
        old: "brake-rear = \"6ms\"",
        new: "brake-rear = \"400us\"",
        code: Code::DeadlineTooShort,
        places: &["\"400us\""],
        message: "stream `brake request` takes at least 527.152us to `brake-rear`, and its deadline is 400us",
        help: "527.152us leaves no time to wait or compute: write a longer one, and `chronoseal check` says what it can take; or a shorter `length`, or a faster segment",
    },
    Wrong {
        what: "a table of one kind for a segment of another",
        old: "body = { id = \"0x0B0\" }",
        new: "body = { id = \"0x0B0\" }\nbackbone = { id = \"0x0A0\" }",
        code: Code::SegmentTable,
        places: &["id"],
        message: "`id` is for segments of kind `can`, and `backbone` is of kind `ethernet`",
        help: "leave it out",
    },
];

#[test]
fn everything_wrong_with_a_network_is_told_with_its_place_and_what_helps() {
    for wrong in WRONG {
        assert!(VEHICLE.contains(wrong.old), "{}: the scenario has no {}", wrong.what, wrong.old);
        let (code, places, message, help) = only_problem(&VEHICLE.replacen(wrong.old, wrong.new, 1));
        assert_eq!(code, wrong.code, "{}", wrong.what);
        assert_eq!(places, wrong.places, "{}", wrong.what);
        assert_eq!(message, wrong.message, "{}", wrong.what);
        assert_eq!(help, wrong.help, "{}", wrong.what);
    }
}

/// Gateways in a circle are no problem as long as one way is the shortest.
#[test]
fn a_circle_of_gateways_is_passed_on_its_shorter_side() {
    let text = VEHICLE.replace(
        "name = \"logger\"\non = [\"backbone\"]",
        "name = \"logger\"\non = [\"backbone\", \"powertrain\", \"body\"]\ngateway = {}",
    );
    let plan = crate::protections::plan(
        &text
            .replace("stream = \"brake request\"\nat = { node = \"zone-front\" }", "stream = \"door\"")
            .replace("kind = \"tamper\"", "kind = \"replay\"")
            .replace("to = [\"brake-rear\", \"cluster\"]", "to = [\"brake-rear\"]")
            .replace(", cluster = \"2ms\"", ""),
    );
    let way: Vec<u16> = plan.streams[0].hops.iter().map(|hop| hop.segment.0).collect();
    assert_eq!(way, [0, 2], "one gateway instead of two");
}
