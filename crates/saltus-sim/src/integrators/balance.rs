//! Implicit schemes for mechanical systems and relations of any kind, with a velocity `ξ` as the
//! unknown.
//!
//! ```text
//! ρ = M(q⁺) (ξ − b) − h a F(t⁺, q⁺, ξ) − f − Hᵀ λ = 0                                 (1)
//! q⁺ = c + h κ ξ,    of bodies:  q⁺ = q ∘ exp(c + h κ ξ)                              (2)
//! u⁺ = H(t⁺, q⁺) ξ + ∂h/∂t,    H = ∂h/∂q at (t⁺, q⁺)                                  (3)
//! W = ∂ρ/∂ξ ≈ M − h a ∂F/∂v − h² a κ ∂F/∂q                                            (4)
//! ```
//!
//! What `a`, `κ`, `b`, `c` and `f` are is the scheme's choice (see `motion`). For the θ-scheme of
//! Moreau and Jean, `ξ = v⁺`, they are `θ`, `θ`, `v`, `q + h (1 − θ) v` and `h (1 − θ) F`. Of
//! bodies in space `c` is the way alone, `h (1 − θ) v`, and `∂F/∂q` the slope along ways.
//!
//! `λ` are impulses. (4) leaves out how `M` and `H` turn with `q⁺`, which is of the order of the
//! step; Newton's method converges all the same. A contact that gives way, `y = h(q, λ)`, has its
//! law at the end of the step, where `λ/h` is the force:
//!
//! ```text
//! w = h(q⁺, λ/h),    C = h κ H,    D = (∂h/∂λ)/h                                      (5)
//! ```
//!
//! Springs, dampers and loads (see [`ForceRule`](saltus_model::ForceRule)) have theirs on the mean `ȳ = θ y⁺ + (1 − θ) y`, with
//! `θ = κ`. A spring is written like a velocity, so that the matrix of the problem stays symmetric:
//!
//! ```text
//! w = (a y⁺ + (1 − a) y)/(h a κ),    a = θ + T/h,    C = H,    D = (∂h/∂λ)/(h² a κ)   (6)
//! ```

use super::Step;
use super::assembly::Places;
use super::contact::{Contact, Gained};
use super::laws::Laws;
use super::motion::{Center, Motion};
use super::newton::{Link, Scheme, SystemBlock, larger};
use super::part::Part;
use super::together::Groups;
use crate::SimError;
use saltus_linalg::{Matrix, unrolled};
use saltus_model::{At, Linearized, Model, SecondOrderSystem, System};
use saltus_numerics::Memory;
use std::ops::Range;
use std::sync::Arc;

/// Systems and interactions, and what is known of them at the iterate.
#[derive(Debug)]
pub(super) struct Members {
    pub systems: Vec<Member>,
    pub interactions: Vec<Contact>,
    groups: Groups,
    pub step: Step,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    pub f: Vec<f64>,
    q_base: Vec<f64>,           // q of bodies, where their ways begin
    bend: Vec<f64>,             // ways of bodies after those of (2)
    bends: bool,                // there are any
    pub center: Option<Center>, // where `M` and `F` are taken, if not at the end
    pub shift: Vec<f64>,        // what restitution adds to u⁺
    pub q_next: Vec<f64>,       // q⁺ of the iterate
    pub F_now: Vec<f64>,
    pub F_next: Vec<f64>,
    pub D_now: Vec<f64>, // the part of −F that damps
    pub D_next: Vec<f64>,
    pub frictional: Vec<bool>, // rows whose energy is taken by friction
    pub impulse: Vec<f64>,     // Hᵀ λ
    pushes: Vec<f64>,          // |Hᵀ| |λ|: impulses may cancel, and leave the round-off of these
    pub work: Vec<f64>,
    work_matrix: Matrix,
    wanted: bool,     // the next residual is to be linearized
    linearized: bool, // the Jacobians of `F` are those of the last residual
}

