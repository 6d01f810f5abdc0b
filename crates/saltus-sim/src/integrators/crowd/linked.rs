//! Islands with interactions: constraints, laws of forces and contacts in one problem.
//!
//! ```text
//! w = (W + D) λ + q,    W = Σ H_a M⁻¹ H_bᵀ   over the systems that two units share               (1)
//! ```
//!
//! with `D` of springs and dampers (see `forces`). A unit is an interaction or a found contact. Where all
//! of them are constraints, springs and dampers, (1) is a linear system, whose matrix is factored along
//! its skyline, unit by unit: chains of joints cost as much as they have links. Else it is multiplied out
//! and given to the portfolio.
//!
//! What shares a system with what is found out when the units change, not in every step: units are then
//! put in the order of Cuthill and McKee, so that those which share a system stand close to each other,
//! whatever order the model names them in.

use super::blocks::{Block, Blocks, add_product};
use super::factors::Factors;
use super::islands::NONE;
use super::links::{Link, Links};
use super::members::{Kind, Members};
use super::order::order;
use saltus_linalg::{Matrix, Sparse, Wide, wide};
use saltus_model::relation::MOST_LINKED;
use saltus_model::rotation::{cross, rotate_back};
use saltus_numerics::Operator;
use saltus_numerics::bodies::Touch;
use std::ops::Range;

/// Unknowns up to which `W` is kept with every entry.
pub(super) const DENSE: usize = 200;

/// The units of an island, and their shares of (1).
#[derive(Debug, Default)]
pub(super) struct Units {
    parts: Vec<Part>, // what the units were made of, in the order of the model
    pub units: Vec<Unit>,
    sides: Vec<UnitSide>,
    of_system: Vec<(usize, u32)>, // the sides of each system, in order
    H: Vec<f64>,                  // of each side: a row a component
    B: Vec<f64>,                  // M⁻¹ Hᵀ: likewise, transposed
    shares: Vec<Share>,
    pub size: usize,
    softness: Vec<f64>, // D of each row, as it is scaled
    scale: Vec<f64>,    // s of each row
    is_soft: bool,
    first: Vec<usize>, // the unit in which the rows of each begin
    factors: Factors,
    is_shaped: bool, // whether the factors are of these units
    work: Vec<f64>,
    next: Vec<Part>,
}

/// What a unit is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub what: What,
    pub size: usize,
    systems: [u32; MOST_LINKED], // those that there are, then NONE
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
pub(super) struct UnitSide {
    system: usize,
    pub unit: usize,
    pub dim: usize,
    v: usize,        // where the velocity of the system begins
    pub at: usize,   // in H and B
    pub row: usize,  // the first one
    pub size: usize, // rows
}

/// Two sides of one system, the first one not before the second.
#[derive(Debug, Clone, Copy)]
struct Share {
    of: u32,
    by: u32,
}

impl Part {
    pub fn link(k: usize, link: &Link) -> Part {
        Part::of(What::Link(k), link.rows.len(), link.members.iter().map(|&k| k as u32))
    }

    pub fn contact(place: usize, touch: &Touch, bodies: usize) -> Part {
        let systems = touch.bodies.into_iter().filter(|k| (*k as usize) < bodies);
        Part::of(What::Contact(place), touch.friction.size(), systems)
    }

    pub fn of(what: What, size: usize, linked: impl Iterator<Item = u32>) -> Part {
        let mut systems = [NONE; MOST_LINKED];
        systems.iter_mut().zip(linked).for_each(|(system, k)| *system = k);
        Part { what, size, systems }
    }

    pub fn systems(&self) -> impl Iterator<Item = usize> {
        self.systems.into_iter().take_while(|k| *k != NONE).map(|k| k as usize)
    }
}

