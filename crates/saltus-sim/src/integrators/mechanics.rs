//! The mechanical systems of a model under an implicit scheme, whatever they are: which contacts
//! act, Newton's method on the balance of the step (see `balance`), and what becomes of it.

use super::assembly::Places;
use super::balance::{Member, Members};
use super::bonds::ROUNDS;
use super::booking::damping;
use super::impact::Impact;
use super::laws::Laws;
use super::moreau_jean::RESTING;
use super::motion::Motion;
use super::newton::Newton;
use super::part::Part;
use super::projection::{Projection, Projector};
use super::row::Row;
use super::{Form, NewtonSettings, Step};
use crate::{Ledger, Quantity, SimError};
use saltus_linalg::vector;
use saltus_model::{At, Model, Order, SystemId};
use saltus_numerics::{Memory, Report, Solver, Status};
use std::any::Any;
use std::ops::Range;

/// Changes of velocity in two steps that differ by at most this share go on along a line.
const STRAIGHT: f64 = 0.2;

/// Most of the way of an impulse that a solver is taken to leave.
const LEFT: f64 = 1e-6;

/// The mechanical systems of a model, whatever they are.
#[derive(Debug)]
pub(crate) struct Mechanics {
    activation: Activation,
    motion: Motion,
    projector: Option<Projector>,
    impact: Option<Impact>,
    pub(super) places: Places,
    pub(super) laws: Laws,
    pub(super) members: Members,
    pub(super) newton: Newton,
    pub(super) h: f64,     // of the problem
    pub(super) last: Step, // the last one that was committed; its end is the present
    pub(super) now: Row,
    pub(super) next: Row,
    pub(super) reach: Vec<f64>,
    resting: f64,     // share of the way of an impulse that counts as none
    change: Vec<f64>, // v⁺ − v of the last step, then of the one before
    acted: Vec<bool>, // the links that were on in the last step
    acts: bool,       // some law does, in this step
    gap_laws: bool,   // some law is on a gap or a bond
    pub(super) energy0: f64,
    pub(super) scratch: Vec<f64>,
}

/// A contact acts in a step that begins with `y + γ h u ≤ threshold`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Activation {
    pub gamma: f64,
    pub threshold: f64,
}

impl Mechanics {
    pub fn new(
        model: &Model,
        motion: Motion,
        activation: Activation,
        projection: Option<Projection>,
        (form, settings): (Form, NewtonSettings),
        solver: &Solver,
    ) -> Result<Self, SimError> {
        let places = Places::new(model, Order::Second);
        let (n, m) = (places.states, places.outputs);
        let mut laws = Laws::new(model, &places);
        let mut newton = Newton::new(model, &places, &mut laws, 1.0, (form, settings), solver)?;
        newton.lenient = projection == Some(Projection::Ggl);
        let projector = match projection {
            Some(choice) => Some(Projector::new(model, &places, choice, settings, solver)?),
            None => None,
        };
        let row = Row::new(Order::Second, places.sizes());
        let acted = vec![false; newton.links.len()];
        let members = Members::new(model, &places, &laws, &motion);
        let gap_laws = members.interactions.iter().any(|contact| contact.is_on_gap());
        let mut part = Mechanics {
            activation,
            motion,
            projector,
            impact: Impact::new(model, &places),
            places,
            laws,
            members,
            newton,
            h: 1.0,
            last: Step { start: model.t0(), end: model.t0(), h: 0.0 },
            now: row.clone(),
            next: row,
            reach: vec![0.0; m],
            // what the solver leaves is no way either
            resting: RESTING.max((10.0 * solver.tol()).min(LEFT)),
            change: vec![0.0; 2 * n],
            acted,
            acts: true,
            gap_laws,
            energy0: 0.0,
            scratch: Vec::new(),
        };
        part.reset(model.t0())?;
        Ok(part)
    }

