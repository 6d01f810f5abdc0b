//! The θ–γ scheme of Euler and Moreau for first-order systems and relations of any kind.
//!
//! ```text
//! ρ = M⁺ (x⁺ − x) − h (θ f⁺ + (1 − θ) f) − h (γ r⁺ + (1 − γ) r) = 0                     (1)
//! y⁺ = h(t⁺, x⁺, λ⁺),    r⁺ = g(t⁺, x⁺, λ⁺),    (y⁺, λ⁺) obeys the law                  (2)
//! W = M − h θ ∂f/∂x − h γ ∂g/∂x,    B = h γ ∂g/∂λ,    C = ∂h/∂x,    D = ∂h/∂λ          (3)
//! ```
//!
//! Where `M` is singular, its algebraic equations are taken at the end of the step: θ and γ are
//! then the matrices (4) of `euler_moreau`. `∂g/∂x` between two systems is left out of `W`;
//! Newton's method converges all the same.

use super::assembly::Places;
use super::laws::Laws;
use super::newton::{Link, Newton, Scheme, SystemBlock, larger};
use super::part::Part;
use super::row::Row;
use super::{EulerMoreau, Form, NewtonSettings, Step};
use crate::{Quantity, SimError};
use saltus_linalg::{Matrix, left_null_projector, vector};
use saltus_model::{
    At, Dependence, FirstOrderSystem, Model, OperatorError, Order, Relation, System, SystemId,
};
use saltus_numerics::{Memory, Report, Solver};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The first-order systems of a model, whatever they are.
#[derive(Debug)]
pub(crate) struct FirstOrderPart {
    places: Places,
    laws: Laws,
    members: Members,
    newton: Newton,
    time: f64, // the present
    now: Row,
    next: Row,
}

/// Systems and interactions, and what is known of them at the iterate.
#[derive(Debug)]
struct Members {
    settings: EulerMoreau,
    systems: Vec<Member>,
    interactions: Vec<Coupling>,
    step: Step,
    x: Vec<f64>, // at the beginning of the step
    f_now: Vec<f64>,
    f_next: Vec<f64>,
    r_now: Vec<f64>,
    r_next: Vec<f64>,
    work: Vec<f64>,
    J: Matrix,
    K: Matrix,
    product: Matrix,
}

#[derive(Debug)]
struct Member {
    name: String,
    system: Arc<dyn FirstOrderSystem>,
    range: Range<usize>,
    inputs: Vec<f64>,
    M: Matrix,
    constant: bool,            // `M` is
    projector: Option<Matrix>, // Π of (4) in `euler_moreau`, where θ or γ is below 1
    projected: bool,           // whether it has been looked for
}

#[derive(Debug)]
struct Coupling {
    name: String,
    relation: Arc<dyn Relation>,
    rows: Range<usize>,
    ranges: Vec<Range<usize>>, // of its systems
    links: Range<usize>,
    feedback: bool,
    through: bool,
    inputs: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    block: Matrix,
}

