//! One step of an implicit scheme by Newton's method.
//!
//! The unknowns are those of the scheme, `ξ` (the next `x`, or the next `v`), and the multipliers:
//!
//! ```text
//! ρ(ξ, λ) = 0,    w = w(ξ, λ),    (w, λ) obeys the laws
//! ```
//!
//! With `W = ∂ρ/∂ξ`, `B = −∂ρ/∂λ`, `C = ∂w/∂ξ`, `D = ∂w/∂λ` at the last iterate:
//!
//! ```text
//! ξ⁺ = ξ − W⁻¹ ρ + Y (λ⁺ − λ),    Y = W⁻¹ B                                           (1)
//! w⁺ = w − C W⁻¹ ρ + (D + C Y) (λ⁺ − λ)                                               (2)
//! ```
//!
//! (2) with the laws is the problem of an iteration. `W` has one dense block a system, `B` and `C`
//! one for each link between an interaction and a system.
//!
//! Equalities of which one follows from the others contradict each other in (2), by the square of what is
//! left of them: there is no answer but the one that leaves least. Where positions are projected such an
//! answer leads on: of gaps until they are closed (`strict`) and (2) was solved at last, of velocities
//! until the projection is done (`lenient`), and the report says how well (2) was solved.
//!
//! A step to where something is not finite is halved; so is one that does not come nearer, once the
//! iteration has had its time.

use super::Step;
use super::assembly::{Places, factor_in};
use super::global_form::GlobalForm;
use super::laws::Laws;
use crate::{Form, NewtonMode, NewtonSettings, SimError};
use saltus_linalg::{DenseLu, Matrix, Sparse, vector};
use saltus_model::Model;
use saltus_numerics::methods::Workspace;
use saltus_numerics::{Memory, NumericsError, Operator, Problem, Report, Solver, Status};
use std::ops::Range;

/// Jacobians are renewed where an iteration leaves more than this share of the residual.
const SLOW: f64 = 1e-2;
/// Iterations after which a step must come nearer: up to then Newton's own steps are trusted.
const TRUSTED: usize = 8;
/// Times that a step is halved before it is taken as it is.
const HALVINGS: usize = 6;

/// Most residual of an answer to (2) that leads on where equalities contradict each other.
const CONTRADICTION: f64 = 1e-4;

/// What Newton's method asks of a scheme.
pub(crate) trait Scheme {
    /// Fills `ρ` and `w` at `(ξ, λ)`, and the `C` and `B` that are found on the way. Returns the
    /// size of `ρ` relative to its terms.
    fn residual(
        &mut self,
        xi: &[f64],
        lam: &[f64],
        rho: &mut [f64],
        w: &mut [f64],
        links: &mut [Link],
    ) -> Result<f64, SimError>;

    /// [`jacobians`](Self::jacobians) will be asked for after the next
    /// [`residual`](Self::residual), which may compute them on its way.
    fn expect_jacobians(&mut self) {}

    /// Fills `W`, `D`, and those of `C` and `B` that [`residual`](Self::residual) did not, at the
    /// point where it was called last.
    fn jacobians(
        &mut self,
        xi: &[f64],
        lam: &[f64],
        systems: &mut [SystemBlock],
        links: &mut [Link],
        D: &mut [Matrix],
    ) -> Result<(), SimError>;
}

/// The balance of one system.
#[derive(Debug)]
pub(crate) struct SystemBlock {
    pub name: String,
    pub range: Range<usize>,
    pub W: Matrix,
    pub(super) lu: DenseLu,
    factored: Matrix, // the matrix of these factors
}

/// An interaction meets a system.
#[derive(Debug)]
pub(crate) struct Link {
    pub system: usize,
    /// Rows of `w` and `λ`.
    pub rows: Range<usize>,
    /// State components of the system.
    pub range: Range<usize>,
    /// Whether the interaction acts in this step.
    pub on: bool,
    /// Whether it meets other systems, too.
    is_shared: bool,
    /// `C`: rows of `w`, columns of the system.
    pub C: Matrix,
    /// `B` transposed: rows of `λ`, columns of the system.
    pub Bt: Matrix,
    Yt: Matrix, // Y transposed
}

/// The links on one system, and of each pair of them, the second fastest, where `C Y` of them stands in a
/// sparse matrix, row by row.
#[derive(Debug)]
struct Met {
    links: Vec<usize>,
    places: Vec<Vec<usize>>,
}

