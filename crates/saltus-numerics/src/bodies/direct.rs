//! Islands whose bodies are few enough for factors: interior points.
//!
//! In a heap that moves, forces of one step say little of the next, and sweeps shift them for thousands of
//! rounds. The [interior point method](super::interior) goes there in some twenty steps, where its path leads
//! straight down; where it does not, the path is [followed](super::central_path) from the beginning.

use super::interior::Interior;
use super::measure::{Measured, measure};
use super::rows::Rows;
use super::sweeps::{BodySweeps, Island};
use saltus_linalg::GraphLu;

/// Multiplications of a factorization, about, above which there is none.
const LONGEST: f64 = 2e8;

/// Residual, in units of the tolerance, from which sweeps may go the rest of the way, and how many.
const NEAR: f64 = 100.0;
const SWEEPS: usize = 60;

/// The method and what it works on.
#[derive(Debug, Default)]
pub(super) struct Direct {
    rows: Rows,
    lu: GraphLu,
    interior: Interior,
    has_factored: bool,
}

/// Both ways to go.
#[derive(Debug, Clone, Copy)]
enum Way {
    Down,
    Along,
}

impl Direct {
    /// Whether the last island was small enough.
    pub fn has_factored(&self) -> bool {
        self.has_factored
    }
}

impl BodySweeps {
    /// Improves `z` by factors until `tol` is reached; iterations are counted in `iterations`. Where factors
    /// would be too long nothing is done.
    pub(super) fn by_factors(
        &mut self,
        island: Island<'_>,
        z: &mut [f64],
        tol: f64,
        mut best: Measured,
        iterations: &mut usize,
    ) -> Measured {
        let Island { bodies, members, touches } = island;
        let mut direct = std::mem::take(&mut self.direct);
        let Direct { rows, lu, interior, has_factored } = &mut direct;
        rows.fill(bodies, members, touches);
        rows.join(lu);
        *has_factored = lu.work() <= LONGEST;
        for way in [Way::Down, Way::Along] {
            if !*has_factored || best.residual.value <= tol {
                break;
            }
            self.saved.clear();
            self.saved.extend_from_slice(z);
            let twists = &mut self.twists;
            let residual =
                |z: &[f64]| measure(bodies, members, touches, z, 3, twists).residual.value;
            *iterations += match way {
                Way::Down => interior.solve(rows, lu, z, tol, residual),
                Way::Along => interior.follow(rows, lu, z, tol, residual),
            };
            let mut now = measure(bodies, members, touches, z, 3, &mut self.twists);
            if now.residual.value > tol && now.residual.value <= NEAR * tol {
                *iterations += self.run(bodies, members, touches, z, 3, SWEEPS, tol * now.free);
                now = measure(bodies, members, touches, z, 3, &mut self.twists);
            }
            if now.residual.value <= tol {
                best = now;
            } else {
                // where the other way begins, and sweeps go on
                z.copy_from_slice(&self.saved);
                best = measure(bodies, members, touches, z, 3, &mut self.twists);
            }
        }
        self.direct = direct;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::{COMPONENTS, Friction, MovingBody, Touch, problem};
    use super::*;
    use crate::residual::residual;

    /// Balls of a lattice in a bin, each touching those below it and beside it, falling and turning.
    fn heap(
        across: usize,
        friction: Friction,
        seed: f64,
    ) -> (Vec<MovingBody>, Vec<u32>, Vec<Touch>) {
        let count = across * across * across;
        let spread = |k: usize, i: usize| (1.7 * (3 * k + i) as f64 + seed).sin();
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

    fn analysed(island: Island<'_>) -> Direct {
        let mut direct = Direct::default();
        direct.rows.fill(island.bodies, island.members, island.touches);
        direct.rows.join(&mut direct.lu);
        direct
    }

    fn of_problem(island: Island<'_>, z: &[f64]) -> f64 {
        let known = problem(island.bodies, island.members, island.touches).unwrap();
        let size = island.touches[0].friction.size();
        let packed: Vec<f64> = z.chunks_exact(3).flat_map(|z| z[..size].to_vec()).collect();
        residual(&known, &packed, &mut vec![0.0; packed.len()]).value
    }

    /// Either way solves a heap; the residual is measured on its matrix.
    #[test]
    fn both_ways_solve_a_heap() {
        for friction in [Friction::Space { mu: 0.4 }, Friction::None] {
            let (bodies, members, touches) = heap(3, friction, 0.0);
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let Direct { rows, lu, interior, .. } = &mut analysed(island);

            let mut z = vec![0.0; 3 * touches.len()];
            let steps = interior.solve(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            assert!(of_problem(island, &z) <= 1e-8, "{friction:?} {steps}");

            let mut z = vec![0.0; 3 * touches.len()];
            let steps = interior.follow(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            assert!(of_problem(island, &z) <= 1e-8, "{friction:?} {steps}");
        }
    }

    /// Heaps whose path turns: a method that only goes down ends at the first turn, the path leads on.
    #[test]
    fn the_path_is_followed_where_it_turns() {
        let mut stopped = 0;
        for seed in [0, 1, 2, 4, 5, 6, 7, 8] {
            let (bodies, members, touches) = heap(3, Friction::Space { mu: 0.7 }, f64::from(seed));
            let island = Island { bodies: &bodies, members: &members, touches: &touches };
            let Direct { rows, lu, interior, .. } = &mut analysed(island);
            let mut z = vec![0.0; 3 * touches.len()];
            interior.solve(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            stopped += usize::from(of_problem(island, &z) > 1e-8);

            z.fill(0.0);
            let steps = interior.follow(rows, lu, &mut z, 1e-8, |z| of_problem(island, z));
            let value = of_problem(island, &z);
            assert!(value <= 1e-8, "{seed}: {value:e} after {steps}");
        }
        assert!(stopped >= 4, "{stopped} turn");
    }

    #[test]
    fn rows_are_those_of_the_bodies() {
        let (bodies, members, touches) = heap(2, Friction::Space { mu: 0.4 }, 0.0);
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
