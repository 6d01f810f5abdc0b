//! The sets one by one: projection, natural map and its Jacobian, and the problem of one block.
//!
//! Whether a pair obeys its law is decided here by [`violation`], which is written from the law
//! in its physical form and not from the projection.

mod boxes;
mod cones;
mod coulomb;
mod graphs;
mod rolling;
mod von_mises;

use crate::support::Random;
use saltus_numerics::{Graph, Set};

pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

pub fn normal(random: &mut Random) -> f64 {
    // the sum of uniforms is close enough to normal here
    (0..6).map(|_| random.between(-1.0, 1.0)).sum::<f64>() / 1.4
}

pub fn vector(random: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| normal(random)).collect()
}

fn scaled(random: &mut Random, n: usize, low: f64, high: f64) -> Vec<f64> {
    let scale = 10f64.powf(random.between(low, high));
    vector(random, n).iter().map(|x| x * scale).collect()
}

/// The parts of a block besides the normal one: where they start, where they end, and the ratio
/// of their disk.
fn parts(set: &Set, n: usize) -> Vec<(usize, usize, f64)> {
    match *set {
        Set::Coulomb2 { mu } | Set::Coulomb3 { mu } | Set::SecondOrder { mu } => vec![(1, n, mu)],
        Set::DruckerPrager { eta, .. } => vec![(1, n, eta)],
        Set::Rolling2 { mu, mu_r } => vec![(1, 2, mu), (2, 3, mu_r)],
        Set::Rolling3 { mu, mu_r } => vec![(1, 3, mu), (3, 5, mu_r)],
        _ => vec![],
    }
}

fn ellipse(x: &[f64]) -> f64 {
    x[0] * x[0] + x[1] * x[1] - x[0] * x[1] + 3.0 * x[2] * x[2]
}

/// How far `z` is outside of its set.
fn outside(set: &Set, z: &[f64]) -> f64 {
    if let Some((lower, upper)) = set.bounds() {
        return z.iter().fold(0.0, |worst: f64, &z| worst.max(lower - z).max(z - upper));
    }
    match *set {
        Set::Graph(_) => 0.0,
        Set::VonMises { sigma_y } => (ellipse(z).sqrt() - sigma_y).max(0.0),
        _ => {
            let over = parts(set, z.len())
                .into_iter()
                .map(|(from, to, mu)| (norm(&z[from..to]) - mu * z[0]) / (1.0 + mu));
            over.fold(0.0f64.max(-z[0]), f64::max)
        }
    }
}

/// A point of the set.
fn member(set: &Set, n: usize, random: &mut Random) -> Vec<f64> {
    let mut y = scaled(random, n, -2.0, 2.0);
    if let Some((lower, upper)) = set.bounds() {
        y.iter_mut().for_each(|y| *y = y.max(lower).min(upper));
        return y;
    }
    if let Set::VonMises { sigma_y } = *set {
        let level = ellipse(&y).sqrt();
        let scale = sigma_y * random.unit().sqrt() / level;
        y.iter_mut().for_each(|y| *y *= scale);
        return y;
    }
    y[0] = y[0].abs();
    for (from, to, mu) in parts(set, n) {
        let scale = mu * y[0] * random.unit().sqrt() / norm(&y[from..to]).max(1e-300);
        y[from..to].iter_mut().for_each(|y| *y *= scale);
    }
    y
}

/// The distance of `(w, z)` from a graph, whose ends go on.
fn off_graph(graph: &Graph, w: f64, z: f64) -> f64 {
    let points = graph.points();
    let last = points.len() - 2;
    let mut least = f64::INFINITY;
    for k in 0..=last {
        let ((w0, z0), (w1, z1)) = (points[k], points[k + 1]);
        let (dw, dz) = (w1 - w0, z1 - z0);
        let s = ((w - w0) * dw + (z - z0) * dz) / (dw * dw + dz * dz);
        let s = if k == 0 { s } else { s.max(0.0) };
        let s = if k == last { s } else { s.min(1.0) };
        least = least.min((w - w0 - s * dw).hypot(z - z0 - s * dz));
    }
    least
}

