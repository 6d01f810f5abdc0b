//! Shapes that somebody gave make sense.

use super::{Placed, Shape, ShapeError};
use saltus_model::Body;
use saltus_model::rotation::{Vector, normalized, unit};

impl Shape {
    /// Finds what is wrong with it, in this space.
    pub fn check(&self, space: Body) -> Result<(), ShapeError> {
        let shape = self.name();
        let length = |what, value: f64| {
            let fine = value > 0.0 && value.is_finite();
            if fine { Ok(()) } else { Err(ShapeError::Length { shape, what, value }) }
        };
        self.check_space(space)?;
        match self {
            Shape::Sphere { radius } | Shape::Disk { radius } => length("radius", *radius),
            Shape::Box { edges } => edges.iter().try_for_each(|&edge| length("edges", edge)),
            Shape::Capsule { radius, length: along }
            | Shape::Cylinder { radius, length: along } => {
                length("radius", *radius)?;
                length("length", *along)
            }
            Shape::Cone { radius, height } => {
                length("radius", *radius)?;
                length("height", *height)
            }
            Shape::ConvexHull { points } => {
                few(shape, "points", points.len(), 4)?;
                finite(shape, "points", points)
            }
            Shape::TriangleMesh { points, triangles } => {
                few(shape, "points", points.len(), 3)?;
                few(shape, "triangles", triangles.len(), 1)?;
                finite(shape, "points", points)?;
                corners(points.len(), triangles)
            }
            Shape::HeightField { heights, size } => {
                size.iter().try_for_each(|&edge| length("size", edge))?;
                few(shape, "heights", heights.len(), 2)?;
                few(shape, "heights[0]", heights[0].len(), 2)?;
                rectangular(heights)?;
                heights.iter().enumerate().try_for_each(|(index, row)| {
                    let bad = row.iter().find(|z| !z.is_finite());
                    bad.map_or(Ok(()), |&value| {
                        Err(ShapeError::NotFinite { shape, what: "heights", index, value })
                    })
                })
            }
            Shape::Plane { normal, offset } => {
                if unit(*normal).is_none() || (space == Body::Plane && normal[2] != 0.0) {
                    return Err(ShapeError::Direction { shape, what: "normal", found: *normal });
                }
                finite(shape, "offset", &[[*offset]])
            }
            Shape::Compound { parts } => {
                few(shape, "parts", parts.len(), 1)?;
                parts.iter().enumerate().try_for_each(|(index, part)| {
                    let checked = part.check(space);
                    checked.map_err(|source| ShapeError::Part { index, source: Box::new(source) })
                })
            }
            Shape::Segment { from, to } => {
                finite(shape, "ends", &[*from, *to])?;
                distinct(shape, &[*from, *to])
            }
            Shape::Polygon { points } => {
                few(shape, "points", points.len(), 3)?;
                finite(shape, "points", points)?;
                convex(points)
            }
            Shape::Polyline { points } => {
                few(shape, "points", points.len(), 2)?;
                finite(shape, "points", points)?;
                distinct(shape, points)
            }
        }
    }

    fn check_space(&self, space: Body) -> Result<(), ShapeError> {
        let of_plane = matches!(
            self,
            Shape::Disk { .. }
                | Shape::Segment { .. }
                | Shape::Polygon { .. }
                | Shape::Polyline { .. }
        );
        let of_both = matches!(self, Shape::Plane { .. } | Shape::Compound { .. });
        match space {
            _ if of_both => Ok(()),
            Body::Space if of_plane => {
                Err(ShapeError::Space { shape: self.name(), expected: "of space" })
            }
            Body::Plane if !of_plane => {
                Err(ShapeError::Space { shape: self.name(), expected: "of the plane" })
            }
            _ => Ok(()),
        }
    }
}

impl Placed {
    /// Finds what is wrong with the shape or its place.
    pub fn check(&self, space: Body) -> Result<(), ShapeError> {
        let shape = self.shape.name();
        finite(shape, "position", &[self.position])?;
        let found = self.orientation;
        let flat = space == Body::Space || (found[1] == 0.0 && found[2] == 0.0);
        if normalized(found).is_none() || !flat {
            return Err(ShapeError::Orientation { shape, found });
        }
        if space == Body::Plane && self.position[2] != 0.0 {
            return Err(ShapeError::Space { shape, expected: "of the plane, at z = 0" });
        }
        self.shape.check(space)
    }
}

fn few(
    shape: &'static str,
    what: &'static str,
    found: usize,
    least: usize,
) -> Result<(), ShapeError> {
    if found < least { Err(ShapeError::Few { shape, what, found, least }) } else { Ok(()) }
}

