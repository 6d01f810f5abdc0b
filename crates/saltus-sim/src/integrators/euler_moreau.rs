//! The θ–γ scheme of Euler and Moreau for first-order systems.
//!
//! ```text
//! M (x⁺ − x) = h (θ f⁺ + (1 − θ) f) + h (γ r⁺ + (1 − γ) r)
//! y⁺ = C x⁺ + D λ⁺ + e,    r⁺ = B λ⁺,    (y⁺, λ⁺) obeys the law
//! ```
//!
//! For `f = A x + b`, with `W = M − h θ A⁺`:
//!
//! ```text
//! x_free = W⁻¹ [(M + h (1 − θ) A) x + h b_θ + h (1 − γ) B λ]                          (1)
//! x⁺ = x_free + G λ⁺,    G = h γ W⁻¹ B                                               (2)
//! y⁺ = (D + C G) λ⁺ + C x_free + e                                                   (3)
//! ```
//!
//! Where `M` is singular, its algebraic equations are taken at the end of the step, with
//! weights θ and γ of 1: with less, a violation would not die out but change its sign in every
//! step. The weights are then matrices, with a projector `Π` that takes away all that `M`
//! reaches (`Π M = 0`):
//!
//! ```text
//! Θ = θ I + (1 − θ) Π,    Γ = γ I + (1 − γ) Π                                        (4)
//! ```
//!
//! (3) with the law is the problem of the step. What does not change with time is computed
//! once for each `h`; a step is then two products, the problem, and one more product.

use super::assembly::{
    Blocks, Places, Relations, factor, problem_matrix, refuse_above, relay_bounds,
};
use super::{EulerMoreau, Step};
use crate::{Quantity, SimError};
use saltus_linalg::{LinearMap, Matrix, left_null_projector, vector};
use saltus_model::{
    Dependence, FirstOrderSystem, Law, Model, OperatorError, Order, System, SystemId,
};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Block, Operator, Problem, Report, Set, Solver};
use std::ops::Range;
use std::sync::Arc;

/// The first-order systems of a model, advanced by Euler–Moreau.
#[derive(Debug)]
pub(crate) struct EulerMoreauPart {
    settings: EulerMoreau,
    pub places: Places,
    systems: Vec<Member>,
    relations: Relations,
    C: LinearMap,
    time_varying: bool,
    forced: bool, // some b depends on time
    operators: Option<Operators>,
    workspace: Workspace,
    pub now: State,
    next: State,
    q: Vec<f64>,
    b_now: Vec<f64>,
    b_next: Vec<f64>,
}

#[derive(Debug)]
struct Member {
    name: String,
    system: Arc<dyn FirstOrderSystem>,
    range: Range<usize>,
    forced: bool, // b depends on time
}

/// What the simulation knows at one instant, in one piece, so that recording it is one copy:
/// `x, y, λ`.
#[derive(Debug, Clone)]
pub(crate) struct State {
    n: usize,
    m: usize,
    pub row: Vec<f64>,
}

/// The parts of a [`State`], to be changed.
struct Fields<'a> {
    x: &'a mut [f64],
    y: &'a mut [f64],
    lam: &'a mut [f64],
}

impl State {
    fn new(n: usize, m: usize) -> State {
        State { n, m, row: vec![0.0; width(n, m)] }
    }

    pub fn get(&self, quantity: Quantity) -> &[f64] {
        &self.row[columns(self.n, self.m, quantity)]
    }

    #[inline]
    fn fields(&mut self) -> Fields<'_> {
        let (x, rest) = self.row.split_at_mut(self.n);
        let (y, lam) = rest.split_at_mut(self.m);
        Fields { x, y, lam }
    }
}

/// Where each quantity stands in the row of a [`State`].
pub(crate) fn columns(n: usize, m: usize, quantity: Quantity) -> Range<usize> {
    match quantity {
        Quantity::X => 0..n,
        Quantity::Y => n..n + m,
        Quantity::Lam => n + m..n + 2 * m,
        Quantity::Q | Quantity::V | Quantity::U => 0..0,
    }
}

/// Columns of the row of a [`State`].
pub(crate) fn width(n: usize, m: usize) -> usize {
    n + 2 * m
}

/// The matrices of a step of length `h`.
#[derive(Debug)]
struct Operators {
    h: f64,
    P: LinearMap,      // W⁻¹ (M + h (I − Θ) A)
    S_now: LinearMap,  // h W⁻¹ (I − Θ)
    S_next: LinearMap, // h W⁻¹ Θ
    G: LinearMap,      // h W⁻¹ Γ B
    G_now: LinearMap,  // h W⁻¹ (I − Γ) B
    drift: Vec<f64>,   // h W⁻¹ b_θ of the constant forcings
    problem: Problem,  // (3)
}

