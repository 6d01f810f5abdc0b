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
//! ```
//!
//! (4) with `s = t₂ · e_a`, `c = t₁ · e_a`: the angle of `e_a` in a plane of `b`. It is known up to
//! whole turns, which cost nothing: the conditions of screws and gears are taken modulo what a turn
//! changes in them.

use crate::pose::Pose;
use saltus_model::rotation::{Vector, add, cross, dot, norm, scaled, sub};
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

/// The number of the same class modulo `period` that is next to zero.
#[inline]
fn nearest(x: f64, period: f64) -> f64 {
    x - period * (x / period).round()
}

/// The slopes of a condition along the velocities of both bodies.
pub(crate) struct Slopes {
    pub by_a: [f64; 6],
    pub by_b: [f64; 6],
}

fn minus(slope: [f64; 6]) -> [f64; 6] {
    slope.map(|x| -x)
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
                let n = scaled(1.0 / norm(d), d);
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
        };
        Slopes { by_a, by_b }
    }
}

/// `P_a = P_b` in the directions of the world.
pub(crate) fn together(a: Vector, b: Vector) -> [Row; 3] {
    [0, 1, 2].map(|k| {
        let mut n = [0.0; 3];
        n[k] = 1.0;
        Row::Apart { a, b, n }
    })
}

/// The middle of two points.
pub(crate) fn middle(a: Vector, b: Vector) -> Vector {
    scaled(0.5, add(a, b))
}
