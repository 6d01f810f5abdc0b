//! The motion of a linear system over any length: powers of its exponential that are kept.
//!
//! Of `ż = A z` with `z = (X, 1)`, whose last row is zero,
//!
//! ```text
//! z(s) = e^{A s} z,    s = k δ + r,    e^{A s} = Π e^{2ʲ δ A} · Σᵢ (r A)ⁱ / i!         (1)
//! ```
//!
//! with `j` the digits of `k` in base two, and `δ` so short that the series needs a dozen terms.
//! The powers are made by squaring once they are asked for. What is kept is how far they are from
//! the identity, so that slow parts do not lose their digits beside fast ones:
//!
//! ```text
//! Dⱼ = e^{2ʲ δ A} − I,    Dⱼ₊₁ = 2 Dⱼ + Dⱼ²                                           (2)
//! ```
//!
//! Where a power of `A` is zero, as in free flight, the series ends, and is all there is.

use saltus_linalg::{Matrix, vector};

/// `δ` times the size of `A`, at most.
const SHORT: f64 = 0.125;
/// What the series leaves out, relative to `z`.
const LEFT_OUT: f64 = 1e-18;
/// Degree up to which it is looked whether the series ends.
const DEGREES: usize = 6;
/// Kept powers, at most.
const POWERS: u32 = 52;

/// A linear system, and the powers of its exponential.
#[derive(Debug)]
pub(super) struct Powers {
    A: Matrix,
    size: f64,             // ‖Aᵏ‖ ≤ sizeᵏ for k ≥ 2
    degree: Option<usize>, // of the series, where it ends
    exponent: i32,         // δ = 2^exponent
    powers: Vec<Matrix>,   // Dⱼ
    term: Vec<f64>,
    next: Vec<f64>,
}

impl Powers {
    /// `A` is square, its last row zero.
    pub fn new(A: Matrix) -> Powers {
        let n = A.rows();
        let mut power = A.clone();
        let (mut degree, mut size) = (None, 0.0_f64);
        for d in 1..=DEGREES {
            if degree.is_none() && power.is_zero() {
                degree = Some(d - 1);
            }
            if d == 2 || d == 3 {
                size = size.max(norm(&power).powf(1.0 / d as f64));
            }
            power = power.mul(&A);
        }
        let exponent = (SHORT / size).log2().floor().clamp(-1000.0, 1000.0) as i32;
        let (term, next) = (vec![0.0; n], vec![0.0; n]);
        Powers { A, size, degree, exponent, powers: Vec::new(), term, next }
    }

    /// The degree of `z(s)`, where it is a polynomial.
    pub fn degree(&self) -> Option<usize> {
        self.degree
    }

    /// `ż`.
    pub fn slope(&self, z: &[f64], out: &mut [f64]) {
        self.A.apply(z, out);
    }

    /// Equation (1), in place; whether it is finite.
    pub fn go(&mut self, s: f64, z: &mut [f64]) -> bool {
        if s == 0.0 {
            return true;
        }
        if let Some(degree) = self.degree {
            self.series(s, degree, z);
            return vector::all_finite(z);
        }
        let delta = 2f64.powi(self.exponent);
        let whole = (s / delta).floor();
        if !(whole < 2f64.powi(POWERS as i32)) {
            return false;
        }
        let rest = s - whole * delta;
        self.series(rest, self.terms(rest), z);
        let mut digits = whole as u64;
        while digits != 0 {
            let j = digits.trailing_zeros() as usize;
            if !self.make(j) {
                return false;
            }
            self.powers[j].apply(z, &mut self.next);
            vector::axpy(1.0, &self.next, z);
            digits &= digits - 1;
        }
        vector::all_finite(z)
    }

    /// Terms of the series for so short a length.
    fn terms(&self, s: f64) -> usize {
        let (mut terms, mut left) = (0, 1.0);
        while left > LEFT_OUT {
            terms += 1;
            left *= self.size * s / terms as f64;
        }
        terms
    }

