//! What components are made of: branches between two nodes, and laws.
//!
//! A branch has a voltage and a current, and is of one of a few kinds:
//!
//! ```text
//! v = R i      i = C v̇      v = L i̇      v = form      i = form      v free, another form = 0 (nullor)
//! ```
//!
//! where a form is a sum of sources, multipliers, and voltages and currents elsewhere. A dipole is a
//! device of two ends that can be either `v = form` or `i = form`, as the tree wants it.

use super::smooth::{Formula, Junction, Passage, Smooth};
use super::table::Table;
use crate::error::Culprit;
use crate::{
    Circuit, CircuitError, Component, Control, Device, Fidelity, Node, OpAmpModel, Source,
    SwitchModel,
};
use saltus_model::Law;

/// A quantity in a form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    /// 1.
    One,
    /// A source, by its place.
    Source(usize),
    /// A multiplier, by its place.
    Multiplier(usize),
    /// The voltage between two nodes.
    Voltage([Node; 2]),
    /// The current through a branch.
    Current(usize),
    /// The current through a component.
    Through(usize),
}

/// A sum of quantities.
pub(crate) type Form = Vec<(f64, Quantity)>;

/// A branch.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    /// Its name: that of its component, with a suffix where it is one of several.
    pub name: String,
    /// Its component.
    pub component: usize,
    /// From, to.
    pub between: [Node; 2],
    /// What it is.
    pub kind: Kind,
}

/// What a branch is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// `v = R i`.
    Resistor(f64),
    /// The same beside a switch.
    Leak(f64),
    /// `i = C v̇`.
    Capacitor(f64, Option<f64>),
    /// `v = L i̇`.
    Inductor(f64, Option<f64>),
    /// `v = form`.
    Voltage(Form),
    /// `i = form`.
    Current(Form),
    /// `v` free, `form = 0`.
    Nullor(Form),
    /// A device of two ends.
    Dipole(Dipole),
}

/// A device of two ends.
#[derive(Debug, Clone)]
pub(crate) enum Dipole {
    /// `0 ≤ i ⟂ threshold + resistance i − v ≥ 0`.
    Diode {
        /// Voltage at which it begins to conduct.
        threshold: f64,
        /// Resistance while it conducts.
        resistance: f64,
    },
    /// A diode that also conducts backwards: `v` between `−breakdown` and `threshold` while it blocks.
    Zener {
        /// Voltage at which it begins to conduct.
        threshold: f64,
        /// Reverse voltage at which it begins to conduct.
        breakdown: f64,
        /// Resistance while it conducts either way.
        resistance: f64,
    },
    /// The exponential diode with a resistance in series.
    Junction(Junction, f64),
    /// `v = resistance i` while it is closed, `i = 0` while it is open.
    Switch(Box<Contact>, f64),
}

/// What closes a switch, and when.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contact {
    /// A voltage or current.
    pub control: Form,
    /// It closes above this.
    pub on: f64,
    /// It opens below this.
    pub off: f64,
    /// Whether it is closed at the beginning, if that is given.
    pub closed: Option<bool>,
    /// Whether `λ` is its voltage and `y` its current, and not the other way round.
    pub turned: bool,
}

impl Contact {
    /// Whether it is closed once its control has this value.
    pub fn follows(&self, control: f64, closed: bool) -> bool {
        if closed { control >= self.off } else { control > self.on }
    }
}

/// A law of some multipliers.
#[derive(Debug, Clone)]
pub(crate) struct Lawful {
    /// Its name.
    pub name: String,
    /// Its component.
    pub component: usize,
    /// Its first multiplier, and how many it has.
    pub multipliers: std::ops::Range<usize>,
    /// What it speaks of.
    pub outputs: Vec<Form>,
    /// What `y` and `λ` satisfy.
    pub law: PartLaw,
}

/// A law on outputs as they are, or `0 = φ(t, outputs, λ)`.
#[derive(Debug, Clone)]
pub(crate) enum PartLaw {
    /// As they are.
    Plain(Law),
    /// An equation that is not linear.
    Smooth(Smooth),
    /// A switch.
    Switch(Box<Contact>),
}

/// A node of a component, and the current into it there: branches with their signs.
pub(crate) type Terminal = (Node, Vec<(f64, usize)>);

