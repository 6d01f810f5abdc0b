//! Islands with interactions in a step: linearized before it, solved with their contacts, held after it.

use super::Crowd;
use super::condensed::Sides;
use super::forces::Role;
use super::islands::NONE;
use super::linked::{DENSE, Part, Units, What};
use super::links::{Guess, LinkBlock, Links};
use super::members::Members;
use crate::SimError;
use crate::integrators::Step;
use saltus_linalg::vector;
use saltus_numerics::{Block, Problem, Report, Status};

/// Iterations that put positions back onto constraints, and the defect at which they end, relative to
/// the coordinates.
const HOLD: usize = 6;
const HELD: f64 = 4.0 * f64::EPSILON;
/// Share of a defect that an iteration may leave before the matrix is factored anew.
const SLOW: f64 = 1e-3;
/// Solutions of a linear system, each for what the last one left.
const ROUNDS: usize = 3;

/// What an island with interactions keeps from step to step.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// Its constraints.
    rigid: Units,
    /// All that it has, where that is more.
    all: Units,
    pub is_rigid: bool,    // it has constraints alone, or nothing else acts
    pub holds_rates: bool, // so do some of its laws
    is_closed: bool,       // its constraints were closed in the middle of the step
    kept: Vec<f64>,        // its velocities without interactions
    pub guesses: Vec<Guess>,
    /// `c` of each row, which is `w` without velocities and impulses.
    pub constant: Vec<f64>,
    /// The sets of all rows, in their order; none where all of them are equations.
    pub blocks: Vec<Block>,
    pub rest: Vec<f64>,
    pub z: Vec<f64>,
}

impl Joined {
    /// What the step is solved with.
    pub fn units(&self) -> &Units {
        if self.is_rigid { &self.rigid } else { &self.all }
    }
}

impl Crowd {
    /// Linearizes the interactions, and says what they ask of the islands.
    pub(super) fn begin_links(&mut self, step: Step) -> Result<(), SimError> {
        let resting = self.touching.resting;
        let before = if self.last.h > 0.0 { step.h / self.last.h } else { 0.0 };
        let Crowd { links, members, islands, linked, joined, least, now, next, ahead, .. } = self;
        linked.iter_mut().for_each(Vec::clear);
        if linked.len() < islands.count {
            linked.resize_with(islands.count, Vec::new);
        }
        least.clear();
        least.resize(islands.count, 0.0);
        self.symmetric.clear();
        self.symmetric.resize(islands.count, false);
        if links.all.is_empty() {
            return Ok(());
        }
        if joined.len() < islands.count {
            joined.resize_with(islands.count, Joined::default);
        }
        let (now, next) = (now.mechanical(), next.mechanical());
        links.laws.evaluate_alone(step.start, &now, &mut links.scratch)?;
        for k in 0..members.all.len() {
            if islands.of[k] != NONE {
                let half = (0.5 * step.h, 0.0);
                members.displace(k, half, now.q, now.v, now.v, None, &mut links.q_mid);
            }
        }
        for (k, link) in links.all.iter_mut().enumerate() {
            let Some(&first) = link.members.first() else { continue };
            if !link.role.is_posed() {
                continue;
            }
            let island = islands.of[first] as usize;
            linked[island].push(k);
            let rows = &mut links.rows[link.rows.clone()];
            if !link.is_force() {
                link.evaluate(link.time(step), &links.q_mid, members)?;
                link.velocities(now.v, members, |i, u| rows[i].u = u);
            }
            if link.role.is_linear() {
                continue;
            }
            let v = if ahead.is_empty() { &*next.v } else { &**ahead };
            link.velocities(v, members, |i, free| rows[i].free = free);
            for block in link.blocks(&links.laws, step.h, now.y, &links.rows) {
                let LinkBlock { rows, state, .. } = block?;
                if let Some(state) = state.filter(|state| state.hits(step.h)) {
                    let mobility = link.mobility(rows.start - link.rows.start, members);
                    let state = state.beside(before * now.lam[rows.start] * mobility);
                    let theta = state.theta(step.h, resting).unwrap_or(0.0);
                    least[island] = least[island].max(theta).min(1.0);
                }
            }
        }
        Ok(())
    }

