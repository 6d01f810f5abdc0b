//! Laws of contact: groups of contactors become materials, laws of groups contacts of these.
//!
//! | Siconos | here |
//! | --- | --- |
//! | `NewtonImpactNSL` | `e` |
//! | `NewtonImpactFrictionNSL` | `e`, `mu` |
//! | `NewtonImpactRollingFrictionNSL` | `e`, `mu`, `mu_r` |
//! | `FremondImpactFrictionNSL` | `e`, `mu`, and `et = (1 − θ)/θ` |
//!
//! The last one has friction against `θ u⁺ + (1 − θ) u⁻` along the tangents, which is `u⁺ + et u⁻`.
//! Laws of negative groups are those of joints. Groups without a law pass through each other.

use super::Reader;
use crate::scene_file::SceneFileError;
use saltus_mechanics::{ContactPair, Material, Part, Scene};
use std::collections::BTreeSet;

/// The material of a group.
pub(super) fn material(group: f64) -> String {
    format!("group{}", group as i64)
}

impl Reader<'_> {
    pub(super) fn laws(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        let of = |parts: &[Part]| -> Vec<String> {
            parts.iter().filter_map(|part| part.material.clone()).collect()
        };
        let bodies = scene.bodies.iter().flat_map(|body| of(&body.parts));
        let statics = scene.statics.iter().flat_map(|one| of(&one.parts));
        let mut materials: BTreeSet<String> = bodies.chain(statics).collect();
        for name in self.datasets("data/nslaws") {
            let path = format!("data/nslaws/{name}");
            let dataset = self.dataset(&path)?;
            let one = |key: &str| self.value(&path, &dataset, key);
            let groups = [one("gid1")?.unwrap_or(0.0), one("gid2")?.unwrap_or(0.0)];
            if groups.iter().any(|group| *group < 0.0) {
                continue;
            }
            let need = |key: &str| self.need(&path, &dataset, key);
            let pair = groups.map(material);
            let mut law = ContactPair::new(&*pair[0], &*pair[1]);
            let kind = self.text(&dataset, "type").unwrap_or_default();
            match kind.as_str() {
                "NewtonImpactNSL" => {}
                "NewtonImpactFrictionNSL" => law.mu = Some(need("mu")?),
                "NewtonImpactRollingFrictionNSL" => {
                    (law.mu, law.mu_r) = (Some(need("mu")?), Some(need("mu_r")?));
                }
                "FremondImpactFrictionNSL" => {
                    let theta = self.options.theta;
                    law.mu = Some(need("mu")?);
                    law.et = ((1.0 - theta) / theta).clamp(-1.0, 1.0);
                }
                kind => {
                    let [a, b] = groups;
                    let so = format!("groups {a} and {b} PASS THROUGH EACH OTHER");
                    self.aside(&path, format!("a law of type `{kind}`, so {so}"));
                    continue;
                }
            }
            law.e = one("e")?.unwrap_or(0.0);
            materials.extend(pair);
            scene.contacts.push(law);
        }
        if !scene.contacts.is_empty() {
            let all = ContactPair { touch: false, ..ContactPair::new("default", "default") };
            scene.contacts.push(all);
        }
        let material = |name| Material { name, density: None };
        scene.materials.extend(materials.into_iter().map(material));
        Ok(())
    }
}