/// Unknowns of systems, and iterations that are allowed, up to which a step is quick.
const FEW: usize = 64;
const SOON: usize = 1000;

/// The linearized step and its memory.
#[derive(Debug)]
pub(crate) struct Newton {
    settings: NewtonSettings,
    noise: f64, // of `C`, relative to its entries
    /// Whether equalities are to hold on their own, however well (2) can be solved.
    pub strict: bool,
    /// Whether an answer that leaves little leads on; what is left is for the caller to judge.
    pub lenient: bool,
    pub systems: Vec<SystemBlock>,
    pub links: Vec<Link>,
    D: Vec<Matrix>, // of each interaction
    rows: Vec<Range<usize>>,
    places_of_D: Vec<Vec<usize>>,
    met: Vec<Met>,
    global: Option<GlobalForm>,
    pub problem: Problem,
    workspace: Workspace,
    /// Size of the terms that each component of `w` is a sum of, where `C ξ` does not tell.
    pub terms: Vec<f64>,
    rho: Vec<f64>,
    w: Vec<f64>,
    w_problem: Vec<f64>,
    pub q: Vec<f64>,
    z: Vec<f64>,
    change: Vec<f64>,
    from: Iterate, // where the last step began
}

/// A point of the iteration.
#[derive(Debug)]
struct Iterate {
    xi: Vec<f64>,
    lam: Vec<f64>,
}

impl Iterate {
    /// `(ξ, λ)` half way back.
    fn halve(&self, xi: &mut [f64], lam: &mut [f64]) {
        let middle = |(new, old): (&mut f64, &f64)| *new = old + (*new - old) / 2.0;
        xi.iter_mut().zip(&self.xi).for_each(middle);
        lam.iter_mut().zip(&self.lam).for_each(middle);
    }
}

impl Newton {
    pub fn new(
        model: &Model,
        places: &Places,
        laws: &mut Laws,
        scale: f64,
        (form, settings): (Form, NewtonSettings),
        solver: &Solver,
    ) -> Result<Newton, SimError> {
        let (n, m) = (places.states, places.outputs);
        // no residual is smaller than what is not known of the relations
        let noise = places.interactions_of(model).map(|(_, one, _)| one.relation.noise());
        let noise = noise.fold(0.0, f64::max);
        let settings = NewtonSettings { tol: settings.tol.max(noise), ..settings };
        let mut position = vec![usize::MAX; places.systems.len()];
        let mut systems = Vec::new();
        for (k, name, _, range) in places.systems_of(model) {
            position[k] = systems.len();
            let (name, size) = (name.to_string(), range.len());
            let lu = DenseLu::with_capacity(size);
            let none = Matrix::from_vec(size, size, vec![f64::NAN; size * size]);
            let (W, factored) = (Matrix::zeros(size, size), none);
            systems.push(SystemBlock { name, range, W, lu, factored });
        }
        let (mut links, mut D, mut rows_of) = (Vec::new(), Vec::new(), Vec::new());
        let mut terms = vec![0.0; m];
        for (_, interaction, rows) in places.interactions_of(model) {
            terms[rows.clone()].fill(interaction.relation.unit());
            for id in &interaction.systems {
                let system = position[id.index()];
                let range = systems[system].range.clone();
                let block = || Matrix::zeros(rows.len(), range.len());
                let (C, Bt, Yt) = (block(), block(), block());
                let (rows, on, is_shared) = (rows.clone(), true, interaction.systems.len() > 1);
                links.push(Link { system, rows, range, on, is_shared, C, Bt, Yt });
            }
            D.push(Matrix::zeros(rows.len(), rows.len()));
            rows_of.push(rows);
        }

        // the pattern of D + C Y
        let mut touching = vec![Vec::new(); systems.len()];
        links.iter().enumerate().for_each(|(k, link)| touching[link.system].push(k));
        let mut triplets = Vec::new();
        let mut fill = |rows: &Range<usize>, cols: &Range<usize>| {
            rows.clone().for_each(|i| triplets.extend(cols.clone().map(|j| (i, j, 0.0))));
        };
        rows_of.iter().for_each(|rows| fill(rows, rows));
        for group in &touching {
            for (&of, &by) in group.iter().flat_map(|of| group.iter().map(move |by| (of, by))) {
                fill(&links[of].rows, &links[by].rows);
            }
        }
        let pattern = Sparse::from_triplets(m, m, &triplets);
        let global = (form == Form::Global).then(|| GlobalForm::new(n, m));
        let matrix = if let Some(global) = &global {
            global.empty()?.into()
        } else if m <= 64 || pattern.len() * 4 > m * m {
            Operator::Dense(Matrix::zeros(m, m))
        } else {
            Operator::Sparse(pattern)
        };
        let problem = laws.problem(matrix, scale)?;
        let places = |rows: &Range<usize>, first: usize| match problem.matrix() {
            Operator::Sparse(matrix) => {
                rows.clone().filter_map(|row| matrix.place(row, first)).collect()
            }
            _ => Vec::new(),
        };
        let met = touching.into_iter().map(|group: Vec<usize>| {
            let pairs = group.iter().flat_map(|of| group.iter().map(move |by| (of, by)));
            let pairs = pairs.map(|(&of, &by)| places(&links[of].rows, links[by].rows.start));
            Met { places: pairs.collect(), links: group }
        });
        let met = met.collect();
        let places_of_D = rows_of.iter().map(|rows| places(rows, rows.start)).collect();
        let unknowns = laws.unknowns();
        let mut q = vec![0.0; unknowns];
        q.copy_from_slice(problem.q());
        let mut newton = Newton {
            settings,
            noise,
            strict: false,
            lenient: false,
            systems,
            links,
            D,
            rows: rows_of,
            places_of_D,
            met,
            global,
            problem,
            workspace: Workspace::new(solver.clone())?,
            terms,
            rho: vec![0.0; n],
            w: vec![0.0; m],
            w_problem: vec![0.0; unknowns],
            q,
            z: vec![0.0; unknowns],
            change: vec![0.0; n],
            from: Iterate { xi: vec![0.0; n], lam: vec![0.0; m] },
        };
        newton.rehearse()?;
        Ok(newton)
    }

