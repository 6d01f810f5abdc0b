//! One impact on several contacts at once, after Liu, Zhao and Brogliato.
//!
//! Each contact has a potential energy `E`, zero before and after. Impulses are shared as the forces
//! of springs `f = K δ^η` are that hold these energies, `E = K δ^(1+η)/(1+η)`:
//!
//! ```text
//! dPᵢ : dPⱼ = fᵢ : fⱼ,    f = (1 + η)^(η/(1+η)) K^(1/(1+η)) E^(η/(1+η))                 (1)
//! du = W dP,    W = H M⁻¹ Hᵀ                                                          (2)
//! dE = −u dP    where u ≤ 0 (compression),    −u dP / e²    where u > 0 (expansion)   (3)
//! ```
//!
//! It ends when no contact holds energy and none closes. In the impulse of any one contact, as (1)
//! is written, the right-hand side is singular where a contact begins; with `dP = f dτ` it is not,
//! and in place of `E` there is `δ`:
//!
//! ```text
//! P′ = K δ^η,    δ′ = −u  or  −u / e²,    u = u⁻ + W P                                 (4)
//! ```
//!
//! (4) is integrated by the pair of Dormand and Prince, with the step that its error asks for.
//! Reference: Liu, Zhao, Brogliato, *Proc. R. Soc. A* 464 (2008), 3193–3211.

/// The spring of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spring {
    pub e: f64,
    pub stiffness: f64,
    pub exponent: f64,
}

/// An impact that does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Endless {
    pub steps: usize,
}

/// An impact and its memory.
#[derive(Debug, Default)]
pub(super) struct Collision {
    springs: Vec<Spring>,
    starts: Vec<usize>, // rows of W
    entries: Vec<(usize, f64)>,
    before: Vec<f64>, // u⁻
    speed: f64,       // unit of u
    energy: f64,      // unit of E
    units: Vec<f64>,  // of P, then of δ
    state: Vec<f64>,  // P, then δ
    trial: Vec<f64>,
    u: Vec<f64>,
    slopes: [Vec<f64>; 7],
}

/// Error of a step in units of the impact.
const TOL: f64 = 1e-12;
/// Closing speed, in the unit of `u`, that is none.
const STILL: f64 = 1e-11;
/// Energy, in its unit, that is none.
const EMPTY: f64 = 1e-20;
/// Steps before giving up.
const MOST_STEPS: usize = 1_000_000;

/// Dormand and Prince: the stages, and the difference of both orders.
const STAGES: [&[f64]; 7] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
const DIFFERENCE: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

impl Collision {
    /// Forgets the last impact.
    pub fn clear(&mut self) {
        self.springs.clear();
        self.starts.clear();
        self.entries.clear();
        self.before.clear();
    }

    /// The next contact: its spring, its relative velocity, and its row of `W`.
    pub fn push(&mut self, spring: Spring, u: f64, row: impl Iterator<Item = (usize, f64)>) {
        self.springs.push(spring);
        self.before.push(u);
        self.starts.push(self.entries.len());
        self.entries.extend(row);
    }

    /// The impulses, one a contact.
    pub fn impulses(&self) -> &[f64] {
        &self.state[..self.springs.len()]
    }

    /// Integrates (4) until it is over.
    pub fn solve(&mut self) -> Result<(), Endless> {
        let mut step = self.begin();
        for _ in 0..MOST_STEPS {
            if self.is_over() {
                return Ok(());
            }
            let error = self.attempt(step);
            if !(error <= 1.0) {
                step *= if error.is_finite() { (0.9 * error.powf(-0.2)).max(0.2) } else { 0.1 };
                continue;
            }
            // what gives nothing back ends at the end of its compression
            if let Some(share) = self.overrun() {
                step *= share;
                continue;
            }
            self.accept();
            step *= (0.9 * error.max(1e-12).powf(-0.2)).min(5.0);
        }
        Err(Endless { steps: MOST_STEPS })
    }

