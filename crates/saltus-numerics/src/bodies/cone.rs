//! The cone of Lorentz in space, `x_0 ≥ |x_T|`, and its algebra, four vectors at a time.
//!
//! ```text
//! a ∘ b = (a · b, a_0 b_T + b_0 a_T),     x⁻¹ = (x_0, −x_T)/det x,     det x = x_0² − |x_T|²
//! ```
//!
//! Reference: Alizadeh, Goldfarb, *Math. Program.* 95 (2003) 3–51.

use super::lanes::negative;
use saltus_linalg::Lanes;

/// `a · b`.
#[inline(always)]
pub(super) fn dot<L: Lanes>(l: L, a: &[L::Four; 3], b: &[L::Four; 3]) -> L::Four {
    l.add(l.add(l.mul(a[0], b[0]), l.mul(a[1], b[1])), l.mul(a[2], b[2]))
}

/// `a_0 b_0 − a_T · b_T`.
#[inline(always)]
fn across<L: Lanes>(l: L, a: &[L::Four; 3], b: &[L::Four; 3]) -> L::Four {
    l.sub(l.sub(l.mul(a[0], b[0]), l.mul(a[1], b[1])), l.mul(a[2], b[2]))
}

/// `a + b`.
#[inline(always)]
pub(super) fn sum<L: Lanes>(l: L, a: &[L::Four; 3], b: &[L::Four; 3]) -> [L::Four; 3] {
    [l.add(a[0], b[0]), l.add(a[1], b[1]), l.add(a[2], b[2])]
}

/// `a − b`.
#[inline(always)]
pub(super) fn difference<L: Lanes>(l: L, a: &[L::Four; 3], b: &[L::Four; 3]) -> [L::Four; 3] {
    [l.sub(a[0], b[0]), l.sub(a[1], b[1]), l.sub(a[2], b[2])]
}

/// `s a`.
#[inline(always)]
pub(super) fn scaled<L: Lanes>(l: L, s: L::Four, a: &[L::Four; 3]) -> [L::Four; 3] {
    [l.mul(s, a[0]), l.mul(s, a[1]), l.mul(s, a[2])]
}

/// `det x`, which is positive inside.
#[inline(always)]
pub(super) fn determinant<L: Lanes>(l: L, x: &[L::Four; 3]) -> L::Four {
    let along = l.sqrt(l.add(l.mul(x[1], x[1]), l.mul(x[2], x[2])));
    l.mul(l.sub(x[0], along), l.add(x[0], along))
}

/// `x⁻¹`.
#[inline(always)]
pub(super) fn inverse<L: Lanes>(l: L, x: &[L::Four; 3]) -> [L::Four; 3] {
    let per = l.div(l.splat(1.0), determinant(l, x));
    let less = negative(l, per);
    [l.mul(x[0], per), l.mul(x[1], less), l.mul(x[2], less)]
}

/// `a ∘ b`.
#[inline(always)]
pub(super) fn jordan<L: Lanes>(l: L, a: &[L::Four; 3], b: &[L::Four; 3]) -> [L::Four; 3] {
    [
        dot(l, a, b),
        l.add(l.mul(a[0], b[1]), l.mul(b[0], a[1])),
        l.add(l.mul(a[0], b[2]), l.mul(b[0], a[2])),
    ]
}

/// `x` of `a ∘ x = b`.
#[inline(always)]
pub(super) fn jordan_divide<L: Lanes>(l: L, a: &[L::Four; 3], b: &[L::Four; 3]) -> [L::Four; 3] {
    let x = l.div(across(l, a, b), determinant(l, a));
    let per = l.div(l.splat(1.0), a[0]);
    [x, l.mul(l.sub(b[1], l.mul(x, a[1])), per), l.mul(l.sub(b[2], l.mul(x, a[2])), per)]
}

/// The scaling of Nesterov and Todd: `Ω` and its inverse, with `Ω x = Ω⁻¹ y`, as symmetric matrices.
#[inline(always)]
pub(super) fn nesterov_todd<L: Lanes>(
    l: L,
    y: &[L::Four; 3],
    x: &[L::Four; 3],
) -> [[L::Four; 6]; 2] {
    let (one, half) = (l.splat(1.0), l.splat(0.5));
    let (size_y, size_x) = (l.sqrt(determinant(l, y)), l.sqrt(determinant(l, x)));
    let (per_y, per_x) = (l.div(one, size_y), l.div(one, size_x));
    let cosine = l.mul(dot(l, y, x), l.mul(per_y, per_x));
    let gamma = l.sqrt(l.mul(half, l.add(one, cosine)));
    let share = l.div(half, gamma);
    let (of_y, of_x) = (l.mul(share, per_y), l.mul(share, per_x));
    let a = l.add(l.mul(of_y, y[0]), l.mul(of_x, x[0]));
    let b = l.sub(l.mul(of_y, y[1]), l.mul(of_x, x[1]));
    let c = l.sub(l.mul(of_y, y[2]), l.mul(of_x, x[2]));
    let k = l.div(one, l.add(one, a));
    let (kb, kc) = (l.mul(k, b), l.mul(k, c));
    let (bb, bc, cc) = (l.add(one, l.mul(kb, b)), l.mul(kb, c), l.add(one, l.mul(kc, c)));
    let beta = l.sqrt(l.mul(size_y, per_x));
    let back = l.div(one, beta);
    let (less_b, less_c) = (negative(l, b), negative(l, c));
    let mut scaling = [a, b, c, bb, bc, cc];
    let mut inverse = [a, less_b, less_c, bb, bc, cc];
    for i in 0..6 {
        scaling[i] = l.mul(beta, scaling[i]);
        inverse[i] = l.mul(back, inverse[i]);
    }
    [scaling, inverse]
}

