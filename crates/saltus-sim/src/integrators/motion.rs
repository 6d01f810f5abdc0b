//! How a step of mechanics is discretized: what `a`, `κ`, `b`, `c`, `f` of `mechanics` are.
//!
//! | scheme | unknown `ξ` | file |
//! | --- | --- | --- |
//! | θ-scheme of Moreau and Jean | the next velocity | here |
//! | generalized-α | the next velocity | `generalized_alpha` |
//! | Schatzman and Paoli | the mean velocity of the step | `schatzman_paoli` |
//!
//! For the θ-scheme, system by system:
//!
//! ```text
//! a = κ = θ,    b = v,    c = q + h (1 − θ) v,    f = h (1 − θ) F
//! ```

use super::balance::Members;
use super::booking::{Forces, Path};
use super::generalized_alpha::Alpha;
use super::newton::Link;
use super::row::MechanicalFields;
use super::schatzman_paoli::Central;
use crate::SimError;
use saltus_model::{Law, Terms};
use saltus_numerics::Memory;
use std::ops::Range;

/// A discretization and its memory.
#[derive(Debug)]
pub(super) enum Motion {
    /// Moreau and Jean: θ of each system.
    Theta(Vec<f64>),
    /// Generalized-α.
    Alpha(Alpha),
    /// Schatzman and Paoli.
    Central(Central),
}

/// Where `M` and `F` are taken, if not at the end of the step: `q̂ = q₀ + h β ξ`,
/// `v̂ = v₀ + ν ξ`.
#[derive(Debug)]
pub(super) struct Center {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub q0: Vec<f64>,
    pub v0: Vec<f64>,
    pub h: f64,
    /// β.
    pub by_q: f64,
    /// ν.
    pub by_v: f64,
}

impl Center {
    pub fn place(&mut self, xi: &[f64]) {
        for i in 0..xi.len() {
            self.q[i] = self.q0[i] + self.h * self.by_q * xi[i];
            self.v[i] = self.v0[i] + self.by_v * xi[i];
        }
    }
}

impl Motion {
    /// Prepares a step: everything in (1) and (2) of `mechanics` that is known.
    pub fn begin(
        &mut self,
        members: &mut Members,
        links: &mut [Link],
        now: &MechanicalFields<'_>,
    ) -> Result<(), SimError> {
        members.begin_ways(now.q);
        match self {
            Motion::Theta(thetas) => {
                for (k, &theta) in thetas.iter().enumerate() {
                    members.begin_theta(k, theta, now);
                }
                Ok(())
            }
            Motion::Alpha(alpha) => {
                alpha.begin(members, now);
                Ok(())
            }
            Motion::Central(central) => central.begin(members, links, now),
        }
    }

    /// The relative velocities before the step, as restitution sees them.
    pub fn before<'a>(&'a self, u: &'a [f64]) -> &'a [f64] {
        match self {
            Motion::Central(central) => central.before(),
            _ => u,
        }
    }

    /// What follows from the solution of the step; `v` is `ξ` first, and the next velocity after.
    pub fn finish(
        &mut self,
        members: &Members,
        links: &[Link],
        before: &[f64],
        v: &mut [f64],
        lam: &mut [f64],
    ) -> Result<(), SimError> {
        match self {
            Motion::Theta(_) => Ok(()),
            Motion::Alpha(alpha) => alpha.finish(members, links, before, v, lam),
            Motion::Central(central) => {
                central.finish(members.step.h, v);
                Ok(())
            }
        }
    }

    /// Takes over what [`finish`](Self::finish) computed in a step of length `h`.
    pub fn commit(&mut self, h: f64) {
        match self {
            Motion::Theta(_) => {}
            Motion::Alpha(alpha) => alpha.commit(),
            Motion::Central(central) => central.commit(h),
        }
    }

    /// What it remembers of the steps before.
    pub fn memory(&mut self, memory: &mut Memory) {
        match self {
            Motion::Theta(_) => {}
            Motion::Alpha(alpha) => alpha.memory(memory),
            Motion::Central(central) => central.memory(memory),
        }
    }

    /// Forgets the past: the state of these degrees of freedom was replaced.
    pub fn restart(&mut self, range: Range<usize>, v: &[f64]) {
        match self {
            Motion::Theta(_) => {}
            Motion::Alpha(alpha) => alpha.restart(),
            Motion::Central(central) => central.restart(range, v),
        }
    }

    /// Goes on where another one was: with the momentum that positions carry.
    pub fn go_on(&mut self, before: &Motion) {
        if let (Motion::Central(central), Motion::Central(before)) = (self, before) {
            central.clone_from(before);
        }
    }

    /// What the ledger multiplies the balance of a step by, after [`finish`](Self::finish).
    pub fn path<'a>(&'a self, before: &'a [f64], after: &'a [f64]) -> Path<'a> {
        match self {
            Motion::Theta(_) => Path { before, after, forces: Forces::Theta, smooth: &[] },
            Motion::Alpha(alpha) => {
                Path { before, after, forces: Forces::Mean, smooth: alpha.smooth() }
            }
            Motion::Central(central) => central.path(),
        }
    }

    /// Which components of an interaction have their law on the gap, not on the velocity: none,
    /// or, with Schatzman and Paoli, equalities and the normals of contacts.
    pub fn on_gap(&self, law: &Law, terms: Terms, size: usize) -> Vec<bool> {
        let central = matches!(self, Motion::Central(_)) && !terms.through && !terms.velocity;
        let on_gap = |i| match law {
            Law::Equality => true,
            law if law.is_normal() => true,
            law => law.is_contact() && i == 0,
        };
        (0..size).map(|i| central && on_gap(i)).collect()
    }
}

impl Members {
    /// The θ-scheme for system `k`.
    pub fn begin_theta(&mut self, k: usize, theta: f64, now: &MechanicalFields<'_>) {
        let h = self.step.h;
        let member = &mut self.systems[k];
        (member.a, member.kappa) = (theta, theta);
        let (range, share) = (member.range.clone(), h * (1.0 - theta));
        let (v, F) = (&now.v[range.clone()], &self.F_now[range.clone()]);
        let (b, c, f) =
            (&mut self.b[range.clone()], &mut self.c[range.clone()], &mut self.f[range]);
        if member.curved {
            (0..v.len()).for_each(|i| c[i] = share * v[i]);
        } else {
            let q = &now.q[member.place.clone()];
            (0..v.len()).for_each(|i| c[i] = q[i] + share * v[i]);
        }
        for i in 0..v.len() {
            b[i] = v[i];
            f[i] = share * F[i];
        }
    }
}
