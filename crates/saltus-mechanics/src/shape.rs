//! Shapes of bodies, as data. Each stands in a frame of its own; lengths are in metres.

mod check;
mod error;

pub(crate) use check::lifted;
pub use error::ShapeError;

use saltus_model::rotation::{IDENTITY, Quaternion, Vector};

/// A shape in its own frame. Axes of capsules, cylinders and cones are along `z`.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A box about the origin.
    Box {
        /// Its full edges.
        edges: Vector,
    },
    /// All points within `radius` of a segment about the origin.
    Capsule {
        /// Its radius.
        radius: f64,
        /// Length of the segment.
        length: f64,
    },
    /// A cylinder about the origin.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Its full length.
        length: f64,
    },
    /// A cone, the origin halfway between base and tip, the tip at `z = height/2`.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Its full height.
        height: f64,
    },
    /// The smallest convex body that holds these points.
    ConvexHull {
        /// The points.
        points: Vec<Vector>,
    },
    /// A surface of triangles; a body where it is closed.
    TriangleMesh {
        /// The points.
        points: Vec<Vector>,
        /// Positions of their corners among the points, counterclockwise seen from outside.
        triangles: Vec<[u32; 3]>,
    },
    /// The ground `z = heights[i][j]` over a rectangle about the origin: row `i` along `y`, column
    /// `j` along `x`, between them as two triangles a cell.
    HeightField {
        /// Rows of equal length, two at least.
        heights: Vec<Vec<f64>>,
        /// Edges of the rectangle along `x` and `y`.
        size: [f64; 2],
    },
    /// The half-space `n · x ≤ offset`.
    Plane {
        /// Its outer normal, of any length.
        normal: Vector,
        /// Distance of its surface from the origin, along the normal.
        offset: f64,
    },
    /// Several shapes that move as one.
    Compound {
        /// The shapes, each in its place.
        parts: Vec<Placed>,
    },
    /// A disk in the plane, about the origin.
    Disk {
        /// Its radius.
        radius: f64,
    },
    /// A segment in the plane.
    Segment {
        /// One end.
        from: [f64; 2],
        /// The other end.
        to: [f64; 2],
    },
    /// A convex polygon in the plane.
    Polygon {
        /// Its corners.
        points: Vec<[f64; 2]>,
    },
    /// A line of segments in the plane.
    Polyline {
        /// Its corners.
        points: Vec<[f64; 2]>,
    },
}

/// A shape in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The shape.
    pub shape: Shape,
    /// Where its origin is. In the plane the third component is zero.
    pub position: Vector,
    /// How it is turned. In the plane, about the third axis.
    pub orientation: Quaternion,
}

impl From<Shape> for Placed {
    fn from(shape: Shape) -> Self {
        Placed { shape, position: [0.0; 3], orientation: IDENTITY }
    }
}

impl Shape {
    /// Its name in model files and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Sphere { .. } => "sphere",
            Shape::Box { .. } => "box",
            Shape::Capsule { .. } => "capsule",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Cone { .. } => "cone",
            Shape::ConvexHull { .. } => "convex-hull",
            Shape::TriangleMesh { .. } => "triangle-mesh",
            Shape::HeightField { .. } => "height-field",
            Shape::Plane { .. } => "plane",
            Shape::Compound { .. } => "compound",
            Shape::Disk { .. } => "disk",
            Shape::Segment { .. } => "segment",
            Shape::Polygon { .. } => "polygon",
            Shape::Polyline { .. } => "polyline",
        }
    }
}