#[derive(Debug)]
pub(super) struct Member {
    pub name: String,
    pub system: Arc<dyn SecondOrderSystem>,
    pub range: Range<usize>,
    /// In `q`.
    pub place: Range<usize>,
    /// Whether (2) is that of bodies.
    pub curved: bool,
    pub inputs: Vec<f64>,
    pub M: Matrix,
    dF_dq: Matrix,
    dF_dv: Matrix,
    pub a: f64,
    pub kappa: f64,
}

impl Members {
    /// The members of a model, for a scheme.
    pub fn new(model: &Model, places: &Places, laws: &Laws, motion: &Motion) -> Members {
        let (n, m) = (places.states, places.outputs);
        let mut systems = Vec::new();
        for (k, name, system, range) in places.systems_of(model) {
            if let System::SecondOrder(system) = system {
                let place = places.configurations[k].clone().unwrap_or(0..0);
                let curved = system.dim_q() != system.dim();
                let (name, system) = (name.to_string(), Arc::clone(system));
                let (inputs, M) = (system.z0().to_vec(), Matrix::default());
                let (dF_dq, dF_dv) = <(Matrix, Matrix)>::default();
                let (a, kappa) = (0.0, 0.0);
                systems.push(Member {
                    name,
                    system,
                    range,
                    place,
                    curved,
                    inputs,
                    M,
                    dF_dq,
                    dF_dv,
                    a,
                    kappa,
                });
            }
        }
        let (mut interactions, mut links, mut bonds) = (Vec::new(), 0, 0);
        for (name, interaction, rows) in places.interactions_of(model) {
            let contact = Contact::new(name, interaction, rows, places, motion, (links, bonds));
            links = contact.links.end;
            bonds += usize::from(contact.bond.is_some());
            interactions.push(contact);
        }
        let groups = Groups::new(&interactions);
        let shares = groups.shares(&interactions);
        interactions.iter_mut().zip(shares).for_each(|(one, share)| one.share = share);
        Members {
            systems,
            interactions,
            groups,
            step: Step { start: model.t0(), end: model.t0(), h: 0.0 },
            b: vec![0.0; n],
            c: vec![0.0; n],
            f: vec![0.0; n],
            q_base: vec![0.0; places.positions],
            bend: vec![0.0; n],
            bends: false,
            center: None,
            shift: vec![0.0; m],
            q_next: vec![0.0; places.positions],
            F_now: vec![0.0; n],
            F_next: vec![0.0; n],
            D_now: vec![0.0; n],
            D_next: vec![0.0; n],
            frictional: laws.frictional(),
            impulse: vec![0.0; n],
            pushes: vec![0.0; n],
            work: vec![0.0; n],
            work_matrix: Matrix::default(),
            wanted: false,
            linearized: false,
        }
    }

    /// Equation (2).
    fn move_to(&mut self, xi: &[f64]) {
        let Members { systems, c, q_base, bend, q_next, work, .. } = self;
        for member in systems {
            let (range, rate) = (member.range.clone(), self.step.h * member.kappa);
            let (c, xi) = (&c[range.clone()], &xi[range.clone()]);
            let q = &mut q_next[member.place.clone()];
            if !member.curved {
                for i in 0..q.len() {
                    q[i] = c[i] + rate * xi[i];
                }
                continue;
            }
            let (system, n) = (&member.system, xi.len());
            work.resize((n + q.len()).max(work.len()), 0.0);
            let (way, middle) = work.split_at_mut(n);
            for i in 0..n {
                way[i] = c[i] + rate * xi[i];
            }
            system.displace(&q_base[member.place.clone()], way, q);
            if self.bends {
                let middle = &mut middle[..q.len()];
                middle.copy_from_slice(q);
                system.displace(middle, &bend[range], q);
            }
        }
    }

    /// The forces of (6) in a step that begins at `q`; [`systems`](Self::systems) are ready.
    pub fn begin_forces(&mut self, links: &[Link], q: &[f64]) {
        let h = self.step.h;
        for contact in self.interactions.iter_mut().filter(|contact| contact.is_force()) {
            let kappa = self.systems[links[contact.links.start].system].kappa;
            contact.begin_forces(h, kappa, q);
        }
    }

