//! Devices that are smooth: `0 = y = φ(t, w, λ)` with `w` linear, and exact derivatives.

mod channel;
mod charge;
mod formula;
mod junction;
mod passage;
mod transport;

pub(crate) use channel::Channel;
pub(crate) use charge::Charge;
pub(crate) use formula::Formula;
pub(crate) use junction::Junction;
pub(crate) use passage::Passage;
pub(crate) use transport::{BaseCharge, Transport};

use super::forcing::Forcing;
use saltus_linalg::Matrix;
use saltus_model::{At, Input, Linked, ModelError, OperatorError, Order, Relation, Terms};

/// An equation `0 = φ(t, w, λ)` of one multiplier.
#[derive(Debug, Clone)]
pub(crate) enum Smooth {
    /// `λ` is the current, `w` the voltage of the junction.
    JunctionCurrent(Junction),
    /// `λ` is the voltage of the junction, `w` the current.
    JunctionVoltage(Junction),
    /// `λ` is the current of a field-effect transistor, `w = (v_GS, v_DS, v_BS)`.
    Channel(Channel),
    /// `λ` is the current between collector and emitter.
    Transport(Transport),
    /// `λ` is the current of a switch beyond that of its open one, `w` its voltage and its control.
    Passage(Passage),
    /// `λ` is the current into a charge.
    Charge(Charge),
    /// `λ − f(t, w)`.
    Formula(Box<Formula>),
}

impl Smooth {
    /// `φ`, `∂φ/∂w` and `∂φ/∂λ`. Devices that conduct have a conductance `leak` beside them, besides
    /// that of a junction itself.
    pub fn eval(&self, t: f64, leak: f64, w: &[f64], lam: f64, dw: &mut [f64]) -> (f64, f64) {
        let leak = match self {
            Smooth::JunctionCurrent(one) | Smooth::JunctionVoltage(one) => leak + one.leak(),
            _ => leak,
        };
        match self {
            Smooth::JunctionCurrent(junction) => {
                let [y, di, dv] = junction.equation(lam - leak * w[0], w[0]);
                dw[0] = dv - leak * di;
                (y, di)
            }
            Smooth::JunctionVoltage(junction) => {
                let [y, di, dv] = junction.equation(w[0] - leak * lam, lam);
                dw[0] = di;
                (y, dv - leak * di)
            }
            Smooth::Channel(channel) => {
                let (current, slopes) = channel.current([w[0], w[1], w[2]]);
                dw.iter_mut().zip(slopes).for_each(|(dw, slope)| *dw = -slope);
                dw[1] -= leak;
                (lam - current - leak * w[1], 1.0)
            }
            Smooth::Transport(transport) => {
                let (current, slopes) = transport.current([w[0], w[1], w[2], w[3]]);
                dw.iter_mut().zip(slopes).for_each(|(dw, slope)| *dw = -slope);
                (lam - current, 1.0)
            }
            Smooth::Passage(passage) => {
                let (current, slopes) = passage.current([w[0], w[1]]);
                dw.iter_mut().zip(slopes).for_each(|(dw, slope)| *dw = -slope);
                (lam - current, 1.0)
            }
            Smooth::Charge(charge) => (charge.equation(w, dw), 0.0),
            Smooth::Formula(formula) => (lam - formula.value(t, w, dw), 1.0),
        }
    }

    /// What counts as a voltage or current of the equation.
    fn unit(&self) -> f64 {
        match self {
            Smooth::JunctionCurrent(_) | Smooth::JunctionVoltage(_) | Smooth::Charge(_) => 1.0,
            Smooth::Channel(_) | Smooth::Transport(_) | Smooth::Passage(_) => 1e-6,
            Smooth::Formula(_) => 0.0,
        }
    }

    fn uses_time(&self) -> bool {
        matches!(self, Smooth::Formula(formula) if formula.uses_time())
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
        let (y, dlam) = self.law.eval(at.t, 0.0, w, at.second[0], dw);
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

    fn unit(&self) -> f64 {
        self.law.unit()
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
    use crate::{Circuit, Component};

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
        let channel = Channel::new(3.0, 0.5, 0.1, 0.7, 0.6);
        let base = BaseCharge { early: [50.0, 20.0], knee: [1e-2, 1e-3] };
        let depletion =
            crate::JunctionCharge { potential: 0.8, grading: 0.4, ..Default::default() };
        let charge = |base, transit| Smooth::Charge(Charge::new(2e-12, depletion, transit, base));
        let cases = [
            (Smooth::JunctionCurrent(junction), vec![0.61], 1e-3),
            (Smooth::JunctionCurrent(junction), vec![0.1], 1e-12),
            (Smooth::JunctionCurrent(junction), vec![0.9], -1e-5),
            // on the characteristic, where the unit of the equation does not count
            (
                Smooth::JunctionCurrent(junction),
                vec![0.55],
                0.55e-9 + 1e-14 * (0.55_f64 / 0.026).exp_m1(),
            ),
            (Smooth::JunctionVoltage(junction), vec![1e-4], 0.6),
            (Smooth::Channel(channel), vec![1.9, 0.3, -0.5], 0.3),
            (Smooth::Channel(channel), vec![1.9, 4.0, 0.2], 0.3),
            (Smooth::Channel(channel), vec![1.9, -2.0, -0.5], 0.3),
            (Smooth::Transport(Transport(base)), vec![0.6, -3.0, 1e-3, 2e-5], 0.3),
            (Smooth::Passage(Passage::new([1.0, 1e6], [2.0, 1.0])), vec![3.0, 1.3], 0.3),
            (charge(None, 0.0), vec![-2.0, 0.1], 1e-3),
            (charge(None, 0.0), vec![0.7, 0.1], 1e-3),
            (charge(None, 1e-9), vec![0.3, 0.1, 1e-3], 1e-3),
            (charge(Some(base), 1e-9), vec![0.3, 0.1, 0.6, -3.0, 1e-3, 2e-5], 1e-3),
            (Smooth::Formula(Box::new(formula)), vec![0.4, 0.2], 0.3),
        ];
        for (law, w, lam) in cases {
            let (mut dw, mut none) = (vec![0.0; w.len()], vec![0.0; w.len()]);
            let (_, dlam) = law.eval(2.0, 1e-9, &w, lam, &mut dw);
            let relative = |found: f64, exact: f64| (found - exact).abs() <= 1e-5 * exact.abs();
            let d = 1e-5 * lam.abs().max(1e-12);
            let above = law.eval(2.0, 1e-9, &w, lam + d, &mut none).0;
            let below = law.eval(2.0, 1e-9, &w, lam - d, &mut none).0;
            assert!(relative((above - below) / (2.0 * d), dlam), "{law:?}");
            for k in 0..w.len() {
                let d = 1e-6 * w[k].abs();
                let [above, below] = [d, -d].map(|d| {
                    let mut moved = w.clone();
                    moved[k] += d;
                    law.eval(2.0, 1e-9, &moved, lam, &mut none).0
                });
                assert!(relative((above - below) / (2.0 * d), dw[k]), "{law:?}, {k}");
            }
        }
    }
}