    fn series(&mut self, s: f64, terms: usize, z: &mut [f64]) {
        self.term.copy_from_slice(z);
        for k in 1..=terms {
            self.A.apply(&self.term, &mut self.next);
            let share = s / k as f64;
            for ((term, next), z) in self.term.iter_mut().zip(&self.next).zip(&mut *z) {
                *term = share * next;
                *z += *term;
            }
        }
    }

    /// Equation (2), up to the `j`-th power; whether all are finite.
    fn make(&mut self, j: usize) -> bool {
        while self.powers.len() <= j {
            let next = match self.powers.last() {
                Some(last) => {
                    let mut next = last.mul(last);
                    next.add_scaled(2.0, last);
                    next
                }
                None => {
                    let delta = 2f64.powi(self.exponent);
                    let (mut sum, mut term) = (Matrix::default(), self.A.clone());
                    term.scale(delta);
                    sum.copy_from(&term);
                    for k in 2..=self.terms(delta) {
                        term = term.mul(&self.A);
                        term.scale(delta / k as f64);
                        sum.add_scaled(1.0, &term);
                    }
                    sum
                }
            };
            if !next.is_finite() {
                return false;
            }
            self.powers.push(next);
        }
        true
    }
}

/// Largest sum of a column or of a row, whichever is smaller.
fn norm(A: &Matrix) -> f64 {
    let n = A.rows();
    let sum = |row: bool, i: usize| -> f64 {
        (0..n).map(|j| if row { A[(i, j)] } else { A[(j, i)] }.abs()).sum()
    };
    let largest = |row| (0..n).map(|i| sum(row, i)).fold(0.0, f64::max);
    f64::min(largest(true), largest(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillator_turns_by_any_angle() {
        let w = 3.7;
        let mut powers =
            Powers::new(Matrix::from([[0.0, 1.0, 0.0], [-w * w, 0.0, 2.0], [0.0, 0.0, 0.0]]));
        let rest = 2.0 / (w * w);
        for s in [1e-9, 0.013, 0.4, 1.0, 7.3, 91.7] {
            let mut z = [1.0 + rest, 0.5, 1.0];
            assert!(powers.go(s, &mut z));
            let (sin, cos) = (w * s).sin_cos();
            let (q, v) = (rest + cos + 0.5 / w * sin, 0.5 * cos - w * sin);
            let off = (z[0] - q).abs().max((z[1] - v).abs());
            assert!(off < 1e-14 * (1.0 + s), "{s}: {off}");
        }
    }

    #[test]
    fn free_flight_is_a_parabola() {
        let A = Matrix::from([[0.0, 1.0, 0.0], [0.0, 0.0, -9.81], [0.0, 0.0, 0.0]]);
        let mut powers = Powers::new(A);
        assert_eq!(powers.degree(), Some(2));
        let mut z = [1.0, 2.0, 1.0];
        assert!(powers.go(3.0, &mut z));
        assert!((z[0] - (1.0 + 6.0 - 9.81 * 4.5)).abs() < 1e-14);
        assert_eq!(z[1..], [2.0 - 9.81 * 3.0, 1.0]);
    }

    #[test]
    fn rates_nine_decades_apart() {
        // ẋ = −10⁹ (x − y),  ẏ = −y
        let A = Matrix::from([[-1e9, 1e9, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 0.0]]);
        let mut powers = Powers::new(A);
        let mut z = [5.0, 1.0, 1.0];
        assert!(powers.go(2.0, &mut z));
        let exact = (-2.0_f64).exp();
        assert!((z[1] - exact).abs() < 1e-15 && (z[0] - exact / (1.0 - 1e-9)).abs() < 1e-15);
    }

    #[test]
    fn what_grows_out_of_range_is_told() {
        let mut powers = Powers::new(Matrix::from([[1.0, 0.0], [0.0, 0.0]]));
        assert!(!powers.go(1e4, &mut [1.0, 1.0]));
        assert!(!powers.go(f64::NAN, &mut [1.0, 1.0]));
    }
}
