//! Joints: what two bodies, or a body and the world, hold on to.
//!
//! | joint | rows | leaves |
//! | --- | --- | --- |
//! | ball | 3 | all turns about a point |
//! | pivot | 5 | a turn about an axis |
//! | prismatic | 5 | a way along an axis |
//! | cylindrical | 4 | both |
//! | universal | 4 | turns about two axes that cross |
//! | planar | 3 | ways and the turn in a plane |
//! | fixed | 6 | nothing |
//! | distance | 1 | all but the distance of two points |
//! | screw | 5 | a turn about an axis, and the way that goes with it |
//! | gear | 1 | couples the turns of two bodies about axes of the world |
//! | rack | 1 | couples the turn of one body with the way of another |
//!
//! A joint is connected with the law of equality. Its multipliers are the impulses along its rows:
//! in the directions of the world where it holds a point, and moments.

use crate::carrier::Beside;
use crate::fault::{Fault, direction, point};
use crate::outputs::product;
use crate::pose::{self, Pose, Start};
use crate::row::{Angle, Row, Slopes, square_at, together, together_at};
use saltus_linalg::Matrix;
use saltus_model::rotation::{Vector, dot, norm, sub, tangents};
use saltus_model::{
    At, Body, IntoRelation, Linked, ModelError, Operator, OperatorError, Order, Relation, Terms,
};

/// A joint; points and directions are in the frame of the world, where the bodies start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Joint {
    /// A point that both have in common.
    Ball {
        /// The point.
        point: Vector,
    },
    /// An axis that both have in common, along which they do not move.
    Pivot {
        /// A point of the axis, which is held.
        point: Vector,
        /// Its direction.
        axis: Vector,
    },
    /// A way along an axis, without a turn.
    Prismatic {
        /// The direction of the axis.
        axis: Vector,
    },
    /// An axis that both have in common.
    Cylindrical {
        /// A point of the axis.
        point: Vector,
        /// Its direction.
        axis: Vector,
    },
    /// A cross: a point in common, and an axis of each that stay at a right angle.
    Universal {
        /// The point where the axes cross.
        point: Vector,
        /// The axis of the first body.
        axis: Vector,
        /// The axis of the second, at a right angle to the first.
        second_axis: Vector,
    },
    /// A plane in which the first body moves and turns.
    Planar {
        /// A point of the plane.
        point: Vector,
        /// Its normal.
        normal: Vector,
    },
    /// Both are one body.
    Fixed,
    /// Two points that keep their distance.
    Distance {
        /// A point of the first body.
        point: Vector,
        /// A point of the second.
        second_point: Vector,
    },
    /// A screw: the first body moves along an axis of the second by `pitch` in each turn.
    Screw {
        /// A point of the axis.
        point: Vector,
        /// Its direction.
        axis: Vector,
        /// The way of a full turn, not zero.
        pitch: f64,
    },
    /// Two wheels: `N_a ω_a + N_b ω_b = 0`, about axes that the world holds.
    Gear {
        /// The axis of the first.
        axis: Vector,
        /// The axis of the second.
        second_axis: Vector,
        /// Their teeth, not zero; with one of them negative both turn the same way, as in a wheel
        /// with teeth inside.
        teeth: [i32; 2],
    },
    /// A pinion, the first body, and a rack, the second: `direction · v_b = radius ω_a · axis`, both
    /// against the world.
    Rack {
        /// The axis of the pinion.
        axis: Vector,
        /// The direction that the rack moves in as the pinion turns about its axis.
        direction: Vector,
        /// The radius of the pinion, positive.
        radius: f64,
    },
}

