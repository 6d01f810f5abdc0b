//! A netlist: read once, its values changed as often as one likes, its circuit written out.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use saltus_expr::nearest;
use thiserror::Error;

use crate::analysis::{Analysis, Options, Tran};
use crate::measure::{Crossing, Fourier, Instant, Measure, Quantity, Signal};
use crate::netlist::expand::{Context, expand};
use crate::netlist::lines::Lines;
use crate::netlist::read::{Parsed, read};
use crate::netlist::resolve::{Level, Resolver, Uses};
use crate::netlist::{Body, EventCard, Expr, MeasureBody, Moment, Requests, Wave, Window, model};
use crate::{Circuit, Fidelity, Method, NetlistError, Place, Problem, Warning};

/// Bytes a file may have.
const MAX_BYTES: u64 = 64 << 20;

/// A netlist, its parameters kept as expressions.
///
/// ```
/// use saltus_circuits::{Deck, Device};
///
/// let mut deck = Deck::parse("divider\nV1 in 0 12\nR1 in out {r}\nR2 out 0 1k\n.param r=2k\n.tran 1u 1m", "divider.cir")?;
/// deck.set("r", 500.0)?;
/// deck.set("R2", 1500.0)?;
/// let circuit = deck.circuit()?;
/// let resistance = |name| match circuit.components[circuit.find(name).unwrap()].device {
///     Device::Resistor { resistance, .. } => resistance,
///     _ => f64::NAN,
/// };
/// assert_eq!((resistance("R1"), resistance("R2")), (500.0, 1500.0));
/// assert_eq!(deck.analysis()?.tran.unwrap().stop, 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Deck {
    parsed: Parsed,
    values: HashMap<String, f64>,
    parameters: HashMap<String, f64>,
}

/// A name that [`Deck::set`] cannot change.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SetError {
    /// Nothing has that name.
    #[error("no parameter or component `{name}`{}", .nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{name}`?")))]
    Unknown {
        /// The name.
        name: String,
        /// The known one that was probably meant.
        nearest: Option<String>,
    },
    /// A component without a single value.
    #[error(
        "`{name}` has no single value: expected a resistor, capacitor, inductor, coupling, constant source or linear controlled source"
    )]
    NoValue {
        /// The component.
        name: String,
    },
    /// A value that is no number.
    #[error("the value of `{name}` is {value}, expected a finite number")]
    NotFinite {
        /// The component or parameter.
        name: String,
        /// The value.
        value: f64,
    },
}

