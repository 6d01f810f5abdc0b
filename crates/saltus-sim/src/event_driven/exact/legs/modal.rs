//! The motion in a mode as sums of powers and exponentials of time.
//!
//! States that follow from constants by integration alone (sources made of straight lines, and the
//! constant itself) are polynomials `s(t)`, `ṡ = N s`. The rest, in modal coordinates `y = W x`, obeys
//!
//! ```text
//! ẏ = J y + G s(t),    J: blocks (λ) and (α ω; −ω α)                                       (1)
//! ```
//!
//! Over a leg of length `T` a block is slow where `|λ| T` is small, and its Taylor polynomial is all of
//! it; a fast one is a polynomial that follows `s`, and a transient:
//!
//! ```text
//! slow:  y = Σⱼ Yⱼ tʲ,   (j+1) Yⱼ₊₁ = J Yⱼ + G Sⱼ                                          (2)
//! fast:  y = Σⱼ Pⱼ tʲ + e^{J t} (y₀ − P₀),   J Pⱼ = (j+1) Pⱼ₊₁ − G Sⱼ                      (3)
//! ```

use super::affine::Affine;
use saltus_linalg::{EigenBlock, Matrix, eigen, vector};

/// Degree of polynomials, at most.
pub(super) const DEGREE: usize = 12;
/// `|λ| T` up to which a block is slow: what (2) leaves out is then below round-off.
const SLOW: f64 = 0.25;
/// Degree of `s`, at most.
const LEVELS: usize = 3;
/// Condition of the modal coordinates, at most.
const CONDITION: f64 = 1e6;
/// What `A V − V J` may leave, relative to its largest terms.
const MODAL: f64 = 1e-11;
/// What `V W` may differ from one.
const INVERSE: f64 = 1e-10;
/// `α T` of what grows, at most.
const GROWTH: f64 = 10.0;

/// A polynomial of time.
pub(super) type Polynomial = [f64; DEGREE + 1];

/// Equation (1).
#[derive(Debug)]
pub(super) struct Modal {
    /// Which of the states with mass are polynomials; the constant is one more, the last.
    pub drivers: Vec<usize>,
    /// And the others.
    pub rest: Vec<usize>,
    pub blocks: Vec<EigenBlock>,
    pub V: Matrix,
    W: Matrix,
    N: Matrix,
    levels: usize,
    G: Matrix,
}

/// Equations (2) and (3) of one leg.
#[derive(Debug, Default)]
pub(super) struct Leg {
    /// Its length, at most.
    pub T: f64,
    /// Degree of the polynomials.
    pub degree: usize,
    /// `s`.
    pub s: Vec<Polynomial>,
    /// The polynomials of `y`.
    pub y: Vec<Polynomial>,
    /// Transients at the beginning; zero of slow blocks.
    pub transient: Vec<f64>,
    /// Blocks that are fast.
    pub fast: Vec<EigenBlock>,
    /// `y` at the beginning, and its slope.
    pub start: Vec<f64>,
    pub slope: Vec<f64>,
    /// How far `s` and `y` are from their beginning on the leg, at most.
    pub s_range: Vec<f64>,
    pub y_range: Vec<f64>,
    now: Vec<f64>,
}

impl Modal {
    /// Nothing where modal coordinates are badly conditioned, as where eigenvectors fall together.
    pub fn new(affine: &Affine) -> Option<Modal> {
        let n = affine.F.rows();
        let F = &affine.F;
        let mut level: Vec<Option<usize>> = vec![None; n + 1];
        level[n] = Some(0);
        for of in 0..=LEVELS {
            for i in 0..n {
                let below = (0..=n).filter(|&j| F[(i, j)] != 0.0);
                let mut below = below.map(|j| level[j].map(|level| level + 1));
                if level[i].is_none() && below.all(|level| level.is_some_and(|level| level <= of)) {
                    level[i] = Some(of);
                }
            }
        }
        let (drivers, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| level[i].is_some());
        let columns: Vec<usize> = drivers.iter().copied().chain([n]).collect();
        let levels = drivers.iter().filter_map(|&i| level[i]).max().unwrap_or(0);
        let take = |rows: &[usize], columns: &[usize]| {
            let mut out = Matrix::zeros(rows.len(), columns.len());
            for (i, &row) in rows.iter().enumerate() {
                columns.iter().enumerate().for_each(|(j, &column)| out[(i, j)] = F[(row, column)]);
            }
            out
        };
        let mut N = Matrix::zeros(columns.len(), columns.len());
        for (i, &row) in drivers.iter().enumerate() {
            columns.iter().enumerate().for_each(|(j, &column)| N[(i, j)] = F[(row, column)]);
        }
        if rest.is_empty() {
            let (V, W, G) = (Matrix::default(), Matrix::default(), Matrix::default());
            return Some(Modal { drivers, rest, blocks: Vec::new(), V, W, N, levels, G });
        }
        let A = take(&rest, &rest);
        let form = eigen(&A)?;
        let sound = is_modal(&A, &form.V, &form.blocks) && is_inverse(&form.V, &form.W);
        if !(form.condition <= CONDITION && sound) {
            return None;
        }
        let G = form.W.mul(&take(&rest, &columns));
        let (blocks, V, W) = (form.blocks, form.V, form.W);
        Some(Modal { drivers, rest, blocks, V, W, N, levels, G })
    }

