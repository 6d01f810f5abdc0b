//! Circuits: components between nodes, netlists that describe them, and the model they make.

mod analysis;
mod build;
mod circuit;
mod deck;
mod device;
mod error;
mod formulation;
pub mod measure;
mod netlist;
mod plan;
mod probes;
mod source;
mod steady_state;
mod transient;

pub use analysis::{Analysis, Options, Tran};
pub use circuit::{Circuit, Component, Coupling, Node, Place};
pub use deck::{Deck, SetError};
pub use device::{
    BipolarModel, Control, Device, DiodeModel, Fidelity, GummelPoon, JunctionCharge, MosModel,
    OpAmpModel, Polarity, SwitchModel,
};
pub use error::{CircuitError, Culprit};
pub use formulation::{CircuitModel, OperatingPoint, Signal};
pub use netlist::{Caution, NetlistError, Probe, ProbedFormula, Problem, Warning, number};
pub use plan::{Plan, PlanError};
pub use probes::{ProbeSink, Probes};
pub use source::Source;
pub use steady_state::{Figures, SteadyError, SteadyState, Stopped};
pub use transient::{Method, Transient, TransientError, Watch};
