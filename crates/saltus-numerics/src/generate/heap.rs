//! Heaps of bodies in a bin, under their weight.
//!
//! One time step of length `h` of bodies that stand or lie on each other, with small velocities of
//! their own:
//!
//! ```text
//! M v = M v₀ + H z,    w = Hᵀ v,    v₀ = h g + what is random                                (1)
//! ```
//!
//! `H` follows from where the bodies touch, so that `w` is what a motion of them makes it: unlike a
//! [`Packing`](super::Packing), whose answer is drawn contact by contact. The answer is not known
//! beforehand; for `w` without a given part there is one.
//!
//! | unknowns a velocity, `c` | bodies | neighbours that may touch |
//! | --- | --- | --- |
//! | up to 1.2 | grains in columns | 6 |
//! | up to 3 | grains as dense as can be (face-centred) | 12 |
//! | more | bricks, each on two others | 8 points below, 4 a side |
//!
//! Of the places where neighbours may touch so many do, at random, that `c` is reached: those below
//! first, then the sides and walls. For c = 3 all of them do.

use super::Random;
use super::packing::{Contact, frame};
use crate::{Block, Global, NumericsError, Problem, Set};
use saltus_linalg::Sparse;

/// A heap to be built.
#[derive(Debug, Clone, PartialEq)]
pub struct Heap {
    /// Least number of contacts; there are a few more.
    pub contacts: usize,
    /// Unknowns of the contacts a velocity, far from the walls. Default 1.
    pub c: f64,
    /// Friction coefficient. Default 0.5.
    pub mu: f64,
    /// Layers of bodies. Default 6.
    pub layers: usize,
    /// Largest component of the random velocities; the weight adds 0.0981. Default 0.05.
    pub speed: f64,
    /// Seed of all that is random. Default 0.
    pub seed: u64,
}

impl Default for Heap {
    fn default() -> Self {
        Heap { contacts: 100, c: 1.0, mu: 0.5, layers: 6, speed: 0.05, seed: 0 }
    }
}

/// A heap of `contacts` contacts, `c` unknowns a velocity.
pub fn heap(contacts: usize, c: f64, mu: f64, seed: u64) -> Result<Problem, NumericsError> {
    Heap { contacts, c, mu, seed, ..Heap::default() }.build()
}

/// `h g`.
const WEIGHT: f64 = 0.0981;
/// How far grains are from the places of a lattice; their diameter is 1.
const JITTER: f64 = 0.05;
/// Half of the size of a brick.
const BRICK: [f64; 3] = [1.0, 0.5, 0.5];

impl Heap {
    /// Builds it. Cost and memory are linear in the number of contacts and bodies.
    pub fn build(&self) -> Result<Problem, NumericsError> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            let (field, allowed) = ("c", "(0, inf)");
            return Err(NumericsError::Setting { field, value: self.c, allowed });
        }
        // bodies at the walls have fewer neighbours: more of them, until there are enough contacts
        let mut bodies = (self.contacts as f64 / (2.0 * self.c)).ceil().max(1.0);
        let (lattice, contacts, mut random) = loop {
            let mut random = Random::new(self.seed);
            let lattice = Lattice::new(self, bodies as usize, &mut random);
            let contacts = self.choose(&lattice, &mut random);
            if contacts.len() >= self.contacts {
                break (lattice, contacts, random);
            }
            bodies = (1.03 * bodies).ceil() + 1.0;
        };
        let bodies = lattice.at.len();
        let mut entries = Vec::with_capacity(36 * contacts.len());
        for (k, contact) in contacts.iter().enumerate() {
            contact.write(3 * k, 3, true, &mut entries);
        }
        let H = Sparse::from_triplets(6 * bodies, 3 * contacts.len(), &entries);

        let (mut mass, mut f) = (Vec::with_capacity(6 * bodies), Vec::with_capacity(6 * bodies));
        for body in 0..bodies {
            let m = random.between(0.5, 2.0);
            let inertia = lattice.inertia(m);
            for (i, m) in [m, m, m, inertia[0], inertia[1], inertia[2]].into_iter().enumerate() {
                let weight = if i == 2 { WEIGHT } else { 0.0 };
                let v = random.between(-self.speed, self.speed) - weight;
                mass.push((6 * body + i, 6 * body + i, m));
                f.push(m * v);
            }
        }
        let mass = Sparse::from_triplets(6 * bodies, 6 * bodies, &mass);
        let blocks = vec![Block { size: 3, set: Set::Coulomb3 { mu: self.mu } }; contacts.len()];
        Problem::new(Global::new(mass, H, f)?, vec![0.0; 3 * contacts.len()], &blocks)
    }

    /// The contacts: those that carry weight first, then others, at random.
    fn choose(&self, lattice: &Lattice, random: &mut Random) -> Vec<Contact> {
        // contacts of a body far from the walls, below it and beside it
        let (below, beside) = match lattice.kind {
            Kind::Columns => (1.0, 2.0),
            Kind::Dense => (4.0, 2.0),
            Kind::Bricks => (8.0, 8.0),
        };
        let shares = [(2.0 * self.c - below) / beside, 2.0 * self.c / below];
        let mut contacts = lattice.places();
        contacts.retain(|contact| random.unit() < shares[usize::from(contact.normal[2] > 0.5)]);
        contacts
    }
}

