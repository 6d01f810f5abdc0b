//! Lines that stand for components: `R1 a b 1k`.

use super::card::{Body, Element, Wave};
use super::cursor::{Cursor, Word};
use super::error::{Caution, NetlistError, Problem, Warning};
use super::expression::{Expr, Factor, Node};
use super::number;

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

/// Coefficients that a polynomial may have.
const MAX_COEFFICIENTS: usize = 200;
/// Quantities that a polynomial may have.
const MAX_DIMENSION: usize = 100;

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
            let problem =
                Problem::NotSupported { name: name.text.clone(), what: (*what).to_owned() };
            Err(reader.cursor.fail_at(start, problem))
        }
        None => reader.body(letter),
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
            'r' => self.resistor(),
            'c' => self.capacitor(),
            'l' => self.inductor(),
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
                rest.pairs.push((key, self.cursor.expression()?));
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

    /// The value of a resistor, capacitor or inductor: plain, or after its letter and `=`.
    fn quantity(&mut self, letter: &str, expected: &str) -> Result<(Expr, Rest), NetlistError> {
        self.between()?;
        let plain = match self.cursor.is_key() {
            true => None,
            false => Some(self.cursor.value(expected)?),
        };
        let mut rest = self.rest()?;
        let value = match plain {
            Some(value) => value,
            None => match rest.take(letter) {
                Some(value) => value,
                None => {
                    let at = rest.pairs.first().map_or(self.cursor.here(), |(key, _)| key.at);
                    self.cursor.seek(at);
                    return Err(self.cursor.expected(expected));
                }
            },
        };
        Ok((value, rest))
    }

    fn resistor(&mut self) -> Made {
        let (value, mut rest) = self.quantity("r", "a resistance")?;
        let times = rest.take("m");
        let thermal = [rest.take("tc1"), rest.take("tc2")];
        self.finish(
            rest,
            &[],
            &["tc", "tc1", "tc2", "temp", "dtemp", "noisy", "noise", "ac", "m", "r"],
        )?;
        Ok(Body::Resistor { value, times, thermal })
    }

    fn capacitor(&mut self) -> Made {
        let mut ahead = self.cursor.clone();
        let (value, mut rest) = self.quantity("c", "a capacitance")?;
        // `1F` is a femtofarad
        for _ in 0..2 {
            ahead.word("a node")?;
        }
        if let Some(text) = ahead.peek()
            && let Some(number) = number::parse(text)
            && text.ends_with('F')
            && text.trim_end_matches('F').ends_with(|c: char| c.is_ascii_digit() || c == '.')
        {
            let at = Word { text: text.to_owned(), at: ahead.next_at() };
            self.warn_with(&at, Caution::Femto { text: text.to_owned(), value: number });
        }
        let (initial, times) = (rest.take("ic"), rest.take("m"));
        self.finish(rest, &[], &["tc", "tc1", "tc2", "temp", "dtemp", "ic", "m", "c"])?;
        Ok(Body::Capacitor { value, initial, times })
    }

    fn inductor(&mut self) -> Made {
        let (value, mut rest) = self.quantity("l", "an inductance")?;
        let (initial, times) = (rest.take("ic"), rest.take("m"));
        self.finish(rest, &[], &["tc", "tc1", "tc2", "temp", "dtemp", "ic", "m", "l"])?;
        Ok(Body::Inductor { value, initial, times })
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

    fn source(&mut self, is_voltage: bool) -> Made {
        self.between()?;
        let (mut dc, mut wave) = (None, None);
        while !self.cursor.is_end() {
            let word = self.cursor.peek().unwrap_or("").to_lowercase();
            let at = self.cursor.next_at();
            match word.as_str() {
                "dc" => {
                    self.cursor.word("`dc`")?;
                    let _ = self.cursor.take('=');
                    dc = Some(self.cursor.value("a value")?);
                }
                "ac" | "distof1" | "distof2" => {
                    let key = self.cursor.word("`ac`")?;
                    let _ = self.cursor.take('=');
                    self.warn(&key);
                    for _ in 0..2 {
                        let is_number =
                            self.cursor.peek().is_some_and(|next| number::parse(next).is_some());
                        if is_number || self.cursor.rest().starts_with(['{', '\'']) {
                            self.cursor.value("a value")?;
                        }
                    }
                }
                "pulse" => wave = Some(Wave::Pulse(self.arguments(2, 8)?)),
                "sin" | "sine" => wave = Some(Wave::Sin(self.arguments(2, 6)?)),
                "exp" => wave = Some(Wave::Exp(self.arguments(2, 6)?)),
                "pwl" => wave = Some(self.piecewise_linear()?),
                "sffm" | "am" | "trnoise" | "trrandom" | "external" | "portnum" | "wavefile" => {
                    let what = match word.as_str() {
                        "sffm" => "a frequency-modulated source",
                        "am" => "an amplitude-modulated source",
                        "trnoise" | "trrandom" => "a random source",
                        "portnum" => "a port",
                        "wavefile" => "a source from a sound file",
                        _ => "a source from outside",
                    };
                    let problem = Problem::NotSupported { name: word, what: what.to_owned() };
                    return Err(self.cursor.fail_at(at, problem));
                }
                _ if self.cursor.is_key() => {
                    let mut rest = self.rest()?;
                    if let Some(Wave::PiecewiseLinear { repeat, delay, .. }) = &mut wave {
                        *repeat = rest.take("r").or(repeat.take());
                        *delay = rest.take("td").or(delay.take());
                    }
                    self.finish(rest, &[], &[])?;
                }
                _ if dc.is_none() && wave.is_none() => dc = Some(self.cursor.value("a value")?),
                _ => {
                    return Err(self
                        .cursor
                        .expected("`dc`, `ac`, a function of time or the end of the line"));
                }
            }
        }
        let here = self.cursor.here();
        let wave = wave.or(dc.map(Wave::Dc)).unwrap_or(Wave::Dc(Expr::number(0.0, here)));
        Ok(Body::Source { is_voltage, wave })
    }

    /// The values of a function of time, with or without parentheses.
    fn arguments(&mut self, least: usize, most: usize) -> Result<Vec<Expr>, NetlistError> {
        let name = self.cursor.word("a function")?;
        let values = self.values()?;
        if values.len() < least || values.len() > most {
            let problem = Problem::Arguments {
                function: name.text.clone(),
                expected: match most {
                    usize::MAX => format!("at least {least} values"),
                    _ => format!("{least} to {most} values"),
                },
                found: values.len(),
            };
            return Err(self.cursor.fail_at(name.at, problem));
        }
        Ok(values)
    }

    fn values(&mut self) -> Result<Vec<Expr>, NetlistError> {
        let is_open = self.cursor.take('(');
        let mut values = Vec::new();
        loop {
            if is_open && self.cursor.take(')') {
                break;
            }
            if !is_open {
                let ends = ["ac", "dc", "distof1", "distof2"];
                let is_word = ends.iter().any(|word| self.cursor.is_next(word));
                if self.cursor.is_end() || self.cursor.is_key() || is_word {
                    break;
                }
            }
            let expected = if is_open { "a value or `)`" } else { "a value" };
            values.push(self.cursor.value(expected)?);
        }
        Ok(values)
    }

    fn piecewise_linear(&mut self) -> Result<Wave, NetlistError> {
        let name = self.cursor.word("`pwl`")?;
        let mut ahead = self.cursor.clone();
        let _ = ahead.take('(');
        if ahead.is_next("file") {
            let problem =
                Problem::NotSupported { name: name.text, what: "a source from a file".to_owned() };
            return Err(self.cursor.fail_at(name.at, problem));
        }
        let points = self.values()?;
        if points.is_empty() || points.len() % 2 != 0 {
            let problem = Problem::Arguments {
                function: name.text,
                expected: "pairs of a time and a value".to_owned(),
                found: points.len(),
            };
            return Err(self.cursor.fail_at(name.at, problem));
        }
        Ok(Wave::PiecewiseLinear { points, repeat: None, delay: None })
    }

    /// `POLY(n)`, `TABLE`, `VALUE=` and the like, for a source that is not linear.
    fn formula(
        &mut self,
        is_voltage: bool,
        by_current: bool,
    ) -> Result<Option<Body>, NetlistError> {
        let word = self.cursor.peek().unwrap_or("").to_lowercase();
        let at = self.cursor.next_at();
        let formula = match word.as_str() {
            "poly" => self.polynomial(by_current)?,
            "table" => self.table()?,
            "value" | "vol" | "cur" => {
                let key = self.cursor.word("`value`")?;
                if !self.cursor.take('=')
                    && !self.cursor.rest().trim_start().starts_with(['{', '\''])
                {
                    self.cursor.equals(&key)?;
                }
                self.cursor.expression()?
            }
            "laplace" | "freq" | "chebyshev" => {
                let what = "a source given by its spectrum".to_owned();
                let problem = Problem::NotSupported { name: word, what };
                return Err(self.cursor.fail_at(at, problem));
            }
            _ => return Ok(None),
        };
        let mut rest = self.rest()?;
        let times = rest.take("m");
        self.finish(rest, &[], &["m", "tc1", "tc2", "ic", "dtemp", "temp"])?;
        Ok(Some(Body::Behavioral { is_voltage, formula, times }))
    }

    /// `POLY(n)`, the quantities, and the coefficients of 1, x₁ … xₙ, x₁², x₁x₂ … xₙ², x₁³ …
    fn polynomial(&mut self, by_current: bool) -> Result<Expr, NetlistError> {
        let name = self.cursor.word("`poly`")?;
        let is_open = self.cursor.take('(');
        let at = self.cursor.next_at();
        let dimension = self.cursor.value("the number of quantities")?.literal();
        let dimension = match dimension {
            Some(count)
                if count >= 1.0 && count <= MAX_DIMENSION as f64 && count.fract() == 0.0 =>
            {
                count as usize
            }
            value => {
                let problem = Problem::Value {
                    what: "the number of quantities".to_owned(),
                    value: value.unwrap_or(f64::NAN),
                    expected: "a whole number from 1 to 100",
                };
                return Err(self.cursor.fail_at(at, problem));
            }
        };
        if is_open {
            self.cursor.close()?;
        }
        let mut quantities = Vec::with_capacity(dimension);
        for _ in 0..dimension {
            let at = self.cursor.next_at();
            let node = match by_current {
                true => Node::Current(self.cursor.word("a component")?.text),
                false => {
                    let [plus, minus] = self.pair()?;
                    Node::Voltage(plus.text, Some(minus.text))
                }
            };
            quantities.push(Expr { node, at });
        }
        let mut coefficients = Vec::new();
        while !self.cursor.is_end() && !self.cursor.is_key() {
            if coefficients.len() == MAX_COEFFICIENTS {
                let problem = Problem::TooMany { what: "coefficients", limit: MAX_COEFFICIENTS };
                return Err(self.cursor.fail(problem));
            }
            coefficients.push(self.cursor.value("a coefficient")?);
        }
        if coefficients.is_empty() {
            return Err(self.cursor.expected("a coefficient"));
        }
        // SPICE takes a single coefficient of one quantity for its factor
        if dimension == 1 && coefficients.len() == 1 {
            coefficients.insert(0, Expr::number(0.0, name.at));
        }
        let mut terms = Vec::with_capacity(coefficients.len());
        let mut monomial: Vec<usize> = Vec::new(); // indices that do not decrease
        for coefficient in coefficients {
            let at = coefficient.at;
            let factors = monomial.iter().map(|&index| (Factor::Times, quantities[index].clone()));
            if coefficient.literal() != Some(0.0) {
                let node = Node::Product(
                    std::iter::once((Factor::Times, coefficient)).chain(factors).collect(),
                );
                terms.push((false, Expr { node, at }));
            }
            next_monomial(&mut monomial, dimension);
        }
        if terms.is_empty() {
            terms.push((false, Expr::number(0.0, name.at)));
        }
        Ok(Expr { node: Node::Sum(terms), at: name.at })
    }

    /// `TABLE {expression} = (x, y) (x, y) …`
    fn table(&mut self) -> Result<Expr, NetlistError> {
        let name = self.cursor.word("`table`")?;
        let _ = self.cursor.take('=');
        let Some(quantity) = self.cursor.enclosed()? else {
            return Err(self.cursor.expected("an expression in braces"));
        };
        let _ = self.cursor.take('=');
        let mut arguments = vec![quantity];
        let outer = {
            let mut ahead = self.cursor.clone();
            ahead.take('(') && ahead.take('(') && self.cursor.take('(')
        };
        loop {
            let is_open = self.cursor.take('(');
            arguments.push(self.cursor.value("a point `(x, y)`")?);
            arguments.push(self.cursor.value("a value")?);
            if is_open {
                self.cursor.close()?;
            }
            if (outer && self.cursor.take(')')) || self.cursor.is_end() {
                break;
            }
        }
        if arguments.len() == 3 {
            return Ok(arguments.remove(2)); // one point: constant
        }
        Ok(Expr { node: Node::Call("table".to_owned(), arguments), at: name.at })
    }

    fn by_voltage(&mut self, is_voltage: bool) -> Made {
        self.between()?;
        if let Some(body) = self.formula(is_voltage, false)? {
            return Ok(body);
        }
        let control = self.pair()?;
        let gain = self.gain()?;
        let mut rest = self.rest()?;
        let times = rest.take("m").filter(|_| !is_voltage);
        self.finish(rest, &[], &["m", "ic", "tc1", "tc2"])?;
        Ok(Body::ByVoltage { is_voltage, control, gain, times })
    }

    fn by_current(&mut self, is_voltage: bool) -> Made {
        self.between()?;
        if let Some(body) = self.formula(is_voltage, true)? {
            return Ok(body);
        }
        let control = self.cursor.word("a component whose current controls the source")?;
        let gain = self.gain()?;
        let mut rest = self.rest()?;
        let times = rest.take("m").filter(|_| !is_voltage);
        self.finish(rest, &[], &["m", "ic", "tc1", "tc2"])?;
        Ok(Body::ByCurrent { is_voltage, control, gain, times })
    }

    /// The factor of a controlled source, plain or after `gain=`.
    fn gain(&mut self) -> Result<Expr, NetlistError> {
        if self.cursor.is_key() && self.cursor.is_next("gain") {
            let key = self.cursor.word("`gain`")?;
            self.cursor.equals(&key)?;
        }
        self.cursor.value("a factor")
    }

    fn behavioral(&mut self) -> Made {
        self.between()?;
        let is_voltage = match self.cursor.peek().map(str::to_lowercase).as_deref() {
            Some("v") => true,
            Some("i") => false,
            _ => return Err(self.cursor.expected("`v=` or `i=`")),
        };
        let key = self.cursor.word("`v=` or `i=`")?;
        self.cursor.equals(&key)?;
        let formula = self.cursor.expression()?;
        let mut rest = self.rest()?;
        let times = rest.take("m").filter(|_| !is_voltage);
        self.finish(rest, &[], &["m", "ic", "tc1", "tc2", "temp", "dtemp", "reciproctc"])?;
        Ok(Body::Behavioral { is_voltage, formula, times })
    }

    /// The first plain word of the rest that is left, taken as a number.
    fn area(&mut self, rest: &mut Rest) -> Result<Option<Expr>, NetlistError> {
        if let Some(area) = rest.take("area") {
            return Ok(Some(area));
        }
        match rest.words.iter().position(|word| number::parse(&word.text).is_some()) {
            Some(at) => {
                let word = rest.words.remove(at);
                self.cursor.seek(word.at);
                Ok(Some(self.cursor.value("an area")?))
            }
            None => Ok(None),
        }
    }

    fn diode(&mut self) -> Made {
        self.between()?;
        let model = self.cursor.word("a model")?;
        let mut rest = self.rest()?;
        let (area, times) = (self.area(&mut rest)?, rest.take("m"));
        let keys = ["area", "m", "pj", "ic", "temp", "dtemp", "thermal"];
        self.finish(rest, &["off", "thermal"], &keys)?;
        Ok(Body::Diode { model, area, times })
    }

    /// `on` or `off` behind a switch.
    fn closed(&mut self) -> Result<Option<bool>, NetlistError> {
        let mut rest = self.rest()?;
        let closed = match (rest.take_word("on"), rest.take_word("off")) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        self.finish(rest, &[], &["m"])?;
        Ok(closed)
    }

    fn voltage_switch(&mut self) -> Made {
        self.between()?;
        let control = self.pair()?;
        self.nodes.extend(control);
        let model = self.cursor.word("a model")?;
        Ok(Body::VoltageSwitch { model, closed: self.closed()? })
    }

    fn current_switch(&mut self) -> Made {
        self.between()?;
        let control = self.cursor.word("a component whose current controls the switch")?;
        let model = self.cursor.word("a model")?;
        Ok(Body::CurrentSwitch { control, model, closed: self.closed()? })
    }

    fn mos(&mut self) -> Made {
        let mut rest = self.rest()?;
        let _ = rest.take_word("off");
        let _ = rest.take_word("thermal");
        // three nodes and a model, or four
        let Some(model) = rest.words.pop().filter(|_| (3..=4).contains(&rest.words.len())) else {
            return Err(self.cursor.fail(Problem::Expected {
                expected: "drain, gate, source, bulk and a model".to_owned(),
                found: format!("{} words", rest.words.len()),
            }));
        };
        self.nodes = std::mem::take(&mut rest.words);
        let (width, length, times) = (rest.take("w"), rest.take("l"), rest.take("m"));
        let keys =
            ["ad", "as", "pd", "ps", "nrd", "nrs", "ic", "temp", "dtemp", "thermal", "w", "l", "m"];
        self.finish(rest, &[], &keys)?;
        Ok(Body::Mos { model, width, length, times })
    }

    fn bipolar(&mut self) -> Made {
        let mut rest = self.rest()?;
        let _ = rest.take_word("off");
        let (area, times) = (self.bipolar_area(&mut rest)?, rest.take("m"));
        let Some(model) = rest.words.pop().filter(|_| (3..=4).contains(&rest.words.len())) else {
            return Err(self.cursor.fail(Problem::Expected {
                expected: "collector, base, emitter and a model".to_owned(),
                found: format!("{} words", rest.words.len()),
            }));
        };
        self.nodes = std::mem::take(&mut rest.words);
        if self.nodes.len() == 4 {
            let substrate = self.nodes.remove(3);
            self.warn(&substrate);
        }
        let keys = ["areab", "areac", "ic", "temp", "dtemp", "area", "m"];
        self.finish(rest, &[], &keys)?;
        Ok(Body::Bipolar { model, area, times })
    }

    /// An area is a number behind the model; a node may be a number too, so only the last word can be one.
    fn bipolar_area(&mut self, rest: &mut Rest) -> Result<Option<Expr>, NetlistError> {
        if let Some(area) = rest.take("area") {
            return Ok(Some(area));
        }
        let is_area = rest.words.len() >= 5
            && rest.words.last().is_some_and(|word| number::parse(&word.text).is_some());
        match rest.words.pop() {
            Some(word) if is_area => {
                self.cursor.seek(word.at);
                Ok(Some(self.cursor.value("an area")?))
            }
            Some(word) => {
                rest.words.push(word);
                Ok(None)
            }
            None => Ok(None),
        }
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

/// The monomial after this one: `[]`, `[0]`, `[1]`, …, `[0, 0]`, `[0, 1]`, …
fn next_monomial(monomial: &mut Vec<usize>, dimension: usize) {
    match monomial.iter().rposition(|&index| index + 1 < dimension) {
        Some(at) => {
            let index = monomial[at] + 1;
            monomial[at..].fill(index);
        }
        None => {
            let degree = monomial.len() + 1;
            monomial.clear();
            monomial.resize(degree, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_in_the_order_of_spice() {
        let mut monomial = Vec::new();
        let mut all = Vec::new();
        for _ in 0..10 {
            all.push(monomial.clone());
            next_monomial(&mut monomial, 2);
        }
        let expected: [&[usize]; 10] = [
            &[],
            &[0],
            &[1],
            &[0, 0],
            &[0, 1],
            &[1, 1],
            &[0, 0, 0],
            &[0, 0, 1],
            &[0, 1, 1],
            &[1, 1, 1],
        ];
        assert_eq!(all, expected);
    }
}
