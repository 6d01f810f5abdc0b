//! Short loops over slices: products, sums, norms; and how vectors grow.
//!
//! A norm of something that holds a NaN is NaN (`f64::max` would swallow it), so a
//! comparison `norm <= tol` fails on garbage, as it must.

/// `xᵀ y`. Four partial sums, so that the loop is not bound by the latency of one addition.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    if n < 8 {
        let mut sum = 0.0;
        for i in 0..n {
            sum += x[i] * y[i];
        }
        return sum;
    }
    let (x4, x_rest) = x.as_chunks::<4>();
    let (y4, y_rest) = y.as_chunks::<4>();
    let mut sum = [0.0; 4];
    for (a, b) in x4.iter().zip(y4) {
        for k in 0..4 {
            sum[k] += a[k] * b[k];
        }
    }
    let mut rest = 0.0;
    for (a, b) in x_rest.iter().zip(y_rest) {
        rest += a * b;
    }
    (sum[0] + sum[2]) + (sum[1] + sum[3]) + rest
}

/// `y ← x`, both of one length: without a call where that is short.
#[inline(always)]
pub fn copy(x: &[f64], y: &mut [f64]) {
    let (x4, x_rest) = x.as_chunks::<4>();
    let (y4, y_rest) = y.as_chunks_mut::<4>();
    match (x4, &mut *y4) {
        ([], []) => {}
        ([a], [to]) => *to = *a,
        ([a, b], [to_a, to_b]) => (*to_a, *to_b) = (*a, *b),
        ([a, b, c], [to_a, to_b, to_c]) => (*to_a, *to_b, *to_c) = (*a, *b, *c),
        ([a, b, c, d], [to_a, to_b, to_c, to_d]) => {
            (*to_a, *to_b, *to_c, *to_d) = (*a, *b, *c, *d);
        }
        _ => y4.copy_from_slice(x4),
    }
    match (x_rest, &mut *y_rest) {
        ([], []) => {}
        ([a], [to]) => *to = *a,
        ([a, b], [to_a, to_b]) => (*to_a, *to_b) = (*a, *b),
        _ => y_rest.copy_from_slice(x_rest),
    }
}

/// Room for so many, and where that is new a sixteenth more, or eight: growing bit by bit would end at twice as much.
pub fn room<T>(all: &mut Vec<T>, count: usize) {
    if all.capacity() < count {
        if all.is_empty() {
            *all = Vec::new(); // the old room goes before the new one comes
        }
        all.reserve_exact(count + (count / 16).max(8) - all.len());
    }
}

/// Room for so many, and where that is new for as many as are foreseen: what is never written to takes no memory of the
/// system, while vectors that grow beside each other leave holes.
pub fn foresee<T>(all: &mut Vec<T>, count: usize, foreseen: usize) {
    if all.capacity() < count {
        room(all, count.max(foreseen));
    }
}

/// `‖x − y‖`.
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (x4, x_rest) = x[..n].as_chunks::<4>();
    let (y4, y_rest) = y[..n].as_chunks::<4>();
    let mut sum = [0.0; 4];
    for (a, b) in x4.iter().zip(y4) {
        for k in 0..4 {
            sum[k] += (a[k] - b[k]) * (a[k] - b[k]);
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| (a - b) * (a - b)).sum();
    f64::sqrt((sum[0] + sum[2]) + (sum[1] + sum[3]) + rest)
}

/// `y ← y + a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Largest absolute entry; NaN if any entry is NaN; 0 for an empty vector.
#[inline]
pub fn norm_inf(x: &[f64]) -> f64 {
    let mut norm = 0.0;
    for &x in x {
        let x = x.abs();
        // written so that a NaN is kept: neither comparison with it is true
        if !(x <= norm) {
            norm = x;
            if norm.is_nan() {
                return norm;
            }
        }
    }
    norm
}

/// Euclidean norm.
#[inline]
pub fn norm2(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Whether every entry is finite. Looks at all of them, several at a time: most often they are.
#[inline]
pub fn all_finite(x: &[f64]) -> bool {
    // 0 x is 0, or NaN where x is not finite
    let (x4, rest) = x.as_chunks::<4>();
    let mut zero = [0.0; 4];
    for x in x4 {
        for k in 0..4 {
            zero[k] += 0.0 * x[k];
        }
    }
    for x in rest {
        zero[0] += 0.0 * x;
    }
    (zero[0] + zero[1]) + (zero[2] + zero[3]) == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_what_is_asked_and_a_sixteenth_more() {
        let mut all: Vec<u8> = Vec::new();
        super::room(&mut all, 800);
        assert!((800..=850).contains(&all.capacity()));
        all.resize(800, 0);
        super::room(&mut all, 1600);
        assert!((1600..=1700).contains(&all.capacity()) && all.len() == 800);
        super::room(&mut all, 5);
        assert!(all.capacity() <= 1700);
        // what is foreseen comes with the first that has no room
        super::foresee(&mut all, 1600, 5000);
        assert!(all.capacity() <= 1700);
        super::foresee(&mut all, 2000, 5000);
        assert!((5000..=5400).contains(&all.capacity()) && all.len() == 800);
        super::foresee(&mut all, 6000, 5000);
        assert!((6000..=6400).contains(&all.capacity()));
    }

    #[test]
    fn copies_of_all_lengths() {
        for n in 0..40 {
            let x: Vec<f64> = (0..n).map(|i| i as f64 + 0.5).collect();
            let mut y = vec![0.0; n];
            copy(&x, &mut y);
            assert_eq!(x, y);
        }
    }

    #[test]
    fn dot_agrees_with_the_plain_sum() {
        for n in 0..40 {
            let x: Vec<f64> = (0..n).map(|i| i as f64 + 0.5).collect();
            let y: Vec<f64> = (0..n).map(|i| 1.0 - i as f64).collect();
            let plain: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
            assert!((dot(&x, &y) - plain).abs() <= 1e-12 * (1.0 + plain.abs()));
        }
    }

    #[test]
    fn one_entry_that_is_not_finite_is_found() {
        for n in 0..20 {
            let mut x = vec![1.0; n];
            assert!(all_finite(&x));
            for i in 0..n {
                for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let kept = std::mem::replace(&mut x[i], odd);
                    assert!(!all_finite(&x));
                    x[i] = kept;
                }
            }
        }
    }

    #[test]
    fn a_nan_survives_every_norm() {
        for x in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert!(norm_inf(&x).is_nan());
            assert!(norm2(&x).is_nan());
        }
        assert_eq!(norm_inf(&[]), 0.0);
        assert_eq!(norm_inf(&[-3.0, 2.0]), 3.0);
    }
}
