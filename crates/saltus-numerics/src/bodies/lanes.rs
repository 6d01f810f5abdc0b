//! Four contacts at a time: numbers of the same kind of each stand in one register.
//!
//! No closures in what runs in lanes, nor maps over arrays: they would not always be compiled for wide registers.

use super::rows::Motion;
use saltus_linalg::Lanes;

/// A number of each.
pub(super) type Four = [f64; 4];

/// A number as it is kept: whole, or in half the room with seven digits.
pub(super) trait Kept: Copy + std::fmt::Debug {
    /// Whether nothing of it is lost.
    const WHOLE: bool;
    /// Of this number.
    fn of(x: f64) -> Self;
    /// What is left of it.
    fn whole(self) -> f64;
}

impl Kept for f64 {
    const WHOLE: bool = true;

    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn whole(self) -> f64 {
        self
    }
}

impl Kept for f32 {
    const WHOLE: bool = false;

    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn whole(self) -> f64 {
        f64::from(self)
    }
}

/// Four that are kept.
#[inline(always)]
pub(super) fn read<L: Lanes, T: Kept>(l: L, x: &[T; 4]) -> L::Four {
    l.load(&[x[0].whole(), x[1].whole(), x[2].whole(), x[3].whole()])
}

/// The same in each place.
#[inline(always)]
pub(super) fn read_all<L: Lanes, T: Kept, const N: usize>(
    l: L,
    from: &[[T; 4]; N],
) -> [L::Four; N] {
    let mut to = [l.splat(0.0); N];
    for i in 0..N {
        to[i] = read(l, &from[i]);
    }
    to
}

/// Four numbers in each place.
#[inline(always)]
pub(super) fn load<L: Lanes, const N: usize>(l: L, from: &[Four; N]) -> [L::Four; N] {
    let mut to = [l.splat(0.0); N];
    for i in 0..N {
        to[i] = l.load(&from[i]);
    }
    to
}

/// The other way round.
#[inline(always)]
pub(super) fn store<L: Lanes, const N: usize>(l: L, from: &[L::Four; N]) -> [Four; N] {
    let mut to = [[0.0; 4]; N];
    for i in 0..N {
        to[i] = l.store(from[i]);
    }
    to
}

/// `s` of four bodies, component by component.
#[inline(always)]
pub(super) fn gather<L: Lanes>(l: L, s: &[Motion], of: &[u32; 4]) -> [L::Four; 6] {
    let (a, b) = (&s[of[0] as usize], &s[of[1] as usize]);
    let (c, d) = (&s[of[2] as usize], &s[of[3] as usize]);
    let mut to = [l.splat(0.0); 6];
    for i in 0..6 {
        to[i] = l.load(&[a[i], b[i], c[i], d[i]]);
    }
    to
}

#[inline(always)]
pub(super) fn negative<L: Lanes>(l: L, a: L::Four) -> L::Four {
    l.sub(l.splat(0.0), a)
}

/// `A x` of a symmetric matrix: `00, 01, 02, 11, 12, 22`.
#[inline(always)]
pub(super) fn times<L: Lanes>(l: L, A: &[L::Four; 6], x: &[L::Four; 3]) -> [L::Four; 3] {
    let rows = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
    let mut out = [l.splat(0.0); 3];
    for k in 0..3 {
        let [a, b, c] = rows[k];
        out[k] = l.add(l.add(l.mul(A[a], x[0]), l.mul(A[b], x[1])), l.mul(A[c], x[2]));
    }
    out
}
