//! The matrix of bodies with compliant contacts, body by body, and its symmetric sweeps.
//!
//! ```text
//! A = 1 + K C Kᵀ,     A_BB = R_B R_Bᵀ,     R⁻¹ A R⁻ᵀ = 1 + N + Nᵀ                              (1)
//! ```
//!
//! `C` is diagonal, `R` the roots of the blocks on the diagonal, `N` strictly lower. However many contacts
//! two bodies share, they have one block of `N`, which with several contacts each is shorter than `K`. With `S = 1 + N` the
//! sweeps `S⁻¹` and `S⁻ᵀ` each read it once, and precondition `A`:
//!
//! ```text
//! S⁻¹ (1 + N + Nᵀ) S⁻ᵀ x = t + S⁻¹ (x − t),     t = S⁻ᵀ x                                      (2)
//! ```
//!
//! costs no more than a product with `A`. Reference: Eisenstat, *SIAM J. Sci. Stat. Comput.* 2 (1981) 1–4.

use super::Columns;
use saltus_linalg::{Wide, wide};

/// `R` and `N` of (1).
#[derive(Debug)]
pub(in crate::methods) struct Stiffness {
    size: usize,        // velocities of a body
    first: Vec<usize>,  // first block of N of each body, and the end
    column: Vec<usize>, // the other body of each block
    lower: Vec<f64>,    // the blocks of N, row by row
    roots: Vec<f64>,    // R_B, row by row
    pairs: Vec<usize>, // the block of each two touches of a block of unknowns, in the order of `pairs`
}

/// Each two of so many touches.
fn pairs(touches: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..touches).flat_map(|a| (0..a).map(move |b| (a, b)))
}

impl Stiffness {
    /// Which bodies share a block of unknowns.
    pub fn new(columns: &Columns) -> Stiffness {
        let size = columns.size;
        let bodies = columns.free.len() / size;
        let each_pair = |visit: &mut dyn FnMut(usize, usize)| {
            for (_, touches) in columns.blocks() {
                for (a, b) in pairs(touches.len()) {
                    let (a, b) = (touches[a].body / size, touches[b].body / size);
                    visit(a.max(b), a.min(b));
                }
            }
        };
        // the other bodies of each, with repetitions, then without
        let mut first = vec![0; bodies + 1];
        each_pair(&mut |row, _| first[row + 1] += 1);
        for body in 0..bodies {
            first[body + 1] += first[body];
        }
        let (mut next, mut column) = (first.clone(), vec![0; first[bodies]]);
        each_pair(&mut |row, other| {
            column[next[row]] = other;
            next[row] += 1;
        });
        let mut end = 0;
        for body in 0..bodies {
            let range = first[body]..first[body + 1];
            first[body] = end;
            column[range.clone()].sort_unstable();
            for place in range {
                if first[body] == end || column[end - 1] != column[place] {
                    column[end] = column[place];
                    end += 1;
                }
            }
        }
        first[bodies] = end;
        column.truncate(end);
        let mut pairs = Vec::new();
        each_pair(&mut |row, other| {
            let place = column[first[row]..first[row + 1]].partition_point(|&there| there < other);
            pairs.push(first[row] + place);
        });
        let lower = vec![0.0; end * size * size];
        Stiffness { size, first, column, lower, roots: vec![0.0; bodies * size * size], pairs }
    }

    /// (1) for this `C`; false where a block has no root.
    pub fn fill(&mut self, columns: &Columns, C: &[f64]) -> bool {
        match self.size {
            6 => self.fill_sized::<6>(columns, C),
            3 => self.fill_sized::<3>(columns, C),
            2 => self.fill_sized::<2>(columns, C),
            _ => self.fill_sized::<1>(columns, C),
        }
    }

    fn fill_sized<const N: usize>(&mut self, columns: &Columns, C: &[f64]) -> bool {
        let Stiffness { first, column, lower, roots, pairs: places, .. } = self;
        lower.fill(0.0);
        roots.fill(0.0);
        let (lower, roots) = (lower.as_chunks_mut::<N>().0, roots.as_chunks_mut::<N>().0);
        for (i, row) in roots.iter_mut().enumerate() {
            row[i % N] = 1.0;
        }
        // A
        let (rows, mut places) = (columns.K.as_chunks::<N>().0, places.iter());
        for (range, touches) in columns.blocks() {
            for (i, &c) in C[range.clone()].iter().enumerate() {
                for touch in touches {
                    let K = &rows[touch.at / N + i];
                    add(&mut roots[touch.body..touch.body + N], c, K, K);
                }
            }
            for ((a, b), &place) in pairs(touches.len()).zip(&mut places) {
                let (mut a, mut b) = (&touches[a], &touches[b]);
                if a.body < b.body {
                    (a, b) = (b, a);
                }
                let block = &mut lower[place * N..(place + 1) * N];
                for (i, &c) in C[range.clone()].iter().enumerate() {
                    add(block, c, &rows[a.at / N + i], &rows[b.at / N + i]);
                }
            }
        }
        // R, then N = R⁻¹ A R⁻ᵀ
        for block in roots.chunks_exact_mut(N) {
            if !root(block) {
                return false;
            }
        }
        for (body, range) in first.windows(2).enumerate() {
            let own = &roots[body * N..(body + 1) * N];
            for place in range[0]..range[1] {
                let block = &mut lower[place * N..(place + 1) * N];
                let other = &roots[column[place] * N..(column[place] + 1) * N];
                for row in block.iter_mut() {
                    forward(other, row);
                }
                for j in 0..N {
                    let mut of_column: [f64; N] = std::array::from_fn(|i| block[i][j]);
                    forward(own, &mut of_column);
                    (0..N).for_each(|i| block[i][j] = of_column[i]);
                }
            }
        }
        true
    }

