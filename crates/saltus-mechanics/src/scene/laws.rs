//! The law of every pair of materials, from the pairs that a scene describes.

use super::{ContactPair, DEFAULT, Member, Scene, SceneError, SceneFault};
use crate::PairLaws;
use saltus_model::{Elasticity, Law};

/// The materials of a scene by position: those listed, and the default one where it is not.
pub(crate) struct Materials<'a> {
    pub names: Vec<&'a str>,
}

impl Scene {
    /// All materials, each with a name of its own.
    pub(crate) fn all_materials(&self) -> Result<Materials<'_>, SceneError> {
        let mut names: Vec<&str> = Vec::with_capacity(self.materials.len() + 1);
        for (k, material) in self.materials.iter().enumerate() {
            self.check_material(k)?;
            names.push(&material.name);
        }
        if !names.contains(&DEFAULT) {
            names.push(DEFAULT);
        }
        Ok(Materials { names })
    }

    pub(super) fn check_material(&self, k: usize) -> Result<(), SceneError> {
        let (at, material) = (Member::Material(k), &self.materials[k]);
        if self.materials[..k].iter().any(|other| other.name == material.name) {
            return Err(self.duplicate(at));
        }
        match material.density {
            Some(value) if !(value > 0.0 && value.is_finite()) => {
                let (key, allowed) = ("density", "a positive number");
                Err(self.error(at, key, SceneFault::Range { key, value, allowed }))
            }
            _ => Ok(()),
        }
    }

    /// The laws by pair; an error where two of `meeting` materials have none.
    pub(crate) fn pair_laws(
        &self,
        materials: &Materials<'_>,
        meeting: impl Fn(usize, usize) -> bool,
    ) -> Result<PairLaws, SceneError> {
        let mut laws = Vec::with_capacity(self.contacts.len());
        for (k, pair) in self.contacts.iter().enumerate() {
            for name in &pair.materials {
                if !materials.names.contains(&name.as_str()) {
                    let known = materials.names.iter().copied();
                    let fault = SceneFault::unknown("material", name, known);
                    return Err(self.error(Member::Contact(k), "materials", fault));
                }
            }
            self.check_contact(k)?;
            laws.push(pair.law());
        }
        let count = materials.names.len();
        let mut of_pair = Vec::with_capacity(count * (count + 1) / 2);
        for b in 0..count {
            for a in 0..=b {
                let names = [materials.names[a], materials.names[b]];
                of_pair.push(match self.find_pair(names) {
                    Ok(Some(k)) => self.contacts[k].touch.then_some(k as u32),
                    Err(fault) if meeting(a, b) => {
                        return Err(self.error(Member::Scene, "contact", fault));
                    }
                    Ok(None) if meeting(a, b) => {
                        let [a, b] = names.map(str::to_string);
                        let fault = SceneFault::NoLaw { a, b };
                        return Err(self.error(Member::Scene, "contact", fault));
                    }
                    _ => None,
                });
            }
        }
        let elastic = self.contacts.iter().map(|pair| pair.elastic).collect();
        Ok(PairLaws { laws, elastic, of_pair })
    }

    pub(super) fn check_contact(&self, k: usize) -> Result<(), SceneError> {
        let (at, pair) = (Member::Contact(k), &self.contacts[k]);
        let is_same = |other: &&ContactPair| is_pair(other, &pair.materials);
        if let Some(other) = self.contacts[..k].iter().find(is_same) {
            let [a, b] = other.materials.clone();
            return Err(self.error(at, "materials", SceneFault::SamePair { a, b }));
        }
        let (unit, any) = ("in [0, 1]", "not negative");
        let numbers: [(&'static str, Option<f64>, f64, f64, &'static str); 4] = [
            ("e", Some(pair.e), 0.0, 1.0, unit),
            ("mu", pair.mu, 0.0, f64::MAX, any),
            ("mu_r", pair.mu_r, 0.0, f64::MAX, any),
            ("et", Some(pair.et), -1.0, 1.0, "in [-1, 1]"),
        ];
        for (key, value, least, most, allowed) in numbers {
            if let Some(value) = value
                && !(least..=most).contains(&value)
            {
                return Err(self.error(at, key, SceneFault::Range { key, value, allowed }));
            }
        }
        if let Some(elastic) = pair.elastic {
            let Elasticity { stiffness, damping, tangential } = elastic;
            let springs = [
                ("stiffness", stiffness),
                ("damping", damping),
                ("tangential_stiffness", tangential),
            ];
            for (key, value) in springs {
                // a damper may be none
                let is_damper = key == "damping";
                let enough = if is_damper { value >= 0.0 } else { value > 0.0 };
                if !(enough && value.is_finite()) {
                    let allowed = if is_damper { "not negative" } else { "positive" };
                    return Err(self.error(at, key, SceneFault::Range { key, value, allowed }));
                }
            }
            if pair.mu.is_none() && pair.mu_r.is_none() && tangential != stiffness {
                let (key, value) = ("tangential_stiffness", tangential);
                let allowed =
                    "given only with `mu`: without friction nothing acts along the tangents";
                return Err(self.error(at, key, SceneFault::Range { key, value, allowed }));
            }
            let allowed = "0 where `stiffness` is given: springs and dampers say how it rebounds";
            for (key, value) in [("e", pair.e), ("et", pair.et)] {
                if value != 0.0 {
                    return Err(self.error(at, key, SceneFault::Range { key, value, allowed }));
                }
            }
        }
        if !pair.touch {
            let given = |value: f64| Some(value).filter(|value| *value != 0.0);
            let settings = [
                ("e", given(pair.e)),
                ("mu", pair.mu),
                ("mu_r", pair.mu_r),
                ("et", given(pair.et)),
                ("stiffness", pair.elastic.map(|elastic| elastic.stiffness)),
            ];
            if let Some((key, value)) =
                settings.into_iter().find_map(|(key, value)| Some((key, value?)))
            {
                let allowed = NO_TOUCH;
                return Err(self.error(at, key, SceneFault::Range { key, value, allowed }));
            }
        }
        // it would have no effect
        let allowed = match (pair.mu, pair.mu_r) {
            (_, Some(_)) => {
                "0 where `mu_r` is given: rolling friction has no tangential restitution"
            }
            (None, None) => "0 where `mu` is not given: it takes friction",
            (Some(_), None) => return Ok(()),
        };
        match pair.et == 0.0 {
            true => Ok(()),
            false => {
                let (key, value) = ("et", pair.et);
                Err(self.error(at, key, SceneFault::Range { key, value, allowed }))
            }
        }
    }

    /// The pair that counts for two materials: their own, one with the default material, or that of
    /// the default material with itself.
    fn find_pair(&self, names: [&str; 2]) -> Result<Option<usize>, SceneFault> {
        let find = |names: [&str; 2]| {
            self.contacts.iter().position(|pair| is_pair(pair, &names.map(str::to_string)))
        };
        let [a, b] = names;
        if let Some(own) = find([a, b]) {
            return Ok(Some(own));
        }
        match (find([a, DEFAULT]), find([b, DEFAULT])) {
            (Some(one), Some(other)) if one != other => {
                Err(SceneFault::Ambiguous { a: a.to_string(), b: b.to_string() })
            }
            (Some(one), _) | (None, Some(one)) => Ok(Some(one)),
            (None, None) => Ok(find([DEFAULT, DEFAULT])),
        }
    }
}

