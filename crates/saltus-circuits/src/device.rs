//! Devices: what stands between nodes. Currents flow from the first node through the device to the
//! second; voltages are first minus second.

use crate::{Node, Source};

/// What a component is.
#[derive(Debug, Clone, PartialEq)]
pub enum Device {
    /// `v = R i`, `R` not zero.
    Resistor {
        /// From, to.
        between: [Node; 2],
        /// `R` in ohm.
        resistance: f64,
    },
    /// `i = C v̇`.
    Capacitor {
        /// From, to.
        between: [Node; 2],
        /// `C` in farad.
        capacitance: f64,
        /// `v` at the beginning, if given.
        initial: Option<f64>,
    },
    /// `v = L i̇`, and what couplings add.
    Inductor {
        /// From, to.
        between: [Node; 2],
        /// `L` in henry.
        inductance: f64,
        /// `i` at the beginning, if given.
        initial: Option<f64>,
    },
    /// `v = s(t)`.
    VoltageSource {
        /// Plus, minus.
        between: [Node; 2],
        /// `s`.
        source: Source,
    },
    /// `i = s(t)`.
    CurrentSource {
        /// From, to (through the source).
        between: [Node; 2],
        /// `s`.
        source: Source,
    },
    /// `v = gain · control`, a control in volt (`E`) or ampere (`H`).
    ControlledVoltage {
        /// Plus, minus.
        between: [Node; 2],
        /// What controls it.
        control: Control,
        /// Its factor.
        gain: f64,
    },
    /// `i = gain · control`, a control in volt (`G`) or ampere (`F`).
    ControlledCurrent {
        /// From, to (through the source).
        between: [Node; 2],
        /// What controls it.
        control: Control,
        /// Its factor.
        gain: f64,
    },
    /// `v = f(…)`: a formula of `time`, `v(a)`, `v(a, b)` and `i(name)`.
    BehavioralVoltage {
        /// Plus, minus.
        between: [Node; 2],
        /// The formula.
        formula: String,
    },
    /// `i = f(…)`, likewise.
    BehavioralCurrent {
        /// From, to (through the source).
        between: [Node; 2],
        /// The formula.
        formula: String,
    },
    /// A diode, or a Zener diode where the model has a breakdown voltage.
    Diode {
        /// Anode, cathode.
        between: [Node; 2],
        /// What it is like.
        model: DiodeModel,
    },
    /// A switch with hysteresis.
    Switch {
        /// From, to.
        between: [Node; 2],
        /// What controls it.
        control: Control,
        /// What it is like.
        model: SwitchModel,
        /// Whether it is closed at the beginning; where none is given the control says it.
        closed: Option<bool>,
    },
    /// A field-effect transistor.
    Mos {
        /// Drain, gate, source, bulk.
        nodes: [Node; 4],
        /// What it is like.
        model: MosModel,
    },
    /// A bipolar transistor.
    Bipolar {
        /// Collector, base, emitter.
        nodes: [Node; 3],
        /// What it is like.
        model: BipolarModel,
    },
    /// An operational amplifier or comparator: its output against ground is driven by `v⁺ − v⁻`.
    OpAmp {
        /// Plus, minus, output.
        nodes: [Node; 3],
        /// What it is like.
        model: OpAmpModel,
    },
    /// An ideal transformer: `v₁ = ratio · v₂`, `i₂ = −ratio · i₁`.
    Transformer {
        /// From, to of the first winding.
        primary: [Node; 2],
        /// From, to of the second winding.
        secondary: [Node; 2],
        /// Windings of the first to those of the second.
        ratio: f64,
    },
}

/// What controls a source or a switch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// The voltage between two nodes.
    Voltage([Node; 2]),
    /// The current through a component, by its place in [`Circuit::components`](crate::Circuit::components).
    Current(usize),
}

