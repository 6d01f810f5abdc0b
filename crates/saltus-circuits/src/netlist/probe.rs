//! Quantities of a circuit inside a formula: `v(a)`, `v(a, b)`, `i(name)`.

use std::fmt;

use saltus_expr::{ExprError, Formula};

use super::expression::is_plain_character;

/// A quantity of a circuit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Probe {
    /// The voltage of a node against ground.
    Voltage(String),
    /// The voltage between two nodes.
    Difference(String, String),
    /// The current through a component.
    Current(String),
    /// The result of a measure, by its name.
    Measure(String),
    /// The time.
    Time,
}

impl fmt::Display for Probe {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Voltage(node) => write!(out, "v({node})"),
            Probe::Difference(plus, minus) => write!(out, "v({plus}, {minus})"),
            Probe::Current(component) => write!(out, "i({component})"),
            Probe::Measure(name) => write!(out, "m({name})"),
            Probe::Time => write!(out, "time"),
        }
    }
}

/// A formula of quantities: `saltus_expr` text in which quantities are called as [`Probe`] writes them, taken apart.
///
/// ```
/// use saltus_circuits::{Probe, ProbedFormula};
///
/// let power = ProbedFormula::parse("v(out, x1.n-)*i(L1) + 0*time")?;
/// assert_eq!(power.probes[0], Probe::Difference("out".into(), "x1.n-".into()));
/// assert_eq!(power.probes[1], Probe::Current("L1".into()));
/// assert_eq!(power.formula.text(), "p[0]*p[1] + 0*p[2]");
/// assert_eq!(power.formula.eval(&[3.0, 4.0, 0.0]), 12.0);
/// # Ok::<(), saltus_expr::ExprError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProbedFormula {
    /// The formula in `p[0]`, `p[1]`, …
    pub formula: Formula,
    /// The quantities these stand for.
    pub probes: Vec<Probe>,
}

impl ProbedFormula {
    /// Takes a formula apart. Letters of names count as they are written.
    pub fn parse(text: &str) -> Result<ProbedFormula, ExprError> {
        let (mut plain, mut probes) = (String::with_capacity(text.len()), Vec::new());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            // a letter right behind a digit belongs to a number
            let is_number = rest[..start].ends_with(|c: char| c.is_ascii_digit() || c == '.');
            let length = rest[start..].find(|c| !is_word(c)).unwrap_or(rest.len() - start);
            let (word, after) = rest[start..].split_at(length);
            plain.push_str(&rest[..start]);
            match probe(word, after).filter(|_| !is_number) {
                Some((probe, length)) => {
                    let known = probes.iter().position(|known| *known == probe);
                    let index = known.unwrap_or_else(|| {
                        probes.push(probe);
                        probes.len() - 1
                    });
                    plain.push_str(&format!("p[{index}]"));
                    rest = &after[length..];
                }
                None => {
                    plain.push_str(word);
                    rest = after;
                }
            }
        }
        plain.push_str(rest);
        let names: Vec<String> = (0..probes.len()).map(|index| format!("p[{index}]")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(ProbedFormula { formula: Formula::parse(&plain, &names)?, probes })
    }
}

/// The quantity that a word and what follows it stand for, and how much of that it takes.
fn probe(word: &str, after: &str) -> Option<(Probe, usize)> {
    if word == "time" {
        return Some((Probe::Time, 0));
    }
    let inside = after.strip_prefix('(')?;
    let close = inside.find(')')?;
    let mut names = inside[..close].split(',').map(str::trim);
    let (first, second) = (names.next()?, names.next());
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_plain_character);
    if names.next().is_some() || !is_name(first) || !second.is_none_or(is_name) {
        return None;
    }
    let probe = match (word, second) {
        ("v", None) => Probe::Voltage(first.to_owned()),
        ("v", Some(second)) => Probe::Difference(first.to_owned(), second.to_owned()),
        ("i", None) => Probe::Current(first.to_owned()),
        ("m", None) => Probe::Measure(first.to_owned()),
        _ => return None,
    };
    Some((probe, close + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, plain: &str, probes: &[&str]) {
        let found = ProbedFormula::parse(text).unwrap();
        assert_eq!(found.formula.text(), plain);
        let names: Vec<String> = found.probes.iter().map(Probe::to_string).collect();
        assert_eq!(names, probes);
    }

    #[test]
    fn taken_apart() {
        check("1e-3*v(a) + v(a)", "1e-3*p[0] + p[0]", &["v(a)"]);
        check("v(e)*2.5e3", "p[0]*2.5e3", &["v(e)"]);
        check("max(v(a+), v(a+,b))", "max(p[0], p[1])", &["v(a+)", "v(a+, b)"]);
        check("sin(time)*m(gain)", "sin(p[0])*p[1]", &["time", "m(gain)"]);
        check("2", "2", &[]);
        assert!(ProbedFormula::parse("v(a").is_err());
        assert!(ProbedFormula::parse("v()").is_err());
        assert!(ProbedFormula::parse("w(a)").is_err());
    }
}
