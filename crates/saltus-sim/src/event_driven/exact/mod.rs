//! Linear modes are followed exactly.
//!
//! Where systems and relations are linear with constant coefficients, and all branches too, a mode
//! is
//!
//! ```text
//! E Ẋ = A X + B λ + b,    0 = C X + D λ + c                                           (1)
//! ```
//!
//! which falls apart into groups of systems that nothing holds together. Each is reduced once to a
//! differential equation (`reduce`) that is followed over any length by its exponential
//! (`powers`). There is no error to control; steps are so long that a polynomial of degree five
//! through their beginning, middle and end tells where the motion is between them, so that
//! whoever looks at a few instants misses nothing.

mod hold;
mod legs;
mod powers;
mod reduce;
#[cfg(test)]
mod tests;

use super::collocation::{Outcome, Tolerance};
use super::factor::root;
use super::mode::{Branch, Local, Mode};
use hold::Hold;
pub(super) use legs::{Begin, Legs};
use powers::Powers;
use reduce::{Equations, Reduced};
use saltus_linalg::{DenseLu, Matrix, vector};
use saltus_model::{At, Dependence, Model, Order, Relation, System};
use std::ops::Range;

/// States of a group, at most: larger ones are sparse, which exponentials are not.
const LARGEST: usize = 128;
/// Groups that are remembered, at most, of those that begin with the same system.
const REMEMBERED: usize = 32;
/// How far a motion may be from the polynomial, relative to how far it goes in the step.
const RESOLVED: f64 = 1e-5;
/// Share of the tolerance up to which a state may be off what its group holds; and up to which it may be
/// moved onto it.
const CONSISTENT: f64 = 1e-2;
const MOVED: f64 = 1.0;
/// The polynomial at θ = ¼: weights of values, then of slopes, at θ = 0, ½ and 1.
const QUARTER: [f64; 6] = [0.3515625, 0.5625, 0.0859375, 0.03515625, -0.140625, -0.01171875];

/// A linear model, and the groups of the mode that it is in.
#[derive(Debug)]
pub(super) struct Exact {
    parts: Vec<Part>,
    links: Vec<Link>,
    known: Vec<Vec<Group>>,      // by the first system of the group
    active: Vec<(usize, usize)>, // first system and place there
    group: Vec<usize>,           // of each system, among the active ones
    mode: Option<u64>,           // that the active groups are of
    able: bool,                  // whether this mode can be followed
    clock: u64,
    h: f64,
    lam: Vec<f64>, // multipliers that the mode fixes
    zeros: Vec<f64>,
    parent: Vec<usize>, // of the forest that finds the groups
    next: Vec<usize>,   // system of the same group
    last: Vec<usize>,   // system of the group of a root, so far
    slopes: [Vec<f64>; 3],
    /// The same from event to event, where it can.
    pub legs: Option<Legs>,
}

/// A system: `E Ẋ = A X + b`.
#[derive(Debug)]
struct Part {
    states: Vec<usize>, // in X: x, or q and v
    dim: usize,
    order: Order,
    E: Matrix,
    A: Matrix,
    b: Vec<f64>,
    links: Vec<usize>,
}

/// A relation: `y = C x + D λ + e`, driving with `B λ`.
#[derive(Debug)]
struct Link {
    systems: Vec<usize>,
    rows: Range<usize>,
    blocks: Range<usize>,
    C: Matrix,
    B: Matrix,
    D: Option<Matrix>,
    e: Vec<f64>,
    push: Vec<f64>, // M⁻¹ Hᵀ of a mechanical relation of one component
    give: f64,      // H M⁻¹ Hᵀ
}

/// Systems that move together.
#[derive(Debug)]
struct Group {
    systems: Vec<usize>,
    branches: Vec<Branch>, // of all laws of its systems
    used: u64,
    motion: Option<Motion>, // nothing where it cannot be reduced
}

#[derive(Debug)]
struct Motion {
    states: Vec<usize>,
    rows: Vec<usize>,
    powers: Powers,
    L: Matrix,
    C: Matrix,
    hold: Hold,
    start: Vec<f64>,
    end: Vec<f64>,
    now: Vec<f64>,
}

