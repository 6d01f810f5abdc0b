//! Where a sum of powers and exponentials first becomes negative, with certainty.
//!
//! ```text
//! g(t) = Σⱼ cⱼ tʲ + Σₖ e^{αₖ t} (aₖ cos ωₖ t + bₖ sin ωₖ t)                                (1)
//! ```
//!
//! On an interval of half length `r` around `m`, terms that change little there are bounded by their
//! tangents, and the others by their largest size, or where `ω = 0` by their ends:
//!
//! ```text
//! g ≥ h(m) − r |h'(m)| − ½ r² max|h''| + Σ min(ends),    g' within  h'(m) ± r max|h''| + …    (2)
//! ```
//!
//! The interval holds no zero where the bound is positive, or where `g` grows, or falls to what is not
//! negative; one, where it falls below; else it is parted.

use super::modal::{DEGREE, Polynomial};

/// Exponentials, at most.
pub(super) const TERMS: usize = 32;
/// `|λ|` times the length of an interval up to which tangents bound a term.
const GENTLE: f64 = 1.0;
/// Intervals, relative to the end of the leg, that are not parted.
const SHORTEST: f64 = 1e-13;
/// Intervals that wait, at most: each is at most half as long as the one below it, so that `SHORTEST` is
/// reached before.
const WAITING: usize = 64;
/// Intervals that are looked at, at most.
const INTERVALS: usize = 20_000;
/// Steps of Newton's method, at most; bisection is among them.
const ITERATIONS: usize = 100;

/// Equation (1), and what is added to it for round-off.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub polynomial: Polynomial,
    pub degree: usize,
    pub terms: [Term; TERMS],
    pub count: usize,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    pub alpha: f64,
    pub omega: f64,
    pub a: f64,
    pub b: f64,
}

/// Where it first becomes negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum First {
    Never,
    At(f64),
    /// Not before this; there were too many intervals to see further.
    Unseen(f64),
}

enum Verdict {
    Clear,
    Falls,
    Part(f64),
}

impl Default for Guard {
    fn default() -> Guard {
        Guard {
            polynomial: [0.0; DEGREE + 1],
            degree: 0,
            terms: [Term::default(); TERMS],
            count: 0,
        }
    }
}

impl Guard {
    /// The first zero up to `T` beyond which it is negative; it is not negative at the beginning.
    pub fn first_zero(&self, T: f64) -> First {
        let mut ends = [0.0; WAITING];
        ends[0] = T;
        let (mut a, mut waiting) = (0.0, 1);
        for _ in 0..INTERVALS {
            if waiting == 0 {
                return First::Never;
            }
            let b = ends[waiting - 1];
            let verdict = match b - a <= SHORTEST * T || waiting == WAITING {
                false => self.look(a, b),
                true if self.value(b).0 < 0.0 => Verdict::Falls,
                true => Verdict::Clear,
            };
            match verdict {
                Verdict::Clear => (a, waiting) = (b, waiting - 1),
                Verdict::Falls => return First::At(self.root(a, b)),
                Verdict::Part(middle) => {
                    ends[waiting] = middle;
                    waiting += 1;
                }
            }
        }
        First::Unseen(a)
    }

