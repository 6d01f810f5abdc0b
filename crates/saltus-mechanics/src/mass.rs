//! Mass, center and moments of inertia that follow from a shape and a density.
//!
//! ```text
//! m = ∫ ϱ dV,    c = 1/m ∫ ϱ x dV,    J = ∫ ϱ (|x − c|² I − (x − c)(x − c)ᵀ) dV
//! ```
//!
//! Bodies with flat faces are sums over tetrahedra between a point and their triangles. A tetrahedron
//! with corners `0, a, b, c` has
//!
//! ```text
//! V = det(a, b, c)/6,    ∫ x dV = V/4 s,    ∫ x xᵀ dV = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ),    s = a + b + c
//! ```
//!
//! Shapes of the plane are plates: the density is that of area, and `J₃₃` is their moment of inertia.

use crate::finder::{closed, hull};
use crate::shape::lifted;
use crate::{Placed, Shape, ShapeError};
use saltus_model::Body;
use saltus_model::rotation::{
    IDENTITY, Matrix3, Vector, add, cross, dot, matrix, multiply, normalized, rotate, scaled, sub,
};

/// What a body of a shape weighs, and how it resists turning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass.
    pub mass: f64,
    /// Center of mass.
    pub center: Vector,
    /// Moments of inertia about the center of mass, along the axes of the shape's frame.
    pub inertia: Matrix3,
}

impl Shape {
    /// What it weighs at this density, in its own frame. Parts of a compound that overlap count twice.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        let space = match self {
            Shape::Disk { .. }
            | Shape::Segment { .. }
            | Shape::Polygon { .. }
            | Shape::Polyline { .. } => Body::Plane,
            Shape::Compound { parts } => return compound(parts, density),
            _ => Body::Space,
        };
        self.check(space)?;
        let shape = self.name();
        if !(density > 0.0 && density.is_finite()) {
            return Err(ShapeError::Length { shape, what: "density", value: density });
        }
        let massless = |why: &str| Err(ShapeError::Massless { shape, why: why.to_string() });
        Ok(match self {
            Shape::Sphere { radius: r } => {
                let m = density * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
                centered(m, [0.4 * m * r * r; 3])
            }
            Shape::Box { edges: [a, b, c] } => {
                let m = density * a * b * c;
                let about = |x: f64, y: f64| m * (x * x + y * y) / 12.0;
                centered(m, [about(*b, *c), about(*a, *c), about(*a, *b)])
            }
            Shape::Cylinder { radius: r, length: l } => {
                let m = density * std::f64::consts::PI * r * r * l;
                let across = m * (3.0 * r * r + l * l) / 12.0;
                centered(m, [across, across, 0.5 * m * r * r])
            }
            Shape::Capsule { radius: r, length: l } => capsule(density, *r, *l),
            Shape::Cone { radius: r, height: h } => {
                let m = density * std::f64::consts::PI * r * r * h / 3.0;
                let across = m * (0.15 * r * r + 0.0375 * h * h);
                let mut cone = centered(m, [across, across, 0.3 * m * r * r]);
                cone.center[2] = -0.25 * h;
                cone
            }
            Shape::ConvexHull { points } => {
                let body = hull(points)?;
                let faces = (0..body.faces.len()).flat_map(|f| {
                    let corners = body.corners(f);
                    (1..corners.len() - 1)
                        .map(move |k| [corners[0][0], corners[k][0], corners[k + 1][0]])
                });
                solid(&body.vertices, faces, density)
            }
            Shape::TriangleMesh { points, triangles } => {
                if !closed(triangles) {
                    return massless(
                        "its surface is not closed: every edge must belong to two triangles that go along it in opposite ways",
                    );
                }
                let mesh = solid(points, triangles.iter().copied(), density);
                if !(mesh.mass > 0.0) {
                    return massless(
                        "its triangles look inwards or enclose no volume; expected corners counterclockwise seen from outside",
                    );
                }
                mesh
            }
            Shape::Disk { radius: r } => {
                let m = density * std::f64::consts::PI * r * r;
                centered(m, [0.25 * m * r * r, 0.25 * m * r * r, 0.5 * m * r * r])
            }
            Shape::Polygon { points } => polygon(points, density),
            Shape::Plane { .. } => return massless("a plane has no end"),
            Shape::HeightField { .. } => return massless("the ground has no lower end"),
            Shape::Segment { .. } | Shape::Polyline { .. } => {
                return massless("a line has no area");
            }
            Shape::Compound { parts } => return compound(parts, density),
        })
    }
}

