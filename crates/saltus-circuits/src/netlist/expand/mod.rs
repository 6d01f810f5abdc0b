//! Blocks to a circuit: subcircuits written out, expressions made numbers, names looked up.

mod calls;
mod later;
mod models;
mod passive;
mod sources;
mod transistors;

use std::collections::HashMap;

use crate::netlist::card::{Body, Element};
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::expression::Expr;
use crate::netlist::lines::At;
use crate::netlist::model::Model;
use crate::netlist::read::Parsed;
use crate::netlist::resolve::Resolver;
use crate::{Circuit, Component, Control, Device, Fidelity, Node};
use later::{LateCoupling, Later};
use passive::Side;
use sources::controlled;
use transistors::sized_diode;

/// Components a circuit may have.
const MAX_COMPONENTS: usize = 1_000_000;
/// Calls of subcircuits that a circuit may have.
const MAX_SCOPES: usize = 250_000;
/// How deep subcircuits may call one another.
const MAX_CALLS: usize = 100;

/// What an expansion takes from outside of the blocks.
pub(crate) struct Context<'d> {
    /// Values put in place of those of components, by names in lower case.
    pub(crate) values: &'d HashMap<String, f64>,
    /// Values put in place of parameters of the netlist.
    pub(crate) parameters: &'d HashMap<String, f64>,
    /// How devices are taken whose models do not say it.
    pub(crate) device: Option<Fidelity>,
    /// Step and end of `.tran`.
    pub(crate) tran: Option<[f64; 2]>,
    /// Celsius.
    pub(crate) temperature: f64,
}

/// Writes a circuit out.
pub(crate) fn expand<'d>(
    parsed: &'d Parsed,
    context: &Context<'d>,
) -> Result<Circuit, NetlistError> {
    let mut resolver = Resolver::new(&parsed.lines, &parsed.blocks, &parsed.globals);
    resolver.temperature = context.temperature;
    let mut circuit = Circuit::new(parsed.title.clone());
    circuit.components.reserve(parsed.blocks[0].elements.len());
    let mut expansion = Expansion {
        parsed,
        context,
        resolver,
        circuit,
        nodes: HashMap::from([("0".to_owned(), Node::GROUND)]),
        names: HashMap::new(),
        models: HashMap::new(),
        calls: Vec::new(),
        later: Later::default(),
    };
    let scope = expansion.resolver.add_scope(0, None, String::new(), &[], context.parameters)?;
    expansion.block(0, scope)?;
    expansion.finish()?;
    Ok(expansion.circuit)
}

struct Expansion<'d, 'c> {
    parsed: &'d Parsed,
    context: &'c Context<'d>,
    resolver: Resolver<'d>,
    circuit: Circuit,
    nodes: HashMap<String, Node>,
    names: HashMap<String, usize>,
    /// Models by their card's place and the scope they are evaluated in.
    models: HashMap<(u32, u32, usize), Model>,
    calls: Vec<usize>,
    later: Later<'d>,
}

type Done = Result<(), NetlistError>;