/// All branches and laws of a circuit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    /// The branches.
    pub branches: Vec<Branch>,
    /// The laws; those of dipoles are added once the tree is known.
    pub laws: Vec<Lawful>,
    /// Multipliers in all.
    pub multipliers: usize,
    /// The independent sources.
    pub sources: Vec<Source>,
    /// Of each component: the currents into its terminals, as sums of those of branches.
    pub terminals: Vec<Vec<Terminal>>,
    /// Of each component that is an inductor: its branch.
    pub inductors: Vec<Option<usize>>,
    /// Nodes beyond those of the circuit: each has a capacitor to ground that holds a charge.
    pub hidden: usize,
    /// Nodes whose voltage is read, and by which component.
    pub read: Vec<(Node, usize)>,
    /// Whether there are so many transistors that graphs are quicker than rows of complementarity,
    /// whose modes are remembered.
    pub(super) many: bool,
}

impl Parts {
    /// The parts of a circuit; `swapped` are the transformers whose first winding has its voltage
    /// given by the second.
    pub fn new(circuit: &Circuit, swapped: &[usize]) -> Result<Parts, CircuitError> {
        let transistor = |one: &&Component| matches!(one.device, Device::Mos { .. });
        let many = circuit.components.iter().filter(transistor).count() > FEW;
        let mut parts = Parts { many, ..Parts::default() };
        for (k, component) in circuit.components.iter().enumerate() {
            let first = parts.branches.len();
            let mut one = One { circuit, component, index: k, parts: &mut parts };
            one.nodes_exist()?;
            one.add(swapped.contains(&k))?;
            parts.find_terminals(first, circuit.nodes.len());
            let inductor = matches!(component.device, Device::Inductor { .. });
            parts.inductors.push(inductor.then_some(first));
        }
        Ok(parts)
    }

    /// The currents into the terminals of the component whose branches come last.
    fn find_terminals(&mut self, first: usize, nodes: usize) {
        let mut terminals: Vec<Terminal> = Vec::new();
        for (k, branch) in self.branches.iter().enumerate().skip(first) {
            let own = |(node, _): &(Node, f64)| node.0 < nodes;
            for (node, sign) in
                [(branch.between[0], 1.0), (branch.between[1], -1.0)].into_iter().filter(own)
            {
                match terminals.iter_mut().find(|terminal| terminal.0 == node) {
                    Some(terminal) => terminal.1.push((sign, k)),
                    None => terminals.push((node, vec![(sign, k)])),
                }
            }
        }
        self.terminals.push(terminals);
    }

    /// Adds a law.
    pub fn add_law(
        &mut self,
        name: String,
        component: usize,
        size: usize,
        outputs: Vec<Form>,
        law: PartLaw,
    ) -> std::ops::Range<usize> {
        let multipliers = self.multipliers..self.multipliers + size;
        self.multipliers += size;
        self.laws.push(Lawful { name, component, multipliers: multipliers.clone(), outputs, law });
        multipliers
    }
}

/// Transistors up to which modes are remembered.
const FEW: usize = 8;

/// A component on its way to parts.
pub(super) struct One<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) component: &'a Component,
    pub(super) index: usize,
    pub(super) parts: &'a mut Parts,
}

