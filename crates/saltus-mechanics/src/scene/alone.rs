//! What is wrong with one part of a scene, as soon as it is said: all that needs no part that may be said
//! later. Materials may be, so their densities count only where they are known.

use super::build::key_of;
use super::{BodySpec, Member, Scene, SceneError, SceneFault};
use crate::MassProperties;
use saltus_model::Model;
use saltus_model::rotation::{IDENTITY, normalized};

/// The mass of a body whose material is not known yet.
const STAND_IN: MassProperties = MassProperties {
    mass: 1.0,
    center: [0.0; 3],
    inertia: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
};

impl Scene {
    /// Finds what is wrong with one part, whatever is said of the scene after it; a joint comes after its
    /// bodies. Names that are used twice are left to [`duplicate`](Self::duplicate), but for materials.
    pub fn check(&self, member: Member) -> Result<(), SceneError> {
        match member {
            Member::Scene => match self.gravity.iter().find(|one| !one.is_finite()) {
                None => Ok(()),
                Some(&value) => {
                    let (key, allowed) = ("gravity", "finite numbers");
                    Err(self.error(member, key, SceneFault::Range { key, value, allowed }))
                }
            },
            Member::Material(k) => self.check_material(k),
            Member::Contact(k) => self.check_contact(k),
            Member::Static(k) => {
                let one = &self.statics[k];
                self.check_static(k, one)?;
                self.drive(k, one)?;
                let turn = normalized(one.orientation);
                let turn = turn.ok_or_else(|| self.no_turn(member, one.orientation))?;
                let mut parts = one.parts.iter().filter(|part| part.touch);
                parts.try_for_each(|part| self.placed(member, part, one.position, turn).map(drop))
            }
            Member::Body(k) => {
                let body = &self.bodies[k];
                self.check_body(k, body)?;
                for part in body.parts.iter().filter(|part| part.touch) {
                    self.placed(member, part, [0.0; 3], IDENTITY)?;
                }
                self.add_alone(k, &mut Model::new(""))
            }
            Member::Joint(k) => {
                let link = &self.joints[k];
                let mut model = Model::new("");
                let follows = link.follows.as_ref();
                let other = follows.map(|follows| follows.joint.as_str());
                let other = self.joints.iter().find(|one| Some(one.name.as_str()) == other);
                let others = other.map_or(&[][..], |other| &other.bodies);
                for name in link.bodies.iter().chain(others) {
                    // those of a chain come one after the other
                    let place = self.bodies.iter().rposition(|body| body.name == *name);
                    if let Some(place) = place.filter(|_| model.system_id(name).is_err()) {
                        self.add_alone(place, &mut model)?;
                    }
                }
                self.connect(k, link, &mut model)?;
                match follows.filter(|_| other.is_some()) {
                    Some(follows) => self.follow(k, link, follows, &mut model),
                    None => Ok(()),
                }
            }
        }
    }

    /// A body in a model, with another mass where its material is not known yet.
    fn add_alone(&self, k: usize, model: &mut Model) -> Result<(), SceneError> {
        let body = &self.bodies[k];
        let mass = match self.is_weighed(body) {
            true => self.mass_of(k)?,
            false => {
                self.check_given_mass(k, body)?;
                let mass = body.mass.unwrap_or(STAND_IN.mass);
                let inertia = body.inertia.unwrap_or(STAND_IN.inertia);
                MassProperties { mass, center: body.center.unwrap_or_default(), inertia }
            }
        };
        let system = self.system(k, mass, model.t0())?;
        let added = model.add(&body.name, system);
        added.map(drop).map_err(|error| self.error(Member::Body(k), key_of(&error), error))
    }

