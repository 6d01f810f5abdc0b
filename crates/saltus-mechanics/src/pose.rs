//! Where a body is.
//!
//! A body in the plane stands for one in space that moves in the plane `z = 0`, so that there is one
//! list of conditions for both. Of the six slopes of a condition it has those along x, y and the turn
//! about z.

use crate::fault::Fault;
use saltus_model::rotation::{
    IDENTITY, Matrix3, Quaternion, Vector, add, apply, cross, matrix, rotate_back, sub,
};
use saltus_model::{Body, Linked, System};

/// A place and a rotation; that of the world is the origin, not turned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pose {
    pub x: Vector,
    pub R: Matrix3,
    pub p: Quaternion,
    /// The angle of a body in the plane, over all its turns.
    pub angle: f64,
}

impl Pose {
    pub const WORLD: Pose = Pose {
        x: [0.0; 3],
        R: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        p: IDENTITY,
        angle: 0.0,
    };

    /// A frame, of which place and rotation are asked for alone.
    #[inline]
    pub fn of(x: Vector, R: Matrix3) -> Pose {
        Pose { x, R, p: IDENTITY, angle: 0.0 }
    }

    /// Of a configuration of seven components.
    #[inline(always)]
    pub fn new(q: &[f64]) -> Pose {
        let p = [q[3], q[4], q[5], q[6]];
        Pose { x: [q[0], q[1], q[2]], R: matrix(p), p, angle: 0.0 }
    }

    /// Of a configuration of three components.
    #[inline]
    pub fn in_plane(q: &[f64]) -> Pose {
        let (s, c) = q[2].sin_cos();
        let R = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
        Pose { x: [q[0], q[1], 0.0], R, p: IDENTITY, angle: q[2] }
    }

    /// Those of one body and what stands beside it, or of two bodies.
    #[inline(always)]
    pub fn pair(body: Body, q: &[f64], beside: Pose) -> [Pose; 2] {
        match (body, q.len()) {
            (Body::Space, 7) => [Pose::new(q), beside],
            (Body::Space, _) => [Pose::new(q), Pose::new(&q[7..])],
            (Body::Plane, 3) => [Pose::in_plane(q), beside],
            (Body::Plane, _) => [Pose::in_plane(q), Pose::in_plane(&q[3..])],
        }
    }

    /// Those of several bodies.
    #[inline]
    pub fn each(body: Body, q: &[f64]) -> impl ExactSizeIterator<Item = Pose> {
        q.chunks_exact(components(body)).map(move |own| match body {
            Body::Space => Pose::new(own),
            Body::Plane => Pose::in_plane(own),
        })
    }

    /// A direction of the body, in the frame of the world.
    #[inline]
    pub fn turn(&self, a: Vector) -> Vector {
        apply(&self.R, a)
    }

    /// A direction of the world, in the frame of the body: `Rᵀ a`.
    #[inline]
    pub fn turn_back(&self, a: Vector) -> Vector {
        let R = &self.R;
        let along = |j: usize| R[0][j] * a[0] + R[1][j] * a[1] + R[2][j] * a[2];
        [along(0), along(1), along(2)]
    }

    /// A point of the body, in the frame of the world.
    #[inline]
    pub fn point(&self, a: Vector) -> Vector {
        add(self.x, self.turn(a))
    }

    /// Six entries of `H`: how the speed of the point `at` along `direction`, both in the frame of
    /// the world, follows from the velocities of the body.
    #[inline]
    pub fn slope(&self, at: Vector, direction: Vector) -> [f64; 6] {
        let turn = self.turn_back(cross(sub(at, self.x), direction));
        [direction[0], direction[1], direction[2], turn[0], turn[1], turn[2]]
    }

    /// Six entries of `H`: the angular velocity along `direction`, in the frame of the world.
    #[inline]
    pub fn spin(&self, direction: Vector) -> [f64; 6] {
        let turn = self.turn_back(direction);
        [0.0, 0.0, 0.0, turn[0], turn[1], turn[2]]
    }
}

