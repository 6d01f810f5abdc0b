//! The model as one differential-algebraic equation in `X = (x, q, v)`.
//!
//! ```text
//! M(t) ẋ = f(t, x) + r(t, x, λ),    q̇ = v,    M(q) v̇ = F(t, q, v) + Hᵀ λ              (1)
//! y = h(t, x, λ)  or  h(t, q, λ),    u = H v + ∂h/∂t                                  (2)
//! ```
//!
//! and one equation a multiplier, which the mode gives. `λ` are forces here, not impulses.

use super::ledger::Book;
use super::mode::{Held, Local, Mode};
use crate::SimError;
use saltus_linalg::{Matrix, vector};
use saltus_model::{
    At, Dependence, FirstOrderSystem, Model, OperatorError, Order, Relation, SecondOrderSystem,
    System, Terms,
};
use std::ops::Range;
use std::sync::Arc;

/// Systems and relations, with the memory to evaluate them.
#[derive(Debug)]
pub(super) struct Plant {
    first: Vec<First>,
    second: Vec<Second>,
    links: Vec<Link>,
    systems: Vec<(Range<usize>, Range<usize>)>, // of each: x and x, or q and v
    /// Components of `X`.
    pub states: usize,
    /// Components of `λ`.
    pub rows: usize,
    /// Outputs of the last evaluation.
    pub y: Vec<f64>,
    /// Relative velocities of the last evaluation; zero for first-order relations.
    pub u: Vec<f64>,
    work: Vec<f64>,
    work_matrix: Matrix,
    local: Local,
    pub(super) held: Vec<Held>, // memory of projections
}

#[derive(Debug)]
struct First {
    name: String,
    system: Arc<dyn FirstOrderSystem>,
    x: Range<usize>,
    inputs: Vec<f64>,
    M: Matrix,
    J: Matrix,
    f: Vec<f64>,
}

#[derive(Debug)]
struct Second {
    name: String,
    system: Arc<dyn SecondOrderSystem>,
    q: Range<usize>,
    v: Range<usize>,
    inputs: Vec<f64>,
    M: Matrix,
    dq: Matrix,
    dv: Matrix,
    F: Vec<f64>,
    D: Vec<f64>,     // what damps
    moved: Vec<f64>, // a configuration nearby
}

#[derive(Debug)]
struct Link {
    name: String,
    relation: Arc<dyn Relation>,
    order: Order,
    rows: Range<usize>,
    states: Vec<Range<usize>>, // of x, or of q
    forced: Vec<Range<usize>>, // of x, or of v
    terms: Terms,
    inputs: Vec<f64>,
    x: Vec<f64>, // of the linked systems, one after the other
    lam: Vec<f64>,
    r: Vec<f64>,
    C: Matrix, // ∂h/∂x, or H
    D: Matrix,
    B: Matrix,
    K: Matrix, // ∂g/∂x
    rate: Vec<f64>,
    du_dq: Matrix, // at constant v, where H turns
    turned: Matrix,
}

/// `∂R/∂Ẋ`, `∂R/∂X` and `∂R/∂λ`, entry by entry.
#[derive(Debug, Default)]
pub(super) struct Linearized {
    pub dK: Vec<(usize, usize, f64)>,
    pub dX: Vec<(usize, usize, f64)>,
    pub dlam: Vec<(usize, usize, f64)>,
    /// Rows that are held, with `C M⁻¹ B` and `D` of their own, about.
    pub held: Vec<(usize, f64, f64)>,
}

