//! Scenes of Siconos' mechanics runner, version 4.
//!
//! Its axes of cylinders, capsules and cones are along `y`; groups of contactors become materials, and
//! its laws contacts of these. The file says nothing of gravity and time: 9.80665 m/s² downward, steps of
//! 0.5 ms and an end at 10 s are what its runner takes by default.

use super::group_attributes::{Groups, Numbers};
use super::{SceneFile, SceneFileError};
use rust_hdf5::{H5Dataset, H5File, Hdf5Error};
use saltus_mechanics::{
    AnyJoint, BodySpec, ContactPair, Coordinate, Fitting, Joint, JointLink, Limits, Material, Part,
    Scene, Shape, StaticSpec,
};
use saltus_model::Body;
use saltus_model::rotation::{Quaternion, Vector, add, normalized, product, rotate};
use std::collections::HashSet;
use std::f64::consts::FRAC_1_SQRT_2;
use std::path::Path;

/// A quarter turn that leads from `z` to `y`.
const ALONG_Y: Quaternion = [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0, 0.0];

/// Standard gravity, as the runner has it.
const GRAVITY: f64 = 9.80665;

/// Tables of results, and what only draws or computes.
const RESULTS: [&str; 14] = [
    "static",
    "dynamic",
    "velocities",
    "cf",
    "cf_info",
    "cf_work",
    "energy_work",
    "solv",
    "domain",
    "log",
    "input",
    "nslaws",
    "joints",
    "ref",
];

struct Reader<'a> {
    path: &'a Path,
    file: H5File,
    bytes: Vec<u8>,
    names: Vec<String>,
    space: Body,
    left_aside: Vec<String>,
}

/// Reads the scene of a file.
pub(super) fn read(path: &Path) -> Result<SceneFile, SceneFileError> {
    let cause = |cause: String| SceneFileError::Read { path: path.to_path_buf(), cause };
    crate::run_file::check_signature(path).map_err(|error| cause(error.to_string()))?;
    let bytes = std::fs::read(path).map_err(|error| cause(error.to_string()))?;
    let file = H5File::open(path).map_err(|error| cause(crate::run_file::cause(&error)))?;
    let names = file.dataset_names();
    let (space, left_aside) = (Body::Space, Vec::new());
    let mut reader = Reader { path, file, bytes, names, space, left_aside };
    let scene = reader.scene()?;
    let simulation = super::default_simulation();
    Ok(SceneFile { scene, simulation: Some(simulation), left_aside: reader.left_aside })
}

