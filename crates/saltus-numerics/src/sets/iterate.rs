//! Newton's method on one block, for what has no closed form, and for what is degenerate.
//!
//! ```text
//! 1. Newton with a line search on the set's function; where it stops short, projections
//! 2. the same along a path:       (W + ε I) z + b,  ε → 0
//! 3. the proximal point method:   (W + ε I) z + b − ε zₖ,  for a singular W                 (1)
//! ```
//!
//! The best point by the natural map is kept. Blocks of at most five components take no memory
//! from the heap.

use super::block::eliminate;
use super::{LARGEST_BLOCK, Set, Step, norm};
use crate::NewtonFunction;

/// Good enough to stop.
const TOL: f64 = 4e-15;

/// Good enough to be called an answer.
pub(crate) const ACCEPTED: f64 = 1e-13;

/// What Newton's method works on.
const FUNCTION: NewtonFunction = NewtonFunction::AlartCurnier;

const VECTORS: usize = 6;
const MATRICES: usize = 4;
const SMALL: usize = VECTORS * LARGEST_BLOCK + MATRICES * LARGEST_BLOCK * LARGEST_BLOCK;

/// Solves from the guess in `z`, and leaves the best point there; whether that is an answer.
#[cold]
pub(crate) fn iterate(set: &Set, W: &[f64], b: &[f64], z: &mut [f64]) -> bool {
    let n = z.len();
    let (mut stack, mut heap);
    let buffer: &mut [f64] = if n <= LARGEST_BLOCK {
        stack = [0.0; SMALL];
        &mut stack
    } else {
        heap = vec![0.0; VECTORS * n + MATRICES * n * n];
        &mut heap
    };
    let (vectors, matrices) = buffer.split_at_mut(VECTORS * n);
    let mut vectors = vectors.chunks_exact_mut(n);
    let mut matrices = matrices.chunks_exact_mut(n * n);
    let mut vector = || vectors.next().unwrap_or_default();
    let mut matrix = || matrices.next().unwrap_or_default();
    let step = Step::of_block(set, FUNCTION, W, n);
    let mut local = Local {
        set,
        W,
        b,
        step,
        n,
        epsilon: 0.0,
        w: vector(),
        f: vector(),
        d: vector(),
        trial: vector(),
        best: vector(),
        centre: vector(),
        dz: matrix(),
        dw: matrix(),
        J: matrix(),
        least: f64::INFINITY,
    };
    local.best.copy_from_slice(z);
    local.run(z);
    z.copy_from_slice(local.best);
    local.least <= ACCEPTED
}

/// How far a block is from its answer: the natural map relative to the size of its terms.
pub(crate) fn error<const N: usize>(set: &Set, W: &[f64], b: &[f64], z: &[f64]) -> f64 {
    let (mut w, mut f) = ([0.0; N], [0.0; N]);
    let mut largest: f64 = 0.0;
    for i in 0..N {
        let row = &W[i * N..][..N];
        w[i] = b[i] + row.iter().zip(z).map(|(a, z)| a * z).sum::<f64>();
        largest = largest.max(row.iter().map(|a| a.abs()).sum());
    }
    let rho = if largest > 0.0 { 1.0 / largest } else { 1.0 };
    set.natural_map(rho, z, &w, &mut f);
    norm(&f) / size(rho, W, b, z)
}

/// The size of the terms of the natural map. A part of `z` that `W` hardly sees counts only so
/// far: else a point at infinity would be an answer to a problem that has none.
fn size(rho: f64, W: &[f64], b: &[f64], z: &[f64]) -> f64 {
    let n = z.len();
    let mut terms: f64 = 0.0;
    for i in 0..n {
        let row = &W[i * n..][..n];
        terms += b[i].abs() + row.iter().zip(z).map(|(a, z)| (a * z).abs()).sum::<f64>();
    }
    let terms = rho * terms;
    norm(z).min(1e5 * terms).max(terms).max(f64::MIN_POSITIVE)
}

struct Local<'a> {
    set: &'a Set,
    W: &'a [f64],
    b: &'a [f64],
    step: Step,
    n: usize,
    epsilon: f64, // of (1)
    w: &'a mut [f64],
    f: &'a mut [f64],
    d: &'a mut [f64],
    trial: &'a mut [f64],
    best: &'a mut [f64],
    centre: &'a mut [f64], // zₖ of (1)
    dz: &'a mut [f64],
    dw: &'a mut [f64],
    J: &'a mut [f64],
    least: f64, // error of the best
}

