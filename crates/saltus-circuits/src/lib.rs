//! Circuits: components between nodes, netlists that describe them, and the model they make.

mod build;
mod circuit;
mod device;
mod error;
mod formulation;
mod probes;
mod source;
mod transient;

pub use circuit::{Circuit, Component, Coupling, Node, Place};
pub use device::{
    BipolarModel, Control, Device, DiodeModel, Fidelity, MosModel, OpAmpModel, Polarity,
    SwitchModel,
};
pub use error::{CircuitError, Culprit};
pub use formulation::{CircuitModel, OperatingPoint, Signal};
pub use probes::{ProbeSink, Probes};
pub use source::Source;
pub use transient::{Method, Transient, TransientError, Watch};