impl<'d> Expansion<'d, '_> {
    fn fail(&self, at: At, problem: Problem) -> NetlistError {
        NetlistError::new(self.parsed.lines.place(at), problem)
    }

    /// All elements of a block, in a scope of it.
    fn block(&mut self, block: usize, scope: usize) -> Done {
        let parsed = self.parsed;
        for element in &parsed.blocks[block].elements {
            self.element(element, scope)?;
        }
        for (node, value) in &parsed.blocks[block].initial {
            let value = self.resolver.number(value, scope)?;
            let name = self.resolver.node(scope, &node.text);
            self.later.initial.push((name, value, node.at));
        }
        for (inductor, value) in &parsed.blocks[block].initial_currents {
            let value = self.resolver.number(value, scope)?;
            let name = self.resolver.component(scope, &inductor.text);
            self.later.initial_currents.push((name, value, inductor.at));
        }
        Ok(())
    }

    /// The node of a name in a scope.
    fn node(&mut self, scope: usize, name: &str) -> Node {
        let name = self.resolver.node(scope, name);
        self.flat_node(name)
    }

    /// The node of a name in the whole circuit.
    fn flat_node(&mut self, name: String) -> Node {
        let nodes = &mut self.circuit.nodes;
        *self.nodes.entry(name.to_lowercase()).or_insert_with(|| {
            nodes.push(name);
            Node(nodes.len() - 1)
        })
    }

    /// Adds a component under its name in the whole circuit.
    fn add(&mut self, name: String, device: Device, at: At) -> Result<usize, NetlistError> {
        let index = self.circuit.components.len();
        if index == MAX_COMPONENTS {
            let problem = Problem::TooMany { what: "components", limit: MAX_COMPONENTS };
            return Err(self.fail(at, problem));
        }
        let place = self.parsed.lines.place(at);
        if let Some(&known) = self.names.get(&name.to_lowercase()) {
            let first = self.circuit.components[known].place.clone().unwrap_or(place);
            return Err(self.fail(at, Problem::Twice { kind: "component", name, first }));
        }
        self.names.insert(name.to_lowercase(), index);
        self.circuit.components.push(Component { name, device, place: Some(place) });
        Ok(index)
    }

    /// A value of a component, or the one put in its place.
    fn value(&mut self, name: &str, expr: &'d Expr, scope: usize) -> Result<f64, NetlistError> {
        match self.context.values.get(&name.to_lowercase()) {
            Some(value) => Ok(*value),
            None => self.resolver.number(expr, scope),
        }
    }

    /// A number that may be left out.
    fn optional(
        &mut self,
        expr: &'d Option<Expr>,
        scope: usize,
    ) -> Result<Option<f64>, NetlistError> {
        expr.as_ref().map(|expr| self.resolver.number(expr, scope)).transpose()
    }

    /// How many of a component stand side by side.
    fn times(&mut self, expr: &'d Option<Expr>, scope: usize) -> Result<f64, NetlistError> {
        self.factor("`m`", expr, scope)
    }

    /// How large a junction is.
    fn area(&mut self, expr: &'d Option<Expr>, scope: usize) -> Result<f64, NetlistError> {
        self.factor("the area", expr, scope)
    }

    /// A positive number that is 1 if it is left out.
    fn factor(
        &mut self,
        what: &str,
        expr: &'d Option<Expr>,
        scope: usize,
    ) -> Result<f64, NetlistError> {
        let Some(expr) = expr else { return Ok(1.0) };
        let value = self.resolver.number(expr, scope)?;
        self.in_range(expr.at, what, value, value > 0.0, "more than 0")?;
        Ok(value)
    }

    fn in_range(
        &self,
        at: At,
        what: &str,
        value: f64,
        is_in: bool,
        expected: &'static str,
    ) -> Done {
        match is_in {
            true => Ok(()),
            false => Err(self.fail(at, Problem::Value { what: what.to_owned(), value, expected })),
        }
    }

    fn numbers(&mut self, exprs: &'d [Expr], scope: usize) -> Result<Vec<f64>, NetlistError> {
        exprs.iter().map(|expr| self.resolver.number(expr, scope)).collect()
    }

    fn element(&mut self, element: &'d Element, scope: usize) -> Done {
        let body = element.body.as_ref().map_err(Clone::clone)?;
        let name = self.resolver.component(scope, &element.name.text);
        if let Body::Call { block, given } = body {
            return self.call(name, element, block, given, scope);
        }
        self.component_of(name.clone(), element, body, scope)
            .map_err(|error| error.in_element(&name))
    }

    /// Everything but a call.
    fn component_of(
        &mut self,
        name: String,
        element: &'d Element,
        body: &'d Body,
        scope: usize,
    ) -> Done {
        let at = element.name.at;
        let mut nodes = Vec::with_capacity(element.nodes.len());
        for node in &element.nodes {
            nodes.push(self.node(scope, &node.text));
        }
        let between = match nodes.as_slice() {
            [from, to, ..] => [*from, *to],
            _ => [Node::GROUND; 2], // a coupling has none
        };
        match body {
            Body::Resistor(passive) => self.resistor(name, at, between, passive, scope)?,
            Body::Capacitor(passive) => {
                let initial = self.optional(&passive.initial, scope)?;
                let capacitance = self.passive(&name, at, passive, scope, Side::Adds)?;
                self.add(name, Device::Capacitor { between, capacitance, initial }, at)?;
            }
            Body::Inductor(passive) => {
                let initial = self.optional(&passive.initial, scope)?;
                let inductance = self.passive(&name, at, passive, scope, Side::Divides)?;
                self.add(name, Device::Inductor { between, inductance, initial }, at)?;
            }
            Body::Coupling { inductors, coefficient } => {
                let value = self.value(&name, coefficient, scope)?;
                if !(value > 0.0 && value <= 1.0) {
                    let what = "the coefficient of coupling".to_owned();
                    let expected = "more than 0 and at most 1";
                    return Err(self.fail(coefficient.at, Problem::Value { what, value, expected }));
                }
                self.later.couplings.push(LateCoupling {
                    name,
                    at,
                    scope,
                    inductors,
                    coefficient: value,
                });
            }
            Body::Source { is_voltage, wave } => {
                self.source(name, at, between, *is_voltage, wave, scope)?;
            }
            Body::ByVoltage { is_voltage, control, gain, times } => {
                let gain = self.value(&name, gain, scope)? * self.times(times, scope)?;
                let control = Control::Voltage(
                    [&control[0], &control[1]].map(|node| self.node(scope, &node.text)),
                );
                self.add(name, controlled(*is_voltage, between, control, gain), at)?;
            }
            Body::ByCurrent { is_voltage, control, gain, times } => {
                let gain = self.value(&name, gain, scope)? * self.times(times, scope)?;
                let device = controlled(*is_voltage, between, Control::Current(usize::MAX), gain);
                let component = self.add(name, device, at)?;
                let by = self.resolver.component(scope, &control.text);
                self.later.controls.push((component, by, control.at));
            }
            Body::Behavioral { is_voltage, formula, times } => {
                let times = self.times(times, scope)?;
                self.formula(name, at, between, *is_voltage, formula, times, scope)?;
            }
            Body::Diode { model, area, times } => {
                let area = self.area(area, scope)? * self.times(times, scope)?;
                let card = match self.model(model, scope)? {
                    Model::Diode(diode) => diode,
                    _ => return Err(self.wrong_type(model, scope, "`D`")),
                };
                let device = Device::Diode { between, model: sized_diode(card, area) };
                self.add(name, device, at)?;
            }
            Body::VoltageSwitch { model, closed } => {
                let switch = self.switch(model, scope)?;
                let control = Control::Voltage([nodes[2], nodes[3]]);
                let device = Device::Switch { between, control, model: switch, closed: *closed };
                self.add(name, device, at)?;
            }
            Body::CurrentSwitch { control, model, closed } => {
                let switch = self.switch(model, scope)?;
                let by = self.resolver.component(scope, &control.text);
                let device = Device::Switch {
                    between,
                    control: Control::Current(usize::MAX),
                    model: switch,
                    closed: *closed,
                };
                let component = self.add(name, device, at)?;
                self.later.controls.push((component, by, control.at));
            }
            Body::Mos { model, width, length, times } => {
                let card = match self.model(model, scope)? {
                    Model::Mos(card) => card,
                    _ => return Err(self.wrong_type(model, scope, "`NMOS`, `PMOS` or `VDMOS`")),
                };
                if nodes.len() == 3 && !card.is_power {
                    let problem = Problem::Nodes {
                        kind: "a transistor of the model",
                        name: model.text.clone(),
                        expected: 4,
                        found: 3,
                    };
                    return Err(self.fail(at, problem));
                }
                let width = self.optional(width, scope)?;
                let length = self.optional(length, scope)?;
                let times = self.times(times, scope)?;
                let bulk = nodes.get(3).copied().unwrap_or(nodes[2]);
                let nodes = [nodes[0], nodes[1], nodes[2], bulk];
                self.mos(name, at, nodes, card, [width, length], times)?;
            }
            Body::Bipolar { model, substrate, area, times } => {
                let area = self.area(area, scope)? * self.times(times, scope)?;
                let (card, around) = match self.model(model, scope)? {
                    Model::Bipolar(card, around) => (card, around),
                    _ => return Err(self.wrong_type(model, scope, "`NPN` or `PNP`")),
                };
                let substrate = match substrate {
                    Some(node) if around.substrate > 0.0 => self.node(scope, &node.text),
                    _ => Node::GROUND,
                };
                let nodes = [nodes[0], nodes[1], nodes[2], substrate];
                self.bipolar(name, at, nodes, (card, around), area)?;
            }
            Body::Call { .. } => {}
        }
        Ok(())
    }
}
