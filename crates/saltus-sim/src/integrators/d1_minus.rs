//! The half-explicit scheme of Schindler and Acary, piecewise linear in the velocity with jumps at
//! the ends of steps (D1-minus).
//!
//! Contacts that stay closed have forces, found at both ends of the step; contacts that close have
//! impulses at its end:
//!
//! ```text
//! M a⁺ = F(t, q, v) + Hᵀ λ⁺,    v⁻ = v + h a⁺,    q' = q + ½ h (v + v⁻)                 (1)
//! M a⁻ = F(t', q', v⁻) + Hᵀ λ⁻,    v_free = v + ½ h (a⁺ + a⁻)                           (2)
//! v' = v_free + M⁻¹ Hᵀ Λ,    0 ≤ u' + e u_free ⟂ Λ ≥ 0    where y' ≤ tol                (3)
//! ```
//!
//! *At the level of accelerations* the forces of contacts with `y ≤ tol`, `u ≤ tol` obey
//!
//! ```text
//! 0 ≤ H a + Ḣ v ⟂ λ ≥ 0                                                               (4)
//! ```
//!
//! where `Ḣ v` is a difference along the motion. *At the level of velocities* those of contacts
//! with `y ≤ tol` obey their law with the velocity they would give at the end of the step, as
//! impulses `h λ⁺` (that velocity with `H` at `q + h v`) and `½ h λ⁻`; friction and relays have their law there
//! too. In (2) only contacts
//! closed at both ends have a force.
//!
//! The scheme is explicit: one linear problem each for (1), (2) and (3), and a bound on the step
//! from the fastest vibration. Reference: Schindler, Acary 2014.

use super::assembly::Places;
use super::balance::Members;
use super::booking::{Forces, Path};
use super::contact::Contact;
use super::mechanics::{Activation, Mechanics};
use super::motion::Motion;
use super::newton::{Link, Scheme, SystemBlock};
use super::part::Part;
use super::row::Row;
use super::{D1MinusLinear, Form, NewtonMode, NewtonSettings, Step, Variant};
use crate::SimError;
use saltus_linalg::{Matrix, vector};
use saltus_model::{Law, Model, Order, SystemId};
use saltus_numerics::{Memory, Report, Solver};
use std::any::Any;
use std::ops::Range;

/// The mechanical systems of a model, advanced by D1-minus.
#[derive(Debug)]
pub(crate) struct D1Minus {
    settings: D1MinusLinear,
    base: Mechanics,
    p: Vec<f64>, // right-hand side of a balance
    a: Vec<f64>, // a⁺
    v_left: Vec<f64>,
    v_free: Vec<f64>,
    u: Vec<f64>,
    y: Vec<f64>,
    lam: Vec<f64>, // of one problem
    past: Vec<f64>,
}

impl D1Minus {
    pub fn new(model: &Model, settings: D1MinusLinear, solver: &Solver) -> Result<Self, SimError> {
        let places = Places::new(model, Order::Second);
        for (name, interaction, _) in places.interactions_of(model) {
            let fail = |what, needs| {
                let (integrator, owner) = ("d1-minus-linear", format!("`{name}`"));
                Err(SimError::Unsuited { integrator, owner, what, needs })
            };
            match (&interaction.law, settings.variant) {
                (Law::NewtonImpact { .. } | Law::Equality, _) => {}
                (Law::PiecewiseLinear { .. } | Law::NormalCone { .. } | Law::User(_), _) => {
                    return fail("the law", "of contact, an equality or a relay");
                }
                (_, Variant::Acceleration) => {
                    return fail("the law", "without friction, or the variant `velocity`");
                }
                (_, Variant::Velocity) => {}
            }
            if interaction.relation.terms().through {
                return fail("the relation", "rigid");
            }
        }
        let (n, m) = (places.states, places.outputs);
        let newton = NewtonSettings { mode: NewtonMode::Linear, ..NewtonSettings::default() };
        let systems = places.systems.iter().flatten().count();
        let motion = Motion::Theta(vec![0.0; systems]);
        let activation = Activation { gamma: 0.0, threshold: 0.0 };
        let base =
            Mechanics::new(model, motion, activation, None, (Form::Reduced, newton), solver)?;
        let (of_n, of_m) = (|| vec![0.0; n], || vec![0.0; m]);
        Ok(D1Minus {
            settings,
            base,
            p: of_n(),
            a: of_n(),
            v_left: of_n(),
            v_free: of_n(),
            u: of_m(),
            y: of_m(),
            lam: of_m(),
            past: of_n(),
        })
    }
}

/// `M ξ = p + Hᵀ λ`, `w = H ξ + shift`, with `M` and `H` as they were found last.
struct Balance<'a> {
    members: &'a mut Members,
    p: &'a [f64],
    gripped: bool, // λ acts along an `H` found before
}

