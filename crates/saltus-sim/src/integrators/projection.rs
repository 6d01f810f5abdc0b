//! Projection of positions on the constraints, in the metric of the mass matrix.
//!
//! A law on velocities lets gaps drift. After the step its position `q*` is moved to the nearest
//! one that obeys the constraints:
//!
//! ```text
//! M (q − q*) = H(q)ᵀ μ,    equalities: y(q) = 0,    contacts: 0 ≤ y(q) ⟂ μ ≥ 0           (1)
//! ```
//!
//! by Newton's method, with `M` at `q*`. Bodies are moved along ways, `q = q* ∘ exp(δ)` with `δ` in
//! place of `q − q*`. All contacts count, so that none is opened at the cost of
//! another; of a contact with friction only the normal does.
//! Velocities stay as they are.
//!
//! - *Direct*: once after the step.
//! - *Combined*: contacts act where the gap is closed; where (1) had to open others they are
//!   added, and the step is repeated until none is.
//! - *GGL*, after Gear, Gupta and Leimkuhler: `H`, `M` and `F` of the step itself are taken at the
//!   projected position, so velocities obey `H(q⁺) v⁺ = 0` there. The step is repeated with
//!   the move `q − q*` of (1) until that does not change.

use super::assembly::Places;
use super::balance::Members;
use super::laws::Laws;
use super::newton::{Link, Newton, Scheme, SystemBlock};
use super::{Form, NewtonMode, NewtonSettings};
use crate::SimError;
use saltus_linalg::{Matrix, vector};
use saltus_model::Model;
use saltus_numerics::{Memory, Solver};
use serde::{Deserialize, Serialize};

/// Tolerance of the problem of gaps beside that of velocities.
const CLOSER: f64 = 1e-4;
/// The least there is.
const LEAST: f64 = 1e-14;

/// How positions are kept on the constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Projection {
    /// Positions are projected after the step.
    Direct,
    /// The same, and contacts that the step closes are added to it until there are no more.
    Combined,
    /// Positions and velocities obey the constraints together, as Gear, Gupta and Leimkuhler do
    /// it.
    Ggl,
}

/// The projection at work.
#[derive(Debug)]
pub(super) struct Projector {
    choice: Projection,
    laws: Laws,
    newton: Newton,
    settings: NewtonSettings,
    passes: usize,
    q_free: Vec<f64>,  // q*
    xi_free: Vec<f64>, // its extents, which are q* itself where that is a vector
    xi: Vec<f64>,      // xi_free + δ
    shift: Vec<f64>,   // δ that the step counts on
    last: Vec<f64>,    // the one before
    mu: Vec<f64>,
}

impl Projector {
    /// What is carried from step to step.
    pub fn memory(&mut self, memory: &mut Memory) {
        self.newton.memory(memory);
    }

    /// Forgets it.
    pub fn forget(&mut self) {
        self.newton.forget();
    }

    pub fn new(
        model: &Model,
        places: &Places,
        choice: Projection,
        settings: NewtonSettings,
        solver: &Solver,
    ) -> Result<Projector, SimError> {
        // one iteration does not reach a curved constraint
        let settings = match settings.mode {
            NewtonMode::Linear => NewtonSettings { mode: NewtonMode::Full, ..settings },
            _ => settings,
        };
        let mut laws = Laws::of_gaps(model, places);
        // a gap that is left now is left for good, and only exact methods can do better at no cost
        let solver = &match solver {
            Solver::Auto(_) => solver.clone().with_tol((CLOSER * solver.tol()).max(LEAST)),
            _ => solver.clone(),
        };
        let mut newton =
            Newton::new(model, places, &mut laws, 1.0, (Form::Reduced, settings), solver)?;
        newton.strict = true;
        let zeros = |len| vec![0.0; len];
        let (n, m) = (places.states, places.outputs);
        Ok(Projector {
            choice,
            laws,
            newton,
            settings,
            passes: 0,
            q_free: zeros(places.positions),
            xi_free: zeros(n),
            xi: zeros(n),
            shift: zeros(n),
            last: zeros(n),
            mu: zeros(m),
        })
    }

    /// A step begins.
    pub fn begin(&mut self) {
        self.passes = 0;
        self.shift.fill(0.0);
    }

