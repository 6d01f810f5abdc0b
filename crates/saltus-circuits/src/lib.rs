//! Circuits: components between nodes, netlists that describe them, and the model they make.

mod circuit;
mod device;
mod source;

pub use circuit::{Circuit, Component, Coupling, Node, Place};
pub use device::{
    BipolarModel, Control, Device, DiodeModel, Fidelity, MosModel, OpAmpModel, Polarity,
    SwitchModel,
};
pub use source::Source;
