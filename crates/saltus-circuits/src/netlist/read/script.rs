//! Commands of `.control`: of a script one run is made, the first it asks for.

use std::collections::HashSet;

use super::{NOT_RUN, Reader, tran};
use crate::netlist::card::TranCard;
use crate::netlist::cursor::{Cursor, Word};
use crate::netlist::error::{Caution, NetlistError, Problem};
use crate::netlist::expression::{Expr, Node};
use crate::netlist::functions::is_function;

/// Commands in `.control` that need nothing done.
const QUIET: &[&str] =
    &["quit", "exit", "unset", "setplot", "display", "rusage", "status", "version"];

/// What a script says that matters to a run.
#[derive(Default)]
pub(super) struct Script {
    /// `let`, and `set` where the third is true.
    lets: Vec<(Word, Expr, bool)>,
    /// Signals that it asks for, and the commands that do.
    outputs: Vec<(Expr, Word)>,
    /// Its first `tran`.
    tran: Option<TranCard>,
    /// Whether `run`, which asks for the card's analysis, stands before that.
    runs_card: bool,
}

impl Script {
    /// `.csparam`
    pub(super) fn given(&mut self, pairs: Vec<(Word, Expr)>) {
        let pairs = pairs.into_iter().map(|(name, value)| (name, value, true));
        self.lets.splice(0..0, pairs);
    }

    fn has_begun(&self) -> bool {
        self.runs_card || self.tran.is_some()
    }
}

type Done = Result<(), NetlistError>;

