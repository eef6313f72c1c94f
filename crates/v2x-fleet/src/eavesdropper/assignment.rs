//! Who continues whom, at the least cost for all together.
//!
//! The linear assignment problem on a sparse matrix in which every row may also stay alone at a price. Rows are added one
//! by one along shortest augmenting paths.
//!
//! # Source
//! R. Jonker, A. Volgenant, A shortest augmenting path algorithm for dense and sparse linear assignment problems, Computing
//! 38 (1987) 325-340; the augmentation step only, with a heap.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A possible pair of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pair {
    pub(super) column: usize,
    pub(super) cost: f64,
}

/// A column on the way, nearest first.
#[derive(Clone, Copy, PartialEq)]
struct Reached {
    distance: f64,
    column: usize,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.column.cmp(&self.column))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The column of each row at the least sum of costs, where a row without one costs `alone`; no column goes to two rows.
pub(super) fn assign(rows: &[Vec<Pair>], columns: usize, alone: f64) -> Vec<Option<usize>> {
    // Each row has a column of its own behind the real ones, which stands for staying alone.
    let mut solver = Solver {
        rows,
        columns,
        alone,
        row_of: vec![None; columns + rows.len()],
        column_of: vec![usize::MAX; rows.len()],
        potential: vec![0.0; columns + rows.len()],
        distance: vec![f64::INFINITY; columns + rows.len()],
        comes_from: vec![usize::MAX; columns + rows.len()],
        is_settled: vec![false; columns + rows.len()],
        touched: Vec::new(),
    };
    for row in 0..rows.len() {
        solver.add(row);
    }
    solver.column_of.into_iter().map(|column| (column < columns).then_some(column)).collect()
}

struct Solver<'a> {
    rows: &'a [Vec<Pair>],
    columns: usize,
    alone: f64,
    row_of: Vec<Option<usize>>,
    column_of: Vec<usize>,
    /// Of each column; reduced costs of all rows added so far are not negative, and zero where assigned.
    potential: Vec<f64>,
    /// Of each column, for the row that is being added: how far it is, from which row, and whether that is final. Only what
    /// was touched is reset, so that a row costs what its neighbourhood costs.
    distance: Vec<f64>,
    comes_from: Vec<usize>,
    is_settled: Vec<bool>,
    touched: Vec<usize>,
}

impl Solver<'_> {
    fn pairs(&self, row: usize) -> impl Iterator<Item = Pair> + '_ {
        let own = Pair { column: self.columns + row, cost: self.alone };
        self.rows[row].iter().copied().chain([own])
    }

    /// Cost of the assigned pair less the column's potential: what the row's own potential is.
    fn row_potential(&self, row: usize) -> f64 {
        let column = self.column_of[row];
        let cost = self.pairs(row).find(|pair| pair.column == column).map_or(self.alone, |pair| pair.cost);
        cost - self.potential[column]
    }

    /// Finds a column for one more row along the cheapest chain of changes (Dijkstra over reduced costs).
    fn add(&mut self, row: usize) {
        for column in self.touched.drain(..) {
            self.distance[column] = f64::INFINITY;
            self.is_settled[column] = false;
        }
        let rows = self.rows;
        let mut settled = Vec::new();
        let mut heap = BinaryHeap::new();
        let (mut current, mut so_far) = (row, 0.0);
        let mut current_potential =
            self.pairs(row).map(|pair| pair.cost - self.potential[pair.column]).fold(f64::INFINITY, f64::min);
        let end = loop {
            let own = Pair { column: self.columns + current, cost: self.alone };
            for pair in rows[current].iter().copied().chain([own]) {
                let reduced = (pair.cost - current_potential - self.potential[pair.column]).max(0.0);
                let reached = so_far + reduced;
                if !self.is_settled[pair.column] && reached < self.distance[pair.column] {
                    if self.distance[pair.column] == f64::INFINITY {
                        self.touched.push(pair.column);
                    }
                    self.distance[pair.column] = reached;
                    self.comes_from[pair.column] = current;
                    heap.push(Reached { distance: reached, column: pair.column });
                }
            }
            // The row's own column is always free and reachable, so the heap holds an end.
            let Some(Reached { distance: reached, column }) = heap.pop() else { return };
            if self.is_settled[column] {
                continue;
            }
            self.is_settled[column] = true;
            so_far = reached;
            match self.row_of[column] {
                None => break column,
                Some(other) => {
                    settled.push(column);
                    current = other;
                    current_potential = self.row_potential(other);
                }
            }
        };
        for column in settled {
            self.potential[column] -= so_far - self.distance[column];
        }
        let mut column = end;
        loop {
            let from = self.comes_from[column];
            self.row_of[column] = Some(from);
            let before = std::mem::replace(&mut self.column_of[from], column);
            if from == row {
                return;
            }
            column = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cost_of(rows: &[Vec<Pair>], chosen: &[Option<usize>], alone: f64) -> f64 {
        let cost = |row: usize, column| rows[row].iter().find(|pair| pair.column == column).map(|pair| pair.cost);
        (0..rows.len()).map(|row| chosen[row].map_or(alone, |column| cost(row, column).expect("a possible pair"))).sum()
    }

    /// By trying everything.
    fn least(rows: &[Vec<Pair>], used: &mut Vec<usize>, alone: f64) -> f64 {
        let Some((first, rest)) = rows.split_first() else { return 0.0 };
        let mut best = alone + least(rest, used, alone);
        for pair in first {
            if !used.contains(&pair.column) {
                used.push(pair.column);
                best = best.min(pair.cost + least(rest, used, alone));
                used.pop();
            }
        }
        best
    }

    #[test]
    fn the_nearest_is_not_always_the_best() {
        // Row 0 could take either, row 1 only column 0: greedy would leave row 1 alone.
        let rows =
            [vec![Pair { column: 0, cost: 1.0 }, Pair { column: 1, cost: 2.0 }], vec![Pair { column: 0, cost: 1.5 }]];
        assert_eq!(assign(&rows, 2, 10.0), [Some(1), Some(0)]);
        assert_eq!(assign(&rows, 2, 1.2), [Some(0), None], "staying alone may be cheaper");
        assert_eq!(assign(&[], 3, 1.0), []);
        assert_eq!(assign(&[vec![]], 0, 1.0), [None]);
    }

    proptest! {
        #[test]
        fn as_cheap_as_trying_everything(
            costs in proptest::collection::vec(proptest::collection::vec(proptest::option::of(-50i32..50), 5), 0..7),
            alone in -60i32..60,
        ) {
            let row = |costs: &Vec<Option<i32>>| {
                let pairs = costs.iter().enumerate();
                pairs.filter_map(|(column, cost)| cost.map(|cost| Pair { column, cost: f64::from(cost) })).collect()
            };
            let rows: Vec<Vec<Pair>> = costs.iter().map(row).collect();
            let alone = f64::from(alone);
            let chosen = assign(&rows, 5, alone);
            let mut columns: Vec<_> = chosen.iter().flatten().collect();
            columns.sort();
            columns.dedup();
            prop_assert_eq!(columns.len(), chosen.iter().flatten().count(), "no column twice");
            let (found, best) = (cost_of(&rows, &chosen, alone), least(&rows, &mut Vec::new(), alone));
            prop_assert!((found - best).abs() < 1e-9, "{} for {}", found, best);
        }
    }
}
