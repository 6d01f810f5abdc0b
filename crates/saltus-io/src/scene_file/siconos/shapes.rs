//! Contactors and their shapes.
//!
//! | Siconos | here |
//! | --- | --- |
//! | `Sphere`, `Box`, `Plane` (z = 0) | the same |
//! | `Cylinder` | the same, the axis along `y` |
//! | `Capsule`, `Cone` | of half their length, the axis along `y` |
//! | `Disk`, `Segment`, `Box2d` | disk, segment, polygon |
//! | `Line` (`a x + b y + c = 0`) | a half-plane |
//! | convex | the hull of its points, in the plane a polygon |
//! | height map | the same; its rows go along `x` there, along `y` here |
//! | `vtp`, `stl` | a mesh |
//!
//! The runner scales its shapes to the size that a file says. Capsules and cones come out half as long, and
//! so they are what its bodies touch with (4.4, measured; the same in the source of later ones).

use super::Reader;
use super::laws::material;
use crate::scene_file::SceneFileError;
use rust_hdf5::H5Dataset;
use saltus_mechanics::{Part, Shape, mesh};
use saltus_model::Body;
use saltus_model::rotation::{Quaternion, Vector, product};
use std::f64::consts::FRAC_1_SQRT_2;

/// A quarter turn that leads from `z` to `y`.
const ALONG_Y: Quaternion = [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0, 0.0];

/// A shape, and what its kind means for its place.
enum Found {
    Upright(Shape),
    /// Its axis is along `y`.
    AlongY(Shape),
    /// A line of the plane, which has two sides.
    Line(Shape),
}

