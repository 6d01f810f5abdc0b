//! Linear forms: sums of a few terms.

/// `Σ aₖ cₖ`, in ascending order of the places `k`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row(Vec<(usize, f64)>);

/// What is left of a sum whose terms cancel, in units of its terms.
const CANCELS: f64 = 4.0 * f64::EPSILON;

impl Row {
    /// One term.
    pub fn unit(place: usize) -> Row {
        Row(vec![(place, 1.0)])
    }

    /// `self ← self + a row`; terms that cancel but for round-off are gone.
    pub fn add(&mut self, a: f64, row: &Row) {
        row.0.iter().for_each(|&(place, value)| self.add_term(place, a * value));
    }

    /// The same with one term.
    pub fn add_term(&mut self, place: usize, value: f64) {
        if value == 0.0 {
            return;
        }
        match self.0.binary_search_by_key(&place, |term| term.0) {
            Err(k) => self.0.insert(k, (place, value)),
            Ok(k) => {
                let old = self.0[k].1;
                let sum = old + value;
                if sum.abs() <= CANCELS * old.abs().max(value.abs()) {
                    self.0.remove(k);
                } else {
                    self.0[k].1 = sum;
                }
            }
        }
    }

    /// The coefficient of a term.
    pub fn get(&self, place: usize) -> f64 {
        let found = self.0.binary_search_by_key(&place, |term| term.0);
        found.map_or(0.0, |k| self.0[k].1)
    }

    /// The terms.
    pub fn terms(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().copied()
    }

    /// The terms with places in a range, counted from its beginning.
    pub fn within(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = (usize, f64)> + '_ {
        let first = self.0.partition_point(|term| term.0 < range.start);
        let terms = self.0[first..].iter().take_while(move |term| term.0 < range.end);
        terms.map(move |&(place, value)| (place - range.start, value))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(usize, f64)> for Row {
    fn from_iter<I: IntoIterator<Item = (usize, f64)>>(terms: I) -> Row {
        let mut row = Row::default();
        terms.into_iter().for_each(|(place, value)| row.add_term(place, value));
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        let mut row: Row = [(3, 1.0), (1, 0.1), (3, 1.0)].into_iter().collect();
        assert_eq!(row.terms().collect::<Vec<_>>(), [(1, 0.1), (3, 2.0)]);
        row.add(-1.0, &[(1, 0.1), (2, 5.0)].into_iter().collect());
        assert_eq!(row.within(2..4).collect::<Vec<_>>(), [(0, -5.0), (1, 2.0)]);
        row.add_term(2, 5.3 - 0.3);
        assert_eq!((row.get(2), row.get(3)), (0.0, 2.0));
    }
}
