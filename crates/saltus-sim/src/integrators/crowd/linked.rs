//! Islands with interactions: constraints, laws of forces and contacts in one problem.
//!
//! ```text
//! w = W λ + q,    W = Σ H_a M⁻¹ H_bᵀ   over the systems that two units share                     (1)
//! ```
//!
//! A unit is an interaction or a found contact. Where all of them are constraints, (1) is a linear
//! system, whose matrix is factored along its skyline: chains of joints cost as much as they have
//! links. Else it is multiplied out and given to the portfolio.
//!
//! What shares a system with what is found out when the units change, not in every step: units are then
//! put in the order of Cuthill and McKee, so that those which share a system stand close to each other,
//! whatever order the model names them in.

use super::links::{Link, Links};
use super::members::{Kind, Members};
use super::skyline::Skyline;
use saltus_linalg::{Matrix, Sparse};
use saltus_model::rotation::{cross, rotate_back};
use saltus_numerics::Operator;
use saltus_numerics::bodies::Touch;
use std::collections::VecDeque;
use std::ops::Range;

/// Unknowns up to which `W` is kept with every entry.
const DENSE: usize = 200;

/// The units of an island, and their shares of (1).
#[derive(Debug, Default)]
pub(super) struct Units {
    parts: Vec<Part>, // what the units were made of, in the order of the model
    pub units: Vec<Unit>,
    sides: Vec<UnitSide>,
    H: Vec<f64>, // of each side: a row a component
    B: Vec<f64>, // M⁻¹ Hᵀ: likewise, transposed
    shares: Vec<Share>,
    pub size: usize,
    pub skyline: Skyline,
    next: Vec<Part>,
}

/// What a unit is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub what: What,
    size: usize,
    systems: [Option<usize>; 2],
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
    system: usize,
    dim: usize,
    v: usize,    // where the velocity of the system begins
    at: usize,   // in H and B
    row: usize,  // the first one
    size: usize, // rows
}

/// Two sides of one system, the first one not before the second.
#[derive(Debug, Clone, Copy)]
struct Share {
    of: u32,
    by: u32,
}

impl Part {
    pub fn link(k: usize, link: &Link) -> Part {
        let systems = [link.members.first().copied(), link.members.get(1).copied()];
        Part { what: What::Link(k), size: link.rows.len(), systems }
    }

    pub fn contact(place: usize, touch: &Touch, bodies: usize) -> Part {
        let systems = touch.bodies.map(|k| Some(k as usize).filter(|k| *k < bodies));
        Part { what: What::Contact(place), size: touch.friction.size(), systems }
    }

