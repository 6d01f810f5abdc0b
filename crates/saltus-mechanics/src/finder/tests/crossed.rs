//! Two surfaces whose edges cross, against the hulls of their points.

use super::{Random, UPRIGHT, World};
use crate::Shape;
use saltus_model::rotation::{Quaternion, Vector, dot, norm, product, rotate, scaled, unit};
use saltus_model::{Body, FoundContact};

/// A surface, and the convex bodies that it is made of.
struct Solid {
    name: &'static str,
    mesh: Shape,
    parts: Vec<Shape>,
    thickness: f64,
}

impl Solid {
    fn new(name: &'static str, points: Vec<Vector>, triangles: Vec<[u32; 3]>) -> Solid {
        let parts = vec![Shape::ConvexHull { points: points.clone() }];
        Solid { name, mesh: Shape::TriangleMesh { points, triangles }, parts, thickness: 1.0 }
    }
}

/// Corners of a box and its triangles, two a side.
fn block(low: Vector, high: Vector) -> (Vec<Vector>, Vec<[u32; 3]>) {
    let points = (0..8_u32)
        .map(|k| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] }));
    let quads =
        [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    (points.collect(), triangles)
}

fn cube() -> Solid {
    let (points, triangles) = block([-0.5; 3], [0.5; 3]);
    Solid::new("cube", points, triangles)
}

