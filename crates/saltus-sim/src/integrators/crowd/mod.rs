//! Rigid bodies whose contacts are found while they move: from one cube to a heap of grains.
//!
//! ```text
//! M (v_free − v) = h F_θ                       each system on its own (see `members`)
//! contacts that can close within the step      found where the bodies are at its beginning
//! v⁺ = v_free + Σ M⁻¹ Hᵀ λ,    u⁺ = H v⁺        island by island (see `islands`)
//! u⁺ and λ obey the laws                        gaps stay open, impacts rebound (see `touching`)
//! q⁺ = q ∘ h (ϑ v⁺ + (1 − ϑ) v)                 and overlaps are taken away (see `overlap`)
//! ```
//!
//! The problem of an island is solved by sweeps over its contacts with the velocities of the bodies; no
//! matrix is made, and memory is that of bodies and contacts. Where sweeps stall, the portfolio gets
//! it. An island that the impulses of the last step keep at rest is left as it is, to the last bit, and
//! costs one look. A step that is not solved at once is taken in parts (see `parts`).
//!
//! Islands with interactions of the model, such as joints, are problems of all of these together (see
//! `links` and `linked`).
//!
//! The ledger multiplies the balance by the mean velocity `v̄ = (v + v⁺)/2`, as everywhere.

mod blocks;
mod committed;
mod condensed;
mod elastic;
mod factors;
mod forces;
mod islands;
mod jointed;
mod ledger;
mod linked;
mod links;
mod members;
mod order;
mod overlap;
mod parts;
mod rest;
mod skyline;
mod touching;
mod tried;

use super::assembly::Places;
use super::part::Part;
use super::row::Row;
use super::{Step, together};
use crate::{Contacts, Ledger, Quantity, SimError};
use forces::Role;
use islands::{Islands, NONE};
use jointed::Joined;
use linked::Units;
use links::{Link, Links};
use members::Members;
use overlap::Overlap;
use parts::Cut;
use saltus_linalg::vector;
use saltus_model::rotation::{dot, sub};
use saltus_model::{Model, Order, SystemId};
use saltus_numerics::bodies::{BodySweeps, Island, Sweeping, Touch, Twist, problem};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{AdmmSettings, AutoSettings, Memory, NewtonSettings, Report, Solver, Status};
use std::any::Any;
use std::ops::Range;
use touching::Touching;

/// Sweeps of an island before other methods: as many as cost about the same.
const SWEEPS: usize = 20_000;
const SMALL_SWEEPS: usize = 200;
/// Rounds of sweeps in which the residual of an island must halve.
const PATIENCE: usize = 3;
/// Iterations of alternating directions, and steps of Newton's method, where these stall.
const DIRECTIONS: usize = 2500;
const STEPS: usize = 100;
/// The share of the tolerance that small islands go for: digits that cost next to nothing.
const FINE: f64 = 1e-4;
/// Residual of rest, in units of the tolerance, from which on an island may be at rest, and the share of the tolerance
/// that then tells.
const NEARLY: f64 = 1e3;
const NEARLY_GIVING: f64 = 10.0;
const FINER: f64 = 0.01;
/// Contacts up to which an island is small.
const SMALL: usize = 12;
/// Contacts from which on a step is cut into parts before the methods that take long are tried.
const MANY: usize = 30;

/// The mechanical systems of a model that finds contacts.
#[derive(Debug)]
pub(crate) struct Crowd {
    places: Places,
    members: Members,
    touching: Touching,
    islands: Islands,
    sweeps: BodySweeps,
    overlap: Overlap,
    links: Links,
    loads: Units,
    springs: Units,
    ahead: Vec<f64>, // velocities with which contacts are looked for, where there are springs
    joined: Vec<Joined>, // what each island with interactions keeps
    linked: Vec<Vec<usize>>, // the interactions of each island
    others: Vec<Other>, // methods for islands whose sweeps stall, in this order
    workspace: Workspace,
    tol: f64,
    now: Row,
    next: Row,
    after: Vec<Twist>, // velocities at the end of the step, in the frame of the world
    moves: Vec<f64>,   // ϑ of each system
    least: Vec<f64>,   // ϑ that interactions ask of each island
    last: Step,        // the last one that was committed
    step: Step,        // the one that was computed
    energy0: f64,
    penetration: f64,
    scratch: Vec<f64>,
    symmetric: Vec<bool>, // islands of linear equations alone
    is_thorough: bool,    // islands of many contacts get all methods
    has_spared: bool,     // one did not
    cut: Cut,             // how a step begins
    cut_next: Cut,        // the same, once this one is committed
}

