//! Our logs of an interface against candump's.

/// The frames of a log of `candump -L`: `(time) interface frame`. A line that is none is kept as it is, to differ.
fn frames(candump: &str) -> Vec<&str> {
    candump.lines().map(|line| line.splitn(3, ' ').nth(2).unwrap_or(line)).collect()
}

/// The number of frames if candump saw those of `log`, in their order, and no others.
pub(super) fn same(log: &str, candump: &str) -> Result<usize, String> {
    merged(&[log], candump)
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
    fn silence_is_no_agreement() {
        assert!(same("", "").is_err());
        assert!(same("", "candump: no such device\n").is_err());
        assert!(merged(&["7A1#01\n18DAF110##500\n7B1#R\n", ""], DUMP).is_err());
    }
}