impl Placed {
    /// What it weighs at this density, in the frame that it is placed in.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        let own = self.shape.mass_properties(density)?;
        let shape = self.shape.name();
        let Some(p) = normalized(self.orientation) else {
            return Err(ShapeError::Orientation { shape, found: self.orientation });
        };
        Ok(MassProperties {
            mass: own.mass,
            center: add(self.position, rotate(p, own.center)),
            inertia: if p == IDENTITY { own.inertia } else { turned(&own.inertia, &matrix(p)) },
        })
    }
}

/// `R J Rᵀ`.
fn turned(J: &Matrix3, R: &Matrix3) -> Matrix3 {
    let back = [0, 1, 2].map(|i| [0, 1, 2].map(|j| R[j][i]));
    multiply(&multiply(R, J), &back)
}

fn centered(mass: f64, moments: Vector) -> MassProperties {
    let [a, b, c] = moments;
    let inertia = [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]];
    MassProperties { mass, center: [0.0; 3], inertia }
}

/// A cylinder between two half balls, whose centers are 3/8 of the radius beyond its ends.
fn capsule(density: f64, r: f64, l: f64) -> MassProperties {
    let wall = density * std::f64::consts::PI * r * r * l;
    let ball = density * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    let along = 0.5 * wall * r * r + 0.4 * ball * r * r;
    let across =
        wall * (r * r / 4.0 + l * l / 12.0) + ball * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
    centered(wall + ball, [across, across, along])
}

fn compound(parts: &[Placed], density: f64) -> Result<MassProperties, ShapeError> {
    let few = ShapeError::Few { shape: "compound", what: "parts", found: 0, least: 1 };
    let parts: Vec<MassProperties> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let weighed = part.mass_properties(density);
            weighed.map_err(|source| ShapeError::Part { index, source: Box::new(source) })
        })
        .collect::<Result<_, _>>()?;
    MassProperties::sum(&parts).ok_or(few)
}

impl MassProperties {
    /// Of several bodies that move as one, all given in one frame; nothing where there are none.
    ///
    /// ```text
    /// J = Σ (Jₖ + mₖ (|dₖ|² I − dₖ dₖᵀ)),    dₖ = cₖ − c
    /// ```
    pub fn sum(parts: &[MassProperties]) -> Option<MassProperties> {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        if !(mass > 0.0) {
            return None;
        }
        let moment = parts.iter().fold([0.0; 3], |sum, p| add(sum, scaled(p.mass, p.center)));
        let center = scaled(1.0 / mass, moment);
        let mut inertia = [[0.0; 3]; 3];
        for part in parts {
            let d = sub(part.center, center);
            for i in 0..3 {
                for j in 0..3 {
                    let unit = if i == j { dot(d, d) } else { 0.0 };
                    inertia[i][j] += part.inertia[i][j] + part.mass * (unit - d[i] * d[j]);
                }
            }
        }
        Some(MassProperties { mass, center, inertia })
    }
}

/// A body between triangles, counterclockwise seen from outside.
fn solid(
    points: &[Vector],
    triangles: impl Iterator<Item = [u32; 3]>,
    density: f64,
) -> MassProperties {
    // from a point among them, so that far-away bodies lose no digits
    let count = points.len() as f64;
    let origin = scaled(1.0 / count, points.iter().fold([0.0; 3], |sum, &x| add(sum, x)));
    let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for triangle in triangles {
        let corners = triangle.map(|k| sub(points[k as usize], origin));
        let [a, b, c] = corners;
        let V = dot(a, cross(b, c)) / 6.0;
        let s = add(a, add(b, c));
        volume += V;
        first = add(first, scaled(V / 4.0, s));
        for i in 0..3 {
            for j in 0..3 {
                let squares: f64 = corners.iter().map(|x| x[i] * x[j]).sum();
                second[i][j] += V / 20.0 * (squares + s[i] * s[j]);
            }
        }
    }
    from_moments(volume, first, second, origin, density)
}

