//! The θ-scheme of Moreau and Jean for mechanical systems with impacts.
//!
//! ```text
//! M (v⁺ − v) = h F_θ + Hᵀ λ            momentum balance over the step
//! u⁺ = H v⁺                            relative velocities
//! 0 ≤ u⁺ + e u ⟂ λ ≥ 0                 in contacts with y + γ h u ≤ threshold, else λ = 0
//! q⁺ = q + h (θ v⁺ + (1 − θ) v)        positions                                      (1)
//! ```
//!
//! For `F = F_ext − C v − K q`, with `W = M + h θ C + h² θ² K`:
//!
//! ```text
//! v_free = v − W⁻¹ [(h C + h² θ K) v + h K q − h F_ext,θ]                              (2)
//! v⁺ = v_free + G λ,    G = W⁻¹ Hᵀ                                                    (3)
//! u⁺ + e u = H G λ + H v_free + e u                                                   (4)
//! ```
//!
//! A contact that carried an impulse in the last step stays active unless it opens by more
//! than round-off, which is measured by what that impulse moves in a step: `RESTING h Wᵢᵢ λᵢ`
//! is added to the threshold. So a body at rest stays at rest.
//!
//! (4) with the laws is the problem of the step. A contact that is not active keeps its place
//! in it with `λ` fixed at zero, so that the matrix stays the same whatever is in contact.
//!
//! The ledger multiplies the balance by the mean velocity `v̄ = (v + v⁺)/2`:
//!
//! ```text
//! ½ v⁺ᵀ M v⁺ − ½ vᵀ M v = h v̄ᵀ F_ext,θ − h v̄ᵀ C v_θ − h v̄ᵀ K q_θ + ½ (u + u⁺)ᵀ λ       (5)
//! ```

use super::Step;
use super::assembly::{Blocks, Places, Relations, factor, problem_matrix};
use super::bilbao::Modes;
use super::free_motion::FreeMotion;
use super::laws::Laws;
use super::mechanics::Activation;
use super::part::Part;
use super::row::Row;
use crate::{Ledger, Quantity, SimError};
use saltus_linalg::{LinearMap, Matrix, Sparse};
use saltus_model::{At, Dependence, Model, Order, SecondOrderSystem, System, SystemId};
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Memory, Problem, Report, Solver};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The mechanical systems of a model, advanced by a linear scheme.
#[derive(Debug)]
pub(crate) struct MoreauJeanPart {
    rule: Rule,
    activation: Activation,
    force_theta: f64,    // weight of the step's end in the forces
    position_theta: f64, // and in the positions
    fresh: bool,         // no step has been done yet
    places: Places,
    systems: Vec<Member>,
    relations: Relations,
    laws: Laws,
    H: LinearMap,
    M: LinearMap,
    C: LinearMap,
    K: LinearMap,
    forced: bool,          // some F_ext depends on time
    frictional: Vec<bool>, // rows whose energy is taken by friction
    operators: Option<Operators>,
    workspace: Workspace,
    now: Row,
    next: Row,
    energy0: f64, // when the ledger began
    z: Vec<f64>,  // λ, and what the laws add
    q_problem: Vec<f64>,
    w: Vec<f64>,
    F_now: Vec<f64>,
    F_next: Vec<f64>,
    F_theta: Vec<f64>,
    v_theta: Vec<f64>,
    work: Vec<f64>,
    scratch: Vec<f64>,
}

#[derive(Debug)]
struct Member {
    name: String,
    system: Arc<dyn SecondOrderSystem>,
    range: Range<usize>,
}

/// Which linear scheme.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// Moreau and Jean with θ.
    Theta(f64),
    /// Modes after Bilbao.
    Modes,
}

/// Share of the way that the last impulse moves a contact in a step, below which a gap is
/// round-off.
pub(super) const RESTING: f64 = 1e-9;

/// The matrices of a step of length `h`.
#[derive(Debug)]
struct Operators {
    h: f64,
    free: FreeMotion, // (2)
    G: LinearMap,     // W⁻¹ Hᵀ
    start: Start,
    reach: Vec<f64>,  // RESTING h Wᵢᵢ
    problem: Problem, // (4)
}

/// The free velocity of the first step of modes: `v_free = g v + G (F − K q)`, both diagonal.
#[derive(Debug, Default)]
struct Start {
    g: Vec<f64>,
    G: Vec<f64>,
}

