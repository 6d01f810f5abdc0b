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
//! Springs, dampers and loads (see [`ForceRule`]) have theirs on the mean `ȳ = θ y⁺ + (1 − θ) y`, with
//! `θ = κ`. A spring is written like a velocity, so that the matrix of the problem stays symmetric:
//!
//! ```text
//! w = (a y⁺ + (1 − a) y)/(h a κ),    a = θ + T/h,    C = H,    D = (∂h/∂λ)/(h² a κ)   (6)
//! ```
//!
//! The ledger multiplies (1) by the mean velocity `v̄ = (v + v⁺)/2`. Where `M` turns with `q` the kinetic
//! energy also changes by `½ vᵀ (M⁺ − M) v`, which is booked with the work of the gyroscopic forces:
//! the two cancel, but for what the step is too long for.

use super::Step;
use super::assembly::Places;
use super::bonds::BondOfStep;
use super::laws::Laws;
use super::motion::{Center, Motion};
use super::newton::{Link, Scheme, SystemBlock, larger};
use super::part::Part;
use super::row::MechanicalFields;
use super::together::{Groups, Share};
use crate::{Ledger, SimError};
use saltus_linalg::{Matrix, vector};
use saltus_model::{
    At, ForceRule, Linearized, Model, OperatorError, Relation, SecondOrderSystem, System, Terms,
};
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
    frictional: Vec<bool>, // rows whose energy is taken by friction
    pub impulse: Vec<f64>, // Hᵀ λ
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

/// A component of (6) in a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Force {
    rule: ForceRule,
    mean: f64,  // weight of the end of the step
    scale: f64, // of `w`
}

