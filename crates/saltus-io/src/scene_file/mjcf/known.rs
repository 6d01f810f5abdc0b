//! Which attributes are read, or matter to no motion; all others are told.

use super::{Reader, SceneFileError};
use roxmltree::Node;

/// Of each tag what is read.
const READ: [(&str, &[&str]); 7] = [
    ("compiler", &["angle", "eulerseq", "coordinate", "inertiafromgeom", "autolimits"]),
    ("option", &["timestep", "gravity"]),
    ("body", &["name", "childclass", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis"]),
    (
        "joint",
        &[
            "name",
            "class",
            "type",
            "pos",
            "axis",
            "range",
            "limited",
            "ref",
            "springref",
            "stiffness",
            "damping",
            "frictionloss",
            "armature",
            "active",
            "joint1",
            "joint2",
            "polycoef",
        ],
    ),
    (
        "geom",
        &[
            "name",
            "class",
            "type",
            "pos",
            "quat",
            "axisangle",
            "euler",
            "xyaxes",
            "zaxis",
            "fromto",
            "size",
            "mass",
            "density",
            "friction",
            "condim",
            "priority",
            "contype",
            "conaffinity",
            "mesh",
            "hfield",
        ],
    ),
    ("connect", &["name", "class", "active", "body1", "body2", "anchor"]),
    ("weld", &["name", "class", "active", "body1", "body2", "relpose"]),
];

/// Of which no motion depends: files, colors, groups of what is shown, and how a model is kept.
const SHOWN: [&str; 16] = [
    "meshdir",
    "texturedir",
    "assetdir",
    "strippath",
    "discardvisual",
    "convexhull",
    "usethread",
    "fitaabb",
    "fusestatic",
    "alignfree",
    "saveinertial",
    "exactmeshinertia",
    "rgba",
    "material",
    "group",
    "user",
];

/// What says nothing, with the text that it has then.
const USUAL: [(&str, &str); 11] = [
    ("margin", "0"),
    ("gap", "0"),
    ("gravcomp", "0"),
    ("mocap", "false"),
    ("springdamper", "0 0"),
    ("shellinertia", "false"),
    ("settotalmass", "-1"),
    ("boundmass", "0"),
    ("boundinertia", "0"),
    ("balanceinertia", "false"),
    ("inertiagrouprange", "0 5"),
];

/// Flags that change a motion, with the text that they have here.
const FLAGS: [(&str, &str); 11] = [
    ("constraint", "enable"),
    ("equality", "enable"),
    ("frictionloss", "enable"),
    ("limit", "enable"),
    ("contact", "enable"),
    ("passive", "enable"),
    ("spring", "enable"),
    ("damper", "enable"),
    ("gravity", "enable"),
    ("filterparent", "enable"),
    ("override", "disable"),
];

impl<'a> Reader<'a> {
    /// Tells of something once.
    pub(super) fn tell(&mut self, what: String) {
        if !self.left_aside.contains(&what) {
            self.left_aside.push(what);
        }
    }

    /// Tells of the attributes of an element, its own and those of its class, that are not read.
    pub(super) fn tell_unknown(&mut self, node: Node<'a, 'a>, class: &str) {
        let tag = node.tag_name().name();
        let read = READ.iter().find(|(known, _)| *known == tag).map_or(&[][..], |(_, read)| *read);
        let class = node.attribute("class").unwrap_or(class);
        let mut given: Vec<(&str, &str)> = (self.defaults.get(class).into_iter().flatten())
            .filter(|((of, name), _)| *of == tag && !node.has_attribute(*name))
            .map(|((_, name), text)| (*name, *text))
            .collect();
        given.sort_unstable();
        given.extend(node.attributes().map(|one| (one.name(), one.value())));
        for (name, text) in given {
            let is_usual = USUAL.contains(&(name, text.trim()));
            if !read.contains(&name) && !SHOWN.contains(&name) && !is_usual {
                self.tell(format!("`{name}` of <{tag}>"));
            }
        }
    }

    /// What is in `<option>`: flags that change the motion are errors.
    pub(super) fn flags(&mut self, node: Node<'a, 'a>) -> Result<(), SceneFileError> {
        for one in node.children().filter(Node::is_element) {
            let tag = one.tag_name().name();
            if tag != "flag" {
                self.tell(format!("<{tag}> of <option>"));
                continue;
            }
            for given in one.attributes() {
                let (name, found) = (given.name(), given.value());
                match FLAGS.iter().find(|(known, _)| *known == name) {
                    Some((_, usual)) if found == *usual => {}
                    Some((_, usual)) => {
                        let what =
                            format!("the flag `{name}` is {found:?}; only {usual:?} is read");
                        return Err(self.xml.content(one, what));
                    }
                    None => self.tell(format!("the flag `{name}`")),
                }
            }
        }
        Ok(())
    }
}
