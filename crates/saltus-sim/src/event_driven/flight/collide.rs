//! What follows where gaps close: Newton's law for the contacts that touch, then which of them stay.
//!
//! With `W = h δv` of the groups that meet (`group`, equation 2),
//!
//! ```text
//! 0 ≤ u + e u⁻ ⟂ p ≥ 0,    u = u⁻ + W p                        impulses               (1)
//! 0 ≤ w ⟂ λ ≥ 0,           w = w⁻ + W λ                        contacts with u = 0    (2)
//! ```

use super::{Contact, Flight};
use saltus_linalg::{DenseLu, Matrix};

/// Impacts at one instant that may follow each other.
const ROUNDS: usize = 100;
/// Contacts that touch at once, at most.
const MOST: usize = 24;
/// Gap at which a contact counts as closed, in units of the tolerance.
const NEAR: f64 = 10.0;
/// Share of the tolerance below which gaps are left as they are.
const QUIET: f64 = 1e-3;
/// Round-off of impulses, relative to the largest.
const ROUND_OFF: f64 = 1e-13;

/// What an impact did to a contact.
#[derive(Debug, Clone, Copy)]
pub(in crate::event_driven) struct Hit {
    pub contact: usize,
    pub before: f64,
    pub after: f64,
    pub impulse: f64,
    /// Whether it stays closed.
    pub closed: bool,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::event_driven) enum Met {
    /// All is known.
    Settled,
    /// Impulses are; whether contacts stay is not.
    Unsure,
    /// Nothing has changed: it is left to others.
    Unknown,
}

impl Flight {
    /// Contact `c` has closed at `t`. It stays closed if this is the `last` of its bounces.
    /// Tells what happened to contacts, and the work of forces on the bodies that were moved.
    pub fn collide(&mut self, c: usize, t: f64, last: bool, hits: &mut Vec<Hit>) -> (Met, f64) {
        let unknown = (Met::Unknown, 0.0);
        hits.clear();
        let Some((touching, groups)) = self.touching(c, t) else { return unknown };
        let n = touching.len();
        let mut W = Matrix::zeros(n, n);
        for (j, &d) in touching.iter().enumerate() {
            for &g in &groups {
                if !self.contacts[d].bodies.iter().any(|&body| self.group[body] == g) {
                    continue;
                }
                self.prepare_response(g, d);
                let Some(response) = self.groups[g].response_to(d).filter(|of| of.holds) else {
                    return unknown;
                };
                for (i, &other) in touching.iter().enumerate() {
                    W[(i, j)] += response.along(&self.contacts[other]);
                }
            }
        }
        let (mut keeps, mut work) = (vec![false; n], 0.0);
        for round in 0..ROUNDS {
            // equation (1); bodies that are pushed back onto what they had left are hit once more
            let mut right = vec![0.0; n];
            let mut closing = round == 0;
            let first = hits.len();
            for (i, &d) in touching.iter().enumerate() {
                let Some(e) = self.contacts[d].e else { return unknown };
                let before = self.gap(d, t)[1];
                let allowed = self.horizon.tolerance.of(self.speed(d, t));
                closing |= before < -allowed;
                keeps[i] = e == 0.0 || before.abs() <= allowed || (last && d == c);
                right[i] = if keeps[i] { before } else { (1.0 + e) * before };
                let (after, impulse, closed) = (before, 0.0, false);
                hits.push(Hit { contact: d, before, after, impulse, closed });
            }
            let solved = if closing { complementary(&W, &right) } else { None };
            let Some(impulses) = solved else {
                hits.truncate(first);
                if round == 0 {
                    return unknown;
                }
                break;
            };
            work += self.push(&touching, &groups, &impulses, t);
            for (hit, impulse) in hits[first..].iter_mut().zip(impulses) {
                hit.impulse = impulse;
                hit.after = self.gap(hit.contact, t)[1];
            }
        }
        let met = match self.keep(&touching, &groups, &keeps, &W, t, &mut work) {
            Some(closed) => {
                for hit in hits.iter_mut() {
                    hit.closed = closed.contains(&hit.contact);
                }
                Met::Settled
            }
            None => Met::Unsure,
        };
        for i in 0..touching.len() {
            self.plan(touching[i], t);
        }
        for g in groups {
            let moved = self.groups[g].bodies.iter().any(|&body| self.bodies[body].since == t);
            for i in 0..if moved { self.groups[g].boundary.len() } else { 0 } {
                self.plan(self.groups[g].boundary[i], t);
            }
        }
        (met, work)
    }