impl Reader<'_> {
    fn content(&self, place: &str, what: impl Into<String>) -> SceneFileError {
        let (path, place) = (self.path.to_path_buf(), place.to_string());
        SceneFileError::Content { path, place, what: what.into() }
    }

    fn checked<T>(&self, place: &str, result: Result<T, Hdf5Error>) -> Result<T, SceneFileError> {
        result.map_err(|error| self.content(place, crate::run_file::cause(&error)))
    }

    /// The numbers in the attributes of a group.
    fn numbers(&self, path: &str) -> Result<Numbers, SceneFileError> {
        Groups::new(&self.bytes).numbers(path).ok_or_else(|| {
            self.content(path, "its attributes are stored in a way that is not known here")
        })
    }

    /// The members of a group that are groups.
    fn groups(&self, path: &str) -> Result<Vec<String>, SceneFileError> {
        let group = self.checked(path, self.group(path))?;
        self.checked(path, group.group_names())
    }

    fn group(&self, path: &str) -> Result<rust_hdf5::H5Group, Hdf5Error> {
        path.split('/').try_fold(self.file.root_group(), |group, name| group.group(name))
    }

    /// The members of a group that are datasets.
    fn datasets(&self, path: &str) -> Vec<String> {
        let prefix = format!("{path}/");
        let own = self.names.iter().filter_map(|name| name.strip_prefix(&prefix));
        own.filter(|name| !name.contains('/')).map(str::to_string).collect()
    }

    fn scene(&mut self) -> Result<Scene, SceneFileError> {
        if !self.names.iter().any(|name| name == "data/dynamic") {
            return Err(self.content("/data/dynamic", "not there, so it is no scene of Siconos"));
        }
        let root = self.numbers("")?;
        self.space = match root.get("dimension").and_then(|values| values.first()) {
            Some(dim) if *dim == 2.0 => Body::Plane,
            _ => Body::Space,
        };
        let title = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("scene");
        let mut scene = Scene::new(title);
        scene.space = self.space;
        scene.gravity = match self.space {
            Body::Plane => [0.0, -GRAVITY, 0.0],
            Body::Space => [0.0, 0.0, -GRAVITY],
        };
        self.objects(&mut scene)?;
        self.laws(&mut scene)?;
        self.joints(&mut scene)?;
        for group in self.groups("data")? {
            let path = format!("data/{group}");
            let filled = !self.datasets(&path).is_empty() || !self.groups(&path)?.is_empty();
            if !RESULTS.contains(&group.as_str()) && filled {
                self.left_aside.push(format!("/{path}"));
            }
        }
        let own = self.datasets("data").into_iter();
        let unknown = own.filter(|name| !RESULTS.contains(&name.as_str()));
        self.left_aside.extend(unknown.map(|name| format!("/data/{name}")));
        Ok(scene)
    }

    fn objects(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        // in the order they were given: dynamic ones 1, 2, …, static ones −1, −2, …
        let mut objects = Vec::new();
        for name in self.groups("data/input")? {
            let path = format!("data/input/{name}");
            let numbers = self.numbers(&path)?;
            let id = numbers.get("id").and_then(|id| id.first()).copied().unwrap_or(0.0);
            objects.push((id, name, path, numbers));
        }
        objects.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        for (_, name, path, numbers) in objects {
            let known = [
                "id",
                "mass",
                "inertia",
                "translation",
                "orientation",
                "velocity",
                "center_of_mass",
                "time_of_birth",
                "time_of_death",
                "allow_self_collide",
                "type",
            ];
            let group = self.checked(&path, self.group(&path))?;
            let attributes = self.checked(&path, group.attr_names())?;
            for attribute in attributes.iter().filter(|one| !known.contains(&one.as_str())) {
                self.left_aside.push(format!("/{path}: `{attribute}`"));
            }
            let one = |key: &str| numbers.get(key).and_then(|values| values.first()).copied();
            let position = self.vector(&path, "translation", numbers.get("translation"))?;
            let turn = numbers.get("orientation").map_or(&[][..], |turn| turn);
            let (orientation, angle) = turn_of(turn);
            let parts = self.contactors(&path)?;
            let Some(mass) = one("mass").filter(|mass| *mass > 0.0) else {
                let mut fixed = StaticSpec::new(name, Shape::Sphere { radius: 1.0 });
                fixed.parts = parts;
                (fixed.position, fixed.orientation) = (position, orientation);
                scene.statics.push(fixed);
                continue;
            };
            let mut body = BodySpec::without_shape(name);
            body.parts = parts;
            (body.position, body.orientation, body.angle) = (position, orientation, angle);
            body.mass = Some(mass);
            let velocity = numbers.get("velocity").map_or(&[][..], |v| v);
            match *velocity {
                [vx, vy, vz, wx, wy, wz] => {
                    (body.v, body.omega) = ([vx, vy, vz], [wx, wy, wz]);
                }
                [vx, vy, wz] => (body.v, body.omega) = ([vx, vy, 0.0], [0.0, 0.0, wz]),
                _ => {}
            }
            body.inertia = match numbers.get("inertia").map_or(&[][..], |values| values) {
                [] => None,
                [moment] => Some([[0.0; 3], [0.0; 3], [0.0, 0.0, *moment]]),
                [a, b, c] => Some([[*a, 0.0, 0.0], [0.0, *b, 0.0], [0.0, 0.0, *c]]),
                values if values.len() == 9 => {
                    Some(std::array::from_fn(|i| std::array::from_fn(|j| values[3 * i + j])))
                }
                _ => return Err(self.content(&path, "`inertia` has neither 1, 3 nor 9 entries")),
            };
            let center = self.vector(&path, "center_of_mass", numbers.get("center_of_mass"))?;
            body.center = Some(center);
            body.birth = one("time_of_birth").filter(|time| *time > 0.0);
            body.death = one("time_of_death").filter(|time| *time >= 0.0);
            scene.bodies.push(body);
        }
        Ok(())
    }

    /// A vector of the plane or of space; zero where it is not given.
    fn vector(
        &self,
        path: &str,
        key: &str,
        values: Option<&Vec<f64>>,
    ) -> Result<Vector, SceneFileError> {
        match values.map_or(&[][..], |values| values) {
            [] => Ok([0.0; 3]),
            [x, y] => Ok([*x, *y, 0.0]),
            [x, y, z] => Ok([*x, *y, if self.space == Body::Plane { 0.0 } else { *z }]),
            _ => Err(self.content(path, format!("`{key}` is no vector"))),
        }
    }

    fn text(&self, dataset: &H5Dataset, key: &str) -> Option<String> {
        dataset.attr(key).ok()?.read_string().ok()
    }

    fn values(&self, dataset: &H5Dataset, key: &str) -> Option<Vec<f64>> {
        let attribute = dataset.attr(key).ok()?;
        let whole = || {
            let values = attribute.read_numeric_as::<i64>().ok()?;
            Some(values.into_iter().map(|value| value as f64).collect())
        };
        attribute.read_numeric_as::<f64>().ok().or_else(whole)
    }

    fn contactors(&mut self, object: &str) -> Result<Vec<Part>, SceneFileError> {
        let mut parts = Vec::new();
        for name in self.datasets(object) {
            let path = format!("{object}/{name}");
            let dataset = self.checked(&path, self.file.dataset(&path))?;
            let Some(shape_name) = self.text(&dataset, "shape_name") else {
                self.left_aside.push(format!("/{path}: it names no shape"));
                continue;
            };
            let Some((shape, turned)) = self.shape(&shape_name)? else { continue };
            let group = self.values(&dataset, "group").and_then(|group| group.first().copied());
            let group = group.unwrap_or(0.0);
            let position =
                self.vector(&path, "translation", self.values(&dataset, "translation").as_ref())?;
            let turn = self.values(&dataset, "orientation").unwrap_or_default();
            let (orientation, _) = turn_of(&turn);
            parts.push(Part {
                shape,
                position,
                orientation: if turned { product(orientation, ALONG_Y) } else { orientation },
                material: (group >= 0.0).then(|| material(group)),
                touch: group >= 0.0,
            });
        }
        Ok(parts)
    }

    /// A shape, and whether its axis is along `y`.
    fn shape(&mut self, name: &str) -> Result<Option<(Shape, bool)>, SceneFileError> {
        let path = format!("data/ref/{name}");
        let dataset = self.checked(&path, self.file.dataset(&path))?;
        let kind = self.text(&dataset, "type").unwrap_or_default();
        let numbers = || -> Result<Vec<f64>, SceneFileError> {
            self.checked(&path, dataset.read_numeric_as::<f64>())
        };
        let rows = |values: Vec<f64>| -> Vec<Vector> {
            values.chunks_exact(3).map(|row| [row[0], row[1], row[2]]).collect()
        };
        let shape = match kind.as_str() {
            "primitive" => {
                let primitive = self.text(&dataset, "primitive").unwrap_or_default();
                let values = numbers()?;
                match (primitive.as_str(), &values[..]) {
                    ("Sphere", [radius]) => (Shape::Sphere { radius: *radius }, false),
                    ("Box", [a, b, c]) => (Shape::Box { edges: [*a, *b, *c] }, false),
                    ("Cylinder", [radius, length]) => {
                        (Shape::Cylinder { radius: *radius, length: *length }, true)
                    }
                    ("Capsule", [radius, length]) => {
                        (Shape::Capsule { radius: *radius, length: *length }, true)
                    }
                    ("Cone", [radius, height]) => {
                        (Shape::Cone { radius: *radius, height: *height }, true)
                    }
                    ("Plane", _) => (Shape::Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }, false),
                    ("Disk", [radius]) => (Shape::Disk { radius: *radius }, false),
                    ("Box2d", [a, b]) => {
                        let (a, b) = (0.5 * a, 0.5 * b);
                        let points = vec![[-a, -b], [a, -b], [a, b], [-a, b]];
                        (Shape::Polygon { points }, false)
                    }
                    ("Segment", [x, y, z, w]) => {
                        (Shape::Segment { from: [*x, *y], to: [*z, *w] }, false)
                    }
                    (primitive, values) => {
                        let found = format!("`{primitive}` with {} parameters", values.len());
                        self.left_aside.push(format!("/{path}: the primitive {found}"));
                        return Ok(None);
                    }
                }
            }
            "convex" => {
                let (values, shape) = (numbers()?, dataset.shape());
                match shape.last() {
                    Some(2) => {
                        let points = values.chunks_exact(2).map(|row| [row[0], row[1]]).collect();
                        (Shape::Polygon { points }, false)
                    }
                    _ => (Shape::ConvexHull { points: rows(values) }, false),
                }
            }
            "heightmap" => {
                let (values, shape) = (numbers()?, dataset.shape());
                let (Some(size), [_, cols]) = (self.values(&dataset, "rect"), &shape[..]) else {
                    return Err(self.content(&path, "a height map has two axes and `rect`"));
                };
                let heights = values.chunks_exact((*cols).max(1)).map(<[f64]>::to_vec).collect();
                let size = [0, 1].map(|k| size.get(k).copied().unwrap_or(1.0));
                (Shape::HeightField { heights, size }, false)
            }
            kind => {
                self.left_aside.push(format!("/{path}: a shape of type `{kind}`"));
                return Ok(None);
            }
        };
        Ok(Some(shape))
    }

    fn laws(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        let parts = |parts: &[Part]| -> Vec<String> {
            parts.iter().filter_map(|part| part.material.clone()).collect()
        };
        let bodies = scene.bodies.iter().flat_map(|body| parts(&body.parts));
        let statics = scene.statics.iter().flat_map(|one| parts(&one.parts));
        let used: HashSet<String> = bodies.chain(statics).collect();
        let mut materials: Vec<String> = used.into_iter().collect();
        for name in self.datasets("data/nslaws") {
            let path = format!("data/nslaws/{name}");
            let dataset = self.checked(&path, self.file.dataset(&path))?;
            let kind = self.text(&dataset, "type").unwrap_or_default();
            let one =
                |key: &str| self.values(&dataset, key).and_then(|values| values.first().copied());
            let (mu, mu_r) = match kind.as_str() {
                "NewtonImpactFrictionNSL" => (one("mu"), None),
                "NewtonImpactRollingFrictionNSL" => (one("mu"), one("mu_r")),
                "NewtonImpactNSL" => (None, None),
                kind => {
                    self.left_aside.push(format!("/{path}: a law of type `{kind}`"));
                    continue;
                }
            };
            let groups = [one("gid1").unwrap_or(0.0), one("gid2").unwrap_or(0.0)];
            // laws of no groups are those of joints
            if groups.iter().any(|group| *group < 0.0) {
                continue;
            }
            let pair = groups.map(material);
            for material in &pair {
                if !materials.contains(material) {
                    materials.push(material.clone());
                }
            }
            let e = one("e").unwrap_or(0.0);
            scene.contacts.push(ContactPair {
                e,
                mu,
                mu_r,
                ..ContactPair::new(&*pair[0], &*pair[1])
            });
        }
        // groups without a law pass through each other
        if !scene.contacts.is_empty() {
            let all = ContactPair { touch: false, ..ContactPair::new("default", "default") };
            scene.contacts.push(all);
        }
        materials.sort();
        let material = |name| Material { name, density: None };
        scene.materials.extend(materials.into_iter().map(material));
        Ok(())
    }

    fn joints(&mut self, scene: &mut Scene) -> Result<(), SceneFileError> {
        for name in self.datasets("data/joints") {
            let path = format!("data/joints/{name}");
            let dataset = self.checked(&path, self.file.dataset(&path))?;
            let kind = self.text(&dataset, "type").unwrap_or_default();
            let Some(first) = self.text(&dataset, "object1") else {
                self.left_aside.push(format!("/{path}: it names no object"));
                continue;
            };
            let second = self.text(&dataset, "object2");
            let rows = |key: &str| -> Vec<Vector> {
                let values = self.values(&dataset, key).unwrap_or_default();
                values.chunks_exact(3).map(|row| [row[0], row[1], row[2]]).collect()
            };
            let (mut points, mut axes) = (rows("points"), rows("axes"));
            let absolute = dataset.attr("absolute").is_err()
                || self.flag(&dataset, "absolute").unwrap_or(true);
            if !absolute {
                let Some(body) = scene.bodies.iter().find(|body| body.name == first) else {
                    return Err(self.content(&path, format!("there is no object `{first}`")));
                };
                let turn = normalized(body.orientation).unwrap_or(body.orientation);
                points.iter_mut().for_each(|p| *p = add(body.position, rotate(turn, *p)));
                axes.iter_mut().for_each(|axis| *axis = rotate(turn, *axis));
            }
            let joint = match (kind.as_str(), points.first(), axes.first()) {
                ("KneeJointR", Some(&point), _) => Joint::Ball { point },
                ("PivotJointR", Some(&point), Some(&axis)) => Joint::Pivot { point, axis },
                ("PrismaticJointR", _, Some(&axis)) => Joint::Prismatic { axis },
                ("CylindricalJointR", Some(&point), Some(&axis)) => {
                    Joint::Cylindrical { point, axis }
                }
                ("FixedJointR", ..) => Joint::Fixed,
                _ => {
                    self.left_aside.push(format!("/{path}: a joint of type `{kind}`"));
                    continue;
                }
            };
            let mut link = JointLink::new(name, AnyJoint::Space(joint), &[]);
            link.bodies = std::iter::once(first).chain(second).collect();
            link.touch = self.flag(&dataset, "allow_self_collide").unwrap_or(false);
            let stops = self.values(&dataset, "stops").unwrap_or_default();
            for stop in stops.chunks_exact(3) {
                self.stop(&path, &mut link, stop, &dataset);
            }
            for key in ["friction", "coupled", "references"] {
                if dataset.attr(key).is_ok() {
                    self.left_aside.push(format!("/{path}: `{key}`"));
                }
            }
            scene.joints.push(link);
        }
        Ok(())
    }

    fn flag(&self, dataset: &H5Dataset, key: &str) -> Option<bool> {
        let attribute = dataset.attr(key).ok()?;
        // booleans of h5py are enumerations of one byte
        attribute.read_raw().ok().map(|bytes| bytes.iter().any(|byte| *byte != 0))
    }

    /// One end of a coordinate: its number, where it is, and which side is free.
    fn stop(&mut self, path: &str, link: &mut JointLink, stop: &[f64], dataset: &H5Dataset) {
        let [axis, position, direction] = *stop else { return };
        let coordinates = link.joint.coordinates();
        let Some(&coordinate) = coordinates.get(axis as usize) else {
            self.left_aside.push(format!("/{path}: a stop of coordinate {axis}"));
            return;
        };
        let e = self.restitution(dataset);
        let position_of = |one: &Fitting| one.coordinate == coordinate;
        if !link.fittings.iter().any(position_of) {
            link.fittings.push(Fitting::new(coordinate as Coordinate));
        }
        if let Some(fitting) = link.fittings.iter_mut().find(|one| one.coordinate == coordinate) {
            let limits = fitting.limits.get_or_insert(Limits {
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
                e,
            });
            match direction < 0.0 {
                true => limits.upper = position,
                false => limits.lower = position,
            }
        }
    }

    /// The restitution at the stops of a joint: that of the law it names.
    fn restitution(&self, joint: &H5Dataset) -> f64 {
        let law = self.text(joint, "nslaws").map(|name| format!("data/nslaws/{name}"));
        let law = law.and_then(|path| self.file.dataset(&path).ok());
        let e = law.and_then(|law| self.values(&law, "e"));
        e.and_then(|e| e.first().copied()).unwrap_or(0.0)
    }
}

/// The material of a group.
fn material(group: f64) -> String {
    format!("group{}", group as i64)
}

/// A quaternion, or an angle of the plane, or an axis and an angle; also the angle.
fn turn_of(values: &[f64]) -> (Quaternion, f64) {
    let about = |[x, y, z]: Vector, angle: f64| {
        let (sin, cos) = (0.5 * angle).sin_cos();
        let length = (x * x + y * y + z * z).sqrt().max(f64::MIN_POSITIVE);
        [cos, sin * x / length, sin * y / length, sin * z / length]
    };
    match *values {
        [w, x, y, z] => ([w, x, y, z], 2.0 * z.atan2(w)),
        [angle] => (about([0.0, 0.0, 1.0], angle), angle),
        _ => ([1.0, 0.0, 0.0, 0.0], 0.0),
    }
}
