//! Shapes, made ready for the search.

use super::polytope::Polytope;
use super::surface::Surface;
use crate::pose::Pose;
use crate::shape::lifted;
use crate::{Placed, Shape, ShapeError};
use saltus_model::rotation::{
    Matrix3, Vector, add, matrix, multiply, norm, normalized, rotate, scaled, sub, unit,
};
use std::sync::Arc;

/// A shape in its own frame.
#[derive(Debug, Clone)]
pub(super) enum Solid {
    Sphere {
        radius: f64,
    },
    Capsule {
        radius: f64,
        half: f64,
        core: Arc<Polytope>,
    },
    Box {
        half: Vector,
        body: Arc<Polytope>,
    },
    Hull {
        body: Arc<Polytope>,
    },
    Cylinder {
        radius: f64,
        half: f64,
    },
    Cone {
        radius: f64,
        half: f64,
    },
    Surface(Arc<Surface>),
    Plane {
        n: Vector,
        offset: f64,
    },
    /// In the plane: the corners counterclockwise; a segment has two.
    Polygon(Arc<super::flat::Polygon>),
    Polyline(Arc<super::flat::Polyline>),
}

/// Where a shape is in the frame of its side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub x: Vector,
    pub R: Matrix3,
    /// Whether it is the frame of the side.
    pub own: bool,
}

impl Place {
    pub fn new(placed: &Placed) -> Place {
        let p = normalized(placed.orientation).unwrap_or(saltus_model::rotation::IDENTITY);
        let R = matrix(p);
        Place { x: placed.position, R, own: placed.position == [0.0; 3] && R == Pose::WORLD.R }
    }

    /// In the frame of the world, where the side is at `of`.
    #[inline]
    pub fn at(&self, of: &Pose) -> Pose {
        if self.own { *of } else { Pose::of(of.point(self.x), multiply(&of.R, &self.R)) }
    }
}

/// All shapes of a compound, one after the other, each in its place.
pub(super) fn flatten(placed: &Placed, found: &mut Vec<Placed>) {
    let Shape::Compound { parts } = &placed.shape else {
        found.push(placed.clone());
        return;
    };
    let turn = normalized(placed.orientation).unwrap_or(saltus_model::rotation::IDENTITY);
    for part in parts {
        let inner = normalized(part.orientation).unwrap_or(saltus_model::rotation::IDENTITY);
        let whole = Placed {
            shape: part.shape.clone(),
            position: add(placed.position, rotate(turn, part.position)),
            orientation: saltus_model::rotation::product(turn, inner),
        };
        flatten(&whole, found);
    }
}

impl Solid {
    /// Of a shape that has been checked and is no compound.
    pub fn new(shape: &Shape) -> Result<Solid, ShapeError> {
        Ok(match shape {
            Shape::Sphere { radius } | Shape::Disk { radius } => Solid::Sphere { radius: *radius },
            Shape::Box { edges } => {
                let half = scaled(0.5, *edges);
                Solid::Box { half, body: Arc::new(Polytope::cuboid(half)) }
            }
            Shape::Capsule { radius, length } => {
                let half = 0.5 * length;
                Solid::Capsule { radius: *radius, half, core: Arc::new(Polytope::segment(half)) }
            }
            Shape::Cylinder { radius, length } => {
                Solid::Cylinder { radius: *radius, half: 0.5 * length }
            }
            Shape::Cone { radius, height } => Solid::Cone { radius: *radius, half: 0.5 * height },
            Shape::ConvexHull { points } => {
                Solid::Hull { body: Arc::new(super::hull::hull(points)?) }
            }
            Shape::TriangleMesh { points, triangles } => {
                Solid::Surface(Arc::new(Surface::new(points.clone(), triangles.clone())?))
            }
            Shape::HeightField { heights, size } => {
                Solid::Surface(Arc::new(Surface::ground(heights, *size)?))
            }
            Shape::Plane { normal, offset } => {
                let n = unit(*normal).unwrap_or([0.0, 0.0, 1.0]);
                Solid::Plane { n, offset: *offset }
            }
            Shape::Segment { from, to } => {
                Solid::Polygon(Arc::new(super::flat::Polygon::new(&[*from, *to])))
            }
            Shape::Polygon { points } => {
                Solid::Polygon(Arc::new(super::flat::Polygon::new(points)))
            }
            Shape::Polyline { points } => {
                Solid::Polyline(Arc::new(super::flat::Polyline::new(points)))
            }
            Shape::Compound { .. } => {
                let why = "a compound has to be taken apart first".to_string();
                return Err(ShapeError::Degenerate { shape: "compound", why });
            }
        })
    }

