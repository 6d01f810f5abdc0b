//! Islands with interactions in a step: linearized before it, solved with their contacts, held after it.

use super::Crowd;
use super::condensed::Sides;
use super::forces::Role;
use super::islands::NONE;
use super::linked::{DENSE, Part, Units, What};
use super::links::{LinkBlock, Links};
use super::members::Members;
use crate::SimError;
use crate::integrators::Step;
use saltus_linalg::vector;
use saltus_numerics::bodies::{MovingBody, Twist};
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
    is_rigid: bool, // it has constraints alone
    constant: Vec<f64>,
    rest: Vec<f64>,
    z: Vec<f64>,
}

impl Crowd {
    /// Linearizes the interactions, and says what they ask of the islands.
    pub(super) fn begin_links(&mut self, step: Step) -> Result<(), SimError> {
        let resting = self.touching.resting;
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
                // a velocity that is asked for is that at the end
                let t = if link.terms.velocity { step.end } else { step.start + 0.5 * step.h };
                link.evaluate(t, &links.q_mid, members)?;
                link.velocities(now.v, members, |i, u| rows[i].u = u);
            }
            if link.role.is_linear() {
                continue;
            }
            let v = if ahead.is_empty() { &*next.v } else { &**ahead };
            link.velocities(v, members, |i, free| rows[i].free = free);
            for LinkBlock { state, .. } in link.blocks(&links.laws, step.h, now.y, &links.rows)? {
                if let Some(state) = state.filter(|state| state.hits(step.h)) {
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
        let roles = self.linked[island].iter().map(|&k| self.links.all[k].role);
        let symmetric = range.is_empty() && roles.clone().all(Role::is_linear);
        let is_rigid = symmetric && roles.clone().all(|role| role == Role::Constraint);
        self.symmetric[island] = symmetric;
        self.joined[island].is_rigid = is_rigid;
        let report = match symmetric {
            true => self.solve_linear(island, step)?,
            false => self.solve_mixed(island, step)?,
        };
        let units = match is_rigid {
            true => &self.joined[island].rigid,
            false => &self.joined[island].all,
        };
        step.verify(report, |worst| {
            let unit = units.units.iter().find(|unit| unit.rows.contains(&worst));
            match unit.map(|unit| unit.what) {
                Some(What::Link(k)) => format!("`{}`", self.links.all[k].name),
                Some(What::Contact(place)) => self.touching.owner(place),
                None => format!("component {worst}"),
            }
        })?;

        let (h, theta) = (step.h, self.touching.thetas[island]);
        let Crowd { members, touching, islands, joined, links, now, next, .. } = self;
        let (now, next) = (now.mechanical(), next.mechanical());
        let Joined { rigid, all, z, .. } = &joined[island];
        let units = if is_rigid { rigid } else { all };
        let stride = touching.stride;
        for unit in &units.units {
            match unit.what {
                What::Link(k) => {
                    let lam = &mut next.lam[links.all[k].rows.clone()];
                    units.impulses(unit.rows.clone(), z, lam);
                    links.all[k].add_push(lam);
                }
                What::Contact(place) => {
                    let lam = &mut touching.z[place * stride..][..unit.rows.len()];
                    units.impulses(unit.rows.clone(), z, lam);
                }
            }
        }
        for &k in islands.systems(island) {
            let k = k as usize;
            self.after[k] = members.twist(k, now.q, next.v);
            self.moves[k] = theta;
        }
        let overlaps = self.touching.overlaps(range.clone());
        if overlaps {
            self.move_apart(range, h, theta);
        }
        Ok(report)
    }

    /// `H (ϑ v⁺ + (1 − ϑ) v) + ∂h/∂t = 0` of an island of constraints, with its springs and dampers.
    ///
    /// Constraints that follow from others contradict them where the middle of the step is open, by the
    /// square of that: it is closed, and they are solved again.
    fn solve_linear(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        let report = self.solve_equations(island, step.h);
        if report.status == Status::Solved {
            return Ok(report);
        }
        let Crowd { joined, links, members, linked, islands, now, next, scratch, .. } = self;
        let Joined { rigid, all, is_rigid, rest, z, .. } = &mut joined[island];
        z.iter_mut().for_each(|z| *z = -*z);
        let units = if *is_rigid { &*rigid } else { &*all };
        units.push(z, next.mechanical().v);
        compose_constraints(rigid, links, &linked[island], members);
        let mut q = std::mem::take(&mut links.q_mid);
        let (t, systems) = (step.start + 0.5 * step.h, islands.systems(island));
        let closed = close(rigid, links, members, systems, t, &mut q, [rest, z, scratch]);
        links.q_mid = q;
        closed?;
        let v = now.mechanical().v;
        for &k in &linked[island] {
            let link = &mut links.all[k];
            if link.role != Role::Constraint {
                link.evaluate(t, &links.q_mid, members)?;
            }
            link.is_current = false;
            let rows = &mut links.rows[link.rows.clone()];
            link.velocities(v, members, |i, u| rows[i].u = u);
        }
        Ok(self.solve_equations(island, step.h))
    }

    fn solve_equations(&mut self, island: usize, h: f64) -> Report {
        let theta = self.touching.thetas[island];
        let Crowd { joined, links, members, linked, next, .. } = self;
        let v = next.mechanical().v;
        let Joined { rigid, all, is_rigid, constant, rest, z } = &mut joined[island];
        let units = if *is_rigid { rigid } else { all };
        let parts = linked[island].iter().map(|&k| Part::link(k, &links.all[k]));
        units.compose(parts, members);

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
                constant[row] = match link.yields.is_empty() {
                    true => link.rate[i] + (1.0 - theta) / theta * own.u,
                    false => {
                        let [D, b] = link.softness(i, h, theta, own);
                        b * units.soften(unit, row, D, true)
                    }
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

    /// The problem of an island of constraints, laws of forces and contacts.
    fn solve_mixed(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        let (h, theta) = (step.h, self.touching.thetas[island]);
        let range = self.touching.of_island(island);
        let Crowd { joined, links, members, touching, linked, now, next, workspace, .. } = self;
        let (now, next) = (now.mechanical(), next.mechanical());
        let Joined { all: units, constant: q, z, .. } = &mut joined[island];
        let stride = touching.stride;
        let parts = linked[island].iter().map(|&k| Part::link(k, &links.all[k]));
        let bodies = members.all.len();
        let contacts = range.map(|place| Part::contact(place, &touching.touches[place], bodies));
        units.compose(parts.chain(contacts), members);

        // what there is, and what it begins with
        let (mut blocks, mut frees, mut sides) = (Vec::new(), Vec::new(), Sides::default());
        let is_condensed = units.size <= DENSE;
        q.clear();
        z.clear();
        let before = if self.last.h > 0.0 { h / self.last.h } else { 0.0 };
        for unit in 0..units.units.len() {
            match units.units[unit].what {
                What::Link(k) => {
                    let link = &links.all[k];
                    units.set_link(unit, link, members);
                    frees.resize(link.rows.len(), 0.0);
                    link.velocities(next.v, members, |i, free| frees[i] = free);
                    let first = units.units[unit].rows.start;
                    for LinkBlock { rows: own, mut set, state } in
                        link.blocks(&links.laws, h, now.y, &links.rows)?
                    {
                        let mut bias = [0.0; 3];
                        if let Some(state) = state {
                            state.bias(h, theta, touching.resting, &mut bias, own.len());
                        }
                        for (i, row) in own.clone().enumerate() {
                            let k = row - link.rows.start;
                            let (mut free, mut lam) = (frees[k], before * now.lam[row]);
                            if !link.yields.is_empty() {
                                let [D, b] = link.softness(k, h, theta, &links.rows[row]);
                                let s = units.soften(unit, first + k, D, link.may_scale(&set));
                                (free, lam) = (s * (free - link.rate[k] + b), lam / s);
                                set = link.soft_set(set, s);
                            }
                            q.push(free + bias.get(i).copied().unwrap_or(0.0));
                            z.push(lam);
                        }
                        let rows = own.start - link.rows.start..own.end - link.rows.start;
                        let rows = rows.map(|k| first + k);
                        if is_condensed && link.role == Role::Soft {
                            sides.follow.extend(rows);
                        } else {
                            sides.lead.extend(rows);
                            blocks.push(Block { size: own.len(), set });
                        }
                    }
                }
                What::Contact(place) => {
                    let touch = &touching.touches[place];
                    units.set_contact(unit, touch, now.q, members);
                    let [a, b] = touch.bodies.map(|k| &members.moving[k as usize]);
                    let free = |body: &MovingBody| Twist { v: body.v, omega: body.omega };
                    let w = touch.moved(&free(a), &free(b));
                    let n = touch.friction.size();
                    q.extend_from_slice(&w[..n]);
                    z.extend_from_slice(&touching.z[place * stride..place * stride + n]);
                    sides.lead.extend(units.units[unit].rows.clone());
                    blocks.push(Block { size: n, set: touch.friction.set() });
                }
            }
        }
        let (W, q) = sides.condense(units.matrix(), q);
        let problem = Problem::new(W, q, &blocks)?;
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
                    self.hold_velocities(island);
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

    /// `H(q⁺) v⁺ + ∂h/∂t = 0`: what the mean velocity leaves in that at the end.
    fn hold_velocities(&mut self, island: usize) {
        let Crowd { joined, links, members, islands, next, .. } = self;
        let next = next.mechanical();
        let Joined { rigid: units, rest, z, .. } = &mut joined[island];
        units.set_links(links, members);
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
            for unit in &units.units {
                if let What::Link(k) = unit.what {
                    rest[unit.rows.clone()].copy_from_slice(&links.all[k].rate);
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
    }
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
