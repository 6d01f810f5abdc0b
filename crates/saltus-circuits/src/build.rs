//! Circuits written down in Rust, a line a component.
//!
//! ```
//! use saltus_circuits::{Circuit, DiodeModel, Source};
//!
//! let mut circuit = Circuit::new("half-wave rectifier");
//! circuit.voltage_source("V1", ["in", "0"], Source::sine(10.0, 50.0));
//! circuit.diode("D1", ["in", "out"], DiodeModel::ideal());
//! circuit.capacitor("C1", ["out", "0"], 1e-3);
//! circuit.resistor("R1", ["out", "0"], 1e3);
//! let circuit = circuit.model()?;
//! assert_eq!(circuit.signals(), ["v(in)", "v(out)", "i(V1)", "i(D1)", "i(C1)", "i(R1)"]);
//! # Ok::<(), saltus_circuits::CircuitError>(())
//! ```

use crate::{
    BipolarModel, Circuit, Control, Device, DiodeModel, Fidelity, MosModel, Node, OpAmpModel,
    Polarity, Source, SwitchModel,
};

impl Circuit {
    fn between(&mut self, [from, to]: [&str; 2]) -> [Node; 2] {
        [self.node(from), self.node(to)]
    }

    /// Adds `v = R i`.
    pub fn resistor(&mut self, name: &str, nodes: [&str; 2], resistance: f64) -> usize {
        let between = self.between(nodes);
        self.add(name, Device::Resistor { between, resistance })
    }

    /// Adds `i = C v̇`, with the voltage at the beginning left to the circuit.
    pub fn capacitor(&mut self, name: &str, nodes: [&str; 2], capacitance: f64) -> usize {
        let (between, initial) = (self.between(nodes), None);
        self.add(name, Device::Capacitor { between, capacitance, initial })
    }

    /// Adds `v = L i̇`, with the current at the beginning left to the circuit.
    pub fn inductor(&mut self, name: &str, nodes: [&str; 2], inductance: f64) -> usize {
        let (between, initial) = (self.between(nodes), None);
        self.add(name, Device::Inductor { between, inductance, initial })
    }

    /// Gives a capacitor its voltage, or an inductor its current, at the beginning.
    pub fn start(&mut self, component: usize, value: f64) {
        if let Some(component) = self.components.get_mut(component)
            && let Device::Capacitor { initial, .. } | Device::Inductor { initial, .. } =
                &mut component.device
        {
            *initial = Some(value);
        }
    }

    /// Adds `v = s(t)`.
    pub fn voltage_source(
        &mut self,
        name: &str,
        nodes: [&str; 2],
        source: impl Into<Source>,
    ) -> usize {
        let (between, source) = (self.between(nodes), source.into());
        self.add(name, Device::VoltageSource { between, source })
    }

    /// Adds `i = s(t)`.
    pub fn current_source(
        &mut self,
        name: &str,
        nodes: [&str; 2],
        source: impl Into<Source>,
    ) -> usize {
        let (between, source) = (self.between(nodes), source.into());
        self.add(name, Device::CurrentSource { between, source })
    }

    /// Adds `v = gain · v(control)`.
    pub fn amplify(
        &mut self,
        name: &str,
        nodes: [&str; 2],
        control: [&str; 2],
        gain: f64,
    ) -> usize {
        let (between, control) = (self.between(nodes), Control::Voltage(self.between(control)));
        self.add(name, Device::ControlledVoltage { between, control, gain })
    }

    /// Adds a diode from anode to cathode.
    pub fn diode(&mut self, name: &str, nodes: [&str; 2], model: DiodeModel) -> usize {
        let between = self.between(nodes);
        self.add(name, Device::Diode { between, model })
    }

    /// Adds a switch that a voltage closes.
    pub fn switch(
        &mut self,
        name: &str,
        nodes: [&str; 2],
        control: [&str; 2],
        model: SwitchModel,
    ) -> usize {
        let (between, control) = (self.between(nodes), Control::Voltage(self.between(control)));
        self.add(name, Device::Switch { between, control, model, closed: None })
    }

    /// Adds a transistor: drain, gate, source, bulk.
    pub fn mos(&mut self, name: &str, nodes: [&str; 4], model: MosModel) -> usize {
        let nodes = nodes.map(|node| self.node(node));
        self.add(name, Device::Mos { nodes, model })
    }

