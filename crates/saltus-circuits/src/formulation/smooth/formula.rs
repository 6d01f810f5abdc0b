//! Behavioural sources: formulas of time, voltages and currents.

use crate::error::Culprit;
use crate::formulation::parts::Quantity;
use crate::{Circuit, CircuitError, Component};
use saltus_expr::Function;

/// A formula of time and of voltages and currents.
#[derive(Debug, Clone)]
pub(crate) struct Formula {
    value: Function,
    gradient: Function,
    uses_time: bool,
}

impl Formula {
    /// Reads `v(a)`, `v(a, b)`, `i(name)` and `time`; also says which quantities it is of.
    pub fn parse(
        text: &str,
        circuit: &Circuit,
        component: &Component,
    ) -> Result<(Formula, Vec<Quantity>), CircuitError> {
        let mut quantities: Vec<Quantity> = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let word =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let (name, after) = rest.split_at(word);
            let probe = matches!(name, "v" | "V" | "i" | "I");
            match after.strip_prefix('(').and_then(|after| after.split_once(')')) {
                Some((inner, after)) if probe => {
                    let quantity = quantity_of(name, inner, circuit, component)?;
                    let known = quantities.iter().position(|known| *known == quantity);
                    let k = known.unwrap_or(quantities.len());
                    if known.is_none() {
                        quantities.push(quantity);
                    }
                    plain.push_str(&format!("probe[{k}]"));
                    rest = after;
                }
                _ => {
                    let taken = word.max(letter.len_utf8());
                    plain.push_str(&rest[..taken]);
                    rest = &rest[taken..];
                }
            }
        }
        let mut variables = vec!["time".to_string()];
        variables.extend((0..quantities.len()).map(|k| format!("probe[{k}]")));
        let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
        let value = Function::parse(&[&plain], &variables)
            .map_err(|source| CircuitError::Formula { component: component.into(), source })?;
        let probes: Vec<usize> = (1..variables.len()).collect();
        let gradient = value.jacobian(&probes);
        let uses_time = value.uses(0);
        Ok((Formula { value, gradient, uses_time }, quantities))
    }

    /// Whether time is in it.
    pub fn uses_time(&self) -> bool {
        self.uses_time
    }

    /// `f(t, w)` and its slopes, with a minus, in `dw`.
    pub fn value(&self, t: f64, w: &[f64], dw: &mut [f64]) -> f64 {
        thread_local! {
            static VALUES: std::cell::Cell<Vec<f64>> = const { std::cell::Cell::new(Vec::new()) };
        }
        let mut values = VALUES.take();
        values.clear();
        values.push(t);
        values.extend_from_slice(w);
        let mut value = [0.0];
        self.value.eval(&values, &mut value);
        self.gradient.eval(&values, dw);
        dw.iter_mut().for_each(|slope| *slope = -*slope);
        VALUES.set(values);
        value[0]
    }

    /// Factors of the quantities, and what is added, where it is a sum of them.
    pub fn affine(&self, quantities: usize) -> Option<(Vec<f64>, f64)> {
        if self.uses_time || !self.gradient.used().is_empty() {
            return None;
        }
        let origin = vec![0.0; 1 + quantities];
        let (mut factors, mut constant) = (vec![0.0; quantities], [0.0]);
        self.gradient.eval(&origin, &mut factors);
        self.value.eval(&origin, &mut constant);
        Some((factors, constant[0]))
    }
}

/// What `v(…)` or `i(…)` stands for.
fn quantity_of(
    kind: &str,
    inner: &str,
    circuit: &Circuit,
    component: &Component,
) -> Result<Quantity, CircuitError> {
    let unknown = |what, name: &str, nearest: Option<&str>| CircuitError::Unknown {
        owner: Culprit::from(component).to_string(),
        what,
        name: name.to_string(),
        nearest: nearest.map(str::to_string),
    };
    if kind.eq_ignore_ascii_case("i") {
        let name = inner.trim();
        let known = || circuit.components.iter().map(|known| known.name.as_str());
        let missing = || unknown("component", name, saltus_expr::nearest(name, known()));
        return circuit.find(name).map(Quantity::Through).ok_or_else(missing);
    }
    let node = |name: &str| {
        let name = name.trim();
        let nearest = || saltus_expr::nearest(name, circuit.nodes.iter().map(String::as_str));
        circuit.find_node(name).ok_or_else(|| unknown("node", name, nearest()))
    };
    let (first, second) = inner.split_once(',').unwrap_or((inner, "0"));
    Ok(Quantity::Voltage([node(first)?, node(second)?]))
}
