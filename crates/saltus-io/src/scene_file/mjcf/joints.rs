//! What bodies may do: joints with what is built into them, and equalities.

use super::super::xml::{Pose, follow};
use super::{Placed, Reader, SceneFileError};
use roxmltree::Node;
use saltus_mechanics::{Coordinate, Fitting, Friction, Joint, JointLink, Limits, Spring};
use saltus_model::rotation::{IDENTITY, Vector, cross, dot, norm, rotate, sub, unit};

/// How far from parallel or square axes of several joints may be.
const SQUARE: f64 = 1e-9;

impl<'a> Reader<'a> {
    /// What a body may do in the one that it stands in.
    pub(super) fn link(
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
            self.tell_unknown(joint, class);
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
        if let Some([lower, upper]) = range.filter(|_| is_limited) {
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
        let ratio = coefficients.get(1).copied().unwrap_or(0.0);
        let is_plain = coefficients.iter().enumerate().all(|(k, c)| k == 1 || *c == 0.0);
        let place = |name: &str| self.joints.get(name).copied();
        let made = match (place(own), other.and_then(place)) {
            (Some(k), Some(other)) if is_plain => follow(&mut self.scene, k, other, ratio),
            (Some(_), Some(_)) => Err("it is more than a ratio"),
            _ => Err("it takes two joints, each of them the only one of its body"),
        };
        if let Err(why) = made {
            self.left_aside.push(format!("<joint> `{title}` of <equality>: {why}"));
        }
        Ok(())
    }
}
