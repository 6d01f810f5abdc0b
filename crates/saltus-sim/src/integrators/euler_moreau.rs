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
//! once for each `h`; a step is then two products (see `joined`), the problem, and one more product.

use super::assembly::{Blocks, Places, Relations, factor, problem_matrix};
use super::joined::{Drive, Joined, Terms};
use super::laws::Laws;
use super::part::Part;
use super::row::Row;
use super::sources::Sources;
use super::{EulerMoreau, Step, zero_order_hold};
use crate::{Quantity, SimError};
use saltus_linalg::{DenseLu, LinearMap, Matrix, Sparse, left_null_projector, vector};
use saltus_model::{
    At, Dependence, FirstOrderSystem, Model, OperatorError, Order, System, SystemId,
};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Memory, Operator, Problem, Report, Solver};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The first-order systems of a model, advanced by a linear scheme.
#[derive(Debug)]
pub(crate) struct EulerMoreauPart {
    rule: Rule,
    places: Places,
    laws: Laws,
    systems: Vec<Member>,
    relations: Relations,
    sources: Sources,
    e_next: Vec<f64>,
    C: LinearMap,
    time_varying: bool,
    forced: bool, // some b depends on time
    operators: Option<Operators>,
    earlier: Vec<Operators>, // of other lengths, the last ones
    is_switched: bool,       // bounds are not those of the beginning
    composes: bool,          // a known mode becomes one map
    workspace: Workspace,
    now: Row,
    next: Row,
    z: Vec<f64>, // λ, and what the laws add
    w: Vec<f64>,
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

/// Which linear scheme.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    Theta(EulerMoreau),
    Hold,
}

/// What one system contributes to a step, with values now and next:
/// `x⁺ = W⁻¹ (state x + forcing b + input B λ)`.
pub(super) struct Weights {
    pub W: DenseLu,
    pub state: Matrix,
    pub forcing: [Matrix; 2],
    pub input: [Matrix; 2],
}

/// The matrices of a step of length `h`.
#[derive(Debug)]
struct Operators {
    h: f64,
    P: LinearMap,           // of x
    S_now: LinearMap,       // of b
    S_next: LinearMap,      // of b⁺
    G: LinearMap,           // of λ⁺
    G_now: LinearMap,       // of λ
    drift: Vec<f64>,        // what the constant forcings add
    joined: Option<Joined>, // (1) and `q` of (3), where they are small
    drive: Option<Drive>,   // (1) to (3) in a known mode, where the same matrices come back
    used: usize,            // steps that the matrices were used in
    problem: Problem,       // (3)
}

/// Lengths of steps whose matrices are kept besides, where there are few states and outputs.
const EARLIER: usize = 6;
const SMALL: usize = 100;
/// Steps with the same matrices after which modes are made one map.
const OFTEN: usize = 4;

impl EulerMoreau {
    /// Equations (1) and (2), weighted by (4), for one system.
    fn weights(
        &self,
        name: &str,
        h: f64,
        M: &Matrix,
        A_now: &Matrix,
        A_next: &Matrix,
    ) -> Result<Weights, SimError> {
        let n = M.rows();
        let projector = left_null_projector(M);
        // (4), and what is left to the whole, times h
        let weights = |share: f64| {
            let mut next = Matrix::identity(n);
            next.scale(share);
            if let Some(projector) = &projector {
                next.add_scaled(1.0 - share, projector);
            }
            let mut now = Matrix::identity(n);
            now.add_scaled(-1.0, &next);
            [now, next].map(|mut weight| {
                weight.scale(h);
                weight
            })
        };
        let (forcing, input) = (weights(self.theta), weights(self.gamma));
        let (mut W, mut state) = (M.clone(), M.clone());
        W.add_scaled(-1.0, &forcing[1].mul(A_next));
        state.add_scaled(1.0, &forcing[0].mul(A_now));
        Ok(Weights { W: factor(name, "M − hθA", h, &W)?, state, forcing, input })
    }
}

