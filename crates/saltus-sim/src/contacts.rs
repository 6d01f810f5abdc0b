//! Contacts of recorded instants: a table that grows only where there are some.

use saltus_model::rotation::Vector;
use std::ops::Range;

/// The contacts that were found in the steps that ended at recorded instants, column by column.
///
/// Vectors are in the frame of the world; of bodies in the plane the third component is zero, and of
/// `moment` only that one is not. Contacts of one instant are sorted by sides, then by feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contacts {
    /// Where the contacts of each recorded instant end; those of the first begin at 0. One entry an
    /// instant, or none at all where the model finds no contacts.
    pub ends: Vec<usize>,
    /// The two sides, by their positions in [`Layout::sides`](crate::Layout::sides).
    pub sides: Vec<[u32; 2]>,
    /// Which contact of its pair it is.
    pub feature: Vec<u64>,
    /// Its law, by its position in the finder's list.
    pub law: Vec<u32>,
    /// Its coefficient of friction in the step.
    pub mu: Vec<f64>,
    /// Its gap at the beginning of the step; negative where the shapes overlapped.
    pub gap: Vec<f64>,
    /// Where it was then.
    pub point: Vec<Vector>,
    /// Its unit normal then, from the second side to the first.
    pub normal: Vec<Vector>,
    /// Velocity of the first side less that of the second at the end of the step.
    pub u: Vec<Vector>,
    /// The impulse on the first side in the step.
    pub impulse: Vec<Vector>,
    /// The impulse of rolling resistance on the first side: a moment times the step.
    pub moment: Vec<Vector>,
}

/// One row of [`Contacts`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactRow {
    /// The two sides.
    pub sides: [u32; 2],
    /// Which contact of its pair.
    pub feature: u64,
    /// Its law.
    pub law: u32,
    /// Its coefficient of friction.
    pub mu: f64,
    /// Its gap.
    pub gap: f64,
    /// Where it is.
    pub point: Vector,
    /// Its normal.
    pub normal: Vector,
    /// Its relative velocity.
    pub u: Vector,
    /// Its impulse.
    pub impulse: Vector,
    /// Its moment.
    pub moment: Vector,
}

impl Contacts {
    /// Number of contacts of all instants.
    pub fn len(&self) -> usize {
        self.sides.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sides.is_empty()
    }

    /// The contacts of a recorded instant.
    pub fn of(&self, instant: usize) -> Range<usize> {
        let end = |k: usize| self.ends.get(k).copied().unwrap_or(self.sides.len());
        match (instant, self.ends.is_empty()) {
            (_, true) => 0..0,
            (0, _) => 0..end(0),
            (k, _) => end(k - 1)..end(k),
        }
    }

    /// Adds a contact to the instant that is not closed yet.
    pub fn push(&mut self, row: ContactRow) {
        self.sides.push(row.sides);
        self.feature.push(row.feature);
        self.law.push(row.law);
        self.mu.push(row.mu);
        self.gap.push(row.gap);
        self.point.push(row.point);
        self.normal.push(row.normal);
        self.u.push(row.u);
        self.impulse.push(row.impulse);
        self.moment.push(row.moment);
    }

    /// All of an instant are there.
    pub fn close(&mut self) {
        self.ends.push(self.sides.len());
    }

    /// One contact.
    pub fn row(&self, k: usize) -> ContactRow {
        ContactRow {
            sides: self.sides[k],
            feature: self.feature[k],
            law: self.law[k],
            mu: self.mu[k],
            gap: self.gap[k],
            point: self.point[k],
            normal: self.normal[k],
            u: self.u[k],
            impulse: self.impulse[k],
            moment: self.moment[k],
        }
    }

    /// Forgets all of them, keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.sides.clear();
        self.feature.clear();
        self.law.clear();
        self.mu.clear();
        self.gap.clear();
        self.point.clear();
        self.normal.clear();
        self.u.clear();
        self.impulse.clear();
        self.moment.clear();
    }
}
