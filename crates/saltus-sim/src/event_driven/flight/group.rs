//! Bodies that closed contacts hold together: how they move, and how they answer an impulse.
//!
//! With the rows `H` of the closed contacts of the group, `W = H M⁻¹ Hᵀ`,
//!
//! ```text
//! W λ = −H M⁻¹ F,    a = M⁻¹ (F + Hᵀ λ)                    constant forces           (1)
//! W r = −H M⁻¹ hᵀ,   δv = M⁻¹ (hᵀ + Hᵀ r)                  a unit impulse along h    (2)
//! ```
//!
//! (2) is right as long as no contact of the group would have to pull, `r ≥ 0`.

use super::{Contact, Flight};
use saltus_linalg::{Sparse, SparseFactor};

/// Round-off of a sum, relative to its terms.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;
/// Velocities and reactions that are round-off beside those of the body that is hit.
const NOTHING: f64 = 1e-13;
/// Residual up to which contacts count as independent of each other.
const INDEPENDENT: f64 = 1e-9;

/// Bodies that move together.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub bodies: Vec<usize>,
    /// Closed contacts.
    pub inside: Vec<usize>,
    /// Open contacts of its bodies.
    pub boundary: Vec<usize>,
    factor: Option<SparseFactor>,
    responses: Vec<(usize, Response)>, // by contact
}

/// Equation (2).
#[derive(Debug)]
pub(super) struct Response {
    /// Velocities, by degree of freedom.
    pub change: Vec<(usize, f64)>,
    /// Whether no contact would have to pull.
    pub holds: bool,
}

impl Response {
    /// `h δv`.
    pub fn along(&self, contact: &Contact) -> f64 {
        let of = |dof: usize| {
            let found = self.change.binary_search_by_key(&dof, |(dof, _)| *dof);
            found.map_or(0.0, |place| self.change[place].1)
        };
        contact.H.iter().map(|&(dof, h)| h * of(dof)).sum()
    }
}

impl Group {
    /// A body alone.
    pub fn of(body: usize, boundary: Vec<usize>) -> Group {
        Group { bodies: vec![body], boundary, ..Group::default() }
    }

    /// Its response to a contact, where that is known.
    pub fn response_to(&self, c: usize) -> Option<&Response> {
        self.responses.iter().find(|(of, _)| *of == c).map(|(_, response)| response)
    }
}

impl Flight {
    /// Makes one group of these, which these contacts join; whether their forces are known and none
    /// pulls by more than `noise` says.
    pub(super) fn join(
        &mut self,
        groups: &[usize],
        closed: &[usize],
        noise: impl Fn(&Contact) -> f64,
    ) -> bool {
        let mut whole = Group::default();
        for &g in groups {
            let Group { bodies, inside, boundary, .. } = std::mem::take(&mut self.groups[g]);
            whole.bodies.extend(bodies);
            whole.inside.extend(inside);
            whole.boundary.extend(boundary);
        }
        for &c in closed {
            self.contacts[c].closed = true;
            whole.inside.push(c);
        }
        whole.boundary.sort_unstable();
        whole.boundary.dedup();
        whole.boundary.retain(|&c| !self.contacts[c].closed);
        let place = groups[0];
        for &body in &whole.bodies {
            self.group[body] = place;
        }
        self.groups[place] = whole;
        self.accelerate(place) && {
            let inside = &self.groups[place].inside;
            inside.iter().all(|&c| self.lam[c] >= -noise(&self.contacts[c]))
        }
    }

