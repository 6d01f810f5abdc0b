//! Relations made of coordinates: gaps, rates that are given, springs with dampers, loads.
//!
//! ```text
//! gap:      y = x                                                                            (1)
//! rate:     u = ẋ − v(t)                                                                     (2)
//! spring:   y = x − r(t) + λ/k,  over a step y + (c/k) ẏ = 0 is  λ = −k (x − r) − c (ẋ − ṙ)   (3)
//! load:     y = λ − f(t)                                                                     (4)
//! ```

use crate::fault::Fault;
use crate::pose::{self, Pose};
use crate::row::{Line, Slopes};
use saltus_linalg::Matrix;
use saltus_model::{
    Argument, At, Body, ForceRule, Linked, ModelError, Operator, OperatorError, Order, Relation,
    Terms,
};

/// What a relation of coordinates stands for.
#[derive(Debug)]
pub(crate) enum Role {
    /// (1).
    Gap,
    /// (2).
    Rate(Operator),
    /// (3), row by row.
    Spring {
        /// `1/k` and `c/k`.
        rows: Vec<(f64, f64)>,
        /// `r` and its rate, the same for all rows.
        rest: Option<(Operator, Operator)>,
    },
    /// (4).
    Load(Operator),
}

impl Role {
    /// (3) of one row whose rest moves.
    pub fn spring(stiffness: f64, damping: f64, rest: Option<Operator>) -> Role {
        let rest = rest.map(|rest| {
            let rate = rest.accurate_derivative(Argument::Time, 1);
            (rest, rate)
        });
        Role::Spring { rows: vec![(1.0 / stiffness, damping / stiffness)], rest }
    }
}

/// Sums of conditions as a relation.
#[derive(Debug)]
pub struct Lines {
    name: &'static str,
    body: Body,
    role: Role,
    lines: Vec<Line>,
    fault: Option<Fault>,
}

impl Lines {
    pub(crate) fn new(
        name: &'static str,
        body: Body,
        role: Role,
        lines: Result<Vec<Line>, Fault>,
    ) -> Lines {
        let (lines, fault) = match lines {
            Ok(lines) => (lines, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        Lines { name, body, role, lines, fault }
    }
}

/// What an operator of time says now.
fn value(operator: &Operator, t: f64, what: &str) -> Result<f64, OperatorError> {
    let mut value = [0.0];
    operator.eval(At::time(t), what, &mut value)?;
    Ok(value[0])
}

impl Relation for Lines {
    fn order(&self) -> Order {
        Order::Second
    }

    fn size(&self) -> usize {
        self.lines.len().max(1)
    }

    fn terms(&self) -> Terms {
        let (through, time, velocity) = match &self.role {
            Role::Gap => (false, false, false),
            Role::Rate(v) => (false, !v.is_zero(), true),
            Role::Spring { rest, .. } => (true, rest.is_some(), false),
            Role::Load(_) => (true, true, false),
        };
        Terms { through, time, velocity, ..Terms::default() }
    }

    fn is_in_velocities(&self) -> bool {
        true
    }

    fn force_rule(&self, component: usize) -> Option<ForceRule> {
        match &self.role {
            Role::Gap | Role::Rate(_) => None,
            Role::Spring { rows, .. } => {
                rows.get(component).map(|&(_, retardation)| ForceRule::Spring { retardation })
            }
            Role::Load(_) => Some(ForceRule::Load),
        }
    }

    fn output(&self, at: At<'_>, y: &mut [f64]) -> Result<(), OperatorError> {
        if let Role::Load(force) = &self.role {
            let force = value(force, at.t, "force")?;
            y.iter_mut().zip(at.second).for_each(|(y, lam)| *y = lam - force);
            return Ok(());
        }
        let poses = Pose::pair(self.body, at.first);
        y.iter_mut().zip(&self.lines).for_each(|(y, line)| *y = line.output(&poses));
        if let Role::Spring { rows, rest } = &self.role {
            let rest = match rest {
                Some((rest, _)) => value(rest, at.t, "rest")?,
                None => 0.0,
            };
            for (k, (y, (compliance, _))) in y.iter_mut().zip(rows).enumerate() {
                // the same place again after whole turns
                let off = crate::row::nearest(*y - rest, self.lines[k].period);
                *y = off + compliance * at.second.get(k).copied().unwrap_or(0.0);
            }
        }
        Ok(())
    }

    fn output_dx(&self, at: At<'_>, C: &mut Matrix) -> Result<(), OperatorError> {
        let poses = Pose::pair(self.body, at.first);
        let width = pose::width(self.body, at.first.len());
        C.resize(self.size(), width);
        for (line, row) in self.lines.iter().zip(C.data_mut().chunks_exact_mut(width)) {
            let Slopes { by_a, by_b } = line.slopes(&poses);
            pose::write(self.body, [&by_a, &by_b], row);
        }
        Ok(())
    }

    fn output_dlam(&self, _: At<'_>, D: &mut Matrix) -> Result<(), OperatorError> {
        D.reset(self.size(), self.size());
        match &self.role {
            Role::Gap | Role::Rate(_) => {}
            Role::Spring { rows, .. } => {
                rows.iter().enumerate().for_each(|(k, row)| D[(k, k)] = row.0);
            }
            Role::Load(_) => (0..self.size()).for_each(|k| D[(k, k)] = 1.0),
        }
        Ok(())
    }

    fn output_dt(&self, at: At<'_>, rate: &mut [f64]) -> Result<(), OperatorError> {
        let speed = match &self.role {
            Role::Rate(v) => value(v, at.t, "v")?,
            Role::Spring { rest: Some((_, rate)), .. } => value(rate, at.t, "rate of rest")?,
            _ => 0.0,
        };
        rate.fill(-speed);
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        match &self.role {
            Role::Gap | Role::Spring { rest: None, .. } => Vec::new(),
            Role::Rate(operator) | Role::Load(operator) => vec![operator],
            Role::Spring { rest: Some((rest, rate)), .. } => vec![rest, rate],
        }
    }

    fn check(&self, owner: &str, _: Linked<'_>) -> Result<(), ModelError> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(fault.clone().of(owner, self.name)),
        }
    }
}