fn tetrahedron() -> Solid {
    let points = vec![[0.5, 0.5, 0.5], [0.5, -0.5, -0.5], [-0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]];
    Solid::new("tetrahedron", points, vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
}

/// A corner piece: an `L` of two bars, as one surface.
fn corner_piece() -> Solid {
    let outline = [[-0.5, -0.5], [0.5, -0.5], [0.5, -0.1], [-0.1, -0.1], [-0.1, 0.5], [-0.5, 0.5]];
    let points = [-0.2, 0.2].iter().flat_map(|&z| outline.map(|[x, y]| [x, y, z])).collect();
    // caps about the corner that is turned in, walls around
    let mut triangles = Vec::new();
    for k in [4, 5, 0, 1] {
        let (a, b) = (k, (k + 1) % 6);
        triangles.extend([[3, b, a], [9, a + 6, b + 6]]);
    }
    for a in 0..6 {
        let b = (a + 1) % 6;
        triangles.extend([[a, b, b + 6], [a, b + 6, a + 6]]);
    }
    let bar = |low, high| Shape::ConvexHull { points: block(low, high).0 };
    let parts =
        vec![bar([-0.5, -0.5, -0.2], [0.5, -0.1, 0.2]), bar([-0.5, -0.5, -0.2], [-0.1, 0.5, 0.2])];
    Solid {
        name: "corner piece",
        mesh: Shape::TriangleMesh { points, triangles },
        parts,
        thickness: 0.4,
    }
}

/// Where two bodies are: the first at `x`, the second at the origin.
#[derive(Debug, Clone, Copy)]
struct Poses {
    x: Vector,
    turned: [Quaternion; 2],
}

impl Poses {
    fn random(random: &mut Random, near: f64, far: f64) -> Poses {
        let way = unit(random.vector(1.0)).unwrap();
        let turned = [random.turn(), random.turn()];
        Poses { x: scaled(random.within(near, far), way), turned }
    }
}

/// Contacts of two bodies that may get `reach` nearer within the step.
fn contacts(a: &Shape, b: &Shape, at: Poses, reach: f64) -> Vec<FoundContact> {
    let mut world = World::new(Body::Space);
    world.body(a.clone(), at.x, at.turned[0]);
    world.body(b.clone(), [0.0; 3], at.turned[1]);
    let way = unit(at.x).unwrap();
    world.v[..3].copy_from_slice(&scaled(-reach, way));
    world.v[6..9].copy_from_slice(&scaled(reach, way));
    // and turn, so that whatever the normal is it can close
    world.v[9..].copy_from_slice(&[0.0, 0.0, 2.0 * reach / norm(at.x)]);
    world.find(1.0)
}

/// The same of all their convex parts.
fn of_parts(a: &Solid, b: &Solid, at: Poses, reach: f64) -> Vec<FoundContact> {
    let pairs = a.parts.iter().flat_map(|a| b.parts.iter().map(move |b| (a, b)));
    pairs.flat_map(|(a, b)| contacts(a, b, at, reach)).collect()
}

fn deepest(found: &[FoundContact]) -> Option<FoundContact> {
    found.iter().copied().min_by(|a, b| a.gap.total_cmp(&b.gap))
}

fn pairs() -> Vec<[Solid; 2]> {
    vec![
        [cube(), cube()],
        [tetrahedron(), tetrahedron()],
        [cube(), tetrahedron()],
        [corner_piece(), cube()],
        [tetrahedron(), corner_piece()],
        [corner_piece(), corner_piece()],
    ]
}

/// Surfaces that overlap by up to a tenth of their thickness touch, however they cross; mostly as their hulls do, and seldom deeper.
#[test]
fn every_shallow_overlap_is_found() {
    for [a, b] in pairs() {
        let (name, mut random) = (format!("{} and {}", a.name, b.name), Random(77));
        let depth = 0.1 * a.thickness.min(b.thickness);
        let (mut seen, mut same, mut twice) = (0, 0, 0);
        while seen < 500 {
            let at = Poses::random(&mut random, 0.4, 1.4);
            let Some(known) = deepest(&of_parts(&a, &b, at, 1e-3)) else { continue };
            if !(-depth..=-1e-9).contains(&known.gap) {
                continue;
            }
            seen += 1;
            let found = contacts(&a.mesh, &b.mesh, at, 1e-3);
            let gap = deepest(&found).map_or(f64::INFINITY, |one| one.gap);
            assert!(gap < 0.0, "{name} {at:?} {known:?} {found:?}");
            let is_same = |one: &FoundContact| {
                (one.gap - known.gap).abs() < 1e-9 && dot(one.normal, known.normal) > 1.0 - 1e-9
            };
            same += usize::from(found.iter().any(is_same));
            twice += usize::from(gap < 2.0 * known.gap);
        }
        assert!(same >= 450 && twice <= 10, "{name} {same} {twice}");
    }
}

/// Surfaces that are apart do not overlap, and their gap is the distance.
#[test]
fn gaps_of_surfaces_are_distances() {
    for [a, b] in pairs() {
        let (name, mut random) = (format!("{} and {}", a.name, b.name), Random(78));
        let mut seen = 0;
        while seen < 500 {
            let at = Poses::random(&mut random, 0.4, 1.4);
            let known = of_parts(&a, &b, at, 0.05);
            let least = deepest(&known).map_or(f64::INFINITY, |one| one.gap);
            if !(least > 0.0) {
                continue;
            }
            let found = contacts(&a.mesh, &b.mesh, at, 0.05);
            let gap = deepest(&found).map_or(f64::INFINITY, |one| one.gap);
            assert!(gap > 0.0, "{name} {at:?} {known:?} {found:?}");
            if least < 0.04 {
                seen += 1;
                assert!((gap - least).abs() < 1e-9, "{name} {at:?} {known:?} {found:?}");
            }
        }
    }
}

/// The contacts are the same for both orders of the bodies, in any frame and for any size.
#[test]
fn crossed_edges_anywhere() {
    let mut random = Random(79);
    // those that are found whatever turns
    let sorted = |found: Vec<FoundContact>, size: f64| {
        let mut gaps: Vec<f64> =
            found.iter().map(|one| one.gap).filter(|gap| *gap < 1e-4 * size).collect();
        gaps.sort_by(f64::total_cmp);
        gaps
    };
    let close = |a: &[f64], b: &[f64], size: f64| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a * size - b).abs() < 1e-9 * size)
    };
    let grown = |shape: &Shape, size: f64| {
        let Shape::TriangleMesh { points, triangles } = shape else { panic!("a mesh") };
        let points = points.iter().map(|&x| scaled(size, x)).collect();
        Shape::TriangleMesh { points, triangles: triangles.clone() }
    };
    for [a, b] in pairs() {
        for _ in 0..100 {
            let at = Poses::random(&mut random, 0.4, 1.2);
            let found = sorted(contacts(&a.mesh, &b.mesh, at, 1e-3), 1.0);
            let [p, q] = at.turned;
            let swapped = Poses { x: scaled(-1.0, at.x), turned: [q, p] };
            let other = sorted(contacts(&b.mesh, &a.mesh, swapped, 1e-3), 1.0);
            assert!(close(&found, &other, 1.0), "{at:?} {found:?} {other:?}");
            let turn = random.turn();
            let turned = [product(turn, p), product(turn, q)];
            let moved = Poses { x: rotate(turn, at.x), turned };
            let other = sorted(contacts(&a.mesh, &b.mesh, moved, 1e-3), 1.0);
            assert!(close(&found, &other, 1.0), "{at:?} {found:?} {other:?}");
            for size in [1e-4, 1e4] {
                let (a, b) = (grown(&a.mesh, size), grown(&b.mesh, size));
                let far = Poses { x: scaled(size, at.x), ..at };
                let other = sorted(contacts(&a, &b, far, 1e-3 * size), size);
                assert!(close(&found, &other, size), "{at:?} {found:?} {other:?}");
            }
        }
    }
}

