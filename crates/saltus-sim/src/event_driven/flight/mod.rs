//! Many bodies under constant forces: an event concerns those that it moves, and no others.
//!
//! Between events every degree of freedom has its own parabola, from the instant at which its body
//! was moved last,
//!
//! ```text
//! q(t) = q + v s + ½ a s²,    s = t − since                                           (1)
//! ```
//!
//! and so has every gap. Bodies that closed contacts hold together are one group (`group`). The
//! calendar has the instant at which each gap closes; the first is next. What follows (`collide`)
//! is found from the groups that meet there, and only their gaps get new instants. So an event costs
//! as much as the bodies that it moves, not as the model.

mod calendar;
mod collide;
mod group;

use super::collocation::Tolerance;
use super::mode::{Branch, Mode};
use calendar::Calendar;
pub(super) use collide::{Hit, Met};
use group::Group;
use saltus_linalg::{DenseLu, Matrix, vector};
use saltus_model::{At, Coefficient, Dependence, Law, Model, System};
use std::ops::Range;

/// Systems from which on it is worth while to look at a few of them alone.
const MANY: usize = 8;
/// Share of the tolerance by which a gap must dip below zero.
const DEPTH: f64 = 1e-3;
/// Share of the tolerance by which a force that is none may move something.
const LIGHT: f64 = 1e-2;

/// Bodies on their parabolas.
#[derive(Debug)]
pub(super) struct Flight {
    bodies: Vec<Body>,
    contacts: Vec<Contact>, // by block of the mode
    free: Vec<f64>,         // M⁻¹ F
    force: Vec<f64>,
    body: Vec<usize>, // of each degree of freedom
    q: Vec<f64>,      // equation (1)
    v: Vec<f64>,
    a: Vec<f64>,
    lam: Vec<f64>,     // of each contact
    group: Vec<usize>, // of each body
    groups: Vec<Group>,
    calendar: Calendar,
    horizon: Horizon,
    scratch: Vec<f64>, // zeros
    /// Whether the state is here, not with the simulation.
    pub flying: bool,
}

#[derive(Debug)]
struct Body {
    dofs: Range<usize>,
    contacts: Vec<usize>,
    since: f64,
}

/// The normal of a contact: `y = H q + b`.
#[derive(Debug)]
pub(super) struct Contact {
    pub row: usize,
    pub H: Vec<(usize, f64)>,
    push: Vec<(usize, f64)>, // M⁻¹ Hᵀ
    give: f64,               // H M⁻¹ Hᵀ
    b: f64,
    e: Option<f64>, // nothing where more than the normal counts
    idle: bool,
    bodies: Vec<usize>,
    closed: bool,
}

/// Between which instants the bodies fly, and what is allowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Horizon {
    pub begin: f64,
    pub end: f64,
    pub tolerance: Tolerance,
}

impl Flight {
    /// Nothing where a model has few bodies, or forces that are not constant.
    pub fn new(model: &Model, mode: &Mode) -> Option<Flight> {
        if model.systems().len() < MANY {
            return None;
        }
        Flight::of(model, mode)
    }

