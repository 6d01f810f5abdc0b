//! Joints of a scene become interactions of its model.

use super::build::key_of;
use super::{Follows, JointLink, Member, Scene, SceneError, SceneFault};
use crate::carrier::Carrier;
use crate::coordinates::Following;
use crate::row::{End, Sides};
use crate::{Drive, JointCoordinate};
use saltus_model::{Law, Model, ModelError, SystemId};
use std::sync::Arc;

/// What stands at an end of a joint.
enum Hold {
    /// A body.
    Body(SystemId),
    /// Something that stands still.
    World,
    /// Something that moves as it is told.
    Carrier(Arc<Carrier>),
}

impl Hold {
    fn system(&self) -> Option<SystemId> {
        match self {
            Hold::Body(id) => Some(*id),
            _ => None,
        }
    }

    fn carrier(&self) -> Option<Arc<Carrier>> {
        match self {
            Hold::Carrier(carrier) => Some(Arc::clone(carrier)),
            _ => None,
        }
    }
}

impl Scene {
    /// A joint with what is built into it.
    pub(super) fn connect(
        &self,
        k: usize,
        link: &JointLink,
        model: &mut Model,
    ) -> Result<(), SceneError> {
        let at = Member::Joint(k);
        let ends = self.ends(k, link, model)?;
        let systems: Vec<SystemId> = ends.iter().filter_map(Hold::system).collect();
        if systems.is_empty() || link.bodies.len() > 2 {
            let found = match link.bodies.len() {
                0 => "found none".to_string(),
                1 | 2 => "but what it links stands still or moves as it is told".to_string(),
                many => format!("found {many}"),
            };
            return Err(self.error(at, "bodies", SceneFault::Links { found }));
        }
        let mut spec = link.spec(self).map_err(|fault| self.error(at, "motor", fault))?;
        spec.world_first = matches!(ends[..], [Hold::World | Hold::Carrier(_), Hold::Body(_)]);
        spec.carrier = ends.iter().find_map(Hold::carrier);
        (spec.connect(model, &link.name, &systems))
            .map_err(|error| self.error(at, key_of(&error), error))?;
        Ok(())
    }

    /// The coordinate of a joint is held in a ratio to that of another.
    pub(super) fn follow(
        &self,
        k: usize,
        link: &JointLink,
        follows: &Follows,
        model: &mut Model,
    ) -> Result<(), SceneError> {
        let fail = |fault| self.error(Member::Joint(k), "follows", fault);
        let wrong = |why| fail(SceneFault::Follows { joint: follows.joint.clone(), why });
        let Some(other) = self.joints.iter().find(|one| one.name == follows.joint) else {
            let known = self.joints.iter().map(|one| one.name.as_str());
            return Err(fail(SceneFault::unknown("joint", &follows.joint, known)));
        };
        if other.name == link.name {
            return Err(wrong("which is itself"));
        }
        let mut ends = [Vec::new(), Vec::new()];
        let mut coordinates = Vec::with_capacity(2);
        for (joint, ends) in [other, link].into_iter().zip(&mut ends) {
            *ends = self.ends(k, joint, model)?;
            if joint.joint.length().is_some() && !joint.spec(self).map_err(fail)?.has_free_length()
            {
                return Err(wrong("and one of the two holds its length"));
            }
            let Some(&coordinate) = joint.joint.coordinates().first() else {
                return Err(wrong("and one of the two leaves nothing free that has a coordinate"));
            };
            let of = JointCoordinate::new(joint.joint, coordinate);
            coordinates.push(JointCoordinate { axis: joint.axis, ..of });
        }
        // the bodies of both, each once, and after them what carries the joints
        let mut systems: Vec<SystemId> = Vec::with_capacity(4);
        for id in ends.iter().flatten().filter_map(Hold::system) {
            if !systems.contains(&id) {
                systems.push(id);
            }
        }
        let mut carriers = Vec::new();
        let mut end = |hold: Option<&Hold>| match hold {
            Some(Hold::Body(id)) => {
                systems.iter().position(|one| one == id).map_or(End::World, End::At)
            }
            Some(Hold::Carrier(carrier)) => {
                carriers.push(Arc::clone(carrier));
                End::At(systems.len() + carriers.len() - 1)
            }
            None | Some(Hold::World) => End::World,
        };
        let sides = ends.each_ref().map(|own| Sides { a: end(own.first()), b: end(own.get(1)) });
        let ratio = follows.ratio;
        let coordinates = [coordinates[0], coordinates[1]];
        let (name, before) = (format!("{}.follows", link.name), model.interactions().len());
        let relation = Following { coordinates, sides, carriers, ratio };
        (model.connect(&name, relation, Law::Equality, &systems))
            .map_err(|error| self.error(Member::Joint(k), key_of(&error), error))?;
        self.let_live(k, &[&link.bodies[..], &other.bodies[..]].concat(), before, model)
    }

    /// What stands at the ends of a joint, in their order.
    fn ends(&self, k: usize, link: &JointLink, model: &Model) -> Result<Vec<Hold>, SceneError> {
        let begin = self.life_of(&link.bodies)[0].max(model.t0());
        link.bodies.iter().map(|name| self.hold(k, name, begin, model)).collect()
    }