impl Crowd {
    pub fn new(model: &Model, thetas: &[f64], solver: &Solver) -> Result<Crowd, SimError> {
        let places = Places::new(model, Order::Second);
        check(model)?;
        let members = Members::new(model, &places, thetas);
        let Some(finder) = model.contact_finder() else {
            return Err(SimError::EmptyModel { title: model.title().to_string() });
        };
        finder.check(model)?;
        let touching = Touching::new(finder, &members, solver);
        let links = Links::new(model, &places, &members)?;
        let row = Row::new(Order::Second, places.sizes());
        let still = Step { start: model.t0(), end: model.t0(), h: 0.0 };
        let mut crowd = Crowd {
            touching,
            islands: Islands::default(),
            sweeps: BodySweeps::default(),
            overlap: Overlap::default(),
            links,
            loads: Units::default(),
            springs: Units::default(),
            ahead: Vec::new(),
            joined: Vec::new(),
            linked: Vec::new(),
            others: others(solver)?,
            workspace: Workspace::new(finer(solver))?,
            tol: solver.tol(),
            now: row.clone(),
            next: row,
            after: vec![Twist::default(); members.all.len() + 1],
            moves: vec![0.0; members.all.len()],
            least: Vec::new(),
            last: still,
            step: still,
            energy0: 0.0,
            penetration: 0.0,
            scratch: Vec::new(),
            symmetric: Vec::new(),
            is_thorough: false,
            has_spared: false,
            cut: Cut::default(),
            cut_next: Cut::default(),
            members,
            places,
        };
        crowd.reset(model.t0())?;
        Ok(crowd)
    }

    /// What follows from the state: outputs of interactions, a new ledger.
    fn refresh(&mut self, t: f64) -> Result<(), SimError> {
        self.links.all.iter_mut().for_each(|link| link.is_current = false);
        outputs(&mut self.links, &self.members, &mut self.now, t)?;
        let [kinetic, potential] = self.energies(t, false)?;
        let ledger = Ledger { kinetic, potential, ..Ledger::default() }.to_array();
        self.now.mechanical().ledger.copy_from_slice(&ledger);
        self.energy0 = kinetic + potential;
        Step { start: t, end: t, h: 0.0 }.check_energies(&ledger, || self.boundless(false))
    }

    /// Kinetic energy and potential, now or at the end of the step.
    fn energies(&mut self, t: f64, next: bool) -> Result<[f64; 2], SimError> {
        let row = if next { &self.next } else { &self.now };
        let (q, v) = (row.get(Quantity::Q), row.get(Quantity::V));
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for k in 0..self.members.all.len() {
            let [more_kinetic, more_potential] = self.members.energies(k, t, q, v)?;
            kinetic += more_kinetic;
            potential += more_potential;
        }
        let y = row.get(Quantity::Y);
        potential += self.links.all.iter().map(|link| link.potential(y)).sum::<f64>();
        potential += if next { self.touching.potential() } else { self.touching.last.potential };
        Ok([kinetic, potential])
    }