    /// The solver takes its memory now, not at the first contact: it solves the problem once with
    /// a diagonal matrix and everything pressed.
    fn rehearse(&mut self) -> Result<(), SimError> {
        let m = self.w.len();
        if m == 0 || self.global.is_some() {
            return Ok(());
        }
        set_diagonal(&mut self.problem, m, 1.0)?;
        let mut pressed = self.q.clone();
        pressed[..m].fill(-1.0);
        self.problem.set_q(&pressed)?;
        // what comes out does not matter
        let _ = self.workspace.solve(&self.problem, &mut self.z, &mut self.w_problem)?;
        self.problem.set_q(&self.q)?;
        set_diagonal(&mut self.problem, m, 0.0)?;
        self.forget();
        Ok(())
    }

    /// Forgets what was carried from step to step.
    pub fn forget(&mut self) {
        self.workspace.forget();
        self.z.fill(0.0);
    }

    /// What is carried from step to step. The matrix of the problem is not: it is made anew before
    /// every first solution of a step.
    pub fn memory(&mut self, memory: &mut Memory) {
        memory.numbers(&mut self.z);
        self.workspace.memory(memory, None);
    }

    /// Whether steps are over before anybody could ask them to stop, since little is unknown in them.
    pub fn is_quick(&self) -> bool {
        let (unknowns, iterations) = (self.from.xi.len(), self.settings.max_iter);
        unknowns <= FEW && iterations <= SOON && self.workspace.is_quick(self.z.len())
    }