/// How far a pair is from its law, part by part: the law as physics states it.
pub fn violation(set: &Set, z: &[f64], w: &[f64]) -> f64 {
    assert!(z.iter().chain(w).all(|x| x.is_finite()), "{z:?} {w:?}");
    let mut worst: f64 = outside(set, z);
    if let Some((lower, upper)) = set.bounds() {
        for (&z, &w) in z.iter().zip(w) {
            // above its lower bound w may not be positive, below its upper one not negative
            worst = worst.max(w.max(0.0).min(z - lower)).max((-w).max(0.0).min(upper - z));
        }
        return worst;
    }
    match *set {
        Set::Graph(ref graph) => off_graph(graph, w[0], z[0]),
        Set::VonMises { sigma_y } => {
            // w = −λ A z with λ ≥ 0, and no flow inside
            let n = [z[0] - 0.5 * z[1], z[1] - 0.5 * z[0], 3.0 * z[2]];
            let inside = sigma_y - ellipse(z).sqrt();
            worst = worst.max(norm(w).min(inside.max(0.0)));
            let (flow, length) = (norm(w), norm(&n));
            if length > 0.0 {
                let against: Vec<f64> = (0..3).map(|i| w[i] + flow / length * n[i]).collect();
                worst = worst.max(norm(&against));
            }
            worst
        }
        _ => {
            let theta = |mu: f64| match *set {
                Set::SecondOrder { .. } => 0.0,
                Set::DruckerPrager { theta, .. } => theta,
                _ => mu,
            };
            // what the normal part must be at least, for the tangential flow
            let mut normal = w[0];
            for (from, to, mu) in parts(set, z.len()) {
                let (f, u) = (&z[from..to], &w[from..to]);
                let flow = norm(u);
                normal -= (mu - theta(mu)) * flow;
                // the force is as large as it may be where there is flow, and opposes it
                let force = norm(f);
                if mu > 0.0 {
                    worst = worst.max((mu * z[0] - force).min(flow));
                }
                if flow > 0.0 && force > 0.0 {
                    let off: Vec<f64> =
                        f.iter().zip(u).map(|(f, u)| f / force + u / flow).collect();
                    worst = worst.max(norm(&off) * force.min(flow));
                }
            }
            let scale = parts(set, z.len()).iter().map(|p| p.2).fold(1.0, f64::max);
            worst = worst.max(-normal / scale);
            worst.max((normal / scale).min(z[0]))
        }
    }
}

/// A pair `(z, w)` that obeys the law: of every kind, some of them on an edge.
pub fn lawful(set: &Set, n: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
    if let Some((lower, upper)) = set.bounds() {
        for i in 0..n {
            let push = if random.below(5) == 0 { 0.0 } else { random.between(0.0, 3.0) };
            (z[i], w[i]) = match random.below(3) {
                _ if lower == upper => (lower, normal(random)),
                0 if lower.is_finite() => (lower, push),
                1 if upper.is_finite() => (upper, -push),
                _ => (normal(random).max(lower).min(upper), 0.0),
            };
        }
        return (z, w);
    }
    match *set {
        Set::Graph(ref graph) => {
            let points = graph.points();
            let k = random.below(points.len() - 1);
            let s = if random.below(4) == 0 { 0.0 } else { random.between(-0.5, 1.5) };
            let s = if k == 0 { s } else { s.max(0.0) };
            let s = if k == points.len() - 2 { s } else { s.min(1.0) };
            let (from, to) = (points[k], points[k + 1]);
            z[0] = from.1 + s * (to.1 - from.1);
            w[0] = from.0 + s * (to.0 - from.0);
        }
        Set::VonMises { sigma_y } => {
            let x = vector(random, 3);
            let level = ellipse(&x).sqrt();
            let yields = random.below(3) > 0;
            let scale = sigma_y / level * if yields { 1.0 } else { random.unit() };
            z = x.iter().map(|x| x * scale).collect();
            if yields {
                let lambda = random.between(0.0, 2.0) / sigma_y.max(1e-3);
                w = [z[0] - 0.5 * z[1], z[1] - 0.5 * z[0], 3.0 * z[2]].map(|n| -lambda * n).into();
            }
        }
        _ => {
            let open = random.below(4) == 0;
            z[0] = if open { 0.0 } else { random.between(0.1, 2.0) };
            for (from, to, mu) in parts(set, n) {
                let theta = match *set {
                    Set::SecondOrder { .. } => 0.0,
                    Set::DruckerPrager { theta, .. } => theta,
                    _ => mu,
                };
                let x = vector(random, to - from);
                let length = norm(&x).max(1e-300);
                let slips = (open || random.below(2) == 0) && from < to;
                let flow = if slips { random.between(0.0, 2.0) } else { 0.0 };
                let force = mu * z[0] * if slips { 1.0 } else { random.unit() };
                for (i, x) in (from..to).zip(&x) {
                    z[i] = force * x / length;
                    w[i] = -flow * x / length;
                }
                w[0] += (mu - theta) * flow;
            }
            if open {
                w[0] += random.between(0.0, 2.0);
                w[0] = w[0].max(0.0);
            }
        }
    }
    (z, w)
}

