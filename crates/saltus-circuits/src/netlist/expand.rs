//! Blocks to a circuit: subcircuits written out, expressions made numbers, names looked up.

use std::collections::HashMap;

use saltus_expr::nearest;

use super::card::{Body, Element, ModelCard, Wave};
use super::cursor::Word;
use super::error::{NetlistError, Problem};
use super::expression::Expr;
use super::lines::At;
use super::model::{self, Model, MosCard};
use super::probe::Probe;
use super::read::Parsed;
use super::resolve::{Level, Resolver, Uses, Value};
use crate::{
    BipolarModel, Circuit, Component, Control, Coupling, Device, DiodeModel, Fidelity, GummelPoon,
    MosModel, Node, Polarity, Source, SwitchModel,
};

/// Components a circuit may have.
const MAX_COMPONENTS: usize = 1_000_000;
/// Calls of subcircuits that a circuit may have.
const MAX_SCOPES: usize = 250_000;
/// How deep subcircuits may call one another.
const MAX_CALLS: usize = 100;

/// Temperature at which values are given, Celsius.
const NOMINAL: f64 = 27.0;

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

/// What can be looked up only once all components are there.
#[derive(Default)]
struct Later<'d> {
    /// Components and the names of those whose current controls them.
    controls: Vec<(usize, String, At)>,
    /// Sources given by an expression.
    formulas: Vec<LateFormula<'d>>,
    couplings: Vec<LateCoupling<'d>>,
    /// Nodes, and their voltages at the beginning.
    initial: Vec<(String, f64, At)>,
    /// Inductors, and their currents at the beginning.
    initial_currents: Vec<(String, f64, At)>,
}

struct LateFormula<'d> {
    component: usize,
    scope: usize,
    between: [Node; 2],
    is_voltage: bool,
    formula: &'d Expr,
    times: f64,
}

