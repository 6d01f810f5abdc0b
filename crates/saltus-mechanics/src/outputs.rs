//! Relations made of coordinates: gaps, rates that are given, springs with dampers, loads.
//!
//! ```text
//! gap:      y = x                                                                            (1)
//! rate:     u = ẋ − v(t)                                                                     (2)
//! spring:   y = x − r(t) + λ/k,  over a step y + (c/k) ẏ = 0 is  λ = −k (x − r) − c (ẋ − ṙ)   (3)
//! load:     y = λ − f(t)                                                                     (4)
//! ```

use crate::carrier::Carrier;
use crate::fault::Fault;
use crate::pose::{self, Pose};
use crate::row::Line;
use saltus_linalg::Matrix;
use saltus_model::{
    Argument, At, Body, ForceRule, Linked, ModelError, Operator, OperatorError, Order, Relation,
    Terms, relation::MOST_LINKED,
};
use std::sync::Arc;

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
    most: usize, // bodies that it links
    carriers: Vec<Arc<Carrier>>,
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
        Lines { name, body, role, lines, most: 2, carriers: Vec::new(), fault }
    }

    /// The same of as many bodies as two joints have.
    pub(crate) fn of_two_joints(self) -> Lines {
        Lines { most: MOST_LINKED, ..self }
    }

    /// The same where these stand after the linked bodies.
    pub(crate) fn carried_by(self, carriers: impl IntoIterator<Item = Arc<Carrier>>) -> Lines {
        Lines { carriers: carriers.into_iter().collect(), ..self }
    }

    /// Takes the poses of the linked bodies, and after them those of what carries their joints.
    #[inline]
    fn with_poses(&self, at: At<'_>, take: impl FnOnce(&[Pose])) -> Result<(), OperatorError> {
        match pose::count(self.body, at.first.len()) + self.carriers.len() {
            0..=2 => take(&self.poses::<2>(at)?),
            _ => take(&self.poses::<MOST_LINKED>(at)?),
        }
        Ok(())
    }

    #[inline]
    fn poses<const N: usize>(&self, at: At<'_>) -> Result<[Pose; N], OperatorError> {
        let mut poses = [Pose::WORLD; N];
        let bodies = Pose::each(self.body, at.first);
        let count = bodies.len();
        poses.iter_mut().zip(bodies).for_each(|(pose, body)| *pose = body);
        for (pose, carrier) in poses.iter_mut().skip(count).zip(&self.carriers) {
            *pose = carrier.pose(at.t)?;
        }
        Ok(poses)
    }
}

/// How fast a condition changes with velocities.
pub(crate) fn product(slopes: &[f64; 6], velocities: &[f64; 6]) -> f64 {
    slopes.iter().zip(velocities).map(|(slope, v)| slope * v).sum()
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

    fn most_systems(&self) -> usize {
        self.most
    }

    fn terms(&self) -> Terms {
        let (through, time, velocity) = match &self.role {
            Role::Gap => (false, false, false),
            Role::Rate(v) => (false, !v.is_zero(), true),
            Role::Spring { rest, .. } => (true, rest.is_some(), false),
            Role::Load(_) => (true, true, false),
        };
        let time = time || !self.carriers.is_empty();
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
        self.with_poses(at, |poses| {
            y.iter_mut().zip(&self.lines).for_each(|(y, line)| *y = line.output(poses));
        })?;
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
        let (body, states) = (self.body, at.first.len());
        let (width, bodies) = (pose::width(body, states), pose::count(body, states));
        C.reset(self.size(), width);
        self.with_poses(at, |poses| {
            for (line, row) in self.lines.iter().zip(C.data_mut().chunks_exact_mut(width)) {
                line.for_each_slope(poses, |k, slopes| {
                    if k < bodies {
                        pose::add_slopes(body, k, &slopes, row);
                    }
                });
            }
        })
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
        if self.carriers.is_empty() {
            return Ok(());
        }
        let bodies = pose::count(self.body, at.first.len());
        let poses = self.poses::<MOST_LINKED>(at)?;
        let mut velocities = [[0.0; 6]; MOST_LINKED];
        for (k, carrier) in (bodies..MOST_LINKED).zip(&self.carriers) {
            velocities[k] = carrier.velocities(at.t, &poses[k])?;
        }
        for (rate, line) in rate.iter_mut().zip(&self.lines) {
            line.for_each_slope(&poses, |k, slopes| *rate += product(&slopes, &velocities[k]));
        }
        Ok(())
    }

    fn operators(&self) -> Vec<&Operator> {
        let mut operators = match &self.role {
            Role::Gap | Role::Spring { rest: None, .. } => Vec::new(),
            Role::Rate(operator) | Role::Load(operator) => vec![operator],
            Role::Spring { rest: Some((rest, rate)), .. } => vec![rest, rate],
        };
        operators.extend(self.carriers.iter().flat_map(|carrier| carrier.operators()));
        operators
    }

    fn check(&self, owner: &str, _: Linked<'_>) -> Result<(), ModelError> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(fault.clone().of(owner, self.name)),
        }
    }
}
