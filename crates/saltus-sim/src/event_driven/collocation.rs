//! One step of Radau's collocation inside a mode.
//!
//! In a mode every multiplier has one equation, so that the model is a differential-algebraic
//! equation `R(t, X, Ẋ, λ) = 0`. A polynomial of degree `s` meets it at the nodes of Radau:
//!
//! ```text
//! R(t + cᵢ h, Xᵢ, Kᵢ, λᵢ) = 0,    Xᵢ = X + h Σⱼ aᵢⱼ Kⱼ,    i = 1 … s                  (1)
//! ```
//!
//! The last node is the end of the step, so that constraints hold there; the order is `2 s − 1`,
//! for constrained velocities (index 2) too. Errors are those of an embedded formula that also
//! uses the beginning of the step, filtered so that stiff parts do not count:
//!
//! ```text
//! (γ/h M − J) e = f(X) + γ M Σᵢ (b̂ᵢ − bᵢ) Kᵢ,    Σᵢ b̂ᵢ cᵢᵏ⁻¹ = 1/k − δ₁ₖ/γ            (2)
//! ```
//!
//! with `γ` the real eigenvalue of `A⁻¹`. E. Hairer, G. Wanner, Solving Ordinary Differential
//! Equations II, chapter IV.8.

use super::factor::Factor;
use super::mode::Mode;
use super::plant::{Linearized, Plant};
use crate::SimError;
use saltus_linalg::{DenseLu, Matrix};

/// Stages of the formula.
const STAGES: usize = 5;
/// The nodes of Radau IIA with five stages.
pub(super) const NODES: [f64; STAGES] = [
    0.057_104_196_114_517_68,
    0.276_843_013_638_123_8,
    0.583_590_432_368_916_8,
    0.860_240_135_656_219_4,
    1.0,
];
/// The real eigenvalue of `A⁻¹`.
const GAMMA: f64 = 6.286_704_751_729_277;
/// How much a held row gives way in the matrix of Newton's method, not in what it solves. Rows
/// that say the same, or a position in which they do, keep the multipliers of the step before.
const LOOSE: f64 = 1e-10;
/// Ratio of the multipliers in a step from which it is strained.
const STRAIN: f64 = 4.0;
/// Changes, relative to the state, that round-off may cause: of a velocity that is zero, say, beside
/// others that are not.
const ROUND_OFF: f64 = 1e4 * f64::EPSILON;
/// Iterations after which a step is too long.
const ITERATIONS: usize = 12;

/// The formula, and the last step that it did.
#[derive(Debug)]
pub(super) struct Collocation {
    A: Matrix,
    d: [f64; STAGES], // b̂ − b
    divided: Matrix,  // from K to the coefficients of the polynomial Ẋ(θ)
    states: usize,
    rows: usize,
    t: f64,
    h: f64,
    X: Vec<f64>,   // at the beginning
    K: Vec<f64>,   // stage by stage
    lam: Vec<f64>, // stage by stage
    kept: Kept,
    guess: Vec<f64>, // of the multipliers, where no step is kept
    spoiled: bool,   // the last step is no guess for the next
    stage: Vec<f64>,
    residual: Vec<f64>,
    change: Vec<f64>,
    error: Vec<f64>,
    start: Vec<f64>,                  // multipliers at the beginning
    linearized: [Linearized; STAGES], // the first alone, where the slopes of the beginning do
    entries: Vec<(usize, usize, f64)>,
    factor: Factor,
    filter: Factor,
    factored: Option<(u64, f64)>, // the mode and the step that the factors belong to
    pub iterations: usize,
}

/// The slopes and multipliers of the last step that was taken, for a first guess of the next.
#[derive(Debug)]
struct Kept {
    K: Vec<f64>,
    lam: Vec<f64>,
    h: f64,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// With this error, in units of the tolerance.
    Done(f64),
    /// Newton's method did not converge.
    TooLong,
}

/// Errors that are allowed: `atol + rtol |X|`, component by component.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerance {
    pub rtol: f64,
    pub atol: f64,
}

impl Tolerance {
    pub fn of(&self, x: f64) -> f64 {
        self.atol + self.rtol * x.abs()
    }
}