impl Deck {
    /// Reads a netlist from a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Deck, NetlistError> {
        let path = path.as_ref();
        let name = path.to_string_lossy().into_owned();
        let text = text_of(path).map_err(|reason| {
            let place = Place { file: name.clone(), line: 1, column: 1 };
            NetlistError::new(place, Problem::File { file: name.clone(), reason })
        })?;
        Deck::parse(&text, &name)
    }

    /// Reads a netlist from a text. Its first line is the title. Files it includes are looked for beside `name`.
    pub fn parse(text: &str, name: &str) -> Result<Deck, NetlistError> {
        Deck::parse_with(text, name, text_of)
    }

    /// The same, with the files it includes given by a function.
    pub fn parse_with(
        text: &str,
        name: &str,
        mut files: impl FnMut(&Path) -> Result<String, String>,
    ) -> Result<Deck, NetlistError> {
        let lines = Lines::read(text, name, &mut files)?;
        let mut parsed = read(lines)?;
        check_models(&mut parsed)?;
        parsed.warnings.sort_by_key(|warning| (warning.place.file != name, warning.place.line));
        Ok(Deck { parsed, values: HashMap::new(), parameters: HashMap::new() })
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.parsed.title
    }

    /// What was read and has no effect.
    pub fn warnings(&self) -> &[Warning] {
        &self.parsed.warnings
    }

    /// Puts a value in place of that of a parameter of the netlist (`.param`), or of a component: `R1`, `X1.R2`.
    /// A parameter is preferred if both have the name. Case does not count.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), SetError> {
        let key = name.to_lowercase();
        if !value.is_finite() {
            return Err(SetError::NotFinite { name: name.to_owned(), value });
        }
        let root = &self.parsed.blocks[0];
        if root.parameters.iter().any(|(known, _)| known.is(name)) {
            self.parameters.insert(key, value);
            return Ok(());
        }
        match self.body(name) {
            Some(Ok(
                Body::Resistor(_)
                | Body::Capacitor(_)
                | Body::Inductor(_)
                | Body::Coupling { .. }
                | Body::ByVoltage { .. }
                | Body::ByCurrent { .. }
                | Body::Source { wave: Wave::Dc(_), .. },
            )) => {
                self.values.insert(key, value);
                Ok(())
            }
            Some(_) => Err(SetError::NoValue { name: name.to_owned() }),
            None => {
                let known = (root.parameters.iter().map(|(name, _)| name.text.as_str()))
                    .chain(root.elements.iter().map(|element| element.name.text.as_str()));
                let near = nearest(name, known).map(str::to_owned);
                Err(SetError::Unknown { name: name.to_owned(), nearest: near })
            }
        }
    }

    /// The element of a name such as `X1.X2.R3`.
    fn body(&self, name: &str) -> Option<&Result<Body, NetlistError>> {
        let mut block = 0;
        let mut rest = name;
        loop {
            let elements = &self.parsed.blocks[block].elements;
            if let Some(element) = elements.iter().find(|element| element.name.is(rest)) {
                return Some(&element.body);
            }
            // names may have points in them, so the longest call that fits is entered
            let is_call = |name: &str| {
                let found = elements.iter().find(|element| element.name.is(name))?;
                match &found.body {
                    Ok(Body::Call { block: callee, .. }) => {
                        find_block(&self.parsed, block, &callee.key())
                    }
                    _ => None,
                }
            };
            let points = rest.match_indices('.').map(|(at, _)| at);
            let (at, inner) =
                points.filter_map(|at| Some((at, is_call(&rest[..at])?))).next_back()?;
            rest = &rest[at + 1..];
            block = inner;
        }
    }

    /// The circuit, with the values now set.
    pub fn circuit(&self) -> Result<Circuit, NetlistError> {
        let options = self.options()?;
        let tran = self.tran()?;
        let context = Context {
            values: &self.values,
            parameters: &self.parameters,
            device: options.device,
            tran: tran.map(|tran| [tran.step, tran.stop]),
            temperature: options.temp,
        };
        expand(&self.parsed, &context)
    }

    /// What the netlist asks for beside its circuit.
    pub fn analysis(&self) -> Result<Analysis, NetlistError> {
        let mut resolver = self.resolver()?;
        let options = self.options()?;
        resolver.temperature = options.temp;
        let requests = &self.parsed.requests;
        let mut analysis = Analysis {
            tran: self.tran()?,
            options,
            all_outputs: requests.all_outputs,
            ..Analysis::default()
        };
        let mut known = HashSet::new();
        for output in &requests.outputs {
            let signal = signal(&mut resolver, output, Uses::Signals)?;
            if known.insert(signal.text.clone()) {
                analysis.outputs.push(signal);
            }
        }
        for card in &requests.measures {
            let quantity = quantity(&mut resolver, &card.body)?;
            analysis.measures.push(Measure {
                name: card.name.text.clone(),
                quantity,
                place: Some(self.parsed.lines.place(card.name.at)),
            });
        }
        for (frequency, signals) in &requests.fourier {
            let value = resolver.number(frequency, 0)?;
            if !(value > 0.0) {
                let what = "the frequency of `.four`".to_owned();
                let problem = Problem::Value { what, value, expected: "more than 0" };
                let place = self.parsed.lines.place(frequency.at);
                return Err(NetlistError::new(place, problem));
            }
            let signals = signals
                .iter()
                .map(|expr| signal(&mut resolver, expr, Uses::Signals))
                .collect::<Result<_, _>>()?;
            analysis.fourier.push(Fourier { frequency: value, signals });
        }
        Ok(analysis)
    }

    /// The parameters of the netlist alone.
    fn resolver(&self) -> Result<Resolver<'_>, NetlistError> {
        let parsed = &self.parsed;
        let mut resolver = Resolver::new(&parsed.lines, &parsed.blocks, &parsed.globals);
        resolver.add_scope(0, None, String::new(), &[], &self.parameters)?;
        Ok(resolver)
    }

    fn tran(&self) -> Result<Option<Tran>, NetlistError> {
        let Some(card) = &self.parsed.requests.tran else { return Ok(None) };
        let mut resolver = self.resolver()?;
        let mut values = Vec::with_capacity(card.values.len());
        for (index, expr) in card.values.iter().enumerate() {
            let value = resolver.number(expr, 0)?;
            let what = ["the step", "the end", "the start", "the largest step"][index];
            let expected = match index {
                2 if !(value >= 0.0) => "at least 0",
                2 if !(value < values[1]) => "less than the end",
                0 | 1 | 3 if !(value > 0.0) => "more than 0",
                _ => {
                    values.push(value);
                    continue;
                }
            };
            let problem = Problem::Value { what: format!("{what} of `.tran`"), value, expected };
            return Err(NetlistError::new(self.parsed.lines.place(expr.at), problem));
        }
        Ok(Some(Tran {
            step: values[0],
            stop: values[1],
            start: values.get(2).copied().unwrap_or(0.0),
            max_step: values.get(3).copied(),
            uic: card.uic,
            place: self.parsed.lines.place(card.at.at),
        }))
    }

    fn options(&self) -> Result<Options, NetlistError> {
        let mut resolver = self.resolver()?;
        let requests = &self.parsed.requests;
        let mut options = Options::default();
        for (key, value) in &requests.options {
            let Some(value) = value else { continue };
            let key = key.key();
            if key == "method" {
                options.method = value.word.clone();
                continue;
            }
            let number = resolver.number(&value.expr, 0)?;
            match key.as_str() {
                "reltol" => options.reltol = Some(number),
                "vntol" => options.vntol = Some(number),
                _ => options.temp = number,
            }
        }
        if let Some(temperature) = &requests.temperature {
            options.temp = resolver.number(temperature, 0)?;
        }
        options.device = overall_fidelity(requests);
        options.follow = own_words(requests, "method").find_map(Method::from_name);
        Ok(options)
    }
}

