//! Robots in the Unified Robot Description Format.
//!
//! Links become bodies where the joints are at zero, under gravity along −z. The root link stands
//! still. Links without a mass that are fixed to another become part of it. Joints with `<mimic>` follow
//! another, as far as both link two bodies that move at most and two angles are in a ratio of whole
//! numbers. Links that are fixed to each other do not touch, nor do they touch those next to them.
//! What is not read is told with its line; what no robot may be (two roots, two joints of one name, a
//! lower limit above the upper one, a hinge without limits that is not `continuous`) is an error.
//! The file says nothing of contacts: shapes of `<collision>` touch once the scene has one, those of
//! `<visual>` are drawn.

use super::xml::{Names, Pose, Xml, child, children, follow, set_welded_apart, turned};
use super::{SceneFile, SceneFileError};
use roxmltree::{Document, Node};
use saltus_mechanics::{
    BodySpec, Coordinate, Fitting, Friction, Joint, JointLink, Limits, Part, Scene, Shape, Spring,
    StaticSpec,
};
use saltus_model::rotation::{IDENTITY, Vector, exp, norm, product, rotate, scaled};
use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

/// Where a link is: the body or static that it is part of, its place there, and that in the world.
#[derive(Debug, Clone)]
struct Placed {
    owner: String,
    within: Pose,
    world: Pose,
}

struct Reader<'a> {
    xml: Xml<'a>,
    left_aside: Vec<String>,
    scene: Scene,
    links: HashMap<&'a str, Placed>,
    /// Of joints with a coordinate: where they are in the scene.
    joints: HashMap<&'a str, usize>,
    names: Names,
    /// What links are called in the scene.
    titles: HashMap<&'a str, String>,
    /// The elements of links and joints, by their names in the scene.
    places: HashMap<String, Node<'a, 'a>>,
}

/// What a link may hold.
const IN_LINK: [&str; 3] = ["inertial", "visual", "collision"];

/// What a joint may hold, but for `<safety_controller>` and `<calibration>`, which are left aside.
const IN_JOINT: [&str; 7] = ["parent", "child", "origin", "axis", "limit", "dynamics", "mimic"];