impl EulerMoreauPart {
    pub fn new(model: &Model, settings: EulerMoreau, solver: &Solver) -> Result<Self, SimError> {
        let places = Places::new(model, Order::First);
        let relations = Relations::new(model, &places);
        let (n, m) = (places.states, places.outputs);
        let mut systems = Vec::new();
        let mut time_varying = false;
        for (_, name, system, range) in places.systems_of(model) {
            if let System::FirstOrder(system) = system {
                let depends = system.dependence();
                for (what, on) in [
                    ("M", depends.mass),
                    ("the Jacobian of f", depends.jacobian),
                    ("b", depends.forcing),
                ] {
                    refuse_above(Dependence::Time, "EulerMoreau", name, what, on)?;
                }
                time_varying |= depends.jacobian.max(depends.mass) > Dependence::Constant;
                let forced = depends.forcing > Dependence::Constant;
                let (name, system) = (name.to_string(), Arc::clone(system));
                systems.push(Member { name, system, range, forced });
            }
        }
        let state = State::new(n, m);
        let mut part = EulerMoreauPart {
            settings,
            C: LinearMap::from_sparse(relations.C.clone()),
            relations,
            time_varying,
            forced: systems.iter().any(|member| member.forced),
            systems,
            operators: None,
            workspace: Workspace::new(solver.clone())?,
            now: state.clone(),
            next: state,
            q: vec![0.0; m],
            b_now: vec![0.0; n],
            b_next: vec![0.0; n],
            places,
        };
        part.reset(model.t0())?;
        Ok(part)
    }

