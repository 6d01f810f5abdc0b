//! Loops for wide registers.
//!
//! The compiler makes code for every processor of its kind, with registers of two numbers. What is called
//! through [`wide`] is compiled a second time for those with four, and that code is taken where it runs.
//! Both do the same operations in the same order, none of them fused, and give the same bits.

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
