//! Where two JSON values differ.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// Longest value shown `[character]`.
const VALUE_MAX: usize = 100;

/// One place where two values differ, as text.
struct Difference {
    path: String,
    was: String,
    is: String,
}

/// The first differences of `was` and `is`, and how many there are in each section.
pub(crate) fn report(name: &str, was: &Value, is: &Value, shown: usize) -> String {
    let mut differences = Vec::new();
    collect("", Some(was), Some(is), &mut differences);
    let mut sections = BTreeMap::<_, usize>::new();
    for difference in &differences {
        *sections.entry(difference.path.split('.').next().unwrap_or_default()).or_default() += 1;
    }
    let mut text = format!("{name}: {} differences {sections:?}\n", differences.len());
    for Difference { path, was, is } in differences.iter().take(shown) {
        let _ = writeln!(text, "    {path}\n        was {was}\n        is  {is}");
    }
    if differences.len() > shown {
        let _ = writeln!(text, "    and {} more", differences.len() - shown);
    }
    text
}

fn collect(path: &str, was: Option<&Value>, is: Option<&Value>, found: &mut Vec<Difference>) {
    if was == is {
        return;
    }
    match (was, is) {
        (Some(Value::Object(was)), Some(Value::Object(is))) => {
            let mut keys: Vec<_> = was.keys().chain(is.keys().filter(|key| !was.contains_key(*key))).collect();
            keys.sort();
            for key in keys {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect(&inner, was.get(key), is.get(key), found);
            }
        }
        (Some(Value::Array(was)), Some(Value::Array(is))) => {
            for index in 0..was.len().max(is.len()) {
                collect(&format!("{path}[{index}]"), was.get(index), is.get(index), found);
            }
        }
        _ => found.push(Difference { path: path.to_owned(), was: short(was), is: short(is) }),
    }
}

fn short(value: Option<&Value>) -> String {
    let Some(value) = value else { return "absent".into() };
    let text = value.to_string();
    match text.char_indices().nth(VALUE_MAX) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

#[test]
fn a_difference_is_found_at_its_path() {
    let was = serde_json::json!({ "a": { "b": [1, 2, 3] }, "c": "x", "d": 1 });
    let is = serde_json::json!({ "a": { "b": [1, 5] }, "c": "x", "e": 1 });
    let text = report("file", &was, &is, 3);
    assert!(text.starts_with("file: 4 differences {\"a\": 2, \"d\": 1, \"e\": 1}\n"), "{text}");
    assert!(text.contains("a.b[1]\n        was 2\n        is  5\n"), "{text}");
    assert!(text.contains("a.b[2]\n        was 3\n        is  absent\n"), "{text}");
    assert!(text.ends_with("and 1 more\n"), "{text}");
    assert_eq!(report("file", &was, &was, 3), "file: 0 differences {}\n");
}