    /// The velocities at the end of the step of one island; its report.
    fn solve_island(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        let range = self.touching.of_island(island);
        let (stride, tol) = (self.touching.stride, self.tol);
        let systems = self.islands.systems(island);
        let touches = &self.touching.touches[range.clone()];
        let own = Island { bodies: &self.members.moving, members: systems, touches };
        let v = self.now.get(Quantity::V);
        let still = systems.iter().all(|&k| {
            let member = &self.members.all[k as usize];
            v[member.own_v()].iter().all(|v| *v == 0.0)
        });
        let overlaps = self.touching.overlaps(range.clone());
        let z = &mut self.touching.z[range.start * stride..range.end * stride];
        let z_before = z.iter().any(|z| *z != 0.0);
        let rest = |residual: f64, iterations: usize| Report {
            status: Status::Solved,
            iterations,
            residual,
            worst: 0,
            method: "rest",
        };
        if still && z_before && !overlaps {
            let residual = own.rests(z, stride, tol, &mut self.after);
            if residual <= tol {
                self.stop(island);
                return Ok(rest(residual, 0));
            }
        }

        let is_spared = touches.len() > MANY && !self.is_thorough;
        let (tol_of_sweeps, max_iter) = match touches.len() <= SMALL {
            true => (FINE * tol, SMALL_SWEEPS),
            false => (tol, SWEEPS),
        };
        let settings =
            Sweeping { tol: tol_of_sweeps, max_iter, patience: PATIENCE, thorough: !is_spared };
        let mut report = self.sweeps.solve(own, z, stride, settings, &mut self.after);
        if report.residual <= tol {
            report.status = Status::Solved;
        }
        if report.status != Status::Solved && is_spared {
            self.has_spared = true;
        }
        if report.status != Status::Solved {
            step.ask()?; // it may be that they were not swept to the end
        }
        if report.status != Status::Solved && !is_spared {
            let others = problem(own)?;
            let start: Vec<f64> = packed(touches, z, stride).collect();
            let (mut unknowns, mut w) = (start.clone(), vec![0.0; others.len()]);
            for Other { method: other, from_zero } in &mut self.others {
                match from_zero {
                    true => unknowns.fill(0.0),
                    false => unknowns.copy_from_slice(&start),
                }
                let solved = other.solve(&others, &mut unknowns, &mut w)?;
                step.ask()?;
                other.forget();
                let mut next = 0;
                for (c, touch) in touches.iter().enumerate() {
                    let n = touch.friction.size();
                    z[c * stride..c * stride + n].copy_from_slice(&unknowns[next..next + n]);
                    next += n;
                }
                // measured once more, contact by contact
                let measured = own.report(z, stride, &mut self.after);
                let status = match measured.residual <= tol {
                    true => Status::Solved,
                    false if solved.status == Status::Solved => Status::Stalled,
                    false => solved.status,
                };
                let iterations = report.iterations + solved.iterations;
                report = Report { status, iterations, ..measured };
                if status == Status::Solved {
                    break;
                }
            }
        }
        let first = range.start;
        step.verify(report, |worst| self.touching.owner(first + worst))?;
        let z = &mut self.touching.z[range.start * stride..range.end * stride];

        if z.iter().all(|z| *z == 0.0) {
            return Ok(report);
        }
        if !overlaps {
            // springs come to rest little by little
            let nearly = if own.gives() { NEARLY_GIVING * tol } else { NEARLY * tol };
            let mut residual = own.rests(z, stride, nearly, &mut self.after);
            if residual > tol && residual <= nearly && touches.len() > SMALL {
                // digits beyond the tolerance tell whether it moves
                self.scratch.clear();
                self.scratch.extend_from_slice(z);
                let finer = Sweeping { tol: FINER * tol, thorough: false, ..settings };
                let finer = self.sweeps.solve(own, z, stride, finer, &mut self.after);
                if !(finer.residual <= report.residual) {
                    z.copy_from_slice(&self.scratch);
                }
                report.iterations += finer.iterations;
                report.residual = report.residual.min(finer.residual);
                residual = own.rests(z, stride, tol, &mut self.after);
            }
            if residual <= tol {
                self.stop(island);
                return Ok(rest(residual, report.iterations));
            }
        }
        let theta = match self.gains(island) {
            true => self.touching.thetas[island],
            false => self.touching.stop(island),
        };
        let next = self.next.mechanical();
        let q = self.now.get(Quantity::Q);
        for &k in self.islands.systems(island) {
            let k = k as usize;
            self.members.take(k, &self.after[k], q, next.v);
            self.moves[k] = theta;
        }
        if overlaps {
            self.move_apart(range, step.h, theta);
        }
        Ok(report)
    }