impl MoreauJeanPart {
    pub fn new(
        model: &Model,
        rule: Rule,
        activation: Activation,
        solver: &Solver,
    ) -> Result<Self, SimError> {
        let (force_theta, position_theta) = match rule {
            Rule::Theta(theta) => (theta, theta),
            Rule::Modes => (0.0, 1.0),
        };
        let places = Places::new(model, Order::Second);
        let relations = Relations::new(model, &places);
        let n = places.states;
        let mut systems = Vec::new();
        let mut forced = false;
        let (mut M, mut C, mut K) = (Blocks::default(), Blocks::default(), Blocks::default());
        let (mut block, mut work) = (Matrix::default(), Matrix::default());
        for (_, name, system, range) in places.systems_of(model) {
            if let System::SecondOrder(system) = system {
                let depends = system.dependence();
                let at = At::new(model.t0(), system.q0(), system.v0());
                system.mass(at, &mut block)?;
                M.add(&range, &block);
                system.force_dv(at, &mut block, &mut work)?;
                block.scale(-1.0);
                C.add(&range, &block);
                system.force_dq(at, &mut block, &mut work)?;
                block.scale(-1.0);
                K.add(&range, &block);
                forced |= depends.forcing > Dependence::Constant;
                let (name, system) = (name.to_string(), Arc::clone(system));
                systems.push(Member { name, system, range });
            }
        }
        let state = Row::new(Order::Second, places.sizes());
        let laws = Laws::new(model, &places);
        let unknowns = laws.unknowns();
        let mut part = MoreauJeanPart {
            rule,
            activation,
            force_theta,
            position_theta,
            fresh: true,
            systems,
            H: LinearMap::from_sparse(relations.C.clone()),
            relations,
            M: M.map(n),
            C: C.map(n),
            K: K.map(n),
            forced,
            frictional: laws.frictional(),
            operators: None,
            workspace: Workspace::new(solver.clone())?,
            now: state.clone(),
            next: state,
            energy0: 0.0,
            z: vec![0.0; unknowns],
            q_problem: vec![0.0; unknowns],
            w: vec![0.0; unknowns],
            F_now: vec![0.0; n],
            F_next: vec![0.0; n],
            F_theta: vec![0.0; n],
            v_theta: vec![0.0; n],
            work: vec![0.0; n],
            scratch: Vec::new(),
            laws,
            places,
        };
        part.reset(model.t0())?;
        Ok(part)
    }

    /// What follows from the state: `y`, `u`, a new ledger.
    fn refresh(&mut self) {
        let now = self.now.mechanical();
        self.H.apply_plus(&self.relations.e, now.q, now.y);
        self.H.apply(now.v, now.u);
        let ledger = Ledger {
            kinetic: 0.5 * self.M.quadratic_form(now.v),
            potential: 0.5 * self.K.quadratic_form(now.q),
            ..Ledger::default()
        };
        now.ledger.copy_from_slice(&ledger.to_array());
        self.energy0 = ledger.kinetic + ledger.potential;
        self.fresh = true;
    }

    /// The matrices of this step.
    #[cold]
    fn prepare(&mut self, step: Step) -> Result<(), SimError> {
        let (h, m) = (step.h, self.places.outputs);
        let solved = match self.rule {
            Rule::Theta(theta) => self.solved(step, theta)?,
            Rule::Modes => None,
        };
        let (free, G, start) = match solved {
            Some((free, G)) => (free, G, Start::default()),
            None => self.kept(step)?,
        };
        let matrix = problem_matrix(&self.relations.D, &self.relations.C, &G);
        let reach = (0..m).map(|i| RESTING * h * matrix.get(i, i).abs()).collect();
        let problem = self.laws.problem(matrix, h)?;
        if m > 0 && self.operators.is_none() {
            // the solver takes its memory now, not at the first contact
            let _ = self.workspace.solve(&problem, &mut self.z, &mut self.w)?;
            self.workspace.forget();
            self.z.fill(0.0);
        }
        let G = LinearMap::from_sparse(G);
        self.q_problem.copy_from_slice(problem.q());
        // the mean velocity of a step of another length is taken for the velocity itself
        self.fresh |= self.operators.is_some();
        self.operators = Some(Operators { h, free, G, start, reach, problem });
        Ok(())
    }