    /// What follows from the state at time `t`: `y`, `u`, `F`, a new ledger.
    fn refresh(&mut self, t: f64) -> Result<(), SimError> {
        let Mechanics { members, now, last, .. } = self;
        self.change.fill(0.0);
        let now = now.mechanical();
        let per_step = if last.h > 0.0 { 1.0 / last.h } else { 0.0 };
        for contact in &mut members.interactions {
            contact.press(per_step, now.lam);
            contact.turn(t, now.q)?;
            contact.rate_before.copy_from_slice(&contact.rate);
            contact.velocity(now.v, now.u);
            contact.shown_gap(t, now.y)?;
        }
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for member in &mut members.systems {
            let range = member.range.clone();
            let (q, v) = (&now.q[member.place.clone()], &now.v[range.clone()]);
            let at = At::new(t, q, v).with(&member.inputs);
            let (M, F) = (&mut member.M, &mut members.F_now[range]);
            let evaluated = member.system.mass_and_force(at, M, F, &mut members.work);
            evaluated.map_err(|error| error.of(&member.name))?;
            kinetic += member.kinetic(v);
            potential += member.system.potential(q);
        }
        damping(&mut members.systems, &mut members.work, &mut members.D_now, |range, place| {
            At::new(t, &now.q[place.clone()], &now.v[range.clone()])
        })?;
        let ledger = Ledger { kinetic, potential, ..Ledger::default() };
        now.ledger.copy_from_slice(&ledger.to_array());
        self.energy0 = kinetic + potential;
        Ok(())
    }

    /// Back to a state that was good, after a change that was not.
    fn restore(&mut self, values: &[f64], energy0: f64) {
        self.now.values.copy_from_slice(values);
        let _ = self.refresh(self.last.end); // it was good before
        self.now.values.copy_from_slice(values);
        self.energy0 = energy0;
    }

    /// A state that is no longer finite.
    pub(super) fn lost(&self, time: f64) -> SimError {
        let (q, v) = (self.next.get(Quantity::Q), self.next.get(Quantity::V));
        let lost = |member: &&Member| {
            let range = member.range.clone();
            !vector::all_finite(&q[member.place.clone()]) || !vector::all_finite(&v[range])
        };
        let name = self.members.systems.iter().find(lost).map(|member| member.name.clone());
        SimError::NotFinite { time, what: format!("the state of `{}`", name.unwrap_or_default()) }
    }
}

impl Part for Mechanics {
    fn places(&self) -> &Places {
        &self.places
    }

    fn now(&self) -> &Row {
        &self.now
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        let now = self.now.mechanical();
        for member in &self.members.systems {
            now.q[member.place.clone()].copy_from_slice(member.system.q0());
            now.v[member.range.clone()].copy_from_slice(member.system.v0());
        }
        now.lam.fill(0.0);
        now.beta.fill(1.0);
        self.members.initial_inputs();
        self.last = Step { start: t0, end: t0, h: 0.0 };
        self.motion.restart(0..now.v.len(), now.v);
        self.newton.forget();
        if let Some(projector) = &mut self.projector {
            projector.forget();
        }
        self.refresh(t0)?;
        let now = self.now.mechanical();
        self.members.wear(now.y, now.beta);
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, same: bool) -> Result<(), SimError> {
        let now = self.now.mechanical();
        now.q.copy_from_slice(before.now().get(Quantity::Q));
        now.v.copy_from_slice(before.now().get(Quantity::V));
        now.lam.copy_from_slice(before.now().get(Quantity::Lam));
        now.beta.copy_from_slice(before.now().get(Quantity::Beta));
        self.laws.silence(now.lam);
        self.members.adopt_inputs(before);
        self.last = last;
        self.motion.restart(0..now.v.len(), now.v);
        let mechanics = before.as_any().downcast_ref::<Mechanics>();
        if let Some(before) = mechanics {
            self.reach.copy_from_slice(&before.reach);
            self.motion.go_on(&before.motion);
        }
        self.refresh(last.end)?;
        if let Some(before) = mechanics {
            self.members.mark_fresh(&before.members);
            self.members.adopt_groups(&before.members);
        }
        if same {
            let ledger = before.now().ledger();
            self.now.set_ledger(&ledger.to_array());
            self.energy0 = ledger.start();
        }
        Ok(())
    }

    fn prepare(&mut self) {
        self.members.prepare();
    }