impl Collocation {
    pub fn new(states: usize, rows: usize) -> Collocation {
        let (A, weights) = tableau();
        let mut d = [0.0; STAGES];
        for (d, (hat, b)) in d.iter_mut().zip(weights.iter().zip(A.row(STAGES - 1))) {
            *d = hat - b;
        }
        let n = STAGES * (states + rows);
        Collocation {
            A,
            d,
            divided: polynomial(),
            states,
            rows,
            t: 0.0,
            h: 0.0,
            X: vec![0.0; states],
            K: vec![0.0; STAGES * states],
            lam: vec![0.0; STAGES * rows],
            kept: Kept { K: vec![0.0; STAGES * states], lam: vec![0.0; STAGES * rows], h: 0.0 },
            guess: vec![0.0; rows],
            spoiled: false,
            stage: vec![0.0; states],
            residual: vec![0.0; n],
            change: vec![0.0; n],
            error: vec![0.0; states + rows],
            start: vec![0.0; rows],
            linearized: Default::default(),
            entries: Vec::new(),
            factor: Factor::default(),
            filter: Factor::default(),
            factored: None,
            iterations: 0,
        }
    }

    /// Forgets factors and slopes: the state has jumped, or the mode has changed.
    pub fn restart(&mut self) {
        self.factored = None;
        self.K.fill(0.0);
        self.lam.fill(0.0);
        self.guess.fill(0.0);
        self.spoiled = false;
        self.kept.h = 0.0;
    }

    /// The step was taken: the next one goes on from it.
    pub fn keep(&mut self) {
        self.kept.K.copy_from_slice(&self.K);
        self.kept.lam.copy_from_slice(&self.lam);
        self.kept.h = self.h;
    }

    /// The polynomial of the last step, continued. Where there is none, a step that failed is forgotten.
    fn predict(&mut self, h: f64) {
        let spoiled = std::mem::take(&mut self.spoiled);
        let Kept { K, lam, h: before } = &self.kept;
        if !(*before > 0.0) {
            if spoiled {
                self.K.fill(0.0);
                self.take_guess();
            }
            return;
        }
        for (i, c) in NODES.iter().enumerate() {
            let theta = 1.0 + c * h / before;
            let share: [f64; STAGES] = std::array::from_fn(|j| {
                (0..STAGES).rev().fold(0.0, |sum, k| sum * theta + self.divided[(k, j)])
            });
            for (values, kept) in [(&mut self.K, K), (&mut self.lam, lam)] {
                let n = values.len() / STAGES;
                for k in 0..n {
                    values[i * n + k] = (0..STAGES).map(|j| share[j] * kept[j * n + k]).sum();
                }
            }
        }
    }

    /// Computes the step from `X` at `t`. The last step, continued, is the first guess.
    ///
    /// Newton's method keeps the derivatives of the beginning; where it does not converge with
    /// them, it takes those of every stage.
    pub fn step(
        &mut self,
        plant: &mut Plant,
        mode: &Mode,
        t: f64,
        X: &[f64],
        h: f64,
        tolerance: Tolerance,
    ) -> Result<Outcome, SimError> {
        (self.t, self.h) = (t, h);
        self.X.copy_from_slice(X);
        self.iterations = 0;
        for everywhere in [false, true] {
            self.predict(h);
            if self.newton(plant, mode, everywhere, tolerance)? {
                return self.estimate(plant, mode, tolerance).map(Outcome::Done);
            }
        }
        self.spoiled = true;
        Ok(Outcome::TooLong)
    }

