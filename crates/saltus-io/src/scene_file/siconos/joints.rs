//! Joints, their stops and friction, and what couples them.
//!
//! | Siconos | here |
//! | --- | --- |
//! | `KneeJointR`, `PivotJointR`, `PrismaticJointR`, `CylindricalJointR`, `FixedJointR` | ball, pivot, … |
//! | `stops`: number of a coordinate, its value, the free side | limits |
//! | `friction`: a relay law a coordinate | friction |
//! | `coupled` coordinates of a cylindrical joint | a screw |
//! | `CouplerJointR` | a joint that follows another |
//!
//! Coordinates of Siconos are those of the second body (or the world) against the first, ours those of the
//! first against the second:
//!
//! ```text
//! x = −x_S         x_S ≤ a  is  x ≥ −a                                                              (1)
//! f = p/h          a law of friction bounds the impulse p of a step there, the force f here         (2)
//! φ = r x  is a screw of pitch 2π/r,    x = r φ  of 2π r                                            (3)
//! ```

use super::Reader;
use super::options::Options;
use crate::scene_file::{SceneFileError, xml};
use rust_hdf5::H5Dataset;
use saltus_mechanics::{AnyJoint, Coordinate, Fitting, Friction, Joint, JointLink, Limits, Scene};
use saltus_model::Body;
use saltus_model::rotation::{Vector, add, normalized, rotate};
use std::f64::consts::TAU;