    /// A step begins, from `q`.
    pub fn begin_ways(&mut self, q: &[f64]) {
        if std::mem::take(&mut self.bends) {
            self.bend.fill(0.0);
        }
        for member in self.systems.iter().filter(|member| member.curved) {
            let place = member.place.clone();
            self.q_base[place.clone()].copy_from_slice(&q[place]);
        }
    }

    /// Lets the step lead farther by `shift`, where it did by `before`.
    pub fn lead_on(&mut self, shift: &[f64], before: &[f64]) {
        for member in &self.systems {
            for k in member.range.clone() {
                match member.curved {
                    true => self.bend[k] = shift[k],
                    false => self.c[k] += shift[k] - before[k],
                }
            }
            self.bends |= member.curved;
        }
    }

    /// Size of the terms of configurations, as ways see them.
    pub fn extents(&self, q: &[f64], extents: &mut [f64]) {
        for member in &self.systems {
            let extent = &mut extents[member.range.clone()];
            member.system.extent(&q[member.place.clone()], extent);
        }
    }

    /// What a step finds here.
    pub fn memory(&mut self, memory: &mut Memory) {
        memory.numbers(&mut self.F_now);
        memory.numbers(&mut self.D_now);
        for member in &mut self.systems {
            memory.numbers(&mut member.inputs);
        }
        for contact in &mut self.interactions {
            memory.numbers(&mut contact.inputs);
            memory.numbers(contact.H.data_mut());
            memory.numbers(&mut contact.rate);
            memory.numbers(&mut contact.rate_before);
            memory.numbers(&mut contact.force);
        }
    }

    pub fn inputs(&self, name: &str) -> Option<&[f64]> {
        let system = self.systems.iter().find(|member| member.name == name);
        let interaction = self.interactions.iter().find(|one| one.name == name);
        system.map(|member| &*member.inputs).or(interaction.map(|one| &*one.inputs))
    }

    pub fn set_inputs(&mut self, name: &str, z: &[f64]) {
        let systems = self.systems.iter_mut().filter(|member| member.name == name);
        systems.for_each(|member| member.inputs.copy_from_slice(z));
        let interactions = self.interactions.iter_mut().filter(|one| one.name == name);
        interactions.for_each(|one| one.inputs.copy_from_slice(z));
    }

    pub fn initial_inputs(&mut self) {
        for member in &mut self.systems {
            member.inputs.copy_from_slice(member.system.z0());
        }
        for interaction in &mut self.interactions {
            interaction.inputs.copy_from_slice(interaction.relation.z0());
        }
    }

    /// The inputs of another part.
    pub fn adopt_inputs(&mut self, before: &dyn Part) {
        let systems = self.systems.iter_mut().map(|one| (&one.name, &mut one.inputs));
        let interactions = self.interactions.iter_mut().map(|one| (&one.name, &mut one.inputs));
        for (name, inputs) in systems.chain(interactions).filter(|(_, z)| !z.is_empty()) {
            if let Some(z) = before.inputs(name) {
                inputs.copy_from_slice(z);
            }
        }
    }

    /// `y` and `H` at the end of the step of all relations that are evaluated together.
    pub fn gaps_together(&mut self, t: f64, q: &[f64], y: &mut [f64]) -> Result<(), SimError> {
        let Members { groups: Groups { groups, members }, interactions, .. } = self;
        for group in groups {
            let members = &members[group.contacts.clone()];
            if !group.eval(t, q) {
                // one of them has no value: it says so itself
                members.iter().try_for_each(|&k| interactions[k].turn_with_gap(t, q, y))?;
                continue;
            }
            for &k in members {
                let contact = &mut interactions[k];
                let Some(share) = contact.share else { continue };
                let H = contact.H.data_mut();
                let (own, turned) = group.values(share, contact.rows.len(), H.len());
                y[contact.rows.clone()].copy_from_slice(own);
                H.copy_from_slice(turned);
            }
        }
        Ok(())
    }

