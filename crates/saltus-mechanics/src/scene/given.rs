//! Vectors of a scene that may be functions.

use super::SceneFault;
use saltus_model::{Names, Operator};

/// A vector: numbers, one formula a component, or a function.
#[derive(Debug, Clone)]
pub enum Given {
    /// Constant.
    Numbers(Vec<f64>),
    /// One formula a component, which may use the parameters of the scene.
    Formulas(Vec<String>),
    /// A function, which no file can hold.
    Function(Operator),
}

impl Given {
    /// Number of components.
    pub fn len(&self) -> usize {
        match self {
            Given::Numbers(values) => values.len(),
            Given::Formulas(texts) => texts.len(),
            Given::Function(operator) => operator.rows(),
        }
    }

    /// Whether it has no components.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The formulas of one text, `[a, b, c]`.
    pub fn of_text(text: &str) -> Given {
        let inner = text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let (text, mut depth, mut start) = (inner.unwrap_or(text), 0, 0);
        let mut texts = Vec::new();
        for (i, c) in text.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                ',' if depth == 0 => {
                    texts.push(text[start..i].trim().to_string());
                    start = i + 1;
                }
                _ => {}
            }
        }
        texts.push(text[start..].trim().to_string());
        Given::Formulas(texts)
    }

    /// The operator, which has `expected` components.
    pub(crate) fn operator(
        &self,
        key: &'static str,
        expected: usize,
        names: &Names,
        constants: &[(&str, f64)],
    ) -> Result<Operator, SceneFault> {
        if self.len() != expected {
            return Err(SceneFault::Length { key, found: self.len(), expected });
        }
        match self {
            Given::Numbers(values) => match values.iter().find(|value| !value.is_finite()) {
                None => Ok(values.clone().into()),
                Some(&value) => Err(SceneFault::Range { key, value, allowed: "a finite number" }),
            },
            Given::Formulas(texts) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                Operator::formulas(texts.len(), 1, &texts, names, constants)
                    .map_err(|source| SceneFault::Formula { key, source })
            }
            Given::Function(operator) => Ok(operator.clone()),
        }
    }
}

impl From<Vec<f64>> for Given {
    fn from(values: Vec<f64>) -> Self {
        Given::Numbers(values)
    }
}

impl From<Operator> for Given {
    fn from(operator: Operator) -> Self {
        Given::Function(operator)
    }
}

impl<const N: usize> From<[&str; N]> for Given {
    fn from(texts: [&str; N]) -> Self {
        Given::Formulas(texts.iter().map(|text| text.to_string()).collect())
    }
}