    /// Whether a ϑ below ½ would gain energy in the velocities that were found, `Σ h F · (v⁺ − v) > 0`.
    fn gains(&self, island: usize) -> bool {
        let work = |&k: &u32| {
            let (body, before) =
                (&self.members.moving[k as usize], &self.members.before[k as usize]);
            let after = &self.after[k as usize];
            let [push, change] = [sub(body.v, before.v), sub(after.v, before.v)];
            dot(push, change) / body.inverse_mass
        };
        // a NaN gains
        !(self.islands.systems(island).iter().map(work).sum::<f64>() <= 0.0)
    }

    /// An island rests, at the latest where its impacts stop it.
    fn stop(&mut self, island: usize) {
        let (next, theta) = (self.next.mechanical(), self.touching.stop(island));
        for &k in self.islands.systems(island) {
            let k = k as usize;
            let member = &self.members.all[k];
            next.v[member.own_v()].fill(0.0);
            self.after[k] = Twist::default();
            self.moves[k] = theta;
        }
    }

    /// Takes a share of the overlaps away.
    fn move_apart(&mut self, range: Range<usize>, h: f64, theta: f64) {
        let Crowd { touching, after, overlap, members, .. } = self;
        let gaps = range.clone().map(|place| {
            let [u, after] = [touching.before(place, members), touching.after(place, after)];
            let way = h * (theta * after[0] + (1.0 - theta) * u[0]);
            // springs hold what gives way where it is
            let gap = touching.gap(place);
            let gap = if touching.gives(place) { gap.max(0.0) } else { gap };
            [gap, gap + way, touching.extent(place)]
        });
        overlap.part(&members.moving, &touching.touches[range.clone()], gaps);
    }

    /// The step at once, from `now` to `next`.
    fn attempt(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        self.step = step;
        let bodies = self.members.all.len();

        // v_free, and what it may run into
        {
            let (now, next) = (self.now.mechanical(), self.next.mechanical());
            self.members.free(model, step, now.q, now.v, next.v)?;
            next.lam.fill(0.0);
        }
        self.links.all.iter_mut().for_each(|link| link.push.fill(0.0));
        self.begin_forces(step)?;
        {
            let (now, next) = (self.now.mechanical(), self.next.mechanical());
            self.islands.begin(bodies);
            for link in self.links.all.iter().filter(|link| link.role.is_posed()) {
                link.members.iter().for_each(|&k| self.islands.touch(k));
                link.members.windows(2).for_each(|pair| self.islands.join(pair[0], pair[1]));
            }
            let ahead = if self.ahead.is_empty() { next.v } else { &mut self.ahead };
            self.touching.find(step, now.q, ahead, &mut self.islands, bodies)?;
            self.islands.finish();
        }
        self.begin_links(step)?;
        let q = self.now.get(Quantity::Q);
        let Crowd { touching, members, islands, least, .. } = self;
        touching.pose(step, q, members, islands, least)?;
        for k in 0..bodies {
            let body = &self.members.moving[k];
            self.after[k] = Twist { v: body.v, omega: body.omega };
            self.moves[k] = self.members.all[k].theta;
        }
        self.overlap.begin();

        // v⁺, island by island
        let mut report: Option<Report> = None;
        for island in 0..self.islands.count {
            step.ask()?;
            let solved = match self.linked[island].is_empty() {
                true => self.solve_island(island, step)?,
                false => self.solve_linked(island, step)?,
            };
            report = together(report, Some(solved));
        }

        // q⁺
        let Crowd { now, next, members, overlap, moves, islands, .. } = self;
        let (now, next) = (now.mechanical(), next.mechanical());
        for k in 0..bodies {
            let parted = overlap.any && islands.of[k] != NONE;
            let way = parted.then(|| &overlap.ways[k]);
            members.displace(k, (step.h, moves[k]), now.q, now.v, next.v, way, next.q);
        }
        if !(vector::all_finite(next.q) && vector::all_finite(next.v)) {
            return Err(self.lost(model, step.end));
        }
        let Crowd { links, members, next, .. } = self;
        let v = next.mechanical().v;
        for link in &links.all {
            let rows = &mut links.rows[link.rows.clone()];
            link.velocities(v, members, |i, after| {
                rows[i].after = after;
                rows[i].rate = link.rate[i];
            });
        }
        self.hold(step)?;
        outputs(&mut self.links, &self.members, &mut self.next, step.end)?;
        self.book(step)?;
        Ok(report)
    }

