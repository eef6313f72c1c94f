//! What changes nothing, or raises no hope: a scenario and variants of it, asked on paper alone.
//!
//! - An empty table for ports, a node without streams and the order of the streams change no bound and no word.
//! - One more stream of the lowest class, and links that are slower, lower nobody's bound.
//!
//! The order of streams and the rate of links are varied only where nothing has slots: a schedule is made anew for them, and another
//! schedule has other bounds.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// How the bounds of a variant have to compare with those of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Than {
    Same,
    NotLess,
}

/// A variant whose bounds do not compare as they have to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Broken {
    variant: &'static str,
    what: String,
    /// The variant.
    pub(super) text: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variant, self.what)
    }
}

/// The first variant that does not compare as it has to; `check` gives what the program says of a text, if it accepts it.
pub(super) fn broken(text: &str, check: &dyn Fn(&str) -> Option<Value>) -> Option<Broken> {
    let variants = variants(text);
    let known = if variants.is_empty() { None } else { Some(ends(&check(text)?)) }?;
    variants.into_iter().find_map(|(variant, than, text)| {
        // A variant that is refused says nothing.
        let found = ends(&check(&text)?);
        let what = known.iter().find_map(|(end, known)| differs(end, known, found.get(end), than))?;
        Some(Broken { variant, what, text })
    })
}

/// What is said of a stream at a receiver.
type End = (String, Option<f64>);

/// By stream and receiver.
fn ends(checked: &Value) -> BTreeMap<String, End> {
    let ends = checked["judged"].as_array().into_iter().flatten();
    let end = |end: &Value| {
        let name = format!("{} at {}", end["stream"].as_str()?, end["receiver"].as_str()?);
        Some((name, (end["word"].as_str()?.to_owned(), end["bound_ns"].as_f64())))
    };
    ends.filter_map(end).collect()
}

fn differs(end: &str, (word, bound): &End, found: Option<&End>, than: Than) -> Option<String> {
    let Some((word_then, bound_then)) = found else { return Some(format!("{end} is gone")) };
    let is_as_it_has_to_be = match (than, bound, bound_then) {
        (Than::Same, ..) => bound == bound_then && word == word_then,
        (Than::NotLess, Some(bound), Some(then)) => then >= bound,
        // What had no bound may not get one from more traffic.
        (Than::NotLess, None, then) => then.is_none(),
        (Than::NotLess, Some(_), None) => true,
    };
    let shown = |word: &str, bound: &Option<f64>| match bound {
        Some(ns) => format!("{word} {:.3} us", ns / 1e3),
        None => format!("{word} without a bound"),
    };
    (!is_as_it_has_to_be).then(|| format!("{end}: {}, then {}", shown(word, bound), shown(word_then, bound_then)))
}

/// Each with its name and how it has to compare.
fn variants(text: &str) -> Vec<(&'static str, Than, String)> {
    let mut found = Vec::new();
    let Some(segment) = first_ethernet(text) else { return found };
    let head = format!("[segments.{segment}.ethernet]\n");
    let table = text.split(&head).nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
    if !text.contains(&format!("[segments.{segment}.ethernet.bridge_ports]")) && !table.contains("bridge_ports = ") {
        found.push(("an empty table", Than::Same, text.replacen(&head, &format!("{head}bridge_ports = {{}}\n"), 1)));
    }
    // Who follows others' clocks by messages of its own sends some.
    let has_own_clocks = table.contains("as6802") || table.contains("gptp");
    if !table.contains("networks = ") && !has_own_clocks {
        let idle = |name: &str| format!("[[nodes]]\nname = \"{name}\"\non = [\"{segment}\"]\n");
        // Where there are several switches, every node says which one it is at.
        let switch = table.split("switches = [\"").nth(1).and_then(|rest| rest.split('"').next());
        let linked = |text: String, names: &[&str]| match switch {
            None => text,
            Some(switch) => {
                let link = |name: &&str| format!("  {{ between = [\"{name}\", \"{switch}\"] }},\n");
                let links: String = names.iter().map(link).collect();
                text.replacen("links = [\n", &format!("links = [\n{links}"), 1)
            }
        };
        // Nodes are numbered in their order, so those that are added stand behind the others.
        let behind = |more: &str| text.replacen("[[streams]]\n", &format!("{more}[[streams]]\n"), 1);
        found.push(("an unused port", Than::Same, linked(behind(&idle("idle")), &["idle"])));
        let stream = format!(
            "[[streams]]\nname = \"more\"\nfrom = \"idle\"\nto = [\"idler\"]\nlength = \"1000B\"\nperiod = \"5ms\"\n\
             {segment} = {{ class = {{ best_effort = {{}} }} }}\n"
        );
        let more = linked(behind(&(idle("idle") + &idle("idler"))), &["idle", "idler"]);
        found.push(("one more stream", Than::NotLess, last_stream(&more, &stream)));
    }
    if !has_slots(text) {
        found.push(("the order of the streams", Than::Same, turned(text)));
        if let Some(slower) = slower(text, &head) {
            found.push(("a slower segment", Than::NotLess, slower));
        }
    }
    found
}

