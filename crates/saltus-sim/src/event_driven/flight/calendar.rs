//! When what comes next: the earliest of many instants, of which a few change at a time.

/// A tournament: every node has the earlier of its two children, the root the earliest of all.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    leaves: usize,
    instants: Vec<f64>,
    winner: Vec<usize>, // of each node; leaves come last
}

impl Calendar {
    /// So many entries, none of which ever comes.
    pub fn clear(&mut self, entries: usize) {
        self.leaves = entries.next_power_of_two();
        self.instants.clear();
        self.instants.resize(self.leaves, f64::INFINITY);
        self.winner.clear();
        self.winner.resize(2 * self.leaves, 0);
        for node in (1..2 * self.leaves).rev() {
            self.winner[node] = match node.checked_sub(self.leaves) {
                Some(leaf) => leaf,
                None => self.winner[2 * node],
            };
        }
    }

    /// An entry comes at another instant.
    pub fn set(&mut self, entry: usize, instant: f64) {
        self.instants[entry] = instant;
        let mut node = (self.leaves + entry) / 2;
        while node > 0 {
            let (a, b) = (self.winner[2 * node], self.winner[2 * node + 1]);
            self.winner[node] = if self.instants[b] < self.instants[a] { b } else { a };
            node /= 2;
        }
    }

    /// The entry that comes first, and its instant.
    pub fn first(&self) -> (usize, f64) {
        match self.winner.get(1) {
            Some(&entry) => (entry, self.instants[entry]),
            None => (0, f64::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.first().1, f64::INFINITY);
        for n in [1, 2, 7, 64] {
            calendar.clear(n);
            assert_eq!(calendar.first().1, f64::INFINITY);
            // every entry once, in another order
            (0..n).for_each(|k| calendar.set(k * 5 % n, 10.0 + (k * 5 % n) as f64));
            for k in 0..n {
                assert_eq!(calendar.first(), (k, 10.0 + k as f64));
                calendar.set(k, 100.0 + k as f64);
            }
            calendar.set(n - 1, 0.0);
            assert_eq!(calendar.first(), (n - 1, 0.0));
        }
    }
}