impl Reader<'_> {
    /// The parts of an object, and which of them are lines.
    pub(super) fn contactors(
        &mut self,
        object: &str,
    ) -> Result<(Vec<Part>, Vec<usize>), SceneFileError> {
        let (mut parts, mut lines) = (Vec::new(), Vec::new());
        for name in self.datasets(object) {
            let path = format!("{object}/{name}");
            let dataset = self.dataset(&path)?;
            let Some(shape_name) = self.text(&dataset, "shape_name") else {
                self.aside(&path, "it names no shape");
                continue;
            };
            let Some(found) = self.shape(&shape_name)? else { continue };
            let values = |key: &str| self.values(&path, &dataset, key);
            let group = values("group")?.and_then(|group| group.first().copied());
            let position =
                self.vector(&path, "translation", &values("translation")?.unwrap_or_default())?;
            let (turn, _) = self.turn(&path, &values("orientation")?.unwrap_or_default())?;
            let (shape, orientation) = match found {
                Found::Upright(shape) => (shape, turn),
                Found::AlongY(shape) => (shape, product(turn, ALONG_Y)),
                Found::Line(shape) => {
                    lines.push(parts.len());
                    (shape, turn)
                }
            };
            // a negative group is drawn, and touches nothing; without one it is a volume
            let group = group.filter(|group| *group >= 0.0);
            let (material, touch) = (group.map(material), group.is_some());
            parts.push(Part { shape, position, orientation, material, touch });
        }
        Ok((parts, lines))
    }

    fn shape(&mut self, name: &str) -> Result<Option<Found>, SceneFileError> {
        let path = format!("data/ref/{name}");
        let dataset = self.dataset(&path)?;
        let kind = self.text(&dataset, "type").unwrap_or_default();
        Ok(Some(match kind.as_str() {
            "primitive" => return self.primitive(&path, &dataset),
            "convex" => Found::Upright(self.convex(&path, &dataset)?),
            "heightmap" => Found::Upright(self.height_map(&path, &dataset)?),
            "vtp" | "stl" => Found::Upright(self.mesh(&path, &dataset, &kind)?),
            kind => {
                let what = format!("a shape of type `{kind}`");
                self.aside(&path, format!("{what}; contactors with it TOUCH NOTHING"));
                return Ok(None);
            }
        }))
    }

    /// The numbers of a shape.
    fn numbers_of(&self, path: &str, dataset: &H5Dataset) -> Result<Vec<f64>, SceneFileError> {
        // arrays of NumPy may be of whole numbers
        let values = match dataset.read_numeric_as::<i64>() {
            Ok(whole) => whole.into_iter().map(|value| value as f64).collect(),
            Err(_) => self.checked(path, dataset.read_numeric_as::<f64>())?,
        };
        self.finite(path, "the shape", &values)?;
        Ok(values)
    }

    fn primitive(
        &mut self,
        path: &str,
        dataset: &H5Dataset,
    ) -> Result<Option<Found>, SceneFileError> {
        use Found::{AlongY, Line, Upright};
        let primitive = self.text(dataset, "primitive").unwrap_or_default();
        let values = self.numbers_of(path, dataset)?;
        let expected = match primitive.as_str() {
            "Plane" => values.len(), // a plane has none that count
            "Sphere" | "Disk" => 1,
            "Cylinder" | "Capsule" | "Cone" | "Box2d" => 2,
            "Box" | "Line" => 3,
            "Segment" => 4,
            _ => {
                let what = format!("the primitive `{primitive}`");
                self.aside(path, format!("{what}; contactors with it TOUCH NOTHING"));
                return Ok(None);
            }
        };
        if values.len() != expected {
            let found = format!("`{primitive}` has {} parameters", values.len());
            return Err(self.content(path, format!("{found}, expected {expected}")));
        }
        if let ("Capsule" | "Cone", [_, length]) = (primitive.as_str(), &values[..]) {
            let what = format!("half of the length {length} of a `{primitive}`");
            self.aside(path, format!("{what}, with which contacts of Siconos do not count"));
        }
        Ok(Some(match (primitive.as_str(), &values[..]) {
            ("Sphere", &[radius]) => Upright(Shape::Sphere { radius }),
            ("Box", &[a, b, c]) => Upright(Shape::Box { edges: [a, b, c] }),
            ("Cylinder", &[radius, length]) => AlongY(Shape::Cylinder { radius, length }),
            ("Capsule", &[radius, length]) => {
                AlongY(Shape::Capsule { radius, length: 0.5 * length })
            }
            ("Cone", &[radius, height]) => AlongY(Shape::Cone { radius, height: 0.5 * height }),
            ("Disk", &[radius]) => Upright(Shape::Disk { radius }),
            ("Box2d", &[a, b]) => {
                let (a, b) = (0.5 * a, 0.5 * b);
                let points = vec![[-a, -b], [a, -b], [a, b], [-a, b]];
                Upright(Shape::Polygon { points })
            }
            ("Segment", &[x, y, z, w]) => Upright(Shape::Segment { from: [x, y], to: [z, w] }),
            ("Line", &[a, b, c]) => {
                let length = a.hypot(b);
                if !(length > 0.0) {
                    return Err(self.content(path, "`Line` with a = b = 0 has no direction"));
                }
                let (normal, offset) = ([a / length, b / length, 0.0], -c / length);
                Line(Shape::Plane { normal, offset })
            }
            _ => Upright(Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }),
        }))
    }

    fn convex(&self, path: &str, dataset: &H5Dataset) -> Result<Shape, SceneFileError> {
        let (values, shape) = (self.numbers_of(path, dataset)?, dataset.shape());
        match (&shape[..], self.space) {
            ([_, 2], Body::Plane) => {
                let points = values.as_chunks::<2>().0.to_vec();
                Ok(Shape::Polygon { points: hull(points) })
            }
            ([_, 3], Body::Space) => {
                Ok(Shape::ConvexHull { points: values.as_chunks::<3>().0.to_vec() })
            }
            _ => {
                let expected = if self.space == Body::Plane { 2 } else { 3 };
                let found = format!("points of shape {shape:?}");
                Err(self.content(path, format!("{found}, expected rows of {expected}")))
            }
        }
    }

    /// `heights[i][j]` at row `i` along `y` and column `j` along `x`, from rows along `x`.
    fn height_map(&self, path: &str, dataset: &H5Dataset) -> Result<Shape, SceneFileError> {
        let (values, shape) = (self.numbers_of(path, dataset)?, dataset.shape());
        let rect = self.values(path, dataset, "rect")?;
        let (Some([x, y]), [rows, cols]) = (rect.as_deref(), &shape[..]) else {
            return Err(self.content(path, "a height map has two axes, and `rect` two numbers"));
        };
        let heights =
            (0..*cols).map(|i| (0..*rows).map(|j| values[j * cols + i]).collect()).collect();
        Ok(Shape::HeightField { heights, size: [*x, *y] })
    }

    /// The text of a file, in units of `scale`.
    fn mesh(&self, path: &str, dataset: &H5Dataset, kind: &str) -> Result<Shape, SceneFileError> {
        let texts = self.checked(path, dataset.read_vlen_bytes())?;
        let Some(text) = texts.first() else {
            return Err(self.content(path, "there is no text of a mesh"));
        };
        let mut mesh = mesh::parse(format!("{path}.{kind}"), text)
            .map_err(|error| self.content(path, error.to_string()))?;
        let scale = self.value(path, dataset, "scale")?.unwrap_or(1.0);
        mesh.points.iter_mut().for_each(|x: &mut Vector| *x = x.map(|x| scale * x));
        Ok(mesh.into())
    }
}

/// The corners of the smallest convex polygon that holds these points, counterclockwise.
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    let left = |[ax, ay]: [f64; 2], [bx, by]: [f64; 2], [cx, cy]: [f64; 2]| {
        (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0.0
    };
    // the lower side from left to right, then the upper one back
    let side = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut side: Vec<[f64; 2]> = Vec::new();
        for c in points {
            while let [.., a, b] = side[..]
                && !left(a, b, c)
            {
                side.pop();
            }
            side.push(c);
        }
        side.pop(); // it begins the other side
        side
    };
    let mut corners = side(&mut points.iter().copied());
    corners.extend(side(&mut points.iter().rev().copied()));
    corners
}

#[cfg(test)]
mod tests {
    use super::hull;

    #[test]
    fn a_square_with_points_inside() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let points = [&square[..], &[[0.5, 0.5], [0.5, 0.0], [1.0, 1.0]]].concat();
        assert_eq!(hull(points), square);
    }
}