    /// `x ← R⁻¹ x`.
    pub fn scale(&self, x: &mut [f64]) {
        wide(Work { stiffness: self, x, kind: Kind::Scale });
    }

    /// `x ← R⁻ᵀ x`.
    pub fn unscale(&self, x: &mut [f64]) {
        wide(Work { stiffness: self, x, kind: Kind::Unscale });
    }

    /// `x ← Sᵀ Rᵀ x`.
    pub fn lift(&self, x: &mut [f64]) {
        wide(Work { stiffness: self, x, kind: Kind::Lift });
    }

    /// `x ← S⁻¹ x`.
    pub fn sweep(&self, x: &mut [f64]) {
        wide(Work { stiffness: self, x, kind: Kind::Sweep });
    }

    /// `x ← S⁻ᵀ x`.
    pub fn sweep_back(&self, x: &mut [f64]) {
        wide(Work { stiffness: self, x, kind: Kind::SweepBack });
    }
}

/// What is done to a vector.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Scale,
    Unscale,
    Lift,
    Sweep,
    SweepBack,
}

struct Work<'a> {
    stiffness: &'a Stiffness,
    x: &'a mut [f64],
    kind: Kind,
}

impl Wide for Work<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        match self.stiffness.size {
            6 => self.run_sized::<6>(),
            3 => self.run_sized::<3>(),
            2 => self.run_sized::<2>(),
            _ => self.run_sized::<1>(),
        }
    }
}

impl Work<'_> {
    #[inline(always)]
    fn run_sized<const N: usize>(self) {
        let Stiffness { first, column, lower, roots, .. } = self.stiffness;
        let (lower, roots) = (lower.as_chunks::<N>().0, roots.as_chunks::<N>().0);
        let x = self.x.as_chunks_mut::<N>().0;
        match self.kind {
            Kind::Scale => {
                x.iter_mut().zip(roots.chunks_exact(N)).for_each(|(x, R)| forward(R, x));
            }
            Kind::Unscale => {
                x.iter_mut().zip(roots.chunks_exact(N)).for_each(|(x, R)| backward(R, x));
            }
            Kind::Lift => {
                for body in 0..x.len() {
                    let R = &roots[body * N..(body + 1) * N];
                    let mut own = [0.0; N];
                    for (row, x) in R.iter().zip(x[body]) {
                        (0..N).for_each(|j| own[j] += row[j] * x);
                    }
                    x[body] = own;
                    for place in first[body]..first[body + 1] {
                        let block = &lower[place * N..(place + 1) * N];
                        let other = &mut x[column[place]];
                        for (own, row) in own.iter().zip(block) {
                            (0..N).for_each(|j| other[j] += row[j] * own);
                        }
                    }
                }
            }
            Kind::Sweep => {
                for body in 0..x.len() {
                    let mut own = x[body];
                    for place in first[body]..first[body + 1] {
                        let (block, other) = (&lower[place * N..(place + 1) * N], x[column[place]]);
                        for (own, row) in own.iter_mut().zip(block) {
                            let mut sum = 0.0;
                            (0..N).for_each(|j| sum += row[j] * other[j]);
                            *own -= sum;
                        }
                    }
                    x[body] = own;
                }
            }
            Kind::SweepBack => {
                for body in (0..x.len()).rev() {
                    let own = x[body];
                    for place in first[body]..first[body + 1] {
                        let block = &lower[place * N..(place + 1) * N];
                        let other = &mut x[column[place]];
                        for (own, row) in own.iter().zip(block) {
                            (0..N).for_each(|j| other[j] -= row[j] * own);
                        }
                    }
                }
            }
        }
    }
}

/// `A ← A + c a bᵀ`.
#[inline(always)]
fn add<const N: usize>(A: &mut [[f64; N]], c: f64, a: &[f64; N], b: &[f64; N]) {
    for (row, a) in A.iter_mut().zip(a) {
        (0..N).for_each(|j| row[j] += c * a * b[j]);
    }
}

/// `R` with `A = R Rᵀ` in its place, by Cholesky's method; false where there is none.
fn root<const N: usize>(A: &mut [[f64; N]]) -> bool {
    for i in 0..N {
        for j in 0..=i {
            let known: f64 = (0..j).map(|l| A[i][l] * A[j][l]).sum();
            let left = A[i][j] - known;
            A[i][j] = if i == j { left.sqrt() } else { left / A[j][j] };
        }
        A[i][i + 1..].fill(0.0);
        if !(A[i][i] > 0.0 && A[i][i].is_finite()) {
            return false;
        }
    }
    true
}

/// `x ← R⁻¹ x`.
#[inline(always)]
fn forward<const N: usize>(R: &[[f64; N]], x: &mut [f64; N]) {
    for i in 0..N {
        for j in 0..i {
            x[i] -= R[i][j] * x[j];
        }
        x[i] /= R[i][i];
    }
}

/// `x ← R⁻ᵀ x`.
#[inline(always)]
fn backward<const N: usize>(R: &[[f64; N]], x: &mut [f64; N]) {
    for i in (0..N).rev() {
        x[i] /= R[i][i];
        for j in 0..i {
            x[j] -= R[i][j] * x[i];
        }
    }
}
