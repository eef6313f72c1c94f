//! Makes a scenario smaller as long as it contradicts itself in the same way.

use super::answers::{Binary, Contradiction};

/// A worker of its own, for its file.
const WORKER: usize = 1_000;
/// Questions asked at most; then it is small enough.
const QUESTIONS_MAX: usize = 400;

/// The smallest scenario that is found by leaving out tables, then lines, then parts of both at once, and what contradicts it.
pub(super) fn smallest(binary: &Binary, text: &str, known: Contradiction) -> (String, Contradiction) {
    let (mut best, mut what) = (text.to_owned(), known);
    let mut questions = 0;
    let mut same = |text: &str, kind| {
        questions += 1;
        let asked = (questions <= QUESTIONS_MAX).then(|| binary.ask(WORKER, text))?;
        asked.contradiction.filter(|contradiction| contradiction.kind == kind)
    };
    loop {
        let before = best.len();
        for pieces in [tables as fn(&str) -> Vec<String>, lines] {
            let mut place = pieces(&best).len();
            while place > 0 {
                place -= 1;
                let mut rest = pieces(&best);
                if place >= rest.len() {
                    continue;
                }
                rest.remove(place);
                let smaller = rest.concat();
                if let Some(contradiction) = same(&smaller, what.kind) {
                    (best, what) = (smaller, contradiction);
                }
            }
        }
        if best.len() == before {
            return (best, what);
        }
    }
}

/// The text cut before every header of a table.
fn tables(text: &str) -> Vec<String> {
    let mut tables = vec![String::new()];
    for line in lines(text) {
        if line.starts_with('[') {
            tables.push(String::new());
        }
        if let Some(last) = tables.last_mut() {
            last.push_str(&line);
        }
    }
    tables
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_sum_of_its_pieces() {
        let text = "a = 1\n[x]\nb = 2\n[[y]]\nc = 3\n";
        assert_eq!(tables(text), ["a = 1\n", "[x]\nb = 2\n", "[[y]]\nc = 3\n"]);
        assert_eq!(lines(text).concat(), text);
    }
}