/// The projection is in the set, idempotent, nonexpansive, and makes an obtuse angle.
#[track_caller]
pub fn check_projection(set: &Set, n: usize, seed: u64) {
    let mut random = Random(seed);
    for round in 0..20_000 {
        let x = scaled(&mut random, n, -3.0, 3.0);
        let y = if round % 3 == 0 {
            x.iter().map(|x| x * (1.0 + 1e-6 * normal(&mut random))).collect()
        } else {
            scaled(&mut random, n, -3.0, 3.0)
        };
        let (mut px, mut py) = (x.clone(), y.clone());
        set.project(1.0, &mut px);
        set.project(1.0, &mut py);
        let size = norm(&x).max(norm(&y)).max(norm(&px));
        assert!(outside(set, &px) <= 1e-14 * size, "{set:?} {x:?} {px:?}");
        let mut again = px.clone();
        set.project(1.0, &mut again);
        assert!(distance(&again, &px) <= 1e-14 * size, "{set:?} {x:?}: {px:?}, {again:?}");
        let (moved, apart) = (distance(&px, &py), distance(&x, &y));
        assert!(moved <= apart * (1.0 + 1e-12) + 1e-14 * size, "{set:?} {x:?} {y:?}");
        for _ in 0..3 {
            let y = member(set, n, &mut random);
            let away: Vec<f64> = x.iter().zip(&px).map(|(x, p)| x - p).collect();
            let along: Vec<f64> = y.iter().zip(&px).map(|(y, p)| y - p).collect();
            let scale = norm(&away) * norm(&along) + 1e-300;
            let size = norm(&x).max(norm(&y));
            assert!(
                dot(&away, &along) <= 1e-13 * scale + 1e-14 * size * (norm(&away) + norm(&along)),
                "{set:?} {x:?} {px:?} {y:?}"
            );
        }
    }
    let mut nan = vec![1.0; n];
    nan[n - 1] = f64::NAN;
    set.project(1.0, &mut nan);
    assert!(nan.iter().any(|x| x.is_nan()), "{set:?} swallows a NaN");
}

/// The natural map vanishes where the law holds, for any step, and only there.
#[track_caller]
pub fn check_natural_map(set: &Set, n: usize, seed: u64) {
    let mut random = Random(seed);
    let mut f = vec![0.0; n];
    for _ in 0..20_000 {
        let (z, w) = lawful(set, n, &mut random);
        let slack = 1e-15 * (1.0 + norm(&z) + norm(&w));
        assert!(violation(set, &z, &w) <= slack, "{set:?} {z:?} {w:?}");
        for rho in [1e-3, 1.0, 7.0, 1e3] {
            set.natural_map(rho, &z, &w, &mut f);
            let size = norm(&z) + rho * (norm(&w) + set.shift(&w)) + 1.0;
            assert!(norm(&f) <= 1e-14 * size, "{set:?} ρ = {rho}: {z:?} {w:?} {f:?}");
        }
        // somewhere else, and close by
        let size = if random.below(2) == 0 { 1.0 } else { 1e-4 };
        let z: Vec<f64> = z.iter().map(|z| z + size * normal(&mut random)).collect();
        let w: Vec<f64> = w.iter().map(|w| w + size * normal(&mut random)).collect();
        set.natural_map(1.0, &z, &w, &mut f);
        let wrong = violation(set, &z, &w);
        if wrong > 1e-3 * size {
            assert!(norm(&f) > 1e-7 * wrong, "{set:?} {z:?} {w:?} {f:?} {wrong:e}");
        }
    }
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // a box compares: beyond its bound an infinite w is large, and no more
        let places = if set.bounds().is_some() && bad.is_infinite() { 0 } else { 2 * n };
        for place in 0..places {
            let (mut z, mut w) = (vec![0.1; n], vec![0.1; n]);
            *(if place < n { &mut z[place] } else { &mut w[place - n] }) = bad;
            set.natural_map(1.0, &z, &w, &mut f);
            assert!(!(norm(&f) < 1e300), "{set:?} {z:?} {w:?} {f:?}");
        }
    }
}

