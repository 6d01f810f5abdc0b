//! Small bodies on large ones: the gap and the normal do not depend on how large the ground is, nor on
//! where on it the body is.

use super::{Random, UPRIGHT, World};
use crate::{Placed, Shape};
use saltus_model::rotation::{Quaternion, Vector, dot, norm, product, rotate, rotate_back, sub};
use saltus_model::{Body, FoundContact};

/// A box with these half edges as triangles, two a side, counterclockwise seen from outside.
fn mesh_box(half: Vector) -> Shape {
    let quads =
        [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Shape::TriangleMesh { points: corners(half), triangles }
}

fn corners(half: Vector) -> Vec<Vector> {
    let side = |k: u32, axis: usize| if k >> axis & 1 == 1 { half[axis] } else { -half[axis] };
    (0..8).map(|k| [0, 1, 2].map(|axis| side(k, axis))).collect()
}

/// Bodies of size `r`.
fn bodies(r: f64, random: &mut Random) -> Vec<Shape> {
    let points = (0..16).map(|_| rotate(random.turn(), [0.0, 0.0, r])).collect();
    vec![
        Shape::Sphere { radius: r },
        Shape::Capsule { radius: 0.5 * r, length: 1.5 * r },
        Shape::Box { edges: [r, 1.2 * r, 1.7 * r] },
        Shape::ConvexHull { points },
        Shape::ConvexHull { points: corners([0.5 * r, 0.6 * r, 0.7 * r]) },
        Shape::Cylinder { radius: 0.7 * r, length: 2.1 * r },
        Shape::Cylinder { radius: r, length: 0.3 * r },
        Shape::Cone { radius: 0.8 * r, height: 1.5 * r },
        mesh_box([0.5 * r, 0.6 * r, 0.7 * r]),
    ]
}

/// Grounds whose top is the square of edge `2 half` at `z = 0`, and what of it is below.
fn grounds(half: f64) -> Vec<Placed> {
    let lowered =
        |shape: Shape, z: f64| Placed { shape, position: [0.0, 0.0, -z], orientation: UPRIGHT };
    let slab = [half, half, 0.4 * half];
    let mut wedge = corners(slab);
    // a frustum whose sides lean out
    wedge.iter_mut().filter(|x| x[2] < 0.0).for_each(|x| {
        x[0] *= 1.3;
        x[1] *= 1.1;
    });
    let points = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
        .map(|[x, y]| [x * half, y * half, 0.0])
        .to_vec();
    vec![
        lowered(Shape::Box { edges: slab.map(|x| 2.0 * x) }, slab[2]),
        lowered(Shape::ConvexHull { points: corners(slab) }, slab[2]),
        lowered(Shape::ConvexHull { points: wedge }, slab[2]),
        lowered(mesh_box(slab), slab[2]),
        lowered(Shape::TriangleMesh { points, triangles: vec![[0, 1, 2], [0, 2, 3]] }, 0.0),
    ]
}

/// The point that reaches farthest down, in the frame of the shape turned by `p`.
fn lowest(shape: &Shape, p: Quaternion) -> Vector {
    let n = rotate_back(p, [0.0, 0.0, -1.0]);
    let across = n[0].hypot(n[1]);
    let rim = |r: f64, z: f64| match across > 0.0 {
        true => [r * n[0] / across, r * n[1] / across, z],
        false => [0.0, 0.0, z],
    };
    let farthest = |points: &[Vector]| {
        points.iter().copied().max_by(|a, b| dot(n, *a).total_cmp(&dot(n, *b))).unwrap()
    };
    let x = match shape {
        Shape::Sphere { radius } => n.map(|n| n * radius),
        Shape::Capsule { radius, length } => {
            let z = if n[2] == 0.0 { 0.0 } else { (0.5 * length).copysign(n[2]) };
            [radius * n[0], radius * n[1], radius * n[2] + z]
        }
        Shape::Box { edges } => farthest(&corners(edges.map(|x| 0.5 * x))),
        Shape::ConvexHull { points } | Shape::TriangleMesh { points, .. } => farthest(points),
        Shape::Cylinder { radius, length } => rim(*radius, (0.5 * length).copysign(n[2])),
        Shape::Cone { radius, height } => {
            farthest(&[rim(*radius, -0.5 * height), [0.0, 0.0, 0.5 * height]])
        }
        _ => unreachable!(),
    };
    rotate(p, x)
}

/// How a body is turned: any way, on a side, or nearly on a side.
fn turned(random: &mut Random, k: usize) -> Quaternion {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let rest = match k % 3 {
        0 => return random.turn(),
        1 => UPRIGHT,
        _ => [half, half, 0.0, 0.0],
    };
    let about = 0.5 * random.within(-3.0, 3.0);
    let spun = product([about.cos(), 0.0, 0.0, about.sin()], rest);
    let tilt = [0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1][k % 7];
    let lean = random.vector(0.5 * tilt);
    saltus_model::rotation::normalized(product([1.0, lean[0], lean[1], lean[2]], spun)).unwrap()
}

fn find(shape: &Shape, x: Vector, p: Quaternion, ground: &Placed, r: f64) -> Vec<FoundContact> {
    let mut world = World::new(Body::Space);
    world.body(shape.clone(), x, p);
    world.fixed(ground.clone());
    world.v[2] = -r;
    world.find(2e-2)
}

/// The lowest point over the top face: its height is the gap, and the normal is that of the face.
#[test]
fn small_on_large() {
    let mut random = Random(77);
    let mut wrong: Vec<(String, usize, String)> = Vec::new();
    for r in [0.1, 1.0] {
        for shape in bodies(r, &mut random) {
            for ratio in [1.5, 10.0, 100.0, 1000.0] {
                let half = ratio * r;
                for (g, ground) in grounds(half).iter().enumerate() {
                    for k in 0..63 {
                        let p = turned(&mut random, k);
                        let gap = r * [0.0, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3, 1e-2, -1e-2]
                            [k / 7 % 9];
                        // anywhere, or near an edge, or near a corner: but the way out is up
                        let inner = half - 0.05 * r;
                        let place = |random: &mut Random| random.within(-inner, inner);
                        let at = match k % 4 {
                            0 | 1 => [place(&mut random), place(&mut random)],
                            2 => [inner - random.within(0.0, r), place(&mut random)],
                            _ => [random.within(0.0, r) - inner, inner - random.within(0.0, r)],
                        };
                        let low = lowest(&shape, p);
                        let x = [at[0] - low[0], at[1] - low[1], gap - low[2]];
                        let found = find(&shape, x, p, ground, r);
                        let least = found.iter().fold(f64::INFINITY, |least, c| least.min(c.gap));
                        // faces that lie on each other up to 1e-6 keep the normal of the first, and
                        // four contacts wherever the lowest is
                        let flat = [2, 3].contains(&(k % 7)) && k % 3 != 0;
                        let near = if flat { 1e-6 * 3.0_f64.sqrt() } else { 1e-9 };
                        let off = found
                            .iter()
                            .filter(|c| c.gap <= least + 1e-9 * r)
                            .map(|c| norm(sub(c.normal, [0.0, 0.0, 1.0])))
                            .fold(0.0_f64, f64::max);
                        if !((least - gap).abs() <= near * r && off <= near) {
                            let kind = format!("{} on {g} {}", shape.name(), ground.shape.name());
                            let what = format!(
                                "r {r} ratio {ratio} k {k} at {at:?} p {p:?}: gap {least:e} for {gap:e}, normal off by {off:e}, {} contacts",
                                found.len()
                            );
                            match wrong.iter_mut().find(|w| w.0 == kind) {
                                Some(w) => w.1 += 1,
                                None => wrong.push((kind, 1, what)),
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