impl Joint {
    /// Its name, as model files write it.
    pub fn name(&self) -> &'static str {
        match self {
            Joint::Ball { .. } => "ball",
            Joint::Pivot { .. } => "pivot",
            Joint::Prismatic { .. } => "prismatic",
            Joint::Cylindrical { .. } => "cylindrical",
            Joint::Universal { .. } => "universal",
            Joint::Planar { .. } => "planar",
            Joint::Fixed => "fixed",
            Joint::Distance { .. } => "distance",
            Joint::Screw { .. } => "screw",
            Joint::Gear { .. } => "gear",
            Joint::Rack { .. } => "rack",
        }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        match self {
            Joint::Distance { .. } | Joint::Gear { .. } | Joint::Rack { .. } => 1,
            Joint::Ball { .. } | Joint::Planar { .. } => 3,
            Joint::Cylindrical { .. } | Joint::Universal { .. } => 4,
            Joint::Pivot { .. } | Joint::Prismatic { .. } | Joint::Screw { .. } => 5,
            Joint::Fixed => 6,
        }
    }

    /// How many of its rows, the first ones, are forces; the others are moments.
    pub(crate) fn forces(&self) -> usize {
        match self {
            Joint::Planar { .. } | Joint::Distance { .. } | Joint::Rack { .. } => 1,
            Joint::Prismatic { .. } | Joint::Cylindrical { .. } | Joint::Screw { .. } => 2,
            Joint::Gear { .. } => 0,
            Joint::Ball { .. } | Joint::Pivot { .. } | Joint::Universal { .. } | Joint::Fixed => 3,
        }
    }

    /// The conditions, for bodies that start like this. Moments are about `center` where the joint has no
    /// point of its own.
    fn rows(&self, linked: usize, [a, b]: [Start; 2], center: Vector) -> Result<Vec<Row>, Fault> {
        // the same point of both
        let hold = |P: Vector| (a.point(P), b.point(P));
        // `axis` of b stays at right angles to what is so in a
        let along = |axis: Vector| {
            let [s, t] = tangents(axis);
            [s, t].map(|t| Row::Square { a: a.direction(t), b: b.direction(axis) })
        };
        // a stays on a line of b
        let on_line = |P: Vector, axis: Vector| {
            let (p, q) = hold(P);
            tangents(axis).map(|t| Row::ApartInB { a: p, b: q, n: b.direction(t) })
        };
        // no turn
        let still = |axis: Vector| {
            let [s, t] = tangents(axis);
            let pairs = [(s, t), (t, axis), (axis, s)];
            pairs.map(|(e, f)| Row::Square { a: a.direction(e), b: b.direction(f) })
        };
        let mut rows = Vec::with_capacity(self.size());
        match *self {
            Joint::Ball { point: P } => {
                let (p, q) = hold(point("point", P)?);
                rows.extend(together(p, q));
            }
            Joint::Pivot { point: P, axis } => {
                let (p, q) = hold(point("point", P)?);
                rows.extend(together(p, q));
                rows.extend(along(direction("axis", axis)?));
            }
            Joint::Prismatic { axis } => {
                let axis = direction("axis", axis)?;
                rows.extend(on_line(center, axis));
                rows.extend(still(axis));
            }
            Joint::Cylindrical { point: P, axis } => {
                let axis = direction("axis", axis)?;
                rows.extend(on_line(point("point", P)?, axis));
                rows.extend(along(axis));
            }
            Joint::Universal { point: P, axis, second_axis } => {
                let (p, q) = hold(point("point", P)?);
                let (e, f) = (direction("axis", axis)?, direction("second_axis", second_axis)?);
                let value = dot(e, f);
                if value.abs() > 1e-9 {
                    let what = "axis · second_axis";
                    let allowed = "the right angles, where it is 0";
                    return Err(Fault::Range { what, value, allowed });
                }
                rows.extend(together(p, q));
                rows.push(Row::Square { a: a.direction(e), b: b.direction(f) });
            }
            Joint::Planar { point: P, normal } => {
                let n = direction("normal", normal)?;
                let (p, q) = hold(point("point", P)?);
                rows.push(Row::ApartInB { a: p, b: q, n: b.direction(n) });
                rows.extend(along(n));
            }
            Joint::Fixed => {
                let (p, q) = hold(center);
                rows.extend(together(p, q));
                rows.extend(still([0.0, 0.0, 1.0]));
            }
            Joint::Distance { point: P, second_point: Q } => {
                let length = norm(sub(point("point", P)?, point("second_point", Q)?));
                if !(length > 0.0) {
                    let (what, allowed) = ("distance", "(0, inf); use a ball joint");
                    return Err(Fault::Range { what, value: length, allowed });
                }
                rows.push(Row::Length { a: a.point(P), b: b.point(Q), length });
            }
            Joint::Screw { point: P, axis, pitch } => {
                let axis = direction("axis", axis)?;
                if pitch == 0.0 || !pitch.is_finite() {
                    let allowed = "the finite numbers but zero; use a pivot";
                    return Err(Fault::Range { what: "pitch", value: pitch, allowed });
                }
                rows.extend(on_line(point("point", P)?, axis));
                rows.extend(along(axis));
                let ((p, q), [s, t]) = (hold(P), tangents(axis));
                let turn = Angle { of: a.direction(s), t1: b.direction(s), t2: b.direction(t) };
                rows.push(Row::Screw { a: p, b: q, n: b.direction(axis), pitch, turn });
            }
            Joint::Gear { axis, second_axis, teeth } => {
                two(linked)?;
                let (e, f) = (direction("axis", axis)?, direction("second_axis", second_axis)?);
                if let Some(&none) = teeth.iter().find(|teeth| **teeth == 0) {
                    let (value, allowed) = (f64::from(none), "the whole numbers but zero");
                    return Err(Fault::Range { what: "teeth", value, allowed });
                }
                let teeth = teeth.map(f64::from);
                rows.push(Row::Gear { a: against_world(a, e), b: against_world(b, f), teeth });
            }
            Joint::Rack { axis, direction: n, radius } => {
                two(linked)?;
                let (e, n) = (direction("axis", axis)?, direction("direction", n)?);
                if !(radius > 0.0 && radius.is_finite()) {
                    let (what, allowed) = ("radius", "(0, inf)");
                    return Err(Fault::Range { what, value: radius, allowed });
                }
                let (at, from) = ([0.0; 3], dot(n, b.position()));
                rows.push(Row::Rack { a: against_world(a, e), b: at, n, from, radius });
            }
        }
        Ok(rows)
    }
}

