//! Rows by the span of time in which they came.

/// Rows in the order in which they came, of which none is needed when it is settled: those of the span before, and those of now.
#[derive(Clone, Debug)]
pub(super) struct TwoSpans<R> {
    pub(super) before: Vec<R>,
    pub(super) now: Vec<R>,
}

impl<R> Default for TwoSpans<R> {
    fn default() -> Self {
        Self { before: Vec::new(), now: Vec::new() }
    }
}

impl<R> TwoSpans<R> {
    /// Takes out what is to be settled: the span before, and when the run is over all.
    pub(super) fn take_settled(&mut self, is_over: bool) -> Vec<R> {
        // About as many come in each span.
        let next = Vec::with_capacity(self.now.len());
        let mut settled = std::mem::replace(&mut self.before, std::mem::replace(&mut self.now, next));
        if is_over {
            settled.append(&mut self.before);
        }
        settled
    }
}

/// Rows in the order in which they came: those that are settled, those of the span before, and those of now.
#[derive(Clone, Debug)]
pub(crate) struct Spans<R> {
    pub(crate) rows: Vec<R>,
    /// So many are settled.
    settled: usize,
    /// So many came before the span of now.
    before: usize,
}

impl<R> Default for Spans<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), settled: 0, before: 0 }
    }
}

impl<R> Spans<R> {
    pub(crate) fn push(&mut self, row: R) {
        self.rows.push(row);
    }

    pub(super) fn fresh(&self) -> usize {
        self.rows.len() - self.before
    }

    /// Places of those that are to be settled; when the run is over of all that are not.
    pub(super) fn settling(&self, is_over: bool) -> std::ops::Range<usize> {
        self.settled..if is_over { self.rows.len() } else { self.before }
    }

    /// The span of now is the one before: forgets what was settled then, but for what is kept.
    pub(super) fn forget_settled(&mut self, mut is_kept: impl FnMut(&R) -> bool) {
        let (settled, all) = (self.settled, self.rows.len());
        let mut place = 0;
        self.rows.retain(|row| {
            place += 1;
            place > settled || is_kept(row)
        });
        let dropped = all - self.rows.len();
        self.settled = self.before - dropped;
        self.before = self.rows.len();
    }
}
