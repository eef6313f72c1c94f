use super::*;

#[test]
fn accounts_taken_together_hold_what_each_holds() {
    let discarded = |reason: &str, count| BTreeMap::from([(reason.to_owned(), count)]);
    let one = Account {
        receiver: String::new(),
        due: 36,
        sent: 29,
        in_time: 2,
        late: 3,
        overdue: 0,
        discarded: discarded("queue-full", 4),
        missing: 1,
        replaced: 5,
        unaccounted: 2,
        startup: 6,
        in_flight: 6,
        not_sent: 7,
        held_up: 8,
        reordered: 1,
        end_to_end: None,
        copies: Copies { eliminated: 1, lost: 2, repeated: 3 },
    };
    assert_eq!(one.balance(), 0);
    let mut all = Account::default();
    all.add(&one);
    assert_eq!(all, one);
    all.add(&Account { discarded: discarded("tag-mismatch", 4), ..one });
    let both = Account {
        receiver: String::new(),
        due: 72,
        sent: 58,
        in_time: 4,
        late: 6,
        overdue: 0,
        discarded: BTreeMap::from([("queue-full".to_owned(), 4), ("tag-mismatch".to_owned(), 4)]),
        missing: 2,
        replaced: 10,
        unaccounted: 4,
        startup: 12,
        in_flight: 12,
        not_sent: 14,
        held_up: 16,
        reordered: 2,
        end_to_end: None,
        copies: Copies { eliminated: 2, lost: 4, repeated: 6 },
    };
    assert_eq!((all.balance(), all), (0, both));
}