impl Exact {
    /// Nothing where something of the model is not linear with constant coefficients.
    pub fn new(model: &Model, mode: &Mode) -> Option<Exact> {
        let (nx, nq) = model.systems().fold((0, 0), |(nx, nq), (_, system)| match system.order() {
            Order::First => (nx + system.dim(), nq),
            Order::Second => (nx, nq + system.dim()),
        });
        let (mut x, mut q) = (0, nx);
        let mut parts = Vec::new();
        for (_, system) in model.systems() {
            let next = match system.order() {
                Order::First => &mut x,
                Order::Second => &mut q,
            };
            parts.push(Part::new(system, *next, nq, model.t0())?);
            *next += system.dim();
        }
        let (mut links, mut row, mut block): (Vec<Link>, _, _) = (Vec::new(), 0, 0);
        for (k, (_, interaction)) in model.interactions().enumerate() {
            let size = interaction.relation.size();
            let rows = row..row + size;
            row = rows.end;
            let first = block;
            while mode.blocks.get(block).is_some_and(|block| block.rows.end <= rows.end) {
                block += 1;
            }
            let systems: Vec<usize> = interaction.systems.iter().map(|id| id.index()).collect();
            systems.iter().for_each(|&system| parts[system].links.push(k));
            links.push(Link::new(&*interaction.relation, systems, rows, first..block)?);
        }
        links.iter_mut().for_each(|link| link.weigh(&parts));
        let n = parts.len();
        let legs = Legs::new(&parts, &links);
        Some(Exact {
            legs,
            known: parts.iter().map(|_| Vec::new()).collect(),
            parts,
            links,
            active: Vec::new(),
            group: vec![0; n],
            mode: None,
            able: false,
            clock: 0,
            h: 0.0,
            lam: vec![0.0; row],
            zeros: vec![0.0; row],
            parent: vec![0; n],
            next: vec![0; n],
            last: vec![0; n],
            slopes: Default::default(),
        })
    }

    /// Whether this mode can be followed.
    pub fn suits(&mut self, mode: &Mode) -> bool {
        if self.mode != Some(mode.id()) {
            self.able = self.prepare(mode);
            self.mode = Some(mode.id());
        }
        self.able
    }

    /// Finds the groups of a mode; whether each has its motion.
    fn prepare(&mut self, mode: &Mode) -> bool {
        self.clock += 1;
        self.active.clear();
        self.parent.clear();
        self.parent.extend(0..self.parts.len());
        for link in &self.links {
            let mut fixed = true;
            for k in link.blocks.clone() {
                if !mode.is_linear(k) {
                    return false;
                }
                match mode.fixed(k) {
                    Some(value) => self.lam[mode.blocks[k].rows.clone()].fill(value),
                    None => fixed = false,
                }
            }
            for pair in link.systems.windows(2).filter(|_| !fixed) {
                let [a, b] = [pair[0], pair[1]].map(|system| root(&mut self.parent, system));
                self.parent[a.max(b)] = a.min(b);
            }
        }
        // the systems of a group, chained; the root is the first, the last points to itself
        for system in 0..self.parts.len() {
            let first = root(&mut self.parent, system);
            self.next[system] = system;
            if first != system {
                self.next[self.last[first]] = system;
            }
            self.last[first] = system;
        }
        for first in 0..self.parts.len() {
            if self.parent[first] != first {
                continue;
            }
            let found = self.known[first].iter().position(|group| self.is(group, first, mode));
            let place = match found {
                Some(place) => place,
                None => {
                    let group = self.make(first, mode);
                    self.remember(first, group)
                }
            };
            let group = &mut self.known[first][place];
            group.used = self.clock;
            if group.motion.is_none() {
                return false;
            }
            for &system in &group.systems {
                self.group[system] = self.active.len();
            }
            self.active.push((first, place));
        }
        true
    }

    /// The systems of the group that begins with this one.
    fn systems(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        let after = |&system: &usize| {
            let next = self.next[system];
            (next != system).then_some(next)
        };
        std::iter::successors(Some(first), after)
    }