    /// The contacts that touch where `c` does, and the groups that they meet at.
    fn touching(&self, c: usize, t: f64) -> Option<(Vec<usize>, Vec<usize>)> {
        let near = NEAR * self.horizon.tolerance.atol;
        let (mut touching, mut groups) = (vec![c], Vec::new());
        let mut next = 0;
        while let Some(&d) = touching.get(next) {
            next += 1;
            for &body in &self.contacts[d].bodies {
                let g = self.group[body];
                if groups.contains(&g) {
                    continue;
                }
                groups.push(g);
                for &other in &self.groups[g].boundary {
                    if !touching.contains(&other) && self.gap(other, t)[0] <= near {
                        touching.push(other);
                    }
                }
                if touching.len() > MOST {
                    return None;
                }
            }
        }
        touching.sort_unstable();
        Some((touching, groups))
    }

    /// Moves the bodies of these groups by impulses; the work of forces on them so far.
    fn push(&mut self, contacts: &[usize], groups: &[usize], impulses: &[f64], t: f64) -> f64 {
        let mut work = 0.0;
        for &g in groups {
            let acts = |(&d, p): (&usize, &f64)| {
                *p != 0.0 && self.groups[g].response_to(d).is_some_and(|of| !of.change.is_empty())
            };
            if !contacts.iter().zip(impulses).any(acts) {
                continue;
            }
            work += self.rebase(g, t);
            for (&d, &p) in contacts.iter().zip(impulses) {
                self.add(g, d, p, true);
            }
        }
        work
    }

    /// Begins the parabolas of a group anew; the work of forces on it so far.
    fn rebase(&mut self, g: usize, t: f64) -> f64 {
        let mut work = 0.0;
        for i in 0..self.groups[g].bodies.len() {
            let body = self.groups[g].bodies[i];
            work += self.work_on(body, t);
            for dof in self.bodies[body].dofs.clone() {
                (self.q[dof], self.v[dof]) = (self.place(dof, t), self.velocity(dof, t));
            }
            self.bodies[body].since = t;
        }
        work
    }

    /// Adds the response of a group to velocities, or to places.
    fn add(&mut self, g: usize, d: usize, p: f64, to_velocities: bool) {
        let Flight { groups, q, v, .. } = self;
        if let Some(response) = groups[g].response_to(d) {
            let values = if to_velocities { v } else { q };
            response.change.iter().for_each(|&(dof, change)| values[dof] += p * change);
        }
    }

