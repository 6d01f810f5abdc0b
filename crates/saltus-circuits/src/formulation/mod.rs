//! From a circuit to a model: `M ż = A z + B λ + b(t)`, `y = C z + D λ + e(t)`, and a law a device.
//!
//! ```text
//! parts ──> normal tree ──> network K w = R [x; λ; u; j; 1] ──> states ──> systems and interactions
//! ```

mod autonomous;
mod coupling;
mod forcing;
mod form;
mod initial;
mod model;
mod network;
mod operating_point;
mod parts;
mod semiconductors;
mod signal;
mod smooth;
mod state_space;
mod table;
mod topology;

pub(crate) use autonomous::Autonomous;
pub use model::CircuitModel;
pub use operating_point::OperatingPoint;
pub use signal::Signal;

use crate::{Circuit, CircuitError};
use network::Network;
use state_space::StateSpace;

impl Circuit {
    /// The model of the circuit, from its initial state; sources are functions of time.
    pub fn model(&self) -> Result<CircuitModel, CircuitError> {
        self.build(false)
    }

    /// The same with sources as states, which scheduled events set where they break, so that the
    /// coefficients are constant in between: an event-driven simulation then follows it exactly.
    pub fn autonomous_model(&self) -> Result<CircuitModel, CircuitError> {
        self.build(true)
    }

    fn build(&self, autonomous: bool) -> Result<CircuitModel, CircuitError> {
        self.check_names()?;
        let space = StateSpace::new(Network::new(self)?)?;
        let initial::Beginning { state, multipliers, closed } = initial::beginning(&space)?;
        model::build(&space, (&state, multipliers.as_deref(), &closed), autonomous)
    }

    fn check_names(&self) -> Result<(), CircuitError> {
        let mut names: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
        for (k, component) in self.components.iter().enumerate() {
            if let Some(first) = names.insert(component.name.to_lowercase(), k) {
                let (first, second) = ((&self.components[first]).into(), component.into());
                return Err(CircuitError::Duplicate { first, second });
            }
        }
        Ok(())
    }
}
