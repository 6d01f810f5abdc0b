//! The one-step schemes: their settings here, one scheme a file.

pub(crate) mod assembly;
pub(crate) mod euler_moreau;
mod first_order;
mod laws;
mod mechanics;
pub(crate) mod moreau_jean;
mod newton;
pub(crate) mod part;
pub(crate) mod row;

use crate::SimError;
use part::Part;
use saltus_model::{Model, Order};
use saltus_numerics::{Report, Solver, Status};
use serde::{Deserialize, Serialize};

/// A one-step scheme for the systems of one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Integrator {
    /// For first-order systems.
    EulerMoreau(EulerMoreau),
    /// For mechanical systems.
    MoreauJean(MoreauJean),
}

/// The θ–γ scheme of Euler and Moreau for first-order systems.
///
/// ```text
/// M (x⁺ − x) = h (θ f⁺ + (1 − θ) f) + h (γ r⁺ + (1 − γ) r)
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EulerMoreau {
    /// Weight of the step's end in the smooth terms, in [0, 1]. 1 is implicit and the most
    /// robust, 1/2 is second order where nothing switches. Default 1.
    pub theta: f64,
    /// Weight of the step's end in the multiplier terms, in (0, 1]. Default 1.
    pub gamma: f64,
}

/// The θ-scheme of Moreau and Jean for mechanical systems with impacts.
///
/// ```text
/// M (v⁺ − v) = h F_θ + Hᵀ λ,    q⁺ = q + h (θ v⁺ + (1 − θ) v)
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MoreauJean {
    /// Weight of the step's end, in [0, 1]. 1/2 conserves the energy of free motion, 1 damps
    /// fast vibrations. Default 1/2.
    pub theta: f64,
    /// A contact is active in a step that starts with `y + γ h u ≤ threshold`. In [0, 1].
    /// Default 1/2.
    pub gamma: f64,
    /// See `gamma`; in the unit of the gap. A small positive value keeps resting contacts
    /// active that round-off has lifted. Default 0.
    pub threshold: f64,
}

/// How the equations of a step that are not linear are solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewtonSettings {
    /// Size of the residual, relative to its terms, at which the iteration ends; 1e-9 at least
    /// where a relation of mechanical systems has its `H` by differences. Default 1e-12.
    pub tol: f64,
    /// Iterations before giving up. Default 50.
    pub max_iter: usize,
    /// When Jacobians are renewed. Default full.
    pub mode: NewtonMode,
}

/// When the Jacobians of a step are renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewtonMode {
    /// Wherever the iteration is slow.
    #[default]
    Full,
    /// Once a step.
    Quasi,
    /// Once a step, and there is one iteration only: the scheme is linearly implicit, and the
    /// residual is not asked for.
    Linear,
}

impl EulerMoreau {
    /// The scheme at work on the first-order systems of a model, likewise.
    pub(crate) fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        Ok(match assembly::is_linear(model, Order::First) {
            true => Box::new(euler_moreau::EulerMoreauPart::new(model, self.clone(), solver)?),
            false => {
                let scheme = self.clone();
                Box::new(first_order::FirstOrderPart::new(model, scheme, newton, solver)?)
            }
        })
    }
}

impl MoreauJean {
    /// The scheme at work on the mechanical systems of a model: with matrices that are kept where
    /// everything is linear, else by Newton's method.
    pub(crate) fn part(
        &self,
        model: &Model,
        newton: NewtonSettings,
        solver: &Solver,
    ) -> Result<Box<dyn Part>, SimError> {
        Ok(match assembly::is_linear(model, Order::Second) {
            true => Box::new(moreau_jean::MoreauJeanPart::new(model, self.clone(), solver)?),
            false => Box::new(mechanics::Mechanics::new(model, self.clone(), newton, solver)?),
        })
    }
}

impl Default for NewtonSettings {
    fn default() -> Self {
        NewtonSettings { tol: 1e-12, max_iter: 50, mode: NewtonMode::Full }
    }
}

impl NewtonSettings {
    /// Checks the ranges of the settings.
    pub fn check(&self) -> Result<(), SimError> {
        let owner = "newton";
        if !(self.tol > 0.0 && self.tol < 1.0) {
            let (field, value, allowed) = ("tol", self.tol, "(0, 1)");
            return Err(SimError::Setting { owner, field, value, allowed });
        }
        if self.max_iter == 0 {
            let (field, value, allowed) = ("max_iter", 0.0, "[1, inf)");
            return Err(SimError::Setting { owner, field, value, allowed });
        }
        Ok(())
    }
}

impl Default for EulerMoreau {
    fn default() -> Self {
        EulerMoreau { theta: 1.0, gamma: 1.0 }
    }
}

impl Default for MoreauJean {
    fn default() -> Self {
        MoreauJean { theta: 0.5, gamma: 0.5, threshold: 0.0 }
    }
}

impl From<EulerMoreau> for Integrator {
    fn from(scheme: EulerMoreau) -> Self {
        Integrator::EulerMoreau(scheme)
    }
}

impl From<MoreauJean> for Integrator {
    fn from(scheme: MoreauJean) -> Self {
        Integrator::MoreauJean(scheme)
    }
}

impl Integrator {
    /// The names of the schemes, as model files write them.
    pub const NAMES: [&'static str; 2] = ["euler-moreau", "moreau-jean"];

    /// The scheme's name.
    pub fn name(&self) -> &'static str {
        match self {
            Integrator::EulerMoreau(_) => "euler-moreau",
            Integrator::MoreauJean(_) => "moreau-jean",
        }
    }

    /// The order of the systems it serves.
    pub fn order(&self) -> Order {
        match self {
            Integrator::EulerMoreau(_) => Order::First,
            Integrator::MoreauJean(_) => Order::Second,
        }
    }

    /// Checks the ranges of the settings.
    pub fn check(&self) -> Result<(), SimError> {
        let settings: &[(&'static str, f64, bool, &'static str)] = match self {
            Integrator::EulerMoreau(s) => &[
                ("theta", s.theta, (0.0..=1.0).contains(&s.theta), "[0, 1]"),
                ("gamma", s.gamma, s.gamma > 0.0 && s.gamma <= 1.0, "(0, 1]"),
            ],
            Integrator::MoreauJean(s) => &[
                ("theta", s.theta, (0.0..=1.0).contains(&s.theta), "[0, 1]"),
                ("gamma", s.gamma, (0.0..=1.0).contains(&s.gamma), "[0, 1]"),
                ("threshold", s.threshold, s.threshold.is_finite(), "the finite numbers"),
            ],
        };
        match settings.iter().find(|setting| !setting.2) {
            None => Ok(()),
            Some(&(field, value, _, allowed)) => {
                Err(SimError::Setting { owner: self.name(), field, value, allowed })
            }
        }
    }
}

/// One step: from `start` to `end = start + h`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub start: f64,
    pub end: f64,
    pub h: f64,
}

impl Step {
    /// A step whose problem is not solved fails; `owner` names the place of the worst residual.
    #[inline]
    pub fn verify(
        &self,
        report: Report,
        owner: impl FnOnce(usize) -> String,
    ) -> Result<(), SimError> {
        if report.status == Status::Solved {
            return Ok(());
        }
        Err(SimError::Unsolved {
            time: self.end,
            why: report.status.name().to_string(),
            residual: report.residual,
            worst: owner(report.worst),
        })
    }
}