    fn systems(&self) -> impl Iterator<Item = usize> {
        self.systems.into_iter().flatten()
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
                let member = &members.all[system];
                let dim = member.system.dim();
                self.sides.push(UnitSide { system, dim, v: member.v, at, row, size });
                at += size * dim;
            }
            let (rows, sides) = (row..row + size, first..self.sides.len());
            self.units.push(Unit { what: part.what, rows, sides });
            row += size;
        }
        self.size = row;
        for entries in [&mut self.H, &mut self.B] {
            entries.clear();
            entries.resize(at, 0.0);
        }
        self.share();
    }

    /// Which sides share a system, and where the rows of `W` begin.
    fn share(&mut self) {
        let mut of_system: Vec<(usize, u32)> =
            self.sides.iter().enumerate().map(|(k, side)| (side.system, k as u32)).collect();
        of_system.sort_unstable();
        self.shares.clear();
        let mut first: Vec<usize> = Vec::with_capacity(self.size);
        for unit in &self.units {
            first.extend(unit.rows.clone().map(|_| unit.rows.start));
        }
        for group in of_system.chunk_by(|a, b| a.0 == b.0) {
            // sides are numbered as their rows are
            let least = self.sides[group[0].1 as usize].row;
            for (i, &(_, of)) in group.iter().enumerate() {
                self.shares.extend(group[..=i].iter().map(|&(_, by)| Share { of, by }));
                let side = self.sides[of as usize];
                let rows = &mut first[side.row..side.row + side.size];
                rows.iter_mut().for_each(|first| *first = (*first).min(least));
            }
        }
        self.skyline.reset(&first);
    }

    /// An interaction with the `H` that it has now.
    pub fn set_link(&mut self, unit: usize, link: &Link, members: &mut Members) {
        let mut column = 0;
        for k in self.units[unit].sides.clone() {
            let UnitSide { dim, at, size, .. } = self.sides[k];
            for row in 0..size {
                let own = &link.H.row(row)[column..column + dim];
                let H = &mut self.H[at + row * dim..at + (row + 1) * dim];
                for k in 0..dim {
                    H[k] = own[k];
                }
            }
            column += dim;
        }
        self.respond(unit, members);
    }

    /// All interactions likewise.
    pub fn set_links(&mut self, links: &Links, members: &mut Members) {
        for unit in 0..self.units.len() {
            if let What::Link(k) = self.units[unit].what {
                self.set_link(unit, &links.all[k], members);
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
        self.respond(unit, members);
    }

    /// `M⁻¹ Hᵀ` of a unit.
    fn respond(&mut self, unit: usize, members: &mut Members) {
        let Members { all, factors, .. } = members;
        for k in self.units[unit].sides.clone() {
            let UnitSide { system, dim, at, size, .. } = self.sides[k];
            let member = &all[system];
            let (H, B) = (&self.H[at..at + size * dim], &mut self.B[at..at + size * dim]);
            match member.kind {
                Kind::Space => {
                    let ((H, _), (B, _)) = (H.as_chunks::<6>(), B.as_chunks_mut::<6>());
                    for i in 0..H.len() {
                        let [x, y, z, a, b, c] = H[i];
                        let [a, b, c] = member.turn_by([a, b, c]);
                        let m = member.lightness;
                        B[i] = [m * x, m * y, m * z, a, b, c];
                    }
                }
                Kind::Plane => {
                    let ((H, _), (B, _)) = (H.as_chunks::<3>(), B.as_chunks_mut::<3>());
                    for i in 0..H.len() {
                        let [x, y, turn] = H[i];
                        let [_, _, turn] = member.turn_by([0.0, 0.0, turn]);
                        B[i] = [member.lightness * x, member.lightness * y, turn];
                    }
                }
                // with the iteration matrix in place of M
                Kind::Other(place) => {
                    B.copy_from_slice(H);
                    B.chunks_exact_mut(dim).for_each(|column| factors[place].solve(column));
                }
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

    /// Factors of `W`, along its skyline.
    pub fn factor(&mut self) {
        let mut skyline = std::mem::take(&mut self.skyline);
        skyline.clear();
        self.for_each_share(|row, col, entries| skyline.add(row, col, entries));
        skyline.factor();
        self.skyline = skyline;
    }

    /// `W`, multiplied out.
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
        Operator::Sparse(Sparse::from_triplets(self.size, self.size, &triplets))
    }

    /// `v ← v + M⁻¹ Hᵀ λ`.
    pub fn push(&self, lam: &[f64], v: &mut [f64]) {
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

    /// Takes velocities `u = H v` away by impulses, which are added to `λ`: `u ← −W⁻¹ u`, and `v` follows.
    pub fn take_away(&self, u: &mut [f64], v: &mut [f64], lam: &mut [f64]) {
        self.skyline.solve(u);
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
fn product<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for k in 0..N {
        sum += a[k] * b[k];
    }
    sum
}

#[inline]
fn push_by<const N: usize>(B: &[f64], lam: &[f64], v: &mut [f64]) {
    let Some(v) = v.first_chunk_mut::<N>() else { return };
    let (B, _) = B.as_chunks::<N>();
    for i in 0..lam.len() {
        for k in 0..N {
            v[k] += B[i][k] * lam[i];
        }
    }
}

#[inline]
fn velocities_of<const N: usize>(H: &[f64], v: &[f64], u: &mut [f64]) {
    let Some(v) = v.first_chunk::<N>() else { return };
    let (H, _) = H.as_chunks::<N>();
    for i in 0..u.len() {
        u[i] += product(&H[i], v);
    }
}

/// The order of Cuthill and McKee, backwards: from a part far out, neighbours first.
fn order(parts: &[Part]) -> Vec<usize> {
    let systems = parts.iter().flat_map(Part::systems).max().map_or(0, |most| most + 1);
    let mut of_system: Vec<Vec<usize>> = vec![Vec::new(); systems];
    for (k, part) in parts.iter().enumerate() {
        part.systems().for_each(|system| of_system[system].push(k));
    }
    let degree = |k: usize| parts[k].systems().map(|s| of_system[s].len() - 1).sum::<usize>();
    let mut all = Vec::with_capacity(parts.len());
    let mut known = vec![false; parts.len()];
    let mut queue = VecDeque::new();
    let mut walk = |from: usize, known: &mut [bool], all: &mut Vec<usize>| {
        known[from] = true;
        queue.push_back(from);
        while let Some(k) = queue.pop_front() {
            all.push(k);
            let begin = queue.len();
            for other in parts[k].systems().flat_map(|s| &of_system[s]) {
                if !std::mem::replace(&mut known[*other], true) {
                    queue.push_back(*other);
                }
            }
            queue.make_contiguous()[begin..].sort_by_key(|&k| (degree(k), k));
        }
    };
    for k in 0..parts.len() {
        if known[k] {
            continue;
        }
        // the last part that is reached from here is far out
        let (start, mut seen) = (all.len(), known.clone());
        walk(k, &mut seen, &mut all);
        let far = all.last().copied().unwrap_or(k);
        all.truncate(start);
        walk(far, &mut known, &mut all);
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(k: usize, systems: [Option<usize>; 2]) -> Part {
        Part { what: What::Link(k), size: 5, systems }
    }

    /// The farthest that two parts of one system stand apart.
    fn width(parts: &[Part]) -> usize {
        let order = order(parts);
        let place = |k: usize| order.iter().position(|other| *other == k).unwrap();
        let mut most = 0;
        for (a, of) in parts.iter().enumerate() {
            for (b, by) in parts.iter().enumerate() {
                if of.systems().any(|system| by.systems().any(|other| other == system)) {
                    most = most.max(place(a).abs_diff(place(b)));
                }
            }
        }
        assert_eq!(order.len(), parts.len());
        most
    }

    #[test]
    fn a_chain_is_put_in_order() {
        // joints 0–1, 1–2, … named in any order
        let n = 23;
        let named = (0..n).map(|k| (k * 7 + 3) % n);
        let parts: Vec<Part> = named.map(|k| pair(k, [Some(k), (k > 0).then(|| k - 1)])).collect();
        assert_eq!(width(&parts), 1);
        // a ring
        let parts: Vec<Part> =
            (0..n).map(|k| (k * 5) % n).map(|k| pair(k, [Some(k), Some((k + 1) % n)])).collect();
        assert_eq!(width(&parts), 2);
        // two chains, turn about
        let parts: Vec<Part> = (0..n).map(|k| pair(k, [Some(k), Some(k + 2)])).collect();
        assert_eq!(width(&parts), 1);
    }
}