/// The turn of a body about an axis of the world.
fn against_world(of: Start, axis: Vector) -> Angle {
    let [s, t] = tangents(axis);
    Angle { of: of.direction(s), t1: s, t2: t }
}

/// What couples two bodies links two.
fn two(found: usize) -> Result<(), Fault> {
    match found {
        2 => Ok(()),
        _ => Err(Fault::Linked { expected: "two bodies", found }),
    }
}

impl IntoRelation for Joint {
    type Relation = JointRelation;

    fn complete(self, linked: Linked<'_>) -> JointRelation {
        self.between(linked, &Beside::default())
    }
}

impl Joint {
    /// The relation; of one body and what stands beside it.
    pub(crate) fn between(&self, linked: Linked<'_>, beside: &Beside) -> JointRelation {
        let count = linked.systems().len();
        let sides = beside.sides(count);
        let rows = Start::pair(Body::Space, linked, beside.start()).and_then(|starts| {
            self.rows(count, sides.of(&starts, Start::WORLD), starts[0].position())
        });
        JointRelation::new(self.name(), Body::Space, self.size(), beside, rows)
    }
}

/// A joint between bodies of a model.
#[derive(Debug)]
pub struct JointRelation {
    name: &'static str,
    body: Body,
    size: usize,
    /// What stands beside one body, and whether the body is the second side.
    beside: Beside,
    rows: Vec<Row>,
    /// A point of both that the first three rows hold together, in the frame of each.
    held: Option<[Vector; 2]>,
    fault: Option<Fault>,
}

