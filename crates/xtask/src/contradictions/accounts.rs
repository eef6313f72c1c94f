//! Checks the accounts of a run, whatever `check` said of the scenario.
//!
//! Every frame that was due has one end at each receiver, and none is unaccounted for. The counts of a stream are the sums over its
//! receivers. About as many frames are due as the stream's period says. The word of the run is no better than its accounts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::answers::Kind;

/// What can become of a frame, beside what it can be thrown away for.
const ENDS: [&str; 9] =
    ["in_time", "late", "overdue", "missing", "replaced", "unaccounted", "startup", "in_flight", "not_sent"];
/// Of these, those that break a deadline, by the names that allowances give them.
const LOSSES: [(&str, &str); 6] = [
    ("late", "late"),
    ("overdue", "overdue"),
    ("missing", "missing"),
    ("not_sent", "not-sent"),
    ("replaced", "replaced"),
    ("unaccounted", "unaccounted"),
];

/// The first contradiction between a run's accounts, or between them and its word. `scenario` is the text that was run.
pub(super) fn contradiction(run: &Value, scenario: &str) -> Option<(Kind, String)> {
    let streams = run["summary"]["streams"].as_array()?;
    let periods = Periods::of(scenario);
    // Whose clock never joined sends nothing in slots, and the run fails for the clock.
    let clocks = || run["summary"]["clocks"].as_array().into_iter().flatten();
    let has_joined = clocks().all(|clock| clock["is_unused"] == true || !clock["acquired_ns"].is_null());
    let wrong = || streams.iter().find_map(|one| wrong_due(one, &periods, has_joined));
    let in_accounts = streams.iter().find_map(of_stream).or_else(wrong);
    in_accounts.or_else(|| {
        let (word, expected) = (run["word"].as_str().unwrap_or_default(), expected_word(streams));
        let is_better = rank(word) < rank(expected);
        is_better.then(|| (Kind::Word, format!("the run says `{word}`, and by its accounts it is `{expected}`")))
    })
}

fn of_stream(stream: &Value) -> Option<(Kind, String)> {
    let name = &stream["name"];
    // Frames of a lossy segment, and what vehicles send to all in reach, may be nowhere.
    let is_lost_by_nature = stream["is_lossy"] == true;
    let accounts = accounts(stream);
    for account in accounts {
        let receiver = &account["receiver"];
        // A build from before accounts began with what was due.
        let Some(due) = account["due"].as_u64() else { continue };
        let ends = ENDS.iter().map(|end| count(account, end)).sum::<u64>() + discarded(account);
        if due != ends {
            return Some((
                Kind::Account,
                format!("{due} frames of {name} were due at {receiver}, and {ends} ends are recorded"),
            ));
        }
        let lost = count(account, "unaccounted");
        if lost > 0 && !is_lost_by_nature {
            return Some((Kind::Account, format!("{lost} frames of {name} at {receiver} are unaccounted for")));
        }
    }
    let mut sums = ENDS.iter().filter(|end| !accounts.is_empty() && !stream[**end].is_null());
    let differs = |end: &&&str| count(stream, end) != accounts.iter().map(|account| count(account, end)).sum::<u64>();
    sums.find(differs).map(|end| {
        (Kind::Account, format!("{name} has {} frames `{end}`, and its receivers together do not", stream[*end]))
    })
}

/// The best word that a run with these streams may say.
fn expected_word(streams: &[Value]) -> &'static str {
    let mut expected = "held";
    for stream in streams {
        let lost = lost(stream);
        let is_free = stream["is_lossy"] == true && stream["is_judged"] != true;
        if lost > 0 && !is_free {
            return "failed";
        }
        let has_come = accounts(stream).iter().any(|account| count(account, "in_time") > 0);
        if stream["is_judged"] == true && !has_come {
            expected = "not-checked";
        }
    }
    expected
}

