//! What can be wrong with a netlist, and what is read but not obeyed.

use std::fmt;

use thiserror::Error;

use crate::Place;

/// Characters of a user's text that a message repeats.
const QUOTED: usize = 40;

/// The letters of elements that are supported.
pub(crate) const ELEMENTS: &str = "one of B C D E F G H I K L M Q R S V W X";
/// Functions of time that a source may have.
pub(crate) const WAVES: &str = "`dc`, `pulse`, `pwl`, `sin`, `exp` or a formula of `time`";

/// A netlist that cannot be read, or whose circuit cannot be written out.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}:{}:{}: {problem}", .place.file, .place.line, .place.column)]
pub struct NetlistError {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Box<Problem>,
}

impl NetlistError {
    /// A problem at a place.
    pub fn new(place: Place, problem: Problem) -> Self {
        NetlistError { place, problem: Box::new(problem) }
    }

    /// The same, and what is not supported is said to belong to an element.
    pub(crate) fn in_element(mut self, name: &str) -> Self {
        if let Problem::NotSupported { name: own, element: element @ None, .. } = &mut *self.problem
            && own != name
        {
            *element = Some(name.to_owned());
        }
        self
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Problem {
    /// A file that cannot be read.
    #[error("cannot read `{file}`: {reason}")]
    File {
        /// The file.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// A file that includes itself.
    #[error("`{file}` includes itself: {}", .chain.join(" → "))]
    IncludeCycle {
        /// The file.
        file: String,
        /// The files from it to itself.
        chain: Vec<String>,
    },
    /// A library without the section asked for.
    #[error("`{file}` has no section `{section}` (a line `.lib {section}`, closed by `.endl`)")]
    NoSection {
        /// The library.
        file: String,
        /// The section.
        section: String,
    },
    /// More of something than a netlist may have.
    #[error("too many {what}: expected at most {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// A `+` line with nothing before it.
    #[error("a line that begins with `+` goes on with the line before it, but there is none")]
    NothingToContinue,
    /// Something else should stand there.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What could stand there, in words.
        expected: String,
        /// What does, in words.
        found: String,
    },
    /// A text that begins like a number and is none.
    #[error(
        "`{}` is not a number such as 4.7, 1e-3, 10u or 2.2kohm (digits cannot follow a suffix)",
        clip(.text)
    )]
    NotANumber {
        /// The text.
        text: String,
    },
    /// A brace, quote or parenthesis that is not closed.
    #[error("`{open}` is not closed: expected `{close}` before the end of the line")]
    NotClosed {
        /// What opens it.
        open: char,
        /// What would close it.
        close: char,
    },
    /// An expression that nests too deep.
    #[error("nested too deep: expected at most {limit} levels")]
    TooDeep {
        /// How many levels are allowed.
        limit: usize,
    },
    /// A card that no SPICE has.
    #[error("unknown card `{}`{}", clip(.name), hint(.nearest))]
    UnknownCard {
        /// The card.
        name: String,
        /// The known one that was probably meant.
        nearest: Option<String>,
    },
    /// An element, card or option that SPICE has and this reader has not.
    #[error("`{}`{} is {what}, which is not supported: expected {instead}", clip(.name), of(.element))]
    NotSupported {
        /// Its name.
        name: String,
        /// The element it belongs to, where it is not the element itself.
        element: Option<String>,
        /// What it is.
        what: String,
        /// What is supported in its place, in words.
        instead: &'static str,
    },
    /// A card that stands where it cannot.
    #[error("`{card}` {why}")]
    Misplaced {
        /// The card.
        card: String,
        /// Why.
        why: &'static str,
    },
    /// A block that is not closed.
    #[error("`{open}` is not closed: expected `{close}` before the end of the file")]
    OpenBlock {
        /// The line that opens it.
        open: String,
        /// What would close it.
        close: &'static str,
    },
    /// A name that nothing has.
    #[error("unknown {kind} `{}`{}", clip(.name), hint(.nearest))]
    Unknown {
        /// Of what kind: a parameter, model, subcircuit, node, component, function, measure.
        kind: &'static str,
        /// The name.
        name: String,
        /// The known one that was probably meant.
        nearest: Option<String>,
    },
    /// A name given twice.
    #[error("{kind} `{}` is already there, at {}:{}", clip(.name), .first.file, .first.line)]
    Twice {
        /// Of what kind.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it was given first.
        first: Place,
    },
    /// Parameters, functions or subcircuits that depend on themselves.
    #[error("{kind} `{}` depends on itself: {}", clip(.name), .chain.join(" → "))]
    Cycle {
        /// Of what kind.
        kind: &'static str,
        /// The name.
        name: String,
        /// The names from it to itself.
        chain: Vec<String>,
    },
    /// A function with too few or too many arguments.
    #[error("`{}` takes {expected}, found {found}", clip(.function))]
    Arguments {
        /// The function.
        function: String,
        /// How many it takes, in words.
        expected: String,
        /// How many there are.
        found: usize,
    },
    /// A name that has no value where a number is needed.
    #[error("`{}` is not known here: expected a number, found a quantity that changes with time", clip(.name))]
    NotConstant {
        /// The quantity, such as `v(out)`.
        name: String,
    },
    /// An expression without a finite value.
    #[error("{what} is {value}, expected {expected}")]
    Value {
        /// What it is the value of.
        what: String,
        /// The value.
        value: f64,
        /// What is allowed, in words.
        expected: &'static str,
    },
    /// A formula that is too long, or no formula once its parameters are numbers.
    #[error("in the formula: {reason}")]
    Formula {
        /// What is wrong with it.
        reason: saltus_expr::ExprError,
    },
    /// A subcircuit called with too few or too many nodes.
    #[error("{kind} `{}` has {expected} nodes, found {found}", clip(.name))]
    Nodes {
        /// A subcircuit, or a model.
        kind: &'static str,
        /// Its name.
        name: String,
        /// How many it has.
        expected: usize,
        /// How many the call gives.
        found: usize,
    },
    /// A model of another type than the element needs.
    #[error("model `{}` is of the type `{found}`, expected {expected}", clip(.name))]
    ModelType {
        /// The model.
        name: String,
        /// Its type.
        found: String,
        /// The types that fit, in words.
        expected: &'static str,
    },
    /// A model parameter that no SPICE has.
    #[error("model `{}` of the type `{kind}` has no parameter `{}`{}", clip(.model), clip(.name), hint(.nearest))]
    UnknownModelParameter {
        /// The model.
        model: String,
        /// Its type.
        kind: String,
        /// The parameter.
        name: String,
        /// The known one that was probably meant.
        nearest: Option<String>,
    },
    /// An initial value given twice, and differently.
    #[error("`ic=` of `{}` is {own}, and `.ic` says {other}: expected one of them, or both alike", clip(.name))]
    Conflict {
        /// The component.
        name: String,
        /// What the element says.
        own: f64,
        /// What `.ic` says.
        other: f64,
    },
    /// A value that needs `.tran`, which is not there.
    #[error("{what} is not given, and there is no `.tran` to take it from")]
    NeedsTran {
        /// What is missing.
        what: &'static str,
    },
}