/// How bodies lie.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Columns,
    Dense,
    Bricks,
}

/// Bodies and where they are.
struct Lattice {
    kind: Kind,
    side: usize,
    at: Vec<[f64; 3]>,
}

impl Lattice {
    /// At least so many bodies.
    fn new(heap: &Heap, bodies: usize, random: &mut Random) -> Lattice {
        let kind = match heap.c {
            c if c <= 1.2 => Kind::Columns,
            c if c <= 3.0 => Kind::Dense,
            _ => Kind::Bricks,
        };
        let layers = heap.layers.max(1);
        let side = ((bodies as f64 / layers as f64).sqrt().ceil() as usize).max(1);
        let layers = bodies.div_ceil(side * side);
        let mut at = Vec::with_capacity(side * side * layers);
        for body in 0..side * side * layers {
            let [i, j, k] = [body % side, body / side % side, body / (side * side)];
            let shift = (k % 2) as f64;
            let [i, j, k] = [i as f64, j as f64, k as f64];
            let mut place = match kind {
                Kind::Columns => [i, j, k],
                Kind::Dense => [i + 0.5 * shift, j + 0.5 * shift, k * 0.5f64.sqrt()],
                Kind::Bricks => [2.0 * i + shift, j, k],
            };
            if kind != Kind::Bricks {
                place.iter_mut().for_each(|x| *x += random.between(-JITTER, JITTER));
            }
            at.push(place);
        }
        Lattice { kind, side, at }
    }

    /// Moments of inertia of a body.
    fn inertia(&self, m: f64) -> [f64; 3] {
        match self.kind {
            Kind::Columns | Kind::Dense => [0.1 * m; 3],
            Kind::Bricks => {
                let square = BRICK.map(|half| 4.0 * half * half);
                [0, 1, 2].map(|i| m / 12.0 * (square[(i + 1) % 3] + square[(i + 2) % 3]))
            }
        }
    }

    /// The body so many places from another, if there is one.
    fn beside(&self, body: usize, by: [i64; 3]) -> Option<usize> {
        let side = self.side;
        let at = [body % side, body / side % side, body / (side * side)];
        let mut other = [0; 3];
        for i in 0..3 {
            let coordinate = at[i] as i64 + by[i];
            if coordinate < 0 || (i < 2 && coordinate >= side as i64) {
                return None;
            }
            other[i] = coordinate as usize;
        }
        let other = other[0] + side * (other[1] + side * other[2]);
        (other < self.at.len()).then_some(other)
    }

