//! Where a body is.

use saltus_model::rotation::{
    Matrix3, Quaternion, Vector, add, apply, cross, matrix, rotate_back, sub,
};
use saltus_model::{Body, Linked, System};

/// A place and a rotation; that of the world is the origin, not turned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pose {
    pub x: Vector,
    pub R: Matrix3,
}

impl Pose {
    pub const WORLD: Pose =
        Pose { x: [0.0; 3], R: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

    /// Of a configuration of seven components.
    #[inline]
    pub fn new(q: &[f64]) -> Pose {
        Pose { x: [q[0], q[1], q[2]], R: matrix([q[3], q[4], q[5], q[6]]) }
    }

    /// Those of one body and the world, or of two bodies.
    #[inline]
    pub fn pair(q: &[f64]) -> [Pose; 2] {
        [Pose::new(q), if q.len() > 7 { Pose::new(&q[7..]) } else { Pose::WORLD }]
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

/// Where the linked bodies are at first, exactly as they are given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    x: Vector,
    p: Quaternion,
}

impl Start {
    pub const WORLD: Start = Start { x: [0.0; 3], p: saltus_model::rotation::IDENTITY };

    /// Of all linked systems; the position of the first that is no body in space, if there is one.
    pub fn of(linked: Linked<'_>) -> Result<Vec<Start>, usize> {
        let start = |(k, system): (usize, &System)| match system {
            System::SecondOrder(body) if body.body() == Some(Body::Space) => {
                let q = body.q0();
                Ok(Start { x: [q[0], q[1], q[2]], p: [q[3], q[4], q[5], q[6]] })
            }
            _ => Err(k + 1),
        };
        linked.systems().enumerate().map(start).collect()
    }

    pub fn position(&self) -> Vector {
        self.x
    }

    /// A point of the world, in the frame of the body.
    pub fn point(&self, a: Vector) -> Vector {
        rotate_back(self.p, sub(a, self.x))
    }

    /// A direction of the world, in the frame of the body.
    pub fn direction(&self, a: Vector) -> Vector {
        rotate_back(self.p, a)
    }
}