impl Units {
    /// The units of these parts; nothing is done where they are the same as before.
    pub fn compose(&mut self, parts: impl Iterator<Item = Part>, members: &Members) {
        self.next.clear();
        self.next.extend(parts);
        if self.next == self.parts {
            return;
        }
        std::mem::swap(&mut self.parts, &mut self.next);
        self.units.clear();
        self.sides.clear();
        let (mut row, mut at) = (0, 0);
        for k in order(&self.parts) {
            let part = self.parts[k];
            let (size, first) = (part.size, self.sides.len());
            for system in part.systems() {
                let (member, unit) = (&members.all[system], self.units.len());
                let dim = member.dim();
                self.sides.push(UnitSide { system, unit, dim, v: member.v, at, row, size });
                at += size * dim;
            }
            let (rows, sides) = (row..row + size, first..self.sides.len());
            self.units.push(Unit { what: part.what, rows, sides });
            row += size;
        }
        self.size = row;
        self.is_soft = false;
        for (entries, size, value) in [
            (&mut self.H, at, 0.0),
            (&mut self.B, at, 0.0),
            (&mut self.softness, row, 0.0),
            (&mut self.scale, row, 1.0),
        ] {
            entries.clear();
            entries.resize(size, value);
        }
        self.share();
    }

    /// Which sides share a system, and where the rows of `W` begin.
    fn share(&mut self) {
        let sides = self.sides.iter().enumerate().map(|(k, side)| (side.system, k as u32));
        self.of_system.clear();
        self.of_system.extend(sides);
        self.of_system.sort_unstable();
        self.shares.clear();
        self.first.clear();
        self.first.extend(0..self.units.len());
        self.is_shaped = false;
        for group in self.of_system.chunk_by(|a, b| a.0 == b.0) {
            // sides are numbered as their units are
            let least = self.sides[group[0].1 as usize].unit;
            for (i, &(_, of)) in group.iter().enumerate() {
                self.shares.extend(group[..=i].iter().map(|&(_, by)| Share { of, by }));
                let first = &mut self.first[self.sides[of as usize].unit];
                *first = (*first).min(least);
            }
        }
    }

    /// An interaction with the `H` that it has now.
    pub fn set_link(&mut self, unit: usize, link: &Link, members: &mut Members) {
        let (mut column, width) = (0, link.H.cols());
        for k in self.units[unit].sides.clone() {
            let UnitSide { system, dim, at, size, .. } = self.sides[k];
            let from = link.H.data();
            let (H, B) = (&mut self.H[at..at + size * dim], &mut self.B[at..at + size * dim]);
            match &members.all[system].straight() {
                // a body in space whose mass matrix is diagonal
                Some(over) if width % 6 == 0 && column % 6 == 0 => {
                    let ((H, _), (B, _)) = (H.as_chunks_mut::<6>(), B.as_chunks_mut::<6>());
                    let (from, stride) = (&from.as_chunks::<6>().0[column / 6..], width / 6);
                    let B = &mut B[..H.len()];
                    for row in 0..H.len() {
                        let own = from[row * stride];
                        H[row] = own;
                        for k in 0..6 {
                            B[row][k] = over[k] * own[k];
                        }
                    }
                }
                _ => {
                    for (row, own) in H.chunks_exact_mut(dim).enumerate() {
                        own.copy_from_slice(&from[row * width + column..][..dim]);
                    }
                    self.respond(k, members);
                }
            }
            column += dim;
        }
    }

    /// All interactions likewise.
    pub fn set_links(&mut self, links: &Links, members: &mut Members) {
        for unit in 0..self.units.len() {
            if let What::Link(k) = self.units[unit].what {
                self.set_link(unit, &links.all[k], members);
            }
        }
    }

    /// The interactions: where their rows are, and which they are.
    pub fn links(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        self.units.iter().filter_map(|unit| match unit.what {
            What::Link(k) => Some((unit.rows.clone(), k)),
            What::Contact(_) => None,
        })
    }

    /// Lets a row give way by `D`, once its unit is set; its scale `s`, which is 1 unless it may be another
    /// one.
    pub fn soften(&mut self, unit: usize, row: usize, D: f64, is_scaled: bool) -> f64 {
        let Unit { rows, sides, .. } = &self.units[unit];
        let place = |side: &UnitSide| {
            let start = side.at + (row - rows.start) * side.dim;
            start..start + side.dim
        };
        let sides = &self.sides[sides.clone()];
        let own = sides.iter().flat_map(place);
        let W: f64 = own.map(|k| self.H[k] * self.B[k]).sum();
        let scale = if is_scaled && D > W && W > 0.0 { (W / D).sqrt() } else { 1.0 };
        for k in sides.iter().flat_map(place) {
            self.H[k] *= scale;
            self.B[k] *= scale;
        }
        self.softness[row] = scale * scale * D;
        self.scale[row] = scale;
        self.is_soft = true;
        scale
    }

