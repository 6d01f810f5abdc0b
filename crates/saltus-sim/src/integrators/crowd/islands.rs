//! Islands: systems that contacts and interactions hang together, each a problem of its own.
//!
//! Numbered by their first system, so that the order of contacts does not count.

/// Which system is in which island, and what each of them has.
#[derive(Debug, Default)]
pub(super) struct Islands {
    parent: Vec<u32>,
    number: Vec<u32>, // of the root of each island
    pub of: Vec<u32>, // of each system; NONE where nothing touches it
    touched: Vec<bool>,
    pub count: usize,
    starts: Vec<u32>, // of each island in `systems`
    systems: Vec<u32>,
}

/// No island.
pub(super) const NONE: u32 = u32::MAX;

impl Islands {
    /// Forgets all links.
    pub fn begin(&mut self, systems: usize) {
        self.parent.clear();
        self.parent.extend(0..systems as u32);
        self.touched.clear();
        self.touched.resize(systems, false);
    }

    fn root(&mut self, mut k: u32) -> u32 {
        while self.parent[k as usize] != k {
            let above = self.parent[self.parent[k as usize] as usize];
            self.parent[k as usize] = above;
            k = above;
        }
        k
    }

    /// Something acts on a system.
    pub fn touch(&mut self, k: usize) {
        self.touched[k] = true;
    }

    /// Two systems are in one island.
    pub fn join(&mut self, a: usize, b: usize) {
        self.touched[a] = true;
        self.touched[b] = true;
        let (a, b) = (self.root(a as u32), self.root(b as u32));
        // the smaller one stays a root
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Numbers the islands.
    pub fn finish(&mut self) {
        let n = self.parent.len();
        self.number.clear();
        self.number.resize(n, NONE);
        self.of.clear();
        self.of.resize(n, NONE);
        self.count = 0;
        self.starts.clear();
        for k in 0..n {
            if !self.touched[k] {
                continue;
            }
            let root = self.root(k as u32) as usize;
            if self.number[root] == NONE {
                self.number[root] = self.count as u32;
                self.count += 1;
                self.starts.push(0);
            }
            let island = self.number[root];
            self.of[k] = island;
            self.starts[island as usize] += 1;
        }
        let mut next = 0;
        for start in &mut self.starts {
            next += std::mem::replace(start, next);
        }
        self.starts.push(next);
        self.systems.clear();
        self.systems.resize(next as usize, 0);
        for k in 0..n {
            if self.of[k] != NONE {
                let place = &mut self.starts[self.of[k] as usize];
                self.systems[*place as usize] = k as u32;
                *place += 1;
            }
        }
        // each start has moved to the next
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// The systems of an island, in order.
    pub fn systems(&self, island: usize) -> &[u32] {
        &self.systems[self.starts[island] as usize..self.starts[island + 1] as usize]
    }
}
