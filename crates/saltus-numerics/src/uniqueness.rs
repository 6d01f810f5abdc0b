//! Whether an answer is the only one, as far as that can be told.
//!
//! 1. For convex sets (no shift of friction) and a `W` whose symmetric part is positive definite there is but one
//!    answer; likewise for boxes where `W` is a P-matrix, which is known of diagonally dominant ones and looked up for
//!    a dozen unknowns.
//! 2. Away from the edges of the laws they are smooth equations `f(z, w) = 0`, and with
//!
//! ```text
//! J = ∂f/∂z + ∂f/∂w W                                                                      (1)
//! ```
//!
//!    regular there is no other answer nearby. Where the problem is monotone its answers are a convex set, so that
//!    there is none at all.
//! 3. Where `J d = 0`, `z + t d` is tried. If it is an answer as good as `z`, at a distance that is no round-off,
//!    there are others: more contacts carry a load than it takes. Blocks on an edge are held still for that.
//!
//! Everything is to working precision: pivots below 1e-11 of the largest are zero, a definite matrix is one
//! with pivots above 1e-10 of its diagonal, and between these two nothing is said. Reference: Cottle, Pang, Stone,
//! *The Linear Complementarity Problem*, 1992, ch. 3; Facchinei, Pang, *Finite-Dimensional Variational
//! Inequalities*, 2003, §2.3, §3.3.

use crate::blocks::Blocks;
use crate::methods::Rows;
use crate::residual::residual;
use crate::sets::{Step, edges};
use crate::{NewtonFunction, NumericsError, Operator, Problem};
use saltus_linalg::{Kernel, Matrix, Sparse, SparseFactor, is_positive_definite, kernel, vector};

/// Pivots of (1) that are zero, and that are certainly not, relative to the largest.
const ZERO: f64 = 1e-11;
const REGULAR: f64 = 1e-8;
/// What is taken from the diagonal of a definite matrix, and added to that of a semidefinite one.
const DEFINITE: f64 = 1e-10;
const SEMIDEFINITE: f64 = 1e-12;
/// Distance from the edges of the laws that counts, relative to the largest unknown.
const EDGE: f64 = 1e-7;
/// Most unknowns whose kernel is computed; beyond it one direction of it is.
const DENSE: usize = 800;
/// Most unknowns whose principal minors are looked at.
const MINORS: usize = 12;
/// Least distance of another answer, relative to the largest unknown.
const APART: f64 = 1e-5;

/// Whether an answer is the only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uniqueness {
    /// The problem has no other answer.
    Global,
    /// There is no other answer nearby; there may be some elsewhere.
    Local,
    /// There are other answers, verified: at least along so many independent directions.
    Not {
        /// Number of these directions.
        dimension: usize,
    },
    /// It cannot be told.
    Unknown(Doubt),
}

/// Why it cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The point is no answer at that tolerance.
    NoAnswer,
    /// The map is a function.
    Function,
    /// This block is on an edge of its law, and the equations have no derivative there.
    Edge {
        /// The block.
        block: usize,
    },
    /// The equations are so badly conditioned that round-off decides.
    Conditioning,
    /// The equations are singular, but no other answer was found along their kernel.
    Singular,
}

impl Uniqueness {
    /// One word: `global`, `local`, `not`, `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Uniqueness::Global => "global",
            Uniqueness::Local => "local",
            Uniqueness::Not { .. } => "not",
            Uniqueness::Unknown(_) => "unknown",
        }
    }

    /// What is claimed, in words.
    pub fn words(self) -> String {
        match self {
            Uniqueness::Global => "the only answer".into(),
            Uniqueness::Local => "the only answer nearby".into(),
            Uniqueness::Not { dimension: 1 } => "other answers along at least 1 direction".into(),
            Uniqueness::Not { dimension } => {
                format!("other answers along at least {dimension} directions")
            }
            Uniqueness::Unknown(doubt) => match doubt {
                Doubt::NoAnswer => "unknown: this is no answer".into(),
                Doubt::Function => "unknown: the map is a function".into(),
                Doubt::Edge { block } => {
                    format!("unknown: block {block} is on an edge of its law")
                }
                Doubt::Conditioning => "unknown: round-off decides".into(),
                Doubt::Singular => {
                    "unknown: the equations are singular, but no other answer was found".into()
                }
            },
        }
    }
}

