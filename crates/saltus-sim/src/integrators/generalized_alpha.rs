//! The generalized-α scheme for mechanical systems with impacts.
//!
//! The smooth part is that of Chung and Hulbert, with an auxiliary acceleration `a` beside the
//! true one; impulses change the velocity alone, as in the scheme of Moreau and Jean:
//!
//! ```text
//! M v̇⁺ = F⁺ + H_eᵀ f                                    f: forces of equalities         (1)
//! (1 − α_m) a⁺ + α_m a = (1 − α_f) v̇⁺ + α_f v̇                                         (2)
//! v⁺ = v + h (1 − γ) a + h γ a⁺ + j⁺,    j⁺ = M⁻¹ Hᵀ λ      λ: impulses                 (3)
//! q⁺ = q + h v + h² (½ − β) a + h² β a⁺ + h κ j⁺ + h (½ − κ) j,    κ = β/γ              (4)
//! α_m = (2ρ − 1)/(ρ + 1),  α_f = ρ/(ρ + 1),  γ = ½ + α_f − α_m,  β = ¼ (γ + ½)²          (5)
//! ```
//!
//! `ρ` is the factor by which a step multiplies infinitely fast vibrations: 1 damps nothing, 0
//! takes them away in one step. The scheme is second order for every `ρ` while nothing impacts;
//! equalities are part of the smooth motion. Eliminating `a⁺` leaves the balance of `mechanics`
//! with
//!
//! ```text
//! a = γ (1 − α_f)/(1 − α_m),    b = v + h (1 − γ) a + h γ (α_f v̇ − α_m a)/(1 − α_m)
//! c = q + h (1 − κ) v + h² (½ − κ) (a + j/h),    f = 0                                 (6)
//! ```
//!
//! The last jump `j` in (4) keeps what is at rest where it is: there `j = −h a`.
//!
//! The first step knows no accelerations yet and is one of Moreau and Jean with θ = ½.
//! References: Chung, Hulbert 1993; Chen, Acary, Virlez, Brüls 2013; Brüls, Acary, Cardona 2014.

use super::balance::Members;
use super::newton::Link;
use super::row::MechanicalFields;
use crate::SimError;
use saltus_linalg::DenseLu;
use saltus_model::{Law, Model, Order};
use saltus_numerics::Memory;

/// The weights and the accelerations of the last step.
#[derive(Debug)]
pub(super) struct Alpha {
    alpha_m: f64,
    alpha_f: f64,
    gamma: f64,
    beta: f64,
    smooth: Vec<bool>, // of each interaction: an equality
    started: bool,
    a: Vec<f64>,
    a_next: Vec<f64>,
    rate: Vec<f64>, // v̇
    rate_next: Vec<f64>,
    jump: Vec<f64>, // j/h
    jump_next: Vec<f64>,
    lu: Vec<DenseLu>, // of M
}

impl Alpha {
    /// Equation (5).
    pub fn new(model: &Model, rho: f64) -> Alpha {
        let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        let gamma = 0.5 + alpha_f - alpha_m;
        let second = model.systems().filter(|(_, system)| system.order() == Order::Second);
        let sizes: Vec<usize> = second.map(|(_, system)| system.dim()).collect();
        let n = sizes.iter().sum();
        let interactions = model.interactions().map(|(_, one)| one);
        let second = interactions.filter(|one| one.relation.order() == Order::Second);
        let smooth = |one: &saltus_model::Interaction| {
            one.active && one.law == Law::Equality && !one.relation.terms().through
        };
        Alpha {
            alpha_m,
            alpha_f,
            gamma,
            beta: 0.25 * (gamma + 0.5) * (gamma + 0.5),
            smooth: second.map(smooth).collect(),
            started: false,
            a: vec![0.0; n],
            a_next: vec![0.0; n],
            rate: vec![0.0; n],
            rate_next: vec![0.0; n],
            jump: vec![0.0; n],
            jump_next: vec![0.0; n],
            lu: sizes.into_iter().map(DenseLu::with_capacity).collect(),
        }
    }