/// `A²` of a symmetric matrix.
#[inline(always)]
pub(super) fn square<L: Lanes>(l: L, A: &[L::Four; 6]) -> [L::Four; 6] {
    let rows = [[A[0], A[1], A[2]], [A[1], A[3], A[4]], [A[2], A[4], A[5]]];
    [
        dot(l, &rows[0], &rows[0]),
        dot(l, &rows[0], &rows[1]),
        dot(l, &rows[0], &rows[2]),
        dot(l, &rows[1], &rows[1]),
        dot(l, &rows[1], &rows[2]),
        dot(l, &rows[2], &rows[2]),
    ]
}

/// The largest `α` with `x + α d` in the cone; zero where there is no such number.
#[inline(always)]
pub(super) fn way<L: Lanes>(l: L, x: &[L::Four; 3], d: &[L::Four; 3]) -> L::Four {
    let zero = l.splat(0.0);
    let (a, c, b) = (determinant(l, d), determinant(l, x), across(l, x, d));
    let apex = l.div(negative(l, x[0]), d[0]);
    let mut most = l.choose(l.less(d[0], zero), apex, l.splat(f64::INFINITY));
    let root = l.sub(l.mul(b, b), l.mul(a, c));
    let crosses = l.at_most(zero, root);
    let size = l.sqrt(root);
    let q = l.choose(l.less(b, zero), l.sub(size, b), negative(l, l.add(b, size)));
    for alpha in [l.div(q, a), l.div(c, q)] {
        let ahead = l.both(crosses, l.less(zero, alpha));
        most = l.choose(ahead, l.lesser(alpha, most), most);
    }
    l.choose(l.at_most(l.abs(b), l.splat(f64::MAX)), most, zero)
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Four, load, times};
    use super::*;
    use saltus_linalg::{WideLanes, wide_lanes};

    const X: [Four; 3] = [[2.0, 1.0, 30.0, 0.5], [0.7, 0.0, 12.0, -0.2], [-1.1, 0.0, 3.0, 0.3]];
    const Y: [Four; 3] = [[0.9, 2.0, 1e-3, 4.0], [0.1, 0.3, 4e-4, 1.0], [0.6, 0.1, -5e-4, -3.0]];

    /// What is to hold of these vectors.
    struct Holds;

    impl WideLanes for Holds {
        type Answer = ();

        #[inline(always)]
        fn run<L: Lanes>(self, l: L) {
            let near = |a: &[L::Four; 3], b: &[L::Four; 3]| {
                let off = difference(l, a, b);
                l.store(dot(l, &off, &off)).iter().all(|off| off.sqrt() < 1e-12)
            };
            let (x, y, zero) = (load(l, &X), load(l, &Y), l.splat(0.0));
            assert!(near(&jordan(l, &x, &inverse(l, &x)), &[l.splat(1.0), zero, zero]));
            assert!(near(&jordan(l, &x, &jordan_divide(l, &x, &y)), &y));
            let [scaling, back] = nesterov_todd(l, &y, &x);
            assert!(near(&times(l, &scaling, &x), &times(l, &back, &y)));
            assert!(near(&times(l, &back, &times(l, &scaling, &x)), &x));
            assert!(near(&times(l, &square(l, &scaling), &x), &y));

            for d in [[-1.0, 0.2, 0.3], [0.1, 1.0, 0.0], [0.0, 0.5, -0.5]] {
                let d = [l.splat(d[0]), l.splat(d[1]), l.splat(d[2])];
                let end = sum(l, &x, &scaled(l, way(l, &x, &d), &d));
                let (is_inside, off) = (l.store(end[0]), l.store(determinant(l, &end)));
                assert!((0..4).all(|k| off[k].abs() < 1e-11 && is_inside[k] > 0.0));
            }
            let never = [l.splat(1.0), l.splat(0.5), zero];
            assert_eq!(l.store(way(l, &x, &never)), [f64::INFINITY; 4]);
            let none = [l.splat(f64::NAN), l.splat(0.5), zero];
            assert_eq!(l.store(way(l, &x, &none)), [0.0; 4]);
        }
    }

    #[test]
    fn the_algebra_of_the_cone() {
        wide_lanes(Holds);
    }
}