/// What stands beside `touch = false`.
const NO_TOUCH: &str = "nothing where `touch` is false: they pass through each other";

/// Whether a pair is that of two materials, in either order.
fn is_pair(pair: &ContactPair, [a, b]: &[String; 2]) -> bool {
    let [c, d] = &pair.materials;
    (a == c && b == d) || (a == d && b == c)
}

impl ContactPair {
    /// The same with springs and dampers as tables and calls give them, each of them or none: without a
    /// stiffness there are no others; tangential springs have that of the normal unless given.
    pub fn giving_way(
        mut self,
        stiffness: Option<f64>,
        damping: Option<f64>,
        tangential: Option<f64>,
    ) -> Result<Self, SceneFault> {
        self.elastic = stiffness.map(|stiffness| {
            let (damping, tangential) = (damping.unwrap_or(0.0), tangential.unwrap_or(stiffness));
            Elasticity { stiffness, damping, tangential }
        });
        let others = [("damping", damping), ("tangential_stiffness", tangential)];
        let alone = others.into_iter().find_map(|(key, value)| Some((key, value?)));
        match alone.filter(|_| stiffness.is_none()) {
            Some((key, value)) if !self.touch => {
                Err(SceneFault::Range { key, value, allowed: NO_TOUCH })
            }
            Some((key, _)) => Err(SceneFault::Missing { key: "stiffness", needed: key }),
            None => Ok(self),
        }
    }