/// From `∫ dV`, `∫ x dV` and `∫ x xᵀ dV` about `origin`.
fn from_moments(
    volume: f64,
    first: Vector,
    second: Matrix3,
    origin: Vector,
    density: f64,
) -> MassProperties {
    let c = scaled(1.0 / volume, first);
    let mut about = second;
    for i in 0..3 {
        for j in 0..3 {
            about[i][j] = density * (second[i][j] - volume * c[i] * c[j]);
        }
    }
    let trace = about[0][0] + about[1][1] + about[2][2];
    let inertia =
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { trace } else { 0.0 } - about[i][j]));
    MassProperties { mass: density * volume, center: add(origin, c), inertia }
}

/// A plate, as triangles between a point and its edges: `A/12 (a aᵀ + b bᵀ + s sᵀ)` each.
fn polygon(points: &[[f64; 2]], density: f64) -> MassProperties {
    let count = points.len();
    let sum = points.iter().fold([0.0; 3], |sum, &x| add(sum, lifted(x)));
    let origin = scaled(1.0 / count as f64, sum);
    let (mut area, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
    for k in 0..count {
        let corners = [points[k], points[(k + 1) % count]].map(|x| sub(lifted(x), origin));
        let [a, b] = corners;
        let A = 0.5 * (a[0] * b[1] - a[1] * b[0]);
        let s = add(a, b);
        area += A;
        first = add(first, scaled(A / 3.0, s));
        for i in 0..3 {
            for j in 0..3 {
                let squares: f64 = corners.iter().map(|x| x[i] * x[j]).sum();
                second[i][j] += A / 12.0 * (squares + s[i] * s[j]);
            }
        }
    }
    // corners that go clockwise give everything with the other sign
    let sign = area.signum();
    let second = second.map(|row| row.map(|x| sign * x));
    from_moments(sign * area, scaled(sign, first), second, origin, density)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments by adding up small cells of a box about the shape.
    fn counted(inside: impl Fn(Vector) -> bool, half: Vector, cells: usize) -> MassProperties {
        let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        let cell = half.map(|h| 2.0 * h / cells as f64);
        let dv = cell[0] * cell[1] * cell[2];
        for i in 0..cells {
            for j in 0..cells {
                for k in 0..cells {
                    let place = |n: usize, a: usize| (n as f64 + 0.5) * cell[a] - half[a];
                    let x = [place(i, 0), place(j, 1), place(k, 2)];
                    if inside(x) {
                        volume += dv;
                        first = add(first, scaled(dv, x));
                        for a in 0..3 {
                            for b in 0..3 {
                                second[a][b] += dv * x[a] * x[b];
                            }
                        }
                    }
                }
            }
        }
        from_moments(volume, first, second, [0.0; 3], 1.0)
    }

    #[track_caller]
    fn close(a: &MassProperties, b: &MassProperties, tol: f64) {
        let scale = a.inertia[0][0].max(a.inertia[1][1]).max(a.inertia[2][2]);
        assert!((a.mass - b.mass).abs() <= tol * a.mass, "{} {}", a.mass, b.mass);
        for i in 0..3 {
            assert!((a.center[i] - b.center[i]).abs() <= tol, "{:?} {:?}", a.center, b.center);
            for j in 0..3 {
                let apart = (a.inertia[i][j] - b.inertia[i][j]).abs();
                assert!(apart <= tol * scale, "{:?} {:?}", a.inertia, b.inertia);
            }
        }
    }

    #[test]
    fn round_shapes_against_counted_cells() {
        let (r, l) = (0.4, 0.9);
        let within = |x: Vector| x[0].hypot(x[1]);
        let shape = Shape::Sphere { radius: r };
        let ball = counted(|x| dot(x, x) < r * r, [0.4; 3], 100);
        close(&shape.mass_properties(1.0).unwrap(), &ball, 3e-3);
        let shape = Shape::Cylinder { radius: r, length: l };
        let cells = counted(|x| within(x) < r && x[2].abs() < 0.5 * l, [0.4, 0.4, 0.45], 100);
        close(&shape.mass_properties(1.0).unwrap(), &cells, 3e-3);
        let shape = Shape::Capsule { radius: r, length: l };
        let inside = |x: Vector| {
            let z = (x[2].abs() - 0.5 * l).max(0.0);
            within(x).hypot(z) < r
        };
        let cells = counted(inside, [0.4, 0.4, 0.85], 100);
        close(&shape.mass_properties(1.0).unwrap(), &cells, 3e-3);
        let shape = Shape::Cone { radius: r, height: l };
        let inside = |x: Vector| within(x) < r * (0.5 - x[2] / l);
        let cells = counted(inside, [0.4, 0.4, 0.45], 100);
        close(&shape.mass_properties(1.0).unwrap(), &cells, 3e-3);
    }

    /// A box as itself, as a hull, as a mesh far away and as two halves.
    #[test]
    fn box_in_four_ways() {
        let edges = [0.4, 1.1, 0.7];
        let given = Shape::Box { edges }.mass_properties(700.0).unwrap();
        let corners: Vec<Vector> = (0..8)
            .map(|k: u32| {
                let sign = |axis: u32| if k >> axis & 1 == 1 { 0.5 } else { -0.5 };
                [sign(0) * edges[0], sign(1) * edges[1], sign(2) * edges[2]]
            })
            .collect();
        let as_hull = Shape::ConvexHull { points: corners.clone() }.mass_properties(700.0).unwrap();
        close(&given, &as_hull, 1e-14);

        let far = [100.0, -50.0, 20.0];
        let points = corners.iter().map(|&x| add(x, far)).collect();
        let triangles = cube();
        let mesh = Shape::TriangleMesh { points, triangles }.mass_properties(700.0).unwrap();
        let moved = MassProperties { center: far, ..given };
        close(&moved, &mesh, 1e-12);

        let half = |z: f64| Placed {
            shape: Shape::Box { edges: [0.4, 1.1, 0.35] },
            position: [0.0, 0.0, z],
            orientation: IDENTITY,
        };
        let two = Shape::Compound { parts: vec![half(0.175), half(-0.175)] };
        close(&given, &two.mass_properties(700.0).unwrap(), 1e-14);
    }

    fn cube() -> Vec<[u32; 3]> {
        let quads =
            [[1, 3, 7, 5], [0, 4, 6, 2], [2, 6, 7, 3], [0, 1, 5, 4], [4, 5, 7, 6], [0, 2, 3, 1]];
        quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect()
    }

    #[test]
    fn turned_shapes() {
        let shape = Shape::Box { edges: [1.0, 2.0, 3.0] };
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let orientation = [half, 0.0, 0.0, half]; // x to y
        let placed = Placed { shape: shape.clone(), position: [1.0, 2.0, 3.0], orientation };
        let (a, b) = (shape.mass_properties(1.0).unwrap(), placed.mass_properties(1.0).unwrap());
        assert!((a.inertia[0][0] - b.inertia[1][1]).abs() < 1e-14 * a.inertia[0][0]);
        assert!(b.inertia[0][1].abs() < 1e-14);
        assert_eq!(b.center, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn plates() {
        let points = vec![[1.0, 1.0], [3.0, 1.0], [3.0, 2.0], [1.0, 2.0]];
        for points in [points.clone(), points.into_iter().rev().collect()] {
            let plate = Shape::Polygon { points }.mass_properties(3.0).unwrap();
            assert!((plate.mass - 6.0).abs() < 1e-14);
            assert!((plate.center[0] - 2.0).abs() < 1e-14 && (plate.center[1] - 1.5).abs() < 1e-14);
            assert!((plate.inertia[2][2] - 6.0 * (4.0 + 1.0) / 12.0).abs() < 1e-13);
        }
        let disk = Shape::Disk { radius: 2.0 }.mass_properties(1.0).unwrap();
        assert!((disk.inertia[2][2] - 8.0 * std::f64::consts::PI).abs() < 1e-13);
    }

    #[test]
    fn shapes_without_mass_are_named() {
        let says = |shape: Shape, expected: &str| {
            let error = shape.mass_properties(1.0).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        says(Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }, "plane: no mass");
        let points: Vec<Vector> =
            (0..8).map(|k: u32| [0, 1, 2].map(|axis| f64::from(k >> axis & 1))).collect();
        let mut open = cube();
        open.pop();
        says(Shape::TriangleMesh { points: points.clone(), triangles: open }, "not closed");
        let inside_out = cube().into_iter().map(|[a, b, c]| [a, c, b]).collect();
        says(Shape::TriangleMesh { points, triangles: inside_out }, "look inwards");
        says(Shape::Polyline { points: vec![[0.0, 0.0], [1.0, 0.0]] }, "polyline: no mass");
        let error = Shape::Sphere { radius: 1.0 }.mass_properties(-1.0).unwrap_err();
        assert!(error.to_string().contains("density"));
        let flat = (0..5).map(|k| [f64::from(k), f64::from(k * k), 1.0]).collect();
        says(Shape::ConvexHull { points: flat }, "lie in one plane");
    }
}