    /// The velocities at the end of the step of an island with interactions; its report.
    pub(super) fn solve_linked(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        let range = self.touching.of_island(island);
        // without contacts constraints hold for the mean velocity, whose work is nothing
        let tried = match range.is_empty() {
            true => self.try_linear(island, step)?,
            false => {
                self.joined[island].is_rigid = false;
                None
            }
        };
        self.symmetric[island] = tried.is_some();
        let report = match tried {
            Some(report) => report,
            None => self.solve_mixed(island, step)?,
        };
        step.verify(report, |worst| {
            let mut units = self.joined[island].units().units.iter();
            let unit = units.find(|unit| unit.rows.contains(&worst));
            match unit.map(|unit| unit.what) {
                Some(What::Link(k)) => format!("`{}`", self.links.all[k].name),
                Some(What::Contact(place)) => self.touching.owner(place),
                None => format!("component {worst}"),
            }
        })?;

        let overlaps = self.touching.overlaps(range.clone());
        let rests = !overlaps && self.rests(island, step)?;
        let Crowd { touching, joined, links, next, .. } = self;
        let next = next.mechanical();
        let (units, z) = (joined[island].units(), &joined[island].z);
        let (stride, is_tried) = (touching.stride, self.symmetric[island]);
        for unit in &units.units {
            match unit.what {
                What::Link(k) => {
                    let lam = &mut next.lam[links.all[k].rows.clone()];
                    if !is_tried {
                        units.impulses(unit.rows.clone(), z, lam);
                    }
                    links.all[k].add_push(lam);
                }
                What::Contact(place) => {
                    let lam = &mut touching.z[place * stride..][..unit.rows.len()];
                    units.impulses(unit.rows.clone(), z, lam);
                }
            }
        }
        if rests {
            self.stop(island);
            return Ok(report);
        }
        let theta = self.touching.thetas[island];
        let Crowd { members, islands, now, next, .. } = self;
        let (q, v) = (now.mechanical().q, next.mechanical().v);
        for &k in islands.systems(island) {
            let k = k as usize;
            self.after[k] = members.twist(k, q, v);
            self.moves[k] = theta;
        }
        if overlaps {
            self.move_apart(range, step.h, theta);
        }
        Ok(report)
    }

    /// `H (ϑ v⁺ + (1 − ϑ) v) + ∂h/∂t = 0` of an island of constraints, with its springs and dampers and what is
    /// known of its laws.
    ///
    /// Constraints that follow from others contradict them where the middle of the step is open, by the
    /// square of that: it is closed, and they are solved again.
    pub(super) fn solve_linear(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        self.joined[island].is_closed = false;
        let report = self.solve_equations(island, step.h);
        if report.status == Status::Solved {
            return Ok(report);
        }
        let mut roles = self.linked[island].iter().map(|&k| self.links.all[k].role);
        if roles.any(|role| role == Role::Law) {
            self.restore(island);
        } else {
            let Joined { rigid, all, is_rigid, z, .. } = &mut self.joined[island];
            z.iter_mut().for_each(|z| *z = -*z);
            let units = if *is_rigid { rigid } else { all };
            units.push(z, self.next.mechanical().v);
        }
        let Crowd { joined, links, members, linked, islands, now, scratch, .. } = self;
        let Joined { rigid, is_closed, rest, z, .. } = &mut joined[island];
        compose_constraints(rigid, links, &linked[island], members);
        let mut q = std::mem::take(&mut links.q_mid);
        let (t, systems) = (step.start + 0.5 * step.h, islands.systems(island));
        let closed = close(rigid, links, members, systems, t, &mut q, [rest, z, scratch]);
        links.q_mid = q;
        *is_closed = true;
        closed?;
        let v = now.mechanical().v;
        for &k in &linked[island] {
            let link = &mut links.all[k];
            if link.role != Role::Constraint {
                link.evaluate(link.time(step), &links.q_mid, members)?;
            }
            link.is_current = false;
            let rows = &mut links.rows[link.rows.clone()];
            link.velocities(v, members, |i, u| rows[i].u = u);
        }
        Ok(self.solve_equations(island, step.h))
    }

