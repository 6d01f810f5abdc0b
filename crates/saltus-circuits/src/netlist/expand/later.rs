//! What can be looked up only once all components are there.

use std::collections::HashMap;

use saltus_expr::nearest;

use super::sources::{controlled, independent};
use super::{Done, Expansion};
use crate::netlist::cursor::Word;
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::expression::Expr;
use crate::netlist::lines::At;
use crate::netlist::probe::Probe;
use crate::netlist::resolve::{Level, Uses, Value};
use crate::{Control, Coupling, Device, Node, Source};

/// How far an initial value may be from another one, relative to their size.
const AGREES: f64 = 1e-9;

/// What can be looked up only once all components are there.
#[derive(Default)]
pub(super) struct Later<'d> {
    /// Components and the names of those whose current controls them.
    pub(super) controls: Vec<(usize, String, At)>,
    /// Sources given by an expression.
    pub(super) formulas: Vec<LateFormula<'d>>,
    pub(super) couplings: Vec<LateCoupling<'d>>,
    /// Nodes, and their voltages at the beginning.
    pub(super) initial: Vec<(String, f64, At)>,
    /// Inductors, and their currents at the beginning.
    pub(super) initial_currents: Vec<(String, f64, At)>,
}

pub(super) struct LateFormula<'d> {
    pub(super) component: usize,
    pub(super) scope: usize,
    pub(super) between: [Node; 2],
    pub(super) meaning: Meaning,
    pub(super) formula: &'d Expr,
    pub(super) times: f64,
}

/// What the value of a formula is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    Voltage,
    Current,
    /// The current is the voltage between the nodes over it.
    Resistance,
}

pub(super) struct LateCoupling<'d> {
    pub(super) name: String,
    pub(super) at: At,
    pub(super) scope: usize,
    pub(super) inductors: &'d [Word],
    pub(super) coefficient: f64,
}