    /// Whether all materials are known that a body weighs by.
    fn is_weighed(&self, body: &BodySpec) -> bool {
        let mut parts = body.parts.iter().filter(|part| part.touch);
        parts.all(|part| {
            let name = part.material.as_ref().unwrap_or(&body.material);
            self.materials.iter().any(|material| material.name == *name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ContactPair, Follows, Given, JointLink, Material, StaticSpec};
    use super::*;
    use crate::{Joint, Shape};

    fn ball(name: &str) -> BodySpec {
        BodySpec::new(name, Shape::Sphere { radius: 0.5 }).of("stone")
    }

    fn hinge(bodies: &[&str]) -> JointLink {
        let joint = Joint::Pivot { point: [0.0; 3], axis: [0.0, 1.0, 0.0] };
        JointLink::new("hinge", joint, bodies)
    }

    #[track_caller]
    fn check(scene: &Scene, member: Member, expected: &str) {
        let error = scene.check(member).expect_err("it is wrong");
        assert_eq!((error.to_string().as_str(), error.member), (expected, member));
    }

    /// Each part is checked when it is said, whatever comes after it.
    #[test]
    fn parts_in_any_order() {
        let mut scene = Scene::new("");
        scene.contacts.push(ContactPair::new("stone", "default"));
        scene.check(Member::Contact(0)).expect("a material that may come");
        scene.bodies.push(ball("a"));
        scene.check(Member::Body(0)).expect("likewise");
        scene.joints.push(hinge(&["a"]));
        scene.check(Member::Joint(0)).expect("its body is there");
        scene.joints.push(JointLink {
            follows: Some(Follows { joint: "later".to_string(), ratio: 1.0 }),
            ..JointLink::new("other", hinge(&[]).joint, &["a"])
        });
        scene.check(Member::Joint(1)).expect("a joint that may come");
        scene.materials.push(Material::new("stone", 2500.0));
        scene.check(Member::Material(0)).expect("a material");
        scene.joints.pop();
        scene.model().expect("a scene");
    }

    #[test]
    fn what_is_wrong_with_one_part() {
        let mut scene = Scene::new("");
        scene.materials = vec![Material::new("stone", 1.0), Material::new("stone", 2.0)];
        scene.materials.push(Material { name: "air".to_string(), density: None });
        let twice = "material `stone`: the name is used twice; names of materials must differ";
        check(&scene, Member::Material(1), twice);
        scene.materials[1].name = "gas".to_string();
        scene.materials[1].density = Some(-1.0);
        check(
            &scene,
            Member::Material(1),
            "material `gas`: `density` is -1, expected a positive number",
        );
        scene.contacts.push(ContactPair::new("stone", "new").friction(-1.0));
        check(
            &scene,
            Member::Contact(0),
            "contact of `stone` and `new`: `mu` is -1, expected not negative",
        );
        let mut wall = StaticSpec::new("wall", Shape::Sphere { radius: -1.0 });
        scene.statics.push(wall.clone());
        let small = "static `wall`: sphere: `radius` = -1 is outside (0, inf)";
        check(&scene, Member::Static(0), small);
        wall = StaticSpec {
            orientation: [0.0; 4],
            ..StaticSpec::new("wall", Shape::Sphere { radius: 1.0 })
        };
        scene.statics[0] = wall;
        assert!(scene.check(Member::Static(0)).is_err());
    }

    #[test]
    fn what_is_wrong_with_one_body() {
        let said = |change: &dyn Fn(&mut BodySpec)| {
            let mut scene = Scene::new("");
            scene.bodies.push(ball("b"));
            change(&mut scene.bodies[0]);
            scene.check(Member::Body(0)).expect_err("it is wrong").to_string()
        };
        assert_eq!(
            said(&|body| body.v[1] = f64::NAN),
            "system `b`: `v`[1] is NaN, expected a finite number"
        );
        assert_eq!(
            said(&|body| body.mass = Some(0.0)),
            "body `b`: `mass` is 0, expected a positive number"
        );
        assert_eq!(
            said(&|body| body.parts.clear()),
            "body `b`: it has no mass: give it a shape and a density, or `mass` and `inertia`"
        );
        assert!(said(&|body| body.force = Some(Given::from(["x"]))).contains("`force`"));
        assert!(said(&|body| body.death = Some(-1.0)).contains("`death` is -1"));
        // one whose material is known, and has no density
        let mut scene = Scene::new("");
        scene.materials.push(Material { name: "stone".to_string(), density: None });
        scene.bodies.push(ball("b"));
        check(
            &scene,
            Member::Body(0),
            "body `b`: it has no mass: the material `stone` has no density, and `mass` is not given",
        );
    }

    #[test]
    fn what_is_wrong_with_one_joint() {
        let mut scene = Scene::new("");
        scene.bodies = vec![ball("a"), ball("b"), ball("c")];
        scene.joints.push(hinge(&["a", "d"]));
        let unknown = "joint `hinge`: there is no body named `d`; did you mean `a`?";
        let error = scene.check(Member::Joint(0)).expect_err("it is wrong").to_string();
        assert!(unknown.starts_with(error.split(';').next().unwrap_or_default()), "{error}");
        scene.joints[0] = hinge(&["a", "b", "c"]);
        let many = "joint `hinge`: a joint links one or two bodies, found 3";
        check(&scene, Member::Joint(0), many);
        let flat = Joint::Pivot { point: [0.0; 3], axis: [0.0; 3] };
        scene.joints[0] = JointLink::new("hinge", flat, &["a"]);
        assert!(scene.check(Member::Joint(0)).expect_err("it is wrong").key == "axis");
        let follows = Some(Follows { joint: "hinge".to_string(), ratio: 0.0 });
        scene.joints = vec![hinge(&["a"]), JointLink { follows, ..hinge(&["b"]) }];
        scene.joints[1].name = "other".to_string();
        assert!(scene.check(Member::Joint(1)).is_err());
    }
}