    /// Keeps the velocities of an island.
    pub(super) fn keep(&mut self, island: usize) {
        let Crowd { joined, members, islands, next, .. } = self;
        let (kept, v) = (&mut joined[island].kept, next.mechanical().v);
        kept.clear();
        for &k in islands.systems(island) {
            let member = &members.all[k as usize];
            kept.extend_from_slice(&v[member.own_v()]);
        }
    }

    /// Puts them back.
    fn restore(&mut self, island: usize) {
        let Crowd { joined, members, islands, next, .. } = self;
        let (mut kept, v) = (&joined[island].kept[..], next.mechanical().v);
        for &k in islands.systems(island) {
            let member = &members.all[k as usize];
            let (own, rest) = kept.split_at(member.dim());
            v[member.own_v()].copy_from_slice(own);
            kept = rest;
        }
    }

    /// The impulses of a linear system.
    pub(super) fn take_impulses(&mut self, island: usize) {
        let Crowd { joined, links, next, .. } = self;
        let (units, z) = (joined[island].units(), &joined[island].z);
        let lam = next.mechanical().lam;
        for (rows, k) in units.links() {
            let link = &links.all[k];
            let lam = &mut lam[link.rows.clone()];
            units.impulses(rows, z, lam);
            if link.role == Role::Law {
                for (lam, row) in lam.iter_mut().zip(&links.rows[link.rows.clone()]) {
                    if let Guess::Impulse(known) = row.guess {
                        *lam = known;
                    }
                }
            }
        }
    }

    /// The island as it was before its linear system was solved.
    pub(super) fn undo(&mut self, island: usize, step: Step) -> Result<(), SimError> {
        self.restore(island);
        if !std::mem::take(&mut self.joined[island].is_closed) {
            return Ok(());
        }
        let Crowd { links, members, linked, islands, now, .. } = self;
        let now = now.mechanical();
        for &k in islands.systems(island) {
            let half = (0.5 * step.h, 0.0);
            members.displace(k as usize, half, now.q, now.v, now.v, None, &mut links.q_mid);
        }
        for &k in &linked[island] {
            let link = &mut links.all[k];
            link.evaluate(link.time(step), &links.q_mid, members)?;
            let rows = &mut links.rows[link.rows.clone()];
            link.velocities(now.v, members, |i, u| rows[i].u = u);
        }
        Ok(())
    }

