//! Colliders, made ready: who may touch whom, and which shapes there are.

use super::FinderError;
use super::solid::{Place, Solid, flatten};
use crate::{Colliders, Drive, PairLaws, Shape};
use saltus_model::{Body, Law, Side};

/// A shape of a side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub side: u32,
    pub solid: u32,
    pub place: u32,
    pub material: u32,
    /// Its first feature among those of the side.
    pub feature: u32,
    /// How far it reaches from the origin of the side.
    pub radius: f64,
    /// What a turn of the side moves it by, for each radian.
    pub lever: f64,
    /// What lengths are compared with.
    pub size: f64,
}

/// Everything that does not change.
#[derive(Debug)]
pub(super) struct Plan {
    pub space: Body,
    pub sides: Vec<Side>,
    pub laws: PairLaws,
    /// Of the sides that are driven, sorted by side.
    pub drives: Vec<(u32, Drive)>,
    /// Sorted, the smaller side first.
    apart: Vec<[u32; 2]>,
    /// Sides that are in `apart`.
    shy: Vec<bool>,
    /// By side.
    pub items: Vec<Item>,
    pub solids: Vec<Solid>,
    pub places: Vec<Place>,
    /// Positions of items that can move, that stand still, and that have no end.
    pub moving: Vec<u32>,
    pub standing: Vec<u32>,
    pub endless: Vec<u32>,
    /// Whether every side has one shape at most.
    pub single: bool,
}

impl Plan {
    pub fn new(space: Body, colliders: &Colliders) -> Result<Plan, FinderError> {
        check_lists(space, colliders)?;
        let count = colliders.sides.len();
        let mut shy = vec![false; count];
        let mut apart = Vec::with_capacity(colliders.apart.len());
        for &[a, b] in &colliders.apart {
            (shy[a], shy[b]) = (true, true);
            apart.push([a.min(b) as u32, a.max(b) as u32]);
        }
        apart.sort_unstable();
        apart.dedup();
        let mut plan = Plan {
            space,
            sides: colliders.sides.clone(),
            laws: colliders.laws.clone(),
            drives: {
                let drives = colliders.drives.iter().enumerate();
                drives.filter_map(|(k, drive)| Some((k as u32, drive.clone()?))).collect()
            },
            apart,
            shy,
            items: Vec::with_capacity(colliders.shapes.len()),
            solids: Vec::new(),
            places: Vec::new(),
            moving: Vec::new(),
            standing: Vec::new(),
            endless: Vec::new(),
            single: true,
        };
        plan.take_shapes(colliders)?;
        plan.sort_items();
        Ok(plan)
    }

    /// Shapes that are the same are kept once.
    fn take_shapes(&mut self, colliders: &Colliders) -> Result<(), FinderError> {
        let mut features = vec![0_u32; self.sides.len()];
        let mut known: Known = Known::default();
        let mut parts = Vec::new();
        let mut order: Vec<usize> = (0..colliders.shapes.len()).collect();
        order.sort_by_key(|&k| colliders.shapes[k].side);
        for k in order {
            let collider = &colliders.shapes[k];
            let name = || self.sides[collider.side].name.to_string();
            let fail = |source| FinderError::Shape { side: name(), source };
            collider.placed.check(self.space).map_err(fail)?;
            parts.clear();
            flatten(&collider.placed, &mut parts);
            for part in &parts {
                let solid = match known.find(&part.shape) {
                    Some(solid) => solid,
                    None => {
                        self.solids.push(Solid::new(&part.shape).map_err(fail)?);
                        known.add(&part.shape, self.solids.len() - 1)
                    }
                };
                let body = &self.solids[solid];
                if body.endless() && self.sides[collider.side].system.is_some() {
                    return Err(FinderError::PlaneOnBody { side: name() });
                }
                let place = Place::new(part);
                let item = Item {
                    side: collider.side as u32,
                    solid: solid as u32,
                    place: self.places.len() as u32,
                    material: collider.material as u32,
                    feature: features[collider.side],
                    radius: body.radius(&place),
                    lever: body.lever(&place),
                    size: body.size(),
                };
                let next = features[collider.side].checked_add(body.features());
                features[collider.side] =
                    next.ok_or_else(|| FinderError::Large { side: name() })?;
                let item = match self.places.last() {
                    Some(last) if last.own && place.own => Item { place: item.place - 1, ..item },
                    _ => {
                        self.places.push(place);
                        item
                    }
                };
                self.items.push(item);
            }
        }
        Ok(())
    }

