//! Loops of a few passes without their bookkeeping.

/// Calls a function with a size first, as a number where it is small: marked `#[inline(always)]`, its loops are
/// unrolled there.
///
/// ```
/// use saltus_linalg::unrolled;
///
/// #[inline(always)]
/// fn sum(n: usize, x: &[f64]) -> f64 {
///     x[..n].iter().sum()
/// }
///
/// let x = [1.0, 2.0, 3.0];
/// assert_eq!(unrolled!(x.len(), sum(&x)), 6.0);
/// ```
#[macro_export]
macro_rules! unrolled {
    ($n:expr, $f:ident($($argument:expr),* $(,)?)) => {
        match $n {
            1 => $f(1, $($argument),*),
            2 => $f(2, $($argument),*),
            3 => $f(3, $($argument),*),
            4 => $f(4, $($argument),*),
            6 => $f(6, $($argument),*),
            n => $f(n, $($argument),*),
        }
    };
}
