//! Shapes as triangles, for pictures: round ones have 24 sides.

use crate::finder::hull;
use crate::mesh::Mesh;
use crate::{Placed, Shape};
use saltus_model::rotation::{Vector, add, normalized, rotate, scaled, tangents, unit};
use std::f64::consts::{FRAC_PI_2, PI};

/// Sides of a circle.
const SIDES: usize = 24;

/// Rings of half a ball.
const RINGS: usize = 6;

impl Mesh {
    /// Adds a closed surface of revolution about `z`: circles of these radii at these heights, the
    /// first and the last a point.
    fn turned(profile: &[[f64; 2]]) -> Mesh {
        let mut mesh = Mesh::default();
        let mut rings = Vec::with_capacity(profile.len());
        for &[r, z] in profile {
            let start = mesh.points.len() as u32;
            let count = if r > 0.0 { SIDES } else { 1 };
            for k in 0..count {
                let (sin, cos) = (2.0 * PI * k as f64 / SIDES as f64).sin_cos();
                mesh.points.push([r * cos, r * sin, z]);
            }
            rings.push((start, count as u32));
        }
        for pair in rings.windows(2) {
            let [(a, m), (b, n)] = [pair[0], pair[1]];
            for k in 0..SIDES as u32 {
                let next = (k + 1) % SIDES as u32;
                let low = |k: u32| a + if m > 1 { k } else { 0 };
                let high = |k: u32| b + if n > 1 { k } else { 0 };
                if m > 1 {
                    mesh.triangles.push([low(k), low(next), high(k)]);
                }
                if n > 1 {
                    mesh.triangles.push([low(next), high(next), high(k)]);
                }
            }
        }
        mesh
    }

    /// A flat polygon, as a fan.
    fn fan(points: Vec<Vector>) -> Mesh {
        let triangles = (2..points.len() as u32).map(|k| [0, k - 1, k]).collect();
        Mesh { points, triangles }
    }

    /// Adds another one.
    pub fn extend(&mut self, other: Mesh) {
        let start = self.points.len() as u32;
        self.points.extend(other.points);
        let moved = other.triangles.into_iter().map(|corners| corners.map(|k| start + k));
        self.triangles.extend(moved);
    }
}

/// Circles of half a ball about height `z`, from its equator to its pole; below for `sign = −1`.
fn half_ball(radius: f64, z: f64, sign: f64) -> Vec<[f64; 2]> {
    let ring = |k: usize| {
        let angle = FRAC_PI_2 * k as f64 / RINGS as f64;
        let r = if k == RINGS { 0.0 } else { radius * angle.cos() };
        [r, z + sign * radius * angle.sin()]
    };
    (0..=RINGS).map(ring).collect()
}

impl Shape {
    /// Its surface as triangles; of what has no end, a square with edges `2 reach`.
    pub fn drawing(&self, reach: f64) -> Mesh {
        let flat = |points: &[[f64; 2]]| points.iter().map(|&[x, y]| [x, y, 0.0]).collect();
        let capsule = |radius: f64, length: f64| {
            let mut profile = half_ball(radius, -0.5 * length, -1.0);
            profile.reverse();
            profile.extend(half_ball(radius, 0.5 * length, 1.0));
            Mesh::turned(&profile)
        };
        match self {
            Shape::Sphere { radius } => capsule(*radius, 0.0),
            Shape::Capsule { radius, length } => capsule(*radius, *length),
            Shape::Cylinder { radius: r, length } => {
                let z = 0.5 * length;
                Mesh::turned(&[[0.0, -z], [*r, -z], [*r, z], [0.0, z]])
            }
            Shape::Cone { radius: r, height } => {
                let z = 0.5 * height;
                Mesh::turned(&[[0.0, -z], [*r, -z], [0.0, z]])
            }
            Shape::Box { edges } => {
                let corners = crate::corners(*edges).to_vec();
                Shape::ConvexHull { points: corners }.drawing(reach)
            }
            Shape::ConvexHull { points } => match hull(points) {
                Err(_) => Mesh::default(),
                Ok(body) => {
                    let mut mesh = Mesh { points: body.vertices.clone(), triangles: Vec::new() };
                    for face in 0..body.faces.len() {
                        let corners = body.corners(face);
                        let fan = (2..corners.len())
                            .map(|k| [corners[0][0], corners[k - 1][0], corners[k][0]]);
                        mesh.triangles.extend(fan);
                    }
                    mesh
                }
            },
            Shape::TriangleMesh { points, triangles } => {
                Mesh { points: points.clone(), triangles: triangles.clone() }
            }
            Shape::HeightField { heights, size } => ground(heights, *size),
            Shape::Plane { normal, offset } => {
                let Some(n) = unit(*normal) else { return Mesh::default() };
                let [s, t] = tangents(n);
                let at = |a: f64, b: f64| {
                    add(scaled(*offset, n), add(scaled(a * reach, s), scaled(b * reach, t)))
                };
                Mesh::fan(vec![at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)])
            }
            Shape::Compound { parts } => {
                let mut mesh = Mesh::default();
                parts.iter().for_each(|part| mesh.extend(part.drawing(reach)));
                mesh
            }
            Shape::Disk { radius } => {
                let corner = |k: usize| {
                    let (sin, cos) = (2.0 * PI * k as f64 / SIDES as f64).sin_cos();
                    [radius * cos, radius * sin, 0.0]
                };
                Mesh::fan((0..SIDES).map(corner).collect())
            }
            Shape::Polygon { points } => Mesh::fan(flat(points)),
            Shape::Segment { from, to } => ribbon(&[*from, *to], reach),
            Shape::Polyline { points } => ribbon(points, reach),
        }
    }
}

