//! The normal of a contact alone, for sweeps that go over the same contacts many times.
//!
//! ```text
//! w_N = J · V,     V ← V + M⁻¹ J z_N,     J = (n, r × n) of the first body, −(n, r × n) of the second
//! ```
//!
//! Of many contacts nothing need be kept: the products are quicker made than read.

use super::{MovingBody, Touch, Twist, Vector, add, apply, cross, dot};

/// `J` of a contact.
#[derive(Debug, Clone, Copy)]
pub struct Normal {
    bodies: [u32; 2],
    n: Vector,
    about: [Vector; 2],
}

/// What an impulse along the normal does.
#[derive(Debug, Clone, Copy)]
pub struct Response {
    /// Along it: `J · M⁻¹ J`.
    pub size: f64,
    turned: [Vector; 2], // J⁻¹ (r × n) of each body
}

impl Normal {
    /// Of this contact.
    #[inline]
    pub fn new(touch: &Touch) -> Normal {
        let n = touch.frame[0];
        let about = |side: usize, sign: f64| add([0.0; 3], sign, cross(touch.arms[side], n));
        Normal { bodies: touch.bodies, n, about: [about(0, 1.0), about(1, -1.0)] }
    }

    /// What an impulse does.
    #[inline]
    pub fn response(&self, bodies: &[MovingBody]) -> Response {
        let (mut size, mut turned) = (0.0, [[0.0; 3]; 2]);
        for side in 0..2 {
            let body = &bodies[self.bodies[side] as usize];
            turned[side] = apply(&body.inverse_inertia, self.about[side]);
            size += body.inverse_mass * dot(self.n, self.n) + dot(self.about[side], turned[side]);
        }
        Response { size, turned }
    }

    /// `w_N`.
    #[inline]
    pub fn velocity(&self, twists: &[Twist]) -> f64 {
        let (a, b) = (&twists[self.bodies[0] as usize], &twists[self.bodies[1] as usize]);
        let turn = dot(self.about[0], a.omega) + dot(self.about[1], b.omega);
        dot(self.n, add(a.v, -1.0, b.v)) + turn
    }

    /// Adds what an impulse does to both bodies.
    #[inline]
    pub fn push(
        &self,
        impulse: f64,
        response: &Response,
        bodies: &[MovingBody],
        twists: &mut [Twist],
    ) {
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let k = self.bodies[side] as usize;
            let (body, V) = (&bodies[k], &mut twists[k]);
            V.v = add(V.v, sign * impulse * body.inverse_mass, self.n);
            V.omega = add(V.omega, impulse, response.turned[side]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Friction;
    use super::super::heaps::heap;
    use super::*;

    /// It is the first component of the contact.
    #[test]
    fn it_is_what_the_contact_says() {
        let (bodies, _, touches) = heap(2, Friction::Space { mu: 0.4 }, 1.0);
        let twists: Vec<Twist> =
            bodies.iter().map(|body| Twist { v: body.v, omega: body.omega }).collect();
        for touch in &touches {
            let (normal, [a, b]) = (Normal::new(touch), touch.bodies.map(|k| k as usize));
            let known = touch.relative(&twists[a], &twists[b])[0];
            assert!((normal.velocity(&twists) - known).abs() < 1e-14);
            let mut W = [0.0; 9];
            touch.block(&bodies, &mut W);
            let response = normal.response(&bodies);
            assert!((response.size - W[0]).abs() < 1e-14);
            let mut pushed = twists.clone();
            normal.push(0.3, &response, &bodies, &mut pushed);
            assert!((normal.velocity(&pushed) - known - 0.3 * W[0]).abs() < 1e-14);
            assert_eq!(pushed[bodies.len() - 1], twists[bodies.len() - 1], "what is fixed stays");
        }
    }
}
