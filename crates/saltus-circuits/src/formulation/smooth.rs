//! Devices that are smooth: `0 = y = φ(t, w, λ)` with `w` linear, and exact derivatives.

use super::forcing::Forcing;
use super::parts::Quantity;
use crate::error::Culprit;
use crate::{Circuit, CircuitError, Component};
use saltus_expr::Function;
use saltus_linalg::Matrix;
use saltus_model::{At, Input, Linked, ModelError, OperatorError, Order, Relation, Terms};

/// An equation `0 = φ(t, w, λ)` of one multiplier.
#[derive(Debug, Clone)]
pub(crate) enum Smooth {
    /// `λ` is the current, `w` the voltage of the junction.
    JunctionCurrent(Junction),
    /// `λ` is the voltage of the junction, `w` the current.
    JunctionVoltage(Junction),
    /// `λ` is the current, `w = (v_GS − V_t, v_GD − V_t)`.
    Square(SquareLaw),
    /// `λ − f(t, w)`.
    Formula(Box<Formula>),
}

/// The exponential diode `i = I_s (exp(v/V) − 1)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Junction {
    saturation: f64,
    voltage: f64,
    corner: f64, // the current from which on the equation is solved for the voltage
}

impl Junction {
    /// `I_s` and `V = n V_T`.
    pub fn new(saturation: f64, voltage: f64) -> Junction {
        Junction { saturation, voltage, corner: 1e3 * saturation }
    }

    /// An equation of `i` and `v` that vanishes on the characteristic, and its derivatives.
    ///
    /// ```text
    /// i > i_c:  (V ln(1 + i/I_s) − v) i_c/V        else:  i − I_s (exp(v/V) − 1)
    /// ```
    ///
    /// with the exponential continued as a straight line beyond `i_c`, so that Newton's method finds its
    /// way from anywhere without large numbers.
    fn equation(&self, i: f64, v: f64) -> [f64; 3] {
        let Junction { saturation, voltage, corner } = *self;
        if i > corner {
            let g = corner / voltage;
            let y = g * (voltage * (i / saturation).ln_1p() - v);
            return [y, g * voltage / (saturation + i), -g];
        }
        let last = voltage * (corner / saturation).ln_1p();
        if v > last {
            let slope = (corner + saturation) / voltage;
            return [i - corner - slope * (v - last), 1.0, -slope];
        }
        let grown = (v / voltage).exp_m1();
        [i - saturation * grown, 1.0, -saturation * (grown + 1.0) / voltage]
    }
}

/// `i = K/2 (max(u_S, 0)² − max(u_D, 0)²) (1 + λ |u_S − u_D|)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SquareLaw {
    /// `K`.
    pub strength: f64,
    /// `λ` of channel-length modulation.
    pub modulation: f64,
}

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

impl Smooth {
    /// `φ`, `∂φ/∂w` and `∂φ/∂λ`.
    pub fn eval(&self, t: f64, w: &[f64], lam: f64, dw: &mut [f64]) -> (f64, f64) {
        match self {
            Smooth::JunctionCurrent(junction) => {
                let [y, di, dv] = junction.equation(lam, w[0]);
                dw[0] = dv;
                (y, di)
            }
            Smooth::JunctionVoltage(junction) => {
                let [y, di, dv] = junction.equation(w[0], lam);
                dw[0] = di;
                (y, dv)
            }
            Smooth::Square(SquareLaw { strength, modulation }) => {
                let [on, back] = [w[0], w[1]].map(|u| u.max(0.0));
                let (square, across) = (on * on - back * back, w[0] - w[1]);
                let (half, grown) = (strength / 2.0, 1.0 + modulation * across.abs());
                let turned = half * square * modulation * across.signum();
                dw[0] = -(half * 2.0 * on * grown + turned);
                dw[1] = half * 2.0 * back * grown + turned;
                (lam - half * square * grown, 1.0)
            }
            Smooth::Formula(formula) => {
                thread_local! {
                    static VALUES: std::cell::Cell<Vec<f64>> = const { std::cell::Cell::new(Vec::new()) };
                }
                let mut values = VALUES.take();
                values.clear();
                values.push(t);
                values.extend_from_slice(w);
                let mut value = [0.0];
                formula.value.eval(&values, &mut value);
                formula.gradient.eval(&values, dw);
                dw.iter_mut().for_each(|slope| *slope = -*slope);
                VALUES.set(values);
                (lam - value[0], 1.0)
            }
        }
    }

    fn uses_time(&self) -> bool {
        matches!(self, Smooth::Formula(formula) if formula.uses_time)
    }
}

/// `y = φ(t, C x + D λ + e(t), λ)`, `r = B λ`.
#[derive(Debug)]
pub(crate) struct SmoothRelation {
    /// The equation.
    pub law: Smooth,
    /// One row an output `w`.
    pub C: Matrix,
    /// One column.
    pub D: Matrix,
    /// One column.
    pub B: Matrix,
    /// `e`.
    pub e: Forcing,
}

/// Outputs and slopes of one evaluation.
#[derive(Default)]
struct Scratch {
    w: Vec<f64>,
    dw: Vec<f64>,
}

