//! How sides move: bodies, and what is driven.

use crate::Drive;
use crate::pose::Pose;
use saltus_model::rotation::{
    IDENTITY, Matrix3, Quaternion, Vector, add, cross, dot, exp, matrix, norm, normalized, product,
    scaled, sub,
};
use saltus_model::{At, Body, Operator, OperatorError};

/// Where a side is at the beginning of a step, and how far it moves within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    pub x: Vector,
    pub R: Matrix3,
    /// `h v` of its origin.
    pub shift: Vector,
    /// `h |ω|`.
    pub turn: f64,
}

impl Motion {
    pub const REST: Motion =
        Motion { x: Pose::WORLD.x, R: Pose::WORLD.R, shift: [0.0; 3], turn: 0.0 };

    /// Its frame.
    #[inline]
    pub fn pose(&self) -> Pose {
        Pose::of(self.x, self.R)
    }

    /// Of a body in space.
    pub fn of_body(q: &[f64], v: &[f64], h: f64) -> Motion {
        Motion {
            x: [q[0], q[1], q[2]],
            R: matrix([q[3], q[4], q[5], q[6]]),
            shift: [h * v[0], h * v[1], h * v[2]],
            turn: h * norm([v[3], v[4], v[5]]),
        }
    }

    /// Of a body in the plane.
    pub fn in_plane(q: &[f64], v: &[f64], h: f64) -> Motion {
        Motion {
            x: [q[0], q[1], 0.0],
            R: about_z(q[2]),
            shift: [h * v[0], h * v[1], 0.0],
            turn: h * v[2].abs(),
        }
    }
}

fn about_z(angle: f64) -> [[f64; 3]; 3] {
    let (sin, cos) = angle.sin_cos();
    [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]
}

/// A drive at work: its velocity in the step, and how far it has turned.
#[derive(Debug, Clone)]
pub(crate) struct Driving {
    drive: Drive,
    space: Body,
    name: [String; 2],
    x: Vector,
    v: Vector,
    omega: Vector,
    turned: Turned,
}

impl Driving {
    pub fn new(drive: &Drive, space: Body, side: &str) -> Driving {
        Driving {
            drive: drive.clone(),
            space,
            name: [format!("position of {side}"), format!("omega of {side}")],
            x: [0.0; 3],
            v: [0.0; 3],
            omega: [0.0; 3],
            turned: Turned::default(),
        }
    }

    /// The step from `t` to `t + h`. Its velocity is the mean one, so that it arrives where it should;
    /// its angular velocity is that in the middle.
    pub(super) fn step(&mut self, t: f64, h: f64) -> Result<Motion, OperatorError> {
        let (x, p) = self.frame(t)?;
        self.x = x;
        let space = self.space;
        let (name_x, name_omega) = (&self.name[0], &self.name[1]);
        if let Some(position) = &self.drive.position {
            let at = |t: f64| vector(position, space, t, name_x, false);
            self.v = if h > 0.0 {
                scaled(1.0 / h, sub(at(t + h)?, self.x))
            } else {
                let small = 1e-5 * t.abs().max(1.0);
                scaled(0.5 / small, sub(at(t + small)?, at(t - small)?))
            };
        }
        let mut R = Pose::WORLD.R;
        if let Some(omega) = &self.drive.omega {
            self.omega = vector(omega, space, t + 0.5 * h, name_omega, true)?;
            R = matrix(p);
        }
        Ok(Motion { x: self.x, R, shift: scaled(h, self.v), turn: h * norm(self.omega) })
    }

    /// Where its origin is at an instant, and how it is turned.
    pub fn frame(&mut self, t: f64) -> Result<(Vector, Quaternion), OperatorError> {
        let (x, turn) = self.placed(t)?;
        Ok((x, turn.p))
    }

    /// The same as a pose, like that of a body.
    pub fn pose(&mut self, t: f64) -> Result<Pose, OperatorError> {
        let (x, Turn { p, angle }) = self.placed(t)?;
        Ok(match self.space {
            Body::Space => Pose { x, R: matrix(p), p, angle: 0.0 },
            Body::Plane => Pose::in_plane(&[x[0], x[1], angle]),
        })
    }

    fn placed(&mut self, t: f64) -> Result<(Vector, Turn), OperatorError> {
        let Driving { drive, space, name: [name_x, name_omega], turned, .. } = self;
        let x = match &drive.position {
            Some(position) => vector(position, *space, t, name_x, false)?,
            None => [0.0; 3],
        };
        let turn = match &drive.omega {
            Some(omega) => {
                let at = |t: f64| vector(omega, *space, t, name_omega, true);
                if omega.is_constant() { Turn::of(scaled(t, at(t)?)) } else { turned.at(t, &at)? }
            }
            None => Turn::NONE,
        };
        Ok((x, turn))
    }

