//! The normal of a contact alone, for sweeps that go over the same contacts many times.
//!
//! ```text
//! w_N = J · V,     V ← V + M⁻¹ J z_N,     J = (n, r × n) of the first body, −(n, r × n) of the second
//! ```
//!
//! `n` is the same for both, and so it is kept once: 136 bytes a contact.

use super::{MovingBody, Touch, Twist, Vector, add, apply, cross, dot};

/// `J` and `M⁻¹ J` of a contact.
#[derive(Debug, Clone, Copy)]
pub struct Normal {
    /// The bodies, by position.
    pub bodies: [u32; 2],
    /// `J · M⁻¹ J`: what an impulse along the normal does along it.
    pub response: f64,
    n: Vector,
    about: [Vector; 2],
    turned: [Vector; 2], // the inverse of the moments of inertia times that
}

impl Normal {
    /// Of a contact of these bodies.
    pub fn new(touch: &Touch, bodies: &[MovingBody]) -> Normal {
        let (n, mut about, mut turned) = (touch.frame[0], [[0.0; 3]; 2], [[0.0; 3]; 2]);
        let mut response = 0.0;
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let body = &bodies[touch.bodies[side] as usize];
            about[side] = add([0.0; 3], sign, cross(touch.arms[side], n));
            turned[side] = apply(&body.inverse_inertia, about[side]);
            response += body.inverse_mass * dot(n, n) + dot(about[side], turned[side]);
        }
        Normal { bodies: touch.bodies, response, n, about, turned }
    }

    /// `w_N`.
    #[inline]
    pub fn velocity(&self, twists: &[Twist]) -> f64 {
        let [a, b] = self.bodies.map(|k| &twists[k as usize]);
        let turn = dot(self.about[0], a.omega) + dot(self.about[1], b.omega);
        dot(self.n, add(a.v, -1.0, b.v)) + turn
    }

    /// Adds what an impulse does to both bodies, those that it was made of.
    #[inline]
    pub fn push(&self, impulse: f64, bodies: &[MovingBody], twists: &mut [Twist]) {
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let k = self.bodies[side] as usize;
            let V = &mut twists[k];
            V.v = add(V.v, sign * impulse * bodies[k].inverse_mass, self.n);
            V.omega = add(V.omega, impulse, self.turned[side]);
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
        assert_eq!(size_of::<Normal>(), 136);
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
            normal.push(0.3, &bodies, &mut pushed);
            assert!((normal.velocity(&pushed) - known - 0.3 * W[0]).abs() < 1e-14);
            assert_eq!(pushed[bodies.len() - 1], twists[bodies.len() - 1], "what is fixed stays");
        }
    }
}