    /// Equation (1).
    fn accelerate(&mut self, g: usize) -> bool {
        let Flight { contacts, groups, a, lam, free, .. } = self;
        let group = &mut groups[g];
        let n = group.inside.len();
        for &body in &group.bodies {
            let dofs = self.bodies[body].dofs.clone();
            a[dofs.clone()].copy_from_slice(&free[dofs]);
        }
        if n == 0 {
            return true;
        }
        // rows of W: contacts that share a degree of freedom
        let mut by_dof: Vec<(usize, usize)> = Vec::new();
        for (i, &c) in group.inside.iter().enumerate() {
            by_dof.extend(contacts[c].H.iter().map(|&(dof, _)| (dof, i)));
        }
        by_dof.sort_unstable();
        let mut entries = Vec::new();
        let mut right = vec![0.0; n];
        for (i, &c) in group.inside.iter().enumerate() {
            let (mut sum, mut terms) = (0.0, 0.0_f64);
            for &(dof, h) in &contacts[c].H {
                sum -= h * a[dof];
                terms += (h * a[dof]).abs();
            }
            right[i] = if f64::abs(sum) <= ROUND_OFF * terms { 0.0 } else { sum };
            for &(dof, push) in &contacts[c].push {
                let first = by_dof.partition_point(|&(other, _)| other < dof);
                for &(_, j) in by_dof[first..].iter().take_while(|&&(other, _)| other == dof) {
                    let H = &contacts[group.inside[j]].H;
                    let h: f64 = H.iter().filter(|(d, _)| *d == dof).map(|(_, h)| h).sum();
                    entries.push((i, j, push * h));
                }
            }
        }
        let W = Sparse::from_triplets(n, n, &entries);
        let mut factor = SparseFactor::with_symmetry(&W, true);
        if factor.factor(&W).is_err() {
            return false;
        }
        // dependent contacts show in what is left of a solution
        let ones = vec![1.0; n];
        let mut b = vec![0.0; n];
        W.apply(&ones, &mut b);
        factor.solve(&mut b);
        if b.iter().any(|x| !((x - 1.0).abs() < INDEPENDENT)) {
            return false;
        }
        factor.solve(&mut right);
        let mut terms = vec![0.0_f64; a.len()];
        for (i, &c) in group.inside.iter().enumerate() {
            lam[c] = right[i];
            for &(dof, push) in &contacts[c].push {
                terms[dof] = terms[dof].max((push * right[i]).abs());
                a[dof] += push * right[i];
            }
        }
        for &body in &group.bodies {
            for dof in self.bodies[body].dofs.clone() {
                if a[dof].abs() <= ROUND_OFF * terms[dof] {
                    a[dof] = 0.0;
                }
            }
        }
        group.factor = Some(factor);
        group.responses.clear();
        true
    }

    /// Makes the response of a group to a contact known.
    pub(super) fn prepare_response(&mut self, g: usize, c: usize) {
        if self.groups[g].responses.iter().any(|(of, _)| *of == c) {
            return;
        }
        let Flight { contacts, groups, group: of_body, body, scratch, .. } = self;
        let group = &mut groups[g];
        let own = contacts[c].push.iter().filter(|(dof, _)| of_body[body[*dof]] == g);
        let mut dofs: Vec<usize> = Vec::new();
        let mut largest = 0.0_f64;
        for &(dof, push) in own {
            scratch[dof] += push;
            largest = largest.max(push.abs());
            dofs.push(dof);
        }
        let mut holds = true;
        if let Some(factor) = &mut group.factor {
            let row = |c: &usize| contacts[*c].H.iter().map(|&(dof, h)| h * scratch[dof]).sum();
            let mut r: Vec<f64> = group.inside.iter().map(row).map(|x: f64| -x).collect();
            factor.solve(&mut r);
            for (&c, &r) in group.inside.iter().zip(&r) {
                holds &= r >= -NOTHING;
                for &(dof, push) in &contacts[c].push {
                    scratch[dof] += push * r;
                    dofs.push(dof);
                }
            }
        }
        dofs.sort_unstable();
        dofs.dedup();
        let mut change = Vec::new();
        for dof in dofs {
            let x = std::mem::take(&mut scratch[dof]);
            if x.abs() > NOTHING * largest {
                change.push((dof, x));
            }
        }
        group.responses.push((c, Response { change, holds }));
    }
}
