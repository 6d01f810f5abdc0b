//! Controlled sources: factors, polynomials, tables, formulas.

use super::{Made, Reader};
use crate::netlist::card::Body;
use crate::netlist::error::{NetlistError, Problem};
use crate::netlist::expression::{Expr, Factor, Node};

/// Coefficients that a polynomial may have.
const MAX_COEFFICIENTS: usize = 200;
/// Quantities that a polynomial may have.
const MAX_DIMENSION: usize = 100;

impl Reader<'_, '_> {
    /// `POLY(n)`, `TABLE`, `VALUE=` and the like, for a source that is not linear.
    pub(super) fn formula(
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
                let problem = Problem::NotSupported {
                    name: word,
                    element: None,
                    what,
                    instead: "a factor, `poly`, `table` or `value={…}`",
                };
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
    pub(super) fn polynomial(&mut self, by_current: bool) -> Result<Expr, NetlistError> {
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
    pub(super) fn table(&mut self) -> Result<Expr, NetlistError> {
        let name = self.cursor.word("`table`")?;
        let _ = self.cursor.take('=');
        let Some(quantity) = self.cursor.enclosed()? else {
            return Err(self.cursor.expected("an expression in braces"));
        };
        let _ = self.cursor.take('=');
        let mut arguments = vec![quantity];
        // parentheses mean nothing, and not all libraries close them
        loop {
            while self.cursor.take('(') || self.cursor.take(')') {}
            if arguments.len() > 1 && (self.cursor.is_end() || self.cursor.is_key()) {
                break;
            }
            arguments.push(self.cursor.value("a point `(x, y)`")?);
            arguments.push(self.cursor.value("a value")?);
        }
        if arguments.len() == 3 {
            return Ok(arguments.remove(2)); // one point: constant
        }
        Ok(Expr { node: Node::Call("table".to_owned(), arguments), at: name.at })
    }

    pub(super) fn by_voltage(&mut self, is_voltage: bool) -> Made {
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

    pub(super) fn by_current(&mut self, is_voltage: bool) -> Made {
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
    pub(super) fn gain(&mut self) -> Result<Expr, NetlistError> {
        if self.cursor.is_key() && self.cursor.is_next("gain") {
            let key = self.cursor.word("`gain`")?;
            self.cursor.equals(&key)?;
        }
        self.cursor.value("a factor")
    }

    pub(super) fn behavioral(&mut self) -> Made {
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
