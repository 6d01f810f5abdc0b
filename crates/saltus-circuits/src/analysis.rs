//! What a netlist asks for beside its circuit: until when, how exact, which signals, which measures.

use crate::measure::{Fourier, Measure, Signal};
use crate::{Fidelity, Method, Place};

/// Options of `.option` that a run makes something of; others warn.
pub(crate) const KEPT: &[&str] = &["method", "reltol", "temp", "vntol"];

/// `.tran`: from 0 to `stop`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tran {
    /// Step at which a result is wanted, in seconds.
    pub step: f64,
    /// End, in seconds.
    pub stop: f64,
    /// Where recording begins, in seconds.
    pub start: f64,
    /// Largest step, if given.
    pub max_step: Option<f64>,
    /// Whether initial values are used as they are, and no operating point is sought.
    pub uic: bool,
    /// Where it stands in the netlist.
    pub place: Place,
}

/// `.option`: what is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Relative tolerance.
    pub reltol: Option<f64>,
    /// Tolerance of voltages, in volt.
    pub vntol: Option<f64>,
    /// Integration method, `trap` or `gear`, in lower case.
    pub method: Option<String>,
    /// Temperature in degrees Celsius; 27 if not given.
    pub temp: f64,
    /// `.option saltus device=…`: how devices are taken whose models do not say it.
    pub device: Option<Fidelity>,
    /// `.option saltus method=…`: how the circuit is followed.
    pub follow: Option<Method>,
}

impl Default for Options {
    fn default() -> Self {
        Options { reltol: None, vntol: None, method: None, temp: 27.0, device: None, follow: None }
    }
}

/// Everything a netlist asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Analysis {
    /// `.tran`, if there is one.
    pub tran: Option<Tran>,
    /// `.option`, `.temp`.
    pub options: Options,
    /// `.save`, `.print`, `.plot`, `.probe`: signals by name. All if it is empty.
    pub outputs: Vec<Signal>,
    /// `.save all`: all others too.
    pub all_outputs: bool,
    /// `.meas`
    pub measures: Vec<Measure>,
    /// `.four`
    pub fourier: Vec<Fourier>,
}
