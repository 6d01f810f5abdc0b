//! What can be wrong with a circuit.

use crate::{Component, Place};
use saltus_expr::ExprError;
use saltus_model::ModelError;
use saltus_numerics::NumericsError;
use std::fmt;
use thiserror::Error;

/// A component in a message: its name, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Culprit {
    /// Its name.
    pub name: String,
    /// Where it stands in a netlist, if it comes from one.
    pub place: Option<Box<Place>>,
}

impl From<&Component> for Culprit {
    fn from(component: &Component) -> Self {
        Culprit { name: component.name.clone(), place: component.place.clone().map(Box::new) }
    }
}

impl fmt::Display for Culprit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_deref() {
            None => write!(f, "`{}`", self.name),
            Some(Place { file, line, column }) => {
                write!(f, "`{}` ({file}:{line}:{column})", self.name)
            }
        }
    }
}

/// Names one after the other.
fn list(culprits: &[Culprit]) -> String {
    culprits.iter().map(Culprit::to_string).collect::<Vec<_>>().join(", ")
}

fn nodes(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A circuit that makes no sense, or that has no model. Each error names the components or nodes.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CircuitError {
    /// A value outside of its range.
    #[error("{component}: `{what}` is {value}, expected {allowed}")]
    Value {
        /// The component or coupling.
        component: Culprit,
        /// Which of its values.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// Two components of one name.
    #[error("{first} and {second} have the same name")]
    Duplicate {
        /// One of them.
        first: Culprit,
        /// The other.
        second: Culprit,
    },
    /// A component that is not there.
    #[error("{component} refers to component {index}; the circuit has {count}")]
    NoComponent {
        /// The component or coupling that refers to it.
        component: Culprit,
        /// Its place.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A component that has no such role.
    #[error("{component} refers to {other}, expected {expected}")]
    WrongComponent {
        /// The component or coupling that refers to it.
        component: Culprit,
        /// What it refers to.
        other: Culprit,
        /// What it may refer to.
        expected: &'static str,
    },
    /// A component at a node that is not there.
    #[error("{component} is connected to node {index}; the circuit has {count}")]
    NoNode {
        /// The component.
        component: Culprit,
        /// The place of the node.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A circuit of no component.
    #[error("the circuit has no component")]
    Empty,
    /// Both ends at one node.
    #[error("{component} has both ends at node `{node}`")]
    SelfLoop {
        /// The component.
        component: Culprit,
        /// The node.
        node: String,
    },
    /// A node that nothing but controls touches.
    #[error("node `{node}` floats: {component} reads its voltage, but no current flows to it")]
    Floating {
        /// The node.
        node: String,
        /// A component that is controlled by it.
        component: Culprit,
    },
    /// Nodes without a way to ground.
    #[error("nodes {} have no way to ground: connect one of them", nodes(nodes_))]
    Island {
        /// Their names.
        nodes_: Vec<String>,
    },
    /// A loop of nothing but voltage sources.
    #[error("a loop of voltage sources: {}; their sum may be anything but zero", list(components))]
    VoltageLoop {
        /// The components of the loop.
        components: Vec<Culprit>,
    },
    /// Current sources alone join two halves of the circuit.
    #[error(
        "a cut-set of current sources: nothing but {} feeds nodes {}",
        list(components),
        nodes(nodes_)
    )]
    CurrentCutSet {
        /// The current sources.
        components: Vec<Culprit>,
        /// The nodes on one side of them.
        nodes_: Vec<String>,
    },
    /// The equations of a linear part of the circuit have no solution, or many.
    #[error("{component} is not determined: {why} (with {})", list(others))]
    Undetermined {
        /// The component that has no value.
        component: Culprit,
        /// What usually causes it.
        why: &'static str,
        /// The components whose equations those are.
        others: Vec<Culprit>,
    },
    /// A loop of capacitors, or a cut-set of inductors, through devices that are no sources.
    #[error(
        "{component} closes a {what} with {}, whose value is not a function of states and sources: {instead}",
        list(others)
    )]
    Reactive {
        /// The capacitor or inductor.
        component: Culprit,
        /// Loop or cut-set.
        what: &'static str,
        /// What it depends on.
        others: Vec<Culprit>,
        /// What to do.
        instead: &'static str,
    },
    /// An initial value that contradicts the others.
    #[error("{component} starts at {given}, but {} give {found}", list(others))]
    Initial {
        /// The capacitor or inductor.
        component: Culprit,
        /// What was asked.
        given: f64,
        /// What follows from the others.
        found: f64,
        /// The others of its loop or cut-set.
        others: Vec<Culprit>,
    },
    /// Initial voltages of nodes that capacitors cannot have.
    #[error(
        "the initial voltages of nodes contradict each other, sources, or `ic=` of capacitors, at node `{node}`: {given} was asked, {found} is there"
    )]
    InitialNode {
        /// The node.
        node: String,
        /// What was asked.
        given: f64,
        /// What there is.
        found: f64,
    },
    /// Couplings that no inductors can have.
    #[error(
        "coupling {coupling}: the coefficients of {} together would give energy away",
        list(inductors)
    )]
    Coupling {
        /// The coupling.
        coupling: Culprit,
        /// Its inductors.
        inductors: Vec<Culprit>,
    },
    /// A device that is not known here.
    #[error("{component}: {what}; {instead}")]
    Unsupported {
        /// The component.
        component: Culprit,
        /// What it is.
        what: &'static str,
        /// What to use.
        instead: &'static str,
    },
    /// Sources with more corners than can be events.
    #[error(
        "the sources have too many corners that do not repeat for the methods `exact` and `adaptive`; use the method `fixed`"
    )]
    Corners,
    /// A formula that cannot be read.
    #[error("{component}: {source}")]
    Formula {
        /// The component.
        component: Culprit,
        /// What is wrong.
        source: ExprError,
    },
    /// A name in a formula or signal that the circuit does not have.
    #[error("{owner}: there is no {what} `{name}`{}", hint(nearest))]
    Unknown {
        /// Who asks.
        owner: String,
        /// Node or component.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest name there is.
        nearest: Option<String>,
    },
    /// Not the form of a signal.
    #[error("`{text}` is not a signal; write for example `v(out)`, `v(a, b)` or `i(L1)`")]
    Signal {
        /// The text.
        text: String,
    },
    /// A current that finds no way at the beginning.
    #[error(
        "{component} cannot carry {current} A: it is the only way for the current, and blocks it"
    )]
    Blocked {
        /// The device.
        component: Culprit,
        /// The current.
        current: f64,
    },
    /// A current that has no way once switches are open.
    #[error(
        "{component} drives a current that has no way once {} is open: give the switch an off resistance, or put a diode or resistor beside it",
        list(switches)
    )]
    Interrupted {
        /// The inductor or current source.
        component: Culprit,
        /// The switches its current goes through.
        switches: Vec<Culprit>,
    },
    /// No operating point was found.
    #[error("no operating point: {why}")]
    OperatingPoint {
        /// What the method says.
        why: String,
    },
    /// A model that cannot be made.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A problem that a method cannot work on.
    #[error(transparent)]
    Numerics(#[from] NumericsError),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
