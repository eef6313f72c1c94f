//! JSON as text that is short, stable and still good to compare by eye.

use serde_json::Value;

/// A value that is no longer than this stands on one line `[character]`.
const LINE_MAX: usize = 160;

/// With sorted keys; what fits on a line stands on one.
pub(crate) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// `before` is what stands on the line already, the indent left out.
fn write(value: &Value, indent: usize, before: usize, text: &mut String) {
    let line = one_line(value);
    if indent + before + line.chars().count() <= LINE_MAX {
        *text += &line;
        return;
    }
    let inner = indent + 1;
    let between = |text: &mut String, first: bool| {
        text.push_str(if first { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', inner));
    };
    match value {
        Value::Object(map) => {
            text.push('{');
            for (index, (key, value)) in sorted(map).into_iter().enumerate() {
                between(text, index == 0);
                let key = format!("{}: ", Value::from(key.as_str()));
                *text += &key;
                write(value, inner, key.chars().count(), text);
            }
            end('}', indent, text);
        }
        Value::Array(list) => {
            text.push('[');
            for (index, value) in list.iter().enumerate() {
                between(text, index == 0);
                write(value, inner, 0, text);
            }
            end(']', indent, text);
        }
        _ => *text += &line,
    }
}

fn end(bracket: char, indent: usize, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(bracket);
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let fields = sorted(map)
                .into_iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), one_line(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn sorted(map: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = map.iter().collect();
    fields.sort_by_key(|(key, _)| *key);
    fields
}

#[test]
fn text_says_what_the_value_says_with_sorted_keys() {
    let value = serde_json::json!({ "b": [1, 2.5, null], "a": { "long": vec!["some words"; 20] }, "c": "\"" });
    let text = pretty(&value);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    assert!(text.find("\"a\"") < text.find("\"b\""), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= LINE_MAX + 1), "{text}");
    assert!(text.contains("\n \"b\": [1, 2.5, null],\n"), "{text}");
}