impl Local<'_> {
    fn run(&mut self, z: &mut [f64]) {
        for _ in 0..2 {
            if self.newton(z) || self.project(z, 100) || self.least <= ACCEPTED {
                return;
            }
        }
        // along a path from a problem that is easy
        let size = 1.0 / self.step.normal.min(self.step.tangent).min(self.step.rolling);
        z.fill(0.0);
        self.centre.fill(0.0);
        for k in 0..16 {
            self.epsilon = size * 4f64.powi(1 - k);
            self.newton(z);
        }
        self.epsilon = 0.0;
        if self.newton(z) || self.least <= ACCEPTED {
            return;
        }
        // W is singular, or nearly so
        for ratio in [1e-2, 1e-4, 1e-6] {
            z.copy_from_slice(self.best);
            for _ in 0..12 {
                self.centre.copy_from_slice(z);
                self.epsilon = ratio * size;
                self.newton(z);
                self.epsilon = 0.0;
                if self.error(z) <= TOL {
                    return;
                }
            }
            if self.least <= ACCEPTED {
                return;
            }
        }
    }

    /// `w ← (W + ε I) x + b − ε zₖ`.
    fn eval(&mut self, at: At, z: &[f64]) {
        let (n, epsilon) = (self.n, self.epsilon);
        let x = if at == At::Trial { &*self.trial } else { z };
        for i in 0..n {
            let row = &self.W[i * n..][..n];
            self.w[i] = self.b[i] + row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            if epsilon > 0.0 {
                self.w[i] += epsilon * (x[i] - self.centre[i]);
            }
        }
    }

    /// The natural map relative to the size of its terms; keeps the best point.
    fn error(&mut self, z: &[f64]) -> f64 {
        self.eval(At::Point, z);
        let rho = self.step.normal.min(self.step.tangent).min(self.step.rolling);
        self.set.natural_map(rho, z, self.w, self.f);
        let error = norm(self.f) / size(rho, self.W, self.b, z);
        if self.epsilon == 0.0 && error < self.least {
            self.least = error;
            self.best.copy_from_slice(z);
        }
        error
    }

    fn newton(&mut self, z: &mut [f64]) -> bool {
        let n = self.n;
        for _ in 0..30 {
            if self.error(z) <= TOL {
                return true;
            }
            self.set.newton_function(FUNCTION, self.step, z, self.w, self.f, self.dz, self.dw);
            let merit = norm(self.f);
            // J = ∂f/∂z + ∂f/∂w (W + ε I)
            for i in 0..n {
                for j in 0..n {
                    let sum: f64 = (0..n).map(|k| self.dw[i * n + k] * self.W[k * n + j]).sum();
                    self.J[i * n + j] =
                        self.dz[i * n + j] + sum + self.epsilon * self.dw[i * n + j];
                }
                self.d[i] = -self.f[i];
            }
            if !eliminate(self.J, self.d, n) {
                return false;
            }
            let mut length = 1.0;
            loop {
                for i in 0..n {
                    self.trial[i] = z[i] + length * self.d[i];
                }
                self.eval(At::Trial, z);
                self.set.newton_value(FUNCTION, self.step, self.trial, self.w, self.f);
                if norm(self.f) <= (1.0 - 1e-4 * length) * merit {
                    break;
                }
                length *= 0.5;
                if length < 1e-3 {
                    return self.error(z) <= TOL;
                }
            }
            z.copy_from_slice(self.trial);
        }
        self.error(z) <= TOL
    }

    /// `z ← P_K(z − ρ (w + φ(w) e_N))` with a step that is halved where the map is not contracting.
    fn project(&mut self, z: &mut [f64], sweeps: usize) -> bool {
        let n = self.n;
        let mut rho = self.step.normal.min(self.step.tangent).min(self.step.rolling);
        for _ in 0..sweeps {
            if self.error(z) <= TOL {
                return true;
            }
            loop {
                for i in 0..n {
                    self.trial[i] = z[i] - rho * self.w[i];
                }
                self.trial[0] -= rho * self.set.shift(self.w);
                self.set.project(rho, self.trial);
                self.f.copy_from_slice(self.w);
                self.f[0] += self.set.shift(self.w);
                self.eval(At::Trial, z);
                self.w[0] += self.set.shift(self.w);
                let distance = |a: &[f64], b: &[f64]| -> f64 {
                    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
                };
                let (change, moved) = (distance(self.w, self.f), distance(self.trial, z));
                if !rho.is_finite() {
                    return false; // blocks so small that their inverse is none
                }
                if rho * change <= 0.9 * moved || rho < 1e-12 * self.step.normal {
                    if rho * change < 0.3 * moved {
                        rho *= 1.5;
                    }
                    break;
                }
                rho *= 2.0 / 3.0;
                self.eval(At::Point, z);
            }
            z.copy_from_slice(self.trial);
        }
        self.error(z) <= TOL
    }
}

/// Where to evaluate.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Point,
    Trial,
}