/// A cube on another one of the same size, turned by 45°: no corner of either is on the other, and four of the eight crossings carry it.
#[test]
fn turned_cubes_rest_on_each_other() {
    let half = std::f64::consts::FRAC_PI_8;
    let turned = [[half.cos(), 0.0, 0.0, half.sin()], UPRIGHT];
    for tilt in [0.0, 1e-7, 1e-5, 1e-3] {
        let lean = [f64::cos(tilt), tilt.sin(), 0.0, 0.0];
        let turned = [product(lean, turned[0]), turned[1]];
        let at = Poses { x: [0.0, 0.0, 1.0 - 1e-4 - 0.5 * tilt], turned };
        let found = contacts(&cube().mesh, &cube().mesh, at, 2e-3);
        assert_eq!(found.len(), 4, "{tilt} {found:#?}");
        for one in &found {
            assert!((one.gap + 1e-4).abs() < 3.0 * tilt + 1e-12, "{tilt} {found:#?}");
            assert!(one.normal[2] > 1.0 - 3.0 * tilt - 1e-12, "{tilt} {found:#?}");
        }
        for sign in [-1.0, 1.0] {
            assert!(found.iter().any(|one| sign * one.point[0] > 0.15), "{tilt} {found:#?}");
            assert!(found.iter().any(|one| sign * one.point[1] > 0.15), "{tilt} {found:#?}");
        }
    }
}

/// An edge of a cube of triangles across a ridge of the ground is held by it.
#[test]
fn cubes_across_a_ridge() {
    let row = vec![-0.5, -0.25, 0.0, -0.25, -0.5];
    let field = Shape::HeightField { heights: vec![row; 5], size: [1.0; 2] };
    let points = [-0.5, 0.5].iter().flat_map(|&y| [-0.5, 0.0, 0.5].map(|x: f64| [x, y, -x.abs()]));
    let triangles = vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]];
    let roof = Shape::TriangleMesh { points: points.collect(), triangles };
    let half = std::f64::consts::FRAC_PI_8;
    let (points, triangles) = block([-0.05; 3], [0.05; 3]);
    let cube = Shape::TriangleMesh { points, triangles };
    for ground in [field, roof] {
        for y in [0.0, -1e-4, 0.0037, 0.1, 0.25, -0.25] {
            for gap in [2e-4, 1e-5, -1e-9, -1e-5, -2e-3] {
                let mut world = World::new(Body::Space);
                let x = [0.0, y, 0.05 * 2.0_f64.sqrt() + gap];
                world.body(cube.clone(), x, [half.cos(), half.sin(), 0.0, 0.0]);
                world.fixed(ground.clone());
                world.v[2] = -0.5;
                let found = world.find(1e-3);
                let is_up = |one: &FoundContact| {
                    (one.gap - gap).abs() < 1e-12 && (one.normal[2] - 1.0).abs() < 1e-10
                };
                assert!(found.iter().any(is_up), "{y} {gap} {found:?}");
                // a corner of the ground in the cube, or next to it, is pressed out as well
                let is_corner = (4.0 * y - (4.0 * y).round()).abs() < 8e-3;
                assert!(found.len() == 1 || is_corner, "{y} {gap} {found:?}");
                assert!(found.iter().all(|one| one.gap >= gap - 1e-12), "{y} {gap} {found:?}");
            }
        }
    }
}

/// A ball of triangles.
fn ball(rings: u32, around: u32) -> Shape {
    let mut points = vec![[0.0, 0.0, -0.5]];
    for (i, j) in (1..rings).flat_map(|i| (0..around).map(move |j| (i, j))) {
        let polar = std::f64::consts::PI * f64::from(i) / f64::from(rings);
        let angle = std::f64::consts::TAU * f64::from(j) / f64::from(around);
        let [r, z] = [0.5 * polar.sin(), -0.5 * polar.cos()];
        points.push([r * angle.cos(), r * angle.sin(), z]);
    }
    points.push([0.0, 0.0, 0.5]);
    let top = points.len() as u32 - 1;
    let at = |i: u32, j: u32| 1 + (i - 1) * around + j % around;
    let mut triangles = Vec::new();
    for j in 0..around {
        triangles
            .extend([[0, at(1, j + 1), at(1, j)], [top, at(rings - 1, j), at(rings - 1, j + 1)]]);
        for i in 1..rings - 1 {
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Shape::TriangleMesh { points, triangles }
}

/// How far bodies may get within the step changes nothing of what they overlap, but how deep it may be.
#[test]
fn overlaps_do_not_depend_on_the_speed() {
    let mut random = Random(80);
    let (fine, coarse) = (ball(10, 16), ball(5, 7));
    let mut seen = 0;
    for _ in 0..200 {
        let at = Poses::random(&mut random, 0.9, 1.0);
        let find = |reach| deepest(&contacts(&fine, &coarse, at, reach)).map(|one| one.gap);
        let Some(known) = find(1e-4).filter(|gap| *gap < 0.0) else { continue };
        seen += 1;
        for reach in [1e-2, 0.3, 3.0] {
            let gap = find(reach).unwrap();
            assert!((gap - known).abs() < 1e-12, "{at:?} {reach}: {gap}, {known}");
        }
    }
    assert!(seen > 50, "{seen}");
}