    fn settle(&mut self) {
        if self.members.clear_fresh() {
            let now = self.now.mechanical();
            self.members.wear(now.y, now.beta);
        }
    }

    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        range: Range<usize>,
        [q, v]: [Option<&[f64]>; 2],
    ) -> Result<(), SimError> {
        let (before, energy0) = (self.now.values.clone(), self.energy0);
        let now = self.now.mechanical();
        if let (Some(q), Some(member)) =
            (q, self.members.systems.iter().find(|one| one.range == range))
        {
            let own = &mut now.q[member.place.clone()];
            own.copy_from_slice(q);
            if let Err(why) = member.system.admit(own) {
                self.now.values.copy_from_slice(&before);
                let system = member.name.clone();
                return Err(SimError::Configuration { system, why });
            }
        }
        if let Some(v) = v {
            now.v[range.clone()].copy_from_slice(v);
        }
        self.places.outputs_of(model, id).for_each(|range| now.lam[range].fill(0.0));
        let done = self.refresh(self.last.end);
        match done {
            Ok(()) => {
                let now = self.now.mechanical();
                self.members.wear(now.y, now.beta);
                self.motion.restart(range, now.v);
            }
            Err(_) => self.restore(&before, energy0),
        }
        done
    }

    fn be_at(&mut self, t: f64) {
        self.last = Step { start: t - self.last.h, end: t, h: self.last.h };
    }

    fn set_all(&mut self, _: &Model, [q, v]: [&[f64]; 2]) -> Result<(), SimError> {
        let (before, energy0) = (self.now.values.clone(), self.energy0);
        let now = self.now.mechanical();
        now.q.copy_from_slice(q);
        now.v.copy_from_slice(v);
        now.lam.fill(0.0);
        let done = self.refresh(self.last.end);
        match done {
            Ok(()) => {
                let now = self.now.mechanical();
                self.members.wear(now.y, now.beta);
                self.motion.restart(0..now.v.len(), now.v);
            }
            Err(_) => self.restore(&before, energy0),
        }
        done
    }

    fn inputs(&self, name: &str) -> Option<&[f64]> {
        self.members.inputs(name)
    }

    fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        let (before, energy0) = (self.now.values.clone(), self.energy0);
        let inputs = self.members.inputs(name).map(<[f64]>::to_vec);
        self.members.set_inputs(name, z);
        let done = self.refresh(self.last.end);
        if done.is_err() {
            self.members.set_inputs(name, &inputs.unwrap_or_default());
            self.restore(&before, energy0);
        } else {
            // the state stays what it is, and with it the ledger
            let width = before.len() - Ledger::NAMES.len();
            self.now.mechanical().ledger.copy_from_slice(&before[width..]);
            self.energy0 = energy0;
        }
        done
    }

    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        let Mechanics { activation, motion, projector, places, laws, members, newton, .. } = self;
        let h = step.h;
        if self.h != h {
            // laws of forces are laws of impulses h times as large
            laws.scale(h, &mut newton.problem, &mut newton.q)?;
            self.h = h;
        }
        let (now, next) = (self.now.mechanical(), self.next.mechanical());
        members.step = step;
        motion.begin(members, &mut newton.links, &now)?;
        if self.gap_laws {
            members.begin_forces(&newton.links, now.q);
            members.begin_bonds(now.y, now.beta);
            next.beta.copy_from_slice(now.beta);
            self.scratch.resize(now.v.len(), 0.0);
            members.extents(now.q, &mut self.scratch);
            for contact in &members.interactions {
                contact.gap_terms(h, &self.scratch, &mut newton.terms);
                contact.bond_terms(h, &self.scratch, &mut newton.terms);
            }
        }

        // what acts
        laws.bind(h, now.beta, &mut newton.problem)?;
        laws.evaluate(step.start, &now, &mut newton.problem, &mut self.scratch)?;
        let Activation { gamma, threshold } = *activation;
        let reach = &self.reach;
        let mut acts = laws.activate(gamma * h, threshold, h, reach, &now, &mut newton.problem);
        members.shift.fill(0.0);
        laws.restitute(motion.before(now.u), &mut members.shift);
        for link in &mut newton.links {
            link.on = laws.is_on(link.rows.clone());
        }
        let struck = match &mut self.impact {
            Some(impact) => impact.strike(members, &newton.links, laws, reach, &now)?,
            None => false,
        };

        if let Some(projector) = projector {
            projector.begin();
        }

        // (1), and the projection of (2) where there is one
        // a step like the last one changes the velocity as that did
        next.v.copy_from_slice(now.v);
        let same = (0..newton.links.len()).all(|k| newton.links[k].on == self.acted[k]);
        if same {
            add_next_change(&self.change, next.v);
        }
        next.lam.copy_from_slice(now.lam);
        let mut report: Option<Report> = None;
        let mut rounds = 0;
        loop {
            for link in newton.links.iter().filter(|link| !link.on) {
                next.lam[link.rows.clone()].fill(0.0);
            }
            let solved = newton.solve(members, acts, next.v, next.lam, step, |index| {
                places.owner_of(model, index)
            })?;
            report = match (report, solved) {
                (Some(before), Some(last)) => {
                    Some(Report { iterations: before.iterations + last.iterations, ..last })
                }
                (before, last) => last.or(before),
            };
            next.q.copy_from_slice(&members.q_next);
            if !next.beta.is_empty() && members.damage(next.beta)? && rounds < ROUNDS {
                laws.bind(h, next.beta, &mut newton.problem)?;
                rounds += 1;
                continue;
            }
            let Some(projector) = projector else { break };
            let again = projector
                .project(members, laws, newton, next.q, |index| places.owner_of(model, index))?;
            // what contradicted itself before the projection was done may not do so now
            let open = report.is_some_and(|report| report.status != Status::Solved);
            if !(again || open && rounds < ROUNDS) {
                members.forces(step.end, next.q, next.v)?;
                break;
            }
            rounds += usize::from(!again);
            acts = newton.links.iter().any(|link| link.on);
        }
        self.acts = acts;
        if let Some(report) = report {
            step.verify(report, |index| places.owner_of(model, index))?;
        }

        if let Some(impact) = &self.impact
            && struck
        {
            next.lam.iter_mut().zip(&impact.impulse).for_each(|(lam, P)| *lam += P);
        }

        // (2), (3)
        motion.finish(members, &newton.links, now.v, next.v, next.lam)?;
        if !(vector::all_finite(next.q) && vector::all_finite(next.v)) {
            return Err(self.lost(step.end));
        }
        let turned = self.projector.is_none() && members.center.is_none();
        members.gaps_together(step.end, next.q, next.y)?;
        for contact in &mut members.interactions {
            let turned = turned && newton.links[contact.links.start].on;
            if contact.is_grouped() {
                // y and H are there
            } else if !turned && !contact.terms.through {
                contact.turn_with_gap(step.end, next.q, next.y)?;
            } else {
                if !turned {
                    contact.press(1.0 / h, next.lam);
                    contact.turn(step.end, next.q)?;
                }
                contact.shown_gap(step.end, next.y)?;
            }
            contact.velocity(next.v, next.u);
        }

        let path = self.motion.path(now.v, next.v);
        let ledger = members.book(self.energy0, &now, &next, &newton.links, path)?.to_array();
        next.ledger.copy_from_slice(&ledger);
        step.check_energies(&ledger, || None)?;
        Ok(report)
    }

    fn commit(&mut self) {
        let (v, v_next) = (self.now.get(Quantity::V), self.next.get(Quantity::V));
        let (change, before) = self.change.split_at_mut(v.len());
        before.copy_from_slice(change);
        for (change, (v, v_next)) in change.iter_mut().zip(v.iter().zip(v_next)) {
            *change = v_next - v;
        }
        for (acted, link) in self.acted.iter_mut().zip(&self.newton.links) {
            *acted = link.on;
        }
        self.last = self.members.step;
        for contact in self.members.interactions.iter_mut().filter(|contact| contact.terms.time) {
            contact.rate_before.copy_from_slice(&contact.rate);
        }
        // it only counts where there are impulses
        if self.acts {
            for k in 0..self.newton.links.len() {
                if self.newton.links[k].on {
                    for row in self.newton.links[k].rows.clone() {
                        let diagonal = self.newton.diagonal(row).abs();
                        self.reach[row] = self.resting * self.last.h * diagonal;
                    }
                }
            }
        }
        std::mem::swap(&mut self.now.values, &mut self.next.values);
        std::mem::swap(&mut self.members.F_now, &mut self.members.F_next);
        std::mem::swap(&mut self.members.D_now, &mut self.members.D_next);
        self.motion.commit(self.last.h);
    }

    fn is_quick(&self) -> bool {
        self.newton.is_quick()
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.last.memory(memory);
        self.now.memory(memory);
        memory.number(&mut self.energy0);
        memory.numbers(&mut self.reach);
        memory.numbers(&mut self.change);
        memory.flags(&mut self.acted);
        self.touched(memory)
    }

    fn touched(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.members.memory(memory);
        self.motion.memory(memory);
        self.newton.memory(memory);
        if let Some(projector) = &mut self.projector {
            projector.memory(memory);
        }
        Ok(())
    }

    fn penetration(&self) -> f64 {
        self.laws.penetration(self.now.get(Quantity::Y))
    }
}

/// Adds the change of velocity to be expected after the last one and the one before: on a straight
/// line through the two where they are close to each other, else the last one again.
fn add_next_change(changes: &[f64], v: &mut [f64]) {
    let (last, before) = changes.split_at(v.len());
    let (mut size, mut turn) = (0.0, 0.0);
    for (last, before) in last.iter().zip(before) {
        size += last.abs();
        turn += (last - before).abs();
    }
    let share = if turn <= STRAIGHT * size { 1.0 } else { 0.0 };
    for ((v, last), before) in v.iter_mut().zip(last).zip(before) {
        *v += last + share * (last - before);
    }
}