struct LateCoupling<'d> {
    name: String,
    at: At,
    scope: usize,
    inductors: &'d [Word],
    coefficient: f64,
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

    fn element(&mut self, element: &'d Element, scope: usize) -> Done {
        let body = element.body.as_ref().map_err(Clone::clone)?;
        let at = element.name.at;
        let name = self.resolver.component(scope, &element.name.text);
        if let Body::Call { block, given } = body {
            return self.call(name, element, block, given, scope);
        }
        let mut nodes = Vec::with_capacity(element.nodes.len());
        for node in &element.nodes {
            nodes.push(self.node(scope, &node.text));
        }
        let between = match nodes.as_slice() {
            [from, to, ..] => [*from, *to],
            _ => [Node::GROUND; 2], // a coupling has none
        };
        match body {
            Body::Resistor { value, times, thermal: [first, second] } => {
                let times = self.times(times, scope)?;
                let warmer = self.context.temperature - NOMINAL;
                let first = self.optional(first, scope)?.unwrap_or(0.0);
                let second = self.optional(second, scope)?.unwrap_or(0.0);
                let grown = 1.0 + warmer * (first + warmer * second);
                let resistance = self.value(&name, value, scope)? * grown / times;
                self.add(name, Device::Resistor { between, resistance }, at)?;
            }
            Body::Capacitor { value, initial, times } => {
                let times = self.times(times, scope)?;
                let capacitance = self.value(&name, value, scope)? * times;
                let initial = self.optional(initial, scope)?;
                self.add(name, Device::Capacitor { between, capacitance, initial }, at)?;
            }
            Body::Inductor { value, initial, times } => {
                let times = self.times(times, scope)?;
                let inductance = self.value(&name, value, scope)? / times;
                let initial = self.optional(initial, scope)?;
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
            Body::Bipolar { model, area, times } => {
                let area = self.area(area, scope)? * self.times(times, scope)?;
                let (card, around) = match self.model(model, scope)? {
                    Model::Bipolar(card, around) => (card, around),
                    _ => return Err(self.wrong_type(model, scope, "`NPN` or `PNP`")),
                };
                let [base, collector, emitter] =
                    around.resistances.map(|resistance| resistance / area);
                let nodes = [
                    self.series(&name, "collector", nodes[0], collector, at)?,
                    self.series(&name, "base", nodes[1], base, at)?,
                    self.series(&name, "emitter", nodes[2], emitter, at)?,
                ];
                let junction = sized_diode(card.junction.clone(), area);
                if around.substrate > 0.0 {
                    let between = [nodes[0], Node::GROUND];
                    let capacitance = around.substrate * area;
                    let device = Device::Capacitor { between, capacitance, initial: None };
                    self.add(format!("{name}.csubstrate"), device, at)?;
                }
                let details = sized_transistor(card.details.clone(), area);
                let model = BipolarModel { junction, details, ..card };
                self.add(name, Device::Bipolar { nodes, model }, at)?;
            }
            Body::Call { .. } => {}
        }
        Ok(())
    }

    /// A resistor between a node and the device behind it, if there is any resistance: the inner node.
    fn series(
        &mut self,
        name: &str,
        part: &str,
        node: Node,
        resistance: f64,
        at: At,
    ) -> Result<Node, NetlistError> {
        if resistance == 0.0 {
            return Ok(node);
        }
        let inner = self.flat_node(format!("{name}.{part}"));
        let device = Device::Resistor { between: [node, inner], resistance };
        self.add(format!("{name}.r{part}"), device, at)?;
        Ok(inner)
    }

    /// The model of a name, seen from a scope.
    fn model(&mut self, name: &Word, scope: usize) -> Result<Model, NetlistError> {
        match self.find_model(&name.text, scope) {
            Some((card, within)) => self.built(card, within),
            None => {
                let mut known = Vec::new();
                let mut block = Some(self.resolver.scopes[scope].block);
                while let Some(index) = block {
                    let models = &self.parsed.blocks[index].models;
                    known.extend(models.iter().map(|card| card.name.text.as_str()));
                    block = self.parsed.blocks[index].parent;
                }
                let problem = Problem::Unknown {
                    kind: "model",
                    name: name.text.clone(),
                    nearest: nearest(&name.text, known).map(str::to_owned),
                };
                Err(self.fail(name.at, problem))
            }
        }
    }

    /// A model card, and the scope its expressions belong to.
    fn find_model(&self, name: &str, scope: usize) -> Option<(&'d ModelCard, usize)> {
        let block = self.resolver.scopes[scope].block;
        let (owner, card) = model::find(&self.parsed.blocks, block, name)?;
        Some((card, self.resolver.scope_of(scope, owner)))
    }

    fn built(&mut self, card: &'d ModelCard, scope: usize) -> Result<Model, NetlistError> {
        let key = (card.name.at.line, card.name.at.offset, scope);
        if let Some(model) = self.models.get(&key) {
            return Ok(model.clone());
        }
        let model = model::build(card, &mut self.resolver, scope, self.context.device)?;
        self.models.insert(key, model.clone());
        Ok(model)
    }

    fn switch(&mut self, name: &Word, scope: usize) -> Result<SwitchModel, NetlistError> {
        match self.model(name, scope)? {
            Model::Switch(switch) => Ok(switch),
            _ => Err(self.wrong_type(name, scope, "`SW` or `CSW`")),
        }
    }

    fn wrong_type(&self, name: &Word, scope: usize, expected: &'static str) -> NetlistError {
        let found = self.find_model(&name.text, scope);
        let found = found.map_or(String::new(), |(card, _)| card.kind.text.clone());
        self.fail(name.at, Problem::ModelType { name: name.text.clone(), found, expected })
    }

    /// A transistor, or a switch and its body diode where it is taken as ideal.
    fn mos(
        &mut self,
        name: String,
        at: At,
        nodes: [Node; 4],
        card: MosCard,
        size: [Option<f64>; 2],
        times: f64,
    ) -> Done {
        let width = size[0].or(card.width).unwrap_or(1e-4);
        let length = size[1].or(card.length).unwrap_or(1e-4) - 2.0 * card.overlap;
        for (what, value) in [("the width", width), ("the length", length)] {
            if !(value > 0.0 && value.is_finite()) {
                let what = format!("{what} of `{name}`");
                return Err(self.fail(at, Problem::Value { what, value, expected: "more than 0" }));
            }
        }
        let [drain, gate, source, bulk] = nodes;
        let [at_drain, at_gate, at_source] = card.resistances.map(|resistance| resistance / times);
        let inner_drain = self.series(&name, "drain", drain, at_drain, at)?;
        let inner_gate = self.series(&name, "gate", gate, at_gate, at)?;
        let inner_source = self.series(&name, "source", source, at_source, at)?;
        let bulk = if bulk == source { inner_source } else { bulk };

        // with the bulk at the source only the diode to the drain is left
        let [to_drain, to_source] = card.junctions;
        let has_one = bulk == inner_source;
        let capacitance = if has_one || to_drain == to_source { to_drain } else { 0.0 };
        let body =
            card.model.body.map(|body| DiodeModel { capacitance, ..sized_diode(body, times) });

        let (strength, [gate_source, gate_drain, gate_bulk]) = match card.is_power {
            true => (1.0, card.model.capacitances),
            false => {
                let [source, drain, bulk] = card.model.capacitances;
                (width / length, [source * width, drain * width, bulk * length])
            }
        };
        let capacitances = [gate_source, gate_drain, gate_bulk].map(|value| value * times);
        if card.model.fidelity == Fidelity::Ideal {
            let (control, threshold) = match card.model.polarity {
                Polarity::N => ([inner_gate, inner_source], card.model.threshold),
                Polarity::P => ([inner_source, inner_gate], -card.model.threshold),
            };
            let switch = SwitchModel {
                threshold,
                hysteresis: 0.0,
                on_resistance: card.on_resistance / times,
                off_resistance: f64::INFINITY,
            };
            let device = Device::Switch {
                between: [inner_drain, inner_source],
                control: Control::Voltage(control),
                model: switch,
                closed: None,
            };
            self.add(name.clone(), device, at)?;
            if let Some(model) = body {
                let ends = [(inner_drain, "body"), (inner_source, "bodysource")];
                for (end, part) in ends.into_iter().filter(|(end, _)| *end != bulk) {
                    let between = match card.model.polarity {
                        Polarity::N => [bulk, end],
                        Polarity::P => [end, bulk],
                    };
                    let device = Device::Diode { between, model: model.clone() };
                    self.add(format!("{name}.{part}"), device, at)?;
                }
            }
            let pairs = [[inner_gate, inner_source], [inner_gate, inner_drain], [inner_gate, bulk]];
            for ((between, capacitance), part) in
                pairs.into_iter().zip(capacitances).zip(["cgs", "cgd", "cgb"])
            {
                if capacitance != 0.0 {
                    let device = Device::Capacitor { between, capacitance, initial: None };
                    self.add(format!("{name}.{part}"), device, at)?;
                }
            }
            return Ok(());
        }
        let model = MosModel {
            strength: card.model.strength * strength * times,
            body,
            capacitances,
            ..card.model
        };
        let nodes = [inner_drain, inner_gate, inner_source, bulk];
        self.add(name, Device::Mos { nodes, model }, at)?;
        Ok(())
    }

    fn source(
        &mut self,
        name: String,
        at: At,
        between: [Node; 2],
        is_voltage: bool,
        wave: &'d Wave,
        scope: usize,
    ) -> Done {
        let source = match wave {
            Wave::Dc(value) => {
                if let Some(&value) = self.context.values.get(&name.to_lowercase()) {
                    Source::Dc(value)
                } else if let Some(value) = value.literal() {
                    Source::Dc(value)
                } else {
                    return self.formula(name, at, between, is_voltage, value, 1.0, scope);
                }
            }
            Wave::Pulse(values) => {
                let values = self.numbers(values, scope)?;
                let get = |index: usize, default| values.get(index).copied().unwrap_or(default);
                let period = get(6, f64::INFINITY);
                let count = get(7, 0.0);
                let step = self.context.tran.map_or(0.0, |[step, _]| step);
                self.in_range(at, "the period of `pulse`", period, period > 0.0, "more than 0")?;
                for (what, index) in [("the rise", 3), ("the fall", 4), ("the width", 5)] {
                    let value = get(index, 0.0);
                    self.in_range(
                        at,
                        &format!("{what} of `pulse`"),
                        value,
                        value >= 0.0,
                        "at least 0",
                    )?;
                }
                let is_count = count >= 0.0 && count.fract() == 0.0;
                self.in_range(at, "the number of pulses", count, is_count, "a whole number")?;
                Source::Pulse {
                    low: values[0],
                    high: values[1],
                    delay: get(2, 0.0),
                    rise: get(3, step),
                    fall: get(4, step),
                    width: get(5, f64::INFINITY),
                    period,
                    count: (count > 0.0).then_some(count as u64),
                }
            }
            Wave::Sin(values) => {
                let values = self.numbers(values, scope)?;
                let get = |index: usize| values.get(index).copied().unwrap_or(0.0);
                let frequency = match (values.get(2), self.context.tran) {
                    (Some(frequency), _) => *frequency,
                    (None, Some([_, stop])) => 1.0 / stop,
                    (None, None) => {
                        let problem = Problem::NeedsTran { what: "the frequency of `sin`" };
                        return Err(self.fail(at, problem));
                    }
                };
                Source::Sin {
                    offset: values[0],
                    amplitude: values[1],
                    frequency,
                    delay: get(3),
                    damping: get(4),
                    phase: get(5).to_radians(),
                }
            }
            Wave::Exp(values) => {
                let values = self.numbers(values, scope)?;
                let get = |index: usize, default: Option<f64>| {
                    values
                        .get(index)
                        .copied()
                        .or(default)
                        .ok_or(Problem::NeedsTran { what: "a time of `exp`" })
                };
                let step = self.context.tran.map(|[step, _]| step);
                let rise_delay = get(2, Some(0.0)).map_err(|problem| self.fail(at, problem))?;
                let rise_time = get(3, step).map_err(|problem| self.fail(at, problem))?;
                let fall_delay = get(4, step.map(|step| rise_delay + step))
                    .map_err(|problem| self.fail(at, problem))?;
                let fall_time = get(5, step).map_err(|problem| self.fail(at, problem))?;
                for time in [rise_time, fall_time] {
                    self.in_range(at, "a time constant of `exp`", time, time > 0.0, "more than 0")?;
                }
                Source::Exp {
                    first: values[0],
                    second: values[1],
                    rise_delay,
                    rise_time,
                    fall_delay,
                    fall_time,
                }
            }
            Wave::PiecewiseLinear { points, repeat, delay } => {
                let values = self.numbers(points, scope)?;
                let points: Vec<(f64, f64)> =
                    values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                for (pair, exprs) in
                    points.windows(2).zip(wave_points(wave).chunks_exact(2).skip(1))
                {
                    let at = exprs[0].at;
                    let expected = "at least the time before it";
                    self.in_range(
                        at,
                        "a time of `pwl`",
                        pair[1].0,
                        pair[1].0 >= pair[0].0,
                        expected,
                    )?;
                }
                let repeat = self.optional(repeat, scope)?.filter(|&repeat| repeat != -1.0);
                let end = points.last().map_or(0.0, |point| point.0);
                if let Some(repeat) = repeat {
                    let is_time = (0.0..end).contains(&repeat);
                    self.in_range(
                        at,
                        "`r` of `pwl`",
                        repeat,
                        is_time,
                        "a time before the last point",
                    )?;
                }
                let delay = self.optional(delay, scope)?.unwrap_or(0.0);
                Source::PiecewiseLinear { points, repeat, delay }
            }
        };
        self.add(name, independent(is_voltage, between, source), at)?;
        Ok(())
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

    /// A source given by an expression; what it is shows once all components are there.
    #[expect(clippy::too_many_arguments)]
    fn formula(
        &mut self,
        name: String,
        at: At,
        between: [Node; 2],
        is_voltage: bool,
        formula: &'d Expr,
        times: f64,
        scope: usize,
    ) -> Done {
        let device = independent(is_voltage, between, Source::Dc(0.0));
        let component = self.add(name, device, at)?;
        let late = LateFormula { component, scope, between, is_voltage, formula, times };
        self.later.formulas.push(late);
        Ok(())
    }

    fn call(
        &mut self,
        name: String,
        element: &'d Element,
        block: &'d Word,
        given: &'d [(Word, Expr)],
        scope: usize,
    ) -> Done {
        let Some(index) = self.find_block(&block.text, scope) else {
            return self.device(name, element, block, given, scope);
        };
        let of = &self.parsed.blocks[index];
        if element.nodes.len() != of.ports.len() {
            let problem = Problem::Nodes {
                kind: "subcircuit",
                name: block.text.clone(),
                expected: of.ports.len(),
                found: element.nodes.len(),
            };
            return Err(self.fail(element.name.at, problem));
        }
        if let Some(from) = self.calls.iter().position(|&known| known == index) {
            let names = self.calls[from..].iter().chain([&index]);
            let chain = names.map(|&index| self.parsed.blocks[index].name.text.clone()).collect();
            let problem = Problem::Cycle { kind: "subcircuit", name: block.text.clone(), chain };
            return Err(self.fail(block.at, problem));
        }
        if self.calls.len() == MAX_CALLS {
            return Err(self.fail(block.at, Problem::TooDeep { limit: MAX_CALLS }));
        }
        if self.resolver.scopes.len() > MAX_SCOPES {
            let problem = Problem::TooMany { what: "calls of subcircuits", limit: MAX_SCOPES };
            return Err(self.fail(block.at, problem));
        }
        let known = || of.defaults.iter().chain(&of.parameters).map(|(name, _)| &name.text);
        let is_known = |key: &Word| known().any(|name| key.is(name));
        if let Some((key, _)) = given.iter().find(|(key, _)| !is_known(key)) {
            let problem = Problem::Unknown {
                kind: "parameter of the subcircuit",
                name: key.text.clone(),
                nearest: nearest(&key.text, known().map(String::as_str)).map(str::to_owned),
            };
            return Err(self.fail(key.at, problem));
        }
        let prefix = format!("{name}.");
        let inner = self.resolver.add_scope(index, Some(scope), prefix, given, &HashMap::new())?;
        for (port, node) in of.ports.iter().zip(&element.nodes) {
            let connected = self.node(scope, &node.text);
            let connected = self.circuit.nodes[connected.0].clone();
            self.resolver.scopes[inner].ports.insert(port.key(), connected);
        }
        self.calls.push(index);
        self.block(index, inner)?;
        self.calls.pop();
        Ok(())
    }

    /// The block of a name, seen from a scope.
    fn find_block(&self, name: &str, scope: usize) -> Option<usize> {
        let key = name.to_lowercase();
        let mut block = Some(self.resolver.scopes[scope].block);
        while let Some(index) = block {
            let blocks = &self.parsed.blocks[index].blocks;
            if let Some((_, found)) = blocks.iter().find(|(known, _)| *known == key) {
                return Some(*found);
            }
            block = self.parsed.blocks[index].parent;
        }
        None
    }

    /// An amplifier, comparator or transformer, called like a subcircuit.
    fn device(
        &mut self,
        name: String,
        element: &'d Element,
        block: &Word,
        given: &[(Word, Expr)],
        scope: usize,
    ) -> Done {
        let Some((card, within)) = self.find_model(&block.text, scope) else {
            let blocks = self.parsed.blocks[1..].iter().map(|block| block.name.text.as_str());
            let problem = Problem::Unknown {
                kind: "subcircuit",
                name: block.text.clone(),
                nearest: nearest(&block.text, blocks).map(str::to_owned),
            };
            return Err(self.fail(block.at, problem));
        };
        let model = self.built(card, within)?;
        if let Some((key, _)) = given.first() {
            let problem = Problem::Unknown {
                kind: "parameter of the subcircuit",
                name: key.text.clone(),
                nearest: None,
            };
            return Err(self.fail(key.at, problem));
        }
        let mut nodes = Vec::with_capacity(element.nodes.len());
        for node in &element.nodes {
            nodes.push(self.node(scope, &node.text));
        }
        let (expected, device) = match (model, nodes.as_slice()) {
            (Model::OpAmp(model), &[plus, minus, output]) => {
                (3, Some(Device::OpAmp { nodes: [plus, minus, output], model }))
            }
            (Model::OpAmp(_), _) => (3, None),
            (Model::Transformer(ratio), &[a, b, c, d]) => {
                (4, Some(Device::Transformer { primary: [a, b], secondary: [c, d], ratio }))
            }
            (Model::Transformer(_), _) => (4, None),
            _ => {
                let expected = "`opamp`, `comparator` or `transformer`, or a subcircuit";
                return Err(self.wrong_type(block, scope, expected));
            }
        };
        match device {
            Some(device) => {
                self.add(name, device, element.name.at)?;
                Ok(())
            }
            None => {
                let problem = Problem::Nodes {
                    kind: "model",
                    name: block.text.clone(),
                    expected,
                    found: nodes.len(),
                };
                Err(self.fail(element.name.at, problem))
            }
        }
    }

    /// The component of a name in the whole circuit.
    fn component(&self, name: &str, at: At) -> Result<usize, NetlistError> {
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
    fn known_node(&self, name: &str, at: At) -> Result<Node, NetlistError> {
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
    fn finish(&mut self) -> Done {
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
            let device = self.late_formula(late)?;
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
        for (name, value, at) in &later.initial_currents {
            let index = self.component(name, *at)?;
            match &mut self.circuit.components[index].device {
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

    /// A formula is a constant, a multiple of one quantity, or neither.
    fn late_formula(&mut self, late: &LateFormula<'d>) -> Result<Device, NetlistError> {
        let LateFormula { between, is_voltage, times, .. } = *late;
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

    fn check_probe(&self, probe: &Probe, at: At) -> Done {
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
    fn late_coupling(&mut self, late: &LateCoupling<'d>) -> Done {
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

fn wave_points(wave: &Wave) -> &[Expr] {
    match wave {
        Wave::PiecewiseLinear { points, .. } => points,
        _ => &[],
    }
}

fn independent(is_voltage: bool, between: [Node; 2], source: Source) -> Device {
    match is_voltage {
        true => Device::VoltageSource { between, source },
        false => Device::CurrentSource { between, source },
    }
}

fn controlled(is_voltage: bool, between: [Node; 2], control: Control, gain: f64) -> Device {
    match is_voltage {
        true => Device::ControlledVoltage { between, control, gain },
        false => Device::ControlledCurrent { between, control, gain },
    }
}

/// A diode of a larger area: as many beside one another.
fn sized_diode(diode: DiodeModel, area: f64) -> DiodeModel {
    DiodeModel {
        on_resistance: diode.on_resistance / area,
        saturation_current: diode.saturation_current * area,
        breakdown_current: diode.breakdown_current * area,
        series_resistance: diode.series_resistance / area,
        capacitance: diode.capacitance * area,
        ..diode
    }
}

/// The same for what Gummel and Poon add.
fn sized_transistor(details: GummelPoon, area: f64) -> GummelPoon {
    GummelPoon {
        knee: details.knee.map(|current| current * area),
        leakage: details.leakage.map(|[saturation, emission]| [saturation * area, emission]),
        capacitances: details.capacitances.map(|capacitance| capacitance * area),
        ..details
    }
}
