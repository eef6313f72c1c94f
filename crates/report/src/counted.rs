//! Counts in sentences.

/// `1 frame`, `2 frames`. `one` is a noun whose plural ends in s, or several words of which the first is.
///
/// ```
/// use chronoseal_report::counted;
/// assert_eq!(counted(1, "frame"), "1 frame");
/// assert_eq!(counted(0, "frame of `m`"), "0 frames of `m`");
/// ```
pub fn counted(count: u64, one: &str) -> String {
    let (noun, rest) = one.split_once(' ').map_or((one, None), |(noun, rest)| (noun, Some(rest)));
    let plural = match (count, noun.strip_suffix("y")) {
        (1, _) => noun.to_owned(),
        (_, Some("cop")) => "copies".to_owned(),
        (_, None) if noun.ends_with("ss") => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    match rest {
        None => format!("{count} {plural}"),
        Some(rest) => format!("{count} {plural} {rest}"),
    }
}

/// The verb behind a count: `was` behind one, `were` behind several.
pub(crate) const fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}
