//! Where values are computed in machine code: before all branches, or only in the one that needs them.
//!
//! ```text
//! if(v < 0, exp(v)*w, sin(w)) + w
//!
//!   all        v, w, v < 0, the sum
//!   ├ then     exp(v), the product
//!   └ else     sin(w)
//! ```
//!
//! Every `if` opens two places inside the place of its own. A value is computed in the innermost place that holds all
//! its uses. An `if` with little to save has no places: both its branches are computed and one is taken.

use crate::graph::{Graph, Node, NodeId};
use crate::operation::{Binary, Unary};
use std::collections::HashMap;

/// Places may be so deep inside each other; what is deeper stays with the last.
const DEPTH: usize = 48;
/// Work, in additions, that is worth a jump.
const WORTH: usize = 3;

/// A place, by its index; 0 holds all others.
pub(crate) type PlaceId = usize;

struct Place {
    parent: PlaceId,
    depth: usize,
    work: usize, // with that of the places inside
    kept: bool,
}

/// The nodes of every place, and the two places of every `if` that has them.
pub(crate) struct Placement {
    pub(crate) nodes: Vec<Vec<NodeId>>,
    pub(crate) branches: HashMap<NodeId, [PlaceId; 2]>,
    /// The cosine with the sine of the same angle, and the other way round: the first of the two computes both.
    pub(crate) partners: HashMap<NodeId, NodeId>,
}

impl Placement {
    pub(crate) fn new(graph: &Graph, outputs: &[NodeId]) -> Placement {
        let partners = partners(graph);
        let mut places = vec![Place { parent: 0, depth: 0, work: 0, kept: true }];
        let mut homes: Vec<Option<PlaceId>> = vec![None; graph.nodes.len()];
        let mut branches = HashMap::new();
        outputs.iter().for_each(|id| homes[id.index()] = Some(0));

        // users come after what they use
        for index in (0..graph.nodes.len()).rev() {
            let Some(home) = homes[index] else { continue };
            let id = NodeId::at(index);
            let mut needs = |operand: NodeId, place: PlaceId, places: &[Place]| {
                let known = &mut homes[operand.index()];
                *known = Some(known.map_or(place, |known| common(places, known, place)));
            };
            if let Some(&partner) = partners.get(&id).filter(|&&partner| partner < id) {
                needs(partner, home, &places);
            }
            match graph.nodes[index] {
                Node::If(condition, a, b) if places[home].depth < DEPTH => {
                    needs(condition, home, &places);
                    let first = places.len();
                    let depth = places[home].depth + 1;
                    for (branch, place) in [(a, first), (b, first + 1)] {
                        places.push(Place { parent: home, depth, work: 0, kept: false });
                        needs(branch, place, &places);
                    }
                    branches.insert(id, [first, first + 1]);
                }
                node => node.operands().for_each(|operand| needs(operand, home, &places)),
            }
        }

        // the work of every place, inner ones first, and whether it is worth a jump
        for (node, home) in graph.nodes.iter().zip(&homes) {
            if let Some(home) = *home {
                places[home].work += work(graph, *node);
            }
        }
        for place in (1..places.len()).rev() {
            let (parent, work) = (places[place].parent, places[place].work);
            places[parent].work += work;
        }
        branches
            .retain(|_, pair| pair.iter().map(|&place| places[place].work).sum::<usize>() >= WORTH);
        branches.values().flatten().for_each(|&place| places[place].kept = true);

        let mut nodes = vec![Vec::new(); places.len()];
        for (index, home) in homes.iter().enumerate() {
            let Some(mut place) = *home else { continue };
            while !places[place].kept {
                place = places[place].parent;
            }
            nodes[place].push(NodeId::at(index));
        }
        Placement { nodes, branches, partners }
    }
}

/// The innermost place that holds both.
fn common(places: &[Place], mut a: PlaceId, mut b: PlaceId) -> PlaceId {
    while a != b {
        if places[a].depth >= places[b].depth {
            a = places[a].parent;
        } else {
            b = places[b].parent;
        }
    }
    a
}

fn partners(graph: &Graph) -> HashMap<NodeId, NodeId> {
    let mut first: HashMap<NodeId, NodeId> = HashMap::new(); // by the angle
    let mut partners = HashMap::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        let Node::Unary(Unary::Sin | Unary::Cos, angle) = *node else { continue };
        let this = NodeId::at(index);
        if let Some(other) = first.insert(angle, this) {
            partners.insert(this, other);
            partners.insert(other, this);
        }
    }
    partners
}

/// About how many additions a node takes.
fn work(graph: &Graph, node: Node) -> usize {
    const CALL: usize = 20;
    match node {
        Node::Number(_) | Node::Variable(_) => 0,
        Node::Unary(Unary::Neg | Unary::Not | Unary::Abs, _) => 1,
        Node::Unary(Unary::Sign | Unary::Heaviside, _) => 2,
        Node::Unary(Unary::Sqrt, _) | Node::Binary(Binary::Div, ..) => 4,
        Node::Unary(..) | Node::Table(..) | Node::Slope(..) => CALL,
        Node::Binary(Binary::Pow, _, b) => graph.number(b).map_or(CALL, |_| 2),
        Node::Binary(Binary::Atan2 | Binary::Hypot | Binary::Mod, ..) => CALL,
        Node::Binary(..) | Node::If(..) => 1,
    }
}