fn finite<const N: usize>(
    shape: &'static str,
    what: &'static str,
    points: &[[f64; N]],
) -> Result<(), ShapeError> {
    for (index, point) in points.iter().enumerate() {
        if let Some(&value) = point.iter().find(|x| !x.is_finite()) {
            return Err(ShapeError::NotFinite { shape, what, index, value });
        }
    }
    Ok(())
}

fn corners(points: usize, triangles: &[[u32; 3]]) -> Result<(), ShapeError> {
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(corner) = corners.iter().position(|&c| c as usize >= points) {
            return Err(ShapeError::Index { triangle, corner, found: corners[corner], points });
        }
    }
    Ok(())
}

fn rectangular(heights: &[Vec<f64>]) -> Result<(), ShapeError> {
    let expected = heights[0].len();
    match heights.iter().position(|row| row.len() != expected) {
        Some(row) => Err(ShapeError::Ragged { row, found: heights[row].len(), expected }),
        None => Ok(()),
    }
}

/// Neighbours are apart.
fn distinct(shape: &'static str, points: &[[f64; 2]]) -> Result<(), ShapeError> {
    match points.windows(2).position(|pair| pair[0] == pair[1]) {
        Some(k) => {
            let why = format!("points {k} and {} are the same", k + 1);
            Err(ShapeError::Degenerate { shape, why })
        }
        None => Ok(()),
    }
}

/// All corners turn the same way, once around.
fn convex(points: &[[f64; 2]]) -> Result<(), ShapeError> {
    let n = points.len();
    let edge = |k: usize| {
        let (a, b) = (points[k % n], points[(k + 1) % n]);
        [b[0] - a[0], b[1] - a[1]]
    };
    let turn = |k: usize| {
        let (a, b) = (edge(k + n - 1), edge(k));
        a[0] * b[1] - a[1] * b[0]
    };
    let area = (0..n)
        .map(|k| points[k][0] * points[(k + 1) % n][1] - points[k][1] * points[(k + 1) % n][0]);
    let area = 0.5 * area.sum::<f64>();
    let size = points.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    if !(area.abs() > 1e-14 * size * size) {
        let why = "its corners enclose no area".to_string();
        return Err(ShapeError::Degenerate { shape: "polygon", why });
    }
    let sign = area.signum();
    if let Some(index) = (0..n).find(|&k| sign * turn(k) < -1e-12 * size * size) {
        return Err(ShapeError::NotConvex { index, point: points[index] });
    }
    // turns by the full circle, not more
    let angle = |k: usize| {
        let (a, b) = (edge(k + n - 1), edge(k));
        (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
    };
    let total = (0..n).map(angle).sum::<f64>() * sign;
    if total > 1.5 * std::f64::consts::TAU {
        return Err(ShapeError::NotConvex { index: 0, point: points[0] });
    }
    Ok(())
}

/// A vector of the plane, in space.
pub(crate) fn lifted(a: [f64; 2]) -> Vector {
    [a[0], a[1], 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(shape: Shape, space: Body, expected: &str) {
        let error = shape.check(space).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn bad_shapes_are_named() {
        let space = Body::Space;
        says(Shape::Sphere { radius: 0.0 }, space, "sphere: `radius` = 0");
        says(Shape::Sphere { radius: f64::NAN }, space, "`radius` = NaN");
        says(Shape::Box { edges: [1.0, -1.0, 1.0] }, space, "box: `edges` = -1");
        says(Shape::Cone { radius: 1.0, height: f64::INFINITY }, space, "`height` = inf");
        says(Shape::ConvexHull { points: vec![[0.0; 3]; 3] }, space, "at least 4");
        let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let mesh = Shape::TriangleMesh { points, triangles: vec![[0, 1, 3]] };
        says(mesh, space, "corner 2 of triangle 0 is point 3, but there are 3");
        let heights = vec![vec![0.0; 3], vec![0.0; 2]];
        says(Shape::HeightField { heights, size: [1.0; 2] }, space, "row 1 of `heights` has 2");
        says(Shape::Plane { normal: [0.0; 3], offset: 0.0 }, space, "no direction");
        says(Shape::Disk { radius: 1.0 }, space, "expected a shape of space");
        says(Shape::Sphere { radius: 1.0 }, Body::Plane, "expected a shape of the plane");
        let parts = vec![Shape::Sphere { radius: -1.0 }.into()];
        says(Shape::Compound { parts }, space, "part 0 of compound: sphere");
    }

    #[test]
    fn polygons_that_are_not_convex() {
        let star = vec![[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 2.0]];
        says(Shape::Polygon { points: star }, Body::Plane, "corner 2");
        let pentagram: Vec<[f64; 2]> =
            (0..5).map(|k| (f64::from(k) * 0.8 * std::f64::consts::PI).sin_cos().into()).collect();
        says(Shape::Polygon { points: pentagram }, Body::Plane, "convex");
        let flat = vec![[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]];
        says(Shape::Polygon { points: flat }, Body::Plane, "no area");
    }
}