    /// Solves the step from the guess in `ξ` and `λ`. `acts` says whether any law does.
    pub fn solve(
        &mut self,
        scheme: &mut impl Scheme,
        acts: bool,
        xi: &mut [f64],
        lam: &mut [f64],
        step: Step,
        owner: impl Fn(usize) -> String,
    ) -> Result<Option<Report>, SimError> {
        let NewtonSettings { tol, max_iter, mode } = self.settings;
        let m = lam.len();
        let mut report: Option<Report> = None;
        let (mut iteration, mut halvings) = (0, 0);
        let (mut before, mut nearest) = (f64::INFINITY, f64::INFINITY);
        let (mut open, mut solved_last) = (f64::INFINITY, true);
        scheme.expect_jacobians();
        loop {
            step.ask()?;
            let found = scheme.residual(xi, lam, &mut self.rho, &mut self.w, &mut self.links);
            let error = match found {
                Ok(error) => error,
                // there may be no value there, as of an exponential far out
                Err(_) if iteration > 0 && halvings < HALVINGS => f64::INFINITY,
                Err(error) => return Err(error),
            };
            let (error, distance) = match iteration > 0 && acts && mode != NewtonMode::Linear {
                true => {
                    let (apart, distance) = self.disagreement(xi);
                    (larger(error, apart), larger(error, distance))
                }
                false => (error, error),
            };
            if iteration > 0 && (mode == NewtonMode::Linear || error <= tol) && solved_last {
                // what is open of the equalities, while it becomes less
                let still = if self.strict && acts { self.open(xi) } else { 0.0 };
                if still <= tol || !(still <= 0.5 * open) {
                    return Ok(report);
                }
                open = still;
            }
            let lost = !error.is_finite() || (iteration > TRUSTED && distance >= nearest);
            if iteration > 0 && lost && halvings < HALVINGS {
                self.from.halve(xi, lam);
                halvings += 1;
                continue;
            }
            nearest = distance;
            halvings = 0;
            if !error.is_finite() || iteration == max_iter {
                let time = step.end;
                return Err(SimError::Newton { time, iterations: iteration, residual: error, tol });
            }
            let slow = mode == NewtonMode::Full && !(error <= SLOW * before);
            if iteration == 0 || slow {
                self.linearize(scheme, acts, xi, lam, step)?;
            }
            self.from.xi.copy_from_slice(xi);
            self.from.lam.copy_from_slice(lam);

            // W⁻¹ ρ
            self.change.copy_from_slice(&self.rho);
            for system in &mut self.systems {
                system.lu.solve(&mut self.change[system.range.clone()]);
            }
            if acts {
                // (2)
                self.z[..m].copy_from_slice(lam);
                self.q[..m].copy_from_slice(&self.w);
                for link in self.links.iter().filter(|link| !link.on) {
                    self.q[link.rows.clone()].fill(0.0);
                }
                for link in self.links.iter().filter(|link| link.on) {
                    let change = &self.change[link.range.clone()];
                    for (i, row) in link.rows.clone().enumerate() {
                        self.q[row] -= vector::dot(link.C.row(i), change);
                    }
                }
                add_product(self.problem.matrix(), -1.0, lam, &mut self.q);
                self.problem.set_q(&self.q).map_err(|_| SimError::NotFinite {
                    time: step.end,
                    what: "an output".to_string(),
                })?;
                let solved =
                    self.workspace.solve(&self.problem, &mut self.z, &mut self.w_problem)?;
                step.ask()?; // nor does an answer lead on that was not looked for to the end
                solved_last = self.lenient || solved.status == Status::Solved;
                let leads_on = self.lenient || self.strict && iteration + 1 < max_iter;
                if !(leads_on && solved.residual <= CONTRADICTION) {
                    step.verify(solved, &owner)?;
                }
                if self.z.len() > m {
                    // w without what the laws add to it
                    self.w_problem.copy_from_slice(&self.q);
                    let matrix = self.problem.matrix();
                    add_product(matrix, 1.0, &self.z[..m], &mut self.w_problem);
                }
                let iterations = solved.iterations + report.map_or(0, |before| before.iterations);
                report = Some(Report { iterations, ..solved });
            }

            // (1)
            xi.iter_mut().zip(&self.change).for_each(|(xi, change)| *xi -= change);
            if acts && let Some(global) = &mut self.global {
                let change = |row: usize| self.z[row] - lam[row];
                global.push(&mut self.systems, &self.links, change, xi);
                lam.copy_from_slice(&self.z[..m]);
            } else if acts {
                for link in self.links.iter().filter(|link| link.on) {
                    for (i, row) in link.rows.clone().enumerate() {
                        let change = self.z[row] - lam[row];
                        if change != 0.0 {
                            let xi = &mut xi[link.range.clone()];
                            xi.iter_mut().zip(link.Yt.row(i)).for_each(|(x, y)| *x += y * change);
                        }
                    }
                }
                lam.copy_from_slice(&self.z[..m]);
            }
            iteration += 1;
            before = error;
        }
    }

