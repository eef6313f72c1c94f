//! A scenario in the format from before segments, for builds that read no other.

use toml::{Table, Value};

/// The same scenario; `None` if that format cannot say it, as of a network of two segments.
pub(super) fn of(text: &str) -> Option<String> {
    let mut scenario: Table = text.parse().ok()?;
    scenario.insert("schema_version".into(), Value::Integer(1));
    let Some(Value::Table(segments)) = scenario.remove("segments") else { return None };
    if segments.len() != 1 {
        return None;
    }
    let (name, Value::Table(kinds)) = segments.into_iter().next()? else { return None };
    let (kind, mut keys) = kinds.into_iter().next()?;
    if keys.get("switches").is_some() {
        return None;
    }
    keys.as_table_mut()?.remove("virtual_links");
    let is_can = kind == "can";
    let network = if is_can { "can_bus" } else { "time_triggered_ethernet" };
    scenario.insert("network".into(), Value::Table(Table::from_iter([(network.to_owned(), keys)])));
    // Each network had one way to protect frames.
    let secoc = ("secoc", "profile = 1");
    let hmac = ("hmac", "hash = \"sha-256\"\ntag = \"16B\"\nfreshness = \"full\"");
    let (protection, keys) = if is_can { secoc } else { hmac };
    for known in list(&mut scenario, "protections") {
        known.retain(|key, _| key == "name");
        known.insert(protection.into(), Value::Table(keys.parse().ok()?));
    }
    for node in list(&mut scenario, "nodes") {
        node.remove("on");
    }
    for stream in list(&mut scenario, "streams") {
        let Some(Value::Table(own)) = stream.remove(&name).or(Some(Value::Table(Table::new()))) else { return None };
        let is_virtual_link = own.get("class").is_some_and(|class| class.get("rate_constrained").is_some());
        if is_virtual_link || own.contains_key("segmented") || stream.get("protection").is_some_and(Value::is_table) {
            return None;
        }
        stream.extend(own);
        if !is_can {
            stream.remove("deadline");
            let length: u32 = stream.remove("length")?.as_str()?.trim_end_matches('B').parse().ok()?;
            stream.insert("frame".into(), Value::String(format!("{}B", length + 14)));
        }
    }
    for threat in list(&mut scenario, "threats") {
        threat.insert("place".into(), Value::String("own-port".into()));
        threat.remove("at");
    }
    if is_can {
        let streams = scenario.remove("streams")?;
        scenario.insert("messages".into(), streams);
        scenario.remove("fidelity");
    }
    toml::to_string(&scenario).ok()
}

/// The tables of a list, of which there may be none.
fn list<'t>(scenario: &'t mut Table, key: &str) -> impl Iterator<Item = &'t mut Table> {
    let list = scenario.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_table_mut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_becomes_the_network_and_a_length_the_frame() {
        let text = "schema_version = 2\n[segments.s0.ethernet]\nrate = \"100Mbit/s\"\n[[nodes]]\nname = \"a\"\non = [\"s0\"]\n\
                    [[streams]]\nname = \"m\"\nlength = \"46B\"\ns0 = { class = \"time-triggered\" }\n";
        let old = of(text).unwrap();
        assert!(old.contains("[network.time_triggered_ethernet]") && old.contains("frame = \"60B\""), "{old}");
        assert!(!old.contains("\non = ") && old.contains("class = \"time-triggered\""), "{old}");
        assert_eq!(of(&text.replace("\"time-triggered\"", "{ rate_constrained = {} }")), None);
        assert_eq!(of(&text.replace("[[nodes]]", "[segments.s1.can]\nbit_rate = \"500kbit/s\"\n[[nodes]]")), None);
    }
}