    fn of(model: &Model, mode: &Mode) -> Option<Flight> {
        let (mut bodies, mut body) = (Vec::new(), Vec::new());
        let (mut free, mut force) = (Vec::new(), Vec::new());
        let mut masses: Vec<DenseLu> = Vec::new();
        for (k, (_, system)) in model.systems().enumerate() {
            let System::SecondOrder(system) = system else { return None };
            let of = system.dependence();
            if [of.mass, of.jacobian, of.forcing].iter().any(|&one| one != Dependence::Constant) {
                return None;
            }
            let dim = system.dim();
            let zeros = vec![0.0; dim];
            let at = At::new(model.t0(), &zeros, &zeros).with(system.z0());
            let (mut M, mut F, mut work) = (Matrix::default(), zeros.clone(), Vec::new());
            let (mut dq, mut dv) = (Matrix::default(), Matrix::default());
            system.mass_and_force(at, &mut M, &mut F, &mut work).ok()?;
            system.force_jacobians(at, &mut dq, &mut dv, &mut Matrix::default()).ok()?;
            if !(dq.is_zero() && dv.is_zero()) {
                return None;
            }
            let mut lu = DenseLu::default();
            lu.factor_with(dim, |i, j| M[(i, j)]).ok()?;
            force.extend_from_slice(&F);
            lu.solve(&mut F);
            let first = free.len();
            free.extend(F);
            body.extend(std::iter::repeat_n(k, dim));
            masses.push(lu);
            bodies.push(Body { dofs: first..first + dim, contacts: Vec::new(), since: 0.0 });
        }
        let mut contacts: Vec<Contact> = Vec::new();
        let mut rows = 0;
        for (_, interaction) in model.interactions() {
            let linear = interaction.relation.linear()?;
            let terms = interaction.relation.terms();
            let other = terms.time || terms.velocity || terms.feedback || terms.through;
            if linear.moves || linear.D.is_some() || other {
                return None;
            }
            let first = rows;
            rows += interaction.relation.size();
            let e = match &interaction.law {
                Law::NewtonImpact { e: Coefficient::Constant(e) } => Some(*e),
                _ => None,
            };
            let systems: Vec<usize> = interaction.systems.iter().map(|id| id.index()).collect();
            while let Some(block) = mode.blocks.get(contacts.len())
                && block.rows.end <= rows
            {
                let (k, row) = (contacts.len(), block.rows.start);
                let idle = mode.is_idle(k);
                if !(idle || mode.is_contact(k)) {
                    return None;
                }
                let (mut H, mut push, mut give) = (Vec::new(), Vec::new(), 0.0);
                let mut column = 0;
                for &system in &systems {
                    let dofs = bodies[system].dofs.clone();
                    let h = &linear.C.row(row - first)[column..column + dofs.len()];
                    column += dofs.len();
                    let mut moved = h.to_vec();
                    masses[system].solve(&mut moved);
                    give += vector::dot(h, &moved);
                    let nonzero = |(_, x): &(usize, f64)| *x != 0.0;
                    H.extend(dofs.clone().zip(h.iter().copied()).filter(nonzero));
                    push.extend(dofs.zip(moved).filter(nonzero));
                    bodies[system].contacts.push(k);
                }
                let b = linear.e.map_or(0.0, |e| e[row - first]);
                let bodies = systems.clone();
                let e = e.filter(|_| give > 0.0);
                contacts.push(Contact { row, H, push, give, b, e, idle, bodies, closed: false });
            }
        }
        let (n, m) = (free.len(), contacts.len());
        let tolerance = Tolerance { rtol: 0.0, atol: 0.0 };
        Some(Flight {
            group: vec![0; bodies.len()],
            groups: Vec::new(),
            bodies,
            contacts,
            free,
            force,
            body,
            q: vec![0.0; n],
            v: vec![0.0; n],
            a: vec![0.0; n],
            lam: vec![0.0; m],
            calendar: Calendar::default(),
            horizon: Horizon { begin: 0.0, end: 0.0, tolerance },
            scratch: vec![0.0; n],
            flying: false,
        })
    }

    /// Takes the state `X = (q, v)` over, in this mode; whether that is possible.
    pub fn begin(&mut self, t: f64, X: &[f64], mode: &Mode, horizon: Horizon) -> bool {
        self.horizon = horizon;
        let n = self.free.len();
        self.q.copy_from_slice(&X[..n]);
        self.v.copy_from_slice(&X[n..2 * n]);
        for (k, contact) in self.contacts.iter_mut().enumerate() {
            contact.closed = match mode.branches[k] {
                _ if contact.idle => false,
                Branch::Open => false,
                Branch::Closed if contact.e.is_some() => true,
                _ => return false,
            };
        }
        self.lam.fill(0.0);
        self.groups.clear();
        for (k, body) in self.bodies.iter_mut().enumerate() {
            body.since = t;
            self.group[k] = k;
            let mut boundary = body.contacts.clone();
            boundary.retain(|&c| !self.contacts[c].closed && !self.contacts[c].idle);
            self.groups.push(Group::of(k, boundary));
        }
        self.a.copy_from_slice(&self.free);
        if !self.gather(t) {
            return false;
        }
        self.calendar.clear(self.contacts.len());
        (0..self.contacts.len()).for_each(|c| self.plan(c, t));
        self.flying = true;
        true
    }

