//! Cards to blocks and requests: everything that begins with a point.

mod script;

use saltus_expr::nearest;

use super::card::{Block, Function, MeasureCard, ModelCard, Parameter, Requests, TranCard};
use super::cursor::{Cursor, Word};
use super::element;
use super::error::{Caution, NetlistError, Problem, Warning};
use super::expression::{Expr, Node};
use super::lines::{At, Lines};
use super::measures::{self, PARTS, signal};
use super::model;
use super::vocabulary::KINDS;
use crate::Method;
use crate::analysis::KEPT;

use script::Script;

/// How deep subcircuits may be defined in one another.
const MAX_NESTING: usize = 64;

/// Cards with an effect, and some that are read over.
const CARDS: &[&str] = &[
    "control", "csparam", "end", "endc", "endl", "ends", "eom", "four", "func", "global", "ic",
    "inc", "include", "lib", "macro", "meas", "measure", "model", "nodeset", "op", "option",
    "options", "opt", "param", "params", "plot", "print", "probe", "save", "subckt", "temp",
    "title", "tran", "width",
];
/// Analyses that are not done.
const NOT_RUN: &[&str] = &[
    "ac", "dc", "disto", "hb", "net", "noise", "op", "pss", "pz", "sens", "sp", "step", "tf",
    "wcase", "mc",
];
/// Cards of one SPICE or another without effect on a run.
const NO_EFFECT: &[&str] =
    &["nodeset", "width", "backanno", "alias", "machine", "savebias", "loadbias"];
/// Cards that change the circuit in a way that is not known here.
const NOT_SUPPORTED: &[(&str, &str)] = &[
    ("if", "a condition"),
    ("elseif", "a condition"),
    ("else", "a condition"),
    ("endif", "a condition"),
    ("alter", "a change of the netlist"),
    ("data", "a table of runs"),
    ("distribution", "a random distribution"),
];
/// A netlist with everything in it read, nothing evaluated.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Parsed {
    pub(crate) lines: Lines,
    pub(crate) title: String,
    /// The first is the netlist itself.
    pub(crate) blocks: Vec<Block>,
    /// `.global`, in lower case.
    pub(crate) globals: Vec<String>,
    pub(crate) requests: Requests,
    pub(crate) warnings: Vec<Warning>,
}

/// Reads all cards.
pub(crate) fn read(lines: Lines) -> Result<Parsed, NetlistError> {
    let mut reader = Reader {
        lines: &lines,
        title: lines.title.clone(),
        blocks: vec![Block::default()],
        open: vec![(0, Word::default())],
        globals: Vec::new(),
        requests: Requests::default(),
        warnings: Vec::new(),
        script: Script::default(),
    };
    reader.all()?;
    reader.settle_models()?;
    reader.settle_script();
    let Reader { title, blocks, globals, requests, warnings, .. } = reader;
    Ok(Parsed { title, blocks, globals, requests, warnings, lines })
}

struct Reader<'a> {
    lines: &'a Lines,
    title: String,
    blocks: Vec<Block>,
    /// Blocks begun and not ended, and the words that began them.
    open: Vec<(usize, Word)>,
    globals: Vec<String>,
    requests: Requests,
    warnings: Vec<Warning>,
    script: Script,
}

type Done = Result<(), NetlistError>;

