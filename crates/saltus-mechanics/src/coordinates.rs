//! What joints leave free, as outputs: the angle of a pivot, the way of a prismatic joint.
//!
//! | joint | coordinates |
//! | --- | --- |
//! | pivot | angle |
//! | prismatic | way |
//! | cylindrical, screw | way, angle |
//! | universal | angle about the axis of the first body, second angle about that of the second |
//! | planar | way, second way along two tangents of the plane, angle |
//! | ball | swing of an axis, twist about it |
//! | distance | length |
//! | gear | angle of the first wheel, second angle of the second, against the world |
//! | rack | angle of the pinion, way of the rack, against the world |
//!
//! All are zero where the bodies start, but for the length. They count how the first side moves, seen from
//! the second, whichever of both stands still. Angles of bodies in space are known modulo
//! two turns, `(−2π, 2π]` (of universal joints modulo one), those in the plane over all turns.

use crate::carrier::{Beside, Carrier};
use crate::fault::{Fault, direction, point};
use crate::joints::{Joint, JointRelation};
use crate::joints_2d::{Joint2d, flat};
use crate::outputs::{Lines, Role};
use crate::pose::Start;
use crate::row::{Angle, End, Line, Row, Sides};
use saltus_model::rotation::{Vector, conjugate, norm, product, sub, tangents};
use saltus_model::{Body, IntoRelation, Linked};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A joint in space or in the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AnyJoint {
    /// In space.
    Space(Joint),
    /// In the plane.
    Plane(Joint2d),
}

impl From<Joint> for AnyJoint {
    fn from(joint: Joint) -> Self {
        AnyJoint::Space(joint)
    }
}

impl From<Joint2d> for AnyJoint {
    fn from(joint: Joint2d) -> Self {
        AnyJoint::Plane(joint)
    }
}

/// One of the freedoms that a joint leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinate {
    /// The way along the axis, or along the first tangent of a plane.
    Way,
    /// The way along the second tangent of a plane.
    SecondWay,
    /// The turn about the axis.
    Angle,
    /// The turn of a universal joint about the axis of the second body.
    SecondAngle,
    /// How far an axis of the first body has swung from where it was; of ball joints.
    Swing,
    /// The turn about that axis.
    Twist,
    /// The distance of two points.
    Length,
}

impl Coordinate {
    /// All of them.
    pub const ALL: [Coordinate; 7] = [
        Coordinate::Way,
        Coordinate::SecondWay,
        Coordinate::Angle,
        Coordinate::SecondAngle,
        Coordinate::Swing,
        Coordinate::Twist,
        Coordinate::Length,
    ];

