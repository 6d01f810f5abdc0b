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
//!
//! With the entries of `e` that move as more of `s`, these numbers drive the problem, and
//! `x⁺ = x_free + G λ⁺` is read off its answer (see [`Driven`]): in a known mode a step is one map.

use saltus_linalg::{LinearMap, Matrix, Packed, Sparse, Wide, wide};
use saltus_numerics::methods::{Driven, Workspace};
use saltus_numerics::{Memory, Problem, Report};

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
    matrices: [Matrix; 2], // T and C T once more
}

/// The problem as `s` drives it.
#[derive(Debug)]
pub(super) struct Drive {
    driven: Driven,
    row: Vec<usize>, // places of the first entries of s after 1 in the row of the state
    outside: [Vec<usize>; 3], // and of those that follow in b⁺, b and e
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
        let product = |i: usize, j: usize| {
            terms.C.row(i).iter().map(|one| one.value * entry(one.col, j)).sum()
        };
        let matrices = [filled(n, width, entry), filled(m, width, product)];
        let [states, outputs] = [0, 1].map(|k| Packed::from(&matrices[k]));
        let mut s = vec![0.0; width];
        s[0] = 1.0;
        Some(Joined { states, outputs, places, ends, s, matrices })
    }

    /// The problem as `s = (1, x, λ, b⁺, b, e)` drives it; `moving` are the rows of `e` that change.
    pub fn drive(&self, e: &[f64], moving: impl Iterator<Item = usize>, G: &LinearMap) -> Drive {
        let [T, CT] = &self.matrices;
        let (n, m, width) = (T.rows(), CT.rows(), T.cols());
        let rows: Vec<usize> = moving.collect();
        let all = width + rows.len();
        // columns of (1) in the order of s here
        let [x, next, now, lam] = [0, 1, 2, 3].map(|k| {
            let start = if k == 0 { 0 } else { self.ends[k - 1] };
            start..self.ends[k]
        });
        let order = [x.clone(), lam.clone(), next.clone(), now.clone()].into_iter().flatten();
        let column: Vec<usize> = [0].into_iter().chain(order.map(|k| 1 + k)).collect();
        let Q = filled(m, all, |i, j| match j.checked_sub(width) {
            Some(k) => f64::from(u8::from(rows[k] == i)),
            None if j == 0 && !rows.contains(&i) => CT[(i, j)] + e[i],
            None => CT[(i, column[j])],
        });
        let T = filled(n, all, |i, j| if j < width { T[(i, column[j])] } else { 0.0 });
        // the row is x, y, λ
        let multipliers = self.places[lam].iter().map(|place| n + m + place);
        let row = self.places[x].iter().copied().chain(multipliers).collect();
        let outside = [self.places[next].to_vec(), self.places[now].to_vec(), rows];
        let mut columns = Matrix::zeros(m, n); // Gᵀ
        let mut unit = vec![0.0; m];
        for j in 0..m {
            unit[j] = 1.0;
            G.apply_add(&unit, &mut columns.data_mut()[j * n..(j + 1) * n]);
            unit[j] = 0.0;
        }
        let G = filled(n, m, |i, j| columns[(j, i)]);
        let mut s = vec![0.0; all];
        s[0] = 1.0;
        Drive { driven: Driven::new(Q, T, G), row, outside, s }
    }

    /// `s` of these values, but for its first entry.
    #[inline(always)]
    fn gather(&self, values: [&[f64]; 4], s: &mut [f64]) {
        let mut first = 0;
        for (&end, values) in self.ends.iter().zip(values) {
            for (s, &place) in s[1 + first..1 + end].iter_mut().zip(&self.places[first..end]) {
                *s = values[place];
            }
            first = end;
        }
    }

    /// Fills `x_free` from what (1) is applied to, `x`, `b⁺`, `b` and `λ`, and `q`.
    #[inline]
    pub fn apply(&mut self, values: [&[f64]; 4], e: &[f64], x_free: &mut [f64], q: &mut [f64]) {
        wide(Application { joined: self, values, e, x_free, q });
    }
}

impl Drive {
    /// The answer in the last mode: `λ⁺`, `y⁺` and `x⁺` from the row of the state, `x`, `y` and `λ`, and
    /// `b⁺`, `b` and `e`. Nothing where it is none; then what is in them means nothing.
    #[inline]
    pub fn again(
        &mut self,
        (problem, tol): (&Problem, f64),
        row: &[f64],
        outside: [&[f64]; 3],
        (lam, y, x): (&mut [f64], &mut [f64], &mut [f64]),
    ) -> Option<Report> {
        let mut at = 1; // of what comes next in s
        let mut fill = |places: &[usize], values: &[f64]| {
            let own = &mut self.s[at..at + places.len()];
            own.iter_mut().zip(places).for_each(|(s, &place)| *s = values[place]);
            at += places.len();
        };
        fill(&self.row, row);
        let [next, now, e] = &self.outside;
        fill(next, outside[0]);
        fill(now, outside[1]);
        fill(e, outside[2]);
        self.driven.again(problem, tol, &self.s, (lam, y, x))
    }

    /// Takes the mode of the last answer.
    pub fn follow(&mut self, workspace: &Workspace, problem: &Problem) {
        self.driven.follow(workspace, problem);
    }

    /// Whether the next step goes on in the mode of the last.
    pub fn memory(&mut self, memory: &mut Memory, workspace: &mut Workspace, problem: &Problem) {
        self.driven.memory(memory, workspace, problem);
    }
}

fn filled(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> f64) -> Matrix {
    let entries = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
    Matrix::from_vec(rows, cols, entries.map(|(i, j)| entry(i, j)).collect())
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
        let mut s = std::mem::take(&mut self.joined.s);
        self.joined.gather(self.values, &mut s);
        self.joined.s = s;
        let Joined { states, outputs, s, .. } = self.joined;
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