    /// How far `w` is from what the last problem took it for, relative to its terms, to what it would be
    /// without the multipliers, and to what its own multiplier moves each of its systems by; also relative
    /// to its terms alone, which a step must lessen.
    fn disagreement(&self, xi: &[f64]) -> (f64, f64) {
        let (mut worst, mut farthest) = (0.0_f64, 0.0_f64);
        for (k, link) in self.links.iter().enumerate() {
            if !link.on || (link.is_shared && !self.tells(k)) {
                continue;
            }
            let xi = &xi[link.range.clone()];
            let (mut scale, mut size) = (0.0_f64, 0.0_f64);
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let noise = match self.noise {
                0.0 => 0.0,
                noise => noise * largest(link.C.data()) * largest(xi),
            };
            for (i, row) in link.rows.clone().enumerate() {
                let terms: f64 = link.C.row(i).iter().zip(xi).map(|(c, x)| (c * x).abs()).sum();
                size = size.max(terms).max(self.terms[row]);
                scale = scale.max(size).max(self.w[row].abs()).max(self.q[row].abs());
                let own = vector::dot(link.C.row(i), link.Yt.row(i)) * self.z[row];
                scale = scale.max(own.abs());
            }
            for row in link.rows.clone() {
                let apart = (self.w[row] - self.w_problem[row]).abs() - noise;
                if apart > 0.0 || apart.is_nan() {
                    worst = larger(worst, if scale > 0.0 { apart / scale } else { 1.0 });
                    farthest = larger(farthest, if size > 0.0 { apart / size } else { 1.0 });
                }
            }
        }
        (worst, farthest)
    }

    /// Whether a link says how large the outputs of its interaction are: not where none of them depends on its system, unless they
    /// depend on none.
    fn tells(&self, k: usize) -> bool {
        let depends = |link: &Link| link.C.data().iter().any(|slope| *slope != 0.0);
        let rows = &self.links[k].rows;
        depends(&self.links[k])
            || !self.links.iter().any(|link| link.rows == *rows && depends(link))
    }

    /// The largest output of an equality, relative to its terms.
    fn open(&self, xi: &[f64]) -> f64 {
        let mut most = 0.0_f64;
        for link in self.links.iter().filter(|link| link.on) {
            let xi = &xi[link.range.clone()];
            for (i, row) in link.rows.clone().enumerate() {
                let (lower, upper) = (self.problem.lower()[row], self.problem.upper()[row]);
                if (lower, upper) == (f64::NEG_INFINITY, f64::INFINITY) {
                    let terms = link.C.row(i).iter().zip(xi).map(|(c, x)| (c * x).abs());
                    let terms = terms.sum::<f64>().max(self.terms[row]);
                    if self.w[row] != 0.0 {
                        most = most.max(self.w[row].abs() / terms.max(f64::MIN_POSITIVE));
                    }
                }
            }
        }
        most
    }

    /// The matrices of (1) and (2).
    fn linearize(
        &mut self,
        scheme: &mut impl Scheme,
        acts: bool,
        xi: &[f64],
        lam: &[f64],
        step: Step,
    ) -> Result<(), SimError> {
        let Newton { systems, links, D, rows, places_of_D, met, problem, .. } = self;
        scheme.jacobians(xi, lam, systems, links, D)?;
        for SystemBlock { name, W, lu, factored, .. } in systems.iter_mut() {
            if W.data() != factored.data() {
                factored.data_mut().fill(f64::NAN); // until there are factors
                factor_in(lu, name, step.h, W)?;
                factored.copy_from(W);
            }
        }
        if !acts {
            return Ok(());
        }
        if let Some(global) = &mut self.global {
            if let Some(pair) = global.pair(systems, links)? {
                problem.set_matrix(pair)?;
            }
            return Ok(());
        }
        for link in links.iter_mut().filter(|link| link.on) {
            link.Yt.copy_from(&link.Bt);
            let size = link.range.len();
            for column in link.Yt.data_mut().chunks_exact_mut(size) {
                systems[link.system].lu.solve(column);
            }
        }
        let m = self.w.len();
        let links = &*links;
        let given = || D.iter().zip(rows.iter()).zip(places_of_D.iter());
        problem.update_matrix(|operator| match operator {
            Operator::Dense(matrix) => {
                let cols = matrix.cols();
                let rows = matrix.data_mut().chunks_exact_mut(cols).take(m);
                rows.for_each(|row| row[..m].fill(0.0));
                each_block(given(), met, links, |block| {
                    for (i, row) in block.rows.clone().enumerate() {
                        for j in 0..block.entries.cols() {
                            matrix[(row, block.first + j)] += block.entries.at(i, j);
                        }
                    }
                });
            }
            Operator::Sparse(matrix) => {
                for Met { links: group, places } in met.iter() {
                    for (pair, places) in places.iter().enumerate() {
                        let width = links[group[pair % group.len()]].rows.len();
                        for place in places {
                            (0..width).for_each(|j| *matrix.value_mut(place + j) = 0.0);
                        }
                    }
                }
                each_block(given(), met, links, |block| {
                    for (i, place) in block.places.iter().enumerate() {
                        for j in 0..block.entries.cols() {
                            *matrix.value_mut(place + j) += block.entries.at(i, j);
                        }
                    }
                });
            }
            _ => {}
        })?;
        Ok(())
    }