/// A signal as text and formula.
fn signal<'d>(
    resolver: &mut Resolver<'d>,
    expr: &'d Expr,
    uses: Uses,
) -> Result<Signal, NetlistError> {
    let text = resolver.formula(expr, 0, uses)?.text(Level::Or);
    Signal::parse(&text).map_err(|reason| {
        NetlistError::new(resolver.lines.place(expr.at), Problem::Formula { reason })
    })
}

fn quantity<'d>(
    resolver: &mut Resolver<'d>,
    body: &'d MeasureBody,
) -> Result<Quantity, NetlistError> {
    Ok(match body {
        MeasureBody::Statistic { kind, signal: of, window } => {
            let [from, to] = bounds(resolver, window)?;
            let signal = signal(resolver, of, Uses::Signals)?;
            Quantity::Statistic { statistic: *kind, signal, from, to }
        }
        MeasureBody::When { event, window } => {
            Quantity::Time(Instant::When(crossing(resolver, event, Some(window))?))
        }
        MeasureBody::Find { signal: of, event, window } => Quantity::Value {
            signal: signal(resolver, of, Uses::Signals)?,
            at: Instant::When(crossing(resolver, event, Some(window))?),
        },
        MeasureBody::FindAt { signal: of, at } => Quantity::Value {
            signal: signal(resolver, of, Uses::Signals)?,
            at: Instant::At(resolver.number(at, 0)?),
        },
        MeasureBody::DerivativeAt { signal: of, at } => Quantity::Slope {
            signal: signal(resolver, of, Uses::Signals)?,
            at: Instant::At(resolver.number(at, 0)?),
        },
        MeasureBody::DerivativeWhen { signal: of, event, window } => Quantity::Slope {
            signal: signal(resolver, of, Uses::Signals)?,
            at: Instant::When(crossing(resolver, event, Some(window))?),
        },
        MeasureBody::Delay { trigger, target } => Quantity::Delay {
            trigger: instant(resolver, trigger)?,
            target: instant(resolver, target)?,
        },
        MeasureBody::Formula(formula) => {
            Quantity::Formula(signal(resolver, formula, Uses::Measures)?)
        }
    })
}

fn bounds<'d>(resolver: &mut Resolver<'d>, window: &'d Window) -> Result<[f64; 2], NetlistError> {
    let mut bounds = [f64::NEG_INFINITY, f64::INFINITY];
    for (bound, expr) in bounds.iter_mut().zip(window) {
        if let Some(expr) = expr {
            *bound = resolver.number(expr, 0)?;
        }
    }
    Ok(bounds)
}

