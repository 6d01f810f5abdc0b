//! What happens at an instant: a time-stepping step of vanishing length.
//!
//! Impacts, consistent initial values and the mode that follows are all one question: where does
//! the model go from this state? A step of length `ε` of the implicit schemes answers it for laws
//! of any kind and for any number of events at once. Its velocities and states tend to those after
//! the jump, and with it the forces `λ`:
//!
//! ```text
//! X(ε) = X⁺ + ε Ẋ⁺ + O(ε²),    X⁺ = (X(ε) − 6 X(ε/2) + 8 X(ε/4))/3 + O(ε³)            (1)
//! ```

use crate::SimError;
use crate::integrators::{EulerMoreau, Integrator, MoreauJean, NewtonSettings, Step, choice};
use crate::recorder::Parts;
use crate::run::Quantity;
use saltus_model::{Model, Order};
use saltus_numerics::{Report, Solver};
use std::ops::Range;

/// Lengths of the steps that tell what happens, in units of `ε`.
pub(super) const SHARES: [f64; 3] = [1.0, 0.5, 0.25];

/// Tolerance of their problems, at most.
const FINE: f64 = 1e-13;

/// The implicit schemes, and the answer of their last step.
#[derive(Debug)]
pub(crate) struct Instant {
    parts: [Parts; 3],   // one for each length, so that their matrices stay
    first: Range<usize>, // x, q and v in X
    q: Range<usize>,
    v: Range<usize>,
    interactions: Vec<(Order, Range<usize>, Range<usize>)>, // rows of the part, rows of all
    closed: Vec<Option<bool>>, // row by row, whether a switch is, as far as the schemes know it
    /// The state after the step.
    pub X: Vec<f64>,
    pub y: Vec<f64>,
    pub u: Vec<f64>,
    /// Forces.
    pub lam: Vec<f64>,
    /// What all steps took since this was taken last.
    pub solved: Solved,
}

/// What the problems of a step took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Solved {
    pub iterations: usize,
    pub residual: f64,
}

impl Solved {
    pub fn add(&mut self, more: Solved) {
        self.iterations += more.iterations;
        if !(more.residual <= self.residual) {
            self.residual = more.residual;
        }
    }
}

impl Instant {
    /// `threshold` is the gap at which a contact counts as closed.
    pub fn new(model: &Model, threshold: f64, solver: &Solver) -> Result<Instant, SimError> {
        let euler = EulerMoreau { theta: 1.0, gamma: 1.0, ..EulerMoreau::default() };
        let jean = MoreauJean { theta: 1.0, gamma: 0.0, threshold, ..MoreauJean::default() };
        // outputs move by little in so short a step
        let solver = solver.clone().with_tol(solver.tol().min(FINE));
        Instant::with(model, euler, jean, NewtonSettings::default(), &solver)
    }

    /// Any of these schemes, for steps of any length.
    pub fn with(
        model: &Model,
        euler: EulerMoreau,
        jean: MoreauJean,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Instant, SimError> {
        let mut integrators: Vec<Integrator> = Vec::new();
        let has = |order| model.systems().any(|(_, system)| system.order() == order);
        if has(Order::First) {
            integrators.push(euler.into());
        }
        if has(Order::Second) {
            integrators.push(jean.into());
        }
        let part = |order| choice::part(model, order, &integrators, newton, solver);
        let parts = || -> Result<Parts, SimError> {
            let (mut first, mut second) = (part(Order::First)?, part(Order::Second)?);
            [&mut first, &mut second].into_iter().flatten().for_each(|part| part.prepare());
            Ok(Parts { first, second })
        };
        let parts = [parts()?, parts()?, parts()?];

        let (mut nx, mut nq) = (0, 0);
        for (_, system) in model.systems() {
            match system.order() {
                Order::First => nx += system.dim(),
                Order::Second => nq += system.dim(),
            }
        }
        let (mut rows, mut of_first, mut of_second) = (0, 0, 0);
        let mut interactions = Vec::new();
        for (_, interaction) in model.interactions() {
            let (order, size) = (interaction.relation.order(), interaction.relation.size());
            let next = match order {
                Order::First => &mut of_first,
                Order::Second => &mut of_second,
            };
            interactions.push((order, *next..*next + size, rows..rows + size));
            *next += size;
            rows += size;
        }
        Ok(Instant {
            parts,
            first: 0..nx,
            q: nx..nx + nq,
            v: nx + nq..nx + 2 * nq,
            interactions,
            closed: vec![None; rows],
            X: vec![0.0; nx + 2 * nq],
            y: vec![0.0; rows],
            u: vec![0.0; rows],
            lam: vec![0.0; rows],
            solved: Solved::default(),
        })
    }

    /// Tells all schemes whether the switch of this row is closed.
    pub fn set_switch(&mut self, row: usize, closed: bool) {
        if self.closed[row].replace(closed) == Some(closed) {
            return;
        }
        let k = self.interactions.partition_point(|(_, _, rows)| rows.end <= row);
        let (_, of_part, rows) = &self.interactions[k];
        let row = of_part.start + row - rows.start;
        for part in self.parts.iter_mut().filter_map(|parts| parts.first.as_mut()) {
            part.set_switch(row..row + 1, closed);
        }
    }

    /// The schemes of the `k`-th share.
    pub fn parts(&self, k: usize) -> &Parts {
        &self.parts[k]
    }

    /// A step of length `epsilon` from this state, with the matrices of the `k`-th share.
    pub fn step(
        &mut self,
        model: &Model,
        t: f64,
        X: &[f64],
        k: usize,
        epsilon: f64,
    ) -> Result<Solved, SimError> {
        let parts = &mut self.parts[k];
        for part in [&mut parts.first, &mut parts.second].into_iter().flatten() {
            part.be_at(t);
        }
        if let Some(part) = &mut parts.first {
            part.set_all(model, [&X[self.first.clone()], &[]])?;
        }
        if let Some(part) = &mut parts.second {
            part.set_all(model, [&X[self.q.clone()], &X[self.v.clone()]])?;
        }
        let step = Step { start: t, end: t + epsilon, h: epsilon };
        let mut solved = Solved::default();
        for part in [&mut parts.first, &mut parts.second].into_iter().flatten() {
            if let Some(Report { iterations, residual, .. }) = part.advance(model, step)? {
                solved.add(Solved { iterations, residual });
            }
            part.commit();
        }
        let now = |order, quantity| {
            let part = match order {
                Order::First => &parts.first,
                Order::Second => &parts.second,
            };
            part.as_ref().map_or(&[][..], |part| part.now().get(quantity))
        };
        self.X[self.first.clone()].copy_from_slice(now(Order::First, Quantity::X));
        self.X[self.q.clone()].copy_from_slice(now(Order::Second, Quantity::Q));
        self.X[self.v.clone()].copy_from_slice(now(Order::Second, Quantity::V));
        for (order, part, rows) in &self.interactions {
            let y = &now(*order, Quantity::Y)[part.clone()];
            self.y[rows.clone()].copy_from_slice(y);
            let lam = &now(*order, Quantity::Lam)[part.clone()];
            self.lam[rows.clone()].copy_from_slice(lam);
            if *order == Order::Second {
                let u = &now(*order, Quantity::U)[part.clone()];
                self.u[rows.clone()].copy_from_slice(u);
                self.lam[rows.clone()].iter_mut().for_each(|lam| *lam /= epsilon);
            }
        }
        self.solved.add(solved);
        Ok(solved)
    }
}