impl Scheme for Balance<'_> {
    fn residual(
        &mut self,
        xi: &[f64],
        lam: &[f64],
        rho: &mut [f64],
        w: &mut [f64],
        links: &mut [Link],
    ) -> Result<f64, SimError> {
        for member in &self.members.systems {
            let xi = &xi[member.range.clone()];
            for (i, row) in member.range.clone().enumerate() {
                rho[row] = vector::dot(member.M.row(i), xi) - self.p[row];
            }
        }
        for contact in &self.members.interactions {
            if !links[contact.links.start].on {
                continue;
            }
            for row in contact.rows.clone() {
                w[row] = self.members.shift[row];
            }
            let mut first = 0;
            for link in &mut links[contact.links.clone()] {
                let width = link.range.len();
                for (i, row) in link.rows.clone().enumerate() {
                    let H = &contact.H.row(i)[first..first + width];
                    w[row] += vector::dot(H, &xi[link.range.clone()]);
                    for (j, &entry) in H.iter().enumerate() {
                        link.C[(i, j)] = entry;
                        if !self.gripped {
                            link.Bt[(i, j)] = entry;
                        }
                        rho[link.range.start + j] -= link.Bt[(i, j)] * lam[row];
                    }
                }
                first += width;
            }
        }
        // linear: whatever is left is round-off, unless it is no number
        Ok(if vector::all_finite(rho) { 0.0 } else { f64::NAN })
    }

    fn jacobians(
        &mut self,
        _: &[f64],
        _: &[f64],
        systems: &mut [SystemBlock],
        _: &mut [Link],
        _: &mut [Matrix],
    ) -> Result<(), SimError> {
        for (member, block) in self.members.systems.iter().zip(systems) {
            block.W.copy_from(&member.M);
        }
        Ok(())
    }
}

impl Contact {
    /// `Ḣ v` and what moves with time: the rate of `u` along the motion with this velocity.
    fn turning(
        &mut self,
        t: f64,
        q: &[f64],
        v: &[f64],
        past: &mut [f64],
        rate: &mut [f64],
    ) -> Result<(), SimError> {
        if self.relation.linear().is_some() {
            rate[self.rows.clone()].fill(0.0);
            return Ok(());
        }
        let speed = vector::norm_inf(v);
        let span = f64::EPSILON.cbrt() * (1.0 + vector::norm_inf(q)) / (1.0 + speed);
        let mut there = |contact: &mut Contact, shift: f64| {
            past.iter_mut().zip(q.iter().zip(v)).for_each(|(x, (q, v))| *x = q + shift * v);
            contact.turn(t + shift, past)
        };
        there(self, span)?;
        for (i, row) in self.rows.clone().enumerate() {
            rate[row] = self.speed(i, v);
        }
        there(self, -span)?;
        for (i, row) in self.rows.clone().enumerate() {
            rate[row] = (rate[row] - self.speed(i, v)) / (2.0 * span);
        }
        self.turn(t, q)
    }
}

impl Part for D1Minus {
    fn places(&self) -> &Places {
        self.base.places()
    }

    fn now(&self) -> &Row {
        self.base.now()
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        self.base.reset(t0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, same: bool) -> Result<(), SimError> {
        match before.as_any().downcast_ref::<D1Minus>() {
            Some(before) => self.base.adopt(&before.base, last, same),
            None => self.base.adopt(before, last, same),
        }
    }

    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        range: Range<usize>,
        values: [Option<&[f64]>; 2],
    ) -> Result<(), SimError> {
        self.base.set(model, id, range, values)
    }

    fn inputs(&self, name: &str) -> Option<&[f64]> {
        self.base.inputs(name)
    }

    fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        self.base.set_inputs(name, z)
    }

    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        let D1Minus { settings, base, p, a, v_left, v_free, u, y, lam, past } = self;
        let D1MinusLinear { variant, tol, .. } = *settings;
        let by_velocity = variant == Variant::Velocity;
        let Mechanics { places, laws, members, newton, now, next, scratch, .. } = base;
        let (now, next) = (now.mechanical(), next.mechanical());
        let Step { start, end, h } = step;
        members.step = step;
        laws.evaluate(start, &now, &mut newton.problem, scratch)?;
        let owner = |index| places.owner_of(model, index);
        let mut report: Option<Report> = None;
        let mut count = |solved: Option<Report>| {
            report = match (report, solved) {
                (Some(before), Some(last)) => {
                    Some(Report { iterations: before.iterations + last.iterations, ..last })
                }
                (before, last) => last.or(before),
            };
        };
        let closed = |y: f64| y <= tol;

        // (1)
        members.forces(start, now.q, now.v)?;
        members.F_now.copy_from_slice(&members.F_next);
        for contact in &mut members.interactions {
            if by_velocity {
                past.iter_mut().zip(now.q.iter().zip(&*now.v)).for_each(|(x, (q, v))| {
                    *x = q + h * v;
                });
                contact.turn(start, now.q)?;
                contact.grip(&mut newton.links);
                contact.turn(end, past)?;
                members.shift[contact.rows.clone()].copy_from_slice(&contact.rate);
            } else {
                contact.turn(start, now.q)?;
                contact.turning(start, now.q, now.v, past, &mut members.shift)?;
            }
        }
        let acts = laws.switch(h, &mut newton.problem, |row| {
            closed(now.y[row]) && (by_velocity || now.u[row] <= tol)
        });
        newton.links.iter_mut().for_each(|link| link.on = laws.is_on(link.rows.clone()));
        p.copy_from_slice(&members.F_now);
        if by_velocity {
            p.iter_mut().for_each(|p| *p *= h);
            members.add_momentum(now.v, p);
        }
        lam.fill(0.0);
        a.fill(0.0);
        let mut balance = Balance { members, p, gripped: by_velocity };
        count(newton.solve(&mut balance, acts, a, lam, step, owner)?);
        if by_velocity {
            a.iter_mut().zip(&*now.v).for_each(|(a, v)| *a = (*a - v) / h);
        }
        let share = if by_velocity { 0.5 } else { 0.5 * h };
        next.lam.iter_mut().zip(&*lam).for_each(|(sum, lam)| *sum = share * lam);
        for i in 0..a.len() {
            v_left[i] = now.v[i] + h * a[i];
            next.q[i] = now.q[i] + 0.5 * h * (now.v[i] + v_left[i]);
        }
        if !(vector::all_finite(next.q) && vector::all_finite(v_left)) {
            next.v.copy_from_slice(v_left);
            return Err(base.lost(end));
        }

        // (2)
        for contact in &mut members.interactions {
            contact.turn(end, next.q)?;
            contact.gap(end, y)?;
            contact.velocity(v_left, u);
            if by_velocity {
                members.shift[contact.rows.clone()].copy_from_slice(&contact.rate);
            } else {
                contact.turning(end, next.q, v_left, past, &mut members.shift)?;
            }
        }
        members.forces(end, next.q, v_left)?;
        let acts = laws.switch(0.5 * h, &mut newton.problem, |row| {
            closed(now.y[row]) && closed(y[row]) && (by_velocity || u[row] <= tol)
        });
        newton.links.iter_mut().for_each(|link| link.on = laws.is_on(link.rows.clone()));
        p.copy_from_slice(&members.F_next);
        if by_velocity {
            p.iter_mut().for_each(|p| *p *= 0.5 * h);
            for i in 0..a.len() {
                v_free[i] = now.v[i] + 0.5 * h * a[i];
            }
            members.add_momentum(v_free, p);
        }
        lam.fill(0.0);
        v_free.fill(0.0);
        let mut balance = Balance { members, p, gripped: false };
        count(newton.solve(&mut balance, acts, v_free, lam, step, owner)?);
        if !by_velocity {
            for i in 0..a.len() {
                v_free[i] = now.v[i] + 0.5 * h * (a[i] + v_free[i]);
            }
        }
        let share = if by_velocity { 1.0 } else { 0.5 * h };
        next.lam.iter_mut().zip(&*lam).for_each(|(sum, lam)| *sum += share * lam);

        // (3)
        for contact in &mut members.interactions {
            contact.velocity(v_free, u);
            members.shift[contact.rows.clone()].copy_from_slice(&contact.rate);
        }
        laws.restitute(u, &mut members.shift);
        let acts = laws.switch(0.0, &mut newton.problem, |row| closed(y[row]));
        newton.links.iter_mut().for_each(|link| link.on = laws.is_on(link.rows.clone()));
        p.fill(0.0);
        members.add_momentum(v_free, p);
        lam.fill(0.0);
        next.v.copy_from_slice(v_free);
        let mut balance = Balance { members, p, gripped: false };
        count(newton.solve(&mut balance, acts, next.v, lam, step, owner)?);
        next.lam.iter_mut().zip(&*lam).for_each(|(sum, lam)| *sum += lam);
        if !vector::all_finite(next.v) {
            return Err(base.lost(end));
        }
        next.y.copy_from_slice(y);
        for contact in &members.interactions {
            contact.velocity(next.v, next.u);
        }
        let path = Path { before: now.v, after: next.v, forces: Forces::Mean, smooth: &[] };
        let ledger = members.book(base.energy0, &now, &next, &newton.links, path)?.to_array();
        next.ledger.copy_from_slice(&ledger);
        step.check_energies(&ledger, || None)?;
        Ok(report)
    }

    fn commit(&mut self) {
        let base = &mut self.base;
        base.last = base.members.step;
        for contact in &mut base.members.interactions {
            contact.rate_before.copy_from_slice(&contact.rate);
        }
        std::mem::swap(&mut base.now.values, &mut base.next.values);
        std::mem::swap(&mut base.members.D_now, &mut base.members.D_next);
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.base.memory(memory)
    }

    fn penetration(&self) -> f64 {
        self.base.penetration()
    }
}

impl Members {
    /// `p ← p + M v`.
    fn add_momentum(&self, v: &[f64], p: &mut [f64]) {
        for member in &self.systems {
            let range = member.range.clone();
            member.M.apply_add(&v[range.clone()], &mut p[range]);
        }
    }
}