impl Reader<'_> {
    pub(super) fn joints(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        let mut couplers = Vec::new();
        for name in self.datasets("data/joints") {
            let path = format!("data/joints/{name}");
            let dataset = self.dataset(&path)?;
            let kind = self.text(&dataset, "type").unwrap_or_default();
            let Some(first) = self.text(&dataset, "object1") else {
                return Err(self.content(&path, "`object1` is missing, expected a name"));
            };
            let bodies: Vec<String> =
                std::iter::once(first).chain(self.text(&dataset, "object2")).collect();
            self.check_objects(&path, &bodies, scene)?;
            if self.space == Body::Plane {
                self.aside(&path, "a joint in the plane, of which the runner has none");
                continue;
            }
            if kind == "CouplerJointR" {
                couplers.push((path, dataset, bodies));
                continue;
            }
            let Some(joint) = self.joint(&path, &dataset, &kind, &bodies, scene)? else { continue };
            let mut link = JointLink::new(name, AnyJoint::Space(joint), &[]);
            link.bodies = bodies;
            link.touch = self.flag(&dataset, "allow_self_collide").unwrap_or(false);
            self.stops(&path, &dataset, &mut link)?;
            self.friction(&path, &dataset, &mut link)?;
            if dataset.attr("references").is_ok() {
                self.aside(&path, "`references`, which only a `CouplerJointR` has");
            }
            scene.joints.push(link);
        }
        for (path, dataset, bodies) in couplers {
            self.coupler(&path, &dataset, bodies, scene)?;
        }
        Ok(())
    }

    fn check_objects(
        &self,
        path: &str,
        names: &[String],
        scene: &Scene,
    ) -> Result<(), SceneFileError> {
        let bodies = scene.bodies.iter().map(|one| &one.name);
        let known: Vec<&String> = bodies.chain(scene.statics.iter().map(|one| &one.name)).collect();
        match names.iter().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(self.content(path, format!("there is no object `{name}`"))),
        }
    }

    fn joint(
        &mut self,
        path: &str,
        dataset: &H5Dataset,
        kind: &str,
        bodies: &[String],
        scene: &Scene,
    ) -> Result<Option<Joint>, SceneFileError> {
        let (mut points, mut axes) =
            (self.rows(path, dataset, "points")?, self.rows(path, dataset, "axes")?);
        if self.flag(dataset, "absolute") == Some(false)
            && let Some(body) = scene.bodies.iter().find(|body| Some(&body.name) == bodies.first())
        {
            let turn = normalized(body.orientation).unwrap_or(body.orientation);
            points.iter_mut().for_each(|p| *p = add(body.position, rotate(turn, *p)));
            axes.iter_mut().for_each(|axis| *axis = rotate(turn, *axis));
        }
        let needs = match kind {
            "KneeJointR" => [1, 0],
            "PivotJointR" | "CylindricalJointR" => [1, 1],
            "PrismaticJointR" => [0, 1],
            "FixedJointR" => [0, 0],
            kind => {
                self.aside(path, format!("a joint of type `{kind}`"));
                return Ok(None);
            }
        };
        if points.len() < needs[0] || axes.len() < needs[1] {
            let found = format!("{} points and {} axes", points.len(), axes.len());
            let [p, a] = needs;
            return Err(self.content(path, format!("`{kind}` with {found}, expected {p} and {a}")));
        }
        let (point, axis) = (
            points.first().copied().unwrap_or_default(),
            axes.first().copied().unwrap_or_default(),
        );
        let joint = match kind {
            "KneeJointR" => Joint::Ball { point },
            "PivotJointR" => Joint::Pivot { point, axis },
            "PrismaticJointR" => Joint::Prismatic { axis },
            "CylindricalJointR" => Joint::Cylindrical { point, axis },
            _ => Joint::Fixed,
        };
        let coupled = self.values(path, dataset, "coupled")?.unwrap_or_default();
        // (3)
        Ok(Some(match (joint, &coupled[..]) {
            (joint, []) => joint,
            (Joint::Cylindrical { point, axis }, &[0.0, 1.0, ratio]) if ratio != 0.0 => {
                Joint::Screw { point, axis, pitch: TAU / ratio }
            }
            (Joint::Cylindrical { point, axis }, &[1.0, 0.0, ratio]) if ratio != 0.0 => {
                Joint::Screw { point, axis, pitch: TAU * ratio }
            }
            (joint, coupled) => {
                self.aside(path, format!("`coupled` {coupled:?} of a `{kind}`"));
                joint
            }
        }))
    }

    /// Rows of three numbers.
    fn rows(
        &self,
        path: &str,
        dataset: &H5Dataset,
        key: &str,
    ) -> Result<Vec<Vector>, SceneFileError> {
        let values = self.values(path, dataset, key)?.unwrap_or_default();
        match values.as_chunks::<3>() {
            (rows, []) => Ok(rows.to_vec()),
            _ => {
                let found = format!("`{key}` has {} numbers", values.len());
                Err(self.content(path, format!("{found}, expected rows of three")))
            }
        }
    }

    /// The coordinate of a number, and what is built into it.
    fn fitting<'l>(&self, link: &'l mut JointLink, number: f64) -> Option<&'l mut Fitting> {
        let known: &[Coordinate] = match link.joint {
            AnyJoint::Space(Joint::Pivot { .. }) => &[Coordinate::Angle],
            AnyJoint::Space(Joint::Prismatic { .. }) => &[Coordinate::Way],
            AnyJoint::Space(Joint::Cylindrical { .. } | Joint::Screw { .. }) => {
                &[Coordinate::Way, Coordinate::Angle]
            }
            _ => &[],
        };
        let place = (0..known.len()).find(|k| *k as f64 == number)?;
        let coordinate = known[place];
        if !link.fittings.iter().any(|one| one.coordinate == coordinate) {
            link.fittings.push(Fitting::new(coordinate));
        }
        link.fittings.iter_mut().find(|one| one.coordinate == coordinate)
    }

    /// The ends of coordinates, by (1).
    fn stops(
        &mut self,
        path: &str,
        dataset: &H5Dataset,
        link: &mut JointLink,
    ) -> Result<(), SceneFileError> {
        let stops = self.rows(path, dataset, "stops")?;
        let laws = self.texts(dataset, "nslaws").unwrap_or_default();
        if laws.len() > 1 && laws.len() != stops.len() {
            let found = format!("{} laws for {} stops", laws.len(), stops.len());
            return Err(self.content(path, format!("`nslaws` has {found}")));
        }
        for (k, &[number, position, side]) in stops.iter().enumerate() {
            let e = match laws.get(k).or(laws.first()) {
                None => 0.0,
                Some(law) => self.restitution(path, law)?,
            };
            let Some(fitting) = self.fitting(link, number) else {
                self.aside(path, format!("a stop of coordinate {number}"));
                continue;
            };
            let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
            let limits = fitting.limits.get_or_insert(Limits { lower, upper, e });
            match side < 0.0 {
                true => limits.lower = limits.lower.max(-position),
                false => limits.upper = limits.upper.min(-position),
            }
            if limits.e != e {
                let kept = limits.e;
                let what = format!("the restitution {e} of a stop beside another with {kept}");
                self.aside(path, what);
            }
        }
        Ok(())
    }

    fn law(&self, path: &str, name: &str) -> Result<(String, H5Dataset), SceneFileError> {
        let own = format!("data/nslaws/{name}");
        match self.names.contains(&own) {
            true => Ok((own.clone(), self.dataset(&own)?)),
            false => Err(self.content(path, format!("there is no law `{name}`"))),
        }
    }

    /// The restitution of a law.
    fn restitution(&mut self, path: &str, name: &str) -> Result<f64, SceneFileError> {
        let (own, law) = self.law(path, name)?;
        let kind = self.text(&law, "type").unwrap_or_default();
        if kind != "NewtonImpactNSL" {
            self.aside(path, format!("the law `{name}` of a stop but for its restitution"));
        }
        Ok(self.value(&own, &law, "e")?.unwrap_or(0.0))
    }

    /// Dry friction of coordinates, by (2).
    fn friction(
        &mut self,
        path: &str,
        dataset: &H5Dataset,
        link: &mut JointLink,
    ) -> Result<(), SceneFileError> {
        for (k, name) in self.texts(dataset, "friction").unwrap_or_default().iter().enumerate() {
            if name.is_empty() {
                continue;
            }
            let (own, law) = self.law(path, name)?;
            let kind = self.text(&law, "type").unwrap_or_default();
            if kind != "RelayNSL" {
                self.aside(path, format!("`friction` by a law of type `{kind}`"));
                continue;
            }
            let [lower, upper] = [self.need(&own, &law, "lb")?, self.need(&own, &law, "ub")?];
            if lower != -upper || upper < 0.0 {
                self.aside(path, format!("`friction` between {lower} and {upper}"));
                continue;
            }
            let Options { h, h_is_stored, .. } = self.options;
            let Some(fitting) = self.fitting(link, k as f64) else {
                self.aside(path, format!("`friction` of coordinate {k}"));
                continue;
            };
            let force = upper / h;
            fitting.friction = Some(Friction { force, stiction: None, rest_speed: 1e-6 });
            if !h_is_stored {
                let step = "the step whose impulse bounds `friction`";
                self.aside(path, format!("{step}, which is not stored; {h} s is taken"));
            }
        }
        Ok(())
    }

    /// Two joints that are held in a ratio: `x₂ = r x₁`.
    fn coupler(
        &mut self,
        path: &str,
        dataset: &H5Dataset,
        bodies: Vec<String>,
        scene: &mut Scene,
    ) -> Result<(), SceneFileError> {
        let names = self.texts(dataset, "references").unwrap_or_default();
        let coupled = self.values(path, dataset, "coupled")?.unwrap_or_default();
        let [one, two, ..] = &names[..] else {
            self.aside(path, "a `CouplerJointR` without two `references`");
            return Ok(());
        };
        let place = |name: &String| scene.joints.iter().position(|joint| joint.name == *name);
        let (Some(one), Some(two)) = (place(one), place(two)) else {
            return Err(self.content(path, format!("there are no joints {names:?} to couple")));
        };
        let held = match coupled[..] {
            [0.0, 0.0, ratio] => xml::follow(scene, two, one, ratio),
            _ => Err("it couples other coordinates than the first ones"),
        };
        if let Err(why) = held {
            self.aside(path, format!("a `CouplerJointR`: {why}"));
        }
        // what is joined does not touch
        if let ([a, b], None | Some(false)) =
            (&bodies[..], self.flag(dataset, "allow_self_collide"))
        {
            scene.apart.push([a.clone(), b.clone()]);
        }
        Ok(())
    }
}
