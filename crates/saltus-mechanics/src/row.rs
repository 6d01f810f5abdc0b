//! The scalar conditions that joints are made of, each with its exact slope.
//!
//! `a` are points and directions of the first body, in its frame; `b` those of the second, or of the
//! world. In the frame of the world `P = x + R a`, `e = R ê`, and with `d = P_a − P_b`:
//!
//! ```text
//! Apart:   y = n · d                         ẏ = n · ḋ,  and ω_b · (n × d) where n turns with b  (1)
//! Square:  y = e_a · e_b                     ẏ = (ω_a − ω_b) · (e_a × e_b)                       (2)
//! Length:  y = |d| − L                       ẏ = d/|d| · ḋ                                       (3)
//! Angle:   φ = atan2(t₂ · e_a, t₁ · e_a)     φ̇ = (ω_a − ω_b) · (e_a × (c t₂ − s t₁))/(c² + s²)   (4)
//! Twist:   φ = 2 atan2(a · v, w)             φ̇ = (c (w a + v × a) + s v) · Ω/(c² + s²)          (5)
//! Swing:   φ = atan2(|e_a × e_b|, e_a · e_b) φ̇ = (ω_b − ω_a) · (e_a × e_b)/|e_a × e_b|          (6)
//! ```
//!
//! (4) with `s = t₂ · e_a`, `c = t₁ · e_a`: the angle of `e_a` in a plane of `b`. It is known up to
//! whole turns, which cost nothing: the conditions of screws and gears are taken modulo what a turn
//! changes in them. (5) with the quaternion `(w, v)` of the turn of `a` since the start, seen from `b`,
//! `Ω` the relative angular velocity there, `s = a · v`, `c = w`: quaternions tell two turns apart, so
//! that a twist is known modulo `4π`. In the plane angles are numbers, and all turns count.

use crate::pose::Pose;
use saltus_model::rotation::{
    Quaternion, Vector, add, conjugate, cross, dot, norm, product, scaled, sub,
};
use std::f64::consts::PI;

/// One condition.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row {
    /// (1) with a direction of the world.
    Apart { a: Vector, b: Vector, n: Vector },
    /// (1) with a direction of `b`.
    ApartInB { a: Vector, b: Vector, n: Vector },
    /// (2).
    Square { a: Vector, b: Vector },
    /// (3).
    Length { a: Vector, b: Vector, length: f64 },
    /// The way along `n`, less `pitch` for each turn: `n · d − pitch φ/2π`.
    Screw { a: Vector, b: Vector, n: Vector, pitch: f64, turn: Angle },
    /// `φ_a + (N_b/N_a) φ_b`, both angles against the world.
    Gear { a: Angle, b: Angle, teeth: [f64; 2] },
    /// The way of `b` along a direction of the world, less `r φ_a`, both against the world.
    Rack { a: Angle, b: Vector, n: Vector, from: f64, radius: f64 },
    /// (5), with the conjugate of what stood between the bodies at the start.
    Twist { back: Quaternion, axis: Vector },
    /// (4).
    Turn(Angle),
    /// (4) the other way: how `a` is turned against a direction of `b`.
    TurnBack(Angle),
    /// (6).
    Swing { a: Vector, b: Vector },
    /// The angle of bodies in the plane, from the start.
    PlaneTurn { from: f64 },
}

/// (4): the direction `of` a body in the plane of the directions `t1`, `t2` of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Angle {
    pub of: Vector,
    pub t1: Vector,
    pub t2: Vector,
}

impl Angle {
    /// The angle in (−π, π], and `∂φ/∂ω` in the frame of the world.
    #[inline]
    fn eval(&self, of: &Pose, against: &Pose) -> (f64, Vector) {
        let (e, t1, t2) = (of.turn(self.of), against.turn(self.t1), against.turn(self.t2));
        let (c, s) = (dot(t1, e), dot(t2, e));
        let across = sub(scaled(c, t2), scaled(s, t1));
        (s.atan2(c), scaled(1.0 / (c * c + s * s), cross(e, across)))
    }
}