#[derive(Debug)]
pub(super) struct Contact {
    pub name: String,
    pub relation: Arc<dyn Relation>,
    pub rows: Range<usize>,
    pub ranges: Vec<Range<usize>>, // of its systems
    pub places: Vec<Range<usize>>, // the same in q
    pub links: Range<usize>,
    pub terms: Terms,
    pub fixed: bool,          // H never changes
    offset: Option<Vec<f64>>, // of a gap H q + e of one system, where e does not either
    pub compliant: bool,
    pub forces: Vec<Force>, // of (6); none where the relation stands for no force
    q_start: Vec<f64>,      // where the step begins
    pub on_gap: Vec<bool>,  // components whose law is on `y/h` in place of `u`
    pub bond: Option<BondOfStep>,
    pub inputs: Vec<f64>,
    pub q: Vec<f64>,
    pub H: Matrix,
    pub rate: Vec<f64>,        // ∂h/∂t
    pub rate_before: Vec<f64>, // at the beginning of the step
    pub force: Vec<f64>,
    pub y: Vec<f64>,
    share: Option<Share>, // where it is evaluated together with others
    work: Vec<f64>,
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
            let relation = Arc::clone(&interaction.relation);
            let linked = interaction.systems.iter();
            let ranges: Vec<_> =
                linked.filter_map(|id| places.systems[id.index()].clone()).collect();
            let linked = interaction.systems.iter();
            let places: Vec<_> =
                linked.filter_map(|id| places.configurations[id.index()].clone()).collect();
            let width: usize = ranges.iter().map(|range| range.len()).sum();
            let first = links;
            links += ranges.len();
            let terms = relation.terms();
            let bond = BondOfStep::new(&interaction.law, interaction.active, bonds, rows.len() / 2);
            bonds += usize::from(bond.is_some());
            let linear = relation.linear();
            let fixed = linear.is_some();
            let moves = terms.through || terms.time || terms.velocity || bond.is_some();
            let plain = linear.filter(|linear| !(linear.moves || moves) && ranges.len() == 1);
            let offset = |e: Option<&[f64]>| e.map_or(vec![0.0; rows.len()], <[f64]>::to_vec);
            let offset = plain.map(|linear| offset(linear.e));
            let rules = (0..rows.len()).filter_map(|i| relation.force_rule(i));
            let forces = rules.map(|rule| Force { rule, mean: 1.0, scale: 1.0 });
            interactions.push(Contact {
                offset,
                forces: forces.collect(),
                q_start: Vec::new(),
                bond,
                name: name.to_string(),
                inputs: relation.z0().to_vec(),
                relation,
                ranges,
                places,
                links: first..links,
                compliant: terms.through && !interaction.law.is_contact(),
                on_gap: motion.on_gap(&interaction.law, terms, rows.len()),
                terms,
                fixed,
                q: Vec::new(),
                H: Matrix::default(),
                rate: vec![0.0; rows.len()],
                rate_before: vec![0.0; rows.len()],
                force: vec![0.0; rows.len()],
                y: vec![0.0; rows.len()],
                share: None,
                work: Vec::with_capacity(rows.len() * (1 + width)),
                rows,
            });
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
            work: vec![0.0; n],
            work_matrix: Matrix::default(),
            wanted: false,
            linearized: false,
        }
    }

    /// Where the energy went: the next entry of the ledger, from the impulses along `H` and the
    /// mean forces of the step, both with the mean of the velocities `path`.
    pub fn book(
        &mut self,
        energy0: f64,
        now: &MechanicalFields<'_>,
        next: &MechanicalFields<'_>,
        links: &[Link],
        path: Path<'_>,
    ) -> Result<Ledger, SimError> {
        let Path { before, after, forces, smooth } = path;
        let mut ledger = Ledger::from_slice(now.ledger);
        let (last, mut turned) = (ledger, 0.0);
        (ledger.kinetic, ledger.potential) = (0.0, 0.0);
        damping(&mut self.systems, &mut self.work, &mut self.D_next, |range, place| {
            point(&self.center, self.step.end, next.q, next.v, range, place)
        })?;
        for member in &self.systems {
            turned += member.kinetic(&now.v[member.range.clone()]);
            ledger.kinetic += member.kinetic(&next.v[member.range.clone()]);
            ledger.potential += member.system.potential(&next.q[member.place.clone()]);
            // time for which forces act, and weight of the last one in their mean
            let (span, share) = match forces {
                Forces::Theta => (self.step.h, member.a),
                Forces::Mean => (self.step.h, 0.5),
                Forces::Center => (self.step.h * member.a, 1.0),
            };
            let mean = |now: f64, next: f64| share * next + (1.0 - share) * now;
            let range = member.range.clone();
            let (F, F_next) = (&self.F_now[range.clone()], &self.F_next[range.clone()]);
            let (D, D_next) = (&self.D_now[range.clone()], &self.D_next[range.clone()]);
            let (v, v_next) = (&before[range.clone()], &after[range]);
            for i in 0..v.len() {
                let way = 0.5 * span * (v[i] + v_next[i]);
                let damped = mean(D[i], D_next[i]);
                ledger.work += way * (mean(F[i], F_next[i]) + damped);
                ledger.damping += way * damped;
            }
        }
        ledger.work += ledger.potential - last.potential; // that of the forces without a potential
        ledger.work += turned - last.kinetic; // ½ vᵀ (M⁺ − M) v
        for (k, one) in self.interactions.iter().enumerate() {
            for (i, row) in one.rows.clone().enumerate() {
                let lam = next.lam[row];
                if lam == 0.0 {
                    continue;
                }
                let along = |link: &Link| {
                    let velocities = link.range.clone().map(|j| before[j] + after[j]);
                    link.Bt.row(i).iter().zip(velocities).map(|(H, v)| H * v).sum::<f64>()
                };
                // what moves the constraint from outside, and what is taken
                let moved = one.rate_before[i] + one.rate[i];
                if smooth.get(k) == Some(&true) {
                    // forces of constraints in smooth motion take nothing
                    ledger.work -= 0.5 * lam * moved;
                    continue;
                }
                let links = &links[one.links.clone()];
                let speed = match links.iter().all(|link| link.on) {
                    true => links.iter().map(along).sum::<f64>() + moved,
                    // its impulse was not one of the balance
                    false => now.u[row] + next.u[row],
                };
                if one.is_force() {
                    ledger.work += 0.5 * lam * (speed - moved);
                    continue;
                }
                let frictional = self.frictional[row];
                let taken = if frictional { &mut ledger.friction } else { &mut ledger.impact };
                *taken -= 0.5 * lam * speed;
                ledger.work -= 0.5 * lam * moved;
            }
        }
        Ok(ledger.closed(energy0))
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
            contact.gather(q);
            contact.q_start.clone_from(&contact.q);
            let kappa = self.systems[links[contact.links.start].system].kappa;
            for force in &mut contact.forces {
                (force.mean, force.scale) = match force.rule {
                    ForceRule::Spring { retardation } => {
                        let mean = kappa + retardation / h;
                        (mean, 1.0 / (h * mean * kappa))
                    }
                    ForceRule::Load => (kappa, 1.0),
                };
            }
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

/// The velocities whose mean the balance of a step is multiplied by, and what the step does with
/// the forces.
pub(super) struct Path<'a> {
    pub before: &'a [f64],
    pub after: &'a [f64],
    pub forces: Forces,
    /// Which interactions are constraints of smooth motion; none where all have impulses.
    pub smooth: &'a [bool],
}

