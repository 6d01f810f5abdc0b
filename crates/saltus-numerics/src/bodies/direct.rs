//! Islands whose bodies are few enough for factors: interior points and multipliers in turn.
//!
//! In a heap that moves, forces of one step say little of the next, and sweeps shift them for thousands of
//! rounds. The [interior point method](super::interior) goes there in some fifteen steps, about three times of four;
//! where the coupling of friction stops it, [multipliers](super::multipliers) with sweeps between them lead on,
//! from where the next interior point method starts.

use super::interior::Interior;
use super::measure::{Measured, measure};
use super::multipliers::Multipliers;
use super::rows::Rows;
use super::sweeps::{BodySweeps, Island};
use saltus_linalg::GraphLu;

/// Multiplications of all factorizations together, about, after which no other round begins; and of one.
const WORK: f64 = 4e9;
const LONGEST: f64 = 2e8;
/// Times that both methods are tried at most.
const ROUNDS: usize = 6;
/// `ρ` at first, its growth after easy steps, its fall after a failure, and the least.
const RHO: f64 = 10.0;
const GROWTH: f64 = 3.0;
const FALL: f64 = 0.25;
const SOFTEST: f64 = 1.0;
/// Defect of a step of multipliers, of the residual.
const ACCEPTED: f64 = 0.5;
/// Factorizations of multipliers in a round, and sweeps between their steps.
const FACTORS: usize = 40;
const SWEEPS: usize = 30;

/// Both methods and what they share.
#[derive(Debug, Default)]
pub(super) struct Direct {
    rows: Rows,
    lu: GraphLu,
    interior: Interior,
    multipliers: Multipliers,
    factored: usize, // how often, in this call
    begin: Vec<f64>, // z as it came
}

impl Direct {
    /// Whether the last island was small enough.
    pub fn has_factored(&self) -> bool {
        self.factored > 0
    }
}

impl BodySweeps {
    /// Improves `z` by factors until `tol` is reached or the rounds are over; iterations are counted in
    /// `iterations`. Where factors would be too long nothing is done.
    pub(super) fn by_factors(
        &mut self,
        island: Island<'_>,
        z: &mut [f64],
        tol: f64,
        mut best: Measured,
        iterations: &mut usize,
    ) -> Measured {
        let mut direct = std::mem::take(&mut self.direct);
        direct.rows.fill(island.bodies, island.members, island.touches);
        direct.rows.join(&mut direct.lu);
        direct.factored = 0;
        direct.begin.clear();
        direct.begin.extend_from_slice(z);
        let work = direct.lu.work();
        if work <= LONGEST {
            for _ in 0..ROUNDS {
                if direct.factored as f64 * work > WORK {
                    break;
                }
                best = self.inside(&mut direct, island, z, tol, best, iterations);
                if !(best.residual.value > tol) {
                    break;
                }
                best = self.around(&mut direct, island, z, tol, best, iterations);
                if !(best.residual.value > tol) {
                    break;
                }
            }
        }
        if !best.residual.value.is_finite() {
            z.copy_from_slice(&direct.begin);
            let Island { bodies, members, touches } = island;
            best = measure(bodies, members, touches, z, 3, &mut self.twists);
        }
        self.direct = direct;
        best
    }

    /// The interior point method; its answer where that is better.
    fn inside(
        &mut self,
        direct: &mut Direct,
        island: Island<'_>,
        z: &mut [f64],
        tol: f64,
        best: Measured,
        iterations: &mut usize,
    ) -> Measured {
        let Island { bodies, members, touches } = island;
        self.saved.clear();
        self.saved.extend_from_slice(z);
        let Direct { rows, lu, interior, .. } = direct;
        let twists = &mut self.twists;
        let residual = |z: &[f64]| measure(bodies, members, touches, z, 3, twists).residual.value;
        let taken = interior.solve(rows, lu, z, tol, residual);
        *iterations += taken;
        direct.factored += taken;
        let now = measure(bodies, members, touches, z, 3, &mut self.twists);
        if now.residual.value <= best.residual.value {
            return now;
        }
        z.copy_from_slice(&self.saved);
        measure(bodies, members, touches, z, 3, &mut self.twists)
    }

    /// Multipliers with sweeps between them.
    fn around(
        &mut self,
        direct: &mut Direct,
        island: Island<'_>,
        z: &mut [f64],
        tol: f64,
        mut last: Measured,
        iterations: &mut usize,
    ) -> Measured {
        let Island { bodies, members, touches } = island;
        let Direct { rows, lu, multipliers, .. } = direct;
        let size = rows.free.iter().flatten().map(|s| s * s).sum::<f64>().sqrt();
        let (mut rho, mut factors) = (RHO, 0);
        rows.follow(z, &mut multipliers.s);
        while factors < FACTORS {
            let defect = ACCEPTED * last.residual.value * size;
            let solved = multipliers.step(rows, lu, rho, defect, z);
            let taken = solved.unwrap_or(HARD);
            factors += taken;
            *iterations += taken;
            if solved.is_none() {
                rho *= FALL;
                if rho < SOFTEST {
                    break;
                }
            }
            let still = tol * last.free;
            self.follow(bodies, members, touches, z, 3);
            *iterations += self.run(bodies, members, touches, z, 3, SWEEPS, still);
            last = measure(bodies, members, touches, z, 3, &mut self.twists);
            if !(last.residual.value > tol) {
                break;
            }
            rows.follow(z, &mut multipliers.s);
            rho *= match solved {
                Some(1 | 2) => GROWTH,
                Some(3) => GROWTH.sqrt(),
                Some(4) | None => 1.0,
                Some(_) => 0.5,
            };
        }
        direct.factored += factors;
        last
    }
}