/// (5): the angle in (−2π, 2π], and `∂φ/∂Ω` in the frame of the world.
#[inline]
fn twist(back: Quaternion, axis: Vector, A: &Pose, B: &Pose) -> (f64, Vector) {
    let [w, x, y, z] = product(product(conjugate(B.p), A.p), back);
    let v = [x, y, z];
    let (c, s) = (w, dot(axis, v));
    let slope = add(scaled(c, add(scaled(w, axis), cross(v, axis))), scaled(s, v));
    (2.0 * s.atan2(c), B.turn(scaled(1.0 / (c * c + s * s), slope)))
}

/// (6) and its axis, which is zero where there is no swing.
#[inline]
fn swing(e: Vector, f: Vector) -> (f64, Vector) {
    let across = cross(e, f);
    let sin = norm(across);
    let axis = if sin > 0.0 { scaled(-1.0 / sin, across) } else { [0.0; 3] };
    (sin.atan2(dot(e, f)), axis)
}

/// The number of the same class modulo `period` that is next to zero; itself where there is none.
#[inline]
pub(crate) fn nearest(x: f64, period: f64) -> f64 {
    if period == f64::INFINITY { x } else { x - period * (x / period).round() }
}

/// The slopes of a condition along the velocities of both bodies.
pub(crate) struct Slopes {
    pub by_a: [f64; 6],
    pub by_b: [f64; 6],
}

#[inline(always)]
fn minus([a, b, c, d, e, f]: [f64; 6]) -> [f64; 6] {
    [-a, -b, -c, -d, -e, -f]
}

impl Row {
    /// The condition alone.
    #[inline]
    pub fn output(&self, [A, B]: &[Pose; 2]) -> f64 {
        let between = |a: Vector, b: Vector| sub(A.point(a), B.point(b));
        match *self {
            Row::Apart { a, b, n } => dot(n, between(a, b)),
            Row::ApartInB { a, b, n } => dot(B.turn(n), between(a, b)),
            Row::Square { a, b } => dot(A.turn(a), B.turn(b)),
            Row::Length { a, b, length } => norm(between(a, b)) - length,
            Row::Screw { a, b, n, pitch, turn } => {
                let (angle, _) = turn.eval(A, B);
                nearest(dot(B.turn(n), between(a, b)) - pitch * angle / (2.0 * PI), pitch)
            }
            Row::Gear { a, b, teeth: [own, other] } => {
                let (angle, _) = a.eval(A, &Pose::WORLD);
                let (other_angle, _) = b.eval(B, &Pose::WORLD);
                nearest(own * angle + other * other_angle, 2.0 * PI) / own
            }
            Row::Rack { a, b, n, from, radius } => {
                let (angle, _) = a.eval(A, &Pose::WORLD);
                nearest(dot(n, B.point(b)) - from - radius * angle, 2.0 * PI * radius)
            }
            Row::Twist { back, axis } => twist(back, axis, A, B).0,
            Row::Turn(turn) => turn.eval(A, B).0,
            Row::TurnBack(turn) => -turn.eval(B, A).0,
            Row::Swing { a, b } => swing(A.turn(a), B.turn(b)).0,
            Row::PlaneTurn { from } => A.angle - B.angle - from,
        }
    }

    /// Both the condition and its slopes.
    #[inline]
    pub fn both(&self, poses: &[Pose; 2]) -> (f64, Slopes) {
        let [A, B] = poses;
        match *self {
            Row::Square { a, b } => {
                let (y, by_a, by_b) = square_at(poses, [a, b]);
                let six = |[x, y, z]: Vector| [0.0, 0.0, 0.0, x, y, z];
                (y, Slopes { by_a: six(by_a), by_b: six(by_b) })
            }
            Row::ApartInB { a, b, n } => {
                let (n, P) = (B.turn(n), A.point(a));
                let slopes = Slopes { by_a: A.slope(P, n), by_b: minus(B.slope(P, n)) };
                (dot(n, sub(P, B.point(b))), slopes)
            }
            _ => (self.output(poses), self.slopes(poses)),
        }
    }

