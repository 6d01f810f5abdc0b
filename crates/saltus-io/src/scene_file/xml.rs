//! What readers of XML scenes have in common.

use super::SceneFileError;
use roxmltree::{Document, Node};
use saltus_model::rotation::{
    IDENTITY, Matrix3, Quaternion, Vector, add, matrix, multiply, product, rotate,
};
use std::path::Path;

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

/// `R J Rᵀ`.
pub(super) fn turned(J: &Matrix3, p: Quaternion) -> Matrix3 {
    let R = matrix(p);
    let back = [0, 1, 2].map(|i| [0, 1, 2].map(|j| R[j][i]));
    multiply(&multiply(&R, J), &back)
}