    /// The law.
    pub fn law(&self) -> Law {
        let (e, mu) = (self.e.into(), self.mu.unwrap_or(0.0).into());
        match (self.mu, self.mu_r) {
            (_, Some(mu_r)) => Law::RollingFriction { e, mu, mu_r: mu_r.into() },
            (Some(_), None) => Law::ImpactFriction { e, mu, et: self.et },
            (None, None) => Law::NewtonImpact { e },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    /// A tangential restitution that the law would not have is an error.
    #[test]
    fn tangential_restitution_needs_friction_without_rolling() {
        let check = |mu, mu_r, expected: Option<&str>| {
            let mut scene = Scene::new("");
            let ball = Shape::Sphere { radius: 1.0 };
            scene.bodies.push(super::super::BodySpec::new("b", ball).mass(1.0));
            scene.contacts.push(ContactPair {
                mu,
                mu_r,
                et: 0.5,
                ..ContactPair::new(DEFAULT, DEFAULT)
            });
            let error = scene.model().err().map(|error| error.to_string());
            assert_eq!(error.is_some(), expected.is_some());
            if let (Some(error), Some(expected)) = (error, expected) {
                let owner = "contact of `default` and `default`: `et` is 0.5, expected 0";
                assert!(error.starts_with(owner) && error.contains(expected), "{error}");
            }
        };
        check(Some(0.3), None, None);
        check(Some(0.3), Some(0.1), Some("where `mu_r` is given"));
        check(None, None, Some("where `mu` is not given"));
    }

    /// What passes through has no law.
    #[test]
    fn pairs_that_do_not_touch_have_nothing_else() {
        let check = |pair: ContactPair, expected: Option<&str>| {
            let mut scene = Scene::new("");
            let ball = Shape::Sphere { radius: 1.0 };
            scene.bodies.push(super::super::BodySpec::new("b", ball).mass(1.0));
            scene.contacts.push(ContactPair { touch: false, ..pair });
            let error = scene.model().err().map(|error| error.to_string());
            let why = "expected nothing where `touch` is false: they pass through each other";
            let owner = "contact of `default` and `default`";
            assert_eq!(error, expected.map(|given| format!("{owner}: {given}, {why}")));
        };
        let pair = || ContactPair::new(DEFAULT, DEFAULT);
        check(pair(), None);
        check(pair().restitution(0.5), Some("`e` is 0.5"));
        check(pair().friction(0.0), Some("`mu` is 0"));
        check(pair().rolling(0.1), Some("`mu_r` is 0.1"));
        check(pair().elastic(1e6, 0.0), Some("`stiffness` is 1000000"));
    }

    /// Dampers and tangential springs stand beside springs.
    #[test]
    fn springs_before_dampers() {
        let pair = |k, c, t| ContactPair::new(DEFAULT, DEFAULT).giving_way(k, c, t);
        let parts = |pair: ContactPair| pair.elastic.map(|it| (it.damping, it.tangential));
        assert_eq!(pair(None, None, None).map(parts), Ok(None));
        assert_eq!(pair(Some(3.0), None, None).map(parts), Ok(Some((0.0, 3.0))));
        assert_eq!(pair(Some(3.0), Some(1.0), Some(2.0)).map(parts), Ok(Some((1.0, 2.0))));
        for (c, t, needed) in
            [(Some(0.0), None, "damping"), (None, Some(1.0), "tangential_stiffness")]
        {
            let key = "stiffness";
            assert_eq!(pair(None, c, t), Err(SceneFault::Missing { key, needed }));
            // they have no place there, with a stiffness or without
            let apart = ContactPair { touch: false, ..ContactPair::new(DEFAULT, DEFAULT) };
            let told = apart.giving_way(None, c, t).map_err(|fault| fault.to_string());
            let value = c.or(t).unwrap();
            assert_eq!(told, Err(format!("`{needed}` is {value}, expected {NO_TOUCH}")));
        }
    }
}