    /// Its name, as model files write it.
    pub fn name(self) -> &'static str {
        match self {
            Coordinate::Way => "way",
            Coordinate::SecondWay => "second_way",
            Coordinate::Angle => "angle",
            Coordinate::SecondAngle => "second_angle",
            Coordinate::Swing => "swing",
            Coordinate::Twist => "twist",
            Coordinate::Length => "length",
        }
    }

    /// The coordinate of that name.
    pub fn from_name(name: &str) -> Option<Coordinate> {
        Coordinate::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl AnyJoint {
    /// The world that it is in.
    pub fn body(&self) -> Body {
        match self {
            AnyJoint::Space(_) => Body::Space,
            AnyJoint::Plane(_) => Body::Plane,
        }
    }

    /// Its name, as model files write it.
    pub fn name(&self) -> &'static str {
        match self {
            AnyJoint::Space(joint) => joint.name(),
            AnyJoint::Plane(joint) => joint.name(),
        }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        match self {
            AnyJoint::Space(joint) => joint.size(),
            AnyJoint::Plane(joint) => joint.size(),
        }
    }

    pub(crate) fn forces(&self) -> usize {
        match self {
            AnyJoint::Space(joint) => joint.forces(),
            AnyJoint::Plane(joint) => joint.forces(),
        }
    }

    /// The relation; of one body and what stands beside it.
    pub(crate) fn between(&self, linked: Linked<'_>, beside: &Beside) -> JointRelation {
        match self {
            AnyJoint::Space(joint) => joint.between(linked, beside),
            AnyJoint::Plane(joint) => joint.between(linked, beside),
        }
    }

    /// How far the points of a distance joint are apart at the start.
    pub(crate) fn length(&self) -> Option<f64> {
        match *self {
            AnyJoint::Space(Joint::Distance { point, second_point }) => {
                Some(norm(sub(point, second_point)))
            }
            AnyJoint::Plane(Joint2d::Distance { point, second_point }) => {
                Some(norm(sub(flat(point), flat(second_point))))
            }
            _ => None,
        }
    }

    /// What whole turns add to a coordinate; infinite where it is known altogether.
    pub(crate) fn period(&self, coordinate: Coordinate) -> f64 {
        use Coordinate::{Angle, SecondAngle, Twist};
        match (self, coordinate) {
            (AnyJoint::Space(Joint::Universal { .. }), Angle | SecondAngle) => TAU,
            (AnyJoint::Space(_), Angle | SecondAngle | Twist) => 2.0 * TAU,
            _ => f64::INFINITY,
        }
    }

    /// What it leaves free, as far as that has coordinates.
    pub fn coordinates(&self) -> &'static [Coordinate] {
        use Coordinate::{Angle, Length, SecondAngle, SecondWay, Swing, Twist, Way};
        match self {
            AnyJoint::Space(Joint::Ball { .. }) => &[Swing, Twist],
            AnyJoint::Space(Joint::Pivot { .. }) | AnyJoint::Plane(Joint2d::Pivot { .. }) => {
                &[Angle]
            }
            AnyJoint::Space(Joint::Prismatic { .. })
            | AnyJoint::Plane(Joint2d::Prismatic { .. }) => &[Way],
            AnyJoint::Space(Joint::Cylindrical { .. } | Joint::Screw { .. }) => &[Way, Angle],
            AnyJoint::Space(Joint::Universal { .. } | Joint::Gear { .. }) => &[Angle, SecondAngle],
            AnyJoint::Space(Joint::Rack { .. }) => &[Angle, Way],
            AnyJoint::Space(Joint::Planar { .. }) => &[Way, SecondWay, Angle],
            AnyJoint::Space(Joint::Distance { .. }) | AnyJoint::Plane(Joint2d::Distance { .. }) => {
                &[Length]
            }
            AnyJoint::Space(Joint::Fixed) | AnyJoint::Plane(Joint2d::Fixed) => &[],
        }
    }
}

/// A coordinate of a joint as a relation of its own, `y = x − offset`: what limits, drives and springs
/// act on, and what a run records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointCoordinate {
    /// The joint, which need not be there itself.
    pub joint: AnyJoint,
    /// Which coordinate.
    pub coordinate: Coordinate,
    /// The axis of swing and twist of a ball joint, in the frame of the world at the start. Default z.
    pub axis: Vector,
}

impl JointCoordinate {
    /// A coordinate of a joint.
    pub fn new(joint: impl Into<AnyJoint>, coordinate: Coordinate) -> Self {
        JointCoordinate { joint: joint.into(), coordinate, axis: [0.0, 0.0, 1.0] }
    }