    /// Newton's method on (1); whether it converged.
    fn newton(
        &mut self,
        plant: &mut Plant,
        mode: &Mode,
        everywhere: bool,
        tolerance: Tolerance,
    ) -> Result<bool, SimError> {
        let (n, m, t, h) = (self.states, self.rows, self.t, self.h);
        if !everywhere && self.factored != Some((mode.id(), h)) {
            // the slopes of the middle are the best for all
            let middle = STAGES / 2;
            self.place(middle);
            let (K, lam) = (&self.K[middle * n..][..n], &self.lam[middle * m..][..m]);
            let t = t + NODES[middle] * h;
            plant.linearize(t, &self.stage, K, lam, mode, &mut self.linearized[0])?;
            if !self.factorize(h, false) {
                self.factored = None;
                return Ok(false);
            }
            self.factored = Some((mode.id(), h));
        }
        let (mut before, mut settled) = (f64::INFINITY, false);
        for iteration in 0..ITERATIONS {
            self.iterations += 1;
            for i in 0..STAGES {
                self.place(i);
                let (K, lam) = (&self.K[i * n..][..n], &self.lam[i * m..][..m]);
                let residual = &mut self.residual[i * (n + m)..][..n + m];
                let t = t + NODES[i] * h;
                plant.residual(t, &self.stage, K, lam, mode, residual)?;
                if everywhere {
                    plant.linearize(t, &self.stage, K, lam, mode, &mut self.linearized[i])?;
                }
            }
            if everywhere {
                self.factored = None;
                if !self.factorize(h, true) {
                    break;
                }
            }
            self.change.copy_from_slice(&self.residual);
            self.factor.solve(&mut self.change);
            let (mut size, mut noise) = (0.0_f64, 0.0_f64);
            for i in 0..STAGES {
                let change = &self.change[i * (n + m)..][..n + m];
                for k in 0..n {
                    let K = &mut self.K[i * n + k];
                    *K -= change[k];
                    let allowed = tolerance.of(self.X[k]);
                    size = larger(size, h * change[k].abs() / allowed);
                    noise = noise.max(f64::EPSILON * (self.X[k].abs() + h * K.abs()) / allowed);
                }
                for k in 0..m {
                    self.lam[i * m + k] -= change[n + k];
                }
            }
            if !size.is_finite() {
                self.K.fill(0.0);
                self.lam.fill(0.0);
                break;
            }
            if settled || size == 0.0 {
                return Ok(true);
            }
            let stalls = iteration > 1 && size > 0.9 * before;
            // with the derivatives of every stage nothing but round-off stalls so near
            let near = if everywhere { (ROUND_OFF / tolerance.rtol).max(0.3) } else { 0.3 };
            if size <= (1e-2_f64).max(50.0 * noise) || (stalls && size < near) {
                settled = true; // once more, for the multipliers
            } else if stalls {
                break;
            }
            before = size;
        }
        self.factored = None;
        Ok(false)
    }

    /// Equation (2), relative to what is allowed.
    fn estimate(
        &mut self,
        plant: &mut Plant,
        mode: &Mode,
        tolerance: Tolerance,
    ) -> Result<f64, SimError> {
        let n = self.states;
        self.stage.fill(0.0);
        for i in 0..STAGES {
            for k in 0..n {
                self.stage[k] += GAMMA * self.d[i] * self.K[i * n + k];
            }
        }
        // R with −γ Σ (b̂ − b) K for Ẋ is the right-hand side of (2), with another sign
        self.stage.iter_mut().for_each(|x| *x = -*x);
        // the multipliers of the beginning: those of the polynomial, up to what (2) finds itself
        let m = self.rows;
        for k in 0..m {
            let start = (0..STAGES).map(|j| self.divided[(0, j)] * self.lam[j * m + k]).sum();
            self.start[k] = start;
        }
        plant.residual(self.t, &self.X, &self.stage, &self.start, mode, &mut self.error)?;
        self.error.iter_mut().for_each(|x| *x = -*x);
        self.filter.solve(&mut self.error);
        let mut worst = 0.0_f64;
        for k in 0..n {
            let end = self.X[k] + self.h * self.rise(k);
            let allowed = tolerance.of(self.X[k].abs().max(end.abs()));
            worst = larger(worst, self.error[k].abs() / allowed);
        }
        let plain = self.plain_estimate(tolerance);
        Ok(if plain < worst { plain } else { worst })
    }

    /// Equation (2) without its filter, with the slopes at the end of the step before for those of
    /// the beginning: `e = h/γ (Ẋ(0) − Σⱼ lⱼ(0) Kⱼ)`. Nothing is solved for, so that it also tells the
    /// error beside a position in which the rows of the mode become dependent.
    fn plain_estimate(&self, tolerance: Tolerance) -> f64 {
        let n = self.states;
        if !(self.kept.h > 0.0) {
            return f64::INFINITY;
        }
        let mut worst = 0.0_f64;
        for k in 0..n {
            let begins: f64 = (0..STAGES).map(|j| self.divided[(0, j)] * self.K[j * n + k]).sum();
            let error = self.h / GAMMA * (self.kept.K[(STAGES - 1) * n + k] - begins);
            let end = self.X[k] + self.h * self.rise(k);
            let allowed = tolerance.of(self.X[k].abs().max(end.abs()));
            worst = larger(worst, error.abs() / allowed);
        }
        worst
    }