impl FirstOrderPart {
    pub fn new(
        model: &Model,
        settings: EulerMoreau,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Self, SimError> {
        let places = Places::new(model, Order::First);
        let n = places.states;
        let mut laws = Laws::new(model, &places);
        let newton = Newton::new(model, &places, &mut laws, 1.0, (Form::Reduced, newton), solver)?;
        let mut systems = Vec::new();
        for (_, name, system, range) in places.systems_of(model) {
            if let System::FirstOrder(system) = system {
                let (name, system) = (name.to_string(), Arc::clone(system));
                let (inputs, M) = (system.z0().to_vec(), Matrix::default());
                let constant = system.dependence().mass == Dependence::Constant;
                systems.push(Member {
                    name,
                    system,
                    range,
                    inputs,
                    M,
                    constant,
                    projector: None,
                    projected: false,
                });
            }
        }
        let (mut interactions, mut links) = (Vec::new(), 0);
        for (name, interaction, rows) in places.interactions_of(model) {
            let relation = Arc::clone(&interaction.relation);
            let linked = interaction.systems.iter();
            let ranges: Vec<_> =
                linked.filter_map(|id| places.systems[id.index()].clone()).collect();
            let first = links;
            links += ranges.len();
            let dim = ranges.iter().map(Range::len).sum();
            let terms = relation.terms();
            interactions.push(Coupling {
                name: name.to_string(),
                inputs: relation.z0().to_vec(),
                relation,
                rows,
                ranges,
                links: first..links,
                feedback: terms.feedback,
                through: terms.through,
                x: vec![0.0; dim],
                r: vec![0.0; dim],
                block: Matrix::default(),
            });
        }
        let row = Row::new(Order::First, places.sizes());
        let members = Members {
            settings,
            systems,
            interactions,
            step: Step { start: model.t0(), end: model.t0(), h: 0.0 },
            x: vec![0.0; n],
            f_now: vec![0.0; n],
            f_next: vec![0.0; n],
            r_now: vec![0.0; n],
            r_next: vec![0.0; n],
            work: vec![0.0; n],
            J: Matrix::default(),
            K: Matrix::default(),
            product: Matrix::default(),
        };
        let mut part = FirstOrderPart {
            places,
            laws,
            members,
            newton,
            time: model.t0(),
            now: row.clone(),
            next: row,
        };
        part.reset(model.t0())?;
        Ok(part)
    }

    /// What follows from the state at time `t`: `y`, `f`, `r`.
    fn refresh(&mut self, t: f64) -> Result<(), SimError> {
        let now = self.now.first_order();
        let Members { systems, interactions, f_now, r_now, .. } = &mut self.members;
        for member in systems {
            let range = member.range.clone();
            let at = At::new(t, &now.x[range.clone()], &[]).with(&member.inputs);
            let f = &mut f_now[range];
            member.system.rhs(at, f).map_err(|error| error.of(&member.name))?;
        }
        r_now.fill(0.0);
        for interaction in interactions {
            interaction.gather(now.x);
            interaction.output(t, now.lam, now.y)?;
            interaction.add_input(t, now.lam, r_now)?;
        }
        Ok(())
    }

    /// Back to a state that was good, after a change that was not.
    fn restore(&mut self, values: &[f64]) {
        self.now.values.copy_from_slice(values);
        let _ = self.refresh(self.time); // it was good before
        self.now.values.copy_from_slice(values);
    }

    /// A state that is no longer finite.
    fn lost(&self, time: f64) -> SimError {
        let x = self.next.get(Quantity::X);
        let lost = |member: &&Member| !vector::all_finite(&x[member.range.clone()]);
        let name = self.members.systems.iter().find(lost).map(|member| member.name.clone());
        SimError::NotFinite { time, what: format!("the state of `{}`", name.unwrap_or_default()) }
    }
}

impl Part for FirstOrderPart {
    fn places(&self) -> &Places {
        &self.places
    }

    fn now(&self) -> &Row {
        &self.now
    }