impl<'d> Expansion<'d, '_> {
    /// The component of a name in the whole circuit.
    pub(super) fn component(&self, name: &str, at: At) -> Result<usize, NetlistError> {
        if let Some(&index) = self.names.get(&name.to_lowercase()) {
            return Ok(index);
        }
        let known = self.circuit.components.iter().map(|component| component.name.as_str());
        let problem = Problem::Unknown {
            kind: "component",
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        };
        Err(self.fail(at, problem))
    }

    /// The node of a name in the whole circuit that is already there.
    pub(super) fn known_node(&self, name: &str, at: At) -> Result<Node, NetlistError> {
        if let Some(&node) = self.nodes.get(&name.to_lowercase()) {
            return Ok(node);
        }
        let known = self.circuit.nodes.iter().map(String::as_str);
        let problem = Problem::Unknown {
            kind: "node",
            name: name.to_owned(),
            nearest: nearest(name, known).map(str::to_owned),
        };
        Err(self.fail(at, problem))
    }

    /// Everything that refers to components by name.
    pub(super) fn finish(&mut self) -> Done {
        let later = std::mem::take(&mut self.later);
        for (component, name, at) in &later.controls {
            let by = self.component(name, *at)?;
            match &mut self.circuit.components[*component].device {
                Device::ControlledVoltage { control, .. }
                | Device::ControlledCurrent { control, .. }
                | Device::Switch { control, .. } => *control = Control::Current(by),
                _ => {}
            }
        }
        for late in &later.formulas {
            let device = self
                .late_formula(late)
                .map_err(|error| error.in_element(&self.circuit.components[late.component].name))?;
            self.circuit.components[late.component].device = device;
        }
        for late in &later.couplings {
            self.late_coupling(late)?;
        }
        for (name, value, at) in &later.initial {
            let node = self.known_node(name, *at)?;
            if node == Node::GROUND {
                let expected = "a node other than ground".to_owned();
                let found = format!("`{name}`");
                return Err(self.fail(*at, Problem::Expected { expected, found }));
            }
            self.circuit.initial.push((node, *value));
        }
        self.check_initial(&later.initial)?;
        for (name, value, at) in &later.initial_currents {
            let index = self.component(name, *at)?;
            match &mut self.circuit.components[index].device {
                Device::Inductor { initial: Some(own), .. } if own != value => {
                    let problem =
                        Problem::Conflict { name: name.clone(), own: *own, other: *value };
                    return Err(self.fail(*at, problem));
                }
                Device::Inductor { initial, .. } => *initial = Some(*value),
                _ => {
                    let problem = Problem::Expected {
                        expected: "an inductor".to_owned(),
                        found: format!("`{name}`"),
                    };
                    return Err(self.fail(*at, problem));
                }
            }
        }
        Ok(())
    }

    /// A capacitor with a voltage of its own between nodes whose voltages `.ic` gives too.
    fn check_initial(&self, given: &[(String, f64, At)]) -> Done {
        let mut voltages = HashMap::from([(Node::GROUND.0, (0.0, None))]);
        for ((node, value), (_, _, at)) in self.circuit.initial.iter().zip(given) {
            voltages.insert(node.0, (*value, Some(*at)));
        }
        for component in &self.circuit.components {
            let Device::Capacitor { between, initial: Some(own), .. } = component.device else {
                continue;
            };
            let [Some((plus, at)), Some((minus, other_at))] =
                between.map(|node| voltages.get(&node.0))
            else {
                continue;
            };
            let other = plus - minus;
            let Some(at) = at.or(*other_at) else { continue };
            if (own - other).abs() > AGREES * own.abs().max(other.abs()).max(1.0) {
                let name = component.name.clone();
                return Err(self.fail(at, Problem::Conflict { name, own, other }));
            }
        }
        Ok(())
    }

    /// A formula is a constant, a multiple of one quantity, or neither.
    pub(super) fn late_formula(&mut self, late: &LateFormula<'d>) -> Result<Device, NetlistError> {
        let LateFormula { between, meaning, times, .. } = *late;
        let is_voltage = meaning == Meaning::Voltage;
        let name = self.circuit.components[late.component].name.to_lowercase();
        if let Some(value) = self.context.values.get(&name) {
            return Ok(independent(is_voltage, between, Source::Dc(*value)));
        }
        self.resolver.probes.clear();
        let value = self.resolver.formula(late.formula, late.scope, Uses::Quantities)?;
        let probes = std::mem::take(&mut self.resolver.probes);
        for (probe, at) in &probes {
            self.check_probe(probe, *at)?;
        }
        if meaning == Meaning::Resistance {
            let [plus, minus] = between.map(|node| self.circuit.nodes[node.0].clone());
            let across = Probe::Difference(plus, minus);
            let formula = format!("{times:?}*{across}/{}", value.text(Level::Atom));
            return Ok(Device::BehavioralCurrent { between, formula });
        }
        Ok(match value {
            Value::Number(value) => independent(is_voltage, between, Source::Dc(value * times)),
            Value::Formula { linear: Some((probe, factor)), .. } if probe != Probe::Time => {
                let at = late.formula.at;
                let control = match &probe {
                    Probe::Difference(plus, minus) => {
                        Control::Voltage([self.known_node(plus, at)?, self.known_node(minus, at)?])
                    }
                    Probe::Voltage(node) => {
                        Control::Voltage([self.known_node(node, at)?, Node::GROUND])
                    }
                    Probe::Current(name) | Probe::Measure(name) => {
                        Control::Current(self.component(name, at)?)
                    }
                    Probe::Time => Control::Current(late.component),
                };
                controlled(is_voltage, between, control, factor * times)
            }
            value => {
                let formula = match times == 1.0 {
                    true => value.text(Level::Or),
                    false => format!("{times:?}*{}", value.text(Level::Unary)),
                };
                match is_voltage {
                    true => Device::BehavioralVoltage { between, formula },
                    false => Device::BehavioralCurrent { between, formula },
                }
            }
        })
    }

    pub(super) fn check_probe(&self, probe: &Probe, at: At) -> Done {
        match probe {
            Probe::Voltage(node) => {
                self.known_node(node, at)?;
            }
            Probe::Difference(plus, minus) => {
                self.known_node(plus, at)?;
                self.known_node(minus, at)?;
            }
            Probe::Current(name) => {
                self.component(name, at)?;
            }
            Probe::Measure(_) | Probe::Time => {}
        }
        Ok(())
    }

    /// Every two of the inductors are coupled.
    pub(super) fn late_coupling(&mut self, late: &LateCoupling<'d>) -> Done {
        let mut indices = Vec::with_capacity(late.inductors.len());
        for word in late.inductors {
            let name = self.resolver.component(late.scope, &word.text);
            let index = self.component(&name, word.at)?;
            let is_inductor =
                matches!(self.circuit.components[index].device, Device::Inductor { .. });
            if !is_inductor || indices.contains(&index) {
                let problem = Problem::Expected {
                    expected: "inductors, each once".to_owned(),
                    found: format!("`{}`", word.text),
                };
                return Err(self.fail(word.at, problem));
            }
            indices.push(index);
        }
        if indices.len() > 1000 {
            let problem = Problem::TooMany { what: "inductors in a coupling", limit: 1000 };
            return Err(self.fail(late.at, problem));
        }
        let place = Some(self.parsed.lines.place(late.at));
        for (first, &a) in indices.iter().enumerate() {
            for &b in &indices[first + 1..] {
                let name = match indices.len() {
                    2 => late.name.clone(),
                    _ => {
                        let of = |index: usize| &self.circuit.components[index].name;
                        format!("{}({}, {})", late.name, of(a), of(b))
                    }
                };
                self.circuit.couplings.push(Coupling {
                    name,
                    inductors: [a, b],
                    coefficient: late.coefficient,
                    place: place.clone(),
                });
            }
        }
        Ok(())
    }
}