    /// The units, and a first step.
    fn begin(&mut self) -> f64 {
        let k = self.springs.len();
        self.starts.push(self.entries.len());
        self.state.clear();
        self.state.resize(2 * k, 0.0);
        self.trial.resize(2 * k, 0.0);
        self.slopes.iter_mut().for_each(|slope| slope.resize(2 * k, 0.0));
        self.u.clear();
        self.u.extend_from_slice(&self.before);
        self.speed = self.before.iter().fold(0.0, |most: f64, u| most.max(-u));
        self.units.clear();
        self.units.resize(2 * k, 1.0);
        let (mut step, mut energy) = (f64::INFINITY, 0.0_f64);
        for i in 0..k {
            let Spring { stiffness, exponent, .. } = self.springs[i];
            let own = self.row(i).iter().find(|(j, _)| *j == i).map_or(0.0, |(_, value)| *value);
            let inertia = if own > 0.0 { 1.0 / own } else { 1.0 };
            let kinetic = 0.5 * inertia * self.speed * self.speed;
            energy = energy.max(kinetic);
            let depth = ((1.0 + exponent) * kinetic / stiffness).powf(1.0 / (1.0 + exponent));
            self.units[i] = inertia * self.speed;
            self.units[k + i] = depth;
            step = step.min(1e-2 * depth / self.speed);
        }
        self.energy = energy;
        step
    }

    fn row(&self, i: usize) -> &[(usize, f64)] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    /// Whether no contact holds energy, and none closes.
    fn is_over(&self) -> bool {
        let k = self.springs.len();
        (0..k).all(|i| {
            let Spring { stiffness, exponent, .. } = self.springs[i];
            let held = stiffness * self.state[k + i].powf(1.0 + exponent) / (1.0 + exponent);
            self.u[i] >= -STILL * self.speed && held <= EMPTY * self.energy
        })
    }

    /// One step into `trial`; returns its error in units of the tolerance.
    fn attempt(&mut self, step: f64) -> f64 {
        let size = self.state.len();
        for (stage, weights) in STAGES.iter().enumerate() {
            for j in 0..size {
                let slope = |(i, weight): (usize, &f64)| weight * self.slopes[i][j];
                let sum: f64 = weights.iter().enumerate().map(slope).sum();
                self.trial[j] = self.state[j] + step * sum;
            }
            self.slope(stage);
        }
        let mut worst = 0.0_f64;
        for j in 0..size {
            let sum: f64 = DIFFERENCE.iter().zip(&self.slopes).map(|(d, slope)| d * slope[j]).sum();
            let error = (step * sum / self.units[j]).abs();
            if !(error <= worst) {
                worst = error;
            }
        }
        worst / TOL
    }

    /// The right-hand side of (4) at `trial`, into one of the slopes.
    fn slope(&mut self, stage: usize) {
        let k = self.springs.len();
        self.velocities(k);
        let slopes = &mut self.slopes[stage];
        for (i, spring) in self.springs.iter().enumerate() {
            let (depth, u) = (self.trial[k + i], self.u[i]);
            slopes[i] = spring.force(depth);
            slopes[k + i] = match u > 0.0 {
                true if depth <= 0.0 => 0.0,
                true if spring.e > 0.0 => -u / (spring.e * spring.e),
                _ => -u,
            };
        }
    }

    /// `u` at `trial`.
    fn velocities(&mut self, k: usize) {
        for i in 0..k {
            let row = &self.entries[self.starts[i]..self.starts[i + 1]];
            let made: f64 = row.iter().map(|&(j, W)| W * self.trial[j]).sum();
            self.u[i] = self.before[i] + made;
        }
    }