/// How true to physics a device is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fidelity {
    /// Ideal switch: threshold and resistance only where they are given.
    #[default]
    Ideal,
    /// Piecewise linear.
    PiecewiseLinear,
    /// Smooth: the exponential diode, the quadratic transistor.
    Smooth,
}

/// n or p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Polarity {
    /// NMOS, NPN.
    #[default]
    N,
    /// PMOS, PNP.
    P,
}

/// A diode: `v_D` its voltage, `i_D` its current.
///
/// ```text
/// ideal:   0 ≤ i_D ⟂ v_threshold + R_on i_D − v_D ≥ 0,    with a breakdown voltage also  v_D ≥ −v_breakdown
/// smooth:  i_D = I_s (exp(v_D/(n V_T)) − 1)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DiodeModel {
    /// How it is taken.
    pub fidelity: Fidelity,
    /// Voltage at which it begins to conduct.
    pub threshold: f64,
    /// Resistance while it conducts.
    pub on_resistance: f64,
    /// Reverse voltage at which it conducts backwards (Zener), if any.
    pub breakdown: Option<f64>,
    /// `I_s`.
    pub saturation_current: f64,
    /// `n`.
    pub emission: f64,
    /// `V_T = k T/q`.
    pub thermal_voltage: f64,
    /// Resistance in series, smooth only.
    pub series_resistance: f64,
    /// Capacitance at zero voltage, added beside the diode.
    pub capacitance: f64,
    /// How the charge of a smooth diode depends on its voltage and current; nothing for a capacitance
    /// that stays the same.
    pub charge: Option<JunctionCharge>,
    /// Current of a smooth diode backwards at its breakdown voltage.
    pub breakdown_current: f64,
    /// Conductance beside a smooth junction; SPICE's GMIN in netlists.
    pub leak: f64,
}

/// The charge of a junction of capacitance `C₀` at no voltage:
///
/// ```text
/// q = C₀ φ/(1 − m) (1 − (1 − v/φ)^(1−m)) + τ i        v < f φ, a parabola in v beyond
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JunctionCharge {
    /// `φ`.
    pub potential: f64,
    /// `m`, in [0, 1).
    pub grading: f64,
    /// `f`, in [0, 1).
    pub linear_from: f64,
    /// `τ`.
    pub transit: f64,
}

impl Default for JunctionCharge {
    fn default() -> JunctionCharge {
        JunctionCharge { potential: 1.0, grading: 0.5, linear_from: 0.5, transit: 0.0 }
    }
}

/// A switch: closed once its control exceeds `threshold + hysteresis`, open once it is below
/// `threshold − hysteresis`; with a hysteresis below zero the other way round, closed once its control is below
/// `threshold + hysteresis`. A smooth one has no memory: the logarithm of its resistance follows a cubic between these two.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchModel {
    /// How it is taken; only smooth ones differ.
    pub fidelity: Fidelity,
    /// Middle of the two thresholds of the control.
    pub threshold: f64,
    /// Half their distance; below zero it closes where others open.
    pub hysteresis: f64,
    /// Resistance while closed; 0 is an ideal switch.
    pub on_resistance: f64,
    /// Resistance while open; infinite is an ideal switch.
    pub off_resistance: f64,
}

/// A field-effect transistor of the first level: `i = K/2 (f(v_GS − V_t) − f(v_GD − V_t))`, with
/// `f(u) = max(u, 0)²`, or a piecewise-linear function in its place, and its body diode.
#[derive(Debug, Clone, PartialEq)]
pub struct MosModel {
    /// How it is taken.
    pub fidelity: Fidelity,
    /// n or p channel.
    pub polarity: Polarity,
    /// `V_t`, positive for enhancement of either polarity's own sign as SPICE has it.
    pub threshold: f64,
    /// `K = KP · W/L` in A/V².
    pub strength: f64,
    /// `λ` of channel-length modulation, smooth only.
    pub modulation: f64,
    /// `v_GS − V_t` up to which `f` is approximated; beyond it the last slope goes on.
    pub range: f64,
    /// Body diode from bulk to drain and source (p: the other way), if any.
    pub body: Option<DiodeModel>,
    /// Capacitances gate–source, gate–drain, gate–bulk.
    pub capacitances: [f64; 3],
    /// `γ` of `V_t + γ (√(φ − v_BS) − √φ)`, smooth only.
    pub body_effect: f64,
    /// `φ`, smooth only.
    pub surface_potential: f64,
}

