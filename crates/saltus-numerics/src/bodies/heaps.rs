//! Heaps for tests.

use super::{Friction, MovingBody, Touch};

/// Balls of a lattice in a bin, each touching those below it and beside it, falling and turning.
pub(super) fn heap(
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
        let t = super::cross(n, side);
        let length = t.iter().map(|x| x * x).sum::<f64>().sqrt();
        let t = t.map(|x| x / length);
        let frame = [n, t, super::cross(n, t)];
        let arms = [n.map(|x| -0.5 * x), if b == count { [0.0; 3] } else { n.map(|x| 0.5 * x) }];
        let bodies = [a as u32, b as u32];
        touches.push(Touch { bodies, frame, arms, q: [0.0; 3], compliance: [0.0; 2], friction });
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