    /// A state that is no longer finite.
    fn lost(&self, model: &Model, time: f64) -> SimError {
        let (q, v) = (self.next.get(Quantity::Q), self.next.get(Quantity::V));
        let lost = self.members.all.iter().find(|member| {
            !vector::all_finite(&q[member.own_q()]) || !vector::all_finite(&v[member.own_v()])
        });
        let name = lost.and_then(|member| model.systems().nth(member.position));
        let name = name.map_or("", |(name, _)| name);
        SimError::NotFinite { time, what: format!("the state of `{name}`") }
    }
}

impl Part for Crowd {
    fn places(&self) -> &Places {
        &self.places
    }

    fn now(&self) -> &Row {
        &self.now
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        let now = self.now.mechanical();
        for member in &mut self.members.all {
            let (q, v) = (member.system.q0(), member.system.v0());
            now.q[member.q..member.q + q.len()].copy_from_slice(q);
            now.v[member.v..member.v + v.len()].copy_from_slice(v);
            member.inputs.copy_from_slice(member.system.z0());
        }
        now.lam.fill(0.0);
        for link in &mut self.links.all {
            link.reset_inputs();
            link.pushed.fill(0.0);
        }
        self.last = Step { start: t0, end: t0, h: 0.0 };
        self.touching.last.clear();
        (self.cut, self.cut_next) = (Cut::default(), Cut::default());
        self.others.iter_mut().for_each(|other| other.method.forget());
        self.workspace.forget();
        self.penetration = 0.0;
        self.refresh(t0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, same: bool) -> Result<(), SimError> {
        let now = self.now.mechanical();
        now.q.copy_from_slice(before.now().get(Quantity::Q));
        now.v.copy_from_slice(before.now().get(Quantity::V));
        now.lam.copy_from_slice(before.now().get(Quantity::Lam));
        self.links.laws.silence(now.lam);
        self.last = last;
        if let Some(before) = before.as_any().downcast_ref::<Crowd>() {
            self.touching.last.clone_from(&before.touching.last);
            if !same {
                self.touching.last.let_go(); // stiffnesses may be others
            }
            (self.cut, self.cut_next) = (before.cut, before.cut);
            self.penetration = before.penetration;
            let members = self.members.all.iter_mut().zip(&before.members.all);
            let members = members.map(|(own, other)| (&mut own.inputs[..], &other.inputs[..]));
            let links = self.links.all.iter_mut().zip(&before.links.all);
            let links = links.map(|(own, other)| (&mut own.inputs[..], &other.inputs[..]));
            for (own, other) in members.chain(links).filter(|(a, b)| a.len() == b.len()) {
                own.copy_from_slice(other);
            }
            let links = self.links.all.iter_mut().zip(&before.links.all);
            for (own, other) in links.filter(|(a, b)| a.pushed.len() == b.pushed.len()) {
                match own.role {
                    Role::Off => own.pushed.fill(0.0),
                    _ => own.pushed.copy_from_slice(&other.pushed),
                }
            }
        }
        self.refresh(last.end)?;
        if same {
            // a spring that was connected or let go has brought its energy, or taken it away
            let (mut ledger, potential) = (before.now().ledger(), self.now.ledger().potential);
            ledger.work += potential - ledger.potential;
            ledger.potential = potential;
            self.now.set_ledger(&ledger.to_array());
            self.energy0 = ledger.start();
        }
        Ok(())
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
        let member = self.members.all.iter().find(|member| member.v == range.start);
        if let (Some(q), Some(member)) = (q, member) {
            let own = &mut now.q[member.q..member.q + q.len()];
            own.copy_from_slice(q);
            if let Err(why) = member.system.admit(own) {
                self.now.values.copy_from_slice(&before);
                let name = model.systems().nth(id.index()).map_or("", |(name, _)| name);
                return Err(SimError::Configuration { system: name.to_string(), why });
            }
        }
        if let Some(v) = v {
            now.v[range.clone()].copy_from_slice(v);
        }
        self.places.outputs_of(model, id).for_each(|range| now.lam[range].fill(0.0));
        let place = self.members.all.iter().position(|member| member.v == range.start);
        let body = place.filter(|_| q.is_some() && self.touching.keeps.stretches);
        let springs = body.map(|body| self.touching.forget_stretches(body));
        let done = self.refresh(self.last.end);
        if done.is_err() {
            (self.now.values, self.energy0) = (before, energy0);
            if let Some(springs) = springs {
                self.touching.last = springs;
            }
            return done;
        }
        let members = &self.members.all;
        let own = |link: &&mut Link| link.members.iter().any(|&k| members[k].v == range.start);
        self.links.all.iter_mut().filter(own).for_each(|link| link.pushed.fill(0.0));
        done
    }

    fn be_at(&mut self, t: f64) {
        self.last = Step { start: t - self.last.h, end: t, h: self.last.h };
    }

    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        self.advance_somehow(model, step)
    }

