//! The free motion of a linear step, and what it leaves of the problem, as one product.
//!
//! ```text
//! x_free = P x + S⁺ b⁺ + S b + G λ + d = T s,     s = (1, x, b⁺, b, λ)                    (1)
//! q      = C x_free + e                = C T s + e
//! ```
//!
//! Only the components are in `s` that act, which states without mass do not, and of `b` those that
//! change. While there are few of them, two dense products take less time than the sparse ones that
//! they are made of.

use saltus_linalg::{Packed, Sparse, Wide, wide};

/// Entries of `T` and `C T` up to which they are kept.
const ENTRIES: usize = 1024;

/// `T` and `C T`.
#[derive(Debug)]
pub(super) struct Joined {
    states: Packed,     // T
    outputs: Packed,    // C T
    places: Vec<usize>, // of what follows 1 in s: components of x, of b⁺, of b, and of λ
    ends: [usize; 4],   // of each of these in `places`
    s: Vec<f64>,
}

/// What (1) is made of.
pub(super) struct Terms<'a> {
    /// Of `x`, `b⁺`, `b` and `λ`.
    pub maps: [&'a Sparse; 4],
    pub d: &'a [f64],
    pub C: &'a Sparse,
}

impl Joined {
    /// The products, if there are few enough of them; `varies` tells which components of `b` change.
    pub fn new(terms: &Terms<'_>, varies: impl Fn(usize) -> bool) -> Option<Joined> {
        let (n, m) = (terms.d.len(), terms.C.rows());
        let mut places: Vec<usize> = Vec::new();
        let mut ends = [0; 4];
        for (k, map) in terms.maps.iter().enumerate() {
            let mut acts = vec![false; map.cols()];
            map.iter().filter(|entry| entry.2 != 0.0).for_each(|(_, j, _)| acts[j] = true);
            let is_forcing = k == 1 || k == 2;
            places.extend((0..map.cols()).filter(|&j| acts[j] && (!is_forcing || varies(j))));
            ends[k] = places.len();
        }
        let width = 1 + places.len();
        if (n + m) * width > ENTRIES {
            return None;
        }
        let owner = |k: usize| ends.iter().position(|&end| k < end).unwrap_or(3);
        let entry = |i: usize, j: usize| match j.checked_sub(1) {
            None => terms.d[i],
            Some(k) => terms.maps[owner(k)].get(i, places[k]),
        };
        let (mut states, mut outputs) = (Packed::default(), Packed::default());
        states.fill(n, width, entry);
        let product = |i: usize, j: usize| {
            terms.C.row(i).iter().map(|one| one.value * entry(one.col, j)).sum()
        };
        outputs.fill(m, width, product);
        let mut s = vec![0.0; width];
        s[0] = 1.0;
        Some(Joined { states, outputs, places, ends, s })
    }

    /// Fills `x_free` from what (1) is applied to, `x`, `b⁺`, `b` and `λ`, and `q`.
    #[inline]
    pub fn apply(&mut self, values: [&[f64]; 4], e: &[f64], x_free: &mut [f64], q: &mut [f64]) {
        wide(Application { joined: self, values, e, x_free, q });
    }
}

/// What (1) is applied to, and where its results go.
struct Application<'a> {
    joined: &'a mut Joined,
    values: [&'a [f64]; 4],
    e: &'a [f64],
    x_free: &'a mut [f64],
    q: &'a mut [f64],
}

impl Wide for Application<'_> {
    type Answer = ();

    #[inline(always)]
    fn run(self) {
        let Joined { states, outputs, places, ends, s } = self.joined;
        let mut first = 0;
        for (&end, values) in ends.iter().zip(self.values) {
            for (s, &place) in s[1 + first..1 + end].iter_mut().zip(&places[first..end]) {
                *s = values[place];
            }
            first = end;
        }
        states.apply_wide(s, self.x_free);
        outputs.apply_plus_wide(self.e, s, self.q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_product_is_what_it_is_made_of() {
        let sparse = |entries: &[(usize, usize, f64)]| Sparse::from_triplets(2, 2, entries);
        let P = sparse(&[(0, 0, 0.5), (1, 0, -2.0), (1, 1, 3.0)]);
        let (S, G) = (sparse(&[(0, 1, 4.0), (1, 0, 7.0)]), sparse(&[(1, 1, -1.0)]));
        let none = sparse(&[]);
        let C = Sparse::from_triplets(1, 2, &[(0, 0, 1.0), (0, 1, 10.0)]);
        let terms = Terms { maps: [&P, &S, &none, &G], d: &[0.25, 0.0], C: &C };
        // the first component of b is part of d
        let mut joined = Joined::new(&terms, |component| component == 1).unwrap();
        let (mut x, mut q) = ([0.0; 2], [0.0]);
        let values: [&[f64]; 4] = [&[1.0, 2.0], &[100.0, 3.0], &[9.0; 2], &[8.0, 6.0]];
        joined.apply(values, &[0.5], &mut x, &mut q);
        assert_eq!(x, [0.5 + 12.0 + 0.25, -2.0 + 6.0 - 6.0]);
        assert_eq!(q, [x[0] + 10.0 * x[1] + 0.5]);
    }

    #[test]
    fn many_states_are_left_to_sparse_products() {
        let entries: Vec<_> = (0..40).map(|i| (i, i, 1.0)).collect();
        let P = Sparse::from_triplets(40, 40, &entries);
        let C = Sparse::from_triplets(1, 40, &[(0, 0, 1.0)]);
        let terms = Terms { maps: [&P; 4], d: &[0.0; 40], C: &C };
        assert!(Joined::new(&terms, |_| true).is_none());
    }
}
