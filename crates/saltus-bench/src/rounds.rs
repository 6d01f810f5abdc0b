//! Rounds: simulators that are compared run in turn, again and again, so that a slow moment of the
//! machine meets all of them alike. What counts is the median of the ratios within each round.

use std::fmt;

/// Rounds that count.
pub const ROUNDS: usize = 7;

/// The ratios of all rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios {
    median: f64,
    least: f64,
    most: f64,
}

impl Ratios {
    /// Of the rounds in which both were measured; nothing where there is none.
    pub fn of(theirs: &[Option<f64>], ours: &[Option<f64>]) -> Option<Ratios> {
        let both = theirs.iter().zip(ours).filter_map(|(theirs, ours)| theirs.zip(*ours));
        let ratios: Vec<Option<f64>> = both.map(|(theirs, ours)| Some(theirs / ours)).collect();
        let within = |pick: fn(f64, f64) -> f64| ratios.iter().flatten().copied().reduce(pick);
        Some(Ratios { median: median(&ratios)?, least: within(f64::min)?, most: within(f64::max)? })
    }
}

impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ratios { median, least, most } = *self;
        let digits = if median < 10.0 { 2 } else { 0 };
        write!(f, "{median:.digits$} ({least:.digits$}–{most:.digits$})")
    }
}

/// The median of what was measured; nothing where nothing was.
pub fn median(values: &[Option<f64>]) -> Option<f64> {
    let mut known: Vec<f64> = values.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied()
}

/// The ratios as a cell of a table.
pub fn cell(ratios: Option<Ratios>) -> String {
    ratios.map_or("-".to_string(), |ratios| ratios.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_each_round() {
        let theirs = [Some(20.0), None, Some(60.0), Some(44.0)];
        let ours = [Some(2.0), Some(1.0), Some(4.0), Some(4.0)];
        let ratios = Ratios::of(&theirs, &ours).unwrap();
        assert_eq!(ratios, Ratios { median: 11.0, least: 10.0, most: 15.0 });
        assert_eq!(ratios.to_string(), "11 (10–15)");
        assert_eq!(Ratios::of(&[None], &[Some(1.0)]), None);
    }
}
