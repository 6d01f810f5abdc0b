//! The scheme of Schatzman and Paoli: laws of contacts and constraints on positions.
//!
//! ```text
//! M (q⁺ − 2 q + q⁻) = h² F(t, q̂, v̂) + h Hᵀ λ                                           (1)
//! q̂ = θ q⁺ + (1 − 2 θ) q + θ q⁻,    v̂ = (q⁺ − q⁻)/(2 h)                               (2)
//! 0 ≤ y⁺ + e y⁻ ⟂ λ_N ≥ 0,    equalities: y⁺ = 0                                      (3)
//! ```
//!
//! All interactions act in all steps. `M`, `F` are taken in the middle, at `q̂`, and `H` at `q`, so
//! the scheme is symmetric: second order while nothing impacts, also with equalities. θ = 0 is
//! explicit in the positions, θ ≥ 1/4 stable for every step. Friction, and laws that have no gap,
//! stand with the mean velocity of the step.
//!
//! With that velocity as the unknown, `ξ = (q⁺ − q)/h`, and its last value `w = (q − q⁻)/h⁻`, where
//! `h⁻` was the last step:
//!
//! ```text
//! M (ξ − w) = ½ (h + h⁻) F + Hᵀ λ,    q⁺ = q + h ξ                                     (4)
//! 0 ≤ (y⁺ + e y⁻)/h ⟂ λ_N ≥ 0,    y⁻ = y(t − h, q − h w)                               (5)
//! v⁺ = (h ξ + h⁻ w)/(h + h⁻)                                                          (6)
//! ```
//!
//! so that steps may change their length. At the beginning `w = v` and `h⁻ = 0`: without contacts
//! `q⁺ = q + h v + ½ h² M⁻¹ F`. (6) is the mean velocity of the last two steps; it lags by a step.
//! Reference: Paoli, Schatzman 2002.

use super::balance::Members;
use super::booking::{Forces, Path};
use super::motion::Center;
use super::newton::Link;
use super::row::MechanicalFields;
use crate::SimError;
use saltus_numerics::Memory;
use std::ops::Range;

/// The mean velocity of the last step.
#[derive(Debug, Clone)]
pub(super) struct Central {
    theta: f64,
    w: Vec<f64>,
    w_next: Vec<f64>,
    last_h: Vec<f64>, // h⁻ of each degree of freedom: 0 where its state was replaced
    past: Vec<f64>,   // q − h w
    before: Vec<f64>, // y⁻/h of gaps, u of the rest
}

impl Central {
    /// For `n` degrees of freedom and `m` components of interactions.
    pub fn new(theta: f64, n: usize, m: usize) -> Central {
        let zeros = || vec![0.0; n];
        let (w, w_next, past, last_h) = (zeros(), zeros(), zeros(), zeros());
        Central { theta, w, w_next, last_h, past, before: vec![0.0; m] }
    }

    /// Equations (4) and (5), what is known of them.
    pub fn begin(
        &mut self,
        members: &mut Members,
        links: &mut [Link],
        now: &MechanicalFields<'_>,
    ) -> Result<(), SimError> {
        let (h, start, n) = (members.step.h, members.step.start, now.v.len());
        for member in &mut members.systems {
            let last_h = self.last_h[member.range.start];
            (member.a, member.kappa) = (0.5 * (h + last_h) / h, 1.0);
        }
        members.b.copy_from_slice(&self.w);
        members.c.copy_from_slice(now.q);
        members.f.fill(0.0);
        let zeros = || vec![0.0; n];
        let center = members.center.get_or_insert_with(|| Center {
            t: start,
            q: zeros(),
            v: zeros(),
            q0: zeros(),
            v0: zeros(),
            h,
            by_q: self.theta,
            by_v: 0.5,
        });
        (center.t, center.h) = (start, h);
        for i in 0..n {
            self.past[i] = now.q[i] - h * self.w[i];
            center.q0[i] = now.q[i] - h * self.theta * self.w[i];
            center.v0[i] = 0.5 * self.w[i];
        }

        self.before.copy_from_slice(now.u);
        for contact in &mut members.interactions {
            if contact.on_gap.contains(&true) {
                contact.gather(&self.past);
                contact.scaled_gap(start - h, h, &mut self.before)?;
            }
            contact.turn(start, now.q)?;
            contact.grip(links);
        }
        Ok(())
    }

    /// What (5) and the laws of friction take for the velocity before the step.
    pub fn before(&self) -> &[f64] {
        &self.before
    }

    /// Equation (6), from `ξ` in `v`.
    pub fn finish(&mut self, h: f64, v: &mut [f64]) {
        self.w_next.copy_from_slice(v);
        for (v, (w, last_h)) in v.iter_mut().zip(self.w.iter().zip(&self.last_h)) {
            *v = (h * *v + last_h * w) / (h + last_h);
        }
    }

    /// (4) is multiplied by the mean of `w` and `ξ`.
    pub fn path(&self) -> Path<'_> {
        Path { before: &self.w, after: &self.w_next, forces: Forces::Center, smooth: &[] }
    }

    pub fn commit(&mut self, h: f64) {
        self.last_h.fill(h);
        std::mem::swap(&mut self.w, &mut self.w_next);
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        memory.numbers(&mut self.w);
        memory.numbers(&mut self.last_h);
    }

    pub fn restart(&mut self, range: Range<usize>, v: &[f64]) {
        self.last_h[range.clone()].fill(0.0);
        self.w[range.clone()].copy_from_slice(&v[range]);
    }
}
