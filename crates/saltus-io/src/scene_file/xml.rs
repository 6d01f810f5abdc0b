//! What readers of XML scenes have in common.

use super::SceneFileError;
use roxmltree::{Document, Node};
use saltus_mechanics::scene::Member;
use saltus_mechanics::{AnyJoint, Follows, Joint, Scene, SceneError};
use saltus_model::rotation::{
    IDENTITY, Matrix3, Quaternion, Vector, add, matrix, multiply, product, rotate,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// How far outside its limits a joint may begin, relative to them and at least to 1.
const ROUND_OFF: f64 = 1e-9;

/// A place and a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pose {
    pub x: Vector,
    pub p: Quaternion,
}

impl Pose {
    pub const ORIGIN: Pose = Pose { x: [0.0; 3], p: IDENTITY };

    /// What stands at `inner` in this frame.
    pub fn then(self, inner: Pose) -> Pose {
        Pose { x: add(self.x, rotate(self.p, inner.x)), p: product(self.p, inner.p) }
    }
}

/// A document and its file.
pub(super) struct Xml<'a> {
    pub path: &'a Path,
    pub document: &'a Document<'a>,
}

pub(super) fn children<'a>(node: Node<'a, 'a>, name: &str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(move |child| child.tag_name().name() == name)
}

pub(super) fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    children(node, name).next()
}

impl<'a> Xml<'a> {
    pub fn content(&self, node: Node<'a, 'a>, what: impl Into<String>) -> SceneFileError {
        let at = self.document.text_pos_at(node.range().start);
        let place = format!("line {}, column {}", at.row, at.col);
        SceneFileError::Content { path: self.path.to_path_buf(), place, what: what.into() }
    }

    /// A joint begins within its limits, all of them as the file has them: one that follows another may not.
    pub fn check_start(
        &self,
        node: Node<'a, 'a>,
        start: f64,
        [lower, upper]: [f64; 2],
    ) -> Result<(), SceneFileError> {
        let round_off = |end: f64| ROUND_OFF * end.abs().max(1.0);
        if start >= lower - round_off(lower) && start <= upper + round_off(upper) {
            return Ok(());
        }
        let what = format!("the joint begins at {start}, where the one that it follows says");
        Err(self.content(node, format!("{what}: outside its limits from {lower} to {upper}")))
    }

    /// What is left aside, and where it stands.
    pub fn told(&self, node: Node<'a, 'a>, what: impl std::fmt::Display) -> String {
        format!("{what}, line {}", self.document.text_pos_at(node.range().start).row)
    }

    /// The scene once it is known to make sense; if not, the element that is to blame. `places` are the
    /// elements of bodies, statics and joints by their names in the scene.
    pub fn checked(
        &self,
        mut scene: Scene,
        places: &HashMap<String, Node<'a, 'a>>,
    ) -> Result<Scene, SceneFileError> {
        // where contacts are looked for is of no matter here
        let contacts = std::mem::take(&mut scene.contacts);
        if let Err(error) = scene.model() {
            let owner = match error.member {
                Member::Body(k) => Some(&scene.bodies[k].name),
                Member::Static(k) => Some(&scene.statics[k].name),
                Member::Joint(k) => Some(&scene.joints[k].name),
                _ => None,
            };
            let owner = owner.and_then(|name| places.get(name));
            let node = owner.map_or(self.document.root_element(), |owner| spot(*owner, &error));
            return Err(self.content(node, error.to_string()));
        }
        scene.contacts = contacts;
        Ok(scene)
    }

    /// The attribute of a node that must be there.
    pub fn need(&self, node: Node<'a, 'a>, name: &str) -> Result<&'a str, SceneFileError> {
        let tag = node.tag_name().name();
        node.attribute(name).ok_or_else(|| self.content(node, format!("<{tag}> has no `{name}`")))
    }

    /// Numbers in an attribute, separated by blanks.
    pub fn numbers<const N: usize>(
        &self,
        node: Node<'a, 'a>,
        name: &str,
        default: [f64; N],
    ) -> Result<[f64; N], SceneFileError> {
        let Some(text) = node.attribute(name) else { return Ok(default) };
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        let numbers = numbers.ok().filter(|values| values.iter().all(|value| value.is_finite()));
        numbers.and_then(|values| values.try_into().ok()).ok_or_else(|| {
            self.content(node, format!("`{name}` is {text:?}, expected {N} finite numbers"))
        })
    }

    pub fn number(
        &self,
        node: Node<'a, 'a>,
        name: &str,
        default: f64,
    ) -> Result<f64, SceneFileError> {
        self.numbers(node, name, [default]).map(|[value]| value)
    }
}

