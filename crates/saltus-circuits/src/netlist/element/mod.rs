//! Lines that stand for components: `R1 a b 1k`.

mod controlled;
mod passive;
mod semiconductors;
mod sources;

use crate::netlist::card::{Body, Element};
use crate::netlist::cursor::{Cursor, Word};
use crate::netlist::error::{Caution, ELEMENTS, NetlistError, Problem, Warning};
use crate::netlist::expression::Expr;
use crate::netlist::number;

/// Elements that some SPICE has and this reader has not.
const NOT_SUPPORTED: &[(char, &str)] = &[
    ('a', "a code model"),
    ('j', "a junction field-effect transistor"),
    ('n', "a compiled device"),
    ('o', "a lossy transmission line"),
    ('p', "coupled transmission lines"),
    ('t', "a transmission line"),
    ('u', "a distributed RC line or digital device"),
    ('y', "a lossy transmission line"),
    ('z', "a field-effect transistor of gallium arsenide"),
];

type Made = Result<Body, NetlistError>;

/// Reads the line of an element. The error that it is none is outside, what is wrong with it is in its body.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Element, NetlistError> {
    let start = cursor.next_at();
    let letter = cursor.rest().chars().next().unwrap_or(' ').to_ascii_lowercase();
    if !letter.is_ascii_alphabetic() {
        return Err(
            cursor.expected("an element such as `R1`, a card such as `.tran`, or a comment")
        );
    }
    let name = cursor.word("an element")?;
    let mut reader = Reader { cursor, warnings, nodes: Vec::new() };
    let body = match NOT_SUPPORTED.iter().find(|(known, _)| *known == letter) {
        Some((_, what)) => {
            let problem = Problem::NotSupported {
                name: name.text.clone(),
                element: None,
                what: (*what).to_owned(),
                instead: ELEMENTS,
            };
            Err(reader.cursor.fail_at(start, problem))
        }
        None => reader.body(letter).map_err(|error| error.in_element(&name.text)),
    };
    let nodes = reader.nodes;
    Ok(Element { name, nodes, body })
}

struct Reader<'a, 'l> {
    cursor: &'a mut Cursor<'l>,
    warnings: &'a mut Vec<Warning>,
    nodes: Vec<Word>,
}

/// Words and `key=value` of the rest of a line.
struct Rest {
    words: Vec<Word>,
    pairs: Vec<(Word, Expr)>,
}

impl Rest {
    /// Takes the value of a key.
    fn take(&mut self, key: &str) -> Option<Expr> {
        let at = self.pairs.iter().position(|(known, _)| known.is(key))?;
        Some(self.pairs.remove(at).1)
    }

    /// Takes a word, and says whether it was there.
    fn take_word(&mut self, word: &str) -> bool {
        let at = self.words.iter().position(|known| known.is(word));
        at.map(|at| self.words.remove(at)).is_some()
    }
}

impl Reader<'_, '_> {
    fn body(&mut self, letter: char) -> Made {
        match letter {
            'r' => {
                Ok(Body::Resistor(self.passive("r", "a resistance", &["ac", "noisy", "noise"])?))
            }
            'c' => Ok(Body::Capacitor(self.capacitor()?)),
            'l' => Ok(Body::Inductor(self.passive("l", "an inductance", &["nt"])?)),
            'k' => self.coupling(),
            'v' | 'i' => self.source(letter == 'v'),
            'e' | 'g' => self.by_voltage(letter == 'e'),
            'f' | 'h' => self.by_current(letter == 'h'),
            'b' => self.behavioral(),
            'd' => self.diode(),
            's' => self.voltage_switch(),
            'w' => self.current_switch(),
            'm' => self.mos(),
            'q' => self.bipolar(),
            _ => self.call(),
        }
    }

    fn warn(&mut self, what: &Word) {
        self.warn_with(what, Caution::NoEffect { what: what.text.clone() });
    }

    fn warn_with(&mut self, at: &Word, caution: Caution) {
        let place = self.cursor.lines.place(at.at);
        self.warnings.push(Warning { place, caution });
    }