    /// Makes the groups of closed contacts.
    fn gather(&mut self, t: f64) -> bool {
        let mut parent: Vec<usize> = (0..self.bodies.len()).collect();
        let root = super::factor::root;
        let Tolerance { rtol, atol } = self.horizon.tolerance;
        for c in 0..self.contacts.len() {
            let contact = &self.contacts[c];
            if contact.closed {
                let [y, u, _] = self.gap(c, t);
                // what is held was projected before
                if !(y.abs() <= 10.0 * atol && u.abs() <= atol + rtol * self.speed(c, t)) {
                    return false;
                }
                if let [a, b] = contact.bodies[..] {
                    let (a, b) = (root(&mut parent, a), root(&mut parent, b));
                    parent[a.max(b)] = a.min(b);
                }
            }
        }
        let mut members: Vec<(usize, usize)> =
            (0..self.bodies.len()).map(|body| (root(&mut parent, body), body)).collect();
        members.sort_unstable();
        for group in members.chunk_by(|a, b| a.0 == b.0) {
            let bodies: Vec<usize> = group.iter().map(|member| member.1).collect();
            let all = bodies.iter().flat_map(|&body| self.bodies[body].contacts.iter().copied());
            let mut closed: Vec<usize> = all.filter(|&c| self.contacts[c].closed).collect();
            closed.sort_unstable();
            closed.dedup();
            if !closed.is_empty() {
                let horizon = self.horizon;
                if !self.join(&bodies, &closed, |contact| horizon.noise(t, contact)) {
                    return false;
                }
            }
        }
        true
    }

    /// The contact that closes first, and when.
    pub fn next(&self) -> (usize, f64) {
        self.calendar.first()
    }

    /// Writes state and forces at `t`.
    pub fn look(&self, t: f64, X: &mut [f64], lam: &mut [f64]) {
        let n = self.free.len();
        for dof in 0..n {
            (X[dof], X[n + dof]) = (self.place(dof, t), self.velocity(dof, t));
        }
        lam.fill(0.0);
        for (contact, &force) in self.contacts.iter().zip(&self.lam) {
            if contact.closed {
                lam[contact.row] = force;
            }
        }
    }

    /// The work of all forces since bodies were moved last.
    pub fn work(&self, t: f64) -> f64 {
        (0..self.bodies.len()).map(|body| self.work_on(body, t)).sum()
    }

    fn work_on(&self, body: usize, t: f64) -> f64 {
        let dofs = self.bodies[body].dofs.clone();
        dofs.map(|dof| self.force[dof] * (self.place(dof, t) - self.q[dof])).sum()
    }

    fn place(&self, dof: usize, t: f64) -> f64 {
        let s = t - self.bodies[self.body[dof]].since;
        self.q[dof] + s * (self.v[dof] + 0.5 * s * self.a[dof])
    }

    fn velocity(&self, dof: usize, t: f64) -> f64 {
        self.v[dof] + (t - self.bodies[self.body[dof]].since) * self.a[dof]
    }

    /// Gap, relative velocity and relative acceleration of a contact.
    pub fn gap(&self, c: usize, t: f64) -> [f64; 3] {
        let mut gap = [self.contacts[c].b, 0.0, 0.0];
        for &(dof, h) in &self.contacts[c].H {
            gap[0] += h * self.place(dof, t);
            gap[1] += h * self.velocity(dof, t);
            gap[2] += h * self.a[dof];
        }
        gap
    }