/// Whether the answer `z`, with a residual of at most `tol`, is the only one. Costs a factorization or two.
///
/// ```
/// use saltus_linalg::Matrix;
/// use saltus_numerics::{Problem, Solver, Uniqueness, solve, uniqueness};
///
/// // a bar on two supports at one place: who carries what is open
/// let W = Matrix::from([[1.0, 1.0], [1.0, 1.0]]);
/// let problem = Problem::lcp(W, vec![-1.0, -1.0])?;
/// assert_eq!(uniqueness(&problem, &[0.5, 0.5], 1e-8)?, Uniqueness::Not { dimension: 1 });
///
/// let W = Matrix::from([[2.0, 1.0], [1.0, 2.0]]);
/// let problem = Problem::lcp(W, vec![-1.0, -1.0])?;
/// let solution = solve(&problem, &Solver::default(), None)?;
/// assert_eq!(uniqueness(&problem, &solution.z, 1e-8)?, Uniqueness::Global);
/// # Ok::<(), saltus_numerics::NumericsError>(())
/// ```
pub fn uniqueness(problem: &Problem, z: &[f64], tol: f64) -> Result<Uniqueness, NumericsError> {
    let n = problem.len();
    if z.len() != n {
        return Err(NumericsError::Length { what: "z", expected: n, found: z.len() });
    }
    let mut w = vec![0.0; n];
    let left = residual(problem, z, &mut w).value;
    if !(left <= tol) {
        return Ok(Uniqueness::Unknown(Doubt::NoAnswer));
    }
    if let Operator::Function(_) = problem.matrix() {
        return Ok(Uniqueness::Unknown(Doubt::Function));
    }
    let W = entries(problem);
    let mut convex = true;
    problem.for_each_block(|_, set, _| convex &= set.is_monotone());
    if n == 0
        || (convex && is_definite(&W, -DEFINITE))
        || (problem.is_boxed() && (is_dominant(&W) || has_positive_minors(&W)))
    {
        return Ok(Uniqueness::Global);
    }
    let mut blocks = Blocks::default();
    blocks.update("uniqueness", problem)?;
    let at = Point::new(&blocks, z, &w, left);
    let equations = at.equations(&blocks);
    Ok(match equations.kernel() {
        Found::Regular => match at.edge {
            Some(block) => Uniqueness::Unknown(Doubt::Edge { block }),
            None if convex && is_definite(&W, SEMIDEFINITE) => Uniqueness::Global,
            None => Uniqueness::Local,
        },
        Found::Unclear => Uniqueness::Unknown(Doubt::Conditioning),
        Found::Directions(directions) => {
            let other = |d: &&Vec<f64>| at.leads_to_another(problem, &blocks, d, tol);
            match directions.iter().filter(other).count() {
                0 => Uniqueness::Unknown(Doubt::Singular),
                found => Uniqueness::Not { dimension: found.max(at.surplus(problem, &blocks)) },
            }
        }
    })
}

/// `W`, only nonzero entries stored.
fn entries(problem: &Problem) -> Sparse {
    match problem.matrix() {
        Operator::Dense(W) => Sparse::from_dense(W),
        Operator::Sparse(W) => W.clone(),
        Operator::Global(pair) => pair.condense(),
        Operator::Function(_) => Sparse::default(),
    }
}

/// Whether the symmetric part of `W`, with its diagonal scaled to one, is positive definite once `shift` is added to
/// that.
fn is_definite(W: &Sparse, shift: f64) -> bool {
    let n = W.rows();
    let mut scale = vec![0.0; n];
    for i in 0..n {
        let diagonal = W.get(i, i);
        scale[i] = match diagonal {
            _ if diagonal > 0.0 => 1.0 / diagonal.sqrt(),
            // a row and column of zeros are no obstacle to semidefiniteness
            _ if diagonal == 0.0 && shift > 0.0 => 1.0,
            _ => return false,
        };
    }
    let mut triplets: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, shift)).collect();
    for (i, j, x) in W.iter() {
        let half = 0.5 * x * scale[i] * scale[j];
        triplets.extend([(i, j, half), (j, i, half)]);
    }
    is_positive_definite(&Sparse::from_triplets(n, n, &triplets))
}

/// Whether each diagonal entry is larger than all others of its row together: then `W` is a P-matrix.
fn is_dominant(W: &Sparse) -> bool {
    (0..W.rows()).all(|i| {
        let (mut diagonal, mut others) = (0.0, 0.0);
        for entry in W.row(i) {
            if entry.col == i {
                diagonal = entry.value;
            } else {
                others += entry.value.abs();
            }
        }
        diagonal * (1.0 - DEFINITE) > others
    })
}