/// The Jacobian is that of central differences, but at kinks.
#[track_caller]
pub fn check_jacobian(set: &Set, n: usize, seed: u64) {
    let mut random = Random(seed);
    let (mut kept, rounds) = (0, 3_000);
    let h = 1e-6;
    'rounds: for _ in 0..rounds {
        let (z, w) = (vector(&mut random, n), vector(&mut random, n));
        let rho = 10f64.powf(random.between(-1.0, 1.0));
        let jacobian = |z: &[f64], w: &[f64]| {
            let (mut dz, mut dw) = (vec![0.0; n * n], vec![0.0; n * n]);
            set.natural_jacobian(rho, z, w, &mut dz, &mut dw);
            (dz, dw)
        };
        let (dz, dw) = jacobian(&z, &w);
        let mut columns = Vec::new();
        for j in 0..2 * n {
            let side = |sign: f64| {
                let (mut z, mut w) = (z.clone(), w.clone());
                *(if j < n { &mut z[j] } else { &mut w[j - n] }) += sign * h;
                let mut f = vec![0.0; n];
                set.natural_map(rho, &z, &w, &mut f);
                (f, jacobian(&z, &w))
            };
            let ((plus, after), (minus, before)) = (side(1.0), side(-1.0));
            if distance(&after.0, &before.0) + distance(&after.1, &before.1) > 1e-3 {
                continue 'rounds;
            }
            columns.push((plus, minus));
        }
        kept += 1;
        for (j, (plus, minus)) in columns.iter().enumerate() {
            for i in 0..n {
                let difference = (plus[i] - minus[i]) / (2.0 * h);
                let exact = if j < n { dz[i * n + j] } else { dw[i * n + j - n] };
                assert!(
                    (difference - exact).abs() <= 1e-6 * (1.0 + rho),
                    "{set:?} ρ = {rho} ({i}, {j}): {exact} not {difference} at {z:?} {w:?}"
                );
            }
        }
    }
    assert!(kept > rounds * 4 / 5, "{set:?}: {kept}");
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Symmetric,
    Unsymmetric,
    BadlyScaled,
    Singular,
}

pub struct OneBlock {
    pub W: Vec<f64>,
    pub b: Vec<f64>,
}

/// A block of any kind. Half of them have an answer that was drawn first, so that all cases of
/// the law are met; a singular one always has.
pub fn block(set: &Set, n: usize, random: &mut Random, kind: Kind) -> OneBlock {
    let rank = if kind == Kind::Singular { random.below(n) } else { n };
    let a: Vec<f64> = vector(random, n * rank.max(1));
    let skew = vector(random, n * n);
    let mut W = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let product: f64 = (0..rank).map(|k| a[i * rank + k] * a[j * rank + k]).sum();
            W[i * n + j] = product;
            if i == j && kind != Kind::Singular {
                W[i * n + j] += 0.05;
            }
            if kind == Kind::Unsymmetric {
                W[i * n + j] += skew[i * n + j] - skew[j * n + i];
            }
        }
    }
    let mut b = if kind == Kind::Singular || random.below(2) == 0 {
        let (z, w) = lawful(set, n, random);
        (0..n).map(|i| w[i] - dot(&W[i * n..][..n], &z)).collect()
    } else {
        vector(random, n)
    };
    if kind == Kind::BadlyScaled {
        let scale: Vec<f64> = (0..n).map(|_| 10f64.powf(random.between(-2.0, 2.0))).collect();
        let (all, force) = (10f64.powf(random.between(-8.0, 8.0)), random.between(-6.0, 6.0));
        for i in 0..n {
            for j in 0..n {
                W[i * n + j] *= scale[i] * scale[j] * all;
            }
            b[i] *= scale[i] * all * 10f64.powf(force);
        }
    }
    OneBlock { W, b }
}

/// `W z + b`.
pub fn dual(W: &[f64], b: &[f64], z: &[f64]) -> Vec<f64> {
    let n = z.len();
    (0..n).map(|i| b[i] + dot(&W[i * n..][..n], z)).collect()
}