fn instant<'d>(resolver: &mut Resolver<'d>, moment: &'d Moment) -> Result<Instant, NetlistError> {
    Ok(match moment {
        Moment::At(time) => Instant::At(resolver.number(time, 0)?),
        Moment::Event(event) => Instant::When(crossing(resolver, event, None)?),
    })
}

fn crossing<'d>(
    resolver: &mut Resolver<'d>,
    event: &'d EventCard,
    window: Option<&'d Window>,
) -> Result<Crossing, NetlistError> {
    let [mut from, to] = match window {
        Some(window) => bounds(resolver, window)?,
        None => [f64::NEG_INFINITY, f64::INFINITY],
    };
    if let Some(delay) = &event.delay {
        from = from.max(resolver.number(delay, 0)?);
    }
    let count = match &event.count {
        None => Some(1),
        Some(None) => None,
        Some(Some(expr)) => {
            let value = resolver.number(expr, 0)?;
            if !(value >= 1.0 && value.fract() == 0.0 && value < 1e15) {
                let what = "the number of the edge".to_owned();
                let expected = "a whole number from 1 on, or `last`";
                let problem = Problem::Value { what, value, expected };
                return Err(NetlistError::new(resolver.lines.place(expr.at), problem));
            }
            Some(value as usize)
        }
    };
    Ok(Crossing {
        left: signal(resolver, &event.left, Uses::Signals)?,
        right: signal(resolver, &event.right, Uses::Signals)?,
        edge: event.edge,
        count,
        from,
        to,
    })
}

/// How devices are taken whose models do not say it.
fn overall_fidelity(requests: &Requests) -> Option<Fidelity> {
    own_words(requests, "device").find_map(|word| model::fidelity(Some(word)))
}

/// What `.option saltus` gives to a key, the last first.
fn own_words<'d>(requests: &'d Requests, key: &'static str) -> impl Iterator<Item = &'d str> {
    let own = requests.own_options.iter().rev().filter(move |(known, _)| known.is(key));
    own.filter_map(|(_, value)| value.as_ref()?.word.as_deref())
}

/// Checks the models that elements name, in all blocks that are called.
fn check_models(parsed: &mut Parsed) -> Result<(), NetlistError> {
    let overall = overall_fidelity(&parsed.requests);
    let mut reached = vec![false; parsed.blocks.len()];
    let mut waiting = vec![0];
    let mut checked = HashSet::new();
    let mut warnings = Vec::new();
    while let Some(block) = waiting.pop() {
        if std::mem::replace(&mut reached[block], true) {
            continue;
        }
        for element in &parsed.blocks[block].elements {
            let name = match &element.body {
                Ok(
                    Body::Diode { model, .. }
                    | Body::VoltageSwitch { model, .. }
                    | Body::CurrentSwitch { model, .. }
                    | Body::Mos { model, .. }
                    | Body::Bipolar { model, .. },
                ) => model,
                Ok(Body::Call { block: callee, .. }) => {
                    if let Some(inner) = find_block(parsed, block, &callee.key()) {
                        waiting.push(inner);
                        continue;
                    }
                    callee
                }
                Ok(Body::Resistor(passive) | Body::Capacitor(passive)) => match &passive.model {
                    Some(model) => model,
                    None => continue,
                },
                _ => continue,
            };
            if let Some((owner, card)) = model::find(&parsed.blocks, block, &name.text)
                && checked.insert((owner, card.name.key()))
            {
                model::check(card, &parsed.lines, overall, &mut warnings)
                    .map_err(|error| error.in_element(&element.name.text))?;
            }
        }
    }
    parsed.warnings.extend(warnings);
    Ok(())
}

/// The block of a name in lower case, seen from a block.
fn find_block(parsed: &Parsed, from: usize, name: &str) -> Option<usize> {
    let mut block = Some(from);
    while let Some(index) = block {
        let blocks = &parsed.blocks[index].blocks;
        if let Some((_, found)) = blocks.iter().find(|(known, _)| known == name) {
            return Some(*found);
        }
        block = parsed.blocks[index].parent;
    }
    None
}

/// The text of a file: UTF-8, or else one byte a letter, as older libraries have it.
fn text_of(path: &Path) -> Result<String, String> {
    let reason = |error: std::io::Error| error.to_string();
    let file = std::fs::File::open(path).map_err(reason)?;
    if !file.metadata().map_err(reason)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(reason)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it is larger than {MAX_BYTES} bytes"));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    })
}
