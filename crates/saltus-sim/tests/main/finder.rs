//! A finder that is small enough to be seen through: spheres, boxes by their corners, half-spaces.

use saltus_model::rotation::{Vector, add, dot, norm, rotate, scaled, sub};
use saltus_model::{
    Body, ContactFinder, ContactSearch, FoundContact, Law, Model, ModelError, Moment,
    OperatorError, RigidBody, Side, SystemId,
};
use std::sync::Arc;

/// What a side looks like.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Sphere(f64),
    /// Half its edges.
    Box(Vector),
    /// Where `n · x ≥ c` is outside; its surface moves with this velocity.
    HalfSpace {
        n: Vector,
        c: f64,
        surface: Vector,
    },
}

#[derive(Debug, Clone)]
pub struct Simple {
    pub sides: Vec<Side>,
    pub shapes: Vec<Shape>,
    pub laws: Vec<Law>,
}

/// A model that is filled with bodies.
pub struct Scene {
    pub model: Model,
    pub finder: Simple,
}

impl Scene {
    pub fn new(law: Law) -> Scene {
        let finder = Simple { sides: Vec::new(), shapes: Vec::new(), laws: vec![law] };
        Scene { model: Model::new("scene"), finder }
    }

    pub fn add(&mut self, name: &str, body: RigidBody, shape: Shape) -> SystemId {
        let id = self.model.add(name, body).unwrap();
        self.finder.sides.push(Side { name: name.into(), system: Some(id) });
        self.finder.shapes.push(shape);
        id
    }

    pub fn ground(&mut self, n: Vector, c: f64) {
        self.moving_ground(n, c, [0.0; 3]);
    }

    pub fn moving_ground(&mut self, n: Vector, c: f64, surface: Vector) {
        let name = format!("ground{}", self.finder.sides.len());
        self.finder.sides.push(Side { name: name.into(), system: None });
        self.finder.shapes.push(Shape::HalfSpace { n, c, surface });
    }

    pub fn model(self) -> Model {
        let Scene { mut model, finder } = self;
        model.find_contacts(Arc::new(finder)).unwrap();
        model
    }
}

impl ContactFinder for Simple {
    fn space(&self) -> Body {
        Body::Space
    }

    fn sides(&self) -> &[Side] {
        &self.sides
    }

    fn laws(&self) -> &[Law] {
        &self.laws
    }

    fn check(&self, _: &Model) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&self, starts: &[Option<[usize; 2]>]) -> Box<dyn ContactSearch> {
        let spheres = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Sphere(radius) => Some(*radius),
            _ => None,
        });
        let cell = 2.2 * spheres.fold(0.0, f64::max);
        let (shapes, starts) = (self.shapes.clone(), starts.to_vec());
        Box::new(Search { shapes, starts, cell, cells: Vec::new() })
    }
}

#[derive(Debug)]
struct Search {
    shapes: Vec<Shape>,
    starts: Vec<Option<[usize; 2]>>,
    cell: f64,
    cells: Vec<([i32; 3], u32)>,
}

impl Search {
    fn body(&self, side: usize, moment: &Moment<'_>) -> Option<(Vector, [f64; 4], Vector)> {
        let [q, v] = self.starts[side]?;
        let (q, v) = (&moment.q[q..], &moment.v[v..]);
        Some(([q[0], q[1], q[2]], [q[3], q[4], q[5], q[6]], [v[0], v[1], v[2]]))
    }
}

/// How far a gap may be that others may close.
const NEAR: f64 = 0.05;

impl ContactSearch for Search {
    fn find(
        &mut self,
        moment: Moment<'_>,
        found: &mut Vec<FoundContact>,
    ) -> Result<(), OperatorError> {
        let sides = self.shapes.len();
        // against half-spaces
        for (other, shape) in self.shapes.iter().enumerate() {
            let Shape::HalfSpace { n, c, .. } = *shape else { continue };
            for side in 0..sides {
                let Some((x, p, v)) = self.body(side, &moment) else { continue };
                let mut push = |feature: u64, gap: f64, point: Vector, reach: f64| {
                    if gap > moment.h * norm(v) + reach {
                        return;
                    }
                    let (sides, normal) = match side < other {
                        true => ([side, other], n),
                        false => ([other, side], scaled(-1.0, n)),
                    };
                    let sides = sides.map(|side| side as u32);
                    found.push(FoundContact { sides, feature, law: 0, gap, normal, point });
                };
                match self.shapes[side] {
                    Shape::Sphere(radius) => {
                        let gap = dot(n, x) - c - radius;
                        push(0, gap, sub(x, scaled(radius + 0.5 * gap, n)), NEAR * radius);
                    }
                    Shape::Box(half) => {
                        for corner in 0..8_usize {
                            let sign = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
                            let own = [0, 1, 2].map(|k| sign(k) * half[k]);
                            let point = add(x, rotate(p, own));
                            let gap = dot(n, point) - c;
                            let point = sub(point, scaled(0.5 * gap, n));
                            push(corner as u64, gap, point, NEAR * norm(half));
                        }
                    }
                    Shape::HalfSpace { .. } => {}
                }
            }
        }
        // spheres against each other, over a grid
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        for side in 0..sides {
            if let (Shape::Sphere(_), Some((x, ..))) = (self.shapes[side], self.body(side, &moment))
            {
                cells.push((x.map(|x| (x / self.cell).floor() as i32), side as u32));
            }
        }
        cells.sort_unstable();
        for &([i, j, k], side) in &cells {
            let Some((x, _, v)) = self.body(side as usize, &moment) else { continue };
            let Shape::Sphere(radius) = self.shapes[side as usize] else { continue };
            for di in -1..=1 {
                for dj in -1..=1 {
                    let from = [i + di, j + dj, k - 1];
                    let first = cells.partition_point(|cell| cell.0 < from);
                    for &([ci, cj, ck], other) in &cells[first..] {
                        if [ci, cj] != [i + di, j + dj] || ck > k + 1 {
                            break;
                        }
                        if other <= side {
                            continue;
                        }
                        let Some((y, _, w)) = self.body(other as usize, &moment) else { continue };
                        let Shape::Sphere(other_radius) = self.shapes[other as usize] else {
                            continue;
                        };
                        let apart = sub(x, y);
                        let distance = norm(apart);
                        let gap = distance - radius - other_radius;
                        if gap > moment.h * norm(sub(v, w)) + NEAR * radius.min(other_radius) {
                            continue;
                        }
                        let normal = scaled(1.0 / distance, apart);
                        let point = sub(x, scaled(radius + 0.5 * gap, normal));
                        let (sides, feature) = ([side, other], 0);
                        found.push(FoundContact { sides, feature, law: 0, gap, normal, point });
                    }
                }
            }
        }
        self.cells = cells;
        found.sort_unstable_by_key(|contact| (contact.sides, contact.feature));
        Ok(())
    }

    fn drive(&self, contact: &FoundContact) -> Vector {
        let [a, b] = contact.sides.map(|side| match self.shapes[side as usize] {
            Shape::HalfSpace { surface, .. } => surface,
            _ => [0.0; 3],
        });
        sub(a, b)
    }
}