    /// Which interactions are constraints of smooth motion.
    pub fn smooth(&self) -> &[bool] {
        &self.smooth
    }

    pub fn kappa(&self) -> f64 {
        self.beta / self.gamma
    }

    /// Share of the step's end in the force, `a` of (6).
    fn weight(&self) -> f64 {
        match self.started {
            true => self.gamma * (1.0 - self.alpha_f) / (1.0 - self.alpha_m),
            false => 1.0,
        }
    }

    /// Equation (6).
    pub fn begin(&self, members: &mut Members, now: &MechanicalFields<'_>) {
        if !self.started {
            (0..members.systems.len()).for_each(|k| members.begin_theta(k, 0.5, now));
            return;
        }
        let (h, kappa, weight) = (members.step.h, self.kappa(), self.weight());
        let Alpha { alpha_m, alpha_f, gamma, .. } = *self;
        for member in &mut members.systems {
            (member.a, member.kappa) = (weight, kappa);
        }
        for i in 0..now.v.len() {
            let (a, v) = (self.a[i], now.v[i]);
            let memory = (alpha_f * self.rate[i] - alpha_m * a) / (1.0 - alpha_m);
            members.b[i] = v + h * ((1.0 - gamma) * a + gamma * memory);
            let rest = h * h * (0.5 - kappa) * (a + self.jump[i]);
            members.c[i] = h * (1.0 - kappa) * v + rest;
            members.f[i] = 0.0;
        }
        for member in members.systems.iter().filter(|member| !member.curved) {
            let c = &mut members.c[member.range.clone()];
            c.iter_mut().zip(&now.q[member.place.clone()]).for_each(|(c, q)| *c += q);
        }
    }

    /// Equations (1) to (3); multipliers of equalities become impulses `h f`.
    pub fn finish(
        &mut self,
        members: &Members,
        links: &[Link],
        before: &[f64],
        v: &[f64],
        lam: &mut [f64],
    ) -> Result<(), SimError> {
        let (h, weight) = (members.step.h, self.weight());
        self.rate_next.copy_from_slice(&members.F_next);
        for (contact, smooth) in members.interactions.iter().zip(&self.smooth) {
            if !smooth {
                continue;
            }
            lam[contact.rows.clone()].iter_mut().for_each(|lam| *lam /= weight);
            for link in &links[contact.links.clone()] {
                for (i, row) in link.rows.clone().enumerate() {
                    let force = &mut self.rate_next[link.range.clone()];
                    let f = lam[row] / h;
                    force.iter_mut().zip(link.Bt.row(i)).for_each(|(F, b)| *F += b * f);
                }
            }
        }
        for (member, lu) in members.systems.iter().zip(&mut self.lu) {
            super::assembly::factor_in(lu, &member.name, h, &member.M)?;
            lu.solve(&mut self.rate_next[member.range.clone()]);
        }
        if !self.started {
            self.a.copy_from_slice(&self.rate_next);
            self.rate.copy_from_slice(&self.rate_next);
        }
        let Alpha { alpha_m, alpha_f, gamma, .. } = *self;
        for i in 0..self.a.len() {
            let sum = (1.0 - alpha_f) * self.rate_next[i] + alpha_f * self.rate[i];
            self.a_next[i] = (sum - alpha_m * self.a[i]) / (1.0 - alpha_m);
            let smooth = (1.0 - gamma) * self.a[i] + gamma * self.a_next[i];
            self.jump_next[i] = (v[i] - before[i]) / h - smooth;
        }
        Ok(())
    }

    pub fn commit(&mut self) {
        self.started = true;
        std::mem::swap(&mut self.a, &mut self.a_next);
        std::mem::swap(&mut self.rate, &mut self.rate_next);
        std::mem::swap(&mut self.jump, &mut self.jump_next);
    }

    pub fn memory(&mut self, memory: &mut Memory) {
        memory.flag(&mut self.started);
        memory.numbers(&mut self.a);
        memory.numbers(&mut self.rate);
        memory.numbers(&mut self.jump);
    }

    pub fn restart(&mut self) {
        self.started = false;
    }
}