    /// Lets a known impulse act on the velocities, and takes the row out of (1), once its unit is set: its own
    /// unknown is then zero.
    pub fn settle(&mut self, unit: usize, row: usize, lam: f64, v: &mut [f64]) {
        let Unit { rows, sides, .. } = &self.units[unit];
        for side in &self.sides[sides.clone()] {
            let start = side.at + (row - rows.start) * side.dim;
            let (H, B) = (&mut self.H[start..start + side.dim], &mut self.B[start..][..side.dim]);
            if lam != 0.0 {
                let v = &mut v[side.v..side.v + side.dim];
                v.iter_mut().zip(&*B).for_each(|(v, B)| *v += B * lam);
            }
            H.fill(0.0);
            B.fill(0.0);
        }
        (self.softness[row], self.scale[row]) = (0.0, 1.0);
    }

    /// Solves a row alone, `H v + b + D λ = 0`, and moves the velocities.
    pub fn relax(&self, unit: usize, row: usize, [D, b]: [f64; 2], v: &mut [f64]) {
        let Unit { rows, sides, .. } = &self.units[unit];
        let (mut u, mut W) = (b, D);
        let sides = self.sides[sides.clone()].iter().map(|side| {
            let start = side.at + (row - rows.start) * side.dim;
            (side.v..side.v + side.dim, start..start + side.dim)
        });
        for (own, at) in sides.clone() {
            let H = &self.H[at.clone()];
            u += H.iter().zip(&v[own]).map(|(H, v)| H * v).sum::<f64>();
            W += H.iter().zip(&self.B[at]).map(|(H, B)| H * B).sum::<f64>();
        }
        if W > 0.0 {
            for (own, at) in sides {
                v[own].iter_mut().zip(&self.B[at]).for_each(|(v, B)| *v -= B * u / W);
            }
        }
    }

    /// `Σ |λ_k| ‖B_k‖` of a system, in the norm of its mass: what each impulse alone would do to it.
    pub fn effort(&self, system: usize, z: &[f64]) -> f64 {
        let first = self.of_system.partition_point(|(other, _)| *other < system);
        let own = self.of_system[first..].iter().take_while(|(other, _)| *other == system);
        let own = own.map(|(_, side)| &self.sides[*side as usize]);
        let terms = own.flat_map(|side| (0..side.size).map(move |i| (side, i)));
        terms.map(|(side, i)| z[side.row + i].abs() * self.square(side, i).sqrt()).sum()
    }

    /// The systems of a unit.
    pub fn systems(&self, unit: usize) -> impl Iterator<Item = usize> {
        self.sides[self.units[unit].sides.clone()].iter().map(|side| side.system)
    }

    /// `W + D` of a row, on the diagonal.
    pub fn diagonal(&self, unit: usize, row: usize) -> f64 {
        let Unit { rows, sides, .. } = &self.units[unit];
        let sides = self.sides[sides.clone()].iter();
        sides.map(|side| self.square(side, row - rows.start)).sum::<f64>() + self.softness[row]
    }

    /// `H M⁻¹ Hᵀ` of a row of a side.
    fn square(&self, side: &UnitSide, i: usize) -> f64 {
        let own = side.at + i * side.dim..side.at + (i + 1) * side.dim;
        self.H[own.clone()].iter().zip(&self.B[own]).map(|(H, B)| H * B).sum()
    }

    /// `λ` of some rows as the interaction has it.
    pub fn impulses(&self, rows: Range<usize>, z: &[f64], lam: &mut [f64]) {
        for (lam, row) in lam.iter_mut().zip(rows) {
            *lam = self.scale[row] * z[row];
        }
    }