    /// What stands at an end of the joint number `k`, which begins at an instant.
    fn hold(&self, k: usize, name: &str, begin: f64, model: &Model) -> Result<Hold, SceneError> {
        if let Ok(id) = model.system_id(name) {
            return Ok(Hold::Body(id));
        }
        let fail = |fault| self.error(Member::Joint(k), "bodies", fault);
        let Some(place) = self.statics.iter().position(|one| one.name == *name) else {
            let bodies = self.bodies.iter().map(|body| body.name.as_str());
            let statics = self.statics.iter().map(|one| one.name.as_str());
            return Err(fail(SceneFault::unknown("body", name, bodies.chain(statics))));
        };
        match self.drive(place, &self.statics[place])?.filter(Drive::moves) {
            None => Ok(Hold::World),
            Some(drive) => {
                let carrier = Carrier::new(drive, self.space, name, begin);
                let carrier = carrier.map_err(|error| fail(ModelError::from(error).into()))?;
                Ok(Hold::Carrier(Arc::new(carrier)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BodySpec, Coordinate, DriveSpec, Fitting, Given, Joint, Joint2d, Shape, Spring};
    use crate::{Limits, StaticSpec};
    use saltus_linalg::Matrix;
    use saltus_model::rotation::{Vector, exp, product};
    use saltus_model::{At, Body};

    const DELTA: f64 = 1e-6;

    fn given(formulas: &[&str]) -> Option<Given> {
        Some(Given::Formulas(formulas.iter().map(|one| one.to_string()).collect()))
    }

    fn driven(name: &str, position: Option<Given>, omega: Option<Given>) -> StaticSpec {
        let drive = Some(DriveSpec { position, omega, ..DriveSpec::default() });
        let sphere = Shape::Sphere { radius: 1.0 };
        StaticSpec { drive, parts: Vec::new(), ..StaticSpec::new(name, sphere) }
    }

    /// Configurations of bodies moved along their velocities.
    fn moved(body: Body, q: &[f64], component: usize, delta: f64) -> Vec<f64> {
        let mut q = q.to_vec();
        match body {
            Body::Plane => q[component] += delta,
            Body::Space => {
                let (k, i) = (7 * (component / 6), component % 6);
                if i < 3 {
                    q[k + i] += delta;
                } else {
                    let mut phi = [0.0; 3];
                    phi[i - 3] = delta;
                    let p = [q[k + 3], q[k + 4], q[k + 5], q[k + 6]];
                    q[k + 3..k + 7].copy_from_slice(&product(p, exp(phi)));
                }
            }
        }
        q
    }

    /// Compares slopes and rates of all relations of a scene with differences, away from the start.
    fn check(scene: &Scene, wanted: &[(&str, usize)]) {
        let model = scene.model().unwrap();
        for &(name, bodies) in wanted {
            let id = model.interaction_id(name).unwrap();
            let one = model.interaction(id).unwrap();
            assert_eq!(one.systems.len(), bodies, "{name}");
            let mut q = Vec::new();
            for (k, id) in one.systems.iter().enumerate() {
                let system = model.system(*id).unwrap();
                let saltus_model::System::SecondOrder(system) = system else { panic!() };
                let mut own = system.q0().to_vec();
                for i in 0..system.dim() {
                    own = moved(scene.space, &own, i, 0.07 * ((i + 3 * k) as f64).sin());
                }
                q.extend(own);
            }
            let (t, lam) = (0.7, vec![0.3; one.relation.size()]);
            let output = |t: f64, q: &[f64]| {
                let mut y = vec![0.0; one.relation.size()];
                one.relation.output(At::new(t, q, &lam), &mut y).unwrap();
                y
            };
            let differs = |plus: Vec<f64>, minus: Vec<f64>, slopes: &dyn Fn(usize) -> f64| {
                for (i, (plus, minus)) in plus.iter().zip(&minus).enumerate() {
                    let slope = (plus - minus) / (2.0 * DELTA);
                    assert!((slope - slopes(i)).abs() < 1e-7, "{name} {i}: {slope} {}", slopes(i));
                }
            };
            let mut H = Matrix::default();
            one.relation.output_dx(At::new(t, &q, &lam), &mut H).unwrap();
            for j in 0..H.cols() {
                let [plus, minus] =
                    [DELTA, -DELTA].map(|delta| output(t, &moved(scene.space, &q, j, delta)));
                differs(plus, minus, &|i| H[(i, j)]);
            }
            let mut rate = vec![0.0; one.relation.size()];
            if one.relation.terms().time {
                one.relation.output_dt(At::new(t, &q, &lam), &mut rate).unwrap();
            }
            differs(output(t + DELTA, &q), output(t - DELTA, &q), &|i| rate[i]);
        }
    }

    fn body(name: &str, place: Vector) -> BodySpec {
        let inertia = Some([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        BodySpec { inertia, ..BodySpec::without_shape(name).mass(1.0).at(place) }
    }

    fn follows(joint: &str, ratio: f64) -> Option<Follows> {
        Some(Follows { joint: joint.to_string(), ratio })
    }

    #[test]
    fn slopes_in_space_are_exact() {
        let mut scene = Scene::new("carried");
        let position = given(&["sin(t)", "0.3*t", "t^2"]);
        scene.statics.push(driven("arm", position, given(&["cos(t)", "0.5", "t"])));
        scene.statics.push(driven("belt", given(&["0.1*t", "0", "0"]), None));
        for (k, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
            let place = [0.3 * k as f64, 0.2, -0.4 * k as f64];
            let turned = exp([0.2, 0.1 * k as f64, -0.3]);
            scene.bodies.push(BodySpec { orientation: turned, ..body(name, place) });
        }
        let (point, axis) = ([0.3, -0.2, 0.9], [0.2, 1.0, -0.4]);
        let second_axis = [1.0, -0.2, 0.0];
        let mut wanted = Vec::new();
        let joints = [
            Joint::Ball { point },
            Joint::Pivot { point, axis },
            Joint::Prismatic { axis },
            Joint::Cylindrical { point, axis },
            Joint::Universal { point, axis, second_axis },
            Joint::Planar { point, normal: axis },
            Joint::Fixed,
            Joint::Distance { point, second_point: [-0.5, 1.0, 0.1] },
            Joint::Screw { point, axis, pitch: 0.1 },
        ];
        let names: Vec<String> =
            (0..2 * joints.len()).map(|k| format!("{} {k}", joints[k / 2].name())).collect();
        for (k, name) in names.iter().enumerate() {
            let sides = if k % 2 == 0 { ["a", "arm"] } else { ["arm", "a"] };
            scene.joints.push(JointLink::new(name, joints[k / 2], &sides));
            wanted.push((name.as_str(), 1));
        }
        let mut slide = JointLink::new("slide", Joint::Prismatic { axis }, &["b", "a"]);
        let spring = Some(Spring { stiffness: 3.0, damping: 0.1, rest: 0.2 });
        slide.fittings.push(Fitting { spring, ..Fitting::new(Coordinate::Way) });
        scene.joints.push(slide);
        let hinge = Joint::Pivot { point, axis };
        let mut twin = JointLink::new("hinge", hinge, &["c", "d"]);
        twin.follows = follows("slide", -1.5);
        scene.joints.push(twin);
        let mut ridden = JointLink::new("ridden", hinge, &["arm", "c"]);
        ridden.follows = follows("slide", 0.5);
        let limits = Some(Limits { lower: -1.0, upper: 1.0, e: 0.0 });
        ridden.fittings.push(Fitting { limits, spring, ..Fitting::new(Coordinate::Angle) });
        scene.joints.push(ridden);
        let mut last = JointLink::new("last", Joint::Prismatic { axis }, &["belt", "d"]);
        last.follows = follows("ridden", 2.0);
        scene.joints.push(last);
        wanted.extend([
            ("slide", 2),
            ("slide.spring", 2),
            ("hinge.follows", 4),
            ("ridden.follows", 3),
            ("ridden.limit", 1),
            ("ridden.spring", 1),
            ("last.follows", 2),
        ]);
        check(&scene, &wanted);
    }

    #[test]
    fn slopes_in_the_plane_are_exact() {
        let mut scene = Scene::new("carried").in_plane();
        scene.statics.push(driven("arm", given(&["sin(t)", "0.3*t"]), given(&["20*cos(t)"])));
        for (k, name) in ["a", "b", "c"].into_iter().enumerate() {
            let place = [0.3 * k as f64, 0.2, 0.0];
            scene.bodies.push(BodySpec { angle: 0.2 * k as f64, ..body(name, place) });
        }
        let point = [0.3, -0.2];
        let joints = [
            ("pivot", Joint2d::Pivot { point }),
            ("prismatic", Joint2d::Prismatic { axis: [0.4, 1.0] }),
            ("fixed", Joint2d::Fixed),
            ("distance", Joint2d::Distance { point, second_point: [-0.5, 1.0] }),
        ];
        for (name, joint) in joints {
            scene.joints.push(JointLink::new(name, joint, &["a", "arm"]));
        }
        let mut one = JointLink::new("one", joints[1].1, &["b", "c"]);
        one.follows = follows("pivot", 0.3);
        scene.joints.push(one);
        let of = |(name, _)| (name, 1);
        let wanted: Vec<_> = joints.into_iter().map(of).chain([("one.follows", 3)]).collect();
        check(&scene, &wanted);
    }

    /// A body that cannot be moved and a side that is told not to move are one.
    #[test]
    fn what_is_said_of_one_joint() {
        let mut scene = Scene::new("still");
        scene.statics.push(driven("arm", given(&["0", "0", "0"]), given(&["0", "0", "0"])));
        scene.bodies.push(body("a", [1.0, 0.0, 0.0]));
        scene.joints.push(JointLink::new("hold", Joint::Fixed, &["a", "arm"]));
        scene.check(Member::Joint(0)).unwrap();
        let model = scene.model().unwrap();
        let id = model.interaction_id("hold").unwrap();
        assert!(!model.interaction(id).unwrap().relation.terms().time);
    }
}