    /// Whether multipliers run away within the step, as they do beside a position in which the rows
    /// of the mode become dependent.
    pub fn is_strained(&self) -> bool {
        let size = |i: usize| {
            let stage = &self.lam[i * self.rows..][..self.rows];
            stage.iter().fold(0.0_f64, |a, b| a.max(b.abs()))
        };
        let sizes: [f64; STAGES] = std::array::from_fn(size);
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        sizes.iter().any(|size| *size > STRAIN * least)
    }

    fn rise(&self, k: usize) -> f64 {
        let b = self.A.row(STAGES - 1);
        (0..STAGES).map(|j| b[j] * self.K[j * self.states + k]).sum()
    }

    /// `Xᵢ` of (1).
    fn place(&mut self, i: usize) {
        let n = self.states;
        self.stage.copy_from_slice(&self.X);
        for (j, a) in self.A.row(i).iter().enumerate() {
            for k in 0..n {
                self.stage[k] += self.h * a * self.K[j * n + k];
            }
        }
    }

    /// A first guess of the multipliers.
    pub fn guess(&mut self, lam: &[f64]) {
        self.guess.copy_from_slice(lam);
        self.take_guess();
    }

    fn take_guess(&mut self) {
        let stages = self.lam.chunks_exact_mut(self.rows.max(1));
        stages.for_each(|stage| stage.copy_from_slice(&self.guess));
    }

    /// A step of length zero.
    pub fn hold(&mut self, t: f64, X: &[f64], lam: &[f64]) {
        (self.t, self.h) = (t, 0.0);
        self.X.copy_from_slice(X);
        self.guess(lam);
    }

    /// The state at the end of the step.
    pub fn end(&self, X: &mut [f64]) {
        for (k, X) in X.iter_mut().enumerate() {
            *X = self.X[k] + self.h * self.rise(k);
        }
    }

    /// The weight of a node.
    pub fn weight(&self, i: usize) -> f64 {
        self.A[(STAGES - 1, i)]
    }

    /// The multipliers at the end of the step.
    pub fn end_lam(&self) -> &[f64] {
        &self.lam[(STAGES - 1) * self.rows..]
    }

    /// State and multipliers at `t + θ h`.
    pub fn at(&self, theta: f64, X: &mut [f64], lam: &mut [f64]) {
        let n = self.states;
        let (mut rise, mut share) = ([0.0; STAGES], [0.0; STAGES]);
        for j in 0..STAGES {
            // coefficients of θᵏ in the polynomial that is one at node j and zero at the others
            let mut power = 1.0;
            for k in 0..STAGES {
                share[j] += self.divided[(k, j)] * power;
                power *= theta;
                rise[j] += self.divided[(k, j)] * power / (k + 1) as f64;
            }
        }
        for (k, X) in X.iter_mut().enumerate() {
            let sum: f64 = (0..STAGES).map(|j| rise[j] * self.K[j * n + k]).sum();
            *X = self.X[k] + self.h * sum;
        }
        for (k, lam) in lam.iter_mut().enumerate() {
            *lam = (0..STAGES).map(|j| share[j] * self.lam[j * self.rows + k]).sum();
        }
    }

