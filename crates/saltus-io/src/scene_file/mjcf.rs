//! Models of MuJoCo: worlds of bodies, primitive geoms, joints, classes of defaults.
//!
//! | of the file | in the scene |
//! | --- | --- |
//! | body with joints | a body, linked to the one that it stands in |
//! | body without joints | part of what stands still, or fixed to the one that it stands in |
//! | geom | a shape, whose density, friction and masks are its material's |
//! | several joints of a body | hinge and hinge: universal; slide and hinge: cylindrical; slide, slide, hinge: planar |
//! | equality | connect: ball; weld: fixed; joint: one follows the other |
//!
//! Friction of two geoms is the larger one; contacts are hard and have no restitution, whatever `solref`
//! and `solimp` say. What has no place in a scene is told; what would change the motion and cannot be
//! read, such as a mesh that touches, is an error.

use super::xml::{Pose, Xml, child, children, turned};
use super::{SceneFile, SceneFileError, default_simulation};
use roxmltree::{Document, Node};
use saltus_mechanics::{
    Anchor, BodySpec, ContactPair, Coordinate, Fitting, Follows, Friction, Joint, JointLink,
    Limits, Material, Part, Scene, Shape, Spring, StaticSpec,
};
use saltus_model::rotation::{
    IDENTITY, Matrix3, Quaternion, Vector, add, cross, dot, exp, norm, normalized, product, rotate,
    rotate_back, scaled, sub, unit,
};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

/// How far from parallel or square axes of several joints may be.
const SQUARE: f64 = 1e-9;

/// Attributes by class and tag.
type Defaults<'a> = HashMap<&'a str, HashMap<(&'a str, &'a str), &'a str>>;

/// What geoms of one material have in common: sliding and rolling friction, masks, density, as bits.
type Kind = [u64; 5];

/// Where a body of the file is: what it is part of in the scene, its place there and in the world.
#[derive(Debug, Clone)]
struct Placed {
    /// A body of the scene; nothing: the world.
    owner: Option<String>,
    world: Pose,
}

struct Reader<'a> {
    xml: Xml<'a>,
    defaults: Defaults<'a>,
    /// Radians of a unit of angle.
    unit: f64,
    order: &'a str,
    left_aside: Vec<String>,
    scene: Scene,
    kinds: Vec<Kind>,
    bodies: HashMap<String, Placed>,
    joints: HashMap<&'a str, usize>,
    unnamed: usize,
}

/// Reads the model of a file.
pub(super) fn read(path: &Path) -> Result<SceneFile, SceneFileError> {
    let cause = |cause: String| SceneFileError::Read { path: path.to_path_buf(), cause };
    let text = std::fs::read_to_string(path).map_err(|error| cause(error.to_string()))?;
    let document = Document::parse(&text).map_err(|error| cause(error.to_string()))?;
    let root = document.root_element();
    let scene = Scene::new(root.attribute("model").unwrap_or("model"));
    let mut reader = Reader {
        xml: Xml { path, document: &document },
        defaults: HashMap::new(),
        unit: PI / 180.0,
        order: "xyz",
        left_aside: Vec::new(),
        scene: scene.gravity([0.0, 0.0, -9.81]),
        kinds: Vec::new(),
        bodies: HashMap::new(),
        joints: HashMap::new(),
        unnamed: 0,
    };
    let h = reader.model(root)?;
    let Reader { scene, left_aside, .. } = reader;
    let simulation = super::Simulation { h, ..default_simulation() };
    Ok(SceneFile { scene, simulation: Some(simulation), left_aside })
}