    /// Equation (2): the contacts that stay closed, now in one group with what they hold. Nothing
    /// where that cannot be told.
    fn keep(
        &mut self,
        touching: &[usize],
        groups: &[usize],
        keeps: &[bool],
        W: &Matrix,
        t: f64,
        work: &mut f64,
    ) -> Option<Vec<usize>> {
        let tolerance = self.horizon.tolerance;
        let slow = |i: &usize| {
            let (d, keeps) = (touching[*i], keeps[*i]);
            keeps && self.gap(d, t)[1].abs() <= tolerance.of(self.speed(d, t))
        };
        let at: Vec<usize> = (0..touching.len()).filter(slow).collect();
        if at.is_empty() {
            return Some(Vec::new());
        }
        let mut W = select(W, &at);
        let right: Vec<f64> = at.iter().map(|&i| self.gap(touching[i], t)[2]).collect();
        let lam = complementary(&W, &right)?;
        // what neither pushes nor is drawn apart stays too
        let rest = |k: usize| {
            let terms = (0..at.len()).map(|l| W[(k, l)] * lam[l]);
            let scale = terms.clone().fold(right[k].abs(), |a, b| a.max(b.abs()));
            let a = self.contacts[touching[at[k]]].H.iter();
            let scale = a.fold(scale, |scale, &(dof, h)| scale.max((h * self.a[dof]).abs()));
            (right[k] + terms.sum::<f64>()).abs() <= ROUND_OFF * scale
        };
        let stay: Vec<usize> = (0..at.len()).filter(|&k| lam[k] > 0.0 || rest(k)).collect();
        if stay.is_empty() {
            return Some(Vec::new());
        }
        W = select(&W, &stay);
        let closed: Vec<usize> = stay.iter().map(|&k| touching[at[k]]).collect();

        // what is left of gaps and velocities goes
        let mut lu = DenseLu::new(&W).ok()?;
        let gaps: Vec<[f64; 3]> = closed.iter().map(|&d| self.gap(d, t)).collect();
        let moved: Vec<usize> = (groups.iter().copied())
            .filter(|&g| closed.iter().any(|&d| self.meets(d, g)))
            .collect();
        for &g in &moved {
            *work += self.rebase(g, t);
        }
        for level in [0, 1] {
            let allowed = if level == 0 { QUIET * tolerance.atol } else { 0.0 };
            if gaps.iter().all(|gap| gap[level].abs() <= allowed) {
                continue;
            }
            let mut p: Vec<f64> = gaps.iter().map(|gap| -gap[level]).collect();
            lu.solve(&mut p);
            for &g in &moved {
                for (&d, &p) in closed.iter().zip(&p) {
                    self.add(g, d, p, level == 1);
                }
            }
        }
        let horizon = self.horizon;
        let joined = self.join(&moved, &closed, |contact: &Contact| horizon.noise(t, contact));
        joined.then_some(closed)
    }

    fn meets(&self, c: usize, g: usize) -> bool {
        self.contacts[c].bodies.iter().any(|&body| self.group[body] == g)
    }
}

/// The principal part of a matrix.
fn select(W: &Matrix, at: &[usize]) -> Matrix {
    let mut part = Matrix::zeros(at.len(), at.len());
    for (i, &k) in at.iter().enumerate() {
        for (j, &l) in at.iter().enumerate() {
            part[(i, j)] = W[(k, l)];
        }
    }
    part
}

/// `0 ≤ q + W p ⟂ p ≥ 0` for a few unknowns and a positive definite `W`, by principal pivots: the last
/// component that is wrong changes sides (Murty). Nothing where `W` is not definite.
fn complementary(W: &Matrix, q: &[f64]) -> Option<Vec<f64>> {
    let n = q.len();
    let (mut active, mut p) = (vec![false; n], vec![0.0; n]);
    for _ in 0..50 * (n + 1) {
        let at: Vec<usize> = (0..n).filter(|&i| active[i]).collect();
        p.fill(0.0);
        if !at.is_empty() {
            let mut x: Vec<f64> = at.iter().map(|&i| -q[i]).collect();
            DenseLu::new(&select(W, &at)).ok()?.solve(&mut x);
            at.iter().zip(x).for_each(|(&i, x)| p[i] = x);
        }
        let wrong = (0..n).rev().find(|&i| {
            if active[i] {
                return !(p[i] >= 0.0);
            }
            let terms = (0..n).map(|j| W[(i, j)] * p[j]);
            let scale = terms.clone().fold(q[i].abs(), |a, b| a.max(b.abs()));
            !(q[i] + terms.sum::<f64>() >= -ROUND_OFF * scale)
        });
        match wrong {
            Some(i) => active[i] = !active[i],
            None => return Some(p),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_contacts_at_once() {
        let W = Matrix::from([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]);
        for q in [[-1.0, 0.0, 0.0], [1.0, 2.0, 3.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 5.0]] {
            let p = complementary(&W, &q).unwrap();
            for i in 0..3 {
                let w = q[i] + (0..3).map(|j| W[(i, j)] * p[j]).sum::<f64>();
                assert!(w > -1e-14 && p[i] >= 0.0 && (w * p[i]).abs() < 1e-14, "{q:?}: {p:?}");
            }
        }
        assert!(complementary(&Matrix::zeros(1, 1), &[-1.0]).is_none());
    }
}