/// A bipolar transistor of Ebers and Moll: two diodes and two controlled currents.
#[derive(Debug, Clone, PartialEq)]
pub struct BipolarModel {
    /// How its two diodes are taken.
    pub fidelity: Fidelity,
    /// npn or pnp.
    pub polarity: Polarity,
    /// `β_F`.
    pub forward_gain: f64,
    /// `β_R`.
    pub reverse_gain: f64,
    /// The junctions.
    pub junction: DiodeModel,
    /// What else a smooth transistor has.
    pub details: GummelPoon,
}

/// What Gummel and Poon add to Ebers and Moll: smooth transistors only.
#[derive(Debug, Clone, PartialEq)]
pub struct GummelPoon {
    /// `n` of the junction to the collector.
    pub reverse_emission: f64,
    /// Voltages of Early, forward and reverse; infinite for none.
    pub early: [f64; 2],
    /// Currents at which the gain falls, forward and reverse; infinite for none.
    pub knee: [f64; 2],
    /// Leakage from the base to emitter and collector: saturation current and `n`.
    pub leakage: [[f64; 2]; 2],
    /// Capacitances to emitter and collector at no voltage.
    pub capacitances: [f64; 2],
    /// How these charges depend on voltage and current.
    pub charges: [JunctionCharge; 2],
}

impl Default for GummelPoon {
    fn default() -> GummelPoon {
        GummelPoon {
            reverse_emission: 1.0,
            early: [f64::INFINITY; 2],
            knee: [f64::INFINITY; 2],
            leakage: [[0.0, 1.5], [0.0, 2.0]],
            capacitances: [0.0; 2],
            charges: [JunctionCharge::default(); 2],
        }
    }
}

/// An operational amplifier or comparator: `v_out = clamp(gain · (v⁺ − v⁻ − offset) + centre, low, high)`.
#[derive(Debug, Clone, PartialEq)]
pub struct OpAmpModel {
    /// Slope; infinite is an ideal amplifier (`v⁺ = v⁻` while it does not saturate) or comparator.
    pub gain: f64,
    /// Input voltage at which the output is at its centre.
    pub offset: f64,
    /// Least output; −∞ for none.
    pub low: f64,
    /// Largest output; ∞ for none.
    pub high: f64,
}

impl Device {
    /// The nodes of its terminals, and those that control it.
    pub fn nodes(&self) -> Vec<Node> {
        let with = |between: &[Node; 2], control: &Control| match control {
            Control::Voltage(nodes) => [*between, *nodes].concat(),
            Control::Current(_) => between.to_vec(),
        };
        match self {
            Device::Resistor { between, .. }
            | Device::Capacitor { between, .. }
            | Device::Inductor { between, .. }
            | Device::VoltageSource { between, .. }
            | Device::CurrentSource { between, .. }
            | Device::BehavioralVoltage { between, .. }
            | Device::BehavioralCurrent { between, .. }
            | Device::Diode { between, .. } => between.to_vec(),
            Device::ControlledVoltage { between, control, .. }
            | Device::ControlledCurrent { between, control, .. }
            | Device::Switch { between, control, .. } => with(between, control),
            Device::Mos { nodes, .. } => nodes.to_vec(),
            Device::Bipolar { nodes, .. } | Device::OpAmp { nodes, .. } => nodes.to_vec(),
            Device::Transformer { primary, secondary, .. } => [*primary, *secondary].concat(),
        }
    }
}