impl<'a> Reader<'a> {
    /// The whole file; the length of its steps.
    fn model(&mut self, root: Node<'a, 'a>) -> Result<f64, SceneFileError> {
        if root.tag_name().name() != "mujoco" {
            return Err(self.xml.content(root, "expected <mujoco>"));
        }
        if let Some(node) = root.descendants().find(|node| node.tag_name().name() == "include") {
            let what = "<include> is not read; save the model as one file";
            return Err(self.xml.content(node, what));
        }
        let mut h = 0.002;
        let elements = || root.children().filter(Node::is_element);
        for node in elements() {
            match node.tag_name().name() {
                "compiler" => self.compiler(node)?,
                "option" => {
                    h = self.xml.number(node, "timestep", h)?;
                    self.scene.gravity = self.xml.numbers(node, "gravity", self.scene.gravity)?;
                    let known = ["timestep", "gravity"];
                    let others = node.attributes().map(|one| one.name().to_string());
                    let others = others.filter(|name| !known.contains(&name.as_str()));
                    self.left_aside.extend(others.map(|name| format!("`{name}` of <option>")));
                }
                "default" => self.class(node, "main", HashMap::new())?,
                "worldbody" | "contact" | "equality" => {}
                // names of files and colors, of which no motion depends
                "asset" | "visual" | "statistic" | "size" => {}
                tag => self.left_aside.push(format!("<{tag}>")),
            }
        }
        if !(h > 0.0) {
            return Err(self.xml.content(root, format!("`timestep` is {h}, expected (0, inf)")));
        }
        let world = Placed { owner: None, world: Pose::ORIGIN };
        for node in children(root, "worldbody") {
            self.inside(node, "world", "main", &world)?;
        }
        for node in elements() {
            match node.tag_name().name() {
                "contact" => self.excluded(node)?,
                "equality" => self.equalities(node)?,
                _ => {}
            }
        }
        self.laws();
        Ok(h)
    }

    fn compiler(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        self.unit = match node.attribute("angle") {
            None | Some("degree") => PI / 180.0,
            Some("radian") => 1.0,
            Some(other) => {
                let what = format!("`angle` is {other:?}, expected degree or radian");
                return Err(self.xml.content(node, what));
            }
        };
        self.order = node.attribute("eulerseq").unwrap_or(self.order);
        if self.order.len() != 3 || !self.order.chars().all(|c| "xyzXYZ".contains(c)) {
            let what = format!("`eulerseq` is {:?}, expected three of xyzXYZ", self.order);
            return Err(self.xml.content(node, what));
        }
        for (name, usual) in [("coordinate", "local"), ("inertiafromgeom", "auto")] {
            if let Some(found) = node.attribute(name).filter(|found| *found != usual) {
                let what = format!("`{name}` is {found:?}; only {usual:?} is read");
                return Err(self.xml.content(node, what));
            }
        }
        Ok(())
    }

    /// A class of defaults and those within it, which have its own unless they say otherwise.
    fn class(
        &mut self,
        node: Node<'a, 'a>,
        name: &'a str,
        mut own: HashMap<(&'a str, &'a str), &'a str>,
    ) -> Result<(), SceneFileError> {
        let name = node.attribute("class").unwrap_or(name);
        let elements = || node.children().filter(Node::is_element);
        for one in elements().filter(|one| one.tag_name().name() != "default") {
            let tag = one.tag_name().name();
            own.extend(one.attributes().map(|given| ((tag, given.name()), given.value())));
        }
        self.defaults.insert(name, own.clone());
        for one in children(node, "default") {
            let name = self.xml.need(one, "class")?;
            self.class(one, name, own.clone())?;
        }
        Ok(())
    }