/// Something that is read, and not obeyed or not obeyed to the letter.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What.
    pub caution: Caution,
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, line, column } = &self.place;
        write!(out, "{file}:{line}:{column}: {}", self.caution)
    }
}

/// What a warning is about.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Caution {
    /// An analysis that is not done.
    #[error("`{card}` is not run: only `.tran` is")]
    NotRun {
        /// The card.
        card: String,
    },
    /// A card, command, option or part of an element that has no effect.
    #[error("`{}` has no effect", clip(.what))]
    NoEffect {
        /// What.
        what: String,
    },
    /// Parameters of a model that have no meaning for its device here.
    #[error("model `{}`: {} have no effect", clip(.model), quoted(.parameters))]
    ModelParameters {
        /// The model.
        model: String,
        /// The parameters.
        parameters: Vec<String>,
    },
    /// A first line that looks like a card.
    #[error("the first line is the title and is not read as a card")]
    TitleIsCard,
    /// `1F` is a femtofarad.
    #[error("`{text}` is {value:e} farad: `f` is femto")]
    Femto {
        /// The value as written.
        text: String,
        /// Its value.
        value: f64,
    },
    /// A second subcircuit or model of a name.
    #[error("{kind} `{}` is already there, at {}:{}: that one counts", clip(.name), .first.file, .first.line)]
    Known {
        /// Of what kind.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it was given first.
        first: Place,
    },
    /// An `.ends` with the name of another subcircuit.
    #[error("`.ends {}` closes the subcircuit `{}`, which is the one that is open", clip(.name), clip(.open))]
    OtherEnd {
        /// The name behind `.ends`.
        name: String,
        /// The subcircuit that is open.
        open: String,
    },
    /// A run of a script after its first.
    #[error("`{command}` is not run: of a script the first run counts")]
    RunAgain {
        /// The command.
        command: String,
    },
    /// A second card of a kind of which the last counts.
    #[error("`{card}` is given again: this one counts")]
    Again {
        /// The card.
        card: String,
    },
}

/// A piece of text in words.
pub(crate) fn found(text: &str) -> String {
    if text.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", clip(text)) }
}

/// The beginning of a text.
pub(crate) fn clip(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn of(element: &Option<String>) -> String {
    element.as_ref().map_or(String::new(), |name| format!(" of `{}`", clip(name)))
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!("; did you mean `{}`?", clip(name)))
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", clip(name))).collect::<Vec<_>>().join(", ")
}
