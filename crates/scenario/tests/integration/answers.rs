//! Streams that answer others, and closed loops.

use chronoseal_core::{Duration, NodeId, StreamId};
use chronoseal_plan::Trigger;
use chronoseal_scenario::Code;

use super::support::{changed, plan, refused};

const RELAY: &str = r#"
schema_version = 2
name = "relay"
duration = "1s"
[segments.air.link]
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[nodes]]
name = "logger"
[[streams]]
name = "echo"
from = "station"
answers = "laser"
[[streams]]
name = "laser"
from = "robot"
to = ["station"]
period = "25ms"
length = "9kB"
"#;

#[test]
fn an_answer_goes_back_and_is_as_long_and_as_frequent_as_what_it_answers() {
    let relay = plan(RELAY);
    let echo = &relay.streams[0];
    assert_eq!((echo.sender, &echo.receivers[..], echo.length), (NodeId(1), &[NodeId(0)][..], 9_000));
    assert_eq!((echo.period, echo.trigger), (Duration::from_ms(25), Some(Trigger::Answers(StreamId(1)))));
    assert_eq!(relay.streams[1].trigger, None);
    let short = plan(&changed("length", RELAY, "answers = \"laser\"", "answers = \"laser\"\nlength = \"64B\""));
    assert_eq!(short.streams[0].length, 64);

    let closed = "period = \"25ms\"\nclosed_loop = { timeout = \"1s\" }";
    let closed = plan(&changed("closed", RELAY, "period = \"25ms\"", closed));
    let timeout = Duration::from_s(1);
    assert_eq!(closed.streams[1].trigger, Some(Trigger::ClosedLoop { answer: StreamId(0), timeout }));
}

#[test]
fn what_is_rare_or_contradicts_itself_is_refused_where_it_stands() {
    let relayed = "answers = \"laser\"\n[[streams]]\nname = \"again\"\nfrom = \"robot\"\nanswers = \"echo\"";
    let cases = [
        ("answers = \"laser\"", "answers = \"lasers\"", "there is no stream named `lasers`", Code::UnknownName),
        ("answers = \"laser\"", relayed, "`echo` is itself an answer", Code::NotYet),
        ("answers = \"laser\"", "answers = \"laser\"\nperiod = \"1ms\"", "is sent when it answers", Code::ChooseOne),
        ("answers = \"laser\"", "answers = \"laser\"\ncount = 2", "has a `count`", Code::NotYet),
        (
            "answers = \"laser\"",
            "answers = \"laser\"\nto = [\"logger\"]",
            "back to `robot`, and `echo` does not",
            Code::NotYet,
        ),
        ("from = \"station\"", "from = \"logger\"", "goes from one of its receivers", Code::NotYet),
        (
            "period = \"25ms\"",
            "period = \"25ms\"\nair = { transport = \"tls\" }",
            "answers over UDP and TCP",
            Code::NotYet,
        ),
        (
            "period = \"25ms\"",
            "period = \"25ms\"\nclosed_loop = { timeout = \"1ms\" }",
            "the timeout is 1ms",
            Code::OutOfRange,
        ),
        (
            "to = [\"station\"]\nperiod = \"25ms\"",
            "to = [\"station\", \"logger\"]\nperiod = \"25ms\"\nclosed_loop = { timeout = \"1s\" }",
            "has 2 receivers and 1 streams that answer it",
            Code::MissingKey,
        ),
    ];
    for (written, instead, message, code) in cases {
        let problems = refused(message, "relay.toml", &changed(message, RELAY, written, instead), code);
        assert!(problems.render().contains(message), "{message}:\n{}", problems.render());
    }
    let wired = RELAY.replace("[segments.air.link]", "[segments.air.ethernet]\nrate = \"1Gbit/s\"");
    let wired = wired.replace("length = \"9kB\"", "length = \"64B\"\nair = { class = { best_effort = {} } }");
    let problems = refused("wired", "relay.toml", &wired, Code::NotYet).render();
    assert!(problems.contains("messages are answered on a segment of kind `link`"), "{problems}");
}