impl Plant {
    pub fn new(model: &Model) -> Plant {
        let (nx, nq) = model.systems().fold((0, 0), |(nx, nq), (_, system)| match system.order() {
            Order::First => (nx + system.dim(), nq),
            Order::Second => (nx, nq + system.dim()),
        });
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let (mut next_x, mut next_q) = (0, nx);
        let mut ranges = Vec::new(); // of each system: what relations read, what they drive
        for (name, system) in model.systems() {
            let name = name.to_string();
            match system {
                System::FirstOrder(system) => {
                    let x = next_x..next_x + system.dim();
                    next_x = x.end;
                    ranges.push((x.clone(), x.clone()));
                    let (system, inputs) = (Arc::clone(system), system.z0().to_vec());
                    let f = vec![0.0; x.len()];
                    let (M, J) = (Matrix::default(), Matrix::default());
                    first.push(First { name, system, x, inputs, M, J, f });
                }
                System::SecondOrder(system) => {
                    let q = next_q..next_q + system.dim();
                    next_q = q.end;
                    let v = q.start + nq..q.end + nq;
                    ranges.push((q.clone(), v.clone()));
                    let (system, inputs) = (Arc::clone(system), system.z0().to_vec());
                    let (F, D, moved) = (vec![0.0; q.len()], vec![0.0; q.len()], Vec::new());
                    let (M, dq, dv) = (Matrix::default(), Matrix::default(), Matrix::default());
                    second.push(Second { name, system, q, v, inputs, M, dq, dv, F, D, moved });
                }
            }
        }
        let (mut links, mut rows) = (Vec::new(), 0);
        for (name, interaction) in model.interactions() {
            let relation = Arc::clone(&interaction.relation);
            let linked = interaction.systems.iter().map(|id| &ranges[id.index()]);
            let (states, forced): (Vec<_>, Vec<_>) = linked.cloned().unzip();
            let size = relation.size();
            links.push(Link {
                name: name.to_string(),
                order: relation.order(),
                rows: rows..rows + size,
                terms: relation.terms(),
                inputs: relation.z0().to_vec(),
                relation,
                x: Vec::new(),
                lam: vec![0.0; size],
                r: vec![0.0; states.iter().map(Range::len).sum()],
                states,
                forced,
                C: Matrix::default(),
                D: Matrix::default(),
                B: Matrix::default(),
                K: Matrix::default(),
                rate: vec![0.0; size],
                du_dq: Matrix::default(),
                turned: Matrix::default(),
            });
            rows += size;
        }
        let states = nx + 2 * nq;
        Plant {
            first,
            second,
            links,
            systems: ranges,
            states,
            rows,
            y: vec![0.0; rows],
            u: vec![0.0; rows],
            work: Vec::new(),
            work_matrix: Matrix::default(),
            local: Local::default(),
            held: Vec::new(),
        }
    }

    /// The initial state.
    pub fn initial(&self) -> Vec<f64> {
        let mut X = vec![0.0; self.states];
        for one in &self.first {
            X[one.x.clone()].copy_from_slice(one.system.x0());
        }
        for one in &self.second {
            X[one.q.clone()].copy_from_slice(one.system.q0());
            X[one.v.clone()].copy_from_slice(one.system.v0());
        }
        X
    }

    /// Where `x` or `q` of a system stands, or its `v`.
    pub fn system(&self, k: usize, velocity: bool) -> Range<usize> {
        let (first, second) = &self.systems[k];
        if velocity { second.clone() } else { first.clone() }
    }

    /// Takes over the inputs of the plant of a model that has been changed since.
    pub fn adopt(&mut self, old: &Plant) {
        let first = self.first.iter_mut().map(|one| &mut one.inputs);
        let second = self.second.iter_mut().map(|one| &mut one.inputs);
        let links = self.links.iter_mut().map(|one| &mut one.inputs);
        let known = old.first.iter().map(|one| &one.inputs);
        let known = known.chain(old.second.iter().map(|one| &one.inputs));
        let known = known.chain(old.links.iter().map(|one| &one.inputs));
        for (inputs, known) in first.chain(second).chain(links).zip(known) {
            inputs.clone_from(known);
        }
    }

    /// The components that relations of interaction `k` read.
    pub fn states_of(&self, k: usize) -> &[Range<usize>] {
        &self.links[k].states
    }

