//! The account of every frame, by stream and receiver.

use chronoseal_results::{Account, Copies, RunMeta, RunSummary, StreamSummary, UnmeasuredMeta};

use super::evidence;
use crate::document::{Cell, Mark, Table};

/// Accounts a table shows at most; all of them are in the manifest and in the JSON of the run.
const ACCOUNTS_MAX: usize = 60;

/// One row for each receiver of each stream.
pub(super) fn table(meta: &RunMeta, summary: &RunSummary) -> Table {
    let kind = evidence(meta);
    let mut table = Table::new("The account of every frame, by stream and receiver")
        .words("stream")
        .words("receiver")
        .numbers("due", "")
        .numbers("in time", "")
        .numbers("late", "")
        .numbers("overdue", "")
        .words("thrown away")
        .numbers("missing", "")
        .numbers("not sent", "")
        .numbers("replaced", "")
        .numbers("unaccounted", "")
        .numbers("in start-up", "")
        .numbers("under way", "")
        .footnote("Due is the sum of all columns from in time to under way.");
    let has_order = summary
        .streams
        .iter()
        .any(|stream| stream.is_lossy || stream.receivers.iter().any(|account| account.reordered > 0));
    if has_order {
        table = table.numbers("reordered", "").footnote(
            "Reordered: accepted after a later one of the stream had been (RFC 4737); they are in the columns of those that were accepted.",
        );
    }
    let has_any = |stream: &StreamSummary| stream.receivers.iter().any(|account| !account.copies.is_none());
    let has_copies = meta.streams.iter().any(|stream| stream.is_replicated) || summary.streams.iter().any(has_any);
    if has_copies {
        table = table.words("copies beside").footnote(
            "Copies beside: copies of frames that several ways brought, or that a link made, beside the one by which each frame is \
             counted. Those eliminated came after it; repeated ones were taken for new frames.",
        );
    }
    if let Some(note) = not_timed(meta) {
        table = table.footnote(note);
    }
    let mut accounts: Vec<(&StreamSummary, &Account)> = summary
        .streams
        .iter()
        .flat_map(|stream| stream.receivers.iter().map(move |account| (stream, account)))
        .collect();
    let all = accounts.len();
    // What is not in time comes first, so that a cut never hides it.
    accounts.sort_by_key(|(_, account)| account.balance() == 0 && account.in_time + account.in_flight == account.due);
    accounts.truncate(ACCOUNTS_MAX);
    for (stream, account) in &accounts {
        let unwanted =
            |count: u64| Cell::count(count).from(kind).marked(if count > 0 { Mark::Bad } else { Mark::None });
        let plain = |count: u64| Cell::count(count).from(kind);
        let due = match account.balance() {
            0 => plain(account.due),
            more => plain(account.due).marked(Mark::Bad).titled(format!("the columns come to {} more", -more)),
        };
        let reasons: Vec<String> =
            account.discarded.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let discarded = match reasons.is_empty() {
            true => Cell::text("0"),
            false => Cell::text(reasons.join(", ")).marked(Mark::Bad),
        };
        let mut row = vec![
            Cell::text(&stream.name),
            Cell::text(&account.receiver),
            due,
            plain(account.in_time),
            unwanted(account.late),
            unwanted(account.overdue),
            discarded,
            unwanted(account.missing),
            unwanted(account.not_sent),
            plain(account.replaced).marked(if account.replaced > 0 { Mark::Warn } else { Mark::None }),
            unwanted(account.unaccounted),
            plain(account.startup),
            plain(account.in_flight),
        ];
        row.extend(has_order.then(|| plain(account.reordered)));
        row.extend(has_copies.then(|| copies(&account.copies)));
        table.push(row);
    }
    if accounts.len() < all {
        table = table.footnote(format!(
            "{} of {all} accounts are shown, those with frames that were not in time first; all are in manifest.json.",
            accounts.len()
        ));
    }
    table
}

/// What became of copies beside those by which frames are counted.
fn copies(copies: &Copies) -> Cell {
    let known = [(copies.eliminated, "eliminated"), (copies.lost, "lost"), (copies.repeated, "repeated")];
    let words: Vec<String> =
        known.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let cell = Cell::text(if words.is_empty() { "0".to_owned() } else { words.join(", ") });
    if copies.repeated > 0 { cell.marked(Mark::Bad) } else { cell }
}

/// What the column of frames in time means where nobody knows how long they took.
pub(super) fn not_timed(meta: &RunMeta) -> Option<String> {
    let first = meta.unmeasured.first()?;
    let name = |end: &UnmeasuredMeta| meta.streams.get(usize::from(end.stream)).map(|stream| stream.name.as_str());
    let mut names: Vec<&str> = meta.unmeasured.iter().filter_map(name).collect();
    names.dedup();
    Some(format!(
        "Of {}, those in time came; how long they took was not checked, because {}.",
        names.join(", "),
        first.why
    ))
}