    /// Equations (2) and (3) from `x` on, the states with mass, for a time `T` at most; for less where
    /// something grows.
    pub fn begin(&self, x: &[f64], T: f64, leg: &mut Leg) {
        leg.fit(self.drivers.len() + 1, self.rest.len());
        let growth = self.blocks.iter().fold(0.0_f64, |most, block| most.max(block.alpha));
        let T = T.min(GROWTH / growth);
        leg.T = T;
        let Leg { s, y, transient, fast, start, slope, s_range, y_range, degree, now, .. } = leg;
        for (i, &driver) in self.drivers.iter().enumerate() {
            s[i][0] = x[driver];
        }
        s[self.drivers.len()][0] = 1.0;
        for j in 1..=self.levels {
            for i in 0..s.len() {
                let terms = self.N.row(i).iter().zip(&*s).map(|(a, s)| a * s[j - 1]);
                s[i][j] = terms.sum::<f64>() / j as f64;
            }
        }
        for (s, range) in s.iter().zip(s_range) {
            *range = reach(&s[1..=self.levels], T);
        }
        now.clear();
        now.extend(self.rest.iter().map(|&i| x[i]));
        for k in 0..start.len() {
            start[k] = vector::dot(self.W.row(k), now);
        }
        fast.clear();
        *degree = self.levels;
        let drive = |k: usize, j: usize, s: &[Polynomial]| -> f64 {
            match j > self.levels {
                true => 0.0,
                false => self.G.row(k).iter().zip(s).map(|(g, s)| g * s[j]).sum(),
            }
        };
        for block in &self.blocks {
            let &EigenBlock { first, alpha, omega } = block;
            let size = if omega > 0.0 { 2 } else { 1 };
            let rate = alpha.hypot(omega);
            let own = first..first + size;
            // J v of the block
            let turn = |v: [f64; 2]| [alpha * v[0] + omega * v[1], alpha * v[1] - omega * v[0]];
            let get = |v: &[f64]| [v[first], if size == 2 { v[first + 1] } else { 0.0 }];
            let driven = |j: usize, s: &[Polynomial]| {
                [drive(first, j, s), if size == 2 { drive(first + 1, j, s) } else { 0.0 }]
            };
            let (y0, G0) = (get(start), driven(0, s));
            let turned = turn(y0);
            for (i, k) in own.clone().enumerate() {
                slope[k] = turned[i] + G0[i];
            }
            if rate * T <= SLOW {
                let mut Y = y0;
                let mut left = 1.0;
                for j in 0..=DEGREE {
                    own.clone().enumerate().for_each(|(i, k)| y[k][j] = Y[i]);
                    *degree = j.max(*degree);
                    left *= rate * T / (j + 1) as f64;
                    if (left < 1e-18 && j > self.levels) || j == DEGREE {
                        break;
                    }
                    let (turned, G) = (turn(Y), driven(j, s));
                    Y = [0, 1].map(|i| (turned[i] + G[i]) / (j + 1) as f64);
                }
                for k in own {
                    y_range[k] = reach(&y[k][1..], T);
                }
                continue;
            }
            // v = J⁻¹ r
            let square = rate * rate;
            let back = |r: [f64; 2]| {
                [(alpha * r[0] - omega * r[1]) / square, (omega * r[0] + alpha * r[1]) / square]
            };
            let mut P = [0.0; 2];
            for j in (0..=self.levels).rev() {
                let G = driven(j, s);
                P = back([0, 1].map(|i| (j + 1) as f64 * P[i] - G[i]));
                own.clone().enumerate().for_each(|(i, k)| y[k][j] = P[i]);
            }
            let mut size = 0.0_f64;
            for (i, k) in own.clone().enumerate() {
                transient[k] = y0[i] - P[i];
                size = size.hypot(transient[k]);
            }
            for k in own {
                let far = match omega > 0.0 {
                    true => 1.0 + (alpha * T).exp().max(1.0),
                    false => (alpha * T).exp_m1().abs(),
                };
                y_range[k] = reach(&y[k][1..=self.levels], T) + size * far;
            }
            fast.push(*block);
        }
    }

