//! The velocity at the end of a step without multipliers, for linear systems:
//!
//! ```text
//! W (v_free − v) = −h [C v + K (q + hθ v)] + h F_θ,    W = M + hθC + h²θ²K              (1)
//! ```
//!
//! Small systems keep the matrices of `v_free = A_v v + A_q q + h W⁻¹ F_θ`, which are full. Large
//! ones with few diagonals, such as finite elements along a bar, keep factors of `W` instead.

use super::assembly::Blocks;
use saltus_linalg::{BandedFactor, LinearMap, Sparse, bandwidth};

/// Equation (1), in the form that is cheaper to evaluate.
#[derive(Debug)]
pub(super) enum FreeMotion {
    Kept(Kept),
    Solved(Solved),
}

/// With matrices that hold `W⁻¹`.
#[derive(Debug)]
pub(super) struct Kept {
    Av: LinearMap,   // I − W⁻¹ (h C + h² θ K)
    Aq: LinearMap,   // −h W⁻¹ K
    S: LinearMap,    // h W⁻¹
    drift: Vec<f64>, // h W⁻¹ F_θ
}

/// With factors of `W`.
#[derive(Debug)]
pub(super) struct Solved {
    W: BandedFactor,
    C: LinearMap, // −h C
    K: LinearMap, // −h K
    h: f64,
    ahead: f64,         // h θ
    position: Vec<f64>, // q + hθ v
    change: Vec<f64>,
}

impl FreeMotion {
    /// With these matrices, one block a system, and the force as it is.
    pub fn kept(n: usize, Av: &Blocks, Aq: &Blocks, S: &Blocks, force: &[f64]) -> FreeMotion {
        let (Av, Aq, S) = (Av.map(n), Aq.map(n), S.map(n));
        let mut drift = vec![0.0; n];
        S.apply(force, &mut drift);
        FreeMotion::Kept(Kept { Av, Aq, S, drift })
    }

    /// With factors of `W`, where that is cheaper than full matrices with this many entries, and
    /// possible; the factors too. `C` and `K` are without the step.
    pub fn solved(
        W: &Sparse,
        C: &Sparse,
        K: &Sparse,
        h: f64,
        theta: f64,
        entries: usize,
    ) -> Option<(FreeMotion, BandedFactor)> {
        let n = W.rows();
        // a row of a solution waits for the one before it, a product does not
        let work = n * (8 * bandwidth(W) + 16) + C.len() + K.len();
        if entries <= work {
            return None;
        }
        let W = BandedFactor::new(W)?;
        let scaled = |matrix: &Sparse| {
            let entries: Vec<_> = matrix.iter().map(|(i, j, x)| (i, j, -h * x)).collect();
            LinearMap::from_sparse(Sparse::from_triplets(n, n, &entries))
        };
        let (C, K) = (scaled(C), scaled(K));
        let (position, change) = (vec![0.0; n], vec![0.0; n]);
        let factor = W.clone();
        let solved = Solved { W, C, K, h, ahead: h * theta, position, change };
        Some((FreeMotion::Solved(solved), factor))
    }

    /// `v_free`; `moved` says whether the force is another than in the last step.
    #[inline]
    pub fn apply(&mut self, force: &[f64], moved: bool, q: &[f64], v: &[f64], v_free: &mut [f64]) {
        match self {
            FreeMotion::Kept(Kept { Av, Aq, S, drift }) => {
                if moved {
                    S.apply(force, drift);
                }
                Av.apply_plus(drift, v, v_free);
                if !Aq.is_zero() {
                    Aq.apply_add(q, v_free);
                }
            }
            FreeMotion::Solved(Solved { W, C, K, h, ahead, position, change }) => {
                change.iter_mut().zip(force).for_each(|(change, F)| *change = *h * F);
                if !C.is_zero() {
                    C.apply_add(v, change);
                }
                for ((position, q), v) in position.iter_mut().zip(q).zip(v) {
                    *position = q + *ahead * v;
                }
                K.apply_add(position, change);
                W.solve(change);
                for ((v_free, v), change) in v_free.iter_mut().zip(v).zip(&*change) {
                    *v_free = v + change;
                }
            }
        }
    }
}