/// Whether all principal minors are positive, looked up for few unknowns: with the first unknown there or not, those
/// of the Schur complement or of what is left (Tsatsomeros, Li, 2000).
fn has_positive_minors(W: &Sparse) -> bool {
    fn positive(A: &Matrix, size: f64) -> bool {
        let n = A.rows();
        if n == 0 {
            return true;
        }
        let pivot = A[(0, 0)];
        if !(pivot > DEFINITE * size) {
            return false;
        }
        let (mut rest, mut schur) = (Matrix::zeros(n - 1, n - 1), Matrix::zeros(n - 1, n - 1));
        for i in 1..n {
            for j in 1..n {
                rest[(i - 1, j - 1)] = A[(i, j)];
                schur[(i - 1, j - 1)] = A[(i, j)] - A[(i, 0)] * A[(0, j)] / pivot;
            }
        }
        positive(&rest, size) && positive(&schur, size)
    }
    W.rows() <= MINORS && {
        let dense = W.to_dense();
        positive(&dense, vector::norm_inf(dense.data()))
    }
}

/// The laws at an answer, as equations.
struct Point<'a> {
    z: &'a [f64],
    size: f64, // of the largest unknown
    left: f64, // the residual
    dz: Vec<f64>,
    dw: Vec<f64>,
    at: Vec<usize>,      // where the blocks of these begin
    edge: Option<usize>, // the first block on an edge of its law
}

/// What (1) has for a kernel.
enum Found {
    Regular,
    Unclear,
    Directions(Vec<Vec<f64>>),
}

impl<'a> Point<'a> {
    fn new(blocks: &Blocks, z: &'a [f64], w: &[f64], left: f64) -> Point<'a> {
        let mut steps = Vec::with_capacity(blocks.len());
        let mut size = vector::norm_inf(z);
        let mut at = vec![0];
        for k in 0..blocks.len() {
            let (W, range) = (blocks.matrix.diagonal(k), blocks.matrix.range(k));
            let step =
                Step::of_block(&blocks.sets[k], NewtonFunction::AlartCurnier, W, range.len());
            for (i, &w) in w[range.clone()].iter().enumerate() {
                let rho = step.of_component(&blocks.sets[k], i, range.len());
                size = size.max(rho * w.abs());
            }
            at.push(at[k] + range.len() * range.len());
            steps.push(step);
        }
        let (mut dz, mut dw) = (vec![0.0; at[blocks.len()]], vec![0.0; at[blocks.len()]]);
        let mut edge = None;
        let close = EDGE.max(100.0 * left) * size;
        for k in 0..blocks.len() {
            let (range, own) = (blocks.matrix.range(k), at[k]..at[k + 1]);
            let (set, n) = (&blocks.sets[k], range.len());
            let (z, w) = (&z[range.clone()], &w[range]);
            let (dz, dw) = (&mut dz[own.clone()], &mut dw[own]);
            if edges::distance(set, steps[k], z, w).is_some_and(|distance| distance > close) {
                edges::jacobian(set, steps[k], z, w, dz, dw);
            } else {
                // held still
                edge = edge.or(Some(k));
                (0..n).for_each(|i| dz[i * n + i] = 1.0);
            }
        }
        Point { z, size, left, dz, dw, at, edge }
    }

    /// The matrix (1).
    fn equations(&self, blocks: &Blocks) -> Equations {
        let n = self.z.len();
        let none = vec![0.0; blocks.len()];
        let rows =
            Rows { blocks, size: &none, dz: &self.dz, dw: &self.dw, at: &self.at, alpha: 0.0 };
        let mut triplets = Vec::new();
        rows.for_each(|i, j, value| {
            if value != 0.0 {
                triplets.push((i, j, value));
            }
        });
        Equations::new(n, triplets)
    }

    /// Whether there is another answer along `d`.
    fn leads_to_another(&self, problem: &Problem, blocks: &Blocks, d: &[f64], tol: f64) -> bool {
        let largest = vector::norm_inf(d);
        if !(largest > 0.0 && largest.is_finite()) {
            return false;
        }
        let size = if self.size > 0.0 { self.size } else { 1.0 };
        let allowed = tol.min(2.0 * self.left + 1e-12);
        let (mut other, mut w) = (vec![0.0; d.len()], vec![0.0; d.len()]);
        for length in [0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4] {
            for sign in [1.0, -1.0] {
                for i in 0..d.len() {
                    other[i] = self.z[i] + sign * length * size / largest * d[i];
                }
                blocks.project(&mut other);
                let apart =
                    other.iter().zip(self.z).fold(0.0, |a: f64, (x, z)| a.max((x - z).abs()));
                if apart >= APART * size && residual(problem, &other, &mut w).value <= allowed {
                    return true;
                }
            }
        }
        false
    }

    /// Directions in which the blocks that neither slide nor open can change without any effect on the velocities
    /// of a pair `(M, H)`: as many as they have more components than there are velocities.
    fn surplus(&self, problem: &Problem, blocks: &Blocks) -> usize {
        let Some(pair) = problem.global() else { return 0 };
        let held = (0..blocks.len())
            .filter(|&k| self.dz[self.at[k]..self.at[k + 1]].iter().all(|d| *d == 0.0));
        let held: usize = held.map(|k| blocks.matrix.range(k).len()).sum();
        held.saturating_sub(pair.velocities())
    }
}

/// The matrix (1), rows and columns brought to size one by powers of two.
struct Equations {
    n: usize,
    entries: Vec<(usize, usize, f64)>,
    column: Vec<f64>,
}

impl Equations {
    fn new(n: usize, mut entries: Vec<(usize, usize, f64)>) -> Equations {
        let (mut row, mut column) = (vec![1.0; n], vec![1.0; n]);
        for _ in 0..2 {
            for of_rows in [true, false] {
                let mut largest = vec![0.0f64; n];
                for &(i, j, x) in &entries {
                    let at = if of_rows { i } else { j };
                    largest[at] = largest[at].max((x * row[i] * column[j]).abs());
                }
                let scale = if of_rows { &mut row } else { &mut column };
                for (scale, largest) in scale.iter_mut().zip(largest) {
                    if largest > 0.0 && largest.is_finite() {
                        *scale *= (-largest.log2()).round().exp2();
                    }
                }
            }
        }
        entries.iter_mut().for_each(|(i, j, x)| *x *= row[*i] * column[*j]);
        Equations { n, entries, column }
    }