/// Writes a row of `H`: of bodies in the plane the slopes along x, y and the turn about z.
#[inline]
pub(crate) fn write(body: Body, slopes: [&[f64; 6]; 2], row: &mut [f64]) {
    match body {
        Body::Space => {
            let (parts, _) = row.as_chunks_mut::<6>();
            for k in 0..parts.len() {
                parts[k] = *slopes[k];
            }
        }
        Body::Plane => {
            for (part, slope) in row.chunks_exact_mut(3).zip(slopes) {
                part.copy_from_slice(&[slope[0], slope[1], slope[5]]);
            }
        }
    }
}

/// Adds slopes to the part of a row of `H` that is the body's number `k`.
#[inline]
pub(crate) fn add_slopes(body: Body, k: usize, slopes: &[f64; 6], row: &mut [f64]) {
    let add = |part: &mut [f64], own: &[f64]| {
        part.iter_mut().zip(own).for_each(|(sum, slope)| *sum += slope);
    };
    match body {
        Body::Space => add(&mut row[6 * k..][..6], slopes),
        Body::Plane => add(&mut row[3 * k..][..3], &[slopes[0], slopes[1], slopes[5]]),
    }
}

/// Components of the configuration of a body.
#[inline]
fn components(body: Body) -> usize {
    match body {
        Body::Space => 7,
        Body::Plane => 3,
    }
}

/// Bodies with configurations of this many components in all.
#[inline]
pub(crate) fn count(body: Body, states: usize) -> usize {
    states / components(body)
}

/// Columns of `H` for configurations of this many components.
#[inline]
pub(crate) fn width(body: Body, states: usize) -> usize {
    match body {
        Body::Space => states / 7 * 6,
        Body::Plane => states,
    }
}

/// Where the linked bodies are at first, exactly as they are given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    x: Vector,
    p: Quaternion,
    plane: bool,
    pub angle: f64,
}

impl Start {
    pub const WORLD: Start = Start { x: [0.0; 3], p: IDENTITY, plane: false, angle: 0.0 };

    /// Of all linked systems, which are bodies of this kind.
    pub fn each(body: Body, linked: Linked<'_>) -> Result<Vec<Start>, Fault> {
        let start = |(k, system): (usize, &System)| match system {
            System::SecondOrder(one) if one.body() == Some(body) => {
                let q = one.q0();
                Ok(match body {
                    Body::Space => {
                        let p = [q[3], q[4], q[5], q[6]];
                        Start { x: [q[0], q[1], q[2]], p, plane: false, angle: 0.0 }
                    }
                    Body::Plane => {
                        Start { x: [q[0], q[1], 0.0], p: IDENTITY, plane: true, angle: q[2] }
                    }
                })
            }
            _ => Err(Fault::NotABody(k + 1, body)),
        };
        linked.systems().enumerate().map(start).collect()
    }

    /// Of one body and what stands beside it, or of two bodies.
    pub fn pair(body: Body, linked: Linked<'_>, beside: Start) -> Result<[Start; 2], Fault> {
        match Start::each(body, linked)?[..] {
            [one] => Ok([one, beside]),
            [one, two] => Ok([one, two]),
            ref all => Err(Fault::Linked { expected: "one or two bodies", found: all.len() }),
        }
    }

    /// Of what is at a pose.
    pub fn at(body: Body, pose: &Pose) -> Start {
        Start { x: pose.x, p: pose.p, plane: body == Body::Plane, angle: pose.angle }
    }

    pub fn position(&self) -> Vector {
        self.x
    }

    /// A point of the world, in the frame of the body.
    pub fn point(&self, a: Vector) -> Vector {
        self.direction(sub(a, self.x))
    }

    /// A direction of the world, in the frame of the body.
    pub fn direction(&self, a: Vector) -> Vector {
        if self.plane {
            let (s, c) = self.angle.sin_cos();
            return [c * a[0] + s * a[1], c * a[1] - s * a[0], a[2]];
        }
        rotate_back(self.p, a)
    }

    pub fn orientation(&self) -> Quaternion {
        self.p
    }
}
