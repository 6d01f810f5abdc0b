//! Bonds that break: what holds two surfaces together, and its damage.
//!
//! With the normal opening `y_N`, the sliding `y_T` and the integrity `β` of the bond, from 1 to 0:
//!
//! ```text
//! r_N = −β K ⟨y_N⟩₊,    r_T = −β s K y_T,    δ² = ⟨y_N⟩₊² + s ‖y_T‖²                     (1)
//! ```
//!
//! The force `β K δ` grows up to the strength `f` and falls in a straight line to zero:
//!
//! ```text
//! δ₀ = f/K,    δ_f = 2 G/f,    β(δ) = δ₀ (δ_f − δ) / (δ (δ_f − δ₀))    for δ₀ ≤ δ ≤ δ_f   (2)
//! ```
//!
//! Damage never heals: `β` is the least of all `β(δ)` so far. What it has cost is
//!
//! ```text
//! D = G (δ − δ₀)/(δ_f − δ₀)    with β(δ) = β,    and D = G where β = 0                    (3)
//! ```

/// A bond with damage, equations (1) to (3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bond {
    /// `K`, force per opening of the sound bond.
    pub stiffness: f64,
    /// `f`, the largest force.
    pub strength: f64,
    /// `G`, the energy that takes the bond apart.
    pub energy: f64,
    /// `s`, the tangential stiffness beside the normal one.
    pub shear: f64,
}

impl Bond {
    /// A bond that is as stiff in sliding as in opening.
    pub fn new(stiffness: f64, strength: f64, energy: f64) -> Bond {
        Bond { stiffness, strength, energy, shear: 1.0 }
    }

    /// `δ₀`, the opening at which damage begins.
    pub fn first_opening(&self) -> f64 {
        self.strength / self.stiffness
    }

    /// `δ_f`, the opening at which nothing is left.
    pub fn last_opening(&self) -> f64 {
        2.0 * self.energy / self.strength
    }

    /// `δ` of (1).
    pub fn opening(&self, y: &[f64]) -> f64 {
        let sliding: f64 = y[1..].iter().map(|y| y * y).sum();
        let open = y[0].max(0.0);
        (open * open + self.shear * sliding).sqrt()
    }

    /// `β(δ)` of (2) on the first way out.
    pub fn integrity(&self, opening: f64) -> f64 {
        let (first, last) = (self.first_opening(), self.last_opening());
        if opening <= first {
            1.0
        } else if opening >= last {
            0.0
        } else {
            first * (last - opening) / (opening * (last - first))
        }
    }

    /// `D` of (3).
    pub fn dissipated(&self, beta: f64) -> f64 {
        let (first, last) = (self.first_opening(), self.last_opening());
        let opening = first * last / (first + beta * (last - first));
        self.energy * (opening - first) / (last - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_costs_the_energy() {
        let bond = Bond { shear: 0.5, ..Bond::new(1e3, 10.0, 0.4) };
        assert_eq!((bond.first_opening(), bond.last_opening()), (0.01, 0.08));
        // the midpoint rule is exact on straight lines, with the corners at midpoints of cells
        let (cells, mut work) = (8000, 0.0);
        let cell = bond.last_opening() / f64::from(cells);
        for i in 0..cells {
            let opening = (f64::from(i) + 0.5) * cell;
            work += bond.integrity(opening) * bond.stiffness * opening * cell;
        }
        assert!((work - bond.energy).abs() <= 1e-12, "{work}");
        assert_eq!(bond.dissipated(1.0), 0.0);
        assert_eq!(bond.dissipated(0.0), bond.energy);
        for opening in [0.02, 0.05, 0.07] {
            let beta = bond.integrity(opening);
            let paid = bond.energy * (opening - 0.01) / 0.07;
            assert!((bond.dissipated(beta) - paid).abs() <= 1e-15);
        }
        assert_eq!(bond.opening(&[-1.0, 0.0]), 0.0);
        assert!((bond.opening(&[3.0, 4.0 * f64::sqrt(2.0)]) - 5.0).abs() <= 1e-15);
    }
}