    /// Velocity of its origin by its derivative, and its angular velocity.
    pub fn velocities(
        &self,
        speed: Option<&Operator>,
        t: f64,
    ) -> Result<[Vector; 2], OperatorError> {
        let value = |operator: Option<&Operator>, name: &str, turn: bool| match operator {
            Some(operator) => vector(operator, self.space, t, name, turn),
            None => Ok([0.0; 3]),
        };
        let omega = value(self.drive.omega.as_ref(), &self.name[1], true)?;
        Ok([value(speed, &self.name[0], false)?, omega])
    }

    /// Angular velocity in the step.
    pub fn omega(&self) -> Vector {
        self.omega
    }

    /// Velocity of its surface at a point, where the normal is `n`.
    ///
    /// ```text
    /// v + ω × (p − x) + (I − n nᵀ) s
    /// ```
    pub fn velocity(&self, point: Vector, n: Vector) -> Vector {
        let s = self.drive.surface;
        let along = sub(s, scaled(dot(n, s), n));
        add(add(self.v, cross(self.omega, sub(point, self.x))), along)
    }
}

/// The value of a drive in space: of the plane the third component is zero, and a turn about the third.
fn vector(
    operator: &Operator,
    space: Body,
    t: f64,
    name: &str,
    turn: bool,
) -> Result<Vector, OperatorError> {
    let mut out = [0.0; 3];
    let part = match (space, turn) {
        (Body::Space, _) => 0..3,
        (Body::Plane, false) => 0..2,
        (Body::Plane, true) => 2..3,
    };
    operator.eval(At::time(t), name, &mut out[part])?;
    Ok(out)
}

/// A turn and, in the plane, its angle over all turns.
#[derive(Debug, Clone, Copy)]
struct Turn {
    p: Quaternion,
    angle: f64,
}

impl Turn {
    const NONE: Turn = Turn { p: IDENTITY, angle: 0.0 };

    /// About a vector, by its length.
    fn of(phi: Vector) -> Turn {
        Turn { p: exp(phi), angle: phi[2] }
    }

    /// This one after another.
    fn after(self, other: Turn) -> Turn {
        Turn { p: product(self.p, other.p), angle: self.angle + other.angle }
    }

    fn normalized(self) -> Turn {
        Turn { p: normalized(self.p).unwrap_or(IDENTITY), ..self }
    }
}

/// Turns are kept at multiples of this time, in seconds; between them they are integrated anew.
const ANCHOR: f64 = 1.0 / 16.0;

/// `ṗ = ½ ω p`, from `p = 1` at `t = 0`.
#[derive(Debug, Clone)]
struct Turned {
    anchor: f64,
    turn: Turn,
}

impl Default for Turned {
    fn default() -> Self {
        Turned { anchor: 0.0, turn: Turn::NONE }
    }
}

impl Turned {
    fn at(
        &mut self,
        t: f64,
        omega: &dyn Fn(f64) -> Result<Vector, OperatorError>,
    ) -> Result<Turn, OperatorError> {
        let wanted = (t / ANCHOR).trunc();
        // anchors lead away from zero: another way means another beginning
        if wanted.abs() < self.anchor.abs() || wanted * self.anchor < 0.0 {
            *self = Turned::default();
        }
        while self.anchor != wanted {
            let next = self.anchor + wanted.signum();
            let turn = integrate(self.anchor * ANCHOR, next * ANCHOR, omega)?;
            self.turn = turn.after(self.turn).normalized();
            self.anchor = next;
        }
        let turn = integrate(self.anchor * ANCHOR, t, omega)?;
        Ok(turn.after(self.turn).normalized())
    }
}

/// The turn from `a` to `b`, by ever more steps of the same length until it no longer changes.
///
/// ```text
/// φ = δ/2 (ω₁ + ω₂) − √3/12 δ² ω₁ × ω₂,    ω at the two Gauss points
/// ```
///
/// Reference: Hairer, Lubich, Wanner, *Geometric Numerical Integration*, 2006, IV.7.
fn integrate(
    a: f64,
    b: f64,
    omega: &dyn Fn(f64) -> Result<Vector, OperatorError>,
) -> Result<Turn, OperatorError> {
    if a == b {
        return Ok(Turn::NONE);
    }
    let mut last: Option<Quaternion> = None;
    let mut steps = 1;
    loop {
        let delta = (b - a) / f64::from(steps);
        let mut turn = Turn::NONE;
        for k in 0..steps {
            let middle = a + (f64::from(k) + 0.5) * delta;
            let off = delta * 3.0_f64.sqrt() / 6.0;
            let (w1, w2) = (omega(middle - off)?, omega(middle + off)?);
            let phi = sub(
                scaled(0.5 * delta, add(w1, w2)),
                scaled(3.0_f64.sqrt() / 12.0 * delta * delta, cross(w1, w2)),
            );
            turn = Turn::of(phi).after(turn);
        }
        let near = |q: Quaternion| q.iter().zip(&turn.p).all(|(x, y)| (x - y).abs() < 1e-14);
        if steps >= 4096 || last.is_some_and(near) {
            return Ok(turn);
        }
        last = Some(turn.p);
        steps *= 2;
    }
}