    /// How many features it has.
    pub fn features(&self) -> u32 {
        match self {
            Solid::Sphere { .. } | Solid::Plane { .. } => 1,
            Solid::Capsule { .. } => 3,
            Solid::Box { body, .. } | Solid::Hull { body } => body.features(),
            Solid::Cylinder { .. } | Solid::Cone { .. } => super::revolved::FEATURES,
            Solid::Surface(surface) => surface.features(),
            Solid::Polygon(polygon) => polygon.features(),
            Solid::Polyline(polyline) => polyline.features(),
        }
    }

    /// Whether it goes on for ever.
    pub fn endless(&self) -> bool {
        matches!(self, Solid::Plane { .. })
    }

    /// Half its smallest extent: what lengths are compared with.
    pub fn size(&self) -> f64 {
        match self {
            Solid::Sphere { radius } | Solid::Capsule { radius, .. } => *radius,
            Solid::Box { half, .. } => half[0].min(half[1]).min(half[2]),
            Solid::Hull { body } => body.thickness(),
            Solid::Cylinder { radius, half } | Solid::Cone { radius, half } => radius.min(*half),
            Solid::Surface(surface) => surface.size,
            Solid::Polygon(polygon) => polygon.size,
            Solid::Polyline(polyline) => polyline.size,
            Solid::Plane { .. } => f64::INFINITY,
        }
    }

    /// The largest distance of its points from the origin of a frame in which it is at `place`.
    pub fn radius(&self, place: &Place) -> f64 {
        let at = Pose::of(place.x, place.R);
        let farthest =
            |points: &[Vector]| points.iter().map(|&x| norm(at.point(x))).fold(0.0_f64, f64::max);
        match self {
            Solid::Sphere { radius } => norm(place.x) + radius,
            Solid::Capsule { radius, core, .. } => farthest(&core.vertices) + radius,
            Solid::Box { body, .. } | Solid::Hull { body } => farthest(&body.vertices),
            Solid::Cylinder { radius, half } | Solid::Cone { radius, half } => {
                norm(place.x) + radius.hypot(*half)
            }
            Solid::Surface(surface) => farthest(&surface.points),
            Solid::Polygon(polygon) => farthest_flat(&at, &polygon.corners),
            Solid::Polyline(polyline) => farthest_flat(&at, &polyline.corners),
            Solid::Plane { .. } => 0.0,
        }
    }

    /// The largest distance of what is not a ball about its own center from the origin of a frame in
    /// which it is at `place`: what turning about the origin moves.
    pub fn lever(&self, place: &Place) -> f64 {
        match self {
            Solid::Sphere { .. } => norm(place.x),
            Solid::Capsule { radius, .. } => self.radius(place) - radius,
            _ => self.radius(place),
        }
    }

    /// Center and half edges of its box in the frame of the world.
    #[inline]
    pub fn bounds(&self, at: &Pose) -> [Vector; 2] {
        let R = &at.R;
        let wide = |half: Vector| {
            let along = |i: usize| {
                R[i][0].abs() * half[0] + R[i][1].abs() * half[1] + R[i][2].abs() * half[2]
            };
            [along(0), along(1), along(2)]
        };
        match self {
            Solid::Sphere { radius } => [at.x, [*radius; 3]],
            Solid::Capsule { radius, half, .. } => {
                [at.x, [0, 1, 2].map(|i| R[i][2].abs() * half + radius)]
            }
            Solid::Box { half, .. } => [at.x, wide(*half)],
            Solid::Cylinder { radius, half } | Solid::Cone { radius, half } => {
                let along = |i: usize| {
                    R[i][2].abs() * half + radius * (1.0 - R[i][2] * R[i][2]).max(0.0).sqrt()
                };
                [at.x, [along(0), along(1), along(2)]]
            }
            Solid::Hull { body } => around(body.vertices.iter().map(|&x| at.point(x))),
            Solid::Surface(surface) => [at.point(surface.bounds[0]), wide(surface.bounds[1])],
            Solid::Polygon(polygon) => around(polygon.corners.iter().map(|&x| at.point(lifted(x)))),
            Solid::Polyline(polyline) => {
                around(polyline.corners.iter().map(|&x| at.point(lifted(x))))
            }
            Solid::Plane { .. } => [at.x, [f64::INFINITY; 3]],
        }
    }
}

fn farthest_flat(at: &Pose, corners: &[[f64; 2]]) -> f64 {
    corners.iter().map(|&x| norm(at.point(lifted(x)))).fold(0.0_f64, f64::max)
}

/// Center and half edges of the box about points.
pub(super) fn around(points: impl Iterator<Item = Vector>) -> [Vector; 2] {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for x in points {
        for k in 0..3 {
            low[k] = low[k].min(x[k]);
            high[k] = high[k].max(x[k]);
        }
    }
    [scaled(0.5, add(low, high)), scaled(0.5, sub(high, low))]
}