    /// `M`, `−C` and `−K` of a system.
    fn matrices(&self, member: &Member, t: f64) -> Result<[Matrix; 3], SimError> {
        let q = &self.now.get(Quantity::Q)[member.range.clone()];
        let v = &self.now.get(Quantity::V)[member.range.clone()];
        let at = At::new(t, q, v);
        let (mut M, mut C, mut K) = <(Matrix, Matrix, Matrix)>::default();
        let mut work = Matrix::default();
        member.system.mass(at, &mut M)?;
        member.system.force_dv(at, &mut C, &mut work)?;
        member.system.force_dq(at, &mut K, &mut work)?;
        Ok([M, C, K])
    }

    /// (2) with factors of `W`, and `G`; nothing where that does not pay.
    fn solved(&self, step: Step, theta: f64) -> Result<Option<(FreeMotion, Sparse)>, SimError> {
        let (n, m, h) = (self.places.states, self.places.outputs, step.h);
        let (mut W, mut C, mut K) = (Blocks::default(), Blocks::default(), Blocks::default());
        let mut entries = 0; // of full matrices
        for member in &self.systems {
            let range = &member.range;
            let [mut of_W, mut of_C, mut of_K] = self.matrices(member, step.end)?;
            let used = 1 + usize::from(!of_K.is_zero()) + usize::from(self.forced);
            of_W.add_scaled(-h * theta, &of_C);
            of_W.add_scaled(-h * h * theta * theta, &of_K);
            of_C.scale(-1.0);
            of_K.scale(-1.0);
            let is_diagonal = [&of_W, &of_C, &of_K].iter().all(|matrix| matrix.is_diagonal());
            entries += used * if is_diagonal { range.len() } else { range.len().pow(2) };
            W.add(range, &of_W);
            C.add(range, &of_C);
            K.add(range, &of_K);
        }
        let (W, C, K) = (W.sparse(n, n), C.sparse(n, n), K.sparse(n, n));
        let free = FreeMotion::solved(&W, &C, &K, h, theta, entries);
        let Some((free, W)) = free else { return Ok(None) };

        // G = W⁻¹ Hᵀ, column by column
        let (mut G, inputs) = (Vec::new(), self.relations.B.transpose());
        let mut column = vec![0.0; n];
        for j in 0..m {
            column.fill(0.0);
            inputs.row(j).iter().for_each(|entry| column[entry.col] = entry.value);
            W.solve(&mut column);
            let rows = column.iter().enumerate().filter(|(_, x)| **x != 0.0);
            G.extend(rows.map(|(i, &x)| (i, j, x)));
        }
        Ok(Some((free, Sparse::from_triplets(n, m, &G))))
    }

    /// (2) with matrices that hold `W⁻¹`, and `G`.
    fn kept(&self, step: Step) -> Result<(FreeMotion, Sparse, Start), SimError> {
        let (n, m, h) = (self.places.states, self.places.outputs, step.h);
        let (mut Av, mut Aq) = (Blocks::default(), Blocks::default());
        let (mut S, mut G) = (Blocks::default(), Blocks::default());
        let mut start = Start::default();
        for member in &self.systems {
            let range = &member.range;
            let [mut W, mut C, mut K] = self.matrices(member, step.end)?;
            let mut W = match self.rule {
                Rule::Theta(theta) => {
                    W.add_scaled(-h * theta, &C);
                    W.add_scaled(-h * h * theta * theta, &K);
                    // −(h C + h² θ K)
                    C.scale(h);
                    C.add_scaled(h * h * theta, &K);
                    factor(&member.name, "M + hθC + h²θ²K", h, &W)?
                }
                Rule::Modes => {
                    K.scale(-1.0);
                    C.scale(-1.0);
                    let modes = Modes::new(&member.name, h, &W, &C, &K)?;
                    K.scale(-1.0);
                    C = modes.by_v;
                    start.g.extend(modes.start_v);
                    start.G.extend(modes.start_F);
                    modes.W
                }
            };
            K.scale(h); // −h K
            let mut block = W.solve_matrix(&C);
            block.add_scaled(1.0, &Matrix::identity(range.len()));
            Av.add(range, &block);
            Aq.add(range, &W.solve_matrix(&K));
            let mut inverse = W.solve_matrix(&Matrix::identity(range.len()));
            inverse.scale(h);
            S.add(range, &inverse);
            let identity = Matrix::identity(range.len());
            G.add_solution(range, &mut W, &identity, &self.relations.B, 1.0);
        }
        let free = FreeMotion::kept(n, &Av, &Aq, &S, &self.F_now);
        Ok((free, G.sparse(n, m), start))
    }