    /// The branches of all laws of a system.
    fn branches<'a>(&'a self, system: usize, mode: &'a Mode) -> impl Iterator<Item = Branch> + 'a {
        let blocks = self.parts[system].links.iter().flat_map(|&k| self.links[k].blocks.clone());
        blocks.map(|k| mode.branches[k])
    }

    fn is(&self, group: &Group, first: usize, mode: &Mode) -> bool {
        self.systems(first).eq(group.systems.iter().copied())
            && (self.systems(first).flat_map(|system| self.branches(system, mode)))
                .eq(group.branches.iter().copied())
    }

    fn remember(&mut self, first: usize, group: Group) -> usize {
        let known = &mut self.known[first];
        if known.len() < REMEMBERED {
            known.push(group);
            return known.len() - 1;
        }
        let oldest = (0..known.len()).min_by_key(|&k| known[k].used).unwrap_or(0);
        known[oldest] = group;
        oldest
    }

    fn make(&self, first: usize, mode: &Mode) -> Group {
        let systems: Vec<usize> = self.systems(first).collect();
        let branches = systems.iter().flat_map(|&system| self.branches(system, mode)).collect();
        let motion = self.motion(&systems, mode);
        Group { systems, branches, used: 0, motion }
    }

    /// Equation (1) of these systems, reduced.
    fn motion(&self, systems: &[usize], mode: &Mode) -> Option<Motion> {
        let size = |&system: &usize| self.parts[system].states.len();
        let n: usize = systems.iter().map(size).sum();
        if n > LARGEST {
            return None;
        }
        // where each system and link begins
        let mut states = Vec::new();
        let mut begins = vec![usize::MAX; self.parts.len()];
        let mut inside: Vec<usize> = Vec::new(); // links, each once
        for &system in systems {
            begins[system] = states.len();
            states.extend_from_slice(&self.parts[system].states);
            inside.extend_from_slice(&self.parts[system].links);
        }
        inside.sort_unstable();
        inside.dedup();
        // a link that fixes its multipliers drives, and has no unknowns
        let is_fixed =
            |&link: &usize| self.links[link].blocks.clone().all(|k| mode.fixed(k).is_some());
        let (fixed, free): (Vec<usize>, Vec<usize>) = inside.iter().partition(|&k| is_fixed(k));
        let rows: Vec<usize> = free.iter().flat_map(|&k| self.links[k].rows.clone()).collect();
        let mut equations = Equations::new(n, rows.len());
        for &system in systems {
            let (part, begin) = (&self.parts[system], begins[system]);
            for i in 0..part.states.len() {
                for j in 0..part.states.len() {
                    equations.add_unknown(begin + i, begin + j, part.E[(i, j)]);
                    equations.add_known(begin + i, begin + j, -part.A[(i, j)]);
                }
                equations.add_known(begin + i, n, -part.b[i]);
            }
        }
        for &k in &fixed {
            let link = &self.links[k];
            self.components(link, &begins, |column, _, drive| {
                for (i, row) in link.rows.clone().enumerate() {
                    equations.add_known(drive, n, -link.B[(column, i)] * self.lam[row]);
                }
            });
        }
        let mut first = n; // unknown of the first multiplier of the link
        let (mut local, mut constant) = (Local::default(), self.zeros.clone());
        for &k in &free {
            let link = &self.links[k];
            self.components(link, &begins, |column, _, drive| {
                for i in 0..link.rows.len() {
                    equations.add_unknown(drive, first + i, -link.B[(column, i)]);
                }
            });
            local.clear();
            for block in link.blocks.clone() {
                let zeros = &self.zeros[..];
                mode.linearize_block(block, 0.0, &[], zeros, zeros, &mut local).ok()?;
                mode.equations_of_block(block, 0.0, &[], [zeros; 3], &mut constant).ok()?;
            }
            for (row, other, by_y, by_u, by_lam) in local.of(link.rows.clone()) {
                let (i, equation) = (other - link.rows.start, first + row - link.rows.start);
                equations.add_unknown(equation, first + i, by_lam);
                self.components(link, &begins, |column, read, drive| {
                    equations.add_known(equation, read, by_y * link.C[(i, column)]);
                    equations.add_known(equation, drive, by_u * link.C[(i, column)]);
                });
                equations.add_known(equation, n, by_y * link.e[i]);
                if let Some(D) = &link.D {
                    for j in 0..link.rows.len() {
                        equations.add_unknown(equation, first + j, by_y * D[(i, j)]);
                    }
                }
            }
            for (i, row) in link.rows.clone().enumerate() {
                equations.add_known(first + i, n, constant[row]);
            }
            first += link.rows.len();
        }
        let Reduced { A, L, C } = equations.reduce()?;
        let is_massless = |k: usize| {
            let part = |&system: &usize| (&self.parts[system], begins[system]);
            let mut parts = systems.iter().map(part);
            parts.any(|(part, begin)| {
                let own = k >= begin && k - begin < part.states.len();
                own && (0..part.E.rows()).all(|i| part.E[(i, k - begin)] == 0.0)
            })
        };
        let hold = Hold::new(&C, is_massless);
        let memory = || vec![1.0; n + 1];
        let (start, end, now) = (memory(), memory(), memory());
        Some(Motion { states, rows, powers: Powers::new(A), L, C, hold, start, end, now })
    }