impl JointRelation {
    pub(crate) fn new(
        name: &'static str,
        body: Body,
        size: usize,
        beside: &Beside,
        rows: Result<Vec<Row>, Fault>,
    ) -> JointRelation {
        let beside = beside.clone();
        let (rows, fault) = match rows {
            Ok(rows) => (rows, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        let held = match (body, &rows[..]) {
            (Body::Space, &[Row::Apart { a, b, .. }, Row::Apart { .. }, Row::Apart { .. }, ..])
                if !beside.is_first =>
            {
                Some([a, b])
            }
            _ => None,
        };
        JointRelation { name, body, size, beside, rows, held, fault }
    }

    /// Those of both sides.
    #[inline]
    fn poses(&self, at: At<'_>) -> Result<[Pose; 2], OperatorError> {
        let beside = match &self.beside.carrier {
            None => Pose::WORLD,
            Some(carrier) => carrier.pose(at.t)?,
        };
        let [a, b] = Pose::pair(self.body, at.first, beside);
        Ok(if self.beside.is_first { [b, a] } else { [a, b] })
    }

    /// Writes a row of `H`.
    #[inline]
    fn write(&self, Slopes { by_a, by_b }: &Slopes, row: &mut [f64]) {
        let slopes = if self.beside.is_first { [by_b, by_a] } else { [by_a, by_b] };
        pose::write(self.body, slopes, row);
    }
}

impl Relation for JointRelation {
    fn order(&self) -> Order {
        Order::Second
    }

    fn size(&self) -> usize {
        self.size
    }

    fn terms(&self) -> Terms {
        Terms { time: self.beside.carrier.is_some(), ..Terms::default() }
    }

    fn is_in_velocities(&self) -> bool {
        true
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        let poses = self.poses(at)?;
        y.iter_mut().zip(&self.rows).for_each(|(y, row)| *y = row.output(&poses));
        Ok(())
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        let poses = self.poses(at)?;
        let width = pose::width(self.body, at.first.len());
        C.resize(self.size, width);
        for (row, slopes) in self.rows.iter().zip(C.data_mut().chunks_exact_mut(width)) {
            self.write(&row.slopes(&poses), slopes);
        }
        Ok(())
    }

    fn output_and_dx(
        &self,
        at: At<'_>,
        y: &mut [f64],
        C: &mut Matrix,
        _: &mut Vec<f64>,
    ) -> Result<(), OperatorError> {
        let poses = self.poses(at)?;
        let width = pose::width(self.body, at.first.len());
        C.resize(self.size, width);
        let mut first = 0;
        if let Some([a, b]) = self.held {
            together_at(&poses, [a, b], y, C.data_mut(), width);
            first = 3;
        }
        for k in first..self.rows.len() {
            if self.body == Body::Space
                && !self.beside.is_first
                && let Row::Square { a, b } = self.rows[k]
            {
                let (value, by_a, by_b) = square_at(&poses, [a, b]);
                y[k] = value;
                let (own, _) = C.data_mut()[k * width..(k + 1) * width].as_chunks_mut::<6>();
                for (own, [x, y, z]) in own.iter_mut().zip([by_a, by_b]) {
                    *own = [0.0, 0.0, 0.0, x, y, z];
                }
                continue;
            }
            let (value, slopes) = self.rows[k].both(&poses);
            y[k] = value;
            self.write(&slopes, &mut C.data_mut()[k * width..(k + 1) * width]);
        }
        Ok(())
    }

    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        D.reset(self.size, self.size);
        Ok(())
    }

    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        let Beside { carrier: Some(carrier), is_first } = &self.beside else { return Ok(()) };
        let poses = self.poses(at)?;
        let [A, B] = &poses;
        let velocities = carrier.velocities(at.t, if *is_first { A } else { B })?;
        for (rate, row) in rate.iter_mut().zip(&self.rows) {
            let Slopes { by_a, by_b } = row.slopes(&poses);
            *rate = product(if *is_first { &by_a } else { &by_b }, &velocities);
        }
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        self.beside.carrier.iter().flat_map(|carrier| carrier.operators()).collect()
    }

    fn check(&self, owner: &str, _: Linked<'_>) -> Result<(), ModelError> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(fault.clone().of(owner, self.name)),
        }
    }
}
