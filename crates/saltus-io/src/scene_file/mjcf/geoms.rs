//! Shapes of bodies, and the laws where they touch.

use super::super::xml::{Pose, children};
use super::{Reader, SceneFileError, upright};
use roxmltree::Node;
use saltus_mechanics::{BodySpec, ContactPair, Material, Part, Scene, Shape};
use saltus_model::rotation::{add, norm, scaled, sub};
use std::f64::consts::PI;

/// What geoms of one material have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kind {
    /// Friction against sliding, and against rolling.
    mu: f64,
    mu_r: f64,
    /// 1: no friction; 3: sliding; 6: also rolling.
    condim: f64,
    priority: f64,
    /// `contype` and `conaffinity`.
    masks: [u64; 2],
    density: f64,
}

impl Kind {
    /// What of two holds where they touch: that of the larger priority, or the larger of each.
    fn with(&self, other: &Kind) -> Kind {
        if self.priority != other.priority {
            return if self.priority > other.priority { *self } else { *other };
        }
        let (mu, mu_r) = (self.mu.max(other.mu), self.mu_r.max(other.mu_r));
        Kind { mu, mu_r, condim: self.condim.max(other.condim), ..*self }
    }
}

impl<'a> Reader<'a> {
    /// The geoms of a body, in the frame of its shapes, which is at `frame`; `weighs`: the mass of the
    /// body is theirs.
    pub(super) fn parts(
        &mut self,
        node: Node<'a, 'a>,
        class: &str,
        frame: Pose,
        weighs: bool,
    ) -> Result<Vec<Part>, SceneFileError> {
        let mut parts = Vec::new();
        for geom in children(node, "geom") {
            let mask = |name| Ok::<_, SceneFileError>(self.number(geom, class, name, 1.0)? as u64);
            let masks = [mask("contype")?, mask("conaffinity")?];
            let touches = masks != [0, 0];
            self.tell_unknown(geom, class);
            let counts = touches || (weighs && self.has_mass(geom, class)?);
            let Some((shape, volume, own)) = self.shape(geom, class, counts)? else { continue };
            let density = self.number(geom, class, "density", 1000.0)?;
            let density = match self.numbers(geom, class, "mass")? {
                Some([mass]) => mass / volume,
                None => density,
            };
            let [mu, _, mu_r] = self.friction(geom, class)?;
            let condim = self.number(geom, class, "condim", 3.0)?;
            if touches && condim >= 4.0 {
                self.tell(
                    "friction against spinning of geoms whose `condim` is 4 or 6".to_string(),
                );
            }
            let priority = self.number(geom, class, "priority", 0.0)?;
            let kind = Kind { mu, mu_r, condim, priority, masks, density };
            let place = self.kinds.iter().position(|known| *known == kind);
            let place = place.unwrap_or_else(|| {
                self.kinds.push(kind);
                self.kinds.len() - 1
            });
            let at = frame.then(own);
            parts.push(Part {
                shape,
                position: at.x,
                orientation: at.p,
                material: Some(material(place)),
                // what has neither mass nor contacts is drawn
                touch: touches || density > 0.0,
            });
        }
        Ok(parts)
    }

    /// Against sliding, spinning and rolling; what a geom does not say is that of its class.
    fn friction(&self, geom: Node<'a, 'a>, class: &str) -> Result<[f64; 3], SceneFileError> {
        let class = geom.attribute("class").unwrap_or(class);
        let inherited = self.defaults.get(class).and_then(|own| own.get(&("geom", "friction")));
        let mut friction = [1.0, 0.005, 1e-4];
        for text in [inherited.copied(), geom.attribute("friction")].into_iter().flatten() {
            let given = self.parsed(geom, "friction", text)?;
            friction.iter_mut().zip(given).for_each(|(own, given)| *own = given);
        }
        if let Some(value) = friction.into_iter().find(|value| *value < 0.0) {
            let what = format!("`friction` has {value}, expected numbers that are not negative");
            return Err(self.xml.content(geom, what));
        }
        Ok(friction)
    }

    /// Whether a geom weighs something.
    pub(super) fn has_mass(&self, geom: Node<'a, 'a>, class: &str) -> Result<bool, SceneFileError> {
        let density = self.number(geom, class, "density", 1000.0)?;
        let mass = self.number(geom, class, "mass", density)?;
        for (key, value) in [("mass", mass), ("density", density)] {
            if value < 0.0 && self.text(geom, class, key)?.is_some() {
                let what = format!("`{key}` is {value}, expected a {key} that is not negative");
                return Err(self.xml.content(geom, what));
            }
        }
        Ok(mass > 0.0)
    }