    /// Makes ready what evaluates relations together.
    pub fn prepare(&mut self) {
        self.groups.prepare(&self.interactions);
    }

    /// Goes on with what other members have made.
    pub fn adopt_groups(&mut self, before: &Members) {
        self.groups.adopt(&self.interactions, &before.groups, &before.interactions);
    }

    /// `M` and `F` at the end of the step.
    pub fn forces(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), SimError> {
        for member in &mut self.systems {
            let range = member.range.clone();
            let at = At::new(t, &q[member.place.clone()], &v[range.clone()]).with(&member.inputs);
            let (M, F) = (&mut member.M, &mut self.F_next[range]);
            let evaluated = member.system.mass_and_force(at, M, F, &mut self.work);
            evaluated.map_err(|error| error.of(&member.name))?;
        }
        Ok(())
    }
}

impl Scheme for Members {
    fn residual(
        &mut self,
        xi: &[f64],
        lam: &[f64],
        rho: &mut [f64],
        w: &mut [f64],
        links: &mut [Link],
    ) -> Result<f64, SimError> {
        let Step { end, h, .. } = self.step;

        // (2)
        self.move_to(xi);
        let early = self.center.is_some();
        if let Some(center) = &mut self.center {
            center.place(xi);
        }

        // (3), (5)
        self.impulse.fill(0.0);
        self.pushes.fill(0.0);
        let groups = &mut self.groups.groups;
        for contact in &mut self.interactions {
            if !links[contact.links.start].on {
                continue;
            }
            // the unknown of a central scheme is the velocity in the middle of the step
            let t = if early && contact.terms.velocity { end - 0.5 * h } else { end };
            match contact.share {
                Some(share) if groups[share.group].eval(t, &self.q_next) => {
                    contact.gather(&self.q_next);
                    let H = contact.H.data_mut();
                    let (_, turned) =
                        groups[share.group].values(share, contact.rows.len(), H.len());
                    H.copy_from_slice(turned);
                }
                _ => {
                    contact.press(1.0 / h, lam);
                    contact.turn(t, &self.q_next)?;
                }
            }
            let gained = Gained { impulse: &mut self.impulse, pushes: &mut self.pushes };
            match contact.plain && !early {
                true => {
                    contact.velocity(xi, w);
                    contact.push(&mut links[contact.links.clone()], lam, gained);
                }
                false => {
                    contact.output(self.step, xi, w)?;
                    contact.push_weighted(&self.systems, h, links, early, lam, gained);
                    if contact.bond.is_some() {
                        let systems = &self.systems;
                        contact.pull(end, h, lam, w, links, |system| systems[system].kappa)?;
                    }
                }
            }
            for row in contact.rows.clone() {
                w[row] += self.shift[row];
            }
        }

        // (1)
        self.linearized = std::mem::take(&mut self.wanted);
        let mut error = 0.0_f64;
        for member in &mut self.systems {
            let range = member.range.clone();
            let at = point(&self.center, end, &self.q_next, xi, &member.range, &member.place);
            let at = at.with(&member.inputs);
            let (M, F) = (&mut member.M, &mut self.F_next[range.clone()]);
            let evaluated = match self.linearized {
                true => {
                    let (dq, dv) = (&mut member.dF_dq, &mut member.dF_dv);
                    let out = Linearized { M, F, dq, dv };
                    member.system.linearized(at, out, &mut self.work, &mut self.work_matrix)
                }
                false => member.system.mass_and_force(at, M, F, &mut self.work),
            };
            evaluated.map_err(|error| error.of(&member.name))?;
            let terms = Terms {
                M: member.M.data(),
                xi: &xi[range.clone()],
                b: &self.b[range.clone()],
                rate: h * member.a,
                F: &self.F_next[range.clone()],
                f: &self.f[range.clone()],
                impulse: &self.impulse[range.clone()],
                pushes: &self.pushes[range.clone()],
            };
            let (worst, scale) = unrolled!(range.len(), momentum(terms, &mut rho[range.clone()]));
            if worst != 0.0 {
                error = larger(error, worst / scale);
            }
        }
        Ok(error)
    }

