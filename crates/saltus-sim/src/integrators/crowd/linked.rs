//! Islands with interactions: constraints, laws of forces and contacts in one problem.
//!
//! ```text
//! w = W λ + q,    W = Σ H_a M⁻¹ H_bᵀ   over the systems that two units share                     (1)
//! ```
//!
//! A unit is an interaction or a found contact. Where all of them are constraints, (1) is a linear
//! system, whose matrix is factored along its skyline: chains of joints cost as much as they have
//! links. Else it is multiplied out and given to the portfolio.

use super::links::Link;
use super::members::{Kind, Member, Members};
use super::skyline::Skyline;
use saltus_linalg::{DenseLu, Matrix, Sparse};
use saltus_model::rotation::{cross, rotate_back};
use saltus_numerics::Operator;
use saltus_numerics::bodies::Touch;
use std::ops::Range;

/// Unknowns up to which `W` is kept with every entry.
const DENSE: usize = 200;

/// The units of an island, and their shares of (1).
#[derive(Debug, Default)]
pub(super) struct Units {
    pub units: Vec<Unit>,
    sides: Vec<UnitSide>,
    H: Vec<f64>,                // of each side: a row a component
    B: Vec<f64>,                // M⁻¹ Hᵀ: likewise, transposed
    of_system: Vec<(u32, u32)>, // system and side, sorted
    pub size: usize,
    pub skyline: Skyline,
}

/// An interaction or a contact.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub what: What,
    pub rows: Range<usize>,
    sides: Range<usize>,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Link(usize),
    Contact(usize),
}

#[derive(Debug, Clone, Copy)]
struct UnitSide {
    unit: usize,
    system: usize,
    dim: usize,
    at: usize, // in H and B
}

impl Units {
    pub fn clear(&mut self) {
        self.units.clear();
        self.sides.clear();
        self.H.clear();
        self.B.clear();
        self.of_system.clear();
        self.size = 0;
    }

    /// Adds an interaction with the `H` that it has now.
    pub fn add_link(&mut self, k: usize, link: &Link, members: &mut Members) {
        let (size, first) = (link.rows.len(), self.sides.len());
        let mut column = 0;
        for &system in &link.members {
            let dim = members.all[system].system.dim();
            let at = self.H.len();
            for row in 0..size {
                self.H.extend_from_slice(&link.H.row(row)[column..column + dim]);
            }
            self.respond(at, size, system, members);
            column += dim;
        }
        self.close(What::Link(k), size, first);
    }