    /// Back to the initial state.
    pub fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        // the forcing first: it may fail, and then nothing has changed
        forcing(&self.systems, t0, &mut self.b_next)?;
        self.b_now.copy_from_slice(&self.b_next);
        let now = self.now.fields();
        for member in &self.systems {
            now.x[member.range.clone()].copy_from_slice(member.system.x0());
        }
        now.lam.fill(0.0);
        self.workspace.forget();
        self.refresh();
        Ok(())
    }

    /// Replaces the state of one system.
    pub fn set(&mut self, model: &Model, id: SystemId, range: Range<usize>, x: &[f64]) {
        let now = self.now.fields();
        now.x[range].copy_from_slice(x);
        self.places.outputs_of(model, id).for_each(|range| now.lam[range].fill(0.0));
        self.refresh();
    }

    /// What follows from the state: `y`.
    fn refresh(&mut self) {
        let now = self.now.fields();
        self.C.apply_plus(&self.relations.e, now.x, now.y);
        self.relations.D.apply_add(now.lam, now.y);
    }

    /// Computes the next state; nothing changes before [`commit`](Self::commit).
    #[inline]
    pub fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        self.prepare(model, step)?;
        let Some(operators) = &mut self.operators else {
            return Ok(None);
        };
        let (now, next) = (self.now.fields(), self.next.fields());

        // (1), into x⁺
        operators.P.apply_plus(&operators.drift, now.x, next.x);
        if self.forced {
            forcing(&self.systems, step.end, &mut self.b_next)?;
            operators.S_now.apply_add(&self.b_now, next.x);
            operators.S_next.apply_add(&self.b_next, next.x);
        }
        if !operators.G_now.is_zero() {
            operators.G_now.apply_add(now.lam, next.x);
        }

        // (3)
        let mut report = None;
        if !self.q.is_empty() {
            self.C.apply_plus(&self.relations.e, next.x, &mut self.q);
            next.lam.copy_from_slice(now.lam);
            if operators.problem.set_q(&self.q).is_err() {
                return Err(self.lost(model, step.end));
            }
            let solved = self.workspace.solve(&operators.problem, next.lam, next.y)?;
            step.verify(solved, |index| self.places.owner_of(model, index))?;
            report = Some(solved);

            // (2)
            operators.G.apply_add(next.lam, next.x);
        }
        if !vector::all_finite(next.x) {
            return Err(self.lost(model, step.end));
        }
        Ok(report)
    }

    /// Takes over the state that [`advance`](Self::advance) computed.
    #[inline]
    pub fn commit(&mut self) {
        std::mem::swap(&mut self.now.row, &mut self.next.row);
        if self.forced {
            std::mem::swap(&mut self.b_now, &mut self.b_next);
        }
    }

    /// The matrices of this step.
    fn prepare(&mut self, model: &Model, step: Step) -> Result<(), SimError> {
        if let Some(operators) = &self.operators
            && operators.h == step.h
            && !self.time_varying
        {
            return Ok(());
        }
        let (n, m) = (self.places.states, self.places.outputs);
        let EulerMoreau { theta, gamma } = self.settings;
        let h = step.h;
        let (mut P, mut S_now, mut S_next) = <(Blocks, Blocks, Blocks)>::default();
        let (mut G, mut G_now) = <(Blocks, Blocks)>::default();
        let mut drift = vec![0.0; n];
        let (mut M, mut A) = (Matrix::default(), Matrix::default());
        for member in &self.systems {
            let of_member = |error: OperatorError| error.of(&member.name);
            let range = &member.range;
            let x = &self.now.get(Quantity::X)[range.clone()];
            member.system.mass(step.end, &mut M).map_err(of_member)?;
            member.system.rhs_dx(step.end, x, &mut A).map_err(of_member)?;

            // (4)
            let projector = left_null_projector(&M);
            let weight = |share: f64| {
                let mut weight = Matrix::identity(x.len());
                weight.scale(share);
                if let Some(projector) = &projector {
                    weight.add_scaled(1.0 - share, projector);
                }
                weight
            };
            let rest = |weight: &Matrix| {
                let mut rest = Matrix::identity(x.len());
                rest.add_scaled(-1.0, weight);
                rest
            };
            let (Theta, Gamma) = (weight(theta), weight(gamma));

            // W = M − h Θ A⁺
            let mut W = M.clone();
            W.add_scaled(-h, &Theta.mul(&A));
            let mut W = factor(&member.name, "M − hθA", h, &W)?;
            // M + h (I − Θ) A
            if self.time_varying {
                member.system.rhs_dx(step.start, x, &mut A).map_err(of_member)?;
            }
            M.add_scaled(h, &rest(&Theta).mul(&A));
            P.add(range, &W.solve_matrix(&M));
            if member.forced {
                for (blocks, weight) in [(&mut S_now, &rest(&Theta)), (&mut S_next, &Theta)] {
                    let mut block = W.solve_matrix(weight);
                    block.scale(h);
                    blocks.add(range, &block);
                }
            } else {
                let drift = &mut drift[range.clone()];
                drift.copy_from_slice(&self.b_now[range.clone()]);
                W.solve(drift);
                drift.iter_mut().for_each(|x| *x *= h);
            }
            G.add_solution(range, &mut W, &Gamma, &self.relations.B, h);
            if gamma < 1.0 {
                G_now.add_solution(range, &mut W, &rest(&Gamma), &self.relations.B, h);
            }
        }
        let G = G.sparse(n, m);
        let matrix = problem_matrix(&self.relations.D, &self.relations.C, &G);
        let problem = match self.operators.take() {
            Some(mut old) => {
                old.problem.set_matrix(matrix)?;
                old.problem
            }
            None => self.problem(model, matrix)?,
        };
        let (P, S_now, S_next) = (P.map(n), S_now.map(n), S_next.map(n));
        let (G, G_now) = (LinearMap::from_sparse(G), LinearMap::from_sparse(G_now.sparse(n, m)));
        self.operators = Some(Operators { h, P, S_now, S_next, G, G_now, drift, problem });
        Ok(())
    }

    /// The problem (3) with the sets of the laws.
    fn problem(&self, model: &Model, matrix: Operator) -> Result<Problem, SimError> {
        let mut blocks = Vec::new();
        for (_, interaction, range) in self.places.interactions_of(model) {
            for i in 0..range.len() {
                let set = match &interaction.law {
                    Law::Equality => Set::Free,
                    law => match relay_bounds(law, i) {
                        Some((lower, upper)) => Set::Interval { lower, upper },
                        None => Set::Nonnegative,
                    },
                };
                blocks.push(Block { size: 1, set });
            }
        }
        Ok(Problem::new(matrix, vec![0.0; blocks.len()], &blocks)?)
    }

    /// A state, or an output, that is no longer finite.
    fn lost(&self, model: &Model, time: f64) -> SimError {
        let x = self.next.get(Quantity::X);
        let lost = |member: &&Member| !vector::all_finite(&x[member.range.clone()]);
        if let Some(member) = self.systems.iter().find(lost) {
            return SimError::NotFinite { time, what: format!("the state of `{}`", member.name) };
        }
        let output = self.q.iter().position(|x| !x.is_finite()).unwrap_or(0);
        let owner = self.places.owner_of(model, output);
        SimError::NotFinite { time, what: format!("the output of {owner}") }
    }
}

/// `b(t)` of all systems: `f(t, 0)`.
fn forcing(systems: &[Member], t: f64, b: &mut [f64]) -> Result<(), SimError> {
    for member in systems {
        let b = &mut b[member.range.clone()];
        member.system.forcing(t, b).map_err(|error| error.of(&member.name))?;
    }
    Ok(())
}