    /// Equation (2).
    fn look(&self, a: f64, b: f64) -> Verdict {
        let (m, r) = (0.5 * (a + b), 0.5 * (b - a));
        let (mut h, mut slope, mut bend) = (0.0, 0.0, 0.0);
        let mut power = 1.0;
        for j in (0..=self.degree).rev() {
            slope = slope * m + h;
            h = h * m + self.polynomial[j];
        }
        for j in 2..=self.degree {
            bend += (j * (j - 1)) as f64 * self.polynomial[j].abs() * power;
            power *= b;
        }
        let (mut ends, mut falls, mut grows) = (0.0, 0.0, 0.0);
        let mut quickest = 0.0_f64;
        for term in &self.terms[..self.count] {
            let &Term { alpha, omega, a: cos, b: sin } = term;
            let rate = if omega > 0.0 { alpha.hypot(omega) } else { alpha.abs() };
            if 2.0 * rate * r <= GENTLE {
                let (value, by) = term.at(m);
                (h, slope) = (h + value, slope + by);
                let size = if omega > 0.0 { cos.hypot(sin) * (alpha * m).exp() } else { value };
                bend += size.abs() * rate * rate * (alpha.abs() * r).exp();
                continue;
            }
            let (low, high) = match omega > 0.0 {
                true => {
                    let size = cos.hypot(sin) * (alpha * a).exp().max((alpha * b).exp());
                    falls -= rate * size;
                    grows += rate * size;
                    (-size, size)
                }
                false => {
                    let (first, last) = (cos * (alpha * a).exp(), cos * (alpha * b).exp());
                    falls += (alpha * first).min(alpha * last);
                    grows += (alpha * first).max(alpha * last);
                    (first.min(last), first.max(last))
                }
            };
            ends += low;
            if low.abs().max(high.abs()) > 1e-3 * (h + ends).abs() {
                quickest = quickest.max(rate);
            }
        }
        if h - r * slope.abs() - 0.5 * r * r * bend + ends > 0.0 || slope - r * bend + falls > 0.0 {
            return Verdict::Clear;
        }
        if slope + r * bend + grows < 0.0 {
            return if self.value(b).0 < 0.0 { Verdict::Falls } else { Verdict::Clear };
        }
        Verdict::Part(if quickest * r > 1.0 { a + 1.0 / quickest } else { m })
    }

    /// The value and the slope.
    pub fn value(&self, t: f64) -> (f64, f64) {
        let (mut g, mut slope) = (0.0, 0.0);
        for j in (0..=self.degree).rev() {
            slope = slope * t + g;
            g = g * t + self.polynomial[j];
        }
        for term in &self.terms[..self.count] {
            let (value, by) = term.at(t);
            (g, slope) = (g + value, slope + by);
        }
        (g, slope)
    }

    /// The zero between `a` and `b`, where it falls from what is not negative to what is.
    fn root(&self, mut a: f64, mut b: f64) -> f64 {
        let (at_a, at_b) = (self.value(a).0.max(0.0), self.value(b).0);
        let mut t = a + (b - a) * at_a / (at_a - at_b);
        for _ in 0..ITERATIONS {
            if !(t > a && t < b) {
                t = 0.5 * (a + b);
                if t <= a || t >= b {
                    break;
                }
            }
            let (g, slope) = self.value(t);
            if g < 0.0 {
                b = t
            } else {
                a = t
            }
            let step = g / slope;
            t -= step;
            if step.abs() <= f64::EPSILON * b {
                break;
            }
        }
        t.clamp(a, b)
    }
}