    /// The next node.
    fn node(&mut self) -> Result<Word, NetlistError> {
        if self.cursor.is_key() {
            return Err(self.cursor.expected("a node"));
        }
        self.cursor.word("a node")
    }

    /// Two nodes that the element stands between.
    fn between(&mut self) -> Result<(), NetlistError> {
        for _ in 0..2 {
            let node = self.node()?;
            self.nodes.push(node);
        }
        Ok(())
    }

    /// Two nodes, perhaps in parentheses.
    fn pair(&mut self) -> Result<[Word; 2], NetlistError> {
        let is_open = self.cursor.take('(');
        let pair = [self.node()?, self.node()?];
        if is_open {
            self.cursor.close()?;
        }
        Ok(pair)
    }

    /// The rest of the line.
    fn rest(&mut self) -> Result<Rest, NetlistError> {
        let mut rest = Rest { words: Vec::new(), pairs: Vec::new() };
        while !self.cursor.is_end() {
            if self.cursor.is_key() {
                let key = self.cursor.word("a name")?;
                self.cursor.equals(&key)?;
                let is_pair = key.is("tc");
                rest.pairs.push((key, self.cursor.expression()?));
                // `tc=a,b`
                if is_pair
                    && !self.cursor.is_key()
                    && let Some(word) = self.cursor.peek()
                    && number::parse(word).is_some()
                {
                    let at = self.cursor.next_at();
                    let second = Word { text: "tc2".to_owned(), at };
                    rest.pairs.push((second, self.cursor.value("a coefficient")?));
                }
            } else {
                rest.words.push(self.cursor.word("a word or `name=value`")?);
            }
        }
        Ok(rest)
    }

    /// What is left of the rest must be known to have no effect here.
    fn finish(&mut self, rest: Rest, words: &[&str], keys: &[&str]) -> Result<(), NetlistError> {
        for word in &rest.words {
            match words.iter().any(|known| word.is(known)) {
                true => self.warn(word),
                false => {
                    self.cursor.seek(word.at);
                    return Err(self.cursor.expected("`name=value` or the end of the line"));
                }
            }
        }
        for (key, _) in &rest.pairs {
            match keys.iter().any(|known| key.is(known)) {
                true => self.warn(key),
                false => {
                    let nearest = saltus_expr::nearest(&key.key(), keys.iter().copied());
                    let problem = Problem::Unknown {
                        kind: "parameter",
                        name: key.text.clone(),
                        nearest: nearest.map(str::to_owned),
                    };
                    return Err(self.cursor.fail_at(key.at, problem));
                }
            }
        }
        Ok(())
    }

    fn coupling(&mut self) -> Made {
        let mut inductors = Vec::new();
        let coefficient = loop {
            let is_value = self.cursor.peek().is_none_or(|word| !word.starts_with(['l', 'L']))
                || self.cursor.is_key();
            if is_value && inductors.len() >= 2 {
                if self.cursor.is_next("k") && self.cursor.is_key() {
                    let key = self.cursor.word("k")?;
                    self.cursor.equals(&key)?;
                }
                break self.cursor.value("a coefficient of coupling")?;
            }
            if is_value {
                return Err(self.cursor.expected("an inductor such as `L1`"));
            }
            inductors.push(self.cursor.word("an inductor")?);
        };
        self.cursor.end()?;
        Ok(Body::Coupling { inductors, coefficient })
    }

    fn call(&mut self) -> Made {
        let mut words = Vec::new();
        loop {
            if self.cursor.is_end() || self.cursor.is_key() {
                break;
            }
            if self.cursor.take_word("params:") {
                break;
            }
            if self.cursor.take('(') || self.cursor.take(')') {
                continue;
            }
            words.push(self.cursor.word("a node, a subcircuit or `name=value`")?);
        }
        let given = self.cursor.pairs("a parameter")?;
        self.cursor.end()?;
        let Some(block) = words.pop() else {
            return Err(self.cursor.expected("nodes and the name of a subcircuit"));
        };
        self.nodes = words;
        Ok(Body::Call { block, given })
    }
}