    fn kernel(&self) -> Found {
        if self.entries.iter().any(|(_, _, x)| !x.is_finite()) {
            return Found::Unclear;
        }
        let found = if self.n <= DENSE { self.whole_kernel() } else { self.one_direction() };
        match found {
            Found::Directions(mut directions) => {
                for d in &mut directions {
                    d.iter_mut().zip(&self.column).for_each(|(d, scale)| *d *= scale);
                }
                Found::Directions(directions)
            }
            found => found,
        }
    }

    fn whole_kernel(&self) -> Found {
        let mut J = Matrix::zeros(self.n, self.n);
        self.entries.iter().for_each(|&(i, j, x)| J[(i, j)] += x);
        let Kernel { basis, least } = kernel(&J, ZERO);
        match basis.is_empty() {
            _ if least < REGULAR => Found::Unclear,
            true => Found::Regular,
            false => Found::Directions(basis),
        }
    }

    /// Inverse iteration with `J + ε I`: what grows by less than `1 / REGULAR` from some right-hand sides without any
    /// order has no kernel; what grows by `1 / ZERO` and stays zero under `J` is in it.
    fn one_direction(&self) -> Found {
        let n = self.n;
        let mut entries = self.entries.clone();
        entries.extend((0..n).map(|i| (i, i, 0.1 * ZERO)));
        let J = Sparse::from_triplets(n, n, &entries);
        let mut factor = SparseFactor::with_symmetry(&J, false);
        if factor.factor(&J).is_err() {
            return Found::Unclear;
        }
        let mut state = 1u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut most: (f64, Vec<f64>) = (0.0, Vec::new());
        for _ in 0..4 {
            let mut d: Vec<f64> = (0..n).map(|_| number()).collect();
            let before = vector::norm2(&d);
            factor.solve(&mut d);
            let growth = vector::norm2(&d) / before;
            if !growth.is_finite() {
                return Found::Unclear;
            }
            if growth > most.0 {
                most = (growth, d);
            }
        }
        let (growth, mut d) = most;
        if growth * REGULAR < 1.0 {
            return Found::Regular;
        }
        for _ in 0..3 {
            let length = vector::norm2(&d);
            d.iter_mut().for_each(|d| *d /= length);
            factor.solve(&mut d);
        }
        let largest = vector::norm_inf(&d);
        let mut image = vec![0.0; n];
        J.apply(&d, &mut image);
        match vector::norm_inf(&image) <= 10.0 * ZERO * largest {
            true => Found::Directions(vec![d]),
            false => Found::Unclear,
        }
    }
}
