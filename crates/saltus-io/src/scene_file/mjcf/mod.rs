//! Models of MuJoCo: worlds of bodies, primitive geoms, joints, classes of defaults.
//!
//! | of the file | in the scene |
//! | --- | --- |
//! | body with joints | a body, linked to the one that it stands in |
//! | body without joints | part of what stands still, or fixed to the one that it stands in; without a mass part of it |
//! | geom | a shape, whose density, friction and masks are its material's |
//! | several joints of a body | hinge and hinge: universal; slide and hinge: cylindrical; slide, slide, hinge: planar |
//! | equality | connect: ball; weld: fixed; joint: one follows the other |
//!
//! Bodies stand as the file draws them, which is where joints have the value `ref`; a joint whose `range`
//! does not hold that begins at the end next to it, and one that follows it where that says. This is told.
//!
//! Of two geoms the larger `condim` and friction hold, or those of the larger priority; contacts are hard
//! and have no restitution, whatever `solref` and `solimp` say. What has no place in a scene and every
//! attribute that is not read is told; a mesh that touches or weighs is an error, and so are flags that
//! switch off a part of the motion.

mod geoms;
mod joints;
mod known;

use super::xml::{Names, Pose, Xml, child, children, set_welded_apart, turned};
use super::{SceneFile, SceneFileError, default_simulation};
use geoms::Kind;
use roxmltree::{Document, Node};
use saltus_mechanics::{Anchor, BodySpec, Scene, Shape, StaticSpec};
use saltus_model::rotation::{
    IDENTITY, Matrix3, Quaternion, Vector, conjugate, cross, dot, exp, norm, normalized, product,
    rotate, rotate_back, scaled, sub, unit,
};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

/// What turns an element, see [`Reader::turn`].
const TURNS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// Attributes by class and tag.
type Defaults<'a> = HashMap<&'a str, HashMap<(&'a str, &'a str), &'a str>>;

/// Where a body of the file is: what it is part of in the scene, its place there and in the world.
#[derive(Debug, Clone)]
struct Placed {
    /// A body of the scene; nothing: the world.
    owner: Option<String>,
    /// The body or static of the scene that its geoms belong to.
    side: String,
    within: Pose,
    world: Pose,
    /// Where the file puts it: joints whose limits do not hold that stand elsewhere.
    drawn: Pose,
}

impl Placed {
    /// How far joints have moved it from where the file puts it.
    fn shift(&self) -> Pose {
        let p = product(self.world.p, conjugate(self.drawn.p));
        Pose { x: sub(self.world.x, rotate(p, self.drawn.x)), p }
    }
}