impl Placed {
    /// Its surface as triangles, in the frame that it is placed in.
    pub fn drawing(&self, reach: f64) -> Mesh {
        let mut mesh = self.shape.drawing(reach);
        if let Some(turn) = normalized(self.orientation) {
            let place = |point: &mut Vector| *point = add(self.position, rotate(turn, *point));
            mesh.points.iter_mut().for_each(place);
        }
        mesh
    }
}

/// Two triangles a cell.
fn ground(heights: &[Vec<f64>], size: [f64; 2]) -> Mesh {
    let (rows, cols) = (heights.len(), heights.first().map_or(0, Vec::len));
    let share = |k: usize, count: usize| k as f64 / (count.max(2) - 1) as f64 - 0.5;
    let mut mesh = Mesh::default();
    for (i, row) in heights.iter().enumerate() {
        let place =
            |(j, z): (usize, &f64)| [size[0] * share(j, cols), size[1] * share(i, rows), *z];
        mesh.points.extend(row.iter().enumerate().map(place));
    }
    for i in 1..rows {
        for j in 1..cols {
            let at = |i: usize, j: usize| (i * cols + j) as u32;
            mesh.triangles.push([at(i - 1, j - 1), at(i - 1, j), at(i, j)]);
            mesh.triangles.push([at(i - 1, j - 1), at(i, j), at(i, j - 1)]);
        }
    }
    mesh
}

/// Segments of the plane as thin walls, upright on it.
fn ribbon(points: &[[f64; 2]], reach: f64) -> Mesh {
    let mut mesh = Mesh::default();
    let height = 0.02 * reach;
    for &[x, y] in points {
        mesh.points.extend([[x, y, -height], [x, y, height]]);
    }
    for k in 1..points.len() as u32 {
        let [a, b, c, d] = [2 * k - 2, 2 * k - 1, 2 * k, 2 * k + 1];
        mesh.triangles.extend([[a, c, d], [a, d, b]]);
    }
    mesh
}

/// The volume that a closed surface holds.
#[cfg(test)]
fn volume(mesh: &Mesh) -> f64 {
    use saltus_model::rotation::{cross, dot};
    let of = |[a, b, c]: &[u32; 3]| {
        let at = |k: &u32| mesh.points[*k as usize];
        dot(at(a), cross(at(b), at(c))) / 6.0
    };
    mesh.triangles.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Surfaces look outward and hold nearly the volume of their shapes.
    #[test]
    fn volumes() {
        let check = |shape: Shape, share: f64| {
            let exact = shape.mass_properties(1.0).expect("a body").mass;
            let found = volume(&shape.drawing(1.0));
            assert!((found / exact - 1.0).abs() < share, "{}: {found} {exact}", shape.name());
        };
        check(Shape::Sphere { radius: 0.7 }, 0.05);
        check(Shape::Box { edges: [1.0, 2.0, 3.0] }, 1e-12);
        check(Shape::Capsule { radius: 0.7, length: 2.0 }, 0.05);
        check(Shape::Cylinder { radius: 0.7, length: 2.0 }, 0.02);
        check(Shape::Cone { radius: 0.7, height: 2.0 }, 0.02);
    }
}