    fn commit(&mut self) {
        std::mem::swap(&mut self.now.values, &mut self.next.values);
        (self.last, self.cut) = (self.step, self.cut_next);
        for link in &mut self.links.all {
            std::mem::swap(&mut link.push, &mut link.pushed);
        }
        self.touching.commit(self.step.h, &self.after);
        self.penetration = self.touching.last.penetration();
    }

    fn touched(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        if memory.is_read() {
            self.links.all.iter_mut().for_each(|link| link.is_current = false);
        }
        // what was committed stands beside what is computed, also where it is computed in parts
        self.workspace.memory(memory, None);
        Ok(())
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        self.last.memory(memory);
        self.now.memory(memory);
        memory.number(&mut self.energy0);
        memory.number(&mut self.penetration);
        for member in self.members.all.iter_mut().filter(|one| !one.inputs.is_empty()) {
            memory.numbers(&mut member.inputs);
        }
        for link in self.links.all.iter_mut().filter(|link| !link.inputs.is_empty()) {
            memory.numbers(&mut link.inputs);
        }
        for link in &mut self.links.all {
            memory.numbers(&mut link.pushed);
        }
        self.touching.memory(memory);
        self.cut.memory(memory);
        // islands of more than constraints begin with the mode of the last one that was solved
        self.workspace.memory(memory, None);
        Ok(())
    }

    fn inputs(&self, name: &str) -> Option<&[f64]> {
        let member = self.members.named.iter().find(|(own, _)| own == name);
        let member = member.map(|(_, k)| &self.members.all[*k].inputs[..]);
        let link = || self.links.all.iter().find(|link| link.name == name);
        member.or_else(|| link().map(|link| &link.inputs[..]))
    }

    fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        let (before, energy0) = (self.now.values.clone(), self.energy0);
        let member = self.members.named.iter().find(|(own, _)| own == name).map(|(_, k)| *k);
        let link = self.links.all.iter().position(|link| link.name == name);
        let inputs = match (member, link) {
            (Some(k), _) => &mut self.members.all[k].inputs[..],
            (None, Some(k)) => &mut self.links.all[k].inputs[..],
            (None, None) => return Ok(()),
        };
        if inputs.len() == z.len() {
            inputs.copy_from_slice(z);
        }
        let done = self.refresh(self.last.end);
        // the state stays what it is, and with it the ledger
        let ledger = before.len() - Ledger::NAMES.len();
        self.now.values[ledger..].copy_from_slice(&before[ledger..]);
        self.energy0 = energy0;
        done
    }

    fn contacts(&self, contacts: &mut Contacts) {
        self.touching.table(contacts);
    }

    fn pushes(&self, interaction: usize) -> Option<&[f64]> {
        // they stand in the order of the model
        let found = self.links.all.binary_search_by_key(&interaction, |link| link.position);
        found.ok().map(|k| &self.links.all[k].pushed[..])
    }

    fn penetration(&self) -> f64 {
        self.penetration
    }
}

