//! The masonry arch against limit analysis: how thin half a circle of stones may be.

use crate::example_files::run;
use crate::support::within;
use std::f64::consts::PI;

/// The least thickness, of the mean radius 1, at which a line of thrust fits into half a circle of an even
/// number of stones, which are polygons.
///
/// Over the joint at the crown half of the arch is held by a force `H` at height `y`. With the moments of
/// the weights above it, the line of thrust meets a joint between its ends `r₀` and `r₁`:
///
/// ```text
/// H (y − r sin θ) ≤ Σ W (r cos θ − x)  at r = r₁,    ≥  at r = r₀                                 (1)
/// ```
///
/// (1) is linear in `(H, H y)`, and so is `r₀ ≤ y ≤ r₁`: the arch stands where all half planes have a
/// point in common, which is found among the corners that two of them make.
fn least_thickness(stones: usize) -> f64 {
    let (mut low, mut high) = (0.05, 0.2);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        match stands(stones, middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

fn stands(stones: usize, t: f64) -> bool {
    let (r0, r1) = (1.0 - 0.5 * t, 1.0 + 0.5 * t);
    let angle = |i: usize| PI * i as f64 / stones as f64;
    // a H + b (H y) ≤ c
    let mut planes = vec![[r0, -1.0, 0.0], [-r1, 1.0, 0.0]];
    let (mut weight, mut moment) = (0.0, 0.0);
    for i in (0..stones / 2).rev() {
        let (a, b) = (angle(i), angle(i + 1));
        let corners =
            [(r0, a), (r1, a), (r1, b), (r0, b)].map(|(r, at)| [r * at.cos(), r * at.sin()]);
        let (mut area, mut first) = (0.0, 0.0);
        for k in 0..4 {
            let ([x, y], [u, v]) = (corners[k], corners[(k + 1) % 4]);
            let cross = x * v - u * y;
            area += 0.5 * cross;
            first += (x + u) * cross / 6.0;
        }
        weight += area;
        moment += first;
        for (r, sign) in [(r1, 1.0), (r0, -1.0)] {
            let c = weight * r * a.cos() - moment;
            planes.push([-sign * r * a.sin(), sign, sign * c]);
        }
    }
    let inside = |[p, q]: [f64; 2]| planes.iter().all(|[a, b, c]| a * p + b * q <= c + 1e-12);
    planes.iter().enumerate().any(|(k, [a, b, c])| {
        planes[..k].iter().any(|[d, e, f]| {
            let det = a * e - b * d;
            det.abs() > 1e-12 && inside([(c * e - b * f) / det, (a * f - c * d) / det])
        })
    })
}

/// Milankovitch's arch of stones without end is 0.1075 thick at least; that of sixteen stones is within
/// half a percent of it, and so is where it stands and falls when it is let go.
#[test]
fn the_least_thickness_of_an_arch() {
    within("many stones", (least_thickness(200) - 0.10746).abs(), 2e-5);
    let least = least_thickness(16);
    within("sixteen stones", (least / 0.1075 - 1.0).abs(), 0.005);
    // how far the key stones come down
    let fall = |thickness: f64| {
        let (text, n) = (thickness.to_string(), "16");
        let run = run("masonry-arch/scene.toml", &[("thickness", &text), ("n", n)]);
        let y = run.signal("stone8.position[1]").unwrap();
        (y[0] - y[y.len() - 1], run.stats.worst_penetration)
    };
    for thickness in [1.01 * 0.1075, 1.01 * least] {
        let (way, penetration) = fall(thickness);
        within("stands", way.abs(), 1e-9);
        within("penetration", penetration, 1e-9);
    }
    for thickness in [0.99 * 0.1075, 0.99 * least] {
        let (way, _) = fall(thickness);
        assert!(way > 1e-3, "{thickness} falls: {way}");
    }
}
