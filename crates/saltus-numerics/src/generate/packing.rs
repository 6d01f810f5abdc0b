//! Packings of grains.
//!
//! Bodies sit on a jittered lattice and touch their neighbours; where more contacts are asked for
//! than there are neighbours, pairs touch at several points, as stacked boxes do. The difficulty
//! of such problems goes with
//!
//! ```text
//! c = m/n,     m unknowns of the contacts,  n velocities                                    (1)
//! ```
//!
//! For c > 1 the system is hyperstatic: `W = Hᵀ M⁻¹ H` is singular, and the forces are not unique.

use super::law::{Shares, answer};
use super::{Generated, Random};
use crate::{Block, NumericsError, Set};
use saltus_linalg::Sparse;

/// The law of the contacts of a packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactLaw {
    /// Friction in the plane: 2 unknowns a contact, 3 velocities a body.
    Friction2,
    /// Friction in space: 3 unknowns, 6 velocities.
    Friction3,
    /// Friction and rolling in the plane: 3 unknowns, 3 velocities.
    Rolling2,
    /// Friction and rolling in space: 5 unknowns, 6 velocities.
    Rolling3,
}

/// A packing to be built.
#[derive(Debug, Clone, PartialEq)]
pub struct Packing {
    /// Number of contacts.
    pub contacts: usize,
    /// Unknowns a velocity, equation (1): 0.1 is loose, 1 isostatic, 7 stacked boxes. Default 1.
    pub c: f64,
    /// Friction coefficient. Default 0.5.
    pub mu: f64,
    /// Coefficient of rolling resistance, a length; the bodies have radius 1/2. Default 0.05.
    pub mu_r: f64,
    /// The law. Default `Friction3`.
    pub law: ContactLaw,
    /// Share of open contacts. Default 0.3.
    pub open: f64,
    /// Share of the closed ones that slip. Default 0.4.
    pub slip: f64,
    /// Seed of all that is random. Default 0.
    pub seed: u64,
}

impl Default for Packing {
    fn default() -> Self {
        let Shares { open, slip } = Shares::default();
        let law = ContactLaw::Friction3;
        Packing { contacts: 100, c: 1.0, mu: 0.5, mu_r: 0.05, law, open, slip, seed: 0 }
    }
}

/// A packing of spheres in space: `contacts` of them, `c` unknowns a velocity.
pub fn packing(contacts: usize, c: f64, mu: f64, seed: u64) -> Result<Generated, NumericsError> {
    Packing { contacts, c, mu, seed, ..Packing::default() }.build()
}

/// Half of the neighbours of a place: the other half sees this one.
const NEIGHBOURS: [[i64; 3]; 13] = [
    [0, 0, 1],
    [1, 0, 0],
    [0, 1, 0],
    [1, 0, 1],
    [0, 1, 1],
    [1, 1, 0],
    [1, 0, -1],
    [0, 1, -1],
    [1, -1, 0],
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [1, -1, -1],
];
const NEIGHBOURS_IN_PLANE: [[i64; 3]; 4] = [[0, 1, 0], [1, 0, 0], [1, 1, 0], [1, -1, 0]];

impl Packing {
    /// Builds it. Cost and memory are linear in the number of contacts and bodies.
    pub fn build(&self) -> Result<Generated, NumericsError> {
        let (space, size) = match self.law {
            ContactLaw::Friction2 => (false, 2),
            ContactLaw::Friction3 => (true, 3),
            ContactLaw::Rolling2 => (false, 3),
            ContactLaw::Rolling3 => (true, 5),
        };
        if !(self.c > 0.0 && self.c.is_finite()) {
            let (field, allowed) = ("c", "(0, inf)");
            return Err(NumericsError::Setting { field, value: self.c, allowed });
        }
        let degrees = if space { 6 } else { 3 };
        let ratio = (size * self.contacts) as f64 / (degrees as f64 * self.c);
        let bodies = (ratio.round() as usize).max(1);
        let mut random = Random::new(self.seed);

        let mass = masses(bodies, space, &mut random);
        let mut entries = Vec::with_capacity(self.contacts * size * 2 * degrees);
        for contact in 0..self.contacts {
            let contact_at = self.place(contact, bodies, space, &mut random);
            contact_at.write(contact * size, size, space, &mut entries);
        }
        let H = Sparse::from_triplets(bodies * degrees, self.contacts * size, &entries);

        let (mu, mu_r) = (self.mu, self.mu_r);
        let set = match self.law {
            ContactLaw::Friction2 => Set::Coulomb2 { mu },
            ContactLaw::Friction3 => Set::Coulomb3 { mu },
            ContactLaw::Rolling2 => Set::Rolling2 { mu, mu_r },
            ContactLaw::Rolling3 => Set::Rolling3 { mu, mu_r },
        };
        let blocks = vec![Block { size, set }; self.contacts];
        let shares = Shares { open: self.open, slip: self.slip };
        let pair = answer(&blocks, shares, &mut random);
        let v = random.vector(bodies * degrees);
        Generated::in_motion(mass, H, &v, &blocks, pair)
    }