    /// What whole turns add to it; infinite where it is known altogether.
    pub fn period(&self) -> f64 {
        match self {
            Row::Twist { .. } => 4.0 * PI,
            Row::Turn(_) | Row::TurnBack(_) => 2.0 * PI,
            _ => f64::INFINITY,
        }
    }

    /// Its slopes.
    #[inline]
    pub fn slopes(&self, poses: &[Pose; 2]) -> Slopes {
        let [A, B] = poses;
        let (by_a, by_b) = match *self {
            Row::Apart { a, b, n } => (A.slope(A.point(a), n), minus(B.slope(B.point(b), n))),
            Row::ApartInB { a, n, .. } => {
                // a point of b that is where that of a is moves with n
                let (n, P) = (B.turn(n), A.point(a));
                (A.slope(P, n), minus(B.slope(P, n)))
            }
            Row::Square { a, b } => {
                let axis = cross(A.turn(a), B.turn(b));
                (A.spin(axis), minus(B.spin(axis)))
            }
            Row::Length { a, b, .. } => {
                let (P, Q) = (A.point(a), B.point(b));
                let d = sub(P, Q);
                // of points that are one it has no slope
                let n = if norm(d) > 0.0 { scaled(1.0 / norm(d), d) } else { d };
                (A.slope(P, n), minus(B.slope(Q, n)))
            }
            Row::Screw { a, n, pitch, turn, .. } => {
                let (n, P) = (B.turn(n), A.point(a));
                let (_, axis) = turn.eval(A, B);
                let axis = scaled(-pitch / (2.0 * PI), axis);
                let sum =
                    |slope: [f64; 6], spin: [f64; 6]| std::array::from_fn(|k| slope[k] + spin[k]);
                (sum(A.slope(P, n), A.spin(axis)), minus(sum(B.slope(P, n), B.spin(axis))))
            }
            Row::Gear { a, b, teeth: [own, other] } => {
                let (_, axis) = a.eval(A, &Pose::WORLD);
                let (_, other_axis) = b.eval(B, &Pose::WORLD);
                (A.spin(axis), B.spin(scaled(other / own, other_axis)))
            }
            Row::Rack { a, b, n, radius, .. } => {
                let (_, axis) = a.eval(A, &Pose::WORLD);
                (A.spin(scaled(-radius, axis)), B.slope(B.point(b), n))
            }
            Row::Twist { back, axis } => against(A, B, twist(back, axis, A, B).1),
            Row::Turn(turn) => against(A, B, turn.eval(A, B).1),
            // the slope is by what b turns more than a, and so is the sign
            Row::TurnBack(turn) => against(A, B, turn.eval(B, A).1),
            Row::Swing { a, b } => against(A, B, swing(A.turn(a), B.turn(b)).1),
            Row::PlaneTurn { .. } => against(A, B, [0.0, 0.0, 1.0]),
        };
        Slopes { by_a, by_b }
    }
}

/// The slopes of what grows with `axis · (ω_a − ω_b)`.
#[inline]
fn against(A: &Pose, B: &Pose, axis: Vector) -> ([f64; 6], [f64; 6]) {
    (A.spin(axis), minus(B.spin(axis)))
}

/// `P_a = P_b` in the directions of the world.
pub(crate) fn together(a: Vector, b: Vector) -> [Row; 3] {
    [0, 1, 2].map(|k| {
        let mut n = [0.0; 3];
        n[k] = 1.0;
        Row::Apart { a, b, n }
    })
}

/// The conditions of [`together`] and their slopes, of bodies in space or of one and the world: the row
/// of `Rᵀ (R a × e_k)` is `a × (row k of R)`.
#[inline]
pub(crate) fn together_at(
    [A, B]: &[Pose; 2],
    [a, b]: [Vector; 2],
    y: &mut [f64],
    H: &mut [f64],
    width: usize,
) {
    let apart = sub(A.point(a), B.point(b));
    let (rows, _) = H[..3 * width].as_chunks_mut::<6>();
    let sides = width / 6;
    for k in 0..3 {
        y[k] = apart[k];
        let [x, y, z] = cross(a, A.R[k]);
        rows[sides * k] = [0.0, 0.0, 0.0, x, y, z];
        rows[sides * k][k] = 1.0;
        if sides == 2 {
            let [x, y, z] = cross(B.R[k], b);
            rows[2 * k + 1] = [0.0, 0.0, 0.0, x, y, z];
            rows[2 * k + 1][k] = -1.0;
        }
    }
}