    /// Diagonal entry of the matrix of (2).
    pub fn diagonal(&mut self, row: usize) -> f64 {
        match &mut self.global {
            Some(global) => global.diagonal(&mut self.systems, &self.links, row),
            None => self.problem.matrix().get(row, row),
        }
    }
}

/// Gives the first `m` entries of the diagonal this value.
fn set_diagonal(problem: &mut Problem, m: usize, value: f64) -> Result<(), NumericsError> {
    problem.update_matrix(|operator| match operator {
        Operator::Dense(matrix) => (0..m).for_each(|i| matrix[(i, i)] = value),
        Operator::Sparse(matrix) => {
            for place in (0..m).filter_map(|i| matrix.place(i, i)).collect::<Vec<_>>() {
                *matrix.value_mut(place) = value;
            }
        }
        _ => {}
    })
}

/// The larger of two errors; NaN is larger than all others.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// `y ← y + a A x` with the rows and columns of the multipliers alone.
fn add_product(A: &Operator, a: f64, x: &[f64], y: &mut [f64]) {
    let rows = y.iter_mut().enumerate().take(x.len());
    match A {
        Operator::Dense(A) => {
            rows.for_each(|(i, y)| *y += a * vector::dot(&A.row(i)[..x.len()], x));
        }
        Operator::Sparse(A) => rows.for_each(|(i, y)| {
            let entries = A.row(i).iter().filter(|entry| entry.col < x.len());
            *y += a * entries.map(|entry| entry.value * x[entry.col]).sum::<f64>();
        }),
        Operator::Global(A) => {
            let mut product = vec![0.0; x.len()];
            A.apply(x, &mut product);
            rows.zip(&product).for_each(|((_, y), product)| *y += a * product);
        }
        _ => {}
    }
}

/// Goes through the blocks of the matrix of (2): `D`, then `C Y` of every two links on a system.
#[inline]
fn each_block<'a>(
    given: impl Iterator<Item = ((&'a Matrix, &'a Range<usize>), &'a Vec<usize>)>,
    met: &[Met],
    links: &[Link],
    mut add: impl FnMut(Block<'_>),
) {
    for ((D, rows), places) in given.filter(|((D, _), _)| !D.is_zero()) {
        let (rows, first, entries) = (rows.clone(), rows.start, Entries::Given(D));
        add(Block { rows, first, places, entries });
    }
    for Met { links: group, places } in met {
        let acting = || group.iter().map(|&k| &links[k]).enumerate().filter(|of| of.1.on);
        for (i, of) in acting() {
            for (j, by) in acting() {
                let (rows, first) = (of.rows.clone(), by.rows.start);
                let places = &places[i * group.len() + j];
                let entries = Entries::Product(&of.C, &by.Yt);
                add(Block { rows, first, places, entries });
            }
        }
    }
}

/// A block of the matrix of (2).
struct Block<'a> {
    rows: Range<usize>,
    first: usize, // column
    places: &'a [usize],
    entries: Entries<'a>,
}

/// `D`, or `C Y`.
enum Entries<'a> {
    Given(&'a Matrix),
    Product(&'a Matrix, &'a Matrix),
}

impl Entries<'_> {
    fn cols(&self) -> usize {
        match self {
            Entries::Given(D) => D.cols(),
            Entries::Product(_, Yt) => Yt.rows(),
        }
    }

    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        match self {
            Entries::Given(D) => D[(i, j)],
            Entries::Product(C, Yt) => vector::dot(C.row(i), Yt.row(j)),
        }
    }
}