impl SmoothRelation {
    /// `φ` and `∂φ/∂λ`, and then whatever `use_slopes` does with `∂φ/∂w`.
    fn at<T>(
        &self,
        at: At<'_>,
        use_it: impl FnOnce(f64, f64, &[f64]) -> T,
    ) -> Result<T, OperatorError> {
        thread_local! {
            static SCRATCH: std::cell::Cell<Option<Scratch>> = const { std::cell::Cell::new(None) };
        }
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let Scratch { w, dw } = &mut scratch;
        w.resize(self.C.rows(), 0.0);
        dw.resize(self.C.rows(), 0.0);
        self.e.eval(at.t, w);
        self.C.apply_add(at.first, w);
        self.D.apply_add(at.second, w);
        let (y, dlam) = self.law.eval(at.t, w, at.second[0], dw);
        let finite = y.is_finite() && dlam.is_finite() && dw.iter().all(|slope| slope.is_finite());
        let result = match finite {
            true => Ok(use_it(y, dlam, dw)),
            false => {
                let why = format!("is not finite at {w:?}");
                Err(OperatorError { what: "its value".to_string(), time: at.t, why })
            }
        };
        SCRATCH.set(Some(scratch));
        result
    }
}

impl Relation for SmoothRelation {
    fn order(&self) -> Order {
        Order::First
    }

    fn size(&self) -> usize {
        1
    }

    fn terms(&self) -> Terms {
        let time = self.law.uses_time() || !self.e.is_constant();
        Terms { through: true, time, ..Terms::default() }
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        self.at(at, |value, _, _| y[0] = value)
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        self.at(at, |_, _, dw| {
            C.reset(1, self.C.cols());
            for (k, slope) in dw.iter().enumerate() {
                let terms = C.data_mut().iter_mut().zip(self.C.row(k));
                terms.for_each(|(C, own)| *C += slope * own);
            }
        })
    }

    fn output_dlam(&self, at: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        self.at(at, |_, dlam, dw| {
            D.reset(1, 1);
            D[(0, 0)] = dlam;
            dw.iter().enumerate().for_each(|(k, slope)| D[(0, 0)] += slope * self.D[(k, 0)]);
        })
    }

    fn output_dt(&self, _: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        rate.fill(0.0);
        Ok(())
    }

    fn input(&self) -> Option<&dyn Input> {
        Some(self)
    }

    fn check(&self, owner: &str, linked: Linked<'_>) -> Result<(), ModelError> {
        let (dim, found) = (linked.states(), self.C.cols());
        if found == dim {
            return Ok(());
        }
        let why = "state components of the linked systems".to_string();
        Err(ModelError::Length { owner: owner.to_string(), what: "C", found, expected: dim, why })
    }
}

impl Input for SmoothRelation {
    fn value(&self, at: At<'_>, r: &mut [f64]) -> Result<(), OperatorError> {
        self.B.apply(at.second, r);
        Ok(())
    }

    fn dlam(&self, _: At<'_>, B: &mut Matrix) -> Result<(), OperatorError> {
        B.copy_from(&self.B);
        Ok(())
    }

    fn dx(&self, _: At<'_>, K: &mut Matrix) -> Result<(), OperatorError> {
        K.reset(self.B.rows(), self.B.rows());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Derivatives beside differences, on both sides of every corner.
    #[test]
    fn derivatives() {
        let junction = Junction::new(1e-14, 0.026);
        let mut circuit = Circuit::new("formula");
        circuit.node("a");
        circuit.node("b");
        let device = crate::Device::BehavioralVoltage {
            between: [crate::Node(1), crate::Node(0)],
            formula: String::new(),
        };
        let component = Component { name: "B1".to_string(), device, place: None };
        let (formula, quantities) =
            Formula::parse("v(a)^2*time + exp(v(a, b)) - abs(V(A))", &circuit, &component).unwrap();
        assert_eq!(quantities.len(), 2);
        let square = SquareLaw { strength: 3.0, modulation: 0.1 };
        let cases = [
            (Smooth::JunctionCurrent(junction), vec![0.61], 1e-3),
            (Smooth::JunctionCurrent(junction), vec![0.1], 1e-12),
            (Smooth::JunctionCurrent(junction), vec![0.9], -1e-12),
            (Smooth::JunctionVoltage(junction), vec![1e-4], 0.6),
            (Smooth::Square(square), vec![1.0, -1.0], 0.3),
            (Smooth::Square(square), vec![1.0, 0.7], 0.3),
            (Smooth::Square(square), vec![-0.1, 0.7], 0.3),
            (Smooth::Formula(Box::new(formula)), vec![0.4, 0.2], 0.3),
        ];
        for (law, w, lam) in cases {
            let (mut dw, mut none) = (vec![0.0; w.len()], vec![0.0; w.len()]);
            let (_, dlam) = law.eval(2.0, &w, lam, &mut dw);
            let relative = |found: f64, exact: f64| (found - exact).abs() <= 1e-5 * exact.abs();
            let d = 1e-6 * lam.abs().max(1e-12);
            let above = law.eval(2.0, &w, lam + d, &mut none).0;
            let below = law.eval(2.0, &w, lam - d, &mut none).0;
            assert!(relative((above - below) / (2.0 * d), dlam), "{law:?}");
            for k in 0..w.len() {
                let d = 1e-6 * w[k].abs();
                let [above, below] = [d, -d].map(|d| {
                    let mut moved = w.clone();
                    moved[k] += d;
                    law.eval(2.0, &moved, lam, &mut none).0
                });
                assert!(relative((above - below) / (2.0 * d), dw[k]), "{law:?}, {k}");
            }
        }
    }
}