    /// Whether two interactions have a system in common.
    pub fn share(&self, k: usize, l: usize) -> bool {
        let (a, b) = (&self.links[k].forced, &self.links[l].forced);
        a.iter().any(|range| b.contains(range))
    }

    /// Outputs `y` and relative velocities `u`, kept in the plant.
    pub fn outputs(&mut self, t: f64, X: &[f64], lam: &[f64]) -> Result<(), SimError> {
        for link in &mut self.links {
            link.outputs(t, X, lam, &mut self.y, &mut self.u)?;
        }
        Ok(())
    }

    /// The same of one interaction alone.
    pub fn outputs_of(&mut self, k: usize, t: f64, X: &[f64], lam: &[f64]) -> Result<(), SimError> {
        self.links[k].outputs(t, X, lam, &mut self.y, &mut self.u)
    }

    /// The outputs of one interaction, where they were evaluated last.
    pub fn gaps(&self, k: usize) -> &[f64] {
        &self.y[self.links[k].rows.clone()]
    }

    /// The interaction that a row belongs to.
    pub fn interaction_of(&self, row: usize) -> usize {
        self.links.partition_point(|link| link.rows.end <= row)
    }

    /// `R`: equation (1), then the equations of the mode.
    pub fn residual(
        &mut self,
        t: f64,
        X: &[f64],
        K: &[f64],
        lam: &[f64],
        mode: &Mode,
        R: &mut [f64],
    ) -> Result<(), SimError> {
        let (balance, equations) = R.split_at_mut(self.states);
        for one in &mut self.first {
            let at = At::new(t, &X[one.x.clone()], &[]).with(&one.inputs);
            let named = |error: OperatorError| error.of(&one.name);
            one.system.mass(at, &mut one.M).map_err(named)?;
            one.system.rhs(at, &mut one.f).map_err(named)?;
            for (i, row) in one.x.clone().enumerate() {
                balance[row] = vector::dot(one.M.row(i), &K[one.x.clone()]) - one.f[i];
            }
        }
        for one in &mut self.second {
            let at = At::new(t, &X[one.q.clone()], &X[one.v.clone()]).with(&one.inputs);
            let evaluated = one.system.mass_and_force(at, &mut one.M, &mut one.F, &mut self.work);
            evaluated.map_err(|error| error.of(&one.name))?;
            for (i, (q, v)) in one.q.clone().zip(one.v.clone()).enumerate() {
                balance[q] = K[q] - X[v];
                balance[v] = vector::dot(one.M.row(i), &K[one.v.clone()]) - one.F[i];
            }
        }
        for link in &mut self.links {
            link.outputs(t, X, lam, &mut self.y, &mut self.u)?;
            link.drive(t, lam, balance)?;
        }
        mode.equations(t, X, &self.y, &self.u, lam, equations)
    }