    /// Visits the components that a link speaks about, of systems of the group: its column, and
    /// where what it reads (`x` or `q`) and what it drives (`x` or `v`) stands.
    fn components(
        &self,
        link: &Link,
        begins: &[usize],
        mut visit: impl FnMut(usize, usize, usize),
    ) {
        let mut column = 0;
        for &system in &link.systems {
            let (part, begin) = (&self.parts[system], begins[system]);
            for j in 0..part.dim {
                if begin != usize::MAX {
                    let drive = match part.order {
                        Order::First => begin + j,
                        Order::Second => begin + part.dim + j,
                    };
                    visit(column, begin + j, drive);
                }
                column += 1;
            }
        }
    }

    /// A step from `X`; nothing where `X` is not on what the mode holds. The error tells how well
    /// a few instants show the motion.
    pub fn step(&mut self, X: &[f64], h: f64, tolerance: Tolerance) -> Option<Outcome> {
        self.h = h;
        let mut worst = 0.0_f64;
        for &(first, place) in &self.active {
            let Some(motion) = &mut self.known[first][place].motion else { return None };
            if !motion.begin(X, tolerance) {
                return None;
            }
            match motion.step(h, tolerance, &mut self.slopes) {
                Some(error) => worst = worst.max(error),
                None => return Some(Outcome::TooLong),
            }
        }
        Some(Outcome::Done(worst))
    }

    /// State and multipliers at the end of the step.
    pub fn end(&self, X: &mut [f64], lam: &mut [f64]) {
        lam.copy_from_slice(&self.lam);
        for &(first, place) in &self.active {
            if let Some(motion) = &self.known[first][place].motion {
                motion.put(&motion.end, X, lam);
            }
        }
    }

    /// State and multipliers at `θ h` of the step.
    pub fn at(&mut self, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        if theta == 1.0 {
            return self.end(X, lam);
        }
        lam.copy_from_slice(&self.lam);
        for group in 0..self.active.len() {
            self.group_at(group, theta, X, lam);
        }
    }

    /// The same of what interaction `k` speaks about, and what moves with it.
    pub fn interaction_at(&mut self, k: usize, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        let rows = self.links[k].rows.clone();
        lam[rows.clone()].copy_from_slice(&self.lam[rows]);
        for i in 0..self.links[k].systems.len() {
            self.group_at(self.group[self.links[k].systems[i]], theta, X, lam);
        }
    }

