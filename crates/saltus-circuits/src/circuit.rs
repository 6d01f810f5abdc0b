//! A circuit as data: nodes, components between them, numbers in every slot.

use crate::Device;

/// A node of a circuit, by its place in [`Circuit::nodes`]; node 0 is ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub usize);

impl Node {
    /// The node all voltages are measured from.
    pub const GROUND: Node = Node(0);
}

/// Where something stands in a netlist, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or a name for a text that is none.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// One component.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its name as users write it; inside a subcircuit `X1.R2`.
    pub name: String,
    /// What it is, and between which nodes.
    pub device: Device,
    /// Where it stands in a netlist, if it comes from one.
    pub place: Option<Place>,
}

/// Two inductors that share a part of their flux: `M = k √(L₁ L₂)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Coupling {
    /// Its name.
    pub name: String,
    /// The inductors, by their place in [`Circuit::components`].
    pub inductors: [usize; 2],
    /// `k`, more than 0 and at most 1.
    pub coefficient: f64,
    /// Where it stands in a netlist, if it comes from one.
    pub place: Option<Place>,
}

/// A circuit without hierarchy and without parameters: what a netlist comes to once its
/// subcircuits are written out and its expressions are numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Circuit {
    /// The first line of a netlist.
    pub title: String,
    /// Names of the nodes; the first is ground, `0`.
    pub nodes: Vec<String>,
    /// The components.
    pub components: Vec<Component>,
    /// Couplings of inductors.
    pub couplings: Vec<Coupling>,
    /// Voltages of nodes at the beginning (`.ic`).
    pub initial: Vec<(Node, f64)>,
    /// Whether voltages of capacitors and currents of inductors that are not given start at zero
    /// (`uic`), in place of those of the circuit at rest.
    pub uic: bool,
}

impl Circuit {
    /// A circuit of ground alone.
    pub fn new(title: impl Into<String>) -> Self {
        Circuit {
            title: title.into(),
            nodes: vec!["0".to_string()],
            components: Vec::new(),
            couplings: Vec::new(),
            initial: Vec::new(),
            uic: false,
        }
    }

    /// The node of this name, made if there is none; `0` and `gnd` are ground. Case does not count.
    pub fn node(&mut self, name: &str) -> Node {
        match self.find_node(name) {
            Some(node) => node,
            None => {
                self.nodes.push(name.to_string());
                Node(self.nodes.len() - 1)
            }
        }
    }

    /// The node of this name.
    pub fn find_node(&self, name: &str) -> Option<Node> {
        if name.eq_ignore_ascii_case("gnd") {
            return Some(Node::GROUND);
        }
        self.nodes.iter().position(|known| known.eq_ignore_ascii_case(name)).map(Node)
    }

    /// The component of this name, by its place in [`Circuit::components`]. Case does not count.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.components.iter().position(|component| component.name.eq_ignore_ascii_case(name))
    }

    /// Adds a component and says its place.
    pub fn add(&mut self, name: impl Into<String>, device: Device) -> usize {
        self.components.push(Component { name: name.into(), device, place: None });
        self.components.len() - 1
    }
}
