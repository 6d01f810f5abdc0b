//! Pairs `(z, w)` that obey their law.

use super::Random;
use crate::sets::norm;
use crate::{Block, Set};

/// How often contacts are open, and how often those that are closed slip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    pub open: f64,
    pub slip: f64,
}

impl Default for Shares {
    fn default() -> Self {
        Shares { open: 0.3, slip: 0.4 }
    }
}

/// An answer for all blocks.
pub(super) fn answer(
    blocks: &[Block],
    shares: Shares,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let n = blocks.iter().map(|block| block.size).sum();
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    let mut start = 0;
    for Block { size, set } in blocks {
        let range = start..start + size;
        draw(set, shares, random, &mut z[range.clone()], &mut w[range]);
        start += size;
    }
    (z, w)
}

/// A pair that obeys the law of one block, away from its kinks.
fn draw(set: &Set, shares: Shares, random: &mut Random, z: &mut [f64], w: &mut [f64]) {
    if let Some((lower, upper)) = set.bounds() {
        for i in 0..z.len() {
            let push = random.between(0.1, 1.0);
            let inside = match (lower.is_finite(), upper.is_finite()) {
                (true, true) => lower + random.between(0.1, 0.9) * (upper - lower),
                (true, false) => lower + random.between(0.1, 1.0),
                (false, true) => upper - random.between(0.1, 1.0),
                (false, false) => random.between(-1.0, 1.0),
            };
            let side = random.unit();
            (z[i], w[i]) = match side {
                _ if lower == upper => (lower, 2.0 * push - 1.0),
                _ if side < 0.4 && lower.is_finite() => (lower, push),
                _ if side > 0.6 && upper.is_finite() => (upper, -push),
                _ => (inside, 0.0),
            };
        }
        return;
    }
    // the parts whose force lies in a disk: where they start, aperture, dilatancy
    let half = z.len() / 2;
    let disks: [(usize, usize, f64, f64); 2] = match *set {
        Set::Graph(ref graph) => {
            let points = graph.points();
            let k = random.below(points.len() - 1);
            let s = random.between(0.1, 0.9);
            let (from, to) = (points[k], points[k + 1]);
            (w[0], z[0]) = (from.0 + s * (to.0 - from.0), from.1 + s * (to.1 - from.1));
            return;
        }
        Set::VonMises { sigma_y } => return flow(sigma_y, shares, random, z, w),
        Set::User(ref user) => {
            // x − P(x) is normal to the set at P(x)
            let x = random.vector(z.len());
            z.copy_from_slice(&x);
            user.0.project(z);
            (0..x.len()).for_each(|i| w[i] = z[i] - x[i]);
            return;
        }
        Set::Coulomb2 { mu } | Set::Coulomb3 { mu } => [(1, z.len(), mu, mu), (0, 0, 0.0, 0.0)],
        Set::SecondOrder { mu } => [(1, z.len(), mu, 0.0), (0, 0, 0.0, 0.0)],
        Set::DruckerPrager { eta, theta } => [(1, z.len(), eta, theta), (0, 0, 0.0, 0.0)],
        Set::Rolling2 { mu, mu_r } | Set::Rolling3 { mu, mu_r } => {
            [(1, 1 + half, mu, mu), (1 + half, z.len(), mu_r, mu_r)]
        }
        Set::Free | Set::Nonnegative | Set::Interval { .. } => return,
    };
    let open = random.unit() < shares.open;
    z[0] = if open { 0.0 } else { random.between(0.2, 1.0) };
    w[0] = if open { random.between(0.2, 1.0) } else { 0.0 };
    for (from, to, mu, theta) in disks {
        if from >= to {
            continue;
        }
        let mut d = random.vector(to - from);
        let length = norm(&d).max(f64::MIN_POSITIVE);
        d.iter_mut().for_each(|d| *d /= length);
        let slips = !open && random.unit() < shares.slip;
        let force = mu * z[0] * if slips { 1.0 } else { random.between(0.0, 0.9) };
        let speed = if open || slips || mu == 0.0 { random.between(0.1, 1.0) } else { 0.0 };
        for (i, d) in (from..to).zip(&d) {
            (z[i], w[i]) = (force * d, -speed * d);
        }
        w[0] += (mu - theta) * speed;
    }
}

/// Elastic or plastic, in plane stress: `w = −λ A z`.
fn flow(sigma: f64, shares: Shares, random: &mut Random, z: &mut [f64], w: &mut [f64]) {
    let x = random.vector(3);
    let level = (x[0] * x[0] + x[1] * x[1] - x[0] * x[1] + 3.0 * x[2] * x[2]).sqrt();
    let yields = random.unit() < shares.slip;
    let scale = sigma / level * if yields { 1.0 } else { random.between(0.1, 0.9) };
    (0..3).for_each(|i| z[i] = scale * x[i]);
    if yields {
        let lambda = random.between(0.1, 1.0);
        let normal = [z[0] - 0.5 * z[1], z[1] - 0.5 * z[0], 3.0 * z[2]];
        (0..3).for_each(|i| w[i] = -lambda * normal[i]);
    }
}
