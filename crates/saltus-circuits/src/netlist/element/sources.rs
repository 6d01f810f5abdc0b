//! Independent sources: `V1 a 0 SIN(0 1 1k)`.

use super::{Made, Reader};
use crate::netlist::card::{Body, Wave};
use crate::netlist::error::{NetlistError, Problem, WAVES};
use crate::netlist::expression::Expr;
use crate::netlist::number;

/// Names of functions of time.
const FUNCTIONS: &[&str] =
    &["pulse", "sin", "sine", "exp", "pwl", "sffm", "am", "trnoise", "trrandom", "ac"];

impl Reader<'_, '_> {
    pub(super) fn source(&mut self, is_voltage: bool) -> Made {
        self.between()?;
        let (mut dc, mut wave) = (None, None);
        let mut open = 0usize; // parentheses around a function or value mean nothing
        while !self.cursor.is_end() {
            if self.cursor.take('(') {
                open += 1;
                continue;
            }
            if open > 0 && self.cursor.take(')') {
                open -= 1;
                continue;
            }
            let word = self.cursor.peek().unwrap_or("").to_lowercase();
            let at = self.cursor.next_at();
            match word.as_str() {
                "dc" => {
                    self.cursor.word("`dc`")?;
                    let _ = self.cursor.take('=');
                    let next = self.cursor.peek().unwrap_or("").to_lowercase();
                    if !FUNCTIONS.contains(&next.as_str()) {
                        dc = Some(self.cursor.value("a value")?);
                    }
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
                    let problem = Problem::NotSupported {
                        name: word,
                        element: None,
                        what: what.to_owned(),
                        instead: WAVES,
                    };
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
        if open > 0 {
            return Err(self.cursor.expected("`)`"));
        }
        let here = self.cursor.here();
        let wave = wave.or(dc.map(Wave::Dc)).unwrap_or(Wave::Dc(Expr::number(0.0, here)));
        Ok(Body::Source { is_voltage, wave })
    }

    /// The values of a function of time, with or without parentheses.
    pub(super) fn arguments(
        &mut self,
        least: usize,
        most: usize,
    ) -> Result<Vec<Expr>, NetlistError> {
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

    /// Numbers with or without parentheses around them, or around some of them: `(0 0) (1m 5)`.
    pub(super) fn values(&mut self) -> Result<Vec<Expr>, NetlistError> {
        let mut open = 0usize;
        let (mut values, mut has_parentheses) = (Vec::new(), false);
        loop {
            if self.cursor.take('(') {
                (open, has_parentheses) = (open + 1, true);
                continue;
            }
            if open > 0 && self.cursor.take(')') {
                open -= 1;
                continue;
            }
            if open == 0 {
                let is_word =
                    ["ac", "dc", "distof1", "distof2"].iter().any(|word| self.cursor.is_next(word));
                let is_closed = self.cursor.rest().starts_with(')');
                if has_parentheses || is_closed || is_word {
                    break;
                }
                if self.cursor.is_end() || self.cursor.is_key() {
                    break;
                }
            }
            let expected = if open > 0 { "a value or `)`" } else { "a value" };
            values.push(self.cursor.value(expected)?);
        }
        Ok(values)
    }

    pub(super) fn piecewise_linear(&mut self) -> Result<Wave, NetlistError> {
        let name = self.cursor.word("`pwl`")?;
        let mut ahead = self.cursor.clone();
        let _ = ahead.take('(');
        if ahead.is_next("file") {
            let problem = Problem::NotSupported {
                name: name.text,
                element: None,
                what: "a source from a file".to_owned(),
                instead: "points in the netlist, `pwl(0 0 1m 5)`",
            };
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
}