/// Which mean of its forces a step takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Forces {
    /// Those of the end with the weight `a` of each system.
    Theta,
    /// Both ends alike.
    Mean,
    /// Those in the middle, for a time `h a`.
    Center,
}

/// `D` of all systems, each at its point.
pub(super) fn damping<'a>(
    systems: &mut [Member],
    work: &mut Vec<f64>,
    D: &mut [f64],
    at: impl Fn(&Range<usize>, &Range<usize>) -> At<'a>,
) -> Result<(), SimError> {
    for member in systems {
        let D = &mut D[member.range.clone()];
        work.resize(work.len().max(D.len()), 0.0);
        let at = at(&member.range, &member.place).with(&member.inputs);
        let work = &mut work[..D.len()];
        match member.system.damping(at, D, work) {
            Ok(true) => {}
            Ok(false) => D.fill(0.0),
            Err(error) => return Err(error.of(&member.name).into()),
        }
    }
    Ok(())
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
            match contact.compliant {
                true if contact.is_force() => contact.mean(self.step, w)?,
                true => contact.gap(end, w)?,
                false => contact.velocity(xi, w),
            }
            if contact.on_gap.contains(&true) {
                contact.scaled_gap(end, h, w)?;
            }
            let mut first = 0;
            for link in &mut links[contact.links.clone()] {
                let kappa = self.systems[link.system].kappa;
                let scale = if contact.compliant { h * kappa } else { 1.0 };
                for i in 0..contact.H.rows() {
                    let scale = contact.forces.get(i).map_or(scale, |force| match force.rule {
                        ForceRule::Spring { .. } => scale * force.mean * force.scale,
                        ForceRule::Load => 0.0,
                    });
                    let width = link.range.len();
                    let row = &contact.H.row(i)[first..first + width];
                    let impulse = &mut self.impulse[link.range.clone()];
                    let lam = lam[link.rows.start + i];
                    let C = &mut link.C.data_mut()[i * width..][..width];
                    let Bt = &mut link.Bt.data_mut()[i * width..][..width];
                    for j in 0..width {
                        C[j] = scale * row[j];
                        if !early {
                            Bt[j] = row[j];
                        }
                        impulse[j] += Bt[j] * lam;
                    }
                }
                first += link.range.len();
            }
            if contact.bond.is_some() {
                let systems = &self.systems;
                contact.pull(end, h, lam, w, links, |system| systems[system].kappa)?;
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
            let (xi, b) = (&xi[range.clone()], &self.b[range.clone()]);
            let (F, f) = (&self.F_next[range.clone()], &self.f[range.clone()]);
            let (impulse, rho) = (&self.impulse[range.clone()], &mut rho[range.clone()]);
            let (mut worst, mut scale, rate) = (0.0_f64, 0.0_f64, h * member.a);
            let n = range.len();
            for i in 0..n {
                let (mut gained, mut terms) = (0.0, 0.0);
                let (M, xi, b) = (&member.M.row(i)[..n], &xi[..n], &b[..n]);
                for j in 0..n {
                    gained += M[j] * (xi[j] - b[j]);
                    terms += (M[j] * xi[j]).abs() + (M[j] * b[j]).abs();
                }
                let force = rate * F[i] + f[i];
                rho[i] = gained - force - impulse[i];
                worst = larger(worst, rho[i].abs());
                let terms = terms + force.abs() + impulse[i].abs();
                if terms > scale {
                    scale = terms;
                }
            }
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

/// Where `M` and `F` of a system are taken: at the center of the step, or at its end.
#[inline]
fn point<'a>(
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

impl Member {
    /// `½ vᵀ M v`, with the last `M`.
    #[inline]
    pub fn kinetic(&self, v: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..v.len() {
            sum += v[i] * vector::dot(self.M.row(i), v);
        }
        0.5 * sum
    }
}

impl Contact {
    /// Numbers of its output and its `H`.
    pub fn values(&self) -> usize {
        let width: usize = self.places.iter().map(|place| place.len()).sum();
        self.rows.len() * (1 + width)
    }

    /// Takes the configuration of its systems.
    pub fn gather(&mut self, q: &[f64]) {
        self.q.clear();
        self.places.iter().for_each(|place| self.q.extend_from_slice(&q[place.clone()]));
    }

    /// Takes the impulses, which are forces when multiplied by `rate`, where the relation depends
    /// on them.
    pub fn press(&mut self, rate: f64, lam: &[f64]) {
        if self.terms.through {
            let lam = &lam[self.rows.clone()];
            self.force.iter_mut().zip(lam).for_each(|(force, lam)| *force = rate * lam);
        }
    }

    /// `H` and `∂h/∂t` at this configuration, under the forces that [`press`](Self::press) took.
    pub fn turn(&mut self, t: f64, q: &[f64]) -> Result<(), SimError> {
        self.gather(q);
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        let of_contact = |error: OperatorError| error.of(&self.name);
        if !(self.fixed && self.H.rows() > 0) {
            self.relation.output_dx(at, &mut self.H).map_err(of_contact)?;
        }
        if self.terms.time {
            self.relation.output_dt(at, &mut self.rate).map_err(of_contact)?;
        }
        Ok(())
    }

    /// [`turn`](Self::turn), then `y = h(t, q)` of a relation whose output does not depend on `λ`.
    pub fn turn_with_gap(&mut self, t: f64, q: &[f64], y: &mut [f64]) -> Result<(), SimError> {
        if let (Some(offset), [range]) = (&self.offset, &self.places[..]) {
            let q = &q[range.clone()];
            for (i, row) in self.rows.clone().enumerate() {
                y[row] = vector::dot(self.H.row(i), q) + offset[i];
            }
            return Ok(());
        }
        let q = match &self.places[..] {
            [range] => &q[range.clone()],
            _ => {
                self.gather(q);
                &self.q
            }
        };
        let at = At::new(t, q, &self.force).with(&self.inputs);
        let of_contact = |error: OperatorError| error.of(&self.name);
        let y = &mut y[self.rows.clone()];
        if self.fixed && self.H.rows() > 0 {
            self.relation.output(at, y).map_err(of_contact)?;
        } else {
            let work = &mut self.work;
            self.relation.output_and_dx(at, y, &mut self.H, work).map_err(of_contact)?;
        }
        if self.terms.time {
            self.relation.output_dt(at, &mut self.rate).map_err(of_contact)?;
        }
        Ok(())
    }

    /// Lets `λ` act along `H`, where [`turn`](Self::turn) was called last.
    pub fn grip(&self, links: &mut [Link]) {
        let mut first = 0;
        for link in &mut links[self.links.clone()] {
            let width = link.range.len();
            for i in 0..self.H.rows() {
                let row = &self.H.row(i)[first..first + width];
                link.Bt.data_mut()[i * width..][..width].copy_from_slice(row);
            }
            first += width;
        }
    }

    /// `u = H v + ∂h/∂t`, where [`turn`](Self::turn) was called last.
    #[inline]
    pub fn velocity(&self, v: &[f64], u: &mut [f64]) {
        for (i, row) in self.rows.clone().enumerate() {
            u[row] = self.speed(i, v);
        }
    }

    /// One component of it.
    #[inline]
    pub fn speed(&self, i: usize, v: &[f64]) -> f64 {
        if let [range] = &self.ranges[..] {
            return self.rate[i] + vector::dot(self.H.row(i), &v[range.clone()]);
        }
        let (mut first, mut speed) = (0, self.rate[i]);
        for range in &self.ranges {
            let H = &self.H.row(i)[first..first + range.len()];
            speed += vector::dot(H, &v[range.clone()]);
            first += range.len();
        }
        speed
    }

    /// Size of the terms of one component of it.
    pub fn speed_terms(&self, i: usize, v: &[f64]) -> f64 {
        let (mut first, mut terms) = (0, self.rate[i].abs());
        for range in &self.ranges {
            let H = &self.H.row(i)[first..first + range.len()];
            terms += H.iter().zip(&v[range.clone()]).map(|(H, v)| (H * v).abs()).sum::<f64>();
            first += range.len();
        }
        terms
    }

    /// `y = h(t, q, λ)` where [`turn`](Self::turn) was called last.
    pub fn gap(&mut self, t: f64, y: &mut [f64]) -> Result<(), SimError> {
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        let y = &mut y[self.rows.clone()];
        Ok(self.relation.output(at, y).map_err(|error| error.of(&self.name))?)
    }

    /// Equation (6), where [`turn`](Self::turn) was called last.
    fn mean(&mut self, step: Step, w: &mut [f64]) -> Result<(), SimError> {
        self.gap(step.end, w)?;
        let at = At::new(step.start, &self.q_start, &self.force).with(&self.inputs);
        self.relation.output(at, &mut self.y).map_err(|error| error.of(&self.name))?;
        for (i, row) in self.rows.clone().enumerate() {
            let Force { mean, scale, .. } = self.forces[i];
            w[row] = scale * (mean * w[row] + (1.0 - mean) * self.y[i]);
        }
        Ok(())
    }

    /// Whether it stands for a force.
    pub fn is_force(&self) -> bool {
        !self.forces.is_empty()
    }

    /// What is recorded of its output: of a force that without its multiplier.
    pub fn shown_gap(&mut self, t: f64, y: &mut [f64]) -> Result<(), SimError> {
        if self.is_force() {
            self.force.fill(0.0);
        }
        self.gap(t, y)
    }

    /// Whether some law of it is on a gap, or it is a bond.
    pub fn is_on_gap(&self) -> bool {
        self.compliant || self.bond.is_some() || self.on_gap.contains(&true)
    }

    /// Whether it is one of those that [`Members::gaps_together`] evaluates.
    pub fn is_grouped(&self) -> bool {
        self.share.is_some()
    }

    /// Size of the terms of the gap, where the law is on it; `q` are those of configurations.
    pub fn gap_terms(&self, h: f64, q: &[f64], terms: &mut [f64]) {
        for (i, row) in self.rows.clone().enumerate() {
            if self.compliant || self.on_gap[i] {
                let q = self.ranges.iter().flat_map(|range| &q[range.clone()]);
                let sum: f64 = self.H.row(i).iter().zip(q).map(|(H, q)| (H * q).abs()).sum();
                let scale = self.forces.get(i).map_or(1.0, |force| force.scale);
                terms[row] = if self.on_gap[i] { sum / h } else { scale * sum };
            }
        }
    }

    /// `y/h` in place of `u`, in the components whose law asks for it.
    pub fn scaled_gap(&mut self, t: f64, h: f64, w: &mut [f64]) -> Result<(), SimError> {
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        self.relation.output(at, &mut self.y).map_err(|error| error.of(&self.name))?;
        for (i, row) in self.rows.clone().enumerate() {
            if self.on_gap[i] {
                w[row] = self.y[i] / h;
            }
        }
        Ok(())
    }

    /// `D` of (5).
    pub fn through(&mut self, h: f64, t: f64, D: &mut Matrix) -> Result<(), SimError> {
        let at = At::new(t, &self.q, &self.force).with(&self.inputs);
        self.relation.output_dlam(at, D).map_err(|error| error.of(&self.name))?;
        D.scale(1.0 / h);
        for (i, force) in self.forces.iter().enumerate() {
            let width = D.cols();
            D.data_mut()[i * width..][..width].iter_mut().for_each(|entry| *entry *= force.scale);
        }
        Ok(())
    }
}