impl Reader<'_> {
    fn all(&mut self) -> Done {
        let title = self.title.to_lowercase();
        let first = title.split_whitespace().next().unwrap_or("");
        if first.strip_prefix('.').is_some_and(|card| CARDS.contains(&card)) {
            let place = crate::Place { line: 1, column: 1, ..self.lines.place(At::default()) };
            self.warnings.push(Warning { place, caution: Caution::TitleIsCard });
        }

        let mut control: Option<Word> = None;
        for line in 0..self.lines.len() {
            let mut cursor = Cursor::new(self.lines, line);
            let word = match cursor.peek() {
                Some(text) => Word { text: text.to_owned(), at: cursor.next_at() },
                None => return Err(cursor.expected("an element or a card")),
            };
            if control.is_some() {
                match word.is(".endc") {
                    true => control = None,
                    false => self.command(&mut cursor)?,
                }
                continue;
            }
            if word.is(".control") {
                control = Some(word);
            } else if word.text.starts_with('.') {
                cursor.word("a card")?;
                self.card(&word, &mut cursor)?;
            } else {
                self.element(&mut cursor)?;
            }
        }
        if let Some(word) = control {
            return Err(self.fail(word.at, Problem::OpenBlock { open: word.text, close: ".endc" }));
        }
        if let Some((_, word)) = self.open.get(1) {
            let problem = Problem::OpenBlock { open: word.text.clone(), close: ".ends" };
            return Err(self.fail(word.at, problem));
        }
        Ok(())
    }

    fn fail(&self, at: At, problem: Problem) -> NetlistError {
        NetlistError::new(self.lines.place(at), problem)
    }

    fn warn(&mut self, at: At, caution: Caution) {
        self.warnings.push(Warning { place: self.lines.place(at), caution });
    }

    fn no_effect(&mut self, word: &Word) {
        self.warn(word.at, Caution::NoEffect { what: word.text.clone() });
    }

    /// The block that lines now belong to.
    fn block(&mut self) -> &mut Block {
        let index = self.inside();
        &mut self.blocks[index]
    }

    /// Its number.
    fn inside(&self) -> usize {
        self.open.last().map_or(0, |(index, _)| *index)
    }

    fn is_inside(&self) -> bool {
        self.open.len() > 1
    }

    fn element(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let element = element::read(cursor, &mut self.warnings)?;
        if !self.is_inside()
            && let Err(error) = element.body
        {
            return Err(error);
        }
        self.block().elements.push(element);
        Ok(())
    }

    fn card(&mut self, word: &Word, cursor: &mut Cursor<'_>) -> Done {
        let key = word.key();
        let name = &key[1..];
        match name {
            "title" => self.title = cursor.rest().trim().to_owned(),
            "param" | "params" => {
                let pairs = cursor.pairs("a parameter")?;
                cursor.end()?;
                self.block().parameters.extend(pairs);
            }
            // a parameter for the script, whose names are its own
            "csparam" => {
                let pairs = cursor.pairs("a parameter")?;
                cursor.end()?;
                self.script.given(pairs);
            }
            "func" => self.function(cursor)?,
            "model" => self.model(cursor)?,
            "subckt" | "macro" => self.subcircuit(word, cursor)?,
            "ends" | "eom" => self.end_subcircuit(word, cursor)?,
            "global" => {
                while !cursor.is_end() {
                    let node = cursor.word("a node")?;
                    self.globals.push(node.key());
                }
            }
            "ic" => {
                while !cursor.is_end() {
                    let is_current = cursor.is_next("i");
                    let (of, value) = initial_value(cursor)?;
                    match is_current {
                        true => self.block().initial_currents.push((of, value)),
                        false => self.block().initial.push((of, value)),
                    }
                }
            }
            "endc" => return Err(self.misplaced(word, "closes `.control`, and none is open")),
            "tran" | "option" | "options" | "opt" | "temp" | "save" | "print" | "plot"
            | "probe" | "meas" | "measure" | "four"
                if self.is_inside() =>
            {
                return Err(self.misplaced(word, "cannot stand in a subcircuit"));
            }
            "tran" => self.tran(word, cursor)?,
            "option" | "options" | "opt" => self.options(cursor)?,
            "temp" => {
                self.requests.temperature = Some(cursor.value("a temperature")?);
                while !cursor.is_end() {
                    let other = cursor.word("a temperature")?;
                    self.no_effect(&other);
                }
            }
            "save" | "probe" => self.outputs(cursor)?,
            "print" | "plot" => {
                let kind = cursor.peek().unwrap_or("").to_lowercase();
                if NOT_RUN.contains(&kind.as_str()) {
                    let kind = cursor.word("an analysis")?;
                    self.warn(kind.at, Caution::NotRun { card: kind.text.clone() });
                    return Ok(());
                }
                let _ = cursor.take_word("tran");
                self.outputs(cursor)?;
            }
            "meas" | "measure" => self.measure(cursor)?,
            "four" => self.fourier(cursor)?,
            _ if NOT_RUN.contains(&name) => {
                self.warn(word.at, Caution::NotRun { card: word.text.clone() });
            }
            _ if NO_EFFECT.contains(&name) => self.no_effect(word),
            _ => return Err(self.unknown_card(word, name)),
        }
        Ok(())
    }

    fn misplaced(&self, word: &Word, why: &'static str) -> NetlistError {
        self.fail(word.at, Problem::Misplaced { card: word.text.clone(), why })
    }

    fn unknown_card(&self, word: &Word, name: &str) -> NetlistError {
        if let Some((_, what)) = NOT_SUPPORTED.iter().find(|(known, _)| *known == name) {
            let problem = Problem::NotSupported {
                name: word.text.clone(),
                element: None,
                what: (*what).to_owned(),
                instead: "one circuit, with `.param` and `--set` for its values",
            };
            return self.fail(word.at, problem);
        }
        let known = nearest(name, CARDS.iter().chain(NOT_RUN).copied());
        let problem = Problem::UnknownCard {
            name: word.text.clone(),
            nearest: known.map(|known| format!(".{known}")),
        };
        self.fail(word.at, problem)
    }

    /// `.func name(a, b) {body}`, or with `=` before the body.
    fn function(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let name = cursor.word("the name of a function")?;
        if !cursor.take('(') {
            return Err(cursor.expected("`(`"));
        }
        let mut arguments = Vec::new();
        while !cursor.take(')') {
            arguments.push(cursor.word("an argument or `)`")?.key());
        }
        let _ = cursor.take('=');
        let body = cursor.expression()?;
        cursor.end()?;
        let function = Function { name: name.key(), arguments, body };
        self.block().functions.push(function);
        Ok(())
    }

    fn model(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let name = cursor.word("the name of a model")?;
        let mut kind = cursor.word("the type of the model")?;
        let mut base = None;
        // `AKO: other NPN(…)`: a kind of another model
        if kind.key().starts_with("ako:") {
            let at = At { offset: kind.at.offset + 4, ..kind.at };
            let text = kind.text[4..].to_owned();
            base = Some(match text.is_empty() {
                true => cursor.word("the model that it is like")?,
                false => Word { text, at },
            });
            kind = match cursor.is_end() || cursor.is_key() || cursor.rest().starts_with('(') {
                true => Word::default(), // that of the other
                false => cursor.word("the type of the model")?,
            };
        }
        let twice = self.block().models.iter().find(|known| known.name.is(&name.text));
        if let Some(first) = twice.map(|known| known.name.at) {
            let first = self.lines.place(first);
            self.warn(name.at, Caution::Known { kind: "model", name: name.text, first });
            return Ok(());
        }
        let is_ours =
            base.is_some() || KINDS.iter().any(|(known, _)| kind.text.eq_ignore_ascii_case(known));
        // what other types of models write behind them may be of any form
        let parameters = if is_ours { model_parameters(cursor)? } else { Vec::new() };
        self.block().models.push(ModelCard { name, kind, parameters, base, error: None });
        Ok(())
    }

    /// Gives models that are like others what these have.
    fn settle_models(&mut self) -> Done {
        for block in 0..self.blocks.len() {
            for index in 0..self.blocks[block].models.len() {
                self.complete_model(block, index, 0)?;
            }
        }
        Ok(())
    }

    fn complete_model(&mut self, block: usize, index: usize, depth: usize) -> Done {
        let Some(base) = self.blocks[block].models[index].base.clone() else { return Ok(()) };
        if depth > MAX_NESTING {
            return Err(self.fail(base.at, Problem::TooDeep { limit: MAX_NESTING }));
        }
        let Some((owner, at)) = model::place(&self.blocks, block, &base.text) else {
            let known = self.blocks[block].models.iter().map(|card| card.name.text.as_str());
            let nearest = nearest(&base.text, known).map(str::to_owned);
            let problem = Problem::Unknown { kind: "model", name: base.text, nearest };
            self.blocks[block].models[index].error =
                Some(NetlistError::new(self.lines.place(base.at), problem));
            self.blocks[block].models[index].base = None;
            return Ok(());
        };
        self.complete_model(owner, at, depth + 1)?;
        let other = self.blocks[owner].models[at].clone();
        let card = &mut self.blocks[block].models[index];
        for (name, value) in other.parameters {
            if !card.parameters.iter().any(|(known, _)| known.is(&name.text)) {
                card.parameters.push((name, value));
            }
        }
        if card.kind.text.is_empty() {
            card.kind = other.kind;
        }
        card.error = card.error.take().or(other.error);
        card.base = None;
        Ok(())
    }

    fn subcircuit(&mut self, word: &Word, cursor: &mut Cursor<'_>) -> Done {
        if self.open.len() > MAX_NESTING {
            return Err(self.fail(word.at, Problem::TooDeep { limit: MAX_NESTING }));
        }
        let name = cursor.word("the name of a subcircuit")?;
        let mut ports: Vec<Word> = Vec::new();
        let mut optional: Vec<Word> = Vec::new();
        let mut is_optional = false;
        while !cursor.is_end() && (is_optional || !cursor.is_key()) && !cursor.take_word("params:")
        {
            if cursor.take('(') || cursor.take(')') {
                continue;
            }
            if cursor.take_word("optional:") {
                is_optional = true;
                continue;
            }
            let port = cursor.word("a node or `name=value`")?;
            if let Some(first) = ports.iter().find(|known| known.is(&port.text)) {
                let first = self.lines.place(first.at);
                let problem = Problem::Twice { kind: "port", name: port.text.clone(), first };
                return Err(self.fail(port.at, problem));
            }
            // `optional: port=node`: what a call connects it to that leaves it out
            if is_optional {
                cursor.equals(&port)?;
                optional.push(cursor.word("a node")?);
            }
            ports.push(port);
        }
        let defaults = cursor.pairs("a parameter")?;
        cursor.end()?;

        let parent = self.inside();
        let index = self.blocks.len();
        let known = self.blocks[parent].blocks.iter().find(|(known, _)| *known == name.key());
        match known.map(|(_, first)| self.lines.place(self.blocks[*first].name.at)) {
            Some(first) => {
                let name = name.text.clone();
                self.warn(word.at, Caution::Known { kind: "subcircuit", name, first });
            }
            None => self.blocks[parent].blocks.push((name.key(), index)),
        }
        let parent = Some(parent);
        self.blocks.push(Block { name, parent, ports, optional, defaults, ..Block::default() });
        self.open.push((index, word.clone()));
        Ok(())
    }

    fn end_subcircuit(&mut self, word: &Word, cursor: &mut Cursor<'_>) -> Done {
        if !self.is_inside() {
            return Err(self.misplaced(word, "closes `.subckt`, and none is open"));
        }
        if !cursor.is_end() {
            let name = cursor.word("the name of a subcircuit")?;
            let open = self.block().name.text.clone();
            if !name.is(&open) {
                self.warn(name.at, Caution::OtherEnd { name: name.text, open });
            }
        }
        self.open.pop();
        Ok(())
    }

    fn tran(&mut self, word: &Word, cursor: &mut Cursor<'_>) -> Done {
        let card = tran(word, cursor)?;
        if self.requests.tran.is_some() {
            self.warn(word.at, Caution::Again { card: word.text.clone() });
        }
        self.requests.tran = Some(card);
        Ok(())
    }

    fn options(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let is_own = cursor.take_word("saltus");
        while !cursor.is_end() {
            let key = cursor.word("an option")?;
            let value = match cursor.take('=') {
                true => Some(parameter(cursor)?),
                false => None,
            };
            if is_own {
                self.own_option(&key, value)?;
            } else if KEPT.contains(&key.key().as_str()) {
                if value.is_none() {
                    return Err(cursor.expected(&format!("`=` after `{}`", key.text)));
                }
                self.requests.options.push((key, value));
            } else {
                self.no_effect(&key);
            }
        }
        Ok(())
    }

    fn own_option(&mut self, key: &Word, value: Option<Parameter>) -> Done {
        const OWN: [&str; 2] = ["device", "method"];
        if !OWN.contains(&key.key().as_str()) && KEPT.contains(&key.key().as_str()) {
            let problem = Problem::Expected {
                expected: "`device` or `method` after `.option saltus`".to_owned(),
                found: format!("`{}`, which goes on an `.option` line of its own", key.text),
            };
            return Err(self.fail(key.at, problem));
        }
        if !OWN.contains(&key.key().as_str()) {
            let problem = Problem::Unknown {
                kind: "option",
                name: key.text.clone(),
                nearest: nearest(&key.key(), OWN).map(str::to_owned),
            };
            return Err(self.fail(key.at, problem));
        }
        let word = value.as_ref().and_then(|value| value.word.clone());
        let (is_known, expected) = match key.is("device") {
            true => (model::fidelity(word.as_deref()).is_some(), "`ideal`, `pwl` or `smooth`"),
            false => {
                let known = word.as_deref().and_then(Method::from_name);
                (known.is_some(), "`fixed`, `exact` or `adaptive`")
            }
        };
        if !is_known {
            let at = value.as_ref().map_or(key.at, |value| value.expr.at);
            let problem = Problem::Expected {
                expected: expected.to_owned(),
                found: word.map_or("nothing of the kind".to_owned(), |word| format!("`{word}`")),
            };
            return Err(self.fail(at, problem));
        }
        self.requests.own_options.push((key.clone(), value));
        Ok(())
    }

    /// Signals of `.save`, `.print`, `.plot`, `.probe` and the commands of those names.
    fn outputs(&mut self, cursor: &mut Cursor<'_>) -> Done {
        while !cursor.is_end() {
            let word = cursor.peek().unwrap_or("").to_lowercase();
            match word.as_str() {
                "all" | "allv" | "alli" | "none" => {
                    cursor.word("a signal")?;
                    self.requests.all_outputs |= word != "none";
                }
                // powers
                "p" if cursor.rest()[1..].trim_start().starts_with('(') => {
                    let word = cursor.word("a signal")?;
                    self.no_effect(&word);
                    cursor.take('(');
                    cursor.word("a component")?;
                    cursor.close()?;
                }
                // how a picture looks
                "xlimit" | "ylimit" | "xlog" | "ylog" | "loglog" | "linear" | "vs" | "xlabel"
                | "ylabel" | "title" | "xl" | "yl" => return Ok(()),
                _ => {
                    let signal = signal(cursor)?;
                    self.requests.outputs.push(signal);
                    // bounds of a picture, `(0, 5)`
                    if cursor.take('(') {
                        while !cursor.take(')') {
                            cursor.value("a bound or `)`")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn fourier(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let frequency = cursor.value("a frequency")?;
        let mut signals = Vec::new();
        while !cursor.is_end() {
            signals.push(signal(cursor)?);
        }
        if signals.is_empty() {
            return Err(cursor.expected("a signal such as `v(out)`"));
        }
        self.requests.fourier.push((frequency, signals));
        Ok(())
    }

    fn measure(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let analysis = cursor.word("`tran`")?;
        if NOT_RUN.contains(&analysis.key().as_str()) {
            self.warn(analysis.at, Caution::NotRun { card: analysis.text.clone() });
            return Ok(());
        }
        if !analysis.is("tran") {
            let problem = Problem::Expected {
                expected: "`tran`".to_owned(),
                found: format!("`{}`", super::error::clip(&analysis.text)),
            };
            return Err(self.fail(analysis.at, problem));
        }
        let name = cursor.word("the name of the measure")?;
        let known = self.requests.measures.iter().position(|known| known.name.is(&name.text));
        if let Some(known) = known {
            self.warn(name.at, Caution::Again { card: name.text.clone() });
            self.requests.measures.remove(known);
        }
        let body = measures::read(cursor)?;
        // what an optimizer would want
        while !cursor.is_end() && cursor.is_key() {
            let key = cursor.word("a name")?;
            cursor.equals(&key)?;
            cursor.expression()?;
            if !["goal", "minval", "weight", "reltol", "print"].contains(&key.key().as_str()) {
                let problem = Problem::Unknown {
                    kind: "part of a measure",
                    name: key.text.clone(),
                    nearest: nearest(&key.key(), PARTS.iter().copied()).map(str::to_owned),
                };
                return Err(self.fail(key.at, problem));
            }
            self.no_effect(&key);
        }
        cursor.end()?;
        self.requests.measures.push(MeasureCard { name, body });
        Ok(())
    }
}

/// `(name=value flag …)`; parentheses mean nothing, as in SPICE.
fn model_parameters(
    cursor: &mut Cursor<'_>,
) -> Result<Vec<(Word, Option<Parameter>)>, NetlistError> {
    let mut parameters = Vec::new();
    let (mut opened, mut closed) = (0usize, 0usize);
    while !cursor.is_end() {
        if cursor.take('(') {
            opened += 1;
            continue;
        }
        if opened > 0 && cursor.take(')') {
            closed += 1;
            continue;
        }
        let key = cursor.word("a parameter")?;
        let value = match cursor.take('=') {
            true => Some(parameter(cursor)?),
            false => None,
        };
        parameters.push((key, value));
    }
    if closed < opened {
        return Err(cursor.expected("`)`"));
    }
    Ok(parameters)
}

/// `step stop [start [largest]] [uic]`
fn tran(word: &Word, cursor: &mut Cursor<'_>) -> Result<TranCard, NetlistError> {
    let mut values = Vec::new();
    let mut uic = false;
    while !cursor.is_end() {
        if cursor.take_word("uic") {
            uic = true;
            continue;
        }
        if values.len() == 4 {
            return Err(cursor.expected("`uic` or the end of the line"));
        }
        values.push(cursor.value("a time")?);
    }
    if values.len() < 2 {
        let expected =
            if values.is_empty() { "a step and a time to stop" } else { "a time to stop" };
        return Err(cursor.expected(expected));
    }
    Ok(TranCard { at: word.clone(), values, uic })
}

/// `v(node) = value` or `i(inductor) = value`
fn initial_value(cursor: &mut Cursor<'_>) -> Result<(Word, Expr), NetlistError> {
    let letter = if cursor.is_next("i") { "i" } else { "v" };
    if !cursor.take_word(letter) || !cursor.take('(') {
        return Err(cursor.expected("`v(node)=value`"));
    }
    let of = cursor.word("a node")?;
    cursor.close()?;
    cursor.equals(&Word { text: format!("{letter}({})", of.text), at: of.at })?;
    Ok((of, cursor.expression()?))
}

/// The value of an option or of a parameter of a model.
fn parameter(cursor: &mut Cursor<'_>) -> Result<Parameter, NetlistError> {
    // `version=4.5.0`, `mfg=10ETS08`: a word that is no expression
    let mut ahead = cursor.clone();
    let (at, word) = (cursor.next_at(), ahead.word("a value").ok());
    if let Some(word) = word
        && word.text.starts_with(|c: char| c.is_ascii_digit())
        && word.text.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_')
        && super::number::parse(&word.text).is_none()
    {
        *cursor = ahead;
        let name = word.key();
        return Ok(Parameter {
            expr: Expr { node: Node::Name(name.clone()), at },
            word: Some(name),
        });
    }
    let expr = cursor.expression()?;
    let word = match &expr.node {
        Node::Name(name) => Some(name.clone()),
        _ => None,
    };
    Ok(Parameter { expr, word })
}