    fn expect_jacobians(&mut self) {
        self.wanted = true;
    }

    /// Equation (4), and `D` of (5).
    fn jacobians(
        &mut self,
        xi: &[f64],
        _: &[f64],
        systems: &mut [SystemBlock],
        links: &mut [Link],
        D: &mut [Matrix],
    ) -> Result<(), SimError> {
        let Step { end, h, .. } = self.step;
        for (member, block) in self.systems.iter_mut().zip(systems) {
            let (by_v, by_q) = match &self.center {
                None => (1.0, member.kappa),
                Some(center) => (center.by_v, center.by_q),
            };
            let (dq, dv) = (&mut member.dF_dq, &mut member.dF_dv);
            if !self.linearized {
                let at = point(&self.center, end, &self.q_next, xi, &member.range, &member.place);
                let (at, work) = (at.with(&member.inputs), &mut self.work_matrix);
                let evaluated = member.system.force_jacobians(at, dq, dv, work);
                evaluated.map_err(|error| error.of(&member.name))?;
            }
            let (by_v, by_q) = (-h * member.a * by_v, -h * h * member.a * by_q);
            let (W, M) = (block.W.data_mut(), member.M.data());
            let (dv, dq) = (dv.data(), dq.data());
            for k in 0..W.len() {
                W[k] = (M[k] + by_v * dv[k]) + by_q * dq[k];
            }
        }
        for (contact, D) in self.interactions.iter_mut().zip(D) {
            if contact.compliant && links[contact.links.start].on {
                contact.through(h, end, D)?;
            }
            contact.yielding(h, D);
        }
        Ok(())
    }
}

/// The terms of (1) of one system.
struct Terms<'a> {
    M: &'a [f64],
    xi: &'a [f64],
    b: &'a [f64],
    rate: f64, // h a
    F: &'a [f64],
    f: &'a [f64],
    impulse: &'a [f64],
    pushes: &'a [f64],
}

/// Equation (1) of a system of `n` degrees of freedom; the largest `ρ`, and its largest terms.
#[inline(always)] // `n` is a number where it is small
fn momentum(n: usize, terms: Terms<'_>, rho: &mut [f64]) -> (f64, f64) {
    let Terms { M, xi, b, rate, F, f, impulse, pushes } = terms;
    let (xi, b, F, f) = (&xi[..n], &b[..n], &F[..n], &f[..n]);
    let (impulse, pushes, rho) = (&impulse[..n], &pushes[..n], &mut rho[..n]);
    let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
    for i in 0..n {
        let M = &M[i * n..][..n];
        let (mut gained, mut terms) = (0.0, 0.0);
        for j in 0..n {
            gained += M[j] * (xi[j] - b[j]);
            terms += (M[j] * xi[j]).abs() + (M[j] * b[j]).abs();
        }
        let force = rate * F[i] + f[i];
        rho[i] = gained - force - impulse[i];
        worst = larger(worst, rho[i].abs());
        let terms = terms + force.abs() + pushes[i];
        if terms > scale {
            scale = terms;
        }
    }
    (worst, scale)
}

/// Where `M` and `F` of a system are taken: at the center of the step, or at its end.
#[inline]
pub(super) fn point<'a>(
    center: &'a Option<Center>,
    end: f64,
    q: &'a [f64],
    v: &'a [f64],
    range: &Range<usize>,
    place: &Range<usize>,
) -> At<'a> {
    let (t, q, v) = match center {
        None => (end, q, v),
        Some(center) => (center.t, &center.q[..], &center.v[..]),
    };
    At::new(t, &q[place.clone()], &v[range.clone()])
}