    fn solve_equations(&mut self, island: usize, h: f64) -> Report {
        let theta = self.touching.thetas[island];
        let Crowd { joined, links, members, linked, next, .. } = self;
        let v = next.mechanical().v;
        let Joined { rigid, all, is_rigid, constant, blocks, rest, z, .. } = &mut joined[island];
        let units = if *is_rigid { rigid } else { all };
        blocks.clear();
        match is_rigid {
            true => compose_constraints(units, links, &linked[island], members),
            false => {
                let parts = linked[island].iter().map(|&k| Part::link(k, &links.all[k]));
                units.compose(parts, members);
            }
        }

        // H v⁺ + c + D λ = 0
        constant.clear();
        constant.resize(units.size, 0.0);
        for unit in 0..units.units.len() {
            let What::Link(k) = units.units[unit].what else { continue };
            let link = &links.all[k];
            units.set_link(unit, link, members);
            let rows = units.units[unit].rows.clone().zip(link.rows.clone());
            for (i, (row, own)) in rows.enumerate() {
                let own = &links.rows[own];
                constant[row] = match (link.role, own.guess) {
                    (Role::Law, Guess::Impulse(lam)) => {
                        units.settle(unit, row, lam, v);
                        0.0
                    }
                    _ if !link.yields.is_empty() => {
                        let [D, b] = link.softness(i, h, theta, own);
                        b * units.soften(unit, row, D, true)
                    }
                    // a velocity, that at the end
                    (Role::Law, Guess::Velocity(c)) => link.rate[i] + c,
                    _ => link.rate[i] + (1.0 - theta) / theta * own.u,
                };
            }
        }
        units.factor();

        // what is left, and the share of it that another solution takes
        z.clear();
        z.resize(units.size, 0.0);
        let mut size = 0.0;
        for round in 0.. {
            rest.clone_from(constant);
            units.add_velocities(v, rest);
            units.add_yield(z, rest);
            let left = vector::norm2(rest);
            if round == 0 {
                size = left;
            }
            let residual = left / (1.0 + size);
            if round > 0 && (residual <= 1e-3 * self.tol || round == ROUNDS) {
                let status = if residual <= self.tol { Status::Solved } else { Status::Stalled };
                let larger = |&a: &usize, &b: &usize| rest[a].abs().total_cmp(&rest[b].abs());
                let worst = (0..rest.len()).max_by(larger).unwrap_or(0);
                return Report { status, iterations: 1, residual, worst, method: "factors" };
            }
            units.take_away(rest, v, z);
        }
        unreachable!("the rounds end")
    }

    /// The equations of an island once more, for what the last solution left.
    pub(super) fn refine(&mut self, island: usize) {
        let Crowd { joined, next, .. } = self;
        let v = next.mechanical().v;
        let Joined { rigid, all, is_rigid, constant, rest, z, .. } = &mut joined[island];
        let units = if *is_rigid { rigid } else { all };
        for _ in 0..ROUNDS {
            rest.clone_from(constant);
            units.add_velocities(v, rest);
            units.add_yield(z, rest);
            units.take_away(rest, v, z);
        }
        self.take_impulses(island);
    }

