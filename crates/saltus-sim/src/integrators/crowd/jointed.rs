//! Islands with interactions in a step: linearized before it, solved with their contacts, held after it.

use super::islands::NONE;
use super::linked::What;
use super::links::LinkBlock;
use super::{Crowd, overlap};
use crate::SimError;
use crate::integrators::Step;
use saltus_linalg::vector;
use saltus_numerics::bodies::{COMPONENTS, MovingBody, Twist};
use saltus_numerics::{Block, Problem, Report, Status};

/// Iterations that put positions back onto constraints, and the defect at which they end, relative to
/// the coordinates.
const HOLD: usize = 6;
const HELD: f64 = 4.0 * f64::EPSILON;

impl Crowd {
    /// Linearizes the interactions, and says what they ask of the islands.
    pub(super) fn begin_links(&mut self, step: Step) -> Result<(), SimError> {
        let Crowd { links, members, islands, linked, least, now, next, .. } = self;
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
            let island = islands.of[first] as usize;
            linked[island].push(k);
            link.evaluate(step.start + 0.5 * step.h, &links.q_mid, members)?;
            for (i, row) in link.rows.clone().enumerate() {
                links.rows[row].u = link.velocity(i, now.v, members);
                links.rows[row].free = link.velocity(i, next.v, members);
            }
            for LinkBlock { state, .. } in link.blocks(&links.laws, step.h, now.y, &links.rows)? {
                if let Some(state) = state.filter(|state| state.hits(step.h)) {
                    least[island] = least[island].max(state.theta(step.h)).min(1.0);
                }
            }
        }
        Ok(())
    }

    /// The velocities at the end of the step of an island with interactions; its report.
    pub(super) fn solve_linked(&mut self, island: usize, step: Step) -> Result<Report, SimError> {
        let (h, theta) = (step.h, self.touching.thetas[island]);
        let range = self.touching.of_island(island);
        let stride = self.touching.stride;
        let Crowd { units, links, members, touching, linked, now, next, islands, .. } = self;
        let (now, next) = (now.mechanical(), next.mechanical());

        // what there is, and what it begins with
        units.clear();
        let (mut blocks, mut q, mut z) = (Vec::new(), Vec::new(), Vec::new());
        // constraints alone hold for the mean velocity, whose work is nothing
        let symmetric = range.is_empty() && linked[island].iter().all(|&k| links.all[k].is_rigid);
        self.symmetric[island] = symmetric;
        for &k in &linked[island] {
            let link = &links.all[k];
            units.add_link(k, link, members);
            for LinkBlock { rows: own, set, state } in
                link.blocks(&links.laws, h, now.y, &links.rows)?
            {
                let mut bias = [0.0; COMPONENTS];
                if let Some(state) = state {
                    state.bias(h, theta, touching.resting, &mut bias, own.len());
                }
                for (i, row) in own.clone().enumerate() {
                    let before = links.rows[row].u;
                    let shift = match link.is_rigid && symmetric {
                        true => (1.0 - theta) / theta * before,
                        false => bias.get(i).copied().unwrap_or(0.0),
                    };
                    q.push(links.rows[row].free + shift);
                    z.push(if self.last.h > 0.0 { h / self.last.h * now.lam[row] } else { 0.0 });
                }
                blocks.push(Block { size: own.len(), set });
            }
        }
        for place in range.clone() {
            let touch = &touching.touches[place];
            units.add_contact(place, touch, now.q, members);
            let [a, b] = touch.bodies.map(|k| &members.moving[k as usize]);
            let free = |body: &MovingBody| Twist { v: body.v, omega: body.omega };
            let u = touch.relative(&free(a), &free(b));
            let n = touch.friction.size();
            q.extend((0..n).map(|k| u[k] + touch.q[k]));
            z.extend_from_slice(&touching.z[place * stride..place * stride + n]);
            blocks.push(Block { size: n, set: touch.friction.set() });
        }
        units.finish();

        // λ
        let report = if symmetric {
            units.factor();
            let size = vector::norm2(&q);
            z.clear();
            z.extend(q.iter().map(|q| -q));
            units.skyline.solve(&mut z);
            // what is left, and the share of it that another solution takes
            let (mut left, mut free) = (vec![0.0; z.len()], vec![0.0; z.len()]);
            units.velocities(next.v, members, &mut free);
            let mut residual = f64::INFINITY;
            for round in 0..3 {
                self.scratch.clear();
                self.scratch.extend_from_slice(next.v);
                units.push(&z, members, &mut self.scratch);
                units.velocities(&self.scratch, members, &mut left);
                for (row, left) in left.iter_mut().enumerate() {
                    *left = free[row] - *left - q[row];
                }
                residual = vector::norm2(&left) / (1.0 + size);
                if residual <= 1e-3 * self.tol || round == 2 {
                    break;
                }
                units.skyline.solve(&mut left);
                z.iter_mut().zip(&left).for_each(|(z, left)| *z += left);
            }
            let status = if residual <= self.tol { Status::Solved } else { Status::Stalled };
            Report { status, iterations: 1, residual, worst: 0, method: "factors" }
        } else {
            let problem = Problem::new(units.matrix(), q.clone(), &blocks)?;
            let mut w = vec![0.0; z.len()];
            self.workspace.solve(&problem, &mut z, &mut w)?
        };
        step.verify(report, |worst| {
            let unit = units.units.iter().find(|unit| unit.rows.contains(&worst));
            match unit.map(|unit| unit.what) {
                Some(What::Link(k)) => format!("`{}`", links.all[k].name),
                Some(What::Contact(place)) => touching.owner(place),
                None => format!("component {worst}"),
            }
        })?;

        // v⁺
        units.push(&z, members, next.v);
        for unit in &units.units {
            match unit.what {
                What::Link(k) => {
                    next.lam[links.all[k].rows.clone()].copy_from_slice(&z[unit.rows.clone()])
                }
                What::Contact(place) => {
                    let own = &mut touching.z[place * stride..][..unit.rows.len()];
                    own.copy_from_slice(&z[unit.rows.clone()]);
                }
            }
        }
        for &k in islands.systems(island) {
            let k = k as usize;
            self.after[k] = members.twist(k, now.q, next.v);
            self.moves[k] = theta;
        }
        let overlaps = range.clone().any(|place| {
            -self.touching.states[place].gap > overlap::LEFT * self.touching.extent(place)
        });
        if overlaps {
            self.move_apart(range, h, theta);
        }
        Ok(report)
    }

    /// Puts positions back onto their constraints.
    pub(super) fn hold(&mut self, step: Step) -> Result<(), SimError> {
        let Crowd { units, links, members, linked, next, .. } = self;
        let next = next.mechanical();
        for (island, own) in linked.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
            let mut before = f64::INFINITY;
            for _ in 0..HOLD {
                units.clear();
                let (mut most, mut size) = (0.0_f64, 0.0_f64);
                self.scratch.clear();
                for &k in own {
                    let link = &mut links.all[k];
                    if !link.is_rigid {
                        continue;
                    }
                    link.evaluate(step.end, next.q, members)?;
                    units.add_link(k, link, members);
                    self.scratch.extend(link.y.iter().map(|y| -y));
                    most = link.y.iter().fold(most, |most, y| most.max(y.abs()));
                    for &k in &link.members {
                        let center = members.all[k].center(next.q);
                        size = center.iter().fold(size, |most, x| most.max(x.abs()));
                    }
                }
                // as close as round-off lets it come
                if units.size == 0 || most <= HELD * (1.0 + size) || most > 0.5 * before {
                    break;
                }
                before = most;
                units.finish();
                units.factor();
                units.skyline.solve(&mut self.scratch);
                let mut way = vec![0.0; next.v.len()];
                units.push(&self.scratch, members, &mut way);
                links.q_mid.copy_from_slice(next.q);
                for &k in own {
                    for &system in &links.all[k].members {
                        members.move_by(system, &links.q_mid, &way, next.q);
                    }
                }
            }
            if !self.symmetric[island] {
                continue;
            }
            // what the mean velocity leaves in that at the end
            units.finish();
            units.factor();
            self.scratch.clear();
            self.scratch.resize(units.size, 0.0);
            units.velocities(next.v, members, &mut self.scratch);
            for unit in &units.units {
                if let What::Link(k) = unit.what {
                    for (row, rate) in unit.rows.clone().zip(&links.all[k].rate) {
                        self.scratch[row] = -(self.scratch[row] + rate);
                    }
                }
            }
            units.skyline.solve(&mut self.scratch);
            units.push(&self.scratch, members, next.v);
            for unit in &units.units {
                if let What::Link(k) = unit.what {
                    let lam = &mut next.lam[links.all[k].rows.clone()];
                    for (lam, more) in lam.iter_mut().zip(&self.scratch[unit.rows.clone()]) {
                        *lam += more;
                    }
                }
            }
        }
        Ok(())
    }
}
