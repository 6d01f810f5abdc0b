//! The parts of a netlist as they are written: blocks, elements, models, with expressions not yet evaluated.

use super::cursor::Word;
use super::error::NetlistError;
use super::expression::Expr;
use crate::measure::{Edge, Statistic};

/// The netlist itself, or a subcircuit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Block {
    pub(crate) name: Word,
    /// The block it is defined in.
    pub(crate) parent: Option<usize>,
    pub(crate) ports: Vec<Word>,
    /// What the last of the ports are connected to where a call leaves them out.
    pub(crate) optional: Vec<Word>,
    /// Parameters with defaults, which a call may change.
    pub(crate) defaults: Vec<(Word, Expr)>,
    /// `.param`
    pub(crate) parameters: Vec<(Word, Expr)>,
    /// `.func`
    pub(crate) functions: Vec<Function>,
    pub(crate) models: Vec<ModelCard>,
    /// Subcircuits defined in it: their names in lower case and their blocks.
    pub(crate) blocks: Vec<(String, usize)>,
    pub(crate) elements: Vec<Element>,
    /// `.ic`: nodes and their voltages.
    pub(crate) initial: Vec<(Word, Expr)>,
    /// `.ic`: inductors and their currents.
    pub(crate) initial_currents: Vec<(Word, Expr)>,
}

/// `.func name(a, b) {body}`, names in lower case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) body: Expr,
}

/// `.model name kind(parameter=value …)`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelCard {
    pub(crate) name: Word,
    pub(crate) kind: Word,
    /// Parameters; those without value are flags, such as `pchan`.
    pub(crate) parameters: Vec<(Word, Option<Parameter>)>,
    /// The model whose parameters count where it has none of its own.
    pub(crate) base: Option<Word>,
    /// That there is no such model, which counts only where it is used.
    pub(crate) error: Option<NetlistError>,
}

/// The value of a parameter of a model: an expression, or the word it is if it is one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) expr: Expr,
    pub(crate) word: Option<String>,
}

/// A line that stands for a component. What is wrong with one counts only where it is used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Element {
    pub(crate) name: Word,
    pub(crate) nodes: Vec<Word>,
    pub(crate) body: Result<Body, NetlistError>,
}

/// What stands behind the nodes of an element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Resistor(Box<Passive>),
    Capacitor(Box<Passive>),
    Inductor(Box<Passive>),
    Coupling {
        inductors: Vec<Word>,
        coefficient: Expr,
    },
    /// `V`, or `I` where it is not a voltage.
    Source {
        is_voltage: bool,
        wave: Wave,
    },
    /// A source controlled by the voltage between two nodes (`E`, `G`).
    ByVoltage {
        is_voltage: bool,
        control: [Word; 2],
        gain: Expr,
        times: Option<Expr>,
    },
    /// A source controlled by the current through a component (`F`, `H`).
    ByCurrent {
        is_voltage: bool,
        control: Word,
        gain: Expr,
        times: Option<Expr>,
    },
    /// A source given by an expression.
    Behavioral {
        is_voltage: bool,
        formula: Expr,
        times: Option<Expr>,
    },
    Diode {
        model: Word,
        area: Option<Expr>,
        times: Option<Expr>,
    },
    /// `S`: the last two of the nodes control it.
    VoltageSwitch {
        model: Word,
        closed: Option<bool>,
    },
    CurrentSwitch {
        control: Word,
        model: Word,
        closed: Option<bool>,
    },
    Mos {
        model: Word,
        width: Option<Expr>,
        length: Option<Expr>,
        times: Option<Expr>,
    },
    Bipolar {
        model: Word,
        substrate: Option<Word>,
        area: Option<Expr>,
        times: Option<Expr>,
    },
    Call {
        block: Word,
        given: Vec<(Word, Expr)>,
    },
}

/// A resistor, capacitor or inductor: its value, or the model and size it follows from.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Passive {
    /// Its value; a name may also be that of a model.
    pub(crate) value: Option<Expr>,
    pub(crate) model: Option<Word>,
    /// Width and length.
    pub(crate) size: [Option<Expr>; 2],
    pub(crate) times: Option<Expr>,
    /// A factor of the value.
    pub(crate) scale: Option<Expr>,
    /// `a`, `b` of the factor `1 + a ΔT + b ΔT²`.
    pub(crate) thermal: [Option<Expr>; 2],
    /// Its own temperature, or how much warmer it is than the circuit.
    pub(crate) temperature: [Option<Expr>; 2],
    /// Voltage or current at the beginning.
    pub(crate) initial: Option<Expr>,
}

/// The value of an independent source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wave {
    Dc(Expr),
    Pulse(Vec<Expr>),
    Sin(Vec<Expr>),
    Exp(Vec<Expr>),
    PiecewiseLinear { points: Vec<Expr>, repeat: Option<Expr>, delay: Option<Expr> },
}

/// What a netlist asks for beside its circuit.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Requests {
    pub(crate) tran: Option<TranCard>,
    /// `.option`: names and values; those without value are flags.
    pub(crate) options: Vec<(Word, Option<Parameter>)>,
    /// `.option saltus …`
    pub(crate) own_options: Vec<(Word, Option<Parameter>)>,
    pub(crate) temperature: Option<Expr>,
    /// `.save`, `.print`, `.plot`, `.probe`
    pub(crate) outputs: Vec<Expr>,
    /// Whether all signals are asked for by name.
    pub(crate) all_outputs: bool,
    pub(crate) measures: Vec<MeasureCard>,
    pub(crate) fourier: Vec<(Expr, Vec<Expr>)>,
}

/// `.tran step stop [start [largest]] [uic]`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TranCard {
    pub(crate) at: Word,
    pub(crate) values: Vec<Expr>,
    pub(crate) uic: bool,
}

/// `.meas tran name …`
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeasureCard {
    pub(crate) name: Word,
    pub(crate) body: MeasureBody,
}

/// What a measure is, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MeasureBody {
    Statistic { kind: Statistic, signal: Expr, window: Window },
    When { event: EventCard, window: Window },
    Find { signal: Expr, event: EventCard, window: Window },
    FindAt { signal: Expr, at: Expr },
    DerivativeAt { signal: Expr, at: Expr },
    DerivativeWhen { signal: Expr, event: EventCard, window: Window },
    Delay { trigger: Moment, target: Moment },
    Formula(Expr),
}

/// From and to.
pub(crate) type Window = [Option<Expr>; 2];

/// A time, or an event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Moment {
    At(Expr),
    Event(EventCard),
}

/// Two signals that meet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventCard {
    pub(crate) left: Expr,
    pub(crate) right: Expr,
    pub(crate) edge: Edge,
    /// Which of them, the first if not given; `None` inside is the last.
    pub(crate) count: Option<Option<Expr>>,
    pub(crate) delay: Option<Expr>,
}