/// Frames that break the verdict, from the accounts of the receivers.
fn lost(stream: &Value) -> u64 {
    let mut losses: BTreeMap<&str, u64> = BTreeMap::new();
    for account in accounts(stream) {
        for (key, reason) in LOSSES {
            *losses.entry(reason).or_default() += count(account, key);
        }
        for (reason, count) in account["discarded"].as_object().into_iter().flatten() {
            *losses.entry(reason).or_default() += count.as_u64().unwrap_or(0);
        }
    }
    let allowances = || stream["allowances"].as_array().into_iter().flatten();
    let allowed = |reason: &str, lost: u64| {
        allowances().any(|allowance| allowance["reason"] == reason && lost <= count(allowance, "copies"))
    };
    losses.into_iter().filter(|(reason, lost)| !allowed(reason, *lost)).map(|(_, lost)| lost).sum()
}

/// The worse, the greater. What a run says of attacks and clocks makes its word worse and never better.
fn rank(word: &str) -> u8 {
    match word {
        "held" => 0,
        "not-checked" => 1,
        _ => 2,
    }
}

/// When streams are due, as the scenario says it.
struct Periods {
    duration_us: u64,
    /// Of streams that are sent by the clock.
    by_stream: BTreeMap<String, (u64, u64)>,
    /// Nodes that are out of a group for a while, and are owed nothing then.
    outside: BTreeSet<String>,
}

impl Periods {
    fn of(scenario: &str) -> Self {
        let scenario: toml::Table = scenario.parse().unwrap_or_default();
        let us = |value: Option<&toml::Value>| {
            let text = value?.as_str()?;
            let number = |unit: &str| text.strip_suffix(unit)?.parse::<u64>().ok();
            number("us").or_else(|| Some(1_000 * number("ms")?))
        };
        let streams = scenario.get("streams").and_then(toml::Value::as_array).into_iter().flatten();
        let by_stream = streams.filter_map(|stream| {
            // With a timer of its own an application has data for some of its slots only.
            let is_by_clock = stream.get("application").is_none();
            let name = stream.get("name")?.as_str().filter(|_| is_by_clock)?;
            Some((name.to_owned(), (us(stream.get("period"))?, us(stream.get("offset")).unwrap_or(0))))
        });
        let by_stream = by_stream.collect();
        Self { duration_us: us(scenario.get("duration")).unwrap_or(0), by_stream, outside: outside(&scenario) }
    }

    /// Frames that have to be due at each receiver at least, if all before a time `[ns]` is start-up. A clock may be ahead or behind,
    /// and a cycle may be left out at either end.
    fn least(&self, stream: &str, ready_ns: u64) -> Option<u64> {
        let (period, offset) = self.by_stream.get(stream.split('.').next()?)?;
        let begins_us = (*offset).max(ready_ns / 1_000) + SLACK_US;
        Some((self.duration_us.saturating_sub(begins_us) / period).saturating_sub(2))
    }

    /// Frames that may be due there at most.
    fn most(&self, stream: &str) -> Option<u64> {
        let (period, _) = self.by_stream.get(stream.split('.').next()?)?;
        Some((self.duration_us + SLACK_US) / period + 2)
    }
}

/// Nodes that join a group later or leave it.
fn outside(scenario: &toml::Table) -> BTreeSet<String> {
    let keys = scenario.get("keys").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    let changes = keys.filter_map(|key| key.get("group")?.get("changes")?.as_array()).flatten();
    let named =
        changes.flat_map(|change| ["merge", "remove", "revoke"].into_iter().filter_map(|what| change.get(what)));
    let nodes = named.flat_map(|node| node.as_array().map_or(std::slice::from_ref(node), Vec::as_slice));
    nodes.filter_map(|node| node.as_str().map(str::to_owned)).collect()
}

/// How far clocks are off at most, and two cycles `[us]`.
const SLACK_US: u64 = 25_000;

/// A stream of which fewer or more frames are due than its period says.
fn wrong_due(stream: &Value, periods: &Periods, has_joined: bool) -> Option<(Kind, String)> {
    let name = stream["name"].as_str()?;
    let (least, most) = (periods.least(name, count(stream, "ready_ns"))?, periods.most(name)?);
    accounts(stream).iter().find_map(|account| {
        let due = account["due"].as_u64()?;
        let is_outside = account["receiver"].as_str().is_some_and(|receiver| periods.outside.contains(receiver));
        let least = if has_joined && !is_outside { least } else { 0 };
        let why = if due < least { format!("at least {least}") } else { format!("at most {most}") };
        let receiver = &account["receiver"];
        (due < least || due > most).then(|| {
            (Kind::Account, format!("{due} frames of {name} were due at {receiver}; by its period it is {why}"))
        })
    })
}