    /// The matrices of Newton's method on (1) and of (2); whether they can be inverted.
    fn factorize(&mut self, h: f64, everywhere: bool) -> bool {
        let (n, m) = (self.states, self.rows);
        let size = n + m;
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        for i in 0..STAGES {
            let of = &self.linearized[if everywhere { i } else { 0 }];
            let Linearized { dK, dX, dlam, held } = of;
            entries.extend(held.iter().map(|&(row, reach, own)| {
                let place = i * size + n + row;
                (place, place, LOOSE * (h * reach + own))
            }));
            entries.extend(dK.iter().map(|&(r, c, x)| (i * size + r, i * size + c, x)));
            entries.extend(dlam.iter().map(|&(r, c, x)| (i * size + r, i * size + n + c, x)));
            for j in 0..STAGES {
                let a = h * self.A[(i, j)];
                entries.extend(dX.iter().map(|&(r, c, x)| (i * size + r, j * size + c, a * x)));
            }
        }
        let first = self.factor.set(STAGES * size, &entries);
        entries.clear();
        let Linearized { dK, dX, dlam, held } = &self.linearized[0];
        entries.extend(
            held.iter()
                .map(|&(row, reach, own)| (n + row, n + row, LOOSE * (h / GAMMA * reach + own))),
        );
        entries.extend(dK.iter().map(|&(r, c, x)| (r, c, GAMMA / h * x)));
        entries.extend(dX.iter().copied());
        entries.extend(dlam.iter().map(|&(r, c, x)| (r, n + c, x)));
        let second = self.filter.set(size, &entries);
        self.entries = entries;
        first && second
    }
}

/// The larger of two, not a number where one of them is none.
fn larger(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

/// `A` of (1), and `b̂` of (2).
fn tableau() -> (Matrix, [f64; STAGES]) {
    // rows k: Σⱼ aⱼ cⱼᵏ = moment
    let powers = Matrix::from_vec(
        STAGES,
        STAGES,
        (0..STAGES * STAGES).map(|e| NODES[e % STAGES].powi((e / STAGES) as i32)).collect(),
    );
    let mut A = Matrix::zeros(STAGES, STAGES);
    let mut hat = [0.0; STAGES];
    if let Ok(mut lu) = DenseLu::new(&powers) {
        for (i, c) in NODES.iter().enumerate() {
            let mut a: [f64; STAGES] =
                std::array::from_fn(|k| c.powi(k as i32 + 1) / (k + 1) as f64);
            lu.solve(&mut a);
            a.iter().enumerate().for_each(|(j, x)| A[(i, j)] = *x);
        }
        hat = std::array::from_fn(|k| 1.0 / (k + 1) as f64);
        hat[0] -= 1.0 / GAMMA;
        lu.solve(&mut hat);
    }
    (A, hat)
}

/// Coefficients of the polynomials that are one at a node and zero at the others: a column each.
fn polynomial() -> Matrix {
    let powers = Matrix::from_vec(
        STAGES,
        STAGES,
        (0..STAGES * STAGES).map(|e| NODES[e / STAGES].powi((e % STAGES) as i32)).collect(),
    );
    DenseLu::new(&powers).map_or_else(
        |_| Matrix::identity(STAGES),
        |mut lu| lu.solve_matrix(&Matrix::identity(STAGES)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_eigenvalue_are_those_of_radau() {
        let (A, _) = tableau();
        // quadrature of degree 2 s − 2
        for k in 0..2 * STAGES - 1 {
            let sum: f64 =
                A.row(STAGES - 1).iter().zip(NODES).map(|(b, c)| b * c.powi(k as i32)).sum();
            assert!((sum - 1.0 / (k + 1) as f64).abs() < 1e-15, "degree {k}: {sum}");
        }
        // A − I/γ is singular
        let mut shifted = A.clone();
        for i in 0..STAGES {
            shifted[(i, i)] -= 1.0 / GAMMA;
        }
        let determinant = determinant(shifted);
        assert!(determinant.abs() < 1e-16, "{determinant}");
        assert!(determinant.abs() < 1e-9 * determinant_of_identity(&A));
    }

    fn determinant_of_identity(A: &Matrix) -> f64 {
        determinant(A.clone()).abs()
    }

    fn determinant(mut A: Matrix) -> f64 {
        let n = A.rows();
        let mut product = 1.0;
        for k in 0..n {
            let pivot =
                (k..n).max_by(|&i, &j| A[(i, k)].abs().total_cmp(&A[(j, k)].abs())).unwrap();
            for j in 0..n {
                let swap = A[(k, j)];
                A[(k, j)] = A[(pivot, j)];
                A[(pivot, j)] = swap;
            }
            product *= A[(k, k)];
            for i in k + 1..n {
                let factor = A[(i, k)] / A[(k, k)];
                for j in k..n {
                    let x = A[(k, j)];
                    A[(i, j)] -= factor * x;
                }
            }
        }
        product
    }
}