impl One<'_> {
    fn culprit(&self) -> Culprit {
        self.component.into()
    }

    pub(super) fn wrong(
        &self,
        what: &'static str,
        value: f64,
        allowed: &'static str,
    ) -> CircuitError {
        CircuitError::Value { component: self.culprit(), what, value, allowed }
    }

    fn nodes_exist(&self) -> Result<(), CircuitError> {
        let count = self.circuit.nodes.len();
        match self.component.device.nodes().into_iter().find(|node| node.0 >= count) {
            None => Ok(()),
            Some(Node(index)) => {
                let component = self.culprit();
                Err(CircuitError::NoNode { component, index, count })
            }
        }
    }

    pub(super) fn branch(
        &mut self,
        suffix: &str,
        between: [Node; 2],
        kind: Kind,
    ) -> Result<usize, CircuitError> {
        if between[0] == between[1] {
            let node = self.circuit.nodes[between[0].0].clone();
            return Err(CircuitError::SelfLoop { component: self.culprit(), node });
        }
        let name = format!("{}{suffix}", self.component.name);
        let component = self.index;
        self.parts.branches.push(Branch { name, component, between, kind });
        Ok(self.parts.branches.len() - 1)
    }

    /// A branch beside others: none where both ends are at one node.
    pub(super) fn beside(
        &mut self,
        suffix: &str,
        between: [Node; 2],
        kind: Kind,
    ) -> Result<(), CircuitError> {
        if between[0] != between[1] {
            self.branch(suffix, between, kind)?;
        }
        Ok(())
    }

    pub(super) fn positive(&self, what: &'static str, value: f64) -> Result<f64, CircuitError> {
        match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(self.wrong(what, value, "(0, inf)")),
        }
    }

    pub(super) fn not_negative(&self, what: &'static str, value: f64) -> Result<f64, CircuitError> {
        match value >= 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(self.wrong(what, value, "[0, inf)")),
        }
    }

    pub(super) fn finite(&self, what: &'static str, value: f64) -> Result<f64, CircuitError> {
        match value.is_finite() {
            true => Ok(value),
            false => Err(self.wrong(what, value, "a finite number")),
        }
    }

    fn source(&mut self, source: &Source) -> Result<Form, CircuitError> {
        if let Some((what, value, allowed)) = source.wrong() {
            return Err(self.wrong(what, value, allowed));
        }
        if source.is_constant() {
            return Ok(vec![(source.value(0.0), Quantity::One)]);
        }
        self.parts.sources.push(source.clone());
        Ok(vec![(1.0, Quantity::Source(self.parts.sources.len() - 1))])
    }

    pub(super) fn reads(&mut self, nodes: &[Node]) {
        self.parts.read.extend(nodes.iter().map(|&node| (node, self.index)));
    }

    fn control(&mut self, control: &Control, gain: f64) -> Result<Form, CircuitError> {
        self.finite("gain", gain)?;
        match *control {
            Control::Voltage(nodes) => {
                self.reads(&nodes);
                Ok(vec![(gain, Quantity::Voltage(nodes))])
            }
            Control::Current(index) => {
                let count = self.circuit.components.len();
                if index >= count {
                    let component = self.culprit();
                    return Err(CircuitError::NoComponent { component, index, count });
                }
                Ok(vec![(gain, Quantity::Through(index))])
            }
        }
    }

    fn add(&mut self, swapped: bool) -> Result<(), CircuitError> {
        match &self.component.device {
            Device::Resistor { between, resistance } => {
                if !(*resistance != 0.0 && resistance.is_finite()) {
                    let allowed = "not zero (a source of 0 V is a wire)";
                    return Err(self.wrong("resistance", *resistance, allowed));
                }
                self.branch("", *between, Kind::Resistor(*resistance))?;
            }
            Device::Capacitor { between, capacitance, initial } => {
                let value = self.positive("capacitance", *capacitance)?;
                let start = self.finite("initial", initial.unwrap_or(0.0))?;
                if between[0] == between[1] && start == 0.0 {
                    return Ok(()); // carries nothing, as in a subcircuit with its input at ground
                }
                self.branch("", *between, Kind::Capacitor(value, *initial))?;
            }
            Device::Inductor { between, inductance, initial } => {
                let value = self.positive("inductance", *inductance)?;
                self.finite("initial", initial.unwrap_or(0.0))?;
                self.branch("", *between, Kind::Inductor(value, *initial))?;
            }
            Device::VoltageSource { between, source } => {
                let form = self.source(source)?;
                self.branch("", *between, Kind::Voltage(form))?;
            }
            Device::CurrentSource { between, source } => {
                let form = self.source(source)?;
                self.branch("", *between, Kind::Current(form))?;
            }
            Device::ControlledVoltage { between, control, gain } => {
                let form = self.control(control, *gain)?;
                self.branch("", *between, Kind::Voltage(form))?;
            }
            Device::ControlledCurrent { between, control, gain } => {
                let form = self.control(control, *gain)?;
                self.branch("", *between, Kind::Current(form))?;
            }
            Device::BehavioralVoltage { between, formula } => {
                let form = self.behaviour(formula)?;
                self.branch("", *between, Kind::Voltage(form))?;
            }
            Device::BehavioralCurrent { between, formula } => {
                let form = self.behaviour(formula)?;
                self.branch("", *between, Kind::Current(form))?;
            }
            Device::Diode { between, model } => self.diode("", *between, model)?,
            Device::Switch { between, control, model, closed } => {
                self.switch(*between, control, model, *closed)?;
            }
            Device::Mos { nodes, model } => self.mos(*nodes, model)?,
            Device::Bipolar { nodes, model } => self.bipolar(*nodes, model)?,
            Device::OpAmp { nodes, model } => self.amplifier(*nodes, model)?,
            Device::Transformer { primary, secondary, ratio } => {
                let n = *ratio;
                if !(n != 0.0 && n.is_finite()) {
                    return Err(self.wrong("ratio", n, "not zero"));
                }
                let next = self.parts.branches.len();
                // v₁ = n v₂, i₂ = −n i₁: one winding has its voltage given, the other its current
                let (first, second) = match swapped {
                    false => (
                        Kind::Current(vec![(-1.0 / n, Quantity::Current(next + 1))]),
                        Kind::Voltage(vec![(1.0 / n, Quantity::Voltage(*primary))]),
                    ),
                    true => (
                        Kind::Voltage(vec![(n, Quantity::Voltage(*secondary))]),
                        Kind::Current(vec![(-n, Quantity::Current(next))]),
                    ),
                };
                self.branch(".primary", *primary, first)?;
                self.branch(".secondary", *secondary, second)?;
            }
        }
        Ok(())
    }

    /// `v` or `i` is a multiplier `λ`, with `0 = λ − f(t, outputs)`.
    fn behaviour(&mut self, text: &str) -> Result<Form, CircuitError> {
        if let Some(table) = Table::of(text, self.circuit, self.component)? {
            return Ok(self.table(table));
        }
        let (formula, quantities) = Formula::parse(text, self.circuit, self.component)?;
        for quantity in &quantities {
            if let Quantity::Voltage(nodes) = quantity {
                self.reads(nodes);
            }
        }
        let outputs = quantities.into_iter().map(|quantity| vec![(1.0, quantity)]).collect();
        let law = PartLaw::Smooth(Smooth::Formula(Box::new(formula)));
        let name = self.component.name.clone();
        let rows = self.parts.add_law(name, self.index, 1, outputs, law);
        Ok(vec![(1.0, Quantity::Multiplier(rows.start))])
    }

    /// `v` or `i` is `y₁ + Σ bₖ λₖ`, or `y₁ − λ₁ + λ₂` with graphs of the table's input.
    fn table(&mut self, table: Table) -> Form {
        let Table { input, first, corners, rises, falls } = table;
        for (_, quantity) in &input {
            if let Quantity::Voltage(nodes) = quantity {
                self.reads(nodes);
            }
        }
        let mut form = vec![(first, Quantity::One)];
        if corners.is_empty() {
            return form;
        }
        if corners.iter().all(|(_, bend)| bend.abs() <= STEEP) {
            let start = self.parts.multipliers;
            let mut outputs = Vec::with_capacity(corners.len());
            for (k, (corner, bend)) in corners.into_iter().enumerate() {
                let lam = Quantity::Multiplier(start + k);
                let mut row: Form = input.iter().map(|&(a, quantity)| (-a, quantity)).collect();
                row.extend([(1.0, lam), (corner, Quantity::One)]);
                outputs.push(row);
                form.push((bend, lam));
            }
            let (name, law) = (self.component.name.clone(), PartLaw::Plain(Law::Complementarity));
            self.parts.add_law(name, self.index, outputs.len(), outputs, law);
            return form;
        }
        let both = rises.is_some() && falls.is_some();
        for (points, sign, suffix) in [(rises, -1.0, ".rises"), (falls, 1.0, ".falls")] {
            let Some(points) = points else { continue };
            let law = PartLaw::Plain(Law::PiecewiseLinear { points });
            let name = format!("{}{}", self.component.name, if both { suffix } else { "" });
            let rows = self.parts.add_law(name, self.index, 1, vec![input.clone()], law);
            form.push((sign, Quantity::Multiplier(rows.start)));
        }
        form
    }

    /// `v = R_on i` or `v = R_off i`: a resistor of `R_off`, where it is finite, and beside it what
    /// makes `R_on` of both together.
    fn switch(
        &mut self,
        between: [Node; 2],
        control: &Control,
        model: &SwitchModel,
        closed: Option<bool>,
    ) -> Result<(), CircuitError> {
        let SwitchModel { fidelity, threshold, hysteresis, on_resistance, off_resistance } = *model;
        self.finite("threshold", threshold)?;
        self.finite("hysteresis", hysteresis)?;
        let mut resistance = self.not_negative("on resistance", on_resistance)?;
        if !(off_resistance > on_resistance) {
            return Err(self.wrong("off resistance", off_resistance, "above the on resistance"));
        }
        if off_resistance.is_finite() {
            resistance /= 1.0 - on_resistance / off_resistance;
            self.branch(".off", between, Kind::Leak(off_resistance))?;
        }
        if fidelity == Fidelity::Smooth {
            return self.passage(between, control, model);
        }
        // one that closes below its thresholds sees its control upside down
        let way = if hysteresis < 0.0 { -1.0 } else { 1.0 };
        let (on, off) = (way * threshold + hysteresis.abs(), way * threshold - hysteresis.abs());
        let control = self.control(control, way)?;
        let contact = Contact { control, on, off, closed, turned: false };
        self.branch("", between, Kind::Dipole(Dipole::Switch(Box::new(contact), resistance)))?;
        Ok(())
    }

    /// A switch that closes little by little, beside its `R_off`.
    fn passage(
        &mut self,
        between: [Node; 2],
        control: &Control,
        model: &SwitchModel,
    ) -> Result<(), CircuitError> {
        let SwitchModel { threshold, hysteresis, on_resistance, off_resistance, .. } = *model;
        self.positive("on resistance", on_resistance)?;
        self.finite("off resistance", off_resistance)?;
        if hysteresis == 0.0 {
            return Err(self.wrong("hysteresis", hysteresis, "not zero where it is smooth"));
        }
        let thresholds = [threshold + hysteresis, threshold - hysteresis];
        let passage = Passage::new([on_resistance, off_resistance], thresholds);
        let outputs = vec![vec![(1.0, Quantity::Voltage(between))], self.control(control, 1.0)?];
        let (name, law) = (self.component.name.clone(), PartLaw::Smooth(Smooth::Passage(passage)));
        let rows = self.parts.add_law(name, self.index, 1, outputs, law);
        let current = Kind::Current(vec![(1.0, Quantity::Multiplier(rows.start))]);
        self.branch("", between, current)?;
        Ok(())
    }

    /// `v_out = clamp(gain (v⁺ − v⁻ − offset) + centre, low, high)`.
    fn amplifier(
        &mut self,
        [plus, minus, output]: [Node; 3],
        model: &OpAmpModel,
    ) -> Result<(), CircuitError> {
        let OpAmpModel { gain, offset, low, high } = *model;
        if !(gain > 0.0) {
            return Err(self.wrong("gain", gain, "(0, inf]"));
        }
        self.finite("offset", offset)?;
        if !(low < high) {
            return Err(self.wrong("low", low, "below `high`"));
        }
        self.reads(&[plus, minus]);
        let between = [output, Node::GROUND];
        // v⁺ − v⁻ − offset
        let input = |scale: f64| {
            vec![(scale, Quantity::Voltage([plus, minus])), (-scale * offset, Quantity::One)]
        };
        if low == f64::NEG_INFINITY && high == f64::INFINITY {
            let kind = match gain.is_finite() {
                true => Kind::Voltage(input(gain)),
                false => Kind::Nullor(input(1.0)),
            };
            self.branch("", between, kind)?;
            return Ok(());
        }
        let name = self.component.name.clone();
        let both = low.is_finite() && high.is_finite();
        if both && gain <= STEEP {
            // v = low + gain (max(u − u_low, 0) − max(u − u_high, 0)), a row for each corner
            let half = (high - low) / (2.0 * gain);
            let first = self.parts.multipliers;
            let row = |k: usize, corner: f64| {
                let mut row = input(-1.0);
                row.extend([(corner, Quantity::One), (1.0, Quantity::Multiplier(first + k))]);
                row
            };
            let outputs = vec![row(0, -half), row(1, half)];
            self.parts.add_law(name, self.index, 2, outputs, PartLaw::Plain(Law::Complementarity));
            let [up, down] = [first, first + 1].map(Quantity::Multiplier);
            let form = vec![(low, Quantity::One), (gain, up), (-gain, down)];
            self.branch("", between, Kind::Voltage(form))?;
            return Ok(());
        }
        let law = match gain.is_finite() {
            false => Law::relay(low, high),
            true => Law::PiecewiseLinear { points: saturation(gain, low, high) },
        };
        let outputs = vec![input(-1.0)];
        let rows = self.parts.add_law(name, self.index, 1, outputs, PartLaw::Plain(law));
        self.branch("", between, Kind::Voltage(vec![(1.0, Quantity::Multiplier(rows.start))]))?;
        Ok(())
    }
}

/// Gain above which an amplifier is a graph: the difference of two rows would lose digits.
const STEEP: f64 = 1e3;

/// `λ = clamp(gain u + centre, low, high)` as points `(−u, λ)`.
fn saturation(gain: f64, low: f64, high: f64) -> Vec<(f64, f64)> {
    let both = low.is_finite() && high.is_finite();
    let centre = if both { low + (high - low) / 2.0 } else { 0.0_f64.clamp(low, high) };
    let input = |output: f64| (centre - output) / gain;
    let unit = if both { (high - low) / gain } else { 1.0 / gain };
    let mut points = Vec::new();
    if high.is_finite() {
        points.extend([(input(high) - unit, high), (input(high), high)]);
    } else {
        points.push((input(low) - unit, low + gain * unit));
    }
    if low.is_finite() {
        points.extend([(input(low), low), (input(low) + unit, low)]);
    } else {
        points.push((input(high) + unit, high - gain * unit));
    }
    points
}
