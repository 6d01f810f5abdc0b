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

use super::assembly::{Blocks, Places, Relations, factor, problem_matrix};
use super::laws::Laws;
use super::part::Part;
use super::row::Row;
use super::{EulerMoreau, Step};
use crate::{Quantity, SimError};
use saltus_linalg::{LinearMap, Matrix, left_null_projector, vector};
use saltus_model::{
    At, Dependence, FirstOrderSystem, Model, OperatorError, Order, System, SystemId,
};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Problem, Report, Solver};
use std::ops::Range;
use std::sync::Arc;

/// The first-order systems of a model, advanced by Euler–Moreau.
#[derive(Debug)]
pub(crate) struct EulerMoreauPart {
    settings: EulerMoreau,
    places: Places,
    laws: Laws,
    systems: Vec<Member>,
    relations: Relations,
    C: LinearMap,
    time_varying: bool,
    forced: bool, // some b depends on time
    operators: Option<Operators>,
    workspace: Workspace,
    now: Row,
    next: Row,
    z: Vec<f64>, // λ, and what the laws add
    w: Vec<f64>,
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
                time_varying |= depends.jacobian.max(depends.mass) > Dependence::Constant;
                let forced = depends.forcing > Dependence::Constant;
                let (name, system) = (name.to_string(), Arc::clone(system));
                systems.push(Member { name, system, range, forced });
            }
        }
        let state = Row::new(Order::First, n, m);
        let laws = Laws::new(model, &places, 1.0);
        let unknowns = laws.unknowns();
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
            z: vec![0.0; unknowns],
            w: vec![0.0; unknowns],
            q: vec![0.0; unknowns],
            laws,
            b_now: vec![0.0; n],
            b_next: vec![0.0; n],
            places,
        };
        part.reset(model.t0())?;
        Ok(part)
    }

    /// What follows from the state: `y`.
    fn refresh(&mut self) {
        let now = self.now.first_order();
        self.C.apply_plus(&self.relations.e, now.x, now.y);
        self.relations.D.apply_add(now.lam, now.y);
    }

    /// The matrices of this step.
    fn prepare(&mut self, step: Step) -> Result<(), SimError> {
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
            member.system.mass(At::time(step.end), &mut M).map_err(of_member)?;
            member.system.rhs_dx(At::new(step.end, x, &[]), &mut A).map_err(of_member)?;

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
                member.system.rhs_dx(At::new(step.start, x, &[]), &mut A).map_err(of_member)?;
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
                old.problem.set_matrix(self.laws.with_extra(matrix))?;
                old.problem
            }
            None => self.laws.problem(matrix, 1.0)?,
        };
        let (P, S_now, S_next) = (P.map(n), S_now.map(n), S_next.map(n));
        let (G, G_now) = (LinearMap::from_sparse(G), LinearMap::from_sparse(G_now.sparse(n, m)));
        self.q.copy_from_slice(problem.q());
        self.operators = Some(Operators { h, P, S_now, S_next, G, G_now, drift, problem });
        Ok(())
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

impl Part for EulerMoreauPart {
    fn places(&self) -> &Places {
        &self.places
    }

    fn now(&self) -> &Row {
        &self.now
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        // the forcing first: it may fail, and then nothing has changed
        forcing(&self.systems, t0, &mut self.b_next)?;
        self.b_now.copy_from_slice(&self.b_next);
        let now = self.now.first_order();
        for member in &self.systems {
            now.x[member.range.clone()].copy_from_slice(member.system.x0());
        }
        now.lam.fill(0.0);
        self.workspace.forget();
        self.refresh();
        Ok(())
    }

    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        range: Range<usize>,
        [x, _]: [Option<&[f64]>; 2],
    ) -> Result<(), SimError> {
        let now = self.now.first_order();
        if let Some(x) = x {
            now.x[range].copy_from_slice(x);
        }
        self.places.outputs_of(model, id).for_each(|range| now.lam[range].fill(0.0));
        self.refresh();
        Ok(())
    }

    #[inline]
    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        self.prepare(step)?;
        let Some(operators) = &mut self.operators else {
            return Ok(None);
        };
        let (now, next) = (self.now.first_order(), self.next.first_order());

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
            let m = next.lam.len();
            self.C.apply_plus(&self.relations.e, next.x, &mut self.q[..m]);
            self.z[..m].copy_from_slice(now.lam);
            if operators.problem.set_q(&self.q).is_err() {
                return Err(self.lost(model, step.end));
            }
            let solved = self.workspace.solve(&operators.problem, &mut self.z, &mut self.w)?;
            step.verify(solved, |index| self.places.owner_of(model, index))?;
            report = Some(solved);
            next.lam.copy_from_slice(&self.z[..m]);
            next.y.copy_from_slice(&self.w[..m]);

            // (2)
            operators.G.apply_add(next.lam, next.x);
        }
        if !vector::all_finite(next.x) {
            return Err(self.lost(model, step.end));
        }
        Ok(report)
    }

    #[inline]
    fn commit(&mut self) {
        std::mem::swap(&mut self.now.values, &mut self.next.values);
        if self.forced {
            std::mem::swap(&mut self.b_now, &mut self.b_next);
        }
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