/// The violation of an answer relative to the size of the terms.
pub fn relative_violation(set: &Set, W: &[f64], b: &[f64], z: &[f64]) -> f64 {
    let n = z.len();
    let w = dual(W, b, z);
    let largest =
        (0..n).map(|i| W[i * n..][..n].iter().map(|a| a.abs()).sum::<f64>()).fold(0.0, f64::max);
    let rho = if largest > 0.0 { 1.0 / largest } else { 1.0 };
    // bounded sets and graphs have a scale of their own
    let bounded = match set {
        Set::Interval { .. } | Set::Graph(_) | Set::VonMises { .. } => 1.0,
        _ => 0.0,
    };
    if let Set::Graph(_) = set {
        let size = norm(z) + norm(b) + norm(&w) + bounded;
        return violation(set, z, &w) / size;
    }
    let size = norm(z).max(rho * norm(b)) + f64::MIN_POSITIVE;
    let w: Vec<f64> = w.iter().map(|w| rho * w / size).collect();
    let z: Vec<f64> = z.iter().map(|z| z / size).collect();
    let set = match *set {
        Set::Interval { lower, upper } => {
            Set::Interval { lower: lower / size, upper: upper / size }
        }
        Set::VonMises { sigma_y } => Set::VonMises { sigma_y: sigma_y / size },
        ref set => set.clone(),
    };
    violation(&set, &z, &w)
}

/// Solves many blocks of each kind. What is called solved obeys the law, and every definite
/// block is solved.
#[track_caller]
pub fn check_blocks(sets: &[Set], n: usize, rounds: usize, seed: u64) {
    let mut random = Random(seed);
    let (mut singular, mut solved) = (0, 0);
    let kinds = [Kind::Symmetric, Kind::Unsymmetric, Kind::BadlyScaled, Kind::Singular];
    for round in 0..rounds {
        let set = &sets[random.below(sets.len())];
        let kind = kinds[round % 4];
        let OneBlock { W, b, .. } = block(set, n, &mut random, kind);
        let mut z = if random.below(2) == 0 { vec![0.0; n] } else { vector(&mut random, n) };
        let done = set.solve_block(&W, &b, &mut z);
        if kind == Kind::Singular {
            singular += 1;
            solved += usize::from(done);
        } else {
            assert!(done, "round {round}, {set:?} {kind:?}: not solved, W = {W:?}, b = {b:?}");
        }
        if done {
            let wrong = relative_violation(set, &W, &b, &z);
            assert!(
                wrong <= 1e-12,
                "round {round}, {set:?} {kind:?}: {wrong:e}, z = {z:?}, W = {W:?}, b = {b:?}"
            );
        }
    }
    // all of these have an answer; where W is singular it may be hard to find
    assert!(solved * 100 >= singular * 95, "{:?}: {solved} of {singular}", sets[0].name());
}

/// Well-conditioned blocks with little friction have one answer, and plain projections find it.
#[track_caller]
pub fn check_unique(sets: &[Set], n: usize, rounds: usize, seed: u64) {
    let mut random = Random(seed);
    for _ in 0..rounds {
        let set = &sets[random.below(sets.len())];
        let mut W = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                W[i * n + j] = f64::from(i == j) + 0.4 / n as f64 * random.between(-1.0, 1.0);
            }
        }
        let (z, w) = lawful(set, n, &mut random);
        let b: Vec<f64> = (0..n).map(|i| w[i] - dot(&W[i * n..][..n], &z)).collect();
        let mut found = vec![0.0; n];
        assert!(set.solve_block(&W, &b, &mut found), "{set:?} {W:?} {b:?}");
        let size = 1.0 + norm(&z);
        assert!(distance(&found, &z) <= 1e-12 * size, "{set:?}: {found:?} not {z:?}");
        let mut slow = vec![0.0; n];
        for _ in 0..300 {
            let mut w = dual(&W, &b, &slow);
            w[0] += set.shift(&w);
            slow.iter_mut().zip(&w).for_each(|(z, w)| *z -= 0.5 * w);
            set.project(0.5, &mut slow);
        }
        assert!(distance(&slow, &z) <= 1e-7 * size, "{set:?}: {slow:?} not {z:?}");
    }
}
