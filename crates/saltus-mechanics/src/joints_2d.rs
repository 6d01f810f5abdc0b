//! Joints between bodies in the plane.
//!
//! | joint | rows | leaves |
//! | --- | --- | --- |
//! | pivot | 2 | the turn about a point |
//! | prismatic | 2 | a way along an axis |
//! | fixed | 3 | nothing |
//! | distance | 1 | all but the distance of two points |
//!
//! Angles count all turns.

use crate::carrier::Beside;
use crate::fault::{Fault, direction, point};
use crate::joints::JointRelation;
use crate::pose::Start;
use crate::row::Row;
use saltus_model::rotation::{Vector, norm, sub};
use saltus_model::{Body, IntoRelation, Linked};

/// A joint in the plane; points and directions are in the frame of the world, where the bodies start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Joint2d {
    /// A point that both have in common.
    Pivot {
        /// The point.
        point: [f64; 2],
    },
    /// A way along an axis, without a turn.
    Prismatic {
        /// The direction of the axis.
        axis: [f64; 2],
    },
    /// Both are one body.
    Fixed,
    /// Two points that keep their distance.
    Distance {
        /// A point of the first body.
        point: [f64; 2],
        /// A point of the second.
        second_point: [f64; 2],
    },
}

/// A point or direction of the plane `z = 0`.
pub(crate) fn flat([x, y]: [f64; 2]) -> [f64; 3] {
    [x, y, 0.0]
}

impl Joint2d {
    /// Its name, as model files write it.
    pub fn name(&self) -> &'static str {
        match self {
            Joint2d::Pivot { .. } => "pivot-2d",
            Joint2d::Prismatic { .. } => "prismatic-2d",
            Joint2d::Fixed => "fixed-2d",
            Joint2d::Distance { .. } => "distance-2d",
        }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        match self {
            Joint2d::Pivot { .. } | Joint2d::Prismatic { .. } => 2,
            Joint2d::Fixed => 3,
            Joint2d::Distance { .. } => 1,
        }
    }

    /// How many of its rows, the first ones, are forces; the others are moments.
    pub(crate) fn forces(&self) -> usize {
        match self {
            Joint2d::Pivot { .. } | Joint2d::Fixed => 2,
            Joint2d::Prismatic { .. } | Joint2d::Distance { .. } => 1,
        }
    }

    fn rows(&self, [a, b]: [Start; 2], center: Vector) -> Result<Vec<Row>, Fault> {
        let along = |n| move |P| Row::Apart { a: a.point(P), b: b.point(P), n };
        let together = |P| [along([1.0, 0.0, 0.0])(P), along([0.0, 1.0, 0.0])(P)];
        let still = Row::PlaneTurn { from: a.angle - b.angle };
        Ok(match *self {
            Joint2d::Pivot { point: P } => together(point("point", flat(P))?).to_vec(),
            Joint2d::Prismatic { axis } => {
                let [x, y, _] = direction("axis", flat(axis))?;
                let (P, n) = (center, b.direction([-y, x, 0.0]));
                vec![Row::ApartInB { a: a.point(P), b: b.point(P), n }, still]
            }
            Joint2d::Fixed => {
                let [x, y] = together(center);
                vec![x, y, still]
            }
            Joint2d::Distance { point: P, second_point: Q } => {
                let (P, Q) = (point("point", flat(P))?, point("second_point", flat(Q))?);
                let length = norm(sub(P, Q));
                if !(length > 0.0) {
                    let (what, allowed) = ("distance", "(0, inf); use a pivot");
                    return Err(Fault::Range { what, value: length, allowed });
                }
                vec![Row::Length { a: a.point(P), b: b.point(Q), length }]
            }
        })
    }
}

impl IntoRelation for Joint2d {
    type Relation = JointRelation;

    fn complete(self, linked: Linked<'_>) -> JointRelation {
        self.between(linked, &Beside::default())
    }
}

impl Joint2d {
    /// The relation; of one body and what stands beside it.
    pub(crate) fn between(&self, linked: Linked<'_>, beside: &Beside) -> JointRelation {
        let sides = beside.sides(linked.systems().len());
        let rows = Start::pair(Body::Plane, linked, beside.start())
            .and_then(|starts| self.rows(sides.of(&starts, Start::WORLD), starts[0].position()));
        JointRelation::new(self.name(), Body::Plane, self.size(), beside, rows)
    }
}
