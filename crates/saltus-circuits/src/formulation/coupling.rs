//! Devices that feel each other at once.
//!
//! An output may depend on the multiplier of another device: `y_k = … + D_kl λ_l`. Relations of their own
//! know only their own multipliers, so such a term goes through a state without mass,
//!
//! ```text
//! 0 = −s + λ_l  (a column of D)        or        0 = −s + Σ_l D_kl λ_l  (a row of D) .
//! ```
//!
//! Every entry needs its row or its column; the smallest choice is a vertex cover of a bipartite graph,
//! which a largest matching gives (König).

/// The rows and columns of `entries` that together meet all of them, as few as possible.
pub(crate) fn cover(
    rows: usize,
    cols: usize,
    entries: &[(usize, usize)],
) -> (Vec<bool>, Vec<bool>) {
    let mut of_row: Vec<Vec<usize>> = vec![Vec::new(); rows];
    entries.iter().for_each(|&(row, col)| of_row[row].push(col));
    let mut row_of: Vec<Option<usize>> = vec![None; cols];
    let mut col_of: Vec<Option<usize>> = vec![None; rows];
    for row in 0..rows {
        let mut seen = vec![false; cols];
        augment(row, &of_row, &mut row_of, &mut col_of, &mut seen);
    }
    // König: from free rows along alternating ways; rows not reached and columns reached cover all
    let mut reached = (vec![false; rows], vec![false; cols]);
    let mut waiting: Vec<usize> =
        (0..rows).filter(|&row| col_of[row].is_none() && !of_row[row].is_empty()).collect();
    while let Some(row) = waiting.pop() {
        if std::mem::replace(&mut reached.0[row], true) {
            continue;
        }
        for &col in &of_row[row] {
            if !std::mem::replace(&mut reached.1[col], true) {
                waiting.extend(row_of[col]);
            }
        }
    }
    let chosen = |row: usize| !of_row[row].is_empty() && !reached.0[row];
    ((0..rows).map(chosen).collect(), reached.1)
}

/// Finds a partner for a row, by a way through those that have one.
fn augment(
    row: usize,
    of_row: &[Vec<usize>],
    row_of: &mut [Option<usize>],
    col_of: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    // (row, the next of its columns to try)
    let mut way = vec![(row, 0)];
    while let Some((row, next)) = way.last_mut() {
        let Some(&col) = of_row[*row].get(*next) else {
            way.pop();
            continue;
        };
        *next += 1;
        if std::mem::replace(&mut seen[col], true) {
            continue;
        }
        match row_of[col] {
            Some(other) => way.push((other, 0)),
            None => {
                for &(row, next) in &way {
                    let col = of_row[row][next - 1];
                    row_of[col] = Some(row);
                    col_of[row] = Some(col);
                }
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_are_smallest() {
        // one row that reads three columns, one column that three rows read
        let entries = [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)];
        let (rows, cols) = cover(4, 4, &entries);
        assert_eq!(rows, [true, false, false, false]);
        assert_eq!(cols, [true, false, false, false]);
        let all: Vec<_> = (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).collect();
        let (rows, cols) = cover(3, 3, &all);
        assert_eq!(rows.iter().chain(&cols).filter(|one| **one).count(), 3);
        for (i, j) in all {
            assert!(rows[i] || cols[j]);
        }
        assert_eq!(cover(2, 2, &[]), (vec![false; 2], vec![false; 2]));
    }
}