    fn reset(&mut self, t0: f64) -> Result<(), SimError> {
        let now = self.now.first_order();
        for member in &self.members.systems {
            now.x[member.range.clone()].copy_from_slice(member.system.x0());
        }
        now.lam.fill(0.0);
        self.members.initial_inputs();
        self.time = t0;
        self.newton.forget();
        self.refresh(t0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn adopt(&mut self, before: &dyn Part, last: Step, _: bool) -> Result<(), SimError> {
        let now = self.now.first_order();
        now.x.copy_from_slice(before.now().get(Quantity::X));
        now.lam.copy_from_slice(before.now().get(Quantity::Lam));
        self.laws.silence(now.lam);
        let systems = self.members.systems.iter_mut().map(|one| (&one.name, &mut one.inputs));
        let interactions = self.members.interactions.iter_mut();
        let interactions = interactions.map(|one| (&one.name, &mut one.inputs));
        for (name, inputs) in systems.chain(interactions).filter(|(_, z)| !z.is_empty()) {
            if let Some(z) = before.inputs(name) {
                inputs.copy_from_slice(z);
            }
        }
        self.time = last.end;
        self.refresh(last.end)
    }

    fn set(
        &mut self,
        model: &Model,
        id: SystemId,
        range: Range<usize>,
        [x, _]: [Option<&[f64]>; 2],
    ) -> Result<(), SimError> {
        let before = self.now.values.clone();
        let now = self.now.first_order();
        if let Some(x) = x {
            now.x[range].copy_from_slice(x);
        }
        self.places.outputs_of(model, id).for_each(|range| now.lam[range].fill(0.0));
        let done = self.refresh(self.time);
        if done.is_err() {
            self.restore(&before);
        }
        done
    }

    fn be_at(&mut self, t: f64) {
        self.time = t;
    }

    fn set_all(&mut self, _: &Model, [x, _]: [&[f64]; 2]) -> Result<(), SimError> {
        let before = self.now.values.clone();
        let now = self.now.first_order();
        now.x.copy_from_slice(x);
        now.lam.fill(0.0);
        let done = self.refresh(self.time);
        if done.is_err() {
            self.restore(&before);
        }
        done
    }

    fn inputs(&self, name: &str) -> Option<&[f64]> {
        self.members.inputs(name)
    }

    fn set_inputs(&mut self, name: &str, z: &[f64]) -> Result<(), SimError> {
        let before = self.now.values.clone();
        let inputs = self.members.inputs(name).map(<[f64]>::to_vec);
        self.members.set_inputs(name, z);
        let done = self.refresh(self.time);
        if done.is_err() {
            self.members.set_inputs(name, &inputs.unwrap_or_default());
            self.restore(&before);
        }
        done
    }

    fn advance(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        let whole = self.step(model, step);
        if !whole.as_ref().is_err_and(may_be_shorter) {
            return whole;
        }
        for parts in PARTS {
            if let Ok(report) = self.step_in_parts(model, step, parts) {
                return Ok(report);
            }
        }
        whole
    }

    fn commit(&mut self) {
        self.time = self.members.step.end;
        std::mem::swap(&mut self.now.values, &mut self.next.values);
        let Members { f_now, f_next, r_now, r_next, .. } = &mut self.members;
        std::mem::swap(f_now, f_next);
        std::mem::swap(r_now, r_next);
    }

    fn set_switch(&mut self, rows: Range<usize>, closed: bool) {
        self.laws.set_switch(rows, closed, Some(&mut self.newton.problem));
    }

    fn is_quick(&self) -> bool {
        self.newton.is_quick()
    }

    fn memory(&mut self, memory: &mut Memory) -> Result<(), SimError> {
        memory.number(&mut self.time);
        self.now.memory(memory);
        let Members { systems, interactions, f_now, r_now, .. } = &mut self.members;
        memory.numbers(f_now);
        memory.numbers(r_now);
        systems.iter_mut().for_each(|member| memory.numbers(&mut member.inputs));
        interactions.iter_mut().for_each(|one| memory.numbers(&mut one.inputs));
        self.newton.memory(memory);
        Ok(())
    }
}

/// Into how many parts a step is cut, one after the other, where Newton's method fails.
const PARTS: [usize; 3] = [2, 16, 256];

/// Whether a shorter step may succeed where this error came up.
fn may_be_shorter(error: &SimError) -> bool {
    matches!(error, SimError::Newton { .. } | SimError::Unsolved { .. })
}

impl FirstOrderPart {
    /// A step from `now` to `next`.
    fn step(&mut self, model: &Model, step: Step) -> Result<Option<Report>, SimError> {
        let FirstOrderPart { places, members, newton, .. } = self;
        let (now, next) = (self.now.first_order(), self.next.first_order());
        members.begin(step, now.x)?;
        next.x.copy_from_slice(now.x);
        next.lam.copy_from_slice(now.lam);
        let acts = !next.lam.is_empty();
        let report = newton
            .solve(members, acts, next.x, next.lam, step, |index| places.owner_of(model, index))?;
        if !vector::all_finite(next.x) {
            return Err(self.lost(step.end));
        }
        for interaction in &mut members.interactions {
            interaction.output(step.end, next.lam, next.y)?;
        }
        Ok(report)
    }

    /// The same in several steps of one length; `now` is as it was afterwards.
    fn step_in_parts(
        &mut self,
        model: &Model,
        step: Step,
        parts: usize,
    ) -> Result<Option<Report>, SimError> {
        let (row, time) = (self.now.values.clone(), self.time);
        let (f, r) = (self.members.f_now.clone(), self.members.r_now.clone());
        let mut done = Ok(None);
        for k in 1..=parts {
            done = self.step(model, step.part(k, parts));
            if done.is_err() || k == parts {
                break;
            }
            self.commit();
        }
        self.now.values = row;
        self.time = time;
        (self.members.f_now, self.members.r_now) = (f, r);
        self.members.step = step;
        done
    }
}

impl Members {
    fn inputs(&self, name: &str) -> Option<&[f64]> {
        let system = self.systems.iter().find(|member| member.name == name);
        let interaction = self.interactions.iter().find(|one| one.name == name);
        system.map(|member| &*member.inputs).or(interaction.map(|one| &*one.inputs))
    }

    fn set_inputs(&mut self, name: &str, z: &[f64]) {
        let systems = self.systems.iter_mut().filter(|member| member.name == name);
        systems.for_each(|member| member.inputs.copy_from_slice(z));
        let interactions = self.interactions.iter_mut().filter(|one| one.name == name);
        interactions.for_each(|one| one.inputs.copy_from_slice(z));
    }

    fn initial_inputs(&mut self) {
        for member in &mut self.systems {
            member.inputs.copy_from_slice(member.system.z0());
        }
        for interaction in &mut self.interactions {
            interaction.inputs.copy_from_slice(interaction.relation.z0());
        }
    }

    /// What stays the same during the iteration.
    fn begin(&mut self, step: Step, x: &[f64]) -> Result<(), SimError> {
        self.step = step;
        self.x.copy_from_slice(x);
        let implicit = self.settings.theta == 1.0 && self.settings.gamma == 1.0;
        for member in &mut self.systems {
            if member.constant && member.M.rows() > 0 && (implicit || member.projected) {
                continue;
            }
            let at = At::time(step.end).with(&member.inputs);
            member.system.mass(at, &mut member.M).map_err(|error| error.of(&member.name))?;
            if !implicit {
                member.projector = left_null_projector(&member.M);
                member.projected = true;
            }
        }
        Ok(())
    }
}

impl Member {
    /// `a ← a + share Π b` for a vector of this system.
    fn project(&self, share: f64, b: &[f64], a: &mut [f64]) {
        let Some(projector) = &self.projector else { return };
        for (i, a) in a.iter_mut().enumerate() {
            *a += share * vector::dot(projector.row(i), b);
        }
    }

    /// `A ← (share I + (1 − share) Π) A`; `product` is memory.
    fn weigh(&self, share: f64, A: &mut Matrix, product: &mut Matrix) {
        if let Some(projector) = &self.projector {
            projector.mul_into(A, product);
        }
        A.scale(share);
        if self.projector.is_some() {
            A.add_scaled(1.0 - share, product);
        }
    }
}

impl Scheme for Members {
    /// Equations (1) and (2).
    fn residual(
        &mut self,
        xi: &[f64],
        lam: &[f64],
        rho: &mut [f64],
        w: &mut [f64],
        _: &mut [Link],
    ) -> Result<f64, SimError> {
        let (EulerMoreau { theta, gamma, .. }, Step { end, h, .. }) = (&self.settings, self.step);
        self.r_next.fill(0.0);
        for interaction in &mut self.interactions {
            interaction.gather(xi);
            interaction.output(end, lam, w)?;
            interaction.add_input(end, lam, &mut self.r_next)?;
        }
        let mut error = 0.0_f64;
        for member in &mut self.systems {
            let range = member.range.clone();
            let at = At::new(end, &xi[range.clone()], &[]).with(&member.inputs);
            let f = &mut self.f_next[range.clone()];
            member.system.rhs(at, f).map_err(|error| error.of(&member.name))?;
            let (mut scale, mut rate) = (0.0_f64, 0.0_f64);
            let (f, f_now) = (&self.f_next[range.clone()], &self.f_now[range.clone()]);
            let (r, r_now) = (&self.r_next[range.clone()], &self.r_now[range.clone()]);
            let (xi, x) = (&xi[range.clone()], &self.x[range.clone()]);
            let (own, n) = (&mut rho[range.clone()], range.len());
            for i in 0..n {
                let (mut gained, mut terms) = (0.0, 0.0);
                let (M, xi, x) = (&member.M.row(i)[..n], &xi[..n], &x[..n]);
                for j in 0..n {
                    gained += M[j] * (xi[j] - x[j]);
                    terms += (M[j] * xi[j]).abs() + (M[j] * x[j]).abs();
                }
                let smooth = theta * f[i] + (1.0 - theta) * f_now[i];
                let input = gamma * r[i] + (1.0 - gamma) * r_now[i];
                own[i] = gained - h * (smooth + input);
                let rates = smooth.abs() + input.abs();
                (scale, rate) = (scale.max(terms + h * rates), rate.max(rates));
            }
            if member.projector.is_some() {
                let work = &mut self.work[range.clone()];
                for (k, row) in range.clone().enumerate() {
                    work[k] = (1.0 - theta) * (self.f_next[row] - self.f_now[row])
                        + (1.0 - gamma) * (self.r_next[row] - self.r_now[row]);
                }
                member.project(-h, work, &mut rho[range.clone()]);
            }
            for (i, rho) in rho[range].iter().enumerate().filter(|(_, rho)| **rho != 0.0) {
                // an algebraic equation has no state beside it, only rates
                let algebraic = rate > 0.0 && member.M.row(i).iter().all(|M| *M == 0.0);
                let relative = rho.abs() / if algebraic { h * rate } else { scale };
                error = larger(error, relative);
            }
        }
        Ok(error)
    }

    /// Equation (3).
    fn jacobians(
        &mut self,
        xi: &[f64],
        lam: &[f64],
        systems: &mut [SystemBlock],
        links: &mut [Link],
        D: &mut [Matrix],
    ) -> Result<(), SimError> {
        let (EulerMoreau { theta, gamma, .. }, Step { end, h, .. }) = (&self.settings, self.step);
        for (member, block) in self.systems.iter().zip(&mut *systems) {
            let at = At::new(end, &xi[member.range.clone()], &[]).with(&member.inputs);
            let of_member = |error: OperatorError| error.of(&member.name);
            member.system.rhs_dx(at, &mut self.J).map_err(of_member)?;
            member.weigh(*theta, &mut self.J, &mut self.product);
            block.W.copy_from(&member.M);
            block.W.add_scaled(-h, &self.J);
        }
        for (interaction, D) in self.interactions.iter_mut().zip(D) {
            let links = &mut links[interaction.links.clone()];
            interaction.jacobians(end, lam, D, links)?;
            for link in &mut *links {
                let member = &self.systems[link.system];
                // B = h Γ ∂g/∂λ, of which `Bt` holds ∂g/∂λ transposed
                if member.projector.is_none() {
                    link.Bt.scale(h * gamma);
                    continue;
                }
                let n = link.range.len();
                for row in link.Bt.data_mut().chunks_exact_mut(n) {
                    let own = &mut self.work[..n];
                    own.copy_from_slice(row);
                    row.iter_mut().for_each(|entry| *entry *= gamma);
                    member.project(1.0 - gamma, own, row);
                }
                link.Bt.scale(h);
            }
            if interaction.feedback {
                interaction.input_dx(end, lam, &mut self.J)?;
                let mut first = 0;
                for link in links {
                    let (n, member) = (link.range.len(), &self.systems[link.system]);
                    let (J, K) = (&self.J, &mut self.K);
                    K.resize(n, n);
                    (0..n * n).for_each(|k| K[(k / n, k % n)] = J[(first + k / n, first + k % n)]);
                    member.weigh(*gamma, K, &mut self.product);
                    systems[link.system].W.add_scaled(-h, K);
                    first += n;
                }
            }
        }
        Ok(())
    }
}

impl Coupling {
    fn gather(&mut self, x: &[f64]) {
        self.x.clear();
        self.ranges.iter().for_each(|range| self.x.extend_from_slice(&x[range.clone()]));
    }

    /// `y = h(t, x, λ)`, where [`gather`](Self::gather) was called last.
    fn output(&self, t: f64, lam: &[f64], y: &mut [f64]) -> Result<(), SimError> {
        let at = At::new(t, &self.x, &lam[self.rows.clone()]).with(&self.inputs);
        let y = &mut y[self.rows.clone()];
        Ok(self.relation.output(at, y).map_err(|error| error.of(&self.name))?)
    }

    /// `r ← r + g(t, x, λ)`.
    fn add_input(&mut self, t: f64, lam: &[f64], r: &mut [f64]) -> Result<(), SimError> {
        let Some(input) = self.relation.input() else { return Ok(()) };
        let at = At::new(t, &self.x, &lam[self.rows.clone()]).with(&self.inputs);
        input.value(at, &mut self.r).map_err(|error| error.of(&self.name))?;
        let mut own = self.r.iter();
        for range in &self.ranges {
            r[range.clone()].iter_mut().zip(&mut own).for_each(|(r, own)| *r += own);
        }
        Ok(())
    }

    /// `C`, `D`, and `∂g/∂λ` in the place of `B`.
    fn jacobians(
        &mut self,
        t: f64,
        lam: &[f64],
        D: &mut Matrix,
        links: &mut [Link],
    ) -> Result<(), SimError> {
        let at = At::new(t, &self.x, &lam[self.rows.clone()]).with(&self.inputs);
        let named = |error: OperatorError| error.of(&self.name);
        if self.through {
            self.relation.output_dlam(at, D).map_err(named)?;
        }
        self.relation.output_dx(at, &mut self.block).map_err(named)?;
        let mut first = 0;
        for link in &mut *links {
            for i in 0..self.rows.len() {
                for j in 0..link.range.len() {
                    link.C[(i, j)] = self.block[(i, first + j)];
                }
            }
            first += link.range.len();
        }
        let Some(input) = self.relation.input() else { return Ok(()) };
        input.dlam(at, &mut self.block).map_err(named)?;
        first = 0;
        for link in links {
            for i in 0..self.rows.len() {
                for j in 0..link.range.len() {
                    link.Bt[(i, j)] = self.block[(first + j, i)];
                }
            }
            first += link.range.len();
        }
        Ok(())
    }

    /// `∂g/∂x`.
    fn input_dx(&self, t: f64, lam: &[f64], K: &mut Matrix) -> Result<(), SimError> {
        let at = At::new(t, &self.x, &lam[self.rows.clone()]).with(&self.inputs);
        let Some(input) = self.relation.input() else { return Ok(()) };
        Ok(input.dx(at, K).map_err(|error| error.of(&self.name))?)
    }
}