    /// The problem of an island of constraints, laws of forces and contacts.
    fn solve_mixed(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        let (h, theta) = (step.h, self.touching.thetas[island]);
        let range = self.touching.of_island(island);
        let Crowd { joined, links, members, touching, linked, now, next, workspace, .. } = self;
        let (now, next) = (now.mechanical(), next.mechanical());
        let Joined { all: units, constant, blocks, z, .. } = &mut joined[island];
        let stride = touching.stride;
        let parts = linked[island].iter().map(|&k| Part::link(k, &links.all[k]));
        let bodies = members.all.len();
        let contacts = range.map(|place| Part::contact(place, &touching.touches[place], bodies));
        units.compose(parts.chain(contacts), members);

        // w = H v⁺ + c + D λ: what there is, and what it begins with
        let (mut posed, mut sides) = (Vec::new(), Sides::default());
        let is_condensed = units.size <= DENSE;
        constant.clear();
        blocks.clear();
        z.clear();
        let before = if self.last.h > 0.0 { h / self.last.h } else { 0.0 };
        for unit in 0..units.units.len() {
            match units.units[unit].what {
                What::Link(k) => {
                    let link = &links.all[k];
                    units.set_link(unit, link, members);
                    let first = units.units[unit].rows.start;
                    for block in link.blocks(&links.laws, h, now.y, &links.rows) {
                        let LinkBlock { rows: own, mut set, state } = block?;
                        let mut bias = [0.0; 3];
                        if let Some(state) = state {
                            state.bias(h, theta, touching.resting, &mut bias, own.len());
                        }
                        for (i, row) in own.clone().enumerate() {
                            let k = row - link.rows.start;
                            let (mut c, mut lam) = (link.rate[k], before * now.lam[row]);
                            if !link.yields.is_empty() {
                                let [D, b] = link.softness(k, h, theta, &links.rows[row]);
                                let s = units.soften(unit, first + k, D, link.may_scale(&set));
                                (c, lam) = (s * b, lam / s);
                                set = link.soft_set(set, s);
                            }
                            constant.push(c + bias.get(i).copied().unwrap_or(0.0));
                            z.push(lam);
                        }
                        let rows = own.start - link.rows.start..own.end - link.rows.start;
                        let rows = rows.map(|k| first + k);
                        blocks.push(Block { size: own.len(), set: set.clone() });
                        if is_condensed && link.role == Role::Soft {
                            sides.follow.extend(rows);
                        } else {
                            sides.lead.extend(rows);
                            posed.push(Block { size: own.len(), set });
                        }
                    }
                }
                What::Contact(place) => {
                    let touch = &touching.touches[place];
                    units.set_contact(unit, touch, now.q, members);
                    let (n, first) = (touch.friction.size(), units.units[unit].rows.start);
                    // a rigid one by nothing: another that gave way may have stood in its place
                    for k in 0..if touching.keeps.stretches { n } else { 0 } {
                        units.soften(unit, first + k, touch.compliance_of(k), false);
                    }
                    constant.extend((0..n).map(|k| touch.q.get(k).copied().unwrap_or(0.0)));
                    z.extend_from_slice(&touching.z[place * stride..place * stride + n]);
                    sides.lead.extend(units.units[unit].rows.clone());
                    posed.push(Block { size: n, set: touch.friction.set() });
                    blocks.push(Block { size: n, set: touch.friction.set() });
                }
            }
        }
        let mut q = constant.clone();
        units.add_velocities(next.v, &mut q);
        let (W, q) = sides.condense(units.matrix(), q);
        let problem = Problem::new(W, q, &posed)?;
        let mut lead: Vec<f64> = sides.lead.iter().map(|&row| z[row]).collect();
        let mut w = vec![0.0; lead.len()];
        let mut report = workspace.solve(&problem, &mut lead, &mut w)?;
        report.worst = sides.lead.get(report.worst).copied().unwrap_or(0);
        sides.expand(&lead, z);
        units.push(z, next.v);
        Ok(report)
    }

    /// Puts positions back onto their constraints, and velocities of islands of constraints alone.
    pub(super) fn hold(&mut self, step: Step) -> Result<(), SimError> {
        for island in 0..self.islands.count.min(self.joined.len()) {
            let mut own = self.linked[island].iter();
            if own.any(|&k| self.links.all[k].role == Role::Constraint) {
                self.hold_positions(island, step)?;
                if self.symmetric[island] {
                    self.hold_velocities(island, step)?;
                }
            }
        }
        Ok(())
    }

    /// `y(q⁺) = 0`.
    fn hold_positions(&mut self, island: usize, step: Step) -> Result<(), SimError> {
        let Crowd { joined, links, members, linked, islands, next, scratch, .. } = self;
        let next = next.mechanical();
        let Joined { rigid: units, rest, z, .. } = &mut joined[island];
        compose_constraints(units, links, &linked[island], members);
        let systems = islands.systems(island);
        close(units, links, members, systems, step.end, next.q, [rest, z, scratch])
    }

