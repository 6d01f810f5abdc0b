//! Loops for wide registers.
//!
//! The compiler makes code for every processor of its kind, with registers of two numbers. What is called
//! through [`wide`] is compiled a second time for those with four, and that code is taken where it runs.
//! Both do the same operations in the same order, none of them fused, and give the same bits.

use std::array::from_fn;

#[cfg(target_arch = "x86_64")]
use pulp::{Simd, WithSimd, x86::V3};

/// A loop for wide registers.
pub trait Wide {
    /// What it answers.
    type Answer;

    /// Runs it. To be inlined always, and so is what it calls: only that is compiled for wide registers.
    fn run(self) -> Self::Answer;
}

/// Runs a loop, in wide registers where the processor has them.
#[inline]
pub fn wide<W: Wide>(work: W) -> W::Answer {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        return Simd::vectorize(simd, Run(work));
    }
    work.run()
}

/// Four numbers at a time, in one register where the processor has such: for loops that the compiler does
/// not see are four wide. The token of what runs within [`wide`], see [`wide_lanes`].
pub trait Lanes: Copy {
    /// Four numbers.
    type Four: Copy;
    /// What holds of each.
    type Holds: Copy;

    /// From memory.
    fn load(self, x: &[f64; 4]) -> Self::Four;
    /// Into memory.
    fn store(self, x: Self::Four) -> [f64; 4];
    /// Four times the same.
    fn splat(self, x: f64) -> Self::Four;
    /// `a + b`.
    fn add(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a − b`.
    fn sub(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a b`.
    fn mul(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a / b`.
    fn div(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `√a`.
    fn sqrt(self, a: Self::Four) -> Self::Four;
    /// `|a|`.
    fn abs(self, a: Self::Four) -> Self::Four;
    /// `a` where `a > b`, else `b`.
    fn greater(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a` where `a < b`, else `b`.
    fn lesser(self, a: Self::Four, b: Self::Four) -> Self::Four;
    /// `a < b`, false beside a NaN.
    fn less(self, a: Self::Four, b: Self::Four) -> Self::Holds;
    /// `a ≤ b`, false beside a NaN.
    fn at_most(self, a: Self::Four, b: Self::Four) -> Self::Holds;
    /// `a` where it holds, else `b`.
    fn choose(self, holds: Self::Holds, a: Self::Four, b: Self::Four) -> Self::Four;
    /// Both.
    fn both(self, a: Self::Holds, b: Self::Holds) -> Self::Holds;
    /// Whether it holds of all four.
    fn all(self, a: Self::Holds) -> bool;

    /// The sum of the four.
    #[inline(always)]
    fn sum(self, x: Self::Four) -> f64 {
        let x = self.store(x);
        (x[0] + x[2]) + (x[1] + x[3])
    }
}

/// A loop for wide registers that is written for them.
pub trait WideLanes {
    /// What it answers.
    type Answer;

    /// Runs it. To be inlined always, and so is what it calls.
    fn run<L: Lanes>(self, lanes: L) -> Self::Answer;
}

/// Runs a loop, in wide registers where the processor has them; both give the same bits.
#[inline]
pub fn wide_lanes<W: WideLanes>(work: W) -> W::Answer {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        return Simd::vectorize(simd, RunLanes(work, simd));
    }
    work.run(Plain)
}

#[cfg(target_arch = "x86_64")]
struct RunLanes<W>(W, V3);

#[cfg(target_arch = "x86_64")]
impl<W: WideLanes> WithSimd for RunLanes<W> {
    type Output = W::Answer;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> W::Answer {
        self.0.run(self.1)
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for V3 {
    type Four = pulp::f64x4;
    type Holds = pulp::m64x4;

    #[inline(always)]
    fn load(self, x: &[f64; 4]) -> pulp::f64x4 {
        pulp::f64x4(x[0], x[1], x[2], x[3])
    }
    #[inline(always)]
    fn store(self, x: pulp::f64x4) -> [f64; 4] {
        [x.0, x.1, x.2, x.3]
    }
    #[inline(always)]
    fn splat(self, x: f64) -> pulp::f64x4 {
        self.splat_f64x4(x)
    }
    #[inline(always)]
    fn add(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.add_f64s(a, b)
    }
    #[inline(always)]
    fn sub(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.sub_f64s(a, b)
    }
    #[inline(always)]
    fn mul(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.mul_f64s(a, b)
    }
    #[inline(always)]
    fn div(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.div_f64s(a, b)
    }
    #[inline(always)]
    fn sqrt(self, a: pulp::f64x4) -> pulp::f64x4 {
        self.sqrt_f64x4(a)
    }
    #[inline(always)]
    fn abs(self, a: pulp::f64x4) -> pulp::f64x4 {
        self.abs_f64x4(a)
    }
    #[inline(always)]
    fn greater(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.max_f64s(a, b)
    }
    #[inline(always)]
    fn lesser(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.min_f64s(a, b)
    }
    #[inline(always)]
    fn less(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::m64x4 {
        self.cmp_lt_f64x4(a, b)
    }
    #[inline(always)]
    fn at_most(self, a: pulp::f64x4, b: pulp::f64x4) -> pulp::m64x4 {
        self.cmp_le_f64x4(a, b)
    }
    #[inline(always)]
    fn choose(self, holds: pulp::m64x4, a: pulp::f64x4, b: pulp::f64x4) -> pulp::f64x4 {
        self.select_f64x4(holds, a, b)
    }
    #[inline(always)]
    fn both(self, a: pulp::m64x4, b: pulp::m64x4) -> pulp::m64x4 {
        self.and_m64s(a, b)
    }
    #[inline(always)]
    fn all(self, a: pulp::m64x4) -> bool {
        self.first_true_m64s(self.not_m64s(a)) == 4
    }
}

/// For any processor.
#[derive(Clone, Copy)]
struct Plain;

impl Lanes for Plain {
    type Four = [f64; 4];
    type Holds = [bool; 4];

    #[inline(always)]
    fn load(self, x: &[f64; 4]) -> [f64; 4] {
        *x
    }
    #[inline(always)]
    fn store(self, x: [f64; 4]) -> [f64; 4] {
        x
    }
    #[inline(always)]
    fn splat(self, x: f64) -> [f64; 4] {
        [x; 4]
    }
    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| a[k] + b[k])
    }
    #[inline(always)]
    fn sub(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| a[k] - b[k])
    }
    #[inline(always)]
    fn mul(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    fn div(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| a[k] / b[k])
    }
    #[inline(always)]
    fn sqrt(self, a: [f64; 4]) -> [f64; 4] {
        a.map(f64::sqrt)
    }
    #[inline(always)]
    fn abs(self, a: [f64; 4]) -> [f64; 4] {
        a.map(f64::abs)
    }
    #[inline(always)]
    fn greater(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| if a[k] > b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn lesser(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| if a[k] < b[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn less(self, a: [f64; 4], b: [f64; 4]) -> [bool; 4] {
        from_fn(|k| a[k] < b[k])
    }
    #[inline(always)]
    fn at_most(self, a: [f64; 4], b: [f64; 4]) -> [bool; 4] {
        from_fn(|k| a[k] <= b[k])
    }
    #[inline(always)]
    fn choose(self, holds: [bool; 4], a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|k| if holds[k] { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn both(self, a: [bool; 4], b: [bool; 4]) -> [bool; 4] {
        from_fn(|k| a[k] & b[k])
    }
    #[inline(always)]
    fn all(self, a: [bool; 4]) -> bool {
        a == [true; 4]
    }
}

#[cfg(target_arch = "x86_64")]
struct Run<W>(W);

#[cfg(target_arch = "x86_64")]
impl<W: Wide> WithSimd for Run<W> {
    type Output = W::Answer;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> W::Answer {
        self.0.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation, over numbers among which are some that are none.
    struct All<'a>(&'a [[f64; 4]]);

    impl WideLanes for All<'_> {
        type Answer = Vec<u64>;

        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Vec<u64> {
            let mut bits = Vec::new();
            let mut tell = |x: L::Four| bits.extend(lanes.store(x).map(f64::to_bits));
            let mut held = 0;
            for a in self.0 {
                for b in self.0 {
                    let (a, b) = (lanes.load(a), lanes.load(b));
                    tell(lanes.add(a, b));
                    tell(lanes.sub(lanes.abs(a), lanes.splat(2.0)));
                    tell(lanes.mul(a, b));
                    tell(lanes.div(a, b));
                    tell(lanes.sqrt(a));
                    tell(lanes.choose(lanes.less(a, b), a, b));
                    tell(lanes.greater(a, b));
                    tell(lanes.lesser(a, b));
                    let (less, most) = (lanes.less(a, b), lanes.at_most(a, b));
                    for holds in [less, most, lanes.both(less, most)] {
                        held = 2 * held % 1_000_003 + u64::from(lanes.all(holds));
                    }
                }
            }
            bits.push(held);
            // which NaN it is does not count
            let is_nan = |bits: &u64| f64::from_bits(*bits).is_nan();
            bits.iter().map(|bits| if is_nan(bits) { u64::MAX } else { *bits }).collect()
        }
    }

    #[test]
    fn four_at_a_time_give_the_same_bits() {
        let odd = [f64::NAN, f64::INFINITY, -0.0, 0.0];
        let rows = [[1.0, -2.0, 3.5, 0.1], odd, [0.3; 4], [2.0, 7.0, 4.0, 1.0], [-9.0; 4]];
        assert_eq!(wide_lanes(All(&rows)), All(&rows).run(Plain));
    }
}