    /// `u ← u + D λ`.
    pub fn add_yield(&self, z: &[f64], u: &mut [f64]) {
        if self.is_soft {
            for (row, u) in u.iter_mut().enumerate() {
                *u += self.softness[row] * z[row];
            }
        }
    }

    /// A found contact.
    pub fn set_contact(&mut self, unit: usize, touch: &Touch, q: &[f64], members: &mut Members) {
        let mut sides = self.units[unit].sides.clone();
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let Some(member) = members.all.get(touch.bodies[side] as usize) else { continue };
            let Some(k) = sides.next() else { continue };
            let UnitSide { dim, at, size, .. } = self.sides[k];
            for (row, H) in self.H[at..at + size * dim].chunks_exact_mut(dim).enumerate() {
                let (direction, is_turn) = touch.direction(row);
                let linear = if is_turn { [0.0; 3] } else { direction };
                let turn = if is_turn { direction } else { cross(touch.arms[side], direction) };
                match member.kind {
                    Kind::Plane => {
                        H.copy_from_slice(&[linear[0], linear[1], turn[2]].map(|x| sign * x));
                    }
                    _ => {
                        H[..3].copy_from_slice(&linear.map(|x| sign * x));
                        let turn = rotate_back(member.quaternion(q), turn);
                        H[3..].copy_from_slice(&turn.map(|x| sign * x));
                    }
                }
            }
        }
        self.units[unit].sides.clone().for_each(|k| self.respond(k, members));
    }

    /// `M⁻¹ Hᵀ` of a side.
    fn respond(&mut self, side: usize, members: &mut Members) {
        let Members { all, factors, .. } = members;
        let UnitSide { system, dim, at, size, .. } = self.sides[side];
        let member = &all[system];
        let (H, B) = (&self.H[at..at + size * dim], &mut self.B[at..at + size * dim]);
        match member.kind {
            Kind::Space => {
                let ((H, _), (B, _)) = (H.as_chunks::<6>(), B.as_chunks_mut::<6>());
                for i in 0..H.len() {
                    let [x, y, z, a, b, c] = H[i];
                    let [a, b, c] = member.turn_by([a, b, c]);
                    let m = member.lightness();
                    B[i] = [m * x, m * y, m * z, a, b, c];
                }
            }
            Kind::Plane => {
                let ((H, _), (B, _)) = (H.as_chunks::<3>(), B.as_chunks_mut::<3>());
                for i in 0..H.len() {
                    let [x, y, turn] = H[i];
                    let [_, _, turn] = member.turn_by([0.0, 0.0, turn]);
                    B[i] = [member.lightness() * x, member.lightness() * y, turn];
                }
            }
            // with the iteration matrix in place of M
            Kind::Other(place) => {
                B.copy_from_slice(H);
                B.chunks_exact_mut(dim).for_each(|column| factors[place as usize].solve(column));
            }
        }
    }

    /// All shares `H_a M⁻¹ H_bᵀ` with `a ≥ b`: a row of `a`, the first row of `b`, and entries.
    #[inline]
    fn for_each_share(&self, mut visit: impl FnMut(usize, usize, &[f64])) {
        for share in &self.shares {
            let (of, by) = (&self.sides[share.of as usize], &self.sides[share.by as usize]);
            match of.dim {
                6 => self.share_of::<6>(of, by, &mut visit),
                3 => self.share_of::<3>(of, by, &mut visit),
                dim => {
                    for i in 0..of.size {
                        let H = &self.H[of.at + i * dim..of.at + (i + 1) * dim];
                        let cols = if share.of == share.by { i + 1 } else { by.size };
                        for j in 0..cols {
                            let B = &self.B[by.at + j * dim..by.at + (j + 1) * dim];
                            let entry = H.iter().zip(B).map(|(a, b)| a * b).sum();
                            visit(of.row + i, by.row + j, &[entry]);
                        }
                    }
                }
            }
        }
    }

    /// The same for systems of `N` components.
    #[inline]
    fn share_of<const N: usize>(
        &self,
        of: &UnitSide,
        by: &UnitSide,
        visit: &mut impl FnMut(usize, usize, &[f64]),
    ) {
        let (H, _) = self.H[of.at..of.at + of.size * N].as_chunks::<N>();
        let (B, _) = self.B[by.at..by.at + by.size * N].as_chunks::<N>();
        let mut entries = [0.0; ROWS];
        for i in 0..H.len() {
            let cols = if of.row == by.row { i + 1 } else { by.size };
            let mut start = 0;
            while start < cols {
                let count = (cols - start).min(ROWS);
                for j in 0..count {
                    entries[j] = product(&H[i], &B[start + j]);
                }
                visit(of.row + i, by.row + start, &entries[..count]);
                start += count;
            }
        }
    }

    /// Factors of `W + D`, along its skyline.
    pub fn factor(&mut self) {
        if !std::mem::replace(&mut self.is_shaped, true) {
            let rows: Vec<_> = self.units.iter().map(|unit| unit.rows.clone()).collect();
            self.factors = Factors::new(&self.first, &rows);
        }
        let mut factors = std::mem::take(&mut self.factors);
        match &mut factors {
            Factors::Threes(blocks) => wide(Filling { units: self, blocks }),
            Factors::Fives(blocks) => wide(Filling { units: self, blocks }),
            Factors::Sixes(blocks) => wide(Filling { units: self, blocks }),
            Factors::Rows(skyline) => {
                skyline.clear();
                self.for_each_share(|row, col, entries| skyline.add(row, col, entries));
                self.for_each_softness(|row, D| skyline.add(row, row, &[D]));
            }
        }
        factors.factor();
        self.factors = factors;
    }

    /// `W + D` by blocks.
    #[inline(always)]
    fn fill<const N: usize>(&self, blocks: &mut Blocks<N>) {
        blocks.clear();
        for share in &self.shares {
            let (of, by) = (&self.sides[share.of as usize], &self.sides[share.by as usize]);
            let block = blocks.block(of.unit, by.unit);
            let H = &self.H[of.at..of.at + of.size * of.dim];
            let B = &self.B[by.at..by.at + by.size * by.dim];
            match of.dim {
                6 => add_by::<6, N>(H, B, block),
                3 => add_by::<3, N>(H, B, block),
                dim => {
                    for (i, H) in H.chunks_exact(dim).enumerate() {
                        for (j, B) in B.chunks_exact(dim).enumerate() {
                            block[i][j] += H.iter().zip(B).map(|(a, b)| a * b).sum::<f64>();
                        }
                    }
                }
            }
        }
        if self.is_soft {
            for (k, unit) in self.units.iter().enumerate() {
                let block = blocks.block(k, k);
                for (i, row) in unit.rows.clone().enumerate() {
                    block[i][i] += self.softness[row];
                }
            }
        }
    }

    /// All rows that give way, and `D`.
    fn for_each_softness(&self, mut visit: impl FnMut(usize, f64)) {
        let rows = self.softness.iter().enumerate().filter(|(_, D)| **D != 0.0);
        rows.for_each(|(row, D)| visit(row, *D));
    }

    /// `W + D`, multiplied out.
    pub fn matrix(&self) -> Operator {
        if self.size <= DENSE {
            let mut W = Matrix::zeros(self.size, self.size);
            self.for_each_share(|row, col, entries| {
                for (j, value) in entries.iter().enumerate() {
                    W[(row, col + j)] += value;
                    if row != col + j {
                        W[(col + j, row)] += value;
                    }
                }
            });
            self.for_each_softness(|row, D| W[(row, row)] += D);
            return Operator::Dense(W);
        }
        let mut triplets = Vec::new();
        self.for_each_share(|row, col, entries| {
            for (j, &value) in entries.iter().enumerate() {
                triplets.push((row, col + j, value));
                if row != col + j {
                    triplets.push((col + j, row, value));
                }
            }
        });
        self.for_each_softness(|row, D| triplets.push((row, row, D)));
        Operator::Sparse(Sparse::from_triplets(self.size, self.size, &triplets))
    }

    /// `v ← v + M⁻¹ Hᵀ λ`.
    pub fn push(&self, lam: &[f64], v: &mut [f64]) {
        wide(Pushing { units: self, lam, v });
    }

    #[inline(always)]
    fn push_all(&self, lam: &[f64], v: &mut [f64]) {
        for side in &self.sides {
            let lam = &lam[side.row..side.row + side.size];
            let v = &mut v[side.v..side.v + side.dim];
            let B = &self.B[side.at..side.at + side.size * side.dim];
            match side.dim {
                6 => push_by::<6>(B, lam, v),
                3 => push_by::<3>(B, lam, v),
                dim => {
                    for (B, lam) in B.chunks_exact(dim).zip(lam) {
                        v.iter_mut().zip(B).for_each(|(v, B)| *v += B * lam);
                    }
                }
            }
        }
    }

    /// Takes velocities `u = H v` away by impulses, which are added to `λ`: `u ← −(W + D)⁻¹ u`, and `v` follows.
    pub fn take_away(&mut self, u: &mut [f64], v: &mut [f64], lam: &mut [f64]) {
        self.factors.solve(u, &mut self.work);
        for (lam, u) in lam.iter_mut().zip(u.iter_mut()) {
            *u = -*u;
            *lam += *u;
        }
        self.push(u, v);
    }

    /// `u ← u + H v` of all rows.
    pub fn add_velocities(&self, v: &[f64], u: &mut [f64]) {
        for side in &self.sides {
            let u = &mut u[side.row..side.row + side.size];
            let v = &v[side.v..side.v + side.dim];
            let H = &self.H[side.at..side.at + side.size * side.dim];
            match side.dim {
                6 => velocities_of::<6>(H, v, u),
                3 => velocities_of::<3>(H, v, u),
                dim => {
                    for (H, u) in H.chunks_exact(dim).zip(u) {
                        *u += H.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
                    }
                }
            }
        }
    }
}

