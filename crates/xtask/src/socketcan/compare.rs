//! Our logs of an interface against candump's.

/// The frames of a log of `candump -L`: `(time) interface frame`. A line that is none is kept as it is, to differ.
fn frames(candump: &str) -> Vec<&str> {
    candump.lines().map(|line| line.splitn(3, ' ').nth(2).unwrap_or(line)).collect()
}

/// The number of frames if candump saw those of `log`, in their order, and no others.
pub(super) fn same(log: &str, candump: &str) -> Result<usize, String> {
    merged(&[log], candump)
}

/// The number of frames if candump saw those of `ours`, a log of the same form, in their order from the first on. Behind
/// them it may have seen some that were still sent when we had stopped to listen: their number is the second one.
pub(super) fn begins(ours: &str, candump: &str) -> Result<(usize, usize), String> {
    let (ours, seen) = (frames(ours), frames(candump));
    match ours.iter().enumerate().find(|(index, frame)| seen.get(*index) != Some(*frame)) {
        Some((index, frame)) => {
            let found = seen.get(index).copied().unwrap_or("nothing");
            Err(format!("frame {} is {found}, and ours is {frame}", index + 1))
        }
        None if ours.is_empty() => Err("there is nothing to compare".into()),
        None => Ok((ours.len(), seen.len() - ours.len())),
    }
}

/// The number of frames if candump saw those of all `logs` and no others, each log's in its order.
///
/// Frames of different logs have to differ.
pub(super) fn merged(logs: &[&str], candump: &str) -> Result<usize, String> {
    let mut rest: Vec<_> = logs.iter().map(|log| log.lines().peekable()).collect();
    let seen = frames(candump);
    for (index, frame) in seen.iter().enumerate() {
        if rest.iter_mut().all(|log| log.next_if_eq(frame).is_none()) {
            let next: Vec<_> = rest.iter_mut().map(|log| log.peek().copied().unwrap_or("nothing")).collect();
            return Err(format!("frame {} is {frame}, and ours is {}", index + 1, next.join(" or ")));
        }
    }
    match rest.iter_mut().find_map(Iterator::next) {
        Some(frame) => Err(format!("it never saw {frame}")),
        None if logs.iter().any(|log| log.is_empty()) => Err("there is nothing to compare".into()),
        None => Ok(seen.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "(1.5) vcan0 7A1#01\n(1.6) vcan0 18DAF110##500\n(1.7) vcan0 7B1#R\n";

    #[test]
    fn one_log_has_to_be_equal() {
        assert_eq!(same("7A1#01\n18DAF110##500\n7B1#R\n", DUMP), Ok(3));
        assert!(same("7A1#01\n7B1#R\n18DAF110##500\n", DUMP).is_err());
        assert!(same("7A1#01\n18DAF110##500\n", DUMP).unwrap_err().contains("7B1#R"));
        assert_eq!(
            same(&format!("{}7B2#\n", "7A1#01\n18DAF110##500\n7B1#R\n"), DUMP).unwrap_err(),
            "it never saw 7B2#"
        );
    }

    #[test]
    fn two_logs_have_to_be_all_of_it() {
        assert_eq!(merged(&["18DAF110##500\n", "7A1#01\n7B1#R\n"], DUMP), Ok(3));
        assert!(merged(&["18DAF110##500\n", "7B1#R\n7A1#01\n"], DUMP).is_err());
    }

    #[test]
    fn only_the_end_may_be_missed() {
        let ours = "(0.000001) engine 7A1#01\n(0.000002) gearbox 18DAF110##500\n";
        assert_eq!(begins(ours, DUMP), Ok((2, 1)));
        assert!(begins(&ours[25..], DUMP).unwrap_err().contains("frame 1 is 7A1#01"));
        assert!(begins(ours, "(1.5) vcan0 7A1#01\n").unwrap_err().contains("nothing"));
    }

    #[test]
    fn silence_is_no_agreement() {
        assert!(same("", "").is_err());
        assert!(begins("", DUMP).is_err());
        assert!(same("", "candump: no such device\n").is_err());
        assert!(merged(&["7A1#01\n18DAF110##500\n7B1#R\n", ""], DUMP).is_err());
    }
}
