//! What bodies may do: joints with what is built into them, and equalities.

use super::super::xml::{Pose, children, follow};
use super::{Placed, Reader, SceneFileError};
use roxmltree::Node;
use saltus_mechanics::{Coordinate, Fitting, Friction, Joint, JointLink, Limits, Spring};
use saltus_model::rotation::{
    IDENTITY, Vector, add, cross, dot, exp, norm, product, rotate, rotate_back, scaled, sub, unit,
};
use std::f64::consts::TAU;

/// How far from parallel or square axes of several joints may be.
const SQUARE: f64 = 1e-9;

/// How far apart limits of an angle may be, which is counted over two turns.
const COUNTED: f64 = 0.999 * 2.0 * TAU;

/// A joint in the world, where the body begins.
pub(super) struct Axis<'a> {
    kind: &'a str,
    point: Vector,
    axis: Vector,
    /// What it leaves free, from where the file draws it: an angle in radians, or a way.
    start: f64,
}

impl<'a> Reader<'a> {
    /// The joints of a body, and where they put it: one after the other from where the file draws the body
    /// in the one that it stands in, `world`, to where their limits let it begin.
    pub(super) fn start(
        &mut self,
        joints: &[Node<'a, 'a>],
        class: &str,
        body: &str,
        world: &mut Pose,
    ) -> Result<Vec<Axis<'a>>, SceneFileError> {
        let mut axes = Vec::with_capacity(joints.len());
        for &joint in joints {
            let kind = self.text(joint, class, "type")?.unwrap_or("hinge");
            let axis = self.numbers(joint, class, "axis")?.unwrap_or([0.0, 0.0, 1.0]);
            let axis = unit(rotate(world.p, axis))
                .ok_or_else(|| self.xml.content(joint, "`axis` has no length"))?;
            let point = self.numbers(joint, class, "pos")?.unwrap_or_default();
            let point = world.then(Pose { x: point, p: IDENTITY }).x;
            axes.push(Axis { kind, point, axis, start: 0.0 });
        }
        // others have no coordinates with limits
        let kinds: Vec<&str> = axes.iter().map(|one| one.kind).collect();
        if !matches!(kinds[..], ["hinge" | "slide"] | ["hinge" | "slide", "hinge"]) {
            return Ok(axes);
        }
        for (k, &joint) in joints.iter().enumerate() {
            let start = self.start_of(joint, class, joints.len() == 1, &mut Vec::new())?;
            if start == 0.0 {
                continue;
            }
            let Axis { kind, point, axis, .. } = axes[k];
            axes[k].start = start;
            let way = scaled(start, axis);
            let moved = |x: Vector| match kind {
                "slide" => add(x, way),
                _ => add(point, turned(way, sub(x, point))),
            };
            world.x = moved(world.x);
            if kind != "slide" {
                world.p = product(exp(way), world.p);
            }
            // those of the joints within move along
            for one in &mut axes[k + 1..] {
                one.point = moved(one.point);
                if kind != "slide" {
                    one.axis = turned(way, one.axis);
                }
            }
            if self.leader(joint).is_none() {
                let zero = self.number(joint, class, "ref", 0.0)?;
                let [lower, upper] = self.numbers(joint, class, "range")?.unwrap_or_default();
                let end = if start > 0.0 { lower } else { upper };
                let name = joint.attribute("name");
                let name = name.map_or(String::new(), |name| format!(" `{name}`"));
                let what = format!("the joint{name} of the body `{body}` stands at {end}");
                let what = format!("{what}, since {zero} is outside its `range`");
                let told = self.xml.told(joint, what);
                self.left_aside.push(told);
            }
        }
        Ok(axes)
    }

    /// Where a joint stands at first: where the file draws it or, where its limits do not hold that, at the one
    /// next to it; one that follows another where that says. `seen` are joints that follow this one.
    fn start_of(
        &self,
        joint: Node<'a, 'a>,
        class: &str,
        is_alone: bool,
        seen: &mut Vec<Node<'a, 'a>>,
    ) -> Result<f64, SceneFileError> {
        seen.push(joint);
        if let Some((other, ratio)) =
            self.leader(joint).filter(|(one, _)| is_alone && !seen.contains(one))
        {
            return Ok(ratio * self.start_of(other, class_of(other), true, seen)?);
        }
        let limits = self.limits(joint, class)?;
        Ok(limits.map_or(0.0, |[lower, upper]| 0.0_f64.clamp(lower, upper)))
    }

    /// The joint that one follows, and the ratio: where both are the only ones of their bodies.
    fn leader(&self, joint: Node<'a, 'a>) -> Option<(Node<'a, 'a>, f64)> {
        let own = joint.attribute("name")?;
        let root = self.xml.document.root_element();
        let mut all = children(root, "equality").flat_map(|node| children(node, "joint"));
        let follows = all.find(|one| {
            one.attribute("joint1") == Some(own) && one.attribute("active") != Some("false")
        })?;
        let name = follows.attribute("joint2")?;
        let coefficients = self.list(follows, "main", "polycoef").ok()?;
        let ratio = ratio_of(&coefficients.unwrap_or_else(|| vec![0.0, 1.0]))?;
        let joints = || root.descendants().filter(|node| node.tag_name().name() == "joint");
        let other = joints().find(|node| {
            let in_body = node.parent().is_some_and(|it| it.tag_name().name() == "body");
            in_body && node.attribute("name") == Some(name)
        })?;
        let is_alone = |node: Node<'a, 'a>| {
            node.parent().is_some_and(|body| children(body, "joint").count() == 1)
        };
        (ratio != 0.0 && is_alone(joint) && is_alone(other)).then_some((other, ratio))
    }

    /// The limits of a joint, from where the file draws it.
    fn limits(&self, joint: Node<'a, 'a>, class: &str) -> Result<Option<[f64; 2]>, SceneFileError> {
        let is_way = self.text(joint, class, "type")? == Some("slide");
        let unit = if is_way { 1.0 } else { self.unit };
        let drawn = unit * self.number(joint, class, "ref", 0.0)?;
        let range = self.numbers(joint, class, "range")?;
        if let Some([lower, upper]) = range.filter(|[lower, upper]| lower > upper) {
            let what = format!("`range` is from {lower} to {upper}, expected lower < upper");
            return Err(self.xml.content(joint, what));
        }
        let is_range = range.is_some_and(|[lower, upper]| lower < upper);
        let is_limited = match self.text(joint, class, "limited")?.unwrap_or("auto") {
            "auto" => self.auto_limits && is_range,
            "false" => false,
            "true" if is_range => true,
            "true" => {
                let what = "a joint is limited and has no `range` of a lower and a larger number";
                return Err(self.xml.content(joint, what));
            }
            other => {
                let what = format!("`limited` is {other:?}, expected true, false or auto");
                return Err(self.xml.content(joint, what));
            }
        };
        let range = range.filter(|_| is_limited);
        Ok(range.map(|range| range.map(|end| unit * end - drawn)))
    }

    /// What a body may do in the one that it stands in.
    pub(super) fn link(
        &mut self,
        node: Node<'a, 'a>,
        joints: &[Node<'a, 'a>],
        class: &str,
        name: &str,
        parent: &Placed,
        axes: &[Axis<'a>],
    ) -> Result<(), SceneFileError> {
        joints.iter().for_each(|&joint| self.tell_unknown(joint, class));
        let kinds: Vec<_> = axes.iter().map(|one| (one.kind, one.point, one.axis)).collect();
        let along = |a: Vector, b: Vector| norm(cross(a, b)) <= SQUARE;
        let across = |a: Vector, b: Vector| dot(a, b).abs() <= SQUARE;
        use Coordinate::{Angle, SecondAngle, Way};
        let (joint, coordinates): (Joint, &[Coordinate]) = match kinds[..] {
            [] => (Joint::Fixed, &[]),
            [("free", ..)] => {
                for key in ["damping", "stiffness", "frictionloss", "armature"] {
                    if self.number(joints[0], class, key, 0.0)? != 0.0 {
                        self.aside(joints[0], key, name);
                    }
                }
                return Ok(());
            }
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
        let wanted = own.map_or_else(|| format!("{name} joint"), str::to_string);
        let title = self.names.fresh(&wanted, "joint", &mut self.left_aside);
        self.places.insert(title.clone(), joints.first().copied().unwrap_or(node));
        let mut bodies = vec![name];
        bodies.extend(parent.owner.as_deref());
        let mut link = JointLink::new(title, joint, &bodies);
        for (k, &joint) in joints.iter().enumerate() {
            match coordinates.get(k) {
                Some(&coordinate) => {
                    link.fittings.extend(self.fitting(joint, class, coordinate, axes[k].start)?);
                }
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
        start: f64,
    ) -> Result<Option<Fitting>, SceneFileError> {
        let is_way = self.text(joint, class, "type")? == Some("slide");
        let unit = if is_way { 1.0 } else { self.unit };
        // coordinates are zero at the start
        let zero = unit * self.number(joint, class, "ref", 0.0)? + start;
        let mut fitting = Fitting::new(coordinate);
        if let Some([lower, upper]) = self.limits(joint, class)? {
            let range = self.numbers(joint, class, "range")?.unwrap_or_default();
            let begins = (1e9 * zero / unit).round() / 1e9; // degrees without round-off
            self.xml.check_start(joint, begins, range)?;
            if coordinate == Coordinate::Angle && upper - lower > COUNTED {
                let what = format!("`range` is from {} to {}", range[0], range[1]);
                let what = format!("{what}: an angle is known over less than two turns");
                return Err(self.xml.content(joint, what));
            }
            fitting.limits = Some(Limits { lower: lower - start, upper: upper - start, e: 0.0 });
        }
        let stiffness = self.number(joint, class, "stiffness", 0.0)?;
        let damping = self.number(joint, class, "damping", 0.0)?;
        let rest = unit * self.number(joint, class, "springref", 0.0)? - zero;
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

    /// Bodies that are held together, and joints that follow others.
    pub(super) fn equalities(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        for (k, one) in node.children().filter(Node::is_element).enumerate() {
            let tag = one.tag_name().name();
            self.tell_unknown(one, "main");
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
                    let other = one.attribute("body2").map(|name| self.place(one, name));
                    let other = other.transpose()?.map_or(Pose::ORIGIN, Placed::shift);
                    let is_together = match joint {
                        // the point that both hold, where the file draws it
                        Joint::Ball { point } => {
                            let Pose { x, p } = first.shift();
                            let drawn = Pose { x: rotate_back(p, sub(point, x)), p: IDENTITY };
                            norm(sub(other.then(drawn).x, point)) <= SQUARE
                        }
                        _ => {
                            let Pose { x, p } = first.shift();
                            let turn = [0, 1, 2, 3].map(|k| p[k] - other.p[k]);
                            norm(sub(x, other.x)) <= SQUARE
                                && turn.iter().all(|x| x.abs() <= SQUARE)
                        }
                    };
                    if !is_together {
                        let what =
                            "joints that begin at their limits have moved apart what it holds";
                        return Err(self.xml.content(one, format!("<{tag}> `{title}`: {what}")));
                    }
                    let title = self.names.fresh(&title, "equality", &mut self.left_aside);
                    self.places.insert(title.clone(), one);
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
        let place = |name: &str| self.joints.get(name).copied();
        let made = match (place(own), other.and_then(place), ratio_of(&coefficients)) {
            (Some(k), Some(other), Some(ratio)) => follow(&mut self.scene, k, other, ratio),
            (Some(_), Some(_), None) => Err("it is more than a ratio"),
            _ => Err("it takes two joints, each of them the only one of its body"),
        };
        if let Err(why) = made {
            self.left_aside.push(format!("<joint> `{title}` of <equality>: {why}"));
        }
        Ok(())
    }
}

/// The ratio that coefficients of a polynomial say; nothing where they say more.
fn ratio_of(coefficients: &[f64]) -> Option<f64> {
    let is_plain = coefficients.iter().enumerate().all(|(k, c)| k == 1 || *c == 0.0);
    is_plain.then(|| coefficients.get(1).copied().unwrap_or(0.0))
}

/// The class of defaults of a joint.
fn class_of<'a>(joint: Node<'a, 'a>) -> &'a str {
    joint.ancestors().find_map(|node| node.attribute("childclass")).unwrap_or("main")
}

/// A vector turned by an angle about an axis, given as their product.
fn turned(by: Vector, x: Vector) -> Vector {
    rotate(exp(by), x)
}