/// Entries of a row that are handed on at once: as many as joints have rows.
const ROWS: usize = 6;

#[inline(always)]
pub(super) fn product<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    // in pairs, which are two sums at once
    let mut sums = [0.0; 2];
    for k in 0..N / 2 {
        for l in 0..2 {
            sums[l] += a[2 * k + l] * b[2 * k + l];
        }
    }
    if N % 2 == 1 {
        sums[0] += a[N - 1] * b[N - 1];
    }
    sums[0] + sums[1]
}

struct Pushing<'a> {
    units: &'a Units,
    lam: &'a [f64],
    v: &'a mut [f64],
}

impl Wide for Pushing<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        self.units.push_all(self.lam, self.v);
    }
}

struct Filling<'a, const N: usize> {
    units: &'a Units,
    blocks: &'a mut Blocks<N>,
}

impl<const N: usize> Wide for Filling<'_, N> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        self.units.fill(self.blocks);
    }
}

/// `C ← C + H Bᵀ`, of sides that fill their blocks or do not.
#[inline(always)]
fn add_by<const M: usize, const N: usize>(H: &[f64], B: &[f64], C: &mut Block<N>) {
    let ((H, _), (B, _)) = (H.as_chunks::<M>(), B.as_chunks::<M>());
    if let (Some(H), Some(B)) = (H.first_chunk::<N>(), B.first_chunk::<N>()) {
        return add_product(H, B, C);
    }
    for (i, H) in H.iter().enumerate() {
        for (j, B) in B.iter().enumerate() {
            C[i][j] += product(H, B);
        }
    }
}

#[inline(always)]
fn push_by<const N: usize>(B: &[f64], lam: &[f64], v: &mut [f64]) {
    let Some(v) = v.first_chunk_mut::<N>() else { return };
    let (B, _) = B.as_chunks::<N>();
    let mut sum = *v;
    for i in 0..lam.len() {
        for k in 0..N {
            sum[k] += B[i][k] * lam[i];
        }
    }
    *v = sum;
}

#[inline]
fn velocities_of<const N: usize>(H: &[f64], v: &[f64], u: &mut [f64]) {
    let Some(v) = v.first_chunk::<N>() else { return };
    let (H, _) = H.as_chunks::<N>();
    for i in 0..u.len() {
        u[i] += product(&H[i], v);
    }
}