impl EulerMoreauPart {
    pub fn new(model: &Model, rule: Rule, solver: &Solver) -> Result<Self, SimError> {
        let places = Places::new(model, Order::First);
        let relations = Relations::new(model, &places);
        let sources = Sources::new(model, &places);
        let n = places.states;
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
        let state = Row::new(Order::First, places.sizes());
        let laws = Laws::new(model, &places);
        let unknowns = laws.unknowns();
        let mut part = EulerMoreauPart {
            rule,
            C: LinearMap::from_sparse(relations.C.clone()),
            forced: sources.drive_systems(),
            sources,
            e_next: relations.e.clone(),
            relations,
            time_varying,
            systems,
            operators: None,
            earlier: Vec::new(),
            is_switched: false,
            composes: false,
            workspace: Workspace::new(solver.clone())?,
            now: state.clone(),
            next: state,
            z: vec![0.0; unknowns],
            w: vec![0.0; unknowns],
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
    #[inline]
    fn prepare(&mut self, step: Step) -> Result<(), SimError> {
        match &self.operators {
            Some(operators) if operators.h == step.h && !self.time_varying => Ok(()),
            _ => self.make_matrices(step),
        }
    }

    /// The same, where they are not those of the step before.
    fn make_matrices(&mut self, step: Step) -> Result<(), SimError> {
        if self.take_earlier(step.h) {
            return Ok(());
        }
        let (n, m) = (self.places.states, self.places.outputs);
        let h = step.h;
        let (mut P, mut S_now, mut S_next) = <(Blocks, Blocks, Blocks)>::default();
        let (mut G, mut G_now) = <(Blocks, Blocks)>::default();
        let mut drift = vec![0.0; n];
        let (mut M, mut A, mut A_now) = <(Matrix, Matrix, Matrix)>::default();
        for member in &self.systems {
            let of_member = |error: OperatorError| error.of(&member.name);
            let range = &member.range;
            let x = &self.now.get(Quantity::X)[range.clone()];
            member.system.mass(At::time(step.end), &mut M).map_err(of_member)?;
            member.system.rhs_dx(At::new(step.end, x, &[]), &mut A).map_err(of_member)?;

            member.system.rhs_dx(At::new(step.start, x, &[]), &mut A_now).map_err(of_member)?;
            let Weights { mut W, state, forcing, input } = match &self.rule {
                Rule::Theta(settings) => settings.weights(&member.name, h, &M, &A_now, &A)?,
                Rule::Hold => zero_order_hold::weights(&member.name, h, &M, &A_now)?,
            };
            P.add(range, &W.solve_matrix(&state));
            if member.forced {
                S_now.add(range, &W.solve_matrix(&forcing[0]));
                S_next.add(range, &W.solve_matrix(&forcing[1]));
            } else {
                let (b, drift) = (&self.b_now[range.clone()], &mut drift[range.clone()]);
                forcing.iter().for_each(|weight| weight.apply_add(b, drift));
                W.solve(drift);
            }
            G.add_solution(range, &mut W, &input[1], &self.relations.B, 1.0);
            if !input[0].is_zero() {
                G_now.add_solution(range, &mut W, &input[0], &self.relations.B, 1.0);
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
        let [P, S_now, S_next] = [P, S_now, S_next].map(|map| map.sparse(n, n));
        let G_now = G_now.sparse(n, m);
        let joined = match self.time_varying {
            true => None,
            false => self.join([&P, &S_next, &S_now, &G_now], &drift),
        };
        let [P, S_now, S_next, G, G_now] = [P, S_now, S_next, G, G_now].map(LinearMap::from_sparse);
        let (drive, used) = (None, 0);
        self.operators =
            Some(Operators { h, P, S_now, S_next, G, G_now, drift, joined, drive, used, problem });
        Ok(())
    }

    /// The matrices of a step of another length, if they are there; else they may be made anew beside
    /// those that are.
    #[cold]
    fn take_earlier(&mut self, h: f64) -> bool {
        let large = self.places.states + self.places.outputs > SMALL;
        if self.time_varying || self.is_switched || large {
            return false;
        }
        if let Some(known) = self.earlier.iter().position(|one| one.h == h) {
            let known = self.earlier.remove(known);
            let before = self.operators.replace(known).filter(|one| one.drive.is_none());
            self.earlier.extend(before.map(|one| Operators { used: 0, ..one }));
            return true;
        }
        if let Some(operators) = self.operators.take_if(|one| one.drive.is_none()) {
            self.earlier.push(Operators { used: 0, ..operators });
            if self.earlier.len() > EARLIER {
                self.earlier.remove(0);
            }
        }
        false
    }

    /// (1) and `q` of (3) as one product, where they are small.
    fn join(&self, maps: [&Sparse; 4], drift: &[f64]) -> Option<Joined> {
        let mut varies = vec![false; drift.len()];
        for member in self.systems.iter().filter(|member| member.forced) {
            for (component, row) in member.range.clone().enumerate() {
                varies[row] = member.system.forcing_varies(component);
            }
        }
        // what does not vary is part of the drift
        let mut d = drift.to_vec();
        for map in &maps[1..3] {
            for (i, j, x) in map.iter().filter(|entry| !varies[entry.1]) {
                d[i] += x * self.b_now[j];
            }
        }
        let terms = Terms { maps, d: &d, C: &self.relations.C };
        Joined::new(&terms, |component| varies[component])
    }

    /// After a step that did not go on in the last mode: the mode that it has found.
    #[inline]
    fn keep_mode(&mut self) {
        let Some(operators) = &mut self.operators else { return };
        operators.used = operators.used.saturating_add(1);
        if operators.used == OFTEN {
            self.make_drive();
        }
        if let Some(Operators { drive: Some(drive), problem, .. }) = &mut self.operators {
            drive.follow(&self.workspace, problem);
        }
    }

    /// Makes modes one map, where all is small and laws add nothing.
    #[cold]
    fn make_drive(&mut self) {
        let is_plain = self.z.len() == self.places.outputs && !self.z.is_empty() && self.composes;
        let Some(operators) = &mut self.operators else { return };
        let Operators { joined, drive, G, problem, .. } = operators;
        let is_dense = problem.is_boxed() && matches!(problem.matrix(), Operator::Dense(_));
        if let Some(joined) = joined
            && is_plain
            && is_dense
        {
            *drive = Some(joined.drive(&self.relations.e, self.sources.moving_rows(), G));
        }
    }

    /// A state, or an output, that is no longer finite.
    fn lost(&self, model: &Model, time: f64) -> SimError {
        let x = self.next.get(Quantity::X);
        let lost = |member: &&Member| !vector::all_finite(&x[member.range.clone()]);
        if let Some(member) = self.systems.iter().find(lost) {
            return SimError::NotFinite { time, what: format!("the state of `{}`", member.name) };
        }
        let q = self.operators.as_ref().map_or(&[][..], |operators| operators.problem.q());
        let output = q.iter().position(|x| !x.is_finite()).unwrap_or(0);
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
        self.sources.forget();
        self.sources.fill(t0, &mut self.b_next, &mut self.e_next)?;
        self.b_now.copy_from_slice(&self.b_next);
        self.relations.e.copy_from_slice(&self.e_next);
        let now = self.now.first_order();
        for member in &self.systems {
            now.x[member.range.clone()].copy_from_slice(member.system.x0());
        }
        now.lam.fill(0.0);
        self.z.fill(0.0);
        self.workspace.forget();
        if let Some(operators) = &mut self.operators {
            (operators.used, operators.drive) = (0, None);
        }
        self.refresh();
        Ok(())
    }

    fn compose_modes(&mut self) {
        self.composes = true;
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, _: bool) -> Result<(), SimError> {
        forcing(&self.systems, last.end, &mut self.b_next)?;
        self.sources.forget();
        self.sources.fill(last.end, &mut self.b_next, &mut self.e_next)?;
        self.b_now.copy_from_slice(&self.b_next);
        self.relations.e.copy_from_slice(&self.e_next);
        self.composes =
            before.as_any().downcast_ref::<EulerMoreauPart>().is_some_and(|part| part.composes);
        let now = self.now.first_order();
        now.x.copy_from_slice(before.now().get(Quantity::X));
        now.lam.copy_from_slice(before.now().get(Quantity::Lam));
        self.laws.silence(now.lam);
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

    fn set_all(&mut self, _: &Model, [x, _]: [&[f64]; 2]) -> Result<(), SimError> {
        let now = self.now.first_order();
        now.x.copy_from_slice(x);
        now.lam.fill(0.0);
        self.refresh();
        Ok(())
    }

    #[inline]
    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        self.prepare(step)?;
        let Some(operators) = &mut self.operators else {
            return Ok(None);
        };
        let next = self.next.first_order();

        self.sources.fill(step.end, &mut self.b_next, &mut self.e_next)?;
        if let Operators { drive: Some(drive), problem, .. } = operators {
            let of = (&*problem, self.workspace.tol());
            let outside = [&self.b_next[..], &self.b_now, &self.e_next];
            let into = (&mut *next.lam, &mut *next.y, &mut *next.x);
            if let Some(report) = drive.again(of, &self.now.values, outside, into) {
                return Ok(Some(report));
            }
        }

        // (1), into x⁺, and q of (3)
        let now = self.now.first_order();
        let (m, e) = (next.lam.len(), &self.e_next);
        let values = [&*now.x, &self.b_next, &self.b_now, &*now.lam];
        let Operators { P, S_now, S_next, G_now, drift, joined, problem, .. } = &mut *operators;
        let posed = if let Some(joined) = joined {
            problem.update_q(|q| joined.apply(values, e, next.x, &mut q[..m]))
        } else {
            P.apply_plus(drift, now.x, next.x);
            if self.forced {
                S_now.apply_add(&self.b_now, next.x);
                S_next.apply_add(&self.b_next, next.x);
            }
            if !G_now.is_zero() {
                G_now.apply_add(now.lam, next.x);
            }
            problem.update_q(|q| self.C.apply_plus(e, next.x, &mut q[..m]))
        };
        if posed.is_err() {
            return Err(self.lost(model, step.end));
        }

        // (3)
        let mut report = None;
        if !self.z.is_empty() {
            next.lam.copy_from_slice(now.lam);
            let is_plain = self.z.len() == m; // laws add nothing
            let solved = if is_plain {
                self.workspace.solve(&operators.problem, next.lam, next.y)?
            } else {
                self.z[..m].copy_from_slice(next.lam);
                self.workspace.solve(&operators.problem, &mut self.z, &mut self.w)?
            };
            step.verify(solved, |index| self.places.owner_of(model, index))?;
            report = Some(solved);
            if !is_plain {
                next.lam.copy_from_slice(&self.z[..m]);
            }

            // (2)
            operators.G.apply_add(next.lam, next.x);
            if !is_plain {
                // y without what the laws add to it
                self.C.apply_plus(&self.e_next, next.x, next.y);
                self.relations.D.apply_add(next.lam, next.y);
            }
        }
        if !vector::all_finite(next.x) {
            return Err(self.lost(model, step.end));
        }
        self.keep_mode();
        Ok(report)
    }

    #[inline]
    fn commit(&mut self) {
        if self.sources.move_offsets() {
            std::mem::swap(&mut self.relations.e, &mut self.e_next);
        }
        std::mem::swap(&mut self.now.values, &mut self.next.values);
        if self.forced {
            std::mem::swap(&mut self.b_now, &mut self.b_next);
        }
    }

    fn set_switch(&mut self, rows: Range<usize>, closed: bool) {
        self.is_switched = true;
        self.earlier.clear();
        let problem = self.operators.as_mut().map(|operators| &mut operators.problem);
        self.laws.set_switch(rows, closed, problem);
    }

    fn is_quick(&self) -> bool {
        self.workspace.is_quick(self.z.len())
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        memory.numbers(&mut self.b_now);
        memory.numbers(&mut self.relations.e);
        // the matrices first: they follow from the length of the step, or are made in every step
        let mut h = self.operators.as_ref().map_or(f64::NAN, |operators| operators.h);
        memory.number(&mut h);
        if memory.is_read() {
            self.operators = self.operators.take().filter(|operators| operators.h == h);
            if h > 0.0 && !self.time_varying {
                self.prepare(Step { start: 0.0, end: 0.0, h })?;
            }
        }
        self.now.memory(memory);
        memory.numbers(&mut self.z);
        self.workspace.memory(memory, self.operators.as_ref().map(|now| &now.problem));
        // whether modes are one map
        let (mut used, mut is_driven) = match &self.operators {
            Some(operators) => (operators.used, operators.drive.is_some()),
            None => (0, false),
        };
        memory.count(&mut used);
        memory.flag(&mut is_driven);
        if memory.is_read() {
            self.sources.forget();
            if let Some(operators) = &mut self.operators {
                (operators.used, operators.drive) = (used, None);
            }
            if is_driven {
                self.make_drive();
            }
        }
        if is_driven
            && let Some(Operators { drive: Some(drive), problem, .. }) = &mut self.operators
        {
            drive.memory(memory, &mut self.workspace, problem);
        }
        Ok(())
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