    /// Whether a contact with `e = 0` was compressed beyond the end of its compression: the share
    /// of the step that leads to the end.
    fn overrun(&mut self) -> Option<f64> {
        let k = self.springs.len();
        let mut share: Option<f64> = None;
        for i in 0..k {
            if self.springs[i].e > 0.0 || !(self.state[k + i] > 0.0) {
                continue;
            }
            let product = |z: &[f64]| self.row(i).iter().map(|&(j, W)| W * z[j]).sum::<f64>();
            let (from, to) =
                (self.before[i] + product(&self.state), self.before[i] + product(&self.trial));
            if from < -STILL * self.speed && to > 0.5 * STILL * self.speed {
                let own = from / (from - to);
                share = Some(share.map_or(own, |least| least.min(own)));
            }
        }
        share
    }

    /// Takes over `trial`.
    fn accept(&mut self) {
        let k = self.springs.len();
        self.velocities(k);
        for i in 0..k {
            let ended = self.springs[i].e == 0.0 && self.u[i] >= -STILL * self.speed;
            let depth = &mut self.trial[k + i];
            *depth = if ended { 0.0 } else { depth.max(0.0) };
        }
        std::mem::swap(&mut self.state, &mut self.trial);
    }
}

impl Spring {
    #[inline]
    fn force(&self, depth: f64) -> f64 {
        if depth <= 0.0 {
            return 0.0;
        }
        self.stiffness
            * match self.exponent {
                1.0 => depth,
                1.5 => depth * depth.sqrt(),
                exponent => depth.powf(exponent),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `u` after the impact of a chain of unit masses, the first one flying at the others with 1.
    fn chain(springs: &[Spring]) -> Vec<f64> {
        let mut collision = Collision::default();
        let k = springs.len();
        for (i, &spring) in springs.iter().enumerate() {
            let near = (i.saturating_sub(1)..(i + 2).min(k)).filter(|&j| j < k);
            let row = near.map(|j| (j, if i == j { 2.0 } else { -1.0 }));
            collision.push(spring, if i == 0 { -1.0 } else { 0.0 }, row);
        }
        collision.solve().unwrap();
        collision.impulses().to_vec()
    }

    #[test]
    fn one_contact_is_newtons() {
        for exponent in [1.0, 1.5, 3.0] {
            for e in [0.0, 1e-3, 0.3, 0.7, 1.0] {
                for stiffness in [1e-3, 1.0, 1e9] {
                    let impulse = chain(&[Spring { e, stiffness, exponent }])[0];
                    // u⁺ = −1 + 2 P
                    let after = 2.0 * impulse - 1.0;
                    assert!((after - e).abs() <= 1e-9, "e = {e}, η = {exponent}: {after}");
                }
            }
        }
    }

    #[test]
    fn a_stiff_contact_before_a_soft_one_is_a_sequence() {
        let spring = |stiffness| Spring { e: 1.0, stiffness, exponent: 1.0 };
        let P = chain(&[spring(1e8), spring(1.0)]);
        assert!((P[0] - 1.0).abs() <= 1e-3 && (P[1] - 1.0).abs() <= 1e-3, "{P:?}");
    }

    #[test]
    fn energy_is_lost_and_nothing_closes() {
        for e in [0.0, 0.2, 0.5, 0.9, 1.0] {
            let spring = Spring { e, stiffness: 1.0, exponent: 1.5 };
            let P = chain(&[spring; 5]);
            let mut v = vec![1.0 - P[0]];
            v.extend((1..5).map(|i| P[i - 1] - P[i]));
            v.push(P[4]);
            let energy: f64 = v.iter().map(|v| v * v).sum();
            assert!(energy <= 1.0 + 1e-10, "{energy}");
            assert!((v.iter().sum::<f64>() - 1.0).abs() <= 1e-15);
            assert!(v.windows(2).all(|pair| pair[1] - pair[0] >= -1e-10), "{v:?}");
            if e == 1.0 {
                assert!((energy - 1.0).abs() <= 1e-10, "{energy}");
            }
        }
    }
}