    /// Adds a transistor: collector, base, emitter.
    pub fn bipolar(&mut self, name: &str, nodes: [&str; 3], model: BipolarModel) -> usize {
        let nodes = nodes.map(|node| self.node(node));
        self.add(name, Device::Bipolar { nodes, model })
    }

    /// Adds an amplifier or comparator: plus, minus, output.
    pub fn op_amp(&mut self, name: &str, nodes: [&str; 3], model: OpAmpModel) -> usize {
        let nodes = nodes.map(|node| self.node(node));
        self.add(name, Device::OpAmp { nodes, model })
    }
}

impl From<f64> for Source {
    fn from(value: f64) -> Source {
        Source::Dc(value)
    }
}

impl Source {
    /// `amplitude sin(2π frequency t)`.
    pub fn sine(amplitude: f64, frequency: f64) -> Source {
        let (offset, delay, damping, phase) = (0.0, 0.0, 0.0, 0.0);
        Source::Sin { offset, amplitude, frequency, delay, damping, phase }
    }

    /// Straight lines between points `(t, value)`.
    pub fn lines(points: impl Into<Vec<(f64, f64)>>) -> Source {
        Source::PiecewiseLinear { points: points.into(), repeat: None, delay: 0.0 }
    }
}

impl DiodeModel {
    /// `0 ≤ i ⟂ −v ≥ 0`.
    pub fn ideal() -> DiodeModel {
        DiodeModel {
            fidelity: Fidelity::Ideal,
            threshold: 0.0,
            on_resistance: 0.0,
            breakdown: None,
            saturation_current: 1e-14,
            emission: 1.0,
            thermal_voltage: 0.02585,
            series_resistance: 0.0,
            capacitance: 0.0,
            charge: None,
            breakdown_current: 1e-3,
            leak: 0.0,
        }
    }

    /// `i = I_s (exp(v/V_T) − 1)` at 300 K.
    pub fn smooth(saturation_current: f64) -> DiodeModel {
        DiodeModel { fidelity: Fidelity::Smooth, saturation_current, ..DiodeModel::ideal() }
    }

    /// The same with another threshold.
    pub fn threshold(self, threshold: f64) -> DiodeModel {
        DiodeModel { threshold, ..self }
    }

    /// The same with a breakdown voltage: a Zener diode.
    pub fn breakdown(self, voltage: f64) -> DiodeModel {
        DiodeModel { breakdown: Some(voltage), ..self }
    }
}

impl SwitchModel {
    /// `v = 0` while its control is above a threshold, `i = 0` while it is not.
    pub fn ideal(threshold: f64) -> SwitchModel {
        let (on_resistance, off_resistance) = (0.0, f64::INFINITY);
        let fidelity = Fidelity::Ideal;
        SwitchModel { fidelity, threshold, hysteresis: 0.0, on_resistance, off_resistance }
    }

    /// The same with thresholds this far above and below the one in the middle.
    pub fn hysteresis(self, hysteresis: f64) -> SwitchModel {
        SwitchModel { hysteresis, ..self }
    }

    /// The same with resistances while it is closed and open.
    pub fn resistances(self, on_resistance: f64, off_resistance: f64) -> SwitchModel {
        SwitchModel { on_resistance, off_resistance, ..self }
    }
}

impl MosModel {
    /// A piecewise-linear transistor without capacitances and body diode, good up to
    /// `v_GS − V_t = range`.
    pub fn piecewise_linear(
        polarity: Polarity,
        threshold: f64,
        strength: f64,
        range: f64,
    ) -> MosModel {
        MosModel {
            fidelity: Fidelity::PiecewiseLinear,
            polarity,
            threshold,
            strength,
            modulation: 0.0,
            range,
            body: None,
            capacitances: [0.0; 3],
            body_effect: 0.0,
            surface_potential: 0.6,
        }
    }
}

impl OpAmpModel {
    /// `v⁺ = v⁻`.
    pub fn ideal() -> OpAmpModel {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        OpAmpModel { gain: f64::INFINITY, offset: 0.0, low, high }
    }

    /// The same with an output between two voltages.
    pub fn between(self, low: f64, high: f64) -> OpAmpModel {
        OpAmpModel { low, high, ..self }
    }

    /// The same with a gain that is not infinite.
    pub fn gain(self, gain: f64) -> OpAmpModel {
        OpAmpModel { gain, ..self }
    }
}