    /// The derivatives of `R`; how `M` and `H` turn with `q` by differences.
    pub fn linearize(
        &mut self,
        t: f64,
        X: &[f64],
        K: &[f64],
        lam: &[f64],
        mode: &Mode,
        out: &mut Linearized,
    ) -> Result<(), SimError> {
        let Linearized { dK, dX, dlam, held } = out;
        held.clear();
        dK.clear();
        dX.clear();
        dlam.clear();
        for one in &mut self.first {
            let at = At::new(t, &X[one.x.clone()], &[]).with(&one.inputs);
            let named = |error: OperatorError| error.of(&one.name);
            one.system.mass(at, &mut one.M).map_err(named)?;
            one.system.rhs_dx(at, &mut one.J).map_err(named)?;
            put(dK, &one.M, one.x.start, one.x.start, 1.0);
            put(dX, &one.J, one.x.start, one.x.start, -1.0);
        }
        for one in &mut self.second {
            let at = At::new(t, &X[one.q.clone()], &X[one.v.clone()]).with(&one.inputs);
            let named = |error: OperatorError| error.of(&one.name);
            one.system.mass(at, &mut one.M).map_err(named)?;
            let work = &mut self.work_matrix;
            one.system.force_jacobians(at, &mut one.dq, &mut one.dv, work).map_err(named)?;
            put(dK, &one.M, one.v.start, one.v.start, 1.0);
            if one.system.dependence().mass == Dependence::State {
                let mut q = X[one.q.clone()].to_vec();
                let mut turned = Matrix::default();
                for j in 0..q.len() {
                    let (old, step) = nudge(&mut q[j]);
                    let at = At::new(t, &q, &X[one.v.clone()]).with(&one.inputs);
                    one.system.mass(at, &mut turned).map_err(named)?;
                    q[j] = old;
                    for (i, row) in one.v.clone().enumerate() {
                        let rows = turned.row(i).iter().zip(one.M.row(i));
                        let change: f64 =
                            rows.zip(&K[one.v.clone()]).map(|((a, b), K)| (a - b) * K).sum();
                        if change != 0.0 {
                            dX.push((row, one.q.start + j, change / step));
                        }
                    }
                }
            }
            put(dX, &one.dq, one.v.start, one.q.start, -1.0);
            put(dX, &one.dv, one.v.start, one.v.start, -1.0);
            for (q, v) in one.q.clone().zip(one.v.clone()) {
                dK.push((q, q, 1.0));
                dX.push((q, v, -1.0));
            }
        }
        for link in &mut self.links {
            link.outputs(t, X, lam, &mut self.y, &mut self.u)?;
            link.linearize(t, dX, dlam)?;
            link.turn(t, X, lam, dX)?;
        }
        let mut mass = vec![1.0; self.states];
        dK.iter().filter(|(i, j, _)| i == j).for_each(|&(i, _, x)| mass[i] = x);
        // the mode's equations through y and u
        mode.linearize(t, X, &self.y, &self.u, lam, &mut self.local)?;
        for link in &self.links {
            let first = link.rows.start;
            for (row, other, by_y, by_u, by_lam) in self.local.of(link.rows.clone()) {
                let i = other - first;
                if by_lam != 0.0 {
                    dlam.push((self.states + row, other, by_lam));
                } else if row == other {
                    let own = if link.terms.through { by_y * link.D[(i, i)] } else { 0.0 };
                    held.push((row, link.reach(i, &mass), own));
                }
                let mut column = 0;
                for (states, forced) in link.states.iter().zip(&link.forced) {
                    for j in 0..states.len() {
                        let entry = link.C[(i, column + j)];
                        if by_y * entry != 0.0 {
                            dX.push((self.states + row, states.start + j, by_y * entry));
                        }
                        if by_u * entry != 0.0 {
                            dX.push((self.states + row, forced.start + j, by_u * entry));
                        }
                    }
                    column += states.len();
                }
                if by_u != 0.0 && link.turns() {
                    let columns = link.states.iter().flat_map(Clone::clone);
                    for (j, column) in columns.enumerate() {
                        if link.du_dq[(i, j)] != 0.0 {
                            dX.push((self.states + row, column, by_u * link.du_dq[(i, j)]));
                        }
                    }
                }
                if by_y != 0.0 && link.terms.through {
                    for j in 0..link.rows.len() {
                        if link.D[(i, j)] != 0.0 {
                            dlam.push((self.states + row, first + j, by_y * link.D[(i, j)]));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Kinetic and potential energy.
    pub fn energies(&mut self, t: f64, X: &[f64]) -> Result<(f64, f64), SimError> {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for one in &mut self.second {
            let (q, v) = (&X[one.q.clone()], &X[one.v.clone()]);
            let at = At::new(t, q, v).with(&one.inputs);
            one.system.mass(at, &mut one.M).map_err(|error| error.of(&one.name))?;
            for (i, v_i) in v.iter().enumerate() {
                kinetic += 0.5 * v_i * vector::dot(one.M.row(i), v);
            }
            potential += one.system.potential(q);
        }
        Ok((kinetic, potential))
    }

    /// Adds the powers at an instant, times `weight`, to the ledger. Outputs were evaluated before.
    pub fn book(
        &mut self,
        t: f64,
        X: &[f64],
        lam: &[f64],
        weight: f64,
        book: &mut Book,
    ) -> Result<(), SimError> {
        for one in &mut self.second {
            let (q, v) = (&X[one.q.clone()], &X[one.v.clone()]);
            let at = At::new(t, q, v).with(&one.inputs);
            let named = |error: OperatorError| error.of(&one.name);
            one.system.mass_and_force(at, &mut one.M, &mut one.F, &mut self.work).map_err(named)?;
            let work = vector::dot(&one.F, v);
            one.D.fill(0.0);
            self.work.resize(self.work.len().max(v.len()), 0.0);
            let room = &mut self.work[..v.len()];
            if !one.system.damping(at, &mut one.D, room).map_err(named)? {
                one.D.fill(0.0);
            }
            let damping = vector::dot(&one.D, v);
            let mut turned = 0.0;
            if one.system.dependence().mass == Dependence::State {
                // ½ vᵀ Ṁ v by a central difference along v
                let size = v.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                let step = if size > 0.0 { 1e-5 / size } else { 0.0 };
                let mut quadratic = |side: f64| -> Result<f64, SimError> {
                    one.moved.clear();
                    one.moved.extend(q.iter().zip(v).map(|(q, v)| q + side * step * v));
                    let at = At::new(t, &one.moved, v).with(&one.inputs);
                    one.system.mass(at, &mut one.M).map_err(|error| error.of(&one.name))?;
                    let rows = v.iter().enumerate();
                    Ok(rows.map(|(i, v_i)| v_i * vector::dot(one.M.row(i), v)).sum())
                };
                if step > 0.0 {
                    turned = 0.25 * (quadratic(1.0)? - quadratic(-1.0)?) / step;
                }
            }
            book.ledger.work += weight * (work + damping + turned);
            book.ledger.damping += weight * damping;
        }
        for link in self.links.iter().filter(|link| link.order == Order::Second) {
            for (i, row) in link.rows.clone().enumerate().filter(|(_, row)| lam[*row] != 0.0) {
                book.take(row, weight * lam[row] * self.u[row]);
                book.ledger.work -= weight * lam[row] * link.rate[i];
            }
        }
        Ok(())
    }

    /// The velocity with which the surface of a mechanical row moves by itself.
    pub fn moved(&self, row: usize) -> Option<f64> {
        let link = self.link_of(row).filter(|link| link.order == Order::Second)?;
        Some(link.rate[row - link.rows.start])
    }

    /// Order of the systems that row `row` of the relations speaks about.
    pub fn order_of(&self, row: usize) -> Order {
        self.link_of(row).map_or(Order::First, |link| link.order)
    }

    /// Whether the output of the row depends on `λ`, or means nothing.
    pub fn is_through(&self, row: usize) -> bool {
        self.link_of(row).is_none_or(|link| link.terms.through)
    }

    /// Whether the row has a gap that must stay where it is.
    pub fn has_gap(&self, row: usize) -> bool {
        self.link_of(row).is_some_and(|link| !link.terms.velocity)
    }

    fn link_of(&self, row: usize) -> Option<&Link> {
        self.links.get(self.interaction_of(row))
    }

    /// `M` where it measures how far states move: of velocities and first-order states, or of
    /// configurations. The rest stays.
    pub fn metric(
        &mut self,
        t: f64,
        X: &[f64],
        velocities: bool,
    ) -> Result<Vec<(usize, usize, f64)>, SimError> {
        let mut entries = Vec::new();
        for one in &self.first {
            entries.extend(one.x.clone().map(|x| (x, x, 1.0)));
        }
        for one in &mut self.second {
            let at = At::new(t, &X[one.q.clone()], &X[one.v.clone()]).with(&one.inputs);
            one.system.mass(at, &mut one.M).map_err(|error| error.of(&one.name))?;
            let (moved, still) = match velocities {
                true => (&one.v, &one.q),
                false => (&one.q, &one.v),
            };
            put(&mut entries, &one.M, moved.start, moved.start, 1.0);
            entries.extend(still.clone().map(|i| (i, i, 1.0)));
        }
        Ok(entries)
    }

    /// The rows `C` of what is held, and `−Cᵀ`. Outputs were evaluated before.
    pub fn constraints(
        &self,
        velocities: bool,
        active: &[bool],
        entries: &mut Vec<(usize, usize, f64)>,
    ) {
        for link in &self.links {
            let ranges = match link.order == Order::Second && velocities {
                true => &link.forced,
                false => &link.states,
            };
            for (i, row) in link.rows.clone().enumerate().filter(|(_, row)| active[*row]) {
                let columns = ranges.iter().flat_map(Clone::clone);
                for (j, column) in columns.enumerate() {
                    let entry = link.C[(i, j)];
                    if entry != 0.0 {
                        entries.push((self.states + row, column, entry));
                        entries.push((column, self.states + row, -entry));
                    }
                }
            }
        }
    }
}

impl Link {
    /// Whether `H` depends on `q`.
    fn turns(&self) -> bool {
        self.order == Order::Second && self.relation.linear().is_none()
    }

    /// `C M⁻¹ B` of a component with itself, with the diagonal of `M`.
    fn reach(&self, i: usize, mass: &[f64]) -> f64 {
        let forced = self.forced.iter().flat_map(Clone::clone);
        let terms = forced.enumerate().map(|(j, row)| {
            let B = if self.relation.input().is_some() { self.B[(j, i)] } else { self.C[(i, j)] };
            if mass[row] == 0.0 { 0.0 } else { self.C[(i, j)] * B / mass[row] }
        });
        terms.sum()
    }

    /// How `Hᵀ λ` and `H v + ∂h/∂t` change with `q`, by differences.
    fn turn(
        &mut self,
        t: f64,
        X: &[f64],
        lam: &[f64],
        dX: &mut Vec<(usize, usize, f64)>,
    ) -> Result<(), SimError> {
        if !self.turns() {
            return Ok(());
        }
        let (m, n) = (self.rows.len(), self.x.len());
        self.du_dq.reset(m, n);
        let mut rate = vec![0.0; m];
        let columns: Vec<usize> = self.states.iter().flat_map(Clone::clone).collect();
        let forced: Vec<usize> = self.forced.iter().flat_map(Clone::clone).collect();
        for j in 0..n {
            let (old, step) = nudge(&mut self.x[j]);
            let at = At::new(t, &self.x, &self.lam).with(&self.inputs);
            let named = |error: OperatorError| error.of(&self.name);
            self.relation.output_dx(at, &mut self.turned).map_err(named)?;
            if self.terms.time {
                self.relation.output_dt(at, &mut rate).map_err(named)?;
            }
            self.x[j] = old;
            for i in 0..m {
                let mut change = rate[i] - self.rate[i];
                for (k, &v) in forced.iter().enumerate() {
                    change += (self.turned[(i, k)] - self.C[(i, k)]) * X[v];
                }
                self.du_dq[(i, j)] = change / step;
            }
            for (k, &row) in forced.iter().enumerate() {
                let mut change = 0.0;
                for (i, lam) in lam[self.rows.clone()].iter().enumerate() {
                    change += (self.turned[(i, k)] - self.C[(i, k)]) * lam;
                }
                if change != 0.0 {
                    dX.push((row, columns[j], -change / step));
                }
            }
        }
        Ok(())
    }

    fn gather(&mut self, X: &[f64]) {
        self.x.clear();
        self.states.iter().for_each(|range| self.x.extend_from_slice(&X[range.clone()]));
    }

    fn outputs(
        &mut self,
        t: f64,
        X: &[f64],
        lam: &[f64],
        y: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), SimError> {
        self.gather(X);
        self.lam.copy_from_slice(&lam[self.rows.clone()]);
        let at = At::new(t, &self.x, &self.lam).with(&self.inputs);
        let named = |error: OperatorError| error.of(&self.name);
        if !self.terms.velocity {
            self.relation.output(at, &mut y[self.rows.clone()]).map_err(named)?;
        }
        self.relation.output_dx(at, &mut self.C).map_err(named)?;
        if self.order == Order::Second {
            if self.terms.time {
                self.relation.output_dt(at, &mut self.rate).map_err(named)?;
            }
            for (i, row) in self.rows.clone().enumerate() {
                let mut sum = self.rate[i];
                let mut column = 0;
                for forced in &self.forced {
                    let H = &self.C.row(i)[column..column + forced.len()];
                    sum += vector::dot(H, &X[forced.clone()]);
                    column += forced.len();
                }
                u[row] = sum;
            }
        }
        Ok(())
    }

    /// Takes `r`, or `Hᵀ λ`, from the balance. Outputs were evaluated before.
    fn drive(&mut self, t: f64, lam: &[f64], balance: &mut [f64]) -> Result<(), SimError> {
        match self.relation.input() {
            Some(input) => {
                let at = At::new(t, &self.x, &self.lam).with(&self.inputs);
                input.value(at, &mut self.r).map_err(|error| error.of(&self.name))?;
            }
            None => {
                self.r.fill(0.0);
                for (i, row) in self.rows.clone().enumerate() {
                    if lam[row] != 0.0 {
                        vector::axpy(lam[row], self.C.row(i), &mut self.r);
                    }
                }
            }
        }
        let mut column = 0;
        for forced in &self.forced {
            for (j, row) in forced.clone().enumerate() {
                balance[row] -= self.r[column + j];
            }
            column += forced.len();
        }
        Ok(())
    }

    /// How the balance depends on `x` and `λ`; keeps `C` and `D`.
    fn linearize(
        &mut self,
        t: f64,
        dX: &mut Vec<(usize, usize, f64)>,
        dlam: &mut Vec<(usize, usize, f64)>,
    ) -> Result<(), SimError> {
        let at = At::new(t, &self.x, &self.lam).with(&self.inputs);
        let named = |error: OperatorError| error.of(&self.name);
        self.relation.output_dx(at, &mut self.C).map_err(named)?;
        if self.terms.through {
            self.relation.output_dlam(at, &mut self.D).map_err(named)?;
        }
        let mut column = 0;
        let input = self.relation.input();
        if let Some(input) = input {
            input.dlam(at, &mut self.B).map_err(named)?;
            if self.terms.feedback {
                input.dx(at, &mut self.K).map_err(named)?;
            }
        }
        for forced in &self.forced {
            for j in 0..forced.len() {
                for (i, row) in self.rows.clone().enumerate() {
                    let entry = match input {
                        Some(_) => self.B[(column + j, i)],
                        None => self.C[(i, column + j)],
                    };
                    if entry != 0.0 {
                        dlam.push((forced.start + j, row, -entry));
                    }
                }
                if input.is_some() && self.terms.feedback {
                    let mut other = 0;
                    for states in &self.states {
                        for k in 0..states.len() {
                            let entry = self.K[(column + j, other + k)];
                            if entry != 0.0 {
                                dX.push((forced.start + j, states.start + k, -entry));
                            }
                        }
                        other += states.len();
                    }
                }
            }
            column += forced.len();
        }
        Ok(())
    }
}

/// Moves a component a little; its old value, and how far it moved.
fn nudge(x: &mut f64) -> (f64, f64) {
    let old = *x;
    *x = old + 1e-7 * old.abs().max(1e-3);
    (old, *x - old)
}

fn put(
    entries: &mut Vec<(usize, usize, f64)>,
    block: &Matrix,
    row: usize,
    column: usize,
    scale: f64,
) {
    for i in 0..block.rows() {
        for (j, &x) in block.row(i).iter().enumerate() {
            if x != 0.0 {
                entries.push((row + i, column + j, scale * x));
            }
        }
    }
}
