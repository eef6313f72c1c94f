//! The verdict: the worst word of all that is judged, the streams that are not held, and what is not checked.

use chronoseal_report::Word;

use super::{IN_SLOTS, Judged, Judgement, shown};

/// Streams, or things that are not checked, which one sentence names.
const NAMED_MAX: usize = 3;
/// Reasons that stand below the verdict.
const REASONS_MAX: usize = 8;

/// A reason with those that it is about.
struct Reason<'r> {
    word: Word,
    follows: bool,
    why: &'r str,
    ends: Vec<&'r Judged>,
}

impl Judgement {
    /// The word for all of it: the worst there is.
    pub(crate) fn word(&self) -> Word {
        let ends = self.ends.iter().map(|end| end.word);
        let queues = self.queues.iter().map(|queue| queue.word);
        let clocks = self.clocks.iter().map(|clock| clock.word);
        let left_out = self.left_out.iter().map(|_| Word::NotChecked);
        let schedule = self.infeasible.iter().map(|_| Word::Broken);
        ends.chain(queues).chain(clocks).chain(left_out).chain(schedule).max().unwrap_or(Word::Held)
    }

    /// One sentence, or two.
    pub(crate) fn text(&self) -> String {
        let word = self.word();
        let left_out = self.left_out_text();
        match word {
            Word::Held if !self.has_deadlines() => {
                "No stream has a deadline to hold. On paper every frame arrives, each within its bound.".into()
            }
            Word::Held => "On paper every deadline holds.".into(),
            Word::NotChecked => {
                let is_any = |test: fn(&Judged) -> bool| self.ends.iter().any(test);
                if !is_any(|end| end.by_bound == Word::Held) && !self.ends.is_empty() {
                    return format!("None of this is checked on paper: {left_out}.");
                }
                let is_all = !is_any(|end| end.by_bound == Word::NotChecked);
                let holds = match (self.has_deadlines(), is_all) {
                    (true, true) => "On paper every deadline holds",
                    (true, false) => "On paper every deadline of what is bounded holds",
                    (false, _) => "On paper every frame that is bounded arrives within its bound",
                };
                format!("{holds}; not checked: {left_out}.")
            }
            _ => {
                let mut text = self.first_reason(word);
                if !left_out.is_empty() {
                    text += &format!(" Not checked: {left_out}.");
                }
                text
            }
        }
    }

    /// Who is not held, and why the first of them is not.
    fn first_reason(&self, word: Word) -> String {
        if let Some(infeasible) = &self.infeasible {
            return sentence(infeasible.text.trim_end_matches('.'));
        }
        let reasons = self.reasons();
        let of_word: Vec<&Reason<'_>> = reasons.iter().filter(|reason| reason.word == word).collect();
        let Some(first) = of_word.first() else {
            let queues = self.queues.iter().filter(|queue| queue.word == word).filter_map(|queue| queue.why.as_deref());
            let clocks = self.clocks.iter().filter(|clock| clock.word == word).map(|clock| clock.why.as_str());
            let why = clocks.chain(queues).next().unwrap_or_default();
            return format!("Every stream arrives within its bound, but {why}.");
        };
        let named = |reasons: &[&Reason<'_>]| {
            let ends = reasons.iter().flat_map(|reason| reason.ends.iter().copied());
            listed(ends.map(about).collect())
        };
        let (names, why) = (named(&of_word[..1]), &first.why);
        let reason = if of_word.len() == 2 { "another reason" } else { "other reasons" };
        let others = |nor: &str| match &of_word[1..] {
            [] => String::new(),
            others => format!("; nor {nor} {}, for {reason} below", named(others)),
        };
        match word {
            Word::Broken => format!("On paper {names} cannot hold: {why}{}.", others("can")),
            _ => format!("Not proven for {names}: {why}{}.", others("for")),
        }
    }

    /// What is not checked, as a list.
    fn left_out_text(&self) -> String {
        listed(self.left_out.iter().map(|one| one.text.clone()).collect())
    }

    /// Sentences below the verdict.
    pub(crate) fn points(&self) -> Vec<String> {
        let word = self.word();
        let reasons = self.reasons();
        let is_in_text = |reason: &Reason<'_>| reason.word == word && self.infeasible.is_none();
        let skip = usize::from(reasons.first().is_some_and(is_in_text));
        let told = reasons.iter().skip(skip).map(|reason| {
            let ends = reason.ends.iter().map(|end| about(end)).collect();
            format!("{} {}: {}.", shown(reason.word), listed(ends), reason.why)
        });
        let mut points: Vec<String> = told.collect();
        let said = |why: &str, points: &[String]| {
            points.iter().any(|point| point.contains(why)) || reasons.iter().take(skip).any(|first| first.why == why)
        };
        let queues = self.queues.iter().filter_map(|queue| queue.why.as_deref());
        let clocks = self.clocks.iter().filter(|clock| clock.word > Word::NotChecked).map(|clock| clock.why.as_str());
        for why in clocks.chain(queues) {
            if !said(why, &points) {
                points.push(sentence(why));
            }
        }
        let more = points.len().saturating_sub(REASONS_MAX);
        points.truncate(REASONS_MAX);
        if more > 0 {
            points.push(match more {
                1 => "There is 1 more reason; the tables below have all of them.".into(),
                _ => format!("There are {more} more reasons; the tables below have all of them."),
            });
        }
        if self.left_out.len() > NAMED_MAX {
            points.push(format!(
                "Not checked: {}.",
                self.left_out.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("; ")
            ));
        }
        points
    }

    /// True if a stream has a deadline, or a slot to leave in.
    fn has_deadlines(&self) -> bool {
        self.ends.iter().any(|end| end.deadline_ns.is_some() || end.no_deadline.as_deref() == Some(IN_SLOTS))
    }

    /// Why not everything is proven, each reason once, the worst word first, and what follows from something else last.
    fn reasons(&self) -> Vec<Reason<'_>> {
        let mut reasons: Vec<Reason<'_>> = Vec::new();
        for end in self.ends.iter().filter(|end| end.word > Word::NotChecked) {
            let why = end.why.as_deref().unwrap_or_default();
            match reasons.iter_mut().find(|known| (known.word, known.why) == (end.word, why)) {
                Some(known) => known.ends.push(end),
                None => reasons.push(Reason { word: end.word, follows: end.follows, why, ends: vec![end] }),
            }
        }
        reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.word), reason.follows));
        reasons
    }
}

fn about(end: &Judged) -> String {
    format!("`{}` at `{}`", end.stream, end.receiver)
}

/// The first few, and how many more there are.
fn listed(names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let named = &names[..names.len() - more];
    match (named, more) {
        ([], _) => String::new(),
        ([only], 0) => only.clone(),
        ([rest @ .., last], 0) => format!("{} and {last}", rest.join(", ")),
        (named, more) => format!("{} and {more} more", named.join(", ")),
    }
}

/// A reason as a sentence of its own.
fn sentence(reason: &str) -> String {
    let mut text = format!("{reason}.");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}