    /// A state, or an output, that is no longer finite.
    fn lost(&self, model: &Model, time: f64) -> SimError {
        let lost = |member: &&Member| {
            let range = member.range.clone();
            let (q, v) = (self.next.get(Quantity::Q), self.next.get(Quantity::V));
            let large = |x: &f64| !(x.abs() < f64::MAX.sqrt());
            q[range.clone()].iter().chain(&v[range]).any(large)
        };
        if let Some(member) = self.systems.iter().find(lost) {
            return SimError::NotFinite { time, what: format!("the state of `{}`", member.name) };
        }
        let output = self.q_problem.iter().position(|x| !x.is_finite()).unwrap_or(0);
        let owner = self.places.owner_of(model, output);
        SimError::NotFinite { time, what: format!("the output of {owner}") }
    }
}

impl Part for MoreauJeanPart {
    fn places(&self) -> &Places {
        &self.places
    }

    fn now(&self) -> &Row {
        &self.now
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        // the forces first: they may fail, and then nothing has changed
        external(&self.systems, t0, &mut self.F_next)?;
        self.F_now.copy_from_slice(&self.F_next);
        self.F_theta.copy_from_slice(&self.F_next);
        let now = self.now.mechanical();
        for member in &self.systems {
            now.q[member.range.clone()].copy_from_slice(member.system.q0());
            now.v[member.range.clone()].copy_from_slice(member.system.v0());
        }
        now.lam.fill(0.0);
        self.z.fill(0.0);
        self.workspace.forget();
        self.refresh();
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, same: bool) -> Result<(), SimError> {
        external(&self.systems, last.end, &mut self.F_next)?;
        self.F_now.copy_from_slice(&self.F_next);
        self.F_theta.copy_from_slice(&self.F_next);
        let now = self.now.mechanical();
        now.q.copy_from_slice(before.now().get(Quantity::Q));
        now.v.copy_from_slice(before.now().get(Quantity::V));
        now.lam.copy_from_slice(before.now().get(Quantity::Lam));
        self.laws.silence(now.lam);
        self.refresh();
        if same {
            let ledger = before.now().ledger();
            self.now.set_ledger(&ledger.to_array());
            self.energy0 = ledger.start();
        }
        let before = before.as_any().downcast_ref::<MoreauJeanPart>();
        self.fresh = before.is_none_or(|before| before.fresh);
        Ok(())
    }

    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        range: Range<usize>,
        [q, v]: [Option<&[f64]>; 2],
    ) -> Result<(), SimError> {
        let now = self.now.mechanical();
        if let Some(q) = q {
            now.q[range.clone()].copy_from_slice(q);
        }
        if let Some(v) = v {
            now.v[range].copy_from_slice(v);
        }
        self.places.outputs_of(model, id).for_each(|range| now.lam[range].fill(0.0));
        self.refresh();
        Ok(())
    }

    fn set_all(&mut self, _: &Model, [q, v]: [&[f64]; 2]) -> Result<(), SimError> {
        let now = self.now.mechanical();
        now.q.copy_from_slice(q);
        now.v.copy_from_slice(v);
        now.lam.fill(0.0);
        self.refresh();
        Ok(())
    }

    #[inline]
    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        if self.operators.as_ref().is_none_or(|operators| operators.h != step.h) {
            self.prepare(step)?;
        }
        let Some(operators) = &mut self.operators else {
            return Ok(None);
        };
        let (now, next) = (self.now.mechanical(), self.next.mechanical());
        let (h, theta) = (step.h, self.force_theta);

        // (2), into v⁺
        if self.forced {
            external(&self.systems, step.end, &mut self.F_next)?;
            for i in 0..self.F_theta.len() {
                self.F_theta[i] = theta * self.F_next[i] + (1.0 - theta) * self.F_now[i];
            }
        }
        operators.free.apply(&self.F_theta, self.forced, now.q, now.v, next.v);
        if self.fresh && matches!(self.rule, Rule::Modes) {
            let Start { g, G } = &operators.start;
            self.K.apply(now.q, &mut self.work);
            for i in 0..now.v.len() {
                next.v[i] = g[i] * now.v[i] + G[i] * (self.F_theta[i] - self.work[i]);
            }
        }

        // (4) on the active components
        let mut report = None;
        let Activation { gamma, threshold } = self.activation;
        let Operators { problem, reach, .. } = operators;
        self.laws.evaluate(step.start, &now, problem, &mut self.scratch)?;
        let any = self.laws.activate(gamma * h, threshold, h, reach, &now, problem);
        if any {
            let m = next.lam.len();
            self.H.apply(next.v, &mut self.q_problem[..m]);
            self.laws.restitute(now.u, &mut self.q_problem);
            self.z[..m].copy_from_slice(now.lam);
            if problem.set_q(&self.q_problem).is_err() {
                return Err(self.lost(model, step.end));
            }
            let solved = self.workspace.solve(problem, &mut self.z, &mut self.w)?;
            step.verify(solved, |index| self.places.owner_of(model, index))?;
            report = Some(solved);
            next.lam.copy_from_slice(&self.z[..m]);

            // (3)
            operators.G.apply_add(next.lam, next.v);
        } else {
            next.lam.fill(0.0);
        }

        // (1); a sum is finite only if all its terms are
        let theta = self.position_theta;
        let (mut sum, mut power) = (0.0, 0.0);
        let before = now.q.iter().zip(&*now.v).zip(&self.F_theta);
        for (((q, v), F), (q_next, v_next)) in before.zip(next.q.iter_mut().zip(&*next.v)) {
            *q_next = q + h * (theta * v_next + (1.0 - theta) * v);
            sum += *q_next + v_next;
            power += (v + v_next) * F;
        }
        if !sum.is_finite() {
            return Err(self.lost(model, step.end));
        }
        self.H.apply_plus(&self.relations.e, next.q, next.y);
        self.H.apply(next.v, next.u);

        // (5): where the energy went
        let mut ledger = Ledger::from_slice(now.ledger);
        ledger.kinetic = 0.5 * self.M.quadratic_form(next.v);
        ledger.potential = 0.5 * self.K.quadratic_form(next.q);
        ledger.work += 0.5 * h * power;
        if !self.C.is_zero() {
            for ((v_theta, v), v_next) in self.v_theta.iter_mut().zip(&*now.v).zip(&*next.v) {
                *v_theta = theta * v_next + (1.0 - theta) * v;
            }
            self.C.apply(&self.v_theta, &mut self.work);
            ledger.damping += 0.5 * h * mean(now.v, next.v, &self.work);
        }
        if any {
            let rows = next.lam.iter().zip(now.u.iter().zip(&*next.u)).zip(&self.frictional);
            for ((lam, (u, u_next)), frictional) in rows {
                let taken = if *frictional { &mut ledger.friction } else { &mut ledger.impact };
                *taken -= 0.5 * (u + u_next) * lam;
            }
        }
        let ledger = ledger.closed(self.energy0).to_array();
        next.ledger.copy_from_slice(&ledger);
        step.check_energies(&ledger, || None)?;
        Ok(report)
    }

    #[inline]
    fn commit(&mut self) {
        std::mem::swap(&mut self.now.values, &mut self.next.values);
        self.fresh = false;
        if self.forced {
            std::mem::swap(&mut self.F_now, &mut self.F_next);
        }
    }

    fn is_quick(&self) -> bool {
        self.workspace.is_quick(self.z.len())
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        memory.numbers(&mut self.F_now);
        memory.numbers(&mut self.F_theta);
        // the matrices first: they follow from the length of the step
        let mut h = self.operators.as_ref().map_or(f64::NAN, |operators| operators.h);
        memory.number(&mut h);
        if memory.is_read() && self.operators.as_ref().is_none_or(|now| now.h != h) {
            self.operators = None;
            if h > 0.0 {
                self.prepare(Step { start: 0.0, end: 0.0, h })?;
            }
        }
        memory.flag(&mut self.fresh);
        self.now.memory(memory);
        memory.number(&mut self.energy0);
        memory.numbers(&mut self.z);
        self.workspace.memory(memory, self.operators.as_ref().map(|now| &now.problem));
        Ok(())
    }

    #[inline]
    fn penetration(&self) -> f64 {
        self.laws.penetration(self.now.get(Quantity::Y))
    }
}

/// `(a + b)ᵀ c`.
#[inline]
fn mean(a: &[f64], b: &[f64], c: &[f64]) -> f64 {
    let mut sum = 0.0;
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        sum += (a + b) * c;
    }
    sum
}

/// `F_ext(t)` of all systems.
fn external(systems: &[Member], t: f64, F: &mut [f64]) -> Result<(), SimError> {
    for member in systems {
        let F = &mut F[member.range.clone()];
        member.system.external(t, F).map_err(|error| error.of(&member.name))?;
    }
    Ok(())
}