/// Factorizations that a step which fails counts for.
const HARD: usize = 3;

#[cfg(test)]
mod tests {
    use super::super::{COMPONENTS, Friction, MovingBody, Touch, problem};
    use super::*;
    use crate::residual::residual;

    /// Balls of a lattice in a bin, each touching those below it and beside it, falling and turning.
    fn heap(across: usize, friction: Friction) -> (Vec<MovingBody>, Vec<u32>, Vec<Touch>) {
        let count = across * across * across;
        let spread = |k: usize, i: usize| (1.7 * (3 * k + i) as f64).sin();
        let mut bodies: Vec<MovingBody> = (0..count)
            .map(|k| MovingBody {
                inverse_mass: 1.0 + 0.2 * spread(k, 1),
                inverse_inertia: [2.5, 2.6, 2.4, 0.1, 0.0, -0.1],
                v: [0.3 * spread(k, 0), 0.3 * spread(k, 1), -0.5 + 0.2 * spread(k, 2)],
                omega: [spread(k, 3), spread(k, 4), spread(k, 5)],
            })
            .collect();
        bodies.push(MovingBody::default());
        let mut touches = Vec::new();
        let mut touch = |a: usize, b: usize, n: [f64; 3]| {
            let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
            let n = n.map(|x| x / length);
            let side = if n[2].abs() > 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
            let t = super::super::cross(n, side);
            let length = t.iter().map(|x| x * x).sum::<f64>().sqrt();
            let t = t.map(|x| x / length);
            let frame = [n, t, super::super::cross(n, t)];
            let arms =
                [n.map(|x| -0.5 * x), if b == count { [0.0; 3] } else { n.map(|x| 0.5 * x) }];
            let bodies = [a as u32, b as u32];
            touches.push(Touch { bodies, frame, arms, q: [0.0; COMPONENTS], friction });
        };
        for k in 0..count {
            let [i, j, l] = [k % across, k / across % across, k / (across * across)];
            let tilt = 0.3 * spread(k, 7);
            if l == 0 {
                touch(k, count, [0.0, 0.0, 1.0]);
            } else {
                touch(k, k - across * across, [tilt, 0.2, 1.0]);
            }
            match i {
                0 => touch(k, count, [1.0, 0.0, 0.0]),
                _ => touch(k, k - 1, [1.0, tilt, 0.1]),
            }
            match j {
                0 => touch(k, count, [0.0, 1.0, 0.0]),
                _ => touch(k, k - across, [0.1, 1.0, tilt]),
            }
        }
        (bodies, (0..count as u32).collect(), touches)
    }

    fn of_problem(island: Island<'_>, z: &[f64]) -> f64 {
        let known = problem(island.bodies, island.members, island.touches).unwrap();
        let size = island.touches[0].friction.size();
        let packed: Vec<f64> = z.chunks_exact(3).flat_map(|z| z[..size].to_vec()).collect();
        residual(&known, &packed, &mut vec![0.0; packed.len()]).value
    }

    /// The interior point method solves a heap, whose residual is measured on its matrix; so do multipliers from
    /// nearby.
    #[test]
    fn both_methods_solve_a_heap() {
        for friction in [Friction::Space { mu: 0.4 }, Friction::None] {
            let (bodies, members, touches) = heap(3, friction);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let mut direct = Direct::default();
            direct.rows.fill(&bodies, &members, &touches);
            direct.rows.join(&mut direct.lu);
            let Direct { rows, lu, interior, multipliers, .. } = &mut direct;

            let mut z = vec![0.0; 3 * touches.len()];
            let steps = interior.solve(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            assert!(of_problem(island, &z) <= 1e-8, "{friction:?} {steps}");

            // where multipliers stay, whatever their ρ, and come back to
            let size = z.iter().map(|z| z * z).sum::<f64>().sqrt();
            let apart = |a: &[f64]| {
                let square = a.iter().zip(&z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                square.sqrt() / size
            };
            for rho in [1.0, 10.0, 1000.0] {
                let mut again = z.clone();
                rows.follow(&again, &mut multipliers.s);
                assert!(multipliers.step(rows, lu, rho, 1e-10, &mut again).is_some(), "{rho}");
                assert!(apart(&again) < 1e-4, "{friction:?} {rho} {:e}", apart(&again));
            }
            let mut near: Vec<f64> = z.iter().map(|z| 0.999 * z).collect();
            rows.follow(&near, &mut multipliers.s);
            for rho in [30.0, 100.0, 300.0, 1000.0] {
                assert!(multipliers.step(rows, lu, rho, 1e-9, &mut near).is_some(), "{rho}");
            }
            let value = of_problem(island, &near);
            assert!(value <= 1e-6, "{friction:?} {value:e}");
        }
    }

    #[test]
    fn rows_are_those_of_the_bodies() {
        let (bodies, members, touches) = heap(2, Friction::Space { mu: 0.4 });
        let mut rows = Rows::default();
        rows.fill(&bodies, &members, &touches);
        let z: Vec<f64> = (0..3 * touches.len()).map(|k| (k as f64).cos()).collect();
        let mut twists = vec![Default::default(); bodies.len()];
        super::super::measure::start(&bodies, &members, &mut twists);
        super::super::measure::push_all(&bodies, &touches, &z, 3, &mut twists);
        let mut s = Vec::new();
        rows.follow(&z, &mut s);
        for (row, touch) in rows.all.iter().zip(&touches) {
            let [a, b] = touch.bodies.map(|k| k as usize);
            let (own, known) = (row.velocity(&s), touch.relative(&twists[a], &twists[b]));
            for k in 0..3 {
                assert!((own[k] - known[k]).abs() < 1e-12);
            }
        }
    }
}