    /// The other interactions of the systems of `k`, where nothing but `k` can act on them.
    pub fn neighbours<'a>(
        &'a self,
        k: usize,
        mode: &'a Mode,
    ) -> Option<impl Iterator<Item = usize> + 'a> {
        let link = &self.links[k];
        let links = || link.systems.iter().flat_map(|&system| self.parts[system].links.iter());
        let open = |&other: &usize| {
            let mut blocks = self.links[other].blocks.clone();
            blocks.all(|k| mode.branches[k] == Branch::Open || mode.is_idle(k))
        };
        let idle = |&other: &usize| self.links[other].blocks.clone().all(|k| mode.is_idle(k));
        (!link.push.is_empty() && links().all(open))
            .then(|| links().copied().filter(move |other| *other != k && !idle(other)))
    }

    /// An impulse at interaction `k` that changes its relative velocity by `change`.
    pub fn push(&self, k: usize, change: f64, X: &mut [f64]) -> f64 {
        let link = &self.links[k];
        let impulse = change / link.give;
        let mut push = link.push.iter();
        for &system in &link.systems {
            let Part { states, dim, .. } = &self.parts[system];
            states[*dim..].iter().zip(&mut push).for_each(|(&i, push)| X[i] += impulse * push);
        }
        impulse
    }

    /// Whether the motion of all groups is a polynomial of so low a degree.
    pub fn is_polynomial(&self, degree: usize) -> bool {
        self.active.iter().all(|&(first, place)| {
            let motion = self.known[first][place].motion.as_ref();
            motion.is_some_and(|motion| motion.powers.degree().is_some_and(|of| of <= degree))
        })
    }

    fn group_at(&mut self, group: usize, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        let (first, place) = self.active[group];
        if let Some(motion) = &mut self.known[first][place].motion {
            motion.now.copy_from_slice(&motion.start);
            motion.powers.go(theta * self.h, &mut motion.now);
            motion.put(&motion.now, X, lam);
        }
    }
}

impl Motion {
    /// Begins at `X`; whether that is on what the group holds, or can be moved onto it by less than is
    /// allowed.
    fn begin(&mut self, X: &[f64], tolerance: Tolerance) -> bool {
        self.start.iter_mut().zip(&self.states).for_each(|(z, &i)| *z = X[i]);
        let holds = (0..self.C.rows()).all(|i| {
            let (row, n) = (self.C.row(i), self.states.len());
            let allowed = row[..n].iter().zip(&self.start).map(|(c, x)| c.abs() * tolerance.of(*x));
            vector::dot(row, &self.start).abs() <= CONSISTENT * allowed.sum::<f64>()
        });
        holds || self.hold.take(&mut self.start, |x| MOVED * tolerance.of(x))
    }

    /// How far the motion is from the polynomial of degree five through its beginning, middle and
    /// end, in units of what is allowed; nothing where it leaves the range of numbers.
    fn step(&mut self, h: f64, tolerance: Tolerance, slopes: &mut [Vec<f64>; 3]) -> Option<f64> {
        let Motion { powers, start, end, now, states, .. } = self;
        end.copy_from_slice(start);
        if !powers.go(h, end) {
            return None;
        }
        if powers.degree().is_some_and(|degree| degree <= 5) {
            return Some(0.0);
        }
        let n = states.len();
        let mut go = |theta: f64, z: &mut Vec<f64>| {
            z.clear();
            z.extend_from_slice(start);
            powers.go(theta * h, z)
        };
        let [quarter, middle, slope] = slopes;
        if !(go(0.25, quarter) && go(0.5, middle)) {
            return None;
        }
        // what the polynomial says at ¼, less what is there
        let [a, b, c, da, db, dc] = QUARTER;
        now.copy_from_slice(quarter);
        now.iter_mut().for_each(|x| *x = -*x);
        slope.resize(n + 1, 0.0);
        for (z, value, of_slope) in [(&*start, a, da), (&*middle, b, db), (&*end, c, dc)] {
            powers.slope(z, slope);
            vector::axpy(value, z, now);
            vector::axpy(of_slope * h, slope, now);
        }
        let mut worst = 0.0_f64;
        for i in 0..n {
            let far = [quarter[i], middle[i], end[i]].map(|x| (x - start[i]).abs());
            let far = far.into_iter().fold(0.0, f64::max);
            let allowed = RESOLVED * far + tolerance.of(start[i].abs().max(end[i].abs()));
            worst = worst.max(now[i].abs() / allowed);
        }
        Some(worst)
    }