/// The portfolio with a tolerance that holds in the measure of contacts too, whose scale has no masses.
fn finer(solver: &Solver) -> Solver {
    match solver {
        Solver::Auto(settings) => {
            Solver::Auto(AutoSettings { tol: 0.1 * settings.tol, ..settings.clone() })
        }
        other => other.clone(),
    }
}

/// A method for islands whose sweeps stall, and whether it forgets what these have found.
#[derive(Debug)]
struct Other {
    method: Workspace,
    from_zero: bool,
}

/// What solves an island whose sweeps stall: alternating directions and Newton's method with a proximal
/// term, at first from zero, away from where the sweeps are stuck; the portfolio at last.
fn others(solver: &Solver) -> Result<Vec<Other>, SimError> {
    let mut all = Vec::new();
    if let Solver::Auto(AutoSettings { tol, .. }) = solver {
        let tol = 0.3 * tol;
        let directions = AdmmSettings { tol, max_iter: DIRECTIONS, ..AdmmSettings::default() };
        let steps = NewtonSettings { tol, max_iter: STEPS, ..NewtonSettings::default() };
        for solver in [Solver::Admm(directions), Solver::Newton(steps)] {
            for from_zero in [true, false] {
                all.push(Other { method: Workspace::new(solver.clone())?, from_zero });
            }
        }
    }
    all.push(Other { method: Workspace::new(finer(solver))?, from_zero: false });
    Ok(all)
}

/// The unknowns of contacts without the room between them.
fn packed<'a>(touches: &'a [Touch], z: &'a [f64], stride: usize) -> impl Iterator<Item = f64> + 'a {
    let own = move |(c, touch): (usize, &Touch)| c * stride..c * stride + touch.friction.size();
    touches.iter().enumerate().flat_map(move |one| z[own(one)].iter().copied())
}

/// Refuses what the part cannot do.
fn check(model: &Model) -> Result<(), SimError> {
    let Some(finder) = model.contact_finder() else { return Ok(()) };
    if let Some(law) = finder.laws().iter().find(|law| touching::refused(law)) {
        let owner = format!("contacts that are found, law {}", law.name());
        let (integrator, what) = ("moreau-jean", "the law");
        let needs = "NewtonImpact, ImpactFriction or RollingFriction";
        return Err(SimError::Unsuited { integrator, owner, what, needs });
    }
    let both = |&k: &usize| finder.elasticity(k).is_some() && touching::rebounds(&finder.laws()[k]);
    if let Some(k) = (0..finder.laws().len()).find(both) {
        let owner = format!("contacts that are found, law {k}");
        let (integrator, what) = ("moreau-jean", "a restitution beside an elasticity");
        let needs = "e = 0 and et = 0: springs and dampers say how it rebounds";
        return Err(SimError::Unsuited { integrator, owner, what, needs });
    }
    let is_spring = |k: usize| {
        let Some(of) = finder.elasticity(k) else { return true };
        let is_finite = [of.stiffness, of.damping, of.tangential].iter().all(|x| x.is_finite());
        is_finite && of.stiffness > 0.0 && of.tangential > 0.0 && of.damping >= 0.0
    };
    if let Some(k) = (0..finder.laws().len()).find(|&k| !is_spring(k)) {
        let owner = format!("contacts that are found, law {k}");
        let (integrator, what) = ("moreau-jean", "the elasticity");
        let needs = "a stiffness and a tangential stiffness above zero, and a damping not below";
        return Err(SimError::Unsuited { integrator, owner, what, needs });
    }
    Ok(())
}

/// `y` and `u` of all interactions.
fn outputs(links: &mut Links, members: &Members, row: &mut Row, t: f64) -> Result<(), SimError> {
    let row = row.mechanical();
    for link in &mut links.all {
        if !std::mem::take(&mut link.is_current) {
            link.evaluate(t, row.q, members)?;
        }
        row.y[link.rows.clone()].copy_from_slice(&link.y);
        let u = &mut row.u[link.rows.clone()];
        link.velocities(row.v, members, |i, velocity| u[i] = velocity);
    }
    Ok(())
}