    /// The states with mass at `t` of the leg.
    pub fn at(&self, leg: &mut Leg, t: f64, x: &mut [f64]) {
        let Leg { s, y, transient, fast, degree, now, .. } = leg;
        for (s, &driver) in s.iter().zip(&self.drivers) {
            x[driver] = horner(&s[..=self.levels], t);
        }
        now.clear();
        now.extend(y.iter().map(|y| horner(&y[..=*degree], t)));
        for &EigenBlock { first, alpha, omega } in &*fast {
            let size = (alpha * t).exp();
            if omega > 0.0 {
                let ((sin, cos), [a, b]) =
                    ((omega * t).sin_cos(), [transient[first], transient[first + 1]]);
                now[first] += size * (a * cos + b * sin);
                now[first + 1] += size * (b * cos - a * sin);
            } else {
                now[first] += size * transient[first];
            }
        }
        for (i, &row) in self.rest.iter().enumerate() {
            x[row] = vector::dot(self.V.row(i), now);
        }
    }
}

impl Leg {
    fn fit(&mut self, drivers: usize, rest: usize) {
        let zero = [0.0; DEGREE + 1];
        self.s.clear();
        self.s.resize(drivers, zero);
        self.y.clear();
        self.y.resize(rest, zero);
        for of in [&mut self.transient, &mut self.start, &mut self.slope, &mut self.y_range] {
            of.clear();
            of.resize(rest, 0.0);
        }
        self.s_range.clear();
        self.s_range.resize(drivers, 0.0);
    }
}

/// Whether `A V = V J`, rows in their own units, column by column.
fn is_modal(A: &Matrix, V: &Matrix, blocks: &[EigenBlock]) -> bool {
    let n = A.rows();
    let unit: Vec<f64> = (0..n).map(|i| V.row(i).iter().map(|v| v.abs()).sum()).collect();
    let holds = |k: usize, J: [(usize, f64); 2]| {
        let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
        for i in 0..n {
            let terms = (0..n).map(|j| A[(i, j)] * V[(j, k)]);
            let terms = terms.chain(J.map(|(j, of)| -V[(i, j)] * of));
            let (off, size) =
                terms.fold((0.0, 0.0), |(off, size), term| (off + term, size + term.abs()));
            (worst, largest) = (worst.max(off.abs() / unit[i]), largest.max(size / unit[i]));
        }
        worst <= MODAL * largest
    };
    blocks.iter().all(|&EigenBlock { first, alpha, omega }| {
        let second = if omega > 0.0 { first + 1 } else { first };
        holds(first, [(first, alpha), (second, -omega)])
            && (omega == 0.0 || holds(second, [(first, omega), (second, alpha)]))
    })
}

/// Whether `V W = 1`, in the units of the rows.
fn is_inverse(V: &Matrix, W: &Matrix) -> bool {
    let n = V.rows();
    let unit: Vec<f64> = (0..n).map(|i| V.row(i).iter().map(|v| v.abs()).sum()).collect();
    let product = V.mul(W);
    (0..n).all(|i| {
        (0..n).all(|j| {
            let off = product[(i, j)] - if i == j { 1.0 } else { 0.0 };
            off.abs() * unit[j] / unit[i] <= INVERSE
        })
    })
}

/// `Σ |cⱼ| Tʲ`, from the first power on.
fn reach(coefficients: &[f64], T: f64) -> f64 {
    T * coefficients.iter().rev().fold(0.0, |sum, c| sum * T + c.abs())
}

fn horner(coefficients: &[f64], t: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
}