    /// The output alone, between two of what moves, which starts like this, or one of it and the world.
    pub(crate) fn line(&self, sides: Sides, starts: &[Start]) -> Result<Line, Fault> {
        let [a, b] = sides.of(starts, Start::WORLD);
        let center = if sides.a == End::World { b.position() } else { a.position() };
        let known = self.joint.coordinates();
        if !known.contains(&self.coordinate) {
            let (joint, name) = (self.joint.name(), self.coordinate.name());
            let known = match known {
                [] => "none".to_string(),
                known => known.iter().map(|one| one.name()).collect::<Vec<_>>().join(", "),
            };
            return Err(Fault::Coordinate { joint, name, known });
        }
        let way = |P: Vector, n: Vector| way([a, b], P, n);
        let twist = |axis: Vector| twist([a, b], axis);
        // of one end against the world
        let against_world = |end: End| match end {
            End::World => Err(Fault::Linked { expected: "two bodies", found: 1 }),
            end => Ok(Sides { a: end, b: End::World }),
        };
        let length =
            |P: Vector, Q: Vector| Row::Length { a: a.point(P), b: b.point(Q), length: 0.0 };
        let row = match self.joint {
            AnyJoint::Plane(Joint2d::Pivot { .. }) => Row::PlaneTurn { from: a.angle - b.angle },
            AnyJoint::Plane(Joint2d::Prismatic { axis }) => {
                way(center, direction("axis", flat(axis))?)
            }
            AnyJoint::Plane(Joint2d::Distance { point: P, second_point: Q }) => {
                length(point("point", flat(P))?, point("second_point", flat(Q))?)
            }
            AnyJoint::Space(Joint::Distance { point: P, second_point: Q }) => {
                length(point("point", P)?, point("second_point", Q)?)
            }
            AnyJoint::Space(Joint::Pivot { axis, .. }) => twist(direction("axis", axis)?),
            AnyJoint::Space(Joint::Prismatic { axis }) => way(center, direction("axis", axis)?),
            AnyJoint::Space(
                Joint::Cylindrical { point: P, axis } | Joint::Screw { point: P, axis, .. },
            ) => match self.coordinate {
                Coordinate::Way => way(point("point", P)?, direction("axis", axis)?),
                _ => twist(direction("axis", axis)?),
            },
            AnyJoint::Space(Joint::Planar { point: P, normal }) => {
                let n = direction("normal", normal)?;
                let [s, t] = tangents(n);
                match self.coordinate {
                    Coordinate::Way => way(point("point", P)?, s),
                    Coordinate::SecondWay => way(point("point", P)?, t),
                    _ => twist(n),
                }
            }
            AnyJoint::Space(Joint::Universal { axis, second_axis, .. }) => {
                let (e, f) = (direction("axis", axis)?, direction("second_axis", second_axis)?);
                let across = saltus_model::rotation::cross(e, f);
                match self.coordinate {
                    // about e of the first body, where f of the second is seen to turn back
                    Coordinate::Angle => Row::TurnBack(Angle {
                        of: b.direction(f),
                        t1: a.direction(f),
                        t2: a.direction(across),
                    }),
                    // about f of the second body, where e of the first turns
                    _ => Row::Turn(Angle {
                        of: a.direction(e),
                        t1: b.direction(e),
                        t2: b.direction(across.map(|x| -x)),
                    }),
                }
            }
            AnyJoint::Space(Joint::Ball { .. }) => {
                let e = direction("axis", self.axis)?;
                match self.coordinate {
                    Coordinate::Swing => Row::Swing { a: a.direction(e), b: b.direction(e) },
                    _ => twist(e),
                }
            }
            AnyJoint::Space(Joint::Gear { axis, second_axis, .. }) => {
                let (of, end, what, axis) = match self.coordinate {
                    Coordinate::Angle => (a, sides.a, "axis", axis),
                    _ => (b, sides.b, "second_axis", second_axis),
                };
                let turn = self::twist([of, Start::WORLD], direction(what, axis)?);
                return Ok(Line::of(turn, against_world(end)?));
            }
            AnyJoint::Space(Joint::Rack { axis, direction: n, .. }) => {
                let (row, end) = match self.coordinate {
                    Coordinate::Angle => {
                        (self::twist([a, Start::WORLD], direction("axis", axis)?), sides.a)
                    }
                    _ => {
                        let n = direction("direction", n)?;
                        (self::way([b, Start::WORLD], b.position(), n), sides.b)
                    }
                };
                return Ok(Line::of(row, against_world(end)?));
            }
            // they have no coordinates
            AnyJoint::Space(Joint::Fixed) | AnyJoint::Plane(Joint2d::Fixed) => {
                Row::PlaneTurn { from: 0.0 }
            }
        };
        Ok(Line::of(row, sides))
    }

    /// A relation made of this output; of one body and what stands beside it.
    pub(crate) fn relation(
        &self,
        linked: Linked<'_>,
        beside: &Beside,
        role: Role,
        lines: impl FnOnce(Line) -> Result<Vec<Line>, Fault>,
    ) -> Lines {
        let (body, sides) = (self.joint.body(), beside.sides(linked.systems().len()));
        let starts = Start::pair(body, linked, beside.start());
        let line = starts.and_then(|starts| self.line(sides, &starts));
        Lines::new("a coordinate of a joint", body, role, line.and_then(lines))
            .carried_by(beside.carrier.clone())
    }
}

/// The way of `a` along a direction of `b`, from where a point of both is.
fn way([a, b]: [Start; 2], P: Vector, n: Vector) -> Row {
    Row::ApartInB { a: a.point(P), b: b.point(P), n: b.direction(n) }
}

/// The turn of `a` about an axis of `b`.
fn twist([a, b]: [Start; 2], axis: Vector) -> Row {
    let between = product(conjugate(b.orientation()), a.orientation());
    Row::Twist { back: conjugate(between), axis: b.direction(axis) }
}