    /// The shape of a geom, its volume, and its place in the frame of the body; nothing where it
    /// is not read and `counts` for no motion.
    fn shape(
        &mut self,
        geom: Node<'a, 'a>,
        class: &str,
        counts: bool,
    ) -> Result<Option<(Shape, f64, Pose)>, SceneFileError> {
        let kind = self.text(geom, class, "type")?.unwrap_or("sphere");
        let mut size = self.list(geom, class, "size")?.unwrap_or_default();
        let mut pose = self.pose(geom, class)?;
        if let Some([a, b, c, d, e, f]) = self.numbers(geom, class, "fromto")? {
            let (from, to) = ([a, b, c], [d, e, f]);
            let p = upright(sub(to, from))
                .ok_or_else(|| self.xml.content(geom, "`fromto` has no length"))?;
            pose = Pose { x: scaled(0.5, add(from, to)), p };
            let half = 0.5 * norm(sub(to, from));
            match kind {
                "box" => size = vec![size.first().copied().unwrap_or(0.0); 2],
                _ => size.truncate(1),
            }
            size.push(half);
        }
        let need = |count: usize| match size.get(..count) {
            Some(sizes) => match sizes.iter().find(|one| !(**one > 0.0)) {
                None => Ok(()),
                Some(one) => {
                    let what = format!("`size` has {one}, expected positive numbers");
                    Err(self.xml.content(geom, what))
                }
            },
            None => {
                let what = format!("a geom of type `{kind}` needs {count} sizes");
                Err(self.xml.content(geom, format!("{what}, found {}", size.len())))
            }
        };
        let (shape, volume) = match kind {
            "sphere" => {
                need(1)?;
                (Shape::Sphere { radius: size[0] }, 4.0 / 3.0 * PI * size[0].powi(3))
            }
            "capsule" | "cylinder" => {
                need(2)?;
                let (radius, length) = (size[0], 2.0 * size[1]);
                let middle = PI * radius * radius * length;
                match kind {
                    "capsule" => {
                        let ends = 4.0 / 3.0 * PI * radius.powi(3);
                        (Shape::Capsule { radius, length }, middle + ends)
                    }
                    _ => (Shape::Cylinder { radius, length }, middle),
                }
            }
            "box" => {
                need(3)?;
                let edges = [0, 1, 2].map(|k| 2.0 * size[k]);
                (Shape::Box { edges }, edges.iter().product())
            }
            "plane" => (Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }, 1.0),
            _ if !counts => {
                self.left_aside.push(format!("a geom of type `{kind}` that touches nothing"));
                return Ok(None);
            }
            _ => {
                let name = geom.attribute("name").or(geom.attribute("mesh")).unwrap_or("");
                let what = format!("the geom `{name}` is of type `{kind}`, which is not read");
                let known = "sphere, capsule, cylinder, box and plane are";
                return Err(self.xml.content(geom, format!("{what}; {known}")));
            }
        };
        Ok(Some((shape, volume, pose)))
    }

    /// Where some of the geoms that touch weigh nothing, the mass of a body is that of the others.
    fn weigh(&mut self) {
        for k in 0..self.scene.bodies.len() {
            let body = &self.scene.bodies[k];
            let has_density = |part: &Part| {
                let of = |one: &&Material| Some(&one.name) == part.material.as_ref();
                self.scene.materials.iter().find(of).is_some_and(|one| one.density.is_some())
            };
            if body.mass.is_some() || body.parts.iter().all(|part| !part.touch || has_density(part))
            {
                continue;
            }
            let mut alone = Scene::new("");
            alone.materials.clone_from(&self.scene.materials);
            let parts = body.parts.iter().filter(|part| has_density(part)).cloned().collect();
            alone.bodies.push(BodySpec { parts, ..body.clone() });
            // what is wrong with it is said where the scene is built
            if let Ok(found) = alone.mass_of(0) {
                let body = &mut self.scene.bodies[k];
                (body.mass, body.center) = (Some(found.mass), Some(found.center));
                body.inertia = Some(found.inertia);
            }
        }
    }

    /// Materials, and what happens where two of them touch.
    pub(super) fn laws(&mut self) {
        for (k, kind) in self.kinds.iter().enumerate() {
            let density = (kind.density != 0.0).then_some(kind.density);
            self.scene.materials.push(Material { name: material(k), density });
        }
        self.weigh();
        for (i, one) in self.kinds.iter().enumerate() {
            for (j, other) in self.kinds.iter().enumerate().skip(i) {
                let Kind { mu, mu_r, condim, .. } = one.with(other);
                let mut pair = ContactPair::new(material(i), material(j));
                let [[contype, conaffinity], [other_type, other_affinity]] =
                    [one.masks, other.masks];
                pair.touch = contype & other_affinity != 0 || other_type & conaffinity != 0;
                if pair.touch {
                    pair.mu = (mu > 0.0 && condim >= 3.0).then_some(mu);
                    pair.mu_r = (mu_r > 0.0 && mu > 0.0 && condim >= 6.0).then_some(mu_r);
                }
                self.scene.contacts.push(pair);
            }
        }
    }
}
/// The name of a material.
fn material(place: usize) -> String {
    format!("geom {}", place + 1)
}
