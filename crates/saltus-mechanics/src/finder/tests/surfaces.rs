//! Meshes and height fields: faces are felt, edges within a plane are not.

use super::super::nearest::{Part, on_triangle};
use super::{Random, UPRIGHT, World};
use crate::{Placed, Shape};
use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub};
use saltus_model::{Body, FoundContact};

/// A flat square of `2 n²` triangles at `z = 0`.
fn flat(n: u32, size: f64) -> Shape {
    let mut points = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            let place = |k: u32| size * (f64::from(k) / f64::from(n) - 0.5);
            points.push([place(j), place(i), 0.0]);
        }
    }
    let mut triangles = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let a = i * (n + 1) + j;
            triangles.extend([[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]);
        }
    }
    Shape::TriangleMesh { points, triangles }
}

fn flat_field(n: usize, size: f64) -> Shape {
    Shape::HeightField { heights: vec![vec![0.0; n + 1]; n + 1], size: [size; 2] }
}

/// A cube of edge `2 half` as a mesh, each side of two triangles.
fn cube_mesh(half: f64) -> Shape {
    let points = (0..8_u32)
        .map(|k| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { half } else { -half }))
        .collect();
    let quads =
        [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Shape::TriangleMesh { points, triangles }
}

fn on(ground: &Shape, shape: Shape, x: Vector, p: [f64; 4]) -> Vec<FoundContact> {
    let mut world = World::new(Body::Space);
    world.body(shape, x, p);
    world.fixed(ground.clone());
    world.v[2] = -0.1;
    world.find(0.01)
}

/// One contact with the face's normal wherever the ball is: inside a triangle, on edges, on corners.
#[test]
fn ball_on_flat_ground_feels_no_edges() {
    let mut random = Random(3);
    for ground in [flat(6, 3.0), flat_field(6, 3.0)] {
        let mut places = vec![[0.0, 0.0], [0.5, 0.5], [0.25, 0.25], [0.25, 0.0], [-0.5, 0.1]];
        places.extend((0..300).map(|_| [random.within(-1.2, 1.2), random.within(-1.2, 1.2)]));
        let mut feature = None;
        for [x, y] in places {
            for gap in [-0.05, -1e-9, 0.0, 5e-4] {
                let found = on(&ground, Shape::Sphere { radius: 0.3 }, [x, y, 0.3 + gap], UPRIGHT);
                assert_eq!(found.len(), 1, "{x} {y} {gap} {found:?}");
                assert_eq!(found[0].normal, [0.0, 0.0, 1.0]);
                assert!((found[0].gap - gap).abs() < 1e-15);
                assert_eq!(*feature.get_or_insert(found[0].feature), found[0].feature);
            }
        }
    }
}

/// Below the surface the ball is pressed out, up to its radius.
#[test]
fn ball_inside_solid_ground() {
    let found = on(&flat_field(6, 3.0), Shape::Sphere { radius: 0.3 }, [0.1, 0.2, -0.1], UPRIGHT);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap + 0.4).abs() < 1e-15);
    assert_eq!(found[0].normal, [0.0, 0.0, 1.0]);
}

/// A ball at edges and corners of a cube of triangles, as at a box.
#[test]
fn ball_at_a_cube_of_triangles() {
    let mut random = Random(5);
    let (mesh, block) = (cube_mesh(0.5), Shape::Box { edges: [1.0; 3] });
    let mut touched = 0;
    for _ in 0..2000 {
        let x = random.vector(0.9);
        let ball = || Shape::Sphere { radius: 0.25 };
        let (a, b) = (on(&mesh, ball(), x, UPRIGHT), on(&block, ball(), x, UPRIGHT));
        let over = x.map(|x| x.abs() - 0.5);
        if over.iter().all(|&d| d < 0.0) {
            continue; // inside there may be several nearest faces
        }
        assert_eq!(a.len(), b.len(), "{x:?} {a:?} {b:?}");
        for (a, b) in a.iter().zip(&b) {
            touched += 1;
            assert!((a.gap - b.gap).abs() < 1e-14 && norm(sub(a.normal, b.normal)) < 1e-12);
        }
    }
    assert!(touched > 500);
}