impl Term {
    #[inline]
    fn at(&self, t: f64) -> (f64, f64) {
        let &Term { alpha, omega, a, b } = self;
        let size = (alpha * t).exp();
        if omega > 0.0 {
            let (sin, cos) = (omega * t).sin_cos();
            let (value, across) = (size * (a * cos + b * sin), size * (b * cos - a * sin));
            return (value, alpha * value + omega * across);
        }
        (a * size, alpha * a * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(polynomial: &[f64], terms: &[[f64; 4]]) -> Guard {
        let mut guard =
            Guard { degree: polynomial.len() - 1, count: terms.len(), ..Guard::default() };
        guard.polynomial[..polynomial.len()].copy_from_slice(polynomial);
        for (term, &[alpha, omega, a, b]) in guard.terms.iter_mut().zip(terms) {
            *term = Term { alpha, omega, a, b };
        }
        guard
    }

    fn falls_at(guard: &Guard, T: f64) -> f64 {
        match guard.first_zero(T) {
            First::At(t) => t,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_and_a_parabola() {
        assert_eq!(guard(&[1.0, -2.0], &[]).first_zero(1.0), First::At(0.5));
        assert_eq!(guard(&[1.0, -2.0], &[]).first_zero(0.4), First::Never);
        // it touches, and does not pass
        assert_eq!(guard(&[1.0 + 1e-9, -2.0, 1.0], &[]).first_zero(3.0), First::Never);
        let zero = falls_at(&guard(&[1.0 - 1e-6, -2.0, 1.0], &[]), 3.0);
        assert!((zero - (1.0 - 1e-3)).abs() < 1e-12, "{zero}");
    }

    #[test]
    fn it_may_begin_at_zero_and_grow() {
        let zero = falls_at(&guard(&[0.0, 1.0, -1.0], &[]), 2.0);
        assert!((zero - 1.0).abs() < 1e-15);
    }

    #[test]
    fn transients_of_nine_decades() {
        // 1 − 1.5 e^{−10⁹ t} + … is negative at once, 1 − 0.9 e^{−10⁹ t} − t only at 1
        let zero = falls_at(&guard(&[1.0, -1.0], &[[-1e9, 0.0, -0.9, 0.0]]), 2.0);
        assert!((zero - 1.0).abs() < 1e-15, "{zero}");
        // a dip a nanosecond after the beginning
        let dips = guard(&[0.1], &[[-1e9, 0.0, 1.0, 0.0], [-3e9, 0.0, -1.0, 0.0]]);
        assert_eq!(dips.first_zero(1.0), First::Never);
        let dips = guard(&[0.1], &[[-1e9, 0.0, -1.0, 0.0], [-3e9, 0.0, 1.0, 0.0]]);
        let zero = falls_at(&dips, 1.0);
        assert!(dips.value(zero).0.abs() < 1e-14 && dips.value(0.99 * zero).0 > 0.0, "{zero}");
        assert!(zero < 1e-9);
    }

    #[test]
    fn an_oscillation_on_a_slope() {
        // 2 − t + cos 40 t first reaches zero near t = 1 + …
        let wave = guard(&[2.0, -1.0], &[[0.0, 40.0, 1.0, 0.0]]);
        let zero = falls_at(&wave, 5.0);
        assert!(wave.value(zero).0.abs() < 1e-12);
        let before = (0..200_000).map(|k| k as f64 / 200_000.0 * zero * (1.0 - 1e-9));
        assert!(before.into_iter().all(|t| wave.value(t).0 > 0.0));
    }

    #[test]
    fn it_says_how_far_it_has_seen() {
        // a million waves, above zero by less than their sizes tell
        let wave = guard(&[0.9], &[[0.0, 6e6, 1.0, 0.0], [0.0, 12e6, 0.6, 0.0]]);
        let First::Unseen(from) = wave.first_zero(1.0) else { panic!("all of it") };
        assert!(from > 1e-5 && from < 1.0, "{from}");
        // not a number is never certain
        let wave = guard(&[f64::NAN], &[]);
        let First::Unseen(from) = wave.first_zero(1.0) else { panic!("certain") };
        assert!(from < 1e-8, "{from}");
    }

    #[test]
    fn beside_dense_samples_of_many() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1_u64 << 31) as f64 * 2.0 - 1.0
        };
        let mut found = 0;
        for _ in 0..400 {
            let polynomial = [random(), random(), random()];
            let mut terms = [[0.0; 4]; 3];
            for (k, term) in terms.iter_mut().enumerate() {
                let rate = 10f64.powf(3.0 * random());
                *term = [-rate, if k == 2 { 5.0 * rate } else { 0.0 }, random(), random()];
            }
            let guard = guard(&polynomial, &terms);
            if guard.value(0.0).0 < 0.0 {
                continue;
            }
            let sampled = (0..=20_000).map(|k| (k as f64 / 20_000.0).powi(3));
            let sampled = sampled.into_iter().find(|&t| guard.value(t).0 < -1e-9);
            match (guard.first_zero(1.0), sampled) {
                (First::At(zero), Some(t)) => assert!(zero <= t, "{zero} after {t}"),
                (First::At(zero), None) => assert!(guard.value(zero).0.abs() < 1e-9),
                (First::Never, seen) => assert_eq!(seen, None),
                (First::Unseen(from), _) => panic!("unseen from {from} on"),
            }
            found += usize::from(sampled.is_some());
        }
        assert!(found > 50, "{found}");
    }
}