    /// Moves `q` by (1). Whether the step is to be repeated.
    pub fn project(
        &mut self,
        members: &mut Members,
        laws: &mut Laws,
        step: &mut Newton,
        q: &mut [f64],
        owner: impl Fn(usize) -> String,
    ) -> Result<bool, SimError> {
        let Projector { newton, mu, q_free, xi_free, xi, shift, last, .. } = self;
        let mut acts = false;
        for link in &mut newton.links {
            link.on = self.laws.acts(link.rows.clone());
            acts |= link.on;
        }
        for member in &members.systems {
            let (range, place) = (member.range.clone(), member.place.clone());
            for k in range.clone() {
                last[k] = -shift[k];
            }
            let (q, free) = (&q[place.clone()], &mut q_free[place]);
            member.system.displace(q, &last[range.clone()], free);
            member.system.extent(free, &mut xi_free[range.clone()]);
            for k in range {
                xi[k] = xi_free[k] + shift[k];
            }
        }
        mu.fill(0.0);
        if acts {
            let at = members.step;
            let mut onto = Onto { members, laws: &self.laws, q_free, xi_free, q };
            newton.solve(&mut onto, true, xi, mu, at, owner)?;
        }
        self.passes += 1;
        match self.choice {
            Projection::Direct => Ok(false),
            // contacts are added once each, so that this ends by itself
            Projection::Combined => Ok(self.grow(laws, step)),
            Projection::Ggl if acts => {
                let residual = self.settle(members);
                let NewtonSettings { tol, max_iter, .. } = self.settings;
                let again = residual > tol;
                if again && self.passes == max_iter {
                    let (time, iterations) = (members.step.end, self.passes);
                    return Err(SimError::Newton { time, iterations, residual, tol });
                }
                Ok(again)
            }
            Projection::Ggl => Ok(false),
        }
    }

    /// Adds the contacts that had to be opened. Whether there are any.
    fn grow(&self, laws: &mut Laws, step: &mut Newton) -> bool {
        let grown = laws.close(&self.mu, &mut step.problem);
        for link in &mut step.links {
            link.on = laws.is_on(link.rows.clone());
        }
        grown
    }

    /// Lets the step count on the move `δ`. How much that changes, relative to the position.
    fn settle(&mut self, members: &mut Members) -> f64 {
        let Projector { xi, xi_free, shift, last, .. } = self;
        let mut change = 0.0_f64;
        for i in 0..xi.len() {
            last[i] = shift[i];
            shift[i] = xi[i] - xi_free[i];
            change = change.max((shift[i] - last[i]).abs());
        }
        members.lead_on(shift, last);
        let scale = vector::norm_inf(xi) + vector::norm_inf(shift);
        if change > 0.0 { change / scale } else { 0.0 }
    }
}

/// Equation (1).
struct Onto<'a> {
    members: &'a mut Members,
    laws: &'a Laws,
    q_free: &'a [f64],
    xi_free: &'a [f64],
    q: &'a mut [f64],
}

impl Scheme for Onto<'_> {
    fn residual(
        &mut self,
        xi: &[f64],
        mu: &[f64],
        rho: &mut [f64],
        w: &mut [f64],
        links: &mut [Link],
    ) -> Result<f64, SimError> {
        let Members { systems, interactions, impulse, step, work, .. } = &mut *self.members;
        for member in systems.iter() {
            let (range, q) = (member.range.clone(), &mut self.q[member.place.clone()]);
            if !member.curved {
                q.copy_from_slice(&xi[range]);
                continue;
            }
            work.resize(work.len().max(range.len()), 0.0);
            let way = &mut work[..range.len()];
            for (way, k) in way.iter_mut().zip(range) {
                *way = xi[k] - self.xi_free[k];
            }
            member.system.displace(&self.q_free[member.place.clone()], way, q);
        }
        impulse.fill(0.0);
        for contact in interactions.iter_mut() {
            if !links[contact.links.start].on {
                continue;
            }
            contact.press(0.0, mu);
            contact.turn(step.end, self.q)?;
            contact.gap(step.end, w)?;
            let mut first = 0;
            for link in &mut links[contact.links.clone()] {
                let width = link.range.len();
                for (i, row) in link.rows.clone().enumerate() {
                    let acts = self.laws.acts(row..row + 1);
                    if !acts {
                        w[row] = 0.0;
                    }
                    let H = &contact.H.row(i)[first..first + width];
                    let impulse = &mut impulse[link.range.clone()];
                    for (j, &entry) in H.iter().enumerate() {
                        let entry = if acts { entry } else { 0.0 };
                        link.C[(i, j)] = entry;
                        link.Bt[(i, j)] = entry;
                        impulse[j] += entry * mu[row];
                    }
                }
                first += width;
            }
        }
        let mut error = 0.0_f64;
        for member in systems.iter() {
            let range = member.range.clone();
            let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
            for (i, row) in range.clone().enumerate() {
                let (mut moved, mut terms) = (0.0, impulse[row].abs());
                for (M, j) in member.M.row(i).iter().zip(range.clone()) {
                    moved += M * (xi[j] - self.xi_free[j]);
                    terms += (M * xi[j]).abs() + (M * self.xi_free[j]).abs();
                }
                rho[row] = moved - impulse[row];
                if rho[row].abs() > worst || rho[row].is_nan() {
                    worst = rho[row].abs();
                }
                scale = scale.max(terms);
            }
            if worst.is_nan() {
                return Ok(f64::NAN);
            }
            if worst > 0.0 {
                error = error.max(worst / scale);
            }
        }
        Ok(error)
    }

    /// `W = M`: what the turning of `H` adds is of the order of `μ`.
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
