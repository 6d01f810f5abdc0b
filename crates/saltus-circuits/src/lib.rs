//! Circuits: components between nodes, netlists that describe them, and the model they make.

mod analysis;
mod circuit;
mod deck;
mod device;
pub mod measure;
mod netlist;
mod source;

pub use analysis::{Analysis, Options, Tran};
pub use circuit::{Circuit, Component, Coupling, Node, Place};
pub use deck::{Deck, SetError};
pub use device::{
    BipolarModel, Control, Device, DiodeModel, Fidelity, MosModel, OpAmpModel, Polarity,
    SwitchModel,
};
pub use netlist::{Caution, NetlistError, Probe, ProbedFormula, Problem, Warning};
pub use source::Source;
