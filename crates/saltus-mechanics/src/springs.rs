//! Springs with dampers between two bodies, or a body and the world, without a joint.

use crate::carrier::Beside;
use crate::coordinates::{AnyJoint, Coordinate, JointCoordinate};
use crate::fault::{Fault, direction, not_negative, point};
use crate::joints::Joint;
use crate::joints_2d::Joint2d;
use crate::outputs::{Lines, Role};
use crate::pose::Start;
use crate::row::{Line, Row, Sides};
use saltus_model::rotation::{Vector, conjugate, cross, product};
use saltus_model::{Body, InteractionId, IntoRelation, Law, Linked, Model, ModelError, SystemId};

/// A spring with a damper between two points, `f = −k (|d| − rest) − c |d|˙` along their line.
///
/// It is connected with the law of equality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringDamper {
    /// The points, as a joint that would keep their distance, in space or in the plane.
    pub points: AnyJoint,
    /// `k`, positive.
    pub stiffness: f64,
    /// `c`, not negative.
    pub damping: f64,
    /// Its length without force; that at the start where none is given.
    pub rest: Option<f64>,
}

impl SpringDamper {
    /// Between a point of the first body and one of the second, or of the world.
    pub fn new(point: Vector, second_point: Vector, stiffness: f64, damping: f64) -> Self {
        let points = Joint::Distance { point, second_point }.into();
        SpringDamper { points, stiffness, damping, rest: None }
    }

    /// The same in the plane.
    pub fn in_plane(point: [f64; 2], second_point: [f64; 2], stiffness: f64, damping: f64) -> Self {
        let points = Joint2d::Distance { point, second_point }.into();
        SpringDamper { points, stiffness, damping, rest: None }
    }

    /// The same with this length without force.
    pub fn rest(mut self, rest: f64) -> Self {
        self.rest = Some(rest);
        self
    }
}

impl IntoRelation for SpringDamper {
    type Relation = Lines;

    fn complete(self, linked: Linked<'_>) -> Lines {
        let SpringDamper { points, stiffness, damping, rest } = self;
        let role = Role::spring(stiffness, damping, None);
        let of = JointCoordinate::new(points, Coordinate::Length);
        of.relation(linked, &Beside::default(), role, |line| {
            positive("stiffness", stiffness)?;
            not_negative("damping", damping)?;
            let offset = not_negative("rest", rest.or(points.length()).unwrap_or(f64::NAN))?;
            Ok(vec![Line { offset, ..line }])
        })
    }
}

fn positive(what: &'static str, value: f64) -> Result<f64, Fault> {
    match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(Fault::Range { what, value, allowed: "(0, inf)" }),
    }
}

/// A bushing: springs and dampers along three directions and about them, which are fixed in the second
/// body or the world.
///
/// ```text
/// fᵢ = −kᵢ (eᵢ · d) − cᵢ (eᵢ · d)˙,    mᵢ = −kᵢ₊₃ φᵢ − cᵢ₊₃ φ̇ᵢ
/// ```
///
/// with `d` between the points that were one at the start, and `φᵢ` the turn about `eᵢ` since then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bushing {
    /// Where it is, in the frame of the world at the start.
    pub point: Vector,
    /// The direction of `e₁`; the others are at right angles to it, `e₂` along `second_axis` where that
    /// is given. Default x.
    pub axis: Vector,
    /// The direction of `e₂`, at right angles to the first. Default y.
    pub second_axis: Vector,
    /// `k`, three along the directions and three about them, not negative; where both `k` and `c` are
    /// zero nothing acts, and where `k` is zero there is a damper alone.
    pub stiffness: [f64; 6],
    /// `c`, likewise.
    pub damping: [f64; 6],
}

impl Bushing {
    /// A bushing along the directions of the world.
    pub fn new(point: Vector, stiffness: [f64; 6], damping: [f64; 6]) -> Self {
        let (axis, second_axis) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        Bushing { point, axis, second_axis, stiffness, damping }
    }

    /// Adds its springs to a model under this name, and dampers that stand alone as `NAME.damper`.
    pub fn connect(
        &self,
        model: &mut Model,
        name: &str,
        systems: &[SystemId],
    ) -> Result<InteractionId, ModelError> {
        let of = |wanted: fn(f64, f64) -> bool| {
            let rows = 0..6;
            rows.filter(|&k| wanted(self.stiffness[k], self.damping[k])).collect::<Vec<_>>()
        };
        let springs = of(|k, _| k != 0.0);
        let dampers = of(|k, c| k == 0.0 && c != 0.0);
        let (first, law) = match springs.is_empty() {
            false => (Rows { of: *self, rows: springs, springs: true }, Law::Equality),
            true => return self.connect_dampers(model, name, dampers, systems),
        };
        let id = model.connect(name, first, law, systems)?;
        if !dampers.is_empty() {
            self.connect_dampers(model, &format!("{name}.damper"), dampers, systems)?;
        }
        Ok(id)
    }

    fn connect_dampers(
        &self,
        model: &mut Model,
        name: &str,
        rows: Vec<usize>,
        systems: &[SystemId],
    ) -> Result<InteractionId, ModelError> {
        // one graph serves all components: they are scaled to damping 1
        let law = crate::spec::damper(1.0);
        model.connect(name, Rows { of: *self, rows, springs: false }, law, systems)
    }

    fn line(&self, k: usize, sides: Sides, [a, b]: [Start; 2]) -> Result<Line, Fault> {
        let e = direction("axis", self.axis)?;
        let f = direction("second_axis", self.second_axis)?;
        let value = saltus_model::rotation::dot(e, f);
        if value.abs() > 1e-9 {
            let (what, allowed) = ("axis · second_axis", "the right angles, where it is 0");
            return Err(Fault::Range { what, value, allowed });
        }
        let n = [e, f, cross(e, f)][k % 3];
        let P = point("point", self.point)?;
        let row = if k < 3 {
            Row::ApartInB { a: a.point(P), b: b.point(P), n: b.direction(n) }
        } else {
            let between = product(conjugate(b.orientation()), a.orientation());
            Row::Twist { back: conjugate(between), axis: b.direction(n) }
        };
        Ok(Line::of(row, sides))
    }
}

/// Some rows of a bushing.
#[derive(Debug, Clone)]
struct Rows {
    of: Bushing,
    rows: Vec<usize>,
    springs: bool,
}

impl IntoRelation for Rows {
    type Relation = Lines;

    fn complete(self, linked: Linked<'_>) -> Lines {
        let Rows { of, rows, springs } = self;
        let role = match springs {
            false => Role::Gap,
            true => {
                let row = |&k: &usize| (1.0 / of.stiffness[k], of.damping[k] / of.stiffness[k]);
                Role::Spring { rows: rows.iter().map(row).collect(), rest: None }
            }
        };
        let sides = Sides::linked(linked.systems().len(), false);
        let lines = Start::pair(Body::Space, linked, Start::WORLD).and_then(|starts| {
            for k in 0..6 {
                not_negative("stiffness", of.stiffness[k])?;
                not_negative("damping", of.damping[k])?;
            }
            if rows.is_empty() {
                let (what, allowed) = ("stiffness", "(0, inf) in one component at least");
                return Err(Fault::Range { what, value: 0.0, allowed });
            }
            let line = |&k: &usize| {
                let line = of.line(k, sides, starts)?;
                // λ = −u' with u' = √c u has the force √c λ = −c u
                let factor = if springs { 1.0 } else { of.damping[k].sqrt() };
                Ok(Line { factor, ..line })
            };
            rows.iter().map(line).collect()
        });
        Lines::new("a bushing", Body::Space, role, lines)
    }
}