/// Reads the robot of a file.
pub(super) fn read(path: &Path) -> Result<SceneFile, SceneFileError> {
    let cause = |cause: String| SceneFileError::Read { path: path.to_path_buf(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| cause(error.to_string()))?;
    let document = Document::parse(&text).map_err(|error| cause(error.to_string()))?;
    let robot = document.root_element();
    let title = robot.attribute("name").unwrap_or("robot");
    let scene = Scene::new(title).gravity([0.0, 0.0, -9.81]);
    let (left_aside, links, joints) = (Vec::new(), HashMap::new(), HashMap::new());
    let xml = Xml { path, document: &document };
    let (names, titles, places) = (Names::default(), HashMap::new(), HashMap::new());
    let mut reader = Reader { xml, left_aside, scene, links, joints, names, titles, places };
    reader.robot(robot)?;
    let Reader { xml, scene, left_aside, places, .. } = reader;
    let scene = xml.checked(scene, &places)?;
    Ok(SceneFile { scene, beside: String::new(), simulation: None, left_aside })
}

impl<'a> Reader<'a> {
    /// `<origin xyz="…" rpy="…"/>`: turns about the fixed axes x, y, z in that order.
    fn origin(&self, node: Node<'a, 'a>) -> Result<Pose, SceneFileError> {
        let Some(origin) = child(node, "origin") else { return Ok(Pose::ORIGIN) };
        let about = |axis: usize, angle: f64| {
            let (sin, cos) = (0.5 * angle).sin_cos();
            let mut p = [cos, 0.0, 0.0, 0.0];
            p[1 + axis] = sin;
            p
        };
        let [roll, pitch, yaw] = self.xml.numbers(origin, "rpy", [0.0; 3])?;
        let p = product(about(2, yaw), product(about(1, pitch), about(0, roll)));
        Ok(Pose { x: self.xml.numbers(origin, "xyz", [0.0; 3])?, p })
    }

    fn robot(&mut self, robot: Node<'a, 'a>) -> Result<(), SceneFileError> {
        if robot.tag_name().name() != "robot" {
            return Err(self.xml.content(robot, "expected <robot>"));
        }
        for node in robot.children().filter(Node::is_element) {
            let tag = node.tag_name().name();
            if !["link", "joint", "material"].contains(&tag) {
                let name = node.attribute("name").or(node.attribute("reference"));
                let name = name.map_or(String::new(), |name| format!(" `{name}`"));
                self.tell(node, format!("<{tag}>{name}"));
            }
        }
        let mut links: HashMap<&str, Node<'a, 'a>> = HashMap::new();
        for link in children(robot, "link") {
            let name = self.xml.need(link, "name")?;
            if links.insert(name, link).is_some() {
                return Err(self.xml.content(link, format!("there are two links named `{name}`")));
            }
            let title = self.names.fresh(name, "link", &mut self.left_aside);
            self.places.insert(title.clone(), link);
            self.titles.insert(name, title);
            self.tell_unknown(link, &IN_LINK, "link", name);
        }
        // from the root outward
        let joints: Vec<Node<'a, 'a>> = children(robot, "joint").collect();
        let mut ends = Vec::with_capacity(joints.len());
        let mut known: HashSet<&str> = HashSet::new();
        for &joint in &joints {
            let name = self.xml.need(joint, "name")?;
            if !known.insert(name) {
                return Err(self
                    .xml
                    .content(joint, format!("there are two joints named `{name}`")));
            }
            self.tell_unknown(joint, &IN_JOINT, "joint", name);
            let end = |tag: &str| {
                let node = child(joint, tag)
                    .ok_or_else(|| self.xml.content(joint, format!("a joint has no <{tag}>")))?;
                let name = self.xml.need(node, "link")?;
                match links.contains_key(name) {
                    true => Ok(name),
                    false => Err(self.xml.content(node, format!("there is no link `{name}`"))),
                }
            };
            ends.push((end("parent")?, end("child")?));
        }
        let mut first = None;
        for link in children(robot, "link") {
            let name = self.xml.need(link, "name")?;
            if ends.iter().any(|(_, child)| *child == name) {
                continue;
            }
            if let Some(first) = first.replace(name) {
                let what = format!("the link `{name}` is the child of no joint, as `{first}` is");
                return Err(self.xml.content(link, format!("{what}: a robot has one root")));
            }
            self.root(name, link)?;
        }
        let mut done = vec![false; joints.len()];
        while let Some(k) =
            (0..joints.len()).find(|&k| !done[k] && self.links.contains_key(ends[k].0))
        {
            done[k] = true;
            let (parent, child) = ends[k];
            if self.links.contains_key(child) {
                let what = format!("the link `{child}` is the child of two joints");
                return Err(self.xml.content(joints[k], what));
            }
            self.joint(joints[k], parent, child, links[child])?;
        }
        match done.iter().position(|done| !done) {
            None => {
                self.mimics(&joints)?;
                self.drop_empty();
                set_welded_apart(&mut self.scene);
                Ok(())
            }
            Some(k) => Err(self.xml.content(joints[k], "this joint hangs on no root")),
        }
    }

    /// What is left aside, with its line.
    fn tell(&mut self, node: Node<'a, 'a>, what: impl std::fmt::Display) {
        self.left_aside.push(self.xml.told(node, what));
    }

    /// Elements within a link or joint that are not read.
    fn tell_unknown(&mut self, node: Node<'a, 'a>, known: &[&str], kind: &str, name: &str) {
        for one in node.children().filter(Node::is_element) {
            let tag = one.tag_name().name();
            if !known.contains(&tag) {
                self.tell(one, format!("<{tag}> of the {kind} `{name}`"));
            }
        }
    }

    /// A root without shapes is the world.
    fn drop_empty(&mut self) {
        let Scene { statics, joints, .. } = &mut self.scene;
        let is_empty =
            |name: &String| statics.iter().any(|one| one.name == *name && one.parts.is_empty());
        joints.iter_mut().for_each(|joint| joint.bodies.retain(|name| !is_empty(name)));
        statics.retain(|one| !one.parts.is_empty());
    }

    /// The root stands still.
    fn root(&mut self, name: &'a str, link: Node<'a, 'a>) -> Result<(), SceneFileError> {
        let owner = self.titles[name].clone();
        let mut fixed = StaticSpec::new(&*owner, Shape::Sphere { radius: 1.0 });
        fixed.parts = self.parts(link)?;
        self.scene.statics.push(fixed);
        let place = Placed { owner, within: Pose::ORIGIN, world: Pose::ORIGIN };
        self.links.insert(name, place);
        Ok(())
    }

    fn joint(
        &mut self,
        joint: Node<'a, 'a>,
        parent: &'a str,
        name: &'a str,
        link: Node<'a, 'a>,
    ) -> Result<(), SceneFileError> {
        let kind = self.xml.need(joint, "type")?;
        let parent = self.links[parent].clone();
        let origin = self.origin(joint)?;
        let mut world = parent.world.then(origin);
        let start = self.start(joint, &mut Vec::new())?;
        if start != 0.0 {
            world = world.then(self.moved(joint, kind, start)?);
            if child(joint, "mimic").is_none() {
                let what =
                    format!("the joint `{}` stands at {start}", self.xml.need(joint, "name")?);
                self.tell(joint, format!("{what}, since zero is outside its limits"));
            }
        }
        let inertial = child(link, "inertial");
        let Some(inertial) = inertial else {
            if kind != "fixed" {
                let what = format!("the link `{name}` moves and has no <inertial>");
                return Err(self.xml.content(link, what));
            }
            // it becomes part of its parent
            let within = parent.within.then(origin);
            let parts = self.parts(link)?;
            let placed = parts.into_iter().map(|part| {
                let at = within.then(Pose { x: part.position, p: part.orientation });
                Part { position: at.x, orientation: at.p, ..part }
            });
            let placed: Vec<Part> = placed.collect();
            let owner = parent.owner.clone();
            if let Some(body) = self.scene.bodies.iter_mut().find(|body| body.name == owner) {
                body.parts.extend(placed);
            } else if let Some(one) = self.scene.statics.iter_mut().find(|one| one.name == owner) {
                one.parts.extend(placed);
            }
            self.links.insert(name, Placed { owner, within, world });
            return Ok(());
        };
        let owner = self.titles[name].clone();
        self.body(&owner, link, inertial, world)?;
        self.connect(joint, kind, &owner, &parent.owner, world)?;
        self.links.insert(name, Placed { owner, within: Pose::ORIGIN, world });
        Ok(())
    }

    fn body(
        &mut self,
        name: &str,
        link: Node<'a, 'a>,
        inertial: Node<'a, 'a>,
        world: Pose,
    ) -> Result<(), SceneFileError> {
        let center = self.origin(inertial)?;
        let mass = child(inertial, "mass")
            .ok_or_else(|| self.xml.content(inertial, "<inertial> has no <mass>"))?;
        self.xml.need(mass, "value")?;
        let mut body = BodySpec::without_shape(name);
        body.parts = self.parts(link)?;
        body.position = world.then(center).x;
        body.orientation = world.p;
        body.mass = Some(self.xml.number(mass, "value", 0.0)?);
        body.center = Some(center.x);
        if let Some(node) = child(inertial, "inertia") {
            let one = |name: &str| self.xml.number(node, name, 0.0);
            let (xy, xz, yz) = (one("ixy")?, one("ixz")?, one("iyz")?);
            let own = [[one("ixx")?, xy, xz], [xy, one("iyy")?, yz], [xz, yz, one("izz")?]];
            body.inertia = Some(turned(&own, center.p));
        }
        self.scene.bodies.push(body);
        Ok(())
    }

    fn connect(
        &mut self,
        joint: Node<'a, 'a>,
        kind: &str,
        body: &str,
        parent: &str,
        world: Pose,
    ) -> Result<(), SceneFileError> {
        let name = self.xml.need(joint, "name")?;
        let (point, axis) = (world.x, rotate(world.p, self.axis(joint)?));
        let (made, coordinate) = match kind {
            "revolute" | "continuous" => (Joint::Pivot { point, axis }, Some(Coordinate::Angle)),
            "prismatic" => (Joint::Prismatic { axis }, Some(Coordinate::Way)),
            "fixed" => (Joint::Fixed, None),
            "planar" => (Joint::Planar { point, normal: axis }, None),
            "floating" => return Ok(()),
            kind => {
                return Err(self.xml.content(joint, format!("there is no joint type `{kind}`")));
            }
        };
        // a joint may have the name of a link
        let name = self.names.fresh(name, "joint", &mut self.left_aside);
        self.places.insert(name.clone(), joint);
        let mut link = JointLink::new(&*name, made, &[body, parent]);
        if let Some(coordinate) = coordinate {
            let fitting = self.fitting(joint, kind, coordinate)?;
            if fitting.limits.is_some() || fitting.spring.is_some() || fitting.friction.is_some() {
                link.fittings.push(fitting);
            }
        }
        if let (Some(own), true) = (joint.attribute("name"), coordinate.is_some()) {
            self.joints.insert(own, self.scene.joints.len());
        }
        self.scene.joints.push(link);
        Ok(())
    }

    fn axis(&self, joint: Node<'a, 'a>) -> Result<Vector, SceneFileError> {
        match child(joint, "axis") {
            Some(axis) => self.xml.numbers(axis, "xyz", [1.0, 0.0, 0.0]),
            None => Ok([1.0, 0.0, 0.0]),
        }
    }

    /// Where a joint puts its link that stands at this coordinate.
    fn moved(&self, joint: Node<'a, 'a>, kind: &str, x: f64) -> Result<Pose, SceneFileError> {
        let axis = self.axis(joint)?;
        let length = norm(axis);
        if x == 0.0 || length == 0.0 {
            return Ok(Pose::ORIGIN);
        }
        let way = scaled(x / length, axis);
        Ok(match kind {
            "prismatic" => Pose { x: way, p: IDENTITY },
            "revolute" | "continuous" => Pose { x: [0.0; 3], p: exp(way) },
            _ => Pose::ORIGIN,
        })
    }

    /// Where a joint stands at first: at zero or, where that is outside, at the limit next to it; one with `<mimic>` where the
    /// one that it follows says. `seen` are joints that follow this one.
    fn start(
        &self,
        joint: Node<'a, 'a>,
        seen: &mut Vec<Node<'a, 'a>>,
    ) -> Result<f64, SceneFileError> {
        if let Some(mimic) = child(joint, "mimic") {
            let other = self.xml.need(mimic, "joint")?;
            let mut all = joint.parent().into_iter().flat_map(|robot| children(robot, "joint"));
            let other = all.find(|one| one.attribute("name") == Some(other));
            let offset = self.xml.number(mimic, "offset", 0.0)?;
            seen.push(joint);
            // what follows itself is told where the two are linked
            let Some(other) = other.filter(|other| !seen.contains(other)) else {
                return Ok(offset);
            };
            let ratio = self.xml.number(mimic, "multiplier", 1.0)?;
            return Ok(ratio * self.start(other, seen)? + offset);
        }
        let is_limited = matches!(joint.attribute("type"), Some("revolute" | "prismatic"));
        let Some(limit) = child(joint, "limit").filter(|_| is_limited) else { return Ok(0.0) };
        let bound = |key: &str| self.xml.number(limit, key, 0.0);
        let (lower, upper) = (bound("lower")?, bound("upper")?);
        // others limit nothing, or are an error
        Ok(if lower < upper { 0.0_f64.clamp(lower, upper) } else { 0.0 })
    }

    /// `<mimic>`: joints that are held in a ratio to others, once all of them are there.
    fn mimics(&mut self, joints: &[Node<'a, 'a>]) -> Result<(), SceneFileError> {
        for &joint in joints {
            let Some(mimic) = child(joint, "mimic") else { continue };
            let (own, other) = (self.xml.need(joint, "name")?, self.xml.need(mimic, "joint")?);
            if !joints.iter().any(|joint| joint.attribute("name") == Some(other)) {
                return Err(self.xml.content(mimic, format!("there is no joint `{other}`")));
            }
            let ratio = self.xml.number(mimic, "multiplier", 1.0)?;
            let place = |name: &str| self.joints.get(name).copied();
            let made = match (place(own), place(other)) {
                (Some(k), Some(other)) => follow(&mut self.scene, k, other, ratio),
                _ => Err("one of the two joints is fixed or floating"),
            };
            if let Err(why) = made {
                self.tell(mimic, format!("<mimic> of the joint `{own}`: {why}"));
            }
        }
        Ok(())
    }

    /// `<limit>` and `<dynamics>`.
    fn fitting(
        &mut self,
        joint: Node<'a, 'a>,
        kind: &str,
        coordinate: Coordinate,
    ) -> Result<Fitting, SceneFileError> {
        let mut fitting = Fitting::new(coordinate);
        if let Some(limit) = child(joint, "limit").filter(|_| kind != "continuous") {
            let (lower, upper) =
                (self.xml.number(limit, "lower", 0.0)?, self.xml.number(limit, "upper", 0.0)?);
            // coordinates are zero at the start
            let start = self.start(joint, &mut Vec::new())?;
            if lower > upper {
                let what =
                    format!("`lower` is {lower} and `upper` is {upper}, expected lower < upper");
                return Err(self.xml.content(limit, what));
            }
            if lower < upper {
                self.xml.check_start(limit, start, [lower, upper])?;
            }
            // angles are counted over two turns
            let is_far = coordinate == Coordinate::Angle && upper - lower > 0.999 * 2.0 * TAU;
            match lower < upper {
                true if is_far => {
                    let name = self.xml.need(joint, "name")?;
                    let what = format!("<limit> of the joint `{name}`");
                    let why = "which are two turns apart or more";
                    self.tell(limit, format!("{what}: from {lower} to {upper}, {why}"));
                }
                true => {
                    let (lower, upper) = (lower - start, upper - start);
                    fitting.limits = Some(Limits { lower, upper, e: 0.0 });
                }
                false => {
                    let name = self.xml.need(joint, "name")?;
                    let what = format!("<limit> of the joint `{name}`");
                    self.tell(limit, format!("{what}: its `lower` and `upper` are both {lower}"));
                }
            }
        }
        if matches!(kind, "revolute" | "prismatic") && child(joint, "limit").is_none() {
            let what = match kind {
                "revolute" => "a revolute joint needs <limit>; one without is `continuous`",
                _ => "a prismatic joint needs <limit>",
            };
            return Err(self.xml.content(joint, what));
        }
        if let Some(dynamics) = child(joint, "dynamics") {
            let damping = self.xml.number(dynamics, "damping", 0.0)?;
            let force = self.xml.number(dynamics, "friction", 0.0)?;
            if damping > 0.0 {
                fitting.spring = Some(Spring { stiffness: 0.0, damping, rest: 0.0 });
            }
            if force > 0.0 {
                fitting.friction = Some(Friction { force, stiction: None, rest_speed: 1e-6 });
            }
        }
        Ok(fitting)
    }

    /// The shapes of a link: those that touch, and those that are drawn.
    fn parts(&mut self, link: Node<'a, 'a>) -> Result<Vec<Part>, SceneFileError> {
        let mut parts = Vec::new();
        for (tag, touch) in [("collision", true), ("visual", false)] {
            for node in children(link, tag) {
                let place = self.origin(node)?;
                let geometry = child(node, "geometry")
                    .ok_or_else(|| self.xml.content(node, format!("<{tag}> has no <geometry>")))?;
                for geometry in geometry.children().filter(Node::is_element) {
                    if let Some(shape) = self.shape(geometry, touch)? {
                        let (position, orientation) = (place.x, place.p);
                        parts.push(Part { shape, position, orientation, material: None, touch });
                    }
                }
            }
        }
        Ok(parts)
    }

    fn shape(&mut self, node: Node<'a, 'a>, touch: bool) -> Result<Option<Shape>, SceneFileError> {
        let one = |name: &str| {
            self.xml.need(node, name)?;
            self.xml.number(node, name, 0.0)
        };
        Ok(Some(match node.tag_name().name() {
            "box" => {
                self.xml.need(node, "size")?;
                Shape::Box { edges: self.xml.numbers(node, "size", [0.0; 3])? }
            }
            "cylinder" => Shape::Cylinder { radius: one("radius")?, length: one("length")? },
            "capsule" => Shape::Capsule { radius: one("radius")?, length: one("length")? },
            "sphere" => Shape::Sphere { radius: one("radius")? },
            "mesh" => return self.mesh(node, touch),
            tag => {
                self.tell(node, format!("<geometry> of <{tag}>"));
                return Ok(None);
            }
        }))
    }

    /// A mesh; one that touches does so as its convex hull.
    fn mesh(&mut self, node: Node<'a, 'a>, touch: bool) -> Result<Option<Shape>, SceneFileError> {
        let name = self.xml.need(node, "filename")?;
        let scale: Vector = self.xml.numbers(node, "scale", [1.0; 3])?;
        let file = self.find(name);
        let mesh = match saltus_mechanics::mesh::read(&file) {
            Ok(mesh) => mesh,
            Err(error) => {
                self.tell(node, format!("<mesh> `{name}`: {error}"));
                return Ok(None);
            }
        };
        let scaled = |point: Vector| [0, 1, 2].map(|k| scale[k] * point[k]);
        let points: Vec<Vector> = mesh.points.into_iter().map(scaled).collect();
        Ok(Some(match touch {
            true => Shape::ConvexHull { points },
            false => Shape::TriangleMesh { points, triangles: mesh.triangles },
        }))
    }

    /// Where a file is: beside the robot, or in a package that one of its folders holds.
    fn find(&self, name: &str) -> PathBuf {
        let folder = self.xml.path.parent().unwrap_or(Path::new(""));
        let Some(inner) = name.strip_prefix("package://") else {
            return folder.join(name.strip_prefix("file://").unwrap_or(name));
        };
        let without = inner.split_once('/').map_or(inner, |(_, rest)| rest);
        let candidates = folder.ancestors().flat_map(|up| [up.join(inner), up.join(without)]);
        candidates.into_iter().find(|path| path.exists()).unwrap_or_else(|| folder.join(without))
    }
}
