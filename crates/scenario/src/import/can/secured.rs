//! Signals of a database that look like what SecOC adds to a message: proposed in a comment, never applied.

use chronoseal_recordings::{DatabaseMessage, DatabaseSignal};

/// The longest authenticator `[bit]`.
const AUTHENTICATOR_BITS_MAX: u64 = 128;
/// Words of the name of an authenticator.
const AUTHENTICATOR: [&str; 5] = ["authenticator", "authinfo", "mac", "cmac", "tmac"];
/// Words of the name of a freshness value.
const FRESHNESS: [&str; 4] = ["freshness", "fresh", "fv", "fvc"];
/// Names of the parts of a freshness value of trips and resets that are sent: the reset flag, and the low part of the message counter.
const RESET_FLAG: &str = "resetflag";
const MESSAGE_COUNTER: [&str; 2] = ["msgcntlower", "messagecounterlower"];

/// What a message with such signals might be protected by, as a sentence; `None` if it has no signal that is called an authenticator.
pub(super) fn proposal(message: &DatabaseMessage) -> Option<String> {
    let is_authenticator = |signal: &&DatabaseSignal| {
        (1..=AUTHENTICATOR_BITS_MAX).contains(&signal.len_bits) && has_word(&signal.name, &AUTHENTICATOR)
    };
    let authenticators: Vec<_> = message.signals.iter().filter(is_authenticator).collect();
    // Several of them are parts of something that is not known.
    let [authenticator] = authenticators[..] else { return None };
    let of = |is: &dyn Fn(&str) -> bool| message.signals.iter().filter(|signal| is(&signal.name)).collect::<Vec<_>>();
    let flags = of(&|name| joined(name).ends_with(RESET_FLAG));
    let counters = of(&|name| MESSAGE_COUNTER.iter().any(|known| joined(name).ends_with(known)));
    let values = of(&|name| has_word(name, &FRESHNESS));
    let bits = |signals: &[&DatabaseSignal]| signals.iter().map(|signal| signal.len_bits).sum::<u64>();
    let is_of_trips = bits(&flags) == 2 && !counters.is_empty();
    let fresh = if is_of_trips { [flags, counters].concat() } else { values };
    let (tag, sent) = (authenticator.len_bits, bits(&fresh));
    if sent > 63 {
        return None;
    }
    let added = (tag + sent).div_ceil(8) as usize;
    let len = message.len.checked_sub(added).filter(|len| *len > 0)?;
    let table = match (is_of_trips, tag, sent) {
        (true, 28, 4) => "{ profile = 3 }".to_owned(),
        (true, ..) => {
            format!("{{ authenticator = \"{tag}bit\", freshness = {{ trip_reset = {{ sent = \"{sent}bit\" }} }} }}")
        }
        (false, _, 0) => format!("{{ authenticator = \"{tag}bit\", freshness = \"none\" }}"),
        (false, ..) => {
            format!("{{ authenticator = \"{tag}bit\", freshness = {{ rising = {{ sent = \"{sent}bit\" }} }} }}")
        }
    };
    let all: Vec<String> = [authenticator]
        .into_iter()
        .chain(fresh)
        .map(|signal| format!("{} ({} bits)", signal.name, signal.len_bits))
        .collect();
    Some(format!(
        "Proposed and not applied: a protection with `secoc = {table}`, and `length = \"{len}B\"` without it, since {} look like SecOC's",
        all.join(", ")
    ))
}

/// Letters and digits of a name in small letters.
fn joined(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Whether one of the words of a name, told apart by other characters and by capitals behind small letters, is one of these.
fn has_word(name: &str, words: &[&str]) -> bool {
    let mut spaced = String::with_capacity(name.len());
    let mut was_small = false;
    for letter in name.chars() {
        if was_small && letter.is_ascii_uppercase() {
            spaced.push(' ');
        }
        was_small = letter.is_ascii_lowercase();
        spaced.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' });
    }
    spaced.split_whitespace().any(|word| words.contains(&word.trim_end_matches(|digit: char| digit.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_name_are_told_apart_by_signs_and_capitals() {
        for (name, is) in [
            ("AUTHENTICATOR", true),
            ("Msg_MAC", true),
            ("BrakeCmac1", true),
            ("MachineState", false),
            ("MAC", true),
            ("Emac", false),
            ("", false),
        ] {
            assert_eq!(has_word(name, &AUTHENTICATOR), is, "{name}");
        }
    }
}