/// (2) and its slopes along the angular velocities, each in the frame of its body: `Rᵀ (e × f)` is the
/// product of both directions there.
#[inline(always)]
pub(crate) fn square_at([A, B]: &[Pose; 2], [a, b]: [Vector; 2]) -> (f64, Vector, Vector) {
    let (e, f) = (A.turn(a), B.turn(b));
    (dot(e, f), cross(a, A.turn_back(f)), cross(b, B.turn_back(e)))
}

/// The middle of two points.
pub(crate) fn middle(a: Vector, b: Vector) -> Vector {
    scaled(0.5, add(a, b))
}

/// Who stands at one end of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// One of the linked bodies or, after them, of what carries a joint.
    At(usize),
    /// What stands still.
    World,
}

/// Between whom a condition holds: those that are `a` and `b` in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sides {
    pub a: End,
    pub b: End,
}

/// A sum of conditions, `y = factor (s − offset)`, where `s = Σ fᵢ rowᵢ` is taken next to `center` among
/// what whole turns make of it.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub terms: Vec<(f64, Row, Sides)>,
    pub center: f64,
    pub period: f64,
    pub factor: f64,
    pub offset: f64,
}

impl Line {
    /// One condition alone.
    pub fn of(row: Row, sides: Sides) -> Line {
        let terms = vec![(1.0, row, sides)];
        Line { terms, center: 0.0, period: row.period(), factor: 1.0, offset: 0.0 }
    }

    #[inline]
    pub fn output(&self, poses: &[Pose]) -> f64 {
        let value =
            |(factor, row, sides): &(f64, Row, Sides)| factor * row.output(&sides.poses(poses));
        let sum: f64 = self.terms.iter().map(value).sum();
        let near = self.center + nearest(sum - self.center, self.period);
        self.factor * (near - self.offset)
    }

    /// Its slopes along the velocities of each end that moves, which may be there several times.
    #[inline]
    pub fn for_each_slope(&self, poses: &[Pose], mut take: impl FnMut(usize, [f64; 6])) {
        for (factor, row, sides) in &self.terms {
            let Slopes { by_a, by_b } = row.slopes(&sides.poses(poses));
            let factor = self.factor * factor;
            for (end, own) in [(sides.a, by_a), (sides.b, by_b)] {
                if let End::At(k) = end {
                    take(k, own.map(|slope| factor * slope));
                }
            }
        }
    }
}

impl Sides {
    /// The first body and the second.
    pub const BOTH: Sides = Sides { a: End::At(0), b: End::At(1) };
    /// The first body and the world.
    pub const FIRST: Sides = Sides { a: End::At(0), b: End::World };
    /// The second body and the world.
    pub const SECOND: Sides = Sides { a: End::At(1), b: End::World };
    /// The world and the first body.
    pub const WORLD_FIRST: Sides = Sides { a: End::World, b: End::At(0) };

    /// Those of so many linked bodies; one stands beside the world, or after it.
    pub fn linked(count: usize, world_first: bool) -> Sides {
        match (count, world_first) {
            (2, _) => Sides::BOTH,
            (_, false) => Sides::FIRST,
            (_, true) => Sides::WORLD_FIRST,
        }
    }

    /// The same with what stands after one body in place of the world.
    pub fn carried(self) -> Sides {
        let carried = |end| if end == End::World { End::At(1) } else { end };
        Sides { a: carried(self.a), b: carried(self.b) }
    }

    /// What both ends have, of what those that move and the world have.
    #[inline]
    pub fn of<T: Copy>(self, all: &[T], world: T) -> [T; 2] {
        [self.a, self.b].map(|end| match end {
            End::At(k) => all[k],
            End::World => world,
        })
    }

    #[inline]
    fn poses(self, poses: &[Pose]) -> [Pose; 2] {
        self.of(poses, Pose::WORLD)
    }
}