fn accounts(stream: &Value) -> &[Value] {
    stream["receivers"].as_array().map_or(&[], Vec::as_slice)
}

fn count(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap_or(0)
}

fn discarded(of: &Value) -> u64 {
    of["discarded"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A run of one stream with one receiver, and what differs from one that is in order.
    fn run(word: &str, change: Value) -> Value {
        let mut account = json!({ "receiver": "b", "due": 40, "in_time": 38, "in_flight": 2, "discarded": {} });
        for (key, value) in change.as_object().into_iter().flatten() {
            account[key] = value.clone();
        }
        let stream = json!({ "name": "m", "is_judged": true, "receivers": [account] });
        json!({ "word": word, "summary": { "streams": [stream] } })
    }

    const SCENARIO: &str = "duration = \"400ms\"\n[[streams]]\nname = \"m\"\nperiod = \"10ms\"\n";

    fn found(run: &Value) -> Option<String> {
        contradiction(run, SCENARIO).map(|(_, what)| what)
    }

    #[test]
    fn accounts_in_order_contradict_nothing() {
        assert_eq!(found(&run("held", json!({}))), None);
        assert_eq!(found(&run("failed", json!({ "in_time": 37, "late": 1 }))), None);
        // A run may fail for its clocks, or for attacks.
        assert_eq!(found(&run("failed", json!({}))), None);
    }

    #[test]
    fn a_frame_that_ends_twice_or_nowhere_is_found() {
        let said = found(&run("failed", json!({ "late": 1 }))).unwrap();
        assert!(said.contains("41 ends"), "{said}");
        let said = found(&run("failed", json!({ "in_time": 37, "unaccounted": 1 }))).unwrap();
        assert!(said.contains("1 frames of \"m\" at \"b\" are unaccounted"), "{said}");
        let said = found(&run("failed", json!({ "in_time": 37 }))).unwrap();
        assert!(said.contains("39 ends"), "{said}");
    }

    #[test]
    fn frames_of_a_lossy_segment_may_be_nowhere() {
        let mut lossy = run("held", json!({ "in_time": 37, "unaccounted": 1 }));
        lossy["summary"]["streams"][0]["is_lossy"] = json!(true);
        lossy["summary"]["streams"][0]["is_judged"] = json!(false);
        assert_eq!(found(&lossy), None);
    }

    #[test]
    fn a_word_that_is_better_than_the_accounts_is_found() {
        let thrown_away = json!({ "in_time": 37, "discarded": { "queue-full": 1 } });
        let said = found(&run("held", thrown_away.clone())).unwrap();
        assert!(said.contains("`held`") && said.contains("`failed`"), "{said}");
        assert!(found(&run("not-checked", thrown_away.clone())).is_some());
        let mut allowed = run("held", thrown_away);
        allowed["summary"]["streams"][0]["allowances"] = json!([{ "reason": "queue-full", "copies": 1 }]);
        assert_eq!(found(&allowed), None);
        let nothing = json!({ "in_time": 0, "in_flight": 40 });
        assert!(found(&run("held", nothing.clone())).is_some());
        assert_eq!(found(&run("not-checked", nothing)), None);
    }

    #[test]
    fn a_stream_has_as_many_frames_due_as_its_period_says() {
        let said = found(&run("held", json!({ "due": 20, "in_time": 18 }))).unwrap();
        assert!(said.contains("20 frames of m"), "{said}");
        assert!(found(&run("held", json!({ "due": 80, "in_time": 78 }))).is_some());
        let mut without_clock = run("failed", json!({ "due": 0, "in_time": 0, "in_flight": 0 }));
        assert!(found(&without_clock).is_some());
        without_clock["summary"]["clocks"] = json!([{ "node": "a", "acquired_ns": null }]);
        assert_eq!(found(&without_clock), None);
        let by_timer = SCENARIO.to_owned() + "application = { period = \"20ms\" }\n";
        assert_eq!(contradiction(&run("held", json!({ "due": 20, "in_time": 18 })), &by_timer), None);
    }
}