    /// Adds a found contact.
    pub fn add_contact(&mut self, place: usize, touch: &Touch, q: &[f64], members: &mut Members) {
        let (size, first) = (touch.friction.size(), self.sides.len());
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let system = touch.bodies[side] as usize;
            let Some(member) = members.all.get(system) else { continue };
            let at = self.H.len();
            for k in 0..size {
                let (direction, is_turn) = touch.direction(k);
                let linear = if is_turn { [0.0; 3] } else { direction };
                let turn = if is_turn { direction } else { cross(touch.arms[side], direction) };
                match member.kind {
                    Kind::Plane => self.H.extend([linear[0], linear[1], turn[2]].map(|x| sign * x)),
                    _ => {
                        self.H.extend(linear.map(|x| sign * x));
                        let turn = rotate_back(member.quaternion(q), turn);
                        self.H.extend(turn.map(|x| sign * x));
                    }
                }
            }
            self.respond(at, size, system, members);
        }
        self.close(What::Contact(place), size, first);
    }

    /// `M⁻¹ Hᵀ` of the side whose `H` was added last.
    fn respond(&mut self, at: usize, size: usize, system: usize, members: &mut Members) {
        let dim = members.all[system].system.dim();
        self.B.extend_from_slice(&self.H[at..]);
        let Members { all, factors, .. } = members;
        for row in 0..size {
            let column = &mut self.B[at + row * dim..at + (row + 1) * dim];
            solve_mass(&all[system], factors, column);
        }
        let unit = self.units.len();
        self.of_system.push((system as u32, self.sides.len() as u32));
        self.sides.push(UnitSide { unit, system, dim, at });
    }

    fn close(&mut self, what: What, size: usize, first: usize) {
        let rows = self.size..self.size + size;
        self.size += size;
        self.units.push(Unit { what, rows, sides: first..self.sides.len() });
    }

    /// All shares `H_a M⁻¹ H_bᵀ`, with `a ≥ b` alone where asked for.
    fn for_each_share(&self, lower: bool, mut visit: impl FnMut(usize, usize, f64)) {
        for group in self.of_system.chunk_by(|a, b| a.0 == b.0) {
            for &(_, a) in group {
                for &(_, b) in group {
                    let (a, b) = (self.sides[a as usize], self.sides[b as usize]);
                    if lower && a.unit < b.unit {
                        continue;
                    }
                    let (rows, cols) = (&self.units[a.unit].rows, &self.units[b.unit].rows);
                    for (i, row) in rows.clone().enumerate() {
                        let H = &self.H[a.at + i * a.dim..a.at + (i + 1) * a.dim];
                        for (j, col) in cols.clone().enumerate() {
                            if lower && col > row {
                                break;
                            }
                            let B = &self.B[b.at + j * b.dim..b.at + (j + 1) * b.dim];
                            visit(row, col, H.iter().zip(B).map(|(a, b)| a * b).sum());
                        }
                    }
                }
            }
        }
    }

    /// Sorts what was added by systems.
    pub fn finish(&mut self) {
        self.of_system.sort_unstable();
    }

    /// Factors of `W`, along its skyline.
    pub fn factor(&mut self) {
        let mut first: Vec<usize> = Vec::with_capacity(self.size);
        for unit in &self.units {
            first.extend(unit.rows.clone().map(|_| unit.rows.start));
        }
        for group in self.of_system.chunk_by(|a, b| a.0 == b.0) {
            let start = |side: u32| self.units[self.sides[side as usize].unit].rows.clone();
            let least = group.iter().map(|&(_, side)| start(side).start).min().unwrap_or(0);
            for &(_, side) in group {
                start(side).for_each(|row| first[row] = first[row].min(least));
            }
        }
        let mut skyline = std::mem::take(&mut self.skyline);
        skyline.reset(first.into_iter());
        self.for_each_share(true, |row, col, value| skyline.add(row, col, value));
        skyline.factor();
        self.skyline = skyline;
    }

    /// `W`, multiplied out.
    pub fn matrix(&self) -> Operator {
        if self.size <= DENSE {
            let mut W = Matrix::zeros(self.size, self.size);
            self.for_each_share(false, |row, col, value| W[(row, col)] += value);
            return Operator::Dense(W);
        }
        let mut triplets = Vec::new();
        self.for_each_share(false, |row, col, value| triplets.push((row, col, value)));
        Operator::Sparse(Sparse::from_triplets(self.size, self.size, &triplets))
    }

    /// `v ← v + M⁻¹ Hᵀ λ`.
    pub fn push(&self, lam: &[f64], members: &Members, v: &mut [f64]) {
        for unit in &self.units {
            for side in &self.sides[unit.sides.clone()] {
                let start = members.all[side.system].v;
                for (i, row) in unit.rows.clone().enumerate() {
                    let B = &self.B[side.at + i * side.dim..side.at + (i + 1) * side.dim];
                    for (v, B) in v[start..start + side.dim].iter_mut().zip(B) {
                        *v += B * lam[row];
                    }
                }
            }
        }
    }

    /// `H v` of all rows.
    pub fn velocities(&self, v: &[f64], members: &Members, u: &mut [f64]) {
        u.fill(0.0);
        for unit in &self.units {
            for side in &self.sides[unit.sides.clone()] {
                let start = members.all[side.system].v;
                let own = &v[start..start + side.dim];
                for (i, row) in unit.rows.clone().enumerate() {
                    let H = &self.H[side.at + i * side.dim..side.at + (i + 1) * side.dim];
                    u[row] += H.iter().zip(own).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }
}

/// `x ← M⁻¹ x`, of what is no body with the iteration matrix in place of `M`.
fn solve_mass(member: &Member, factors: &mut [DenseLu], x: &mut [f64]) {
    let mass = member.rigid.mass;
    match member.kind {
        Kind::Space => {
            x[..3].iter_mut().for_each(|x| *x /= mass);
            let turn = member.turn_by([x[3], x[4], x[5]]);
            x[3..6].copy_from_slice(&turn);
        }
        Kind::Plane => {
            x[..2].iter_mut().for_each(|x| *x /= mass);
            x[2] = member.turn_by([0.0, 0.0, x[2]])[2];
        }
        Kind::Other(place) => factors[place].solve(x),
    }
}
