//! The highest rate of a stream that is carried.

use crate::integration::support::Bench;

const SHAPED: &str = r#"
schema_version = 2
name = "shaped"
duration = "4s"
[segments.air.link]
rate = "20Mbit/s"
queue = "20 frames"
delay = { constant = "300us" }
LAWS
[[nodes]]
name = "robot"
[[nodes]]
name = "station"
[[streams]]
name = "image"
from = "robot"
to = ["station"]
period = "10ms"
length = "1472B"
[[streams]]
name = "beside"
from = "robot"
to = ["station"]
period = "2ms"
length = "722B"
"#;

#[test]
fn it_is_what_the_link_carries_beside_the_others() {
    let bench = Bench::new();
    bench.write("shaped.toml", SHAPED.replace("LAWS", ""));
    let said = bench.say(&["saturate", "shaped.toml", "--stream", "image", "--format", "json"]).assert_code(0).json();
    let verdict = &said["verdict"];
    assert_eq!(verdict["word"], "held", "{verdict}");
    // 500 messages of 788 B on the wire leave 16,848,000 bit/s: 1369.3 of 1538 B.
    assert!(verdict["points"][0].as_str().unwrap().contains("1369 messages/s"), "{verdict}");
    let mut rates = verdict["text"].as_str().unwrap().split(' ').filter_map(|word| word.parse::<f64>().ok());
    let (carried, above) = (rates.next().unwrap(), rates.next().unwrap());
    assert!(carried < 1_370.0 * 1.01 && 1_369.0 < above * 1.01 && above / carried < 1.011, "{verdict}");
}

#[test]
fn what_is_no_question_is_refused_with_what_to_write() {
    let bench = Bench::new();
    bench.write("shaped.toml", SHAPED.replace("LAWS", ""));
    bench.write("lossy.toml", SHAPED.replace("LAWS", "loss = { independent = \"1%\" }"));
    let refused = |arguments: &[&str], help: &str| {
        let said = bench.say(&[&["saturate", "shaped.toml"], arguments].concat());
        assert!(said.assert_code(2).err.contains(help), "{}", said.err);
    };
    refused(&["--stream", "imege"], "write one of image, beside");
    refused(&["--stream", "image", "--from", "9", "--to", "8"], "write --from below --to");
    refused(&["--stream", "image", "--within", "0%"], "write 0.1% to 50%");
    refused(&["--stream", "image", "--to", "many"], "such as 16000");
    // Losses that no rate avoids.
    let said = bench.say(&["saturate", "lossy.toml", "--stream", "image"]);
    let out = &said.assert_code(1).out;
    assert!(out.contains("FAILED") && out.contains("allow for that with --losses"), "{out}");
    bench.say(&["saturate", "lossy.toml", "--stream", "image", "--losses", "3%"]).assert_code(0);
}