impl Reader<'_> {
    /// The analysis that the script asks for first. What `let` makes is a parameter if it is made of parameters and
    /// numbers; else it has no effect. What a command prints of it, or of a measure, is no signal.
    pub(super) fn settle_script(&mut self) {
        if !(self.script.runs_card && self.requests.tran.is_some())
            && let Some(card) = self.script.tran.take()
        {
            self.requests.tran = Some(card);
        }
        let mut vectors: Vec<String> =
            self.requests.measures.iter().map(|measure| measure.name.key()).collect();
        for (name, value, is_quiet) in std::mem::take(&mut self.script.lets) {
            vectors.push(name.key());
            let known = &self.blocks[0].parameters;
            let is_known = |name: &str| known.iter().any(|(known, _)| known.is(name));
            if !is_known(&name.text)
                && is_made_of(&value, &|leaf| matches!(leaf, Node::Name(name) if is_known(name)))
            {
                self.blocks[0].parameters.push((name, value));
            } else if !is_quiet {
                self.warn(name.at, Caution::NoEffect { what: format!("let {}", name.text) });
            }
        }
        let is_vector =
            |signal: &Expr| matches!(&signal.node, Node::Name(name) if vectors.contains(name));
        self.requests.outputs.retain(|signal| !is_vector(signal));
        let mut asked = std::mem::take(&mut self.script.outputs);
        asked.retain(|(signal, _)| !is_vector(signal));
        if asked.is_empty() {
            return;
        }
        // a command may ask for what scripts make; what the circuit has is taken
        let elements = &self.blocks[0].elements;
        let names: HashSet<String> = elements.iter().map(|element| element.name.key()).collect();
        let nodes = elements.iter().flat_map(|element| &element.nodes);
        let nodes: HashSet<String> = nodes.map(Word::key).chain(["0".to_owned()]).collect();
        let is_inside = |name: &str| {
            let call = name.split_once('.').map(|(call, _)| call);
            call.is_some_and(|call| call.starts_with('x') && names.contains(call))
        };
        let is_node = |name: &str| {
            let name = name.to_lowercase();
            nodes.contains(&name) || is_inside(&name)
        };
        let is_known = |leaf: &Node| match leaf {
            Node::Name(name) => name == "time" || is_node(name),
            Node::Voltage(plus, minus) => is_node(plus) && minus.as_deref().is_none_or(is_node),
            Node::Current(name) => {
                let name = name.to_lowercase();
                names.contains(&name) || is_inside(&name)
            }
            _ => false,
        };
        let (known, other): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|(signal, _)| is_made_of(signal, &is_known));
        self.requests.outputs.extend(known.into_iter().map(|(signal, _)| signal));
        other.iter().for_each(|(_, command)| self.no_effect(command));
    }

    pub(super) fn command(&mut self, cursor: &mut Cursor<'_>) -> Done {
        let word = cursor.word("a command")?;
        let key = word.key();
        match key.as_str() {
            "tran" => {
                let card = tran(&word, cursor)?;
                if self.script.has_begun() {
                    self.warn(word.at, Caution::RunAgain { command: word.text });
                }
                self.script.tran.get_or_insert(card);
                Ok(())
            }
            "run" => {
                self.script.runs_card |= self.script.tran.is_none();
                Ok(())
            }
            "alter" | "alterparam" | "altermod" if !self.script.has_begun() => {
                let what = "a change of the circuit by a script before it runs".to_owned();
                let instead = "the value in the netlist, or `--set`";
                let problem =
                    Problem::NotSupported { name: word.text, element: None, what, instead };
                Err(self.fail(word.at, problem))
            }
            "source" | "circbyline" | "snload" if !self.script.has_begun() => {
                let what = "a circuit that a script loads".to_owned();
                let instead = "the netlist itself";
                let problem =
                    Problem::NotSupported { name: word.text, element: None, what, instead };
                Err(self.fail(word.at, problem))
            }
            "print" | "plot" | "save" | "gnuplot" | "write" | "wrdata" => {
                if ["gnuplot", "write", "wrdata"].contains(&key.as_str()) {
                    cursor.quoted_word("a file")?;
                }
                // a command may use what no card can: vectors made by others
                let before = (self.requests.outputs.len(), self.requests.all_outputs);
                if self.outputs(cursor).is_err() {
                    self.requests.outputs.truncate(before.0);
                    self.requests.all_outputs = before.1;
                    self.no_effect(&word);
                }
                let asked = self.requests.outputs.split_off(before.0);
                self.script.outputs.extend(asked.into_iter().map(|signal| (signal, word.clone())));
                Ok(())
            }
            "let" | "set" => {
                let name = cursor.word("a name")?;
                let value = if cursor.take('=') { cursor.expression().ok() } else { None };
                match value.filter(|_| cursor.is_end()) {
                    Some(value) => self.script.lets.push((name, value, key == "set")),
                    None if key == "let" => self.no_effect(&word),
                    None => {}
                }
                Ok(())
            }
            "meas" | "measure" => self.measure(cursor),
            "four" | "fourier" => self.fourier(cursor),
            "option" => self.options(cursor),
            _ if NOT_RUN.contains(&key.as_str()) => {
                self.warn(word.at, Caution::NotRun { card: word.text.clone() });
                Ok(())
            }
            _ if QUIET.contains(&key.as_str()) || word.text.starts_with('#') => Ok(()),
            _ => {
                self.no_effect(&word);
                Ok(())
            }
        }
    }
}

/// Whether an expression has only numbers, functions, and names and quantities that are known.
fn is_made_of(expr: &Expr, is_known: &impl Fn(&Node) -> bool) -> bool {
    let all = |exprs: &[Expr]| exprs.iter().all(|expr| is_made_of(expr, is_known));
    match &expr.node {
        Node::Number(_) => true,
        leaf @ (Node::Name(_) | Node::Voltage(..) | Node::Current(_)) => is_known(leaf),
        Node::Call(name, arguments) => is_function(name) && all(arguments),
        Node::Minus(of) | Node::Not(of) => is_made_of(of, is_known),
        Node::Sum(terms) => terms.iter().all(|(_, term)| is_made_of(term, is_known)),
        Node::Product(factors) => factors.iter().all(|(_, factor)| is_made_of(factor, is_known)),
        Node::Power(a, b) | Node::Compare(_, a, b) => {
            is_made_of(a, is_known) && is_made_of(b, is_known)
        }
        Node::And(operands) | Node::Or(operands) => all(operands),
        Node::Choose(parts) => all(parts.as_ref()),
    }
}