/// What in the element of a body or joint an error is about.
fn spot<'a>(owner: Node<'a, 'a>, error: &SceneError) -> Node<'a, 'a> {
    let tags: &[&str] = match error.key {
        "mass" => &["mass", "inertial", "geom"],
        "inertia" => &["inertia", "inertial", "geom"],
        "center" => &["inertial"],
        "shape" => &["collision", "geom"],
        "limits" => &["limit"],
        "axis" | "normal" => &["axis"],
        "friction" | "damping" | "spring" => &["dynamics"],
        _ => &[],
    };
    // of MuJoCo, bodies stand within bodies
    let own = || owner.children().filter(|one| one.is_element() && one.tag_name().name() != "body");
    let inner = || own().flat_map(|one| [one].into_iter().chain(one.children()));
    let found = tags.iter().find_map(|tag| inner().find(|one| one.tag_name().name() == *tag));
    found.unwrap_or(owner)
}

/// `R J Rᵀ`.
pub(super) fn turned(J: &Matrix3, p: Quaternion) -> Matrix3 {
    let R = matrix(p);
    let back = [0, 1, 2].map(|i| [0, 1, 2].map(|j| R[j][i]));
    multiply(&multiply(&R, J), &back)
}

/// Names of a scene, each of them once.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// A name that no other has; `kind` tells it from the one of a body.
    pub fn fresh(&mut self, wanted: &str, kind: &str, told: &mut Vec<String>) -> String {
        // these have a meaning in signal paths
        let is_free = |c: char| !c.is_control() && !"./[]{},\"'".contains(c);
        let plain: String =
            wanted.trim().chars().map(|c| if is_free(c) { c } else { '_' }).collect();
        let plain = if plain.is_empty() { kind.to_string() } else { plain };
        if plain != wanted {
            told.push(format!("the name `{wanted}`, which is `{plain}` here"));
        }
        let others = (2..).map(|k| format!("{plain} {kind} {k}"));
        let mut names = [plain.clone(), format!("{plain} {kind}")].into_iter().chain(others);
        let name = names.find(|name| !self.taken.contains(name)).unwrap_or(plain);
        self.taken.insert(name.clone());
        name
    }
}

/// Holds the coordinate of the joint `k` in a ratio to that of another, or says why it cannot be.
pub(super) fn follow(
    scene: &mut Scene,
    k: usize,
    other: usize,
    ratio: f64,
) -> Result<(), &'static str> {
    if k == other {
        return Err("it would follow itself");
    }
    if ratio == 0.0 {
        return Err("its ratio is zero");
    }
    let follows = Follows { joint: scene.joints[other].name.clone(), ratio };
    let is_hinge = |k: usize| matches!(scene.joints[k].joint, AnyJoint::Space(Joint::Pivot { .. }));
    if is_hinge(k) && is_hinge(other) && !follows.is_of_angles() {
        return Err("the ratio of two angles has to be one of whole numbers up to 1000");
    }
    scene.joints[k].follows = Some(follows);
    Ok(())
}

/// Bodies that are fixed to each other are one: they do not touch, nor does any of them touch one of
/// those that a joint links to any of them.
pub(super) fn set_welded_apart(scene: &mut Scene) {
    let linked: Vec<(&str, &str, bool)> = (scene.joints.iter())
        .filter(|joint| !joint.touch)
        .filter_map(|joint| match &joint.bodies[..] {
            [a, b] => {
                let is_fixed = matches!(joint.joint, AnyJoint::Space(Joint::Fixed));
                Some((a.as_str(), b.as_str(), is_fixed))
            }
            _ => None,
        })
        .collect();
    // of each side the number of its group; the members of each group
    let mut group: HashMap<&str, usize> = HashMap::new();
    let mut members: Vec<Vec<&str>> = Vec::new();
    for (a, b, _) in &linked {
        for name in [*a, *b] {
            group.entry(name).or_insert_with(|| {
                members.push(vec![name]);
                members.len() - 1
            });
        }
    }
    for (a, b, _) in linked.iter().filter(|(.., is_fixed)| *is_fixed) {
        let (to, from) = (group[a], group[b]);
        if to != from {
            let moved = std::mem::take(&mut members[from]);
            moved.iter().for_each(|name| {
                group.insert(name, to);
            });
            members[to].extend(moved);
        }
    }
    let ordered = |a: &str, b: &str| [a.min(b).to_string(), a.max(b).to_string()];
    // those of a joint are apart already
    let mut known: HashSet<[String; 2]> = linked.iter().map(|(a, b, _)| ordered(a, b)).collect();
    known.extend(scene.apart.iter().map(|[a, b]| ordered(a, b)));
    let mut done: HashSet<[usize; 2]> = HashSet::new();
    let mut apart = Vec::new();
    for (a, b, _) in &linked {
        let [one, two] = [group[a], group[b]];
        if !done.insert([one.min(two), one.max(two)]) {
            continue;
        }
        for x in &members[one] {
            for y in members[two].iter().filter(|y| *y != x) {
                if known.insert(ordered(x, y)) {
                    apart.push([x.to_string(), y.to_string()]);
                }
            }
        }
    }
    scene.apart.extend(apart);
}
