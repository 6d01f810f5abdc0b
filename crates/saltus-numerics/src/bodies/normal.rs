//! The normal of a contact alone, for sweeps that go over the same contacts many times.
//!
//! ```text
//! w_N = J · V,     V ← V + M⁻¹ J z_N,     J = (n, r × n) of the first body, −(n, r × n) of the second
//! ```

use super::{MovingBody, Touch, Twist, add, apply, cross, dot};

/// `J` and `M⁻¹ J` of a contact.
#[derive(Debug, Clone, Copy)]
pub struct Normal {
    /// The bodies, by position.
    pub bodies: [u32; 2],
    /// `J · M⁻¹ J`: what an impulse along the normal does along it.
    pub response: f64,
    along: [Twist; 2],
    moved: [Twist; 2],
}

impl Normal {
    /// Of a contact of these bodies.
    pub fn new(touch: &Touch, bodies: &[MovingBody]) -> Normal {
        let (mut along, mut moved, mut response) =
            ([Twist::default(); 2], [Twist::default(); 2], 0.0);
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let body = &bodies[touch.bodies[side] as usize];
            let turn = cross(touch.arms[side], touch.frame[0]);
            let (n, about) = (add([0.0; 3], sign, touch.frame[0]), add([0.0; 3], sign, turn));
            along[side] = Twist { v: n, omega: about };
            moved[side] = Twist {
                v: add([0.0; 3], body.inverse_mass, n),
                omega: apply(&body.inverse_inertia, about),
            };
            response += dot(n, moved[side].v) + dot(about, moved[side].omega);
        }
        Normal { bodies: touch.bodies, response, along, moved }
    }

    /// `w_N`.
    #[inline]
    pub fn velocity(&self, twists: &[Twist]) -> f64 {
        let of = |side: usize| {
            let (J, V) = (&self.along[side], &twists[self.bodies[side] as usize]);
            dot(J.v, V.v) + dot(J.omega, V.omega)
        };
        of(0) + of(1)
    }

    /// Adds what an impulse does to both bodies.
    #[inline]
    pub fn push(&self, impulse: f64, twists: &mut [Twist]) {
        for side in 0..2 {
            let (by, V) = (&self.moved[side], &mut twists[self.bodies[side] as usize]);
            V.v = add(V.v, impulse, by.v);
            V.omega = add(V.omega, impulse, by.omega);
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
            let (normal, [a, b]) = (Normal::new(touch, &bodies), touch.bodies.map(|k| k as usize));
            let known = touch.relative(&twists[a], &twists[b])[0];
            assert!((normal.velocity(&twists) - known).abs() < 1e-14);
            let mut W = [0.0; 9];
            touch.block(&bodies, &mut W);
            assert!((normal.response - W[0]).abs() < 1e-14);
            let mut pushed = twists.clone();
            normal.push(0.3, &mut pushed);
            assert!((normal.velocity(&pushed) - known - 0.3 * W[0]).abs() < 1e-14);
            assert_eq!(pushed[bodies.len() - 1], twists[bodies.len() - 1], "what is fixed stays");
        }
    }
}