    /// Wherever bodies may touch each other, the ground or a wall.
    fn places(&self) -> Vec<Contact> {
        let mut places = Vec::new();
        for body in 0..self.at.len() {
            let k = body / (self.side * self.side);
            let odd = k % 2 == 1;
            let below: &[[i64; 3]] = match (self.kind, odd) {
                (Kind::Columns, _) => &[[0, 0, -1]],
                (Kind::Dense, true) => &[[0, 0, -1], [1, 0, -1], [0, 1, -1], [1, 1, -1]],
                (Kind::Dense, false) => &[[-1, -1, -1], [0, -1, -1], [-1, 0, -1], [0, 0, -1]],
                (Kind::Bricks, true) => &[[0, 0, -1], [1, 0, -1]],
                (Kind::Bricks, false) => &[[-1, 0, -1], [0, 0, -1]],
            };
            for (axis, by) in [(0, [-1, 0, 0]), (1, [0, -1, 0])] {
                self.touch(body, self.beside(body, by), axis, 1.0, &mut places);
            }
            for &by in below {
                self.touch(body, self.beside(body, by), 2, 1.0, &mut places);
            }
            if k == 0 {
                self.touch_wall(body, 2, 1.0, &mut places);
            }
            // of layers that lie between each other every other one reaches a wall
            for (axis, by) in [(0, [1, 0, 0]), (1, [0, 1, 0])] {
                let shifted = self.kind == Kind::Dense || (self.kind == Kind::Bricks && axis == 0);
                let back = by.map(|x| -x);
                if self.beside(body, back).is_none() && !(shifted && odd) {
                    self.touch_wall(body, axis, 1.0, &mut places);
                }
                if self.beside(body, by).is_none() && (!shifted || odd) {
                    self.touch_wall(body, axis, -1.0, &mut places);
                }
            }
        }
        places
    }

    fn touch_wall(&self, body: usize, axis: usize, sign: f64, places: &mut Vec<Contact>) {
        let mut normal = [0.0; 3];
        normal[axis] = sign;
        match self.kind {
            Kind::Bricks => self.face(body, None, axis, sign, places),
            _ => places.push(contact(body, None, normal, normal.map(|x| -0.5 * x), [0.0; 3])),
        }
    }

    /// The contacts of two bodies: one of grains, those at the corners of their common face of bricks.
    fn touch(
        &self,
        body: usize,
        other: Option<usize>,
        axis: usize,
        sign: f64,
        places: &mut Vec<Contact>,
    ) {
        let Some(neighbour) = other else { return };
        if self.kind == Kind::Bricks {
            return self.face(body, other, axis, sign, places);
        }
        let apart = [0, 1, 2].map(|i| self.at[body][i] - self.at[neighbour][i]);
        let length = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
        let normal = apart.map(|x| x / length);
        let (arm, far) = (normal.map(|x| -0.5 * x), normal.map(|x| 0.5 * x));
        places.push(contact(body, other, normal, arm, far));
    }

    /// The corners of the face of a brick across an axis, as far as the other reaches.
    fn face(
        &self,
        body: usize,
        other: Option<usize>,
        axis: usize,
        sign: f64,
        places: &mut Vec<Contact>,
    ) {
        let at = self.at[body];
        let mut normal = [0.0; 3];
        normal[axis] = sign;
        let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
        let ends = |i: usize| {
            let (mut low, mut high) = (at[i] - BRICK[i], at[i] + BRICK[i]);
            if let Some(other) = other {
                low = low.max(self.at[other][i] - BRICK[i]);
                high = high.min(self.at[other][i] + BRICK[i]);
            }
            [low, high]
        };
        for x in ends(a) {
            for y in ends(b) {
                let mut point = [0.0; 3];
                (point[axis], point[a], point[b]) = (at[axis] - sign * BRICK[axis], x, y);
                let from = |centre: [f64; 3]| [0, 1, 2].map(|i| point[i] - centre[i]);
                let far = other.map_or([0.0; 3], |other| from(self.at[other]));
                places.push(contact(body, other, normal, from(at), far));
            }
        }
    }
}

fn contact(
    body: usize,
    other: Option<usize>,
    normal: [f64; 3],
    arm: [f64; 3],
    far: [f64; 3],
) -> Contact {
    Contact { body, other, normal, tangents: frame(normal, true), arm, far }
}