    /// The largest velocity of what meets at a contact.
    fn speed(&self, c: usize, t: f64) -> f64 {
        let speeds = self.contacts[c].H.iter().map(|&(dof, _)| self.velocity(dof, t).abs());
        speeds.fold(0.0, f64::max)
    }

    /// Visits the open contacts of the groups that meet at a contact.
    pub fn around(&self, c: usize, mut visit: impl FnMut(usize)) {
        for &body in &self.contacts[c].bodies {
            self.groups[self.group[body]].boundary.iter().for_each(|&other| visit(other));
        }
    }

    /// When the bodies of a contact were moved last.
    pub fn since(&self, c: usize) -> f64 {
        let bodies = self.contacts[c].bodies.iter();
        bodies.map(|&body| self.bodies[body].since).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Finds when a gap closes.
    fn plan(&mut self, c: usize, t: f64) {
        let contact = &self.contacts[c];
        let mut instant = f64::INFINITY;
        if !(contact.closed || contact.idle) {
            let far = contact.H.iter().fold(0.0_f64, |far, &(dof, _)| far.max(self.q[dof].abs()));
            let noise = (DEPTH * self.horizon.tolerance.atol).max(8.0 * f64::EPSILON * far);
            instant = t + closes(self.gap(c, t), noise, self.horizon.end - t);
        }
        self.calendar.set(c, instant);
    }
}

impl Horizon {
    /// Pull that would move the bodies of a contact by far less than the tolerance in all of the time.
    fn noise(&self, t: f64, contact: &Contact) -> f64 {
        let time = (self.end - t).max(t - self.begin);
        LIGHT * self.tolerance.atol / (contact.give * time * time)
    }
}

/// When `y + u s + ½ w s²` passes through zero downwards and comes below `−noise` before `end`.
fn closes([y, u, w]: [f64; 3], noise: f64, end: f64) -> f64 {
    let y = y.max(0.0); // a contact that has just opened
    let square = u * u - 2.0 * w * y;
    let s = if u < 0.0 || (u == 0.0 && y == 0.0 && w < 0.0) {
        if square < 0.0 {
            return f64::INFINITY;
        }
        if y == 0.0 { 0.0 } else { 2.0 * y / (square.sqrt() - u) }
    } else if w < 0.0 {
        (u + square.sqrt()) / -w
    } else {
        return f64::INFINITY;
    };
    // the lowest point after that
    let lowest = if w > 0.0 { end.min(-u / w) } else { end };
    let depth = y + lowest * (u + 0.5 * lowest * w);
    if s <= end && depth < -noise { s } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_close_where_their_parabolas_say() {
        let never = f64::INFINITY;
        let noise = 1e-14;
        for (gap, end, exact) in [
            ([1.0, 0.0, -2.0], 10.0, 1.0),
            ([1.0, -1.0, 0.0], 10.0, 1.0),
            ([1.0, -1.0, 0.0], 0.5, never),
            ([0.0, 1.0, -2.0], 10.0, 1.0),
            ([-1e-17, 1.0, -2.0], 10.0, 1.0),
            ([0.0, 1.0, 0.0], 10.0, never),
            ([1.0, -2.0, 2.0], 10.0, never), // it touches
            ([0.75, -2.0, 2.0], 10.0, 0.5),
            ([0.0, -1.0, 0.0], 10.0, 0.0),
            ([0.0, -1e-16, 0.0], 10.0, never), // along each other
            ([0.0, 0.0, 0.0], 10.0, never),
            ([0.0, 0.0, -1.0], 10.0, 0.0),
            ([0.0, 1.0, 2.0], 10.0, never),
        ] {
            let found = closes(gap, noise, end);
            assert!(found == exact || (found - exact).abs() < 1e-15, "{gap:?}: {found}");
        }
    }
}