    /// `H(q⁺) v⁺ + ∂h/∂t = 0`: what the mean velocity leaves in that at the end. So of laws that hold a velocity.
    fn hold_velocities(&mut self, island: usize, step: Step) -> Result<(), SimError> {
        let Crowd { joined, links, members, islands, next, .. } = self;
        let next = next.mechanical();
        let Joined { rigid, all, holds_rates, rest, z, .. } = &mut joined[island];
        let units = if *holds_rates { all } else { rigid };
        if *holds_rates {
            hold_rates(units, links, members, step.end, next.q, next.v)?;
            rest.resize(units.size, 0.0);
        } else {
            units.set_links(links, members);
        }
        z.clear();
        z.resize(units.size, 0.0);
        let mut size = 0.0_f64;
        for &k in islands.systems(island) {
            let member = &members.all[k as usize];
            let own = &next.v[member.own_v()];
            size = own.iter().fold(size, |most, v| most.max(v.abs()));
        }
        let mut before = f64::INFINITY;
        for _ in 0..ROUNDS {
            rest.fill(0.0);
            for (rows, k) in units.links() {
                let link = &links.all[k];
                match link.role {
                    Role::Constraint => rest[rows].copy_from_slice(&link.rate),
                    _ => {
                        for (i, row) in rows.enumerate().filter(|(i, _)| links.holds(link, *i)) {
                            rest[row] = link.rate[i];
                        }
                    }
                }
            }
            units.add_velocities(next.v, rest);
            let most = rest.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
            if most > 0.5 * before || most == 0.0 {
                break;
            }
            // the next solution leaves as small a share as the last one did
            let is_last = before < f64::INFINITY && most * most <= HELD * size * before;
            before = most;
            units.take_away(rest, next.v, z);
            if is_last {
                break;
            }
        }
        for unit in &units.units {
            if let What::Link(k) = unit.what {
                let (lam, more) = (&mut next.lam[links.all[k].rows.clone()], &z[unit.rows.clone()]);
                lam.iter_mut().zip(more).for_each(|(lam, more)| *lam += more);
                links.all[k].add_push(more);
            }
        }
        Ok(())
    }
}

/// The rows of an island that hold velocities, where it is at the end of the step; no other one acts.
fn hold_rates(
    units: &mut Units,
    links: &mut Links,
    members: &mut Members,
    t: f64,
    q: &[f64],
    v: &mut [f64],
) -> Result<(), SimError> {
    for unit in 0..units.units.len() {
        let What::Link(k) = units.units[unit].what else { continue };
        if !links.all[k].is_current {
            links.all[k].evaluate(t, q, members)?;
            links.all[k].is_current = true;
        }
        let link = &links.all[k];
        units.set_link(unit, link, members);
        for (i, row) in units.units[unit].rows.clone().enumerate() {
            if !links.holds(link, i) {
                units.settle(unit, row, 0.0, v);
            }
        }
    }
    units.factor();
    Ok(())
}

/// The constraints among these interactions.
fn compose_constraints(units: &mut Units, links: &Links, own: &[usize], members: &Members) {
    let own = own.iter().filter(|&&k| links.all[k].role == Role::Constraint);
    units.compose(own.map(|&k| Part::link(k, &links.all[k])), members);
}

/// `y(t, q) = 0` by Newton's method, along `M⁻¹ Hᵀ`; the constraints are then those of `q`.
fn close(
    units: &mut Units,
    links: &mut Links,
    members: &mut Members,
    systems: &[u32],
    t: f64,
    q: &mut [f64],
    [rest, z, way]: [&mut Vec<f64>; 3],
) -> Result<(), SimError> {
    rest.resize(units.size, 0.0);
    let (mut before, mut size) = (f64::INFINITY, 0.0_f64);
    for &k in systems {
        let member = &members.all[k as usize];
        size = size.max(member.extent(q));
        way.resize(way.len().max(member.own_v().end), 0.0);
    }
    for round in 0.. {
        let mut most = 0.0_f64;
        for unit in &units.units {
            let What::Link(k) = unit.what else { continue };
            let link = &mut links.all[k];
            link.evaluate(t, q, members)?;
            link.is_current = true;
            rest[unit.rows.clone()].copy_from_slice(&link.y);
            most = link.y.iter().fold(most, |most, y| most.max(y.abs()));
        }
        // as close as round-off lets it come
        if round == HOLD || most <= HELD * (1.0 + size) || most > 0.5 * before {
            break;
        }
        if round == 0 || most > SLOW * before {
            units.set_links(links, members);
            units.factor();
        }
        before = most;
        for &k in systems {
            let member = &members.all[k as usize];
            way[member.own_v()].fill(0.0);
        }
        z.clear();
        z.resize(units.size, 0.0);
        units.take_away(rest, way, z);
        for &k in systems {
            members.shift(k as usize, way, q);
        }
    }
    Ok(())
}