fn first_ethernet(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("[segments.") && line.ends_with(".ethernet]"))?;
    line.strip_prefix("[segments.")?.strip_suffix(".ethernet]")
}

/// Streams that say nothing of their class have slots.
fn has_slots(text: &str) -> bool {
    text.contains("time-triggered") || text.contains("tasks = ") || !text.contains("\nclass = ")
}

/// With a stream behind all others.
fn last_stream(text: &str, stream: &str) -> String {
    let at = text.find("[[threats]]").unwrap_or(text.len());
    format!("{}{stream}{}", &text[..at], &text[at..])
}

/// The streams in the other order.
fn turned(text: &str) -> String {
    let at = text.find("[[threats]]").unwrap_or(text.len());
    let (own, rest) = text.split_at(at);
    let mut parts: Vec<&str> = own.split("[[streams]]\n").collect();
    if let Some(streams) = parts.get_mut(1..) {
        streams.reverse();
    }
    parts.join("[[streams]]\n") + rest
}

/// A segment whose rate is a little lower, if it says one in Mbit/s.
fn slower(text: &str, head: &str) -> Option<String> {
    let (before, rest) = text.split_once(head)?;
    let (start, rate) = rest.split_once("rate = \"")?;
    let (number, end) = rate.split_once("Mbit/s\"")?;
    let rate: f64 = number.parse().ok().filter(|_| !start.contains("\n["))?;
    Some(format!("{before}{head}{start}rate = \"{}bit/s\"{end}", (rate * 1e6) as u64 - 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "[segments.s0.ethernet]\nrate = \"100Mbit/s\"\nclass = { best_effort = {} }\n[[nodes]]\nname = \"a\"\n[[nodes]]\n\
                        name = \"b\"\n[[streams]]\nname = \"m0\"\n[[streams]]\nname = \"m1\"\n[[threats]]\nname = \"t\"\n";

    fn says(bound: f64) -> Value {
        json!({ "judged": [{ "stream": "m0", "receiver": "b", "word": "held", "bound_ns": bound }] })
    }

    #[test]
    fn a_bound_that_changes_without_a_reason_is_found() {
        assert_eq!(broken(TEXT, &|_| Some(says(5.0))), None);
        let by_table = |text: &str| Some(says(if text.contains("bridge_ports = {}") { 6.0 } else { 5.0 }));
        assert_eq!(broken(TEXT, &by_table).unwrap().variant, "an empty table");
        // More traffic may raise a bound, and not lower it.
        let by_traffic = |to: f64| move |text: &str| Some(says(if text.contains("\"more\"") { to } else { 5.0 }));
        assert_eq!(broken(TEXT, &by_traffic(6.0)), None);
        assert_eq!(broken(TEXT, &by_traffic(4.0)).unwrap().variant, "one more stream");
        let by_rate = |text: &str| Some(says(if text.contains("99999999bit/s") { 4.0 } else { 5.0 }));
        assert_eq!(broken(TEXT, &by_rate).unwrap().variant, "a slower segment");
        assert!(turned(TEXT).find("\"m1\"") < turned(TEXT).find("\"m0\""), "{}", turned(TEXT));
    }

    #[test]
    fn what_has_slots_keeps_its_order_and_its_rate() {
        let text = TEXT.replace("{ best_effort = {} }", "\"time-triggered\"");
        let names: Vec<_> = variants(&text).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["an empty table", "an unused port", "one more stream"]);
    }
}