/// A name, points and triangles.
type Named = (&'static str, Vec<Vector>, Vec<[u32; 3]>);

/// Solids with sharp edges, slanted faces and little thickness.
fn sharp() -> Vec<Named> {
    let tetrahedron =
        vec![[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let wedge = vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.4]];
    let pyramid = vec![
        [-1.0, -1.0, -1.0],
        [1.0, -1.0, -1.0],
        [1.0, 1.0, -1.0],
        [-1.0, 1.0, -1.0],
        [0.0, 0.0, 1.0],
    ];
    let Shape::TriangleMesh { points, triangles } = cube_mesh(1.0) else { panic!("a mesh") };
    // a plate that stands on no axis
    let (sin, cos) = 0.6_f64.sin_cos();
    let turn = |[x, y, z]: Vector| {
        let z = 0.05 * z;
        let [x, z] = [cos * x - sin * z, sin * x + cos * z];
        [cos * x - sin * y, sin * x + cos * y, z]
    };
    let plate = points.into_iter().map(turn).collect();
    vec![
        ("tetrahedron", tetrahedron, vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]),
        ("wedge", wedge, vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]),
        (
            "pyramid",
            pyramid,
            vec![[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
        ),
        ("plate", plate, triangles),
    ]
}

/// A ball outside a solid of triangles touches what is next to it, and never a face on the other side; as at the hull of its points.
#[test]
fn balls_at_sharp_solids() {
    let mut random = Random(7);
    for (name, points, triangles) in sharp() {
        let hull = Shape::ConvexHull { points: points.clone() };
        let mesh = Shape::TriangleMesh { points, triangles };
        let mut touched = 0;
        for _ in 0..4000 {
            let radius = random.within(0.02, 0.4);
            let (x, v) = (random.vector(1.6), random.vector(1.0));
            let find = |shape: &Shape| {
                let mut world = World::new(Body::Space);
                world.body(Shape::Sphere { radius }, x, UPRIGHT);
                world.fixed(shape.clone());
                world.v[..3].copy_from_slice(&v);
                world.find(0.2)
            };
            let (a, b) = (find(&mesh), find(&hull));
            if b.iter().any(|b| b.gap < -radius) {
                // inside there may be several nearest faces, with one depth
                assert!(a.len() == 1 && (a[0].gap - b[0].gap).abs() < 1e-12, "{name} {x:?} {a:?}");
                continue;
            }
            assert_eq!(a.len(), b.len(), "{name} {x:?} {radius} {a:?} {b:?}");
            for (a, b) in a.iter().zip(&b) {
                touched += 1;
                assert!((a.gap - b.gap).abs() < 1e-12, "{name} {x:?} {a:?} {b:?}");
                assert!(norm(sub(a.normal, b.normal)) < 1e-6, "{name} {x:?} {a:?} {b:?}");
            }
        }
        assert!(touched > 100, "{name} {touched}");
    }
}

/// Bodies outside a solid of triangles do not overlap it.
#[test]
fn bodies_beside_sharp_solids() {
    let mut random = Random(11);
    for (name, points, triangles) in sharp() {
        let hull = Shape::ConvexHull { points: points.clone() };
        let mesh = Shape::TriangleMesh { points, triangles };
        let shapes = [
            Shape::Box { edges: [0.3, 0.4, 0.5] },
            Shape::Capsule { radius: 0.1, length: 0.4 },
            Shape::Cylinder { radius: 0.2, length: 0.3 },
            hull.clone(),
            mesh.clone(),
        ];
        for (k, shape) in shapes.into_iter().enumerate() {
            let as_hull = if k == 4 { hull.clone() } else { shape.clone() };
            let mut apart = 0;
            for _ in 0..400 {
                let (x, p, v) = (random.vector(2.4), random.turn(), random.vector(1.0));
                let find = |shape: &Shape, other: &Shape| {
                    let mut world = World::new(Body::Space);
                    world.body(shape.clone(), x, p);
                    world.fixed(other.clone());
                    world.v[..3].copy_from_slice(&v);
                    world.find(0.3)
                };
                let known = find(&as_hull, &hull);
                if known.iter().all(|one| one.gap > 0.0) {
                    apart += 1;
                    let found = find(&shape, &mesh);
                    let worst = found.iter().map(|one| one.gap).fold(0.0, f64::min);
                    assert!(worst > -1e-9, "{name} {k} {x:?} {p:?}: {worst}");
                }
            }
            assert!(apart > 100, "{name} {k} {apart}");
        }
    }
}

/// A valley of two planes: two contacts, none with the edge between them.
#[test]
fn ball_in_a_valley() {
    let points = vec![
        [-1.0, -1.0, 1.0],
        [0.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [-1.0, 1.0, 1.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 1.0],
    ];
    let triangles = vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]];
    let valley = Shape::TriangleMesh { points, triangles };
    let r = 0.2;
    let found = on(&valley, Shape::Sphere { radius: r }, [0.0, 0.1, r * 2.0_f64.sqrt()], UPRIGHT);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found.iter().all(|c| c.gap.abs() < 1e-15 && (c.normal[2] - 0.5_f64.sqrt()).abs() < 1e-15)
    );
}