    fn sort_items(&mut self) {
        for (k, item) in self.items.iter().enumerate() {
            let side = item.side as usize;
            let list = if self.solids[item.solid as usize].endless() {
                &mut self.endless
            } else if self.moves(side) {
                &mut self.moving
            } else {
                &mut self.standing
            };
            list.push(k as u32);
        }
        self.single = self.items.windows(2).all(|pair| pair[0].side != pair[1].side);
    }

    /// Whether its shapes change their place.
    pub fn moves(&self, side: usize) -> bool {
        let driven = |drive: &Drive| drive.position.is_some() || drive.omega.is_some();
        let place = self.drives.binary_search_by_key(&(side as u32), |(side, _)| *side);
        self.sides[side].system.is_some() || place.is_ok_and(|k| driven(&self.drives[k].1))
    }

    /// The law of two shapes; none where they do not touch each other.
    #[inline]
    pub fn law(&self, a: &Item, b: &Item) -> Option<u32> {
        let (s, t) = (a.side as usize, b.side as usize);
        if s == t || (self.sides[s].system.is_none() && self.sides[t].system.is_none()) {
            return None;
        }
        if self.shy[s] && self.shy[t] {
            let pair = [a.side.min(b.side), a.side.max(b.side)];
            if self.apart.binary_search(&pair).is_ok() {
                return None;
            }
        }
        self.laws.law(a.material as usize, b.material as usize)
    }
}

/// Shapes that have been seen: those with few numbers by these numbers.
#[derive(Default)]
struct Known {
    simple: std::collections::HashMap<(&'static str, [u64; 4]), usize>,
}

impl Known {
    fn key(shape: &Shape) -> Option<(&'static str, [u64; 4])> {
        let numbers: [f64; 4] = match shape {
            Shape::Sphere { radius } | Shape::Disk { radius } => [*radius, 0.0, 0.0, 0.0],
            Shape::Box { edges: [a, b, c] } => [*a, *b, *c, 0.0],
            Shape::Capsule { radius, length } | Shape::Cylinder { radius, length } => {
                [*radius, *length, 0.0, 0.0]
            }
            Shape::Cone { radius, height } => [*radius, *height, 0.0, 0.0],
            Shape::Plane { normal: [a, b, c], offset } => [*a, *b, *c, *offset],
            _ => return None,
        };
        Some((shape.name(), numbers.map(f64::to_bits)))
    }

    fn find(&self, shape: &Shape) -> Option<usize> {
        self.simple.get(&Known::key(shape)?).copied()
    }

    fn add(&mut self, shape: &Shape, solid: usize) -> usize {
        if let Some(key) = Known::key(shape) {
            self.simple.insert(key, solid);
        }
        solid
    }
}

fn check_lists(space: Body, colliders: &Colliders) -> Result<(), FinderError> {
    let sides = colliders.sides.len();
    let position = |owner: String, what, found: usize, count: usize| {
        if found < count {
            Ok(())
        } else {
            Err(FinderError::Position { owner, what, found, count })
        }
    };
    if colliders.drives.len() != sides {
        return Err(FinderError::Drives { found: colliders.drives.len(), expected: sides });
    }
    for (side, drive) in colliders.sides.iter().zip(&colliders.drives) {
        let Some(drive) = drive else { continue };
        if side.system.is_some() {
            return Err(FinderError::BodyDriven { side: side.name.to_string() });
        }
        let (wide, turns) = match space {
            Body::Space => (3, 3),
            Body::Plane => (2, 1),
        };
        for (what, operator, expected) in
            [("position", &drive.position, wide), ("omega", &drive.omega, turns)]
        {
            let Some(operator) = operator else { continue };
            let (rows, cols) = operator.shape();
            if rows * cols != expected {
                let side = side.name.to_string();
                return Err(FinderError::Drive { side, what, found: rows * cols, expected });
            }
        }
    }
    for (k, collider) in colliders.shapes.iter().enumerate() {
        position(format!("shape {k}"), "side", collider.side, sides)?;
    }
    for (k, pair) in colliders.apart.iter().enumerate() {
        for &side in pair {
            position(format!("entry {k} of `apart`"), "side", side, sides)?;
        }
    }
    for (k, law) in colliders.laws.of_pair.iter().enumerate() {
        if let Some(law) = law {
            let owner = format!("entry {k} of `of_pair`");
            position(owner, "law", *law as usize, colliders.laws.laws.len())?;
        }
    }
    for (index, law) in colliders.laws.laws.iter().enumerate() {
        if !matches!(
            law,
            Law::NewtonImpact { .. } | Law::ImpactFriction { .. } | Law::RollingFriction { .. }
        ) {
            return Err(FinderError::Law { index, found: law.name() });
        }
    }
    Ok(())
}