    /// The text of an attribute, its own or that of its class.
    fn text(
        &self,
        node: Node<'a, 'a>,
        class: &str,
        name: &str,
    ) -> Result<Option<&'a str>, SceneFileError> {
        if let Some(own) = node.attribute(name) {
            return Ok(Some(own));
        }
        let class = node.attribute("class").unwrap_or(class);
        match self.defaults.get(class) {
            Some(known) => Ok(known.get(&(node.tag_name().name(), name)).copied()),
            None if class == "main" => Ok(None),
            None => Err(self.xml.content(node, format!("there is no class `{class}`"))),
        }
    }

    /// Numbers of an attribute, as many as there are.
    fn list(
        &self,
        node: Node<'a, 'a>,
        class: &str,
        name: &str,
    ) -> Result<Option<Vec<f64>>, SceneFileError> {
        let Some(text) = self.text(node, class, name)? else { return Ok(None) };
        let values: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        match values.ok().filter(|values| values.iter().all(|value| value.is_finite())) {
            Some(values) => Ok(Some(values)),
            None => {
                let what = format!("`{name}` is {text:?}, expected finite numbers");
                Err(self.xml.content(node, what))
            }
        }
    }

    /// So many numbers of an attribute.
    fn numbers<const N: usize>(
        &self,
        node: Node<'a, 'a>,
        class: &str,
        name: &str,
    ) -> Result<Option<[f64; N]>, SceneFileError> {
        let Some(values) = self.list(node, class, name)? else { return Ok(None) };
        let found = values.len();
        values.try_into().map(Some).map_err(|_| {
            self.xml.content(node, format!("`{name}` has {found} numbers, expected {N}"))
        })
    }

    fn number(
        &self,
        node: Node<'a, 'a>,
        class: &str,
        name: &str,
        default: f64,
    ) -> Result<f64, SceneFileError> {
        Ok(self.numbers(node, class, name)?.map_or(default, |[value]| value))
    }

    /// Place and turn of an element in the frame that it stands in.
    fn pose(&self, node: Node<'a, 'a>, class: &str) -> Result<Pose, SceneFileError> {
        let x = self.numbers(node, class, "pos")?.unwrap_or_default();
        Ok(Pose { x, p: self.turn(node, class)? })
    }

    /// `quat`, `axisangle`, `euler`, `xyaxes` or `zaxis`.
    fn turn(&self, node: Node<'a, 'a>, class: &str) -> Result<Quaternion, SceneFileError> {
        let none = |name: &str| {
            self.xml.content(node, format!("`{name}` is no turn: a direction has no length"))
        };
        if let Some(quat) = self.numbers::<4>(node, class, "quat")? {
            return normalized(quat).ok_or_else(|| none("quat"));
        }
        if let Some([x, y, z, angle]) = self.numbers(node, class, "axisangle")? {
            let length = norm([x, y, z]);
            if !(length > 0.0) {
                return Err(none("axisangle"));
            }
            return Ok(exp(scaled(self.unit * angle / length, [x, y, z])));
        }
        if let Some(angles) = self.numbers::<3>(node, class, "euler")? {
            let mut p = IDENTITY;
            for (axis, angle) in self.order.chars().zip(angles) {
                let mut by = [0.0; 3];
                by["xyz".find(axis.to_ascii_lowercase()).unwrap_or(0)] = self.unit * angle;
                // about axes that turn with it, or about those of the frame
                p = match axis.is_ascii_lowercase() {
                    true => product(p, exp(by)),
                    false => product(exp(by), p),
                };
            }
            return Ok(p);
        }
        if let Some([a, b, c, d, e, f]) = self.numbers(node, class, "xyaxes")? {
            let (x, y) = ([a, b, c], [d, e, f]);
            let x = unit(x).ok_or_else(|| none("xyaxes"))?;
            let y = unit(sub(y, scaled(dot(x, y), x))).ok_or_else(|| none("xyaxes"))?;
            let p = upright(cross(x, y)).ok_or_else(|| none("xyaxes"))?;
            let [a, b, _] = rotate_back(p, x);
            return Ok(product(p, exp([0.0, 0.0, b.atan2(a)])));
        }
        if let Some(z) = self.numbers::<3>(node, class, "zaxis")? {
            return upright(z).ok_or_else(|| none("zaxis"));
        }
        Ok(IDENTITY)
    }

    /// What stands in a body, or in the world.
    fn inside(
        &mut self,
        node: Node<'a, 'a>,
        name: &str,
        class: &'a str,
        at: &Placed,
    ) -> Result<(), SceneFileError> {
        let class = node.attribute("childclass").unwrap_or(class);
        self.bodies.insert(name.to_string(), at.clone());
        if at.owner.is_none() {
            let mut fixed = StaticSpec::new(name, Shape::Sphere { radius: 1.0 });
            fixed.parts = self.parts(node, class, at.world)?;
            if !fixed.parts.is_empty() {
                self.scene.statics.push(fixed);
            }
        }
        for one in node.children().filter(Node::is_element) {
            match one.tag_name().name() {
                "body" => self.body(one, class, at)?,
                "geom" | "joint" | "freejoint" | "inertial" => {}
                // points of view and of measurement
                "camera" | "light" | "site" => {}
                tag => {
                    let what = format!("<{tag}> in the body `{name}` is not read");
                    return Err(self.xml.content(one, what));
                }
            }
        }
        Ok(())
    }

    fn body(
        &mut self,
        node: Node<'a, 'a>,
        class: &'a str,
        parent: &Placed,
    ) -> Result<(), SceneFileError> {
        let inner = node.attribute("childclass").unwrap_or(class);
        let world = parent.world.then(self.pose(node, class)?);
        let joints: Vec<Node<'a, 'a>> = children(node, "joint").collect();
        let is_free = child(node, "freejoint").is_some();
        let name = match node.attribute("name") {
            Some(name) => name.to_string(),
            None => {
                self.unnamed += 1;
                format!("body {}", self.unnamed)
            }
        };
        let has_mass = child(node, "inertial").is_some() || child(node, "geom").is_some();
        if joints.is_empty() && !is_free && (parent.owner.is_none() || !has_mass) {
            let at = Placed { owner: parent.owner.clone(), world };
            return self.inside(node, &name, class, &at);
        }
        if !has_mass {
            let what = format!("the body `{name}` moves and has neither <inertial> nor <geom>");
            return Err(self.xml.content(node, what));
        }
        let mut body = BodySpec::without_shape(&*name);
        body.parts = self.parts(node, inner, Pose::ORIGIN)?;
        body.anchor = Anchor::Origin;
        body.position = world.x;
        body.orientation = world.p;
        if let Some(inertial) = child(node, "inertial") {
            self.inertial(inertial, &mut body)?;
        }
        self.scene.bodies.push(body);
        if !is_free {
            self.link(node, &joints, inner, &name, parent, world)?;
        }
        let at = Placed { owner: Some(name.clone()), world };
        self.inside(node, &name, class, &at)
    }

    fn inertial(&self, node: Node<'a, 'a>, body: &mut BodySpec) -> Result<(), SceneFileError> {
        let center = self.pose(node, "main")?;
        self.xml.need(node, "mass")?;
        body.mass = Some(self.xml.number(node, "mass", 0.0)?);
        body.center = Some(center.x);
        let own: Matrix3 = match self.numbers::<6>(node, "main", "fullinertia")? {
            Some([xx, yy, zz, xy, xz, yz]) => [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
            None => {
                self.xml.need(node, "diaginertia")?;
                let [a, b, c] = self.xml.numbers(node, "diaginertia", [0.0; 3])?;
                [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
            }
        };
        body.inertia = Some(turned(&own, center.p));
        Ok(())
    }

    /// What a body may do in the one that it stands in.
    fn link(
        &mut self,
        node: Node<'a, 'a>,
        joints: &[Node<'a, 'a>],
        class: &str,
        name: &str,
        parent: &Placed,
        world: Pose,
    ) -> Result<(), SceneFileError> {
        let mut kinds = Vec::new();
        for &joint in joints {
            let axis = self.numbers(joint, class, "axis")?.unwrap_or([0.0, 0.0, 1.0]);
            let axis = unit(rotate(world.p, axis))
                .ok_or_else(|| self.xml.content(joint, "`axis` has no length"))?;
            let point = self.numbers(joint, class, "pos")?.unwrap_or_default();
            let point = world.then(Pose { x: point, p: IDENTITY }).x;
            kinds.push((self.text(joint, class, "type")?.unwrap_or("hinge"), point, axis));
        }
        let along = |a: Vector, b: Vector| norm(cross(a, b)) <= SQUARE;
        let across = |a: Vector, b: Vector| dot(a, b).abs() <= SQUARE;
        use Coordinate::{Angle, SecondAngle, Way};
        let (joint, coordinates): (Joint, &[Coordinate]) = match kinds[..] {
            [] => (Joint::Fixed, &[]),
            [("free", ..)] => return Ok(()),
            [("hinge", point, axis)] => (Joint::Pivot { point, axis }, &[Angle]),
            [("slide", _, axis)] => (Joint::Prismatic { axis }, &[Way]),
            [("ball", point, _)] => (Joint::Ball { point }, &[]),
            // the first one is that of the outer body
            [("hinge", a, second_axis), ("hinge", point, axis)]
                if across(axis, second_axis) && norm(sub(a, point)) <= SQUARE =>
            {
                (Joint::Universal { point, axis, second_axis }, &[SecondAngle, Angle])
            }
            [("slide", _, a), ("hinge", point, axis)] if along(a, axis) => {
                (Joint::Cylindrical { point, axis }, &[Way, Angle])
            }
            [("slide", _, a), ("slide", _, b), ("hinge", point, normal)]
                if across(a, b) && along(cross(a, b), normal) =>
            {
                // its ways are along other directions
                (Joint::Planar { point, normal }, &[])
            }
            _ => {
                let kinds: Vec<&str> = kinds.iter().map(|kind| kind.0).collect();
                let what = format!("the body `{name}` has the joints {}", kinds.join(", "));
                let what = format!("{what}: none of the joints that are known does that");
                return Err(self.xml.content(node, what));
            }
        };
        let own = joints.first().and_then(|joint| joint.attribute("name"));
        let taken = |name: &str| {
            self.scene.bodies.iter().any(|body| body.name == name)
                || self.scene.statics.iter().any(|one| one.name == name)
        };
        let title = match own {
            Some(own) if !taken(own) => own.to_string(),
            Some(own) => format!("{own} joint"),
            None => format!("{name} joint"),
        };
        let mut bodies = vec![name];
        bodies.extend(parent.owner.as_deref());
        let mut link = JointLink::new(title, joint, &bodies);
        for (k, &joint) in joints.iter().enumerate() {
            match coordinates.get(k) {
                Some(&coordinate) => link.fittings.extend(self.fitting(joint, class, coordinate)?),
                None => {
                    for key in ["range", "damping", "stiffness", "frictionloss"] {
                        if self.list(joint, class, key)?.is_some() {
                            self.aside(joint, key, name);
                        }
                    }
                }
            }
            if self.number(joint, class, "armature", 0.0)? != 0.0 {
                self.aside(joint, "armature", name);
            }
            if let (Some(own), [_]) = (joint.attribute("name"), coordinates) {
                self.joints.insert(own, self.scene.joints.len());
            }
        }
        self.scene.joints.push(link);
        Ok(())
    }

    fn aside(&mut self, joint: Node<'a, 'a>, key: &str, body: &str) {
        let name =
            joint.attribute("name").map_or("a joint".to_string(), |name| format!("`{name}`"));
        self.left_aside.push(format!("`{key}` of {name} of the body `{body}`"));
    }

    /// Limits, spring, damper and dry friction of a joint.
    fn fitting(
        &self,
        joint: Node<'a, 'a>,
        class: &str,
        coordinate: Coordinate,
    ) -> Result<Option<Fitting>, SceneFileError> {
        let is_way = self.text(joint, class, "type")? == Some("slide");
        let unit = if is_way { 1.0 } else { self.unit };
        // coordinates are zero at the start
        let start = unit * self.number(joint, class, "ref", 0.0)?;
        let mut fitting = Fitting::new(coordinate);
        let is_limited = self.text(joint, class, "limited")?.unwrap_or("auto");
        if let Some([lower, upper]) = self.numbers(joint, class, "range")?
            && is_limited != "false"
        {
            let (lower, upper) = (unit * lower - start, unit * upper - start);
            fitting.limits = Some(Limits { lower, upper, e: 0.0 });
        }
        let stiffness = self.number(joint, class, "stiffness", 0.0)?;
        let damping = self.number(joint, class, "damping", 0.0)?;
        let rest = unit * self.number(joint, class, "springref", 0.0)? - start;
        if stiffness > 0.0 || damping > 0.0 {
            fitting.spring = Some(Spring { stiffness, damping, rest });
        }
        let force = self.number(joint, class, "frictionloss", 0.0)?;
        if force > 0.0 {
            fitting.friction = Some(Friction { force, stiction: None, rest_speed: 1e-6 });
        }
        let has_any =
            fitting.limits.is_some() || fitting.spring.is_some() || fitting.friction.is_some();
        Ok(has_any.then_some(fitting))
    }

    /// The geoms of a body, in the frame of its shapes, which is at `frame`.
    fn parts(
        &mut self,
        node: Node<'a, 'a>,
        class: &str,
        frame: Pose,
    ) -> Result<Vec<Part>, SceneFileError> {
        let mut parts = Vec::new();
        for geom in children(node, "geom") {
            let mask = |name| Ok::<_, SceneFileError>(self.number(geom, class, name, 1.0)? as u64);
            let masks = [mask("contype")?, mask("conaffinity")?];
            let touches = masks != [0, 0];
            let Some((shape, volume, own)) = self.shape(geom, class, touches)? else { continue };
            let density = self.number(geom, class, "density", 1000.0)?;
            let density = match self.numbers(geom, class, "mass")? {
                Some([mass]) => mass / volume,
                None => density,
            };
            let (mut mu, mut mu_r) = (1.0, 0.0);
            if let Some(given) = self.list(geom, class, "friction")? {
                mu = given.first().copied().unwrap_or(mu);
                mu_r = given.get(2).copied().unwrap_or(1e-4);
            }
            match self.number(geom, class, "condim", 3.0)? as u32 {
                1 => (mu, mu_r) = (0.0, 0.0),
                6 => {}
                _ => mu_r = 0.0,
            }
            let [contype, conaffinity] = masks;
            let kind = [mu.to_bits(), mu_r.to_bits(), contype, conaffinity, density.to_bits()];
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

    /// The shape of a geom, its volume, and its place in the frame of the body.
    fn shape(
        &mut self,
        geom: Node<'a, 'a>,
        class: &str,
        touches: bool,
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
        let need = |count: usize| match size.len() >= count {
            true => Ok(()),
            false => {
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
            _ if !touches => {
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

    /// Pairs of bodies that do not touch.
    fn excluded(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        for one in node.children().filter(Node::is_element) {
            if one.tag_name().name() != "exclude" {
                self.left_aside.push(format!("<{}> of <contact>", one.tag_name().name()));
                continue;
            }
            let mut names = [String::new(), String::new()];
            for (name, key) in names.iter_mut().zip(["body1", "body2"]) {
                let own = self.xml.need(one, key)?;
                let place = self.place(one, own)?;
                *name = place.owner.clone().unwrap_or_else(|| own.to_string());
            }
            let has_side = |name: &String| {
                self.scene.bodies.iter().any(|body| body.name == *name)
                    || self.scene.statics.iter().any(|one| one.name == *name)
            };
            if names[0] != names[1] && names.iter().all(has_side) {
                self.scene.apart.push(names);
            }
        }
        Ok(())
    }

    fn place(&self, node: Node<'a, 'a>, name: &str) -> Result<&Placed, SceneFileError> {
        let none = || self.xml.content(node, format!("there is no body `{name}`"));
        self.bodies.get(name).ok_or_else(none)
    }

    /// Bodies that are held together, and joints that follow others.
    fn equalities(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        for (k, one) in node.children().filter(Node::is_element).enumerate() {
            let tag = one.tag_name().name();
            let title = one.attribute("name").map(str::to_string);
            let title = title.unwrap_or_else(|| format!("equality {}", k + 1));
            if one.attribute("active") == Some("false") {
                self.left_aside.push(format!("<{tag}> `{title}`, which is not active"));
                continue;
            }
            match tag {
                "connect" | "weld" if one.attribute("body1").is_some() => {
                    let first = self.place(one, self.xml.need(one, "body1")?)?.clone();
                    let second = match one.attribute("body2") {
                        Some(name) => self.place(one, name)?.owner.clone(),
                        None => None,
                    };
                    let is_plain = one.attribute("relpose").is_none();
                    let joint = match tag {
                        "connect" => {
                            self.xml.need(one, "anchor")?;
                            let x = self.xml.numbers(one, "anchor", [0.0; 3])?;
                            Joint::Ball { point: first.world.then(Pose { x, p: IDENTITY }).x }
                        }
                        _ => Joint::Fixed,
                    };
                    let bodies: Vec<&str> = [&first.owner, &second]
                        .into_iter()
                        .filter_map(|one| one.as_deref())
                        .collect();
                    if !is_plain || bodies.is_empty() || first.owner == second {
                        self.left_aside.push(format!("<{tag}> `{title}`"));
                        continue;
                    }
                    let mut link = JointLink::new(title, joint, &bodies);
                    link.touch = true;
                    self.scene.joints.push(link);
                }
                "joint" => self.follow(one, &title)?,
                _ => self.left_aside.push(format!("<{tag}> `{title}`")),
            }
        }
        Ok(())
    }

    /// `joint1 = c₀ + c₁ joint2`, both from where they start.
    fn follow(&mut self, node: Node<'a, 'a>, title: &str) -> Result<(), SceneFileError> {
        let own = self.xml.need(node, "joint1")?;
        let other = node.attribute("joint2");
        let coefficients = self.list(node, "main", "polycoef")?;
        let coefficients = coefficients.unwrap_or_else(|| vec![0.0, 1.0]);
        let ratio = coefficients.get(1).copied().unwrap_or(0.0);
        let is_plain = coefficients.iter().enumerate().all(|(k, c)| k == 1 || *c == 0.0);
        let place = |name: &str| self.joints.get(name).copied();
        match (place(own), other.and_then(place)) {
            (Some(k), Some(other)) if is_plain && ratio != 0.0 => {
                let joint = self.scene.joints[other].name.clone();
                self.scene.joints[k].follows = Some(Follows { joint, ratio });
            }
            _ => self.left_aside.push(format!("<joint> `{title}` of <equality>")),
        }
        Ok(())
    }

    /// Materials, and what happens where two of them touch.
    fn laws(&mut self) {
        for (k, &[.., density]) in self.kinds.iter().enumerate() {
            self.scene.materials.push(Material::new(material(k), f64::from_bits(density)));
        }
        for (i, &[mu, mu_r, contype, conaffinity, _]) in self.kinds.iter().enumerate() {
            for (j, other) in self.kinds.iter().enumerate().skip(i) {
                let &[other_mu, other_mu_r, other_type, other_affinity, _] = other;
                let most = |a: u64, b: u64| f64::from_bits(a).max(f64::from_bits(b));
                let (mu, mu_r) = (most(mu, other_mu), most(mu_r, other_mu_r));
                let mut pair = ContactPair::new(material(i), material(j));
                pair.touch = contype & other_affinity != 0 || other_type & conaffinity != 0;
                pair.mu = (mu > 0.0).then_some(mu);
                pair.mu_r = (mu_r > 0.0 && mu > 0.0).then_some(mu_r);
                self.scene.contacts.push(pair);
            }
        }
    }
}

/// The name of a material.
fn material(place: usize) -> String {
    format!("geom {}", place + 1)
}

/// The shortest turn of z into a direction.
fn upright(z: Vector) -> Option<Quaternion> {
    let z = unit(z)?;
    let across = cross([0.0, 0.0, 1.0], z);
    normalized([1.0 + z[2], across[0], across[1], across[2]])
        .filter(|_| z[2] > -1.0 + 1e-12)
        .or(Some([0.0, 1.0, 0.0, 0.0]))
}