/// Boxes, hulls, capsules and cylinders on flat ground: contacts along the ground's normal, spread as
/// on a plane.
#[test]
fn bodies_on_flat_ground() {
    let mut random = Random(9);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let points = (0..8_u32)
        .map(|k| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.2 } else { -0.2 }))
        .collect();
    let cases: [(Shape, f64, [f64; 4], usize); 5] = [
        (Shape::Box { edges: [0.6, 0.5, 0.4] }, 0.2, UPRIGHT, 4),
        (Shape::ConvexHull { points }, 0.2, UPRIGHT, 4),
        (Shape::Capsule { radius: 0.1, length: 0.5 }, 0.1, [half, half, 0.0, 0.0], 2),
        (Shape::Cylinder { radius: 0.2, length: 0.5 }, 0.25, UPRIGHT, 4),
        (Shape::Cylinder { radius: 0.2, length: 0.5 }, 0.2, [half, half, 0.0, 0.0], 2),
    ];
    for ground in [flat(6, 3.0), flat_field(6, 3.0), flat(1, 3.0)] {
        for (shape, z, p, expected) in &cases {
            for k in 0..40 {
                let x = [random.within(-0.8, 0.8), random.within(-0.8, 0.8)];
                let depth = if k % 2 == 0 { 1e-8 } else { 0.01 };
                let found = on(&ground, shape.clone(), [x[0], x[1], z - depth], *p);
                assert_eq!(found.len(), *expected, "{} {x:?} {depth} {found:#?}", shape.name());
                for contact in &found {
                    assert!(norm(sub(contact.normal, [0.0, 0.0, 1.0])) < 1e-6, "{found:#?}");
                    assert!((contact.gap + depth).abs() < 1e-6, "{} {found:#?}", shape.name());
                }
                let spread = found.iter().map(|a| norm(sub(a.point, found[0].point)));
                assert!(spread.fold(0.0_f64, f64::max) > 0.35, "{} {found:#?}", shape.name());
            }
        }
    }
}

/// A cube of triangles on a plane, on a box and on another one.
#[test]
fn cube_of_triangles_rests() {
    let grounds: [Shape; 3] =
        [super::ground(), Shape::Box { edges: [4.0, 4.0, 2.0] }, cube_mesh(2.0)];
    for (ground, top) in grounds.into_iter().zip([0.0, 1.0, 2.0]) {
        let name = ground.name();
        let mut world = World::new(Body::Space);
        world.body(cube_mesh(0.5), [0.1, 0.2, top + 0.5 - 1e-6], UPRIGHT);
        world.fixed(Placed::from(ground));
        world.v[2] = -0.1;
        let found = world.find(1e-3);
        assert_eq!(found.len(), 4, "{name} {found:#?}");
        for contact in found {
            assert!((contact.gap + 1e-6).abs() < 1e-12);
            assert!((contact.normal[2] - 1.0).abs() < 1e-12);
        }
    }
}

/// On hills the gap of a ball is the distance from the nearest triangle.
#[test]
fn ball_on_hills() {
    let heights: Vec<Vec<f64>> = (0..12)
        .map(|i| {
            (0..15).map(|j| 0.3 * (f64::from(i) * 0.9).sin() * (f64::from(j) * 0.7).cos()).collect()
        })
        .collect();
    let field = Shape::HeightField { heights: heights.clone(), size: [7.0, 5.5] };
    let place = |k: usize, n: usize, size: f64| size * (k as f64 / (n - 1) as f64 - 0.5);
    let mut random = Random(21);
    let mut seen = 0;
    for _ in 0..300 {
        let x = [random.within(-3.0, 3.0), random.within(-2.2, 2.2), random.within(-0.1, 0.8)];
        let r = 0.25;
        let found = on(&field, Shape::Sphere { radius: r }, x, UPRIGHT);
        // brute force: points of every triangle on a fine grid
        let mut least = f64::INFINITY;
        let mut below = false;
        for i in 0..11 {
            for j in 0..14 {
                let corner =
                    |i: usize, j: usize| [place(j, 15, 7.0), place(i, 12, 5.5), heights[i][j]];
                let (a, b, c, d) =
                    (corner(i, j), corner(i, j + 1), corner(i + 1, j), corner(i + 1, j + 1));
                for [p, q, s] in [[a, b, d], [a, d, c]] {
                    for m in 0..=40 {
                        for n in 0..=40 - m {
                            let (u, v) = (f64::from(m) / 40.0, f64::from(n) / 40.0);
                            let y = add(p, add(scaled(u, sub(q, p)), scaled(v, sub(s, p))));
                            least = least.min(norm(sub(x, y)));
                            below |= norm([x[0] - y[0], x[1] - y[1], 0.0]) < 0.02 && x[2] < y[2];
                        }
                    }
                }
            }
        }
        // the grid is coarse where the ball's center is near the surface
        if below || least - r > -0.002 || least < 0.1 {
            continue;
        }
        seen += 1;
        let gap = found.iter().fold(f64::INFINITY, |least, c| least.min(c.gap));
        assert!(gap < least - r + 1e-12 && gap > least - r - 1e-3, "{x:?} {gap} {}", least - r);
        for contact in &found {
            let along = dot(contact.normal, sub(x, contact.point));
            assert!((along - (r + 0.5 * contact.gap)).abs() < 1e-12);
        }
    }
    assert!(seen > 30, "{seen}");
}

