//! The contacts of the last step that was committed: what is recorded, and where the next step starts.

use crate::contacts::{ContactRow, Contacts};
use saltus_linalg::vector::foresee;
use saltus_model::rotation::Vector;
use saltus_numerics::Memory;
use saltus_numerics::bodies::FORESEEN;

/// One of them but for its moment.
#[derive(Debug, Clone, Copy)]
struct Kept {
    sides: [u32; 2],
    feature: u64,
    law: u32,
    mu: f64,
    gap: f64,
    point: Vector,
    normal: Vector,
    u: Vector,
    impulse: Vector,
}

/// What is kept of each contact beside that, because laws of the scene ask for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keeps {
    /// The moment of rolling resistance.
    pub moments: bool,
    /// The stretch of a tangential spring.
    pub stretches: bool,
}

/// All of them, sorted by sides, then by feature.
#[derive(Debug, Clone, Default)]
pub(super) struct Committed {
    all: Vec<Kept>,
    moments: Vec<Vector>, // one a contact where there is rolling resistance, else none
    stretches: Vec<Vector>, // likewise, where contacts give way
    pub potential: f64,   // of their springs
    pub is_held: bool,    // whether it is: not before a first step, nor where a body was put
    pub h: f64,           // of that step; zero where there was none
}

impl Committed {
    /// There was no step.
    pub fn clear(&mut self) {
        self.all.clear();
        self.moments.clear();
        self.stretches.clear();
        (self.h, self.potential, self.is_held) = (0.0, 0.0, false);
    }

    /// These contacts, of a step of so many bodies.
    pub fn fill(
        &mut self,
        h: f64,
        bodies: usize,
        keeps: Keeps,
        rows: impl ExactSizeIterator<Item = (ContactRow, Vector)>,
    ) {
        self.clear();
        (self.h, self.is_held) = (h, true);
        let (count, foreseen) = (rows.len(), FORESEEN * bodies);
        foresee(&mut self.all, count, foreseen);
        if keeps.moments {
            foresee(&mut self.moments, count, foreseen);
        }
        if keeps.stretches {
            foresee(&mut self.stretches, count, foreseen);
        }
        for (row, stretch) in rows {
            let ContactRow { sides, feature, law, mu, gap, point, normal, u, impulse, moment } =
                row;
            self.all.push(Kept { sides, feature, law, mu, gap, point, normal, u, impulse });
            if keeps.moments {
                self.moments.push(moment);
            }
            if keeps.stretches {
                self.stretches.push(stretch);
            }
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// What tells one from the others.
    #[inline]
    pub fn key(&self, k: usize) -> ([u32; 2], u64) {
        (self.all[k].sides, self.all[k].feature)
    }

    /// Its impulse and its moment, in the frame of the world.
    #[inline]
    pub fn pushed(&self, k: usize) -> (Vector, Vector) {
        (self.all[k].impulse, self.moments.get(k).copied().unwrap_or_default())
    }

    /// How far its tangential spring is stretched, in the frame of the world.
    #[inline]
    pub fn stretch(&self, k: usize) -> Vector {
        self.stretches.get(k).copied().unwrap_or_default()
    }

    /// The springs of these contacts are not stretched, and what all of them hold is not known.
    pub fn forget_stretches(&mut self, is_of: impl Fn([u32; 2]) -> bool) {
        for (one, stretch) in self.all.iter().zip(&mut self.stretches) {
            if is_of(one.sides) {
                *stretch = [0.0; 3];
            }
        }
        self.let_go();
    }

    /// What springs hold is not known: it has been put there by work.
    pub fn let_go(&mut self) {
        (self.potential, self.is_held) = (0.0, false);
    }

    fn row(&self, k: usize) -> ContactRow {
        let Kept { sides, feature, law, mu, gap, point, normal, u, impulse } = self.all[k];
        let (_, moment) = self.pushed(k);
        ContactRow { sides, feature, law, mu, gap, point, normal, u, impulse, moment }
    }

    /// As a table.
    pub fn table(&self, contacts: &mut Contacts) {
        (0..self.len()).for_each(|k| contacts.push(self.row(k)));
        contacts.close();
    }

    /// Deepest penetration that was found.
    pub fn penetration(&self) -> f64 {
        self.all.iter().fold(0.0, |most: f64, one| most.max(-one.gap))
    }

    pub fn memory(&mut self, memory: &mut Memory, keeps: Keeps) {
        let (mut h, mut potential) = (self.h, self.potential);
        let mut is_held = u64::from(self.is_held);
        memory.number(&mut h);
        if keeps.stretches {
            memory.number(&mut potential);
            memory.word(&mut is_held);
        }
        let blank = ContactRow {
            sides: [0; 2],
            feature: 0,
            law: 0,
            mu: 0.0,
            gap: 0.0,
            point: [0.0; 3],
            normal: [0.0; 3],
            u: [0.0; 3],
            impulse: [0.0; 3],
            moment: [0.0; 3],
        };
        let rows = (0..self.len()).map(|k| (self.row(k), self.stretch(k)));
        let mut rows: Vec<(ContactRow, Vector)> = rows.collect();
        memory.list(&mut rows, (blank, [0.0; 3]), |memory, (row, stretch)| {
            let mut words = [row.sides[0], row.sides[1], row.law].map(u64::from);
            words.iter_mut().for_each(|word| memory.word(word));
            let [a, b, law] = words.map(|word| word as u32);
            (row.sides, row.law) = ([a, b], law);
            memory.word(&mut row.feature);
            memory.number(&mut row.mu);
            memory.number(&mut row.gap);
            for vector in
                [&mut row.point, &mut row.normal, &mut row.u, &mut row.impulse, &mut row.moment]
            {
                memory.numbers(vector);
            }
            if keeps.stretches {
                memory.numbers(stretch);
            }
        });
        self.fill(h, 0, keeps, rows.into_iter());
        (self.potential, self.is_held) = (potential, is_held != 0);
    }
}