impl IntoRelation for JointCoordinate {
    type Relation = Lines;

    fn complete(self, linked: Linked<'_>) -> Lines {
        self.relation(linked, &Beside::default(), Role::Gap, |line| Ok(vec![line]))
    }
}

/// Couples two coordinates, `x₂ = ratio x₁`, like gears, belts and cams without play.
///
/// With one body both are coordinates of it against the world; with two, the first is one of the first
/// body and the second one of the second, each against the world, or, where they are `between`, both are
/// coordinates between the two bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coupler {
    /// The coordinates.
    pub coordinates: [JointCoordinate; 2],
    /// Their ratio, not zero; that of two angles in space a ratio of whole numbers up to 1000.
    pub ratio: f64,
    /// Whether both are coordinates between the two bodies.
    pub between: bool,
}

impl Coupler {
    fn line(&self, linked: usize, starts: &[Start; 2]) -> Result<Line, Fault> {
        let ratio = crate::fault::not_zero("ratio", self.ratio)?;
        let sides = match (linked, self.between) {
            (2, false) => [Sides::FIRST, Sides::SECOND],
            _ => [Sides::linked(linked, false); 2],
        };
        couple(&self.coordinates, sides, ratio, starts)
    }
}

/// One coordinate that follows another from where both start, each between two of what moves, which are the
/// linked bodies and after them what carries the joints, or one of it and the world.
#[derive(Debug, Clone)]
pub(crate) struct Following {
    pub coordinates: [JointCoordinate; 2],
    pub sides: [Sides; 2],
    pub carriers: Vec<Arc<Carrier>>,
    pub ratio: f64,
}

impl IntoRelation for Following {
    type Relation = Lines;

    fn complete(self, linked: Linked<'_>) -> Lines {
        let Following { coordinates, sides, carriers, ratio } = self;
        let body = coordinates[0].joint.body();
        let line = Start::each(body, linked).and_then(|mut starts| {
            starts.extend(carriers.iter().map(|carrier| carrier.start));
            let ratio = crate::fault::not_zero("ratio", ratio)?;
            let [x_1, x_2] = coordinates.map(|one| one.joint.length().unwrap_or(0.0));
            let line = couple(&coordinates, sides, ratio, &starts)?;
            Ok(Line { offset: x_2 - ratio * x_1, ..line })
        });
        Lines::new("a joint that follows", body, Role::Gap, line.map(|line| vec![line]))
            .of_two_joints()
            .carried_by(carriers)
    }
}

/// `x₂ − ratio x₁`.
fn couple(
    coordinates: &[JointCoordinate; 2],
    sides: [Sides; 2],
    ratio: f64,
    starts: &[Start],
) -> Result<Line, Fault> {
    let mut lines = Vec::new();
    for (coordinate, sides) in coordinates.iter().zip(sides) {
        lines.push(coordinate.line(sides, starts)?);
    }
    let period = match (lines[0].period, lines[1].period) {
        (f64::INFINITY, second) => second,
        (first, f64::INFINITY) => (ratio * first).abs(),
        (first, second) => second.min(first) / f64::from(denominator(ratio)?),
    };
    let terms = |k: usize, factor: f64| {
        lines[k].terms.iter().map(move |(own, row, sides)| (factor * own, *row, *sides))
    };
    let terms = terms(1, 1.0).chain(terms(0, -ratio)).collect();
    Ok(Line { terms, center: 0.0, period, factor: 1.0, offset: 0.0 })
}

/// The denominator of a ratio of whole numbers up to 1000.
pub(crate) fn denominator(ratio: f64) -> Result<u32, Fault> {
    let whole = |n: &u32| {
        let x = ratio.abs() * f64::from(*n);
        x <= 1000.0 && (x - x.round()).abs() <= 1e-12 * x
    };
    (1..=1000).find(whole).ok_or(Fault::Range {
        what: "ratio",
        value: ratio,
        allowed: "the ratios of whole numbers up to 1000, for two angles in space",
    })
}

impl IntoRelation for Coupler {
    type Relation = Lines;

    fn complete(self, linked: Linked<'_>) -> Lines {
        let body = self.coordinates[0].joint.body();
        let line = Start::pair(body, linked, Start::WORLD);
        let line = line.and_then(|starts| self.line(linked.systems().len(), &starts));
        Lines::new("a coupler", body, Role::Gap, line.map(|line| vec![line]))
    }
}