    fn put(&self, z: &[f64], X: &mut [f64], lam: &mut [f64]) {
        self.states.iter().zip(z).for_each(|(&i, x)| X[i] = *x);
        for (i, &row) in self.rows.iter().enumerate() {
            lam[row] = vector::dot(self.L.row(i), z);
        }
    }
}

impl Part {
    /// The system whose states begin at `first`, velocities `behind` them.
    fn new(system: &System, first: usize, behind: usize, t: f64) -> Option<Part> {
        let (dim, order) = (system.dim(), system.order());
        let zeros = vec![0.0; dim];
        let (links, constant) = (Vec::new(), Dependence::Constant);
        match system {
            System::FirstOrder(system) => {
                let of = system.dependence();
                if [of.mass, of.jacobian, of.forcing].iter().any(|&one| one != constant) {
                    return None;
                }
                let at = At::new(t, &zeros, &[]).with(system.z0());
                let (mut E, mut A, mut b) = (Matrix::default(), Matrix::default(), zeros.clone());
                system.mass(at, &mut E).ok()?;
                system.rhs_dx(at, &mut A).ok()?;
                system.rhs(at, &mut b).ok()?;
                Some(Part { states: (first..first + dim).collect(), dim, order, E, A, b, links })
            }
            System::SecondOrder(system) => {
                let of = system.dependence();
                if [of.mass, of.jacobian, of.forcing].iter().any(|&one| one != constant) {
                    return None;
                }
                let at = At::new(t, &zeros, &zeros).with(system.z0());
                let (mut M, mut F, mut work) = (Matrix::default(), zeros.clone(), Vec::new());
                let (mut dq, mut dv) = (Matrix::default(), Matrix::default());
                system.mass_and_force(at, &mut M, &mut F, &mut work).ok()?;
                system.force_jacobians(at, &mut dq, &mut dv, &mut Matrix::default()).ok()?;
                let (mut E, mut A) = (Matrix::identity(2 * dim), Matrix::zeros(2 * dim, 2 * dim));
                let mut b = vec![0.0; 2 * dim];
                b[dim..].copy_from_slice(&F);
                for i in 0..dim {
                    A[(i, dim + i)] = 1.0;
                    for j in 0..dim {
                        E[(dim + i, dim + j)] = M[(i, j)];
                        A[(dim + i, j)] = dq[(i, j)];
                        A[(dim + i, dim + j)] = dv[(i, j)];
                    }
                }
                let q = first..first + dim;
                let states = q.clone().chain(q.map(|q| q + behind)).collect();
                Some(Part { states, dim, order, E, A, b, links })
            }
        }
    }
}

impl Link {
    fn new(
        relation: &dyn Relation,
        systems: Vec<usize>,
        rows: Range<usize>,
        blocks: Range<usize>,
    ) -> Option<Link> {
        let linear = relation.linear()?;
        let terms = relation.terms();
        if linear.moves || terms.time || terms.velocity || terms.feedback {
            return None;
        }
        let e = linear.e.map_or_else(|| vec![0.0; rows.len()], <[f64]>::to_vec);
        let B = linear.B.map_or_else(|| linear.C.transpose(), Matrix::clone);
        let (C, D, push) = (linear.C.clone(), linear.D.cloned(), Vec::new());
        Some(Link { systems, rows, blocks, C, B, D, e, push, give: 0.0 })
    }

    /// How an impulse moves its systems.
    fn weigh(&mut self, parts: &[Part]) {
        if self.rows.len() != 1 {
            return;
        }
        let mut column = 0;
        for &system in &self.systems {
            let Part { dim, order, E, .. } = &parts[system];
            let H = &self.C.row(0)[column..column + dim];
            column += dim;
            let mut lu = DenseLu::default();
            let M = |i: usize, j: usize| E[(dim + i, dim + j)];
            if *order != Order::Second || lu.factor_with(*dim, M).is_err() {
                (self.push, self.give) = (Vec::new(), 0.0);
                return;
            }
            let mut push = H.to_vec();
            lu.solve(&mut push);
            self.give += vector::dot(H, &push);
            self.push.extend(push);
        }
    }
}
