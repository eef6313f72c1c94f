//! The valid name a person most likely meant.

/// The candidate nearest to `word`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words cost quadratic time and are no typing errors.
    if word.len() > 100 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let wanted = plain(word);
    let distance_max = (wanted.chars().count() / 3).min(4);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&wanted, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= distance_max)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `did you mean "x"?`, or the names there are.
pub(crate) fn suggest(word: &str, candidates: &[&str], what: &str) -> String {
    const SHOWN_MAX: usize = 12;
    if let Some(name) = nearest(word, candidates.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    if candidates.is_empty() {
        return format!("there is no {what} yet; add one");
    }
    let shown: Vec<String> = candidates.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    let more = candidates.len().saturating_sub(SHOWN_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{what}: {}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_typing_error_and_nothing_far_off() {
        let names = ["cluster_cycle", "integration_cycle", "rate"];
        assert_eq!(nearest("cluster-cycel", names), Some("cluster_cycle"));
        assert_eq!(nearest("Rate", names), Some("rate"));
        assert_eq!(nearest("protection", names), None);
        assert_eq!(nearest(&"x".repeat(5000), names), None);
    }
}