struct Reader<'a> {
    xml: Xml<'a>,
    defaults: Defaults<'a>,
    /// Radians of a unit of angle.
    unit: f64,
    order: &'a str,
    /// Whether a range is a limit without `limited`.
    auto_limits: bool,
    left_aside: Vec<String>,
    scene: Scene,
    kinds: Vec<Kind>,
    bodies: HashMap<&'a str, Placed>,
    joints: HashMap<&'a str, usize>,
    names: Names,
    /// What bodies are called in the scene.
    titles: HashMap<&'a str, String>,
    unnamed: usize,
    /// The elements of bodies and joints, by their names in the scene.
    places: HashMap<String, Node<'a, 'a>>,
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
        auto_limits: true,
        left_aside: Vec::new(),
        scene: scene.gravity([0.0, 0.0, -9.81]),
        kinds: Vec::new(),
        bodies: HashMap::new(),
        joints: HashMap::new(),
        names: Names::default(),
        titles: HashMap::new(),
        unnamed: 0,
        places: HashMap::new(),
    };
    let h = reader.model(root)?;
    let Reader { xml, scene, left_aside, places, .. } = reader;
    let scene = xml.checked(scene, &places)?;
    let simulation = super::Simulation { h, ..default_simulation() };
    Ok(SceneFile { scene, beside: String::new(), simulation: Some(simulation), left_aside })
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
                    self.tell_unknown(node, "main");
                    self.flags(node)?;
                }
                "default" => {
                    let before = self.defaults.get("main").cloned().unwrap_or_default();
                    self.class(node, "main", before)?;
                    // the outermost class may have a name of its own
                    if let Some(name) = node.attribute("class")
                        && let Some(own) = self.defaults.get(name).cloned()
                    {
                        self.defaults.insert("main", own);
                    }
                }
                "worldbody" | "contact" | "equality" => {}
                // names of files and colors, of which no motion depends
                "asset" | "visual" | "statistic" | "size" => {}
                tag => self.left_aside.push(format!("<{tag}>")),
            }
        }
        if !(h > 0.0) {
            return Err(self.xml.content(root, format!("`timestep` is {h}, expected (0, inf)")));
        }
        // joints and equalities do not take the names of bodies that come later
        let side = self.names.fresh("world", "body", &mut self.left_aside);
        for world in children(root, "worldbody") {
            for body in world.descendants().filter(|node| node.tag_name().name() == "body") {
                let Some(name) = body.attribute("name") else { continue };
                let title = self.names.fresh(name, "body", &mut self.left_aside);
                if self.titles.insert(name, title).is_some() {
                    let what = format!("there are two bodies named `{name}`");
                    return Err(self.xml.content(body, what));
                }
            }
        }
        let world = Placed {
            owner: None,
            side,
            within: Pose::ORIGIN,
            world: Pose::ORIGIN,
            drawn: Pose::ORIGIN,
        };
        self.bodies.insert("world", world.clone());
        for node in children(root, "worldbody") {
            self.inside(node, "main", &world)?;
        }
        for node in elements() {
            match node.tag_name().name() {
                "contact" => self.excluded(node)?,
                "equality" => self.equalities(node)?,
                _ => {}
            }
        }
        set_welded_apart(&mut self.scene);
        self.laws();
        Ok(h)
    }

    fn compiler(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        self.unit = match node.attribute("angle") {
            None => self.unit,
            Some("degree") => PI / 180.0,
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
        self.auto_limits = match node.attribute("autolimits") {
            None => self.auto_limits,
            Some("true") => true,
            Some("false") => false,
            Some(other) => {
                let what = format!("`autolimits` is {other:?}, expected true or false");
                return Err(self.xml.content(node, what));
            }
        };
        self.tell_unknown(node, "main");
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
        self.parsed(node, name, text).map(Some)
    }

    fn parsed(
        &self,
        node: Node<'a, 'a>,
        name: &str,
        text: &str,
    ) -> Result<Vec<f64>, SceneFileError> {
        let values: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        let values = values.ok().filter(|values| values.iter().all(|value| value.is_finite()));
        values.ok_or_else(|| {
            self.xml.content(node, format!("`{name}` is {text:?}, expected finite numbers"))
        })
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
        // its own goes before those of its class
        let own = TURNS.into_iter().find(|name| node.attribute(*name).is_some());
        let is_asked = |name: &str| own.is_none_or(|own| own == name);
        if is_asked("quat")
            && let Some(quat) = self.numbers::<4>(node, class, "quat")?
        {
            return normalized(quat).ok_or_else(|| none("quat"));
        }
        if is_asked("axisangle")
            && let Some([x, y, z, angle]) = self.numbers(node, class, "axisangle")?
        {
            let length = norm([x, y, z]);
            if !(length > 0.0) {
                return Err(none("axisangle"));
            }
            return Ok(exp(scaled(self.unit * angle / length, [x, y, z])));
        }
        if is_asked("euler")
            && let Some(angles) = self.numbers::<3>(node, class, "euler")?
        {
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
        if is_asked("xyaxes")
            && let Some([a, b, c, d, e, f]) = self.numbers(node, class, "xyaxes")?
        {
            let (x, y) = ([a, b, c], [d, e, f]);
            let x = unit(x).ok_or_else(|| none("xyaxes"))?;
            let y = unit(sub(y, scaled(dot(x, y), x))).ok_or_else(|| none("xyaxes"))?;
            let p = upright(cross(x, y)).ok_or_else(|| none("xyaxes"))?;
            let [a, b, _] = rotate_back(p, x);
            return Ok(product(p, exp([0.0, 0.0, b.atan2(a)])));
        }
        if is_asked("zaxis")
            && let Some(z) = self.numbers::<3>(node, class, "zaxis")?
        {
            return upright(z).ok_or_else(|| none("zaxis"));
        }
        Ok(IDENTITY)
    }

    /// What stands in a body, or in the world.
    fn inside(
        &mut self,
        node: Node<'a, 'a>,
        class: &'a str,
        at: &Placed,
    ) -> Result<(), SceneFileError> {
        let class = node.attribute("childclass").unwrap_or(class);
        if at.owner.is_none() {
            let parts = self.parts(node, class, at.world, false)?;
            match self.scene.statics.iter_mut().find(|one| one.name == at.side) {
                Some(fixed) => fixed.parts.extend(parts),
                None if parts.is_empty() => {}
                None => {
                    let mut fixed = StaticSpec::new(&*at.side, Shape::Sphere { radius: 1.0 });
                    fixed.parts = parts;
                    self.scene.statics.push(fixed);
                }
            }
        }
        for one in node.children().filter(Node::is_element) {
            match one.tag_name().name() {
                "body" => self.body(one, class, at)?,
                "geom" | "joint" | "freejoint" | "inertial" => {}
                // points of view and of measurement
                "camera" | "light" | "site" => {}
                tag => {
                    let name = node.attribute("name").unwrap_or(&at.side);
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
        let own_pose = self.pose(node, class)?;
        let (mut world, drawn) = (parent.world.then(own_pose), parent.drawn.then(own_pose));
        let joints: Vec<Node<'a, 'a>> = children(node, "joint").collect();
        let is_free = child(node, "freejoint").is_some();
        self.tell_unknown(node, class);
        let name = match node.attribute("name").and_then(|name| self.titles.get(name)) {
            Some(title) => title.clone(),
            None => {
                self.unnamed += 1;
                let name = format!("body {}", self.unnamed);
                self.names.fresh(&name, "body", &mut self.left_aside)
            }
        };
        self.places.insert(name.clone(), node);
        let (owner, side) = (Some(name.clone()), name.clone());
        let axes = match is_free {
            true => Vec::new(),
            false => self.start(&joints, inner, &name, &mut world)?,
        };
        let mut at = Placed { owner, side, within: Pose::ORIGIN, world, drawn };
        let mut has_mass = child(node, "inertial").is_some();
        for geom in children(node, "geom") {
            has_mass |= self.has_mass(geom, inner)?;
        }
        if joints.is_empty() && !is_free && (parent.owner.is_none() || !has_mass) {
            at.owner = parent.owner.clone();
            if let Some(owner) = &at.owner {
                // without a mass it is part of the one that it stands in
                (at.side, at.within) = (owner.clone(), parent.within.then(own_pose));
                let parts = self.parts(node, inner, at.within, false)?;
                let body = self.scene.bodies.iter_mut().find(|body| body.name == at.side);
                body.into_iter().for_each(|body| body.parts.extend(parts.iter().cloned()));
            }
            self.enter(node, &at);
            return self.inside(node, class, &at);
        }
        if !has_mass {
            let what = format!("the body `{name}` moves and has neither <inertial> nor <geom>");
            return Err(self.xml.content(node, format!("{what} with a mass")));
        }
        let inertial = child(node, "inertial");
        let mut body = BodySpec::without_shape(&*name);
        body.parts = self.parts(node, inner, Pose::ORIGIN, inertial.is_none())?;
        body.anchor = Anchor::Origin;
        body.position = world.x;
        body.orientation = world.p;
        if let Some(inertial) = inertial {
            self.inertial(inertial, &mut body)?;
        }
        self.scene.bodies.push(body);
        if !is_free {
            self.link(node, &joints, inner, &name, parent, &axes)?;
        }
        self.enter(node, &at);
        self.inside(node, class, &at)
    }

    /// From here on others may name the body.
    fn enter(&mut self, node: Node<'a, 'a>, at: &Placed) {
        if let Some(name) = node.attribute("name") {
            self.bodies.insert(name, at.clone());
        }
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

    /// Pairs of bodies that do not touch.
    fn excluded(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        for one in node.children().filter(Node::is_element) {
            if one.tag_name().name() != "exclude" {
                self.left_aside.push(format!("<{}> of <contact>", one.tag_name().name()));
                continue;
            }
            let mut names = [String::new(), String::new()];
            for (name, key) in names.iter_mut().zip(["body1", "body2"]) {
                name.clone_from(&self.place(one, self.xml.need(one, key)?)?.side);
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
}

/// The shortest turn of z into a direction.
fn upright(z: Vector) -> Option<Quaternion> {
    let z = unit(z)?;
    let across = cross([0.0, 0.0, 1.0], z);
    normalized([1.0 + z[2], across[0], across[1], across[2]])
        .filter(|_| z[2] > -1.0 + 1e-12)
        .or(Some([0.0, 1.0, 0.0, 0.0]))
}