    /// Contact number `k`: its bodies, frame and arms.
    fn place(&self, k: usize, bodies: usize, space: bool, random: &mut Random) -> Contact {
        let dimension = if space { 3 } else { 2 };
        let side = (bodies as f64).powf(1.0 / f64::from(dimension)).ceil().max(1.0) as usize;
        let neighbours: &[[i64; 3]] = if space { &NEIGHBOURS } else { &NEIGHBOURS_IN_PLANE };
        // few contacts are spread over all bodies, at distances that the lattice does not repeat;
        // many go round several times
        let body = match self.contacts < bodies {
            true => {
                let (from, to) = (k * bodies / self.contacts, (k + 1) * bodies / self.contacts);
                from + random.below(to - from)
            }
            false => k % bodies,
        };
        let round = k / bodies;
        let offset = neighbours[round % neighbours.len()];
        let place = |body: usize| [body % side, body / side % side, body / (side * side)];
        let at = place(body);
        let mut other = [0; 3];
        let mut inside = true;
        for i in 0..3 {
            let coordinate = at[i] as i64 + offset[i];
            inside &= coordinate >= 0 && coordinate < side as i64;
            other[i] = coordinate.max(0) as usize;
        }
        let other = other[0] + side * (other[1] + side * other[2]);
        // beyond the lattice there is a wall
        let other = (inside && other < bodies).then_some(other);

        let mut normal = offset.map(|x| -(x as f64) + random.between(-0.15, 0.15));
        if !space {
            normal[2] = 0.0;
        }
        let length = dot(normal, normal).sqrt();
        let normal = normal.map(|x| x / length);
        let tangents = frame(normal, space);
        // further points of a pair lie beside the first
        let spread = if round < neighbours.len() { 0.0 } else { 0.4 };
        let (a, b) = (random.between(-spread, spread), random.between(-spread, spread));
        let arm = [0, 1, 2].map(|i| {
            let aside = if space { b * tangents[1][i] } else { 0.0 };
            -0.5 * normal[i] + a * tangents[0][i] + aside
        });
        let far = [0, 1, 2].map(|i| arm[i] + normal[i]);
        Contact { body, other, normal, tangents, arm, far }
    }
}

/// Two bodies, or a body and the wall, and where they touch.
pub(super) struct Contact {
    pub body: usize,
    pub other: Option<usize>,
    pub normal: [f64; 3],
    pub tangents: [[f64; 3]; 2],
    pub arm: [f64; 3], // from the centre of the body
    pub far: [f64; 3], // from that of the other
}

impl Contact {
    /// The columns of `H`: `u = t·(v + ω × arm)` of the body less that of the other, and the
    /// relative rotation about the tangents for rolling.
    pub fn write(
        &self,
        column: usize,
        size: usize,
        space: bool,
        out: &mut Vec<(usize, usize, f64)>,
    ) {
        let degrees = if space { 6 } else { 3 };
        let directions: &[[f64; 3]] =
            &[self.normal, self.tangents[0], self.tangents[1]][..if space { 3 } else { 2 }];
        let rolling = size - directions.len();
        let sides = [(Some(self.body), self.arm, 1.0), (self.other, self.far, -1.0)];
        for (body, arm, sign) in sides {
            let Some(body) = body else { continue };
            let first = body * degrees;
            let mut add = |row: usize, column: usize, value: f64| {
                if value != 0.0 {
                    out.push((first + row, column, sign * value));
                }
            };
            for (k, &t) in directions.iter().enumerate() {
                let turn = cross(arm, t);
                if space {
                    (0..3).for_each(|i| add(i, column + k, t[i]));
                    (0..3).for_each(|i| add(3 + i, column + k, turn[i]));
                } else {
                    (0..2).for_each(|i| add(i, column + k, t[i]));
                    add(2, column + k, turn[2]);
                }
            }
            for k in 0..rolling {
                let column = column + directions.len() + k;
                if space {
                    (0..3).for_each(|i| add(3 + i, column, self.tangents[k][i]));
                } else {
                    add(2, column, 1.0);
                }
            }
        }
    }
}

/// Masses between 1/2 and 2; in space the inertia is a full 3 × 3 block.
fn masses(bodies: usize, space: bool, random: &mut Random) -> Sparse {
    let degrees = if space { 6 } else { 3 };
    let mut entries = Vec::with_capacity(bodies * if space { 12 } else { 3 });
    for body in 0..bodies {
        let (first, m) = (body * degrees, random.between(0.5, 2.0));
        for i in 0..if space { 3 } else { 2 } {
            entries.push((first + i, first + i, m));
        }
        if !space {
            entries.push((first + 2, first + 2, 0.125 * m));
            continue;
        }
        for i in 0..3 {
            entries.push((first + 3 + i, first + 3 + i, m * random.between(0.1, 0.15)));
            for j in 0..i {
                let product = m * random.between(-0.02, 0.02);
                entries.push((first + 3 + i, first + 3 + j, product));
                entries.push((first + 3 + j, first + 3 + i, product));
            }
        }
    }
    Sparse::from_triplets(bodies * degrees, bodies * degrees, &entries)
}

/// Two directions across the normal; in the plane the first of them is in it.
pub(super) fn frame(n: [f64; 3], space: bool) -> [[f64; 3]; 2] {
    if !space {
        return [[-n[1], n[0], 0.0], [0.0, 0.0, 1.0]];
    }
    let axis = if n[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let t = cross(n, axis);
    let length = dot(t, t).sqrt();
    let t = t.map(|x| x / length);
    [t, cross(n, t)]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