/// Above steep rough ground a ball is nowhere deeper than its distance from it, whatever faces look the other way.
#[test]
fn ball_above_rough_ground() {
    let mut random = Random(31);
    let n = 11;
    let heights: Vec<Vec<f64>> =
        (0..n).map(|_| (0..n).map(|_| random.within(0.0, 0.5)).collect()).collect();
    let field = Shape::HeightField { heights: heights.clone(), size: [1.0; 2] };
    let place = |k: usize| k as f64 / (n - 1) as f64 - 0.5;
    let corner = |i: usize, j: usize| [place(j), place(i), heights[i][j]];
    let mut all = Vec::new();
    for (i, j) in (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| (i, j))) {
        let (a, b, c, d) = (corner(i, j), corner(i, j + 1), corner(i + 1, j), corner(i + 1, j + 1));
        all.extend([[a, b, d], [a, d, c]]);
    }
    let (mut seen, mut above) = (0, 0);
    while above < 2000 {
        let (x, r) =
            ([random.within(-0.7, 0.7), random.within(-0.7, 0.7), random.within(0.0, 0.7)], 0.06);
        // below it where a triangle stands over it
        let covered = all.iter().any(|t| {
            let flat = t.map(|[x, y, _]| [x, y, 0.0]);
            let (_, part) = on_triangle([x[0], x[1], 1.0], flat);
            let normal = cross(sub(t[1], t[0]), sub(t[2], t[0]));
            part == Part::Face && dot(normal, sub(x, t[0])) < 0.0
        });
        if covered {
            continue;
        }
        above += 1;
        let distance = |t: &[Vector; 3]| norm(sub(x, on_triangle(x, *t).0));
        let least = all.iter().map(distance).fold(f64::INFINITY, f64::min);
        let mut world = World::new(Body::Space);
        world.body(Shape::Sphere { radius: r }, x, UPRIGHT);
        world.fixed(field.clone());
        world.v[..3].copy_from_slice(&random.vector(1.0));
        for one in world.find(0.05) {
            seen += 1;
            assert!(one.gap > least - r - 1e-12, "{x:?}: {} at {}", one.gap, least - r);
        }
    }
    assert!(seen > 500, "{seen}");
}

/// An edge of a box across a ridge is held by it, also where it crosses at a corner of the mesh, or next to one.
#[test]
fn boxes_across_a_ridge() {
    let row = vec![-0.5, -0.25, 0.0, -0.25, -0.5];
    let field = Shape::HeightField { heights: vec![row; 5], size: [1.0; 2] };
    let half = std::f64::consts::FRAC_PI_8;
    let turned = [half.cos(), half.sin(), 0.0, 0.0];
    let edges = [0.1; 3];
    let hull = || {
        let corner = |k: u32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.05 } else { -0.05 });
        Shape::ConvexHull { points: (0..8).map(corner).collect() }
    };
    for y in [0.0, 1e-9, -1e-4, 0.0037, 0.1, 0.25, -0.25] {
        for gap in [2e-4, 1e-5, -1e-9, -1e-5, -2e-3] {
            for shape in [Shape::Box { edges }, hull()] {
                let mut world = World::new(Body::Space);
                world.body(shape, [0.0, y, 0.05 * 2.0_f64.sqrt() + gap], turned);
                world.fixed(field.clone());
                world.v[2] = -0.5;
                let found = world.find(1e-3);
                assert_eq!(found.len(), 1, "{y} {gap} {found:?}");
                assert!((found[0].gap - gap).abs() < 1e-12, "{y} {gap} {found:?}");
                assert!((found[0].normal[2] - 1.0).abs() < 1e-12, "{y} {gap} {found:?}");
            }
        }
    }
}
