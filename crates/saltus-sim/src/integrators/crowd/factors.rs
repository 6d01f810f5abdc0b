//! Factors of the matrix of an island of constraints: by blocks as large as its largest joint.

use super::blocks::Blocks;
use super::skyline::Skyline;
use std::ops::Range;

/// The factors.
#[derive(Debug)]
pub(super) enum Factors {
    Threes(Blocks<3>),
    Fives(Blocks<5>),
    Sixes(Blocks<6>),
    /// Of interactions with more rows.
    Rows(Skyline),
}

impl Default for Factors {
    fn default() -> Self {
        Factors::Rows(Skyline::default())
    }
}

impl Factors {
    /// Of units with these rows, each of which shares nothing with what stands before the unit `first`.
    pub fn new(first: &[usize], rows: &[Range<usize>]) -> Factors {
        let blocks =
            || first.iter().zip(rows).map(|(&first, rows)| [first, rows.start, rows.len()]);
        match rows.iter().map(Range::len).max().unwrap_or(0) {
            0..=3 => Factors::Threes(Blocks::new(blocks())),
            4 | 5 => Factors::Fives(Blocks::new(blocks())),
            6 => Factors::Sixes(Blocks::new(blocks())),
            _ => {
                let begin = |(first, own): (&usize, &Range<usize>)| {
                    let start = rows[*first].start;
                    own.clone().map(move |_| start)
                };
                let first: Vec<usize> = first.iter().zip(rows).flat_map(begin).collect();
                let mut skyline = Skyline::default();
                skyline.reset(&first);
                Factors::Rows(skyline)
            }
        }
    }

    /// The factors of the entries that are there.
    pub fn factor(&mut self) {
        match self {
            Factors::Threes(blocks) => blocks.factor(),
            Factors::Fives(blocks) => blocks.factor(),
            Factors::Sixes(blocks) => blocks.factor(),
            Factors::Rows(skyline) => skyline.factor(),
        }
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64], work: &mut Vec<f64>) {
        match self {
            Factors::Threes(blocks) => blocks.solve(x, work),
            Factors::Fives(blocks) => blocks.solve(x, work),
            Factors::Sixes(blocks) => blocks.solve(x, work),
            Factors::Rows(skyline) => skyline.solve(x),
        }
    }
}
