//! Contacts that are found, against independent formulas.

mod boxes;
mod closed_forms;
mod crossed;
mod plane;
mod properties;
mod sides;
mod sizes;
mod surfaces;

use crate::{Collider, Colliders, Drive, Finder, PairLaws, Placed, Shape};
use saltus_model::rotation::{IDENTITY, Quaternion, Vector, normalized, rotate, scaled, sub, unit};
use saltus_model::{
    Body, ContactFinder, ContactSearch, FoundContact, LagrangianLinear, Law, Model, Moment, Side,
};

/// Bodies and things that stand still, one law for all.
pub(super) struct World {
    space: Body,
    model: Model,
    pub colliders: Colliders,
    starts: Vec<Option<[usize; 2]>>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

impl World {
    pub fn new(space: Body) -> World {
        let laws = PairLaws {
            laws: vec![Law::newton_impact(0.0)],
            elastic: vec![],
            of_pair: vec![Some(0)],
        };
        World {
            space,
            model: Model::new("world"),
            colliders: Colliders {
                sides: Vec::new(),
                drives: Vec::new(),
                shapes: Vec::new(),
                laws,
                apart: Vec::new(),
            },
            starts: Vec::new(),
            q: Vec::new(),
            v: Vec::new(),
        }
    }

    pub fn body(&mut self, shape: Shape, x: Vector, p: Quaternion) -> usize {
        let side = self.colliders.sides.len();
        let name = format!("body {side}");
        let dummy = LagrangianLinear::new([1.0], [0.0], [[1.0]]);
        let system = self.model.add(&name, dummy).unwrap();
        self.colliders.sides.push(Side { name: name.into(), system: Some(system) });
        self.colliders.drives.push(None);
        self.colliders.shapes.push(Collider { side, placed: shape.into(), material: 0 });
        self.starts.push(Some([self.q.len(), self.v.len()]));
        match self.space {
            Body::Space => {
                let p = normalized(p).unwrap();
                self.q.extend([x[0], x[1], x[2], p[0], p[1], p[2], p[3]]);
                self.v.extend([0.0; 6]);
            }
            Body::Plane => {
                self.q.extend(x);
                self.v.extend([0.0; 3]);
            }
        }
        side
    }

    pub fn fixed(&mut self, placed: impl Into<Placed>) -> usize {
        let side = self.colliders.sides.len();
        self.colliders.sides.push(Side { name: format!("fixed {side}").into(), system: None });
        self.colliders.drives.push(None);
        self.colliders.shapes.push(Collider { side, placed: placed.into(), material: 0 });
        self.starts.push(None);
        side
    }

    pub fn drive(&mut self, side: usize, drive: Drive) {
        self.colliders.drives[side] = Some(drive);
    }

    pub fn search(&self) -> Box<dyn ContactSearch> {
        Finder::new(self.space, &self.colliders).unwrap().begin(&self.starts)
    }

    pub fn find_in(&self, search: &mut dyn ContactSearch, t: f64, h: f64) -> Vec<FoundContact> {
        let mut found = Vec::new();
        search.find(Moment { t, h, q: &self.q, v: &self.v }, &mut found).unwrap();
        found
    }

    pub fn find(&self, h: f64) -> Vec<FoundContact> {
        self.find_in(&mut *self.search(), 0.0, h)
    }
}

/// Contacts of two bodies, whatever their gap up to about `reach`.
pub(super) fn between(
    a: (&Shape, Vector, Quaternion),
    b: (&Shape, Vector, Quaternion),
    reach: f64,
) -> Vec<FoundContact> {
    let mut world = World::new(Body::Space);
    world.body(a.0.clone(), a.1, a.2);
    if matches!(b.0, Shape::Plane { .. }) {
        world.fixed(Placed { shape: b.0.clone(), position: b.1, orientation: b.2 });
    } else {
        world.body(b.0.clone(), b.1, b.2);
    }
    // towards each other, and spinning, so that everything within reach can close
    let towards = match b.0 {
        Shape::Plane { normal, .. } => scaled(-1.0, rotate(b.2, *normal)),
        _ => sub(b.1, a.1),
    };
    let way = unit(towards).unwrap_or([0.0, 0.0, 1.0]);
    world.v[..3].copy_from_slice(&scaled(5.0 * reach, way));
    world.v[5] = reach / farthest(a.0);
    world.find(1.0)
}

fn farthest(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere { radius } => *radius,
        Shape::Box { edges: [a, b, c] } => 0.5 * (a * a + b * b + c * c).sqrt(),
        Shape::Capsule { radius, length } => radius + 0.5 * length,
        Shape::Cylinder { radius, length: l } | Shape::Cone { radius, height: l } => {
            radius.hypot(0.5 * l)
        }
        Shape::ConvexHull { points } | Shape::TriangleMesh { points, .. } => {
            points.iter().map(|x| saltus_model::rotation::norm(*x)).fold(0.0, f64::max)
        }
        _ => 1.0,
    }
}

/// Numbers that look random and are always the same.
pub(super) struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn within(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }

    pub fn vector(&mut self, half: f64) -> Vector {
        [0; 3].map(|_: i32| self.within(-half, half))
    }

    pub fn turn(&mut self) -> Quaternion {
        loop {
            let p = [0; 4].map(|_: i32| self.within(-1.0, 1.0));
            let square: f64 = p.iter().map(|x| x * x).sum();
            if square > 0.1 && square < 1.0 {
                return normalized(p).unwrap();
            }
        }
    }
}

pub(super) const UPRIGHT: Quaternion = IDENTITY;

/// The half-space below `z = 0`.
pub(super) fn ground() -> Shape {
    Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }
}
